"""Statistical tests over splits: best methods, and claims over several cells.

The values of a cell, one per split, have a mean with an interval by Student's t-test; for a
comparison of two methods that is the paired t-test. A claim states a region for the mean. The
cell is *in* if the interval lies inside the region, *out* if the two do not meet, else *open*.

A claim about at least k of n cells *holds* if k or more are shown to be in, and *fails* if at
least n - k + 1 are shown to be out; n counts the cells of data sets that were not measured, too.
To keep the probability of an error below ``level``, "at least k of n are in" counts as shown

- if k cells are in when each is tested at ``level / (n - k + 1)``: were fewer than k in truth,
  at least one of n - k + 1 others would have to be an error (Benjamini & Heller 2008, Screening
  for partial conjunction hypotheses, Biometrics 64), or
- if more cells are in at plain ``level`` than the k - 1 allowed and those expected by chance
  among the other n - k + 1, by the binomial law, which assumes independent cells.

For a claim about all cells the first rule means that each is in at plain ``level``, and that a
single cell refutes only at ``level / n``, so that many cells do not refute by chance.

A claim that presumes the absence of a difference (*not worse*) cannot be shown by not finding
one. It fails as above, and holds if the intervals of k cells lie within a stated margin of
equality, which is an equivalence test. Otherwise it is *not refuted*. Any other claim that
neither holds nor fails *leans for* or *against*, by the share of the cells whose means are in.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import repeat
from math import ceil, fsum, inf, sqrt
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import Check, LabelValue
from kernlearn.experiments.engine.spec import LABELS

#: Columns of the numbers of all splits that are no labels.
VALUES = ("metric", "split", "value", "converged")

HOLDS, NOT_REFUTED, LEANS_FOR = "holds", "not refuted", "leans for"
LEANS_AGAINST, FAILS, NOT_MEASURED = "leans against", "fails", "not measured"

#: All outcomes of a claim, from good to bad; then that of one without results.
OUTCOMES = (HOLDS, NOT_REFUTED, LEANS_FOR, LEANS_AGAINST, FAILS, NOT_MEASURED)

Standing = Literal["in", "open", "out"]


def paired_interval(differences: Any, level: float) -> tuple[float, float]:
    """Return the confidence interval of the mean of differences, by Student's t-test.

    It is infinite for fewer than two splits, and a point if all differences are equal.
    """
    return interval(*mean_and_error(differences), len(differences), level)


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean of values and its standard error; the latter is NaN for fewer than two."""
    values = np.asarray(values, dtype=float)
    n = len(values)
    mean = float(values.mean()) if n else np.nan
    return mean, float(values.std(ddof=1)) / sqrt(n) if n > 1 else np.nan


def interval(mean: float, error: float, n: int, level: float) -> tuple[float, float]:
    """Return the confidence interval of the mean of n values, by its standard error."""
    if n < 2:
        return -inf, inf
    half = _quantile(n - 1, level) * error
    return mean - half, mean + half


@cache
def _quantile(degrees: int, level: float) -> float:
    """Return by how many standard errors the ends of an interval are from the mean."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2))


def by_method(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the values of a cell with a row per split and a column per method."""
    return rows.groupby(["split", "method"])["value"].mean().unstack()


def best_methods(values: pd.DataFrame, better: int, level: float) -> list[str]:
    """Return the method with the best mean, and all that are not significantly worse.

    The values are of one cell and metric, with a row per split and a column per method; ``better``
    is 1 where more is better, else -1; ``level`` is that of the two-sided paired t-test.
    """
    first = str((better * values.mean()).idxmax())
    best, methods, columns = [first], values.columns.tolist(), values.to_numpy(dtype=float).T
    leader = columns[methods.index(first)]
    for method, column in zip(methods, columns, strict=True):
        behind = _measured(better * (leader - column))
        if method != first and paired_interval(behind, level)[0] <= 0:
            best.append(method)
    return best


def _measured(values: Any) -> Any:
    """Return the values that are not missing."""
    return values[~np.isnan(values)]


def _mean(values: Any) -> float:
    """Return the mean of the values that are not missing."""
    measured = _measured(np.asarray(values, dtype=float))
    return float(measured.mean()) if len(measured) else np.nan


