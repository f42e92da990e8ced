"""Exact sums of products of whole numbers, by matrix products in float64 that do not round."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.onepass.blas import add_products

Floats = NDArray[np.float64]

#: Sums below it are exact in float64; half of 2^53, as the sums of squares it is compared with
#: are themselves rounded.
_EXACT = 2.0**52
#: Greatest absolute value that is accepted.
LARGEST = 2.0**62
_LARGE = 2.0**24  # rows with greater values are summed by digits if they are too large together
_LIMB = 32  # bits
_MASK = (1 << _LIMB) - 1
_DIGIT = 20  # bits; 2^10 products of two digits are below 2^53 by far
_DIGIT_ROWS = 1024
_MOST_CARRIES = 256  # each adds less than 2^53 to a limb
_FEW = 0.9  # share of columns that are not 0 below which the others are left out of a product
_VERY_FEW = 0.5  # the same, of the columns that were not 0 before


class ExactGram:
    r"""The sum of :math:`q q^\top` over rows q of whole numbers, without rounding.

    It is the same to the bit for any order of the rows and any partition of them, since no
    operation rounds: products of whole numbers and their sums are exact in float64 as long as
    they are below :math:`2^{53}`. By Cauchy-Schwarz all partial sums of an entry are bounded by
    the greatest sum of squares of a column, in whichever order BLAS adds them; from time to time
    the sums are moved to whole numbers of 32-bit limbs, and rows with large values are split into
    digits first.

    Parameters
    ----------
    n_columns : int
        Length of the rows.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.

    References
    ----------
    K. Ozaki, T. Ogita, S. Oishi, S. M. Rump. Error-free transformations of matrix multiplication
    by using fast routines of matrix multiplication and its applications. Numerical Algorithms 59
    (2012). J. Demmel, H. D. Nguyen. Parallel reproducible summation. IEEE Transactions on
    Computers 64 (2015).
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.n_rows = 0
        self._recent = _Products(n_columns)
        self._bound = 0.0  # on the entries of `_recent`
        # of the entries on and below the diagonal, row by row
        self._limbs = np.zeros((0, _size(n_columns)), dtype=np.int64)
        self._n_carries = 0

    def add(self, rows: Floats) -> None:
        """Add rows of whole numbers, of shape (n_rows, n_columns), below 2^62 in size."""
        if rows.shape[1] != self.n_columns:
            raise ValueError(f"rows have {rows.shape[1]} columns, expected {self.n_columns}")
        self._add(rows)
        self.n_rows += len(rows)

    def merge(self, other: "ExactGram") -> None:
        """Add the rows of another sum."""
        self._merge([other])

    @classmethod
    def merged(cls, grams: Sequence["ExactGram"]) -> "ExactGram":
        """Return the sum over the rows of several, which stay as they are."""
        result = cls(grams[0].n_columns)
        result._merge(grams)
        return result

    def value(self) -> Floats:
        """Return the sum, of shape (n_columns, n_columns), rounded to float64."""
        return total([(1, self)], self.n_columns)

    def limbs(self) -> NDArray[np.int64]:
        """Return the whole numbers, of shape (n_limbs, n_columns, n_columns), lowest limb first.

        All limbs are from 0 to 2^32 - 1 but the last, which has the sign. Sums are equal exactly
        if their limbs are.
        """
        return np.array(
            [_square(limb, self.n_columns) for limb in self.lower_limbs()], dtype=np.int64
        ).reshape(-1, self.n_columns, self.n_columns)

    def lower_limbs(self) -> NDArray[np.int64]:
        """Return the limbs of the entries on and below the diagonal, not to be changed.

        They are of shape (n_limbs, n_columns (n_columns + 1) / 2), row by row.
        """
        self._settle()
        return self._limbs

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent and written: limbs of 32 bits, as they are when normalised."""
        self._settle()
        low = self._limbs[:-1].astype(np.uint32)
        high = self._limbs[-1:].astype(np.int32)
        return {"n_columns": self.n_columns, "n_rows": self.n_rows, "low": low, "high": high}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ExactGram.__init__(self, state["n_columns"])
        self.n_rows = state["n_rows"]
        self._limbs = np.concatenate([state["low"], state["high"]], dtype=np.int64)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._limbs.nbytes + self._recent.nbytes

    def _merge(self, others: Sequence["ExactGram"]) -> None:
        for other in others:
            if other.n_columns != self.n_columns:
                raise ValueError(f"sums of {other.n_columns} and {self.n_columns} columns")
        for gram in (self, *others):
            gram._settle()
        for other in others:
            self._limbs = _longer(self._limbs, len(other._limbs))
            self._limbs[: len(other._limbs)] += other._limbs
            self.n_rows += other.n_rows
        self._normalise()

    def _add(self, rows: Floats) -> None:
        if not len(rows):
            return
        squares = np.einsum("ij,ij->j", rows, rows)
        largest = float(squares.max())
        if largest > _EXACT:
            large = np.abs(rows).max(axis=1) > _LARGE
            if large.any():
                self._add_digits(rows[large])
                self._add(rows[~large])
            else:
                half = len(rows) // 2
                self._add(rows[:half])
                self._add(rows[half:])
            return
        if self._bound + largest > _EXACT:
            self._carry_recent()
        self._bound += largest
        self._recent.add(rows, squares > 0)

    def _add_digits(self, rows: Floats) -> None:
        """Add rows with large values, as sums of products of their digits."""
        for start in range(0, len(rows), _DIGIT_ROWS):
            digits = list(_digits(rows[start : start + _DIGIT_ROWS]))
            for i, first in enumerate(digits):
                for j, second in enumerate(digits[: i + 1]):
                    products = first.T @ second
                    products = products if i == j else products + products.T
                    self._carry(_lower(products), _DIGIT * (i + j))

    def _settle(self) -> None:
        """Move the recent sums to the limbs, and normalise these."""
        self._carry_recent()
        if self._n_carries:
            self._normalise()

    def _carry_recent(self) -> None:
        if self._bound:
            self._carry(self._recent.taken(), 0)
            self._bound = 0.0

    def _carry(self, values: Floats, shift: int) -> None:
        """Add whole numbers below 2^53 times 2^shift to the limbs."""
        at, offset = divmod(shift, _LIMB)
        self._limbs = _longer(self._limbs, at + 2)
        whole = values.astype(np.int64)
        self._limbs[at] += (whole & ((1 << (_LIMB - offset)) - 1)) << offset
        self._limbs[at + 1] += whole >> (_LIMB - offset)
        self._n_carries += 1
        if self._n_carries >= _MOST_CARRIES:
            self._normalise()

    def _normalise(self) -> None:
        """Carry, so that all limbs but the last are from 0 to 2^32 - 1."""
        self._n_carries = 0
        self._limbs = _normalised(self._limbs)


class _Products:
    """A sum of matrix products in float64, of the columns that are not 0 throughout."""

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns
        self._used = np.zeros(n_columns, dtype=np.bool_)
        self._upper: Floats | None = None  # of the columns used, in Fortran's order

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return 0 if self._upper is None else self._upper.nbytes

    def add(self, rows: Floats, used: NDArray[np.bool_]) -> None:
        """Add the product of rows; the columns that are not `used` are 0 in them."""
        if not used.any():
            return
        if (used & ~self._used).any():
            self._widen(used | self._used)
        if self._upper is None:
            self._upper = np.zeros((self._used.sum(),) * 2, order="F")
        inside = np.flatnonzero(used[self._used])
        if len(inside) < _VERY_FEW * len(self._upper):
            rows = np.ascontiguousarray(rows[:, used])
            self._upper[np.ix_(inside, inside)] += rows.T @ rows
            return
        if len(self._upper) < self._n_columns:
            rows = np.ascontiguousarray(rows[:, self._used])
        add_products(np.ascontiguousarray(rows), self._upper)

    def taken(self) -> Floats:
        """Return the entries on and below the diagonal, of all columns, and begin with 0."""
        upper, self._upper = self._upper, None
        whole = np.zeros((self._n_columns, self._n_columns))
        if upper is not None and len(upper) < self._n_columns:
            whole[np.ix_(self._used, self._used)] = upper.T
        elif upper is not None:
            whole = upper.T
        return _lower(whole)

    def _widen(self, used: NDArray[np.bool_]) -> None:
        """Take more columns."""
        if used.mean() > _FEW:
            used = np.ones_like(used)
        if self._upper is not None:
            wide = np.zeros((used.sum(),) * 2, order="F")
            old = np.flatnonzero(self._used[used])
            wide[np.ix_(old, old)] = self._upper
            self._upper = wide
        self._used = used


def total(terms: Iterable[tuple[int, ExactGram]], n_columns: int) -> Floats:
    """Return the sum of grams times whole numbers, computed exactly and rounded to float64.

    Rounding depends on the exact sum alone, not on how it is made of terms.
    """
    limbs = np.zeros((1, _size(n_columns)), dtype=np.int64)
    for factor, gram in terms:
        theirs = gram.lower_limbs()
        limbs = _longer(limbs, len(theirs))
        for mine, limb in zip(limbs, theirs, strict=False):
            mine += limb if factor == 1 else factor * limb
        limbs = _normalised(limbs)
    value = np.zeros(limbs.shape[1])
    for limb in limbs[::-1]:
        value = value * 2.0**_LIMB + limb
    return _square(value, n_columns)


def _size(n_columns: int) -> int:
    """Return the number of entries on and below the diagonal."""
    return n_columns * (n_columns + 1) // 2


@lru_cache(4)
def _places(n_columns: int) -> NDArray[np.intp]:
    """Return the places of the entries on and below the diagonal in a flat square."""
    return np.flatnonzero(np.tri(n_columns, dtype=np.bool_))


def _lower(square: NDArray[Any]) -> NDArray[Any]:
    return square.ravel()[_places(len(square))]


def _square(lower: NDArray[Any], n_columns: int) -> NDArray[Any]:
    """Return the symmetric matrix with these entries on and below the diagonal."""
    square = np.zeros((n_columns, n_columns), dtype=lower.dtype)
    square.ravel()[_places(n_columns)] = lower
    return square + np.tril(square, -1).T


def _longer(limbs: NDArray[np.int64], n_limbs: int) -> NDArray[np.int64]:
    """Return at least so many limbs, of which those that are added are 0."""
    more = n_limbs - len(limbs)
    if more <= 0:
        return limbs
    return np.concatenate([limbs, np.zeros((more, limbs.shape[1]), dtype=np.int64)])


def _normalised(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Carry in place, and return as few limbs as hold the numbers, the last one of 32 bits."""
    if not len(limbs):
        return limbs
    for low, high in pairwise(limbs):
        high += low >> _LIMB
        low &= _MASK
    while len(limbs) > 1 and _spare(limbs[-2], limbs[-1]):
        limbs[-2] += limbs[-1] << _LIMB
        limbs = limbs[:-1].copy()
    top = limbs[-1]
    if ((top >> (_LIMB - 1)) != (top >> 63)).any():
        carried = top >> _LIMB
        top &= _MASK
        limbs = np.concatenate([limbs, carried[np.newaxis]])
    return limbs


def _spare(below: NDArray[np.int64], top: NDArray[np.int64]) -> bool:
    """Tell whether the last limb is but the sign of the one below it."""
    return bool((top == -(below >> (_LIMB - 1))).all())


def _digits(rows: Floats) -> Iterator[Floats]:
    """Yield the digits of whole numbers in base 2^20, from -2^19 to 2^19 - 1, lowest first."""
    rest = rows.astype(np.int64)
    half = 1 << (_DIGIT - 1)
    while rest.any():
        low = ((rest + half) & ((1 << _DIGIT) - 1)) - half
        yield low.astype(np.float64)
        rest = (rest - low) >> _DIGIT
