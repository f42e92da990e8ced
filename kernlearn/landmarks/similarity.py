"""Landmarks: their choice, at random or by DSELECT, and similarities of points to them."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlearn.kernels import Kernel
from kernlearn.memory import row_blocks

SELECTIONS = ("random", "stratified", "dselect")
PAIR_SELECTIONS = (*SELECTIONS, "shared")

Indices: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.floating]
Random: TypeAlias = np.random.RandomState
#: Takes the index of a training point, returns the similarity of every training point to it.
Column: TypeAlias = Callable[[int], Floats]

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27

# Similarities that are computed at a time to be transposed.
_BLOCK_BYTES = 2**24
# Rows that are transposed at a time.
_TURNED = 128


@dataclass(frozen=True)
class Landmarks:
    """Training points that other points are compared with, and the similarity.

    `indices` are rows of the training data; `points` and the fitted `kernel` are None for a
    precomputed matrix of similarities. A distance has the `sign` -1: all values are similarities.
    """

    indices: Indices
    points: Any
    kernel: Kernel | None
    sign: int = 1

    def __len__(self) -> int:
        return len(self.indices)

    def compare(self, X: Any, rows: Indices | None = None) -> Floats:
        """Return the similarities of points, all or some `rows` of X, to the landmarks.

        For a precomputed matrix X is (n_samples, n_training_points). Values must be finite.
        """
        if self.kernel is not None:
            values = _finite(self.kernel(X if rows is None else X[rows], self.points))
        else:
            values = X[:, self.indices] if rows is None else X[rows[:, None], self.indices]
        return values if self.sign == 1 else -values

    def blocks(self, X: Any, width: int = 0) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows of X with their similarities to the landmarks, if there are any.

        `width` is the number of columns made of each row, if more than there are landmarks.
        """
        if len(self):
            for rows in row_blocks(X.shape[0], max(len(self), width)):
                yield rows, self.compare(X[rows])

    def take(self, which: Indices) -> "Landmarks":
        """Return some of the landmarks, by their place among these."""
        points = None if self.points is None else self.points[which]
        return replace(self, indices=self.indices[which], points=points)


