"""Base of the feature maps: transforms in blocks, truncated series, products of factors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils._tags import Tags
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.kernels import BaseDotProductKernel, DotProductKernel, as_kernel
from kernlearn.memory import block_rows
from kernlearn.validation import COUNT

#: Orders above the one where this much of a measure is left are not drawn in practice.
NEGLIGIBLE_MASS = 2.0**-64

#: Writes the features of a block of rows into an array.
WriteFeatures = Callable[[Any, NDArray[Any]], None]


class BaseFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of transformers that write their features in blocks of rows.

    A subclass sets ``_n_features_out`` in `fit` and defines ``_writer``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "kernel": [str, BaseDotProductKernel],
        "n_components": [COUNT],
        "random_state": ["random_state"],
    }

    kernel: str | BaseDotProductKernel
    _n_features_out: int
    # A block of features stays in cache while it is written and read again.
    _block_bytes: int | None = None
    # Blocks hold a multiple of so many rows.
    _rows_together = 1

    @abstractmethod
    def _writer(self, X: Any) -> WriteFeatures:
        """Return a function that writes the features of some rows of X."""

    def transform(self, X: Any) -> NDArray[np.floating]:
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
        Z = np.empty((X.shape[0], self._n_features_out), X.dtype)
        write = self._writer(X)
        for rows in self._blocks(X):
            write(X[rows], Z[rows])
        return Z

    def transform_blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[np.floating]]]:
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
        X = self._check_data(X)
        write = self._writer(X)
        for rows in self._blocks(X):
            Z = np.empty((rows.stop - rows.start, self._n_features_out), X.dtype)
            write(X[rows], Z)
            yield rows, Z

    def _blocks(self, X: Any) -> Iterator[slice]:
        size = block_rows(
            self._n_features_out, itemsize=X.dtype.itemsize, block_bytes=self._block_bytes
        )
        size = max(size - size % self._rows_together, self._rows_together)
        return gen_batches(X.shape[0], size)

    def _check_data(self, X: Any, *, fitting: bool = False) -> Any:
        if not fitting:
            check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=fitting
        )

    def _new_kernel(self) -> BaseDotProductKernel:
        kernel = as_kernel(self.kernel)
        if not isinstance(kernel, BaseDotProductKernel):
            raise ValueError(
                f"'kernel' must be a dot-product kernel or the name of one, got {self.kernel!r}"
            )
        return clone(kernel)

    def _fit_series(self, X: Any, truncation: int | None) -> float:
        """Fit the kernel, truncate its series, and return the largest squared norm of X."""
        self.kernel_ = self.truncated_kernel_ = self._new_kernel().fit(X)
        self.truncation_error_ = 0.0
        squared_norm = float(row_norms(X, squared=True).max())
        if truncation is not None:
            self.truncated_kernel_ = DotProductKernel(self.kernel_.coefficients(truncation))
            self.truncation_error_ = np.inf
            if squared_norm < self.kernel_.radius:
                rest = self.kernel_.function(squared_norm)
                rest -= self.truncated_kernel_.function(squared_norm)
                self.truncation_error_ = max(float(rest), 0.0)
        return squared_norm

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def to_dense(X: Any) -> NDArray[np.floating]:
    """Convert a sparse matrix to an array."""
    return X.toarray() if sparse.issparse(X) else X


def real_signs(shape: tuple[int, ...], random_state: np.random.RandomState) -> NDArray[np.int8]:
    """Draw 1 and -1."""
    signs = random_state.randint(0, 2, size=shape, dtype=np.int8)
    signs += signs - 1
    return signs


class Products:
    r"""Features :math:`w_i \prod_{j \le N_i} V_{ij}`, sorted so that levels are columns.

    Features are sorted by degree in descending order, so that those with a factor at level k
    (the k-th factor of a product) are the leading columns. The weight is spread evenly over a
    feature's factors: no intermediate product overflows unless the feature itself does. Complex
    features take two columns each, their real and imaginary parts, and so do their factors.

    Parameters
    ----------
    degrees : ndarray of shape (n_features,)
        Number of factors N_i of each feature.
    log_weights : ndarray of shape (n_features,)
        log w_i; features with -inf are zero and have no factors.
    width : {1, 2}, default=1
        Columns of a feature: 2 for complex ones.

    Attributes
    ----------
    degrees, log_weights : ndarrays of shape (n_features,)
        The parameters, sorted.
    n_factors : int
        Number of columns of the factors of all features, which are stored level by level.
    ends_of_levels : ndarray of shape (n_levels,)
        Where, among these columns, each level ends.
    factor_scales : ndarray of shape (n_factors,)
        Scale of each column.
    places : ndarray of int
        Place of each factor, level by level, in the order feature by feature.
    ends : ndarray of int
        Where, in that order, the factors of each feature that has some begin and end.
    """

    def __init__(
        self, degrees: NDArray[np.intp], log_weights: NDArray[np.float64], width: int = 1
    ) -> None:
        n_factors = np.where(np.isfinite(log_weights), degrees, 0)
        order = np.lexsort((-log_weights, -n_factors))
        self.degrees, self.log_weights, self.width = degrees[order], log_weights[order], width
        n_factors = n_factors[order]
        counts = (n_factors[:, np.newaxis] > np.arange(n_factors.max(initial=0))).sum(axis=0)
        self.ends_of_levels = np.cumsum(counts) * width
        self.n_factors = int(counts.sum()) * width
        # of each factor, level by level
        level = np.repeat(np.arange(len(counts)), counts)
        feature = np.arange(len(level)) - (np.cumsum(counts) - counts)[level]
        scales = np.exp(self.log_weights[feature] / n_factors[feature])
        self.factor_scales = np.repeat(scales, width)
        n_products = int(counts.max(initial=0))
        self.ends = np.append(0, np.cumsum(n_factors[:n_products]))
        self.places = self.ends[feature] + level
        self._constants = np.zeros((len(degrees) - n_products) * width)
        self._constants[::width] = np.exp(self.log_weights[n_products:])

    def write_constants(self, out: NDArray[np.floating]) -> None:
        """Write the features without factors into their columns of `out`."""
        out[:, out.shape[1] - len(self._constants) :] = self._constants

    def write(self, factors: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        """Write the products of some rows' factors, of shape (n_rows, n_factors), into `out`."""
        self.write_constants(out)
        start = 0
        for end in self.ends_of_levels.tolist():
            products, others = out[:, : end - start], factors[:, start:end]
            if start == 0:
                products[:] = others
            elif self.width == 1:
                products *= others
            else:
                kind = np.result_type(out.dtype, np.complex64)
                products, others = products.view(kind), others.view(kind)
                products *= others
            start = end


