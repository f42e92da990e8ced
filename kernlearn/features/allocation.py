"""Numbers of features of each order, for the least variance of the estimate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlearn.features.base import NEGLIGIBLE_MASS
from kernlearn.kernels import BaseDotProductKernel

Floats = NDArray[np.float64]

_FIRST_ORDERS = 32
_MOST_ORDERS = 2**12


class PairMoments:
    r"""Moments of the estimate of ⟨x, y⟩ⁿ by one feature, over pairs of different points.

    A feature of order n is a product of n factors ⟨ω, x⟩, and estimates ⟨x, y⟩ⁿ without bias by
    the real part of the product of n estimates :math:`e = \langle \omega, x \rangle
    \overline{\langle \omega, y \rangle}`, whose square has the mean :math:`(E[|e|^2]^n +
    E[e^2]^n) / 2`. For random signs ω these are known; for real ones the two are the same.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        Points; a single one is paired with itself.
    are_complex : bool
        Whether signs are 1, i, -1 and -i, or 1 and -1.
    factors : ndarray of shape (n_points,), default=None
        Factors on the features of each point.

    References
    ----------
    Wacker, Ohana & Filippone, Complex-to-real sketches for tensor products with applications to
    the polynomial kernel, AISTATS 2023.
    """

    def __init__(
        self, X: Floats, *, are_complex: bool = False, factors: Floats | None = None
    ) -> None:
        left, right = np.triu_indices(len(X), 1 if len(X) > 1 else 0)
        products, squares = (X @ X.T)[left, right] ** 2, X**2
        norms = squares.sum(axis=1)
        # Σ xᵢ²yᵢ², which is ‖x‖²‖y‖² = ⟨x, y⟩² for points along an axis
        shared = (squares @ squares.T)[left, right]
        second = norms[left] * norms[right] + (1 if are_complex else 2) * (products - shared)
        second = np.maximum(second, products)
        # E[e²] / E|e|²
        self.ratios: Floats | float = 1.0
        if are_complex:
            pseudo = 2 * products - shared
            self.ratios = np.divide(pseudo, second, out=np.ones_like(second), where=second > 0)
        with np.errstate(divide="ignore"):
            self.log_products, self.log_squares = np.log(products), np.log(second)
            # of the factors on the square of an estimate
            self.log_factors = np.zeros(len(left))
            if factors is not None:
                logs = 2 * np.log(np.abs(factors))
                self.log_factors = logs[left] + logs[right]

    def logs(self, order: int) -> tuple[float, float]:
        """Return the logarithms of the mean variance and the mean square of an estimate."""
        if not order:
            return -np.inf, _log_mean(self.log_factors)
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = order * self.log_squares + np.log1p((np.power(self.ratios, order) - 1) / 2)
            # log(e^squares − e^products), exactly -inf where they are equal
            rest = squares + np.log1p(-np.exp(order * self.log_products - squares))
        rest[~np.isfinite(rest)] = -np.inf
        return _log_mean(rest + self.log_factors), _log_mean(squares + self.log_factors)


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


def order_sizes(
    series: BaseDotProductKernel,
    X: Floats,
    *,
    first: int = 0,
    are_complex: bool = False,
    factors: Floats | None = None,
) -> OrderSizes:
    """Return the sizes of the orders from `first` on, over pairs of points.

    An infinite series ends where less than 2⁻⁶⁴ of the root mean squares is left. `factors` are
    those on the features of each point.

    Raises
    ------
    ValueError
        If no order from `first` on is in the series.
    """
    moments = PairMoments(X, are_complex=are_complex, factors=factors)
    highest = series.degree_max
    end = _FIRST_ORDERS if highest is None else highest + 1
    variances, squares = np.empty(0), np.empty(0)
    while True:
        logs = 2 * series.log_coefficients(end - 1)
        known = max(first, len(squares))
        variances, squares = (
            np.append(part, np.full(end - len(part), -np.inf)) for part in (variances, squares)
        )
        for n in np.flatnonzero(np.isfinite(logs[known:])) + known:
            variances[n], squares[n] = logs[n] + np.array(moments.logs(int(n)))
        roots = np.exp((squares - squares.max()) / 2) if np.isfinite(squares).any() else squares
        if highest is not None or end >= _MOST_ORDERS:
            break
        # the terms fall at least by half from the middle on, or the series is longer
        if roots[end // 2 :].sum() <= NEGLIGIBLE_MASS * roots.sum():
            break
        end *= 2
    if not np.isfinite(squares).any():
        raise ValueError(
            f"measure='variance' needs an order from {first} on at which {series!r} has a "
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
    roots = np.exp((sizes.log_squares - sizes.log_squares.max()) / 2)
    deviations = np.exp((sizes.log_variances - sizes.log_squares.max()) / 2)
    counts, rare = _counts(roots, deviations, n_features)
    orders = np.repeat(np.arange(len(counts)), counts)
    logs = -0.5 * np.log(counts[orders])
    if n_rare := n_features - int(counts.sum()):
        chances = roots[rare] / roots[rare].sum()
        drawn = random_state.choice(len(rare), n_rare, p=chances)
        orders = np.append(orders, rare[drawn])
        logs = np.append(logs, -0.5 * (np.log(n_rare) + np.log(chances[drawn])))
    return orders, logs


def _counts(
    roots: Floats, deviations: Floats, n_features: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of features of orders, and the orders of which the others are drawn."""
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
    return counts, rare


def _largest_remainders(shares: Floats, total: int) -> NDArray[np.intp]:
    """Round shares to whole numbers with a given total."""
    if not len(shares):
        return np.zeros(0, dtype=np.intp)
    scaled = shares * (total / shares.sum())
    counts = scaled.astype(np.intp)
    counts[np.argsort(counts - scaled, kind="stable")[: total - counts.sum()]] += 1
    return counts
