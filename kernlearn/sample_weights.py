"""Weights of rows and classes in sums of losses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

Weights = NDArray[np.float64]


def check_weights(sample_weight: Any, X: Any) -> Weights | None:
    """Return the weights of the rows of X, not negative and not all 0; None stays None."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight must be non-zero for at least one row, and is 0 for all")
    return np.asarray(weights, dtype=np.float64)


def weighted_rows(weights: Weights | None, n_rows: int) -> NDArray[np.intp]:
    """Return the rows that count: all without weights, else those with a weight above 0."""
    return np.arange(n_rows) if weights is None else np.flatnonzero(weights)


def without_zeros(X: Any, y: Any, weights: Weights | None) -> tuple[Any, Any, Weights | None]:
    """Leave out the rows of weight 0."""
    if weights is None or weights.all():
        return X, y, weights
    rows = np.flatnonzero(weights)
    return X[rows], y[rows], weights[rows]


def taken(weights: Weights | None, rows: Any) -> Weights | None:
    """Return the weights of some rows."""
    return None if weights is None else weights[rows]


def places(classes: NDArray[Any], labels: Any) -> NDArray[np.intp]:
    """Return the place of each label among the classes, which need not be sorted.

    That of a label which is not there is the place of some other one.
    """
    sorter = np.argsort(classes)
    found = np.searchsorted(classes, labels, sorter=sorter)
    return sorter[found.clip(max=len(classes) - 1)]


def class_weights(
    class_weight: Any, classes: NDArray[Any], y: Any, weights: Weights | None = None
) -> Weights:
    """Return the weight of each class; "balanced" makes the sums of the weights equal.

    `class_weight` is a dict, "balanced" or None, as in scikit-learn; `weights` are those of rows.
    """
    if weights is None or class_weight != "balanced":
        return compute_class_weight(class_weight, classes=classes, y=y)
    sums = np.bincount(places(classes, y), weights, len(classes))
    return weights.sum() / (len(classes) * sums)


def encode_labels(
    y: Any, class_weight: Any, weights: Weights | None = None
) -> tuple[NDArray[Any], NDArray[np.intp], Weights]:
    """Return the sorted labels that occur, at least two, the index of each y there, and weights.

    The weights are those of the classes, see :func:`class_weights`.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, but it has one class: {classes.item()!r}"
        )
    return classes, codes, class_weights(class_weight, classes, y, weights)


def combined_weights(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], weights: Weights | None
) -> Weights | None:
    """Return the weights of rows times those of their classes; None where all are 1."""
    if class_weight is None:
        return weights
    factors = class_weights(class_weight, classes, classes[codes], weights)[codes]
    return factors if weights is None else weights * factors


def validation_weights(
    class_weight: Any,
    classes: NDArray[Any],
    y: NDArray[Any],
    weights: Weights | None,
    y_val: NDArray[Any],
    weights_val: Weights | None,
) -> Weights | None:
    """Return the weights by which validation points count in a choice; None where all are 1.

    They are those of the points times those of their classes, as in training; `y` and `weights`
    are the labels and the weights of the training points.
    """
    if class_weight is None:
        return weights_val
    factors = class_weights(class_weight, classes, y, weights)
    codes = places(classes, y_val)
    of_points = np.where(classes[codes] == y_val, factors[codes], 1.0)
    return of_points if weights_val is None else of_points * weights_val
