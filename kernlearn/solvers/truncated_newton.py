"""LIBLINEAR's truncated Newton method on dense features."""

import warnings
from collections.abc import Generator, Iterable
from itertools import cycle

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernlearn.memory import row_blocks
from kernlearn.solvers import newton
from kernlearn.solvers.newton import Floats

# LIBLINEAR's constants.
_MOST_STEPS = 1000
_FORCING = 0.5  # share of the quadratic model's decrease that conjugate gradients may leave
_DIAGONAL = 0.01  # share of the Hessian's diagonal in the preconditioner
_SUFFICIENT = 0.01  # share of the decrease that the slope promises
_LENGTHS = 0.5 ** np.arange(20)  # of steps
_STALLED = 1e-12
# Bytes of the features that are multiplied by several vectors at once: they stay in cache, and
# BLAS has faster kernels for small products.
_CACHE_BYTES = 2**19


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

    def __init__(self, features: np.ndarray, *, tol: float) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._whole = self._X.T @ self._X
        self._tol = tol

    def path(self, y: np.ndarray, Cs: Iterable[float]) -> np.ndarray:
        """Train a classifier for each value of C, independently; shape (n_values, n_features).

        All of them step together, and each block of the features is read once per step.
        """
        loss, Cs = newton.LOSSES["squared_hinge"], list(Cs)
        grams = [newton.WeightedGram(self._X, self._whole, loss.steepest, loss.slack) for _ in Cs]
        descents = [self._descend(y, C, grams, place) for place, C in enumerate(Cs)]
        weights = np.zeros((len(descents), self._X.shape[1]))
        vectors = {place: next(descent) for place, descent in enumerate(descents)}
        for product in cycle((combinations, products)):
            found = product(self._X, np.array(list(vectors.values())))
            for place, result in zip(list(vectors), found, strict=True):
                try:
                    vectors[place] = descents[place].send(result)
                except StopIteration as end:
                    weights[place] = end.value
                    del vectors[place]
            if not vectors:
                return weights
        raise AssertionError

    def _descend(
        self, y: np.ndarray, C: float, grams: list[newton.WeightedGram], place: int
    ) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
        """Minimise for one C; it yields v for Xᵀv, then v for Xv, in turns, and returns w.

        Those for other C may have much the same rows inside the margin in their `grams`.
        """
        X, loss = self._X, newton.LOSSES["squared_hinge"]
        w, margins = np.zeros(X.shape[1]), np.zeros(len(y))
        gram, others = grams[place], grams[:place] + grams[place + 1 :]
        gradient = C * (yield y * loss.slope(margins))
        n_positive = int(np.count_nonzero(y > 0))
        rarer = max(min(n_positive, len(y) - n_positive), 1)
        enough = self._tol * rarer / len(y) * float(np.linalg.norm(gradient))
        objective = C * loss.value(margins)
        where = f"after {_MOST_STEPS} steps"
        for _ in range(_MOST_STEPS):
            step = _conjugate_gradients(gram, gradient, C)
            moves = y * (yield step)
            promised, before = float(step @ gradient), objective
            square, inner, rest = float(w @ w), float(w @ step), float(step @ step)
            for length in _LENGTHS:
                norm = square + length * (2 * inner + length * rest)
                objective = 0.5 * norm + C * loss.value(margins + length * moves)
                if objective - before <= _SUFFICIENT * length * promised:
                    break
            else:
                where = "at a failed line search"
                break
            w, margins = w + length * step, margins + length * moves
            gradient = w + C * (yield y * loss.slope(margins))
            stalled = abs(before - objective) <= _STALLED * abs(objective)
            if stalled or np.linalg.norm(gradient) <= enough:
                return w
            gram.follow(loss.curvature(margins), others)
        warnings.warn(
            f"the truncated Newton solver stopped {where} at C={C:g}, short of the tolerance: "
            "raise tol, lower C or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
        return w


def _conjugate_gradients(gram: newton.WeightedGram, gradient: np.ndarray, C: float) -> np.ndarray:
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


def products(X: Floats, vectors: Floats) -> Floats:
    """Return X · v for each row v of `vectors`, in blocks of X that stay in cache."""
    result = np.empty((len(X), len(vectors)))
    for block in row_blocks(*X.shape, block_bytes=_CACHE_BYTES):
        np.dot(X[block], vectors.T, out=result[block])
    return result.T


def combinations(X: Floats, coefficients: Floats) -> Floats:
    """Return Xᵀ · v for each row v of `coefficients`, in blocks of X that stay in cache."""
    result = np.zeros((len(coefficients), X.shape[1]))
    used = (coefficients != 0).any(axis=0)
    for block in row_blocks(*X.shape, block_bytes=_CACHE_BYTES):
        rows = np.flatnonzero(used[block])
        if 4 * len(rows) < X[block].shape[0]:
            result += coefficients[:, block][:, rows] @ X[block][rows]
        else:
            result += coefficients[:, block] @ X[block]
    return result
