"""Cells of claims: the samples that a check compares or asks for, from all splits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import fsum, inf
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.claims import Check, LabelValue
from kernlearn.config.spec import LABELS
from kernlearn.reports.significance import VALUES, Cell, by_method, mean_of

#: Sides of a comparison, by value of the label that is compared: their means, and their labels.
Sides = dict[LabelValue, tuple[pd.DataFrame, list[str]]]


def compared_cells(
    rows: pd.DataFrame,
    check: Check,
    one: LabelValue,
    other: LabelValue,
    better: int,
    sides: Sides | None = None,
) -> list[Cell]:
    """Return how far one is ahead of the other in each cell, on the splits that both have.

    ``one`` and ``other`` are values of the label that is compared. Values above 0 favour ``one``.
    With ``times`` they are the distance from the multiple that is allowed or required, and the
    effect is the factor by which ``one`` is ahead. ``sides`` keeps what several pairs of the same
    rows and check share.
    """
    sides, known = {} if sides is None else sides, {check.compare}
    for value in (one, other):
        if value not in sides:
            side = rows[rows[check.compare] == value]
            own = [c for c in _labels(side, check.compare) if side[c].notna().any()]
            sides[value] = _side(side, check, own), own
        known |= {*sides[value][1]}
    left, right = sides[one][0], sides[other][0]
    if left.empty or right.empty or not known.issuperset(check.where):
        return []
    pairs = _pairs(left, right)
    # the greater value is the one that is ahead
    ahead, behind = ("one", "other") if better > 0 else ("other", "one")
    times, cells = check.times or 1.0, []
    labels = [c for c in _labels(rows) if c in pairs]
    for name, splits, means in _means(pairs, labels, check.mean_over, [ahead, behind]):
        more, less = means
        values = more - times * less if check.question == "better" else times * more - less
        effect = mean_of(more) - mean_of(less)
        if check.times is not None:
            effect = mean_of(more) / mean_of(less) if mean_of(less) else inf
        cells.append(Cell(name, pd.Series(values, splits), effect))
    return cells


def asked_cells(rows: pd.DataFrame, check: Check, name: LabelValue | None = None) -> list[Cell]:
    """Return a metric, or its slope, in each cell; by default of all methods.

    With ``times`` the values are slopes of logarithms to base 2, and the effect is a factor.
    """
    rows = rows if name is None else rows[rows[check.compare] == name]
    labels = _labels(rows)
    side = _side(rows, check, labels)
    plain = dict(zip(map(str, side), _plain(side, side), strict=True))
    means = _means(plain, labels, [*check.across, *check.mean_over, check.along], ["value"])
    effect = float if check.times is None else np.exp2
    return [
        Cell(cell, pd.Series(values, splits), float(effect(mean_of(values))))
        for cell, splits, (values,) in means
    ]


def whole_cells(rows: pd.DataFrame, check: Check) -> list[Cell]:
    """Return the values of each combination of labels, with a column per method."""
    rows = rows[_chosen(rows, check.where)]
    cells = rows.groupby(_labels(rows, "method"), dropna=False, sort=False)
    return [Cell("", by_method(cell), 0.0) for _, cell in cells]


def _labels(rows: pd.DataFrame, *without: str) -> list[str]:
    return [c for c in rows.columns if c not in (*VALUES, *without)]


def _chosen(rows: pd.DataFrame, where: dict[str, Any]) -> "pd.Series[bool]":
    chosen = pd.Series(True, index=rows.index)
    for label, values in where.items():
        chosen &= rows[label].isin(values if isinstance(values, list) else [values])
    return chosen


def _side(rows: pd.DataFrame, check: Check, labels: list[str]) -> pd.DataFrame:
    """Return the values, or slopes, of one side of a comparison by its labels and split."""
    rows = rows[_chosen(rows, {k: v for k, v in check.where.items() if k in labels})]
    if check.along is not None:
        rows = _slopes(rows, check.along, labels, logarithms=check.times is not None)
    places = [c for c in labels if c not in (*check.across, check.along)] + ["split"]
    if rows.duplicated(places).any():
        return rows.groupby(places, dropna=False, sort=False)["value"].mean().reset_index()
    return rows[[*places, "value"]]


def _pairs(left: pd.DataFrame, right: pd.DataFrame) -> dict[str, list[Any]]:
    """Join two sides on all that they share: columns with the values of both.

    As an inner join of pandas, in a fraction of its time for the few rows that there are.
    """
    shared = [c for c in left if c in right and c != "value"]
    own = [c for c in right if c not in left]
    there: dict[Any, list[int]] = defaultdict(list)
    for i, place in enumerate(zip(*_plain(right, shared), strict=True)):
        there[place].append(i)
    found = [
        (i, j)
        for i, place in enumerate(zip(*_plain(left, shared), strict=True))
        for j in there.get(place, ())
    ]
    columns = {
        str(name): [values[i] for i, _ in found]
        for name, values in zip(left, _plain(left, left), strict=True)
    }
    others = zip([*own, "value"], _plain(right, [*own, "value"]), strict=True)
    more = {str(name): [values[j] for _, j in found] for name, values in others}
    return {**columns, "one": columns["value"], **more, "other": more["value"]}


def _plain(frame: pd.DataFrame, columns: Iterable[Any]) -> list[list[Any]]:
    """Return columns as lists, in which what is missing is None."""
    return [
        [None if value != value else value for value in frame[column].tolist()]
        for column in columns
    ]


def _slopes(rows: pd.DataFrame, along: str, labels: list[str], logarithms: bool) -> pd.DataFrame:
    """Return the slopes of least-squares lines over the logarithm to base 2 of a label.

    Splits that lack a value of the label do not count: their lines would not be comparable.
    """
    keys = [c for c in labels if c != along]
    rows = rows[rows[along].notna()]
    slopes = []
    for values, cell in rows.groupby(keys, dropna=False, sort=False):
        if logarithms:
            cell = cell.assign(value=np.log2(cell["value"].where(cell["value"] > 0)))
        curves = cell.pivot(index="split", columns=along, values="value").dropna()
        if curves.shape[1] > 1 and len(curves):
            x = np.log2(curves.columns.to_numpy(dtype=float))
            fitted = np.polyfit(x, curves.to_numpy().T, 1)[0]
            slopes += [[*values, *point] for point in zip(curves.index, fitted, strict=True)]
    return pd.DataFrame(slopes, columns=[*keys, "split", "value"])


def _means(
    rows: Mapping[str, Sequence[Any]],
    labels: Sequence[str],
    without: Sequence[str | None],
    columns: Sequence[str],
) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each cell's name, its splits, and the means of columns over some of the labels."""
    keys = [c for c in labels if c not in without]
    # labels that all cells share are not part of a name
    naming = [c for c in keys if c == "dataset" or len({*rows[c]} - {None}) > 1]
    cells: dict[Any, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    places = zip(*(rows[c] for c in keys), strict=True) if keys else repeat(())
    values = zip(*(rows[c] for c in columns), strict=True)
    for place, split, numbers in zip(places, rows["split"], values, strict=False):
        cells[place][split].append(numbers)
    for place, by_split in cells.items():
        # means over fewer values than those of other splits are not comparable
        most = max(map(len, by_split.values()))
        splits = sorted(split for split, numbers in by_split.items() if len(numbers) == most)
        means = [[*map(_average, zip(*by_split[split], strict=True))] for split in splits]
        of_place = dict(zip(keys, place, strict=True))
        yield _name(naming, [of_place[c] for c in naming]), splits, np.array(means).T


def _average(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return fsum(there) / len(there) if there else np.nan


def _name(labels: Sequence[str], values: Sequence[Any]) -> str:
    """Join labels to a name such as ``adult polynomial n_components=50``."""
    return " ".join(
        str(v) if k in LABELS else f"{k}={v:g}" if isinstance(v, Real) else f"{k}={v}"
        for k, v in zip(labels, values, strict=True)
        if v is not None
    )
