"""Base of the Maclaurin feature maps: truncated series, random orders, products of factors."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import xlogy

from kernlearn.constraints import Interval, StrOptions
from kernlearn.features import blocks
from kernlearn.kernels import BaseDotProductKernel, DotProductKernel

#: Writes the factors of one level, for the current rows, into an array.
WriteFactors = Callable[[int, np.ndarray], None]

# Orders above the one where this much of the measure is left are not drawn in practice.
_NEGLIGIBLE_MASS = 2.0**-64
_MAX_ORDER = 2**20


def truncate(
    kernel: BaseDotProductKernel, truncation: Any, squared_norm: float
) -> BaseDotProductKernel:
    """Return the truncated series of a fitted kernel (Kar 2013, section 3.4.2).

    `truncation` tells the orders to keep: all for None; those up to an int; the smallest number
    of first ones with a residual, at the squared norm, of at most a float; or those listed.
    """
    if truncation is None:
        return kernel
    if isinstance(truncation, int | np.integer):
        return DotProductKernel(kernel.coefficients(int(truncation)))
    if isinstance(truncation, float | np.floating):
        return _truncate_at_residual(kernel, float(truncation), squared_norm)
    orders = np.array(list(truncation))
    if orders.ndim != 1 or orders.dtype.kind not in "iu" or not orders.size or orders.min() < 0:
        raise ValueError(
            "'truncation' must be None, an int >= 0, a float between 0 and 1, or a non-empty "
            f"collection of orders >= 0, got {truncation!r}"
        )
    coefficients = kernel.coefficients(int(orders.max()))
    kept = np.isin(np.arange(coefficients.size), orders)
    return DotProductKernel(np.where(kept, coefficients, 0.0))


def residual(
    kernel: BaseDotProductKernel, truncated: BaseDotProductKernel, squared_norm: float
) -> float:
    """Return the largest error due to truncation: f(R^2) minus its truncated series."""
    if truncated is kernel:
        return 0.0
    if squared_norm >= kernel.radius:
        return np.inf
    if kernel.degree_max is None:
        rest = kernel.function(squared_norm) - truncated.function(squared_norm)
        return max(float(rest), 0.0)
    all_terms = kernel.coefficients(kernel.degree_max)
    dropped = all_terms - truncated.coefficients(kernel.degree_max)
    return float(DotProductKernel(dropped).function(squared_norm))


def sample_orders(
    kernel: BaseDotProductKernel,
    n_features: int,
    random_state: np.random.RandomState,
    *,
    p: float,
    measure: str,
    first: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return random orders N >= `first` of features, and log sqrt(a_N / P[N]), -inf for a_N = 0.

    The measure is P[N = n] = (p - 1) p^-(n + 1 - first), for "support" restricted to orders with a
    positive coefficient in the fitted and truncated kernel.
    """
    if measure == "geometric":
        orders = random_state.geometric(1 - 1 / p, n_features) - 1 + first
        log_probabilities = _log_geometric(np.arange(orders.max() + 1), p, first)
    else:
        log_probabilities = _log_support(kernel, p, first)
        probabilities = np.exp(log_probabilities)
        orders = random_state.choice(probabilities.size, n_features, p=probabilities)
    log_coefficients = kernel.log_coefficients(int(orders.max()))
    return orders, (log_coefficients[orders] - log_probabilities[orders]) / 2


def _log_geometric(n: np.ndarray, p: float, first: int) -> np.ndarray:
    return np.log(p - 1) - (n + 1 - first) * np.log(p)


def _log_support(kernel: BaseDotProductKernel, p: float, first: int) -> np.ndarray:
    """Return log P[N = n] of the measure restricted to the orders of the kernel."""
    highest = kernel.degree_max
    if highest is None:
        highest = first + int(np.ceil(-np.log(_NEGLIGIBLE_MASS) / np.log(p)))
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


