"""How well a kernel agrees with labels."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.kernels import as_kernel
from kernlearn.kernels.indefinite import BilinearSimilarity
from kernlearn.pairwise.losses import pair_labels
from kernlearn.pairwise.pair_stream import OnlinePairLearner
from kernlearn.pairwise.projections import as_projection, project_psd, project_trace_norm

# Elements of the Gram matrix that are evaluated at once: 8 MB of float64.
_BLOCK_ELEMENTS = 2**20


def kernel_target_alignment(kernel: Any, X: Any, y: ArrayLike) -> float:
    r"""Return the cosine of the angle between a Gram matrix and the labels' one.

    That is :math:`\langle K, Y \rangle_F / (\|K\|_F \|Y\|_F)`. Y is +1 for two points of a
    class and -1 for others; for two classes it is :math:`y y^\top` with labels ±1.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A kernel, evaluated as it is; one with a width that depends on data must be fitted.
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
    for rows in gen_batches(len(labels), max(1, _BLOCK_ELEMENTS // len(labels))):
        gram = np.asarray(kernel(X[rows], X), dtype=np.float64)
        inner += float(np.vdot(gram, pair_labels(labels[rows, None], labels, "product")))
        squares += float(np.vdot(gram, gram))
    return inner / (float(np.sqrt(squares)) * len(labels)) if squares else 0.0


class OnlineSimilarityLearner(OnlinePairLearner):
    r"""A bilinear similarity from a stream: large for points of a class, small for others.

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
        Whether W is kept positive semi-definite, so that the similarity is a kernel. The thesis
        asks it of a kernel, and not of a good similarity; without it a step is faster, and W is
        not symmetric as a rule.
    buffer_size : int, default=50
        How many points are kept (s).
    buffer : {"fifo", "rs", "rsx", "rsx2"}, Buffer or type of Buffer, default="rsx2"
        Which points are kept.
    eta : float, default=0.1
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of W / (norm of a
        point)². Not used with a regularisation.
    radius : float or None, default=None
        Radius of the ball in which W is kept; None for no bound.
    loss : str, PairwiseLoss or pair of callables, default="hinge"
        The φ: "hinge", "squared_hinge", "logistic", "exponential", "squared", or a function
        and its derivative (see :class:`CallableLoss`).
    norm : {"l2", "l1", "trace_norm"}, default="l2"
        The norm of the ball: Frobenius', the sum of all absolute entries (not with
        ``positive_semidefinite=True``), or the trace norm, which favours a low rank.
    regularization : float, default=0.0
        λ of a strongly convex regulariser λ/2 ‖W‖² in each loss, with which the steps are
        :math:`\eta_t = 1/(\lambda t)` (section 6.4).
    average : bool, default=True
        Whether W is the mean of :math:`W_1, \dots, W_n`, to which the theory applies, or
        :math:`W_n`.
    n_passes : int, default=1
        How often `fit` goes over the data, in the order given. `partial_fit` goes once.
    random_state : int, RandomState instance or None, default=None
        Seed for the buffer.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)
        The matrix W, float64.
    similarity_ : BilinearSimilarity
        The similarity, for wherever a kernel is taken.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_ : int
        Points of the stream so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    kernlearn.landmarks.RegLand : One of the learners that take a similarity.

    Notes
    -----
    The stream starts at W = 0. From one class a similarity is learned that is large for any two
    of its points; `fit` refuses data of one class, `partial_fit` does not.

    A step takes O(s · n_features + n_features²) time, and where there is a loss the
    O(n_features³) of the projection onto positive semi-definite matrices or the trace norm ball.
    Every step is projected: the regret bounds are of such steps.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlinePairLearner._parameter_constraints,
        "objective": [StrOptions({"alignment", "goodness"})],
        "positive_semidefinite": ["boolean"],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
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
        self.buffer_size = buffer_size
        self.buffer = buffer
        self.eta = eta
        self.radius = radius
        self.loss = loss
        self.norm = norm
        self.regularization = regularization
        self.average = average
        self.n_passes = n_passes
        self.random_state = random_state

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the alignment of the similarity with labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        float
            In [-1, 1], the more the better: see :func:`kernel_target_alignment`.

        Raises
        ------
        ValueError
            If X has another number of features, holds NaN or infinity, or does not match y.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, dtype=np.float64, reset=False)
        return kernel_target_alignment(self.similarity_, X, y)

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
                return project_psd(w, radius)
            return project_trace_norm(w, radius, positive_semidefinite=True)
        return as_projection(self.norm)(w, radius)

    def _gradient(
        self,
        w: NDArray[np.float64],
        block: NDArray[np.float64],
        i: int,
        others: NDArray[np.intp],
        signs: NDArray[np.float64],
    ) -> NDArray[np.float64] | None:
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
