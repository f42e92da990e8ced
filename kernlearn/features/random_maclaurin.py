"""Random Maclaurin features for dot-product kernels."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, WHOLE, Interval, StrOptions, fit_context
from kernlearn.features import base, blocks
from kernlearn.features.accuracy import components_for
from kernlearn.features.allocation import allocate
from kernlearn.features.centering import centering
from kernlearn.features.factors import Factors
from kernlearn.features.order_plan import OrderPlan, Planner, Sample
from kernlearn.features.orders import residual, truncate
from kernlearn.features.signs import complex_signs, real_signs
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory.bounds import UniformAccuracy

if TYPE_CHECKING:
    from kernlearn.features.hadamard import ComplexHadamardSigns, HadamardSigns


@dataclass(eq=False, repr=False)
class RandomMaclaurin(base.BaseMaclaurinFeatures):
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
    n_components : int, UniformAccuracy or dict, default=100
        Number D of columns of random features; or the required accuracy, as
        `kernlearn.theory.bounds.UniformAccuracy` or a dict with its keys ``epsilon`` and
        ``delta``, for which theorem 3.10 gives D for points whose 1-norm is at most the largest
        of the training points. Even with `complex_to_real`.
    p : float, default=2.0
        Orders are drawn with :math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes
        :math:`p^{-(n+1)}`, which is a probability only for p = 2.
    h01 : bool, default=False
        Whether to use the heuristic H0/1 of section 3.6.1: the constant and the linear term are
        represented exactly by additional leading columns, and all D features have orders of at
        least 2, with :math:`P[N = n] = (p - 1) p^{-(n-1)}`.
    include_exact : bool, default=False
        Whether an int as `n_components` is the number of all columns, so that the exact ones are
        among them (with complex signs one less if that leaves an odd number).
    exact_orders : int, "auto" or None, default=None
        The greatest order that is represented exactly, as are all below it ("H0/k"): order n by
        the :math:`\binom{d + n - 1}{n}` monomials of d features, as leading columns. If no order
        is left there are no random features. None is 1 with `h01`, and no order without it.
        "auto" chooses the orders for the least estimated variance, with `n_components` the number
        of all columns: an exact order takes its columns from the random features, and its
        variance from the sum. Order 0 is among them, with `h01` order 1; others may be left out
        in between. It needs ``measure="variance"``.
    include_bias : bool, default=True
        Whether an exact constant term is a column; False leaves it to the intercept of a linear
        model. Ignored with `center`, where that column is no constant.
    measure : {"geometric", "support", "variance"}, default="geometric"
        "geometric" is the measure above; features whose order has :math:`a_n = 0` are zero.
        "support" is its restriction to orders with :math:`a_n > 0`; for an infinite series it
        ends at the order above which less than :math:`2^{-64}` of the measure is left.
        "variance" takes as many features of each order as minimise the variance of the estimate,
        averaged over pairs of a sample of 256 training points, in proportion to the standard
        deviation of one feature's estimate; orders that get less than one are drawn at random
        for the rest [3]_. It needs no `p`.
    center : bool, default=False
        Whether to split the part of the points along their mean off exactly: each feature is then
        a product of a power of the coordinate along the mean, and of factors of what is left of
        the point, whose norm is smaller. For polynomial and exponential kernels. The features
        estimate the same kernel, with less variance where points have a mean that is far from 0.
    complex_to_real : bool or "auto", default=False
        Whether signs are complex, 1, i, -1 or -i, as in [2]_: a feature is then two columns, its
        real and its imaginary part, and there are D / 2 of them. The estimate has less variance
        for orders of at least 2, the more so the higher the order. "auto" takes what has less
        estimated variance, together with `exact_orders`, and one column less than an odd D for
        complex signs; it needs ``measure="variance"``.
    projection : {"signs", "hadamard"}, default="signs"
        How the vectors of signs are drawn: each by itself, or as columns of Hadamard matrices
        with random signs, which are orthogonal to each other and multiplied by a fast transform
        where there are many features. The factors of a feature are independent in both.
    truncation : None, int, float or collection of int, default=None
        Orders of the series to keep (section 3.4.2): all; those up to an int; the smallest
        number of first ones with a residual of at most a float between 0 and 1; or those listed.
        The features then estimate the truncated kernel.
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    n_jobs : int, default=None
        Number of threads of `transform`: None is 1 unless in a :class:`joblib.parallel_config`
        context, -1 means all cores. The result does not depend on it.
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
        largest of the training points, up to rounding of about 1e-16 times the kernel's value.
    n_components_ : int
        Number D of columns of random features.
    exact_orders_ : ndarray of int
        The orders that have exact columns, in the order of these.
    complex_to_real_ : bool
        Whether signs are complex.
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
    sklearn.kernel_approximation.PolynomialCountSketch : Polynomial kernels by sketching.

    Notes
    -----
    The kernel of two points is defined if the absolute value of their inner product is below the
    kernel's `radius`. `fit` checks this for the training points (unless `truncation` keeps
    finitely many orders), `transform` does not check.

    Projections of dense rows are sums of entries of tables of signed sums of a few columns, with
    all operations in the same order for every row: without `center`, and up to 20 000 columns, the
    features of a row are the same, bit for bit, in any block and for any number of threads.

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
    n_components: int | UniformAccuracy | Mapping[str, float] = 100
    _: KW_ONLY
    p: float = 2.0
    h01: bool = False
    include_exact: bool = False
    exact_orders: int | Literal["auto"] | None = None
    include_bias: bool = True
    measure: Literal["geometric", "support", "variance"] = "geometric"
    center: bool = False
    complex_to_real: bool | Literal["auto"] = False
    projection: Literal["signs", "hadamard"] = "signs"
    truncation: int | float | Iterable[int] | None = None
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _rows_together = 16  # in lanes

    _parameter_constraints = {
        **base.BaseMaclaurinFeatures._parameter_constraints,
        "n_components": [COUNT, UniformAccuracy, dict],
        "h01": ["boolean"],
        "measure": [StrOptions({"geometric", "support", "variance"})],
        "center": ["boolean"],
        "complex_to_real": ["boolean", StrOptions({"auto"})],
        "projection": [StrOptions({"signs", "hadamard"})],
        "n_jobs": [None, Integral],
        "include_bias": ["boolean"],
        "include_exact": ["boolean"],
        "exact_orders": [None, WHOLE, StrOptions({"auto"})],
        "truncation": [None, WHOLE, Interval(RealNotInt, 0, 1, closed="neither"), "array-like"],
    }

    @fit_context(prefer_skip_nested_validation=True)
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
            If a parameter is not valid, the training points exceed the kernel's radius of
            convergence, or the required accuracy or the exact orders need more than ten million
            features; or with `complex_to_real` if D is odd, with `include_exact` if nothing is
            left for random features.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        self.kernel_ = clone(self._dot_product_kernel()).fit(X)
        squared_norm = float(row_norms(X, squared=True).max())
        self.truncated_kernel_ = truncate(self.kernel_, self.truncation, squared_norm)
        if squared_norm >= self.truncated_kernel_.radius:
            raise ValueError(
                f"the largest squared norm in X is {squared_norm:.6g}, and {self.kernel_!r} "
                f"converges below {self.kernel_.radius:g} only: scale the data down, or set "
                "'truncation' to the highest order to keep"
            )
        self.truncation_error_ = residual(self.kernel_, self.truncated_kernel_, squared_norm)
        self._centering = None
        if self.center:
            if self.truncation is not None:
                raise ValueError("'truncation' is for center=False: the centred series has others")
            self._centering = centering(self.kernel_, X)
        series = self._centering.series if self._centering else self.truncated_kernel_
        plan = self._plan(series, X, random_state)
        self._exact, self._width, self.n_components_ = plan.exact, plan.width, plan.n_components
        self.exact_orders_ = np.array(list(plan.exact.slices), dtype=int)
        self.complex_to_real_ = self._width == 2
        self._n_features_out = self._exact.n_columns + self.n_components_
        if not self._n_features_out:
            raise ValueError("no feature is left: the kernel is constant, take include_bias=True")
        if not plan.n_random:
            self._set_orders(np.empty(0, int), np.empty(0), self._width)
        elif plan.sizes is not None:
            orders, logs = allocate(plan.sizes, plan.n_random, random_state)
            logs += series.log_coefficients(int(orders.max()))[orders] / 2
            self._set_orders(orders, logs, self._width)
        else:
            self._draw(series, plan.n_random, random_state, self._first_random(), self._width)
        self._draw_signs(X.shape[1], random_state)
        self._columns = list(self._columns_by_order())
        return self

    def _first_random(self) -> int:
        """Return the order below which all are exact in any case."""
        if self.exact_orders is None or self.exact_orders == "auto":
            return 2 if self.h01 else 0
        if self.h01 and self.exact_orders < 1:
            raise ValueError("h01=True makes order 1 exact: take 'exact_orders' >= 1")
        return int(self.exact_orders) + 1

    def _plan(
        self, series: BaseDotProductKernel, X: Any, random_state: np.random.RandomState
    ) -> OrderPlan:
        """Choose the orders that are exact, and between real and complex signs."""
        first, choose = self._first_random(), self.exact_orders == "auto"
        for name in ("exact_orders", "complex_to_real"):
            if getattr(self, name) == "auto" and self.measure != "variance":
                raise ValueError(f"{name}='auto' is for measure='variance', which it compares")
        if choose and not isinstance(self.n_components, Integral):
            raise ValueError("exact_orders='auto' needs an int as 'n_components'")
        sample = None
        if self.measure == "variance":
            sample = Sample(X, self._centering, random_state)
        bias = self.include_bias or self.center
        planner = Planner(
            series, X.shape[1], bias, sample, lambda *numbers: self._count_components(X, *numbers)
        )
        widths = (1, 2) if self.complex_to_real == "auto" else (1 + self.complex_to_real,)
        if choose:
            number = int(self.n_components)  # type: ignore[arg-type]
            plans = [planner.best(first, number, width) for width in widths]
        else:
            known = self.exact_orders is not None
            plans = [planner.up_to(first, width, may_be_none=known) for width in widths]
        return min(plans, key=lambda plan: plan.log_variance)

    def _draw_signs(self, n_features: int, random_state: np.random.RandomState) -> None:
        self._structured: list[HadamardSigns | ComplexHadamardSigns] = []
        if self.projection == "signs":
            n_factors = self._levels.n_factors
            if self.complex_to_real_:
                drawn = complex_signs((n_features, n_factors // 2), random_state)
                self.omega_ = drawn.reshape(n_features, n_factors)
            else:
                self.omega_ = real_signs((n_features, n_factors), random_state)
            return
        from kernlearn.features import hadamard  # loads numba

        kind = hadamard.ComplexHadamardSigns if self.complex_to_real_ else hadamard.HadamardSigns
        for columns in self._levels.slices:
            n_columns = columns.stop - columns.start
            self._structured.append(kind.draw(n_features, n_columns, random_state))
        found = [signs.matrix() for signs in self._structured]
        self.omega_ = np.hstack([np.empty((n_features, 0), np.int8), *found])

    def _count_components(self, X: Any, n_exact: int, width: int) -> int:
        """Return the number of columns of random features beside exact columns."""
        given = self.n_components
        if isinstance(given, UniformAccuracy | Mapping):
            wish = components_for(given, self.truncated_kernel_, X, self.p)
            return wish + wish % width
        number = int(given)
        if self.include_exact or self.exact_orders == "auto":
            number -= n_exact
            if number < width:
                raise ValueError(
                    f"'n_components' = {given} leaves no random features with the {n_exact} "
                    "exact columns in it: raise it, or take include_exact=False"
                )
        elif number % width and self.complex_to_real != "auto":
            raise ValueError(
                f"'n_components' = {given} must be even with complex_to_real=True: a feature is "
                "two columns"
            )
        return number - number % width

    def depends_on_block(self, X: Any) -> bool:
        """Return whether features of a row may differ, by rounding, beside other rows.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Points; their number and values do not matter.

        Returns
        -------
        bool
            False if projections are taken from tables, see Notes; True for sparse points, with
            `center`, and for fast transforms.
        """
        check_is_fitted(self)
        factors = Factors(
            self._levels, self.omega_, self._structured, self._centering, np.dtype(float), n_rows=0
        )
        return factors.depends_on_block(X)

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        exact, center = self._exact, self._centering
        dense = max(exact.slices, default=0) > 0
        factors = Factors(
            self._levels, self.omega_, self._structured, center, dtype, n_rows=n_rows, dense=dense
        )
        write_exact = exact.writer(n_rows, dtype)

        def write(X: Any, out: np.ndarray) -> None:
            rows = factors.of_rows(X)
            write_exact(rows.first, rows.further, out)
            rows.write(out, exact.n_columns)
            if center is None or rows.bases is None:
                return
            for order, columns in self._columns:
                if not (rows.scaled and order):
                    sizes = center.factors(rows.bases, order)
                    out[:, columns] *= sizes[:, np.newaxis].astype(dtype, copy=False)

        return write

    def _columns_by_order(self) -> Iterator[tuple[int, slice]]:
        """Yield orders with the columns that have them."""
        yield from self._exact.slices.items()
        n_exact, width = self._exact.n_columns, self._width
        ends = (np.flatnonzero(np.diff(self.degrees_, append=-1)) + 1).tolist()
        for start, end in pairwise([0, *ends]):
            columns = slice(n_exact + width * start, n_exact + width * end)
            yield int(self.degrees_[start]), columns
