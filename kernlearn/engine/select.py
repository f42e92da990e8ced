"""Choice of parameters on held-out rows, in a trial or by the mean over all splits."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernlearn.config.names import BUILT_IN, Scope
from kernlearn.config.spec import Trial
from kernlearn.engine import machine
from kernlearn.engine.protocol import Parts, generator
from kernlearn.engine.tasks import Task
from kernlearn.validation import first_best, hold_out_at_random

# Seconds of a fit, above which it pays to fit in other processes.
_LONG_FIT = 0.5

# The values to choose from, by parameter.
Grid = Mapping[str, list[Any]]


def fit_given(estimator: Any, X: Any, y: Any, X_val: Any, y_val: Any, query: Any) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them.

    scikit-learn's gradient boosting gets no held-out rows: it would stop early on them.
    """
    taken = signature(estimator.fit).parameters
    options = {"qid": query}
    if "early_stopping" not in estimator.get_params(deep=False):
        options |= {"X_val": X_val, "y_val": y_val}
    return estimator.fit(
        X, y, **{k: v for k, v in options.items() if k in taken and v is not None}
    )


def select(
    estimator: Any, parts: Parts, trial: Trial, task: Task, scope: Scope, n_jobs: int = 1
) -> tuple[dict[str, Any], float | None]:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    Return them with their score, None if there is nothing to choose.

    If the protocol holds no rows out, they are taken from the training part. Fits that take long
    run in `n_jobs` processes. The steps of a pipeline before the last are fitted once for all
    values of the last one's parameters. An estimator with a path is fitted along it, see
    :func:`measure_grid`; of several parameters then the fewest support vectors win a tie.
    """
    grid, protocol = trial.spec.method.select, trial.spec.protocol
    if not grid:
        return {}, None
    if parts.X_val is None:
        parts = _with_validation(parts, trial)
    if hasattr(estimator, "path_parameters"):
        return _best_of_path(estimator, grid, parts, task, scope)
    points, n_val = list(ParameterGrid(grid)), len(parts.y_val)

    def score(group: list[int]) -> tuple[list[float], list[Any]]:
        with machine.thread_limit(protocol.threads), machine.recorded_warnings() as caught:
            fits = _fits(estimator, [points[i] for i in group], parts, scope)
            values = [
                task.score(
                    parts.y_val,
                    task.label(getattr(model, task.output)(rows), n_val, parts.y_train),
                    parts.queries[1],
                )
                for model, rows in fits
            ]
        return values, caught

    groups, clock = _sharing_steps(estimator, points), time.perf_counter()
    scored = [score(groups[0])]
    if n_jobs > 1 and time.perf_counter() - clock > _LONG_FIT:
        from joblib import Parallel, delayed

        # arrays are copied: joblib's files of large ones leave messages of its resource tracker
        run = Parallel(n_jobs, max_nbytes=None)
        scored += run(delayed(score)(group) for group in groups[1:])
    else:
        scored += map(score, groups[1:])
    machine.warn_again(one for _, caught in scored for one in caught)
    scores = np.empty(len(points))
    for group, (values, _) in zip(groups, scored, strict=True):
        scores[group] = values
    return points[int(scores.argmax())], float(scores.max())


def _with_validation(parts: Parts, trial: Trial) -> Parts:
    """Hold rows of the training part out."""
    protocol = trial.spec.protocol
    if parts.queries[0] is not None:
        raise ValueError("select needs rows held out by whole queries: give folds")
    rng = generator(protocol.seed, "validation", trial.split)
    train, held_out = hold_out_at_random(parts.X_train.shape[0], protocol.validation, rng)
    return replace(
        parts,
        X_train=parts.training(train, train),
        y_train=parts.y_train[train],
        X_val=parts.training(held_out, train),
        y_val=parts.y_train[held_out],
    )


def _sharing_steps(estimator: Any, points: list[dict[str, Any]]) -> list[list[int]]:
    """Group points of a grid that differ in parameters of the last step of a pipeline alone."""
    groups: dict[str, list[int]] = {}
    for i, point in enumerate(points):
        before = _by_step(estimator, point)[0] if _has_steps(estimator) else i
        groups.setdefault(repr(before), []).append(i)
    return list(groups.values())


def _has_steps(estimator: Any) -> bool:
    return len(getattr(estimator, "steps", ())) > 1 and hasattr(estimator, "named_steps")


def _by_step(estimator: Any, point: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of all steps of a pipeline but the last, and those of that one."""
    prefix = f"{estimator.steps[-1][0]}__"
    last = {k.removeprefix(prefix): v for k, v in point.items() if k.startswith(prefix)}
    return {k: v for k, v in point.items() if not k.startswith(prefix)}, last


