"""LIBLINEAR's truncated Newton method on dense features.

This module loads Numba.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.compiled import compiled
from kernlearn.linear.losses import SquaredHinge, Weights
from kernlearn.linear.newton import WeightedGram, combination
from kernlearn.memory import gram
from kernlearn.validation import Floats, warn

# LIBLINEAR's constants.
_MOST_STEPS = 1000
_FORCING = 0.5  # share of the quadratic model's decrease that conjugate gradients may leave
_DIAGONAL = 0.01  # share of the Hessian's diagonal in the preconditioner
_SUFFICIENT = 0.01  # share of the decrease that the slope promises
_LENGTHS = 0.5 ** np.arange(20)  # of steps
_STALLED = 1e-12
_WIDE = 4  # features a row from which products with the rows take less than a Gram matrix


class TruncatedNewton:
    """LIBLINEAR's truncated Newton method: conjugate gradients and backtracking line search.

    It minimises ½‖w‖² + C Σ sᵢ max(0, 1 − yᵢ⟨w, xᵢ⟩)², for each C from w = 0, until ‖∇f(w)‖ is at
    most tol · min(n₊, n₋)/n · ‖∇f(0)‖, where rows count by their weights sᵢ. In exact arithmetic
    the iterates are those of LIBLINEAR, for whole weights on repeated rows. Conjugate gradients
    multiply by the d × d matrix Σ xᵢxᵢᵀ over the rows inside the margin, updated from step to
    step, instead of by the rows.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Converted to float64.
    tol : float
        LIBLINEAR's tolerance (``-e``).

    Attributes
    ----------
    converged : ndarray of shape (n_values,)
        Whether the last path, for each value of C, reached the tolerance or a step that changes
        the objective by no more than rounding errors.

    References
    ----------
    Hsia, Chiang & Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks
    for large-scale linear classification, ACML 2018. Galli & Lin, A study on truncated Newton
    methods for linear classification, IEEE TNNLS 33 (2022).
    """

    def __init__(self, features: np.ndarray, *, tol: float) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        n_rows, n_features = self._X.shape
        self._whole = None if n_features > _WIDE * n_rows else gram(self._X)
        self._tol = tol

    def path(
        self,
        y: np.ndarray,
        Cs: Iterable[float],
        weights: Weights = 1.0,
        *,
        starts: np.ndarray | None = None,
    ) -> np.ndarray:
        """Train a classifier for each value of C, independently; shape (n_values, n_features).

        All of them step together, and each row of the features is read once per step. `weights`
        are the factors sᵢ. `starts` are coefficients to start from, by default zeros; when it ends
        is relative to zeros all the same.
        """
        X, y, Cs = self._X, np.ascontiguousarray(y, dtype=np.float64), list(Cs)
        loss, factors = SquaredHinge(weights), np.full(len(y), 1.0) * weights
        slope = combination(X, -y * loss.slope(np.ones(len(y))))
        # LIBLINEAR's tolerance is in proportion to the rarer class
        shares = np.bincount(y > 0, factors, minlength=2) / factors.sum()
        enough = self._tol * (shares.min() or 1 / len(y))
        grams: list[Any] = [
            _RowProducts(X)
            if self._whole is None
            else WeightedGram(X, self._whole, loss.steepest, 0.0)
            for _ in Cs
        ]
        margins, moves = np.zeros((len(Cs), len(y))), np.empty((len(Cs), len(y)))
        models = [
            _Model(C, loss, slope, enough, row, gram)
            for C, row, gram in zip(Cs, margins, grams, strict=True)
        ]
        for k, start in enumerate([] if starts is None else starts):
            margins[k] = y * (X @ start)
            models[k].start(start, combination(X, -y * loss.slope(1.0 - margins[k])))
        for k, one in enumerate(grams):
            one.follow(loss.curvature(1.0 - margins[k]), grams[:k])
        left = [k for k, model in enumerate(models) if not model.ended]
        while left:
            steps = np.array([models[k].direction() for k in left])
            slopes = np.empty_like(steps)
            full_steps(X, y, factors, steps, margins, np.array(left), moves, slopes)
            for k, step, slope in zip(left, steps, slopes, strict=True):
                if length := models[k].search(step, moves[k]):
                    if length < 1:
                        slope = combination(X, -y * loss.slope(1.0 - margins[k]))
                    models[k].arrive(slope)
            left = [k for k in left if not models[k].ended]
            for k in left:
                grams[k].follow(loss.curvature(1.0 - margins[k]), grams[:k] + grams[k + 1 :])
        self.converged = np.array([model.converged for model in models])
        return np.array([model.w for model in models])


class _RowProducts:
    """What conjugate gradients need of a :class:`WeightedGram`, from few rows themselves."""

    def __init__(self, X: Floats) -> None:
        self._X = X

    def follow(self, weights: Floats, others: object = ()) -> None:
        self._weights = weights

    def diagonal(self) -> Floats:
        return self._weights @ self._X**2

    def times(self, vector: Floats) -> Floats:
        return (self._weights * (self._X @ vector)) @ self._X


class _Model:
    """A classifier for one C, on its way to the minimum.

    Parameters
    ----------
    C : float
    loss : SquaredHinge
    slope : ndarray of shape (n_features,)
        Σ yᵢ ℓ′(tᵢ) xᵢ at w = 0.
    enough : float
        Norm of the gradient at which it ends, relative to that at w = 0.
    margins : ndarray of shape (n_samples,)
        Zeros; kept up to date in place.
    gram : WeightedGram or _RowProducts
        With the weights ℓ″(tᵢ).

    Attributes
    ----------
    w : ndarray of shape (n_features,)
    ended, converged : bool
        Whether no step is left to make, and whether it does not stop short of the tolerance.
    """

    def __init__(
        self,
        C: float,
        loss: SquaredHinge,
        slope: Floats,
        enough: float,
        margins: Floats,
        gram: WeightedGram | _RowProducts,
    ) -> None:
        self.w, self.ended, self.converged = np.zeros(len(slope)), False, True
        self._C, self._loss, self._margins, self._gram = C, loss, margins, gram
        self._gradient = C * slope
        self._enough = enough * float(np.linalg.norm(self._gradient))
        self._objective = self._before = C * loss.value(1.0 - margins)
        self._n_steps = 0

    def start(self, w: Floats, slope: Floats) -> None:
        """Begin at w, for which the margins are there and the sum Σ yᵢ ℓ′(tᵢ) xᵢ is given."""
        self.w, self._gradient = w, w + self._C * slope
        self._objective = 0.5 * float(w @ w) + self._C * self._loss.value(1.0 - self._margins)
        self.ended = bool(np.linalg.norm(self._gradient) <= self._enough)

    def direction(self) -> Floats:
        """Return a step to try: −H⁻¹ · gradient, about, where H = I + C · gram."""
        gram, gradient, C = self._gram, self._gradient, self._C
        preconditioner = (1 - _DIAGONAL) + _DIAGONAL * (1 + C * gram.diagonal())
        step = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / preconditioner
        direction = scaled.copy()
        product = float(scaled @ residual)
        forcing = min(_FORCING, product**0.25)
        model = 0.0
        for iteration in range(1, max(len(gradient), 5) + 1):
            curved = direction + C * gram.times(direction)
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

    def search(self, step: Floats, moves: Floats) -> float:
        """Go as much of a step as lowers the objective, and return how much; 0 ends the search.

        `moves` are the changes of the margins by the whole step.
        """
        w, promised = self.w, float(step @ self._gradient)
        square, inner, rest = float(w @ w), float(w @ step), float(step @ step)
        self._before = self._objective
        for length in _LENGTHS:
            norm = square + length * (2 * inner + length * rest)
            loss = self._loss.value(1.0 - (self._margins + length * moves))
            objective = 0.5 * norm + self._C * loss
            if objective - self._before <= _SUFFICIENT * length * promised:
                break
        else:
            self._give_up("at a failed line search")
            return 0.0
        self.w, self._objective = w + length * step, objective
        self._margins += length * moves
        return float(length)

    def arrive(self, slope: Floats) -> None:
        """Take the sum Σ yᵢ ℓ′(tᵢ) xᵢ after a step, and end where LIBLINEAR does."""
        self._gradient = self.w + self._C * slope
        stalled = abs(self._before - self._objective) <= _STALLED * abs(self._objective)
        self.ended = bool(stalled or np.linalg.norm(self._gradient) <= self._enough)
        self._n_steps += 1
        if not self.ended and self._n_steps == _MOST_STEPS:
            self._give_up(f"after {_MOST_STEPS} steps")

    def _give_up(self, where: str) -> None:
        self.ended, self.converged = True, False
        warn(
            f"the truncated Newton solver stopped {where} at C={self._C:g}, short of the "
            "tolerance: raise tol, lower C or scale the features",
            ConvergenceWarning,
        )


# sums may be reordered, so that they are computed several terms at a time
@compiled(fastmath={"reassoc", "contract", "nsz"})  # pragma: no cover
def full_steps(
    X: Floats,
    y: Floats,
    weights: Floats,
    steps: Floats,
    margins: Floats,
    which: NDArray[np.intp],
    moves: Floats,
    slopes: Floats,
) -> None:
    """Write how margins change by each step, and the slope of the loss after it.

    Each row of X is read once, and used for all steps while it is in cache.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels -1 and +1.
    weights : ndarray of shape (n_samples,)
        Factors on the losses.
    steps : ndarray of shape (n_steps, n_features)
        A step of each model.
    margins : ndarray of shape (n_models, n_samples)
    which : ndarray of shape (n_steps,)
        The row of `margins` and `moves` that belongs to each step.
    moves : ndarray of shape (n_models, n_samples)
        Output: yᵢ⟨stepₖ, xᵢ⟩.
    slopes : ndarray of shape (n_steps, n_features)
        Output: Σᵢ yᵢ ℓ′(tᵢ) xᵢ for the margins t after the step.
    """
    n_samples, n_features = X.shape
    n_steps = len(steps)
    by_four = n_steps - n_steps % 4
    slopes[:] = 0.0
    for i in range(n_samples):
        x, label = X[i], y[i]
        for k in range(0, by_four, 4):
            step_0, step_1, step_2, step_3 = steps[k], steps[k + 1], steps[k + 2], steps[k + 3]
            sum_0 = sum_1 = sum_2 = sum_3 = 0.0
            for j in range(n_features):
                value = x[j]
                sum_0 += value * step_0[j]
                sum_1 += value * step_1[j]
                sum_2 += value * step_2[j]
                sum_3 += value * step_3[j]
            moves[which[k], i] = label * sum_0
            moves[which[k + 1], i] = label * sum_1
            moves[which[k + 2], i] = label * sum_2
            moves[which[k + 3], i] = label * sum_3
        for k in range(by_four, n_steps):
            step, total = steps[k], 0.0
            for j in range(n_features):
                total += x[j] * step[j]
            moves[which[k], i] = label * total
        for k in range(n_steps):
            model = which[k]
            excess = 1.0 - margins[model, i] - moves[model, i]
            if excess > 0.0:
                slope, factor = slopes[k], -2.0 * label * weights[i] * excess
                for j in range(n_features):
                    slope[j] += factor * x[j]
