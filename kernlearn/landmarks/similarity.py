"""Similarities between points and landmarks, and the checks of their inputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from kernlearn.kernels import CallableKernel, Kernel, as_kernel
from kernlearn.memory import row_blocks

Kind = Literal["similarity", "distance"]
Indices = NDArray[np.intp]

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27


@dataclass(frozen=True)
class Landmarks:
    """Training points that other points are compared with, and the similarity.

    All values are similarities: a distance changes its sign.

    Attributes
    ----------
    indices : ndarray of shape (n_landmarks,)
        Rows of the landmarks in the training data.
    points : ndarray or sparse matrix of shape (n_landmarks, n_features), or None
        The points themselves; None for a precomputed matrix of similarities.
    kernel : Kernel or None
        The fitted similarity; None for a precomputed matrix.
    sign : {1, -1}
        -1 for a distance.
    """

    indices: Indices
    points: Any
    kernel: Kernel | None
    sign: int = 1

    def __len__(self) -> int:
        return len(self.indices)

    def compare(self, X: Any, rows: Indices | None = None) -> NDArray[np.floating]:
        """Return the similarities of points, all or some `rows` of X, to the landmarks.

        For a precomputed matrix X is (n_samples, n_training_points). Values must be finite.
        """
        if self.kernel is not None:
            values = _finite(self.kernel(X if rows is None else X[rows], self.points))
        else:
            values = X[:, self.indices] if rows is None else X[rows[:, None], self.indices]
        return values if self.sign == 1 else -values

    def blocks(self, X: Any, width: int = 0) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield slices of rows of X with their similarities to the landmarks, if there are any.

        `width` is the number of columns made of each row, if more than there are landmarks.
        """
        if len(self):
            for rows in row_blocks(X.shape[0], max(len(self), width)):
                yield rows, self.compare(X[rows])

    def kept(self, X: Any, rows: Indices | None = None) -> KeptSimilarities:
        """Return the similarities of points, all or some rows of X, each computed once."""
        return KeptSimilarities(self, X, rows)

    def take(self, which: Indices) -> Landmarks:
        """Return some of the landmarks, by their place among these."""
        points = None if self.points is None else self.points[which]
        return replace(self, indices=self.indices[which], points=points)


