"""Symmetric tensor powers of points, order by order, with a compiled inner loop."""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)  # pragma: no cover
def raise_order(
    points: Any, starts: Any, ratios: Any, before: Any, at_before: int, out: Any, at_out: int
) -> None:
    """Write the monomials of an order from those of the order before it.

    Monomials are in lexicographic order, so that those whose first coordinate is j or later are
    the last ones: times coordinate j they are, in their order, the monomials of the next order
    whose first coordinate is j.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_features)
    starts : ndarray of shape (n_features,), int
        Where the monomials of the order before begin whose first coordinate is j or later.
    ratios : ndarray of shape (n_monomials,), of the dtype of points
        Factor on each product.
    before : C-contiguous ndarray of shape (n_rows, n_columns)
        Has the monomials of the order before from column `at_before` on.
    out : C-contiguous ndarray of shape (n_rows, n_columns)
        Gets the monomials from column `at_out` on; may be `before`, in other columns.
    """
    n_features = points.shape[1]
    # whole rows, and not slices of arrays, whose steps would keep the loop from being vectorised
    n_before = starts[n_features - 1] + 1
    for i in range(len(points)):
        source, target = before[i], out[i]
        first = 0
        for j in range(n_features):
            value = points[i, j]
            n_products = n_before - starts[j]
            start, place = at_before + starts[j], at_out + first
            for k in range(n_products):
                target[place + k] = ratios[first + k] * (value * source[start + k])
            first += n_products
