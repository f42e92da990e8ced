"""What maps of points to their similarities to landmarks share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin, _fit_context
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.kernels import Kernel
from kernlearn.kernels._typing import MatrixLike
from kernlearn.landmarks._selection import SELECTIONS, Column
from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator

# Similarities and features held beside the output: 2 MB of float64.
BLOCK_ELEMENTS = 2**18
# A kernel prepares the landmarks anew for every block.
_LEAST_BLOCK_ROWS = 128

SimilarityLike: TypeAlias = str | Kernel | Callable[[Any, Any], ArrayLike]


class BaseEmbedding(TransformerMixin, SimilarityEstimator):
    """What both embeddings share; they differ in how features are made of similarities."""

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions(set(SELECTIONS))],
        "normalize": ["boolean"],
        "random_state": ["random_state"],
    }

    n_landmarks: int
    selection: str
    normalize: bool
    random_state: int | np.random.RandomState | None

    @abstractmethod
    def _select(self, y: Any, n_samples: int, column: Column) -> NDArray[np.intp]:
        """Choose the landmarks, set ``_n_features_out`` and return their numbers."""

    @abstractmethod
    def _write(self, similarities: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        """Make features of similarities, before they are scaled."""

    @abstractmethod
    def _finish(self, features: NDArray[np.floating]) -> None:
        """Scale features in place, and what comes after."""

    @abstractmethod
    def _feature_names(self) -> list[str]:
        """Name the features."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; of shape (n_samples, n_samples) if `similarity` is "precomputed";
            a sequence of anything for a callable that takes it.
        y : array-like of shape (n_samples,), default=None
            Classes.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not valid, classes are needed and missing, or similarities are
            not finite or not a square matrix.
        """
        X = self._fit(X, y)
        if self.normalize:
            blocks = self._blocks(X)
            self._set_scale(max(float(np.abs(block).max()) for _, block in blocks))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: MatrixLike, y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Choose the landmarks and embed the training points, each similarity worked out once.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        X = self._fit(X, y)
        features, largest = self._features(X)
        if self.normalize:
            self._set_scale(largest)
        self._finish(features)
        return features

    def transform(self, X: MatrixLike) -> NDArray[np.floating]:
        """Embed points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or similarities of shape (n_samples, n_training_points) if `similarity` is
            "precomputed".

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if X is, else float64.
        """
        check_is_fitted(self)
        features, _ = self._features(self._check_points(X))
        self._finish(features)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self)
        return np.array(self._feature_names(), dtype=object)

    def _fit(self, X: Any, y: Any) -> Any:
        X, y = self._check_training(X, y)
        points = self._all_points(X, y)
        self._landmarks: Landmarks = points.take(
            self._select(y, X.shape[0], partial(points.compare_one, X))
        )
        self.scale_ = 1.0
        return X

    def _set_scale(self, largest: float) -> None:
        self.scale_ = largest or 1.0

    def _blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield the similarities of some points at a time to the landmarks."""
        widest = max(len(self._landmarks), self._n_features_out)
        for rows in gen_batches(X.shape[0], max(BLOCK_ELEMENTS // widest, _LEAST_BLOCK_ROWS)):
            yield rows, self._landmarks.compare(X[rows])

    def _features(self, X: Any) -> tuple[NDArray[np.floating], float]:
        """Return unscaled features and the largest absolute similarity."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((X.shape[0], self._n_features_out), dtype=dtype)
        largest = 0.0
        for rows, similarities in self._blocks(X):
            largest = max(largest, float(np.abs(similarities).max()))
            self._write(similarities, features[rows])
        return features, largest

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
