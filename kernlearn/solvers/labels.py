"""Labels as class codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets


def encode_labels(
    y: Any, class_weight: Any
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.float64]]:
    """Find the classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    class_weight : dict, "balanced" or None
        As in scikit-learn.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    codes : ndarray of shape (n_samples,)
        Index of each label in `classes`.
    weight : ndarray of shape (n_classes,)
        Weight of each class.

    Raises
    ------
    ValueError
        If y has a single class.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, but it has one class: {classes.item()!r}"
        )
    return classes, codes, compute_class_weight(class_weight, classes=classes, y=y)
