"""Execution of a trial: fit, choose parameters, predict and measure."""

import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.exceptions import PluginError
from kernlearn.experiments.engine import build, environment
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.protocol import Parts, generator, prepare
from kernlearn.experiments.engine.shared import Shared
from kernlearn.experiments.engine.spec import Source, Trial, canonical
from kernlearn.experiments.engine.tasks import Task
from kernlearn.experiments.plugins import load_plugins
from kernlearn.experiments.registry import BUILT_IN, TASKS, Scope
from kernlearn.experiments.store.results import Result, utc_now
from kernlearn.model_selection import first_best, hold_out_at_random

# Enough rows to load every lazy import and library once before anything is timed.
_WARM_UP_ROWS = 64
# Methods, with their kernels, that this process has warmed up.
_warm: set[str] = set()
_shared = Shared()
_LONG_FIT = 0.5  # seconds, above which it pays to fit in other processes


def execute(trial: Trial, data_dir: Path | None, *, concurrent: bool = False) -> Result:
    """Run one trial; an exception becomes a failed result.

    ``concurrent`` tells whether other trials run at the same time, which is noted in the result.
    """
    started, clock = utc_now(), time.perf_counter()
    try:
        with environment.recorded_warnings() as caught:
            outcome = run_trial(trial, data_dir, alone=not concurrent)
    except Exception as error:  # any error of a method becomes a row, and the run goes on
        return Result(
            trial.key, "failed", started, time.perf_counter() - clock,
            error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc(),
        )  # fmt: skip
    seconds = time.perf_counter() - clock
    messages = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or concurrent
    info = {**outcome.info, "contended": contended, "warnings": dict(messages)}
    return Result(trial.key, "done", started, seconds, outcome.metrics, info)


