"""Linear models on dense features for several values of C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlearn.solvers.liblinear import (
    DEFAULT_TOL,
    PRIMAL_SOLVERS,
    Settings,
    solve_path,
    solver_number,
)
from kernlearn.solvers.losses import LOSSES, Loss, SquaredEpsilonInsensitive
from kernlearn.solvers.newton import PrimalNewton, TruncatedNewton
from kernlearn.solvers.nodes import feature_rows

Path = tuple[NDArray[np.floating], NDArray[np.floating]]

_LOSSES = ("hinge", "logistic", "squared_hinge")
_SOLVERS = ("auto", "newton", "truncated_newton", "liblinear")
# Newton's method ends at the solution itself: on 10000 x 300 features and four values of C, 20 to
# 50 steps reach 1e-4, and at most four more reach this.
_NEWTON_TOL = 1e-10
_MAX_STEPS = 200


def linear_path(
    features: ArrayLike,
    y: ArrayLike,
    Cs: ArrayLike,
    *,
    loss: str = "squared_hinge",
    solver: str = "newton",
    tol: float | None = None,
    fit_intercept: bool = False,
    warm_start: bool = False,
    seed: int = 0,
) -> Path:
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
    warm_start : bool, default=False
        Whether "liblinear" starts from the solution for the previous C, with its tolerance
        multiplied by the smallest C over the current one; otherwise each C is solved
        independently. Not for the hinge loss; ignored by "newton".
    seed : int, default=0
        Seed of the order in which LIBLINEAR visits the rows for the hinge loss.

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
        If a solver stopped short of its tolerance.

    References
    ----------
    Keerthi & DeCoste, JMLR 6 (2005), for "newton"; Fan et al., LIBLINEAR, JMLR 9 (2008).

    Examples
    --------
    >>> from kernlearn.solvers.linear_path import linear_path
    >>> coef, intercept = linear_path([[1.0, 0.0], [0.0, 1.0]], [1, -1], [1, 10])
    >>> coef.round(3)
    array([[ 0.667, -0.667], [ 0.952, -0.952]])
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y needs one dimension, got shape {y.shape}")
    coef, intercept = linear_paths(
        features, y[np.newaxis], Cs, loss=loss, solver=solver, tol=tol,
        fit_intercept=fit_intercept, warm_start=warm_start, seed=seed,
    )  # fmt: skip
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
    warm_start: bool = False,
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
    loss, solver, tol, fit_intercept, warm_start, seed
        As for :func:`linear_path`.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_values, n_features)
    intercept : ndarray of shape (n_problems, n_values)

    Examples
    --------
    >>> from kernlearn.solvers.linear_path import linear_paths
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> coef, intercept = linear_paths(X, [[1, -1], [-1, 1]], [1, 10, 100])
    >>> coef.shape
    (2, 3, 2)
    """
    solver = _check_options(loss, solver, tol, warm_start)
    X = check_array(features, dtype=[np.float64, np.float32], input_name="features")
    signs = _check_labels(Y, len(X))
    values = _check_Cs(Cs)
    ascending = np.argsort(values, kind="stable")
    weights = np.empty((len(signs), len(values), X.shape[1] + int(fit_intercept)))
    if solver != "liblinear":
        features = _with_ones(X, fit_intercept)
        newton: PrimalNewton | TruncatedNewton
        if solver == "truncated_newton":
            default = DEFAULT_TOL[solver_number(loss)]
            newton = TruncatedNewton(features, tol=default if tol is None else tol)
        else:
            newton = _primal_newton(features, loss, tol)
        weights[:, ascending] = [newton.path(y, values[ascending]) for y in signs]
    else:
        settings = _liblinear_settings(loss, tol, fit_intercept, seed)
        rows = feature_rows(X, settings.bias)
        weights[:, ascending] = [
            solve_path(rows, code, weights.shape[2], settings, values[ascending], warm_start)
            for code in (signs < 0).astype(np.float64)
        ]
    return _coef_and_intercept(weights, X, fit_intercept)


