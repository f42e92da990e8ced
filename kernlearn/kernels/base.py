"""Base class of kernels, and kernels from names and functions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernlearn.kernels.registry import KERNELS

#: An array-like or a scipy sparse matrix or array; scipy has no static types for the latter.
MatrixLike: TypeAlias = Any


class Kernel(BaseEstimator, ABC):
    """Base class of kernels: functions of two points, evaluated on all pairs of rows.

    Parameters follow scikit-learn's conventions, so that ``get_params``, ``set_params``
    (``kernel__degree``), ``clone`` and ``repr`` work. A subclass needs only ``__call__``,
    and ``fit`` with ``data_dependent`` if a parameter is estimated from data.

    Attributes
    ----------
    structured : bool
        Whether points may be strings, sets or other objects instead of rows of a matrix.
    columnwise : bool
        Whether each value is computed from its two points alone. Values by a matrix product
        depend in the last digit on the points evaluated together.
    """

    _parameter_constraints: dict[str, list[Any]] = {}
    structured: bool = False
    columnwise: bool = False

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return False

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Estimate the parameters that depend on data, if any.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted kernel.

        Raises
        ------
        ValueError
            If a parameter is not valid, or cannot be estimated from these points.
        """
        self._validate_params()
        return self

    @abstractmethod
    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the kernel on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            Kernel matrix, float32 if both matrices are, otherwise float64.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """


class CallableKernel(Kernel):
    """A kernel from a function of two matrices.

    Parameters
    ----------
    function : callable
        Function of (X, Y) that returns an array of shape (n_samples_x, n_samples_y).

    Examples
    --------
    >>> from kernlearn.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    columnwise = True

    _parameter_constraints: dict[str, list[Any]] = {"function": [callable]}

    def __init__(self, function: Callable[[Any, Any], ArrayLike]) -> None:
        self.function = function

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X = X if hasattr(X, "shape") else np.asarray(X)
        Y = X if Y is None else Y if hasattr(Y, "shape") else np.asarray(Y)
        gram = np.asarray(self.function(X, Y))
        expected = (X.shape[0], Y.shape[0])
        if gram.shape != expected:
            raise ValueError(
                f"'function' returned an array of shape {gram.shape}; for these X and Y it must "
                f"be {expected}, one row per row of X and one column per row of Y"
            )
        return gram


def as_kernel(
    spec: str | Kernel | Callable[[Any, Any], ArrayLike], name: str = "kernel"
) -> Kernel:
    """Convert a name, a kernel or a function of two matrices to a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        A name in `KERNELS`, for that kernel with its default parameters; a kernel, which is
        returned unchanged; or a callable (X, Y) -> matrix. Kernels with a width
        ("exponential", "gaussian", "laplacian") estimate it by the mean distance of the points
        that they are fitted to.
    name : str, default="kernel"
        Name of the parameter, for error messages.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If `spec` is an unknown name or none of the three.

    Examples
    --------
    >>> from kernlearn.kernels import as_kernel
    >>> as_kernel("polynomial")
    PolynomialKernel()
    """
    if isinstance(spec, Kernel):
        return spec
    # The coefficients of a dot-product kernel have no default.
    names = sorted(KERNELS.keys() - {"dot_product"})
    if isinstance(spec, str) and spec in names:
        return KERNELS[spec].load()()
    if callable(spec):
        return CallableKernel(spec)
    raise ValueError(
        f"{name!r} must be one of {', '.join(map(repr, names))}, a kernel object or a callable "
        f"(X, Y) -> matrix, got {spec!r}"
    )
