"""Class labels: encoding, and votes of one-against-one classifiers."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets


def encode_labels(y: Any, class_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted labels that occur, at least two, the index of each y there, and weights.

    `class_weight` is a dict, "balanced" or None, as in scikit-learn.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, but it has one class: {classes.item()!r}"
        )
    return classes, codes, compute_class_weight(class_weight, classes=classes, y=y)


def count_votes(values: np.ndarray, n_classes: int) -> np.ndarray:
    """Count the pairs that each class wins, the first class of a pair for a positive value.

    `values`, of shape (n_samples, n_pairs), are decision values of the pairs (0, 1), (0, 2), ...,
    (1, 2), ...; the counts have shape (n_samples, n_classes).
    """
    first, second = _pair_members(n_classes)
    return (values > 0) @ first + (values <= 0) @ second


def class_scores(values: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the votes, with ties broken by the sum of a class's decision values.

    The sums are mapped into (-1/3, 1/3), so that they never outweigh a vote.
    """
    first, second = _pair_members(n_classes)
    sums = values @ (first - second)
    return count_votes(values, n_classes) + sums / (3 * (np.abs(sums) + 1))


def _pair_members(n_classes: int) -> np.ndarray:
    """Return the first and the second class of each pair, as rows of the identity matrix."""
    pairs = np.array(list(combinations(range(n_classes), 2)))
    return np.eye(n_classes)[pairs.T]
