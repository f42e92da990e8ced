"""Which of the methods are best, and not by chance."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log2
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.experiments.config.claims import Check
from kernlearn.experiments.config.model import BestSpec, ExperimentConfig
from kernlearn.reports.claim_cells import Cell


def paired_interval(differences: NDArray[np.floating[Any]], level: float) -> tuple[float, float]:
    """Return the confidence interval of a mean difference, by Student's paired t-test.

    Parameters
    ----------
    differences : ndarray of shape (n_splits,)
        Of two methods on the same splits.
    level : float
        Probability of the true mean outside, such as 0.05.

    Returns
    -------
    (low, high) : tuple of float
        All numbers, if there are not two splits; the mean twice, if all differences are equal.
    """
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        return -np.inf, np.inf
    mean, error = float(np.mean(differences)), float(np.std(differences, ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, 1 - level / 2)) * error
    return mean - half, mean + half


def paired(
    runs: pd.DataFrame, left: str, right: str, label: str = "method"
) -> NDArray[np.float64]:
    """Return how much one method exceeds another on the splits that both have.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of one cell and metric, with columns ``method``, ``split`` and ``value``.
    left, right : str
        Labels of methods.
    label : str
        Column to compare values of in place of ``method``.

    Returns
    -------
    ndarray of shape (n_splits,)
    """
    left_splits, left_means = _by_split(runs, label, left)
    right_splits, right_means = _by_split(runs, label, right)
    _, at_left, at_right = np.intersect1d(left_splits, right_splits, return_indices=True)
    return left_means[at_left] - right_means[at_right]


def _by_split(
    runs: pd.DataFrame, label: str, name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the splits on which one method has numbers, in order, and the mean of each."""
    value = runs["value"].to_numpy(dtype=float)
    its = (runs[label].to_numpy() == name) & ~np.isnan(value)
    splits, place = np.unique(runs["split"].to_numpy()[its], return_inverse=True)
    return splits, np.bincount(place, value[its]) / np.bincount(place)


def best_methods(runs: pd.DataFrame, better: int, level: float) -> list[str]:
    """Return the method with the best mean, and all that are not significantly worse.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of one cell and metric.
    better : {1, -1}
        1 where more is better.
    level : float
        Level of the two-sided paired t-test, such as 0.05.

    Returns
    -------
    list of str
    """
    means = runs.groupby("method", sort=False)["value"].mean() * better
    first = str(means.idxmax())
    equal = [first]
    for method in means.index.drop(first):
        ahead = better * paired(runs, first, method)
        low, _ = paired_interval(ahead, level)
        if low <= 0:
            equal.append(str(method))
    return equal


def mark_best(
    runs: pd.DataFrame, config: ExperimentConfig, better: dict[str, int]
) -> pd.DataFrame:
    """Return the labels of every best cell, as the config's ``best`` asks.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.remarks.tidy_runs`.
    config : ExperimentConfig
    better : dict of str to int
        The good direction of each metric.

    Returns
    -------
    pandas.DataFrame
        Columns: the labels under ``within``, ``method``, ``metric``; ``best``, always true.
    """
    spec = config.best or BestSpec(metrics=["none"])
    asked = runs["metric"].isin(spec.metrics) & runs["method"].isin(config.compared)
    keys = [*spec.within, "metric"]
    rows = [
        [*values, method, True]
        for values, cell in runs[asked].groupby(keys, dropna=False, sort=False)
        # one alone is the best of nothing
        if cell["method"].nunique() > 1
        for method in best_methods(cell, better[str(values[-1])], spec.level)
    ]
    return pd.DataFrame(rows, columns=[*keys, "method", "best"])


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
