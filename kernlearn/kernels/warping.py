"""Dynamic time warping, with compiled inner loops."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def warping_distances(
    left: NDArray[np.floating],
    right: NDArray[np.floating],
    left_ends: NDArray[np.intp],
    right_ends: NDArray[np.intp],
    window: int,
) -> NDArray[np.floating]:
    """Compare all pairs of sequences.

    Parameters
    ----------
    left, right : ndarray of shape (total_length, n_dimensions)
        Sequences, one after the other.
    left_ends, right_ends : ndarray of shape (n_sequences,)
        Where each of them ends.
    window : int
        How far apart the positions of two elements that are paired may be; -1 for any.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        Distances, of the type of `left`.
    """
    distances = np.empty((len(left_ends), len(right_ends)), dtype=left.dtype)
    longest = 0
    begin = 0
    for end in right_ends:
        longest = max(longest, end - begin)
        begin = end
    costs = np.empty(longest + 1)
    first = 0
    for a, last in enumerate(left_ends):
        begin = 0
        for b, end in enumerate(right_ends):
            distances[a, b] = _warped(left[first:last], right[begin:end], window, costs)
            begin = end
        first = last
    return distances


@njit(cache=True, nogil=True)
def _warped(
    x: NDArray[np.floating], y: NDArray[np.floating], window: int, costs: NDArray[np.float64]
) -> float:
    """Compare two sequences; before step i `costs[j]` is the least for x[:i] and y[:j]."""
    n, m = len(x), len(y)
    reach = max(n, m) if window < 0 else max(window, abs(n - m))
    costs[0] = 0.0
    costs[1 : m + 1] = np.inf
    for i in range(n):
        low, high = max(0, i - reach), min(m, i + reach + 1)
        # of the row before, one step to the left; left of the band there is no path
        diagonal, costs[low] = costs[low], np.inf
        for j in range(low, high):
            squares = 0.0
            for k in range(x.shape[1]):
                difference = float(x[i, k]) - float(y[j, k])
                squares += difference * difference
            above = costs[j + 1]
            costs[j + 1] = min(diagonal, above, costs[j]) + np.sqrt(squares)
            diagonal = above
    return costs[m]
