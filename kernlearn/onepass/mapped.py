"""Linear models of features that a map makes of rows: the map, scores and predictions."""

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn import memory
from kernlearn.constraints import HasMethods
from kernlearn.datasets.partitions import is_dask
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.grid import transformer
from kernlearn.onepass.predictions import lazily

_POINTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class MappedModel(BaseEstimator):
    """A linear model of the features of rows."""

    _parameter_constraints: dict[str, list[Any]] = {
        "feature_map": [None, HasMethods(["fit", "transform"])],
    }

    feature_map: Any
    feature_map_: Any
    coef_: Floats
    intercept_: Any

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Validate rows."""
        return validate_data(self, X, reset=reset, **_POINTS)

    def _fitted_map(self, X: Any, y: NDArray[Any]) -> Any:
        """Return the map fitted on a sample, or None."""
        if self.feature_map is None:
            return None
        targets = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        return clone(self.feature_map).fit(X.astype(np.float64), targets)

    def _scores(self, X: Any) -> Floats:
        """Return the linear functions of rows, of shape (n_samples, n_targets)."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        transform = transformer(self.feature_map_)
        scores = np.empty((X.shape[0], len(coef)))
        for rows in memory.row_blocks(X.shape[0], coef.shape[1]):
            np.matmul(transform(X[rows]), coef.T, out=scores[rows])
        scores += intercept
        return scores

    def _lazily(self, method: str, X: Any, like: NDArray[Any]) -> Any:
        """Return the predictions for a Dask collection."""
        return lazily(self._to_send(), method, X, like)

    def _to_send(self) -> Self:
        """Return a copy without what predictions do not need."""
        return copy(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearDecision(ClassifierMixin):
    """Predictions of a linear classifier, from its scores."""

    classes_: Any
    intercept_: Any

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array, Dask data frame} of shape \
                (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, above 0 for ``classes_[1]``. For a Dask collection a lazy
            Dask array.
        """
        check_is_fitted(self)
        if is_dask(X):
            n_scores = len(self.intercept_)
            like = np.empty(0) if n_scores == 1 else np.empty((0, n_scores))
            return self._lazily("decision_function", X, like)
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array, Dask data frame} of shape \
                (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            For a Dask collection a lazy Dask array.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("predict", X, self.classes_[:0])
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]