class KeptSimilarities:
    """Similarities of points, all or some rows of X, to landmarks, computed once and then kept.

    Those that would exceed `KEPT_ELEMENTS` values in all are computed at each use. So are single
    columns by kernels that are not `columnwise`: solvers that stop early amplify the last digit,
    in which they differ from the columns that these kernels compute together.

    Attributes
    ----------
    n_points : int
    """

    def __init__(self, landmarks: Landmarks, X: Any, rows: Indices | None = None) -> None:
        if rows is not None and landmarks.kernel is not None:
            X, rows = X[rows], None
        self._landmarks, self._X, self._rows = landmarks, X, rows
        self.n_points = X.shape[0] if rows is None else len(rows)
        # by landmark: all similarities to one of them are read at once
        self._blocks: list[Floats] = []
        # The block of each landmark, -1 if not computed, and its row there.
        self._block = np.full(len(landmarks), -1)
        self._row = np.zeros(len(landmarks), dtype=np.intp)

    def keep(self, which: Indices) -> bool:
        """Compute missing similarities to landmarks `which`, and return whether all are kept."""
        missing = np.fromiter(dict.fromkeys(which[self._block[which] < 0].tolist()), np.intp)
        n_kept = sum(len(block) for block in self._blocks)
        if self.n_points * (n_kept + len(missing)) > KEPT_ELEMENTS:
            return False
        if len(missing):
            self._block[missing], self._row[missing] = len(self._blocks), range(len(missing))
            self._blocks.append(self._compute_by_landmark(missing))
        return True

    def column(self, i: int) -> Floats:
        """Return the similarities to landmark `i`, shape (n_samples,)."""
        which, kernel = np.array([i]), self._landmarks.kernel
        if kernel is None or not kernel.columnwise or not self.keep(which):
            return self._compute(which)[:, 0]
        values: Floats = self._blocks[self._block[i]][self._row[i]]
        return values

    def columns(self, which: Indices, rows: Indices | None = None) -> Floats:
        """Return the similarities to landmarks `which`; the array must not be changed.

        Landmarks may repeat; `rows` are the points, all if None.
        """
        if not self.keep(which):
            return self._compute(which, rows)
        return by_column(self.by_landmark(which, rows))

    def by_landmark(self, which: Indices, rows: Indices | slice | None = None) -> Floats:
        """Return the transpose of :meth:`columns`: a row for each landmark."""
        if not self.keep(which):
            return self._compute_by_landmark(which, rows)
        if len(self._blocks) > 1:
            starts = np.cumsum([0, *(len(block) for block in self._blocks)])
            self._row += starts[self._block]
            self._blocks = [np.concatenate(self._blocks)]
            self._block = np.minimum(self._block, 0)
        (block,), places = self._blocks, self._row[which]
        if rows is None:
            return block[places]
        return block[places, rows] if isinstance(rows, slice) else block[places[:, None], rows]

    def blocks(self, which: Indices, width: int) -> Iterator[tuple[slice, Floats]]:
        """Yield rows with their similarities to landmarks `which`, as `Landmarks.blocks` does."""
        if not self._blocks:
            yield from self._landmarks.take(which).blocks(self._X, width)
            return
        values = self.columns(which)
        for rows in row_blocks(len(values), max(len(which), width)):
            yield rows, values[rows]

    def _compute(self, which: Indices, rows: Indices | None = None) -> Floats:
        if self._rows is not None:
            rows = self._rows if rows is None else self._rows[rows]
        return self._landmarks.take(which).compare(self._X, rows)

    def _compute_by_landmark(self, which: Indices, rows: Indices | slice | None = None) -> Floats:
        """Compute the transpose of the similarities, block by block: there is no second array."""
        chosen = np.arange(self.n_points)[slice(None) if rows is None else rows]
        found = np.empty((0, 0))
        for block in row_blocks(len(chosen), len(which), block_bytes=_BLOCK_BYTES):
            values = self._compute(which, chosen[block])
            if not found.size:
                found = np.empty((len(which), len(chosen)), dtype=values.dtype)
            found[:, block] = values.T
        return found


def by_column(values: Floats) -> Floats:
    """Return the transpose, in the order of C, in blocks that stay in cache."""
    transposed = np.empty(values.shape[::-1], dtype=values.dtype)
    for first in range(0, len(values), _TURNED):
        rows = slice(first, first + _TURNED)
        transposed[:, rows] = values[rows].T
    return transposed


def mean_size(landmarks: Landmarks, X: Any, weights: NDArray[np.float64] | None = None) -> float:
    """Return the mean absolute similarity over pairs of points, the landmarks, or 1 if that is 0.

    A point of weight w counts as w points.
    """
    total, n_points = 0.0, float(X.shape[0] if weights is None else weights.sum())
    for rows, block in landmarks.blocks(X):
        sizes = np.abs(block)
        if weights is None:
            total += sizes.sum(dtype=np.float64) - np.trace(sizes[:, rows], dtype=np.float64)
        else:
            # copies of a point are compared with each other, a copy with itself is not
            own = np.diagonal(sizes[:, rows])
            total += float(weights[rows] @ sizes @ weights - weights[rows] @ own)
    return total / max(n_points * (n_points - 1), 1) or 1.0


def is_rounding(totals: Floats, weights: Floats) -> np.ndarray:
    """Return which sums of rows of weights are 0 up to rounding."""
    limits = np.finfo(weights.dtype)
    error = np.sqrt(weights.shape[1]) * limits.eps * np.abs(weights).sum(axis=1)
    # subnormal numbers have few digits
    return np.abs(totals) <= np.maximum(error, limits.tiny / limits.eps)


def _finite(similarities: NDArray[Any]) -> Floats:
    """Refuse NaN and infinity; counts become float64."""
    if similarities.dtype.kind != "f":
        similarities = similarities.astype(np.float64)
    if not np.isfinite(similarities).all():
        raise ValueError("'similarity' must give finite numbers, and gave NaN or infinity")
    return similarities


