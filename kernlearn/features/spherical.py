"""Spherical random features: random Fourier features of dot-product kernels on the unit sphere."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, StrOptions, fit_context
from kernlearn.features import blocks
from kernlearn.features.spectrum import fit_spectrum
from kernlearn.kernels import BaseDotProductKernel

# Largest difference of a norm from 1.
_TOLERANCE = 1e-4


@dataclass(eq=False, repr=False)
class SphericalFeatures(blocks.BaseFeatureMap):
    r"""Random Fourier features of a dot-product kernel, for points of unit length.

    When to use it: a linear model on features of a polynomial kernel of a high degree, where
    only directions of points matter and a small bias does no harm.

    On the unit sphere :math:`f(\langle x, y \rangle)` is a function of the distance z, as
    :math:`\langle x, y \rangle = 1 - z^2 / 2`. It need not be positive definite for all points of
    the space, and then no random Fourier features have it as their mean: a spectrum is fitted to
    it at distances from 0 to 2, and the features estimate the function :math:`\hat K` of that
    spectrum without bias. How far this is from the kernel is `approximation_error_`: small for
    kernels that fall off fast, such as powers of a high degree, and large for low degrees and for
    kernels that are not close to 0 at the opposite point. This is algorithm 1 of [1]_.

    Parameters
    ----------
    kernel : dot-product kernel or str, default="polynomial"
        A kernel of `kernlearn.kernels` that is finite for inner products from -1 to 1, or the
        name of one with default parameters. A clone of it is fitted to the training points,
        normalised if `normalize`.
    n_components : int, default=100
        Number D of random features.
    normalize : bool, default=True
        Whether points are divided by their norms. False refuses points whose norm differs from 1
        by more than 1e-4. A point of norm 0 stays where it is, at distance 1 from all others.
    spectrum : {"gaussians", "radii"}, default="gaussians"
        The form of the fitted spectrum.

        - "gaussians": that of [1]_, a sum of Gaussians with weights of either sign, set to 0 where
          it is negative and normalised, so that the kernel of a point and itself is exact; the
          squared error is minimised by L-BFGS.
        - "radii": any measure of the lengths of frequency vectors, by least squares with
          coefficients that are not negative. The squared error is the least that random
          Fourier features can have, up to the grid of lengths.
    n_gaussians : int, default=10
        Number N of Gaussians, for "gaussians".
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    n_jobs : int, default=None
        Number of threads of `transform`: None is 1 unless in a :class:`joblib.parallel_config`
        context, -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random frequency vectors and phases.

    Attributes
    ----------
    kernel_ : dot-product kernel
        The fitted kernel.
    spectrum_ : Spectrum
        The fitted measure of the lengths of frequency vectors.
    approximation_error_ : float
        Largest absolute difference between the kernel and the mean of inner products of features,
        over 257 distances from 0 to 2.
    random_weights_ : ndarray of shape (n_features, n_components)
        The random frequency vectors w.
    random_offset_ : ndarray of shape (n_components,)
        The random phases b; the features are :math:`\sqrt{2 \hat K(0) / D} \cos(\langle w, x
        \rangle + b)`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    TensorSketch : Polynomial kernels without bias, for points of any length.
    RandomMaclaurin : All dot-product kernels without bias.

    Notes
    -----
    `approximation_error_` over the kernel's largest value f(1), for 54 features: 0.000001 for
    ``ExponentialKernel(0.7)``, 0.009 for :math:`(1 - z^2 / 16)^{10}`, 0.04 for
    ``PolynomialKernel(3)``, 0.08 for ``PolynomialKernel(2)``, and 1 for ``LinearKernel()``, which
    such features cannot estimate. It tends to grow with the number of features, as fewer functions
    of the distance are positive definite in more dimensions.

    References
    ----------
    .. [1] Pennington, Yu and Kumar, "Spherical random features for polynomial kernels", NIPS 2015,
       section 3.2, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.features import SphericalFeatures
    >>> from kernlearn.kernels import DotProductKernel, PolynomialKernel
    >>> X = np.array([[0.6, 0.8], [1.0, 0.0]])
    >>> coefficients = PolynomialKernel(degree=10, coef0=3.0).coefficients(10)
    >>> kernel = DotProductKernel(4.0**-10 * coefficients)
    >>> features = SphericalFeatures(kernel, n_components=20000, random_state=0).fit(X)
    >>> features.approximation_error_ < 0.05
    True
    >>> Z = features.transform(X)
    >>> bool(np.allclose(Z @ Z.T, features.approximation([[1.0, 0.6], [0.6, 1.0]]), atol=0.03))
    True
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    n_components: int = 100
    _: KW_ONLY
    normalize: bool = True
    spectrum: Literal["gaussians", "radii"] = "gaussians"
    n_gaussians: int = 10
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **blocks.BaseFeatureMap._parameter_constraints,
        "n_components": [COUNT],
        "normalize": ["boolean"],
        "spectrum": [StrOptions({"gaussians", "radii"})],
        "n_gaussians": [COUNT],
        "n_jobs": [None, Integral],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the kernel and the spectrum, and draw the frequency vectors and phases.

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
            If a parameter is not valid, the kernel is not finite for all inner products from -1 to
            1, or a point is not of unit length and `normalize` is False.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        kernel = clone(self._dot_product_kernel())
        self.kernel_ = kernel.fit(normalize(X) if self.normalize and kernel.data_dependent else X)
        largest = self._largest_value()
        n_features = X.shape[1]
        self.spectrum_ = fit_spectrum(
            self._of_distance,
            n_features,
            float(kernel.derivative(1.0)) / largest if largest else 0.0,
            n_gaussians=self.n_gaussians if self.spectrum == "gaussians" else None,
        )
        self.approximation_error_ = self.spectrum_.error(self._of_distance)
        self._scale = np.sqrt(2 * self.spectrum_.masses.sum() / self.n_components)
        self.random_weights_ = np.zeros((n_features, self.n_components))
        if largest:
            self.random_weights_ = self.spectrum_.sample(self.n_components, random_state)
        self.random_offset_ = random_state.uniform(0, 2 * np.pi, self.n_components)
        self._n_features_out = self.n_components
        return self

    def approximation(self, inner_products: Any) -> np.ndarray:
        """Return the values that inner products of features estimate without bias.

        Parameters
        ----------
        inner_products : array-like
            Inner products of points of unit length, from -1 to 1.

        Returns
        -------
        ndarray of the same shape
        """
        check_is_fitted(self)
        t = np.asarray(inner_products, dtype=np.float64)
        if t.size and (not np.isfinite(t).all() or np.abs(t).max() > 1 + _TOLERANCE):
            raise ValueError(
                "'inner_products' must be those of points of unit length, from -1 to 1, got "
                f"{t.min():.6g} to {t.max():.6g}"
            )
        return self.spectrum_.function(np.sqrt(np.maximum(2 - 2 * t, 0))).reshape(t.shape)

    def composed_kernel(self, X: Any) -> np.ndarray:
        """Return the exact kernel of all pairs of points, normalised if `normalize`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
        """
        X = self._check_data(X)
        return self.kernel_(normalize(X) if self.normalize else X)

    def _largest_value(self) -> float:
        """Return f(1), after a check that f is finite from -1 to 1."""
        finite = self.kernel_.radius > 1
        if finite:
            with np.errstate(over="ignore"):
                finite = bool(np.isfinite(self.kernel_.function([-1.0, 1.0])).all())
        if not finite:
            raise ValueError(
                f"{self.kernel_!r} is not finite for all inner products from -1 to 1, those of "
                "points of unit length: take a kernel with a larger radius of convergence"
            )
        return float(self.kernel_.function(1.0))

    def _of_distance(self, distances: np.ndarray) -> np.ndarray:
        """Return the kernel of points of unit length at these distances."""
        return self.kernel_.function(1 - np.square(distances) / 2)

    def _check_data(self, X: Any, *, fitting: bool = False) -> Any:
        X = super()._check_data(X, fitting=fitting)
        if not self.normalize:
            norms = row_norms(X)
            worst = int(np.abs(norms - 1).argmax())
            if abs(norms[worst] - 1) > _TOLERANCE:
                raise ValueError(
                    f"row {worst} of X has norm {norms[worst]:.6g}, and spherical features are "
                    "for points of norm 1: divide each row by its norm, or set normalize=True"
                )
        return X

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        weights = self.random_weights_.astype(dtype, copy=False)
        offset = self.random_offset_.astype(dtype, copy=False)
        scale = dtype.type(self._scale)

        def write(X: Any, out: np.ndarray) -> None:
            if self.normalize:
                X = normalize(X)
            blocks.multiply(X, weights, out)
            out += offset
            np.cos(out, out=out)
            out *= scale

        return write
