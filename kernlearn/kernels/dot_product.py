"""Kernels of the inner product: dot-product kernels with their coefficients, and others."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.kernels.base import Kernel, MatrixLike, summed
from kernlearn.kernels.distances import WidthKernel, row_tiles
from kernlearn.validation import COUNT, FINITE, NOT_NEGATIVE, StrOptions


class BaseDotProductKernel(Kernel):
    r"""A kernel :math:`K(x, y) = f(\langle x, y \rangle)`, :math:`f(t) = \sum_n a_n t^n`.

    By Schoenberg's theorem such a kernel is positive definite on the ball of every Hilbert
    space if and only if all :math:`a_n \ge 0` [1]_. A subclass defines `degree_max`,
    `log_coefficients`, ``_function`` and ``_derivative``, and `radius` where it is finite.

    References
    ----------
    .. [1] Kar (2013), theorem 3.1 and section 3.3.

    Examples
    --------
    >>> from kernlearn.kernels import BaseDotProductKernel, ExponentialKernel
    >>> kernel = ExponentialKernel(sigma=1.0)
    >>> isinstance(kernel, BaseDotProductKernel)
    True
    >>> kernel.coefficients(3).round(3).tolist()
    [1.0, 1.0, 0.5, 0.167]
    >>> round(float(kernel.function(1.0)), 3)
    2.718
    """

    #: Radius of convergence of the series in the inner product.
    radius: float = np.inf

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

    def values(self, X: Any, Y: Any) -> np.ndarray:
        return map_products(X, Y, lambda t: self._function(self._inside_radius(t)))

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


class LinearKernel(BaseDotProductKernel):
    r"""The inner product :math:`\langle x, y \rangle`.

    Examples
    --------
    >>> from kernlearn.kernels import LinearKernel
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    degree_max = 1

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        return np.where(np.arange(n_max + 1) == 1, 0.0, -np.inf)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return t

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return np.ones_like(t)


@dataclass(eq=False, repr=False)
class PowerKernel(BaseDotProductKernel):
    """Base of the polynomial kernels."""

    degree: int = 2
    coef0: ClassVar[Any] = 0.0

    _parameter_constraints = {"degree": [COUNT]}

    @property
    def degree_max(self) -> int:
        return self.degree

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        logs = np.full(n_max + 1, -np.inf)
        n = np.arange(min(n_max, self.degree) + 1)
        rest = self.degree - n
        binomial = gammaln(self.degree + 1) - gammaln(n + 1) - gammaln(rest + 1)
        logs[: n.size] = binomial + xlogy(rest, self.coef0)
        return logs

    def _function(self, t: np.ndarray) -> np.ndarray:
        return power(t + float(self.coef0), self.degree)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return self.degree * power(t + float(self.coef0), self.degree - 1)


@dataclass(eq=False, repr=False)
class HomogeneousPolynomialKernel(PowerKernel):
    r"""The homogeneous polynomial kernel :math:`\langle x, y \rangle^p`.

    Parameters
    ----------
    degree : int, default=2
        The exponent p, at least 1.

    Examples
    --------
    >>> from kernlearn.kernels import HomogeneousPolynomialKernel
    >>> HomogeneousPolynomialKernel(degree=3).coefficients(4)
    array([0., 0., 0., 1., 0.])
    """


@dataclass(eq=False, repr=False)
class PolynomialKernel(PowerKernel):
    r"""The polynomial kernel :math:`(\langle x, y \rangle + r)^p`.

    Its coefficients are :math:`a_n = \binom{p}{n} r^{p-n}`.

    Parameters
    ----------
    degree : int, default=2
        The exponent p, at least 1.
    coef0 : float, default=1.0
        The shift r, at least 0: a negative one would make coefficients negative.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> PolynomialKernel(degree=2)([[1.0, 0.0], [0.0, 1.0]])
    array([[4., 1.],
           [1., 4.]])
    """

    coef0: float = 1.0  # type: ignore[misc]

    _parameter_constraints = {**PowerKernel._parameter_constraints, "coef0": [NOT_NEGATIVE]}


@dataclass(eq=False, repr=False)
class ExponentialKernel(WidthKernel, BaseDotProductKernel):
    r"""The exponential kernel :math:`\exp(\langle x, y \rangle / \sigma^2)`.

    Parameters
    ----------
    sigma : float, "auto" or "mean_distance", default="auto"
        The width σ, in the unit of the distances. "auto" is the mean Euclidean distance of 2000
        evenly spaced training points, or of all if there are fewer. "mean_distance" is that of all
        training points, as in the thesis, section 3.6.

    Attributes
    ----------
    sigma_ : float
        The width used, set by `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import ExponentialKernel
    >>> ExponentialKernel().fit([[0.0, 0.0], [3.0, 4.0]]).sigma_
    5.0
    """

    sigma: float | Literal["auto", "mean_distance"] = "auto"

    degree_max = None

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        n = np.arange(n_max + 1)
        return -2 * np.log(self.width()) * n - gammaln(n + 1)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return np.exp(t / self.width() ** 2)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return self._function(t) / self.width() ** 2


class VovkKernel(BaseDotProductKernel):
    r"""Vovk's infinite polynomial kernel :math:`1/(1 - \langle x, y \rangle)`.

    It is defined for inner products between -1 and 1; all coefficients are 1.

    Examples
    --------
    >>> from kernlearn.kernels import VovkKernel
    >>> VovkKernel().function([0.5, -0.5]).round(3)
    array([2.   , 0.667])
    """

    degree_max = None
    radius = 1.0

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        return np.zeros(n_max + 1)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return 1 / (1 - t)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return 1 / (1 - t) ** 2


