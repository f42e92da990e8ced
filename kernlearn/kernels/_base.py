"""What every kernel is: something fitted to data, if it must be, then called on two matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernlearn.kernels._typing import MatrixLike


class Kernel(BaseEstimator, ABC):
    """A function of two points, evaluated on all pairs of rows of two matrices.

    Parameters follow scikit-learn's conventions, so that ``get_params``, ``set_params``
    (``kernel__degree``), ``clone`` and ``repr`` work. A subclass needs only ``__call__``,
    and ``fit`` with ``data_dependent`` where a parameter is worked out from data.

    Attributes
    ----------
    structured : bool
        Whether points may be strings, sets or other objects instead of rows of a matrix.
    """

    _parameter_constraints: dict[str, list[Any]] = {}
    structured: bool = False

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return False

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Work out the parameters that depend on data; here there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The kernel itself.

        Raises
        ------
        ValueError
            If a parameter has a value that is not allowed.
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
            The Gram matrix.
        """


class CallableKernel(Kernel):
    """A kernel given by a function of two matrices.

    Parameters
    ----------
    function : callable
        Takes `X` of shape (n_samples_x, n_features) and `Y` of shape
        (n_samples_y, n_features), returns an array of shape (n_samples_x, n_samples_y).

    Examples
    --------
    >>> from kernlearn.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    _parameter_constraints: dict[str, list[Any]] = {"function": [callable]}

    def __init__(self, function: Callable[[Any, Any], ArrayLike]) -> None:
        self.function = function

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
            The Gram matrix.

        Raises
        ------
        ValueError
            If the function's result has another shape.
        """
        self._validate_params()
        X = X if hasattr(X, "shape") else np.asarray(X)
        Y = X if Y is None else Y if hasattr(Y, "shape") else np.asarray(Y)
        gram = np.asarray(self.function(X, Y))
        expected = (X.shape[0], Y.shape[0])
        if gram.shape != expected:
            raise ValueError(
                f"'function' returned an array of shape {gram.shape}; for these X and Y it must "
                f"be {expected}, one row a row of X and one column a row of Y"
            )
        return gram
