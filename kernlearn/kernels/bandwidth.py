"""The scale of a data set: how far apart its points are."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, gen_batches
from sklearn.utils.extmath import row_norms

from kernlearn.kernels.base import MatrixLike

# A tile of this many rows by as many columns, 2 MB of float64, is still in cache at the root.
_TILE_ROWS = 512
# Sparse rows are made dense a block at a time; a block of very wide ones holds fewer of them.
_DENSE_ELEMENTS = 2**22


def mean_distance(X: MatrixLike, *, block_rows: int | None = None) -> float:
    r"""Exact mean Euclidean distance over all pairs of rows i < j.

    The distances are worked out tile by tile as
    :math:`\|x\|^2 + \|y\|^2 - 2 \langle x, y \rangle` by matrix products, in float64.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        At least two points.
    block_rows : int, default=None
        Rows and columns of a tile; None chooses.

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
        # Norms that are large beside the distances would eat their digits.
        X = X - X.mean(axis=0)
    norms = row_norms(X, squared=True)
    blocks = list(gen_batches(n_samples, block_rows))
    total = 0.0
    for i, rows in enumerate(blocks):
        left = X[rows].toarray() if sparse.issparse(X) else X[rows]
        left = -2 * left.T
        total += _sum_of_distances(X[rows], norms[rows], left, norms[rows], same=True) / 2
        for columns in blocks[i + 1 :]:
            total += _sum_of_distances(X[columns], norms[columns], left, norms[rows])
    return float(total / (n_samples * (n_samples - 1) / 2))


def mean_manhattan_distance(X: MatrixLike) -> float:
    """Exact mean Manhattan distance over all pairs of rows i < j, one feature by one.

    The k-th smallest of n numbers is the larger one of k of its pairs and the smaller one of
    n - 1 - k (k from 0), so that sorting does for all pairs.

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


def _sum_of_distances(
    rows: np.ndarray,
    row_norms: np.ndarray,
    columns: np.ndarray,
    column_norms: np.ndarray,
    *,
    same: bool = False,
) -> float:
    """Sum the distances of a tile; `columns` are its other points, times -2 and transposed."""
    tile = np.asarray(rows @ columns)
    tile += row_norms[:, None]
    tile += column_norms
    if same:
        np.fill_diagonal(tile, 0.0)
    np.maximum(tile, 0.0, out=tile)
    np.sqrt(tile, out=tile)
    return float(tile.sum())
