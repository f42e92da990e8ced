"""Penalties and regret of an online learner along a stream of pairs."""

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, check_X_y

from kernlearn.checks import check_nonnegative, check_positive
from kernlearn.linear.losses import LOSSES, MarginLoss, SmoothedHinge
from kernlearn.pairwise.learned_kernels import into_ball
from kernlearn.pairwise.learners import OLP, Buffer, two_classes
from kernlearn.validation import Floats, Indices, warn

_STREAM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 2}
# Pairs at a time: 8 MB of float64 per array.
_BLOCK = 2**20
_ROUNDS = 40


class RegretCurve(NamedTuple):
    r"""Penalties of one kind along a stream, and the regret.

    Attributes
    ----------
    penalty : ndarray of shape (n - 1,)
        The penalty of :math:`h_{t-1}` in round t = 2, …, n.
    regret : float
        The sum of the penalties less that of `best`.
    gap : float
        The accuracy of the smallest sum: the true regret is between `regret` and
        ``regret + gap``.
    best : ndarray of shape (n_features,)
        The best weights for all points.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, regret
    >>> X, y = (stream := two_gaussians(100, 3, random_state=0)).data, stream.target
    >>> seen = regret.follow(OLP(buffer_size=10, radius=2.0, random_state=0), X, y)
    >>> curve = regret.stream_regret(X, y, *seen, radius=2.0).all_pairs
    >>> curve.penalty.shape, curve.best.shape
    ((99,), (3,))
    >>> bool(0 < curve.per_round < curve.penalty.mean())
    True
    """

    penalty: Floats
    regret: float
    gap: float
    best: Floats

    @property
    def per_round(self) -> float:
        """The regret divided by the number of rounds, the subject of theorem 6.13."""
        return self.regret / len(self.penalty)


class StreamRegret(NamedTuple):
    """The regret of an online learner of pairs.

    Attributes
    ----------
    all_pairs : RegretCurve
        By penalties (6.1), on all pairs with earlier points.
    buffer : RegretCurve
        By penalties (6.3), on pairs with the points in the buffer.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, regret
    >>> X, y = (stream := two_gaussians(100, 3, random_state=0)).data, stream.target
    >>> seen = regret.follow(OLP(buffer_size=10, radius=2.0, random_state=0), X, y)
    >>> result = regret.stream_regret(X, y, *seen, radius=2.0)
    >>> result.all_pairs.penalty.shape, result.buffer.penalty.shape
    ((99,), (99,))
    """

    all_pairs: RegretCurve
    buffer: RegretCurve


class Trajectory(NamedTuple):
    """The weights and the buffer of a learner along a stream.

    Attributes
    ----------
    hypotheses : ndarray of shape (n - 1, n_features)
        The weights before points 2, …, n.
    contents : ndarray of shape (n, buffer_size), int
        Row i: the numbers, from 0, of the points in the slots when point i comes; -1 for an empty
        slot.
    """

    hypotheses: Floats
    contents: Indices


def follow(learner: OLP, X: ArrayLike, y: ArrayLike) -> Trajectory:
    """Run a copy of a learner on a stream, and record its weights and buffer.

    Parameters
    ----------
    learner : OLP
        The learner, left unchanged. The copy has ``average=False``, as regret is about the
        iterates, and makes one pass.
    X : {array-like, sparse matrix} of shape (n, n_features)
        The points, in their order.
    y : array-like of shape (n,)
        Their labels, of two classes.

    Returns
    -------
    Trajectory
        For :func:`stream_regret`.

    Raises
    ------
    ValueError
        If X and y are not valid for the learner.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP
    >>> from kernlearn.pairwise.regret import follow
    >>> stream = two_gaussians(50, 3, random_state=0)
    >>> trajectory = follow(OLP(buffer_size=5, random_state=0), stream.data, stream.target)
    >>> trajectory.hypotheses.shape, trajectory.contents.shape
    ((49, 3), (50, 5))
    """
    points, labels = check_X_y(X, y, **_STREAM)
    classes = two_classes(labels)
    copy = clone(learner).set_params(average=False)
    if not isinstance(seed := copy.random_state, Integral):
        copy.random_state = seed = check_random_state(seed).randint(2**31 - 1)
    n = len(labels)
    moves = Buffer(learner.buffer, learner.buffer_size, check_random_state(seed)).moves(n)
    hypotheses = np.empty((n - 1, points.shape[1]))
    contents = np.full((n, learner.buffer_size), -1)
    for i in range(n - 1):
        hypotheses[i] = copy.partial_fit(points[[i]], labels[[i]], classes=classes).coef_[0]
        contents[i + 1] = contents[i]
        moves.carry_out(i, contents[i + 1], i)
    return Trajectory(hypotheses, contents)


