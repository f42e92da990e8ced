"""Pairs of classes: LIBSVM's coefficients as one column a pair, and votes over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def pair_coefficients(
    dual_coef: NDArray[np.float64], n_by_class: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Unfold the coefficients of all pairs (0, 1), (0, 2), ..., (1, 2), ...

    Parameters
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n_SV)
        As LIBSVM stores them: those of a vector of class i against class j are in row
        j - 1 if i < j and in row j otherwise.
    n_by_class : ndarray of shape (n_classes,)
        Number of support vectors of each class, in their order.

    Returns
    -------
    ndarray of shape (n_SV, n_pairs)
        Zero for the vectors of other classes.
    """
    ends = np.cumsum(n_by_class)
    members = [slice(end - n, end) for end, n in zip(ends, n_by_class, strict=True)]
    pairs = list(combinations(range(len(members)), 2))
    coefficients = np.zeros((dual_coef.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        coefficients[members[i], column] = dual_coef[j - 1, members[i]]
        coefficients[members[j], column] = dual_coef[i, members[j]]
    return coefficients


def count_votes(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Pairs that each class wins; a pair's first class wins if its value is positive.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    first, second = _members(n_classes)
    return (values > 0) @ first + (values <= 0) @ second


def class_scores(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Votes, with ties broken by the sum of a class's decision values.

    The sums are brought into (-1/3, 1/3), so that they never outweigh a vote.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    first, second = _members(n_classes)
    sums = values @ (first - second)
    return count_votes(values, n_classes) + sums / (3 * (np.abs(sums) + 1))


def _members(n_classes: int) -> NDArray[np.float64]:
    """First and second class of each pair, as rows of the identity matrix."""
    pairs = np.array(list(combinations(range(n_classes), 2)))
    return np.eye(n_classes)[pairs.T]
