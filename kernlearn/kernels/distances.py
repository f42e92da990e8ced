"""Functions of the distances of all pairs of rows, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import check_pairwise_arrays, manhattan_distances
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from kernlearn.kernels.base import MatrixLike

# Elements of the matrix that are worked on at once: 512 KB of float64 stay in cache.
_TILE_ELEMENTS = 2**16


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
