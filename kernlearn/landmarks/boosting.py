"""The two-class problems of DBOOST: their points, their pairs, and the pools to boost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernlearn.landmarks.selection import Column, select_pairs
from kernlearn.landmarks.similarity import KEPT_ELEMENTS, Landmarks

if TYPE_CHECKING:
    from kernlearn.landmarks.stumps import Pool


Indices: TypeAlias = NDArray[np.intp]
# The similarities of these points to those landmarks, one row a landmark.
Similarities: TypeAlias = Callable[[Indices, Indices], NDArray[np.floating]]

# Similarities that are computed at once: 4 MB of float64; and kept in training: 1 GiB.
_BLOCK_ELEMENTS = 2**19
# Points on whose differences thresholds are placed.
_SAMPLE = 1024
# Rounding of similarities, in units of the last place of the largest.
_ROUNDING = 100


@dataclass(frozen=True)
class Problem:
    """One class against another, or against the rest.

    Attributes
    ----------
    positive, negative : int or None
        The classes; no `negative` is the rest.
    rows : ndarray of shape (n_rows,)
        Training points of the problem.
    labels : ndarray of shape (n_rows,), int8
        1 for the class `positive`, else -1.
    pairs : ndarray of shape (n_pairs, 2)
        Training points x⁺ and x⁻ to choose from.
    """

    positive: int
    negative: int | None
    rows: Indices
    labels: NDArray[np.int8]
    pairs: Indices


@dataclass(frozen=True)
class Solved:
    """What boosting found for a problem, one entry a round.

    Attributes
    ----------
    pairs : ndarray of shape (n_rounds, 2)
        Training points x⁺ and x⁻.
    thresholds : ndarray of shape (n_rounds,)
    tie : float
        How far from the threshold a difference may be for an abstention.
    weights, edges, errors, losses : ndarray of shape (n_rounds,)
        See :class:`~kernlearn.landmarks.stumps.Boosted`.
    """

    pairs: Indices
    thresholds: NDArray[np.floating]
    tie: float
    weights: NDArray[np.float64]
    edges: NDArray[np.float64]
    errors: NDArray[np.float64]
    losses: NDArray[np.float64]


def draw_problems(
    codes: NDArray[np.intp],
    multi_class: str,
    pool_size: int,
    selection: str,
    column: Column,
    rng: np.random.RandomState,
) -> list[Problem]:
    """Make the problems that several classes come down to, and draw the pairs of each.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        The class of each training point, 0 to n_classes - 1.
    multi_class : {"ovr", "ovo"}
    pool_size : int
        Pairs of each problem.
    selection, column, rng
        As for :func:`~kernlearn.landmarks.selection.select_pairs`.

    Returns
    -------
    list of Problem
        One, class 1 against class 0, for two classes. For more, one a class with "ovr"; with
        "ovo" one for each two, (0, 1), (0, 2), ..., the first of them positive.
    """
    n_classes = int(codes.max()) + 1
    if n_classes > 2 and multi_class == "ovo":
        return [
            _one_vs_one(*both, codes, pool_size, selection, column, rng)
            for both in combinations(range(n_classes), 2)
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


def remembered(points: Landmarks, X: Any, distinct: Indices) -> Similarities:
    """Return a function that compares training points with some of them.

    Parameters
    ----------
    points : Landmarks
        All training points.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The same as data.
    distinct : ndarray of shape (n_distinct,)
        Those that will be compared with, ascending: all similarities to them are computed once
        and kept if they fit into 1 GiB.

    Returns
    -------
    callable
        Takes rows of X and numbers out of `distinct`; its result has a row for each of these.
    """
    if X.shape[0] * len(distinct) > KEPT_ELEMENTS:
        return lambda rows, which: np.ascontiguousarray(points.take(which).compare(X[rows]).T)
    landmarks = points.take(distinct)
    kept = np.empty((len(distinct), X.shape[0]), dtype=landmarks.compare(X[:1]).dtype)
    for rows in row_blocks(X.shape[0], len(distinct)):
        kept[:, rows] = landmarks.compare(X[rows]).T
    return lambda rows, which: kept[np.ix_(np.searchsorted(distinct, which), rows)]


def row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Return slices of rows, so that a block of so many columns stays small."""
    return list(gen_batches(n_rows, max(_BLOCK_ELEMENTS // max(n_columns, 1), 1)))


def solve(
    problem: Problem,
    similarities: Similarities,
    n_rounds: int,
    n_thresholds: int,
    reuse: bool,
    rng: np.random.RandomState,
) -> Solved:
    """Boost the pairs of a problem.

    Parameters
    ----------
    problem : Problem
    similarities : callable
        See :func:`remembered`.
    n_rounds : int
        Weak learners at most.
    n_thresholds : int
        Thresholds of each pair; 0 for v = 0 with abstention.
    reuse : bool
        Whether a pair may be chosen more than once.
    rng : RandomState

    Returns
    -------
    Solved
    """
    from kernlearn.landmarks import stumps  # loads numba

    pool, tie = _make_pool(problem, similarities, n_thresholds, rng)
    found = stumps.boost(pool, problem.labels, n_rounds, reuse)
    thresholds = pool.cuts[found.pairs, found.cuts]
    if pool.abstains:
        thresholds = np.zeros_like(thresholds)
    return Solved(
        problem.pairs[found.pairs],
        thresholds,
        tie if pool.abstains else 0.0,
        found.weights,
        found.edges,
        found.errors,
        found.losses,
    )


def _make_pool(
    problem: Problem,
    similarities: Similarities,
    n_thresholds: int,
    rng: np.random.RandomState,
) -> tuple[Pool, float]:
    """Sort differences between thresholds; also return what still counts as no difference."""
    from kernlearn.landmarks import stumps  # loads numba

    used, places = np.unique(problem.pairs, return_inverse=True)
    places = places.reshape(problem.pairs.shape)
    sample = similarities(problem.rows[_balanced_sample(problem.labels, rng)], used)
    largest = np.abs(sample).max()
    tie = float(max(_ROUNDING * np.finfo(sample.dtype).eps * largest, np.finfo(sample.dtype).tiny))
    if n_thresholds:
        differences = sample[places[:, 0]] - sample[places[:, 1]]
        cuts = stumps.quantile_cuts(differences, n_thresholds, tie)
    else:
        cuts = np.tile(np.array([-tie, tie], dtype=sample.dtype), (len(places), 1))
    bins = np.empty((len(problem.rows), len(places)), dtype=np.uint8)
    for block in row_blocks(len(bins), len(used)):
        stumps.fill_bins(similarities(problem.rows[block], used), places, cuts, bins[block])
    return stumps.Pool(bins, cuts, abstains=not n_thresholds), tie


def _balanced_sample(labels: NDArray[np.int8], rng: np.random.RandomState) -> Indices:
    """Draw points, as many of each label as there are up to half the sample."""
    sides = [np.flatnonzero(labels == sign) for sign in (1, -1)]
    sizes = [len(side) for side in sides]
    half = _SAMPLE // 2
    wanted = [max(half, _SAMPLE - other) for other in reversed(sizes)]
    return np.concatenate(
        [rng.permutation(side)[:size] for side, size in zip(sides, wanted, strict=True)]
    )


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
        from kernlearn.landmarks import stumps  # loads numba

        if not len(self.landmarks):
            return
        for rows in row_blocks(X.shape[0], len(self.landmarks)):
            similarities = self.landmarks.compare(X[rows])
            votes = np.empty((len(similarities), len(self.pairs)), dtype=np.int8)
            stumps.weak_votes(similarities, self.pairs, self.lower, self.upper, votes)
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
