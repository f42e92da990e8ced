"""Random Maclaurin features for dot-product kernels."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.extmath import row_norms

from kernlearn.constraints import COUNT, WHOLE, Interval
from kernlearn.features import base, blocks
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory.bounds import UniformAccuracy, maclaurin_n_components

# A row of that many features takes 80 MB; more, as a bound may require, is of no use.
_MOST_COMPONENTS = 10**7


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
        Number D of random features; or the required accuracy, as
        `kernlearn.theory.bounds.UniformAccuracy` or a dict with its keys ``epsilon`` and
        ``delta``, for which theorem 3.10 gives D for points whose 1-norm is at most the largest
        of the training points.
    p : float, default=2.0
        Orders are drawn with :math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes
        :math:`p^{-(n+1)}`, which is a probability only for p = 2.
    h01 : bool, default=False
        Whether to use the heuristic H0/1 of section 3.6.1: the constant and the linear term are
        represented exactly by additional leading columns, and all D features have orders of at
        least 2, with :math:`P[N = n] = (p - 1) p^{-(n-1)}`.
    include_bias : bool, default=True
        With `h01`, whether the constant term is a column; False leaves it to the intercept of a
        linear model. Ignored without `h01`.
    measure : {"geometric", "support"}, default="geometric"
        "geometric" is the measure above; features whose order has :math:`a_n = 0` are zero.
        "support" is its restriction to orders with :math:`a_n > 0`; for an infinite series it
        ends at the order above which less than :math:`2^{-64}` of the measure is left.
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
        Number D of random features.
    degrees_ : ndarray of shape (n_components_,)
        Order of each feature, sorted by the number of factors in descending order.
    log_weights_ : ndarray of shape (n_components_,)
        Logarithm of each feature's weight :math:`\sqrt{a_N / (D \, P[N])}`.
    omega_ : ndarray of shape (n_features, n_factors), int8
        The random signs: the first factors of all features, then the second factors, and so on.
        Zero features have none.
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
    include_bias: bool = True
    measure: Literal["geometric", "support"] = "geometric"
    truncation: int | float | Iterable[int] | None = None
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **base.BaseMaclaurinFeatures._parameter_constraints,
        "n_components": [COUNT, UniformAccuracy, dict],
        "h01": ["boolean"],
        "n_jobs": [None, Integral],
        "include_bias": ["boolean"],
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
            convergence, or the required accuracy needs more than ten million features.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        self.kernel_ = clone(self._dot_product_kernel()).fit(X)
        squared_norm = float(row_norms(X, squared=True).max())
        self.truncated_kernel_ = base.truncate(self.kernel_, self.truncation, squared_norm)
        if squared_norm >= self.truncated_kernel_.radius:
            raise ValueError(
                f"the largest squared norm in X is {squared_norm:.6g}, and {self.kernel_!r} "
                f"converges below {self.kernel_.radius:g} only: scale the data down, or set "
                "'truncation' to the highest order to keep"
            )
        self.truncation_error_ = base.residual(self.kernel_, self.truncated_kernel_, squared_norm)
        self.n_components_ = self._count_components(X)
        self._draw(self.n_components_, random_state, first=2 if self.h01 else 0)
        shape = (X.shape[1], self._levels.n_factors)
        self.omega_ = random_state.randint(0, 2, size=shape, dtype=np.int8)
        self.omega_ += self.omega_ - 1
        # The factors of the constant and the linear columns; 0 for none.
        self._constant, self._linear = 0.0, 0.0
        if self.h01:
            self._constant, self._linear = np.sqrt(self.truncated_kernel_.coefficients(1)).tolist()
        if not self.include_bias:
            self._constant = 0.0
        self._n_exact = (self._constant > 0) + X.shape[1] * (self._linear > 0)
        self._n_features_out = self._n_exact + self.n_components_
        return self

    def _count_components(self, X: Any) -> int:
        accuracy = self.n_components
        if isinstance(accuracy, Mapping):
            if set(accuracy) != {"epsilon", "delta"}:
                raise ValueError(
                    "'n_components' as a dict must have the keys 'epsilon' and 'delta' and no "
                    f"others, got {accuracy!r}"
                )
            accuracy = UniformAccuracy(**accuracy)
        if not isinstance(accuracy, UniformAccuracy):
            return int(accuracy)
        needed = maclaurin_n_components(
            self.truncated_kernel_,
            accuracy,
            radius=float(abs(X).sum(axis=1).max()),
            n_features=X.shape[1],
            p=self.p,
        )
        if needed > _MOST_COMPONENTS:
            raise ValueError(
                f"'n_components' = {accuracy!r} asks for {needed} features by theorem 3.10, at "
                f"most {_MOST_COMPONENTS} can be had: raise epsilon, scale the data down or give "
                "an int"
            )
        return needed

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        levels, n_exact = self._levels, self._n_exact
        scratch = levels.scratch(n_rows, dtype)
        signs = (self.omega_ * levels.factor_scales).astype(dtype, copy=False)
        projections = [np.ascontiguousarray(signs[:, columns]) for columns in levels.slices]

        def write(X: Any, out: np.ndarray) -> None:
            def write_factors(level: int, factors: np.ndarray) -> None:
                if isinstance(X, np.ndarray):
                    np.matmul(X, projections[level], out=factors)
                else:
                    factors[...] = X @ projections[level]

            if self._constant:
                out[:, 0] = self._constant
            if self._linear:
                linear = out[:, n_exact - X.shape[1] : n_exact]
                np.multiply(blocks.to_dense(X), self._linear, out=linear)
            levels.write(write_factors, out[:, n_exact:], scratch)

        return write
