"""Criteria of goodness on a sample of classes: margins of points, and their summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from kernlearn.checks import check_count, check_positive
from kernlearn.landmarks.transfer import Identity, Ramp, Sign, Transfer
from kernlearn.theory.comparisons import (
    ClassSample,
    Comparisons,
    References,
    Sample,
    stratified_sample,
)
from kernlearn.theory.supervised import linear_program

Loss: TypeAlias = str | Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, eq=False)
class Goodness:
    r"""How well a similarity separates classes on a sample.

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

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return all margins divided by :math:`C_f`, ascending, and the share below each.

        These are the steps of the trade-off between :math:`\gamma` and :math:`\varepsilon`, two
        arrays of shape (n_steps,).
        """
        distinct, counts = np.unique(self.margins, return_counts=True)
        below = np.cumsum(counts) - counts
        return distinct / self.c_f, below / self.margins.size

    def loss(
        self,
        loss: str | Callable[[NDArray[np.float64]], ArrayLike] = "hinge",
        *,
        gamma: float = 1.0,
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

    def of_class(self, label: Any) -> Goodness:
        """Return the goodness for the problem of one of `classes` against the rest."""
        (rows,) = np.nonzero(self.classes == label)
        if not len(rows):
            raise ValueError(f"'label' must be one of {self.classes.tolist()}, got {label!r}")
        return replace(
            self, margins=self.margins[rows], classes=self.classes[rows], sides=self.sides[rows]
        )


def measure_criteria(
    sample: ClassSample,
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
    w = np.ones(n) if weights is None else _check_weights(weights, n)
    everything = References(np.arange(n), codes, w)
    drawn = stratified_sample(codes, max_references, check_random_state(random_state))
    some = References(drawn, codes[drawn], w[drawn])
    margins = {name: np.empty((n, len(sample.classes))) for name in criteria}
    ranges = dict.fromkeys(criteria, (np.inf, -np.inf))
    for rows, values in sample.blocks():
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
                image = values if f is None else f(values)
                ranges[name] = min(low, float(image.min())), max(high, float(image.max()))
    sides = np.where(codes == np.arange(len(sample.classes))[:, None], 1.0, -1.0)
    # two classes are a single problem
    kept = slice(1 if len(sample.classes) == 2 else 0, None)
    largest = float(np.abs(w).max())
    return {
        name: Goodness(
            np.ascontiguousarray(margins[name].T[kept]),
            sample.classes[kept],
            sides[kept],
            c_f=_range(name, *ranges[name]) if c_f == "range" else float(c_f),
            bound=largest if f is None else largest**2,
        )
        for name, f in criteria.items()
    }


def best_weights(
    X: Any,
    y: Any,
    *,
    gamma: float,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> NDArray[np.float64]:
    r"""Return the weights with the smallest hinge loss for Balcan & Blum's criterion.

    They minimise the mean of :math:`[1 - m_w(x) / \gamma]_+` over
    :math:`w \in [-1, 1]^n`, where :math:`m_w(x)` is the margin of equation 4.1 with x left out:
    a linear program with 2n variables, solved by HiGHS. Minimising :math:`\varepsilon` itself
    would be a hard combinatorial problem (section 4.2.2).

    There are as many weights as points, so that the loss on these points is lower than on
    others: to judge a similarity, measure it on other points than the weights are fitted to.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 1000 at most.
    y : array-like of shape (n_samples,)
        Two classes, each at least twice; of several, take one against the rest.
    gamma : float
        The margin :math:`\gamma > 0` below which a point has a loss.
    similarity, kind
        As in :func:`kernlearn.theory.goodness.goodness`.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights, between -1 and 1.

    Raises
    ------
    ValueError
        If an argument is invalid or there are more than two classes.

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
    check_positive(gamma=gamma)
    sample = Sample(similarity, kind).read_classes(X, y)
    codes, n = sample.codes, len(sample.codes)
    if len(sample.classes) > 2:
        raise ValueError(
            f"'y' must have two classes, got {len(sample.classes)}: take one against the rest"
        )
    same = codes[:, None] == codes
    values = sample.gram().astype(np.float64)
    np.fill_diagonal(values, 0)
    n_same = same.sum(axis=1, keepdims=True) - 1
    margins = values * np.where(same, 1 / n_same, -1 / (n - 1 - n_same))
    # variables: the weights, then each point's loss; gamma * loss >= gamma - margins @ w
    solution = linear_program(
        np.repeat([0.0, 1.0], n),
        A_ub=np.hstack([-margins, -gamma * np.eye(n)]),
        b_ub=np.full(n, -gamma),
        lower=np.repeat([-1.0, 0.0], n),
        upper=np.repeat([1.0, np.inf], n),
    )
    return solution[:n]


def _check_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    w = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="weights")
    if w.shape != (n,):
        raise ValueError(f"'weights' must have one number per point, ({n},), got shape {w.shape}")
    return w


def _range(name: str, low: float, high: float) -> float:
    if low == high:
        raise ValueError(
            f"c_f='range' needs a function that takes two values on the similarities; {name} is "
            f"{low:g} on all of them: give 'c_f' as a number"
        )
    return high - low
