"""Penalties of the pairs of a stream, and the best fixed weights in hindsight."""

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernlearn.pairwise.buffers import Array, Indices
from kernlearn.pairwise.losses import Hinge, PairwiseLoss
from kernlearn.pairwise.projections import project_l2

# Pairs at a time: 8 MB of float64 per array.
_BLOCK = 2**20
_ROUNDS = 40


class StreamPairs(NamedTuple):
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
    y: Array
    contents: Indices | None = None

    def penalties(self, weights: Array, loss: PairwiseLoss) -> Array:
        """Return the penalties (6.1) or (6.3) of points 2, …, n, each with its row of weights."""
        penalties = np.empty(len(weights))
        for t, w in enumerate(weights, start=1):
            others: Any = slice(t)
            if self.contents is not None:
                others = self.contents[t][self.contents[t] >= 0]
            scores = self.X[[t]] @ w - self.X[others] @ w
            penalties[t - 1] = loss.value((self.y[t] - self.y[others]) / 2 * scores).mean()
        return penalties

    def unlike(self, n: int) -> Iterator[tuple[np.ndarray, np.ndarray, Array]]:
        """Yield positive and negative points among the first n, and the weights of their pairs.

        Points are of shape (n_pairs,) both, or (n_positive, 1) and (1, n_negative) for all pairs.
        """
        if self.contents is None:
            positive, negative = (np.flatnonzero(self.y[:n] == sign) for sign in (1, -1))
            step = max(1, _BLOCK // max(1, len(negative)))
            for start in range(0, len(positive), step):
                part = positive[start : start + step, np.newaxis]
                # the later one is paired with all points before it
                yield part, negative[np.newaxis], 1 / np.maximum(part, negative)
            return
        kept = self.contents[:n]
        heads, slots = np.nonzero((kept >= 0) & (self.y[kept] != self.y[:n, np.newaxis]))
        tails, up = kept[heads, slots], self.y[heads] > 0
        weights = 1 / np.count_nonzero(kept >= 0, axis=1)[heads]
        yield np.where(up, heads, tails), np.where(up, tails, heads), weights

    def mean(self, w: Array, loss: PairwiseLoss, width: float, n: int) -> tuple[Array, Array]:
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
    loss: PairwiseLoss, margins: Array, width: float
) -> tuple[list[np.ndarray], np.ndarray]:
    if not isinstance(loss, Hinge):
        return [loss.value(margins)] * 3, loss.derivative(margins)
    # Huber's: a parabola between margins 1 - width and 1
    missing = 1 - margins
    steepness = np.clip(missing / width, 0, 1)
    support = steepness * missing
    return [np.maximum(missing, 0), support - width / 2 * steepness**2, support], -steepness


def best_in_ball(
    pairs: StreamPairs,
    n: int,
    loss: PairwiseLoss,
    radius: float,
    regularization: float,
    start: Array,
    tol: float,
) -> tuple[Array, float, float]:
    """Minimise the mean penalty of the first n points over the ball of the 2-norm.

    Returns the weights, their mean penalty, and a gap: the minimum is no further below. The
    penalty includes `regularization` times half the squared norm of the weights.

    An augmented Lagrangian for the ball, with L-BFGS for the weights, from `start`. The kink of
    the hinge is rounded off ever more narrowly. A tangent gives a lower bound of the minimum, and
    with it the gap. The search stops at a gap of `tol` times the penalty at w = 0 and its slope
    across the ball; a ConvergenceWarning if the gap is larger in the end.
    """

    def forms(w: Array, width: float) -> tuple[float, float, float, np.ndarray]:
        means, gradient = pairs.mean(w, loss, width, n)
        value, smooth, support = map(float, means + regularization / 2 * float(w @ w))
        return value, smooth, support, gradient + regularization * w

    value, _, _, gradient = forms(np.zeros_like(start), 1.0)
    scale = abs(value) + radius * float(np.linalg.norm(gradient))
    if scale == 0:
        return np.zeros_like(start), value, 0.0
    best, least, gap, highest = start, math.inf, math.inf, -math.inf
    # in units of the radius
    v, multiplier, stiffness, width = start / radius, 0.0, 10 * scale, 0.3

    def force(v: Array) -> float:
        return max(multiplier + stiffness * (float(v @ v) - 1) / 2, 0.0)

    def lagrangian(v: Array) -> tuple[float, Array]:
        _, smooth, _, gradient = forms(radius * v, width)
        added = (force(v) ** 2 - multiplier**2) / (2 * stiffness)
        return smooth + added, radius * gradient + force(v) * v

    options = {"maxiter": 200, "ftol": 1e-15, "gtol": tol * scale / 100, "maxls": 40}
    for _ in range(_ROUNDS):
        v = minimize(lagrangian, v, jac=True, method="L-BFGS-B", options=options).x
        multiplier = force(v)
        w = np.asarray(project_l2(radius * v, radius))
        value, _, support, gradient = forms(w, width)
        reach = float(gradient @ w) + radius * float(np.linalg.norm(gradient))
        highest = max(highest, support - reach)
        if value < least:
            best, least = w, value
        gap = max(least - highest, 0.0)
        if gap <= tol * scale:
            return best, least, gap
        stiffness, width = min(2 * stiffness, 1e4 * scale), max(width / 3, tol / 100)
    warnings.warn(
        f"the best weights of {n} points are known only up to {gap:.3g} per round; raise "
        "'tol', scale the features, or take a smaller 'radius'",
        ConvergenceWarning,
        stacklevel=3,
    )
    return best, least, gap
