"""AdaBoost over a pool of thresholded differences of similarities, with compiled inner loops.

The differences of a pool of pairs are stored as bins: a byte is the number of a pair's thresholds
that a point exceeds. A round of boosting needs the sum of weight times label in each bin of each
pair. These sums are updated from round to round: the weights of points that the last weak learner
classified correctly all change by one factor, the others by another. So the sums are multiplied by
the factor of the larger group and only the smaller group is added anew. Rounding errors grow with
the factors; before they matter all sums are computed from scratch.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.compiled import compiled
from kernlearn.landmarks.similarities import Reals, Similarities
from kernlearn.memory import row_blocks
from kernlearn.validation import Floats, Indices

Votes: TypeAlias = NDArray[np.int8]

# Edges closer than this are ties: which of them is first must not depend on rounding.
_SAME_EDGE = 1e-12
# Greatest accumulated rounding error of the sums, in units of that of one round.
_DRIFT = 500.0
# Number of points whose differences of similarities thresholds are placed between.
_SAMPLE = 1024
# Rounding of similarities, in units of the last place of the largest.
_ROUNDING = 100


class Boosted(NamedTuple):
    """Result of AdaBoost, one entry per round.

    A difference of similarities above `upper` is a vote of 1, one up to `lower` a vote of -1. An
    edge is 1 - 2ε for a weighted error ε, `weights` are the α.
    """

    pairs: Indices
    thresholds: Reals
    lower: Reals
    upper: Reals
    edges: Floats
    weights: Floats


def boost(
    similarities: Similarities,
    labels: Votes,
    pairs: Indices,
    n_rounds: int,
    n_thresholds: int,
    rng: np.random.RandomState,
    sample_weight: Floats | None = None,
) -> Boosted:
    """Boost the pairs of a problem for at most `n_rounds` rounds.

    With `n_thresholds` = 0 the threshold is 0, with abstention. Weights of points need not be
    normalised.
    """
    used, places = np.unique(pairs, return_inverse=True)
    places = places.reshape(pairs.shape)

    sample = similarities.by_landmark(used, _balanced_sample(labels, rng))
    limits = np.finfo(sample.dtype)
    tie = float(max(_ROUNDING * limits.eps * np.abs(sample).max(), limits.tiny))
    if n_thresholds:
        differences = sample[places[:, 0]] - sample[places[:, 1]]
        cuts = quantile_cuts(differences, n_thresholds, tie)
    else:
        cuts = np.tile(np.array([-tie, tie], dtype=sample.dtype), (len(places), 1))
    bins = np.empty((len(places), len(labels)), dtype=np.uint8)
    for block in row_blocks(len(labels), len(used)):
        fill_bins(similarities.by_landmark(used, block), places, cuts, bins[:, block])
    pool = _Pool(bins, cuts, labels, abstains=not n_thresholds)
    start = np.full(len(labels), 1 / len(labels))
    if sample_weight is not None:
        start = sample_weight / sample_weight.sum()
    chosen, chosen_cuts, *measures = _rounds(pool, n_rounds, start)
    at = chosen.astype(np.intp), chosen_cuts.astype(np.intp)
    thresholds = cuts[at] if n_thresholds else np.zeros(len(chosen), dtype=cuts.dtype)
    width = cuts.dtype.type(0.0 if n_thresholds else tie)
    return Boosted(pairs[at[0]], thresholds, thresholds - width, thresholds + width, *measures)


def _balanced_sample(labels: Votes, rng: np.random.RandomState) -> Indices:
    """Draw points: of each label up to half the sample, more if the other has fewer."""
    sides = [np.flatnonzero(labels == sign) for sign in (1, -1)]
    sizes = [max(_SAMPLE // 2, _SAMPLE - len(other)) for other in reversed(sides)]
    drawn = [rng.permutation(side)[:size] for side, size in zip(sides, sizes, strict=True)]
    return np.concatenate(drawn)


def quantile_cuts(sample: Reals, n_cuts: int, tie: float) -> Reals:
    """Return up to `n_cuts` cuts per pair, midway between neighbouring values, evenly in rank.

    `sample` has the differences of each pair in a row, and is sorted in place; values no further
    apart than `tie` count as equal. Of shape (n_pairs, n_cuts), ascending, then infinite.
    """
    sample.sort(axis=1)
    cuts = np.full((len(sample), n_cuts), np.inf, dtype=sample.dtype)
    n_values = sample.shape[1]
    ranks = (np.arange(1, n_cuts + 1) * n_values) // (n_cuts + 1) - 1
    for values, row in zip(sample, cuts, strict=True):
        gaps = np.flatnonzero(values[1:] - values[:-1] > tie)
        if len(gaps) > n_cuts:
            places = np.searchsorted(gaps, ranks)
            gaps = gaps[np.unique(places[places < len(gaps)])]
        lower, upper = values[gaps], values[gaps + 1]
        row[: len(gaps)] = lower + (upper - lower) / 2
    return cuts


@compiled()  # pragma: no cover
def fill_bins(similarities: Reals, pairs: Indices, cuts: Reals, bins: NDArray[np.uint8]) -> None:
    """Write the number of cuts that each difference of similarities exceeds.

    `similarities` is (n_landmarks, n_samples), `pairs` has its rows x⁺ and x⁻, `cuts` up to 255
    ascending values per pair; `bins` is (n_pairs, n_samples).
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
            bins[p, i] = exceeded[i]


