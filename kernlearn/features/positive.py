"""Positive random features of the exponential kernel."""

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from kernlearn.constraints import COUNT, StrOptions, fit_context
from kernlearn.features import blocks
from kernlearn.kernels import BaseDotProductKernel, ExponentialKernel


@dataclass(eq=False, repr=False)
class PositiveFeatures(blocks.BaseFeatureMap):
    r"""Positive random features whose inner products estimate the exponential kernel.

    When to use it: estimates of :math:`\exp(\langle x, y \rangle / \sigma^2)` that must not be
    negative, such as weights of a mean; relative errors stay small where the kernel is small.

    For points :math:`x / \sigma`, in the following x, each of D features draws a direction
    :math:`\omega` of d independent normal entries and is

    .. math:: D^{-1/2} (1 - 4A)^{d/4} \exp(A \|\omega\|^2 + \sqrt{1 - 4A} \langle \omega, x \rangle
              - \|x\|^2 / 2),

    whose inner products have the mean :math:`\exp(\langle x, y \rangle)` for every A < 1/4. A = 0
    are the positive features of [1]_ (FAVOR+). A negative A damps long directions: the features
    are bounded, and their variance is smaller (optimal positive random features, [2]_, FAVOR++).

    Parameters
    ----------
    kernel : ExponentialKernel or "exponential", default="exponential"
        The kernel. A clone of it is fitted to the training points, which gives it its width
        unless that is a number.
    n_components : int, default=100
        Number D of random features.
    damping : {"scalar", "dense", "none"}, default="scalar"
        The A of the features.

        - "none": 0, as in [1]_.
        - "scalar": the A for which the logarithm of the second moment of a product of features,
          averaged over all pairs of training points, is smallest [2]_. It depends on d and the
          mean of :math:`\|x + y\|^2`.
        - "dense": one A for each principal axis of the vectors x + y, by the same rule in one
          dimension each (the symmetric dense-exponential features of [3]_). It needs a matrix of
          n_features × n_features numbers.
    directions : {"orthogonal", "independent"}, default="orthogonal"
        Whether directions are orthogonal in blocks of d, with independent lengths of the same
        distribution [1]_: still unbiased, with a smaller variance.
    antithetic : bool, default=False
        Whether each direction is followed by its opposite, the hyperbolic features of [1]_ (lemma
        1): still unbiased, half as many random directions.
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    n_jobs : int, default=None
        Number of threads of `transform`: None is 1 unless in a :class:`joblib.parallel_config`
        context, -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random directions.

    Attributes
    ----------
    kernel_ : ExponentialKernel
        The fitted kernel.
    damping_ : ndarray of shape (1,) or (n_features,)
        The A used: one for all axes, or that of each axis.
    axes_ : ndarray of shape (n_features, n_features)
        The principal axes as columns, with ``damping="dense"`` only.
    random_weights_ : ndarray of shape (n_features, n_components)
        What points are multiplied by: directions times :math:`\sqrt{1 - 4A} / \sigma`.
    random_offset_ : ndarray of shape (n_components,)
        What is added in the exponent, except for :math:`-\|x\|^2 / 2`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    RandomMaclaurin : All dot-product kernels, by features of either sign.

    Notes
    -----
    Exponents are summed before they are taken, so that nothing overflows between. Features that
    are too small for their type are its smallest normal number, and stay positive; those that are
    too large are about its largest, with a warning: there the kernel itself may be infinite.

    References
    ----------
    .. [1] Choromanski et al., "Rethinking attention with Performers", ICLR 2021, section 2.
    .. [2] Likhosherstov et al., "Chefs' random tables: non-trigonometric random features",
       NeurIPS 2022.
    .. [3] Likhosherstov et al., "FAVOR#: sharp attention kernel approximations via new classes of
       positive random features", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.features import PositiveFeatures
    >>> from kernlearn.kernels import ExponentialKernel
    >>> X = np.array([[0.6, 0.8], [1.0, 0.0]])
    >>> kernel = ExponentialKernel(sigma=1.0)
    >>> Z = PositiveFeatures(kernel, n_components=20000, random_state=0).fit_transform(X)
    >>> bool((Z > 0).all() and np.allclose(Z @ Z.T, kernel(X), rtol=0.03))
    True
    """

    kernel: str | BaseDotProductKernel = "exponential"
    n_components: int = 100
    _: KW_ONLY
    damping: Literal["scalar", "dense", "none"] = "scalar"
    directions: Literal["orthogonal", "independent"] = "orthogonal"
    antithetic: bool = False
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **blocks.BaseFeatureMap._parameter_constraints,
        "n_components": [COUNT],
        "damping": [StrOptions({"scalar", "dense", "none"})],
        "directions": [StrOptions({"orthogonal", "independent"})],
        "antithetic": ["boolean"],
        "n_jobs": [None, Integral],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the kernel and the damping, and draw the directions.

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
            If a parameter is not valid or the kernel is not an exponential one.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        kernel = self._dot_product_kernel()
        if not isinstance(kernel, ExponentialKernel):
            raise ValueError(
                f"'kernel' must be an ExponentialKernel, got {kernel!r}: RandomMaclaurin has "
                "features of other dot-product kernels"
            )
        self.kernel_ = clone(kernel).fit(X)
        self._width = float(self.kernel_.sigma_)
        n_features = X.shape[1]
        self._fit_damping(X)
        omega = self._draw_directions(n_features, random_state)
        shrunk = 1 - 4 * self.damping_[:, np.newaxis]
        projections = np.sqrt(shrunk) * omega / self._width
        if self.damping == "dense":
            projections = self.axes_ @ projections
        self.random_weights_ = projections
        log_factor = n_features / 4 * np.log(shrunk).mean() - np.log(self.n_components) / 2
        self.random_offset_ = log_factor + (self.damping_[:, np.newaxis] * omega**2).sum(axis=0)
        self._n_features_out = self.n_components
        return self

    def _fit_damping(self, X: Any) -> None:
        """Set the A of least variance for the pairs of these points."""
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() / self._width
        n_features = X.shape[1]
        if self.damping == "none":
            self.damping_ = np.zeros(1)
        elif self.damping == "scalar":
            squares = row_norms(X, squared=True).mean(dtype=np.float64) / self._width**2
            self.damping_ = best_damping(2 * squares + 2 * mean @ mean, n_features)[np.newaxis]
        else:
            second = np.asarray(blocks.to_dense(X.T @ X), np.float64) / X.shape[0]
            second = 2 * second / self._width**2 + 2 * np.outer(mean, mean)
            moments, self.axes_ = np.linalg.eigh(second)
            self.damping_ = best_damping(np.maximum(moments, 0), 1)

    def _draw_directions(self, n_features: int, random_state: np.random.RandomState) -> np.ndarray:
        """Return the directions as columns."""
        n_drawn = -(-self.n_components // 2) if self.antithetic else self.n_components
        omega = random_state.normal(size=(n_features, n_drawn))
        if self.directions == "orthogonal":
            for first in range(0, n_drawn, n_features):
                block = omega[:, first : first + n_features]
                # With these signs the basis has no preferred directions; its lengths are new.
                basis, triangle = np.linalg.qr(block)
                lengths = np.linalg.norm(
                    random_state.normal(size=(n_features, block.shape[1])), axis=0
                )
                block[...] = basis * np.where(triangle.diagonal() < 0, -lengths, lengths)
        if self.antithetic:
            omega = np.stack([omega, -omega], axis=-1).reshape(n_features, -1)
        return omega[:, : self.n_components]

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        weights = self.random_weights_.astype(dtype, copy=False)
        offset = self.random_offset_.astype(dtype, copy=False)
        limits = np.finfo(dtype)
        # a little below the largest number, or the rounded exponent could give infinity
        lowest, highest = np.log(limits.tiny), np.log(limits.max) - 0.01

        def write(X: Any, out: np.ndarray) -> None:
            blocks.multiply(X, weights, out)
            out += offset
            out -= (row_norms(X, squared=True) / (2 * self._width**2))[:, np.newaxis]
            largest = out.max()
            if largest > highest:
                warnings.warn(
                    f"a feature of a point is exp({largest:.6g}), more than the largest {dtype}, "
                    "which it is set to: scale the data down, or give the kernel a larger 'sigma'",
                    stacklevel=2,
                )
            np.clip(out, dtype.type(lowest), dtype.type(highest), out=out)
            np.exp(out, out=out)
            # the rounded exponent may be a little less than that of the smallest number
            np.maximum(out, limits.tiny, out=out)

        return write


def best_damping(second_moment: Any, n_features: int) -> np.ndarray:
    r"""Return the A < 1/8 that minimises the mean logarithm of the second moment of an estimate.

    With :math:`\rho = 1 / (1 - 8A)` it is, up to what does not depend on A, :math:`d \log (1 +
    \rho) - \frac{d}{2} \log \rho + \rho \psi`, with a minimum where :math:`2 \psi \rho^2 + (d +
    2 \psi) \rho = d`.

    Parameters
    ----------
    second_moment : float or ndarray
        ψ, the mean of ‖x + y‖² over pairs of points.
    n_features : int
        Dimension d.

    Returns
    -------
    ndarray
        A, at most 0.

    References
    ----------
    Likhosherstov et al., "Chefs' random tables", NeurIPS 2022 (optimal positive random features).
    """
    psi = np.asarray(second_moment, dtype=np.float64)
    b = n_features + 2 * psi
    # 1 / ρ, by the form of the root that does not cancel
    inverse = (b + np.sqrt(b**2 + 8 * n_features * psi)) / (2 * n_features)
    return (1 - inverse) / 8