def run_trial(trial: Trial, data_dir: Path | None = None, *, alone: bool = False) -> build.Outcome:
    """Carry out one trial; data is looked for in ``data_dir`` first.

    If no other trial runs, it may choose its parameters on all cores.
    """
    spec, source = trial.spec, trial.source or Source()
    scope = load_plugins(source.plugins) if spec.plugins else BUILT_IN
    states = {name: scope.state(name) for name in sorted(spec.plugins)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError("; ".join([f"no plug-in {missing} is installed here", *scope.broken]))
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    scope.estimators[spec.method.name].load()
    with environment.thread_limit(spec.protocol.threads):
        task = TASKS[spec.task].load()
        run = partial(supervise, task, alone=alone) if isinstance(task, Task) else task
        outcome: build.Outcome = run(trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def supervise(
    task: Task, trial: Trial, scope: Scope, data_dir: Path | None, *, alone: bool = False
) -> build.Outcome:
    """Fit on the training part, evaluate the predictions on the test part."""
    spec = trial.spec
    task = replace(task, own=scope.own_metrics(metric.name for metric in spec.metrics))
    data = build.load_data(trial, scope, data_dir)
    outcome = build.Outcome()
    y = task.target(data, spec, outcome.info)
    kind = data.get("similarity")
    parts = prepare(
        data.data, y, spec.protocol, trial.split,
        pairwise=kind is not None, fold=data.get("fold"), query=data.get("query"),
    )  # fmt: skip
    outcome.info |= {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    if data.get("sample"):
        outcome.info["sample"] = data.note

    with environment.Stopwatch() as selecting:
        kernel = build.build_kernel(trial, scope, parts.X_train, parts.y_train)
        if trial.shares:
            _shared.enter(trial)
        hits = _shared.hits
        memory = _shared if trial.shares else None
        estimator = build.build_estimator(trial, scope, kernel, kind, memory)
        if spec.protocol.select_by_mean and spec.method.select:
            outcome.info["grid"] = measure_grid(estimator, spec.method.select, parts, task)
            return outcome
        n_jobs = environment.usable_cores() if alone and not spec.plugins else 1
        chosen = _select(estimator, parts, trial, task, n_jobs)
    estimator.set_params(**chosen)
    if chosen:
        outcome.info["selected"] = chosen
    outcome.metrics["select_seconds"] = selecting.wall
    method = canonical([spec.method, spec.kernel])
    if method not in _warm:
        _warm.add(method)
        _warm_up(estimator, parts, task)
    _measure(estimator, parts, task, outcome)
    if _shared.hits > hits:
        outcome.info["shared"] = True
    return outcome


def _measure(estimator: Any, parts: Parts, task: Task, outcome: build.Outcome) -> None:
    with noting_convergence(outcome.info), environment.Stopwatch() as fitting:
        _fit(estimator, parts.X_train, parts.y_train, parts.X_val, parts.y_val, parts.queries[0])
    with environment.Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    metrics = outcome.metrics
    if hasattr(estimator, "predict_native"):
        with environment.Stopwatch() as native:
            estimator.predict_native(parts.X_test)
        metrics["native_predict_seconds"] = native.wall
        watches.append(native)
    judged = task.as_label(predicted, parts.y_train)
    metrics |= task.measure(parts.y_test, judged, parts.queries[2])
    metrics |= {
        "fit_seconds": fitting.wall, "fit_cpu_seconds": fitting.cpu,
        "predict_seconds": predicting.wall, "predict_cpu_seconds": predicting.cpu,
    }  # fmt: skip
    for name in ("n_support", "n_similarities"):
        if hasattr(estimator, f"{name}_"):
            metrics[name] = float(np.sum(getattr(estimator, f"{name}_")))
    if hasattr(estimator, "best_params_"):
        outcome.info["selected"] = outcome.info.get("selected", {}) | estimator.best_params_
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


@contextmanager
def noting_convergence(info: dict[str, Any]) -> Iterator[None]:
    """Set ``converged`` to False in ``info`` if a solver says that it did not converge."""
    with environment.recorded_warnings() as caught:
        yield
    if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        info["converged"] = False
    environment.warn_again(caught)


def _fit(estimator: Any, X: Any, y: Any, X_val: Any, y_val: Any, query: Any) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them."""
    taken = signature(estimator.fit).parameters
    given = {"X_val": X_val, "y_val": y_val, "qid": query}
    return estimator.fit(X, y, **{k: v for k, v in given.items() if k in taken and v is not None})


def _select(estimator: Any, parts: Parts, trial: Trial, task: Task, n_jobs: int) -> dict[str, Any]:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    If the protocol holds no rows out, they are taken from the training part. Fits that take long
    run in several processes. A grid of several parameters follows the path of an estimator that
    has one, see :func:`measure_grid`; of equals the one with the fewest support vectors wins then,
    as in :func:`chosen_by_mean`.
    """
    grid, protocol = trial.spec.method.select, trial.spec.protocol
    if not grid:
        return {}
    X, y, X_val, y_val = parts.X_train, parts.y_train, parts.X_val, parts.y_val
    query, query_val, _ = parts.queries
    if X_val is None:
        if query is not None:
            raise ValueError("select needs rows held out by whole queries: give folds")
        rng = generator(protocol.seed, "validation", trial.split)
        kept, held_out = hold_out_at_random(X.shape[0], protocol.validation, rng)
        X, X_val = parts.training(kept, kept), parts.training(held_out, kept)
        y, y_val = y[kept], y[held_out]
    if len(grid) > 1 and _has_path(estimator):
        return _best_of_path(estimator, grid, (X, y, X_val, y_val), task)

    def score(parameters: dict[str, Any]) -> tuple[float, list[Any]]:
        with environment.recorded_warnings() as caught:
            fitted = _fit(clone(estimator).set_params(**parameters), X, y, X_val, y_val, query)
            predicted = getattr(fitted, task.output)(X_val)
        return task.score(y_val, task.as_label(predicted, y), query_val), caught

    def score_elsewhere(parameters: dict[str, Any]) -> tuple[float, list[Any]]:
        with environment.thread_limit(protocol.threads):
            return score(parameters)

    points, clock = list(ParameterGrid(grid)), time.perf_counter()
    scored = [score(points[0])]
    if n_jobs > 1 and time.perf_counter() - clock > _LONG_FIT:
        from joblib import Parallel, delayed

        # arrays are copied: joblib's files of large ones leave messages of its resource tracker
        run = Parallel(n_jobs, max_nbytes=None)
        with warnings.catch_warnings():
            # a process that has grown is replaced
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            scored += run(delayed(score_elsewhere)(point) for point in points[1:])
    else:
        scored += map(score, points[1:])
    environment.warn_again(one for _, caught in scored for one in caught)
    scores = [value for value, _ in scored]
    return points[scores.index(max(scores))]


def _best_of_path(estimator: Any, grid: "_Grid", parts: tuple[Any, ...], task: Task) -> Any:
    X, y, X_val, y_val = parts
    points, scores, n_support = [], [], []
    for fixed, path in _paths(estimator, grid, X, y):
        predicted = getattr(path, task.output)(X_val)
        points += [{**fixed, **setting.params} for setting in path.settings]
        scores += [task.score(y_val, task.as_label(values, y)) for values in predicted]
        n_support += path.n_support.ravel().tolist()
    # rounded, so that differences by rounding error are none
    return points[first_best(-np.round(scores, 12), np.array(n_support))]


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    rows = np.arange(min(_WARM_UP_ROWS, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y, query = parts.training(rows, rows), parts.y_train[rows], parts.queries[0]
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        warm = _fit(clone(estimator), X, y, X, y, None if query is None else query[rows])
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


# The values to choose from, by parameter.
_Grid = Mapping[str, list[Any]]
# Parameters, what is predicted for held-out and for test rows, the number of support vectors, and
# whether the solver converged.
_Fitted = tuple[dict[str, Any], Any, Any, Any, bool]


def measure_grid(estimator: Any, grid: _Grid, parts: Parts, task: Task) -> list[dict[str, Any]]:
    """Fit for every point of a grid and evaluate each, on held-out and on test rows.

    An estimator with a method ``path(X, y)`` fits all points at once: its parameters are lists of
    values then, and it returns an object with ``settings`` (each with ``params``), ``predict`` for
    all settings, ``n_support`` and ``converged``.

    Returns
    -------
    list of dict
        ``parameters``, the ``score`` on held-out rows, ``metrics`` on test rows, and ``converged``
        where it is False.
    """
    points = []
    fitted = _by_path if _has_path(estimator) else _one_by_one
    with warnings.catch_warnings():
        # one warning per point would hide all others
        warnings.filterwarnings("once")
        points_of_grid = fitted(estimator, grid, parts, task.output)
        for parameters, held_out, tested, n_support, converged in points_of_grid:
            score = task.score(parts.y_val, task.as_label(held_out, parts.y_train))
            metrics = task.measure(parts.y_test, task.as_label(tested, parts.y_train))
            if n_support is not None:
                metrics["n_support"] = float(np.sum(n_support))
            point = {"parameters": parameters, "score": score, "metrics": metrics}
            points.append(point if converged else {**point, "converged": False})
    return points


def _has_path(estimator: Any) -> bool:
    """Whether the estimator follows a path; scikit-learn's ElasticNet.path is something else."""
    path = getattr(estimator, "path", None)
    return path is not None and list(signature(path).parameters) == ["X", "y"]


def _one_by_one(estimator: Any, grid: _Grid, parts: Parts, output: str) -> Iterator[_Fitted]:
    for parameters in ParameterGrid(dict(grid)):
        info: dict[str, Any] = {}
        with noting_convergence(info):
            model = clone(estimator).set_params(**parameters).fit(parts.X_train, parts.y_train)
        predict = getattr(model, output)
        n_support = getattr(model, "n_support_", None)
        predicted = predict(parts.X_val), predict(parts.X_test)
        yield parameters, *predicted, n_support, info.get("converged", True)


def _by_path(estimator: Any, grid: _Grid, parts: Parts, output: str) -> Iterator[_Fitted]:
    for fixed, path in _paths(estimator, grid, parts.X_train, parts.y_train):
        predict = getattr(path, output)
        held_out, tested = predict(parts.X_val), predict(parts.X_test)
        n_support, converged = path.n_support.ravel(), path.converged.ravel()
        for i, setting in enumerate(path.settings):
            parameters = {**fixed, **setting.params}
            yield parameters, held_out[i], tested[i], n_support[i], bool(converged[i])


def _paths(estimator: Any, grid: _Grid, X: Any, y: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Follow a path for each combination of the nested parameters, which it does not take."""
    nested = {name: values for name, values in grid.items() if "__" in name}
    lists = {name: values for name, values in grid.items() if name not in nested}
    for fixed in ParameterGrid(nested):
        yield fixed, clone(estimator).set_params(**fixed, **lists).path(X, y)


def chosen_by_mean(plan: Plan, results: Mapping[str, Result]) -> dict[str, Result]:
    """Give each cell the numbers of the grid point that is best over all its splits.

    The best point has the greatest mean score; ties are broken by the fewest support vectors on
    average, then by order. Results without a grid stay as they are.
    """
    cells: dict[str, list[Result]] = defaultdict(list)
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done and "grid" in result.info:
            cells[canonical(trial.labels)].append(result)
    chosen = dict(results)
    for cell in cells.values():
        grids = [result.info["grid"] for result in cell]
        scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
        support = [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids]
        # rounded, so that differences by rounding error are none
        best = first_best(np.asarray(-np.round(scores, 12)), np.mean(support, axis=0))
        for result, grid in zip(cell, grids, strict=True):
            chosen[result.key] = replace(
                result,
                metrics={**result.metrics, **grid[best]["metrics"]},
                info={
                    **result.info,
                    "selected": grid[best]["parameters"],
                    "converged": grid[best].get("converged", True),
                },
            )
    return chosen
