"""Kernels that fall with the distance of two points, and the tiles they are made of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import check_pairwise_arrays, manhattan_distances
from sklearn.utils import check_array, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from kernlearn.kernels._bandwidth import mean_distance
from kernlearn.kernels._base import Kernel
from kernlearn.kernels._typing import MatrixLike

# Elements of the matrix that are worked on at once: 512 KB of float64 stay in cache.
_TILE_ELEMENTS = 2**16
# Elements of a sparse matrix that are made dense at once.
_DENSE_ELEMENTS = 2**22


class _WidthKernel(Kernel):
    """A kernel with a width, given or found in the training points."""

    _parameter_constraints: dict[str, list[Any]] = {
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"mean_distance"})],
    }

    sigma: float | Literal["mean_distance"]
    sigma_: float

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return isinstance(self.sigma, str)

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Work out the width.

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
            If `sigma` is not valid, or if the mean distance of the points is zero.
        """
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
        """Return the mean distance of the pairs of points."""

    def _width(self) -> float:
        if not isinstance(self.sigma, str):
            return float(self.sigma)
        check_is_fitted(self, "sigma_")
        return self.sigma_


class GaussianKernel(_WidthKernel):
    r"""The Gaussian kernel :math:`\exp(-\|x - y\|^2 / (2 \sigma^2))`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" takes the mean Euclidean distance of the pairs of points
        given to `fit`, as in the thesis, section 4.3.2.

    Attributes
    ----------
    sigma_ : float
        The width in use, set by `fit`.

    References
    ----------
    Kar (2013), section 4.3.2.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> GaussianKernel(sigma=5.0)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def __init__(self, sigma: float | Literal["mean_distance"] = "mean_distance") -> None:
        self.sigma = sigma

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
            If `sigma` or the data are not valid.
        """
        self._validate_params()
        return map_squared_distances(X, Y, -1 / (2 * self._width() ** 2), _exponential)

    def _mean_distance(self, X: MatrixLike) -> float:
        return mean_distance(X)


