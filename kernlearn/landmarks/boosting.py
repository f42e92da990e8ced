"""The two-class problems of DBOOST: their points, their pools of pairs, and their boosting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks.selection import Column, select_pairs
from kernlearn.landmarks.similarity import KeptSimilarities, Landmarks
from kernlearn.memory import row_blocks

if TYPE_CHECKING:
    from kernlearn.landmarks.stumps import Boosted, Pool

Indices: TypeAlias = NDArray[np.intp]

# Number of points whose differences of similarities thresholds are placed between.
_SAMPLE = 1024
# Rounding of similarities, in units of the last place of the largest.
_ROUNDING = 100


@dataclass(frozen=True)
class Problem:
    """One class against another, or against the rest.

    Attributes
    ----------
    positive, negative : int or None
        The classes; `negative` is None for the rest.
    rows : ndarray of shape (n_rows,)
        Training points of the problem.
    labels : ndarray of shape (n_rows,), int8
        1 for the class `positive`, else -1.
    pairs : ndarray of shape (n_pairs, 2)
        The pool: training points x⁺ and x⁻.
    """

    positive: int
    negative: int | None
    rows: Indices
    labels: NDArray[np.int8]
    pairs: Indices


@dataclass(frozen=True)
class Solved:
    """Result of boosting a problem.

    Attributes
    ----------
    pairs : ndarray of shape (n_rounds, 2)
        Training points x⁺ and x⁻.
    thresholds : ndarray of shape (n_rounds,)
    tie : float
        Greatest distance of a difference from its threshold that makes an abstention.
    boosted : Boosted
        Weights, edges, errors and losses of the rounds.
    """

    pairs: Indices
    thresholds: NDArray[np.floating]
    tie: float
    boosted: Boosted


def draw_problems(
    codes: NDArray[np.intp],
    multi_class: str,
    pool_size: int,
    selection: str,
    column: Column,
    rng: np.random.RandomState,
) -> list[Problem]:
    """Return the two-class problems with their pools of `pool_size` pairs.

    There is one problem, class 1 against class 0, for two classes. For more there is one per
    class with `multi_class` "ovr"; with "ovo" one for each two classes, (0, 1), (0, 2), ...,
    the first of them positive. `selection`, `column` and `rng` are as for `select_pairs`.
    """
    n_classes = int(codes.max()) + 1
    if n_classes > 2 and multi_class == "ovo":
        return [
            _one_vs_one(first, second, codes, pool_size, selection, column, rng)
            for first, second in combinations(range(n_classes), 2)
        ]
    pools = select_pairs(pool_size, codes, selection=selection, column=column, rng=rng)
    positives = [1] if n_classes == 2 else range(n_classes)
    everything = np.arange(len(codes))
    return [
        Problem(c, 0 if n_classes == 2 else None, everything, _signs(codes == c), pairs)
        for c, pairs in zip(positives, pools, strict=True)
    ]


def _one_vs_one(
    first: int,
    second: int,
    codes: NDArray[np.intp],
    pool_size: int,
    selection: str,
    column: Column,
    rng: np.random.RandomState,
) -> Problem:
    rows = np.flatnonzero((codes == first) | (codes == second))
    is_first = codes[rows] == first
    (places,) = select_pairs(
        pool_size,
        is_first.astype(np.intp),
        selection=selection,
        column=lambda i: column(rows[i])[rows],
        rng=rng,
    )
    return Problem(first, second, rows, _signs(is_first), rows[places])


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(positive, 1, -1).astype(np.int8)


def solve(
    problem: Problem,
    similarities: KeptSimilarities,
    n_rounds: int,
    n_thresholds: int,
    reuse: bool,
    rng: np.random.RandomState,
) -> Solved:
    """Boost the pairs of a problem for at most `n_rounds` rounds.

    With `n_thresholds` = 0 the threshold is 0, with abstention. `reuse` tells whether a pair
    may be chosen more than once.
    """
    from kernlearn.landmarks import stumps  # loads numba

    pool, tie = _make_pool(problem, similarities, n_thresholds, rng)
    boosted = stumps.boost(pool, problem.labels, n_rounds, reuse)
    thresholds = pool.cuts[boosted.pairs, boosted.cuts]
    if pool.abstains:
        thresholds = np.zeros_like(thresholds)
    tie = tie if pool.abstains else 0.0
    return Solved(problem.pairs[boosted.pairs], thresholds, tie, boosted)


def _make_pool(
    problem: Problem,
    similarities: KeptSimilarities,
    n_thresholds: int,
    rng: np.random.RandomState,
) -> tuple[Pool, float]:
    """Bin differences by thresholds; also return the greatest difference that counts as 0."""
    from kernlearn.landmarks import stumps  # loads numba

    used, places = np.unique(problem.pairs, return_inverse=True)
    places = places.reshape(problem.pairs.shape)

    def by_landmark(rows: Indices) -> NDArray[np.floating]:
        return np.ascontiguousarray(similarities.columns(used, problem.rows[rows]).T)

    sample = by_landmark(_balanced_sample(problem.labels, rng))
    largest = np.abs(sample).max()
    tie = float(max(_ROUNDING * np.finfo(sample.dtype).eps * largest, np.finfo(sample.dtype).tiny))
    if n_thresholds:
        differences = sample[places[:, 0]] - sample[places[:, 1]]
        cuts = stumps.quantile_cuts(differences, n_thresholds, tie)
    else:
        cuts = np.tile(np.array([-tie, tie], dtype=sample.dtype), (len(places), 1))
    bins = np.empty((len(problem.rows), len(places)), dtype=np.uint8)
    for block in row_blocks(len(bins), len(used)):
        rows = np.arange(block.start, block.stop)
        stumps.fill_bins(by_landmark(rows), places, cuts, bins[block])
    return stumps.Pool(bins, cuts, abstains=not n_thresholds), tie


def _balanced_sample(labels: NDArray[np.int8], rng: np.random.RandomState) -> Indices:
    """Draw points: of each label up to half the sample, more if the other has fewer."""
    sides = [np.flatnonzero(labels == sign) for sign in (1, -1)]
    sizes = [len(side) for side in sides]
    half = _SAMPLE // 2
    wanted = [max(half, _SAMPLE - other) for other in reversed(sizes)]
    return np.concatenate(
        [rng.permutation(side)[:size] for side, size in zip(sides, wanted, strict=True)]
    )


@dataclass(frozen=True)
class Voters:
    """The weak learners of all problems.

    Attributes
    ----------
    landmarks : Landmarks
        The points that they compare with, each once.
    pairs : ndarray of shape (n_learners, 2)
        Places of x⁺ and x⁻ among the landmarks.
    lower, upper : ndarray of shape (n_learners,)
        A difference above `upper` is a vote of 1, one up to `lower` a vote of -1.
    problems : list of slice
        The weak learners of each problem.
    """

    landmarks: Landmarks
    pairs: NDArray[np.intp]
    lower: NDArray[np.floating]
    upper: NDArray[np.floating]
    problems: list[slice]

    def votes(self, X: Any) -> Iterator[tuple[slice, NDArray[np.int8]]]:
        """Yield blocks of rows with their votes, shape (n_rows, n_learners)."""
        from kernlearn.landmarks import stumps  # loads numba

        for rows, similarities in self.landmarks.blocks(X):
            votes = np.empty((len(similarities), len(self.pairs)), dtype=np.int8)
            stumps.weak_votes(similarities, self.pairs, self.lower, self.upper, votes)
            yield rows, votes


def join_voters(points: Landmarks, solved: list[Solved]) -> Voters:
    """Join the weak learners of several problems; `points` are all training points."""
    used, places = np.unique(np.concatenate([each.pairs for each in solved]), return_inverse=True)
    ends = np.cumsum([len(each.pairs) for each in solved]).tolist()
    ties = [each.thresholds.dtype.type(each.tie) for each in solved]
    return Voters(
        points.take(used),
        places.reshape(-1, 2),
        np.concatenate([each.thresholds - tie for each, tie in zip(solved, ties, strict=True)]),
        np.concatenate([each.thresholds + tie for each, tie in zip(solved, ties, strict=True)]),
        [slice(start, end) for start, end in pairwise([0, *ends])],
    )
