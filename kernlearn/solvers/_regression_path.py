"""Linear regressors on dense features along a path of C."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlearn.solvers._linear_path import MAX_STEPS, NEWTON_TOL, Path, check_Cs, with_ones
from kernlearn.solvers._margin_losses import SquaredEpsilonInsensitive
from kernlearn.solvers._newton import PrimalNewton


def regression_path(
    features: ArrayLike,
    targets: ArrayLike,
    Cs: ArrayLike,
    *,
    epsilon: float = 0.1,
    tol: float | None = None,
    fit_intercept: bool = False,
) -> Path:
    r"""Train regressors with the squared ε-insensitive loss for several values of C, exactly.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ max(0, \|⟨w, xᵢ⟩ − yᵢ\| − ε)² (``-s 11``), where w
    includes the intercept if there is one, by Newton's method.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    targets : array-like of shape (n_samples,)
    Cs : array-like of shape (n_values,)
        Values of C, in any order: they are solved in ascending order.
    epsilon : float, default=0.1
        Error that costs nothing.
    tol : float or None, default=None
        Relative excess of the objective over its minimum that is allowed; None is 1e-10.
    fit_intercept : bool, default=False
        Whether to add a feature that is always 1. As LIBLINEAR's, it is penalised.

    Returns
    -------
    coef : ndarray of shape (n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_values,)
        Zero without `fit_intercept`.

    Raises
    ------
    ValueError
        If an argument is out of its range, or two of them do not go together.

    Warns
    -----
    ConvergenceWarning
        If a solution is not reached.

    Examples
    --------
    >>> from kernlearn.solvers._regression_path import regression_path
    >>> regression_path([[1.0], [2.0]], [2.0, 4.0], [1000], epsilon=0.0)[0].round(2)
    array([[2.]])
    """
    X = check_array(features, dtype=[np.float64, np.float32], input_name="features")
    y = column_or_1d(targets).astype(np.float64)
    check_consistent_length(X, y)
    values = check_Cs(Cs)
    ascending = np.argsort(values, kind="stable")
    newton = PrimalNewton(
        with_ones(X, fit_intercept),
        SquaredEpsilonInsensitive(epsilon),
        tol=NEWTON_TOL if tol is None else tol,
        max_iter=MAX_STEPS,
    )
    weights = np.empty((len(values), X.shape[1] + int(fit_intercept)))
    weights[ascending] = newton.regression_path(y, values[ascending])
    coef = weights[:, : X.shape[1]].astype(X.dtype)
    intercept = weights[:, -1] if fit_intercept else np.zeros(len(values))
    return coef, intercept.astype(X.dtype)
