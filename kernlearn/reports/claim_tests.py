"""The statistical decision of a claim: tests in cells, and how many of them are enough.

In a cell there is one number a split, and Student's t-interval of its mean; for a comparison
that is the paired t-test. A claim says in which region the mean lies. The cell is *in* if the
interval lies inside the region, *out* if the two do not meet, else *open*.

For a claim on at least k of n cells, k or more must be shown to be in; it is refuted if at least
n - k + 1 are shown to be out. Some tests err: so that the whole errs with no more than ``level``,
"at least k of n are in" is taken as shown

- if k cells are in when each is tested at ``level / (n - k + 1)``: were fewer than k in truth,
  one of the other n - k + 1 at least would have to be a mistake (Benjamini & Heller 2008,
  Screening for partial conjunction hypotheses, Biometrics 64), or
- if more cells are in at plain ``level`` than the k - 1 that may be and what chance adds among
  the other n - k + 1, by the binomial law, which takes cells for independent.

Over all cells the first means that each is in at plain ``level``, and that a single one refutes
only at ``level / n``: many cells do not refute by chance.

A question may also be a presumption (*not worse*): its claim holds unless it is refuted. That is
no proof that two are equal, only that no difference was found; but without two splits nothing
could have been found, and the claim is undecided.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log2
from typing import Literal

import pandas as pd

from kernlearn.experiments.claims import Check
from kernlearn.reports.claim_cells import Cell
from kernlearn.reports.significance import paired_interval

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"

Standing = Literal["in", "out", "open"]


@dataclass(frozen=True)
class Region:
    """Where a claim has a mean.

    Attributes
    ----------
    low, high : float
    presumed : bool
        Whether the claim stands until it is refuted.
    """

    low: float = -inf
    high: float = inf
    presumed: bool = False

    def standing(self, values: "pd.Series[float]", level: float) -> Standing:
        """Say where a mean lies, by its confidence interval.

        Parameters
        ----------
        values : pandas.Series
            One a split.
        level : float
            Probability of the true mean outside of the interval.

        Returns
        -------
        {"in", "out", "open"}
        """
        low, high = paired_interval(values.to_numpy(dtype=float), level)
        if high < self.low or low > self.high:
            return "out"
        return "in" if low > self.low and high < self.high else "open"

    def chance(self, standing: Standing, level: float) -> float:
        """Return the greatest probability of a standing that is not the true one."""
        two_sided = self.low > -inf and self.high < inf
        return level if standing == "out" and two_sided else level / 2


def claimed_region(check: Check) -> Region:
    """Return where a check has the values of its cells.

    Parameters
    ----------
    check : Check

    Returns
    -------
    Region
        For a comparison, of what one is ahead; for a trend, of the slope.
    """
    by = check.by if check.times is None or check.trend is None else log2(check.times)
    trends = {"rising": Region(low=by), "falling": Region(high=-by), "flat": Region(-by, by)}
    if check.trend is not None:
        return trends[check.trend]
    if check.below is not None:
        return Region(high=check.below)
    if check.above is not None:
        return Region(low=check.above)
    if check.between is not None:
        return Region(*check.between)
    return {
        "better": Region(low=by),
        "as_good": Region(low=-by),
        "close": Region(-by, by),
        "not_better": Region(high=by, presumed=True),
        "not_worse": Region(low=-by, presumed=True),
        "indistinguishable": Region(-by, by, presumed=True),
    }[check.question]


def enough(over: str | float, n: int) -> int:
    """Return in how many of n cells a claim has to be true.

    Parameters
    ----------
    over : {"all", "all_but_one", "most", "some"}, int or float
        As a check gives it; a share is rounded up.
    n : int

    Returns
    -------
    int
        More than n, if so many are asked for.
    """
    if isinstance(over, int):
        return over
    if isinstance(over, float):
        # the last digit of a product must not ask for one more
        return ceil(over * n - 1e-9)
    return {"all": n, "all_but_one": max(n - 1, 1), "most": n // 2 + 1, "some": 1}[over]


def decide(cells: Sequence[Cell], check: Check, region: Region) -> str:
    """Decide a claim over its cells.

    Parameters
    ----------
    cells : sequence of Cell
    check : Check
        With its ``over`` and ``level``.
    region : Region

    Returns
    -------
    {"holds", "fails", "undecided"}
    """
    if not cells:
        return UNDECIDED
    if check.over == "average":
        cells, k = [average(cells)], 1
    else:
        k = enough(check.over, len(cells))
    n = len(cells)
    if k > n:
        return UNDECIDED
    if _shown(cells, n - k + 1, "out", region, check.level):
        return FAILS
    if region.presumed:
        return HOLDS if sum(len(cell.values) > 1 for cell in cells) >= k else UNDECIDED
    return HOLDS if _shown(cells, k, "in", region, check.level) else UNDECIDED


def average(cells: Sequence[Cell]) -> Cell:
    """Return the mean over cells, taken on each split that all of them have."""
    values = pd.concat([cell.values for cell in cells], axis=1).dropna().mean(axis=1)
    return Cell("", values, sum(cell.effect for cell in cells) / len(cells))


def _shown(
    cells: Sequence[Cell], k: int, standing: Standing, region: Region, level: float
) -> bool:
    """Whether the tests show that at least k of the cells are in, or out."""
    n = len(cells)

    def count(level: float) -> int:
        return Counter(region.standing(cell.values, level) for cell in cells)[standing]

    chance = region.chance(standing, level)
    return count(level / (n - k + 1)) >= k or _beyond_chance(
        count(level) - (k - 1), n - k + 1, chance, level / 2
    )


def _beyond_chance(count: int, n: int, probability: float, level: float) -> bool:
    """Whether so many of n cells differ that a binomial law hardly gives as many."""
    from scipy.stats import binom

    return count > 0 and bool(binom.sf(count - 1, n, probability) < level)
