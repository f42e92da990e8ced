"""Base of the Maclaurin feature maps: random orders, and products of factors."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from kernlearn.constraints import Interval, StrOptions
from kernlearn.features import blocks
from kernlearn.features.orders import sample_orders
from kernlearn.kernels import BaseDotProductKernel

#: Writes the factors of one level, for the current rows, into an array.
WriteFactors = Callable[[int, np.ndarray], None]


class LevelProduct:
    r"""Features :math:`Z_i = w_i \prod_{j \le N_i} V_{ij}`, sorted so that levels are columns.

    Features are sorted by degree in descending order, so that those with a factor at level k
    (the k-th factor of a product) are the leading columns, and a level is one matrix product.
    The weight is spread evenly over a feature's factors: no intermediate product overflows
    unless the feature itself does. Complex features take two columns each, their real and
    imaginary parts, and so do their factors.

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
    slices : list of slice
        Columns of each level among those of all factors, which are stored level by level.
    n_factors : int
        Number of columns of the factors of all features.
    factor_scales : ndarray of shape (n_factors,)
        Scale of each column.
    places : ndarray of int
        Place of each factor, level by level, in the order feature by feature.
    ends : ndarray of int
        Where, in that order, the factors of each feature that has some begin and end.
    width : {1, 2}
        The parameter.
    """

    def __init__(self, degrees: np.ndarray, log_weights: np.ndarray, width: int = 1) -> None:
        n_factors = np.where(np.isfinite(log_weights), degrees, 0)
        order = np.lexsort((-log_weights, -n_factors))
        self.degrees, self.log_weights = degrees[order], log_weights[order]
        n_factors = n_factors[order]
        counts = [int(np.sum(n_factors > level)) for level in range(n_factors.max(initial=0))]
        leading = [self.log_weights[:count] / n_factors[:count] for count in counts]
        scales = np.exp(np.concatenate(leading)) if leading else np.empty(0)
        self.factor_scales = np.repeat(scales, width)
        n_products = counts[0] if counts else 0
        self._constants = np.zeros((len(degrees) - n_products) * width)
        self._constants[::width] = np.exp(self.log_weights[n_products:])
        self.ends = np.cumsum([0, *n_factors[:n_products]], dtype=np.intp)
        self.places = np.concatenate(
            [np.empty(0, np.intp), *(self.ends[:n] + level for level, n in enumerate(counts))]
        )
        counts = [count * width for count in counts]
        ends = np.cumsum(counts, dtype=int).tolist()
        self.slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self.n_factors = sum(counts)
        self._n_products = counts[0] if counts else 0
        self._n_repeated = counts[1] if len(counts) > 1 else 0
        self.width = width

    def write_constants(self, out: np.ndarray) -> None:
        """Write the features without factors into their columns of `out`."""
        out[:, self._n_products :] = self._constants

    def scratch(self, n_rows: int, dtype: np.dtype) -> np.ndarray:
        """Return an array for the factors of one level, to be passed to `write`."""
        return np.empty(n_rows * self._n_repeated, dtype=dtype)

    def write(self, write_factors: WriteFactors, out: np.ndarray, scratch: np.ndarray) -> None:
        """Write the features of some rows into `out` of shape (n_rows, n_columns)."""
        self.write_constants(out)
        for level, columns in enumerate(self.slices):
            products = out[:, : columns.stop - columns.start]
            if level == 0:
                write_factors(level, products)
                continue
            factors = scratch[: products.size].reshape(products.shape)
            write_factors(level, factors)
            if self.width == 2:
                kind = np.result_type(out.dtype, np.complex64)
                products, factors = products.view(kind), factors.view(kind)
            np.multiply(products, factors, out=products)


class BaseMaclaurinFeatures(blocks.BaseFeatureMap):
    """Base of the Maclaurin feature maps: random orders, and products of factors."""

    _parameter_constraints: dict[str, list[Any]] = {
        **blocks.BaseFeatureMap._parameter_constraints,
        "p": [Interval(Real, 1, None, closed="neither")],
        "measure": [StrOptions({"geometric", "support"})],
    }

    p: float
    measure: str
    truncated_kernel_: BaseDotProductKernel

    def _draw(
        self,
        kernel: BaseDotProductKernel,
        n_features: int,
        random_state: np.random.RandomState,
        first: int = 0,
        width: int = 1,
    ) -> None:
        """Draw the orders of features of a kernel, at least `first`."""
        orders, log_weights = sample_orders(
            kernel, n_features, random_state, p=self.p, measure=self.measure, first=first
        )
        self._set_orders(orders, log_weights - np.log(n_features) / 2, width)

    def _set_orders(self, orders: np.ndarray, log_weights: np.ndarray, width: int = 1) -> None:
        self._levels = LevelProduct(orders, log_weights, width)
        self.degrees_, self.log_weights_ = self._levels.degrees, self._levels.log_weights
