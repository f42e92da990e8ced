"""Kernels as LIBSVM knows them, and their evaluation by BLAS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

#: LIBSVM's number of a kernel (``-t``) by scikit-learn's name.
KERNEL_NUMBERS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3, "precomputed": 4}

# exp of twice as much is a number still, and so is its reciprocal.
_LARGEST_EXPONENT = 300.0


@dataclass(frozen=True)
class SVMKernel:
    """One of LIBSVM's kernels.

    Calling it with (X, Y) gives the kernel matrix, unless `name` is "precomputed".

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid", "precomputed"}
    degree : int, default=0
    gamma, coef0 : float, default=0.0
    """

    name: str
    degree: int = 0
    gamma: float = 0.0
    coef0: float = 0.0

    def __call__(self, X: Any, Y: Any) -> NDArray[np.float64]:
        if self.name == "rbf":
            gram = euclidean_distances(X, Y, squared=True)
            gram *= -self.gamma
            return np.exp(gram, out=gram)
        gram = safe_sparse_dot(X, Y.T, dense_output=True)
        if self.name == "linear":
            return gram
        gram *= self.gamma
        gram += self.coef0
        return np.tanh(gram, out=gram) if self.name == "sigmoid" else _power(gram, self.degree)


def resolve_gamma(gamma: float | str, X: Any) -> float:
    """Value of gamma; "scale" is 1 / (n_features · variance of all values), as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def resolve_kernel(
    kernel: Any, degree: int, gamma: float | str, coef0: float, X: Any
) -> tuple[SVMKernel, Any]:
    """LIBSVM's view of a kernel, and the kernel fitted on X.

    Parameters
    ----------
    kernel : str or callable
        Name of one of LIBSVM's kernels, kernel object, or function (X, Y) -> matrix.
    degree, gamma, coef0
        Parameters of the named kernels.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    native : SVMKernel
        "precomputed" where LIBSVM has no such kernel itself.
    fitted : str or callable
        The name; a fitted clone of a kernel object; or the function itself.
    """
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return SVMKernel("precomputed"), kernel
        return SVMKernel(kernel, degree, resolve_gamma(gamma, X), coef0), kernel
    fitted = clone(kernel) if hasattr(kernel, "get_params") else kernel
    if hasattr(fitted, "fit"):
        fitted = fitted.fit(X)
    return _as_polynomial(fitted) or SVMKernel("precomputed"), fitted


def _as_polynomial(kernel: Any) -> SVMKernel | None:
    """LIBSVM's polynomial in place of kernlearn's own polynomial kernels."""
    from kernlearn import kernels  # not needed, and not loaded, for named kernels

    # A subclass may compute something else.
    if type(kernel) is kernels.PolynomialKernel:
        return SVMKernel("poly", kernel.degree, 1.0, float(kernel.coef0))
    if type(kernel) is kernels.HomogeneousPolynomialKernel:
        return SVMKernel("poly", kernel.degree, 1.0, 0.0)
    return None


def as_scaled_gaussian(kernel: Any, *points: Any) -> SVMKernel | None:
    r"""LIBSVM's Gaussian kernel in which kernlearn's exponential kernel can be evaluated.

    :math:`\exp(\langle x, y \rangle / \sigma^2)` is
    :math:`e^{\gamma |x|^2} \exp(-\gamma |x - y|^2) e^{\gamma |y|^2}` with
    :math:`\gamma = 1 / 2 \sigma^2`.

    Parameters
    ----------
    kernel : object
        A fitted kernel of any kind.
    *points : {ndarray, sparse matrix}
        Rows at which it will be evaluated.

    Returns
    -------
    SVMKernel or None
        None for another kernel, and where the factors would leave the range of numbers.
    """
    from kernlearn import kernels

    if type(kernel) is not kernels.ExponentialKernel:
        return None
    gamma = 1 / (2 * kernel.sigma_**2)
    largest = max(gamma * row_norms(X, squared=True).max(initial=0.0) for X in points)
    return SVMKernel("rbf", gamma=gamma) if largest < _LARGEST_EXPONENT else None


def _power(base: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Integer power by repeated squaring, which overwrites `base`."""
    if exponent == 0:
        return np.ones_like(base)
    while exponent % 2 == 0:
        np.multiply(base, base, out=base)
        exponent //= 2
    result = base.copy()
    while exponent := exponent // 2:
        np.multiply(base, base, out=base)
        if exponent % 2:
            np.multiply(result, base, out=result)
    return result
