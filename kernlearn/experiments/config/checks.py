"""Looking into a config as it was read, whatever form its parts have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from kernlearn.experiments.config.claims import BOUNDS, QUESTIONS
from kernlearn.experiments.config.model import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.experiments.config.values import FORMS, candidates, form_fault, form_of, varied
from kernlearn.experiments.config.yaml import KeyPath, shortened
from kernlearn.experiments.engine.spec import LABELS
from kernlearn.experiments.registry import BUILT_IN, Scope, suggestion
from kernlearn.registration import Registered
from kernlearn.resources import shipped


def mapping(raw: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a section of a config as it was read; empty where there is none."""
    here: Any = raw
    for key in keys:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here if isinstance(here, dict) else {}


def entries(raw: Mapping[str, Any], section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the labels and options of the entries of a section."""
    for label, entry in mapping(raw, section).items():
        if entry is None or isinstance(entry, dict):
            yield label, entry or {}


def texts(value: Any) -> list[str]:
    """Return the strings of a list."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def is_file(path: Path) -> bool:
    """Whether there is such a file; no name, however odd, is an error."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def own_parameters(entry: Mapping[str, Any], model: type) -> dict[str, Any]:
    """Return the keys of an entry that its model does not declare."""
    known = model.model_fields  # type: ignore[attr-defined]
    return {k: v for k, v in entry.items() if k not in known}


Fault = tuple[KeyPath, str]


def _axes(raw: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the varied parameters with all their values."""
    axes: dict[str, list[Any]] = {}
    for section, model in (("datasets", DatasetEntry), ("methods", MethodEntry)):
        for _, entry in entries(raw, section):
            parameters = own_parameters(entry, model)
            for name in varied(parameters):
                value = parameters[name]
                values = axes.setdefault(name, [])
                values += candidates(value) if form_fault(value) is None else []
    return axes


def _known_labels(raw: Mapping[str, Any]) -> list[str]:
    return [*LABELS, *_axes(raw)]


def check_labels(raw: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for every unknown label of the table and the figures."""
    known = [*_known_labels(raw), "metric"]
    for key in ("each", "rows", "columns"):
        for label in texts(mapping(raw, "table").get(key)):
            if label not in known:
                yield ("table", key), f"no label {label!r}{suggestion(label, known)}"
    figures = raw.get("figures")
    for i, figure in enumerate(figures if isinstance(figures, list) else []):
        if not isinstance(figure, dict):
            continue
        for key in ("x", "color", "dash", "panels"):
            value = figure.get(key)
            for label in [value] if isinstance(value, str) else texts(value):
                if label not in known:
                    yield ("figures", i, key), f"no label {label!r}{suggestion(label, known)}"


def check_comparisons(raw: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
    """Yield a fault for every unknown name under ``best`` and ``claims``."""
    best = mapping(raw, "best")
    yield from _check_metrics(("best", "metrics"), best.get("metrics"), raw, scope)
    known = _known_labels(raw)
    for label in texts(best.get("within")):
        if label not in known:
            yield ("best", "within"), f"no label {label!r}{suggestion(label, known)}"
    claims = raw.get("claims")
    for i, claim in enumerate(claims if isinstance(claims, list) else []):
        if isinstance(claim, Mapping):
            yield from _check_claim(("claims", i, "check"), mapping(claim, "check"), raw, scope)


def _check_claim(
    path: KeyPath, check: dict[str, Any], raw: Mapping[str, Any], scope: Scope
) -> Iterator[Fault]:
    axes = _axes(raw)
    known = [*LABELS, *axes]
    metric = check.get("metric")
    yield from _check_metrics((*path, "metric"), metric, raw, scope, [*mapping(raw, "derived")])
    known_metric = scope.metrics.get(metric) if isinstance(metric, str) else None
    if known_metric is not None and known_metric.better == 0 and not check.keys() & set(BOUNDS):
        yield (*path, "metric"), f"of {metric!r} neither more nor less is better: ask for a bound"
    for key in ("compare", "across", "mean_over", "along"):
        value = check.get(key)
        for label in [value] if isinstance(value, str) else texts(value):
            if label not in known:
                yield (*path, key), f"no label {label!r}{suggestion(label, known)}"
            elif key == "along" and not all(map(_is_positive, axes.get(label, [None]))):
                yield (*path, key), f"{label!r} is no parameter whose values are positive numbers"
    compared = check.get("compare", "method")
    for key in (*QUESTIONS, "than", "of") if compared in LABELS else ():
        for value in texts(check.get(key)):
            if value not in mapping(raw, f"{compared}s"):
                hint = suggestion(value, mapping(raw, f"{compared}s"))
                yield (*path, key), f"no {compared} {value!r}{hint}"
    for label, value in mapping(check, "where").items():
        place: KeyPath = (*path, "where", label)
        if label not in known:
            yield place, f"no label {label!r}{suggestion(label, known)}"
        else:
            yield from _check_where(place, label, value, raw)


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _check_where(path: KeyPath, label: str, value: Any, raw: Mapping[str, Any]) -> Iterator[Fault]:
    values = value if isinstance(value, list) else [value]
    if not values or any(v is None or isinstance(v, (dict, list)) for v in values):
        yield path, "must be a value or a list of values"
    elif label in ("dataset", "method"):
        names = mapping(raw, f"{label}s")
        for name in values:
            if names and name not in names:
                yield path, f"no {label} {name!r}{suggestion(str(name), names)}"


def _check_metrics(
    path: KeyPath, value: Any, raw: Mapping[str, Any], scope: Scope, derived: Sequence[str] = ()
) -> Iterator[Fault]:
    task = raw.get("task", "classification")
    measured = scope.task_metrics(task) if isinstance(task, str) else ()
    for metric in [value] if isinstance(value, str) else texts(value):
        if measured and metric not in (*measured, *derived):
            kind = "metric" if derived else "measured metric"
            yield path, f"no {kind} {metric!r}{scope.hint(metric, [*measured, *derived])}"


# More than any table has rows; a few long lists under one method would fill the memory.
_MAX_VARIANTS = 10_000


def check_references(
    raw: Mapping[str, Any], folder: Path, data_dir: Path | None = None, scope: Scope = BUILT_IN
) -> list[Fault]:
    """Return a fault for every name that means nothing and every value that is refused.

    Parameters
    ----------
    raw : mapping
        The config as read; parts of the wrong form are passed over, since the model
        reports those.
    folder : Path
        Folder of the config, from which a user's own files are named.
    data_dir : Path, optional
        Where a user's own cards are looked for first.
    scope : Scope, optional
        The names that the config sees.

    Returns
    -------
    list of (path, text)
    """
    return [
        *_check_datasets(raw, folder, data_dir, scope),
        *_check_variant(raw, folder),
        *_check_kernels(raw, scope),
        *_check_methods(raw, scope),
        *_check_all_metrics(raw, scope),
        *check_labels(raw),
        *check_comparisons(raw, scope),
        *_check_only(raw),
        *_check_reported(raw),
    ]


def _check_datasets(
    raw: Mapping[str, Any], folder: Path, data_dir: Path | None, scope: Scope
) -> Iterator[Fault]:
    from kernlearn.datasets import catalogue, own_cards

    cards = [*catalogue(), *own_cards(data_dir)]
    for label, entry in entries(raw, "datasets"):
        path: KeyPath = ("datasets", label)
        generator, file = entry.get("generator"), entry.get("file")
        defaults: Mapping[str, Any] = {}
        if sum(k in entry for k in ("name", "file", "generator")) > 1:
            yield path, "give one of name, file and generator"
        if isinstance(generator, str):
            known = scope.generators
            if generator not in known:
                hint = scope.hint(generator, known)
                if generator in cards or generator in scope.datasets:
                    hint = f"; it is a data set: give `name: {generator}`"
                yield (*path, "generator"), f"no generator {generator!r}{hint}"
                continue
            defaults = known[generator].parameters
        elif isinstance(file, str):
            if not is_file(folder / file):
                yield (*path, "file"), f"no file {file!r} in the config's folder, {folder}"
        elif isinstance(called := entry.get("name") or label, str):
            if called in scope.datasets:
                defaults = scope.datasets[called].parameters
            elif called not in cards:
                hint = scope.hint(called, [*cards, *scope.datasets])
                if called in scope.generators:
                    hint = f"; it is a generator: give `generator: {called}`"
                yield path, f"no data set {called!r} in the catalogue{hint}"
        names = [p for p in defaults if p != "random_state"]
        if "target" in entry and file is None:
            yield (*path, "target"), "goes with file: a card knows its own target"
        parameters = own_parameters(entry, DatasetEntry)
        yield from _check_forms(path, parameters)
        for key, value in parameters.items():
            if key not in names:
                hint = suggestion(key, [*DatasetEntry.model_fields, *names])
                yield (*path, key), f"unknown key{hint}"
            elif form_fault(value, ("list",)) is None:
                wrong = _other_types(value, defaults[key])
                yield from (((*path, key), text) for text in wrong)


def _other_types(value: Any, default: Any) -> Iterator[str]:
    """Say which values of a generator's parameter are not of its default's type."""
    for type_, allowed, text in (
        (bool, bool, "true or false"), (int, int, "a whole number"),
        (float, (int, float), "a number"), (str, str, "text"),
    ):  # fmt: skip
        if type(default) is type_:
            for given in candidates(value):
                of_type = isinstance(given, allowed)
                if not of_type or (isinstance(given, bool) and type_ is not bool):
                    yield f"must be {text}, not {shortened(given)}"


def _check_kernels(raw: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
    for label, entry in entries(raw, "kernels"):
        name = entry.get("kernel")
        if isinstance(name, str):
            parameters = own_parameters(entry, KernelEntry)
            yield from _check_forms(("kernels", label), parameters)
            yield from _check_component(("kernels", label), "kernel", name, scope, parameters)


def _check_methods(raw: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
    datasets = mapping(raw, "datasets")
    for label, entry in entries(raw, "methods"):
        path: KeyPath = ("methods", label)
        parameters = own_parameters(entry, MethodEntry)
        yield from _check_forms(path, parameters, datasets, FORMS)
        name = entry.get("estimator")
        if not isinstance(name, str):
            continue
        component = scope.estimators.get(name)
        if component is not None and not component.installed:
            if entry.get("optional") is not True:
                command = f"pip install 'kernlearn[{component.extra}]'"
                text = f"{name} is not installed: {command}, or let the method be `optional`"
                yield (*path, "estimator"), text
            continue
        yield from _check_component(path, "estimator", name, scope, parameters)
        # a similarity has a default, a kernel has none that would suit
        needs = component is not None and component.takes == "kernel"
        if needs and "kernel" not in parameters and not raw.get("kernels"):
            yield path, f"{name} needs a kernel: add a section `kernels`"


def _check_forms(
    path: KeyPath,
    parameters: Mapping[str, Any],
    datasets: Iterable[str] = (),
    forms: tuple[str, ...] = ("list",),
) -> Iterator[Fault]:
    """Yield a fault for every parameter whose value is a choice of the wrong form."""
    for key, value in parameters.items():
        wrong = form_fault(value, forms)
        if wrong:
            yield (*path, key), wrong
        elif form_of(value) == "by_dataset":
            choices = value["by_dataset"]
            for name in choices:
                if name != "default" and name not in datasets:
                    text = f"no data set {name!r} here{suggestion(name, [*datasets, 'default'])}"
                    yield (*path, key, "by_dataset", name), text
            missing = [d for d in datasets if d not in choices]
            if missing and "default" not in choices:
                yield (*path, key), f"by_dataset gives no value for {', '.join(missing)}"
    variants = prod(len(v) for v in parameters.values() if isinstance(v, list))
    if variants > _MAX_VARIANTS:
        yield path, f"its lists make {variants} combinations; at most {_MAX_VARIANTS} are allowed"


def _check_component(
    path: KeyPath,
    role: str,
    name: str,
    scope: Scope,
    parameters: Mapping[str, Any],
) -> Iterator[Fault]:
    known = scope.kernels if role == "kernel" else scope.estimators
    component = scope.kernel(name) if role == "kernel" else scope.estimators.get(name)
    if component is None:
        yield (*path, role), f"no {role} {name!r}{scope.hint(name, known)}"
        return
    names = [n for n in component.settable if n != role]
    for key, value in parameters.items():
        owner, _, nested = key.partition("__")
        if owner not in names:
            yield (*path, key), f"{name} has no such parameter{suggestion(key, [*names, role])}"
        elif nested:
            yield from _check_nested((*path, key), nested, parameters.get(owner), value, scope)
        elif form_fault(value) is None:
            for candidate in candidates(value):
                faults = [*_check_value((*path, key), component, candidate, scope)]
                yield from faults
                if faults:
                    break


def _check_value(
    path: KeyPath, component: Registered, value: Any, scope: Scope
) -> Iterator[Fault]:
    """Check one value of a parameter, which may describe a kernel."""
    if isinstance(value, dict) and "kernel" in value:
        kernel, own = value["kernel"], {k: v for k, v in value.items() if k != "kernel"}
        if not isinstance(kernel, str):
            yield (*path, "kernel"), f"must be the name of a kernel{suggestion('', scope.kernels)}"
            return
        faults = [*_check_forms(path, own)]
        faults += _check_component(path, "kernel", kernel, scope, own)
        yield from faults
        if faults:
            return
    refused = scope.value_error(component, {str(path[-1]): value})
    if refused:
        yield path, refused


def _check_nested(
    path: KeyPath, name: str, owner: Any, value: Any, scope: Scope
) -> Iterator[Fault]:
    """Check the parameter of a kernel that is itself a parameter, such as ``kernel__degree``."""
    kernel = owner.get("kernel") if isinstance(owner, dict) else None
    if not isinstance(kernel, str):
        text = f"needs `{path[-1]}`'s kernel beside it, as {{kernel: NAME}}"
        yield path, text.replace(f"__{name}", "")
    elif scope.kernel(kernel):
        faults = _check_component(path[:-1], "kernel", kernel, scope, {name: value})
        yield from ((path, text) for _, text in faults)


def _check_all_metrics(raw: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
    task = raw.get("task", "classification")
    measured = scope.task_metrics(task) if isinstance(task, str) else ()
    if not measured:
        return
    derived = mapping(raw, "derived")
    methods, shown = mapping(raw, "methods"), [*measured, *derived]
    for name, entry in derived.items():
        if name in scope.metrics:
            yield ("derived", name), "is the name of a measured metric; take another"
        for key in ("ratio", "baseline_metric"):
            metric = entry.get(key) if isinstance(entry, dict) else None
            if isinstance(metric, str) and metric not in measured:
                text = f"no metric {metric!r} of {task}{scope.hint(metric, measured)}"
                yield ("derived", name, key), text
        baseline = entry.get("baseline") if isinstance(entry, dict) else None
        if isinstance(baseline, str) and baseline not in methods:
            text = f"no method {baseline!r}{suggestion(baseline, methods)}"
            yield ("derived", name, "baseline"), text
    for path, names in (
        (("metrics",), texts(raw.get("metrics"))),
        (("table", "metrics"), texts(mapping(raw, "table").get("metrics"))),
        (("verdict",), list(mapping(raw, "verdict"))),
        (("drift",), list(mapping(raw, "drift"))),
    ):
        for metric in names:
            if metric not in shown:
                yield path, f"no metric {metric!r} of {task}{scope.hint(metric, shown)}"


def _check_only(raw: Mapping[str, Any]) -> Iterator[Fault]:
    only = raw.get("only")
    for i, match in enumerate(only if isinstance(only, list) else []):
        for key, value in (match if isinstance(match, dict) else {}).items():
            if key not in LABELS:
                yield ("only", i, key), f"unknown key{suggestion(key, LABELS)}"
            elif str(value) not in mapping(raw, f"{key}s"):
                text = f"no {key} {value!r}{suggestion(str(value), mapping(raw, f'{key}s'))}"
                yield ("only", i, key), text


def _check_reported(raw: Mapping[str, Any]) -> Iterator[Fault]:
    name = raw.get("reported")
    known = [p.name for p in shipped("reported").glob("*.csv")]
    if isinstance(name, str) and name not in known:
        yield ("reported",), f"no reported numbers {name!r}{suggestion(name, known)}"


def _check_variant(raw: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    name = raw.get("variant_of")
    known = {p.stem for place in (folder, shipped("configs")) for p in place.glob("*.yaml")}
    if isinstance(name, str) and name not in known:
        yield ("variant_of",), f"no config {name!r}{suggestion(name, known)}"
