"""Trials of supervised tasks: fit, choose parameters, predict and measure."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernlearn.experiments.engine.build import Outcome, build_estimator, build_kernel, load_data
from kernlearn.experiments.engine.environment import Stopwatch
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.protocol import Parts, generator, prepare
from kernlearn.experiments.engine.spec import Trial, canonical
from kernlearn.experiments.engine.tasks import Task
from kernlearn.experiments.registry import Scope
from kernlearn.experiments.store.results import Result
from kernlearn.model_selection import first_best, hold_out_at_random

# Enough rows to load every lazy import and library once before anything is timed.
_WARM_UP_ROWS = 64
# Methods, with their kernels, that this process has warmed up.
_warm: set[str] = set()


def supervise(task: Task, trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Fit on the training part, evaluate the predictions on the test part."""
    spec = trial.spec
    task = replace(task, own=scope.own_metrics(metric.name for metric in spec.metrics))
    data = load_data(trial, scope, data_dir)
    outcome = Outcome()
    y = task.target(data, spec, outcome.info)
    kind = data.get("similarity")
    parts = prepare(
        data.data, y, spec.protocol, trial.split,
        pairwise=kind is not None, fold=data.get("fold"), query=data.get("query"),
    )  # fmt: skip
    outcome.info["n_train"], outcome.info["n_test"] = len(parts.y_train), len(parts.y_test)
    if data.get("sample"):
        outcome.info["sample"] = data.note

    with Stopwatch() as selecting:
        kernel = build_kernel(trial, scope, parts.X_train, parts.y_train)
        estimator = build_estimator(trial, scope, kernel, kind)
        if spec.protocol.select_by_mean and spec.method.select:
            outcome.info["grid"] = measure_grid(estimator, spec.method.select, parts, task)
            return outcome
        chosen = _select(estimator, parts, trial, task)
    estimator.set_params(**chosen)
    if chosen:
        outcome.info["selected"] = chosen
    outcome.metrics["select_seconds"] = selecting.wall
    _warm_up(estimator, parts, task, canonical([spec.method, spec.kernel]))
    _measure(estimator, parts, task, outcome)
    return outcome


def _measure(estimator: Any, parts: Parts, task: Task, outcome: Outcome) -> None:
    with Stopwatch() as fitting:
        _fit(estimator, parts.X_train, parts.y_train, parts.X_val, parts.y_val, _queries(parts, 0))
    with Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    metrics = outcome.metrics
    if hasattr(estimator, "predict_native"):
        with Stopwatch() as native:
            estimator.predict_native(parts.X_test)
        metrics["native_predict_seconds"] = native.wall
        watches.append(native)
    judged = task.as_label(predicted, parts.y_train)
    metrics |= task.measure(parts.y_test, judged, _queries(parts, 2))
    metrics["fit_seconds"], metrics["fit_cpu_seconds"] = fitting.wall, fitting.cpu
    metrics["predict_seconds"], metrics["predict_cpu_seconds"] = predicting.wall, predicting.cpu
    if hasattr(estimator, "n_support_"):
        metrics["n_support"] = float(np.sum(estimator.n_support_))
    if hasattr(estimator, "best_params_"):
        outcome.info["selected"] = outcome.info.get("selected", {}) | estimator.best_params_
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


def _queries(parts: Parts, which: int) -> Any:
    return None if parts.queries is None else parts.queries[which]


def _fit(
    estimator: Any, X: Any, y: Any, X_val: Any = None, y_val: Any = None, query: Any = None
) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them."""
    taken = signature(estimator.fit).parameters
    extra = {}
    if X_val is not None and "X_val" in taken:
        extra = {"X_val": X_val, "y_val": y_val}
    if query is not None and "qid" in taken:
        extra["qid"] = query
    return estimator.fit(X, y, **extra)


def _select(estimator: Any, parts: Parts, trial: Trial, task: Task) -> dict[str, Any]:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    If the protocol holds no rows out, they are taken from the training part.
    """
    grid = trial.spec.method.select
    if not grid:
        return {}
    query, query_val = _queries(parts, 0), _queries(parts, 1)
    if parts.X_val is not None and parts.y_val is not None:
        X, y, X_val, y_val = parts.X_train, parts.y_train, parts.X_val, parts.y_val
    elif parts.queries is not None:
        raise ValueError("select needs rows held out by whole queries: give folds")
    else:
        protocol = trial.spec.protocol
        rng = generator(protocol.seed, "validation", trial.split)
        n = parts.X_train.shape[0]
        kept, held_out = hold_out_at_random(n, protocol.validation, rng)
        X, y = parts.training(kept, kept), parts.y_train[kept]
        X_val, y_val = parts.training(held_out, kept), parts.y_train[held_out]

    def score(parameters: dict[str, Any]) -> float:
        fitted = _fit(clone(estimator).set_params(**parameters), X, y, X_val, y_val, query)
        predicted = getattr(fitted, task.output)(X_val)
        return task.score(y_val, task.as_label(predicted, y), query_val)

    return max(ParameterGrid(grid), key=score)


