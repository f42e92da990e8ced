"""Numbers of features of each order, and exact orders, for the least variance of the estimate."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from kernlearn.features.orders import NEGLIGIBLE_MASS
from kernlearn.kernels import BaseDotProductKernel

Floats = NDArray[np.float64]

_FIRST_ORDERS = 32
_MOST_ORDERS = 2**12


@dataclass(frozen=True)
class PairMoments:
    r"""Moments of the estimate of ⟨x, y⟩ⁿ by one feature, over pairs of points.

    A feature of order n is a product of n factors ⟨ω, x⟩, and estimates ⟨x, y⟩ⁿ without bias by
    the real part of the product of n estimates :math:`p = \langle \omega, x \rangle
    \overline{\langle \omega, y \rangle}`, whose square has the mean :math:`(E[|p|^2]^n +
    E[p^2]^n) / 2`.

    Attributes
    ----------
    log_products : ndarray of shape (n_pairs,)
        log ⟨x, y⟩² of each pair.
    log_squares : ndarray of shape (n_pairs,)
        log E|p|² of each pair.
    ratios : ndarray of shape (n_pairs,) or float
        E[p²] / E|p|², between -1 and 1; 1 for real ω.

    References
    ----------
    Wacker, Ohana & Filippone, Complex-to-real sketches for tensor products with applications to
    the polynomial kernel, AISTATS 2023.
    """

    log_products: Floats
    log_squares: Floats
    ratios: Floats | float = 1.0

    @classmethod
    def of_signs(cls, X: Floats, *, are_complex: bool = False) -> "PairMoments":
        """Return those of vectors ω of random signs, for all pairs of different rows of X.

        Complex signs are 1, -1, i and -i.
        """
        left, right = _pairs(len(X))
        products, squares = (X @ X.T)[left, right] ** 2, X**2
        norms = squares.sum(axis=1)
        # Σ xᵢ²yᵢ², which is ‖x‖²‖y‖² = ⟨x, y⟩² for points along an axis
        shared = (squares @ squares.T)[left, right]
        second = norms[left] * norms[right] + (1 if are_complex else 2) * (products - shared)
        second = np.maximum(second, products)
        ratios: Floats | float = 1.0
        if are_complex:
            pseudo = 2 * products - shared
            ratios = np.divide(pseudo, second, out=np.ones_like(second), where=second > 0)
        with np.errstate(divide="ignore"):
            return cls(np.log(products), np.log(second), ratios)

    def logs(self, order: int, log_factors: Floats | float = 0.0) -> tuple[float, float]:
        """Return the logarithms of the mean variance and the mean square of an order's estimate.

        `log_factors` are the logarithms of factors on the square, one for each pair.
        """
        if not order:
            square = _log_mean(np.zeros_like(self.log_squares) + log_factors)
            return -np.inf, square
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = order * self.log_squares + np.log1p((np.power(self.ratios, order) - 1) / 2)
            # log(e^squares − e^products), exactly -inf where they are equal
            rest = squares + np.log1p(-np.exp(order * self.log_products - squares))
        rest[~np.isfinite(rest)] = -np.inf
        return _log_mean(rest + log_factors), _log_mean(squares + log_factors)


def pair_sums(values: Floats) -> Floats:
    """Return the sum of the values of both points, for the pairs of :class:`PairMoments`."""
    left, right = _pairs(len(values))
    return np.asarray(values[left] + values[right])


def _pairs(n_points: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of different points, or of one point with itself if there is no other."""
    return np.triu_indices(n_points, 1 if n_points > 1 else 0)


def _log_mean(logs: Floats) -> float:
    largest = float(logs.max())
    return largest + float(np.log(np.exp(logs - largest).mean())) if largest > -np.inf else -np.inf