@dataclass(frozen=True)
class Cell:
    """One sample for a test, named by its labels without those that all cells share.

    The values, by split, are differences of two methods, a metric, or its slope. The effect is
    what a report shows: the mean of the values, or the factor by which two means differ.
    """

    name: str
    values: Any
    effect: float

    @cached_property
    def mean_and_error(self) -> tuple[float, float]:
        """The mean of the values, and its standard error."""
        return mean_and_error(self.values)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of the mean."""
        return interval(*self.mean_and_error, len(self.values), level)


@dataclass(frozen=True)
class Region:
    """Where a claim expects a mean.

    Attributes
    ----------
    low, high : float
        Its limits: a cell beyond them refutes.
    presumed : bool
        Whether the claim presumes what no test refutes.
    margin : float
        How far beyond the limits a presumed claim still counts as shown.
    """

    low: float = -inf
    high: float = inf
    presumed: bool = False
    margin: float = 0.0

    def standing(self, cell: Cell, level: float) -> Standing:
        """Return whether a mean is in or out of the region, by its confidence interval."""
        low, high = cell.interval(level)
        if high < self.low or low > self.high:
            return "out"
        inside = low > self.low - self.margin and high < self.high + self.margin
        return "in" if inside else "open"

    def has(self, cell: Cell) -> bool:
        """Whether the mean of a cell is in the region, whatever its interval."""
        mean = _mean(cell.values)
        if self.presumed:
            return self.low - self.margin <= mean <= self.high + self.margin
        return self.low < mean < self.high


@dataclass(frozen=True)
class AmongBest:
    """That a method is the best of a cell, or within a margin of each other method.

    The values of a cell have a column per method.
    """

    method: str
    better: int
    margin: float = 0.0
    presumed: bool = True

    def standing(self, cell: Cell, level: float) -> Standing:
        """Return "out" if another method is significantly better than this one."""
        if self.method not in best_methods(cell.values, self.better, level):
            return "out"
        lows = [paired_interval(ahead.dropna(), level)[0] for ahead in self._ahead(cell)]
        return "in" if all(low > -self.margin for low in lows) else "open"

    def has(self, cell: Cell) -> bool:
        """Whether the mean of the method is the best, or within the margin of it."""
        return all(float(ahead.mean()) >= -self.margin for ahead in self._ahead(cell))

    def _ahead(self, cell: Cell) -> Iterator["pd.Series[float]"]:
        for other in cell.values.columns.drop(self.method):
            yield self.better * (cell.values[self.method] - cell.values[other])


def cells_needed(over: str | float, n: int) -> int:
    """Return in how many of n cells a claim has to be true; a fraction is rounded up.

    This is more than n if the check asks for more cells than there are.
    """
    if isinstance(over, int):
        return over
    if isinstance(over, float):
        # rounding of the product must not ask for one more
        return ceil(over * n - 1e-9)
    needed = {"all": n, "all_but_one": max(n - 1, 1), "most": n // 2 + 1, "some": 1, "average": n}
    return needed[over]


def decide(
    cells: Sequence[Cell], check: Check, region: "Region | AmongBest", n_missing: int = 0
) -> str:
    """Return one of :data:`OUTCOMES`, by the rules in this module's docstring."""
    if check.over == "average" and cells:
        cells, n_missing = [average(cells)], 0
    n = len(cells) + n_missing
    k = cells_needed(check.over, n)
    if k > n or not cells:
        return NOT_MEASURED
    if _shown(cells, n, n - k + 1, "out", region, check.level):
        return FAILS
    if _shown(cells, n, k, "in", region, check.level):
        return HOLDS
    if region.presumed and any(len(cell.values) > 1 for cell in cells):
        return NOT_REFUTED
    return LEANS_FOR if leans_for(cells, check, region, n_missing) else LEANS_AGAINST


def leans_for(
    cells: Sequence[Cell], check: Check, region: "Region | AmongBest", n_missing: int = 0
) -> bool:
    """Whether the means alone are in the region in as large a share of cells as a claim says."""
    if check.over == "average":
        return region.has(average(cells))
    n = len(cells) + n_missing
    return sum(map(region.has, cells)) * n >= cells_needed(check.over, n) * len(cells)


def average(cells: Sequence[Cell]) -> Cell:
    """Return the mean over cells, computed on the splits that all of them have."""
    values = pd.concat([cell.values for cell in cells], axis=1).dropna().mean(axis=1)
    return Cell("", values, sum(cell.effect for cell in cells) / len(cells))


def _shown(
    cells: Sequence[Cell],
    n: int,
    k: int,
    standing: Standing,
    region: "Region | AmongBest",
    level: float,
) -> bool:
    """Whether the tests show that at least k of n cells have a standing."""
    from scipy.stats import binom

    def count(level: float) -> int:
        return [region.standing(cell, level) for cell in cells].count(standing)

    at_border = n - k + 1
    if count(level / at_border) >= k:
        return True
    beyond = count(level) - (k - 1)
    # the greatest probability of a standing that is not the true one
    two_sided = isinstance(region, Region) and region.low > -inf and region.high < inf
    chance = level if standing == "out" and two_sided else level / 2
    return beyond > 0 and bool(binom.sf(beyond - 1, at_border, chance) < level / 2)


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
        effect = _mean(more) - _mean(less)
        if check.times is not None:
            effect = _mean(more) / _mean(less) if _mean(less) else inf
        cells.append(Cell(name, pd.Series(values, splits), effect))
    return cells


def asked_cells(rows: pd.DataFrame, check: Check, name: LabelValue | None = None) -> list[Cell]:
    """Return a metric, or its slope, in each cell; by default of all methods.

    With ``times`` the values are slopes of logarithms to base 2, and the effect is a factor.
    """
    rows = rows if name is None else rows[rows[check.compare] == name]
    labels = _labels(rows)
    side = _side(rows, check, labels)
    plain = dict(zip(side, _plain(side, side), strict=True))
    means = _means(plain, labels, [*check.across, *check.mean_over, check.along], ["value"])
    effect = float if check.times is None else np.exp2
    return [
        Cell(cell, pd.Series(values, splits), float(effect(_mean(values))))
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
        name: [values[i] for i, _ in found]
        for name, values in zip(left, _plain(left, left), strict=True)
    }
    others = zip([*own, "value"], _plain(right, [*own, "value"]), strict=True)
    more = {name: [values[j] for _, j in found] for name, values in others}
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
