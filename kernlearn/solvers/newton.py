"""Newton solvers for linear models on dense features, and their losses.

They minimise LIBLINEAR's objective ½‖w‖² + C Σ loss(tᵢ) for several values of C, where tᵢ is the
margin yᵢ⟨w, xᵢ⟩ of a label or the error ⟨w, xᵢ⟩ − yᵢ of a target. The Hessian is I + C Xᵀ D X,
where D holds the second derivatives of the loss. Few of these change from step to step, and they
do not depend on C: the product Xᵀ D X is kept, and only rows whose weight changed are added or
removed.
"""

import warnings
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.weighted_gram import WeightedGram

Floats: TypeAlias = NDArray[np.float64]

#: Relative size of a step that is due to rounding errors.
ROUNDING_STEP = 8 * np.finfo(np.float64).eps
_MAX_TRIALS = 60  # step lengths tried by the line search
_FLAT = 1e-3  # slope at which a step may end, relative to that at its start

# A loss has the sum of its values, its first and its second derivatives, or elements of the
# generalised ones at a kink. `steepest` is the largest second derivative, and `slack` the
# relative change of one that the Hessian may ignore.


class SquaredHinge:
    """The squared hinge max(0, sign · (t − edge))², by default max(0, 1 − t)² of a margin t.

    The second derivative is 2 or 0, and the Hessian is kept exact.
    """

    slack = 0.0
    steepest = 2.0

    def __init__(self, edge: float | Floats = 1.0, sign: float = -1.0) -> None:
        self.edge = edge
        self.sign = sign

    def _excess(self, t: Floats) -> Floats:
        return np.maximum(0.0, self.sign * (t - self.edge))

    def value(self, t: Floats) -> float:
        excess = self._excess(t)
        return float(excess @ excess)

    def slope(self, t: Floats) -> Floats:
        return 2.0 * self.sign * self._excess(t)

    def curvature(self, t: Floats) -> Floats:
        return np.where(self.sign * (t - self.edge) > 0.0, 2.0, 0.0)


class WeightedSquaredHinge(SquaredHinge):
    """The squared hinge with a weight for each t."""

    def __init__(self, weights: Floats, edge: float = 1.0, sign: float = -1.0) -> None:
        super().__init__(edge, sign)
        self._weights = weights
        self.steepest = 2.0 * float(weights.max())

    def value(self, t: Floats) -> float:
        return float(self._weights @ self._excess(t) ** 2)

    def slope(self, t: Floats) -> Floats:
        return self._weights * super().slope(t)

    def curvature(self, t: Floats) -> Floats:
        return self._weights * super().curvature(t)


class Logistic:
    """The logistic loss log(1 + exp(−t)) of a margin t.

    All second derivatives change in each step. A Hessian within 10 % of the true one needs
    more steps, with linear convergence, but each costs a small part of a new product.
    """

    slack = 0.1
    steepest = 0.25

    def value(self, t: Floats) -> float:
        return float(np.logaddexp(0.0, -t).sum())

    def slope(self, t: Floats) -> Floats:
        return -expit(-t)

    def curvature(self, t: Floats) -> Floats:
        return expit(t) * expit(-t)


class WeightedLogistic:
    """The logistic loss with a weight for each margin."""

    slack = 0.1

    def __init__(self, weights: Floats) -> None:
        self._weights = weights
        self.steepest = 0.25 * float(weights.max())

    def value(self, t: Floats) -> float:
        return float(self._weights @ np.logaddexp(0.0, -t))

    def slope(self, t: Floats) -> Floats:
        return -self._weights * expit(-t)

    def curvature(self, t: Floats) -> Floats:
        return self._weights * expit(t) * expit(-t)


class SquaredEpsilonInsensitive:
    r"""The squared ε-insensitive loss max(0, \|t\| − ε)² of an error t."""

    slack = 0.0
    steepest = 2.0

    def __init__(self, epsilon: float | Floats) -> None:
        self.epsilon = epsilon

    def value(self, t: Floats) -> float:
        excess = np.maximum(0.0, np.abs(t) - self.epsilon)
        return float(excess @ excess)

    def slope(self, t: Floats) -> Floats:
        return 2.0 * (t - np.clip(t, -self.epsilon, self.epsilon))

    def curvature(self, t: Floats) -> Floats:
        return np.where(np.abs(t) > self.epsilon, 2.0, 0.0)


class SmoothedHinge:
    """The hinge max(0, t) with a parabola of some width at the kink: at most width / 2 less."""

    slack = 0.0

    def __init__(self, width: float) -> None:
        self.width = width
        self.steepest = 1.0 / width

    def value(self, t: Floats) -> float:
        inside = np.clip(t, 0.0, self.width)
        return float((inside * (t - 0.5 * inside)).sum() / self.width)

    def slope(self, t: Floats) -> Floats:
        return np.clip(t / self.width, 0.0, 1.0)

    def curvature(self, t: Floats) -> Floats:
        return np.where((t > 0.0) & (t < self.width), 1.0 / self.width, 0.0)


