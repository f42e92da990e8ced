"""The symmetric product of BLAS, without Python's lock, so that threads take products at once."""

from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_char, c_double, c_int, c_void_p
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@cache
def _dsyrk() -> Callable[..., None]:
    # the function of scipy.linalg.blas keeps the lock
    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_blas", "dsyrk")
    return CFUNCTYPE(None, *[c_void_p] * 10)(address)


def add_products(rows: Floats, upper: Floats) -> None:
    """Add the products of the columns of rows to those on and above the diagonal.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        C-contiguous, of at least one row and one column.
    upper : ndarray of shape (n_columns, n_columns)
        Fortran-contiguous; what is below the diagonal stays as it is.
    """
    n_rows, n_columns = rows.shape
    if not (rows.flags.c_contiguous and upper.flags.f_contiguous and upper.flags.writeable):
        raise ValueError("rows must be C-contiguous, and the sums a Fortran array to write to")
    if rows.dtype != np.float64 or upper.dtype != np.float64:
        raise ValueError(f"expected float64, got {rows.dtype} and {upper.dtype}")
    if upper.shape != (n_columns, n_columns) or not rows.size:
        raise ValueError(f"products of {rows.shape} are not of shape {upper.shape}")
    n, k, one = c_int(n_columns), c_int(n_rows), c_double(1)
    # for BLAS, which takes columns first, the rows are a matrix of shape (n_columns, n_rows)
    _dsyrk()(
        byref(c_char(b"U")),
        byref(c_char(b"N")),
        byref(n),
        byref(k),
        byref(one),
        rows.ctypes.data,
        byref(n),
        byref(one),
        upper.ctypes.data,
        byref(n),
    )
