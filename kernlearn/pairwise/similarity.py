"""Online learning of a bilinear similarity, and the alignment of kernels with labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.kernels import BilinearSimilarity, as_kernel
from kernlearn.memory import row_blocks
from kernlearn.pairwise import projections
from kernlearn.pairwise.losses import pair_labels
from kernlearn.pairwise.pair_stream import OnlinePairLearner

# Size of the blocks of the Gram matrix.
_BLOCK_BYTES = 2**23


def kernel_target_alignment(kernel: Any, X: Any, y: ArrayLike) -> float:
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
        If X and y do not match or the kernel does not take the points.

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
    inner = squares = 0.0
    for rows in row_blocks(len(labels), len(labels), block_bytes=_BLOCK_BYTES):
        gram = np.asarray(kernel(X[rows], X), dtype=np.float64)
        inner += float(np.vdot(gram, pair_labels(labels[rows, None], labels, "product")))
        squares += float(np.vdot(gram, gram))
    return inner / (float(np.sqrt(squares)) * len(labels)) if squares else 0.0


class AlignmentScoreMixin:
    """Score of learners of a kernel, which they keep in the attribute `_kernel_attribute`."""

    _kernel_attribute: ClassVar[str]

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the alignment of the learned kernel with labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        X, y = validate_data(self, X, y, dtype=np.float64, reset=False)
        return kernel_target_alignment(getattr(self, self._kernel_attribute), X, y)


class OnlineSimilarityLearner(AlignmentScoreMixin, OnlinePairLearner):
    r"""A bilinear similarity from a stream: large for points of one class, small for others.

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
    regularization : float, default=0.0
        λ of a strongly convex regulariser λ/2 ‖W‖² in each loss, with which the steps are
        :math:`\eta_t = 1/(\lambda t)` (section 6.4).
    average : bool, default=True
        Whether W is the mean of :math:`W_1, \dots, W_n`, to which the theory applies, or
        :math:`W_n`.
    buffer_size, buffer, loss, n_passes, random_state
        As in :class:`OLP`.

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

    _kernel_attribute = "similarity_"
    _parameter_constraints: dict[str, list[Any]] = {
        **OnlinePairLearner._parameter_constraints,
        "objective": [StrOptions({"alignment", "goodness"})],
        "positive_semidefinite": ["boolean"],
        "norm": [StrOptions({"l1", "l2", "trace_norm"})],
    }

    def __init__(
        self,
        objective: str = "alignment",
        *,
        positive_semidefinite: bool = True,
        buffer_size: int = 50,
        buffer: Any = "rsx2",
        eta: float = 0.1,
        radius: float | None = None,
        loss: Any = "hinge",
        norm: str = "l2",
        regularization: float = 0.0,
        average: bool = True,
        n_passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.positive_semidefinite = positive_semidefinite
        super().__init__(
            buffer_size, buffer, eta, radius, loss, norm, regularization, average, n_passes,
            random_state,
        )  # fmt: skip

    def _start(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        return np.zeros((X.shape[1], X.shape[1]))

    def _project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        radius = np.inf if self.radius is None else float(self.radius)
        if self.positive_semidefinite:
            if self.norm == "l1":
                raise ValueError(
                    "norm='l1' needs positive_semidefinite=False: a step could not be projected "
                    "onto both sets"
                )
            if self.norm == "l2":
                return projections.project_psd(w, radius)
            return projections.project_trace_norm(w, radius, positive_semidefinite=True)
        if self.norm == "l1":
            return projections.project_l1(w, radius)
        if self.norm == "l2":
            return projections.project_l2(w, radius)
        return projections.project_trace_norm(w, radius)

    def _gradient(
        self, w: NDArray[Any], block: Any, i: int, others: NDArray[Any], signs: NDArray[Any]
    ) -> NDArray[Any] | None:
        x, kept = block[i], block[others]
        margins = signs * (kept @ (x @ w))
        if self.objective == "goodness":
            margins = margins.mean(keepdims=True)
        slopes = signs * self._loss.derivative(margins) / len(others)
        if not slopes.any():
            return None
        return np.outer(x, slopes @ kept)

    def _publish(self, w: NDArray[np.float64]) -> None:
        self.matrix_ = (w + w.T) / 2 if self.positive_semidefinite else w
        self.similarity_ = BilinearSimilarity(self.matrix_)