@dataclass(eq=False, repr=False)
class DotProductKernel(BaseDotProductKernel):
    r"""The kernel :math:`\sum_n a_n \langle x, y \rangle^n` with any :math:`a_n \ge 0`.

    Parameters
    ----------
    series : array-like of shape (n_terms,)
        The coefficients a_0, a_1, ...

    Examples
    --------
    >>> from kernlearn.kernels import DotProductKernel
    >>> DotProductKernel([1.0, 0.0, 0.5]).function([0.0, 2.0])
    array([1., 3.])
    """

    series: ArrayLike

    _parameter_constraints = {"series": ["array-like"]}

    @property
    def degree_max(self) -> int | None:
        return int(np.flatnonzero(self._array()).max(initial=0))

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        values = self._array()[: n_max + 1]
        with np.errstate(divide="ignore"):
            return np.log(np.pad(values, (0, n_max + 1 - values.size)))

    def _function(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, self._array()).astype(t.dtype)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, polyder(self._array())).astype(t.dtype)

    def _array(self) -> np.ndarray:
        values = np.asarray(self.series, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(
                "'series' must be a non-empty array of shape (n_terms,), got an array of shape "
                f"{values.shape}"
            )
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            order = int(wrong.argmax())
            raise ValueError(
                f"'series' has coefficient {values[order]:g} at order {order}; a positive "
                "definite dot-product kernel has finite Maclaurin coefficients >= 0 only"
            )
        return values


class CosineSimilarity(Kernel):
    r"""The cosine similarity, :math:`\langle x, y \rangle / (\|x\| \|y\|)`.

    Positive semi-definite. A point of norm 0 has similarity 0 to all points, including itself.

    Examples
    --------
    >>> from kernlearn.kernels import CosineSimilarity
    >>> CosineSimilarity()([[3.0, 4.0]], [[2.0, 0.0], [0.0, 0.0]])
    array([[0.6, 0. ]])
    """

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        return cosine_similarity(summed(X), summed(Y))


@dataclass(eq=False, repr=False)
class SigmoidKernel(Kernel):
    r"""The sigmoid kernel :math:`\tanh(a \langle x, y \rangle + r)`, not positive semi-definite.

    Parameters
    ----------
    a : float or "1/d", default="1/d"
        Factor of the inner product; "1/d" is one over the number of features.
    r : float, default=-1.0
        Shift.

    References
    ----------
    Kar (2013), section 5.4, where a = 1/d and r = -1.

    Examples
    --------
    >>> from kernlearn.kernels import SigmoidKernel
    >>> SigmoidKernel()([[1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]).round(3)
    array([[ 0.   , -0.762]])
    """

    a: float | Literal["1/d"] = "1/d"
    r: float = -1.0

    _parameter_constraints = {"a": [FINITE, StrOptions({"1/d"})], "r": [FINITE]}

    def values(self, X: Any, Y: Any) -> np.ndarray:
        factor = 1 / X.shape[1] if isinstance(self.a, str) else float(self.a)
        return map_products(X, Y, lambda t: np.tanh(factor * t + float(self.r)))


@dataclass(eq=False, repr=False)
class BilinearSimilarity(Kernel):
    r"""The bilinear similarity :math:`x^\top W x'`.

    Positive semi-definite if W is; symmetric in x and x' if W is.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        The matrix W.

    References
    ----------
    Kar (2013), section 6.6.3, "linear kernel learning".

    Examples
    --------
    >>> from kernlearn.kernels import BilinearSimilarity
    >>> BilinearSimilarity([[1.0, 0.0], [0.0, -1.0]])([[2.0, 1.0]], [[3.0, 4.0]])
    array([[2.]])
    """

    matrix: ArrayLike

    _parameter_constraints = {"matrix": ["array-like"]}

    def values(self, X: Any, Y: Any) -> np.ndarray:
        matrix = check_array(
            self.matrix, dtype=np.result_type(X.dtype, Y.dtype), input_name="matrix"
        )
        if matrix.shape != (X.shape[1], X.shape[1]):
            raise ValueError(
                f"'matrix' must have a row and a column for each of the {X.shape[1]} features "
                f"of X, got shape {matrix.shape}"
            )
        return safe_sparse_dot(safe_sparse_dot(X, matrix), Y.T, dense_output=True)


def map_products(X: Any, Y: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    r"""Return a function of :math:`\langle x, y \rangle` for all pairs of rows."""
    gram = safe_sparse_dot(X, Y.T, dense_output=True)
    for rows in row_tiles(gram):
        gram[rows] = function(gram[rows])
    return gram


def power(t: np.ndarray, exponent: int) -> np.ndarray:
    """Return t to a non-negative integer power, by squaring: much faster than ``**``."""
    if exponent == 0:
        return np.ones_like(t)
    square = np.array(t)  # a copy in the same memory layout, unlike t.copy()
    while exponent % 2 == 0:
        np.multiply(square, square, out=square)
        exponent //= 2
    result = np.array(square)
    while exponent := exponent // 2:
        np.multiply(square, square, out=square)
        if exponent % 2:
            np.multiply(result, square, out=result)
    return result
