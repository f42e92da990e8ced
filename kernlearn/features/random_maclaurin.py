"""Random Maclaurin features for dot-product kernels."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.extmath import row_norms

from kernlearn.constraints import COUNT, WHOLE, Interval, StrOptions
from kernlearn.features import base, blocks
from kernlearn.features.accuracy import components_for
from kernlearn.features.allocation import PairMoments, allocate, order_sizes, pair_sums
from kernlearn.features.centering import centering
from kernlearn.features.factors import Factors
from kernlearn.features.orders import residual, truncate
from kernlearn.features.signs import complex_signs, real_signs
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory.bounds import UniformAccuracy

if TYPE_CHECKING:
    from kernlearn.features.hadamard import ComplexHadamardSigns, HadamardSigns

# Points whose pairs tell the variance of each order: 32640 pairs.
_SAMPLE = 256


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
        Whether an int as `n_components` is the number of all columns, so that those that `h01`
        adds are among them (with `complex_to_real` one less if that leaves an odd number).
    include_bias : bool, default=True
        With `h01`, whether the constant term is a column; False leaves it to the intercept of a
        linear model. Ignored without `h01`, and with `center`, where that column is no constant.
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
    complex_to_real : bool, default=False
        Whether signs are complex, 1, i, -1 or -i, as in [2]_: a feature is then two columns, its
        real and its imaginary part, and there are D / 2 of them. The estimate has less variance
        for orders of at least 2, the more so the higher the order.
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
    include_bias: bool = True
    measure: Literal["geometric", "support", "variance"] = "geometric"
    center: bool = False
    complex_to_real: bool = False
    projection: Literal["signs", "hadamard"] = "signs"
    truncation: int | float | Iterable[int] | None = None
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **base.BaseMaclaurinFeatures._parameter_constraints,
        "n_components": [COUNT, UniformAccuracy, dict],
        "h01": ["boolean"],
        "measure": [StrOptions({"geometric", "support", "variance"})],
        "center": ["boolean"],
        "complex_to_real": ["boolean"],
        "projection": [StrOptions({"signs", "hadamard"})],
        "n_jobs": [None, Integral],
        "include_bias": ["boolean"],
        "include_exact": ["boolean"],
        "truncation": [None, WHOLE, Interval(RealNotInt, 0, 1, closed="neither"), "array-like"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
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
            convergence, or the required accuracy needs more than ten million features; or with
            `complex_to_real` if D is odd, with `include_exact` if nothing is left for random
            features.
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
        self._width = 2 if self.complex_to_real else 1
        self._centering = None
        if self.center:
            if self.truncation is not None:
                raise ValueError("'truncation' is for center=False: the centred series has others")
            self._centering = centering(self.kernel_, X)
        series = self._centering.series if self._centering else self.truncated_kernel_
        # The factors of the constant and the linear columns; 0 for none.
        self._constant, self._linear = 0.0, 0.0
        if self.h01:
            self._constant, self._linear = np.sqrt(series.coefficients(1)).tolist()
        if not (self.include_bias or self.center):
            self._constant = 0.0
        self._n_exact = (self._constant > 0) + X.shape[1] * (self._linear > 0)
        self.n_components_ = self._count_components(X)
        self._n_features_out = self._n_exact + self.n_components_
        first, n_random = 2 if self.h01 else 0, self.n_components_ // self._width
        if self.measure == "variance":
            self._allocate(series, X, random_state, first, n_random)
        else:
            self._draw(series, n_random, random_state, first, self._width)
        self._draw_signs(X.shape[1], random_state)
        self._columns = list(self._columns_by_order(X.shape[1]))
        return self

    def _draw_signs(self, n_features: int, random_state: np.random.RandomState) -> None:
        self._structured: list[HadamardSigns | ComplexHadamardSigns] = []
        if self.projection == "signs":
            n_factors = self._levels.n_factors
            if self.complex_to_real:
                drawn = complex_signs((n_features, n_factors // 2), random_state)
                self.omega_ = drawn.reshape(n_features, n_factors)
            else:
                self.omega_ = real_signs((n_features, n_factors), random_state)
            return
        from kernlearn.features import hadamard  # loads numba

        kind = hadamard.ComplexHadamardSigns if self.complex_to_real else hadamard.HadamardSigns
        for columns in self._levels.slices:
            n_columns = columns.stop - columns.start
            self._structured.append(kind.draw(n_features, n_columns, random_state))
        found = [signs.matrix() for signs in self._structured]
        self.omega_ = np.hstack([np.empty((n_features, 0), np.int8), *found])

    def _count_components(self, X: Any) -> int:
        """Return the number of columns of random features."""
        given = self.n_components
        if isinstance(given, UniformAccuracy | Mapping):
            wish = components_for(given, self.truncated_kernel_, X, self.p)
            return wish + wish % self._width
        number = int(given)
        if self.include_exact:
            number -= self._n_exact
            if number < self._width:
                raise ValueError(
                    f"'n_components' = {given} leaves no random features with the {self._n_exact} "
                    "exact columns in it: raise it, or take include_exact=False"
                )
            return number - number % self._width
        if number % self._width:
            raise ValueError(
                f"'n_components' = {given} must be even with complex_to_real=True: a feature is "
                "two columns"
            )
        return number

    def _allocate(
        self,
        series: BaseDotProductKernel,
        X: Any,
        random_state: np.random.RandomState,
        first: int,
        n_random: int,
    ) -> None:
        """Take the numbers of features of each order that suit a sample of the points."""
        some = random_state.permutation(X.shape[0])[:_SAMPLE]
        points = np.asarray(blocks.to_dense(X[some]), dtype=np.float64)
        log_factors = None
        if (center := self._centering) is not None:
            bases, points = center.bases(points), center.points(points)

            def log_factors(order: int) -> np.ndarray:
                return pair_sums(2 * center.log_factors(bases, order))

        moments = PairMoments.of_signs(points, are_complex=self.complex_to_real)
        sizes = order_sizes(series, moments, first=first, log_factors=log_factors)
        orders, log_weights = allocate(sizes, n_random, random_state)
        log_weights += series.log_coefficients(int(orders.max()))[orders] / 2
        self._set_orders(orders, log_weights, self._width)

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        levels, n_exact, center = self._levels, self._n_exact, self._centering
        scratch = levels.scratch(n_rows, dtype)
        factors = Factors(levels, self.omega_, self._structured, center, dtype)

        def write(X: Any, out: np.ndarray) -> None:
            if self._constant:
                out[:, 0] = self._constant
            if self._linear:
                linear, dense = out[:, n_exact - X.shape[1] : n_exact], blocks.to_dense(X)
                points = dense if center is None else center.points(dense)
                np.multiply(points, self._linear, out=linear)
            write_factors, scaled = factors.of_rows(X)
            levels.write(write_factors, out[:, n_exact:], scratch)
            if center is not None:
                bases = center.bases(X)
                for order, columns in self._columns:
                    if scaled and order and columns.start >= n_exact:
                        continue
                    sizes = center.factors(bases, order)
                    out[:, columns] *= sizes[:, np.newaxis].astype(dtype, copy=False)

        return write

    def _columns_by_order(self, n_features: int) -> Iterator[tuple[int, slice]]:
        """Yield orders with the columns that have them."""
        if self._constant:
            yield 0, slice(0, 1)
        if self._linear:
            yield 1, slice(self._n_exact - n_features, self._n_exact)
        width = self._width
        ends = np.flatnonzero(np.diff(self.degrees_)) + 1
        for start, end in pairwise([0, *ends.tolist(), len(self.degrees_)]):
            first, last = self._n_exact + width * start, self._n_exact + width * end
            yield int(self.degrees_[start]), slice(first, last)
