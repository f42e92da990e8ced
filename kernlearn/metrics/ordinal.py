"""Errors of predicted grades.

All raise a ValueError if grades are not finite numbers, lengths differ, or weights are negative
or all 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import mean_absolute_error
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight


def average_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of the absolute differences between true and predicted grades (AAE).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Grades: numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points, at least 0; None is equal weights.

    Returns
    -------
    float
        0 for perfect predictions.

    References
    ----------
    Kar (2013), section 5.4. Chu & Keerthi (2007), *Support vector ordinal regression*.

    Examples
    --------
    >>> from kernlearn.metrics import average_absolute_error
    >>> average_absolute_error([1, 2, 3, 3], [1, 3, 3, 1])
    0.75
    """
    true, predicted, weight = _checked(y_true, y_pred, sample_weight)
    return float(mean_absolute_error(true, predicted, sample_weight=weight))


def macro_average_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean over the grades of the average absolute error of the points of each true grade.

    Every grade counts the same, however rare.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Grades: numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points within their grade, at least 0; None is equal weights. A grade
        whose points all have weight 0 does not count.

    Returns
    -------
    float
        0 for perfect predictions.

    References
    ----------
    Baccianella, Esuli & Sebastiani (2009), *Evaluation measures for ordinal regression*.

    Examples
    --------
    >>> from kernlearn.metrics import macro_average_absolute_error
    >>> macro_average_absolute_error([1, 1, 1, 2], [1, 1, 1, 1])
    0.5
    """
    true, predicted, weight = _checked(y_true, y_pred, sample_weight)
    grades, codes = np.unique(true, return_inverse=True)
    total = np.bincount(codes, weight, len(grades))
    errors = np.bincount(codes, weight * np.abs(true - predicted), len(grades))
    counted = total > 0
    return float(np.mean(errors[counted] / total[counted]))


def zero_one_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of points with a wrong grade.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Grades: numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points, at least 0; None is equal weights.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Kar (2013), theorem 5.16. Chu & Keerthi (2007), *Support vector ordinal regression*.

    Examples
    --------
    >>> from kernlearn.metrics import zero_one_error
    >>> zero_one_error([1, 2, 3, 3], [1, 3, 3, 1])
    0.5
    """
    true, predicted, weight = _checked(y_true, y_pred, sample_weight)
    return float(np.average(true != predicted, weights=weight))


def _checked(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return validated grades and weights as float64, which does not overflow."""
    true, predicted = (
        column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name=name))
        for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))
    )
    check_consistent_length(true, predicted)
    weight = _check_sample_weight(sample_weight, true, dtype=np.float64, ensure_non_negative=True)
    return true, predicted, weight
