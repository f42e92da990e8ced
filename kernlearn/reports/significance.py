"""Statistical tests over splits: paired comparisons, best methods, claims over several cells.

The values of a cell, one per split, have a mean with an interval by Student's t-test; for a
comparison of two methods that is the paired t-test. A claim states a region for the mean. The
cell is *in* if the interval lies inside the region, *out* if the two do not meet, else *open*.

A claim about at least k of n cells holds if k or more are shown to be in, and fails if at least
n - k + 1 are shown to be out. To keep the probability of an error below ``level``, "at least k
of n are in" counts as shown

- if k cells are in when each is tested at ``level / (n - k + 1)``: were fewer than k in truth,
  at least one of n - k + 1 others would have to be an error (Benjamini & Heller 2008, Screening
  for partial conjunction hypotheses, Biometrics 64), or
- if more cells are in at plain ``level`` than the k - 1 allowed and those expected by chance
  among the other n - k + 1, by the binomial law, which assumes independent cells.

For a claim about all cells the first rule means that each is in at plain ``level``, and that a
single cell refutes only at ``level / n``, so that many cells do not refute by chance.

A claim that is presumed (*not worse*) holds unless it is refuted. This does not prove equality,
only that no difference was found; with fewer than two splits none could be found, and the claim
is undecided.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.experiments.config.claims import Check

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"

Standing = Literal["in", "open", "out"]


def paired_interval(differences: NDArray[np.floating[Any]], level: float) -> tuple[float, float]:
    """Return the confidence interval of the mean of differences, by Student's t-test.

    It is infinite for fewer than two splits, and a point if all differences are equal.
    """
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        return -np.inf, np.inf
    mean, error = float(np.mean(differences)), float(np.std(differences, ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, 1 - level / 2)) * error
    return mean - half, mean + half


def paired(runs: pd.DataFrame, left: str, right: str) -> NDArray[np.float64]:
    """Return how much one method exceeds another on the splits that both have."""
    (left_splits, left_means), (right_splits, right_means) = (
        _by_split(runs, name) for name in (left, right)
    )
    _, at_left, at_right = np.intersect1d(left_splits, right_splits, return_indices=True)
    return left_means[at_left] - right_means[at_right]


def _by_split(runs: pd.DataFrame, method: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the splits on which a method has numbers, sorted, and the mean of each."""
    values = runs["value"].to_numpy(dtype=float)
    rows = (runs["method"].to_numpy() == method) & ~np.isnan(values)
    splits, place = np.unique(runs["split"].to_numpy()[rows], return_inverse=True)
    return splits, np.bincount(place, values[rows]) / np.bincount(place)


def best_methods(runs: pd.DataFrame, better: int, level: float) -> list[str]:
    """Return the method with the best mean, and all that are not significantly worse.

    The rows are of one cell and metric; ``better`` is 1 where more is better, else -1; ``level``
    is that of the two-sided paired t-test.
    """
    means = runs.groupby("method", sort=False)["value"].mean() * better
    first = str(means.idxmax())
    others = [
        str(method)
        for method in means.index.drop(first)
        if paired_interval(better * paired(runs, first, method), level)[0] <= 0
    ]
    return [first, *others]


@dataclass(frozen=True)
class Cell:
    """One sample for a test.

    Attributes
    ----------
    name : str
        Labels of the cell, without those that all cells share.
    values : pandas.Series
        By split: a difference of two methods, a metric, or its slope.
    effect : float
        What a report shows: the mean of the values, or the factor by which two means differ.
    """

    name: str
    values: "pd.Series[float]"
    effect: float


@dataclass(frozen=True)
class Region:
    """Where a claim expects a mean; if presumed, the claim holds unless it is refuted."""

    low: float = -inf
    high: float = inf
    presumed: bool = False

    def standing(self, values: "pd.Series[float]", level: float) -> Standing:
        """Return whether a mean is in or out of the region, by its confidence interval."""
        low, high = paired_interval(values.to_numpy(dtype=float), level)
        if high < self.low or low > self.high:
            return "out"
        return "in" if low > self.low and high < self.high else "open"

    def chance(self, standing: Standing, level: float) -> float:
        """Return the greatest probability of a standing that is not the true one."""
        two_sided = self.low > -inf and self.high < inf
        return level if standing == "out" and two_sided else level / 2


def cells_needed(over: str | float, n: int) -> int:
    """Return in how many of n cells a claim has to be true; a fraction is rounded up.

    This is more than n if the check asks for more cells than there are.
    """
    if isinstance(over, int):
        return over
    if isinstance(over, float):
        # rounding of the product must not ask for one more
        return ceil(over * n - 1e-9)
    return {"all": n, "all_but_one": max(n - 1, 1), "most": n // 2 + 1, "some": 1}[over]


def decide(cells: Sequence[Cell], check: Check, region: Region) -> str:
    """Return ``holds``, ``fails`` or ``undecided``, by the rules in this module's docstring."""
    if not cells:
        return UNDECIDED
    if check.over == "average":
        cells, k = [average(cells)], 1
    else:
        k = cells_needed(check.over, len(cells))
    n = len(cells)
    if k > n:
        return UNDECIDED
    if _shown(cells, n - k + 1, "out", region, check.level):
        return FAILS
    if region.presumed:
        return HOLDS if sum(len(cell.values) > 1 for cell in cells) >= k else UNDECIDED
    return HOLDS if _shown(cells, k, "in", region, check.level) else UNDECIDED


def average(cells: Sequence[Cell]) -> Cell:
    """Return the mean over cells, computed on the splits that all of them have."""
    values = pd.concat([cell.values for cell in cells], axis=1).dropna().mean(axis=1)
    return Cell("", values, sum(cell.effect for cell in cells) / len(cells))


def _shown(
    cells: Sequence[Cell], k: int, standing: Standing, region: Region, level: float
) -> bool:
    """Whether the tests show that at least k of the cells have a standing."""
    from scipy.stats import binom

    def count(level: float) -> int:
        return Counter(region.standing(cell.values, level) for cell in cells)[standing]

    at_border = len(cells) - k + 1
    if count(level / at_border) >= k:
        return True
    beyond = count(level) - (k - 1)
    chance = region.chance(standing, level)
    return beyond > 0 and bool(binom.sf(beyond - 1, at_border, chance) < level / 2)
