"""Whether the labels that tables, figures and comparisons name are there."""

from collections.abc import Iterator, Mapping
from typing import Any

from kernlearn.experiments._raw import entries, mapping, own_parameters, texts
from kernlearn.experiments._yaml import KeyPath
from kernlearn.experiments.config import QUESTIONS, DatasetEntry, MethodEntry
from kernlearn.experiments.registry import TASK_METRICS, suggestion
from kernlearn.experiments.values import varied

Fault = tuple[KeyPath, str]

LABELS = ("dataset", "kernel", "method")


def _known_labels(raw: Mapping[str, Any]) -> list[str]:
    axes: list[str] = []
    for section, model in (("datasets", DatasetEntry), ("methods", MethodEntry)):
        for _, entry in entries(raw, section):
            axes += varied(own_parameters(entry, model))
    return [*LABELS, *axes]


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


def check_comparisons(raw: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for every unknown name under ``best`` and ``claims``."""
    yield from _check_metrics(("best", "metrics"), mapping(raw, "best").get("metrics"), raw)
    known = _known_labels(raw)
    for label in texts(mapping(raw, "best").get("within")):
        if label not in known:
            yield ("best", "within"), f"no label {label!r}{suggestion(label, known)}"
    claims = raw.get("claims")
    for i, claim in enumerate(claims if isinstance(claims, list) else []):
        check = mapping(claim, "check") if isinstance(claim, Mapping) else {}
        path: KeyPath = ("claims", i, "check")
        yield from _check_metrics((*path, "metric"), check.get("metric"), raw)
        compared = check.get("compare", "method")
        if isinstance(compared, str) and compared not in known:
            yield (*path, "compare"), f"no label {compared!r}{suggestion(compared, known)}"
        for key in (*QUESTIONS, "than") if compared in LABELS else ():
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


def _check_where(path: KeyPath, label: str, value: Any, raw: Mapping[str, Any]) -> Iterator[Fault]:
    values = value if isinstance(value, list) else [value]
    if not values or any(v is None or isinstance(v, (dict, list)) for v in values):
        yield path, "must be a value or a list of values"
    elif label in ("dataset", "method"):
        names = mapping(raw, f"{label}s")
        for name in values:
            if names and name not in names:
                yield path, f"no {label} {name!r}{suggestion(str(name), names)}"


def _check_metrics(path: KeyPath, value: Any, raw: Mapping[str, Any]) -> Iterator[Fault]:
    task = raw.get("task", "classification")
    measured = TASK_METRICS.get(task, ()) if isinstance(task, str) else ()
    for metric in [value] if isinstance(value, str) else texts(value):
        if measured and metric not in measured:
            yield path, f"no measured metric {metric!r}{suggestion(metric, measured)}"
