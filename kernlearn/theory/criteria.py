"""Criteria of goodness: comparisons of points with all others of a sample, and their summaries."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.checks import check_count, check_positive
from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.transfer import Identity, Ramp, Sign, Transfer
from kernlearn.memory import require_memory, row_blocks

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

# Differences that a transfer function is applied to at once: 1 MB of float64.
_TILE_ELEMENTS = 2**17
# Similarities in memory at once, with about ten times as much for temporaries.
_BLOCK_BYTES = 2**23


class Sample(SimilarityEstimator):
    """A sample of points, each of which is compared with all of them."""

    def __init__(self, similarity: Any, kind: str) -> None:
        self.similarity = similarity
        self.kind = kind

    def read(self, X: Any, y: Any) -> Self:
        """Validate points and targets, and fit the similarity."""
        self._validate_params()
        self.points, self.targets = self._check_training(X, y)
        self.landmarks = self._candidates(self.points, self.targets)
        return self

    def read_points(self, X: Any, places: Indices | None = None) -> Any:
        """Validate points, and fit the similarity without targets; return the points.

        `places` are their rows in the user's data, for errors.
        """
        self._validate_params()
        self.points, _ = self._check_training(X, None)
        self.landmarks = self._candidates(self.points, None, None if self._precomputed else places)
        return self.points

    def read_classes(self, X: Any, y: Any) -> Self:
        """Read a sample of at least two classes, each with at least two points."""
        check_classification_targets(self.read(X, y).targets)
        self.classes, self.codes = np.unique(self.targets, return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError(f"'y' must have at least two classes, got {len(self.classes)}")
        for label, count in zip(self.classes, np.bincount(self.codes), strict=True):
            if count < 2:
                raise ValueError(
                    f"'y' has one point of class {label!s}; each class needs at least two, since "
                    "a point is compared with others of its class"
                )
        return self

    def gram(self) -> Array:
        """Return the similarities of all points to all."""
        return self.landmarks.compare(self.points).astype(np.float64)

    def blocks(self) -> Iterator[tuple[Indices, NDArray[np.floating]]]:
        """Yield rows of the sample and their similarities to all points."""
        n = len(self.codes)
        for rows in row_blocks(n, n, block_bytes=_BLOCK_BYTES):
            yield np.arange(rows.start, rows.stop), self.landmarks.compare(self.points[rows])


def stratified_sample(codes: Indices, size: int, rng: np.random.RandomState) -> Indices:
    """Draw about `size` points, with the share of each class kept; return ascending indices.

    Each class keeps at least two points if it has them, so that there may be more than `size`.
    """
    if len(codes) <= size:
        return np.arange(len(codes))
    drawn = []
    for code, count in enumerate(np.bincount(codes)):
        share = min(count, max(2, size * count // len(codes)))
        drawn.append(rng.choice(np.flatnonzero(codes == code), share, replace=False))
    return np.sort(np.concatenate(drawn))


class Comparisons:
    """Some points of a sample, each compared with all references except itself.

    `values` are their similarities, (n_points, n_references); `rows` and `references` index the
    classes `codes` and the `weights` of all points of the sample.
    """

    def __init__(
        self,
        values: NDArray[np.floating],
        rows: Indices,
        references: Indices,
        codes: Indices,
        weights: Array,
    ) -> None:
        self.values = values.astype(np.float64, copy=False)
        # the class of each reference, one-hot encoded
        self.members = np.eye(codes.max() + 1)[codes[references]]
        own = rows[:, None] == references
        self.weights = np.where(own, 0.0, weights[references])
        is_own = codes[rows, None] == np.arange(self.members.shape[1])
        self.sides = np.where(is_own, 1.0, -1.0)
        present = own.any(axis=1, keepdims=True)
        # numbers of other points inside and outside each class
        self.inside = self.members.sum(axis=0) - (is_own & present)
        self.outside = len(references) - present - self.inside

    def mean_differences(self) -> Array:
        """Return E[wK | same] - E[wK | other], equation 4.1, per point and class."""
        weighted = self.weights * self.values
        sums = weighted @ self.members
        rest = weighted.sum(axis=1, keepdims=True) - sums
        return self.sides * (sums / self.inside - rest / self.outside)

    def pair_means(self, transfer: Transfer) -> Array:
        """Return E[w(x')w(x'') f(K(x, x') - K(x, x''))], equation 4.3, per point and class.

        An antisymmetric function sums to zero over the pairs inside a class. The sum over the
        pairs (inside, outside) is therefore that over (inside, all), for every class at once.
        """
        if isinstance(transfer, Identity):
            sums = self._linear_sums()
        elif isinstance(transfer, Sign):
            sums = self._clipped_sums(0.0, 0.0)
        elif isinstance(transfer, Ramp):
            sums = self._clipped_sums(transfer.slope, 1 / transfer.slope)
        else:
            sums = self._plain_sums(transfer)
        return self.sides * ((sums * self.weights) @ self.members) / (self.inside * self.outside)

    @cached_property
    def _sorted(self) -> tuple[Indices, Array, Array]:
        order = np.argsort(self.values, axis=1)
        values = np.take_along_axis(self.values, order, axis=1)
        return order, values, np.take_along_axis(self.weights, order, axis=1)

    def _linear_sums(self) -> Array:
        # without what is common to a row more digits are kept, and equal values give zero
        values = self.values - self.values[:, :1]
        total = self.weights.sum(axis=1, keepdims=True)
        moment = np.einsum("ij,ij->i", self.weights, values)
        return total * values - moment[:, None]

    def _clipped_sums(self, slope: float, reach: float) -> Array:
        order, values, weights = self._sorted
        in_order, sums = np.empty_like(values), np.empty_like(values)
        _compiled_clipped_sums()(values, weights, slope, reach, in_order)
        np.put_along_axis(sums, order, in_order, axis=1)
        return sums

    def _plain_sums(self, transfer: Transfer) -> Array:
        sums = np.empty_like(self.values)
        step = max(1, _TILE_ELEMENTS // sums.shape[1])
        for row, weights, out in zip(self.values, self.weights, sums, strict=True):
            for start in range(0, len(row), step):
                part = slice(start, start + step)
                out[part] = transfer(row[part, None] - row) @ weights
        return sums


@lru_cache(maxsize=1)
def _compiled_clipped_sums() -> Any:
    from numba import njit

    return njit(cache=True, nogil=True)(_sum_clipped)


def _sum_clipped(values: Array, weights: Array, slope: float, reach: float, sums: Array) -> None:
    """Set `sums` to the weighted sums of clipped differences of each number and all of its row.

    The rows of `values` ascend. A difference t within the reach counts slope * t, one beyond it
    its sign: slope s and reach 1/s are a ramp, 0 and 0 the sign.
    """
    n_rows, n = values.shape
    for r in range(n_rows):
        total = 0.0
        for j in range(n):
            total += weights[r, j]
        low = high = 0
        # moments about the smallest number keep more digits, and those of equal numbers are 0
        least = values[r, 0]
        # weight, and weight times value, of all numbers below the window, and up to its end
        weight_low = weight_high = moment_low = moment_high = 0.0
        for i in range(n):
            value = values[r, i]
            while values[r, low] < value - reach:
                weight_low += weights[r, low]
                moment_low += weights[r, low] * (values[r, low] - least)
                low += 1
            while high < n and values[r, high] <= value + reach:
                weight_high += weights[r, high]
                moment_high += weights[r, high] * (values[r, high] - least)
                high += 1
            inside = (value - least) * (weight_high - weight_low)
            inside -= moment_high - moment_low
            sums[r, i] = weight_low - (total - weight_high) + slope * inside


@dataclass(frozen=True, eq=False)
class Goodness:
    r"""How well a similarity separates classes on a sample.

    For two classes there is one problem, for k > 2 there are k, each class against the rest;
    shares and means are over all of them.

    Attributes
    ----------
    margins : ndarray of shape (n_problems, n_samples)
        For each point the mean of :math:`w f(K(x, x') - K(x, x''))` over all others x' of its
        class and x'' of the other: G(x) of definition 4.6, the left side of equation 4.3; for
        Balcan & Blum's criterion the difference of both sides of equation 4.1 without
        :math:`\gamma`.
    classes : ndarray of shape (n_problems,)
        The class that each problem separates from the rest; of two classes the second.
    sides : ndarray of shape (n_problems, n_samples)
        1 for the points of that class, -1 for others.
    c_f : float
        :math:`C_f`, the factor of :math:`\gamma` in equation 4.3.
    bound : float
        B: the largest absolute weight, of a pair where the criterion is about pairs.

    References
    ----------
    Kar (2013), definitions 4.1 and 4.6.

    Examples
    --------
    >>> from kernlearn.theory.goodness import goodness
    >>> good = goodness([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], similarity="manhattan")
    >>> good.margins.tolist(), good.misplaced
    ([[4.5, 3.5, 3.5, 4.5]], 0.0)
    """

    margins: NDArray[np.float64]
    classes: NDArray[Any]
    sides: NDArray[np.float64]
    c_f: float = 1.0
    bound: float = 1.0

    def epsilon(self, gamma: ArrayLike) -> Any:
        r"""Return the share of points with a margin below :math:`C_f \gamma`, for each `gamma`.

        The similarity is (that share, :math:`\gamma`, B)-good on the sample where
        :math:`\gamma > 0`. A float for a float, else an ndarray of the shape of `gamma`.
        """
        ordered = np.sort(self.margins, axis=None)
        below = np.searchsorted(ordered, self.c_f * np.asarray(gamma, dtype=np.float64))
        share = below / ordered.size
        return float(share) if share.ndim == 0 else share

    def gamma(self, epsilon: ArrayLike) -> Any:
        r"""Return the largest margin that all points have but a share, for each `epsilon`.

        That is the largest :math:`\gamma` with ``epsilon(gamma)`` at most the share; definition
        4.1 is about those above 0 only. A float for a float, else an ndarray of the shape of
        `epsilon`; a ValueError if a share is below 0, or is 1 or more.
        """
        shares = np.asarray(epsilon, dtype=np.float64)
        if not ((shares >= 0) & (shares < 1)).all():
            raise ValueError(f"'epsilon' must be at least 0 and less than 1, got {epsilon!r}")
        ordered = np.sort(self.margins, axis=None)
        # rounding of the product must not lose the last one
        allowed = np.floor(shares * ordered.size + 1e-9).astype(np.intp)
        gamma = ordered[np.minimum(allowed, ordered.size - 1)] / self.c_f
        return float(gamma) if gamma.ndim == 0 else gamma

    def loss(
        self, loss: str | Callable[[Any], ArrayLike] = "hinge", *, gamma: float = 1.0
    ) -> float:
        r"""Return the mean of L(G(x)) over the points: the :math:`\varepsilon` of definition 4.6.

        Parameters
        ----------
        loss : {"hinge", "logistic"} or callable, default="hinge"
            :math:`[1 - t / \gamma]_+`, of Lipschitz constant :math:`1 / \gamma`;
            :math:`\ln(1 + e^{-t})`, of constant 1; or a function of an array of margins.
        gamma : float, default=1.0
            The margin of the hinge loss, above 0.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        check_positive(gamma=gamma)
        if callable(loss):
            return float(np.asarray(loss(self.margins)).mean())
        if loss == "hinge":
            return float(np.maximum(1 - self.margins / gamma, 0).mean())
        if loss == "logistic":
            return float(np.logaddexp(0, -self.margins).mean())
        raise ValueError(f"'loss' must be 'hinge', 'logistic' or a callable, got {loss!r}")

    @property
    def misplaced(self) -> float:
        r"""The share of points with no margin above 0: the least :math:`\varepsilon`."""
        return float((self.margins <= 0).mean())

    @property
    def error(self) -> float:
        """The error of the classifier of theorem 4.2 with all pairs of other points as landmarks.

        Of several classes it predicts the one with the largest value; a tie is an error.
        """
        if len(self.margins) == 1:
            return self.misplaced
        own = self.sides > 0
        values = self.sides * self.margins
        others = np.where(own, -np.inf, values).max(axis=0)
        return float((np.where(own, values, -np.inf).max(axis=0) <= others).mean())

    @property
    def mean_margin(self) -> float:
        """The mean margin."""
        return float(self.margins.mean())