def _warm_up(estimator: Any, parts: Parts, task: Task, method: str) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    if method in _warm:
        return
    _warm.add(method)
    rows = np.arange(min(_WARM_UP_ROWS, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y = parts.training(rows, rows), parts.y_train[rows]
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        query = None if parts.queries is None else parts.queries[0][rows]
        warm = _fit(clone(estimator), X, y, X, y, query)
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


# Parameters, a function that predicts with them, and the number of support vectors.
_Fitted = tuple[dict[str, Any], Callable[[Any], NDArray[Any]], float | None]


def measure_grid(
    estimator: Any, grid: Mapping[str, list[Any]], parts: Parts, task: Task
) -> list[dict[str, Any]]:
    """Fit for every point of a grid and evaluate each, on held-out and on test rows.

    An estimator with a ``path`` method fits all points at once: it receives lists of values, and
    returns an object with ``settings`` (each with ``params``), ``predict`` for all settings, and
    ``n_support``.

    Returns
    -------
    list of dict
        ``parameters``, the ``score`` on held-out rows, and ``metrics`` on test rows.
    """
    assert parts.X_val is not None
    assert parts.y_val is not None
    points = []
    fitted = _by_path if hasattr(estimator, "path") else _one_by_one
    with warnings.catch_warnings():
        # one warning per point would hide all others
        warnings.filterwarnings("once")
        for parameters, predict, n_support in fitted(estimator, grid, parts, task.output):
            held_out = task.as_label(predict(parts.X_val), parts.y_train)
            metrics = task.measure(
                parts.y_test, task.as_label(predict(parts.X_test), parts.y_train), None
            )
            if n_support is not None:
                metrics["n_support"] = n_support
            score = task.score(parts.y_val, held_out, None)
            points.append({"parameters": parameters, "score": score, "metrics": metrics})
    return points


def _one_by_one(
    estimator: Any, grid: Mapping[str, list[Any]], parts: Parts, output: str
) -> Iterator[_Fitted]:
    for parameters in ParameterGrid(dict(grid)):
        model = clone(estimator).set_params(**parameters).fit(parts.X_train, parts.y_train)
        n_support = getattr(model, "n_support_", None)
        yield (
            parameters,
            getattr(model, output),
            None if n_support is None else float(np.sum(n_support)),
        )


def _by_path(
    estimator: Any, grid: Mapping[str, list[Any]], parts: Parts, output: str
) -> Iterator[_Fitted]:
    """Follow a path for each combination of the nested parameters, which it does not take."""
    nested = {name: values for name, values in grid.items() if "__" in name}
    lists = {name: values for name, values in grid.items() if name not in nested}
    for fixed in ParameterGrid(nested):
        model = clone(estimator).set_params(**fixed, **lists)
        path = model.path(parts.X_train, parts.y_train)
        predictions = [(X, getattr(path, output)(X)) for X in (parts.X_val, parts.X_test)]
        for place, setting in enumerate(path.settings):
            yield (
                {**fixed, **setting.params},
                partial(_one_of, predictions, place),
                float(path.n_support.ravel()[place]),
            )


def _one_of(predictions: list[tuple[Any, NDArray[Any]]], place: int, X: Any) -> NDArray[Any]:
    """Return the predictions of one setting for the rows X."""
    return next(predicted[place] for rows, predicted in predictions if rows is X)


def chosen_by_mean(plan: Plan, results: Mapping[str, Result]) -> dict[str, Result]:
    """Give each cell the numbers of the grid point that is best over all its splits.

    The best point has the greatest mean score; ties are broken by the fewest support vectors on
    average, then by order. Results without a grid stay as they are.
    """
    cells: dict[str, list[Trial]] = defaultdict(list)
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done and "grid" in result.info:
            cells[canonical(trial.labels)].append(trial)
    chosen = dict(results)
    for trials in cells.values():
        grids = [results[trial.key].info["grid"] for trial in trials]
        scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
        support = np.mean(
            [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids], axis=0
        )
        # rounded, so that differences by rounding error are none
        best = first_best(np.asarray(-np.round(scores, 12)), support)
        for trial, grid in zip(trials, grids, strict=True):
            result = results[trial.key]
            chosen[trial.key] = replace(
                result,
                metrics={**result.metrics, **grid[best]["metrics"]},
                info={**result.info, "selected": grid[best]["parameters"]},
            )
    return chosen
