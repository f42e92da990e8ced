"""Kernel matrices in row blocks, and as the precomputed kernel that LIBSVM trains on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernlearn.solvers._memory import require_memory
from kernlearn.solvers._nodes import NODE, NodeRows, empty_gram_rows, fill_gram_rows

_BLOCK_BYTES = 1 << 21  # stays in cache between its making and its use
_MIN_BLOCK_ROWS = 32  # with fewer a matrix product is slow


def block_rows(n_columns: int) -> int:
    """Rows of a block of a kernel matrix with so many columns."""
    return max(_MIN_BLOCK_ROWS, _BLOCK_BYTES // (8 * max(1, n_columns)))


def kernel_block(kernel: Any, X: Any, Y: Any) -> NDArray[np.float64]:
    """Evaluate a kernel that is not LIBSVM's own, and check what it returns.

    Raises
    ------
    ValueError
        If the result is not a finite matrix of shape (len(X), len(Y)).
    """
    block = kernel(X, Y)
    block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
    expected = (X.shape[0], Y.shape[0])
    if block.shape != expected:
        raise ValueError(
            f"kernel returned an array of shape {block.shape} where {expected} is needed: "
            "kernel(X, Y) must hold one row for each row of X and one column for each row of Y"
        )
    if not np.isfinite(block).all():
        raise ValueError("kernel returned NaN or infinity: kernel(X, Y) must be finite")
    return block


def gram_rows(X: Any, kernel: Any | None, cache_size: float, memory_limit: int | None) -> NodeRows:
    """LIBSVM's copy of the kernel matrix of the training rows, the only one that is made.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows, or their kernel matrix if `kernel` is None.
    kernel : callable or None
    cache_size : float
        LIBSVM's cache, in units of 2²⁰ bytes.
    memory_limit : int or None
        Most bytes to use; None means what is available.

    Raises
    ------
    MemoryError
        If matrix, cache and one block need more.
    """
    n_rows = X.shape[0]
    n_block = min(n_rows, block_rows(n_rows))
    cache = min(int(cache_size * 2**20), 4 * n_rows**2)  # LIBSVM caches single precision
    block = 2 * 8 * n_rows * n_block  # and a temporary of its size
    require_memory(
        NODE.itemsize * n_rows * (n_rows + 2) + cache + block,
        memory_limit,
        purpose=f"the kernel matrix of {n_rows} rows",
        advice="use fewer rows, one of LIBSVM's own kernels ('linear', 'poly', 'rbf', "
        "'sigmoid'), or random features with LinearSVM",
    )
    rows = empty_gram_rows(n_rows, n_rows)
    for batch in gen_batches(n_rows, n_block):
        values = X[batch] if kernel is None else kernel_block(kernel, X[batch], X)
        fill_gram_rows(rows, batch, values)
    return rows