def measure_criteria(
    sample: Sample,
    criteria: Mapping[str, Transfer | None],
    weights: ArrayLike | None,
    c_f: float | str,
    max_references: int,
    random_state: Any,
) -> dict[str, Goodness]:
    """Measure several criteria; the arguments are those of :func:`goodness.goodness`."""
    check_count(max_references=max_references)
    if not (c_f == "range" or (not isinstance(c_f, (str, bool)) and 0 < c_f < np.inf)):
        raise ValueError(f"'c_f' must be a finite number above 0 or 'range', got {c_f!r}")
    codes = sample.codes
    n = len(codes)
    w = np.ones(n)
    if weights is not None:
        w = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="weights")
        if w.shape != (n,):
            raise ValueError(
                f"'weights' must have one number per point, ({n},), got shape {w.shape}"
            )
    drawn = stratified_sample(codes, max_references, check_random_state(random_state))
    k = len(sample.classes)
    needed = 8 * k * (n * (len(criteria) + 3) + k)
    purpose = f"margins of {n} points for {k} classes by {len(criteria)} criteria"
    require_memory(needed, None, purpose, "give fewer points or classes")
    margins = {name: np.empty((n, len(sample.classes))) for name in criteria}
    ranges = dict.fromkeys(criteria, (np.inf, -np.inf))
    for rows, values in sample.blocks():
        full = Comparisons(values, rows, np.arange(n), codes, w)
        part = Comparisons(values[:, drawn], rows, drawn, codes, w)
        for name, f in criteria.items():
            if f is None and weights is not None:
                margins[name][rows] = full.mean_differences()
            elif f is None or isinstance(f, (Identity, Sign, Ramp)):
                # without weights equation 4.1 is about the mean difference of all pairs
                margins[name][rows] = full.pair_means(f or Identity())
            else:
                margins[name][rows] = part.pair_means(f)
            if c_f == "range":
                low, high = ranges[name]
                image = values if f is None else f(values)
                ranges[name] = min(low, float(image.min())), max(high, float(image.max()))
    sides = np.where(codes == np.arange(len(sample.classes))[:, None], 1.0, -1.0)
    # two classes are a single problem
    kept = slice(1 if len(sample.classes) == 2 else 0, None)
    largest = float(np.abs(w).max())
    results = {}
    for name, f in criteria.items():
        low, high = ranges[name] if c_f == "range" else (0.0, float(c_f))
        if low == high:
            raise ValueError(
                f"c_f='range' needs a function that takes two values on the similarities; {name} "
                f"is {low:g} on all of them: give 'c_f' as a number"
            )
        results[name] = Goodness(
            np.ascontiguousarray(margins[name].T[kept]),
            sample.classes[kept],
            sides[kept],
            c_f=high - low,
            bound=largest if f is None else largest**2,
        )
    return results
