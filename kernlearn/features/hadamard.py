"""Structured random signs, whose products with points a fast Walsh–Hadamard transform computes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import hadamard

from kernlearn.features.signs import complex_signs, real_signs

# Time of an addition of transforms, in bytes of signs, as wide as values, of sums from tables:
# with float64 the two take the same time for about 300 features, with float32 for 600.
_COST = 270.0

Signs = NDArray[np.int8]
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class HadamardSigns:
    r"""Columns :math:`\omega` of random signs, orthogonal to each other within blocks.

    A block of columns is :math:`\operatorname{diag}(s) H`, for a vector s of random signs and
    random rows of the Hadamard matrix of the smallest order that is a power of two and at least
    the number of features. Each column alone is uniformly distributed. In a product of several
    factors the rows must differ from factor to factor: with the same ones the estimates by the
    columns of a block would rise and fall together.

    Attributes
    ----------
    signs : ndarray of shape (n_blocks, n_features), int8
        The vectors s.
    places : ndarray of shape (n_columns,)
        The column of ``[diag(s₁)H, diag(s₂)H, ...]`` that each column is.
    rows : ndarray of shape (n_features,)
        The row of the Hadamard matrix for each feature.
    order : int
        The order of that matrix.

    References
    ----------
    Ailon & Chazelle, The fast Johnson–Lindenstrauss transform, SIAM J. Computing 39 (2009);
    Wacker, Kanagawa & Filippone (2022), section 4.
    """

    signs: Signs
    places: NDArray[np.intp]
    rows: NDArray[np.intp]
    order: int

    @classmethod
    def draw(
        cls, n_features: int, n_columns: int, random_state: np.random.RandomState
    ) -> "HadamardSigns":
        """Draw columns; those of the last block are a random choice of its columns."""
        return cls(*_draw(real_signs, n_features, n_columns, random_state))

    def matrix(self) -> Signs:
        """Return the columns, shape (n_features, n_columns)."""
        blocks, within = np.divmod(self.places, self.order)
        whole: Signs = hadamard(self.order, dtype=np.int8)
        columns: Signs = whole[self.rows][:, within] * self.signs[blocks].T
        return columns

    @property
    def costs(self) -> tuple[float, float]:
        """The number of signs, and of the additions of the transforms of a row."""
        transformed = len(self.signs) * self.order * max(np.log2(self.order), 1.0)
        return self.signs.shape[1] * len(self.places), float(transformed)

    def times(self, X: Floats, scales: Floats, out: Floats) -> None:
        """Write the products of rows of X with the columns, each times its scale.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        scales : ndarray of shape (n_columns,), of the dtype of X
        out : ndarray of shape (n_rows, n_columns), of the dtype of X
        """
        _products(X, self.signs, self.places, self.rows, scales, out, self.order)


@dataclass(frozen=True)
class ComplexHadamardSigns:
    """Columns of signs 1, i, -1 and -i, as :class:`HadamardSigns` with a complex vector s.

    Each is two columns, its real and its imaginary part.
    """

    real: HadamardSigns
    imaginary: HadamardSigns

    @classmethod
    def draw(
        cls, n_features: int, n_columns: int, random_state: np.random.RandomState
    ) -> "ComplexHadamardSigns":
        """Draw `n_columns` columns, which are half as many complex ones."""
        drawn = _draw(complex_signs, n_features, n_columns // 2, random_state)
        signs, places, rows, order = drawn
        parts = (np.ascontiguousarray(signs[:, :, part]) for part in (0, 1))
        return cls(*(HadamardSigns(part, places, rows, order) for part in parts))

    def matrix(self) -> Signs:
        """Return the columns, shape (n_features, n_columns)."""
        parts = np.stack([self.real.matrix(), self.imaginary.matrix()], axis=2)
        return parts.reshape(len(parts), -1)

    @property
    def costs(self) -> tuple[float, float]:
        """The same for one of both parts, the real or the imaginary one."""
        return self.real.costs

    def times(self, X: Floats, scales: Floats, out: Floats) -> None:
        """Write the products of rows of X with the columns, each times its scale."""
        self.real.times(X, scales[0::2], out[:, 0::2])
        self.imaginary.times(X, scales[1::2], out[:, 1::2])


def pay(structured: Sequence[HadamardSigns | ComplexHadamardSigns], dtype: np.dtype) -> bool:
    """Return whether transforms of all levels are faster than their sums of signs from tables."""
    signs, transformed = np.sum([each.costs for each in structured], axis=0)
    return bool(signs * dtype.itemsize > _COST * transformed)


def _draw(
    draw_signs: Callable[[tuple[int, ...], np.random.RandomState], Signs],
    n_features: int,
    n_columns: int,
    random_state: np.random.RandomState,
) -> tuple[Signs, NDArray[np.intp], NDArray[np.intp], int]:
    """Draw the signs, the places, the rows and the order of the matrix of some columns."""
    order = 1 << max(n_features - 1, 0).bit_length()
    n_blocks = -(-n_columns // order)
    signs = draw_signs((n_blocks, n_features), random_state)
    places = np.arange(n_columns)
    n_last = n_columns - (n_blocks - 1) * order
    if n_blocks and n_last < order:
        last = np.sort(random_state.permutation(order)[:n_last])
        places[-n_last:] = (n_blocks - 1) * order + last
    return signs, places, random_state.permutation(order)[:n_features], order


@njit(cache=True, nogil=True, inline="always")  # pragma: no cover
def _transform(values: Any, other: Any) -> Any:
    """Transform `values`, of a length that is a power of two; return the array it ends in.

    Each stage reads both halves in order and writes sums and differences next to each other, so
    that all stages have the same, contiguous, access.
    """
    half = len(values) // 2
    length = 1
    while length < len(values):
        for i in range(half):
            first, second = values[i], values[half + i]
            other[2 * i] = first + second
            other[2 * i + 1] = first - second
        values, other = other, values
        length *= 2
    return values


@njit(cache=True, nogil=True)  # pragma: no cover
def _products(
    X: Any, signs: Any, places: Any, rows: Any, scales: Any, out: Any, order: int
) -> None:
    n_features = X.shape[1]
    values, other = np.zeros(order, X.dtype), np.zeros(order, X.dtype)
    for i in range(X.shape[0]):
        first = 0
        for block in range(len(signs)):
            values[:] = 0.0
            for j in range(n_features):
                values[rows[j]] = X[i, j] * signs[block, j]
            found = _transform(values, other)
            last = min(first + order, len(places))
            shift = block * order
            if last - first == order:
                for c in range(order):
                    out[i, first + c] = found[c] * scales[first + c]
            else:
                for c in range(first, last):
                    out[i, c] = found[places[c] - shift] * scales[c]
            first = last
