"""The weak learners of DBOOST that boosting has chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks._boost_problems import Solved, row_blocks
from kernlearn.landmarks._similarities import Landmarks


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
        What K(x, x⁺) - K(x, x⁻) must exceed for a vote for `label`.
    weight : float
        Weight of the vote, α.
    """

    label: Any
    against: Any
    positive: int
    negative: int
    threshold: float
    weight: float


@dataclass(frozen=True)
class Voters:
    """The weak learners of all problems, and the points that they compare with.

    Attributes
    ----------
    landmarks : Landmarks
        Each point once.
    pairs : ndarray of shape (n_learners, 2)
        Places of x⁺ and x⁻ among the landmarks.
    lower, upper : ndarray of shape (n_learners,)
        What a difference must not exceed for a vote of -1, and exceed for one of 1.
    problems : list of slice
        Which are each problem's.
    """

    landmarks: Landmarks
    pairs: NDArray[np.intp]
    lower: NDArray[np.floating]
    upper: NDArray[np.floating]
    problems: list[slice]

    def votes(self, X: Any) -> Iterator[tuple[slice, NDArray[np.int8]]]:
        """Yield blocks of rows with the votes of all weak learners; nothing if there are none.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)

        Yields
        ------
        rows : slice
        votes : ndarray of shape (n_rows, n_learners), int8
        """
        from kernlearn.landmarks import _stumps  # loads numba

        if not len(self.landmarks):
            return
        for rows in row_blocks(X.shape[0], len(self.landmarks)):
            similarities = self.landmarks.compare(X[rows])
            votes = np.empty((len(similarities), len(self.pairs)), dtype=np.int8)
            _stumps.weak_votes(similarities, self.pairs, self.lower, self.upper, votes)
            yield rows, votes


def join_voters(points: Landmarks, solved: list[Solved]) -> Voters:
    """Join the weak learners of several problems.

    Parameters
    ----------
    points : Landmarks
        All training points.
    solved : list of Solved

    Returns
    -------
    Voters
    """
    used, places = np.unique(np.concatenate([each.pairs for each in solved]), return_inverse=True)
    ends = np.cumsum([len(each.pairs) for each in solved]).tolist()
    return Voters(
        points.take(used),
        places.reshape(-1, 2),
        np.concatenate(
            [each.thresholds - each.thresholds.dtype.type(each.tie) for each in solved]
        ),
        np.concatenate(
            [each.thresholds + each.thresholds.dtype.type(each.tie) for each in solved]
        ),
        [slice(start, end) for start, end in pairwise([0, *ends])],
    )
