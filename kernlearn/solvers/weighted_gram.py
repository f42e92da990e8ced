"""The product Xᵀ D X for weights D of the rows that change little from step to step."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsymv, dsyrk

Floats = NDArray[np.float64]

_BLOCK_ROWS = 1024  # rows gathered at a time, which stay in cache for the product that follows


def gram_blocks(X: Floats, rows: NDArray[np.intp], weights: NDArray[Any]) -> Iterator[Floats]:
    """Yield Σ weightᵢ xᵢxᵢᵀ over blocks of some rows."""
    roots = np.sqrt(weights)
    for first in range(0, len(rows), _BLOCK_ROWS):
        batch = slice(first, first + _BLOCK_ROWS)
        # BLAS computes only half of a product of a matrix with its own transpose.
        part = X[rows[batch]] * roots[batch, np.newaxis]
        yield part.T @ part


class WeightedGram:
    """Σ weightᵢ xᵢxᵢᵀ, kept up to date by the rows whose weight changed.

    Attributes
    ----------
    lower : ndarray of shape (n_features, n_features)
        Its lower triangle; what is above is of no meaning.
    """

    def __init__(self, X: Floats, whole: Floats, weight: float, slack: float) -> None:
        """Start with one weight for all rows; `whole` is XᵀX."""
        self._X = X
        # in the order of BLAS, which the transpose of a symmetric matrix is in
        self.lower = (weight * whole).T
        self._weights = np.full(len(X), weight)
        self._slack = slack

    def follow(self, weights: Floats, others: Sequence["WeightedGram"] = ()) -> None:
        """Update the weights, except those that changed by no more than the slack.

        It starts from one of `others` on the same rows if fewer weights differ from that one's.
        """
        if others:
            nearest = min(
                (self, *others), key=lambda one: np.count_nonzero(one._weights != weights)
            )
            if nearest is not self:
                self.lower[...] = nearest.lower
                self._weights = nearest._weights.copy()
        change = weights - self._weights
        rows = np.flatnonzero(np.abs(change) > self._slack * weights)
        if len(rows) >= np.count_nonzero(weights):
            self._renew(weights)
            return
        self._add(rows, change[rows])
        self._weights[rows] = weights[rows]

    def times(self, vector: Floats) -> Floats:
        """Return its product with a vector."""
        product: Floats = dsymv(1.0, self.lower, vector, lower=1)
        return product

    def newton_step(self, gradient: Floats, C: float) -> Floats:
        """Return −(I + C·gram)⁻¹ · gradient, with a greater ridge if that is singular."""
        try:
            return newton_step(self.lower, gradient, C)
        except LinAlgError:  # rows that were removed again leave rounding errors behind
            self._renew(self._weights)
        return safe_newton_step(self.lower, gradient, C)

    def _renew(self, weights: Floats) -> None:
        self.lower[...] = 0.0
        rows = np.flatnonzero(weights)
        self._add(rows, weights[rows])
        self._weights = weights.copy()

    def _add(self, rows: NDArray[np.intp], amounts: Floats) -> None:
        """Add Σ amountᵢ xᵢxᵢᵀ over some rows."""
        for sign in (1.0, -1.0):
            of_sign = np.flatnonzero(sign * amounts > 0)
            add_rows(self.lower, self._X, rows[of_sign], np.abs(amounts[of_sign]), sign)


def add_rows(
    lower: Floats, X: Floats, rows: NDArray[np.intp], sizes: Floats, sign: float = 1.0
) -> None:
    """Add sign · Σ sizeᵢ xᵢxᵢᵀ over some rows to a lower triangle in the order of Fortran."""
    even = bool(len(sizes)) and bool((sizes == sizes[0]).all())
    for first in range(0, len(rows), _BLOCK_ROWS):
        batch = slice(first, first + _BLOCK_ROWS)
        part = X[rows[batch]]
        if not even:
            part *= np.sqrt(sizes[batch, np.newaxis])
        dsyrk(sign * sizes[0] if even else sign, part.T, beta=1.0, c=lower, lower=1, overwrite_c=1)


def newton_step(lower: Floats, gradient: Floats, C: float, ridge: float = 1.0) -> Floats:
    """Return −(ridge·I + C·gram)⁻¹ · gradient, of the lower triangle of a Gram matrix.

    Raises
    ------
    LinAlgError
        If the matrix is not positive definite, by rounding errors.
    """
    hessian = C * lower
    hessian.flat[:: len(hessian) + 1] += ridge
    factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
    step: Floats = -cho_solve(factor, gradient, check_finite=False)
    return step


def safe_newton_step(lower: Floats, gradient: Floats, C: float) -> Floats:
    """Return the same, with as much of a ridge as is needed."""
    ridge = 1.0
    while True:
        try:
            return newton_step(lower, gradient, C, ridge)
        except LinAlgError:
            ridge = max(10 * ridge, np.finfo(np.float64).eps * C * lower.trace())
