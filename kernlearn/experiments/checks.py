"""Whether the names in a config exist and fit each other; the model has checked the form."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kernlearn.experiments._label_checks import LABELS, Fault, check_comparisons, check_labels
from kernlearn.experiments._raw import entries, mapping, own_parameters, texts
from kernlearn.experiments._yaml import KeyPath
from kernlearn.experiments.config import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.experiments.registry import (
    ESTIMATORS,
    KERNELS,
    METRICS,
    TASK_METRICS,
    Component,
    kernel_parameter,
    parameter_names,
    suggestion,
    value_error,
)
from kernlearn.experiments.values import candidates, form_of
from kernlearn.resources import shipped


def check_references(
    raw: Mapping[str, Any], folder: Path, data_dir: Path | None = None
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

    Returns
    -------
    list of (path, text)
    """
    checks: tuple[Callable[[Mapping[str, Any]], Iterator[Fault]], ...] = (
        _check_kernels, _check_methods, _check_metrics, check_labels, check_comparisons,
        _check_only, _check_reported,
    )  # fmt: skip
    own = [*_check_datasets(raw, folder, data_dir)]
    return [*own, *(fault for check in checks for fault in check(raw))]


def _check_datasets(
    raw: Mapping[str, Any], folder: Path, data_dir: Path | None
) -> Iterator[Fault]:
    from kernlearn.datasets import catalogue, generators, own_cards

    cards = [*catalogue(), *own_cards(data_dir)]
    for label, entry in entries(raw, "datasets"):
        path: KeyPath = ("datasets", label)
        generator, file, names = entry.get("generator"), entry.get("file"), []
        if sum(k in entry for k in ("name", "file", "generator")) > 1:
            yield path, "give one of name, file and generator"
        if isinstance(generator, str):
            known = generators()
            if generator not in known:
                text = f"no generator {generator!r}{suggestion(generator, known)}"
                yield (*path, "generator"), text
                continue
            names = [p for p in known[generator].parameters if p != "random_state"]
        elif isinstance(file, str):
            if not (folder / file).is_file():
                yield (*path, "file"), f"no file {file!r} in the config's folder, {folder}"
        else:
            name = entry.get("name") or label
            if isinstance(name, str) and name not in cards:
                hint = suggestion(name, cards)
                yield path, f"no data set {name!r} in the catalogue{hint}"
        if "target" in entry and file is None:
            yield (*path, "target"), "goes with file: a card knows its own target"
        for key in own_parameters(entry, DatasetEntry):
            if key not in names:
                hint = suggestion(key, [*DatasetEntry.model_fields, *names])
                yield (*path, key), f"unknown key{hint}"


def _check_kernels(raw: Mapping[str, Any]) -> Iterator[Fault]:
    for label, entry in entries(raw, "kernels"):
        name = entry.get("kernel")
        if isinstance(name, str):
            parameters = own_parameters(entry, KernelEntry)
            yield from _check_component(("kernels", label), "kernel", name, KERNELS, parameters)


def _check_methods(raw: Mapping[str, Any]) -> Iterator[Fault]:
    datasets = mapping(raw, "datasets")
    for label, entry in entries(raw, "methods"):
        path: KeyPath = ("methods", label)
        parameters = own_parameters(entry, MethodEntry)
        yield from _check_forms(path, parameters, datasets)
        name = entry.get("estimator")
        if not isinstance(name, str):
            continue
        component = ESTIMATORS.get(name)
        if component is not None and not component.installed:
            if entry.get("optional") is not True:
                command = f"pip install 'kernlearn[{component.extra}]'"
                text = f"{name} is not installed: {command}, or let the method be `optional`"
                yield (*path, "estimator"), text
            continue
        yield from _check_component(path, "estimator", name, ESTIMATORS, parameters)
        # a similarity has a default, a kernel has none that would suit
        needs = name in ESTIMATORS and kernel_parameter(ESTIMATORS[name]) == "kernel"
        if needs and "kernel" not in parameters and not raw.get("kernels"):
            yield path, f"{name} needs a kernel: add a section `kernels`"


