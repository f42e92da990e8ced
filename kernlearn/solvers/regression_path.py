"""Paths of scikit-learn's kernel regressors, which evaluate the kernel once for all settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVR

from kernlearn.memory import allowed_memory, row_blocks
from kernlearn.solvers.svm_path import Setting, noting_convergence

Floats = NDArray[np.float64]

# Kernels of KernelRidge whose matrices are positive semi-definite.
_DEFINITE = ("linear", "rbf", "laplacian", "poly", "polynomial")


@dataclass(frozen=True)
class RegressionPath:
    """Fitted regressors of all points of a grid, which differ in their coefficients alone.

    Attributes
    ----------
    settings : list of Setting
        In the order of :class:`sklearn.model_selection.ParameterGrid`.
    coefficients : ndarray of shape (n_settings, n_samples)
    intercepts : ndarray of shape (n_settings,)
    converged : ndarray of shape (n_settings,)
        Whether the solver converged.
    """

    settings: list[Setting]
    coefficients: Floats
    intercepts: Floats
    converged: NDArray[np.bool_]
    _rows: Any
    _kernel: Callable[[Any, Any], Floats]

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of coefficients of each setting that are not 0."""
        return np.count_nonzero(self.coefficients, axis=1)

    def predict(self, X: Any) -> Floats:
        """Predict by every regressor; shape (n_settings, n_samples)."""
        used = np.flatnonzero(self.coefficients.any(axis=0))
        values = np.empty((len(self.settings), X.shape[0]))
        for batch in row_blocks(X.shape[0], len(used)):
            if self._rows is None:  # X has kernel values
                block = X[batch][:, used]
            else:
                block = self._kernel(X[batch], self._rows[used])
            values[:, batch] = self.coefficients[:, used] @ block.T
        return values + self.intercepts[:, np.newaxis]


def path_parameters(model: Any, grid: Mapping[str, list[Any]], X: Any, y: Any) -> tuple[str, ...]:
    """Return the parameters of a grid that :func:`follow_path` takes lists of.

    There are none for another estimator, for a kernel that may be indefinite, for data that it
    does not serve, or if the kernel matrix does not fit into memory.
    """
    n = X.shape[0]
    if sparse.issparse(X) or np.ndim(y) != 1 or 3 * 8 * n**2 > allowed_memory(None):
        return ()
    # the matrix must be the same at all points
    if type(model) is KernelRidge and model.kernel in _DEFINITE and model.coef0 >= 0:
        names: tuple[str, ...] = ("alpha",)
    elif type(model) is SVR and model.max_iter == -1:
        names = ("C", "epsilon")
    else:
        return ()
    return tuple(name for name in names if name in grid and _are_numbers(name, grid[name]))


def _are_numbers(name: str, values: list[Any]) -> bool:
    return all(
        isinstance(v, (int, float)) and (v > 0 or (name == "epsilon" and v == 0)) for v in values
    )


def follow_path(model: Any, X: Any, y: Any) -> RegressionPath:
    """Fit all combinations of the parameters of :func:`path_parameters` that are lists.

    Parameters
    ----------
    model : KernelRidge or SVR
    X : ndarray of shape (n_samples, n_features)
        The kernel matrix for "precomputed".
    y : ndarray of shape (n_samples,)

    Returns
    -------
    RegressionPath
        The same models as those of scikit-learn, up to the tolerance of the solver.
    """
    ridge = type(model) is KernelRidge
    names = ("alpha",) if ridge else ("C", "epsilon")
    given = {name: getattr(model, name) for name in names}
    lists = {name: value for name, value in given.items() if isinstance(value, list)}
    points = list(ParameterGrid(lists))
    precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
    kernel = _kernel_of(model, X)
    gram = X if precomputed else kernel(X, X)
    fit = _fit_ridge if ridge else _fit_svr
    coefficients, intercepts, converged = fit(model, gram, y, [given | point for point in points])
    return RegressionPath(
        [Setting(point) for point in points],
        coefficients,
        intercepts,
        converged,
        None if precomputed else X,
        kernel,
    )


def _kernel_of(model: Any, X: Floats) -> Callable[[Any, Any], Floats]:
    """Return the kernel as a function of two sets of points, as scikit-learn evaluates it."""
    if callable(model.kernel):
        return model.kernel
    gamma = model.gamma
    if gamma == "scale":
        gamma = 1.0 / (X.shape[1] * X.var()) if X.var() else 1.0
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]

    def kernel(rows: Any, others: Any) -> Floats:
        values: Floats = pairwise_kernels(
            rows,
            others,
            metric=model.kernel,
            filter_params=True,
            gamma=gamma,
            degree=model.degree,
            coef0=model.coef0,
        )
        return values

    return kernel


def _fit_ridge(
    model: Any, gram: Floats, y: Floats, settings: list[dict[str, Any]]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    from kernlearn.solvers.kernel_ridge import ridge_path

    coefficients = ridge_path(gram, y, [setting["alpha"] for setting in settings])
    return coefficients, np.zeros(len(settings)), np.ones(len(settings), dtype=bool)


def _fit_svr(
    model: Any, gram: Floats, y: Floats, settings: list[dict[str, Any]]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Fit with C ascending, so that each solution may start the next."""
    from kernlearn.solvers import smo  # loads numba

    coefficients = np.zeros((len(settings), len(y)))
    intercepts, converged = np.zeros(len(settings)), np.ones(len(settings), dtype=bool)
    order = [(setting["C"], -setting["epsilon"]) for setting in settings]
    start = None
    for k in sorted(range(len(settings)), key=order.__getitem__):
        with noting_convergence(converged, k):
            start, intercepts[k] = smo.train_regression(
                gram, y, settings[k]["C"], settings[k]["epsilon"], model.tol, start
            )
        coefficients[k] = start
    return coefficients, intercepts, converged