def stream_regret(
    X: ArrayLike,
    y: ArrayLike,
    hypotheses: ArrayLike,
    contents: ArrayLike,
    *,
    radius: float,
    loss: str = "hinge",
    regularization: float = 0.0,
    tol: float = 1e-4,
) -> StreamRegret:
    r"""Return the penalties of linear hypotheses along a stream, and their regret.

    The penalty of :math:`h_{t-1}` in round t = 2, …, n is the mean of
    :math:`\varphi\bigl(\tfrac{y_t - y}{2} \langle w_{t-1}, x_t - x \rangle\bigr)` over all
    earlier points (x, y), equation 6.1, or those in the buffer, equation 6.3; pairs of one class
    have :math:`\varphi(0)`. The regret is the sum less the smallest sum of a single w of norm at
    most `radius`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, n_features)
        The points, in their order.
    y : array-like of shape (n,)
        Their labels, of two classes.
    hypotheses : array-like of shape (n - 1, n_features)
        The weights :math:`w_1, \ldots, w_{n-1}` before points 2, …, n; see ``follow``.
    contents : array-like of shape (n, buffer_size), int
        The buffer as each point comes; see ``follow``.
    radius : float
        Radius of the ball of the 2-norm that contains the best w, that of the learner.
    loss : {"hinge", "squared_hinge", "logistic", "exponential", "squared"}, default="hinge"
        The φ.
    regularization : float, default=0.0
        λ of a term λ/2 ‖w‖² in each penalty.
    tol : float, default=1e-4
        Accuracy of the smallest mean penalty, as a share of the penalty and its slope across the
        ball at w = 0.

    Returns
    -------
    StreamRegret

    Raises
    ------
    ValueError
        If shapes do not match, there are not two classes, the buffer contains a later point or
        nothing, or a parameter is out of range.

    Warns
    -----
    ConvergenceWarning
        If this accuracy is not reached.

    Notes
    -----
    Time is :math:`O(n^2)` for each of about a hundred evaluations on all pairs; memory is a block
    of pairs.

    References
    ----------
    Kar (2013), equations 6.1 and 6.3, lemma 6.23, theorem 6.13.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, stream_regret
    >>> from kernlearn.pairwise.regret import follow
    >>> stream = two_gaussians(200, 3, random_state=0)
    >>> X, y = stream.data, stream.target
    >>> seen = follow(OLP(buffer_size=20, radius=2.0, random_state=0), X, y)
    >>> long = stream_regret(X, y, seen.hypotheses, seen.contents, radius=2.0)
    >>> short = stream_regret(X[:50], y[:50], seen.hypotheses[:49], seen.contents[:50], radius=2.0)
    >>> long.all_pairs.per_round < short.all_pairs.per_round
    True
    """
    points, labels = check_X_y(X, y, **_STREAM)
    signs = np.where(labels == two_classes(labels)[1], 1.0, -1.0)
    n, d = points.shape
    weights = check_array(hypotheses, dtype=np.float64, input_name="hypotheses")
    if weights.shape != (n - 1, d):
        raise ValueError(
            f"'hypotheses' must have shape {(n - 1, d)}, one row per point but the first, got "
            f"{weights.shape}"
        )
    check_positive(radius=radius, tol=tol)
    check_nonnegative(regularization=regularization)
    if loss not in LOSSES:
        raise ValueError(f"'loss' must be one of {', '.join(LOSSES)}, got {loss!r}")

    def curve(buffered: Indices | None) -> RegretCurve:
        pairs = StreamPairs(points, signs, buffered)
        penalty = pairs.penalties(weights, LOSSES[loss])
        penalty += regularization / 2 * np.einsum("ij,ij->i", weights, weights)
        best, least, gap = best_in_ball(pairs, loss, radius, regularization, tol)
        regret = float(penalty.sum() - (n - 1) * least)
        return RegretCurve(penalty, regret, (n - 1) * gap, best)

    return StreamRegret(curve(None), curve(_check_contents(contents, n)))


