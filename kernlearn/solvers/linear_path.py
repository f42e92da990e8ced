"""Linear models on dense features for several values of C."""

import warnings
from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlearn.solvers import liblinear, newton
from kernlearn.solvers.nodes import feature_rows

Path = tuple[np.ndarray, np.ndarray]

_ALL_LOSSES = ("squared_hinge", "logistic", "hinge")
#: The losses that each solver supports.
_SOLVES = {
    "auto": _ALL_LOSSES,
    "newton": tuple(newton.LOSSES),
    "truncated_newton": ("squared_hinge",),
    "liblinear": _ALL_LOSSES,
}
# Newton's method ends at the solution itself: on 10000 x 300 features and four values of C, 20 to
# 50 steps reach 1e-4, and at most four more reach this.
_NEWTON_TOL = 1e-10
_MAX_STEPS = 200


def linear_path(features: ArrayLike, y: ArrayLike, Cs: ArrayLike, **options: Any) -> Path:
    """Train a binary classifier for several values of C.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ loss(yᵢ⟨w, xᵢ⟩), where w includes the intercept.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    y : array-like of shape (n_samples,)
        Labels -1 and +1, both of them.
    Cs : array-like of shape (n_values,)
        Values of C, in any order; they are solved in ascending order.
    **options
        loss, solver, tol, fit_intercept and seed, as for :func:`linear_paths`.

    Returns
    -------
    coef : ndarray of shape (n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_values,)
        Zero without `fit_intercept`.

    Examples
    --------
    >>> from kernlearn.solvers.linear_path import linear_path
    >>> coef, intercept = linear_path([[1.0, 0.0], [0.0, 1.0]], [1, -1], [1, 10])
    >>> coef.round(3)
    array([[ 0.667, -0.667], [ 0.952, -0.952]])
    """
    coef, intercept = linear_paths(features, [column_or_1d(y)], Cs, **options)
    return coef[0], intercept[0]


def linear_paths(
    features: ArrayLike,
    Y: ArrayLike,
    Cs: ArrayLike,
    *,
    loss: str = "squared_hinge",
    solver: str = "newton",
    tol: float | None = None,
    fit_intercept: bool = False,
    seed: int = 0,
) -> Path:
    """Train several binary classifiers on the same features, each for several values of C.

    Shared work is done once: the Gram matrix of the features for "newton", LIBLINEAR's copy of
    them for "liblinear".

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
    Y : array-like of shape (n_problems, n_samples)
        Labels -1 and +1, both of them in each row.
    Cs : array-like of shape (n_values,)
    loss : {"squared_hinge", "logistic", "hinge"}, default="squared_hinge"
    solver : {"newton", "truncated_newton", "liblinear", "auto"}, default="newton"
        "newton" is exact and starts from the solution for the previous C; it does not support
        the hinge loss. "liblinear" is LIBLINEAR (``-s 2``, ``-s 0`` and ``-s 3``).
        "truncated_newton", for the squared hinge, is LIBLINEAR's method on dense features: up to
        rounding it stops where LIBLINEAR does, in a fraction of the time. "auto" is "newton"
        where the loss allows it, otherwise "liblinear".
    tol : float or None, default=None
        For "newton", the allowed excess of the objective over its minimum, relative to it; by
        default 1e-10. For "truncated_newton" and "liblinear", LIBLINEAR's own tolerance, by
        default 0.01, for the hinge loss 0.1; with a large C the objective can then be far from
        the minimum.
    fit_intercept : bool, default=False
        Whether to add a constant feature of 1. As in LIBLINEAR, its weight is penalised.
    seed : int, default=0
        Seed of the order in which LIBLINEAR visits the rows for the hinge loss.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_values, n_features)
    intercept : ndarray of shape (n_problems, n_values)

    Raises
    ------
    ValueError
        If an argument is out of its range, or a combination is not supported.

    Warns
    -----
    ConvergenceWarning
        If a solver stopped short of its tolerance.

    References
    ----------
    Keerthi & DeCoste, JMLR 6 (2005), for "newton"; Fan et al., LIBLINEAR, JMLR 9 (2008).

    Examples
    --------
    >>> from kernlearn.solvers.linear_path import linear_paths
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> coef, intercept = linear_paths(X, [[1, -1], [-1, 1]], [1, 10, 100])
    >>> coef.shape
    (2, 3, 2)
    """
    if solver not in _SOLVES:
        raise ValueError(f"solver={solver!r} is not known: choose one of {sorted(_SOLVES)}")
    if tol is not None and not 0 < tol < np.inf:
        raise ValueError(f"tol={tol!r} must be a positive number or None")
    if loss not in _SOLVES[solver]:
        raise ValueError(
            f"solver={solver!r} needs loss={' or '.join(map(repr, _SOLVES[solver]))}, but "
            f"loss={loss!r}: use solver='liblinear' or 'auto'"
        )
    if solver == "auto":
        solver = "newton" if loss in newton.LOSSES else "liblinear"
    number = liblinear.solver_number(loss)
    X = check_array(features, dtype=[np.float64, np.float32], input_name="features")
    signs = check_array(Y, dtype=np.float64, input_name="labels")
    check_consistent_length(X, signs.T)
    if (np.abs(signs) != 1).any() or (np.ptp(signs, axis=1) == 0).any():
        raise ValueError("labels must be -1 or +1, and both must occur in each problem")
    values, places = _sorted(Cs)
    if tol is None:
        tol = _NEWTON_TOL if solver == "newton" else liblinear.DEFAULT_TOL[number]
    if solver == "liblinear":
        bias = 1.0 if fit_intercept else None
        settings = liblinear.Settings(
            solver=number, C=values[0], tol=tol, bias=bias,
            class_weight=np.ones(2), seed=None if number in liblinear.PRIMAL_SOLVERS else seed,
        )  # fmt: skip
        rows, n_weights = feature_rows(X, bias), X.shape[1] + int(fit_intercept)
        told = [replace(settings, C=C) for C in values]
        paths = [
            np.concatenate([liblinear.solve(rows, y < 0, n_weights, one) for one in told])
            for y in signs
        ]
    else:
        whole = _with_ones(X, fit_intercept)
        minimizer: newton.PrimalNewton | TruncatedNewton
        if solver == "newton":
            minimizer = newton.PrimalNewton(
                whole, newton.LOSSES[loss], tol=tol, max_iter=_MAX_STEPS
            )
        else:
            minimizer = TruncatedNewton(whole, tol=tol)
        paths = [minimizer.path(y, values) for y in signs]
    return _coef_and_intercept(np.array(paths)[:, places], X, fit_intercept)


