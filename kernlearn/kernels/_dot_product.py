"""Kernels that are a power series in the inner product, with non-negative coefficients."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.kernels._base import Kernel
from kernlearn.kernels._typing import MatrixLike

if TYPE_CHECKING:
    from kernlearn.kernels._algebra import KernelProduct, KernelSum

# Elements of the Gram matrix to which f is applied at once: 256 KB of float64 stay in cache.
_BLOCK_ELEMENTS = 32768


class BaseDotProductKernel(Kernel):
    r"""A kernel :math:`K(x, y) = f(\langle x, y \rangle)`, :math:`f(t) = \sum_n a_n t^n`.

    By Schoenberg's theorem such a kernel is positive definite on the ball of every Hilbert
    space if and only if all :math:`a_n \ge 0` [1]_. A subclass defines `degree_max`,
    `log_coefficients`, ``_function`` and ``_derivative``, and `radius` where it is finite.

    ``k1 + k2`` and ``k1 * k2`` are dot-product kernels again, and so are ``k + c`` and
    ``c * k`` for a number ``c >= 0``.

    References
    ----------
    .. [1] Kar (2013), theorem 3.1 and section 3.3.
    """

    @property
    def radius(self) -> float:
        """Radius of convergence of the series in the inner product."""
        return np.inf

    @property
    @abstractmethod
    def degree_max(self) -> int | None:
        """Order above which all coefficients are zero; None for an infinite series."""

    @abstractmethod
    def _log_coefficients(self, n_max: int) -> np.ndarray:
        """Return log a_0, ..., log a_{n_max}; the parameters are known to be valid."""

    @abstractmethod
    def _function(self, t: np.ndarray) -> np.ndarray:
        """Return f(t) in the dtype of t, which lies inside the radius of convergence."""

    @abstractmethod
    def _derivative(self, t: np.ndarray) -> np.ndarray:
        """Return f'(t) in the dtype of t, which lies inside the radius of convergence."""

    def function(self, t: ArrayLike) -> np.ndarray:
        """Evaluate f elementwise.

        Parameters
        ----------
        t : array-like
            Inner products; float32 and float64 are kept.

        Returns
        -------
        ndarray of the shape of t
            The values f(t).

        Raises
        ------
        ValueError
            If a parameter is not valid, or if some ``|t|`` is not below `radius`.
        """
        self._validate_params()
        return self._function(self._inside_radius(t))[()]

    def derivative(self, t: ArrayLike) -> np.ndarray:
        """Evaluate f' elementwise.

        Parameters
        ----------
        t : array-like
            Inner products; float32 and float64 are kept.

        Returns
        -------
        ndarray of the shape of t
            The values f'(t).

        Raises
        ------
        ValueError
            If a parameter is not valid, or if some ``|t|`` is not below `radius`.
        """
        self._validate_params()
        return self._derivative(self._inside_radius(t))[()]

    def log_coefficients(self, n_max: int) -> np.ndarray:
        """Logarithms of the Maclaurin coefficients, which never overflow.

        Parameters
        ----------
        n_max : int
            Highest order wanted.

        Returns
        -------
        ndarray of shape (n_max + 1,)
            log a_0, ..., log a_{n_max}; -inf where a coefficient is zero.

        Raises
        ------
        ValueError
            If a parameter is not valid.
        """
        self._validate_params()
        return self._log_coefficients(n_max)

    def coefficients(self, n_max: int) -> np.ndarray:
        """Maclaurin coefficients of f.

        Parameters
        ----------
        n_max : int
            Highest order wanted.

        Returns
        -------
        ndarray of shape (n_max + 1,)
            a_0, ..., a_{n_max}.

        Raises
        ------
        ValueError
            If a parameter is not valid, or a coefficient exceeds the largest float64
            (`log_coefficients` still gives it).
        """
        logs = self.log_coefficients(n_max)
        if np.max(logs) > np.log(np.finfo(np.float64).max):
            raise ValueError(
                f"coefficient {int(np.argmax(logs))} of {self!r} exceeds the largest float64; "
                "take log_coefficients"
            )
        return np.exp(logs)

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
            The Gram matrix, float32 if both are, else float64.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid, or if the absolute inner product of two
            points is not below `radius`.
        """
        self._validate_params()
        X, Y = check_pairwise_arrays(X, Y)
        gram = safe_sparse_dot(X, Y.T, dense_output=True)
        rows = max(1, _BLOCK_ELEMENTS // gram.shape[1])
        for start in range(0, gram.shape[0], rows):
            block = gram[start : start + rows]
            block[...] = self._function(self._inside_radius(block))
        return gram

    def __add__(self, other: BaseDotProductKernel | float) -> KernelSum:
        """Return the kernel whose function is the sum; a number counts as a constant kernel."""
        from kernlearn.kernels._algebra import KernelSum

        right = _as_operand(other)
        return NotImplemented if right is None else KernelSum(self, right)

    def __mul__(self, other: BaseDotProductKernel | float) -> KernelProduct:
        """Return the kernel whose function is the product."""
        from kernlearn.kernels._algebra import KernelProduct

        right = _as_operand(other)
        return NotImplemented if right is None else KernelProduct(self, right)

    __radd__ = __add__
    __rmul__ = __mul__

    def _inside_radius(self, t: ArrayLike) -> np.ndarray:
        values = np.asarray(t)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        radius = self.radius
        if np.isfinite(radius) and values.size:
            largest = max(-float(values.min()), float(values.max()))
            if largest >= radius:
                raise ValueError(
                    f"an inner product of absolute value {largest:.6g} lies outside the radius of "
                    f"convergence of {self!r}; all must be below {radius:g}: scale the data down"
                )
        return values


def _as_operand(other: object) -> BaseDotProductKernel | None:
    """Turn a number into a constant kernel; None for what can be neither added nor multiplied."""
    from kernlearn.kernels._series import DotProductKernel

    if isinstance(other, BaseDotProductKernel):
        return other
    if not isinstance(other, Real):
        return None
    constant = float(other)
    if not 0 <= constant < np.inf:
        raise ValueError(
            f"a dot-product kernel can be shifted or scaled by a finite number >= 0 only, "
            f"got {constant!r}"
        )
    return DotProductKernel((constant,))
