"""Distances of all pairs of rows, tile by tile: functions of them, and their mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import check_pairwise_arrays, manhattan_distances
from sklearn.utils import check_array, gen_batches
from sklearn.utils.extmath import row_norms

from kernlearn.kernels.base import MatrixLike

# Elements of a kernel matrix that are processed at once: 512 KB of float64 stay in cache.
_TILE_ELEMENTS = 2**16
# For a mean distance, a tile of this many rows and columns, 2 MB of float64, stays in cache.
_TILE_ROWS = 512
# Sparse rows are converted to dense ones in blocks of at most this many elements.
_DENSE_ELEMENTS = 2**22


def row_tiles(matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows that stay in cache: their indices, and views of them."""
    for rows in gen_batches(len(matrix), max(1, _TILE_ELEMENTS // matrix.shape[1])):
        yield rows, matrix[rows]


def negate(tile: np.ndarray) -> None:
    """Change the signs of a tile in place."""
    np.negative(tile, out=tile)


def map_squared_distances(
    X: MatrixLike,
    Y: MatrixLike | None,
    factor: float,
    change: Callable[[np.ndarray], object] | None = None,
) -> np.ndarray:
    r"""Return a function of :math:`c \|x - y\|^2` for all pairs of rows, c < 0.

    Distances are computed in float64, by one matrix product per tile. Differences of points
    that are close relative to their distance from the mean lose digits; a point has exactly
    distance 0 from itself where `Y` is None or `X`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_y, n_features) or None
    factor : float
        The number c, negative.
    change : callable, default=None
        Changes a tile of :math:`c \|x - y\|^2 \le 0` in place; None leaves it unchanged.

    Returns
    -------
    ndarray of shape (n_samples_x, n_samples_y)
        float32 if both are, otherwise float64.
    """
    X, Y = check_pairwise_arrays(X, Y)
    result = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    multiply = _sparse_tiles if sparse.issparse(X) or sparse.issparse(Y) else _dense_tiles
    fill = multiply(X, Y, factor)
    for rows, tile in row_tiles(result):
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
    """Return a function that fills a tile; norms are two more columns of the product."""
    # Norms that are large relative to the distances would cancel their digits.
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
    """Return a function that fills a tile where at least one matrix is sparse."""
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
    X: MatrixLike, Y: MatrixLike | None, change: Callable[[np.ndarray], object]
) -> np.ndarray:
    """Return a function of the Manhattan distance for all pairs of rows.

    `change` changes a tile of distances in place; the rest is as for `map_squared_distances`.
    """
    X, Y = check_pairwise_arrays(X, Y)
    result = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    distances = partial(cdist, metric="cityblock")
    if sparse.issparse(X) or sparse.issparse(Y):
        X, Y, distances = _short_indices(X), _short_indices(Y), manhattan_distances
    for rows, tile in row_tiles(result):
        tile[...] = distances(X[rows], Y)
        change(tile)
    return result


def _short_indices(X: Any) -> Any:
    """Return a sparse copy with 32-bit indices, as `manhattan_distances` needs them."""
    X = sparse.csr_array(X, copy=True)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def mean_distance(X: MatrixLike, *, block_rows: int | None = None) -> float:
    r"""Return the exact mean Euclidean distance over all pairs of rows i < j.

    The distances are computed tile by tile as
    :math:`\|x\|^2 + \|y\|^2 - 2 \langle x, y \rangle` by matrix products, in float64.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        At least two points.
    block_rows : int, default=None
        Rows and columns of a tile; None chooses a size that stays in cache.

    Returns
    -------
    float
        The mean distance, in the units of X.

    Raises
    ------
    ValueError
        If X has fewer than two rows or is not finite, or if `block_rows` is below 1.

    References
    ----------
    Kar (2013), section 3.6: the width of the exponential kernel.

    Examples
    --------
    >>> from kernlearn.kernels import mean_distance
    >>> mean_distance([[0.0], [1.0], [3.0]])
    2.0
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    n_samples, n_features = X.shape
    if block_rows is None:
        widest = _DENSE_ELEMENTS // n_features if sparse.issparse(X) else _TILE_ROWS
        block_rows = min(max(widest, 1), _TILE_ROWS)
    elif block_rows < 1:
        raise ValueError(f"'block_rows' must be None or an int >= 1, got {block_rows!r}")
    if not sparse.issparse(X):
        # Norms that are large relative to the distances would cancel their digits.
        X = X - X.mean(axis=0)
    norms = row_norms(X, squared=True)
    blocks = list(gen_batches(n_samples, block_rows))
    total = 0.0
    for i, rows in enumerate(blocks):
        left = X[rows].toarray() if sparse.issparse(X) else X[rows]
        left = -2 * left.T
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


def mean_manhattan_distance(X: MatrixLike) -> float:
    """Return the exact mean Manhattan distance over all pairs of rows i < j.

    By sorting each feature: the k-th smallest of n numbers is the larger one in k of its pairs
    and the smaller one in n - 1 - k (k from 0).
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
