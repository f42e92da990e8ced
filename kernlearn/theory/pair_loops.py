"""Sums over all pairs of numbers in sorted rows, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def clipped_sums(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    slope: float,
    reach: float,
    sums: NDArray[np.float64],
) -> None:
    """Compare each number of a row with all of the row, by one walk with two feet.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n)
        Each row ascending.
    weights : ndarray of shape (n_rows, n)
        What each number counts.
    slope, reach : float
        A difference t within the reach counts slope * t, one beyond it its sign: slope s and
        reach 1/s are a ramp, 0 and 0 the sign.
    sums : ndarray of shape (n_rows, n)
        Set to the weighted sum for each number.
    """
    n_rows, n = values.shape
    for r in range(n_rows):
        total = 0.0
        for j in range(n):
            total += weights[r, j]
        low = high = 0
        # Moments from the least number on keep more digits, and equal numbers have none.
        least = values[r, 0]
        # Weight, and weight times value, of all numbers below the window, and up to its end.
        weight_low = weight_high = moment_low = moment_high = 0.0
        for i in range(n):
            value = values[r, i]
            while values[r, low] < value - reach:
                weight_low += weights[r, low]
                moment_low += weights[r, low] * (values[r, low] - least)
                low += 1
            while high < n and values[r, high] <= value + reach:
                weight_high += weights[r, high]
                moment_high += weights[r, high] * (values[r, high] - least)
                high += 1
            inside = (value - least) * (weight_high - weight_low)
            inside -= moment_high - moment_low
            sums[r, i] = weight_low - (total - weight_high) + slope * inside
