"""Dynamic time warping, with compiled inner loops."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def warping_distances(
    left: np.ndarray,
    right: np.ndarray,
    left_ends: np.ndarray,
    right_ends: np.ndarray,
    window: int,
) -> np.ndarray:
    """Return the warping distances of all pairs of sequences, in the dtype of `left`.

    Sequences are concatenated, of shape (total_length, n_dimensions), and end at `left_ends` and
    `right_ends`; a `window` of -1 means none.
    """
    distances = np.empty((len(left_ends), len(right_ends)), dtype=left.dtype)
    costs = np.empty(len(right) + 1)
    first = 0
    for a, last in enumerate(left_ends):
        begin = 0
        for b, end in enumerate(right_ends):
            distances[a, b] = _warped(left[first:last], right[begin:end], window, costs)
            begin = end
        first = last
    return distances


@njit(cache=True, nogil=True)
def _warped(x: np.ndarray, y: np.ndarray, window: int, costs: np.ndarray) -> float:
    """Compare two sequences; before step i `costs[j]` is the minimum for x[:i] and y[:j]."""
    n, m = len(x), len(y)
    reach = max(n, m) if window < 0 else max(window, abs(n - m))
    costs[0] = 0.0
    costs[1 : m + 1] = np.inf
    for i in range(n):
        low, high = max(0, i - reach), min(m, i + reach + 1)
        # Of the previous row, one step to the left; left of the band there is no path.
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
