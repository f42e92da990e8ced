"""Base of the feature maps: transforms in blocks, truncated series, products of factors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from kernlearn import validation
from kernlearn.kernels import BaseDotProductKernel, DotProductKernel, as_kernel
from kernlearn.kernels.base import summed
from kernlearn.memory import row_blocks

#: Writes the features of a block of rows into an array.
WriteFeatures = Callable[[Any, NDArray[Any]], None]


class BaseFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of transformers that write their features in blocks of rows.

    A subclass defines ``_draw`` and ``_writer``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **validation.PARAMETERS,
        "kernel": [str, BaseDotProductKernel],
        "p": [validation.Interval(Real, 1, None, closed="neither")],
        "truncation": [None, validation.WHOLE],
    }

    kernel: str | BaseDotProductKernel
    random_state: int | np.random.RandomState | None
    _n_features_out: int
    # A block of features stays in cache while it is written and read again.
    _block_bytes: int | None = None
    # Blocks hold a multiple of so many rows.
    _rows_together = 1

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the kernel and draw the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not valid, or the kernel has no such features for these points.
        """
        X = validation.validate_data(self, X, **validation.POINTS)
        self._n_features_out = self._draw(X, check_random_state(self.random_state))
        return self

    @abstractmethod
    def _draw(self, X: Any, random_state: validation.Random) -> int:
        """Fit the kernel to points, draw the features, and return the number of their columns."""

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
        return self.features(self._check_data(X))

    def features(self, X: Any) -> NDArray[np.floating]:
        """Return the features of points that are validated already."""
        features = np.empty((X.shape[0], self._n_features_out), X.dtype)
        list(self._blocks(X, features))
        return features

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
        return self._blocks(self._check_data(X))

    def _blocks(self, X: Any, out: Any = None) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield rows of X and their features, written into these rows of `out` if it is given."""
        write, n = self._writer(X), self._n_features_out
        sizes = {"itemsize": X.dtype.itemsize, "block_bytes": self._block_bytes}
        for rows in row_blocks(X.shape[0], n, **sizes, multiple=self._rows_together):
            Z = np.empty((rows.stop - rows.start, n), X.dtype) if out is None else out[rows]
            with np.errstate(over="ignore", invalid="ignore"):  # which is refused
                write(X[rows], Z)
            validation.check_features(Z)
            yield rows, Z

    def _check_data(self, X: Any) -> Any:
        check_is_fitted(self)
        return validation.validate_data(self, X, reset=False, **validation.POINTS)

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
        squared_norm = float(row_norms(summed(X), squared=True).max())
        if truncation is not None:
            self.truncated_kernel_ = DotProductKernel(self.kernel_.coefficients(truncation))
            self.truncation_error_ = np.inf
            if squared_norm < self.kernel_.radius:
                with np.errstate(over="ignore", invalid="ignore"):
                    rest = self.kernel_.function(squared_norm)
                    rest -= self.truncated_kernel_.function(squared_norm)
                if np.isfinite(rest):
                    self.truncation_error_ = max(float(rest), 0.0)
        return squared_norm

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


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
