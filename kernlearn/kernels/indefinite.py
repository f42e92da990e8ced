"""Linear, cosine, sigmoid, Manhattan, Euclidean and bilinear similarities."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import check_pairwise_arrays, cosine_similarity
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array

from kernlearn.kernels.base import Kernel, MatrixLike
from kernlearn.kernels.distances import (
    map_manhattan_distances,
    map_squared_distances,
    negate,
    row_tiles,
)
from kernlearn.kernels.dot_product import BaseDotProductKernel

_REAL = Interval(Real, None, None, closed="neither")


class LinearKernel(BaseDotProductKernel):
    r"""The inner product :math:`\langle x, y \rangle`.

    Examples
    --------
    >>> from kernlearn.kernels import LinearKernel
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    @property
    def degree_max(self) -> int:
        return 1

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        return np.where(np.arange(n_max + 1) == 1, 0.0, -np.inf)

    def _function(self, t: np.ndarray) -> np.ndarray:
        return t

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return np.ones_like(t)


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
        X, Y = check_pairwise_arrays(X, Y)
        return cosine_similarity(X, Y, dense_output=True)


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

    _parameter_constraints: dict[str, list[Any]] = {
        "a": [_REAL, StrOptions({"1/d"})],
        "r": [_REAL],
    }

    def __init__(self, a: float | Literal["1/d"] = "1/d", r: float = -1.0) -> None:
        self.a = a
        self.r = r

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


class ManhattanSimilarity(Kernel):
    r"""The negated Manhattan distance :math:`-\|x - y\|_1`.

    References
    ----------
    Kar (2013), section 5.4.

    Examples
    --------
    >>> from kernlearn.kernels import ManhattanSimilarity
    >>> ManhattanSimilarity()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-7.]])
    """

    columnwise = True

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        return map_manhattan_distances(X, Y, negate)


class EuclideanSimilarity(Kernel):
    r"""The negated Euclidean distance, squared or not.

    Parameters
    ----------
    squared : bool, default=True
        If True, the similarity is :math:`-\|x - y\|^2`, otherwise :math:`-\|x - y\|`.

    Examples
    --------
    >>> from kernlearn.kernels import EuclideanSimilarity
    >>> EuclideanSimilarity()([[0.0, 0.0], [3.0, 4.0]])
    array([[  0., -25.],
           [-25.,   0.]])
    """

    _parameter_constraints: dict[str, list[Any]] = {"squared": ["boolean"]}

    def __init__(self, squared: bool = True) -> None:
        self.squared = squared

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        return map_squared_distances(X, Y, -1.0, None if self.squared else _negated_root)


def _negated_root(tile: np.ndarray) -> None:
    """Map -t² to -t in place."""
    negate(tile)
    np.sqrt(tile, out=tile)
    negate(tile)


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

    _parameter_constraints: dict[str, list[Any]] = {"matrix": ["array-like"]}

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix = matrix

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
