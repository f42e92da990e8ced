"""Average ranks of methods over data sets, with the tests of Demšar.

J. Demšar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, Journal of
Machine Learning Research 7: Friedman's test as by Iman & Davenport, each method against a control
by Holm's procedure, and the critical difference of Nemenyi's test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial, sqrt
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.names import suggestion
from kernlearn.exceptions import ReportError

#: With fewer data sets the tests find large differences only, and p-values are rough.
FEW_DATASETS = 10
_MIN_DATASETS, _MIN_METHODS = 2, 3


@dataclass(frozen=True)
class Ranks:
    """Average ranks, the best first, and what tests say of them.

    Attributes
    ----------
    average : dict of str to float
        Average rank of each method, 1 for the best; methods with equal scores share a rank.
    control : str
        The method that the others are compared with.
    holm : dict of str to float
        Adjusted p-value of the difference of each other method from the control.
    chi_square, f_statistic, p_value : float
        Friedman's statistic, corrected for ties, that of Iman & Davenport, and the p-value of
        the latter.
    critical_difference : float
        Of two average ranks, by Nemenyi's test.
    level : float
        Significance level.
    n_datasets, n_ties : int
        Number of data sets; of those, how many have methods that share a rank.
    left_out : dict of str to list of str
        Data sets that were left out, with the methods that have no number there.
    """

    average: dict[str, float]
    control: str
    holm: dict[str, float]
    chi_square: float
    f_statistic: float
    p_value: float
    critical_difference: float
    level: float
    n_datasets: int
    n_ties: int
    left_out: dict[str, list[str]]

    @property
    def differ(self) -> bool:
        """Whether Friedman's test shows that not all methods are alike."""
        return self.p_value < self.level

    @property
    def groups(self) -> list[list[str]]:
        """The largest groups of methods that Nemenyi's test does not tell apart, best first.

        Where Friedman's test shows no difference, all methods are one group.
        """
        names, ranks = [*self.average], [*self.average.values()]
        if not self.differ:
            return [names]
        found: list[list[str]] = []
        end = 0
        for first, rank in enumerate(ranks):
            last = sum(r - rank < self.critical_difference for r in ranks)
            if last > max(end, first + 1):
                found.append(names[first:last])
                end = last
        return found


def rank_methods(
    scores: pd.DataFrame, better: int, level: float = 0.05, control: str | None = None
) -> Ranks:
    """Rank methods on each data set and test the differences of their average ranks.

    Parameters
    ----------
    scores : pandas.DataFrame of shape (n_datasets, n_methods)
        Mean scores. Data sets on which a method has none are left out.
    better : {1, -1}
        Whether more or less is better.
    level : float, default=0.05
        Significance level.
    control : str, optional
        Method that the others are compared with; by default the best.

    Returns
    -------
    Ranks

    Raises
    ------
    ReportError
        If there are fewer than three methods or two data sets, or no such control.
    """
    complete = scores.dropna()
    n, k = complete.shape
    missing = scores[scores.isna().any(axis=1)]
    left_out = {
        str(dataset): [str(m) for m in scores.columns[row.isna()]]
        for dataset, row in missing.iterrows()
    }
    if k < _MIN_METHODS:
        raise ReportError(
            f"{k} {'method' if k == 1 else 'methods'}; ranks need at least {_MIN_METHODS} "
            "(two are compared by `claims`, split by split)"
        )
    if n < _MIN_DATASETS:
        raise ReportError(_too_few(scores, n))
    names = [str(name) for name in scores.columns]
    if control is not None and control not in names:
        raise ReportError(f"no method {control!r} to compare with{suggestion(control, names)}")
    ranks = (-better * complete).rank(axis=1)
    mean = ranks.mean().sort_values(kind="stable")
    average = {str(name): float(rank) for name, rank in mean.items()}
    chi_square, f_statistic, p_value = friedman(ranks.to_numpy())
    control = control or next(iter(average))
    ties = sum(len(set(row)) < k for row in ranks.to_numpy().tolist())
    return Ranks(
        average,
        control,
        holm(average, n, control),
        chi_square,
        f_statistic,
        p_value,
        critical_difference(k, n, level),
        level,
        n,
        ties,
        left_out,
    )


def _too_few(scores: pd.DataFrame, n_complete: int) -> str:
    """Say how many numbers each method lacks."""
    total = len(scores)
    lacking = {str(m): int(count) for m, count in scores.isna().sum().items() if count}
    text = (
        f"{n_complete} of {total} data set{'' if total == 1 else 's'} "
        f"{'has' if n_complete == 1 else 'have'} a number of each of {scores.shape[1]} methods; "
        f"ranks need at least {_MIN_DATASETS}"
    )
    if lacking:
        counts = ", ".join(f"{m} lacks {count} of {total}" for m, count in lacking.items())
        text += f" ({counts}; --only method=A,method=B,... ranks some of the methods)"
    return text


def friedman(ranks: "np.ndarray[Any, Any]", *, ties: bool = True) -> tuple[float, float, float]:
    """Test whether methods differ, from their ranks on each data set.

    Parameters
    ----------
    ranks : ndarray of shape (n_datasets, n_methods)
        Tied methods have the mean of their ranks.
    ties : bool, default=True
        Correct the statistic for ties, as in :func:`scipy.stats.friedmanchisquare`.

    Returns
    -------
    chi_square, f_statistic, p_value : float
        Friedman's statistic, that of Iman & Davenport, and the p-value of the latter. Where all
        data sets rank the methods alike, the second is infinite, and the p-value is the
        probability of that if all orders are equally likely.
    """
    from scipy import stats

    n, k = ranks.shape
    sums = ranks.sum(axis=0)
    spread = float(np.sum((sums - n * (k + 1) / 2) ** 2))
    within = float(np.sum(ranks**2)) - n * k * (k + 1) ** 2 / 4
    if not ties:
        within = n * k * (k**2 - 1) / 12
    if within <= 0:  # every method has the same score everywhere
        return 0.0, 0.0, 1.0
    chi_square = (k - 1) * spread / within
    rest = n * (k - 1) - chi_square
    if rest <= 1e-9 * n * k:
        return chi_square, np.inf, _all_alike(ranks)
    f_statistic = (n - 1) * chi_square / rest
    return chi_square, f_statistic, float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))


def _all_alike(ranks: "np.ndarray[Any, Any]") -> float:
    """Return the probability that all data sets give the order of the first."""
    p_value = 1.0
    for row in ranks[1:]:
        same = np.unique(row, return_counts=True)[1].tolist()
        p_value *= float(np.prod([factorial(count) for count in same])) / factorial(len(row))
    return p_value


def holm(average: Mapping[str, float], n_datasets: int, control: str) -> dict[str, float]:
    """Return the adjusted p-values of all other methods against a control, by Holm's procedure.

    Parameters
    ----------
    average : mapping of str to float
        Average rank of each method.
    n_datasets : int
    control : str

    Returns
    -------
    dict of str to float
        The smallest first.
    """
    from scipy import stats

    k = len(average)
    error = sqrt(k * (k + 1) / (6 * n_datasets))
    raw = {
        name: 2 * float(stats.norm.sf(abs(rank - average[control]) / error))
        for name, rank in average.items()
        if name != control
    }
    adjusted, highest = {}, 0.0
    for i, name in enumerate(sorted(raw, key=raw.__getitem__)):
        highest = max(highest, min(1.0, (len(raw) - i) * raw[name]))
        adjusted[name] = highest
    return adjusted


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Return by how much two average ranks must differ to be significant, by Nemenyi's test."""
    from scipy import stats

    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / sqrt(2)
    return q * sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
