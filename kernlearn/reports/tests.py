r"""Statistical tests over splits, and over data sets.

Splits of the same data overlap, so their numbers are not independent. Whether the mean of a paper
comes back on the same data is a question about the splits: Student's t-test, paired where two
methods share the splits. Whether a method is better in general is a question about other data: the
corrected resampled t-test (Nadeau & Bengio 2003, Inference for the generalization error, Machine
Learning 52), which takes :math:`(1/J + n_\mathrm{test}/n_\mathrm{train})\,s^2` as the variance
of a mean over J splits. Over data sets the tests are those of Demšar (2006, Statistical
Comparisons of Classifiers over Multiple Data Sets, Journal of Machine Learning Research 7).
"""

from functools import cache
from math import comb, factorial, inf, sqrt
from typing import Any

import numpy as np
import pandas as pd


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
    half = t_quantile(n - 1, level) * error
    return mean - half, mean + half


def paired_interval(differences: Any, level: float) -> tuple[float, float]:
    """Return the confidence interval of the mean of differences, by Student's t-test.

    It is infinite for fewer than two splits, and a point if all differences are equal.
    """
    return interval(*mean_and_error(differences), len(differences), level)


@cache
def t_quantile(degrees: float, level: float) -> float:
    """Return by how many standard errors the ends of an interval are from the mean."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2))


def welch_half_width(
    variances: tuple[float, float], n_splits: tuple[float, float], level: float
) -> float:
    """Return half the width of the interval of a difference of two means, by Welch's t-test.

    The variances are those of the means. An unknown one (NaN) of the second counts as none; if
    that of the first is unknown, nothing is known and the result is 0.
    """
    ours, theirs = variances[0], np.nan_to_num(variances[1])
    total = ours + theirs
    if not total > 0:
        return 0.0
    weights = ours**2 / (n_splits[0] - 1)
    if theirs > 0:
        weights += theirs**2 / (n_splits[1] - 1)
    return t_quantile(float(total**2 / weights), level) * sqrt(total)


def median_interval(values: Any, level: float) -> tuple[float, float, float]:
    """Return the confidence interval of the median, by order statistics, and its probability.

    It is the narrowest between the k-th value from below and from above that has a probability of
    at least ``1 - level``; of too few values it has all, with a smaller one.
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


def best_methods(values: pd.DataFrame, better: int, level: float) -> list[str]:
    """Return the method with the best mean, and all that are not significantly worse.

    The values are of one cell and metric, with a row per split and a column per method; ``better``
    is 1 where more is better, else -1; ``level`` is that of the two-sided paired t-test.
    """
    first = str((better * values.mean()).idxmax())
    behind = better * values.rsub(values[first], axis=0)
    others = (str(method) for method in values if method != first)
    lows = {m: paired_interval(behind[m].dropna().to_numpy(), level)[0] for m in others}
    return [first, *(method for method, low in lows.items() if low <= 0)]


def corrected_error(values: Any, ratio: float) -> float:
    """Return the standard error of the mean of numbers on overlapping splits.

    ``ratio`` is that of the number of test rows to the number of training rows. The error is
    infinite for a single split.
    """
    n = len(values)
    return inf if n < 2 else sqrt((1 / n + ratio) * np.var(values, ddof=1))


def friedman(ranks: "np.ndarray[Any, Any]") -> tuple[float, float, float]:
    """Test whether methods differ, from their ranks on each data set.

    Parameters
    ----------
    ranks : ndarray of shape (n_datasets, n_methods)
        Tied methods have the mean of their ranks.

    Returns
    -------
    chi_square, f_statistic, p_value : float
        Friedman's statistic, corrected for ties, that of Iman & Davenport, and the p-value of the
        latter. Where all data sets rank the methods alike, the second is infinite, and the p-value
        is the probability of that if all orders are equally likely.
    """
    from scipy import stats

    n, k = ranks.shape
    if (ranks == ranks[:, :1]).all():  # every method has the same score everywhere
        return 0.0, 0.0, 1.0
    chi_square = float(stats.friedmanchisquare(*ranks.T).statistic)
    rest = n * (k - 1) - chi_square
    if rest <= 1e-9 * n * k:
        return chi_square, inf, _all_alike(ranks)
    f_statistic = (n - 1) * chi_square / rest
    return chi_square, f_statistic, float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))


def _all_alike(ranks: "np.ndarray[Any, Any]") -> float:
    """Return the probability that all data sets give the order of the first."""
    p_value = 1.0
    for row in ranks[1:]:
        same = np.unique(row, return_counts=True)[1].tolist()
        p_value *= float(np.prod([factorial(count) for count in same])) / factorial(len(row))
    return p_value
