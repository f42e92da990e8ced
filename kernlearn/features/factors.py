"""The factors of Maclaurin features, computed level by level for blocks of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.features import base, blocks
from kernlearn.features.centering import Centering

if TYPE_CHECKING:
    from kernlearn.features.hadamard import ComplexHadamardSigns, HadamardSigns

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Rows:
    """Some rows, prepared for features.

    Attributes
    ----------
    write : callable
        Writes the factors of a level into an array.
    first, further : array
        The points of which the first and all further factors of exact terms are.
    bases : ndarray or None
        What the factors gₙ(x) of the centred series are made of, if it is centred.
    scaled : bool
        Whether products with n ≥ 1 factors hold gₙ(x) already.
    """

    write: base.WriteFactors
    first: Any
    further: Any
    bases: NDArray[np.float64] | None = None
    scaled: bool = False


class Factors:
    """The products ⟨ω, x⟩ of all levels, times the scales of the factors.

    Parameters
    ----------
    levels : LevelProduct
    omega : ndarray of shape (n_features, n_factors), int8
        The signs.
    structured : sequence of HadamardSigns or ComplexHadamardSigns
        Those of each level, if they have a fast transform; else empty.
    center : Centering or None
        What the points are to be replaced by.
    dtype : dtype
        Of points and factors.
    n_rows : int
        Most rows of a block.
    dense : bool
        Whether the points are needed as arrays, for exact terms.
    """

    def __init__(
        self,
        levels: base.LevelProduct,
        omega: NDArray[np.int8],
        structured: "Sequence[HadamardSigns | ComplexHadamardSigns]",
        center: Centering | None,
        dtype: np.dtype,
        *,
        n_rows: int,
        dense: bool = False,
    ) -> None:
        self._center, self._dtype = center, dtype
        scales = levels.factor_scales
        self._transforms = {
            level: (signs, scales[levels.slices[level]].astype(dtype))
            for level, signs in enumerate(structured)
            if signs.pays(dtype)
        }
        self._signs = {
            level: omega[:, columns] * scales[columns]
            for level, columns in enumerate(levels.slices)
            if level not in self._transforms
        }
        self._matrices = {
            level: np.ascontiguousarray(signs, dtype) for level, signs in self._signs.items()
        }
        self._projected: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._dense = dense
        # memory that is had anew for every block costs more than what is computed in it
        shape = (n_rows, len(omega)) if center else (0, 0)
        self._centred = np.empty(shape)
        self._scaled = np.empty((2, *shape), dtype)

    def of_rows(self, X: Any) -> Rows:
        """Prepare some rows."""
        center = self._center
        if center is None:
            points = blocks.to_dense(X) if self._transforms or self._dense else X
            # sparse rows are multiplied as they are
            factors = points if self._transforms else X
            return Rows(self._of_points(factors, factors), points, points)
        if not isinstance(X, np.ndarray) and not self._transforms:
            write, bases = self._of_projections(X, center), center.bases(X)
            if not self._dense:
                return Rows(write, None, None, bases)
            points = center.points(X.toarray()).astype(self._dtype, copy=False)
            return Rows(write, points, points, bases)
        dense = blocks.to_dense(X)
        points, bases = center.split(dense, out=self._centred[: len(dense)])
        scales = center.row_scales(bases, self._dtype)
        if scales is None:
            points = points.astype(self._dtype, copy=False)
            return Rows(self._of_points(points, points), points, points, bases)
        first, further = self._scaled[:, : len(dense)]
        for each, out in zip(scales, (first, further), strict=True):
            np.multiply(points, each[:, np.newaxis], out=out, casting="same_kind")
        return Rows(self._of_points(first, further), first, further, bases, scaled=True)

    def _of_points(self, first: Any, later: Any) -> base.WriteFactors:
        """Return how the factors of points are written: those of the first and of later levels."""

        def write(level: int, factors: np.ndarray) -> None:
            points = later if level else first
            if level in self._transforms:
                structured, sizes = self._transforms[level]
                structured.times(points, sizes, factors)
            else:
                blocks.multiply(points, self._matrices[level], factors)

        return write

    def _of_projections(self, X: Any, center: Centering) -> base.WriteFactors:
        """Return how the factors of sparse rows are written, which stay sparse."""
        if not self._projected:
            for level, signs in self._signs.items():
                matrix, shift = center.project(signs)
                self._projected[level] = matrix.astype(self._dtype), shift.astype(self._dtype)

        def write(level: int, factors: np.ndarray) -> None:
            matrix, shift = self._projected[level]
            blocks.multiply(X, matrix, factors)
            factors += shift

        return write
