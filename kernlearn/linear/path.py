"""Linear models on dense features for several values of C."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlearn.linear.liblinear import DEFAULT_TOL, first_part
from kernlearn.linear.losses import (
    EpsilonInsensitive,
    Logistic,
    Loss,
    SmoothedHinge,
    SquaredHinge,
    Weights,
)
from kernlearn.linear.newton import PrimalNewton

Path = tuple[np.ndarray, np.ndarray]

_LOSSES = ("squared_hinge", "logistic", "hinge")
# Newton's method ends at the solution itself: on 10000 x 300 features and four values of C, 20 to
# 50 steps reach 1e-4, and at most four more reach this. A hinge needs some steps more for each
# digit.
_NEWTON_TOL = 1e-10
_HINGE_TOL = 1e-6
_MAX_STEPS = 200


def linear_paths(
    features: ArrayLike,
    Y: ArrayLike,
    Cs: ArrayLike,
    *,
    loss: str = "squared_hinge",
    solver: str = "newton",
    tol: float | None = None,
    fit_intercept: bool = False,
    weights: np.ndarray | None = None,
) -> Path:
    """Train several binary classifiers on the same features, each for several values of C.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ sᵢ loss(yᵢ⟨w, xᵢ⟩) for weights sᵢ, where w includes
    the intercept. The Gram matrix of the features is computed once.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    Y : array-like of shape (n_problems, n_samples)
        Labels -1 and +1, both of them in each row.
    Cs : array-like of shape (n_values,)
        Values of C, in any order.
    loss : {"squared_hinge", "logistic", "hinge"}, default="squared_hinge"
    solver : {"newton", "truncated_newton"}, default="newton"
        "newton" converges to the minimum, and starts from the solution for the previous C.
        "truncated_newton", for the squared hinge, is LIBLINEAR's method (``-s 2``) on dense
        features: up to rounding it stops where LIBLINEAR does, in a fraction of the time.
    tol : float or None, default=None
        For "newton", the allowed excess of the objective over its minimum, relative to it; by
        default 1e-10, for the hinge 1e-6. For "truncated_newton" LIBLINEAR's own tolerance, by
        default 0.01; with a large C the objective can then be far from the minimum.
    fit_intercept : bool, default=False
        Whether to add a constant feature of 1. As in LIBLINEAR, its weight is penalised.
    weights : ndarray of shape (n_samples,) or (n_problems, n_samples), default=None
        Factors above 0 on the losses, 1 by default. With them "newton" solves the problem, with
        its own tolerance, for any `solver`.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_problems, n_values)
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
    >>> from kernlearn.linear.path import linear_paths
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> coef, intercept = linear_paths(X, [[1, -1], [-1, 1]], [1, 10])
    >>> coef.round(3)
    array([[[ 0.667, -0.667], [ 0.952, -0.952]], [[-0.667,  0.667], [-0.952,  0.952]]])
    """
    if loss not in _LOSSES or solver not in ("newton", "truncated_newton"):
        raise ValueError(f"there is no loss {loss!r} or solver {solver!r} of classifiers")
    if solver == "truncated_newton" and loss != "squared_hinge":
        raise ValueError(
            f"solver='truncated_newton' needs loss='squared_hinge', but loss={loss!r}: use "
            "solver='newton'"
        )
    X, values, places = _checked(features, Cs, tol)
    signs = check_array(Y, dtype=np.float64, input_name="labels")
    check_consistent_length(X, signs.T)
    if (np.abs(signs) != 1).any() or (np.ptp(signs, axis=1) == 0).any():
        raise ValueError("labels must be -1 or +1, and both must occur in each problem")
    if solver == "newton" or weights is not None:
        newton = _newton(X, fit_intercept, tol if solver == "newton" else None, loss)
        factors = [1.0] * len(signs) if weights is None else np.broadcast_to(weights, signs.shape)
        losses = [_classification_loss(loss, each) for each in factors]
        paths = [newton.path(one, y, values) for one, y in zip(losses, signs, strict=True)]
    else:
        truncated = _truncated(_with_ones(X, fit_intercept), tol)
        paths = [truncated.path(y, values) for y in signs]
    return _coef_and_intercept(np.array(paths)[:, places], X, fit_intercept)


def regression_path(
    features: ArrayLike,
    targets: ArrayLike,
    Cs: ArrayLike,
    *,
    loss: str = "squared_epsilon_insensitive",
    epsilon: float = 0.1,
    tol: float | None = None,
    fit_intercept: bool = False,
    weights: np.ndarray | None = None,
) -> Path:
    r"""Train a regressor for several values of C, to the minimum.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ sᵢ loss(max(0, \|⟨w, xᵢ⟩ − yᵢ\| − ε)) for weights
    sᵢ, where w includes the intercept, by Newton's method.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    targets : array-like of shape (n_samples,)
    Cs : array-like of shape (n_values,)
        Values of C, in any order.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The square of the excess of an error over epsilon, or the excess.
    epsilon : float, default=0.1
        Half width of the tube without loss.
    tol : float or None, default=None
        Allowed excess of the objective over its minimum, relative to it; by default 1e-10, for
        the plain loss 1e-6.
    fit_intercept : bool, default=False
        Whether to add a constant feature of 1. As in LIBLINEAR, its weight is penalised.
    weights : ndarray of shape (n_samples,), default=None
        Factors above 0 on the losses, 1 by default.

    Returns
    -------
    coef : ndarray of shape (n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_values,)
        Zero without `fit_intercept`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Warns
    -----
    ConvergenceWarning
        If the solver stopped short of its tolerance.

    Examples
    --------
    >>> from kernlearn.linear.path import regression_path
    >>> regression_path([[1.0], [2.0]], [2.0, 4.0], [1000], epsilon=0.0)[0].round(2)
    array([[2.]])
    """
    X, values, places = _checked(features, Cs, tol)
    y = column_or_1d(targets).astype(np.float64)
    check_consistent_length(X, y)
    factors: Weights = 1.0 if weights is None else weights
    if loss == "squared_epsilon_insensitive":
        hinge: SquaredHinge | SmoothedHinge = SquaredHinge(factors, edge=0.0, sign=1.0)
    else:
        width = max(1.0, float(np.abs(y).max()))
        hinge = SmoothedHinge(width, factors, edge=0.0, sign=1.0)
    newton = _newton(X, fit_intercept, tol, loss)
    path = newton.path(EpsilonInsensitive(epsilon, hinge), 1.0, values, y)
    return _coef_and_intercept(path[places], X, fit_intercept)


def primal_path(
    features: np.ndarray,
    y: np.ndarray,
    Cs: ArrayLike,
    *,
    tol: float | None = None,
    presolve: float | None = None,
) -> Path:
    """Train a binary classifier as LIBLINEAR's primal solver does, for several values of C.

    It is :class:`kernlearn.linear.LinearSVM` with its defaults, up to rounding, on dense
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
    values = np.asarray(Cs, dtype=np.float64)
    by_class = np.argsort(-y, kind="stable")
    X, y = _with_ones(features[by_class], fit_intercept=True), y[by_class]
    starts = None
    if presolve is not None:
        part, factor = first_part(len(y), presolve)
        if np.ptp(y[part]):
            starts = _truncated(X[part], tol).path(y[part], values * factor)
    weights = _truncated(X, tol).path(y, values, starts)
    return _coef_and_intercept(weights, features, fit_intercept=True)


