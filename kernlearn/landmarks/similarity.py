"""A similarity, however it is given, evaluated between points and landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_array, validate_data

from kernlearn.kernels import CallableKernel, Kernel, as_kernel

Kind = Literal["similarity", "distance"]

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27


@dataclass(frozen=True)
class Landmarks:
    """Training points that others are compared with, and how.

    Everything is compared as a similarity: a distance changes its sign.

    Attributes
    ----------
    indices : ndarray of shape (n_landmarks,)
        Their rows in the training data.
    points : ndarray or sparse matrix of shape (n_landmarks, n_features), or None
        The points themselves; None where the matrix of similarities is given.
    kernel : Kernel or None
        The fitted similarity; None where the matrix of similarities is given.
    sign : {1, -1}
        -1 for a distance.
    scale : float
        What similarities are multiplied with.
    """

    indices: NDArray[np.intp]
    points: Any
    kernel: Kernel | None
    sign: int = 1
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.indices)

    def compare(self, X: Any) -> NDArray[np.floating]:
        """Return the similarities of points to the landmarks.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Or of shape (n_samples, n_training_points) where the matrix is given.

        Returns
        -------
        ndarray of shape (n_samples, n_landmarks)

        Raises
        ------
        ValueError
            If a similarity is not a finite number.
        """
        found = X[:, self.indices] if self.kernel is None else _finite(self.kernel(X, self.points))
        factor = self.sign * self.scale
        return found if factor == 1 else found * found.dtype.type(factor)

    def compare_one(self, X: Any, place: int) -> NDArray[np.floating]:
        """Return the similarities of points to one of the landmarks, by its place among these.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            As for `compare`.
        place : int

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.take(np.array([place])).compare(X)[:, 0]

    def take(self, which: NDArray[np.intp]) -> Landmarks:
        """Return some of the landmarks, by their place among these."""
        points = None if self.points is None else self.points[which]
        return replace(self, indices=self.indices[which], points=points)

    def rescaled(self, scale: float) -> Landmarks:
        """Return the same landmarks with similarities multiplied by ``scale``."""
        return replace(self, scale=scale)


class SimilarityEstimator(BaseEstimator):
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

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validate training data; y may be None for an estimator that does without."""
        if self._takes_anything(X):
            X = _as_objects(X)
            # of X only its length is left to check
            _, y = self._validate(np.zeros((len(X), 1)), y)
            return X, y
        X, y = self._validate(
            X,
            y,
            accept_sparse=False if self._precomputed else "csr",
            dtype=[np.float64, np.float32],
        )
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "similarity='precomputed' needs a square matrix for training, one row and one "
                f"column a training point, got shape {X.shape}"
            )
        return X, y

    def _validate(self, X: Any, y: Any, **how: Any) -> tuple[Any, Any]:
        if y is None:
            return validate_data(self, X, y, **how), None
        return validate_data(self, X, y, **how)

    def _check_points(self, X: Any) -> Any:
        """Validate points that are compared with the training ones."""
        if self._takes_anything(X):
            return _as_objects(X)
        return validate_data(
            self,
            X,
            accept_sparse=False if self._precomputed else "csr",
            dtype=[np.float64, np.float32],
            reset=False,
        )

    def _check_held_out(
        self, X_val: Any, y_val: Any, dtype: Any = None
    ) -> tuple[Any, NDArray[Any]]:
        """Validate the points that parameters are chosen on, and what is known of each."""
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be given together, or neither")
        try:
            X_val = self._check_points(X_val)
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error
        y_val = check_array(y_val, ensure_2d=False, dtype=dtype, input_name="y_val")
        if y_val.shape != (X_val.shape[0],):
            raise ValueError(
                f"y_val must hold one value for each of the {X_val.shape[0]} points of X_val, "
                f"got shape {y_val.shape}"
            )
        return X_val, y_val

    def _takes_anything(self, X: Any) -> bool:
        """Whether X is a sequence of strings or objects for a similarity that takes these."""
        if self._precomputed:
            return False
        kernel = as_kernel(self.similarity, "similarity")
        if not (kernel.structured or isinstance(kernel, CallableKernel)):
            return False
        if hasattr(X, "shape"):
            return len(X.shape) == 1 and X.dtype.kind in "OUS"
        if not isinstance(X, (list, tuple)) or not X:
            return False
        # for a function of the user's own these are the rows of a matrix
        return kernel.structured or not isinstance(X[0], (list, tuple, np.ndarray, Number))

    def _all_points(self, X: Any, y: Any) -> Landmarks:
        """Fit the similarity and return every training point as a landmark."""
        everything = np.arange(X.shape[0])
        sign = -1 if self.kind == "distance" else 1
        if self._precomputed:
            return Landmarks(everything, None, None, sign)
        if sign < 0 and isinstance(self.similarity, str):
            raise ValueError(
                f"kind='distance' is for a matrix or a function of your own: {self.similarity!r} "
                "grows as points are more alike, as all that have a name do"
            )
        kernel = as_kernel(self.similarity, "similarity")
        fitted = clone(kernel).fit(X, y) if kernel.data_dependent else kernel
        return Landmarks(everything, X, fitted, sign)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


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
