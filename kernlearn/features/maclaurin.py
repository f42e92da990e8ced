"""Random Maclaurin features for dot-product kernels, and linear SVMs on them: RF and H0/1."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernlearn import choice, validation
from kernlearn.choice import Fits
from kernlearn.features.base import BaseFeatureMap, Products, WriteFeatures, real_signs
from kernlearn.kernels import (
    BaseDotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)
from kernlearn.kernels.base import to_dense
from kernlearn.linear import LinearSVM
from kernlearn.linear.models import fit_each
from kernlearn.validation import Floats, Indices, Random

# Points whose pairs tell the variance of each order: 32640 pairs.
_SAMPLE = 256
# Orders above the one where this much of a measure is left are not drawn in practice.
_NEGLIGIBLE = 2.0**-64
_FIRST_ORDERS = 32
_MOST_ORDERS = 2**12


@dataclass(eq=False, repr=False)
class RandomMaclaurin(BaseFeatureMap):
    r"""Random features whose inner products estimate a dot-product kernel without bias.

    When to use it: any linear model on features of a dot-product kernel.

    For :math:`K(x, y) = \sum_n a_n \langle x, y \rangle^n`, each of D features draws an order N
    and N vectors :math:`\omega_j` of random signs, and is
    :math:`\sqrt{a_N / (D \, P[N])} \prod_{j \le N} \langle \omega_j, x \rangle`, so that
    :math:`E \langle Z(x), Z(y) \rangle = K(x, y)`. This is algorithm 1 of [1]_ ("RF").

    Parameters
    ----------
    kernel : dot-product kernel or str, default="polynomial"
        A kernel of `kernlearn.kernels`, or the name of one with default parameters. A clone
        of it is fitted to the training points.
    n_components : int, default=100
        Number D of columns of random features, even with `complex_to_real`. See the notes for
        the number that theorem 3.10 asks for.
    p : float, default=2.0
        Orders are drawn with :math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes
        :math:`p^{-(n+1)}`, which is a probability only for p = 2.
    h01 : bool, default=False
        Whether to use the heuristic H0/1 of section 3.6.1. Additional leading columns then
        represent the constant and the linear term exactly. All D features have orders of at least
        2, with :math:`P[N = n] = (p - 1) p^{-(n-1)}`.
    include_exact : bool, default=False
        Whether `n_components` is the number of all columns, so that the exact ones are among them
        (with complex signs one less if that leaves an odd number).
    include_bias : bool, default=True
        Whether the exact constant term is a column; False leaves it to the intercept of a linear
        model; not with `center`, where that column is no constant.
    measure : {"geometric", "support", "variance"}, default="geometric"
        "geometric" is the measure above; features whose order has :math:`a_n = 0` are zero.
        "support" is its restriction to orders with :math:`a_n > 0`; for an infinite series it ends
        at the order above which less than :math:`2^{-64}` of the measure is left. "variance" takes
        as many features of each order as minimise the variance of the estimate, averaged over
        pairs of a sample of 256 training points. Their number is in proportion to the standard
        deviation of one feature's estimate. Orders that get less than one are drawn at random for
        the rest [3]_. It takes no `p`.
    center : bool, default=False
        Whether to treat the part of the points along their mean exactly. Each feature is then a
        power of the coordinate along the mean, times factors of the rest of the point, whose norm
        is smaller. For polynomial and exponential kernels. The features estimate the same kernel,
        with less variance where points have a mean that is far from 0.
    complex_to_real : bool, default=False
        Whether signs are complex, 1, i, -1 or -i, as in [2]_. A feature is then two columns, its
        real and its imaginary part, and there are D / 2 features. The estimate has less variance
        for orders of at least 2, the more so the higher the order.
    truncation : int, default=None
        Highest order of the series to keep (section 3.4.2); None keeps all. The features then
        estimate the truncated kernel.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random orders and signs.

    Attributes
    ----------
    kernel_ : dot-product kernel
        The fitted kernel.
    truncated_kernel_ : dot-product kernel
        The kernel that the features estimate.
    truncation_error_ : float
        Bound on the absolute difference between the two for points whose norm is at most the
        largest of the training points.
    degrees_ : ndarray of shape (n_random_features,)
        Order of each random feature, sorted by the number of factors in descending order; there
        are D, or D / 2 complex ones.
    log_weights_ : ndarray of shape (n_random_features,)
        Logarithm of each feature's weight :math:`\sqrt{a_N / (D \, P[N])}`; for "variance" D P[N]
        is the number of features of its order, or its mean. With `center` a_N is the coefficient
        of the centred series.
    omega_ : ndarray of shape (n_features, n_factors), int8
        The random signs: the first factors of all features, then the second factors, and so on.
        Zero features have none. Those of a complex factor are two columns, the real and the
        imaginary parts.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    CompositionalMaclaurin : Dot-product kernels of other kernels.
    TensorSketch : Polynomial kernels by sketching.

    Notes
    -----
    The kernel of two points is defined if the absolute value of their inner product is below the
    kernel's `radius`. `fit` checks this for the training points (unless the series is truncated),
    `transform` does not check.

    :func:`kernlearn.theory.maclaurin_n_components` returns the D for which theorem 3.10 bounds
    the error on all points of a ball of the 1-norm, ``abs(X).sum(axis=1).max()`` for that which
    holds the rows of X.

    Projections of dense rows are sums of entries of tables of signed sums of a few columns, added
    in the same order for every row. So, without `center` and up to 3000 columns, the features of a
    row are the same, bit for bit, whatever rows come with it.

    References
    ----------
    .. [1] Kar (2013), sections 3.4 and 3.6.1.
    .. [2] Wacker, Ohana & Filippone, Complex-to-real sketches for tensor products with
       applications to the polynomial kernel, AISTATS 2023.
    .. [3] Wacker, Kanagawa & Filippone, Improved random features for dot product kernels,
       arXiv:2201.08712 (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.features import RandomMaclaurin
    >>> from kernlearn.kernels import PolynomialKernel
    >>> X = np.array([[0.6, 0.8], [1.0, 0.0]])
    >>> kernel = PolynomialKernel(degree=3)
    >>> Z = RandomMaclaurin(kernel, n_components=100000, h01=True, random_state=0).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, kernel(X), rtol=0.02))
    True
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    n_components: int = 100
    _: KW_ONLY
    p: float = 2.0
    h01: bool = False
    include_exact: bool = False
    include_bias: bool = True
    measure: Literal["geometric", "support", "variance"] = "geometric"
    center: bool = False
    complex_to_real: bool = False
    truncation: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **BaseFeatureMap._parameter_constraints,
        "h01": ["boolean"],
        "include_exact": ["boolean"],
        "include_bias": ["boolean"],
        "measure": [validation.StrOptions({"geometric", "support", "variance"})],
        "center": ["boolean"],
        "complex_to_real": ["boolean"],
    }

    _rows_together = 64  # LANES of sign_tables.py

    def _draw(self, X: Any, random_state: Random) -> int:
        if self.center:
            validation.refuse_unused(self, ["truncation", "include_bias"], "center=True")
        if self.measure == "variance":
            validation.refuse_unused(self, ["p"], "measure='variance'")
        squared_norm = self._fit_series(X, self.truncation)
        if squared_norm >= self.truncated_kernel_.radius:
            raise ValueError(
                f"the largest squared norm in X is {squared_norm:.6g}, and {self.kernel_!r} "
                f"converges below {self.kernel_.radius:g} only: scale the data down, or set "
                "'truncation' to the highest order to keep"
            )
        series, self._centering = self.truncated_kernel_, None
        if self.center:
            self._centering = centering(self.kernel_, X)
            series = self._centering.series
        n_random = self._count_columns(series, X.shape[1])
        n_features = n_random // (1 + self.complex_to_real)
        orders, logs = self._draw_orders(series, n_features, X, random_state)
        self._products = Products(orders, logs, 1 + self.complex_to_real)
        self.degrees_, self.log_weights_ = self._products.degrees, self._products.log_weights
        shape = (X.shape[1], self._products.n_factors)
        if self.complex_to_real:
            parts = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.int8)
            drawn = random_state.randint(0, 4, size=(shape[0], shape[1] // 2), dtype=np.int8)
            self.omega_ = parts[drawn].reshape(shape)
        else:
            self.omega_ = real_signs(shape, random_state)
        return self._n_exact + n_features * self._products.width

    def _count_columns(self, series: BaseDotProductKernel, n_features: int) -> int:
        """Set what the exact orders need, and return the number of columns of random ones."""
        # of the constant and of the linear term
        self._roots = np.sqrt(series.coefficients(1)) if self.h01 else np.zeros(2)
        if not (self.include_bias or self.center):
            self._roots[0] = 0.0
        self._n_exact = int((self._roots > 0) @ [1, n_features])
        width, number = 1 + self.complex_to_real, int(self.n_components)
        if self.include_exact:
            number -= self._n_exact
            if number < width:
                raise ValueError(
                    f"'n_components' = {self.n_components} leaves no random features with the "
                    f"{self._n_exact} exact columns in it: raise it, or take include_exact=False"
                )
        elif number % width:
            raise ValueError(
                f"'n_components' = {number} must be even with complex_to_real=True: a feature is "
                "two columns"
            )
        return number

    def _draw_orders(
        self, series: BaseDotProductKernel, n_features: int, X: Any, random_state: Random
    ) -> tuple[Indices, Floats]:
        """Return the orders of the random features, and the logarithms of their weights."""
        first = 2 if self.h01 else 0
        if self.measure != "variance":
            return draw_orders(
                series, n_features, random_state, p=self.p, measure=self.measure, first=first
            )
        some = random_state.permutation(X.shape[0])[:_SAMPLE]
        points, factors = to_dense(X[some]).astype(np.float64), None
        if self._centering:
            points, factors = self._centering.split(points)
        moments = PairMoments(points, are_complex=self.complex_to_real, factors=factors)
        sizes = order_sizes(series, moments, first)
        orders, logs = allocate(*sizes, n_features, random_state)
        return orders, logs + series.log_coefficients(int(orders.max()))[orders] / 2

    def _writer(self, X: Any) -> WriteFeatures:
        from kernlearn.features import sign_tables  # loads numba

        products, center, n_exact = self._products, self._centering, self._n_exact
        constant, linear = self._roots.tolist()
        # powers of what centring divides by leave the range of float32
        dtype = np.dtype(np.float64) if center else X.dtype
        dense = center or isinstance(X, np.ndarray)
        edges, n_lines = sign_tables.groups_of(*self.omega_.shape)
        tables = None
        if dense and products.n_factors and n_lines <= sign_tables.MOST_LINES:
            tables = sign_tables.SignProducts(products, self.omega_, edges, dtype)
        else:
            matrix = (self.omega_ * products.factor_scales).astype(dtype)

        def write(X: Any, out: NDArray[np.floating]) -> None:
            Z = out if out.dtype == dtype else np.empty(out.shape, dtype)
            if center:
                X, factors = center.split(to_dense(X))
            if constant:
                Z[:, 0] = constant
            if linear:
                np.multiply(to_dense(X), linear, out=Z[:, n_exact - X.shape[1] : n_exact])
            if tables:
                tables.write(X, Z, n_exact)
            else:
                products.write(X @ matrix, Z[:, n_exact:])
            if center:
                np.multiply(Z, factors[:, np.newaxis], out=out, casting="same_kind")

        return write


class AlongTheMean:
    r"""A polynomial kernel split along the mean direction of (√r, x).

    :math:`(\langle x, y \rangle + r)^p = (u_x u_y)^p \sum_n \binom{p}{n} \langle \tilde x / u_x,
    \tilde y / u_y \rangle^n`, where u is the coordinate of :math:`(\sqrt r, x)` along the mean of
    these, and :math:`\tilde x` are the others. The reflection that maps the mean direction to the
    first axis is I − 2vvᵀ, where v is the direction less the axis, divided by the length of that.
    """

    def __init__(self, degree: int, shift: float, X: Any) -> None:
        self.series, self.root = PolynomialKernel(degree, coef0=1.0), float(np.sqrt(shift))
        direction = np.append(self.root, np.asarray(X.mean(axis=0), np.float64).ravel())
        length = np.linalg.norm(direction)
        # points around 0 without a shift: any direction will do
        self.normal = direction / length if length else np.eye(len(direction))[0]
        self.normal[0] -= 1.0
        self.length = float(np.linalg.norm(self.normal))
        if self.length:
            self.normal /= self.length

    def split(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the points that the series is of, and the factor on the features of each."""
        along = X @ self.normal[1:] + self.root * self.normal[0]
        points = np.outer(-2 * along, self.normal[1:])
        points += X
        # from the direction itself digits would be lost for a mean close to 0
        u = self.root + self.length * along
        # powers of a smaller one would leave the range, and the kernel hardly differs
        least = np.finfo(np.float64).tiny ** (0.5 / self.series.degree)
        u = np.copysign(np.maximum(np.abs(u), least), u)
        points /= u[:, np.newaxis]
        return points, u**self.series.degree


class AroundTheMean:
    r"""The exponential kernel of the points less their mean.

    :math:`\exp(\langle x, y \rangle / \sigma^2) = g_x g_y \exp(\langle \tilde x, \tilde y
    \rangle / \sigma^2)`, where :math:`\tilde x = x - m` and :math:`g_x = \exp((\langle m, x
    \rangle - \|m\|^2 / 2) / \sigma^2)`.
    """

    def __init__(self, kernel: ExponentialKernel, X: Any) -> None:
        self.series = kernel
        self.mean = np.asarray(X.mean(axis=0), np.float64).ravel()

    def split(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the points that the series is of, and the factor on the features of each."""
        exponents = X @ self.mean - 0.5 * (self.mean @ self.mean)
        return X - self.mean, np.exp(exponents / self.series.sigma_**2)


def centering(kernel: BaseDotProductKernel, X: Any) -> AlongTheMean | AroundTheMean:
    """Write a fitted kernel around the mean of points, from which the others differ less.

    Maclaurin features estimate ⟨x, y⟩ⁿ with an error that grows with the norms. For two families
    of kernels the part of the points along their mean can be split off exactly.

    Raises
    ------
    ValueError
        If the kernel is of another family.
    """
    if isinstance(kernel, HomogeneousPolynomialKernel | PolynomialKernel):
        return AlongTheMean(kernel.degree, float(kernel.coef0), X)
    if isinstance(kernel, ExponentialKernel):
        return AroundTheMean(kernel, X)
    raise ValueError(
        f"center=True needs a polynomial or exponential kernel, {kernel!r} is not: its terms are "
        "no products of functions of x and of y"
    )


# -- orders of the features ----------------------------------------------------------------------


def draw_orders(
    kernel: BaseDotProductKernel,
    n_features: int,
    random_state: Random,
    *,
    p: float,
    measure: str,
    first: int = 0,
) -> tuple[Indices, Floats]:
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


def _log_geometric(n: Indices, p: float, first: int) -> Floats:
    return np.log(p - 1) - (n + 1 - first) * np.log(p)


def _log_support(kernel: BaseDotProductKernel, p: float, first: int) -> Floats:
    """Return log P[N = n] of the measure restricted to the orders of the kernel."""
    highest = kernel.degree_max
    if highest is None:
        highest = first + int(np.ceil(-np.log(_NEGLIGIBLE) / np.log(p)))
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


def order_sizes(
    series: BaseDotProductKernel, moments: PairMoments, first: int = 0
) -> tuple[Floats, Floats]:
    """Return how much each order from `first` on contributes to the error of one feature.

    These are log aₙ² times the mean variance over pairs of points, and times the mean square. The
    former is -inf for orders that one feature represents exactly, the latter for those that are
    not in the series. An infinite series ends where less than 2⁻⁶⁴ of the root mean squares is
    left.

    Raises
    ------
    ValueError
        If no order from `first` on is in the series.
    """
    highest = series.degree_max
    end, logs_of = _FIRST_ORDERS if highest is None else highest + 1, cache(moments.logs)
    while True:
        logs = 2 * series.log_coefficients(end - 1)
        variances, squares = np.full((2, end), -np.inf)
        for n in np.flatnonzero(np.isfinite(logs[first:])) + first:
            variances[n], squares[n] = logs[n] + np.array(logs_of(int(n)))
        roots = np.exp((squares - squares.max()) / 2) if np.isfinite(squares).any() else squares
        if highest is not None or end >= _MOST_ORDERS:
            break
        # the terms fall at least by half from the middle on, or the series is longer
        if roots[end // 2 :].sum() <= _NEGLIGIBLE * roots.sum():
            break
        end *= 2
    if not np.isfinite(squares).any():
        raise ValueError(
            f"measure='variance' needs an order from {first} on at which {series!r} has a "
            "positive coefficient, and points that are not 0: take measure='geometric'"
        )
    return variances, squares


def allocate(
    log_variances: Floats, log_squares: Floats, n_features: int, random_state: Random
) -> tuple[Indices, Floats]:
    """Return orders of features, and log (1/√n) for the n features that share an order.

    The variance of Σ over orders of the mean of nₖ estimates is Σ vₖ/nₖ, least for nₖ in
    proportion to √vₖ. Orders that get less than one feature are drawn at random for those that are
    left, in proportion to the root mean square of their estimates. This minimises the variance of
    that draw, and the sum remains unbiased.
    """
    roots = np.exp((log_squares - log_squares.max()) / 2)
    deviations = np.exp((log_variances - log_squares.max()) / 2)
    counts, rare = _counts(roots, deviations, n_features)
    orders = np.repeat(np.arange(len(counts)), counts)
    logs = -0.5 * np.log(counts[orders])
    if n_rare := n_features - int(counts.sum()):
        chances = roots[rare] / roots[rare].sum()
        drawn = random_state.choice(len(rare), n_rare, p=chances)
        orders = np.append(orders, rare[drawn])
        logs = np.append(logs, -0.5 * (np.log(n_rare) + np.log(chances[drawn])))
    return orders, logs


def _counts(roots: Floats, deviations: Floats, n_features: int) -> tuple[Indices, Indices]:
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


def _largest_remainders(shares: Floats, total: int) -> Indices:
    """Round shares to whole numbers with a given total."""
    if not len(shares):
        return np.zeros(0, dtype=np.intp)
    scaled = shares * (total / shares.sum())
    counts = scaled.astype(np.intp)
    counts[np.argsort(counts - scaled, kind="stable")[: total - counts.sum()]] += 1
    return counts


# -- linear SVM on the features -------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class MaclaurinSVM(
    validation.TakesSparse, validation.PredictsByScores, ClassifierMixin, BaseEstimator
):
    """Classifier for dot-product kernels with linear training and prediction time.

    When to use it: a polynomial or other dot-product kernel on more rows than a kernel SVM can
    take.

    Random Maclaurin features (:class:`RandomMaclaurin`) followed by LIBLINEAR
    (:class:`~kernlearn.linear.LinearSVM`): RF, or with ``h01=True`` H0/1, where the linear
    term of the kernel is exact and the constant is left to the intercept. Prediction computes
    features in blocks of rows. For other features, losses or solvers take a pipeline of the two.

    Parameters
    ----------
    kernel : str or kernel object, default="polynomial"
        A dot-product kernel, see :class:`RandomMaclaurin`.
    n_components : int, default=200
        Number D of random features.
    h01 : bool, default=False
        Whether to take H0/1 instead of RF.
    C : float, default=1.0
        Weight of the training errors against the norm of the weights.
    tol, presolve, class_weight
        As for :class:`~kernlearn.linear.LinearSVM`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the features.

    Attributes
    ----------
    map_ : RandomMaclaurin
        The fitted feature map.
    svm_ : LinearSVM
        The fitted linear model.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    References
    ----------
    Kar (2013), algorithm 1 and section 3.6.1.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from kernlearn.features import MaclaurinSVM
    >>> X, y = make_circles(400, noise=0.05, factor=0.4, random_state=0)
    >>> MaclaurinSVM(n_components=50, h01=True, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    n_components: int = 200
    _: KW_ONLY
    h01: bool = False
    C: float = 1.0
    tol: float | None = None
    presolve: float | None = None
    class_weight: Any = None
    random_state: int | np.random.RandomState | None = None

    #: Parameters of which :meth:`path` takes lists of values.
    path_parameters: ClassVar[tuple[str, ...]] = ("C",)

    _parameter_constraints = {
        **RandomMaclaurin._parameter_constraints,
        **LinearSVM._parameter_constraints,
    }

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the feature map, and the linear model on its features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, see :class:`~kernlearn.linear.LinearSVM`.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter is not valid, or there is only one class.
        """
        X, y = validation.validate_data(self, X, y, **validation.POINTS)
        X, y, weights = validation.without_zeros(X, y, validation.check_weights(sample_weight, X))
        self.map_, self.svm_ = self._parts()
        self.svm_.fit(self.map_.fit(X).features(X), y, weights)
        self.classes_ = self.svm_.classes_
        return self

    def _parts(self) -> tuple[RandomMaclaurin, LinearSVM]:
        """Return the feature map and the linear model, not fitted."""
        feature_map = RandomMaclaurin(self.kernel, self.n_components, h01=self.h01)
        feature_map.set_params(include_bias=False, random_state=self.random_state)
        svm = LinearSVM(self.C, tol=self.tol, presolve=self.presolve)
        return feature_map, svm.set_params(class_weight=self.class_weight)

    def path(self, X: Any, y: ArrayLike, grid: Mapping[str, Sequence[Any]]) -> Iterator[Fits]:
        """Fit the model for each of a list of values of C, all on the same features.

        Two classes are trained at the same time.

        Parameters
        ----------
        X, y
            As for `fit`.
        grid : dict
            The values of C, ``{"C": values}``; without them the model's own.

        Yields
        ------
        Fits
            The models of all values, ascending; each is that of `fit` up to rounding.
        """
        first, points = clone(self), choice.path_points(self, grid)
        rows, labels = validation.validate_labelled(first, X, y)
        first.map_, svm = first._parts()
        models = [copy(first).set_params(**point) for point in points]
        Cs = [model.C for model in models]
        svms, converged = fit_each(svm, first.map_.fit(rows).features(rows), labels, Cs)
        for model, one in zip(models, svms, strict=True):
            model.svm_, model.classes_ = one, one.classes_
        yield Fits(points, models, converged.tolist(), partial(_decisions, models))

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return the signed distances from the separating hyperplanes, times the norm of w.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two.
        """
        check_is_fitted(self)
        return _decisions([self], X)[0]


def _decisions(models: list[MaclaurinSVM], X: Any) -> list[NDArray[Any]]:
    """Return the decision values of each model for X, whose features are computed once."""
    X = validation.validate_data(models[0], X, reset=False, **validation.POINTS)
    blocks = models[0].map_.transform_blocks(X)
    parts = [[Z @ model.svm_.coef_.T for model in models] for _, Z in blocks]
    return [
        validation.single_column(np.concatenate(of_model) + model.svm_.intercept_)
        for model, of_model in zip(models, zip(*parts, strict=True), strict=True)
    ]
