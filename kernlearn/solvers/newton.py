"""Newton solvers for linear models on dense features.

They minimise LIBLINEAR's objective ½‖w‖² + C Σ loss(tᵢ) for several values of C, where tᵢ is the
margin yᵢ⟨w, xᵢ⟩ of a label or the error ⟨w, xᵢ⟩ − yᵢ of a target. The Hessian is I + C Xᵀ D X,
where D holds the second derivatives of the loss. Few of these change from step to step, and they
do not depend on C: the product Xᵀ D X is kept, and only rows whose weight changed are added or
removed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.losses import LOSSES, Floats, Loss, SquaredHinge

#: Relative size of a step that is due to rounding errors.
ROUNDING_STEP = 8 * np.finfo(np.float64).eps
_BLOCK_ROWS = 1024  # rows gathered at a time, which stay in cache for the product that follows
_MAX_TRIALS = 60  # step lengths tried by the line search
_FLAT = 1e-3  # slope at which a step may end, relative to that at its start


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


def gram_blocks(X: Floats, rows: NDArray[np.intp], weights: NDArray[Any]) -> Iterator[Floats]:
    """Yield Σ weightᵢ xᵢxᵢᵀ over blocks of some rows."""
    roots = np.sqrt(weights)
    for first in range(0, len(rows), _BLOCK_ROWS):
        batch = slice(first, first + _BLOCK_ROWS)
        # BLAS computes only half of a product of a matrix with its own transpose.
        part = X[rows[batch]] * roots[batch, np.newaxis]
        yield part.T @ part


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
    loss : {"squared_hinge", "logistic"} or Loss
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
        self, features: NDArray[np.floating], loss: str | Loss, *, tol: float, max_iter: int
    ) -> None:
        X = np.ascontiguousarray(features, dtype=np.float64)
        self._basis: Floats | None = None
        if X.shape[0] < X.shape[1]:
            self._basis, triangle = qr(X.T, mode="economic", check_finite=False)
            X = np.ascontiguousarray(triangle.T)
        self._X = X
        self._loss = LOSSES[loss] if isinstance(loss, str) else loss
        self._tol = tol
        self._max_iter = max_iter
        self._whole = X.T @ X

    def path(self, y: Floats, Cs: Iterable[float]) -> Floats:
        """Train a classifier for each value of C.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels -1 and +1.
        Cs : iterable of float
            Best in ascending order.

        Returns
        -------
        ndarray of shape (n_values, n_features)

        Warns
        -----
        ConvergenceWarning
            If a solution is not accepted within `max_iter` steps.
        """
        return self._path(y, np.zeros(len(y)), Cs)

    def regression_path(self, targets: Floats, Cs: Iterable[float]) -> Floats:
        """Train a regressor for each value of C, with a loss of the error; see `path`."""
        return self._path(np.ones(len(targets)), targets, Cs)

    def _path(self, signs: Floats, offsets: Floats, Cs: Iterable[float]) -> Floats:
        """Solve for margins signᵢ⟨w, xᵢ⟩ − offsetᵢ."""
        gram = WeightedGram(self._X, self._whole, self._loss.steepest, self._loss.slack)
        w = np.zeros(self._X.shape[1])
        path = []
        for C in Cs:
            w = self._solve(signs, offsets, C, w, gram)
            path.append(w)
        weights = np.array(path)
        return weights if self._basis is None else weights @ self._basis.T

    def _solve(
        self, signs: Floats, offsets: Floats, C: float, w: Floats, gram: WeightedGram
    ) -> Floats:
        loss = self._loss
        margins = signs * (self._X @ w) - offsets
        for _ in range(self._max_iter + 1):
            gradient = w + C * combination(self._X, signs * loss.slope(margins))
            objective = 0.5 * (w @ w) + C * loss.value(margins)
            if 0.5 * (gradient @ gradient) <= self._tol * objective:
                return w
            gram.follow(loss.curvature(margins))
            step = gram.newton_step(gradient, C)
            moves = signs * (self._X @ step)
            length = exact_step(loss, C, margins, moves, float(w @ step), float(step @ step))
            w = w + length * step
            if length * np.linalg.norm(step) <= ROUNDING_STEP * np.linalg.norm(w):
                return w
            margins = margins + length * moves
        warnings.warn(
            f"the Newton solver did not converge in {self._max_iter} steps at C={C:g}: "
            "scale the features, lower C or raise tol",
            ConvergenceWarning,
            stacklevel=2,
        )
        return w


class WeightedGram:
    """Σ weightᵢ xᵢxᵢᵀ, kept up to date by the rows whose weight changed."""

    def __init__(self, X: Floats, whole: Floats, weight: float, slack: float) -> None:
        """Start with one weight for all rows; `whole` is XᵀX."""
        self._X = X
        self.matrix = weight * whole
        self._weights = np.full(len(X), weight)
        self._slack = slack

    def follow(self, weights: Floats) -> None:
        """Update the weights, except those that changed by no more than the slack."""
        change = weights - self._weights
        rows = np.flatnonzero(np.abs(change) > self._slack * weights)
        if len(rows) >= np.count_nonzero(weights):
            self._renew(weights)
            return
        more, less = rows[change[rows] > 0], rows[change[rows] < 0]
        self._update(np.add, more, change[more])
        self._update(np.subtract, less, -change[less])
        self._weights[rows] = weights[rows]

    def newton_step(self, gradient: Floats, C: float) -> Floats:
        """Return −(I + C·gram)⁻¹ · gradient."""
        try:
            factor = self._factor(C)
        except LinAlgError:
            # Rows that were removed again leave rounding errors behind.
            self._renew(self._weights)
            factor = self._factor_with_ridge(C)
        return -cho_solve(factor, gradient, check_finite=False)

    def _factor(self, C: float, ridge: float = 1.0) -> tuple[Floats, bool]:
        hessian = C * self.matrix
        hessian.flat[:: len(hessian) + 1] += ridge
        # The transpose of a symmetric matrix is LAPACK's order, which saves a copy.
        return cho_factor(hessian.T, lower=True, overwrite_a=True, check_finite=False)

    def _factor_with_ridge(self, C: float) -> tuple[Floats, bool]:
        """Factorise with a ridge that makes the Hessian positive definite in float64."""
        ridge = 1.0
        while True:
            try:
                return self._factor(C, ridge)
            except LinAlgError:
                floor = np.finfo(np.float64).eps * C * self.matrix.trace()
                ridge = max(10 * ridge, floor)

    def _renew(self, weights: Floats) -> None:
        self.matrix = np.zeros_like(self.matrix)
        rows = np.flatnonzero(weights)
        self._update(np.add, rows, weights[rows])
        self._weights = weights.copy()

    def _update(self, operation: np.ufunc, rows: NDArray[np.intp], weights: Floats) -> None:
        for part in gram_blocks(self._X, rows, weights):
            operation(self.matrix, part, out=self.matrix)


def combination(X: Floats, coefficients: Floats) -> Floats:
    """Return Xᵀ · coefficients, reading only the rows with nonzero ones where these are few."""
    rows = np.flatnonzero(coefficients)
    if 4 * len(rows) < len(coefficients):
        return coefficients[rows] @ X[rows]
    return coefficients @ X


# LIBLINEAR's constants.
_MAX_STEPS = 1000
_FORCING = 0.5  # share of the quadratic model's decrease that conjugate gradients may leave
_DIAGONAL = 0.01  # share of the Hessian's diagonal in the preconditioner
_SUFFICIENT = 0.01  # share of the decrease that the slope promises
_MAX_HALVINGS = 20
_STALLED = 1e-12


class TruncatedNewton:
    """LIBLINEAR's truncated Newton method: conjugate gradients and backtracking line search.

    It minimises ½‖w‖² + C Σ max(0, 1 − yᵢ⟨w, xᵢ⟩)², for each C from w = 0, until ‖∇f(w)‖ is at
    most tol · max(min(n₊, n₋), 1)/n · ‖∇f(0)‖. In exact arithmetic the iterates are those of
    LIBLINEAR. Conjugate gradients multiply by the d × d matrix Σ xᵢxᵢᵀ over the rows inside the
    margin, updated from step to step, instead of by the rows.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Converted to float64.
    tol : float
        LIBLINEAR's tolerance (``-e``).

    References
    ----------
    Hsia, Chiang & Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks
    for large-scale linear classification, ACML 2018. Galli & Lin, A study on truncated Newton
    methods for linear classification, IEEE TNNLS 33 (2022).
    """

    def __init__(self, features: NDArray[np.floating], *, tol: float) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._whole = self._X.T @ self._X
        self._tol = tol
        self._loss = SquaredHinge()

    def path(self, y: Floats, Cs: Iterable[float]) -> Floats:
        """Train a classifier for each value of C, independently; see `PrimalNewton.path`."""
        return np.array([self._solve(y, C) for C in Cs])

    def _solve(self, y: Floats, C: float) -> Floats:
        w, margins = np.zeros(self._X.shape[1]), np.zeros(len(y))
        gram = WeightedGram(self._X, self._whole, 2.0, self._loss.slack)
        gradient = self._gradient(w, y, margins, C)
        n_positive = int(np.count_nonzero(y > 0))
        rarer = max(min(n_positive, len(y) - n_positive), 1)
        enough = self._tol * rarer / len(y) * float(np.linalg.norm(gradient))
        objective = C * self._loss.value(margins)
        for _ in range(_MAX_STEPS):
            step = _conjugate_gradients(gram, gradient, C)
            moves = y * (self._X @ step)
            result = self._line_search(w, step, margins, moves, objective, gradient, C)
            if result is None:
                _warn(C, "at a failed line search")
                return w
            length, decreased = result
            w, margins = w + length * step, margins + length * moves
            gradient = self._gradient(w, y, margins, C)
            stalled = abs(objective - decreased) <= _STALLED * abs(decreased)
            objective = decreased
            if stalled or np.linalg.norm(gradient) <= enough:
                return w
            gram.follow(self._loss.curvature(margins))
        _warn(C, f"after {_MAX_STEPS} steps")
        return w

    def _gradient(self, w: Floats, y: Floats, margins: Floats, C: float) -> Floats:
        return w + C * combination(self._X, y * self._loss.slope(margins))

    def _line_search(
        self,
        w: Floats,
        step: Floats,
        margins: Floats,
        moves: Floats,
        objective: float,
        gradient: Floats,
        C: float,
    ) -> tuple[float, float] | None:
        """Halve the step until the decrease suffices; return its length and the objective."""
        promised = float(step @ gradient)
        square, inner, rest = float(w @ w), float(w @ step), float(step @ step)
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            norm = square + length * (2 * inner + length * rest)
            there = 0.5 * norm + C * self._loss.value(margins + length * moves)
            if there - objective <= _SUFFICIENT * length * promised:
                return length, there
            length *= 0.5
        return None


def _conjugate_gradients(gram: WeightedGram, gradient: Floats, C: float) -> Floats:
    """Approximate −H⁻¹ · gradient, where H = I + C · gram."""
    preconditioner = (1 - _DIAGONAL) + _DIAGONAL * (1 + C * gram.matrix.diagonal())
    step = np.zeros_like(gradient)
    residual = -gradient
    scaled = residual / preconditioner
    direction = scaled.copy()
    product = float(scaled @ residual)
    forcing = min(_FORCING, product**0.25)
    model = 0.0
    for iteration in range(1, max(len(gradient), 5) + 1):
        curved = direction + C * (gram.matrix @ direction)
        curvature = float(direction @ curved)
        if curvature <= 1e-16:
            break
        length = product / curvature
        step += length * direction
        residual -= length * curved
        lower = -0.5 * float(step @ residual - step @ gradient)
        gained, model = lower - model, lower
        # Another iteration as good as the average one would add little.
        if lower > 0 or gained > 0 or iteration * gained >= forcing * lower:
            break
        scaled = residual / preconditioner
        before, product = product, float(scaled @ residual)
        direction = scaled + product / before * direction
    return step


def _warn(C: float, where: str) -> None:
    warnings.warn(
        f"the truncated Newton solver stopped {where} at C={C:g}, short of the tolerance: "
        "raise tol, lower C or scale the features",
        ConvergenceWarning,
        stacklevel=3,
    )
