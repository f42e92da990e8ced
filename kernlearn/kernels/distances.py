"""Kernels and similarities of the distance, evaluated tile by tile, and mean distances."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import check_array, gen_batches
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from kernlearn.kernels import base
from kernlearn.kernels.base import Kernel, MatrixLike, summed, to_dense
from kernlearn.validation import POSITIVE, StrOptions

# Elements of a kernel matrix that are processed at once: 512 KB of float64 stay in cache.
_TILE_ELEMENTS = 2**16
# For a mean distance, a tile of this many rows and columns, 2 MB of float64, stays in cache.
_TILE_ROWS = 512
# A column is far from 0 where its squared mean is this many variances: six digits less.
FAR = 1e6
# Sparse rows, or their distances, are made dense in blocks of at most this many elements.
_DENSE_ELEMENTS = 2**22
# Points whose mean distance is a width by default: it is exact to half a per cent.
_SIGMA_POINTS = 2000
_FEW_POINTS = 64  # whose mean distance is σ of distances that may be slow


def row_tiles(matrix: np.ndarray, n_elements: int = _TILE_ELEMENTS) -> Iterator[slice]:
    """Return blocks of rows, by default of a size that stays in cache."""
    size = max(1, n_elements // matrix.shape[1])
    for start in range(0, len(matrix), size):
        yield slice(start, start + size)


def map_squared_distances(
    X: Any, Y: Any, factor: float, function: np.ufunc | None = None
) -> np.ndarray:
    r"""Return a function of :math:`c \|x - y\|^2` for all pairs of rows, c < 0.

    Distances are computed in float64, by one matrix product per tile. Differences of points
    that are close relative to their distance from the mean lose digits; a point has exactly
    distance 0 from itself where `Y` is `X`. The result is float32 if both matrices are, otherwise
    float64.
    """
    result = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    are_sparse = sparse.issparse(X) or sparse.issparse(Y)
    if are_sparse:
        left, right = (summed(sparse.csr_array(Z, dtype=np.float64)) for Z in (X, Y))
        centre = far_means(right)
        left, right = shifted(left, centre), shifted(right, centre)
        norms = row_norms(right, squared=True)
    else:
        # Norms are two more columns. Large relative to the distances, they would cancel digits.
        centre = Y.mean(axis=0, dtype=np.float64)
        left = np.empty((X.shape[0], X.shape[1] + 2))
        right = np.empty((Y.shape[0], Y.shape[1] + 2))
        np.subtract(X, centre, out=left[:, 2:])
        np.subtract(Y, centre, out=right[:, 2:])
        left[:, 0] = factor * row_norms(left[:, 2:], squared=True)
        left[:, 1] = right[:, 0] = 1
        right[:, 1] = factor * row_norms(right[:, 2:], squared=True)
        left[:, 2:] *= -2 * factor
        columns = right.T
    size = _DENSE_ELEMENTS if are_sparse else _TILE_ELEMENTS
    for rows in row_tiles(result, size):
        tile = result[rows]
        exact = tile if tile.dtype == np.float64 else np.empty(tile.shape)
        if are_sparse:
            np.multiply(
                euclidean_distances(left[rows], right, Y_norm_squared=norms, squared=True),
                factor,
                out=exact,
            )
        else:
            np.matmul(left[rows], columns, out=exact)
        np.minimum(exact, 0, out=tile)
        if X is Y:
            np.fill_diagonal(tile[:, rows], 0)
        if function is not None:
            function(tile, out=tile)
    return result


def far_means(X: Any) -> np.ndarray:
    """Return the means of the columns of rows; of sparse ones 0 where they are not far from 0.

    Distances by norms lose the digits of a mean that is large relative to the spread.
    """
    if not sparse.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    means, squares = (np.asarray(Z.mean(axis=0)).ravel() for Z in (X, X.multiply(X)))
    return np.where(means**2 > FAR * (squares - means**2), means, 0.0)


def shifted(X: Any, centre: np.ndarray) -> Any:
    """Subtract a vector from rows; sparse ones are dense in the columns where it is not 0."""
    if not sparse.issparse(X):
        return X - centre
    far = np.flatnonzero(centre)
    if not len(far):
        return X
    rest = np.flatnonzero(centre == 0)
    moved = sparse.csr_array(X[:, far].toarray() - centre[far])
    columns = sparse.hstack([X[:, rest], moved], format="csr")
    return columns[:, np.argsort(np.concatenate([rest, far]))]


def map_manhattan_distances(
    X: Any, Y: Any, factor: float, function: np.ufunc | None = None
) -> np.ndarray:
    r"""Return a function of :math:`c \|x - y\|_1` for all pairs of rows."""
    result = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    distances = partial(cdist, metric="cityblock")
    if sparse.issparse(X) or sparse.issparse(Y):
        X, Y, distances = _short_indices(X), _short_indices(Y), manhattan_distances
    for rows in row_tiles(result):
        tile = result[rows]
        tile[...] = distances(X[rows], Y)
        tile *= factor
        if function is not None:
            function(tile, out=tile)
    return result


def _short_indices(X: Any) -> Any:
    """Return a sparse copy with 32-bit indices, as `manhattan_distances` needs them."""
    X = sparse.csr_array(X, copy=True)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def mean_distance(X: MatrixLike) -> float:
    r"""Return the exact mean Euclidean distance over all pairs of rows i < j.

    The distances are computed tile by tile as
    :math:`\|x\|^2 + \|y\|^2 - 2 \langle x, y \rangle` by matrix products, in float64.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        At least two points.

    Returns
    -------
    float
        The mean distance, in the units of X.

    Raises
    ------
    ValueError
        If X has fewer than two rows or is not finite.

    References
    ----------
    Kar (2013), section 3.6: the width of the exponential kernel.

    Examples
    --------
    >>> from kernlearn.kernels import mean_distance
    >>> mean_distance([[0.0], [1.0], [3.0]])
    2.0
    """
    X = summed(check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2))
    X = shifted(X, far_means(X))
    n_samples, n_features = X.shape
    widest = _DENSE_ELEMENTS // n_features if sparse.issparse(X) else _TILE_ROWS
    block_rows = min(max(widest, 1), _TILE_ROWS)
    norms = row_norms(X, squared=True)
    blocks = list(gen_batches(n_samples, block_rows))
    total = 0.0
    for i, rows in enumerate(blocks):
        left = -2 * to_dense(X[rows]).T
        for columns in blocks[i:]:
            tile = np.asarray(X[columns] @ left)
            tile += norms[columns, None]
            tile += norms[rows]
            if columns is rows:
                np.fill_diagonal(tile, 0.0)
            np.maximum(tile, 0.0, out=tile)
            np.sqrt(tile, out=tile)
            total += float(tile.sum()) / (2 if columns is rows else 1)
    return float(total / (n_samples * (n_samples - 1) / 2))


def _mean_manhattan_distance(X: Any) -> float:
    """Return the exact mean Manhattan distance over all pairs of rows i < j.

    By sorting each feature: the k-th smallest of n numbers is the larger one in k of its pairs
    and the smaller one in n - 1 - k (k from 0).
    """
    X = X.tocsc() if sparse.issparse(X) else X
    n_samples, n_features = X.shape
    surplus = 2 * np.arange(n_samples) - (n_samples - 1)
    total = 0.0
    for columns in gen_batches(n_features, max(1, _DENSE_ELEMENTS // n_samples)):
        ordered = np.sort(to_dense(X[:, columns]), axis=0)
        ordered -= ordered[n_samples // 2].copy()
        total += float((surplus @ ordered).sum())
    return total / (n_samples * (n_samples - 1) / 2)


class WidthKernel(Kernel):
    """Base of kernels with a width σ, a number or the mean distance of training points."""

    _parameter_constraints: dict[str, list[Any]] = {
        "sigma": [POSITIVE, StrOptions({"auto", "mean_distance"})]
    }

    sigma: Any

    _mean: ClassVar[Any] = staticmethod(mean_distance)

    @property
    def data_dependent(self) -> bool:
        return isinstance(self.sigma, str)

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        self._validate_params()
        if self.data_dependent:
            self.sigma_ = self._mean_distance(X)
            if not 0 < self.sigma_ < np.inf:
                raise ValueError(
                    f"sigma={self.sigma!r} needs points that differ, but the mean distance of "
                    f"points of X is {self.sigma_:.3g}: scale X, or give sigma as a number > 0"
                )
        elif not isinstance(self.sigma, str):
            self.sigma_ = float(self.sigma)
        return self

    def _mean_distance(self, X: Any) -> float:
        X = check_array(X, accept_sparse="csr", ensure_min_samples=2)
        some = base.evenly_spaced(X, _SIGMA_POINTS) if self.sigma == "auto" else X
        return self._mean(some.astype(np.float64))

    def width(self) -> float:
        """Return the width in use: the number given, or the one that `fit` has estimated."""
        if not isinstance(self.sigma, str):
            return float(self.sigma)
        check_is_fitted(self, "sigma_", msg=base.NOT_FITTED)
        return self.sigma_


class TurnedSimilarity(WidthKernel):
    r"""Base of similarities that may be computed as distances.

    A distance d becomes the similarity :math:`-d` (``turn="negative"``),
    :math:`\exp(-d / \sigma)` ("exponential") or :math:`1 / (1 + d)` ("reciprocal"). A similarity
    stays as it is. With ``sigma="auto"`` σ is the mean distance over all pairs of 64 training
    points, evenly spaced among them, of all if there are no more.

    Attributes
    ----------
    sigma_ : float
        The σ used, set by `fit` with ``turn="exponential"``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "turn": [StrOptions({"negative", "exponential", "reciprocal"})],
        "sigma": [POSITIVE, StrOptions({"auto"})],
    }

    turn: str

    @abstractmethod
    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        """Return the values of all pairs, of similarities or distances."""

    @property
    def data_dependent(self) -> bool:
        return self.is_distance and self.turn == "exponential" and self.sigma == "auto"

    def _mean_distance(self, X: Any) -> float:
        some, total = base.evenly_spaced(self._indexed(X), _FEW_POINTS), 0.0
        if (m := some.shape[0]) < 2:
            raise ValueError(f"sigma='auto' needs at least two points, got {m}")
        for i in range(m - 1):
            one, rest = some[i : i + 1], some[i + 1 :]
            values = np.asarray(self._compare(one, rest), dtype=np.float64)
            base.check_values(values, one, rest)
            total += values.sum()
        self.n_fit_comparisons_ = m * (m - 1) // 2
        return float(total / self.n_fit_comparisons_)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        self._validate_params()
        X = self._indexed(X)
        return self.turned(self._compare(X, X if Y is None else self._indexed(Y)))

    def _indexed(self, X: Any) -> Any:
        return base.as_indexed(X, self.compares == "objects")

    def turned(self, values: NDArray[Any]) -> np.ndarray:
        """Turn the values of all pairs into similarities, if they are distances."""
        if not self.is_distance:
            return values
        if self.turn == "negative":
            return 0.0 - values  # 0 and not -0 for equal points; counts become floats
        if self.turn == "reciprocal":
            return 1 / (1.0 + values)
        return np.exp(values / -self.width())


