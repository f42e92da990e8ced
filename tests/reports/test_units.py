"""Times on pages."""

import numpy as np
import pytest

from kernlearn.reports.site.units import in_readable_units
from kernlearn.reports.tables import Cell, Table


def column(head, *times, metric="fit_seconds", reported=np.nan):
    cells = [
        Cell(
            f"{t:#.3g}",
            "18" if reported == reported else "",
            metric=metric,
            mean=t,
            std=t / 50,
            reported_mean=reported,
        )
        for t in times
    ]
    rows = [([f"row {i}"], [cell]) for i, cell in enumerate(cells)]
    return Table("times", ["row"], [head], rows, [""])


def test_a_column_of_short_times_is_in_milliseconds():
    table = in_readable_units(column("RF fit s", 0.03951, 0.000812))
    assert table.heads == ["RF fit ms"]
    first, last = (cells[0] for _, cells in table.rows)
    assert [first.measured, last.measured] == ["39.5", "0.812"]
    assert first.mean == pytest.approx(39.51)
    assert first.std == pytest.approx(0.7902)
    assert first.metric == "fit_seconds"


def test_the_number_in_parentheses_of_a_head_stays():
    assert in_readable_units(column("predict s (LIBSVM)", 0.5)).heads == ["predict ms (LIBSVM)"]


def test_reported_times_have_the_unit_of_the_column():
    table = in_readable_units(column("fit s", 0.0157, reported=3.37))
    ((_, (cell,)),) = table.rows
    assert (table.heads, cell.reported, cell.reported_mean) == (["fit ms"], "3370", 3370.0)


def test_an_interval_has_the_unit_of_its_median():
    cell = Cell(
        "0.0400 [0.0380–0.0410]",
        metric="fit_seconds",
        mean=0.05,
        median=0.04,
        low=0.038,
        high=0.041,
    )
    table = in_readable_units(Table("times", ["row"], ["fit s"], [(["row"], [cell])], [""]))
    ((_, (shown,)),) = table.rows
    assert shown.measured == "40.0 [38.0–41.0]"
    assert shown.number == 40.0


@pytest.mark.parametrize(
    "table",
    [
        column("fit s", 0.5, 1.5),
        column("fit s", 0.5, reported=18.0),
        column("accuracy", 0.5, metric="accuracy"),
        column("buffer s", 0.5, metric="accuracy"),
        Table("nothing", ["row"], ["fit s"], [(["x"], [Cell("")])], [""]),
        Table("no rows", ["row"], [], [], []),
    ],
)
def test_other_columns_stay(table):
    assert in_readable_units(table) == table
