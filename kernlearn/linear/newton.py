"""Newton's method for linear models on dense features.

It minimises LIBLINEAR's objective ½‖w‖² + C Σ loss(tᵢ) for several values of C, see
:mod:`kernlearn.linear.losses`. The Hessian is I + C Xᵀ D X, where D holds the curvatures of the
loss. Few of these change from step to step, and they do not depend on C. The product Xᵀ D X is
kept, and only rows whose curvature changed are added or removed.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve
from scipy.linalg.blas import dsymv, dsyrk
from sklearn.exceptions import ConvergenceWarning

from kernlearn.linear.losses import Loss
from kernlearn.memory import cholesky, gram, interruptible
from kernlearn.validation import Floats, warn

#: Relative size of a step that is due to rounding errors.
ROUNDING_STEP = 8 * np.finfo(np.float64).eps
_MAX_TRIALS = 200  # bisection from 1 passes 1e-60
_MAX_STALLS = 10  # exact steps without descent in a row, which rounding errors cause
_FLAT = 1e-3  # slope at which a step may end, relative to that at its start
_BLOCK_ROWS = 1024  # rows gathered at a time, which stay in cache for the product that follows
_BLOCK_WORK = 2 * 10**10  # operations of such a product, which Ctrl-C waits for


class PrimalNewton:
    """Newton's method with an exact line search, for problems that share their features.

    For the squared hinge, whose Hessian is constant as long as no row crosses the margin, it ends
    at the solution in finitely many steps. A smoothed hinge is smoothed less and less. With fewer
    rows than features, the problem is restricted to the span of the rows, where the solution
    lies: features become the n × n factor R of Xᵀ = QR.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Converted to float64: a product in float32 would save a tenth of the time and limit the
        accuracy.
    tol : float
        A solution w is accepted when ½‖∇f(w)‖² <= tol · f(w). The objective f is strongly
        convex with constant 1, so its relative excess over the minimum is then at most `tol`.
        LIBLINEAR's rule compares with the gradient at 0, which grows with C: the solution for
        a smaller C would be accepted unchanged. Where rounding errors keep the gradient larger,
        w is accepted when a step no longer changes it. A hinge is smoothed less until the duality
        gap that is due to the smoothing is as small, too.
    max_iter : int
        Maximum number of steps for each value of C, and for each smoothing of a hinge.

    References
    ----------
    Keerthi & DeCoste, A modified finite Newton method for fast solution of large scale linear
    SVMs, JMLR 6 (2005), algorithm 1. Fan et al., LIBLINEAR, JMLR 9 (2008), appendix A.
    """

    def __init__(self, features: NDArray[np.floating], *, tol: float, max_iter: int) -> None:
        X = np.ascontiguousarray(features, dtype=np.float64)
        self._basis: Floats | None = None
        if X.shape[0] < X.shape[1]:
            work = 2.0 * X.size * X.shape[0]
            self._basis, triangle = interruptible(partial(np.linalg.qr, X.T), work)
            X = np.ascontiguousarray(triangle.T)
        self._X = X
        self._tol = tol
        self._max_iter = max_iter
        self._whole = gram(X)
        self.converged: list[bool] = []

    def path(
        self, loss: Loss, signs: Floats | float, Cs: Iterable[float], offsets: Floats | float = 0.0
    ) -> Floats:
        """Solve for arguments signᵢ⟨w, xᵢ⟩ − offsetᵢ of the loss, and each C.

        `Cs` are best in ascending order, since each solution starts the next. For labels yᵢ of -1
        and +1 the signs are −yᵢ, and the offset is −1 for a hinge. For a regression they are 1 and
        the targets. Returns weights of shape (n_values, n_features); `converged` then tells for
        each C whether the solver did.
        """
        gram = WeightedGram(self._X, self._whole, loss.steepest, loss.slack)
        w = np.zeros(self._X.shape[1])
        path, self.converged = [], []
        for C in Cs:
            stage = loss
            while True:
                w, t, converged = self._minimise(stage, gram, w, signs, offsets, C)
                objective = 0.5 * float(w @ w) + C * stage.value(t)
                if not converged or C * stage.gap(t) <= self._tol * objective:
                    break
                stage = stage.narrower()
            if not converged:
                warn(
                    f"the Newton solver did not converge in {self._max_iter} steps at C={C:g}: "
                    "scale the features, lower C or raise tol",
                    ConvergenceWarning,
                )
            path.append(w)
            self.converged.append(converged)
        weights = np.array(path)
        return weights if self._basis is None else weights @ self._basis.T

    def _minimise(
        self,
        loss: Loss,
        gram: "WeightedGram",
        w: Floats,
        signs: Floats | float,
        offsets: Floats | float,
        C: float,
    ) -> tuple[Floats, Floats, bool]:
        """Return the solution, the arguments of the loss there, and whether it converged."""
        X = self._X
        t = signs * (X @ w) - offsets
        least, stalls = np.inf, 0
        for _ in range(self._max_iter + 1):
            gradient = w + C * combination(X, signs * loss.slope(t))
            objective = 0.5 * float(w @ w) + C * loss.value(t)
            stalls = 0 if objective < least else stalls + 1
            least = min(least, objective)
            is_small = 0.5 * (gradient @ gradient) <= self._tol * objective < np.inf
            if is_small or stalls > _MAX_STALLS:
                return w, t, True
            gram.follow(loss.curvature(t))
            if not np.isfinite(objective + C * gram.lower.trace()):
                break  # a Hessian that overflows has no factor
            step = gram.newton_step(gradient, C)
            moves = signs * (X @ step)
            length = exact_step(loss, C, t, moves, float(w @ step), float(step @ step))
            if not (length > 0 or w.any()):
                break  # the step is too long, not too short
            w = w + length * step
            t = t + length * moves
            if length * np.linalg.norm(step) <= ROUNDING_STEP * np.linalg.norm(w):
                return w, t, True
        return w, t, False


def combination(X: Floats, coefficients: Floats) -> Floats:
    """Return Xᵀ · coefficients, reading only the rows with nonzero ones where these are few."""
    rows = np.flatnonzero(coefficients)
    if 4 * len(rows) < len(coefficients):
        return coefficients[rows] @ X[rows]
    return coefficients @ X


def exact_step(
    loss: Loss,
    C: float,
    at: Floats,
    moves: Floats,
    inner: float,
    square: float,
    *,
    full: bool = False,
) -> float:
    """Find the length of a step at which ½‖w‖² + C Σ loss is least: an exact line search.

    Newton's method for the zero of the derivative, safeguarded by the last lengths on either
    side of it.

    `at` and `moves` are the arguments of the loss at the start and their change by the whole step,
    `inner` and `square` are ⟨w, step⟩ and ‖step‖². With `full`, the whole step is the longest
    allowed.
    """
    squares = moves * moves
    start = inner + C * (loss.slope(at) @ moves)
    flat = flat_past = _FLAT * abs(start)
    if not full:
        # The second derivative lies between `square` and `most`: past the zero, a slope below
        # sqrt(square / 2 most) of the first one leaves half of the smallest possible decrease.
        most = square + C * loss.steepest * squares.sum()
        flat_past = min(_FLAT, np.sqrt(0.5 * square / most)) * abs(start)
    below, above, length, last = 0.0, 1.0 if full else np.inf, 1.0, np.inf
    for _ in range(_MAX_TRIALS):
        there = at + length * moves
        slope = float(inner + length * square + C * (loss.slope(there) @ moves))
        if -flat <= slope <= flat_past or (full and slope < 0 and length == 1.0):
            return length
        below, above = (below, length) if slope > 0 else (length, above)
        curvature = square + C * float(loss.curvature(there) @ squares)
        length = length - slope / curvature if curvature > 0 else below
        if not below < length < above or abs(slope) > 0.5 * last:
            length = 2 * below if np.isinf(above) else 0.5 * (below + above)
            if length in (below, above):
                break
        last = abs(slope)
    return below


class WeightedGram:
    """Σ weightᵢ xᵢxᵢᵀ, kept up to date by the rows whose weight changed.

    Attributes
    ----------
    lower : ndarray of shape (n_features, n_features)
        Its lower triangle; what is above is of no meaning.
    """

    def __init__(self, X: Floats, whole: Floats, weight: float, slack: float) -> None:
        """Start with one weight for all rows; `whole` is XᵀX."""
        self._X = X
        # in the order of BLAS, which the transpose of a symmetric matrix is in
        self.lower = (weight * whole).T
        self._weights = np.full(len(X), weight)
        self._slack = slack

    def follow(self, weights: Floats, others: Sequence["WeightedGram"] = ()) -> None:
        """Update the weights, except those that changed by no more than the slack.

        It starts from one of `others` on the same rows if fewer weights differ from that one's.
        """
        if others:
            nearest = min(
                (self, *others), key=lambda one: np.count_nonzero(one._weights != weights)
            )
            if nearest is not self:
                self.lower[...] = nearest.lower
                self._weights = nearest._weights.copy()
        change = weights - self._weights
        rows = np.flatnonzero(np.abs(change) > self._slack * weights)
        if len(rows) >= np.count_nonzero(weights):  # anew
            self.lower[...] = self._weights[:] = 0.0
            rows, change = np.flatnonzero(weights), weights
        for sign in (1.0, -1.0):
            of_sign = rows[sign * change[rows] > 0]
            sizes = np.abs(change[of_sign])
            even = bool((sizes == sizes[:1]).all())
            size = min(_BLOCK_ROWS, max(32, _BLOCK_WORK // self._X.shape[1] ** 2))
            for first in range(0, len(of_sign), size):
                batch = slice(first, first + size)
                part = self._X[of_sign[batch]]
                if not even:
                    part *= np.sqrt(sizes[batch, np.newaxis])
                factor = sign * float(sizes[0]) if even else sign
                dsyrk(factor, part.T, beta=1.0, c=self.lower, lower=1, overwrite_c=1)
        self._weights[rows] = weights[rows]

    def diagonal(self) -> Floats:
        """Return its diagonal."""
        return self.lower.diagonal()

    def times(self, vector: Floats) -> Floats:
        """Return its product with a vector."""
        return dsymv(1.0, self.lower, vector, lower=1)

    def newton_step(self, gradient: Floats, C: float) -> Floats:
        """Return −(I + C·gram)⁻¹ · gradient, with a greater ridge if that is singular."""
        ridge, is_new = 1.0, False
        while True:
            hessian = C * self.lower
            hessian.flat[:: len(hessian) + 1] += ridge
            try:
                return -cho_solve((cholesky(hessian), True), gradient, check_finite=False)
            except LinAlgError:
                if is_new:
                    ridge = max(10 * ridge, np.finfo(np.float64).eps * C * self.lower.trace())
                else:  # rows that were removed again leave rounding errors behind
                    weights, self._weights = self._weights, np.zeros_like(self._weights)
                    self.follow(weights)
                    is_new = True
