r"""Orders of a Maclaurin series that are represented exactly, by columns of their own.

:math:`\langle x, y \rangle^n` is the inner product of the symmetric tensor powers of x and y: of
the monomials :math:`\sqrt{n! / \prod_i m_i!} \prod_i x_i^{m_i}` for all multiplicities with the
sum n. There are :math:`\binom{d + n - 1}{n}` of them for d features.
"""

from collections.abc import Callable, Collection, Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

#: Writes the exact columns of some rows: points of the first and of further factors, and features.
WriteExact = Callable[[Floats, Floats, Floats], None]

# A row of that many columns takes 80 MB.
_MOST_COLUMNS = 10**7


def n_monomials(n_features: int, order: int) -> int:
    """Return the number of columns that represent an order exactly."""
    return comb(n_features + order - 1, order)


class ExactTerms:
    """Columns that represent some orders of a series exactly.

    Parameters
    ----------
    orders : collection of int
        The orders.
    coefficients : ndarray
        Those of the series from order 0 on, up to the highest of `orders` at least.
    n_features : int
        Number of features of a point.
    bias : bool
        Whether order 0 is a column.

    Attributes
    ----------
    slices : dict of int to slice
        The columns of each order that has some: those of a coefficient of 0 are left out.
    n_columns : int

    Raises
    ------
    ValueError
        If there were more than ten million columns.
    """

    def __init__(
        self, orders: Collection[int], coefficients: Floats, n_features: int, *, bias: bool
    ) -> None:
        self._n_features = n_features
        self._roots: dict[int, float] = {}
        self.slices: dict[int, slice] = {}
        self.n_columns = 0
        for order in sorted(orders):
            if not coefficients[order] or (order == 0 and not bias):
                continue
            end = self.n_columns + n_monomials(n_features, order)
            if end > _MOST_COLUMNS:
                raise ValueError(
                    f"the exact orders up to {order} take {end} columns for {n_features} "
                    f"features, at most {_MOST_COLUMNS} can be had: lower 'exact_orders'"
                )
            self.slices[order] = slice(self.n_columns, end)
            self._roots[order] = float(np.sqrt(coefficients[order]))
            self.n_columns = end

    def writer(self, n_rows: int, dtype: np.dtype) -> WriteExact:
        """Return a function that writes the columns of at most `n_rows` rows.

        It takes the points of the first factor and those of all further ones, which may be scaled
        differently, and a C-contiguous array whose first columns it fills.
        """
        highest = max(self.slices, default=0)
        if highest < 2:
            return self._write_linear
        from kernlearn.features.tensor_powers import raise_order  # loads numba

        steps, before = [], dtype.type(1.0)
        # orders on the way that are not exact themselves are written apart, without a weight
        apart = {
            order: np.empty((n_rows, n_monomials(self._n_features, order)), dtype)
            for order in range(2, highest)
            if order not in self.slices
        }
        for order, starts, ratios in _steps(self._n_features, highest):
            root = self._roots.get(order, 1.0)
            steps.append((order, starts, (ratios * (root / before)).astype(dtype)))
            before = root

        def write(first: Floats, further: Floats, out: Floats) -> None:
            self._write_linear(first, further, out)
            source, at_source = np.ascontiguousarray(first), 0
            for order, starts, ratios in steps:
                target, at_target = apart.get(order, out), 0
                if order in self.slices:
                    at_target = self.slices[order].start
                raise_order(further, starts, ratios, source, at_source, target, at_target)
                source, at_source = target, at_target

        return write

    def _write_linear(self, first: Floats, further: Floats, out: Floats) -> None:
        if 0 in self.slices:
            out[:, 0] = self._roots[0]
        if 1 in self.slices:
            np.multiply(first, self._roots[1], out=out[:, self.slices[1]])


def _steps(n_features: int, highest: int) -> Iterator[tuple[int, NDArray[np.intp], Floats]]:
    r"""Yield orders from 2 on, where monomials of the order before start, and factors on products.

    The weight of a monomial over that of the one without its first coordinate is
    :math:`\sqrt{n / m}`, for order n and that coordinate's multiplicity m.
    """
    leading = starts = np.arange(n_features)
    times = np.ones(n_features, dtype=np.intp)
    for order in range(2, highest + 1):
        parts = [(leading[start:] == j) * times[start:] + 1 for j, start in enumerate(starts)]
        lengths = [len(part) for part in parts]
        times, leading = np.concatenate(parts), np.repeat(np.arange(n_features), lengths)
        yield order, starts, np.sqrt(order / times)
        starts = np.cumsum([0, *lengths[:-1]])
