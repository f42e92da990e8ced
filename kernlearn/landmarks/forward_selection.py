"""Landmarks of several similarities, added while validation points gain, within a budget."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks.growth import PATIENCE, Gain, TriedSize, growing_sizes
from kernlearn.landmarks.selection import extend_landmarks
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, Landmarks


class View:
    """The points as one similarity sees them, and the landmarks that it may have."""

    def __init__(
        self,
        landmarks: Landmarks,
        similarities: KeptSimilarities,
        held_out: KeptSimilarities,
        selection: str,
        seed: int,
    ) -> None:
        self.landmarks, self._selection = landmarks, selection
        self._similarities, self._held_out = similarities, held_out
        self._rng = np.random.RandomState(seed)
        self.chosen: Indices = np.zeros(0, dtype=np.intp)

    def take(self, n_landmarks: int, codes: Indices) -> Indices:
        """Return as many landmarks, the same as before and more if these do not suffice."""
        if n_landmarks > len(self.chosen):
            self.chosen = extend_landmarks(
                self.chosen, n_landmarks, codes, self._selection, self._rng, self._similarities
            )
        return self.chosen[:n_landmarks]

    def features(self, n_landmarks: int, normalize: bool) -> tuple[Floats, Floats, float]:
        """Return the features of training and validation points, and their divisor."""
        chosen = self.chosen[:n_landmarks]
        values = self._similarities.columns(chosen)
        largest = float(np.abs(values).max())
        scale = largest if normalize and largest > 0 else 1.0
        return values / scale, self._held_out.columns(chosen) / scale, scale


@dataclass(frozen=True)
class Fitted:
    """Separators on some landmarks of each similarity; `losses` of the validation points."""

    sizes: tuple[int, ...]
    coef: Floats
    intercept: Floats
    C: float
    losses: Floats
    finer: Floats
    mean_loss: float
    scores: Floats

    @property
    def order(self) -> tuple[float, float]:
        """Less is better."""
        return -float(self.scores.max()), self.mean_loss


def add_while_it_pays(
    views: list[View],
    fit: Callable[[tuple[int, ...]], Fitted],
    codes: Indices,
    max_comparisons: int,
    weights: NDArray[np.float64] | None,
    n_compared: int,
) -> tuple[Fitted, tuple[TriedSize, ...]]:
    """Add landmarks of the best similarity as long as that pays.

    Of all similarities the one is taken by whose next landmarks, 5 or as many as it has, the
    separators are best. A set is kept if it pays, as by :func:`~kernlearn.landmarks.growth.grow`;
    the search ends after two that are not kept.

    Parameters
    ----------
    views : list of View
    fit : callable
        Takes numbers of landmarks of each similarity.
    codes : ndarray of shape (n_trained,)
        Classes of the training points.
    max_comparisons : int
        Most landmarks of all similarities.
    weights : ndarray of shape (n_val,) or None
        Weights of the validation points.
    n_compared : int
        Number of training and validation points.

    Returns
    -------
    Fitted
    tuple of TriedSize
    """
    ladder = [0, *growing_sizes(len(codes), max_comparisons, int(codes.max()) + 1)]
    current, kept = (0,) * len(views), None
    tried, failures = list[TriedSize](), 0
    while failures < PATIENCE:
        room, larger = max_comparisons - sum(current), []
        for m, size in enumerate(current):
            more = min(next((n for n in ladder if n > size), size), size + room)
            if more > size:
                larger.append((fit((*current[:m], more, *current[m + 1 :])), m))
        if not larger:
            break
        best, added = min(larger, key=lambda one: (*one[0].order, one[1]))
        gain = Gain() if kept is None else Gain.of(kept, best, weights)
        n_comparisons = n_compared * sum(len(view.chosen) for view in views)
        tried.append(TriedSize.of(best.sizes, best.scores, gain, n_comparisons, added))
        current = best.sizes
        kept, failures = (best, 0) if gain.pays else (kept, failures + 1)
    assert kept is not None
    return kept, tuple(tried)