class KeptSimilarities:
    """Similarities of fixed points to landmarks, computed when first used and then kept.

    Those that would exceed `KEPT_ELEMENTS` values in all are computed at each use. So are single
    columns by kernels that are not `columnwise`: solvers that stop early amplify the last digit,
    in which they differ from the columns that these kernels compute together.
    """

    def __init__(self, landmarks: Landmarks, X: Any, rows: Indices | None) -> None:
        if rows is not None and landmarks.kernel is not None:
            X, rows = X[rows], None
        self._landmarks, self._X, self._rows = landmarks, X, rows
        self._n_points = X.shape[0] if rows is None else len(rows)
        self._blocks: list[NDArray[np.floating]] = []
        # The block of each landmark, -1 if not computed, and its column there.
        self._block = np.full(len(landmarks), -1)
        self._column = np.zeros(len(landmarks), dtype=np.intp)

    def keep(self, which: Indices) -> bool:
        """Compute missing similarities to landmarks `which`, and return whether all are kept."""
        missing = np.fromiter(dict.fromkeys(which[self._block[which] < 0].tolist()), np.intp)
        n_kept = sum(block.shape[1] for block in self._blocks)
        if self._n_points * (n_kept + len(missing)) > KEPT_ELEMENTS:
            return False
        if len(missing):
            self._block[missing], self._column[missing] = len(self._blocks), range(len(missing))
            self._blocks.append(self._compute(missing))
        return True

    def column(self, i: int) -> NDArray[np.floating]:
        """Return the similarities to landmark `i`, shape (n_samples,)."""
        which, kernel = np.array([i]), self._landmarks.kernel
        if kernel is None or not kernel.columnwise or not self.keep(which):
            return self._compute(which)[:, 0]
        return self._blocks[self._block[i]][:, self._column[i]]

    def columns(self, which: Indices, rows: Indices | None = None) -> NDArray[np.floating]:
        """Return the similarities to landmarks `which`; the array must not be changed.

        Landmarks may repeat; `rows` are the points, all if None.
        """
        if not self.keep(which):
            return self._compute(which, rows)
        if len(self._blocks) > 1:
            starts = np.cumsum([0, *(block.shape[1] for block in self._blocks)])
            self._column += starts[self._block]
            self._blocks = [np.hstack(self._blocks)]
            self._block = np.minimum(self._block, 0)
        (block,), columns = self._blocks, self._column[which]
        if rows is not None:
            return block[rows[:, None], columns]
        if np.array_equal(columns, np.arange(block.shape[1])):
            return block
        # block[:, columns] would be column by column in memory; solvers go by rows
        return block.take(columns, axis=1)

    def blocks(self, which: Indices, width: int) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield rows with their similarities to landmarks `which`, as `Landmarks.blocks` does."""
        if not self._blocks:
            yield from self._landmarks.take(which).blocks(self._X, width)
            return
        values = self.columns(which)
        for rows in row_blocks(len(values), max(len(which), width)):
            yield rows, values[rows]

    def _compute(self, which: Indices, rows: Indices | None = None) -> NDArray[np.floating]:
        if self._rows is not None:
            rows = self._rows if rows is None else self._rows[rows]
        return self._landmarks.take(which).compare(self._X, rows)


class PointsEstimator(BaseEstimator):
    """An estimator that compares points, rows of a matrix or objects, by one or more kernels."""

    _dtypes: Any = (np.float64, np.float32)

    @abstractmethod
    def _compared_by(self) -> list[Kernel] | None:
        """Return the kernels; None for precomputed matrices."""

    @property
    def _precomputed(self) -> bool:
        return self._compared_by() is None

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validate training data; y may be None for an estimator that does without."""
        if self._takes_objects(X):
            X = _as_objects(X)
            # of X only its length is left to check
            _, y = self._validate(np.zeros((len(X), 1)), y)
            return X, y
        return self._validate(X, y, **self._matrix_options())

    def _validate(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        if y is None:
            return validate_data(self, X, y, **options), None
        return validate_data(self, X, y, **options)

    def _check_points(self, X: Any) -> Any:
        """Validate points that are compared with the training points."""
        if self._takes_objects(X):
            return _as_objects(X)
        return validate_data(self, X, reset=False, **self._matrix_options())

    def _matrix_options(self) -> dict[str, Any]:
        sparse = False if self._precomputed else "csr"
        return {"accept_sparse": sparse, "dtype": list(self._dtypes)}

    def _takes_objects(self, X: Any) -> bool:
        """Whether X is a sequence of strings or objects, for kernels that take these."""
        kernels = self._compared_by()
        if kernels is None or not all(
            kernel.structured or isinstance(kernel, CallableKernel) for kernel in kernels
        ):
            return False
        if hasattr(X, "shape"):
            return len(X.shape) == 1 and X.dtype.kind in "OUS"
        if not isinstance(X, (list, tuple)) or not X:
            return False
        # for user-defined functions these are the rows of a matrix
        structured = any(kernel.structured for kernel in kernels)
        return structured or not isinstance(X[0], (list, tuple, np.ndarray, Number))

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


class SimilarityEstimator(PointsEstimator):
    """An estimator with parameters ``similarity`` and ``kind``."""

    _parameter_constraints: dict[str, list[Any]] = {
        "similarity": [str, Kernel, callable],
        "kind": [StrOptions({"similarity", "distance"})],
    }

    similarity: str | Kernel | Callable[[Any, Any], Any]
    kind: str

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    def _compared_by(self) -> list[Kernel] | None:
        return None if self._precomputed else [as_kernel(self.similarity, "similarity")]

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_training(X, y)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "similarity='precomputed' needs a square matrix for training, one row and one "
                f"column per training point, got shape {X.shape}"
            )
        return X, y

    def _all_points(self, X: Any, y: Any) -> Landmarks:
        """Fit the similarity and return every training point as a landmark."""
        everything = np.arange(X.shape[0])
        sign = -1 if self.kind == "distance" else 1
        if self._precomputed:
            return Landmarks(everything, None, None, sign)
        if sign < 0 and isinstance(self.similarity, str):
            raise ValueError(
                "kind='distance' is for a matrix or a user-defined function: "
                f"{self.similarity!r}, like all named similarities, grows as points are more alike"
            )
        kernel = as_kernel(self.similarity, "similarity")
        fitted = clone(kernel).fit(X, y) if kernel.data_dependent else kernel
        return Landmarks(everything, X, fitted, sign)


class NumberTargets(SimilarityEstimator):
    """An estimator with numeric targets."""

    def _validate(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        X, y = super()._validate(X, y, y_numeric=True, **options)
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
        return X, y


def float_type(X: Any) -> type[np.floating]:
    """Return the type that features of points are computed in."""
    return np.float32 if X.dtype == np.float32 else np.float64


def _as_objects(X: Any) -> NDArray[Any]:
    """Keep points of any kind in an array that can be indexed."""
    if isinstance(X, np.ndarray):
        return X
    return np.fromiter(X, dtype=object, count=len(X))


def _finite(similarities: NDArray[Any]) -> NDArray[np.floating]:
    """Refuse NaN and infinity; counts become float64."""
    if similarities.dtype.kind != "f":
        similarities = similarities.astype(np.float64)
    if not np.isfinite(similarities).all():
        raise ValueError("'similarity' must give finite numbers, and gave NaN or infinity")
    return similarities
