"""Sums and products of dot-product kernels, which are dot-product kernels again."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kernlearn.kernels._dot_product import BaseDotProductKernel
from kernlearn.kernels._typing import MatrixLike


class _Pair(BaseDotProductKernel):
    """Two kernels combined; `fit` fits clones of them, as a meta-estimator does."""

    _parameter_constraints: dict[str, list[Any]] = {
        "left": [BaseDotProductKernel],
        "right": [BaseDotProductKernel],
    }

    def __init__(self, left: BaseDotProductKernel, right: BaseDotProductKernel) -> None:
        self.left = left
        self.right = right

    @property
    def radius(self) -> float:
        """Radius of convergence of the series in the inner product."""
        return min(self.left.radius, self.right.radius)

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return self.left.data_dependent or self.right.data_dependent

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit clones of both kernels.

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
            If a parameter of one of them is not valid.
        """
        self._validate_params()
        self.left_ = clone(self.left).fit(X)
        self.right_ = clone(self.right).fit(X)
        return self

    def _parts(self) -> tuple[BaseDotProductKernel, BaseDotProductKernel]:
        if hasattr(self, "left_"):
            return self.left_, self.right_
        return self.left, self.right


class KernelSum(_Pair):
    """The sum of two dot-product kernels, written ``left + right``.

    Parameters
    ----------
    left, right : dot-product kernels
        The two kernels.

    Attributes
    ----------
    left_, right_ : dot-product kernels
        Fitted clones, after `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import HomogeneousPolynomialKernel, PolynomialKernel
    >>> (PolynomialKernel(degree=1) + HomogeneousPolynomialKernel(degree=2)).coefficients(2)
    array([1., 1., 1.])
    """

    @property
    def degree_max(self) -> int | None:
        """Order above which all coefficients are zero; None for an infinite series."""
        left, right = self.left.degree_max, self.right.degree_max
        return None if left is None or right is None else max(left, right)

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        left, right = self._parts()
        return np.logaddexp(left.log_coefficients(n_max), right.log_coefficients(n_max))

    def _function(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.function(t) + right.function(t)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.derivative(t) + right.derivative(t)


class KernelProduct(_Pair):
    """The product of two dot-product kernels, written ``left * right``.

    Its coefficients are the Cauchy product of theirs.

    Parameters
    ----------
    left, right : dot-product kernels
        The two kernels.

    Attributes
    ----------
    left_, right_ : dot-product kernels
        Fitted clones, after `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> (PolynomialKernel(degree=1) * PolynomialKernel(degree=1)).coefficients(2)
    array([1., 2., 1.])
    """

    @property
    def degree_max(self) -> int | None:
        """Order above which all coefficients are zero; None for an infinite series."""
        left, right = self.left.degree_max, self.right.degree_max
        return None if left is None or right is None else left + right

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        left, right = (kernel.log_coefficients(n_max) for kernel in self._parts())
        return np.array(
            [np.logaddexp.reduce(left[: n + 1] + right[n::-1]) for n in range(n_max + 1)]
        )

    def _function(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.function(t) * right.function(t)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.derivative(t) * right.function(t) + left.function(t) * right.derivative(t)