def dselect(
    column: Column,
    candidates: ArrayLike,
    n_landmarks: int,
    rng: np.random.RandomState,
    *,
    given: ArrayLike = (),
) -> Indices:
    """Choose points that are unlike each other: DSELECT, algorithm 3, lines 1 to 5.

    The first is drawn at random. Each further one is the candidate with the least average
    similarity K(candidate, chosen) to those chosen before; ties go to the first. The thesis
    prints the arg min without the average, which its text implies.

    Parameters
    ----------
    column : callable
        ``column(i)``, of shape (n_samples,), is the similarity of every training point to
        point i, or minus the distance. It is called once for each chosen point but the last.
    candidates : array-like of shape (n_candidates,)
        Distinct indices of training points that may be chosen.
    n_landmarks : int
        Number to choose; all candidates if there are no more.
    rng : RandomState
    given : array-like of shape (n_given,), default=()
        Points, not among the candidates, that count as already chosen: the first one is then
        not drawn at random.

    Returns
    -------
    ndarray of shape (min(n_landmarks, n_candidates),)
        Indices of training points, in the order of choice.

    Raises
    ------
    ValueError
        If `n_landmarks` is below 1, there is no candidate, or a similarity is not finite.

    References
    ----------
    Kar (2013), section 4.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import dselect
    >>> x = np.array([0.0, 0.1, 1.0, 5.0])
    >>> dselect(lambda i: -abs(x - x[i]), [1, 2, 3], 3, np.random.RandomState(0), given=[0])
    array([3, 1, 2])
    """
    candidates, given = np.asarray(candidates, np.intp), np.asarray(given, np.intp)
    if n_landmarks < 1:
        raise ValueError(f"'n_landmarks' must be at least 1, got {n_landmarks!r}")
    if candidates.ndim != 1 or not len(candidates):
        raise ValueError(f"'candidates' must hold at least one number, got {candidates!r}")
    totals = np.zeros(len(candidates))
    for i in given:
        totals += _finite(column(i))[candidates]
    place = totals.argmin() if len(given) else rng.randint(len(candidates))
    chosen = [candidates[place]]
    while len(chosen) < min(n_landmarks, len(candidates)):
        totals += _finite(column(candidates[place]))[candidates]
        totals[place] = np.inf  # not again
        place = totals.argmin()
        chosen.append(candidates[place])
    return np.array(chosen)


def select_landmarks(
    n_landmarks: int, codes: Indices, selection: str, rng: Random, column: Any = None
) -> Indices:
    """Choose distinct training points as landmarks; all, with a warning, if there are fewer.

    `codes` are the classes of the training points, none of them empty. "random" draws uniformly,
    "stratified" from each class in proportion to its size, by largest remainders, at least one if
    there are as many landmarks as classes. "dselect" is algorithm 3 (:func:`dselect`, with its
    `column`): for one or two classes over all points; for more within each class, evenly, the
    remainder from the larger classes. If all landmarks are of one of two classes, the last one is
    replaced by the point of the other class that is least similar to the rest.
    """
    if n_landmarks > len(codes):
        warnings.warn(
            f"n_landmarks={n_landmarks} is more than the {len(codes)} training points: each of "
            "them is a landmark",
            UserWarning,
            stacklevel=2,
        )
        n_landmarks = len(codes)
    if selection == "dselect":
        return _diverse(n_landmarks, codes, column, rng)
    if selection == "random":
        return rng.permutation(len(codes))[:n_landmarks]
    shares = _proportional_shares(n_landmarks, np.bincount(codes))
    drawn = [rng.permutation(np.flatnonzero(codes == c))[:n] for c, n in enumerate(shares)]
    return np.concatenate(drawn)


