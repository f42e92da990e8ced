"""Whether the labels that tables, figures and comparisons name are there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernlearn.experiments._raw import entries, mapping, own_parameters, texts
from kernlearn.experiments._yaml import KeyPath
from kernlearn.experiments.claims import BOUNDS, QUESTIONS
from kernlearn.experiments.components import suggestion
from kernlearn.experiments.config import DatasetEntry, MethodEntry
from kernlearn.experiments.scope import Scope
from kernlearn.experiments.values import candidates, form_fault, varied

Fault = tuple[KeyPath, str]

LABELS = ("dataset", "kernel", "method")


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
