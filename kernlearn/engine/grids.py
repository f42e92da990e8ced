"""Trials that measured a grid of settings: the setting that counts is chosen over all splits."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kernlearn.config.spec import canonical
from kernlearn.store import Row


def chosen_by_mean(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Give each trial that measured a grid the numbers of the best point over all its splits.

    The best point has the greatest mean score; ties are broken by the fewest support vectors on
    average, then by order. Rows without a grid stay as they are.
    """
    cells: dict[str, list[Row]] = defaultdict(list)
    for row in rows.values():
        if row.done and "grid" in row.info:
            cells[canonical({**row.spec, "split": 0})].append(row)
    return {**rows, **{row.key: row for cell in cells.values() for row in _chosen(cell)}}


def _chosen(cell: list[Row]) -> list[Row]:
    grids = [row.info["grid"] for row in cell]
    scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
    support = [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids]
    # rounded, so that differences by rounding error are none
    best = int(np.lexsort([np.mean(support, axis=0), -np.round(scores, 12)])[0])
    return [
        replace(
            row,
            metrics={**row.metrics, **grid[best]["metrics"]},
            info={
                **row.info,
                "selected": grid[best]["parameters"],
                "converged": grid[best].get("converged", True),
            },
        )
        for row, grid in zip(cell, grids, strict=True)
    ]