def select_pairs(
    n_landmarks: int, codes: Indices, selection: str, rng: Random, column: Any = None
) -> Indices:
    """Choose pairs of training points as landmarks, of shape (n_problems, n_landmarks, 2).

    There is one problem, class 1 against class 0, for two classes, otherwise one per class. A pair
    is a point x⁺ of the class and a point x⁻ of the rest; pairs may repeat. "random" draws both
    uniformly with replacement. "stratified" spreads the x⁻ over the classes of the rest in
    proportion to their sizes, by systematic sampling. "dselect" draws both from one set of
    singletons chosen as by :func:`select_landmarks` (algorithm 3, lines 6 to 9), `n_landmarks` but
    at least one per class; "shared" from as many that are drawn evenly from the classes.
    """
    n_classes = int(codes.max()) + 1
    if n_classes < 2:
        raise ValueError("y holds one class: pairs of landmarks need at least two")
    pool: Indices = np.arange(len(codes))
    if selection == "dselect":
        pool = _diverse(min(max(n_landmarks, n_classes), len(codes)), codes, column, rng)
    elif selection == "shared":
        shares = _even_shares(min(max(n_landmarks, n_classes), len(codes)), np.bincount(codes))
        pool = np.concatenate(
            [rng.choice(np.flatnonzero(codes == c), n, False) for c, n in enumerate(shares)]
        )
    problems = [1] if n_classes == 2 else range(n_classes)
    pairs = np.empty((len(problems), n_landmarks, 2), dtype=np.intp)
    for c, drawn in zip(problems, pairs, strict=True):
        inside = codes[pool] == c
        drawn[:, 0] = rng.choice(pool[inside], n_landmarks)
        if selection == "stratified":
            drawn[:, 1] = _systematic(n_landmarks, pool[~inside], codes, rng)
        else:
            drawn[:, 1] = rng.choice(pool[~inside], n_landmarks)
    return pairs


def _diverse(n_landmarks: int, codes: Indices, column: Column, rng: Random) -> Indices:
    """Apply DSELECT to all points of up to two classes, within each class of more."""
    sizes = np.bincount(codes)
    if len(sizes) > 2:
        shares = enumerate(_even_shares(n_landmarks, sizes))
        parts = [dselect(column, np.flatnonzero(codes == c), n, rng) for c, n in shares if n]
        return np.concatenate(parts)
    chosen = dselect(column, np.arange(len(codes)), n_landmarks, rng)
    missing = np.setdiff1d(codes, codes[chosen])
    if len(missing) and n_landmarks > 1:
        others = np.flatnonzero(codes == missing[0])
        chosen[-1:] = dselect(column, others, 1, rng, given=chosen[:-1])
    return chosen


def _even_shares(n: int, sizes: Indices) -> Indices:
    """Split n ≤ Σ sizes evenly, up to the size of each class."""
    shares = np.zeros_like(sizes)
    largest_first = np.argsort(-sizes, kind="stable")
    while (left := n - int(shares.sum())) > 0:
        room = largest_first[(shares < sizes)[largest_first]]
        taking = room[:left]
        shares[taking] = np.minimum(shares[taking] + left // len(taking), sizes[taking])
    return shares


def _proportional_shares(n: int, sizes: Indices) -> Indices:
    """Split n ≤ Σ sizes in proportion, at least one per class if n suffices."""
    quotas = n * sizes / sizes.sum()
    small = quotas < 1
    if n >= len(sizes) and small.any():
        shares = np.ones_like(sizes)
        shares[~small] = _proportional_shares(n - int(small.sum()), sizes[~small])
        return shares
    shares = np.floor(quotas).astype(sizes.dtype)
    largest_remainders = np.argsort(shares - quotas, kind="stable")
    shares[largest_remainders[: n - shares.sum()]] += 1
    return shares


def _systematic(n: int, points: Indices, codes: Indices, rng: Random) -> Indices:
    """Draw n points, evenly spaced in a random order sorted by class."""
    mixed = rng.permutation(points)
    by_class = mixed[np.argsort(codes[mixed], kind="stable")]
    places = (np.arange(n) + rng.uniform()) * (len(points) / n)
    # rounding may reach one past the end
    places = np.minimum(places.astype(np.intp), len(points) - 1)
    return rng.permutation(by_class[places])