def _sorted(Cs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of C in ascending order, and the place of each there."""
    values = np.asarray(Cs, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(f"Cs must hold one or more positive finite numbers, got {Cs!r}")
    ascending = np.argsort(values, kind="stable")
    return values[ascending], np.argsort(ascending)


def _with_ones(X: np.ndarray, fit_intercept: bool) -> np.ndarray:
    return np.column_stack((X, np.ones(len(X)))) if fit_intercept else X


def _coef_and_intercept(weights: np.ndarray, X: np.ndarray, fit_intercept: bool) -> Path:
    """Split weights of shape (..., n_weights), in the dtype of X."""
    coef = np.ascontiguousarray(weights[..., : X.shape[1]], dtype=X.dtype)
    if not fit_intercept:
        return coef, np.zeros(coef.shape[:-1], dtype=X.dtype)
    return coef, weights[..., -1].astype(X.dtype)


def regression_path(
    features: ArrayLike,
    targets: ArrayLike,
    Cs: ArrayLike,
    *,
    epsilon: float = 0.1,
    tol: float | None = None,
    fit_intercept: bool = False,
) -> Path:
    r"""Train a regressor with the squared ε-insensitive loss for several values of C, exactly.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ max(0, \|⟨w, xᵢ⟩ − yᵢ\| − ε)² (``-s 11``), where w
    includes the intercept, by Newton's method.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    targets : array-like of shape (n_samples,)
    Cs : array-like of shape (n_values,)
        Values of C, in any order; they are solved in ascending order.
    epsilon : float, default=0.1
        Half width of the tube without loss.
    tol : float or None, default=None
        Allowed excess of the objective over its minimum, relative to it; None is 1e-10.
    fit_intercept : bool, default=False
        Whether to add a constant feature of 1. As in LIBLINEAR, its weight is penalised.

    Returns
    -------
    coef : ndarray of shape (n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_values,)
        Zero without `fit_intercept`.

    Raises
    ------
    ValueError
        If an argument is out of its range, or a combination is not supported.

    Warns
    -----
    ConvergenceWarning
        If the solver stopped short of its tolerance.

    Examples
    --------
    >>> from kernlearn.solvers.linear_path import regression_path
    >>> regression_path([[1.0], [2.0]], [2.0, 4.0], [1000], epsilon=0.0)[0].round(2)
    array([[2.]])
    """
    X = check_array(features, dtype=[np.float64, np.float32], input_name="features")
    y = column_or_1d(targets).astype(np.float64)
    check_consistent_length(X, y)
    values, places = _sorted(Cs)
    loss, tol = newton.SquaredEpsilonInsensitive(epsilon), _NEWTON_TOL if tol is None else tol
    minimizer = newton.PrimalNewton(
        _with_ones(X, fit_intercept), loss, tol=tol, max_iter=_MAX_STEPS
    )
    return _coef_and_intercept(minimizer.path(1.0, values, y)[places], X, fit_intercept)


# LIBLINEAR's constants.
_MOST_STEPS = 1000
_FORCING = 0.5  # share of the quadratic model's decrease that conjugate gradients may leave
_DIAGONAL = 0.01  # share of the Hessian's diagonal in the preconditioner
_SUFFICIENT = 0.01  # share of the decrease that the slope promises
_LENGTHS = 0.5 ** np.arange(20)  # of steps
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

    def __init__(self, features: np.ndarray, *, tol: float) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._whole = self._X.T @ self._X
        self._tol = tol

    def path(self, y: np.ndarray, Cs: Iterable[float]) -> np.ndarray:
        """Train a classifier for each value of C, independently; shape (n_values, n_features).

        All of them step together, and each block of the features is read once per step.
        """
        descents = [self._descend(y, C) for C in Cs]
        weights = np.zeros((len(descents), self._X.shape[1]))
        vectors = {place: next(descent) for place, descent in enumerate(descents)}
        for product in cycle((newton.combinations, newton.products)):
            products = product(self._X, np.array(list(vectors.values())))
            for place, result in zip(list(vectors), products, strict=True):
                try:
                    vectors[place] = descents[place].send(result)
                except StopIteration as end:
                    weights[place] = end.value
                    del vectors[place]
            if not vectors:
                return weights
        raise AssertionError

    def _descend(self, y: np.ndarray, C: float) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
        """Minimise for one C; it yields v for Xᵀv, then v for Xv, in turns, and returns w."""
        X, loss = self._X, newton.LOSSES["squared_hinge"]
        w, margins = np.zeros(X.shape[1]), np.zeros(len(y))
        gram = newton.WeightedGram(X, self._whole, loss.steepest, loss.slack)
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
            gram.follow(loss.curvature(margins))
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
