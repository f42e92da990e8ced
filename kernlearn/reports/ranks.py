"""Average ranks of methods over data sets, with the tests of Demšar.

J. Demšar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, Journal of
Machine Learning Research 7: Friedman's test as by Iman & Davenport, each method against the best
by Holm's procedure, and the critical difference of Nemenyi's test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd

from kernlearn.exceptions import ReportError

#: Fewest data sets: with fewer than ten (and five methods) Friedman's test is not reliable.
MIN_DATASETS = 10
_MIN_METHODS = 3


@dataclass(frozen=True)
class Ranks:
    """Average ranks, the best first, and what tests say of them.

    Attributes
    ----------
    average : dict of str to float
        Average rank of each method, 1 for the best.
    holm : dict of str to float
        Adjusted p-value of the difference of each method from the best.
    chi_square, f_statistic, p_value : float
        Friedman's statistic, that of Iman & Davenport, and the p-value of the latter.
    critical_difference : float
        Of two average ranks, by Nemenyi's test.
    n_datasets : int
    """

    average: dict[str, float]
    holm: dict[str, float]
    chi_square: float
    f_statistic: float
    p_value: float
    critical_difference: float
    n_datasets: int


def rank_methods(scores: pd.DataFrame, better: int, level: float = 0.05) -> Ranks:
    """Rank methods on each data set and test the differences of their average ranks.

    Parameters
    ----------
    scores : pandas.DataFrame of shape (n_datasets, n_methods)
        Mean scores. Data sets on which a method has none are left out.
    better : {1, -1}
        Whether more or less is better.
    level : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    Ranks

    Raises
    ------
    ReportError
        If there are fewer than three methods or ten data sets.
    """
    complete = scores.dropna()
    n, k = complete.shape
    if n < MIN_DATASETS or k < _MIN_METHODS:
        raise ReportError(
            f"ranks of {k} methods on {n} data sets with a number of each: the tests need at "
            f"least {_MIN_METHODS} methods and {MIN_DATASETS} data sets"
        )
    ranks = (-better * complete).rank(axis=1).mean().sort_values(kind="stable")
    average = {str(name): float(rank) for name, rank in ranks.items()}
    chi_square, f_statistic, p_value = friedman([*average.values()], n)
    difference = critical_difference(k, n, level)
    return Ranks(average, holm(average, n), chi_square, f_statistic, p_value, difference, n)


def friedman(average: Sequence[float], n_datasets: int) -> tuple[float, float, float]:
    """Return Friedman's statistic, that of Iman & Davenport, and the p-value of the latter."""
    from scipy import stats

    k, n = len(average), n_datasets
    spread = float(np.sum(np.square(average))) - k * (k + 1) ** 2 / 4
    chi_square = 12 * n / (k * (k + 1)) * spread
    rest = n * (k - 1) - chi_square
    f_statistic = (n - 1) * chi_square / rest if rest > 0 else np.inf
    p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return chi_square, float(f_statistic), p_value


def holm(average: dict[str, float], n_datasets: int) -> dict[str, float]:
    """Return the adjusted p-values of all methods against the best, by Holm's procedure."""
    from scipy import stats

    best = min(average, key=lambda name: average[name])
    k = len(average)
    error = sqrt(k * (k + 1) / (6 * n_datasets))
    raw = {
        name: 2 * float(stats.norm.sf((rank - average[best]) / error))
        for name, rank in average.items()
        if name != best
    }
    adjusted, highest = {}, 0.0
    for i, name in enumerate(sorted(raw, key=lambda name: raw[name])):
        highest = max(highest, min(1.0, (k - 1 - i) * raw[name]))
        adjusted[name] = highest
    return adjusted


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Return by how much two average ranks must differ to be significant, by Nemenyi's test."""
    from scipy import stats

    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / sqrt(2)
    return q * sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
