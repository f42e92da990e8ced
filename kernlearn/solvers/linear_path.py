"""Linear models on dense features for several values of C."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlearn.solvers import liblinear, newton, weighted
from kernlearn.solvers.nodes import feature_rows
from kernlearn.solvers.truncated_newton import TruncatedNewton

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
_NEWTON_TOL = weighted.NEWTON_TOL
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
        loss, solver, tol, fit_intercept, seed and weights, as for :func:`linear_paths`.

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
    weights: np.ndarray | None = None,
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
    weights : ndarray of shape (n_samples,), default=None
        A factor above 0 on the loss of each row. With them "newton" solves the problem for any
        `solver`, and scikit-learn's LIBLINEAR that with the hinge loss.

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
    bias = 1.0 if fit_intercept else None
    if weights is not None:
        by_problem = weighted.classifier_paths(
            X,
            signs,
            weights,
            values,
            loss=loss,
            bias=bias,
            seed=seed,
            tol=tol if solver == "newton" else None,
        )
        paths = list(by_problem)
    elif solver == "liblinear":
        settings = liblinear.Settings(
            solver=number,
            C=values[0],
            tol=tol,
            bias=bias,
            class_weight=np.ones(2),
            seed=None if number in liblinear.PRIMAL_SOLVERS else seed,
        )
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


def primal_path(
    features: np.ndarray,
    y: np.ndarray,
    Cs: ArrayLike,
    *,
    tol: float | None = None,
    presolve: float | None = None,
) -> Path:
    """Train a binary classifier as LIBLINEAR's primal solver does, for several values of C.

    It is :class:`kernlearn.solvers.LinearSVM` with its defaults, up to rounding, on dense
    features: those of a step are read once for all C.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels -1 and +1, both of them.
    Cs : array-like of shape (n_values,)
    tol : float or None, default=None
        LIBLINEAR's tolerance; None is 0.01.
    presolve : float or None, default=None
        Share of the rows on whose solution the others start.

    Returns
    -------
    coef : ndarray of shape (n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_values,)
    """
    values, places = _sorted(Cs)
    tol = liblinear.DEFAULT_TOL[2] if tol is None else tol
    by_class = np.argsort(-y, kind="stable")
    X, y = _with_ones(features[by_class], fit_intercept=True), y[by_class]
    starts = None
    if presolve is not None:
        part, factor = liblinear.first_part(len(y), presolve)
        if np.ptp(y[part]):
            starts = TruncatedNewton(X[part], tol=tol).path(y[part], values * factor)
    weights = TruncatedNewton(X, tol=tol).path(y, values, starts)
    return _coef_and_intercept(weights[places], features, fit_intercept=True)


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
    weights: np.ndarray | None = None,
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
    weights : ndarray of shape (n_samples,), default=None
        A factor above 0 on the loss of each row.

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
    if weights is not None:
        path = weighted.regressor_paths(
            X,
            y,
            weights,
            values,
            loss="squared_epsilon_insensitive",
            epsilon=epsilon,
            bias=1.0 if fit_intercept else None,
            tol=tol,
        )
        return _coef_and_intercept(path[places], X, fit_intercept)
    loss, tol = newton.SquaredEpsilonInsensitive(epsilon), _NEWTON_TOL if tol is None else tol
    minimizer = newton.PrimalNewton(
        _with_ones(X, fit_intercept), loss, tol=tol, max_iter=_MAX_STEPS
    )
    return _coef_and_intercept(minimizer.path(1.0, values, y)[places], X, fit_intercept)
