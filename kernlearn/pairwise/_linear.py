"""A linear function that ranks points of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data


class LinearRanker(ClassifierMixin, BaseEstimator):
    """Labels, scores and predictions of a linear function for two classes."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_features_in_: int

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        check_classification_targets(y)
        return X, y

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y holds the label {y[~known][0].item()!r}, which is not one of the classes "
                f"{self.classes_.tolist()}"
            )
        return (y == self.classes_[1]).astype(np.int64)

    def _set_linear(
        self, w: NDArray[np.float64], sums: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> None:
        """Set the weights, and the threshold midway between the means of both classes."""
        self.coef_ = w.reshape(1, -1)
        if counts.all():
            self.intercept_ = -(self.coef_ @ (sums / counts[:, np.newaxis]).mean(axis=0))
        else:  # no pair yet, and w is 0: for the one class
            self.intercept_ = np.where(counts[1:] > 0, 1.0, -1.0)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores ⟨w, x⟩ + b, by which points are ranked.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The higher, the more likely the class ``classes_[1]``. b has no influence on the
            AUC.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return (safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_).ravel()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class ``classes_[1]`` where the score is above 0, else ``classes_[0]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def two_classes(y: Any) -> NDArray[Any]:
    """Return the classes of some labels, or raise a ValueError unless there are two."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, with {len(classes)} classes."
        )
    if len(classes) < 2:
        raise ValueError(
            f"there must be two classes, but there is one class: {classes.tolist()}; "
            "a stream that may start with one class is for partial_fit"
        )
    return classes
