"""Penalties of the pairs of a stream, and the best fixed weights in hindsight."""

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

# Pairs at a time: 8 MB of float64 per array.
_BLOCK = 2**20
_ROUNDS = 40


class Block(NamedTuple):
    """The pairs of some points with earlier ones.

    `heads` is a slice of points; `tails`, of shape (1 or n_heads, n_tails), are the points that
    they are paired with; `weights`, of shape (n_heads, n_tails), are those of the pairs in the
    mean penalty of a head, 0 where there is no pair.
    """

    heads: slice
    tails: NDArray[np.intp]
    weights: NDArray[np.float64]


class Unlike(NamedTuple):
    """Pairs of a positive and a negative point, and their weights in the sum of penalties.

    Points are of shape (n_pairs,) both, or (n_positive, 1) and (1, n_negative) for all pairs.
    """

    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class StreamPairs:
    """Points of a stream, each paired with all earlier ones or with those in a buffer.

    Attributes
    ----------
    X : {ndarray, CSR matrix} of shape (n, n_features)
        The points.
    y : ndarray of shape (n,)
        Their labels, -1.0 and +1.0.
    contents : ndarray of shape (n, size), int, or None
        The points in the buffer when a point comes; -1 is an empty slot. None for all pairs.
    """

    X: Any
    y: NDArray[np.float64]
    contents: NDArray[np.intp] | None = None

    def blocks(self, n: int) -> Iterator[Block]:
        """Yield the pairs of the first n points."""
        width = n if self.contents is None else self.contents.shape[1]
        step = max(1, _BLOCK // width)
        for start in range(1, n, step):
            heads = slice(start, min(n, start + step))
            if self.contents is None:
                tails = np.arange(heads.stop - 1)[np.newaxis]
                present = tails < np.arange(start, heads.stop)[:, np.newaxis]
            else:
                tails = self.contents[heads]
                present = tails >= 0
            yield Block(heads, tails, present / present.sum(axis=1, keepdims=True))

    def labels(self, block: Block) -> NDArray[np.float64]:
        """Return (y - y') / 2 of pairs, 0 where there is none."""
        labels = (self.y[block.heads, np.newaxis] - self.y[block.tails]) / 2
        return np.where(block.weights > 0, labels, 0.0)

    def penalties(
        self, weights: NDArray[np.float64], loss: PairwiseLoss, n: int
    ) -> NDArray[np.float64]:
        """Return the penalties (6.1) or (6.3) of points 2, …, n, shape (n - 1,).

        `weights` are one hypothesis, shape (n_features,), or that of each round, shape (at least
        n - 1, n_features).
        """
        penalties = np.empty(n - 1)
        fixed = self.X[:n] @ weights if weights.ndim == 1 else None
        for block in self.blocks(n):
            rows = slice(block.heads.start - 1, block.heads.stop - 1)
            if fixed is not None:
                differences = fixed[block.heads, np.newaxis] - fixed[block.tails]
            else:
                differences = self._differences(block, weights[rows])
            losses = loss.value(self.labels(block) * differences)
            penalties[rows] = np.sum(block.weights * losses, axis=1)
        return penalties

    def _differences(self, block: Block, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of heads less those of tails, each head with its own weights."""
        own = np.arange(block.heads.start, block.heads.stop)
        if self.contents is None:
            scores: NDArray[np.float64] = safe_sparse_dot(
                self.X[: block.heads.stop], weights.T, dense_output=True
            ).T
            return scores[np.arange(len(own)), own][:, np.newaxis] - scores[:, : own[-1]]
        # a pair with an empty slot has weight 0
        return np.array(
            [
                self.X[[head]] @ w - self.X[tails] @ w
                for head, tails, w in zip(own, block.tails, weights, strict=True)
            ]
        )

    def unlike(self, n: int) -> Iterator[Unlike]:
        """Yield the pairs of two classes among the first n points, positive ones first."""
        if self.contents is None:
            positive, negative = (np.flatnonzero(self.y[:n] == sign) for sign in (1, -1))
            step = max(1, _BLOCK // max(1, len(negative)))
            for start in range(0, len(positive), step):
                part = positive[start : start + step, np.newaxis]
                # the later one is paired with all points before it
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

        The forms are the mean penalty, that of the loss with the kink of the hinge rounded off
        over `width`, whose gradient it is, and the value at w of a tangent with that gradient
        that lies below the mean penalty everywhere.
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
    """The best weights in a ball: their mean penalty is within `gap` of the minimum."""

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

    An augmented Lagrangian for the ball, with L-BFGS for the weights, from `start`. The kink of
    the hinge is rounded off ever more narrowly. A tangent gives a lower bound of the minimum, and
    with it the gap. `regularization` times half the squared norm of w is added.

    The search stops at a gap of `tol` times the penalty at w = 0 and its slope across the ball;
    a ConvergenceWarning if the gap is larger in the end.
    """

    def forms(w: NDArray[np.float64], width: float) -> tuple[float, float, float, NDArray[Any]]:
        means, gradient = pairs.mean(w, loss, width, n)
        value, smooth, support = map(float, means + regularization / 2 * float(w @ w))
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
        force = max(multiplier + stiffness * _excess(v), 0.0)
        added = (force**2 - multiplier**2) / (2 * stiffness)
        return smooth + added, radius * gradient + force * v

    for _ in range(_ROUNDS):
        v = minimize(
            lagrangian, v, jac=True, method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-15, "gtol": tol * scale / 100, "maxls": 40},
        ).x  # fmt: skip
        multiplier = max(multiplier + stiffness * _excess(v), 0.0)
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
        f"the best weights of {n} points are known only up to {best.gap:.3g} per round; raise "
        "'tol', scale the features, or take a smaller 'radius'",
        ConvergenceWarning,
        stacklevel=3,
    )
    return best


def _excess(v: NDArray[np.float64]) -> float:
    """Return half of the squared norm above 1."""
    return (float(v @ v) - 1) / 2
