"""Tensor sketches: count sketches of tensor powers, for dot-product kernels of finite order."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.fft import rfft

from kernlearn.features.base import BaseFeatureMap, WriteFeatures, real_signs
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.kernels.base import to_dense
from kernlearn.validation import Random

# Columns up to which a product with dense spectra takes less time than a transform.
_FEW_COLUMNS = 32


@dataclass(eq=False, repr=False)
class TensorSketch(BaseFeatureMap):
    r"""Sketches of tensor powers, whose inner products estimate a dot-product kernel.

    When to use it: a linear model on features of a polynomial kernel, with a smaller error than
    `RandomMaclaurin` for as many features, in more time.

    A count sketch C adds the d entries of a point, each with a random sign s(j), into D cells,
    each into the random cell h(j), so that :math:`E \langle Cx, Cy \rangle = \langle x, y
    \rangle`. The circular convolution of n independent ones is a count sketch of
    :math:`x \otimes \dots \otimes x`, and :math:`\langle x, y \rangle^n` is the mean of inner
    products of these [1]_. The convolution is a product of Fourier transforms
    :math:`F_1(x), \dots, F_n(x)`, and since the Fourier transform keeps inner products, the
    features are its real and imaginary parts: there is no transform back.

    The features of a kernel with terms of several orders are :math:`\sum_n \sqrt{a_n} F_1 \cdots
    F_n`, a sketch of the sum of all orders. Products of terms of different orders have a mean of
    zero, since the signs of the factors that only one of them has are independent. This is not in
    [1]_, which adds a column :math:`\sqrt{r}` to the points to make :math:`(\langle x, y \rangle +
    r)^p` homogeneous.

    Parameters
    ----------
    kernel : dot-product kernel or str, default="polynomial"
        A kernel of `kernlearn.kernels`, or the name of one with default parameters. A clone of it
        is fitted to the training points.
    n_components : int, default=100
        Number D of cells, and of features.
    truncation : int, default=None
        Highest order of the series to keep, needed if there are infinitely many; None keeps all.
        The features then estimate the truncated kernel.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random cells and signs.

    Attributes
    ----------
    kernel_ : dot-product kernel
        The fitted kernel.
    truncated_kernel_ : dot-product kernel
        The kernel that the features estimate.
    truncation_error_ : float
        Bound on the absolute difference between the two for points whose norm is at most the
        largest of the training points.
    hashes_ : ndarray of shape (n_factors, n_features)
        The cell h(j) of each column for each factor. There is a factor for each order up to the
        highest.
    signs_ : ndarray of shape (n_factors, n_features), int8
        The signs s(j).
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    RandomMaclaurin : Products of random projections: less time, a larger error.
    sklearn.kernel_approximation.PolynomialCountSketch : The algorithm of [1]_, transformed back.

    Notes
    -----
    The variance of an inner product of homogeneous features of order n is at most
    :math:`(2 + 3^n) \|x\|^{2n} \|y\|^{2n} / D` [2]_.

    The features are, for D cells, the real part at frequency 0, real and imaginary parts at
    frequencies 1, 2, ..., and for even D the real part at frequency D / 2; the former and the
    latter are times :math:`\sqrt{1 / D}`, all others :math:`\sqrt{2 / D}`.

    References
    ----------
    .. [1] Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 4.
    .. [2] Avron, Nguyen and Woodruff, "Subspace embeddings for the polynomial kernel", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.features import TensorSketch
    >>> from kernlearn.kernels import PolynomialKernel
    >>> X = np.array([[0.6, 0.8], [1.0, 0.0]])
    >>> kernel = PolynomialKernel(degree=3)
    >>> Z = TensorSketch(kernel, n_components=20000, random_state=0).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, kernel(X), rtol=0.05))
    True
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    n_components: int = 100
    _: KW_ONLY
    truncation: int | None = None
    random_state: int | np.random.RandomState | None = None

    # Sketches of a block of rows, their transforms and the products of these stay in cache.
    _block_bytes = 2**20

    def _draw(self, X: Any, random_state: Random) -> int:
        self._fit_series(X, self.truncation)
        n_factors = self.truncated_kernel_.degree_max
        if n_factors is None:
            raise ValueError(
                f"{self.kernel_!r} has terms of all orders, a sketch finitely many: set "
                "'truncation' to the highest order to keep"
            )
        shape = (n_factors, X.shape[1])
        self.hashes_ = random_state.randint(self.n_components, size=shape)
        self.signs_ = real_signs(shape, random_state)
        return self.n_components

    def _writer(self, X: Any) -> WriteFeatures:
        n_columns, D, dtype = self.n_features_in_, self._n_features_out, X.dtype
        few = n_columns <= _FEW_COLUMNS and not sparse.issparse(X)
        transforms = [
            _transform(signs, hashes, D, few)
            for signs, hashes in zip(self.signs_.astype(dtype), self.hashes_, strict=True)
        ]
        weights = np.sqrt(self.truncated_kernel_.coefficients(len(transforms))).astype(dtype)

        def write(X: Any, out: NDArray[np.floating]) -> None:
            shape = (len(out), D // 2 + 1)
            products = np.full(shape, weights[-1], np.result_type(dtype, np.complex64))
            for transform, weight in zip(reversed(transforms), weights[-2::-1], strict=True):
                products *= transform(X)
                products += weight
            numbers = products.view(dtype)
            out[:, 0] = numbers[:, 0] * np.sqrt(1 / D)
            np.multiply(numbers[:, 2 : D + 1], dtype.type(np.sqrt(2 / D)), out=out[:, 1:])
            if D % 2 == 0:
                out[:, -1] *= np.sqrt(1 / 2)

        return write


def _transform(signs: Any, hashes: Any, D: int, few: bool) -> Callable[[Any], NDArray[Any]]:
    """Return the function of rows that gives the Fourier transforms of their count sketches.

    A sketch is a product with a matrix of one sign for each column. Of `few` columns its transform
    is a product with the transforms of that matrix' rows.
    """
    n_columns = len(signs)
    matrix = sparse.csr_array((signs, hashes, np.arange(n_columns + 1)), shape=(n_columns, D))
    if few:
        spectra = rfft(matrix.toarray(), axis=1)
        return lambda X: (X @ spectra.view(signs.dtype)).view(spectra.dtype)
    return lambda X: rfft(to_dense(X @ matrix), axis=1, overwrite_x=True)
