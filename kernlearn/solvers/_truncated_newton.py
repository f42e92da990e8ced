"""LIBLINEAR's primal solver for the squared hinge, computed on dense features.

LIBLINEAR (``-s 2``) stops early: at its default tolerance and a large C its solution is far from
the minimum, and published results rest on where it stopped. Here its method is followed step by
step with matrix products, so that it stops at the same place.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers._margin_losses import Floats, SquaredHinge
from kernlearn.solvers._newton import WeightedGram, combination

# LIBLINEAR's constants.
_MAX_STEPS = 1000
_FORCING = 0.5  # of conjugate gradients: how much of the quadratic model's decrease may be left
_DIAGONAL = 0.01  # share of the Hessian's diagonal in the preconditioner
_SUFFICIENT = 0.01  # of the decrease that the slope promises
_MAX_HALVINGS = 20
_STALLED = 1e-12


class TruncatedNewton:
    """Newton steps by preconditioned conjugate gradients, with a backtracking line search.

    Minimises ½‖w‖² + C Σ max(0, 1 − yᵢ⟨w, xᵢ⟩)², for each C from w = 0, until ‖∇f(w)‖ is at
    most tol · max(min(n₊, n₋), 1)/n · ‖∇f(0)‖. In exact arithmetic the iterates are those of
    LIBLINEAR. Conjugate gradients multiply with the d × d matrix Σ xᵢxᵢᵀ over the rows inside
    the margin, which is brought up to date from step to step, instead of with the rows.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Computed with in float64, whatever their type.
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
        """Solve one problem for each value of C, each on its own.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels -1 and +1.
        Cs : iterable of float

        Returns
        -------
        ndarray of shape (n_values, n_features)

        Warns
        -----
        ConvergenceWarning
            If a solution did not reach the tolerance.
        """
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
            found = self._line_search(w, step, margins, moves, objective, gradient, C)
            if found is None:
                _warn(C, "at a failed line search")
                return w
            length, decreased = found
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
        """Halve the step until it gives enough; return its length and the objective there."""
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
    """Return about −H⁻¹ · gradient, where H = I + C · gram."""
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


def _warn(C: float, where: str) -> None:
    warnings.warn(
        f"the truncated Newton solver stopped {where} at C={C:g}, short of the tolerance: "
        "raise tol, lower C or scale the features",
        ConvergenceWarning,
        stacklevel=3,
    )
