"""AdaBoost over a pool of thresholded differences of similarities, with compiled inner loops.

The differences of a pool of pairs are stored as bins: a byte is the number of a pair's thresholds
that a point exceeds. A round of boosting needs the sum of weight times label in each bin of each
pair. These sums are updated from round to round: the weights of points that the last weak learner
classified correctly all change by one factor, the others by another, so the sums are multiplied by
the factor of the larger group and only the smaller group is added anew. Rounding errors grow with
the factors; before they matter all sums are computed from scratch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Edges closer than this are ties: which of them is first must not depend on rounding.
_SAME_EDGE = 1e-12
# Greatest accumulated rounding error of the sums, in units of that of one round.
_DRIFT = 500.0


@dataclass(frozen=True)
class Pool:
    """Weak learners to boost, binned.

    Attributes
    ----------
    bins : ndarray of shape (n_samples, n_pairs), uint8
        Number of the pair's cuts that the difference of a point exceeds.
    cuts : ndarray of shape (n_pairs, n_cuts)
        Ascending; infinite if a pair has fewer.
    abstains : bool
        Whether each pair is a single weak learner bin - 1, in {-1, 0, 1}; otherwise each cut
        of a pair is one, 1 above it and -1 below.
    """

    bins: NDArray[np.uint8]
    cuts: NDArray[np.floating]
    abstains: bool

    def votes(self, pair: int, cut: int) -> NDArray[np.int8]:
        """Return a weak learner's vote on each point."""
        bins = self.bins[:, pair].astype(np.int16)
        return (bins - 1 if self.abstains else np.where(bins > cut, 1, -1)).astype(np.int8)


@dataclass(frozen=True)
class Boosted:
    """Result of AdaBoost, one entry per round.

    Attributes
    ----------
    pairs, cuts : ndarray of shape (n_rounds,), int
        The pair of the pool, and the index of its cut.
    edges : ndarray of shape (n_rounds,)
        Weighted sum of label times vote, 1 - 2ε for a weighted error ε.
    weights : ndarray of shape (n_rounds,)
        The α.
    errors : ndarray of shape (n_rounds,)
        Share of the points misclassified by the rounds so far.
    losses : ndarray of shape (n_rounds,)
        Mean of exp(-label · Σ α h) so far, never below the error.
    """

    pairs: NDArray[np.intp]
    cuts: NDArray[np.intp]
    edges: NDArray[np.float64]
    weights: NDArray[np.float64]
    errors: NDArray[np.float64]
    losses: NDArray[np.float64]


def quantile_cuts(sample: NDArray[np.floating], n_cuts: int, tie: float) -> NDArray[np.floating]:
    """Return up to `n_cuts` cuts per pair, midway between neighbouring values, evenly in rank.

    `sample` has the differences of each pair in a row, and is sorted in place; values no further
    apart than `tie` count as equal. Of shape (n_pairs, n_cuts), ascending, then infinite.
    """
    sample.sort(axis=1)
    cuts = np.full((len(sample), n_cuts), np.inf, dtype=sample.dtype)
    n_values = sample.shape[1]
    wanted = (np.arange(1, n_cuts + 1) * n_values) // (n_cuts + 1) - 1
    for values, row in zip(sample, cuts, strict=True):
        gaps = np.flatnonzero(values[1:] - values[:-1] > tie)
        if len(gaps) > n_cuts:
            places = np.searchsorted(gaps, wanted)
            gaps = gaps[np.unique(places[places < len(gaps)])]
        lower, upper = values[gaps], values[gaps + 1]
        row[: len(gaps)] = lower + (upper - lower) / 2
    return cuts


@njit(cache=True)
def fill_bins(
    similarities: NDArray[np.floating],
    pairs: NDArray[np.intp],
    cuts: NDArray[np.floating],
    bins: NDArray[np.uint8],
) -> None:  # pragma: no cover
    """Write the number of cuts that each difference of similarities exceeds.

    `similarities` is (n_landmarks, n_samples), `pairs` has its rows x⁺ and x⁻, `cuts` up to 255
    ascending values per pair; `bins` is (n_samples, n_pairs).
    """
    n_cuts, n_samples = cuts.shape[1], similarities.shape[1]
    differences = np.empty(n_samples, dtype=similarities.dtype)
    exceeded = np.empty(n_samples, dtype=np.int64)
    for p in range(len(pairs)):
        near, far = similarities[pairs[p, 0]], similarities[pairs[p, 1]]
        for i in range(n_samples):
            differences[i] = near[i] - far[i]
            exceeded[i] = 0
        # Bisection, one step for all points at a time: no branch depends on the data.
        left = n_cuts
        while left > 0:
            half = (left + 1) // 2
            for i in range(n_samples):
                exceeded[i] += half * (differences[i] > cuts[p, exceeded[i] + half - 1])
            left -= half
        for i in range(n_samples):
            bins[i, p] = exceeded[i]


