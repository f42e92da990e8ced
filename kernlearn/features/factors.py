"""The factors of Maclaurin features, computed level by level for blocks of rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.features import base, blocks
from kernlearn.features.centering import Centering

if TYPE_CHECKING:
    from kernlearn.features.hadamard import ComplexHadamardSigns, HadamardSigns


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
    """

    def __init__(
        self,
        levels: base.LevelProduct,
        omega: NDArray[np.int8],
        structured: "Sequence[HadamardSigns | ComplexHadamardSigns]",
        center: Centering | None,
        dtype: np.dtype,
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

    def of_rows(self, X: Any) -> tuple[base.WriteFactors, bool]:
        """Return how the factors of some rows are written.

        Returns
        -------
        write : callable
            Writes the factors of a level into an array.
        scaled : bool
            Whether the products of all factors of a feature hold the factor gₙ(x) of the centred
            series, too.
        """
        center = self._center
        if center is None:
            points = blocks.to_dense(X) if self._transforms else X
            return self._of_points(points, points), False
        if not isinstance(X, np.ndarray) and not self._transforms:
            return self._of_projections(X, center), False
        dense = blocks.to_dense(X)
        points = center.points(dense)
        scales = center.row_scales(center.bases(dense), self._dtype)
        if scales is None:
            points = points.astype(self._dtype, copy=False)
            return self._of_points(points, points), False
        scaled = [(points * each[:, np.newaxis]).astype(self._dtype) for each in scales]
        return self._of_points(*scaled), True

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