@compiled()  # pragma: no cover
def weak_votes(
    similarities: Reals, pairs: Indices, lower: Reals, upper: Reals, votes: Votes
) -> None:
    """Write the votes of weak learners: 1 above `upper`, -1 up to `lower`, 0 between.

    `similarities` is (n_samples, n_landmarks), `pairs` has its columns x⁺ and x⁻; `votes` is
    (n_samples, n_learners).
    """
    for i in range(len(similarities)):
        for t in range(len(pairs)):
            difference = similarities[i, pairs[t, 0]] - similarities[i, pairs[t, 1]]
            votes[i, t] = np.int8(difference > upper[t]) - np.int8(difference <= lower[t])


@compiled()  # pragma: no cover
def _add(bins: NDArray[np.uint8], rows: Indices, amounts: Floats, sums: Floats) -> None:
    """Add the amounts of some rows to the sums of their bins.

    Four pairs at a time: their additions do not wait for each other, and their sums stay in the
    fastest cache.
    """
    n_pairs = len(sums)
    for p in range(0, n_pairs - n_pairs % 4, 4):
        bins_0, bins_1, bins_2, bins_3 = bins[p], bins[p + 1], bins[p + 2], bins[p + 3]
        sums_0, sums_1, sums_2, sums_3 = sums[p], sums[p + 1], sums[p + 2], sums[p + 3]
        for k in range(len(rows)):
            i, amount = rows[k], amounts[k]
            sums_0[bins_0[i]] += amount
            sums_1[bins_1[i]] += amount
            sums_2[bins_2[i]] += amount
            sums_3[bins_3[i]] += amount
    for p in range(n_pairs - n_pairs % 4, n_pairs):
        for k in range(len(rows)):
            sums[p, bins[p, rows[k]]] += amounts[k]


@compiled()  # pragma: no cover
def _edges(sums: Floats, edges: Floats) -> None:
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


def _rounds(pool: "_Pool", n_rounds: int, weights: Floats) -> NDArray[np.float64]:
    """Run AdaBoost for at most `n_rounds`, fewer if no weak learner has an edge above 0.

    A pair may be chosen more than once, unless it makes no error: the weights would not change,
    and it would be chosen forever. The rows of the result are pair, cut, edge and α of the rounds.
    """
    pool.start(weights)
    largest_edge = 1 - 1 / len(pool.labels)  # of a learner that errs on half a point
    rounds: list[tuple[Any, ...]] = []
    while len(rounds) < n_rounds and (best := pool.best()) is not None:
        pair, cut, edge = best
        agreement = pool.labels * pool.votes(pair, cut)
        bounded = min(edge, largest_edge)
        alpha = 0.5 * np.log((1 + bounded) / (1 - bounded))
        factors = np.exp(-alpha * agreement)
        factors /= weights @ factors
        new = weights * factors
        pool.update(weights, new, factors, agreement)
        weights = new
        if edge >= 1 - _SAME_EDGE:
            pool.available[pair] = False
        rounds.append((pair, cut, edge, alpha))
    return np.array(rounds, dtype=np.float64).reshape(-1, 4).T


class _Pool:
    """Weak learners, and the sums of weight times label over the bins of their pairs.

    `bins` (n_pairs, n_samples) are the numbers of cuts that differences exceed, `cuts` (n_pairs,
    n_cuts) ascending, infinite if a pair has fewer. Each cut is a weak learner, 1 above it and -1
    below; where a pair `abstains`, it is a single one, bin - 1 in {-1, 0, 1}.
    """

    def __init__(
        self, bins: NDArray[np.uint8], cuts: Reals, labels: Votes, *, abstains: bool
    ) -> None:
        n_pairs, n_cuts = cuts.shape
        self.labels, self._bins, self._abstains = labels, bins, abstains
        self.available = np.ones(n_pairs, dtype=bool)
        self._sums = np.zeros((n_pairs, n_cuts + 1))
        self._edges = np.empty((n_pairs, n_cuts))
        self._no_cut = np.isinf(cuts)

    def votes(self, pair: int, cut: int) -> Votes:
        """Return a weak learner's vote on each point."""
        bins = self._bins[pair].astype(np.int16)
        return (bins - 1 if self._abstains else np.where(bins > cut, 1, -1)).astype(np.int8)

    def start(self, weights: Floats) -> None:
        """Compute the sums from scratch."""
        self._drift = 0.0
        self._sums[:] = 0
        _add(self._bins, np.arange(len(weights)), weights * self.labels, self._sums)

    def update(self, old: Floats, new: Floats, factors: Floats, agreement: Votes) -> None:
        """Change weights by factors, which depend only on the agreement in {-1, 0, 1}."""
        common = 1 if np.count_nonzero(agreement == 1) * 2 >= len(agreement) else -1
        factor = factors[np.argmax(agreement == common)]
        self._drift = self._drift * factor + 1
        if self._drift > _DRIFT:
            self.start(new)
            return
        rows = np.flatnonzero(agreement != common)
        self._sums *= factor
        amounts = (new[rows] - factor * old[rows]) * self.labels[rows]
        _add(self._bins, rows, amounts, self._sums)

    def best(self) -> tuple[int, int, float] | None:
        """Return pair, cut and edge of the first weak learner with the greatest edge above 0."""
        if self._abstains:
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
