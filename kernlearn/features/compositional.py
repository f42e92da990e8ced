"""Random Maclaurin features for dot-product kernels of other kernels."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, WHOLE, StrOptions, fit_context
from kernlearn.features import base, blocks
from kernlearn.features.orders import truncate
from kernlearn.features.random_maclaurin import RandomMaclaurin
from kernlearn.features.signs import real_signs
from kernlearn.kernels import BaseDotProductKernel


@dataclass(eq=False, repr=False)
class CompositionalMaclaurin(base.BaseMaclaurinFeatures):
    r"""Random features for :math:`f(K(x, y))`: a dot-product kernel f of another kernel K.

    When to use it: a polynomial of a kernel that has random features of its own.

    Each of D features draws an order N and is
    :math:`\sqrt{a_N / (D \, P[N])} \prod_{j \le N} W_j(x)`, where the :math:`W_j` are
    independent scalar maps with :math:`E[W(x) W(y)] = K(x, y)`, so that
    :math:`E \langle Z(x), Z(y) \rangle = \sum_n a_n K(x, y)^n`. This is algorithm 2 of [1]_.
    The scalar maps are derived from a transformer.

    Parameters
    ----------
    kernel : dot-product kernel or str, default="polynomial"
        The outer kernel f: one of `kernlearn.kernels`, or the name of one with default
        parameters. If one of its parameters depends on data (``sigma="mean_distance"``), a clone
        is fitted to the features of the training points by `inner`.
    inner : transformer, "scaled" or None, default="scaled"
        Transformer whose output A satisfies :math:`E \langle A(x), A(y) \rangle = K(x, y)` for
        the inner kernel K; "scaled" is ``RBFSampler(gamma="scale")``, None ``RBFSampler()`` with a
        gamma of 1, which suits few features of a small range only. Clones of it are fitted, with a
        ``random_state`` drawn from that of this estimator.
    n_components : int, default=500
        Number D of features.
    columns : {"auto", "iid", "dependent"}, default="auto"
        How scalar maps are derived from the columns of A.

        - "iid": the columns are independent copies of each other, up to their order, as for
          ``RBFSampler`` and `RandomMaclaurin` without `h01`. A single inner map with one column
          per factor gives all scalar maps, in random order and times the root of their number.
          It needs the parameter ``n_components``.
        - "dependent": the columns may be dependent. A scalar map is
          :math:`W(x) = \langle r, A(x) \rangle` with random signs r. An A without a
          ``random_state`` parameter is deterministic and fitted once (with the identity this is
          algorithm 1); otherwise see `maps_per_level`.
        - "auto": "iid" for the two transformers above, otherwise "dependent", which is always
          valid.
    maps_per_level : int, default=None
        With "dependent" columns and a random inner map, the number of independent clones of it
        for the k-th factors of all features, for each k. None fits one per factor of each
        feature, as in the algorithm, so that all features are independent. An int is faster and
        still unbiased, as the factors of a feature remain independent, but the error does not
        fall below that of as many inner maps, however large D is.
    p : float, default=2.0
        Base of the measure of orders, see `RandomMaclaurin`.
    measure : {"geometric", "support"}, default="geometric"
        Measure of orders, see `RandomMaclaurin`.
    truncation : None, int or collection of int, default=None
        Orders of the outer series to keep: all, those up to an int, or those listed.
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of all randomness.

    Attributes
    ----------
    kernel_ : dot-product kernel
        The fitted outer kernel.
    truncated_kernel_ : dot-product kernel
        The part of it that the features estimate.
    inner_maps_ : list of transformers
        The fitted inner maps: one with "iid" columns or a deterministic map, else
        `maps_per_level` for each level or one for each factor.
    columns_ : {"iid", "dependent"}
        The value used for `columns`.
    degrees_ : ndarray of shape (n_components,)
        Order of each feature, sorted by the number of factors in descending order.
    log_weights_ : ndarray of shape (n_components,)
        Logarithm of each feature's weight :math:`\sqrt{a_N / (D \, P[N])}`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    RandomMaclaurin : Dot-product kernels.

    Notes
    -----
    If the outer kernel's series converges only on a bounded interval, the values of K must be
    inside it. This is not checked, since K is available only through its features.

    References
    ----------
    .. [1] Kar (2013), section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from kernlearn.features import CompositionalMaclaurin
    >>> from kernlearn.kernels import PolynomialKernel
    >>> X = np.array([[0.6, 0.8], [1.0, 0.0]])
    >>> features = CompositionalMaclaurin(
    ...     PolynomialKernel(degree=2), RBFSampler(gamma=0.5), n_components=20000, random_state=0
    ... )
    >>> Z = features.fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, (1 + rbf_kernel(X, gamma=0.5)) ** 2, rtol=0.05))
    True
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    inner: BaseEstimator | str | None = "scaled"
    n_components: int = 500
    _: KW_ONLY
    columns: Literal["auto", "iid", "dependent"] = "auto"
    maps_per_level: int | None = None
    p: float = 2.0
    measure: Literal["geometric", "support"] = "geometric"
    truncation: int | Iterable[int] | None = None
    block_rows: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **base.BaseMaclaurinFeatures._parameter_constraints,
        "inner": [HasMethods(["fit", "transform", "get_params"]), StrOptions({"scaled"}), None],
        "n_components": [COUNT],
        "columns": [StrOptions({"auto", "iid", "dependent"})],
        "maps_per_level": [COUNT, None],
        "truncation": [None, WHOLE, "array-like"],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Draw the features and fit the inner maps.

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
            If a parameter is not valid, or `inner` does not provide the columns needed.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        inner: Any = self.inner
        if inner is None or isinstance(inner, str):
            inner = RBFSampler() if inner is None else RBFSampler(gamma="scale")
        self.kernel_ = clone(self._dot_product_kernel())
        if self.kernel_.data_dependent:
            self.kernel_.fit(_features(_fresh(inner, random_state).fit(X), X))
        self.truncated_kernel_ = truncate(self.kernel_, self.truncation, squared_norm=np.nan)
        self._draw(self.truncated_kernel_, self.n_components, random_state)
        self.columns_ = self.columns
        if self.columns == "auto":
            iid = type(inner) is RBFSampler or (type(inner) is RandomMaclaurin and not inner.h01)
            self.columns_ = "iid" if iid else "dependent"
        if self.columns_ == "iid":
            self._fit_iid(inner, X, random_state)
        else:
            self._fit_dependent(inner, X, random_state)
        # With many inner maps a block is larger, or most of the time is spent on calling them.
        self._block_bytes = 2**20 if len(self.inner_maps_) == 1 else 2**24
        self._n_features_out = self.n_components
        return self

    def composed_kernel(self, X: Any) -> np.ndarray:
        """Return the values f(K(x, y)) that the features estimate, for all pairs of points.

        K has to be known: the Gaussian kernel of ``RBFSampler``, the kernel of `RandomMaclaurin`,
        or the inner product of the columns of a deterministic inner map. With `truncation`, f is
        the outer kernel before it is truncated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_samples)

        Raises
        ------
        ValueError
            If K is not known.
        """
        check_is_fitted(self)
        X, inner = self._check_data(X), self.inner_maps_[0]
        if type(inner) is RBFSampler:
            gram = rbf_kernel(X, gamma=inner._gamma)
        elif type(inner) is RandomMaclaurin:
            gram = inner.truncated_kernel_(X)
        elif not _seeds(inner):
            columns = _features(inner, X)
            gram = columns @ columns.T
        else:
            raise ValueError(f"the kernel that {inner!r} estimates is not known")
        return self.kernel_.function(gram)

    def _fit_iid(self, inner: BaseEstimator, X: Any, random_state: np.random.RandomState) -> None:
        """Fit one inner map with a column for each factor."""
        if "n_components" not in inner.get_params() or not _seeds(inner):
            raise ValueError(
                "columns='iid' needs an 'inner' with the parameters 'n_components' and "
                f"'random_state', {inner!r} lacks them: take columns='dependent'"
            )
        n_factors = self._levels.n_factors
        fresh = _fresh(inner, random_state).set_params(n_components=max(n_factors, 1))
        self.inner_maps_ = [fresh.fit(X)]
        n_columns = _features(fresh, X[:1]).shape[1]
        if n_columns != max(n_factors, 1):
            raise ValueError(
                f"columns='iid' needs an 'inner' with one column per component, {fresh!r} gives "
                f"{n_columns}: take columns='dependent'"
            )
        # RandomMaclaurin sorts its columns; shuffled, they are i.i.d. again.
        self._shuffled = random_state.permutation(n_factors)

    def _fit_dependent(
        self, inner: BaseEstimator, X: Any, random_state: np.random.RandomState
    ) -> None:
        """Fit the inner maps, assign the factors to them and draw the signs."""
        counts = [columns.stop - columns.start for columns in self._levels.slices]
        if _seeds(inner):
            parts = [_cut(count, self.maps_per_level or count) for count in counts]
            n_maps = max(sum(map(len, parts)), 1)
        else:
            parts, n_maps = [_cut(count, 1) for count in counts], 1
        self._parts = parts
        self.inner_maps_ = [_fresh(inner, random_state).fit(X) for _ in range(n_maps)]
        n_columns = _features(self.inner_maps_[0], X[:1]).shape[1]
        shape = (n_columns, self._levels.n_factors)
        self._signs = real_signs(shape, random_state)

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        levels = self._levels
        scratch = levels.scratch(n_rows, dtype)
        scales = levels.factor_scales
        if self.columns_ == "iid":
            scales = (np.sqrt(max(levels.n_factors, 1)) * scales).astype(dtype, copy=False)
        else:
            signs = (self._signs * scales).astype(dtype, copy=False)
            first_map = np.cumsum([0, *map(len, self._parts)])

        def write(X: Any, out: np.ndarray) -> None:
            only = len(self.inner_maps_) == 1
            shared: Any = _features(self.inner_maps_[0], X) if only else None

            def write_factors(level: int, factors: np.ndarray) -> None:
                columns = levels.slices[level]
                if self.columns_ == "iid":
                    np.multiply(shared[:, self._shuffled[columns]], scales[columns], out=factors)
                    return
                for i, part in enumerate(self._parts[level], first_map[level]):
                    inner = _features(self.inner_maps_[i], X) if shared is None else shared
                    factors[:, part] = inner @ signs[:, columns][:, part]

            levels.write(write_factors, out, scratch)

        return write


def _seeds(inner: BaseEstimator) -> list[str]:
    """Return the names of all random_state parameters, including nested ones."""
    return sorted(
        name for name in inner.get_params() if name.rpartition("__")[2] == "random_state"
    )


def _fresh(inner: BaseEstimator, random_state: np.random.RandomState) -> BaseEstimator:
    """Return a clone with new seeds."""
    largest = np.iinfo(np.int32).max
    seeds = {name: random_state.randint(largest) for name in _seeds(inner)}
    return clone(inner).set_params(**seeds)


def _features(inner: BaseEstimator, X: Any) -> np.ndarray:
    return np.asarray(blocks.to_dense(inner.transform(X)))


def _cut(count: int, n_parts: int) -> list[slice]:
    """Split columns into non-empty parts of about the same size."""
    ends = np.linspace(0, count, min(n_parts, count) + 1).astype(int).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]
