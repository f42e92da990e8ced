"""Dot-product kernels: power series in the inner product with non-negative coefficients."""

import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.constraints import FRACTION, Interval
from kernlearn.kernels.base import Kernel, MatrixLike

# Elements of the kernel matrix to which f is applied at once: 256 KB of float64 stay in cache.
_BLOCK_ELEMENTS = 32768


class BaseDotProductKernel(Kernel):
    r"""A kernel :math:`K(x, y) = f(\langle x, y \rangle)`, :math:`f(t) = \sum_n a_n t^n`.

    By Schoenberg's theorem such a kernel is positive definite on the ball of every Hilbert
    space if and only if all :math:`a_n \ge 0` [1]_. A subclass defines `degree_max`,
    `log_coefficients`, ``_function`` and ``_derivative``, and `radius` where it is finite.

    ``k1 + k2`` and ``k1 * k2`` are dot-product kernels, and so are ``k + c`` and ``c * k`` for a
    number ``c >= 0``.

    References
    ----------
    .. [1] Kar (2013), theorem 3.1 and section 3.3.

    Examples
    --------
    >>> from kernlearn.kernels import BaseDotProductKernel, ExponentialKernel, PolynomialKernel
    >>> kernel = PolynomialKernel(degree=2) + 0.5 * ExponentialKernel(sigma=1.0)
    >>> isinstance(kernel, BaseDotProductKernel)
    True
    >>> kernel.coefficients(3).round(3).tolist()
    [1.5, 2.5, 1.25, 0.083]
    >>> round(float(kernel.function(1.0)), 3)
    5.359
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
        """Return log a_0, ..., log a_{n_max}, for valid parameters."""

    @abstractmethod
    def _function(self, t: np.ndarray) -> np.ndarray:
        """Return f(t) in the dtype of t, inside the radius of convergence."""

    @abstractmethod
    def _derivative(self, t: np.ndarray) -> np.ndarray:
        """Return f'(t) in the dtype of t, inside the radius of convergence."""

    def function(self, t: ArrayLike) -> np.ndarray:
        """Evaluate f elementwise, in the dtype of t if it is float32 or float64.

        Raises
        ------
        ValueError
            If a parameter is not valid, or if some ``|t|`` is not below `radius`.
        """
        self._validate_params()
        return self._function(self._inside_radius(t))[()]

    def derivative(self, t: ArrayLike) -> np.ndarray:
        """Evaluate the derivative f' elementwise; see `function`."""
        self._validate_params()
        return self._derivative(self._inside_radius(t))[()]

    def log_coefficients(self, n_max: int) -> np.ndarray:
        """Return the logarithms of the Maclaurin coefficients, which do not overflow.

        Parameters
        ----------
        n_max : int
            Highest order.

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
        """Return the Maclaurin coefficients of f.

        Parameters
        ----------
        n_max : int
            Highest order.

        Returns
        -------
        ndarray of shape (n_max + 1,)
            a_0, ..., a_{n_max}.

        Raises
        ------
        ValueError
            If a parameter is not valid, or a coefficient exceeds the largest float64 (take
            `log_coefficients`).
        """
        logs = self.log_coefficients(n_max)
        if np.max(logs) > np.log(np.finfo(np.float64).max):
            raise ValueError(
                f"coefficient {int(np.argmax(logs))} of {self!r} exceeds the largest float64; "
                "take log_coefficients"
            )
        return np.exp(logs)

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X, Y = check_pairwise_arrays(X, Y)
        gram = safe_sparse_dot(X, Y.T, dense_output=True)
        for rows in gen_batches(len(gram), max(1, _BLOCK_ELEMENTS // gram.shape[1])):
            gram[rows] = self._function(self._inside_radius(gram[rows]))
        return gram

    def __add__(self, other: "BaseDotProductKernel | float") -> "KernelSum":
        """Return the sum; a number is a constant kernel."""
        return _combine(KernelSum, self, other)

    def __mul__(self, other: "BaseDotProductKernel | float") -> "KernelProduct":
        """Return the product; a number is a constant kernel."""
        return _combine(KernelProduct, self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def _inside_radius(self, t: ArrayLike) -> np.ndarray:
        values = np.asarray(t)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if np.isfinite(self.radius) and values.size:
            largest = max(-float(values.min()), float(values.max()))
            if largest >= self.radius:
                raise ValueError(
                    f"an inner product of absolute value {largest:.6g} lies outside the radius of "
                    f"convergence of {self!r}; all must be below {self.radius:g}: scale the data "
                    "down"
                )
        return values


def _combine(combination: type, left: BaseDotProductKernel, right: Any) -> Any:
    if isinstance(right, Real):
        if not 0 <= float(right) < np.inf:
            raise ValueError(
                f"a dot-product kernel can be shifted or scaled by a finite number >= 0 only, "
                f"got {float(right)!r}"
            )
        right = DotProductKernel((float(right),))
    return combination(left, right) if isinstance(right, BaseDotProductKernel) else NotImplemented


@dataclass(eq=False, repr=False)
class _Pair(BaseDotProductKernel):
    """Two kernels combined; `fit` fits clones of them."""

    left: BaseDotProductKernel
    right: BaseDotProductKernel

    _parameter_constraints = {"left": [BaseDotProductKernel], "right": [BaseDotProductKernel]}
    _join_degrees: ClassVar[Any]

    @property
    def radius(self) -> float:
        return min(self.left.radius, self.right.radius)

    @property
    def degree_max(self) -> int | None:
        left, right = self.left.degree_max, self.right.degree_max
        return None if left is None or right is None else self._join_degrees(left, right)

    @property
    def data_dependent(self) -> bool:
        return self.left.data_dependent or self.right.data_dependent

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        self._validate_params()
        self.left_ = clone(self.left).fit(X)
        self.right_ = clone(self.right).fit(X)
        return self

    def _parts(self) -> tuple[BaseDotProductKernel, BaseDotProductKernel]:
        return (self.left_, self.right_) if hasattr(self, "left_") else (self.left, self.right)


@dataclass(eq=False, repr=False)
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

    _join_degrees = staticmethod(max)

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        return np.logaddexp(*(kernel.log_coefficients(n_max) for kernel in self._parts()))

    def _function(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.function(t) + right.function(t)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        left, right = self._parts()
        return left.derivative(t) + right.derivative(t)


@dataclass(eq=False, repr=False)
class KernelProduct(_Pair):
    """The product of two dot-product kernels, written ``left * right``.

    Its coefficients are the Cauchy product of theirs. Parameters and attributes are those of
    `KernelSum`.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> (PolynomialKernel(degree=1) * PolynomialKernel(degree=1)).coefficients(2)
    array([1., 2., 1.])
    """

    _join_degrees = staticmethod(operator.add)

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


_FIRST_TERMS = 64
_MAX_TERMS = 2**17


@dataclass(eq=False, repr=False)
class DotProductKernel(BaseDotProductKernel):
    r"""The kernel :math:`\sum_n a_n \langle x, y \rangle^n` with any :math:`a_n \ge 0`.

    Parameters
    ----------
    series : array-like of shape (n_terms,) or callable
        a_0, a_1, ... of a polynomial, or a function of n = 0, 1, ... that returns a_n.
    radius : float, default=inf
        The function is evaluated only for ``|t| < radius``. With a callable, the radius of
        convergence of its series.
    tol : float, default=1e-12
        The series of a callable is summed until doubling the number of terms adds at most this
        fraction at the largest ``|t|``; at least 128 terms are computed.

    Examples
    --------
    >>> from kernlearn.kernels import DotProductKernel
    >>> DotProductKernel([1.0, 0.0, 0.5]).function([0.0, 2.0])
    array([1., 3.])
    >>> halves = DotProductKernel(lambda n: 0.5**n, radius=2.0)
    >>> round(float(halves.function(1.0)), 6)
    2.0
    """

    series: ArrayLike | Callable[[int], float]
    _: KW_ONLY
    radius: float = np.inf  # a property of the other kernels
    tol: float = 1e-12

    _parameter_constraints = {
        "series": ["array-like", callable],
        "radius": [Interval(Real, 0, None, closed="right")],
        "tol": [FRACTION],
    }

    @property
    def degree_max(self) -> int | None:
        if callable(self.series):
            return None
        return int(np.flatnonzero(self._array()).max(initial=0))

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._terms(n_max + 1))

    def _function(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, self._enough_terms(t, derived=False)).astype(t.dtype)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, polyder(self._enough_terms(t, derived=True))).astype(t.dtype)

    def _array(self) -> np.ndarray:
        """Return the checked coefficients of an array."""
        values = np.asarray(self.series, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(
                f"'series' must be a callable or a non-empty array of shape (n_terms,), "
                f"got an array of shape {values.shape}"
            )
        return _non_negative(values)

    def _terms(self, n_terms: int) -> np.ndarray:
        """Return the first coefficients."""
        if callable(self.series):
            return _non_negative(np.array([self.series(n) for n in range(n_terms)], np.float64))
        values = self._array()[:n_terms]
        return np.pad(values, (0, n_terms - values.size))

    def _enough_terms(self, t: np.ndarray, *, derived: bool) -> np.ndarray:
        """Return the coefficients that the sum of f (or of f') at the largest ``|t|`` needs."""
        if not callable(self.series):
            return self._array()
        least = float(np.finfo(np.float64).tiny)
        log_t = np.log(max(float(np.max(np.abs(t), initial=0.0)), least))
        n_terms = _FIRST_TERMS
        while n_terms < _MAX_TERMS:
            coefficients = self._terms(2 * n_terms)
            n = np.arange(2 * n_terms)
            with np.errstate(divide="ignore", over="ignore"):
                logs = np.log(coefficients) + n * log_t + (np.log(n) if derived else 0.0)
                sizes = np.exp(logs - max(np.max(logs), np.finfo(np.float64).min))
            head, tail = sizes[:n_terms].sum(), sizes[n_terms:].sum()
            if tail <= self.tol * head:
                return coefficients
            n_terms *= 2
        raise ValueError(
            f"the series of {self!r} has not converged after {_MAX_TERMS} terms at an inner "
            f"product of absolute value {np.exp(log_t):.6g}: it is too close to 'radius', which "
            "may have to be given smaller"
        )


def _non_negative(coefficients: np.ndarray) -> np.ndarray:
    bad = ~(np.isfinite(coefficients) & (coefficients >= 0))
    if bad.any():
        order = int(bad.argmax())
        raise ValueError(
            f"'series' has coefficient {coefficients[order]:g} at order {order}; a positive "
            "definite dot-product kernel has finite Maclaurin coefficients >= 0 only"
        )
    return coefficients