def _fits(
    estimator: Any, points: list[dict[str, Any]], parts: Parts, scope: Scope
) -> Iterator[tuple[Any, Any]]:
    """Yield a fitted model for each point, and what it takes for the held-out rows."""
    X, y, X_val = parts.X_train, parts.y_train, parts.X_val
    if not _has_steps(estimator):
        model = clone(estimator).set_params(**scope.made_values(points[0]))
        yield fit_given(model, X, y, X_val, parts.y_val, parts.queries[0]), X_val
        return
    before = _by_step(estimator, points[0])[0]
    model = clone(estimator).set_params(**scope.made_values(before))
    steps, last = model[:-1], model[-1]
    Z = steps.fit_transform(X, y)
    Z_val = steps.transform(X_val)
    for point in points:
        own = scope.made_values(_by_step(estimator, point)[1])
        yield clone(last).set_params(**own).fit(Z, y), Z_val


def _best_of_path(
    estimator: Any, grid: Grid, parts: Parts, task: Task, scope: Scope
) -> tuple[dict[str, Any], float]:
    points, scores, n_support = [], [], []
    for fixed, path in _paths(estimator, grid, parts, scope):
        predicted = getattr(path, task.output)(parts.X_val)
        points += [{**fixed, **setting.params} for setting in path.settings]
        n_val = len(parts.y_val)
        labels = (task.label(values, n_val, parts.y_train) for values in predicted)
        scores += [task.score(parts.y_val, one) for one in labels]
        n_support += path.n_support.ravel().tolist()
    # a path may have another order than its grid
    order = list(ParameterGrid(grid))
    ties = n_support if len(grid) > 1 else [order.index(point) for point in points]
    # rounded, so that differences by rounding error are none
    best = first_best(-np.round(scores, 12), np.array(ties))
    return points[best], float(scores[best])


def _paths(
    estimator: Any, grid: Grid, parts: Parts, scope: Scope
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Follow a path for each combination of the parameters that it does not take."""
    lists = {name: grid[name] for name in estimator.path_parameters if name in grid}
    others = {name: values for name, values in grid.items() if name not in lists}
    for fixed in ParameterGrid(others):
        model = clone(estimator).set_params(**scope.made_values(fixed), **lists)
        yield fixed, model.path(parts.X_train, parts.y_train)


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
    fitted = _along_paths if hasattr(estimator, "path_parameters") else _point_by_point
    for parameters, held_out, tested, n_support, converged in fitted(
        estimator, grid, parts, task.output, scope
    ):
        chosen_on = task.label(held_out, len(parts.y_val), parts.y_train)
        score = task.score(parts.y_val, chosen_on)
        tested = task.label(tested, len(parts.y_test), parts.y_train)
        metrics = task.measure(parts.y_test, tested)
        if n_support is not None:
            metrics["n_support"] = float(np.sum(n_support))
        point = {"parameters": parameters, "score": score, "metrics": metrics}
        points.append(point if converged else {**point, "converged": False})
    return points


def _point_by_point(
    estimator: Any, grid: Grid, parts: Parts, output: str, scope: Scope
) -> Iterator[tuple[Any, ...]]:
    for parameters in ParameterGrid(dict(grid)):
        info: dict[str, Any] = {}
        with machine.noting_convergence(info):
            model = clone(estimator).set_params(**scope.made_values(parameters))
            model.fit(parts.X_train, parts.y_train)
        predict = getattr(model, output)
        predicted = predict(parts.X_val), predict(parts.X_test)
        n_support = getattr(model, "n_support_", None)
        yield parameters, *predicted, n_support, info.get("converged", True)


def _along_paths(
    estimator: Any, grid: Grid, parts: Parts, output: str, scope: Scope
) -> Iterator[tuple[Any, ...]]:
    for fixed, path in _paths(estimator, grid, parts, scope):
        predict = getattr(path, output)
        held_out, tested = predict(parts.X_val), predict(parts.X_test)
        n_support, converged = path.n_support.ravel(), path.converged.ravel()
        for i, setting in enumerate(path.settings):
            parameters = {**fixed, **setting.params}
            yield parameters, held_out[i], tested[i], n_support[i], bool(converged[i])
