"""Landmarks, and similarities of points to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.base import Kernel, check_values, diagonal
from kernlearn.memory import row_blocks

Indices: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.floating]

#: Places of points in the data that the user has passed, for errors.
Places: TypeAlias = Sequence[int] | Indices

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27

# Similarities that are computed at a time.
_BLOCK_BYTES = 2**24
# Rows that are transposed at a time.
_TRANSPOSED_ROWS = 128


@dataclass
class Comparisons:
    """The number of similarities that were evaluated."""

    count: int = 0


@dataclass(frozen=True)
class Landmarks:
    """Training points that other points are compared with, and the similarity.

    Attributes
    ----------
    indices : ndarray of int
        Rows of the training data.
    points : array, sparse matrix or None
        None for a precomputed matrix.
    kernel : Kernel or None
        The fitted kernel; None for a precomputed matrix of similarities, which has `n_columns`
        or those of these landmarks alone.
    sign : int
        -1 for a distance: all values are similarities.
    comparisons : Comparisons
        Where evaluations are counted.
    name : str
        Name of the data of the landmarks, for errors.
    """

    indices: Indices
    points: Any
    kernel: Kernel | None
    sign: int = 1
    comparisons: Comparisons = field(default_factory=Comparisons)
    name: str = "training X"
    n_columns: int | None = None

    def compare(self, X: Any, rows: Indices | None = None, places: Places | None = None) -> Floats:
        """Return the similarities of points, all or some `rows` of X, to the landmarks.

        A precomputed matrix X is (n_samples, n_columns) or (n_samples, n_landmarks). Other values
        must be finite: an error names the pair of points, by `places` in the user's data.
        """
        if self.kernel is None:
            if self.n_columns is not None and X.shape[1] != self.n_columns:
                values = X if rows is None else X[rows]
            else:
                values = X[:, self.indices] if rows is None else X[rows[:, None], self.indices]
            return values if self.sign == 1 else -values
        if rows is not None:
            X, places = X[rows], rows if places is None else places
        try:
            values = np.asarray(self.kernel(X, self.points))
            if values.dtype.kind != "f":  # counts and other whole numbers
                values = values.astype(np.float64)
            self.comparisons.count += values.size
            if values.shape != (expected := (X.shape[0], self.points.shape[0])):
                raise ValueError(
                    f"'similarity' gave an array of shape {values.shape}, it must be {expected}: "
                    "one row per point and one column per landmark"
                )
            check_values(values, X, self.points)
        except SimilarityError as error:
            left = error.left if places is None else int(places[error.left])
            right, names = int(self.indices[error.right]), ("X", self.name)
            located = SimilarityError(error.problem, left, right, error.shown, names)
            raise located from (error.__cause__ or error)
        return values if self.sign == 1 else -values

    def blocks(self, X: Any, width: int = 0) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows of X with their similarities to the landmarks, if there are any.

        `width` is the number of columns made of each row, if more than there are landmarks.
        """
        if not len(self.indices):
            return
        for rows in row_blocks(X.shape[0], max(len(self.indices), width)):
            yield rows, self.compare(X[rows], places=range(rows.start, rows.stop))

    def take(self, which: Indices) -> "Landmarks":
        """Return some of the landmarks, by their place among these."""
        points = None if self.points is None else self.points[which]
        return replace(self, indices=self.indices[which], points=points)


