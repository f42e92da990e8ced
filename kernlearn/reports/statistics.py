r"""The tests of reports on one data set, each for one question.

*Does the mean of a paper come back on the same data?* The splits are the sample, and both sides
drew theirs independently: Welch's t-test over the splits. A verdict answers this question.

*Is a method better than another?* That asks about other data of the kind too. Splits of the same
data overlap, so their numbers are not independent, and a plain t-test calls one of two equal
methods better in a third of all tables. Where losses of test rows are known, the variance of a
mean over J splits is that of training sets and that of test rows,
:math:`s^2/J + \sigma^2_\mathrm{rows}/N`, with Satterthwaite's degrees of freedom (Gallas 2006,
Academic Radiology 13). Elsewhere it is :math:`(1/J + n_\mathrm{test}/n_\mathrm{train})\,s^2`
(the corrected resampled t-test; Nadeau & Bengio 2003, Machine Learning 52). Differences, claims,
bold and equivalence on one data set answer this question. Where several methods are compared
without one that was named before, p-values are adjusted for all pairs (Holm 1979). Tests over
data sets are in `ranks.py`, those by exchanges in `differences.py`.

Where a solver stops early a mean also depends a little on the processor. How far each mean moves
between processors is its *drift*. Every interval and standard deviation of a difference is
greater by it, so that no outcome depends on the processor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, takewhile
from math import inf, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

#: Level of the tests where a config states none, and of p-values of orders.
LEVEL = 0.05


@dataclass(frozen=True)
class Mean:
    """A mean over splits, its standard deviation and their number; NaN where not known."""

    value: float
    std: float = np.nan
    n_splits: float = np.nan

    @property
    def variance(self) -> float:
        """The squared standard error; NaN if not known."""
        return self.std**2 / self.n_splits if self.n_splits > 1 else np.nan


class Estimate(NamedTuple):
    """A mean or a difference of means, with its standard error and degrees of freedom."""

    mean: float
    error: float
    degrees: float
    drift: float = 0.0

    def half_width(self, level: float) -> float:
        """Return half the width of the confidence interval of level ``1 - level``."""
        if not self.error:  # all values are the same: a sign test
            return self.drift if 0.5**self.degrees <= level else inf
        return _quantile(self.degrees, level) * self.error + self.drift

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of level ``1 - level``."""
        half = self.half_width(level)
        return self.mean - half, self.mean + half

    def tail(self, distance: float) -> float:
        """Return the probability that chance gives a mean which is larger by a distance."""
        from scipy.special import stdtr

        if not self.degrees:
            return 0.5
        if not self.error:
            same = 0.5 ** (self.degrees + 1)
            return 0.5 if not distance else same if distance > 0 else 1 - same
        return float(stdtr(self.degrees, -distance / self.error))

    def p_value(self) -> float:
        """Return the two-sided p-value of a mean of 0."""
        return min(2 * self.tail(max(abs(self.mean) - self.drift, 0.0)), 1.0)


