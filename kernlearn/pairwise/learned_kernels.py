"""Online learning of kernels, a bilinear similarity or a sum, and their alignment with labels."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.constraints import POSITIVE, StrOptions
from kernlearn.kernels import BilinearSimilarity, NormalizedKernel, WeightedKernelSum, as_kernel
from kernlearn.memory import row_blocks
from kernlearn.pairwise import projections
from kernlearn.pairwise.buffers import Array, Indices
from kernlearn.pairwise.losses import pair_labels
from kernlearn.pairwise.stream import BLOCK_ROWS, OnlinePairLearner

# Values of kernels in memory at once: 32 MB of float64.
_BLOCK_ELEMENTS = 2**22


def kernel_target_alignment(kernel: Any, X: Any, y: np.typing.ArrayLike) -> float:
    r"""Return the cosine of the angle between the Gram matrices of a kernel and of labels.

    That is :math:`\langle K, Y \rangle_F / (\|K\|_F \|Y\|_F)`. Y is +1 for two points of one
    class and -1 for others; for two classes it is :math:`y y^\top` with labels ±1.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A kernel; one with a width that depends on data must be fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    float
        In [-1, 1]; 0 for a kernel that is 0 everywhere.

    Raises
    ------
    ValueError
        If the kernel returns values that are not finite.

    References
    ----------
    N. Cristianini, J. Shawe-Taylor, A. Elisseeff, J. Kandola (2001), "On kernel-target
    alignment".

    Examples
    --------
    >>> from kernlearn.pairwise import kernel_target_alignment
    >>> kernel_target_alignment("linear", [[1.0], [1.0], [-1.0]], ["a", "a", "b"])
    1.0
    """
    kernel = as_kernel(kernel)
    X = X if hasattr(X, "shape") else np.asarray(X)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    inner = squares = scale = 0.0
    for rows in row_blocks(len(labels), len(labels), block_bytes=2**23):
        gram = np.asarray(kernel(X[rows], X), dtype=np.float64)
        greatest = np.abs(gram).max(initial=0)
        if not np.isfinite(greatest):
            raise ValueError(
                "the kernel returns NaN or infinite values for these points: scale the features"
            )
        # squares of very large or small values are not representable; powers of 2 do not round
        power = 2.0 ** (int(np.frexp(greatest)[1]) - 1)
        if power > scale:
            inner *= scale / power
            squares *= (scale / power) ** 2
            scale = power
        gram = gram / scale
        inner += float(np.vdot(gram, pair_labels(labels[rows, None], labels, "product")))
        squares += float(np.vdot(gram, gram))
    return float(inner / (np.sqrt(squares) * len(labels))) if squares else 0.0


class AlignmentScoreMixin:
    """Score of learners of a kernel, which they keep in the attribute `_kernel_attribute`."""

    _kernel_attribute: ClassVar[str]

    def score(self, X: Any, y: np.typing.ArrayLike) -> float:
        """Return the alignment of the learned kernel with labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        float
            In [-1, 1], higher is better; see :func:`kernel_target_alignment`.

        Raises
        ------
        ValueError
            If X has another number of features, contains NaN or infinity, or does not match y.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=False)
        return kernel_target_alignment(getattr(self, self._kernel_attribute), X, y)


