"""A model of river for two classes, which reads each training point once."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from kernlearn.plugins import register_estimator


@register_estimator(library="river", summary="a model of river, in one pass")
class RiverClassifier(ClassifierMixin, BaseEstimator):
    """A model of river, such as ``"linear_model.LogisticRegression"``.

    In `settings`, a mapping with the key ``class`` is another object of river, such as
    ``{"class": "optim.SGD", "lr": 0.1}``. A zero of a sparse point is a feature that the point
    does not have.
    """

    def __init__(self, model: str = "linear_model.LogisticRegression", settings: Any = None):
        self.model, self.settings = model, settings

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the points in their order."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = _made({"class": self.model, **(self.settings or {})})
        for point, code in zip(_points(X), codes, strict=True):
            self.model_.learn_one(point, bool(code))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the probability of ``classes_[1]`` less a half, shape (n_samples,)."""
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        probabilities = (self.model_.predict_proba_one(point) for point in _points(X))
        return np.array([each.get(True, 0.5) - 0.5 for each in probabilities])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each point, shape (n_samples,)."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.classifier_tags.multi_class = True, False
        return tags


def _points(X: Any) -> Iterator[dict[int, float]]:
    if not sparse.issparse(X):
        return (dict(enumerate(row)) for row in X.tolist())
    parts = ((row.indices.tolist(), row.data.tolist()) for row in X)
    return (dict(zip(*part, strict=True)) for part in parts)


def _made(value: Any) -> Any:
    """Make the object of river that a mapping describes, and those in its parameters."""
    if not (isinstance(value, Mapping) and "class" in value):
        return value
    module, _, name = f"river.{value['class']}".rpartition(".")
    settings = {key: _made(value) for key, value in value.items() if key != "class"}
    return getattr(import_module(module), name)(**settings)