def _classification_loss(name: str, weights: Any) -> Loss:
    if name == "hinge":
        return SmoothedHinge(1.0, weights)
    return Logistic(weights) if name == "logistic" else SquaredHinge(weights)


def _newton(X: np.ndarray, fit_intercept: bool, tol: float | None, loss: str) -> PrimalNewton:
    if tol is None:
        tol = _HINGE_TOL if loss in ("hinge", "epsilon_insensitive") else _NEWTON_TOL
    return PrimalNewton(_with_ones(X, fit_intercept), tol=tol, max_iter=_MAX_STEPS)


def _truncated(X: np.ndarray, tol: float | None) -> Any:
    from kernlearn.linear.truncated_newton import TruncatedNewton  # loads numba

    return TruncatedNewton(X, tol=DEFAULT_TOL if tol is None else tol)


def _checked(
    features: ArrayLike, Cs: ArrayLike, tol: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features, the values of C in ascending order, and the place of each there."""
    if tol is not None and not 0 < tol < np.inf:
        raise ValueError(f"tol={tol!r} must be a positive number or None")
    X = check_array(features, dtype=[np.float64, np.float32], input_name="features")
    values = np.asarray(Cs, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(f"Cs must hold one or more positive finite numbers, got {Cs!r}")
    ascending = np.argsort(values, kind="stable")
    return X, values[ascending], np.argsort(ascending)


def _with_ones(X: np.ndarray, fit_intercept: bool) -> np.ndarray:
    return np.column_stack((X, np.ones(len(X)))) if fit_intercept else X


def _coef_and_intercept(weights: np.ndarray, X: np.ndarray, fit_intercept: bool) -> Path:
    """Split weights of shape (..., n_weights), in the dtype of X."""
    coef = np.ascontiguousarray(weights[..., : X.shape[1]], dtype=X.dtype)
    if not fit_intercept:
        return coef, np.zeros(coef.shape[:-1], dtype=X.dtype)
    return coef, weights[..., -1].astype(X.dtype)
