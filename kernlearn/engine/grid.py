"""Choice of parameters from a grid, and evaluation of all its points."""

import time
import warnings
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernlearn.config.names import BUILT_IN, Scope
from kernlearn.config.spec import Trial
from kernlearn.engine import environment
from kernlearn.engine.protocol import Parts, generator
from kernlearn.engine.tasks import Task
from kernlearn.validation import first_best, hold_out_at_random

_LONG_FIT = 0.5  # seconds, above which it pays to fit in other processes

# The values to choose from, by parameter.
Grid = Mapping[str, list[Any]]
# Parameters, what is predicted for held-out and for test rows, the number of support vectors, and
# whether the solver converged.
_Fitted = tuple[dict[str, Any], Any, Any, Any, bool]


def fit_given(estimator: Any, X: Any, y: Any, X_val: Any, y_val: Any, query: Any) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them.

    scikit-learn's gradient boosting gets no held-out rows: it would stop early on them.
    """
    taken = signature(estimator.fit).parameters
    given = {"qid": query}
    if "early_stopping" not in estimator.get_params(deep=False):
        given |= {"X_val": X_val, "y_val": y_val}
    return estimator.fit(X, y, **{k: v for k, v in given.items() if k in taken and v is not None})


def select(
    estimator: Any, parts: Parts, trial: Trial, task: Task, scope: Scope, n_jobs: int
) -> tuple[dict[str, Any], float | None]:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    Return them with their score, None if there is nothing to choose.

    If the protocol holds no rows out, they are taken from the training part. Fits that take long
    run in several processes. What the steps of a pipeline before the last make serves all values
    of the last one's parameters. The path of an estimator that has one is followed instead, see
    :func:`measure_grid`. Among several parameters none is the first: then the one with the fewest
    support vectors wins, as in :func:`kernlearn.engine.grids.chosen_by_mean`.
    """
    grid, protocol = trial.spec.method.select, trial.spec.protocol
    if not grid:
        return {}, None
    X, y, X_val, y_val = parts.X_train, parts.y_train, parts.X_val, parts.y_val
    query, query_val, _ = parts.queries
    if X_val is None:
        if query is not None:
            raise ValueError("select needs rows held out by whole queries: give folds")
        rng = generator(protocol.seed, "validation", trial.split)
        kept, held_out = hold_out_at_random(X.shape[0], protocol.validation, rng)
        X, X_val = parts.training(kept, kept), parts.training(held_out, kept)
        y, y_val = y[kept], y[held_out]
    if _has_path(estimator):
        return _best_of_path(estimator, grid, (X, y, X_val, y_val), task, scope)

    points = list(ParameterGrid(grid))

    def score(group: list[int]) -> tuple[list[float], list[Any]]:
        with environment.recorded_warnings() as caught:
            data = X, y, X_val, y_val, query
            fits = _fits(estimator, [points[i] for i in group], data, scope)
            predicted = [getattr(model, task.output)(rows) for model, rows in fits]
        values = [task.score(y_val, task.as_label(one, y), query_val) for one in predicted]
        return values, caught

    def score_elsewhere(group: list[int]) -> tuple[Any, Any]:
        with environment.thread_limit(protocol.threads):
            return score(group)

    groups, clock = _sharing_steps(estimator, points), time.perf_counter()
    scored = [score(groups[0])]
    if n_jobs > 1 and time.perf_counter() - clock > _LONG_FIT:
        from joblib import Parallel, delayed

        # arrays are copied: joblib's files of large ones leave messages of its resource tracker
        run = Parallel(n_jobs, max_nbytes=None)
        with warnings.catch_warnings():
            # a process that has grown is replaced
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            scored += run(delayed(score_elsewhere)(group) for group in groups[1:])
    else:
        scored += map(score, groups[1:])
    environment.warn_again(one for _, caught in scored for one in caught)
    scores = np.empty(len(points))
    for group, (values, _) in zip(groups, scored, strict=True):
        scores[group] = values
    return points[int(scores.argmax())], float(scores.max())


def _sharing_steps(estimator: Any, points: list[dict[str, Any]]) -> list[list[int]]:
    """Group points of a grid that differ in parameters of the last step of a pipeline alone."""
    groups: dict[str, list[int]] = {}
    for i, point in enumerate(points):
        before = _by_step(estimator, point)[0] if _has_steps(estimator) else i
        groups.setdefault(repr(before), []).append(i)
    return list(groups.values())


