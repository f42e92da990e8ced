"""Whether the names in a config exist and fit each other; the model has checked the form."""

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from kernlearn.experiments._label_checks import LABELS, Fault, check_comparisons, check_labels
from kernlearn.experiments._raw import entries, is_file, mapping, own_parameters, texts
from kernlearn.experiments._yaml import KeyPath, shortened
from kernlearn.experiments.components import (
    Component,
    kernel_parameter,
    parameter_names,
    suggestion,
)
from kernlearn.experiments.config import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.experiments.scope import BUILT_IN, Scope
from kernlearn.experiments.values import FORMS, candidates, form_fault, form_of
from kernlearn.resources import shipped

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
        *_check_metrics(raw, scope),
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
        needs = component is not None and kernel_parameter(component) == "kernel"
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
    if name not in known:
        yield (*path, role), f"no {role} {name!r}{scope.hint(name, known)}"
        return
    names = [n for n in parameter_names(known[name]) if n != role]
    for key, value in parameters.items():
        owner, _, nested = key.partition("__")
        if owner not in names:
            yield (*path, key), f"{name} has no such parameter{suggestion(key, [*names, role])}"
        elif nested:
            yield from _check_nested((*path, key), nested, parameters.get(owner), value, scope)
        elif form_fault(value) is None:
            for candidate in candidates(value):
                faults = [*_check_value((*path, key), known[name], candidate, scope)]
                yield from faults
                if faults:
                    break


def _check_value(path: KeyPath, component: Component, value: Any, scope: Scope) -> Iterator[Fault]:
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
    elif kernel in scope.kernels:
        faults = _check_component(path[:-1], "kernel", kernel, scope, {name: value})
        yield from ((path, text) for _, text in faults)


def _check_metrics(raw: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
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
