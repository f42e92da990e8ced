"""Tensor sketches: count sketches of tensor powers, for dot-product kernels of finite order."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy.fft import rfft
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.extmath import row_norms

from kernlearn.constraints import COUNT, WHOLE, Interval, StrOptions, fit_context
from kernlearn.features import blocks
from kernlearn.features.orders import residual, truncate
from kernlearn.features.signs import real_signs
from kernlearn.features.transform_plan import LANES, TransformPlan, prefers_sums
from kernlearn.kernels import (
    BaseDotProductKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)
from kernlearn.memory import block_rows

# Sketches of a block of rows, their transforms and the products of these stay in cache together.
_FFT_BYTES = 2**19


@dataclass(eq=False, repr=False)
class TensorSketch(blocks.BaseFeatureMap):
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

    Parameters
    ----------
    kernel : dot-product kernel or str, default="polynomial"
        A kernel of `kernlearn.kernels`, or the name of one with default parameters. A clone of it
        is fitted to the training points. If it has infinitely many orders, `truncation` must
        leave finitely many.
    n_components : int, default=100
        Number D of cells, and of features. Transforms are fastest for multiples of 8.
    terms : {"nested", "column"}, default="nested"
        What becomes of kernels with terms of several orders.

        - "nested": the features are :math:`\sum_n \sqrt{a_n} F_1 \cdots F_n`, a sketch of the sum
          of all orders: terms of different orders have a mean of zero, since the signs of the
          factors that only one of them has are independent. This is not in [1]_.
        - "column": as in [1]_, a further column :math:`\sqrt{r}` of points makes
          :math:`(\langle x, y \rangle + r)^p` homogeneous. For `PolynomialKernel` and
          `HomogeneousPolynomialKernel` only, without `truncation`.

        Both are unbiased. For points at right angles their variance is about the same, for
        parallel ones that of "nested" is smaller.
    truncation : None, int, float or collection of int, default=None
        Orders of the series to keep: all; those up to an int; the smallest number of first ones
        with a residual of at most a float between 0 and 1; or those listed. The features then
        estimate the truncated kernel.
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    n_jobs : int, default=None
        Number of threads of `transform`: None is 1 unless in a :class:`joblib.parallel_config`
        context, -1 means all cores. The result does not depend on it.
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
    hashes_ : ndarray of shape (n_factors, n_columns)
        The cell h(j) of each column for each factor. There is a factor for each order up to the
        highest; with the further column there is one more column than features.
    signs_ : ndarray of shape (n_factors, n_columns), int8
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
    terms: Literal["nested", "column"] = "nested"
    truncation: int | float | Iterable[int] | None = None
    block_rows: int | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {
        **blocks.BaseFeatureMap._parameter_constraints,
        "n_components": [COUNT],
        "terms": [StrOptions({"nested", "column"})],
        "truncation": [None, WHOLE, Interval(RealNotInt, 0, 1, closed="neither"), "array-like"],
        "n_jobs": [None, Integral],
    }

    _rows_together = LANES

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the kernel and draw the cells and signs.

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
            If a parameter is not valid, the kernel has infinitely many orders after truncation, or
            it has terms that a column cannot stand for.
        """
        X = self._check_data(X, fitting=True)
        random_state = check_random_state(self.random_state)
        self.kernel_ = clone(self._dot_product_kernel()).fit(X)
        squared_norm = float(row_norms(X, squared=True).max())
        self.truncated_kernel_ = truncate(self.kernel_, self.truncation, squared_norm)
        self.truncation_error_ = residual(self.kernel_, self.truncated_kernel_, squared_norm)
        n_factors = self.truncated_kernel_.degree_max
        if n_factors is None:
            raise ValueError(
                f"{self.kernel_!r} has terms of all orders, a sketch finitely many: set "
                "'truncation' to the highest order to keep, or to the error allowed"
            )
        # The value of the further column (0 for none), and the weights of the products.
        self._column = 0.0
        if self.terms == "column":
            self._column = self._root_of_constant()
            self._constants = np.append(np.zeros(n_factors), 1.0)
        else:
            self._constants = np.sqrt(self.truncated_kernel_.coefficients(n_factors))
        shape = (n_factors, X.shape[1] + (self._column > 0))
        self.hashes_ = random_state.randint(self.n_components, size=shape)
        self.signs_ = real_signs(shape, random_state)
        self._n_features_out = self.n_components
        return self

    def _root_of_constant(self) -> float:
        if self.truncation is None and isinstance(self.kernel_, HomogeneousPolynomialKernel):
            return 0.0
        if self.truncation is None and isinstance(self.kernel_, PolynomialKernel):
            return float(np.sqrt(self.kernel_.coef0))
        raise ValueError(
            "terms='column' is for PolynomialKernel and HomogeneousPolynomialKernel without "
            f"'truncation', got {self.kernel_!r} and truncation={self.truncation!r}: take "
            "terms='nested'"
        )

    def _writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        if prefers_sums(self.hashes_, self.n_components):
            return self._sums_writer(n_rows, dtype)
        return self._fft_writer(n_rows, dtype)

    def _sums_writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        """Return a function that writes features from sums of the entries of sketches."""
        from kernlearn.features.count_sketch import multiply_transforms  # loads numba

        plan = TransformPlan(self.hashes_, self.signs_, self.n_components, dtype)
        n_columns = self.hashes_.shape[1]
        # a column of zeros at the end, for what fills up the parts
        points = np.zeros((-(-n_rows // LANES), n_columns + 1, LANES), dtype)
        if self._column:
            points[:, n_columns - 1] = self._column
        constants = self._constants.astype(dtype)
        found = np.empty((self.n_components, LANES), dtype)
        half_root = dtype.type(np.sqrt(0.5))

        def write(X: Any, out: np.ndarray) -> None:
            X = blocks.to_dense(X)
            n_blocks = -(-len(X) // LANES)
            for block in range(n_blocks):
                rows = X[block * LANES : (block + 1) * LANES]
                points[block, : X.shape[1], : len(rows)] = rows.T
            multiply_transforms(
                points[:n_blocks],
                plan.columns,
                plan.ends,
                plan.weights,
                constants,
                half_root,
                plan.places,
                plan.scales,
                found,
                out,
            )

        return write

    def _fft_writer(self, n_rows: int, dtype: np.dtype) -> blocks.WriteFeatures:
        """Return a function that writes features by fast Fourier transforms of the sketches."""
        from kernlearn.features.count_sketch import sketch_dense, sketch_sparse  # loads numba

        D = self.n_components
        size = block_rows(3 * D, itemsize=dtype.itemsize, block_bytes=_FFT_BYTES)
        sketches = np.empty((min(size, n_rows), D), dtype)
        signs = self.signs_.astype(dtype)
        constants = self._constants.astype(dtype)

        def sketch(X: Any, factor: int) -> np.ndarray:
            hashes, sign = self.hashes_[factor], signs[factor]
            found = sketches[: X.shape[0]]
            if isinstance(X, np.ndarray):
                sketch_dense(X, hashes, sign, found)
            else:
                sketch_sparse(X.data, X.indices, X.indptr, hashes, sign, found)
            if self._column:
                found[:, hashes[-1]] += sign[-1] * dtype.type(self._column)
            return rfft(found, axis=1, overwrite_x=True)

        def write(X: Any, out: np.ndarray) -> None:
            if isinstance(X, np.ndarray):
                X = np.ascontiguousarray(X)
            for rows in gen_batches(X.shape[0], size):
                shape = (rows.stop - rows.start, D // 2 + 1)
                products = np.full(shape, constants[-1], np.result_type(dtype, np.complex64))
                for factor in reversed(range(len(signs))):
                    products *= sketch(X[rows], factor)
                    products += constants[factor]
                write_real(products, out[rows])

        return write


def write_real(transforms: np.ndarray, out: np.ndarray) -> None:
    """Write real numbers with the inner products of the signals of these transforms.

    `transforms` of shape (n_rows, D // 2 + 1) is the half of a transform of D real numbers, `out`
    has the shape (n_rows, D).
    """
    D = out.shape[1]
    numbers = transforms.view(out.dtype)
    out[:, 0] = numbers[:, 0] * np.sqrt(1 / D)
    np.multiply(numbers[:, 2 : D + 1], out.dtype.type(np.sqrt(2 / D)), out=out[:, 1:])
    if D % 2 == 0:
        out[:, -1] *= np.sqrt(1 / 2)
