"""Means over repeated splits of a sample: intervals and tests that allow for what splits share."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Indices: TypeAlias = NDArray[np.intp]

#: The share of a sample that a split tests on.
TEST_SHARE = 0.2


class SplitMean(NamedTuple):
    """A mean over splits with a confidence interval.

    Attributes
    ----------
    value : float
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> from kernlearn.theory.goodness import corrected_mean
    >>> mean = corrected_mean([0.1, 0.12, 0.09, 0.11, 0.13])
    >>> mean.low < mean.value < mean.high
    True
    """

    value: float
    low: float
    high: float


def stratified_order(codes: Indices | None, n: int, rng: np.random.RandomState) -> Indices:
    """Return the numbers 0, …, n - 1 in a random order, of which any stretch is stratified.

    Every stretch has about the share of each class; without `codes` there are no classes.
    """
    # a row's rank within its class, from 0 to 1: any stretch of ranks is a share of each class
    ranks = np.empty(n)
    groups = [np.arange(n)]
    if codes is not None:
        groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    for members in groups:
        order = rng.permutation(members)
        ranks[order] = (np.arange(len(order)) + rng.uniform()) / len(order)
    return np.argsort(ranks + rng.uniform(0, 1e-9, n), kind="stable")


def random_split(codes: Indices | None, n: int, seed: int, number: int) -> tuple[Indices, Indices]:
    """Return the rows of n to train on, and a share `TEST_SHARE` of them to test on."""
    rng = np.random.RandomState([seed, n, number])
    order = stratified_order(codes, n, rng)
    n_test = max(round(TEST_SHARE * n), 1)
    return order[n_test:], order[:n_test]


def corrected_mean(
    values: ArrayLike, *, level: float = 0.05, test_share: float = TEST_SHARE, floor: float = 0.0
) -> SplitMean:
    r"""Return the mean of a number measured on each of several random splits, with its interval.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        An error, or a difference of two errors, on the test part of each split.
    level : float, default=0.05
        The probability that the interval misses.
    test_share : float, default=0.2
        The share of the points that are tested on.
    floor : float, default=0
        The least standard error.

    Returns
    -------
    SplitMean

    Notes
    -----
    Splits of one sample share points, and their errors are correlated: the variance of the mean
    is not :math:`s^2 / J` for J splits. Nadeau & Bengio replace 1 / J by
    :math:`1 / J + n_{test} / n_{train}` and take Student's t with J - 1 degrees of freedom, the
    corrected resampled t-test. A bootstrap over points would put copies of a point on both
    sides, and nearest neighbours would find them.

    References
    ----------
    C. Nadeau, Y. Bengio. Inference for the generalization error. Machine Learning 52, 2003,
    section 4.

    Examples
    --------
    >>> from kernlearn.theory.goodness import corrected_mean
    >>> mean = corrected_mean([0.1, 0.12, 0.09, 0.11, 0.13])
    >>> round(mean.low, 3), round(mean.value, 3), round(mean.high, 3)
    (0.081, 0.11, 0.139)
    """
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    error = max(corrected_error(values, test_share / (1 - test_share)), floor)
    half = float(stdtrit(max(len(values) - 1, 1), 1 - level / 2)) * error if error else 0.0
    mean = float(values.mean())
    return SplitMean(mean, mean - half, mean + half)


def corrected_p_value(
    differences: ArrayLike, *, test_share: float = TEST_SHARE, floor: float = 0.0
) -> float:
    """Return the one-sided p-value of a mean difference above 0, see :func:`corrected_mean`.

    Without any difference in all splits it is 1.
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64)
    ratio = test_share / (1 - test_share)
    mean, error = float(values.mean()), max(corrected_error(values, ratio), floor)
    if not error:
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(max(len(values) - 1, 1), -mean / error))


def corrected_error(values: NDArray[np.float64], ratio: float) -> float:
    """Return the standard error of the mean of numbers on overlapping splits.

    `ratio` is that of the number of test rows to the number of training rows; see
    :func:`corrected_mean`. It is infinite for a single split.
    """
    n = len(values)
    if n < 2:
        return np.inf
    return float(np.sqrt((1 / n + ratio) * values.var(ddof=1)))


def error_floor(error: float, n: int) -> float:
    """Return the standard error of a share of n points, one right and one wrong added.

    Splits may agree by chance: without any error on n points the variance between them is 0.
    """
    share = (error * n + 1) / (n + 2)
    return float(np.sqrt(share * (1 - share) / n))


def holm_adjusted(p_values: Mapping[str, float]) -> dict[str, Any]:
    """Return the p-values adjusted by Holm's procedure, the smallest first."""
    adjusted, highest = {}, 0.0
    for i, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - i) * p_values[name]))
        adjusted[name] = highest
    return adjusted
