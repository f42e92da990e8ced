"""Compiled: scores of points, and what is known of those of either class."""

import math
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

#: Sums may be reordered (for vector instructions), no more: NaN and infinity are respected.
FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=FAST)
def dot(w: Array, rows: Array, i: int) -> float:  # pragma: no cover
    """Return the inner product of a vector and a row of a matrix."""
    # a view of the row would cost as much as a short product
    total = 0.0
    for k in range(len(w)):
        total += w[k] * rows[i, k]
    return total


@njit(cache=True)
def finite(values: Array) -> bool:  # pragma: no cover
    """Return whether no number of an array is NaN or infinite."""
    for value in values.flat:  # noqa: SIM110  (no generators in Numba)
        if not math.isfinite(value):
            return False
    return True


@njit(cache=True, fastmath=FAST)
def mean_score(
    x: Array, w: Array, others: Array, run: float, n: float
) -> float:  # pragma: no cover
    """Return ⟨(others + run · w) / n, x⟩, the score of x by the mean of n iterates.

    0 if n is 0. For the last iterate alone `n` and `run` are 1, and `others` is empty.
    """
    if n == 0:
        return 0.0
    total = 0.0
    for k in range(len(w)):
        total += w[k] * x[k]
    total *= run
    if len(others):
        rest = 0.0
        for k in range(len(w)):
            rest += others[k] * x[k]
        total += rest
    return total / n


@njit(cache=True, fastmath=FAST)
def middle(
    w: Array, others: Array, run: float, n: float, sums: Array, counts: Array
) -> float:  # pragma: no cover
    """Return the :func:`mean_score` midway between the means of both classes."""
    x = np.empty(len(w))
    for k in range(len(w)):
        x[k] = 0.5 * (sums[0, k] / counts[0] + sums[1, k] / counts[1])
    return mean_score(x, w, others, run, n)


@njit(cache=True)
def observe(link: Array, code: int, score: float) -> None:  # pragma: no cover
    """Add a score to what is known of those of its class.

    Row `code` of `link` is the number of scores, their mean and their variance, later ones with
    more weight: the i-th in proportion to i.
    """
    link[code, 0] += 1.0
    share = 2.0 / (link[code, 0] + 1.0)
    difference = score - link[code, 1]
    link[code, 1] += share * difference
    link[code, 2] = (1.0 - share) * (link[code, 2] + share * difference * difference)


@njit(cache=True)
def add_to_moments(
    x: Array, share: float, mean: Array, covariance: Array
) -> None:  # pragma: no cover
    """Add a point to a mean and a covariance, of which it is a share."""
    n_features = len(x)
    shift = np.empty(n_features)
    for k in range(n_features):
        shift[k] = x[k] - mean[k]
        mean[k] += share * shift[k]
    for k in range(n_features):
        for m in range(n_features):
            product = share * shift[k] * shift[m]
            covariance[k, m] = (1.0 - share) * (covariance[k, m] + product)
