"""The norm-1 support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.kernels import Kernel, as_kernel
from kernlearn.voted._base import VotedClassifier, descending
from kernlearn.voted._grams import KernelFamily


class L1SVMClassifier(VotedClassifier):
    r"""Norm-1 support vector machine: hinge losses, and the 1-norm of the coefficients.

    The classifier is the sign of :math:`f = \sum_j α_j K(\cdot, x_j)` that minimises
    :math:`\frac1m \sum_i \max(0, 1 - y_i f(x_i)) + β \|α\|_1`: voted kernel regularization with
    one kernel and λ = 0. There is no intercept. The kernel need not be positive semi-definite or
    symmetric. With more than two classes each is separated from the rest.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="polynomial"
        A kernel's name, a kernel, a function (X, Y) -> matrix, or "precomputed".
    beta : float or sequence of float, default=1e-3
        The penalty; of several the best on validation points is kept.
    solver : {"column_generation", "lp", "coordinate_descent"}, default="column_generation"
        As for `VotedKernelClassifier`, like all that follows.
    tol : float, default=1e-6
        Largest gap to the dual bound, relative to the objective.
    max_iter : int, default=None
        Most rounds or sweeps a problem.
    validation_fraction : float, default=0.2
        Share of the training points that is kept apart for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Draws the points kept apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : list of one csr_array of shape (n_problems, n_training_points)
        The coefficients.
    support_ : ndarray of shape (n_support,)
        Rows, in the X passed to `fit`, of points with a coefficient.
    n_support_ : int
        Their number.
    beta_ : float
        The choice; also in ``best_params_``.
    validation_scores_ : ndarray of shape (n_beta,), or None
        Accuracies on the validation points, β descending.
    objective_, dual_bound_ : ndarray of shape (n_problems,)
        The objective reached, and a value that it is nowhere below.
    n_iter_ : int
        Iterations of the solver.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Cortes, Goyal, Kuznetsov & Mohri (2015), section 3; Zhu, Rosset, Hastie & Tibshirani (2003),
    where there is an intercept.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.voted import L1SVMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = L1SVMClassifier(PolynomialKernel(degree=4)).fit(X[:150], y[:150])
    >>> model.score(X[150:], y[150:]) > 0.9
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **VotedClassifier._parameter_constraints,
        "kernel": [str, Kernel, callable],
    }

    def __init__(
        self,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "polynomial",
        *,
        beta: Any = 1e-3,
        solver: str = "column_generation",
        tol: float = 1e-6,
        max_iter: int | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.beta = beta
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _kernels(self) -> list[Kernel] | None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return None
        return [as_kernel(self.kernel)]

    def _axes(self) -> dict[str, NDArray[np.float64]]:
        return {"beta": descending(self.beta, "beta")}

    def _complexities(
        self,
        grams: NDArray[np.float64],
        family: KernelFamily,
        n_features: int,
        rng: np.random.RandomState,
    ) -> list[NDArray[np.float64]]:
        if len(grams) > 1:
            raise ValueError(
                "kernel='precomputed' needs a square matrix for training, got "
                f"{len(grams)} side by side; VotedKernelClassifier takes several"
            )
        return [np.zeros(1)]