@dataclass(eq=False)
class Similarities:
    """Similarities of points to landmarks, computed once and then kept.

    Those that would exceed `KEPT_ELEMENTS` values in all are computed at each use. So are single
    columns by kernels that are not `columnwise`: solvers that stop early amplify the last digit,
    in which they differ from the columns that these kernels compute together.

    Parameters
    ----------
    landmarks : Landmarks
    X : array or sparse matrix
    places : ndarray of int, default=None
        Places of the points in the data that the user has passed, for errors.
    """

    landmarks: Landmarks
    X: Any
    places: Indices | None = None
    # by landmark: the similarities of all points
    _kept: dict[int, Floats] = field(default_factory=dict, init=False)
    _diagonal: Floats | None = field(default=None, init=False)

    @property
    def is_distance(self) -> bool:
        """Whether the similarities are distances with the other sign."""
        return self.landmarks.sign < 0

    @property
    def kernel(self) -> Kernel | None:
        """The fitted kernel; None for a precomputed matrix."""
        return self.landmarks.kernel

    def keep(self, which: Indices) -> bool:
        """Compute missing similarities to landmarks `which`, and return whether all are kept."""
        missing = [i for i in dict.fromkeys(which.tolist()) if i not in self._kept]
        if self.X.shape[0] * (len(self._kept) + len(missing)) > KEPT_ELEMENTS:
            return False
        if missing:
            columns = self._compute(np.array(missing), transposed=True)
            self._kept.update(zip(missing, columns, strict=True))
        return True

    def column(self, i: int) -> Floats:
        """Return the similarities to landmark `i`, shape (n_points,)."""
        which, kernel = np.array([i]), self.landmarks.kernel
        if kernel is None or not kernel.columnwise or not self.keep(which):
            return self._compute(which)[:, 0]
        return self._kept[i]

    def diagonal(self) -> Floats:
        """Return the similarity of each point to itself, where the landmarks are the points.

        It takes one value for each point of a user-defined function or of a kernel of objects.
        Other kernels compare 32 points with each other at a time.
        """
        if self._diagonal is None:
            landmarks = self.landmarks
            kernel, indices = landmarks.kernel, landmarks.indices
            if kernel is None:
                self._diagonal = self.X[np.arange(len(indices)), indices] * landmarks.sign
            elif kernel.structured or kernel.any_points:
                each = np.arange(self.X.shape[0])[:, np.newaxis]
                self._diagonal = np.concatenate([self._compute(i, i)[0] for i in each])
            else:

                def evaluate(left: Any, right: Any) -> Floats:
                    values = np.asarray(kernel(left, right))
                    landmarks.comparisons.count += values.size
                    return values

                self._diagonal = finite(diagonal(evaluate, self.X)) * landmarks.sign
        return self._diagonal

    def part(self, rows: Indices, which: Indices, *, keep: bool = False) -> Floats:
        """Return the similarities of points `rows` to landmarks `which`.

        With `keep` those of all points are computed and kept, by kernels that are `columnwise`.
        """
        kernel = self.landmarks.kernel
        if (
            kernel is not None
            and kernel.columnwise
            and (not keep or self.keep(which))
            and all(i in self._kept for i in which.tolist())
        ):
            return self.columns(which, rows)
        places = rows if self.places is None else self.places[rows]
        return self.landmarks.take(which).compare(self.X, rows, places)

    def columns(self, which: Indices, rows: Indices | None = None) -> Floats:
        """Return the similarities to landmarks `which`, (n_points, n_landmarks).

        Landmarks may repeat; `rows` are the points, all if None.
        """
        if self._kept and self.keep(which):
            return by_column(self.by_landmark(which, rows))
        return self._compute(which, rows)

    def by_landmark(self, which: Indices, rows: Indices | slice | None = None) -> Floats:
        """Return the transpose of :meth:`columns`: a row for each landmark."""
        if not self.keep(which):
            return self._compute(which, rows, transposed=True)
        taken = slice(None) if rows is None else rows
        return np.array([self._kept[i][taken] for i in which.tolist()])

    def blocks(self, which: Indices, width: int) -> Iterator[tuple[slice, Floats]]:
        """Yield rows with their similarities to landmarks `which`, as `Landmarks.blocks` does."""
        if not self._kept:
            yield from self.landmarks.take(which).blocks(self.X, width)
            return
        values = self.columns(which)
        for rows in row_blocks(len(values), max(len(which), width)):
            yield rows, values[rows]

    def _compute(
        self, which: Indices, rows: Indices | slice | None = None, *, transposed: bool = False
    ) -> Floats:
        """Compute similarities block by block: there is no second array of their size."""
        landmarks, values = self.landmarks.take(which), np.empty((0, 0))
        chosen = np.arange(self.X.shape[0])[slice(None) if rows is None else rows]
        for block in row_blocks(len(chosen), len(which), block_bytes=_BLOCK_BYTES):
            part = chosen[block]
            places = part if self.places is None else self.places[part]
            # all points, without a copy
            is_whole = rows is None and len(part) == len(chosen)
            some = landmarks.compare(self.X, None if is_whole else part, places)
            if is_whole and not transposed:
                return some
            if not values.size:
                shape = (len(which), len(chosen)) if transposed else (len(chosen), len(which))
                values = np.empty(shape, dtype=some.dtype)
            if transposed:
                values[:, block] = some.T
            else:
                values[block] = some
        return values


def by_column(values: Floats) -> Floats:
    """Return the transpose, in the order of C, in blocks that stay in cache."""
    transposed = np.empty(values.shape[::-1], dtype=values.dtype)
    for first in range(0, len(values), _TRANSPOSED_ROWS):
        rows = slice(first, first + _TRANSPOSED_ROWS)
        transposed[:, rows] = values[rows].T
    return transposed


def finite(similarities: NDArray[Any]) -> Floats:
    """Refuse NaN and infinity; counts become float64."""
    if similarities.dtype.kind != "f":
        similarities = similarities.astype(np.float64)
    if not np.isfinite(similarities).all():
        raise ValueError("'similarity' must give finite numbers, and gave NaN or infinity")
    return similarities
