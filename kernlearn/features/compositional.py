"""Random Maclaurin features for dot-product kernels of other kernels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from kernlearn.features.base import BaseFeatureMap, Products, WriteFeatures, real_signs
from kernlearn.features.maclaurin import RandomMaclaurin, draw_orders
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.kernels.base import to_dense
from kernlearn.validation import HasMethods, Random, StrOptions


@dataclass(eq=False, repr=False)
class CompositionalMaclaurin(BaseFeatureMap):
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
          ``RBFSampler`` and plain `RandomMaclaurin` (RF). A single inner map with one column
          per factor gives all scalar maps, in random order and times the root of their number.
          It needs the parameter ``n_components``.
        - "dependent": the columns may be dependent. A scalar map is
          :math:`W(x) = \langle r, A(x) \rangle` with random signs r, of a clone of its own for
          each factor of each feature. An A without a ``random_state`` parameter is deterministic
          and fitted once (with the identity this is algorithm 1).
        - "auto": "iid" for the two transformers above, otherwise "dependent", which is always
          valid.
    p : float, default=2.0
        Base of the measure of orders, see `RandomMaclaurin`.
    measure : {"geometric", "support"}, default="geometric"
        Measure of orders, see `RandomMaclaurin`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of all randomness.

    Attributes
    ----------
    kernel_ : dot-product kernel
        The fitted outer kernel.
    inner_maps_ : list of transformers
        The fitted inner maps: one with "iid" columns or a deterministic map, else one for each
        factor.
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
    p: float = 2.0
    measure: Literal["geometric", "support"] = "geometric"
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **BaseFeatureMap._parameter_constraints,
        "inner": [HasMethods(["fit", "transform", "get_params"]), StrOptions({"scaled"}), None],
        "columns": [StrOptions({"auto", "iid", "dependent"})],
        "measure": [StrOptions({"geometric", "support"})],
    }

    def _draw(self, X: Any, random_state: Random) -> int:
        inner: Any = self.inner
        if inner is None or isinstance(inner, str):
            inner = RBFSampler() if inner is None else RBFSampler(gamma="scale")
        self.kernel_ = self._new_kernel()
        if self.kernel_.data_dependent:
            self.kernel_.fit(_features(_fresh(inner, random_state).fit(X), X))
        drawn = draw_orders(
            self.kernel_, self.n_components, random_state, p=self.p, measure=self.measure
        )
        self._products = Products(*drawn)
        self.degrees_, self.log_weights_ = self._products.degrees, self._products.log_weights
        likely = "iid" if _has_iid_columns(inner) else "dependent"
        self.columns_ = likely if self.columns == "auto" else self.columns
        fit_maps = self._fit_iid if self.columns_ == "iid" else self._fit_dependent
        fit_maps(inner, X, random_state)
        # With many inner maps a block is larger, or most of the time is spent on calling them.
        self._block_bytes = 2**20 if len(self.inner_maps_) == 1 else 2**24
        return self.n_components

    def composed_kernel(self, X: Any) -> NDArray[np.floating]:
        """Return the values f(K(x, y)) that the features estimate, for all pairs of points.

        K has to be known: the Gaussian kernel of ``RBFSampler``, the kernel of `RandomMaclaurin`,
        or the inner product of the columns of a deterministic inner map.

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

    def _fit_iid(self, inner: BaseEstimator, X: Any, random_state: Random) -> None:
        """Fit one inner map with a column for each factor."""
        if "n_components" not in inner.get_params() or not _seeds(inner):
            raise ValueError(
                "columns='iid' needs an 'inner' with the parameters 'n_components' and "
                f"'random_state', {inner!r} lacks them: take columns='dependent'"
            )
        n_factors = self._products.n_factors
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

    def _fit_dependent(self, inner: BaseEstimator, X: Any, random_state: Random) -> None:
        """Fit an inner map for each factor, or one if it is deterministic, and draw the signs."""
        n_factors = self._products.n_factors
        n_maps = max(n_factors, 1) if _seeds(inner) else 1
        self.inner_maps_ = [_fresh(inner, random_state).fit(X) for _ in range(n_maps)]
        n_columns = _features(self.inner_maps_[0], X[:1]).shape[1]
        self._signs = real_signs((n_columns, n_factors), random_state)

    def _writer(self, X: Any) -> WriteFeatures:
        n_factors, scales = self._products.n_factors, self._products.factor_scales
        if self.columns_ == "iid":
            scales = (np.sqrt(max(n_factors, 1)) * scales).astype(X.dtype)
        else:
            signs = (self._signs * scales).astype(X.dtype)

        def write(X: Any, out: NDArray[np.floating]) -> None:
            if self.columns_ == "iid":
                factors = _features(self.inner_maps_[0], X)[:, self._shuffled] * scales
            elif len(self.inner_maps_) == 1:
                factors = _features(self.inner_maps_[0], X) @ signs
            else:
                factors = np.empty((len(out), n_factors), out.dtype)
                for i, inner in enumerate(self.inner_maps_):
                    factors[:, i] = _features(inner, X) @ signs[:, i]
            self._products.write(factors, out)

        return write


def _has_iid_columns(inner: Any) -> bool:
    if type(inner) is RandomMaclaurin:
        return not (inner.h01 or inner.complex_to_real or inner.measure == "variance")
    return type(inner) is RBFSampler


def _seeds(inner: BaseEstimator) -> list[str]:
    """Return the names of all random_state parameters, including nested ones."""
    return sorted(
        name for name in inner.get_params() if name.rpartition("__")[2] == "random_state"
    )


def _fresh(inner: BaseEstimator, random_state: Random) -> BaseEstimator:
    """Return a clone with new seeds."""
    largest = np.iinfo(np.int32).max
    seeds = {name: random_state.randint(largest) for name in _seeds(inner)}
    return clone(inner).set_params(**seeds)


def _features(inner: BaseEstimator, X: Any) -> NDArray[np.floating]:
    return np.asarray(to_dense(inner.transform(X)))