def _check_contents(contents: ArrayLike, n: int) -> Indices:
    points, times = np.asarray(contents), np.arange(n)[:, np.newaxis]
    valid = points.ndim == 2 and len(points) == n and points.dtype.kind in "iu"
    if not (valid and (points < times).all() and (points.max(axis=1) >= 0)[1:].all()):
        raise ValueError(
            "'contents' must have the numbers of one or more earlier points for each point but "
            f"the first, shape (n, buffer_size) with n = {n}, and -1 for empty slots"
        )
    return points.astype(np.int64)


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
    y: Floats
    contents: Indices | None = None

    def penalties(self, weights: Floats, loss: MarginLoss) -> Floats:
        """Return the penalties (6.1) or (6.3) of points 2, …, n, each with its row of weights."""
        penalties = np.empty(len(weights))
        for t, w in enumerate(weights, start=1):
            others: Any = slice(t)
            if self.contents is not None:
                others = self.contents[t][self.contents[t] >= 0]
            scores = self.X[[t]] @ w - self.X[others] @ w
            penalties[t - 1] = loss.value((self.y[t] - self.y[others]) / 2 * scores).mean()
        return penalties

    def unlike(self) -> Iterator[tuple[Any, Any, Floats]]:
        """Yield positive and negative points, and the weights of their pairs.

        Points are of shape (n_pairs,) both, or (n_positive, 1) and (1, n_negative) for all pairs.
        """
        if self.contents is None:
            positive, negative = (np.flatnonzero(self.y == sign) for sign in (1, -1))
            step = max(1, _BLOCK // max(1, len(negative)))
            for start in range(0, len(positive), step):
                part = positive[start : start + step, np.newaxis]
                # the later one is paired with all points before it
                yield part, negative[np.newaxis], 1 / np.maximum(part, negative)
            return
        buffered = self.contents
        heads, slots = np.nonzero((buffered >= 0) & (self.y[buffered] != self.y[:, np.newaxis]))
        tails, up = buffered[heads, slots], self.y[heads] > 0
        weights = 1 / np.count_nonzero(buffered >= 0, axis=1)[heads]
        yield np.where(up, heads, tails), np.where(up, tails, heads), weights

    def mean(self, w: Floats, loss: str, width: float) -> tuple[Floats, Floats]:
        """Return the mean penalty in three forms, and a gradient.

        The forms are the mean penalty, that of the loss with the kink of the hinge rounded off
        over `width`, whose gradient it is, and the value at w of a tangent with that gradient
        that lies below the mean penalty everywhere.
        """
        scores, n = np.asarray(self.X @ w), len(self.y)
        by_score = np.zeros(n)
        sums, rest = np.zeros(3), float(n - 1)
        for positive, negative, weights in self.unlike():
            margins = scores[positive] - scores[negative]
            forms, slopes = _rounded(loss, margins, weights, width)
            sums += forms
            rest -= float(weights.sum())
            if slopes.ndim == 2:
                by_score[positive[:, 0]] += slopes.sum(axis=1)
                by_score[negative[0]] -= slopes.sum(axis=0)
            else:
                by_score += np.bincount(positive, slopes, minlength=n)
                by_score -= np.bincount(negative, slopes, minlength=n)
        # pairs of one class have margin 0, whatever the weights
        sums += rest * float(LOSSES[loss].value(np.zeros(1))[0])
        return sums / (n - 1), np.asarray(self.X.T @ by_score).ravel() / (n - 1)


def _rounded(
    loss: str, margins: Floats, weights: Floats, width: float
) -> tuple[list[float], Floats]:
    """Return the weighted sum of a loss in three forms, and its slopes by the margins."""
    if loss != "hinge":  # smooth
        total = float(np.vdot(weights, LOSSES[loss].value(margins)))
        return [total] * 3, weights * LOSSES[loss].derivative(margins)
    smoothed, missing = SmoothedHinge(width, weights), 1 - margins
    total = float(np.vdot(weights, np.maximum(missing, 0)))
    return [total, smoothed.value(missing), total - smoothed.gap(missing)], -smoothed.slope(
        missing
    )


def best_in_ball(
    pairs: StreamPairs, loss: str, radius: float, regularization: float, tol: float
) -> tuple[Floats, float, float]:
    """Minimise the mean penalty over the ball of the 2-norm.

    Returns the weights, their mean penalty, and a gap: the minimum is no further below. The
    penalty includes `regularization` times half the squared norm of the weights.

    An augmented Lagrangian for the ball, with L-BFGS for the weights. The kink of the
    hinge is rounded off ever more narrowly. A tangent gives a lower bound of the minimum, and
    with it the gap. The search stops at a gap of `tol` times the penalty at w = 0 and its slope
    across the ball; a ConvergenceWarning if the gap is larger in the end.
    """

    def forms(w: Floats, width: float) -> tuple[float, float, float, Floats]:
        means, gradient = pairs.mean(w, loss, width)
        value, smooth, support = map(float, means + regularization / 2 * float(w @ w))
        return value, smooth, support, gradient + regularization * w

    best = v = np.zeros(pairs.X.shape[1])  # v is in units of the radius
    value, _, _, gradient = forms(v, 1.0)
    scale = abs(value) + radius * float(np.linalg.norm(gradient))
    least, gap, highest = math.inf, math.inf, -math.inf
    multiplier, stiffness, width = 0.0, 10 * scale, 0.3

    def force(v: Floats) -> float:
        return max(multiplier + stiffness * (float(v @ v) - 1) / 2, 0.0)

    def lagrangian(v: Floats) -> tuple[float, Floats]:
        _, smooth, _, gradient = forms(radius * v, width)
        added = (force(v) ** 2 - multiplier**2) / (2 * stiffness)
        return smooth + added, radius * gradient + force(v) * v

    options = {"maxiter": 200, "ftol": 1e-15, "gtol": tol * scale / 100, "maxls": 40}
    for _ in range(_ROUNDS):
        v = minimize(lagrangian, v, jac=True, method="L-BFGS-B", options=options).x
        multiplier = force(v)
        w = into_ball(radius * v, radius)
        value, _, support, gradient = forms(w, width)
        reach = float(gradient @ w) + radius * float(np.linalg.norm(gradient))
        highest = max(highest, support - reach)
        if value < least:
            best, least = w, value
        gap = max(least - highest, 0.0)
        if gap <= tol * scale:
            return best, least, gap
        stiffness, width = min(2 * stiffness, 1e4 * scale), max(width / 3, tol / 100)
    warn(
        f"the best weights of {len(pairs.y)} points are known only up to {gap:.3g} per round: "
        "raise 'tol', scale the features, or take a smaller 'radius'",
        ConvergenceWarning,
    )
    return best, least, gap