def _check_forms(
    path: KeyPath, parameters: Mapping[str, Any], datasets: Iterable[str]
) -> Iterator[Fault]:
    for key, value in parameters.items():
        form = form_of(value)
        if form == "by_dataset":
            choices = value["by_dataset"]
            if not isinstance(choices, dict):
                yield (*path, key), "by_dataset must be a mapping of data sets to values"
                continue
            for name in choices:
                if name != "default" and name not in datasets:
                    text = f"no data set {name!r} here{suggestion(name, [*datasets, 'default'])}"
                    yield (*path, key, "by_dataset", name), text
            missing = [d for d in datasets if d not in choices]
            if missing and "default" not in choices:
                yield (*path, key), f"by_dataset gives no value for {', '.join(missing)}"
        elif form == "select" and not (isinstance(value["select"], list) and value["select"]):
            yield (*path, key), "select must be a list of values to choose from"
        elif form == "list" and not value:
            yield (*path, key), "an empty list gives no method; give one value or more"


def _check_component(
    path: KeyPath,
    role: str,
    name: str,
    known: Mapping[str, Component],
    parameters: Mapping[str, Any],
) -> Iterator[Fault]:
    if name not in known:
        yield (*path, role), f"no {role} {name!r}{suggestion(name, known)}"
        return
    names = [n for n in parameter_names(known[name]) if n != role]
    for key, value in parameters.items():
        owner, _, nested = key.partition("__")
        if owner not in names:
            yield (*path, key), f"{name} has no such parameter{suggestion(key, [*names, role])}"
        elif nested:
            yield from _check_nested((*path, key), nested, parameters.get(owner), value)
        elif isinstance(value, dict) and isinstance(value.get("kernel"), str):
            own = {k: v for k, v in value.items() if k != "kernel"}
            faults = [*_check_component((*path, key), "kernel", value["kernel"], KERNELS, own)]
            yield from faults
            refused = None if faults else value_error(known[name], {key: value})
            if refused:
                yield (*path, key), refused
        elif _unfoldable(value):
            for candidate in candidates(value):
                refused = value_error(known[name], {key: candidate})
                if refused:
                    yield (*path, key), refused
                    break


def _check_nested(path: KeyPath, name: str, owner: Any, value: Any) -> Iterator[Fault]:
    """Check the parameter of a kernel that is itself a parameter, such as ``kernel__degree``."""
    kernel = owner.get("kernel") if isinstance(owner, dict) else None
    if not isinstance(kernel, str):
        text = f"needs `{path[-1]}`'s kernel beside it, as {{kernel: NAME}}"
        yield path, text.replace(f"__{name}", "")
    elif kernel in KERNELS:
        faults = _check_component(path[:-1], "kernel", kernel, KERNELS, {name: value})
        yield from ((path, text) for _, text in faults)


def _unfoldable(value: Any) -> bool:
    form = form_of(value)
    if form == "select":
        return isinstance(value["select"], list)
    return form != "by_dataset" or isinstance(value["by_dataset"], dict)


def _check_metrics(raw: Mapping[str, Any]) -> Iterator[Fault]:
    task = raw.get("task", "classification")
    if task not in TASK_METRICS:
        return
    measured, derived = TASK_METRICS[task], mapping(raw, "derived")
    methods, shown = mapping(raw, "methods"), [*measured, *derived]
    for name, entry in derived.items():
        if name in METRICS:
            yield ("derived", name), "is the name of a measured metric; take another"
        for key in ("ratio", "baseline_metric"):
            metric = entry.get(key) if isinstance(entry, dict) else None
            if isinstance(metric, str) and metric not in measured:
                text = f"no metric {metric!r} of {task}{suggestion(metric, measured)}"
                yield ("derived", name, key), text
        baseline = entry.get("baseline") if isinstance(entry, dict) else None
        if isinstance(baseline, str) and baseline not in methods:
            text = f"no method {baseline!r}{suggestion(baseline, methods)}"
            yield ("derived", name, "baseline"), text
    for path, names in (
        (("metrics",), texts(raw.get("metrics"))),
        (("table", "metrics"), texts(mapping(raw, "table").get("metrics"))),
        (("verdict",), list(mapping(raw, "verdict"))),
    ):
        for metric in names:
            if metric not in shown:
                yield path, f"no metric {metric!r} of {task}{suggestion(metric, shown)}"


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
    if isinstance(name, str) and not (shipped("reported") / name).is_file():
        known = [p.name for p in shipped("reported").glob("*.csv")]
        yield ("reported",), f"no reported numbers {name!r}{suggestion(name, known)}"
