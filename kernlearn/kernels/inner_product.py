"""Kernels and similarities of the inner product: linear, polynomial, exponential, and others."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.special import gammaln, xlogy
from sklearn.metrics.pairwise import check_pairwise_arrays, cosine_similarity
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array

from kernlearn.constraints import COUNT, FINITE, NOT_NEGATIVE, StrOptions
from kernlearn.kernels.base import Kernel, MatrixLike
from kernlearn.kernels.distances import WidthKernel, row_tiles
from kernlearn.kernels.dot_product import BaseDotProductKernel


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
class HomogeneousPolynomialKernel(BaseDotProductKernel):
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

    degree: int = 2

    _parameter_constraints = {"degree": [COUNT]}

    @property
    def degree_max(self) -> int:
        return self.degree

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        return np.where(np.arange(n_max + 1) == self.degree, 0.0, -np.inf)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return power(t, self.degree)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return self.degree * power(t, self.degree - 1)


@dataclass(eq=False, repr=False)
class PolynomialKernel(BaseDotProductKernel):
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

    degree: int = 2
    coef0: float = 1.0

    _parameter_constraints = {"degree": [COUNT], "coef0": [NOT_NEGATIVE]}

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
class ExponentialKernel(WidthKernel, BaseDotProductKernel):
    r"""The exponential kernel :math:`\exp(\langle x, y \rangle / \sigma^2)`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" is the mean distance between the points passed to `fit`, as in
        the thesis, section 3.6.

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

    degree_max = None

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        n = np.arange(n_max + 1)
        return -2 * np.log(self._width()) * n - gammaln(n + 1)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return np.exp(t / self._width() ** 2)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return self._function(t) / self._width() ** 2


@dataclass(eq=False, repr=False)
class VovkKernel(BaseDotProductKernel):
    r"""Vovk's real kernel :math:`(1 - t^p)/(1 - t)` or infinite kernel :math:`1/(1 - t)`.

    Here :math:`t = \langle x, y \rangle`. All coefficients of orders below p are 1.

    Parameters
    ----------
    degree : int or None, default=None
        Number p of terms, at least 1; None for the infinite kernel, which is defined only for
        :math:`|t| < 1`.

    Examples
    --------
    >>> from kernlearn.kernels import VovkKernel
    >>> VovkKernel(degree=3).function([0.5, 1.0])
    array([1.75, 3.  ])
    """

    degree: int | None = None

    _parameter_constraints = {"degree": [COUNT, None]}

    @property
    def radius(self) -> float:
        return 1.0 if self.degree is None else np.inf

    @property
    def degree_max(self) -> int | None:
        return None if self.degree is None else self.degree - 1

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        n_terms = np.inf if self.degree is None else self.degree
        return np.where(np.arange(n_max + 1) < n_terms, 0.0, -np.inf)

    def _function(self, t: np.ndarray) -> np.ndarray:
        if self.degree is None:
            return 1 / (1 - t)
        below = t - 1
        # t^p - 1 loses its digits near t = 1; there p log(t) is small and expm1 is exact.
        near = np.abs(below) < 0.5
        exponent = self.degree * np.log1p(np.where(near, below, 0))
        rise = np.where(near, np.expm1(exponent), power(t, self.degree) - 1)
        at_one = below == 0
        quotient = rise / np.where(at_one, 1, below)
        return np.where(at_one, t.dtype.type(self.degree), quotient)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        if self.degree is None:
            return 1 / (1 - t) ** 2
        # The closed form cancels near t = 1; the sum of positive terms does not.
        derived = np.arange(1.0, self.degree) if self.degree > 1 else np.zeros(1)
        return polyval(t, derived).astype(t.dtype)


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
        return cosine_similarity(X, Y)


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

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X, Y = check_pairwise_arrays(X, Y)
        factor = 1 / X.shape[1] if isinstance(self.a, str) else float(self.a)
        result = safe_sparse_dot(X, Y.T, dense_output=True)
        for _, tile in row_tiles(result):
            tile *= factor
            tile += float(self.r)
            np.tanh(tile, out=tile)
        return result


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

    matrix: np.typing.ArrayLike

    _parameter_constraints = {"matrix": ["array-like"]}

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X, Y = check_pairwise_arrays(X, Y)
        matrix = check_array(self.matrix, dtype=X.dtype, input_name="matrix")
        if matrix.shape != (X.shape[1], X.shape[1]):
            raise ValueError(
                f"'matrix' must have a row and a column for each of the {X.shape[1]} features "
                f"of X, got shape {matrix.shape}"
            )
        return safe_sparse_dot(safe_sparse_dot(X, matrix), Y.T, dense_output=True)


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
