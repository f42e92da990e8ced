"""Trials that measured a grid of settings: the setting that counts is chosen over all splits."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernlearn.config.spec import canonical
from kernlearn.engine.plan import Plan
from kernlearn.store.results import Result, StoredTrial


def chosen_by_mean(plan: Plan, results: Mapping[str, Result]) -> dict[str, Result]:
    """Give each cell the numbers of the grid point that is best over all its splits.

    The best point has the greatest mean score; ties are broken by the fewest support vectors on
    average, then by order. Results without a grid stay as they are.
    """
    cells: dict[tuple[str, int], list[Result]] = defaultdict(list)
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and has_grid(result):
            cells[_cell(canonical(trial.labels), result)].append(result)
    return {**results, **{r.key: r for cell in cells.values() for r in _chosen(cell)}}


def chosen_in_cells(trials: Iterable[StoredTrial]) -> list[StoredTrial]:
    """Do the same for trials of a store, whose cells are those with the same specification.

    Trials that failed stay as they are, and so does the order.
    """
    trials = list(trials)
    cells: dict[tuple[Any, ...], list[Result]] = defaultdict(list)
    for stored in trials:
        if has_grid(stored.result):
            cell = canonical([stored.trial.labels, replace(stored.trial.spec, split=0)])
            cells[stored.trial.experiment, *_cell(cell, stored.result)].append(stored.result)
    # the numbers of a trial in two runs are two results
    numbers = {(r.key, r.run): r for cell in cells.values() for r in _chosen(cell)}
    return [
        StoredTrial(s.trial, numbers.get((s.result.key, s.result.run), s.result)) for s in trials
    ]


def _cell(name: str, result: Result) -> tuple[str, int]:
    # a store from elsewhere may have grids of several sizes, which have no mean
    return name, len(result.info["grid"])


def has_grid(result: Result) -> bool:
    """Whether a trial succeeded and measured each setting of a grid."""
    return result.done and "grid" in result.info


def _chosen(cell: Sequence[Result]) -> list[Result]:
    grids = [result.info["grid"] for result in cell]
    scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
    support = [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids]
    # rounded, so that differences by rounding error are none
    best = int(np.lexsort([np.mean(support, axis=0), -np.round(scores, 12)])[0])
    return [
        replace(
            result,
            metrics={**result.metrics, **grid[best]["metrics"]},
            info={
                **result.info,
                "selected": grid[best]["parameters"],
                "converged": grid[best].get("converged", True),
            },
        )
        for result, grid in zip(cell, grids, strict=True)
    ]
