"""Class labels: encoding, and votes of one-against-one classifiers."""

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.sample_weights import class_weights


def encode_labels(
    y: Any, class_weight: Any, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted labels that occur, at least two, the index of each y there, and weights.

    `class_weight` is a dict, "balanced" or None, as in scikit-learn.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, but it has one class: {classes.item()!r}"
        )
    return classes, codes, class_weights(class_weight, classes, y, sample_weight)


def grade_order(y: Any, categories: Any = None) -> list[Any] | None:
    """Return the given order of grades, else that of an ordered categorical or polars' Enum."""
    if categories is not None:
        return np.asarray(categories).tolist()
    kind = getattr(y, "dtype", None)
    if getattr(kind, "ordered", None) or type(kind).__name__ == "Enum":
        return list(kind.categories)  # type: ignore[union-attr]
    return None


def encode_grades(y: Any, categories: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the grades that occur, at least two, in their order, and the index of each y there.

    The order is that of `categories`, else of an ordered categorical, else of numbers; grades in
    words without one are sorted by the alphabet, with a warning that says so.
    """
    order = grade_order(y, categories)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    classes, codes, _ = encode_labels(y, None)
    found = classes.tolist()
    if order is None:
        if classes.dtype.kind in "OUS" and len(found) > 2:
            warnings.warn(
                f"the grades are words without an order and are sorted by the alphabet: "
                f"{' < '.join(map(str, found))}. Pass an ordered pandas.Categorical, or their "
                "order as 'categories'",
                UserWarning,
                stacklevel=5,
            )
        return classes, codes
    if unknown := [label for label in found if label not in order]:
        raise ValueError(f"'categories' must hold all grades of y; {unknown[0]!r} is missing")
    if len(set(order)) < len(order):
        raise ValueError(f"'categories' must hold each grade once, got {order!r}")
    places = np.array([order.index(label) for label in found])
    ranks = np.argsort(np.argsort(places))
    return classes[np.argsort(places)], ranks[codes]


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