class LaplacianKernel(_WidthKernel):
    r"""The Laplacian kernel :math:`\exp(-\|x - y\|_1 / \sigma)`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" takes the mean Manhattan distance of the pairs of points
        given to `fit`.

    Attributes
    ----------
    sigma_ : float
        The width in use, set by `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import LaplacianKernel
    >>> LaplacianKernel().fit([[0.0, 0.0], [3.0, 4.0]]).sigma_
    7.0
    """

    def __init__(self, sigma: float | Literal["mean_distance"] = "mean_distance") -> None:
        self.sigma = sigma

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
            If `sigma` or the data are not valid.
        """
        self._validate_params()
        factor = -1 / self._width()

        def fall(tile: np.ndarray) -> None:
            tile *= factor
            np.exp(tile, out=tile)

        return map_manhattan_distances(X, Y, fall)

    def _mean_distance(self, X: MatrixLike) -> float:
        return _mean_manhattan_distance(X)


def _exponential(tile: np.ndarray) -> None:
    np.exp(tile, out=tile)


def negate(tile: np.ndarray) -> None:
    """Change the signs of a tile in place."""
    np.negative(tile, out=tile)


def map_squared_distances(
    X: MatrixLike,
    Y: MatrixLike | None,
    factor: float,
    change: Callable[[np.ndarray], None] | None = None,
) -> np.ndarray:
    r"""Return a function of :math:`c \|x - y\|^2` for all pairs of rows, c < 0.

    Distances are worked out in float64 by one matrix product a tile. Differences of points
    that are close beside their distance from the mean lose digits; a point is at distance 0
    of itself, exactly, where `Y` is None or `X`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_y, n_features) or None
    factor : float
        The number c, negative.
    change : callable, default=None
        Changes a tile of :math:`c \|x - y\|^2 \le 0` in place; None leaves it as it is.

    Returns
    -------
    ndarray of shape (n_samples_x, n_samples_y)
        float32 if both are, else float64.

    Raises
    ------
    ValueError
        If the points are not finite or have unequal numbers of features.
    """
    X, Y = check_pairwise_arrays(X, Y)
    result = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    multiply = _sparse_tiles if sparse.issparse(X) or sparse.issparse(Y) else _dense_tiles
    fill = multiply(X, Y, factor)
    for rows in gen_batches(len(result), max(1, _TILE_ELEMENTS // result.shape[1])):
        tile = result[rows]
        if tile.dtype == np.float64:
            fill(rows, tile)
        else:
            exact = np.empty(tile.shape)
            fill(rows, exact)
            tile[...] = exact
        np.minimum(tile, 0, out=tile)
        if X is Y:
            np.fill_diagonal(tile[:, rows], 0)
        if change is not None:
            change(tile)
    return result


def _dense_tiles(X: Any, Y: Any, factor: float) -> Callable[[slice, np.ndarray], None]:
    """Prepare tiles of scaled squared distances; norms are two more columns of the product."""
    # Norms that are large beside the distances would eat their digits.
    centre = Y.mean(axis=0, dtype=np.float64)
    left = np.empty((X.shape[0], X.shape[1] + 2))
    right = np.empty((Y.shape[0], Y.shape[1] + 2))
    np.subtract(X, centre, out=left[:, 2:])
    np.subtract(Y, centre, out=right[:, 2:])
    left[:, 0] = factor * row_norms(left[:, 2:], squared=True)
    left[:, 1] = 1
    right[:, 0] = 1
    right[:, 1] = factor * row_norms(right[:, 2:], squared=True)
    left[:, 2:] *= -2 * factor
    columns = right.T

    def fill(rows: slice, tile: np.ndarray) -> None:
        np.matmul(left[rows], columns, out=tile)

    return fill


def _sparse_tiles(X: Any, Y: Any, factor: float) -> Callable[[slice, np.ndarray], None]:
    """Prepare tiles of scaled squared distances where one matrix is sparse at least."""
    left, right = (sparse.csr_array(matrix, dtype=np.float64) for matrix in (X, Y))
    left_norms, right_norms = row_norms(left, squared=True), row_norms(right, squared=True)
    columns = right.T.tocsr()

    def fill(rows: slice, tile: np.ndarray) -> None:
        (left[rows] @ columns).toarray(out=tile)
        tile *= -2
        tile += left_norms[rows, None]
        tile += right_norms
        tile *= factor

    return fill


def map_manhattan_distances(
    X: MatrixLike, Y: MatrixLike | None, change: Callable[[np.ndarray], None]
) -> np.ndarray:
    """Return a function of the Manhattan distance of all pairs of rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_y, n_features) or None
    change : callable
        Changes a tile of distances in place.

    Returns
    -------
    ndarray of shape (n_samples_x, n_samples_y)
        float32 if both are, else float64.

    Raises
    ------
    ValueError
        If the points are not finite or have unequal numbers of features.
    """
    X, Y = check_pairwise_arrays(X, Y)
    result = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    distances = partial(cdist, metric="cityblock")
    if sparse.issparse(X) or sparse.issparse(Y):
        X, Y, distances = _short_indices(X), _short_indices(Y), manhattan_distances
    for rows in gen_batches(len(result), max(1, _TILE_ELEMENTS // result.shape[1])):
        tile = result[rows]
        tile[...] = distances(X[rows], Y)
        change(tile)
    return result


def _short_indices(X: Any) -> Any:
    """Return a sparse copy with 32-bit indices, the only ones that `manhattan_distances` takes."""
    X = sparse.csr_array(X, copy=True)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _mean_manhattan_distance(X: MatrixLike) -> float:
    """Return the exact mean Manhattan distance over all pairs of rows, one feature by one.

    The k-th smallest of n numbers is the larger one of k of its pairs and the smaller one of
    n - 1 - k (k from 0), so that sorting does for all pairs.
    """
    X = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_min_samples=2)
    n_samples, n_features = X.shape
    surplus = 2 * np.arange(n_samples) - (n_samples - 1)
    total = 0.0
    for columns in gen_batches(n_features, max(1, _DENSE_ELEMENTS // n_samples)):
        block = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
        ordered = np.sort(block, axis=0)
        ordered -= ordered[n_samples // 2].copy()
        total += float((surplus @ ordered).sum())
    return total / (n_samples * (n_samples - 1) / 2)
