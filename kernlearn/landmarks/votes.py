"""Neighbours, and the weights of their votes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernlearn.landmarks.similarity import Floats, Indices


def nearest_columns(similarities: Floats, k: int) -> Indices:
    """Return the columns of the k greatest values of each row; of equals the first columns."""
    n_rows, n_columns = similarities.shape
    least = np.partition(similarities, n_columns - k, axis=1)[:, n_columns - k, None]
    taken = similarities > least
    tied = similarities == least
    vacant = k - taken.sum(axis=1, keepdims=True)
    taken |= tied & (tied.cumsum(axis=1) <= vacant)
    columns = np.nonzero(taken)[1].reshape(n_rows, k)
    order = np.argsort(-np.take_along_axis(similarities, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def vote_weights(weigh: Callable[[np.ndarray], Any], values: np.ndarray) -> np.ndarray:
    """Return what a user's function makes of the neighbours' similarities or distances."""
    weights = np.asarray(weigh(values), dtype=np.float64)
    if weights.shape != values.shape:
        raise ValueError(
            f"'weights' must return one weight per neighbour, shape {values.shape}, "
            f"got shape {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any(1).all():
        raise ValueError(
            "'weights' must return finite weights >= 0, and for each point one that is not 0"
        )
    return weights


def inverse_distances(distances: np.ndarray) -> np.ndarray:
    """Return 1 / d; where neighbours of a point are at distance 0, these count alone."""
    same = distances == 0
    with np.errstate(over="ignore"):
        weights = 1 / np.where(same, 1.0, distances)
    # a distance so small that its inverse is infinite is 0
    same |= ~np.isfinite(weights)
    return np.where(same.any(axis=1, keepdims=True), same, weights)
