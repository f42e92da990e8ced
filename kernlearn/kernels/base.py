"""Base classes of kernels, and kernels from functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

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


class WidthKernel(Kernel):
    """Base class of kernels with a width, fixed or estimated from the training points."""

    _parameter_constraints: dict[str, list[Any]] = {
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"mean_distance"})],
    }

    sigma_: float

    def __init__(self, sigma: float | Literal["mean_distance"] = "mean_distance") -> None:
        self.sigma = sigma

    @property
    def data_dependent(self) -> bool:
        return isinstance(self.sigma, str)

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        self._validate_params()
        self.sigma_ = self._mean_distance(X) if isinstance(self.sigma, str) else float(self.sigma)
        if not self.sigma_ > 0:
            raise ValueError(
                "sigma='mean_distance' needs points that differ, all rows of X are the same: "
                "give sigma as a number > 0"
            )
        return self

    @abstractmethod
    def _mean_distance(self, X: MatrixLike) -> float:
        """Return the mean distance between pairs of points."""

    def _width(self) -> float:
        if not isinstance(self.sigma, str):
            return float(self.sigma)
        check_is_fitted(self, "sigma_")
        return self.sigma_
