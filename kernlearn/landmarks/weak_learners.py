"""Votes of pairs of landmarks: the two-class problems, and the learners of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kernlearn.landmarks.similarity import Floats, Indices


class Problem(NamedTuple):
    """A class against another, or None, the rest, on some rows with labels 1 and -1; its pool."""

    positive: int
    negative: int | None
    rows: Indices
    labels: np.ndarray
    pairs: Indices


@dataclass(frozen=True)
class WeakLearner:
    """A pair of landmarks that votes on each point.

    Attributes
    ----------
    label, against : object
        The class of x⁺, and that of x⁻; None for the rest.
    positive, negative : int
        Rows of x⁺ and x⁻ in the training data.
    threshold : float
        The value that K(x, x⁺) - K(x, x⁻) must exceed for a vote for `label`.
    weight : float
        Weight of the vote, α.
    """

    label: Any
    against: Any
    positive: int
    negative: int
    threshold: float
    weight: float


def problems_of(
    codes: Indices,
    n_classes: int,
    multi_class: str,
    draw: Callable[[Indices, Indices | None], Indices],
) -> list[Problem]:
    """Return the two-class problems with their pools of pairs.

    There is one problem, class 1 against class 0, for two classes. For more there is one per
    class with "ovr"; with "ovo" one for each two classes, the first of them positive.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
    n_classes : int
    multi_class : {"ovr", "ovo"}
    draw : callable
        Takes classes and the rows that these are of, all if None, and returns the pairs of each
        problem, by places among these rows.
    """

    def one_vs_one(first: int, second: int) -> Problem:
        rows = np.flatnonzero((codes == first) | (codes == second))
        is_first = codes[rows] == first
        (places,) = draw(is_first.astype(np.intp), rows)
        return Problem(first, second, rows, _signs(is_first), rows[places])

    if n_classes > 2 and multi_class == "ovo":
        return [one_vs_one(*classes) for classes in combinations(range(n_classes), 2)]
    pools = draw(codes, None)
    positives, negative = ([1], 0) if n_classes == 2 else (range(n_classes), None)
    everything = np.arange(len(codes))
    return [
        Problem(c, negative, everything, _signs(codes == c), pairs)
        for c, pairs in zip(positives, pools, strict=True)
    ]


@dataclass(frozen=True)
class Ensemble:
    """The weak learners of all problems.

    Attributes
    ----------
    solved : list of Boosted
        Those of each problem.
    used : ndarray of shape (n_used,)
        The training points in their pairs, ascending.
    places : ndarray of shape (n_learners, 2)
        The points of each pair, by place among those used.
    """

    solved: list[Any]
    used: Indices
    places: Indices

    @classmethod
    def of(cls, solved: list[Any]) -> "Ensemble":
        """Collect the learners of solved problems."""
        chosen = np.concatenate([each.pairs for each in solved])
        used, places = np.unique(chosen, return_inverse=True)
        return cls(solved, used, places.reshape(-1, 2))

    @property
    def dtype(self) -> Any:
        """The type of thresholds and of combinations."""
        return self.solved[0].thresholds.dtype

    def votes(self, similarities: Floats) -> list[np.ndarray]:
        """Return the votes of each problem's learners, a row for each point.

        `similarities` are those of points to the points used.
        """
        from kernlearn.landmarks import boosting  # loads numba

        lower, upper = (
            np.concatenate([getattr(each, name) for each in self.solved])
            for name in ("lower", "upper")
        )
        votes = np.empty((len(similarities), len(self.places)), dtype=np.int8)
        boosting.weak_votes(similarities, self.places, lower, upper, votes)
        ends = np.cumsum([len(each.pairs) for each in self.solved])
        return np.split(votes, ends[:-1], axis=1)

    def combined(self, similarities: Floats) -> Floats:
        """Return the convex combination of the votes of each problem, 0 where there are none."""
        values = np.zeros((len(similarities), len(self.solved)), dtype=self.dtype)
        for column, votes, each in zip(
            values.T, self.votes(similarities), self.solved, strict=True
        ):
            if len(each.weights):
                column[:] = votes @ (each.weights / each.weights.sum())
        return values


def wrong_shares(values: Floats, problems: list[Problem], codes: Indices) -> Floats:
    """Return the share of the votes that are wrong for each point, in problems of its class."""
    signs = np.zeros(values.shape)
    for column, (positive, negative, *_) in zip(signs.T, problems, strict=True):
        column[codes == positive] = 1
        column[codes == negative if negative is not None else codes != positive] = -1
    n_concerned = np.maximum(np.abs(signs).sum(axis=1), 1)
    shares: Floats = 0.5 - 0.5 * (signs * values).sum(axis=1) / n_concerned
    return shares


def _signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1, -1).astype(np.int8)
