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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil, comb, inf, sqrt
from typing import Any, Literal

import numpy as np
import pandas as pd

from kernlearn.config.claims import Check

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


def median_interval(values: Any, level: float) -> tuple[float, float, float]:
    """Return the confidence interval of the median, by order statistics, and its probability.

    It is the narrowest between the k-th value from below and from above that has a probability of
    at least ``1 - level``; of fewer than five values all, at 0.05 and at 0.1, with a smaller one.
    Nothing is assumed of the distribution but that it is continuous.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    k, covered = _order_statistic(len(ordered), level)
    return float(ordered[k]), float(ordered[-1 - k]), covered


@cache
def _order_statistic(n: int, level: float) -> tuple[int, float]:
    """Return how many values are left out on each side, and the probability of what is left."""
    # that the median is outside of all but k values on each side, by n tosses of a coin
    tail = np.cumsum([comb(n, k) / 2**n for k in range((n + 1) // 2)])
    k = max(int(np.searchsorted(tail, level / 2, side="right")) - 1, 0)
    return k, 1.0 - 2.0 * float(tail[k])


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


def mean_of(values: Any) -> float:
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
        mean = mean_of(cell.values)
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
