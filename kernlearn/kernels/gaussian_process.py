"""Kernels as scikit-learn's Gaussian processes take them."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from kernlearn.kernels.base import Kernel, diagonal
from kernlearn.kernels.composite import as_kernel


class GaussianProcessKernel(SklearnKernel):
    """A kernel for scikit-learn's Gaussian processes, without hyperparameters to be learned.

    It may be combined with scikit-learn's own kernels, whose hyperparameters are learned. Where
    scikit-learn would call a kernel once for each pair of points, as in
    ``KernelRidge(kernel=...)``, this is called once for all of them. Clones of it keep what its
    kernel has learnt, so that a kernel with a width from data can be used in SVC and SVR.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        A name, an object, or a function of two matrices or two points. One with a width that
        depends on data must be fitted before.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from sklearn.gaussian_process.kernels import WhiteKernel
    >>> from kernlearn.kernels import GaussianKernel, GaussianProcessKernel
    >>> X = np.linspace(0, 3, 20)[:, None]
    >>> kernel = GaussianProcessKernel(GaussianKernel(sigma=1.0)) + WhiteKernel(0.01)
    >>> GaussianProcessRegressor(kernel).fit(X, np.sin(X).ravel()).predict([[1.5]]).round(1)
    array([1.])
    >>> from sklearn.svm import SVR
    >>> kernel = GaussianProcessKernel(GaussianKernel(sigma="mean_distance").fit(X))
    >>> SVR(kernel=kernel, C=100).fit(X, np.sin(X).ravel()).predict([[1.5]]).round(1)
    array([0.9])
    """

    def __init__(self, kernel: str | Kernel | Callable[[Any, Any], ArrayLike] = "linear") -> None:
        self.kernel = kernel

    def __sklearn_clone__(self) -> Self:
        # clones of kernels are not fitted
        return type(self)(deepcopy(self.kernel))

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Evaluate the kernel on all pairs of points of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X, Y
            As for :class:`Kernel`.
        eval_gradient : bool, default=False
            Whether to return the derivatives too, by no hyperparameter.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y), or that and one with a third axis of length 0
        """
        gram = np.asarray(as_kernel(self.kernel)(X, Y), dtype=np.float64)
        return (gram, np.empty((*gram.shape, 0))) if eval_gradient else gram

    def diag(self, X: Any) -> np.ndarray:
        """Return K(x, x) for each point.

        Parameters
        ----------
        X : {array-like} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        points = X if hasattr(X, "shape") else np.asarray(X)
        return np.asarray(diagonal(as_kernel(self.kernel), points), dtype=np.float64).copy()

    def is_stationary(self) -> bool:
        """Return False: it may depend on more than the difference of two points."""
        return False

    @property
    def requires_vector_input(self) -> bool:
        """Whether points are vectors of numbers."""
        return not as_kernel(self.kernel).structured

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel!r})"