@njit(cache=True)
def weak_votes(
    similarities: NDArray[np.floating],
    pairs: NDArray[np.intp],
    lower: NDArray[np.floating],
    upper: NDArray[np.floating],
    votes: NDArray[np.int8],
) -> None:  # pragma: no cover
    """Write the votes of weak learners: 1 above `upper`, -1 up to `lower`, 0 between.

    `similarities` is (n_samples, n_landmarks), `pairs` has its columns x⁺ and x⁻; `votes` is
    (n_samples, n_learners).
    """
    for i in range(len(similarities)):
        for t in range(len(pairs)):
            difference = similarities[i, pairs[t, 0]] - similarities[i, pairs[t, 1]]
            votes[i, t] = np.int8(difference > upper[t]) - np.int8(difference <= lower[t])


@njit(cache=True)
def _add(
    bins: NDArray[np.uint8],
    rows: NDArray[np.intp],
    amounts: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:  # pragma: no cover
    n_pairs, n_bins = sums.shape
    flat = sums.ravel()
    for k in range(len(rows)):
        i, amount = rows[k], amounts[k]
        for p in range(n_pairs):
            flat[p * n_bins + bins[i, p]] += amount


@njit(cache=True)
def _edges(sums: NDArray[np.float64], edges: NDArray[np.float64]) -> None:  # pragma: no cover
    """Write the edge of every cut: the sums above it less those below."""
    n_pairs, n_bins = sums.shape
    for p in range(n_pairs):
        total = 0.0
        for b in range(n_bins):
            total += sums[p, b]
        below = 0.0
        for b in range(n_bins - 1):
            below += sums[p, b]
            edges[p, b] = total - 2 * below


def boost(pool: Pool, labels: NDArray[np.int8], n_rounds: int, reuse: bool) -> Boosted:
    """Run AdaBoost for at most `n_rounds`, fewer if no weak learner has an edge above 0.

    `labels` are -1 or 1. With `reuse` a pair may be chosen more than once, unless it makes no
    error: the weights would not change, and it would be chosen forever.
    """
    n_samples = len(labels)
    weights = np.full(n_samples, 1 / n_samples)
    sums = _Sums(pool, labels, weights)
    largest_edge = 1 - 1 / n_samples  # of a learner that errs on half a point
    margins, loss = np.zeros(n_samples), 1.0
    rounds: list[tuple[Any, ...]] = []
    while len(rounds) < n_rounds and (best := sums.best()) is not None:
        pair, cut, edge = best
        agreement = labels * pool.votes(pair, cut)
        bounded = min(edge, largest_edge)
        alpha = 0.5 * np.log((1 + bounded) / (1 - bounded))
        margins += alpha * agreement
        factors = np.exp(-alpha * agreement)
        normalizer = weights @ factors
        loss *= normalizer
        factors /= normalizer
        new = weights * factors
        sums.update(weights, new, factors, agreement)
        weights = new
        if not reuse or edge >= 1 - _SAME_EDGE:
            sums.available[pair] = False
        rounds.append((pair, cut, edge, alpha, np.mean(margins <= 0), loss))
    columns = np.array(rounds, dtype=np.float64).reshape(-1, 6).T
    return Boosted(columns[0].astype(np.intp), columns[1].astype(np.intp), *columns[2:])


class _Sums:
    """Sums of weight times label over the bins of each pair, kept up to date."""

    def __init__(self, pool: Pool, labels: NDArray[np.int8], weights: NDArray[np.float64]) -> None:
        n_pairs, n_cuts = pool.cuts.shape
        self.pool, self.labels = pool, labels
        self.available = np.ones(n_pairs, dtype=bool)
        self._sums = np.zeros((n_pairs, n_cuts + 1))
        self._edges = np.empty((n_pairs, n_cuts))
        self._no_cut = np.isinf(pool.cuts)
        self._drift = 0.0
        self._start(weights)

    def update(
        self,
        old: NDArray[np.float64],
        new: NDArray[np.float64],
        factors: NDArray[np.float64],
        agreement: NDArray[np.int8],
    ) -> None:
        """Change weights by factors, which depend only on the agreement in {-1, 0, 1}."""
        common = 1 if np.count_nonzero(agreement == 1) * 2 >= len(agreement) else -1
        factor = factors[np.argmax(agreement == common)]
        self._drift = self._drift * factor + 1
        if self._drift > _DRIFT:
            self._start(new)
            return
        rows = np.flatnonzero(agreement != common)
        self._sums *= factor
        amounts = (new[rows] - factor * old[rows]) * self.labels[rows]
        _add(self.pool.bins, rows, amounts, self._sums)

    def _start(self, weights: NDArray[np.float64]) -> None:
        """Compute the sums from scratch."""
        self._drift = 0.0
        self._sums[:] = 0
        _add(self.pool.bins, np.arange(len(weights)), weights * self.labels, self._sums)

    def best(self) -> tuple[int, int, float] | None:
        """Return pair, cut and edge of the first weak learner with the greatest edge above 0."""
        if self.pool.abstains:
            edges = (self._sums[:, 2] - self._sums[:, 0])[:, None]
        else:
            edges = self._edges
            _edges(self._sums, edges)
            edges[self._no_cut] = -np.inf
        edges[~self.available] = -np.inf
        greatest = edges.max()
        if greatest <= _SAME_EDGE:
            return None
        first = int(np.argmax(edges >= greatest - _SAME_EDGE))
        pair, cut = divmod(first, edges.shape[1])
        return pair, cut, float(edges[pair, cut])