@dataclass(eq=False, repr=False)
class OnlineSimilarityLearner(AlignmentScoreMixin, OnlinePairLearner):
    r"""A bilinear similarity from a stream: large for points of one class, small for others.

    When to use it: a bilinear kernel or similarity for given classes, from a stream.

    The similarity :math:`K_W(x, x') = x^\top W x'` is learned from pairs of a point with those in
    a buffer B, with one of two losses of [1]_; :math:`y y'` is +1 for points of one class and -1
    for others:

    - kernel-target alignment, of each pair, :math:`\varphi\bigl(y y' K_W(x, x')\bigr)`;
    - S-goodness, of a point and the mean over the buffer,
      :math:`\varphi\bigl(\frac{1}{|B|} \sum_{(x', y') \in B} y y' K_W(x, x')\bigr)`.

    Parameters
    ----------
    objective : {"alignment", "goodness"}, default="alignment"
        The loss: kernel-target alignment or S-goodness.
    positive_semidefinite : bool, default=True
        Whether W is positive semi-definite, so that the similarity is a kernel. The thesis
        requires this of a kernel, but not of a good similarity; without it a step is faster, and
        W is generally not symmetric.
    eta : float, default=0.1
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of W / (norm of a
        point)². Not used with regularisation.
    radius : float or None, default=None
        Radius of the ball that contains W; None for no bound.
    norm : {"l2", "l1", "trace_norm"}, default="l2"
        The norm of the ball: Frobenius, the sum of all absolute entries (not with
        ``positive_semidefinite=True``), or the trace norm, which favours a low rank.
    buffer_size, buffer, loss, regularization, average, n_passes, random_state
        As in :class:`OLP`, for the learned weights.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)
        The matrix W, float64.
    similarity_ : BilinearSimilarity
        The similarity, accepted wherever a kernel is.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    See Also
    --------
    kernlearn.landmarks.RegLand : One of the learners that take a similarity.

    Notes
    -----
    The initial W is 0. From one class a similarity is learned that is large for any two of its
    points; `fit` refuses data of one class, `partial_fit` does not.

    A step takes O(s · n_features + n_features²) time, and if there is a loss the O(n_features³)
    of the projection onto positive semi-definite matrices or the trace norm ball. Every step is
    projected, as the regret bounds assume.

    References
    ----------
    .. [1] Kar (2013), section 6.6.3 and algorithm 8.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.landmarks import BBSClassifier
    >>> from kernlearn.pairwise import OnlineSimilarityLearner
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> learner = OnlineSimilarityLearner(eta=0.01, random_state=0).fit(X[:300], y[:300])
    >>> learner.score(X[300:], y[300:]) > 0.5
    True
    >>> model = BBSClassifier(20, similarity=learner.similarity_, random_state=0)
    >>> model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9
    True
    """

    objective: str = "alignment"
    _: KW_ONLY
    positive_semidefinite: bool = True
    buffer_size: int = 50
    buffer: Any = "rsx2"
    eta: float = 0.1
    radius: float | None = None
    loss: Any = "hinge"
    norm: str = "l2"
    regularization: float = 0.0
    average: bool = True
    n_passes: int = 1
    random_state: Any = None

    _kernel_attribute = "similarity_"
    _parameter_constraints = {
        **OnlinePairLearner._parameter_constraints,
        "objective": [StrOptions({"alignment", "goodness"})],
        "positive_semidefinite": ["boolean"],
        "norm": [StrOptions({"l1", "l2", "trace_norm"})],
    }

    def _start(self, X: Array, y: np.ndarray) -> Array:
        return np.zeros((X.shape[1], X.shape[1]))

    def _project(self, w: Array) -> Array:
        psd, radius = self.positive_semidefinite, self._radius
        if self.norm == "trace_norm":
            return projections.project_trace_norm(w, radius, positive_semidefinite=psd)
        if self.norm == "l2":
            return projections.project_psd(w, radius) if psd else projections.project_l2(w, radius)
        if psd:
            raise ValueError(
                "norm='l1' needs positive_semidefinite=False: a step could not be projected "
                "onto both sets"
            )
        return projections.project_l1(w, radius)

    def _gradient(
        self, w: Array, block: Any, i: int, others: Indices, signs: Array
    ) -> Array | None:
        x, kept = block[i], block[others]
        margins = signs * (kept @ (x @ w))
        if self.objective == "goodness":
            margins = margins.mean(keepdims=True)
        slopes = signs * self._loss.derivative(margins) / len(others)
        return np.outer(x, slopes @ kept) if slopes.any() else None

    def _publish(self, w: Array) -> None:
        self.matrix_ = (w + w.T) / 2 if self.positive_semidefinite else w
        self.similarity_ = BilinearSimilarity(self.matrix_)