class WeightedSmoothedHinge(SmoothedHinge):
    """The smoothed hinge with a weight for each t."""

    def __init__(self, weights: Floats, width: float) -> None:
        super().__init__(width)
        self._weights = weights
        self.steepest *= float(weights.max())

    def value(self, t: Floats) -> float:
        inside = np.clip(t, 0.0, self.width)
        return float(self._weights @ (inside * (t - 0.5 * inside)) / self.width)

    def slope(self, t: Floats) -> Floats:
        return self._weights * super().slope(t)

    def curvature(self, t: Floats) -> Floats:
        return self._weights * super().curvature(t)


Loss: TypeAlias = (
    SquaredHinge | Logistic | WeightedLogistic | SquaredEpsilonInsensitive | SmoothedHinge
)
LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "logistic": Logistic()}


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
        last = abs(slope)
    return below


class PrimalNewton:
    """Newton's method with an exact line search, for problems that share their features.

    For the squared hinge, whose Hessian is constant as long as no row crosses the margin, it ends
    at the solution in finitely many steps. With fewer rows than features, the problem is
    restricted to the span of the rows, where the solution lies: features become the n × n factor
    R of Xᵀ = QR.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Converted to float64: a product in float32 would save a tenth of the time and limit the
        accuracy.
    loss : Loss
    tol : float
        A solution w is accepted when ½‖∇f(w)‖² <= tol · f(w). The objective f is strongly
        convex with constant 1, so its relative excess over the minimum is then at most `tol`.
        LIBLINEAR's rule compares with the gradient at 0, which grows with C: the solution for
        a smaller C would be accepted unchanged. Where rounding errors keep the gradient larger,
        w is accepted when a step no longer changes it.
    max_iter : int
        Maximum number of steps for each value of C.

    References
    ----------
    Keerthi & DeCoste, A modified finite Newton method for fast solution of large scale linear
    SVMs, JMLR 6 (2005), algorithm 1. Fan et al., LIBLINEAR, JMLR 9 (2008), appendix A.
    """

    def __init__(
        self, features: NDArray[np.floating], loss: Loss, *, tol: float, max_iter: int
    ) -> None:
        X = np.ascontiguousarray(features, dtype=np.float64)
        self._basis: Floats | None = None
        if X.shape[0] < X.shape[1]:
            self._basis, triangle = qr(X.T, mode="economic", check_finite=False)
            X = np.ascontiguousarray(triangle.T)
        self._X = X
        self._loss = loss
        self._tol = tol
        self._max_iter = max_iter
        self._whole = X.T @ X

    def path(
        self, signs: Floats | float, Cs: Iterable[float], offsets: Floats | float = 0.0
    ) -> Floats:
        """Solve for margins signᵢ⟨w, xᵢ⟩ − offsetᵢ and each C, best in ascending order.

        `signs` are labels -1 and +1, and `offsets` the targets of a regression. Returns weights of
        shape (n_values, n_features).
        """
        X, loss = self._X, self._loss
        gram = WeightedGram(X, self._whole, loss.steepest, loss.slack)
        w = np.zeros(X.shape[1])
        path = []
        for C in Cs:
            margins = signs * (X @ w) - offsets
            for _ in range(self._max_iter + 1):
                gradient = w + C * combination(X, signs * loss.slope(margins))
                objective = 0.5 * (w @ w) + C * loss.value(margins)
                if 0.5 * (gradient @ gradient) <= self._tol * objective:
                    break
                gram.follow(loss.curvature(margins))
                step = gram.newton_step(gradient, C)
                moves = signs * (X @ step)
                length = exact_step(loss, C, margins, moves, float(w @ step), float(step @ step))
                w = w + length * step
                if length * np.linalg.norm(step) <= ROUNDING_STEP * np.linalg.norm(w):
                    break
                margins = margins + length * moves
            else:
                warnings.warn(
                    f"the Newton solver did not converge in {self._max_iter} steps at C={C:g}: "
                    "scale the features, lower C or raise tol",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            path.append(w)
        weights = np.array(path)
        return weights if self._basis is None else weights @ self._basis.T


def combination(X: Floats, coefficients: Floats) -> Floats:
    """Return Xᵀ · coefficients, reading only the rows with nonzero ones where these are few."""
    rows = np.flatnonzero(coefficients)
    if 4 * len(rows) < len(coefficients):
        return coefficients[rows] @ X[rows]
    return coefficients @ X