def _truncate_at_residual(
    kernel: BaseDotProductKernel, epsilon: float, squared_norm: float
) -> BaseDotProductKernel:
    total = float(kernel.function(squared_norm))
    n_max = 16 if kernel.degree_max is None else kernel.degree_max
    while n_max <= _MAX_ORDER:
        logs = kernel.log_coefficients(n_max)
        terms = np.exp(logs + xlogy(np.arange(n_max + 1), squared_norm))
        # Summed from the small terms up, the residual keeps its digits.
        rest = np.append(terms[:0:-1].cumsum()[::-1], 0.0)
        if kernel.degree_max is None:
            rest += max(total - terms.sum(), 0.0)
        enough = np.flatnonzero(rest <= epsilon)
        if enough.size:
            return DotProductKernel(kernel.coefficients(int(enough[0])))
        n_max *= 2
    raise ValueError(
        f"'truncation' = {epsilon:g} would keep more than {_MAX_ORDER} orders of {kernel!r} at "
        f"squared norm {squared_norm:.6g}: raise it or scale the data down"
    )


class LevelProduct:
    r"""Features :math:`Z_i = w_i \prod_{j \le N_i} V_{ij}`, sorted so that levels are columns.

    Features are sorted by degree in descending order, so that those with a factor at level k
    (the k-th factor of a product) are the leading columns, and a level is one matrix product.
    The weight is spread evenly over a feature's factors: no intermediate product overflows
    unless the feature itself does.

    Parameters
    ----------
    degrees : ndarray of shape (n_features,)
        Number of factors N_i of each feature.
    log_weights : ndarray of shape (n_features,)
        log w_i; features with -inf are zero and have no factors.

    Attributes
    ----------
    degrees, log_weights : ndarrays of shape (n_features,)
        The parameters, sorted.
    slices : list of slice
        Columns of each level among all factors, which are stored level by level.
    n_factors : int
        Number of factors of all features.
    factor_scales : ndarray of shape (n_factors,)
        Scale of each factor.
    """

    def __init__(self, degrees: np.ndarray, log_weights: np.ndarray) -> None:
        n_factors = np.where(np.isfinite(log_weights), degrees, 0)
        order = np.lexsort((-log_weights, -n_factors))
        self.degrees, self.log_weights = degrees[order], log_weights[order]
        n_factors = n_factors[order]
        counts = [int(np.sum(n_factors > level)) for level in range(n_factors.max(initial=0))]
        ends = np.cumsum(counts, dtype=int).tolist()
        self.slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self.n_factors = sum(counts)
        leading = [self.log_weights[:count] / n_factors[:count] for count in counts]
        self.factor_scales = np.exp(np.concatenate(leading)) if leading else np.empty(0)
        self._n_products = counts[0] if counts else 0
        self._n_repeated = counts[1] if len(counts) > 1 else 0
        self._constants = np.exp(self.log_weights[self._n_products :])

    def scratch(self, n_rows: int, dtype: np.dtype) -> np.ndarray:
        """Return an array for the factors of one level, to be passed to `write`."""
        return np.empty(n_rows * self._n_repeated, dtype=dtype)

    def write(self, write_factors: WriteFactors, out: np.ndarray, scratch: np.ndarray) -> None:
        """Write the features of some rows into `out` of shape (n_rows, n_features)."""
        out[:, self._n_products :] = self._constants
        for level, columns in enumerate(self.slices):
            products = out[:, : columns.stop - columns.start]
            if level == 0:
                write_factors(level, products)
                continue
            factors = scratch[: products.size].reshape(products.shape)
            write_factors(level, factors)
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

    def _draw(self, n_features: int, random_state: np.random.RandomState, first: int = 0) -> None:
        """Draw the orders of features, at least `first`."""
        orders, log_weights = sample_orders(
            self.truncated_kernel_, n_features, random_state,
            p=self.p, measure=self.measure, first=first,
        )  # fmt: skip
        self._levels = LevelProduct(orders, log_weights - np.log(n_features) / 2)
        self.degrees_, self.log_weights_ = self._levels.degrees, self._levels.log_weights
