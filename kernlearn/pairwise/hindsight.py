"""Penalties of the pairs of a stream, and the weights that would have been the best."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.pairwise.losses import Hinge, PairwiseLoss
from kernlearn.pairwise.projections import project_l2

# Pairs at a time: 8 MB of float64 an array.
_BLOCK = 2**20
_ROUNDS = 40


class Block(NamedTuple):
    """The pairs of some points with earlier ones.

    Attributes
    ----------
    heads : slice
        The points.
    tails : ndarray of shape (1 or n_heads, n_tails), int
        What they are paired with.
    weights : ndarray of shape (n_heads, n_tails)
        Of the pairs in the mean; 0 where there is none.
    """

    heads: slice
    tails: NDArray[np.intp]
    weights: NDArray[np.float64]


class Unlike(NamedTuple):
    """Pairs of a positive and a negative point.

    Attributes
    ----------
    positive, negative : ndarray, int
        The points: of shape (n_pairs,) both, or (n_positive, 1) and (1, n_negative) for all.
    weights : ndarray
        Of the pairs in the sum of penalties.
    """

    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class StreamPairs:
    """Points of a stream, each paired with all before it or with those in a buffer.

    Attributes
    ----------
    X : {ndarray, CSR matrix} of shape (n, n_features)
        The points.
    y : ndarray of shape (n,)
        Their labels, -1.0 and +1.0.
    contents : ndarray of shape (n, size), int, or None
        What the buffer holds when a point comes; -1 is an empty slot. None for all pairs.
    """

    X: Any
    y: NDArray[np.float64]
    contents: NDArray[np.intp] | None = None

    def blocks(self, n: int) -> Iterator[Block]:
        """Go through the pairs of the first n points."""
        start = 1
        while start < n:
            width = n if self.contents is None else self.contents.shape[1]
            stop = min(n, start + max(1, _BLOCK // width))
            heads = slice(start, stop)
            if self.contents is None:
                tails = np.arange(stop - 1)[np.newaxis]
                there = tails < np.arange(start, stop)[:, np.newaxis]
            else:
                tails = self.contents[heads]
                there = tails >= 0
            yield Block(heads, tails, there / there.sum(axis=1, keepdims=True))
            start = stop

    def labels(self, block: Block) -> NDArray[np.float64]:
        """Return (y - y') / 2 of pairs, 0 where there is none."""
        labels = (self.y[block.heads, np.newaxis] - self.y[block.tails]) / 2
        return np.where(block.weights > 0, labels, 0.0)

    def penalties(
        self, weights: NDArray[np.float64], loss: PairwiseLoss, n: int
    ) -> NDArray[np.float64]:
        """Return the penalties (6.1) or (6.3) of the first n points, from the second on.

        Parameters
        ----------
        weights : ndarray of shape (n_features,) or (at least n - 1, n_features)
            One hypothesis, or that which each point meets.
        loss : PairwiseLoss
            The loss of a pair.
        n : int
            How many points.

        Returns
        -------
        ndarray of shape (n - 1,)
        """
        found = np.empty(n - 1)
        fixed = self.X[:n] @ weights if weights.ndim == 1 else None
        for block in self.blocks(n):
            rows = slice(block.heads.start - 1, block.heads.stop - 1)
            if fixed is not None:
                differences = fixed[block.heads, np.newaxis] - fixed[block.tails]
            else:
                differences = self._differences(block, weights[rows])
            losses = loss.value(self.labels(block) * differences)
            found[rows] = np.sum(block.weights * losses, axis=1)
        return found

    def _differences(self, block: Block, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of heads less those of tails, each head with its own weights."""
        if self.contents is None:
            scores = safe_sparse_dot(self.X[: block.heads.stop], weights.T, dense_output=True).T
            own = np.arange(block.heads.start, block.heads.stop)
            result: NDArray[np.float64] = (
                scores[np.arange(len(own)), own][:, np.newaxis] - scores[:, : own[-1]]
            )
            return result
        return np.array(
            [
                self.X[[head]] @ w - self.X[tails] @ w  # an empty slot's pair has weight 0
                for head, tails, w in zip(
                    range(block.heads.start, block.heads.stop), block.tails, weights, strict=True
                )
            ]
        )

    def unlike(self, n: int) -> Iterator[Unlike]:
        """Go through the pairs of two classes among the first n points, positive ones first."""
        if self.contents is None:
            positive, negative = (np.flatnonzero(self.y[:n] == sign) for sign in (1, -1))
            step = max(1, _BLOCK // max(1, len(negative)))
            for start in range(0, len(positive), step):
                part = positive[start : start + step, np.newaxis]
                # the later one is paired with as many as come before it
                yield Unlike(part, negative[np.newaxis], 1 / np.maximum(part, negative))
            return
        for block in self.blocks(n):
            rows, slots = np.nonzero(self.labels(block))
            heads, tails = rows + block.heads.start, block.tails[rows, slots]
            up = self.y[heads] > 0
            yield Unlike(
                np.where(up, heads, tails), np.where(up, tails, heads), block.weights[rows, slots]
            )

    def mean(
        self, w: NDArray[np.float64], loss: PairwiseLoss, width: float, n: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean penalty of the first n points in three forms, and a gradient.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            The weights.
        loss : PairwiseLoss
            The loss of a pair.
        width : float
            Over so much the kink of the hinge loss is rounded off.
        n : int
            How many points.

        Returns
        -------
        forms : ndarray of shape (3,)
            The mean penalty, that of the rounded loss, and what the tangent with the gradient
            has at w. The tangent lies below the mean penalty everywhere.
        gradient : ndarray of shape (n_features,)
            Of the second one.
        """
        scores = np.asarray(self.X[:n] @ w)
        by_score = np.zeros(n)
        sums, rest = np.zeros(3), float(n - 1)
        for positive, negative, weights in self.unlike(n):
            forms, slopes = _rounded(loss, scores[positive] - scores[negative], width)
            sums += [np.vdot(weights, form) for form in forms]
            rest -= float(weights.sum())
            slopes *= weights
            if slopes.ndim == 2:
                by_score[positive[:, 0]] += slopes.sum(axis=1)
                by_score[negative[0]] -= slopes.sum(axis=0)
            else:
                by_score += np.bincount(positive, slopes, minlength=n)
                by_score -= np.bincount(negative, slopes, minlength=n)
        # pairs of one class have margin 0, whatever the weights
        sums += rest * float(loss.value(np.zeros(1))[0])
        return sums / (n - 1), np.asarray(self.X[:n].T @ by_score).ravel() / (n - 1)


def _rounded(
    loss: PairwiseLoss, margins: NDArray[np.float64], width: float
) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    if not isinstance(loss, Hinge):
        value = loss.value(margins)
        return [value] * 3, loss.derivative(margins)
    # Huber's: a parabola between margins 1 - width and 1
    missing = 1 - margins
    steepness = np.clip(missing / width, 0, 1)
    support = steepness * missing
    return [np.maximum(missing, 0), support - width / 2 * steepness**2, support], -steepness


class Best(NamedTuple):
    """The best weights in a ball: their mean penalty is within `gap` of the least."""

    w: NDArray[np.float64]
    value: float
    gap: float


def best_in_ball(
    pairs: StreamPairs,
    n: int,
    loss: PairwiseLoss,
    *,
    radius: float,
    regularization: float,
    start: NDArray[np.float64],
    tol: float,
) -> Best:
    """Minimise the mean penalty of the first n points over the ball of the 2-norm.

    An augmented Lagrangian for the ball, L-BFGS for its weights. The kink of the hinge is rounded
    off ever more narrowly. A tangent gives a lower bound of the minimum, which is what counts.

    Parameters
    ----------
    pairs : StreamPairs
        The pairs.
    n : int
        How many points.
    loss : PairwiseLoss
        The loss of a pair.
    radius : float
        Of the ball.
    regularization : float
        Times half the squared norm of w is added.
    start : ndarray of shape (n_features,)
        Where to begin.
    tol : float
        Stop at a gap of so much of the penalty and its slope across the ball at w = 0.

    Returns
    -------
    Best

    Warns
    -----
    ConvergenceWarning
        If the gap is larger in the end.
    """

    def forms(w: NDArray[np.float64], width: float) -> tuple[float, float, float, NDArray[Any]]:
        found, gradient = pairs.mean(w, loss, width, n)
        value, smooth, support = map(float, found + regularization / 2 * float(w @ w))
        return value, smooth, support, gradient + regularization * w

    value, _, _, gradient = forms(np.zeros_like(start), 1.0)
    scale = abs(value) + radius * float(np.linalg.norm(gradient))
    if scale == 0:
        return Best(np.zeros_like(start), value, 0.0)
    best, highest = Best(start, math.inf, math.inf), -math.inf
    # in units of the radius
    v, multiplier, stiffness, width = start / radius, 0.0, 10 * scale, 0.3

    def lagrangian(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        _, smooth, _, gradient = forms(radius * v, width)
        force = max(multiplier + stiffness * _outside(v), 0.0)
        added = (force**2 - multiplier**2) / (2 * stiffness)
        return smooth + added, radius * gradient + force * v

    for _ in range(_ROUNDS):
        found = minimize(
            lagrangian, v, jac=True, method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-15, "gtol": tol * scale / 100, "maxls": 40},
        )  # fmt: skip
        v = found.x
        multiplier = max(multiplier + stiffness * _outside(v), 0.0)
        w = np.asarray(project_l2(radius * v, radius))
        value, _, support, gradient = forms(w, width)
        reach = float(gradient @ w) + radius * float(np.linalg.norm(gradient))
        highest = max(highest, support - reach)
        if value < best.value:
            best = Best(w, value, math.inf)
        best = best._replace(gap=max(best.value - highest, 0.0))
        if best.gap <= tol * scale:
            return best
        stiffness, width = min(2 * stiffness, 1e4 * scale), max(width / 3, tol / 100)
    warnings.warn(
        f"the best weights of {n} points are known to {best.gap:.3g} a round only; raise 'tol', "
        "scale the features, or take a smaller 'radius'",
        ConvergenceWarning,
        stacklevel=3,
    )
    return best


def _outside(v: NDArray[np.float64]) -> float:
    """Return half of what the squared norm has above 1."""
    return (float(v @ v) - 1) / 2
