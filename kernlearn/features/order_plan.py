"""Which orders of a series are exact, and how many columns of random features the others get."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.features import blocks
from kernlearn.features.allocation import (
    OrderSizes,
    PairMoments,
    log_variance,
    order_sizes,
    orders_that_pay,
    pair_sums,
)
from kernlearn.features.centering import Centering
from kernlearn.features.exact_terms import ExactTerms, n_monomials
from kernlearn.kernels import BaseDotProductKernel

Floats = NDArray[np.float64]

# Points whose pairs tell the variance of each order: 32640 pairs.
_SAMPLE = 256


@dataclass(frozen=True)
class OrderPlan:
    """Which orders are exact, and the features of the others.

    Attributes
    ----------
    exact : ExactTerms
    n_components : int
        Number of columns of random features, 0 if no order is left for them.
    width : int
        Columns of a random feature: 2 for complex ones.
    sizes : OrderSizes or None
        Those of the orders that are not exact, if they were estimated and there are any.
    """

    exact: ExactTerms
    n_components: int
    width: int
    sizes: OrderSizes | None

    @property
    def n_random(self) -> int:
        """Number of random features."""
        return self.n_components // self.width

    @cached_property
    def log_variance(self) -> float:
        """Logarithm of the estimated variance."""
        return -np.inf if self.sizes is None else log_variance(self.sizes, self.n_random)


class Sample:
    """A sample of training points, which tells the variance of the orders of a series.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training points.
    center : Centering or None
        What they are replaced by.
    random_state : RandomState
    """

    def __init__(
        self, X: Any, center: Centering | None, random_state: np.random.RandomState
    ) -> None:
        some = random_state.permutation(X.shape[0])[:_SAMPLE]
        self._points = np.asarray(blocks.to_dense(X[some]), dtype=np.float64)
        self._log_factors: Callable[[int], Floats] | None = None
        if center is not None:
            self._points, bases = center.split(self._points)
            self._log_factors = lambda order: pair_sums(2 * center.log_factors(bases, order))

    def sizes(
        self, series: BaseDotProductKernel, *, are_complex: bool, first: int = 0
    ) -> OrderSizes:
        """Return the sizes of the orders from `first` on."""
        moments = PairMoments.of_signs(self._points, are_complex=are_complex)
        return order_sizes(series, moments, first=first, log_factors=self._log_factors)


@dataclass(frozen=True)
class Planner:
    """Plans for a series and a number of features of a point.

    Attributes
    ----------
    series : dot-product kernel
    n_features : int
    bias : bool
        Whether an exact order 0 is a column.
    sample : Sample or None
        With which variances are estimated.
    count : callable
        Returns the number of columns of random features, for the number of exact columns and the
        width of a feature.
    """

    series: BaseDotProductKernel
    n_features: int
    bias: bool
    sample: Sample | None
    count: Callable[[int, int], int]

    def up_to(self, first: int, width: int, *, may_be_none: bool) -> OrderPlan:
        """Return the plan with all orders below `first` exact.

        With `may_be_none` there are no random features if no order is left for them.
        """
        exact = self._exact(range(first))
        highest = self.series.degree_max
        if may_be_none and highest is not None:
            left = self.series.log_coefficients(max(highest, first))[first:]
            if not np.isfinite(left).any():
                return OrderPlan(exact, 0, width, None)
        n_components = self.count(exact.n_columns, width)
        sizes = None
        if self.sample is not None:
            sizes = self.sample.sizes(self.series, are_complex=width == 2, first=first)
        return OrderPlan(exact, n_components, width, sizes)

    def best(self, first: int, n_columns: int, width: int) -> OrderPlan:
        """Return the plan of the least variance, with the orders below `first` exact and others.

        Order 0 is among them, as a feature of it would take no fewer columns.
        """
        assert self.sample is not None
        sizes = self.sample.sizes(self.series, are_complex=width == 2)
        always = np.intersect1d(sizes.present, range(max(first, 1))).tolist()
        orders = orders_that_pay(sizes, self._columns, n_columns, width=width, always=always)
        exact, rest = self._exact(orders), sizes.without(orders)
        if not rest.present.size:
            return OrderPlan(exact, 0, width, None)
        return OrderPlan(exact, self.count(exact.n_columns, width), width, rest)

    def _columns(self, order: int) -> int:
        return n_monomials(self.n_features, order) if order or self.bias else 0

    def _exact(self, orders: Any) -> ExactTerms:
        coefficients = self.series.coefficients(max(orders, default=0))
        return ExactTerms(orders, coefficients, self.n_features, bias=self.bias)
