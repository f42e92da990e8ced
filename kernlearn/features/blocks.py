"""Base of feature maps: transformers that write their features in blocks of rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches, gen_even_slices
from sklearn.utils._tags import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from kernlearn.constraints import COUNT
from kernlearn.kernels import BaseDotProductKernel, as_kernel
from kernlearn.memory import BLOCK_BYTES, block_rows

#: Writes the features of a block of rows into an array.
WriteFeatures = Callable[[Any, np.ndarray], None]


class BaseFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of transformers that write their features in blocks of rows.

    A subclass sets ``_n_features_out`` in `fit` and defines ``_writer``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "kernel": [str, BaseDotProductKernel],
        "block_rows": [None, COUNT],
        "random_state": ["random_state"],
    }

    kernel: str | BaseDotProductKernel
    block_rows: int | None
    #: Threads of `transform`; a parameter of subclasses that support several.
    n_jobs: int | None = None
    _n_features_out: int

    # A block of rows of the result, which is read and written once per level, stays in cache.
    _block_bytes = BLOCK_BYTES
    # Rows that are computed together: blocks hold a multiple of them unless told otherwise.
    _rows_together = 1

    @abstractmethod
    def _writer(self, n_rows: int, dtype: np.dtype) -> WriteFeatures:
        """Return a function that writes the features of blocks of at most `n_rows` rows."""

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Draw the features at the first block of points, and check further ones.

        The features do not depend on the points, except where a parameter of the kernel or a
        number of features does, or the inner map: these are fitted to the first block.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if not hasattr(self, "n_features_in_"):
            return self.fit(X)
        self._check_data(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Map points to their features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features, float32 if X is, otherwise float64. In addition to X and this array only
            a block of rows is in memory.

        Raises
        ------
        ValueError
            If X is not finite or has another number of columns than in `fit`.
        """
        X = self._check_data(X)
        Z = np.empty((X.shape[0], self._n_features_out), dtype=X.dtype)
        n_parts = min(effective_n_jobs(self.n_jobs), X.shape[0])
        if n_parts == 1:
            self._fill(X, Z)
            return Z
        # BLAS threads in each of these threads would be too many.
        with threadpool_limits(limits=1, user_api="blas"):
            Parallel(n_parts, require="sharedmem")(
                delayed(self._fill)(X[part], Z[part])
                for part in gen_even_slices(X.shape[0], n_parts)
            )
        return Z

    def _fill(self, X: Any, Z: np.ndarray) -> None:
        for _ in self._write_blocks(X, Z):
            pass

    def transform_blocks(self, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Map points to their features in blocks, without storing all of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Yields
        ------
        rows : slice
            Indices of rows of X, in order.
        Z : ndarray of shape (n_rows, n_features_out)
            Features of these rows.
        """
        return self._write_blocks(self._check_data(X))

    def _write_blocks(
        self, X: Any, Z: np.ndarray | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of features, written into the rows of Z or into arrays of their own."""
        automatic = block_rows(
            self._n_features_out, itemsize=X.dtype.itemsize, block_bytes=self._block_bytes
        )
        automatic = max(automatic - automatic % self._rows_together, self._rows_together)
        size = min(self.block_rows or automatic, X.shape[0])
        write = self._writer(size, X.dtype)
        for rows in gen_batches(X.shape[0], size):
            shape = rows.stop - rows.start, self._n_features_out
            block = np.empty(shape, X.dtype) if Z is None else Z[rows]
            write(X[rows], block)
            yield rows, block

    def _check_data(self, X: Any, *, fitting: bool = False) -> Any:
        if not fitting:
            check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=fitting
        )

    def _dot_product_kernel(self) -> BaseDotProductKernel:
        kernel = as_kernel(self.kernel)
        if not isinstance(kernel, BaseDotProductKernel):
            raise ValueError(
                f"'kernel' must be a dot-product kernel or the name of one, got {self.kernel!r}"
            )
        return kernel

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def multiply(X: Any, matrix: np.ndarray, out: np.ndarray) -> None:
    """Write the product of dense or sparse rows with a matrix into `out`."""
    if isinstance(X, np.ndarray):
        np.matmul(X, matrix, out=out)
    else:
        out[...] = X @ matrix


def to_dense(X: Any) -> np.ndarray:
    """Convert a sparse matrix to an array."""
    return X.toarray() if sparse.issparse(X) else X