@dataclass(eq=False, repr=False)
class OnlineMKL(AlignmentScoreMixin, OnlinePairLearner):
    r"""Two-stage multiple kernel learning: the weights of kernels from a stream.

    When to use it: choosing among several kernels, from a stream.

    The kernel :math:`K_\mu(x, x') = \sum_i \mu_i K_i(x, x') = \langle\mu, z(x, x')\rangle` with
    :math:`z(x, x') = (K_1(x, x'), \dots, K_p(x, x'))`, the "K-space" of [1]_ after [2]_, is
    learned with the loss :math:`\varphi\bigl(y y' K_\mu(x, x')\bigr)` of pairs of a point with
    those in a buffer; :math:`y y'` is +1 for points of one class and -1 for others. This is
    the first stage; the second is any learner that accepts `kernel_`.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, \
            default=("linear", "cosine", "gaussian", "laplacian")
        The kernels K_i: names, objects, or functions of two matrices. They are cloned; a width
        that depends on data is estimated on the X passed to `fit`, or to the first call of
        `partial_fit`.
    normalize : bool, default=False
        Whether each kernel is divided by :math:`\sqrt{K_i(x, x) K_i(x', x')}`, which makes
        their weights comparable. Otherwise kernels with large values have large gradients: see
        the notes.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of μ / K². Not used with
        regularisation.
    radius : float, default=1.0
        The sum of the weights on the simplex, the largest norm in the ball.
    norm : {"simplex", "l2"}, default="simplex"
        The set of weights: the simplex, which makes them sparse, or the non-negative part of the
        ℓ₂ ball.
    buffer_size, buffer, loss, regularization, average, n_passes, random_state
        As in :class:`OLP`, for the learned weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        The weights μ, non-negative.
    kernel_ : WeightedKernelSum
        The kernel K_μ, accepted wherever a kernel is; its widths are fixed.
    kernels_ : list of Kernel
        The kernels K_i, fitted, and normalized with `normalize`.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    Notes
    -----
    The thesis has the sphere :math:`\|\mu\|_2 = 1`, which is not convex; steps are projected
    onto the ball. On the simplex the stream starts at equal weights, in the ball at 0.

    With a radius of 1 and kernels of values in [-1, 1], no pair has a margin above 1: the hinge
    is then linear, and the best point of the simplex is the one kernel with the largest mean
    :math:`y y' K_i(x, x')`. With a larger radius mixtures are best.

    Up to rounding, the result does not depend on how the stream is divided into calls if no
    kernel depends on data or the first call is the same.

    Gradients are as large as the values of the kernels: with one of large values and an `eta`
    that is not small, each step ends in a corner of the simplex, and the average counts how often
    in which. From one class the kernels of largest values are preferred; `fit` refuses data of
    one class, `partial_fit` does not.

    The kernels are evaluated at once between up to 256 points of the stream, and these and the
    buffer; a step is one product with a p × s matrix.

    References
    ----------
    .. [1] Kar (2013), section 6.6.4 and algorithm 8.
    .. [2] A. Kumar, A. Niculescu-Mizil, K. Kavukcuoglu, H. Daumé III (2012), "A binary
       classification framework for two-stage multiple kernel learning".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.pairwise import OnlineMKL
    >>> from sklearn.svm import SVC
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.linalg.norm(X, axis=1) > 1.2
    >>> learner = OnlineMKL(["linear", GaussianKernel(1.0)], random_state=0).fit(X, y)
    >>> learner.weights_.round(1)
    array([0., 1.])
    >>> SVC(kernel=learner.kernel_).fit(X, y).score(X, y) > 0.95
    True
    """

    kernels: Sequence[Any] = ("linear", "cosine", "gaussian", "laplacian")
    _: KW_ONLY
    normalize: bool = False
    buffer_size: int = 50
    buffer: Any = "rsx2"
    eta: float = 1.0
    radius: float = 1.0
    loss: Any = "hinge"
    norm: str = "simplex"
    regularization: float = 0.0
    average: bool = True
    n_passes: int = 1
    random_state: Any = None

    _kernel_attribute = "kernel_"
    _parameter_constraints = {
        **OnlinePairLearner._parameter_constraints,
        "kernels": [list, tuple],
        "normalize": ["boolean"],
        "radius": [POSITIVE],
        "norm": [StrOptions({"l2", "simplex"})],
    }

    def _start(self, X: Array, y: np.ndarray) -> Array:
        if not self.kernels:
            raise ValueError("'kernels' must contain at least one kernel, got none")
        kernels = [clone(as_kernel(spec, "kernels")) for spec in self.kernels]
        for kernel in kernels:
            if kernel.data_dependent:
                kernel.fit(X, y)
        self.kernels_: list[Any] = kernels
        if self.normalize:
            self.kernels_ = [NormalizedKernel(kernel) for kernel in kernels]
        return np.zeros(len(kernels))

    def _project(self, w: Array) -> Array:
        if self.norm == "simplex":
            return projections.project_simplex(w, self._radius)
        return projections.project_l2(w, self._radius, nonnegative=True)

    def _block_rows(self) -> int:
        n_values = len(self.kernels_) * (BLOCK_ROWS + self.buffer_size)
        return int(np.clip(_BLOCK_ELEMENTS // n_values, 1, BLOCK_ROWS))

    def _block(self, points: Array, n_old: int) -> tuple[Array, int]:
        """Return kernel values, (n_kernels, n_new, n_points), and the first new position."""
        values = np.empty((len(self.kernels_), len(points) - n_old, len(points)))
        for i, kernel in enumerate(self.kernels_):
            values[i] = kernel(points[n_old:], points)
            if not np.isfinite(values[i]).all():
                raise ValueError(
                    f"'kernels' must return finite numbers, and {kernel!r} gave NaN or infinity"
                )
        return values, n_old

    def _gradient(
        self, w: Array, block: Any, i: int, others: Indices, signs: Array
    ) -> Array | None:
        values, n_old = block
        features = values[:, i - n_old, others]
        slopes = signs * self._loss.derivative(signs * (w @ features)) / len(others)
        return features @ slopes if slopes.any() else None

    def _publish(self, w: Array) -> None:
        self.weights_ = w
        self.kernel_ = WeightedKernelSum(self.kernels_, self.weights_)
