"""Orders of random features: truncation of the series, and random orders of a stated measure."""

from typing import Any

import numpy as np
from scipy.special import xlogy

from kernlearn.kernels import BaseDotProductKernel, DotProductKernel

#: Orders above the one where this much of a measure is left are not drawn in practice.
NEGLIGIBLE_MASS = 2.0**-64
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
