"""What was measured of a similarity: margins, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.landmarks.similarity import Landmarks, SimilarityEstimator
from kernlearn.landmarks.transfer import Identity, Ramp, Sign, Transfer
from kernlearn.theory.concentration import check_count, check_positive

Loss = str | Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, eq=False)
class Goodness:
    r"""How well a similarity tells classes apart on a sample.

    For two classes there is one problem, for k > 2 there are k, each class against the rest;
    shares and means are over all of them unless one is chosen by :meth:`of_class`.

    Attributes
    ----------
    margins : ndarray of shape (n_problems, n_samples)
        For each point the mean of :math:`w f(K(x, x') - K(x, x''))` over all others x' of its
        class and x'' of the other: G(x) of definition 4.6, the left side of equation 4.3; for
        Balcan & Blum's criterion the difference of both sides of equation 4.1 without
        :math:`\gamma`.
    classes : ndarray of shape (n_problems,)
        The class that each problem tells from the rest; of two classes the second.
    sides : ndarray of shape (n_problems, n_samples)
        1 for the points of that class, -1 for others.
    c_f : float
        :math:`C_f`, what :math:`\gamma` is multiplied with in equation 4.3.
    bound : float
        B: the largest absolute weight, of a pair where the criterion is about pairs.

    References
    ----------
    Kar (2013), definitions 4.1 and 4.6.
    """

    margins: NDArray[np.float64]
    classes: NDArray[Any]
    sides: NDArray[np.float64]
    c_f: float = 1.0
    bound: float = 1.0

    def epsilon(self, gamma: ArrayLike) -> Any:
        r"""Return the share of points that miss a margin.

        Parameters
        ----------
        gamma : float or array-like
            Margins :math:`\gamma`.

        Returns
        -------
        float or ndarray
            The share with a margin below :math:`C_f \gamma`, of the shape of `gamma`: the
            similarity is (that, :math:`\gamma`, B)-good on the sample where
            :math:`\gamma > 0`.
        """
        ordered = np.sort(self.margins, axis=None)
        below = np.searchsorted(ordered, self.c_f * np.asarray(gamma, dtype=np.float64))
        share = below / ordered.size
        return float(share) if share.ndim == 0 else share

    def gamma(self, epsilon: ArrayLike) -> Any:
        r"""Return the largest margin that all but some points have.

        Parameters
        ----------
        epsilon : float or array-like
            Shares, at least 0 and less than 1.

        Returns
        -------
        float or ndarray
            The largest :math:`\gamma` with ``epsilon(gamma)`` at most the share, of the shape
            of `epsilon`; definition 4.1 speaks of those above 0 only.

        Raises
        ------
        ValueError
            If `epsilon` is out of range.
        """
        shares = np.asarray(epsilon, dtype=np.float64)
        if not ((shares >= 0) & (shares < 1)).all():
            raise ValueError(f"'epsilon' must be at least 0 and less than 1, got {epsilon!r}")
        ordered = np.sort(self.margins, axis=None)
        # Rounding of the product must not lose the last one.
        allowed = np.floor(shares * ordered.size + 1e-9).astype(np.intp)
        found = ordered[np.minimum(allowed, ordered.size - 1)] / self.c_f
        return float(found) if found.ndim == 0 else found

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return where the trade-off between :math:`\gamma` and :math:`\varepsilon` has steps.

        Returns
        -------
        gamma, epsilon : ndarray of shape (n_steps,)
            All margins found, divided by :math:`C_f`, ascending and each once, and the share
            of points below each.
        """
        distinct, counts = np.unique(self.margins, return_counts=True)
        below = np.cumsum(counts) - counts
        return distinct / self.c_f, below / self.margins.size

    def loss(self, loss: Loss = "hinge", *, gamma: float = 1.0) -> float:
        r"""Return the mean loss: the :math:`\varepsilon` of definition 4.6.

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
            The mean of L(G(x)) over the points.

        Raises
        ------
        ValueError
            If an argument is not one of those allowed.
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
        r"""The share of points with no margin above 0: the least :math:`\varepsilon` possible."""
        return float((self.margins <= 0).mean())

    @property
    def error(self) -> float:
        """The share of points that the classifier of theorem 4.2 gets wrong.

        It has all pairs of other points as landmarks. Of several classes it takes the one with
        the largest value; a tie is an error.
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

    def of_class(self, label: Any) -> Goodness:
        """Return what was measured on one class against the rest.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        Goodness
            With one problem.

        Raises
        ------
        ValueError
            If there is no such problem.
        """
        (found,) = np.nonzero(self.classes == label)
        if not len(found):
            raise ValueError(f"'label' must be one of {self.classes.tolist()}, got {label!r}")
        return replace(
            self,
            margins=self.margins[found],
            classes=self.classes[found],
            sides=self.sides[found],
        )