def _by_step(estimator: Any, point: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of all steps of a pipeline but the last, and those of that one.

    All are of the first kind for an estimator that is no pipeline.
    """
    if not _has_steps(estimator):
        return point, {}
    prefix = f"{estimator.steps[-1][0]}__"
    last = {k.removeprefix(prefix): v for k, v in point.items() if k.startswith(prefix)}
    return {k: v for k, v in point.items() if not k.startswith(prefix)}, last


def _has_steps(estimator: Any) -> bool:
    return len(getattr(estimator, "steps", ())) > 1 and hasattr(estimator, "named_steps")


def _fits(
    estimator: Any, points: list[dict[str, Any]], data: tuple[Any, ...], scope: Scope
) -> Iterator[tuple[Any, Any]]:
    """Yield a fitted model for each point, and what it takes for the held-out rows.

    The points differ in the last step of a pipeline alone; the others are fitted once.
    """
    X, y, X_val, y_val, query = data
    before, _ = _by_step(estimator, points[0])
    model = clone(estimator).set_params(**scope.made_values(before))
    if not _has_steps(estimator):
        yield fit_given(model, X, y, X_val, y_val, query), X_val
        return
    steps, last = model[:-1], model[-1]
    Z = steps.fit_transform(X, y)
    Z_val = steps.transform(X_val)
    for point in points:
        own = scope.made_values(_by_step(estimator, point)[1])
        yield clone(last).set_params(**own).fit(Z, y), Z_val


def _best_of_path(
    estimator: Any, grid: Grid, parts: tuple[Any, ...], task: Task, scope: Scope
) -> tuple[dict[str, Any], float]:
    X, y, X_val, y_val = parts
    points, scores, n_support = [], [], []
    for fixed, path in _paths(estimator, grid, X, y, scope):
        predicted = getattr(path, task.output)(X_val)
        points += [{**fixed, **setting.params} for setting in path.settings]
        scores += [task.score(y_val, task.as_label(values, y)) for values in predicted]
        n_support += path.n_support.ravel().tolist()
    # a path may have another order than its grid
    order = list(ParameterGrid(grid))
    ties = n_support if len(grid) > 1 else [order.index(point) for point in points]
    # rounded, so that differences by rounding error are none
    best = first_best(-np.round(scores, 12), np.array(ties))
    return points[best], float(scores[best])


def measure_grid(
    estimator: Any, grid: Grid, parts: Parts, task: Task, scope: Scope = BUILT_IN
) -> list[dict[str, Any]]:
    """Fit for every point of a grid and evaluate each, on held-out and on test rows.

    An estimator with `path_parameters` fits for all values of these at once, by a method
    ``path(X, y)``: they are lists of values then, and it returns an object with ``settings`` (each
    with ``params``), ``predict`` for all settings, ``n_support`` and ``converged``.

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
        points_of_grid = fitted(estimator, grid, parts, task.output, scope)
        for parameters, held_out, tested, n_support, converged in points_of_grid:
            score = task.score(parts.y_val, task.as_label(held_out, parts.y_train))
            metrics = task.measure(parts.y_test, task.as_label(tested, parts.y_train))
            if n_support is not None:
                metrics["n_support"] = float(np.sum(n_support))
            point = {"parameters": parameters, "score": score, "metrics": metrics}
            points.append(point if converged else {**point, "converged": False})
    return points


def _has_path(estimator: Any) -> bool:
    """Whether the estimator follows a path, see :func:`measure_grid`."""
    return hasattr(estimator, "path_parameters")


def _one_by_one(
    estimator: Any, grid: Grid, parts: Parts, output: str, scope: Scope
) -> Iterator[_Fitted]:
    for parameters in ParameterGrid(dict(grid)):
        info: dict[str, Any] = {}
        with environment.noting_convergence(info):
            model = clone(estimator).set_params(**scope.made_values(parameters))
            model.fit(parts.X_train, parts.y_train)
        predict = getattr(model, output)
        n_support = getattr(model, "n_support_", None)
        predicted = predict(parts.X_val), predict(parts.X_test)
        yield parameters, *predicted, n_support, info.get("converged", True)


def _by_path(
    estimator: Any, grid: Grid, parts: Parts, output: str, scope: Scope
) -> Iterator[_Fitted]:
    for fixed, path in _paths(estimator, grid, parts.X_train, parts.y_train, scope):
        predict = getattr(path, output)
        held_out, tested = predict(parts.X_val), predict(parts.X_test)
        n_support, converged = path.n_support.ravel(), path.converged.ravel()
        for i, setting in enumerate(path.settings):
            parameters = {**fixed, **setting.params}
            yield parameters, held_out[i], tested[i], n_support[i], bool(converged[i])


def _paths(
    estimator: Any, grid: Grid, X: Any, y: Any, scope: Scope
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Follow a path for each combination of the parameters that it does not take."""
    lists = {name: grid[name] for name in estimator.path_parameters if name in grid}
    apart = {name: values for name, values in grid.items() if name not in lists}
    for fixed in ParameterGrid(apart):
        model = clone(estimator).set_params(**scope.made_values(fixed), **lists)
        yield fixed, model.path(X, y)
