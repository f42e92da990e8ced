"""A grid of parameters on every split: its best point is chosen by the mean over all splits."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernlearn.experiments.keys import canonical
from kernlearn.experiments.plan import Plan, Trial
from kernlearn.experiments.protocol import Parts
from kernlearn.experiments.store import Result
from kernlearn.experiments.tasks import Task

_Fitted = tuple[dict[str, Any], Callable[[Any], NDArray[Any]], float | None]


def measure_grid(
    estimator: Any, grid: Mapping[str, list[Any]], parts: Parts, task: Task
) -> list[dict[str, Any]]:
    """Train for every point of a grid and measure each, on held-out and on test rows.

    An estimator with a ``path`` method goes through the grid by that: it is given lists of
    values, and returns an object with ``settings`` (each with ``params``), ``predict`` for all
    settings at once, and ``n_support``.

    Parameters
    ----------
    estimator : estimator
    grid : mapping of str to list
        Values of each parameter.
    parts : Parts
        With held-out rows.
    task : Task

    Returns
    -------
    list of dict
        ``parameters``, the ``score`` on held-out rows, and ``metrics`` on test rows.
    """
    assert parts.X_val is not None
    assert parts.y_val is not None
    found = []
    fitted = _by_path if hasattr(estimator, "path") else _one_by_one
    with warnings.catch_warnings():
        # one warning a point would hide all others
        warnings.filterwarnings("once")
        for parameters, predict, n_support in fitted(estimator, grid, parts, task.output):
            held_out = task.as_label(predict(parts.X_val), parts.y_train)
            metrics = task.measure(
                parts.y_test, task.as_label(predict(parts.X_test), parts.y_train), None
            )
            if n_support is not None:
                metrics["n_support"] = n_support
            score = task.score(parts.y_val, held_out, None)
            found.append({"parameters": parameters, "score": score, "metrics": metrics})
    return found


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
    """Go along a path for each combination of the nested parameters, which it does not take."""
    nested = {name: values for name, values in grid.items() if "__" in name}
    lists = {name: values for name, values in grid.items() if name not in nested}
    for fixed in ParameterGrid(nested):
        model = clone(estimator).set_params(**fixed, **lists)
        path = model.path(parts.X_train, parts.y_train)
        known = [(X, getattr(path, output)(X)) for X in (parts.X_val, parts.X_test)]
        for place, setting in enumerate(path.settings):
            yield (
                {**fixed, **setting.params},
                partial(_one_of, known, place),
                float(path.n_support.ravel()[place]),
            )


def _one_of(known: list[tuple[Any, NDArray[Any]]], place: int, X: Any) -> NDArray[Any]:
    """Return the predictions of one setting out of those of all, for the same rows."""
    return next(predicted[place] for rows, predicted in known if rows is X)


def chosen_by_mean(plan: Plan, results: Mapping[str, Result]) -> dict[str, Result]:
    """Give each cell the numbers of the grid point that is best over its splits.

    The best has the greatest mean score; of equally good ones it is the one with the fewest
    support vectors in the mean, then the first.

    Parameters
    ----------
    plan : Plan
    results : mapping of str to Result
        As stored; those without a grid pass as they are.

    Returns
    -------
    dict of str to Result
    """
    cells: dict[str, list[Trial]] = defaultdict(list)
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done and "grid" in result.info:
            cells[canonical(trial.labels)].append(trial)
    found = dict(results)
    for trials in cells.values():
        grids = [results[trial.key].info["grid"] for trial in trials]
        scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
        support = np.mean(
            [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids], axis=0
        )
        # differences by rounding are none
        best = int(np.lexsort((np.arange(len(scores)), support, -np.round(scores, 12)))[0])
        for trial, grid in zip(trials, grids, strict=True):
            result = results[trial.key]
            found[trial.key] = replace(
                result,
                metrics={**result.metrics, **grid[best]["metrics"]},
                info={**result.info, "selected": grid[best]["parameters"]},
            )
    return found