# Differences that a transfer function is applied to at once: 1 MB of float64.
_TILE_ELEMENTS = 2**17


@dataclass(frozen=True)
class References:
    """The points that others are compared with.

    Attributes
    ----------
    indices : ndarray of shape (n_references,)
        Their rows in the sample.
    codes : ndarray of shape (n_references,)
        Their classes, 0, …, k - 1, each of them twice at least.
    weights : ndarray of shape (n_references,)
        What each of them counts.
    """

    indices: NDArray[np.intp]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def members(self) -> NDArray[np.float64]:
        """Say which class each point is of, by a 1 in its column: (n_references, k)."""
        return np.eye(self.codes.max() + 1)[self.codes]


class Comparisons:
    """Some points, each compared with all references but itself.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_references)
        Similarities.
    rows : ndarray of shape (n_points,)
        The points' rows in the sample.
    codes : ndarray of shape (n_points,)
        Their classes.
    references : References
        What they are compared with.
    """

    def __init__(
        self,
        values: NDArray[np.floating],
        rows: NDArray[np.intp],
        codes: NDArray[np.intp],
        references: References,
    ) -> None:
        self.values = values.astype(np.float64, copy=False)
        self.members = references.members
        own = rows[:, None] == references.indices
        self.weights = np.where(own, 0.0, references.weights)
        classes = np.arange(self.members.shape[1])
        is_own = codes[:, None] == classes
        self.sides = np.where(is_own, 1.0, -1.0)
        there = own.any(axis=1, keepdims=True)
        # How many others each class has, and how many are in none but it.
        self.inside = self.members.sum(axis=0) - (is_own & there)
        self.outside = len(references) - there - self.inside

    def mean_differences(self) -> NDArray[np.float64]:
        """Return, a class, E[wK | same] - E[wK | other] of Kar (2013), equation 4.1.

        Returns
        -------
        ndarray of shape (n_points, k)
        """
        weighted = self.weights * self.values
        sums = weighted @ self.members
        rest = weighted.sum(axis=1, keepdims=True) - sums
        return self.sides * (sums / self.inside - rest / self.outside)

    def pair_means(self, transfer: Transfer) -> NDArray[np.float64]:
        """Return, a class, E[w(x')w(x'') f(K(x, x') - K(x, x''))] of Kar (2013), equation 4.3.

        An antisymmetric function sums to zero over the pairs inside a class. The sum over the
        pairs (inside, outside) is therefore that over (inside, all), for every class at once.

        Parameters
        ----------
        transfer : Transfer
            The function f.

        Returns
        -------
        ndarray of shape (n_points, k)
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
    def _sorted(self) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        order = np.argsort(self.values, axis=1)
        values = np.take_along_axis(self.values, order, axis=1)
        return order, values, np.take_along_axis(self.weights, order, axis=1)

    def _linear_sums(self) -> NDArray[np.float64]:
        # Without what is common to a row more digits are kept, and equal values give zero.
        values = self.values - self.values[:, :1]
        total = self.weights.sum(axis=1, keepdims=True)
        moment = np.einsum("ij,ij->i", self.weights, values)
        return total * values - moment[:, None]

    def _clipped_sums(self, slope: float, reach: float) -> NDArray[np.float64]:
        from kernlearn.theory.pair_loops import clipped_sums

        order, values, weights = self._sorted
        in_order, sums = np.empty_like(values), np.empty_like(values)
        clipped_sums(values, weights, slope, reach, in_order)
        np.put_along_axis(sums, order, in_order, axis=1)
        return sums

    def _plain_sums(self, transfer: Transfer) -> NDArray[np.float64]:
        sums = np.empty_like(self.values)
        step = max(1, _TILE_ELEMENTS // sums.shape[1])
        for row, weights, out in zip(self.values, self.weights, sums, strict=True):
            for start in range(0, len(row), step):
                part = slice(start, start + step)
                out[part] = transfer(row[part, None] - row) @ weights
        return sums


def stratified_sample(
    codes: NDArray[np.intp], size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw points so that each class keeps its share, but two points at least if it has them.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes 0, …, k - 1.
    size : int
        How many points; a few less by rounding, more only for two a class; everything where
        there are no more.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of int
        Ascending indices.
    """
    if len(codes) <= size:
        return np.arange(len(codes))
    drawn = []
    for code, count in enumerate(np.bincount(codes)):
        share = min(count, max(2, size * count // len(codes)))
        drawn.append(rng.choice(np.flatnonzero(codes == code), share, replace=False))
    return np.sort(np.concatenate(drawn))


# Similarities in memory at once: 8 MB of float64, and about ten times that around them.
_BLOCK_ELEMENTS = 2**20


class Sample(SimilarityEstimator):
    """Labelled points and the similarity between them.

    Parameters
    ----------
    similarity, kind
        As in :func:`kernlearn.theory.goodness.goodness`.
    """

    def __init__(self, similarity: Any, kind: str) -> None:
        self.similarity = similarity
        self.kind = kind

    def read(self, X: Any, y: Any) -> Sample:
        """Check points and labels, and fit the similarity."""
        self._validate_params()
        X, y = self._check_training(X, y)
        check_classification_targets(y)
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"'y' must have two classes at least, got {len(self.classes_)}")
        for label, count in zip(self.classes_, np.bincount(self.codes_), strict=True):
            if count < 2:
                raise ValueError(
                    f"'y' has one point of class {label!s}; each class needs two at least, since "
                    "a point is compared with others of its class"
                )
        self.points_ = X
        self.landmarks_ = self._all_points(X, y)
        return self

    def blocks(self, landmarks: Landmarks) -> Iterator[tuple[NDArray[np.intp], Any]]:
        """Yield rows of the sample and their similarities to landmarks."""
        step = max(1, _BLOCK_ELEMENTS // len(landmarks))
        for rows in gen_batches(len(self.codes_), step):
            yield np.arange(rows.start, rows.stop), landmarks.compare(self.points_[rows])


def measure(
    sample: Sample,
    criteria: Mapping[str, Transfer | None],
    *,
    weights: ArrayLike | None,
    c_f: float | str,
    max_references: int,
    random_state: Any,
) -> dict[str, Goodness]:
    """Measure several criteria; for the arguments see ``goodness``."""
    check_count(max_references=max_references)
    if not (c_f == "range" or (not isinstance(c_f, (str, bool)) and 0 < c_f < np.inf)):
        raise ValueError(f"'c_f' must be a finite number above 0 or 'range', got {c_f!r}")
    codes = sample.codes_
    n = len(codes)
    w = np.ones(n) if weights is None else _check_weights(weights, n)
    everything = References(np.arange(n), codes, w)
    drawn = stratified_sample(codes, max_references, check_random_state(random_state))
    some = References(drawn, codes[drawn], w[drawn])
    margins = {name: np.empty((n, len(sample.classes_))) for name in criteria}
    ranges = dict.fromkeys(criteria, (np.inf, -np.inf))
    for rows, values in sample.blocks(sample.landmarks_):
        full = Comparisons(values, rows, codes[rows], everything)
        part = Comparisons(values[:, drawn], rows, codes[rows], some)
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
                found = values if f is None else f(values)
                ranges[name] = min(low, float(found.min())), max(high, float(found.max()))
    sides = np.where(codes == np.arange(len(sample.classes_))[:, None], 1.0, -1.0)
    # of two classes the second says all
    kept = slice(1 if len(sample.classes_) == 2 else 0, None)
    largest = float(np.abs(w).max())
    return {
        name: Goodness(
            np.ascontiguousarray(margins[name].T[kept]),
            sample.classes_[kept],
            sides[kept],
            c_f=_range(name, ranges[name]) if c_f == "range" else float(c_f),
            bound=largest if f is None else largest**2,
        )
        for name, f in criteria.items()
    }


def _check_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    w = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="weights")
    if w.shape != (n,):
        raise ValueError(f"'weights' must have one number a point, ({n},), got shape {w.shape}")
    return w


def _range(name: str, ends: tuple[float, float]) -> float:
    if ends[0] == ends[1]:
        raise ValueError(
            f"c_f='range' needs a function that takes two values on the similarities; {name} is "
            f"{ends[0]:g} on all of them: give 'c_f' as a number"
        )
    return ends[1] - ends[0]


def best_weights(
    X: Any,
    y: Any,
    *,
    gamma: float,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> NDArray[np.float64]:
    r"""Return the weighting of least hinge loss for Balcan & Blum's criterion.

    It minimises the mean of :math:`[1 - m_w(x) / \gamma]_+` over
    :math:`w \in [-1, 1]^n`, where :math:`m_w(x)` is the margin of equation 4.1 with x left out:
    a linear program with 2n variables, solved by HiGHS. The least :math:`\varepsilon` itself
    would be a hard combinatorial problem (section 4.2.2).

    There are as many weights as points, so that the loss on these points is lower than on
    others: to judge a similarity, measure it on other points than the weights were found on.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 1000 at most.
    y : array-like of shape (n_samples,)
        Two classes, each twice at least; of several, take one against the rest.
    gamma : float
        The margin :math:`\gamma > 0` below which a point costs.
    similarity : str, Kernel or callable, default="gaussian"
        As in :func:`goodness`.
    kind : {"similarity", "distance"}, default="similarity"
        As in :func:`goodness`.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights, between -1 and 1.

    Raises
    ------
    ValueError
        If an argument is not valid or there are more than two classes.

    References
    ----------
    Kar (2013), definition A.2 and section 4.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.theory.goodness import best_weights, goodness
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[:80], y[:80]
    >>> w = best_weights(X, y, gamma=0.1)
    >>> plain, best = goodness(X, y), goodness(X, y, weights=w)
    >>> best.loss("hinge", gamma=0.1) < plain.loss("hinge", gamma=0.1)
    True
    """
    from scipy.optimize import linprog

    check_positive(gamma=gamma)
    sample = Sample(similarity, kind).read(X, y)
    codes, n = sample.codes_, len(sample.codes_)
    if len(sample.classes_) > 2:
        raise ValueError(
            f"'y' must have two classes, got {len(sample.classes_)}: take one against the rest"
        )
    same = codes[:, None] == codes
    values = sample.landmarks_.compare(sample.points_).astype(np.float64)
    np.fill_diagonal(values, 0)
    n_same = same.sum(axis=1, keepdims=True) - 1
    margins = values * np.where(same, 1 / n_same, -1 / (n - 1 - n_same))
    # Variables: the weights, then each point's loss. gamma * loss >= gamma - margins @ w
    result = linprog(
        np.repeat([0.0, 1.0], n),
        A_ub=np.hstack([-margins, -gamma * np.eye(n)]),
        b_ub=np.full(n, -gamma),
        bounds=[(-1, 1)] * n + [(0, None)] * n,
        method="highs",
    )
    if not result.success:
        raise ValueError(f"no weights found for 'gamma' = {gamma!r}: {result.message}")
    return np.clip(result.x[:n], -1, 1)