@cache
def _quantile(degrees: float, level: float) -> float:
    """Return by how many standard errors the ends of an interval are from the mean."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2)) if degrees else inf


def resampled(values: Any, ratio: float, drift: float = 0.0, splits: Any = None) -> Estimate:
    """Return the mean of numbers over splits of the same data, by the corrected t-test.

    ``ratio`` is that of the number of test rows to the number of training rows; 0 for independent
    draws, which makes it Student's t-test. Of a single split nothing is known but the mean. Where
    the numbers of splits are given, or are the index of the values, those of splits below 0 are
    roots of the variance over test rows (:mod:`~kernlearn.reports.covariances`): the test is that
    of two components.
    """
    values, roots = parted(values, splits)
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else np.nan, inf, 0, drift)
    mean, std = float(values.mean()), float(values.std(ddof=1))
    if std <= 1e-12 * abs(mean):  # the last digit of a float is no spread
        std = 0.0
    if abs(mean) <= 1e-12 * std:  # nor is it a difference
        mean = 0.0
    std += drift  # on another processor the numbers may scatter more by as much
    if len(roots):
        of_splits, of_rows = std**2 / n, float(roots @ roots)
        total = of_splits + of_rows
        # Satterthwaite's degrees of freedom; those of many rows are many
        degrees = (n - 1) * (total / of_splits) ** 2 if of_splits else inf
        return Estimate(mean, sqrt(total), degrees if total else n - 1, drift)
    return Estimate(mean, sqrt(1 / n + ratio) * std, n - 1, drift)


def parted(values: Any, splits: Any = None) -> "tuple[Floats, Floats]":
    """Return the values of splits, and the roots of the variance over rows, without missing ones.

    The splits are by default the index of the values.
    """
    numbers = np.asarray(values, dtype=float)
    if splits is None:
        splits = values.index if isinstance(values, pd.Series) else np.zeros(len(numbers))
    is_known, is_root = ~np.isnan(numbers), np.asarray(splits) < 0
    return numbers[is_known & ~is_root], numbers[is_known & is_root]


def welch(ours: Mean, theirs: Mean) -> Estimate:
    """Return the difference of two means over independent splits, by Welch's t-test.

    An unknown deviation of the second counts as none. If that of the first is unknown nothing is
    known of the difference but its value, and chance explains none of it. Where neither side has
    any spread, equal values of all splits are a sign test.
    """
    difference = ours.value - theirs.value
    one, other = ours.variance, np.nan_to_num(theirs.variance)
    total = one + other
    if not total > 0:
        return Estimate(difference, 0.0, inf if np.isnan(one) else ours.n_splits - 1)
    weights = one**2 / (ours.n_splits - 1)
    if other > 0:
        weights += other**2 / (theirs.n_splits - 1)
    return Estimate(difference, sqrt(total), float(total**2 / weights))


def holm(p_values: Sequence[float]) -> Floats:
    """Return p-values adjusted for their number (Holm 1979), in the same order."""
    values = np.asarray(p_values, dtype=float)
    order = values.argsort(kind="stable")
    adjusted = np.empty_like(values)
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted[order] = np.maximum.accumulate(steps).clip(max=1)
    return adjusted


def best_methods(
    values: pd.DataFrame, better: int, level: float, ratio: float, drift: float = 0.0
) -> list[str]:
    """Return the methods from the best mean down to the first that is shown to be worse.

    A method behind that one is not among the best, however much it scatters.
    The values are of one cell and metric, with a row per split and a column per method; ``better``
    is 1 where more is better, else -1. The best was picked from the data, so the p-values are
    adjusted for all pairs of methods.
    """
    columns = dict(zip(map(str, values), better * values.to_numpy(dtype=float).T, strict=True))
    splits = values.index.to_numpy()
    means = {name: float(np.nanmean(values[splits >= 0])) for name, values in columns.items()}
    first, *others = sorted(columns, key=lambda name: -means[name])
    tests = {
        (one, other): resampled(columns[one] - columns[other], ratio, drift, splits)
        for one, other in combinations(columns, 2)
    }
    adjusted = zip(tests.items(), holm([test.p_value() for test in tests.values()]), strict=True)
    # the one ahead, and the one behind
    shown = {pair if test.mean > 0 else pair[::-1] for (pair, test), p in adjusted if p < level}
    return [first, *takewhile(lambda one: (first, one) not in shown, others)]


def median_interval(values: Any, level: float) -> tuple[float, float]:
    """Return the narrowest interval of the median between two values, by order statistics.

    Its level is ``1 - level`` or more; of so few values that none has it, it has all.
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    # the chance that the median is outside of all but k values on each side
    left_out = max(int((bdtr(np.arange(n // 2), n, 0.5) <= level / 2).sum()) - 1, 0)
    return float(ordered[left_out]), float(ordered[-1 - left_out])
