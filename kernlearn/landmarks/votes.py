"""Neighbours, and the weights of their votes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from kernlearn.landmarks.similarity import Floats, Indices, Landmarks
from kernlearn.model_selection import candidate_values


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


@dataclass(frozen=True)
class Neighbours:
    """The nearest training points of an embedded point, and what each of them votes for.

    Attributes
    ----------
    search : NearestNeighbors
        Fitted to the embedded training points.
    votes : ndarray of shape (n_trained, n_outputs)
    factors : ndarray of shape (n_trained,) or None
        Weights of the training points.
    weights : {"uniform", "distance"} or callable
    dtype : dtype
        That of the embedding.
    n_refined : int
        Number of the nearest that are compared by the similarity itself.
    trained : Landmarks or None
        The training points, for these comparisons.
    """

    search: NearestNeighbors
    votes: np.ndarray
    factors: np.ndarray | None
    weights: str | Callable[[np.ndarray], Any]
    dtype: Any
    n_refined: int = 0
    trained: Landmarks | None = None

    def average(self, features: Floats, ks: list[int], points: Any = None) -> list[np.ndarray]:
        """Return the weighted mean of the votes of each point's k nearest, for each k.

        `points` are those whose embedding `features` is, for comparisons with `trained`.
        """
        features = features.astype(self.dtype, copy=False)
        distances, found = self.search.kneighbors(features, self.n_refined or max(ks))
        if self.n_refined:
            distances, found = self._refined(points, found)
        averages = []
        for k in ks:
            nearest = found[:, :k]
            weights = self._weigh(distances[:, :k].astype(np.float64))
            if self.factors is not None:
                weights = weights * self.factors[nearest]
            totals = np.einsum("nk,nko->no", weights, self.votes[nearest])
            averages.append(totals / weights.sum(axis=1, keepdims=True))
        return averages

    @property
    def most(self) -> int:
        """The greatest number of neighbours."""
        return self.n_refined or len(self.votes)

    def _refined(self, points: Any, found: Indices) -> tuple[Floats, Indices]:
        """Sort the training points that were found by the similarity, the most similar first."""
        assert self.trained is not None
        distances = np.empty(found.shape)
        for i, which in enumerate(found):
            distances[i] = -self.trained.take(which).compare(points[i : i + 1])[0]
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(distances, order, 1), np.take_along_axis(found, order, 1)

    def _weigh(self, distances: np.ndarray) -> np.ndarray:
        if callable(self.weights):
            return vote_weights(self.weights, distances)
        if self.weights == "uniform":
            return np.ones_like(distances)
        if self.n_refined and (distances < 0).any():
            raise ValueError(
                "weights='distance' with n_refined needs distances, and the similarity has "
                "values above 0: give weights as a function of minus the similarities"
            )
        return inverse_distances(distances)


def embedded_neighbours(
    model: Any, features: Floats, votes: np.ndarray, factors: np.ndarray | None, trained: Landmarks
) -> Neighbours:
    """Return the neighbours among embedded training points, by an estimator's parameters."""
    search = NearestNeighbors(metric=model.metric, algorithm="brute").fit(features)
    n_refined = min(model.n_refined, len(features))
    return Neighbours(
        search,
        votes,
        factors,
        model.weights,
        features.dtype,
        n_refined,
        trained if n_refined else None,
    )


def neighbor_numbers(given: Any) -> list[int]:
    """Return the values of `n_neighbors`, of equally good ones the best, the greatest, first."""
    values: list[int] = candidate_values(given, "n_neighbors", integer=True)[::-1].tolist()
    return values


def possible_numbers(numbers: list[int], most: int) -> list[int]:
    """Return the numbers of neighbours, of several none more than there may be."""
    if len(numbers) == 1 and numbers[0] > most:
        raise ValueError(
            "'n_neighbors' must be at most the number of points trained on, or compared with by "
            f"n_refined, {most}, got {numbers[0]}"
        )
    return [min(k, most) for k in numbers]
