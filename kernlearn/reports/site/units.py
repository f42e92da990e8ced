"""Times on pages: short ones in milliseconds, a whole column alike, as its head says."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernlearn.config.names import is_time
from kernlearn.reports.tables import Cell, Table, format_number, interval_text

_UNIT = re.compile(r"\bs\b")
# Seconds: a column has milliseconds if none of its measured and reported times is longer.
_LONGEST, _LONGEST_REPORTED = 1.0, 10.0


def in_readable_units(table: Table) -> Table:
    """Return the table with milliseconds in its columns of times below a second."""
    heads = list(table.heads)
    columns: list[Sequence[Cell]] = [*zip(*(cells for _, cells in table.rows), strict=True)]
    for i, (head, cells) in enumerate(zip(table.heads, columns, strict=True)):
        if _UNIT.search(head) and _are_short_times(cells):
            heads[i] = _UNIT.sub("ms", head)
            columns[i] = [_in_milliseconds(cell) for cell in cells]
    rows = zip((labels for labels, _ in table.rows), zip(*columns, strict=True), strict=True)
    return replace(table, heads=heads, rows=[(labels, [*cells]) for labels, cells in rows])


def _are_short_times(cells: Sequence[Cell]) -> bool:
    if not all(is_time(cell.metric) for cell in cells if cell.metric):
        return False
    measured = [cell.number for cell in cells if not np.isnan(cell.mean)]
    reported = [cell.reported_mean for cell in cells if not np.isnan(cell.reported_mean)]
    is_short = max(measured, default=0) < _LONGEST and max(reported, default=0) < _LONGEST_REPORTED
    return bool(measured) and is_short


def _in_milliseconds(cell: Cell) -> Cell:
    names = ("mean", "std", "reported_mean", "median", "low", "high")
    times = {name: 1000 * getattr(cell, name) for name in names}
    changed = replace(cell, **times, scale=1000.0)
    return replace(
        changed,
        measured=format_number(changed.number, cell.metric)
        + interval_text(changed.low, changed.high, cell.metric),
        reported=format_number(changed.reported_mean, cell.metric) if cell.reported else "",
    )
