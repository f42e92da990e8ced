"""Models of river, which learn from one point at a time, as estimators of scikit-learn."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class RiverClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of river that passes once over the training points, in their order.

    Parameters
    ----------
    model : str, default="linear_model.LogisticRegression"
        The name of a class in river, after ``river.``.
    settings : mapping, default=None
        Its parameters. A mapping with the key ``class`` is another object of river, such as
        ``{"class": "optim.SGD", "lr": 0.1}``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    model_ : river.base.Classifier
        The model after the last point.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A zero of a sparse point is a feature that the point does not have: a model with an ``l2``
    shrinks the weights of those that it has.

    References
    ----------
    J. Montiel et al. River: machine learning for streaming data in Python. Journal of Machine
    Learning Research 22, 2021.
    """

    def __init__(
        self,
        model: str = "linear_model.LogisticRegression",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.settings = settings

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from each training point once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If river has no such model, or it does not take the settings.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = _made({"class": self.model, **(self.settings or {})})
        labels = [False, True] if len(self.classes_) == 2 else range(len(self.classes_))
        for point, code in zip(_points(X), codes, strict=True):
            self.model_.learn_one(point, labels[code])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        n_classes = len(self.classes_)
        found = np.zeros((X.shape[0], n_classes))
        for i, point in enumerate(_points(X)):
            for code, value in self.model_.predict_proba_one(point).items():
                found[i, int(code)] = value
        # a model may say nothing of a point, such as one in an empty leaf
        silent = found.sum(axis=1) == 0
        found[silent] = 1 / n_classes
        return found

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the probabilities, of two classes those of ``classes_[1]`` less a half.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        found = self.predict_proba(X)
        return found[:, 1] - 0.5 if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each point, shape (n_samples,)."""
        labels: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _points(X: Any) -> Any:
    """Yield points as mappings, of sparse ones without the zeros."""
    if sparse.issparse(X):
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield dict(zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True))
    else:
        for row in X.tolist():
            yield dict(enumerate(row))


def _made(given: Any) -> Any:
    """Make the object of river that a mapping describes, and those in its parameters."""
    if not (isinstance(given, Mapping) and "class" in given):
        return given
    path = given["class"]
    module, _, name = f"river.{path}".rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"'model' or 'settings': river has no {path!r}: {error}") from None
    settings = {key: _made(value) for key, value in given.items() if key != "class"}
    try:
        return found(**settings)
    except TypeError as error:
        raise ValueError(f"'settings' of {path}: {error}") from None