@dataclass(eq=False, repr=False)
class GaussianKernel(WidthKernel):
    r"""The Gaussian kernel :math:`\exp(-\|x - y\|^2 / (2 \sigma^2))`.

    Parameters
    ----------
    sigma : float, "auto" or "mean_distance", default="auto"
        The width σ, in the unit of the distances. "auto" is the mean Euclidean distance of 2000
        evenly spaced training points, or of all if there are fewer. "mean_distance" is that of all
        training points, as in the thesis, section 4.3.2.

    Attributes
    ----------
    sigma_ : float
        The width used, set by `fit`.

    References
    ----------
    Kar (2013), section 4.3.2.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> GaussianKernel(sigma=5.0)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.607]])
    """

    sigma: float | Literal["auto", "mean_distance"] = "auto"

    def values(self, X: Any, Y: Any) -> np.ndarray:
        return map_squared_distances(X, Y, -1 / (2 * self.width() ** 2), np.exp)


@dataclass(eq=False, repr=False)
class LaplacianKernel(WidthKernel):
    r"""The Laplacian kernel :math:`\exp(-\|x - y\|_1 / \sigma)`.

    Parameters
    ----------
    sigma : float, "auto" or "mean_distance", default="auto"
        The width. "mean_distance" is the mean Manhattan distance of the training points; "auto"
        that of 2000 of them, evenly spaced, of all if there are no more.

    Attributes
    ----------
    sigma_ : float
        The width used, set by `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import LaplacianKernel
    >>> LaplacianKernel().fit([[0.0, 0.0], [3.0, 4.0]]).sigma_
    7.0
    """

    sigma: float | Literal["auto", "mean_distance"] = "auto"

    columnwise = True
    _mean = staticmethod(_mean_manhattan_distance)

    def values(self, X: Any, Y: Any) -> np.ndarray:
        return map_manhattan_distances(X, Y, -1 / self.width(), np.exp)


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

    def values(self, X: Any, Y: Any) -> np.ndarray:
        return map_manhattan_distances(X, Y, -1.0)


class EuclideanSimilarity(Kernel):
    r"""The negated squared Euclidean distance :math:`-\|x - y\|^2`.

    Examples
    --------
    >>> from kernlearn.kernels import EuclideanSimilarity
    >>> EuclideanSimilarity()([[0.0, 0.0], [3.0, 4.0]])
    array([[  0., -25.],
           [-25.,   0.]])
    """

    def values(self, X: Any, Y: Any) -> np.ndarray:
        return map_squared_distances(X, Y, -1.0)