def _with_ones(X: NDArray[np.floating], fit_intercept: bool) -> NDArray[np.floating]:
    return np.column_stack((X, np.ones(len(X)))) if fit_intercept else X


def _primal_newton(X: NDArray[np.floating], loss: str | Loss, tol: float | None) -> PrimalNewton:
    return PrimalNewton(X, loss, tol=_NEWTON_TOL if tol is None else tol, max_iter=_MAX_STEPS)


def _coef_and_intercept(
    weights: NDArray[np.float64], X: NDArray[np.floating], fit_intercept: bool
) -> Path:
    """Split weights of shape (..., n_weights), in the dtype of X."""
    coef = np.ascontiguousarray(weights[..., : X.shape[1]], dtype=X.dtype)
    if not fit_intercept:
        return coef, np.zeros(coef.shape[:-1], dtype=X.dtype)
    return coef, weights[..., -1].astype(X.dtype)


def _liblinear_settings(loss: str, tol: float | None, fit_intercept: bool, seed: int) -> Settings:
    """Return settings for any C; the path sets its own."""
    number = solver_number(loss)
    return Settings(
        solver=number,
        C=1.0,
        tol=DEFAULT_TOL[number] if tol is None else tol,
        bias=1.0 if fit_intercept else None,
        class_weight=np.ones(2),
        seed=None if number in PRIMAL_SOLVERS else seed,
    )


def _check_options(loss: str, solver: str, tol: float | None, warm_start: bool) -> str:
    """Check the options and return the solver to use."""
    if loss not in _LOSSES:
        raise ValueError(f"loss={loss!r} is not known: choose one of {list(_LOSSES)}")
    if solver not in _SOLVERS:
        raise ValueError(f"solver={solver!r} is not known: choose one of {sorted(_SOLVERS)}")
    if solver == "newton" and loss not in LOSSES:
        raise ValueError(
            f"solver='newton' needs one of the losses {sorted(LOSSES)}, but loss={loss!r}: "
            "use solver='liblinear' or 'auto'"
        )
    if solver == "truncated_newton" and loss != "squared_hinge":
        raise ValueError(
            f"solver='truncated_newton' needs loss='squared_hinge', but loss={loss!r}: "
            "use solver='auto' or 'liblinear'"
        )
    if tol is not None and not 0 < tol < np.inf:
        raise ValueError(f"tol={tol!r} must be a positive number or None")
    if solver == "auto":
        solver = "newton" if loss in LOSSES else "liblinear"
    if warm_start and solver == "liblinear" and solver_number(loss) not in PRIMAL_SOLVERS:
        raise ValueError(
            f"warm_start=True needs a primal solver, and LIBLINEAR has none for loss={loss!r}: "
            "use warm_start=False"
        )
    return solver


def _check_labels(Y: Any, n_samples: int) -> NDArray[np.float64]:
    Y = np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] != n_samples:
        raise ValueError(
            f"labels need one value for each of the {n_samples} rows of features and problem, "
            f"got shape {Y.shape}"
        )
    positive = Y == 1
    if not np.all(positive | (Y == -1)):
        raise ValueError("labels must be -1 or +1")
    if np.any(positive.all(axis=1) | ~positive.any(axis=1)):
        raise ValueError("labels need both -1 and +1 in each problem, got only one of them")
    return np.where(positive, 1.0, -1.0)


def _check_Cs(Cs: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(Cs, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(f"Cs must hold one or more positive finite numbers, got {Cs!r}")
    return values


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
    values = _check_Cs(Cs)
    ascending = np.argsort(values, kind="stable")
    loss = SquaredEpsilonInsensitive(epsilon)
    newton = _primal_newton(_with_ones(X, fit_intercept), loss, tol)
    weights = np.empty((len(values), X.shape[1] + int(fit_intercept)))
    weights[ascending] = newton.regression_path(y, values[ascending])
    return _coef_and_intercept(weights, X, fit_intercept)
