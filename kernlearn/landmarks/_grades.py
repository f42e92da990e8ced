"""Grades from a real value that is linear in the similarities to landmarks, and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d

from kernlearn.landmarks._landmarked import LandmarkedModel
from kernlearn.solvers._labels import encode_labels


class GradeClassifier(ClassifierMixin, LandmarkedModel):
    """A classifier into grades, which are ordered.

    A subclass sets ``classes_`` by `_encode`, and the fitted attributes ``coef_`` and
    ``thresholds_``.
    """

    classes_: NDArray[Any]
    coef_: NDArray[np.floating]
    thresholds_: NDArray[np.floating]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the grade of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The greatest grade of which the lower threshold is not above the real value.
        """
        values = self.real_value(X)
        return self.classes_[codes_of(values, self.thresholds_)]

    def real_value(self, X: Any) -> NDArray[np.floating]:
        r"""Return the real value of each point, which thresholds cut into grades.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`f(x) = \langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._embed(X) @ self.coef_

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return by what margin the real value of each point is within each grade.

        This has the form that scikit-learn asks of classifiers; see also `real_value`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The distance to the nearer threshold of each grade, negative outside: the grade
            predicted has the greatest. With two grades that of the upper one alone.
        """
        values = self.real_value(X)
        if len(self.thresholds_) == 1:
            return values - self.thresholds_[0]
        edges = np.concatenate([[-np.inf], self.thresholds_, [np.inf]]).astype(values.dtype)
        above = values[:, np.newaxis] - edges
        return np.minimum(above[:, :-1], -above[:, 1:])

    def _encode(self, y: Any) -> NDArray[np.intp]:
        """Validate grades, set ``classes_`` and return their places in these."""
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        self.classes_, codes, _ = encode_labels(y, None)
        return codes

    def _grades(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return numbers to measure errors in."""
        if self.classes_.dtype.kind in "biuf":
            return labels.astype(np.float64)
        unknown = np.setdiff1d(labels, self.classes_).tolist()
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no grade of y, and grades are not numbers")
        return np.searchsorted(self.classes_, labels).astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # For a matrix scikit-learn's checks take inner products of blobs in no order, which no
        # line cuts into grades.
        tags.classifier_tags.poor_score = self._precomputed
        return tags


def codes_of(values: NDArray[np.floating], thresholds: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the place of the grade that each real value is in, from 0.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    thresholds : ndarray of shape (n_classes - 1,)
        Ascending; each is the least value of a grade.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    return np.searchsorted(thresholds, values, side="right")