def draw_orders(
    kernel: BaseDotProductKernel,
    n_features: int,
    random_state: np.random.RandomState,
    *,
    p: float,
    measure: str,
    first: int = 0,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return random orders N >= `first` of features, and log sqrt(a_N / (D P[N])).

    The measure is P[N = n] = (p - 1) p^-(n + 1 - first), for "support" restricted to orders with a
    positive coefficient. The logarithm is -inf for a_N = 0.
    """
    if measure == "geometric":
        orders = random_state.geometric(1 - 1 / p, n_features) - 1 + first
        log_probabilities = _log_geometric(np.arange(orders.max() + 1), p, first)
    else:
        log_probabilities = _log_support(kernel, p, first)
        probabilities = np.exp(log_probabilities)
        orders = random_state.choice(probabilities.size, n_features, p=probabilities)
    logs = kernel.log_coefficients(int(orders.max()))[orders] - log_probabilities[orders]
    return orders, logs / 2 - np.log(n_features) / 2


def _log_geometric(n: NDArray[np.intp], p: float, first: int) -> NDArray[np.float64]:
    return np.log(p - 1) - (n + 1 - first) * np.log(p)


def _log_support(kernel: BaseDotProductKernel, p: float, first: int) -> NDArray[np.float64]:
    """Return log P[N = n] of the measure restricted to the orders of the kernel."""
    highest = kernel.degree_max
    if highest is None:
        highest = first + int(np.ceil(-np.log(NEGLIGIBLE_MASS) / np.log(p)))
    n = np.arange(highest + 1)
    possible = (n >= first) & np.isfinite(kernel.log_coefficients(highest))
    if not possible.any():
        raise ValueError(
            f"measure='support' needs an order from {first} to {highest} at which {kernel!r} has "
            "a positive coefficient, and there is none: take measure='geometric' or another kernel"
        )
    logs = np.where(possible, _log_geometric(n, p, first), -np.inf)
    logs -= logs.max()
    return logs - np.log(np.exp(logs).sum())
