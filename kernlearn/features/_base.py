"""What random Maclaurin features and compositional ones share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import gen_batches, gen_even_slices
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._tags import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from kernlearn.features._levels import BLOCK_BYTES, rows_in_block
from kernlearn.kernels import BaseDotProductKernel, as_kernel
from kernlearn.kernels._typing import MatrixLike

# Writes the features of a block of rows into the array it is given.
WriteFeatures = Callable[[MatrixLike, np.ndarray], None]


class BaseMaclaurinFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A transformer that writes its features block of rows by block of rows.

    A subclass sets ``_n_features_out`` in `fit` and defines ``_writer``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "kernel": [str, BaseDotProductKernel],
        "p": [Interval(Real, 1, None, closed="neither")],
        "measure": [StrOptions({"geometric", "support"})],
        "block_rows": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    kernel: str | BaseDotProductKernel
    block_rows: int | None
    #: Threads of `transform`; a subclass that is safe to run in several makes it a parameter.
    n_jobs: int | None = None
    _n_features_out: int

    @property
    def _block_bytes(self) -> int:
        return BLOCK_BYTES

    @abstractmethod
    def _writer(self, n_rows: int, dtype: np.dtype) -> WriteFeatures:
        """Return what writes the features of blocks of at most `n_rows` rows."""

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Map points to their features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features, float32 if X is, else float64. Beside X and this array only a block of
            rows is held.

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
        # The threads are ours: threads of BLAS in each of them would be too many.
        with threadpool_limits(limits=1, user_api="blas"):
            Parallel(n_parts, require="sharedmem")(
                delayed(self._fill)(X[part], Z[part])
                for part in gen_even_slices(X.shape[0], n_parts)
            )
        return Z

    def _fill(self, X: MatrixLike, Z: np.ndarray) -> None:
        size = self._rows_at_a_time(X)
        write = self._writer(size, X.dtype)
        for rows in gen_batches(X.shape[0], size):
            write(X[rows], Z[rows])

    def transform_blocks(self, X: MatrixLike) -> Iterator[tuple[slice, np.ndarray]]:
        """Map points to their features, block by block, without ever holding all of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Yields
        ------
        rows : slice
            Rows of X, in order.
        Z : ndarray of shape (n_rows, n_features_out)
            Their features.

        Raises
        ------
        ValueError
            If X is not finite or has another number of columns than in `fit`.
        """
        return self._iterate_blocks(self._check_data(X))

    def _iterate_blocks(self, X: MatrixLike) -> Iterator[tuple[slice, np.ndarray]]:
        size = self._rows_at_a_time(X)
        write = self._writer(size, X.dtype)
        for rows in gen_batches(X.shape[0], size):
            Z = np.empty((rows.stop - rows.start, self._n_features_out), dtype=X.dtype)
            write(X[rows], Z)
            yield rows, Z

    def _rows_at_a_time(self, X: MatrixLike) -> int:
        automatic = rows_in_block(self._n_features_out * X.dtype.itemsize, self._block_bytes)
        return min(self.block_rows or automatic, X.shape[0])

    def _check_data(self, X: MatrixLike, *, fitting: bool = False) -> MatrixLike:
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
        """Describe the transformer to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def densely(X: MatrixLike) -> np.ndarray:
    """Return X as an array if it is sparse."""
    return X.toarray() if sparse.issparse(X) else X
