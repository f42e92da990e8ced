"""Compiled: the multiples of units that values are closest to, and how close they are to a tie."""

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True, error_model="numpy")
def round_rows(
    values: NDArray[np.float64],
    centers: NDArray[np.float64],
    inverses: NDArray[np.float64],
    margins: NDArray[np.float64],
    relative_margin: float,
    out: NDArray[np.float64],
    close: NDArray[np.bool_],
) -> float:
    """Write the multiples, and whether a row has one near a tie.

    `inverses` are 1 / units; margins are absolute and relative to the multiple. Return the
    greatest absolute multiple, or infinity if there are values that are NaN or infinite.
    """
    greatest = 0.0
    finite = True
    for i in range(values.shape[0]):
        nearest = -1.0
        for j in range(values.shape[1]):
            scaled = (values[i, j] - centers[j]) * inverses[j]
            whole = np.rint(scaled)
            out[i, j] = whole
            size = abs(whole)
            greatest = max(greatest, size)
            distance = abs(scaled - whole) + margins[j] + relative_margin * size
            nearest = max(nearest, distance)
            finite &= whole - whole == 0.0
        close[i] = nearest > 0.5
    return greatest if finite else np.inf
