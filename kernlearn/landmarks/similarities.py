"""Landmarks, and the similarities of points to them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernlearn import validation
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import Kernel
from kernlearn.kernels.base import OBJECTS, compared
from kernlearn.memory import row_blocks
from kernlearn.validation import Indices

Reals: TypeAlias = NDArray[np.floating]

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27
# Similarities that are computed at a time.
_BLOCK_BYTES = 2**24


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

    def compare(
        self, X: Any, rows: Indices | None = None, places: Indices | None = None, first: int = 0
    ) -> Reals:
        """Return the similarities of points, all or some `rows` of X, to the landmarks.

        A precomputed matrix X is (n_samples, n_columns) or (n_samples, n_landmarks). Other values
        must be finite: an error names the pair of points, by the `places` of training points, and
        counts others from `first`.
        """
        if self.kernel is None:
            if self.n_columns is not None and X.shape[1] != self.n_columns:
                values = X if rows is None else X[rows]
            else:
                values = X[:, self.indices] if rows is None else X[rows[:, None], self.indices]
            return values if self.sign == 1 else -values
        name = "X" if places is None else "training X"
        if rows is not None:
            X, places = X[rows], rows if places is None else places
        try:
            values = compared(self.kernel, X, self.points)
        except SimilarityError as error:
            left = first + error.left if places is None else int(places[error.left])
            right, names = int(self.indices[error.right]), (name, self.name)
            raise error.at(left, right, names) from (error.__cause__ or error)
        self.comparisons.count += values.size
        return values if self.sign == 1 else -values

    def blocks(
        self, X: Any, width: int = 0, block_bytes: int | None = None
    ) -> Iterator[tuple[slice, Reals]]:
        """Yield slices of rows of X with their similarities to the landmarks.

        `width` is the number of columns made of each row, if more than there are landmarks;
        `block_bytes` as for :func:`row_blocks`.
        """
        if not len(self.indices):
            yield slice(0, X.shape[0]), np.zeros((X.shape[0], 0), dtype=float_type(X))
            return
        columns = max(len(self.indices), width)
        for rows in row_blocks(X.shape[0], columns, block_bytes=block_bytes):
            yield rows, self.compare(X[rows], first=rows.start)

    def values(self, X: Any) -> Reals:
        """Return the similarities of all points, computed in blocks."""
        return np.concatenate([similarities for _, similarities in self.blocks(X)])

    def places_of(self, some: "Landmarks") -> Indices | slice:
        """Return the places of some of these landmarks among them."""
        return slice(None) if some is self else validation.places(self.indices, some.indices)

    def scores(self, models: Sequence[Any], X: Any) -> list[Reals]:
        """Return the scores of points by each model, from one comparison, in blocks.

        A model's `_scores` takes the similarities to its own landmarks, which are some of these,
        and the type of features.
        """
        dtype = float_type(X)
        own = [(model, self.places_of(model._landmarks)) for model in models]
        return concatenated(
            [model._scores(similarities[:, some], dtype) for model, some in own]
            for _, similarities in self.blocks(X)
        )

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
    _columns: dict[int, Reals] = field(default_factory=dict, init=False)
    _diagonal: Reals | None = field(default=None, init=False)

    @property
    def is_distance(self) -> bool:
        """Whether the similarities are distances with the other sign."""
        return self.landmarks.sign < 0

    def keep(self, which: Indices) -> bool:
        """Compute missing similarities to landmarks `which`, and return whether all are kept."""
        missing = [i for i in dict.fromkeys(which.tolist()) if i not in self._columns]
        if self.X.shape[0] * (len(self._columns) + len(missing)) > KEPT_ELEMENTS:
            return False
        if missing:
            columns = self._compute(np.array(missing), transposed=True)
            self._columns.update(zip(missing, columns, strict=True))
        return True

    def column(self, i: int) -> Reals:
        """Return the similarities to landmark `i`, shape (n_points,)."""
        return self.part(slice(None), np.array([i]), keep=True)[:, 0]

    def diagonal(self) -> Reals:
        """Return the similarity of each point to itself, where the landmarks are the points.

        It takes one value for each point of a user-defined function or of a kernel of objects.
        Other kernels compare 32 points with each other at a time.
        """
        if self._diagonal is None:
            kernel, everything = self.landmarks.kernel, np.arange(self.X.shape[0])
            each = kernel is not None and kernel.compares in OBJECTS
            batches = gen_batches(len(everything), 1 if each else 32)
            squares = (self._compute(everything[rows], everything[rows]) for rows in batches)
            self._diagonal = np.concatenate([square.diagonal() for square in squares])
        return self._diagonal

    def part(self, rows: Indices | slice, which: Indices, *, keep: bool = False) -> Reals:
        """Return the similarities of points `rows` to landmarks `which`.

        With `keep` those of all points are computed and kept, by kernels that are `columnwise`.
        """
        kernel = self.landmarks.kernel
        columnwise = kernel is not None and kernel.columnwise
        if keep and columnwise:
            self.keep(which)
        if columnwise and self._columns.keys() >= {*which.tolist()}:
            return np.ascontiguousarray(self.by_landmark(which, rows).T)
        return self._compute(which, rows)

    def by_landmark(self, which: Indices, rows: Indices | slice = slice(None)) -> Reals:
        """Return a row for each landmark: its similarities to points `rows`, or to all."""
        if not self.keep(which):
            return self._compute(which, rows, transposed=True)
        return np.array([self._columns[i][rows] for i in which.tolist()])

    def _compute(
        self, which: Indices, rows: Indices | slice = slice(None), *, transposed: bool = False
    ) -> Reals:
        """Compute similarities block by block: there is no second array of their size."""
        landmarks, values = self.landmarks.take(which), np.empty((0, 0))
        chosen = np.arange(self.X.shape[0])[rows]
        for block in row_blocks(len(chosen), len(which), block_bytes=_BLOCK_BYTES):
            part = chosen[block]
            places = None if self.places is None else self.places[part]
            # all points, without a copy
            is_whole = isinstance(rows, slice) and len(part) == self.X.shape[0]
            some = landmarks.compare(self.X, None if is_whole else part, places)
            if is_whole and not transposed:
                return some
            if not values.size:
                shape = len(chosen), len(which)
                values = np.empty(shape, some.dtype, order="F" if transposed else "C")
            values[block] = some
        return values.T if transposed else values


def float_type(X: Any) -> type[np.floating]:
    """Return the type that features of points are computed in."""
    return np.float32 if X.dtype == np.float32 else np.float64


def concatenated(blocks: Iterable[list[Reals]]) -> list[Reals]:
    """Return the values by each model for all points, from those for blocks of points."""
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
