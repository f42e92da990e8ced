"""Rows as sources, and checks of their labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.datasets.sources import RowSource, is_source, row_source


def as_source(X: Any, y: Any = None, groups: Any = None) -> RowSource:
    """Return rows in memory or elsewhere as a source; arrays as one chunk."""
    if is_source(X):
        if groups is not None:
            raise ValueError("groups is for arrays; a source has chunks (X, y, groups)")
        return row_source(X, y)
    chunk = (X, y) if groups is None else (X, y, groups)
    return RowSource(lambda: [chunk])


def check_labels(y: Any) -> NDArray[Any]:
    """Return the labels of rows as an array, without missing ones."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity.")
    check_classification_targets(labels)
    return labels


def check_lengths(X: Any, **others: Any) -> None:
    """Refuse what has another number of rows than X."""
    for name, values in others.items():
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{X.shape[0]} rows, {name} has {len(values)}"
            )