@dataclass(frozen=True)
class OrderSizes:
    """How much each order of a series contributes to the error of an estimate by one feature.

    Attributes
    ----------
    log_variances : ndarray of shape (n_orders,)
        log of aₙ² times the mean variance over pairs of points; -inf also for orders that are
        not in the series.
    log_squares : ndarray of shape (n_orders,)
        log of aₙ² times the mean square; -inf for orders that are not in the series.
    """

    log_variances: Floats
    log_squares: Floats

    @property
    def present(self) -> NDArray[np.intp]:
        """The orders that are in the series."""
        return np.flatnonzero(np.isfinite(self.log_squares))

    def without(self, orders: Collection[int]) -> "OrderSizes":
        """Return the sizes for the series without some orders."""
        left_out = np.isin(np.arange(len(self.log_squares)), list(orders))
        parts = (self.log_variances, self.log_squares)
        return OrderSizes(*(np.where(left_out, -np.inf, part) for part in parts))


def order_sizes(
    kernel: BaseDotProductKernel,
    moments: PairMoments,
    *,
    first: int = 0,
    log_factors: Callable[[int], Floats] | None = None,
) -> OrderSizes:
    """Return the sizes of the orders from `first` on.

    An infinite series ends where less than 2⁻⁶⁴ of the root mean squares is left. `log_factors`
    gives those of :meth:`PairMoments.logs` for an order.

    Raises
    ------
    ValueError
        If no order from `first` on is in the series.
    """
    highest = kernel.degree_max
    end = _FIRST_ORDERS if highest is None else highest + 1
    variances, squares = np.empty(0), np.empty(0)
    while True:
        logs = 2 * kernel.log_coefficients(end - 1)
        known = max(first, len(squares))
        variances, squares = (
            np.append(part, np.full(end - len(part), -np.inf)) for part in (variances, squares)
        )
        for n in np.flatnonzero(np.isfinite(logs[known:])) + known:
            found = moments.logs(int(n), 0.0 if log_factors is None else log_factors(int(n)))
            variances[n], squares[n] = logs[n] + np.array(found)
        roots = np.exp((squares - squares.max()) / 2) if np.isfinite(squares).any() else squares
        if highest is not None or end >= _MOST_ORDERS:
            break
        # the terms fall at least by half from the middle on, or the series is longer
        if roots[end // 2 :].sum() <= NEGLIGIBLE_MASS * roots.sum():
            break
        end *= 2
    if not np.isfinite(squares).any():
        raise ValueError(
            f"measure='variance' needs an order from {first} on at which {kernel!r} has a "
            "positive coefficient, and points that are not 0: take measure='geometric'"
        )
    return OrderSizes(variances, squares)


def allocate(
    sizes: OrderSizes, n_features: int, random_state: np.random.RandomState
) -> tuple[NDArray[np.intp], Floats]:
    """Return orders of features, and log (1/√n) for the n features that share an order.

    The variance of Σ over orders of the mean of nₖ estimates is Σ vₖ/nₖ, least for nₖ in
    proportion to √vₖ. Orders that get less than one feature are drawn at random for those that
    are left, in proportion to the root mean square of their estimates, which minimises the
    variance of that draw: the sum remains unbiased.
    """
    counts, rare, roots = _counts(sizes, n_features)
    n_rare = n_features - int(counts.sum())
    orders = np.repeat(np.arange(len(counts)), counts)
    logs = -0.5 * np.log(counts[orders])
    if n_rare:
        chances = roots[rare] / roots[rare].sum()
        drawn = random_state.choice(len(rare), n_rare, p=chances)
        orders = np.append(orders, rare[drawn])
        logs = np.append(logs, -0.5 * (np.log(n_rare) + np.log(chances[drawn])))
    return orders, logs


def log_variance(sizes: OrderSizes, n_features: int) -> float:
    """Return the logarithm of the variance of the estimate by the features of :func:`allocate`.

    That of orders that are drawn is taken to be its mean square, from which it hardly differs.
    """
    if not sizes.present.size:
        return -np.inf
    if n_features < 1:
        return np.inf
    counts, rare, roots = _counts(sizes, n_features)
    largest = sizes.log_squares.max()
    used = counts > 0
    total = (np.exp(sizes.log_variances[used] - largest) / counts[used]).sum()
    if n_rare := n_features - int(counts.sum()):
        total += roots[rare].sum() ** 2 / n_rare
    return float(largest + np.log(total)) if total > 0 else -np.inf


def orders_that_pay(
    sizes: OrderSizes,
    columns: Callable[[int], int],
    n_columns: int,
    *,
    width: int,
    always: Collection[int],
) -> frozenset[int]:
    """Return the orders to be exact, of a given number of columns, for the least variance.

    An exact order takes its columns from the random features, and its variance from the sum.
    Compared are all orders up to some order, and those that take most of the standard deviation
    away for each of their columns.

    Parameters
    ----------
    sizes : OrderSizes
    columns : callable
        Returns the number of columns of an exact order, which rises with the order.
    n_columns : int
        Number of all columns.
    width : int
        Columns of a random feature.
    always : collection of int
        Orders that are exact in any case.
    """
    first = frozenset(always)
    affordable = list(
        takewhile(lambda n: columns(n) <= n_columns, map(int, sizes.without(first).present))
    )
    deviations = {n: sizes.log_variances[n] / 2 - np.log(columns(n)) for n in affordable}
    best, least = first, _log_variance_beside(sizes, columns, n_columns, width, first)
    for others in (affordable, sorted(affordable, key=lambda n: -deviations[n])):
        chosen = first
        for order in others:
            variance = _log_variance_beside(sizes, columns, n_columns, width, chosen | {order})
            if variance == np.inf:
                continue
            chosen |= {order}
            if variance < least:
                best, least = chosen, variance
    return best


def _log_variance_beside(
    sizes: OrderSizes,
    columns: Callable[[int], int],
    n_columns: int,
    width: int,
    exact: frozenset[int],
) -> float:
    """Return the logarithm of the variance beside exact orders, infinite if they do not fit."""
    left = n_columns - sum(columns(n) for n in exact)
    return log_variance(sizes.without(exact), left // width) if left >= 0 else np.inf


def _counts(
    sizes: OrderSizes, n_features: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return the numbers of features of orders, the orders of the others, and root mean squares.

    The features without a given order are drawn from the orders in the second array.
    """
    roots = np.exp((sizes.log_squares - sizes.log_squares.max()) / 2)
    deviations = np.exp((sizes.log_variances - sizes.log_squares.max()) / 2)
    present = np.flatnonzero(roots)
    # the estimate by one feature is exact
    exact = present[deviations[present] <= 0]
    if len(exact) >= n_features:
        exact = exact[:0]
    left = n_features - len(exact)
    others = np.setdiff1d(present, exact)
    counts = np.zeros(len(roots), dtype=np.intp)
    counts[exact] = 1
    rare = others
    if deviations.sum() > 0:
        shares = left * deviations / deviations.sum()
        rare = others[shares[others] < 1]
        certain = others[shares[others] >= 1]
        n_rare = min(max(round(shares[rare].sum()), 1), left) if len(rare) else 0
        counts[certain] = _largest_remainders(shares[certain], left - n_rare)
        # an order that got none
        rare = np.setdiff1d(others, np.flatnonzero(counts))
    if not len(rare):
        counts[present[-1]] += n_features - counts.sum()
    return counts, rare, roots


def _largest_remainders(shares: Floats, total: int) -> NDArray[np.intp]:
    """Round shares to whole numbers with a given total."""
    if not len(shares):
        return np.zeros(0, dtype=np.intp)
    scaled = shares * (total / shares.sum())
    counts = scaled.astype(np.intp)
    counts[np.argsort(counts - scaled, kind="stable")[: total - counts.sum()]] += 1
    return counts
