"""Metrics, similarities and sums of kernels learned online from pairs, and classifiers on them.

The learners take the steps of algorithm 8 of Kar (2013) with the hinge loss φ. The label of a pair
is +1 for two points of one class and -1 for others (sections 6.6.3 and 6.6.4).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from kernlearn import validation
from kernlearn.kernels import BilinearSimilarity, WeightedKernelSum, as_kernel
from kernlearn.kernels.base import compared, to_dense
from kernlearn.linear.losses import LOSSES
from kernlearn.pairwise.learners import STREAM_PARAMETERS, Buffer
from kernlearn.validation import Floats

# Points of the stream that are prepared together.
_BLOCK_ROWS = 256
# Iterations of LIBSVM, which would not end with kernels of large values.
_MAX_ITER = 10_000_000

_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_slopes = LOSSES["hinge"].derivative


@dataclass(eq=False, repr=False)
class OnlinePairLearner(BaseEstimator, ABC):
    r"""Base of learners of a function of two points, linear in weights kept in a convex set.

    .. math::

        w_t = \Pi\Bigl[w_{t-1} - \frac{\eta}{\sqrt t\,|B|} \sum_{z \in B}
              \nabla_w\, \ell(w_{t-1}, z_t, z)\Bigr]

    A subclass defines the set, by `_project`, the gradient and the fitted attributes, which are
    those of the mean of the iterates.
    """

    _parameter_constraints: ClassVar = STREAM_PARAMETERS

    _: KW_ONLY
    eta: float = 0.1
    radius: float | None = None
    buffer_size: int = 50
    buffer: str = "rsx2"
    random_state: Any = None

    def _start(self, X: Floats, y: NDArray[Any]) -> Floats:
        """Prepare for the first points and return the initial weights, not yet projected."""
        return np.zeros((X.shape[1], X.shape[1]))

    def _project(self, w: Floats) -> Floats:
        """Return the nearest allowed weights, by default positive semi-definite matrices."""
        return project_psd(w, self.radius)

    @abstractmethod
    def _gradient(self, block: Any, i: int, others: NDArray[Any], signs: Floats) -> Floats | None:
        """Return the gradient of the mean loss of a point's pairs; None where it is 0.

        `block` is the result of `_block`; point i of it is incoming, and paired with the points
        `others` of the buffer, with pair labels `signs` -1 and 1.
        """

    @abstractmethod
    def _publish(self, w: Floats) -> None:
        """Set the fitted attributes."""

    def _block(self, points: Floats, n_old: int) -> Any:
        """Prepare the points of the buffer, the first `n_old`, and the incoming ones."""
        return points

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from scratch, from points in the given order.

        Nothing is shuffled: rows sorted by class make a stream from which little is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks of up to 256 rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of at least two classes.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, y does not consist of labels or is of one class, X contains
            NaN or infinity, or the weights grow beyond all bounds.
        """
        X, y = validation.validate_labelled(self, X, y, dtype=np.float64)
        validation.at_least_two(y)
        return self._begin(X, y)._feed(X, y)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Continue with the next points of the stream, one or more.

        Up to rounding, the result does not depend on how a stream is divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks of up to 256 rows.
        y : array-like of shape (n_samples,)
            Their labels. They may be of one class, and of classes not seen before.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid. If y does not consist of labels of the kind seen before. If
            X has another number of features than before, or contains NaN or infinity. All of these
            leave the estimator unchanged. If the weights grow beyond all bounds.
        """
        first = not hasattr(self, "classes_")
        X, y = validation.validate_labelled(self, X, y, dtype=np.float64, reset=first)
        if first:
            self._begin(X, y)
        elif (y.dtype.kind in "biuf") != (self.classes_.dtype.kind in "biuf"):
            raise ValueError(
                f"y must contain labels of the kind seen before ({self.classes_.dtype}), got "
                f"{y.dtype}"
            )
        return self._feed(X, y)

    def _begin(self, X: Any, y: NDArray[Any]) -> Self:
        self._w = self._project(self._start(X, y))
        self._total = np.zeros_like(self._w)
        self._buffer = Buffer(self.buffer, self.buffer_size, check_random_state(self.random_state))
        # the points in the buffer and their labels, by slot
        self._rows, self._labels = np.zeros((0, X.shape[1])), y[:0]
        self.classes_ = np.unique(y)
        self.n_samples_seen_ = 0
        return self

    def _feed(self, X: Any, y: NDArray[Any]) -> Self:
        self.classes_ = np.union1d(self.classes_, y)
        for part in gen_batches(X.shape[0], _BLOCK_ROWS):
            with np.errstate(over="ignore", invalid="ignore"):
                self._learn(to_dense(X[part]), y[part])
        self._publish(self._total / self.n_samples_seen_)
        return self

    def _learn(self, X: Floats, y: NDArray[Any]) -> None:
        """Take a step for each of some points, and move the buffer."""
        n_old = len(self._rows)
        points, labels = np.concatenate([self._rows, X]), np.concatenate([self._labels, y])
        block, moves = self._block(points, n_old), self._buffer.moves(len(X))
        # the position in the block of the point in each slot; points move at the end only
        places = np.arange(self.buffer_size)
        for i in range(n_old, len(points)):
            others = places[: self.n_samples_seen_]
            self.n_samples_seen_ += 1
            if len(others):
                signs = np.where(labels[others] == labels[i], 1.0, -1.0)
                gradient = self._gradient(block, i, others, signs)
                if gradient is not None:
                    self._step(self.eta / np.sqrt(self.n_samples_seen_) * gradient)
            self._total += self._w
            moves.carry_out(i - n_old, places, i)
        kept = places[: self.n_samples_seen_]
        self._rows, self._labels = points[kept], labels[kept]

    def _step(self, change: Floats) -> None:
        w = self._w - change
        if not np.isfinite(w).all():
            raise ValueError(
                f"the weights grew beyond all bounds at point {self.n_samples_seen_}: scale the "
                "features, or take smaller steps or a smaller radius"
            )
        self._w = self._project(w)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required, tags.input_tags.sparse = True, True
        return tags


@dataclass(eq=False, repr=False)
class OnlineMetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnlinePairLearner):
    r"""A Mahalanobis metric from a stream: points of one class close, others apart.

    When to use it: distances that should see only what tells classes apart, from a stream.

    The squared distance :math:`d_M^2(x, x') = (x - x')^\top M (x - x')` of a positive
    semi-definite M is learned with the loss of [1]_

    .. math:: \ell(M, z, z') = \varphi\bigl(y y' (1 - d_M^2(x, x'))\bigr)

    of pairs of a point with those in a buffer; :math:`y y'` is +1 for points of one class and -1
    for others. `transform` maps points such that their Euclidean distance is the learned one.

    Parameters
    ----------
    eta : float, default=0.1
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of M / distance²: see
        the notes.
    radius : float or None, default=None
        Radius of the ball of the Frobenius norm that contains M; None for no bound.
    buffer_size, buffer, random_state
        As in :class:`OLP`.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        The matrix M, float64.
    components_ : ndarray of shape (n_features, n_features)
        :math:`L^\top` of :math:`M = L L^\top`, rows by descending eigenvalue; the largest entry
        of a row is positive.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    Notes
    -----
    The loss as printed has :math:`M_W^2` where :math:`M_W` is already the quadratic form. Squared
    once more it would be neither linear in W, as the analysis below it needs, nor convex for
    points of two classes; the quadratic form itself is meant, as in Jin et al. (2009).

    The initial M is 0, and grows only by pairs of two classes: for one class M stays 0, and all
    points are mapped to 0. `fit` refuses data of one class, `partial_fit` does not.

    A step takes O(s · n_features²) time, and O(n_features³) if a pair has a loss, as M is then
    projected. Every step is projected, as the regret bounds assume. A gradient is as large as a
    squared distance. So features must be scaled, and `eta` has to decrease with the square of
    their number: for standardised features, 30 / n_features² is a reasonable start.

    References
    ----------
    .. [1] Kar (2013), section 6.6.3 and algorithm 8, after R. Jin, S. Wang, Y. Zhou (2009),
       "Regularized distance metric learning: theory and algorithm".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import OnlineMetricLearner
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(-1, 1, size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> model = OnlineMetricLearner(random_state=0).fit(X, y)
    >>> bool(model.metric_[0, 0] > 5 * model.metric_[1, 1])
    True
    """

    eta: float = 0.1

    def transform(self, X: Any) -> NDArray[Any]:
        r"""Map points such that their Euclidean distance is the learned one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            :math:`X L`, float32 if X is, else float64.

        Raises
        ------
        ValueError
            If X has another number of features or contains NaN or infinity.
        """
        check_is_fitted(self)
        X = validation.validate_data(self, X, reset=False, **validation.POINTS)
        mapped = np.asarray(X @ self.components_.T.astype(X.dtype, copy=False))
        validation.check_features(mapped)
        return mapped

    def _gradient(self, block: Any, i: int, others: NDArray[Any], signs: Floats) -> Floats | None:
        differences = block[i] - block[others]
        distances = np.einsum("ij,ij->i", differences @ self._w, differences)
        slopes = -signs * _slopes(signs * (1 - distances)) / len(others)
        active = slopes != 0
        differences = differences[active]
        return (differences.T * slopes[active]) @ differences if active.any() else None

    def _publish(self, w: Floats) -> None:
        self.metric_ = (w + w.T) / 2
        values, vectors = eigh(self.metric_)
        components = (vectors * np.sqrt(np.maximum(values, 0))).T[::-1]
        largest = np.abs(components).argmax(axis=1)
        signs = np.where(components[np.arange(len(w)), largest] < 0, -1.0, 1.0)
        self.components_ = components * signs[:, np.newaxis]
        self._n_features_out = len(w)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(eq=False, repr=False)
class OnlineSimilarityLearner(OnlinePairLearner):
    r"""A bilinear similarity from a stream: large for points of one class, small for others.

    When to use it: a bilinear kernel or similarity for given classes, from a stream.

    The similarity :math:`K_W(x, x') = x^\top W x'` is learned from pairs of a point with those in
    a buffer B. With :math:`y y'` of +1 for points of one class and -1 for others, the loss is one
    of two of [1]_:

    - kernel-target alignment, of each pair, :math:`\varphi\bigl(y y' K_W(x, x')\bigr)`;
    - S-goodness, of a point and the mean over the buffer,
      :math:`\varphi\bigl(\frac{1}{|B|} \sum_{(x', y') \in B} y y' K_W(x, x')\bigr)`.

    Parameters
    ----------
    objective : {"alignment", "goodness"}, default="alignment"
        The loss: kernel-target alignment or S-goodness.
    eta : float, default=0.1
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of W / (norm of a
        point)².
    radius : float or None, default=None
        Radius of the ball of the Frobenius norm that contains W; None for no bound.
    buffer_size, buffer, random_state
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
    W is positive semi-definite, so that the similarity is a kernel. The thesis requires this of a
    kernel, but not of a good similarity.

    The initial W is 0. From one class a similarity is learned that is large for any two of its
    points; `fit` refuses data of one class, `partial_fit` does not.

    A step takes O(s · n_features + n_features²) time, and if there is a loss the O(n_features³)
    of the projection onto positive semi-definite matrices. Every step is projected, as the regret
    bounds assume.

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
    >>> model = BBSClassifier(20, similarity=learner.similarity_, random_state=0)
    >>> model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9
    True
    """

    objective: str = "alignment"

    _parameter_constraints = {
        **OnlinePairLearner._parameter_constraints,
        "objective": [validation.StrOptions({"alignment", "goodness"})],
    }

    def _gradient(self, block: Any, i: int, others: NDArray[Any], signs: Floats) -> Floats | None:
        x, partners = block[i], block[others]
        margins = signs * (partners @ (x @ self._w))
        if self.objective == "goodness":
            margins = margins.mean(keepdims=True)
        slopes = signs * _slopes(margins) / len(others)
        return np.outer(x, slopes @ partners) if slopes.any() else None

    def _publish(self, w: Floats) -> None:
        self.matrix_ = (w + w.T) / 2
        self.similarity_ = BilinearSimilarity(self.matrix_)


@dataclass(eq=False, repr=False)
class OnlineMKL(OnlinePairLearner):
    r"""Two-stage multiple kernel learning: the weights of kernels from a stream.

    When to use it: choosing among several kernels, from a stream.

    The kernel :math:`K_\mu(x, x') = \sum_i \mu_i K_i(x, x') = \langle\mu, z(x, x')\rangle` with
    :math:`z(x, x') = (K_1(x, x'), \dots, K_p(x, x'))`, the "K-space" of [1]_ after [2]_, is
    learned with the loss :math:`\varphi\bigl(y y' K_\mu(x, x')\bigr)` of pairs of a point with
    those in a buffer. There :math:`y y'` is +1 for points of one class and -1 for others. This is
    the first stage; the second is any learner that accepts `kernel_`.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, \
            default=("linear", "cosine", "gaussian", "laplacian")
        The kernels K_i: names, objects, or functions of two matrices. They are cloned; a width
        that depends on data is estimated on the X passed to `fit`, or to the first call of
        `partial_fit`. Kernels with large values have large gradients: see the notes.
        :class:`~kernlearn.kernels.NormalizedKernel` makes weights comparable.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of μ / K².
    radius : float, default=1.0
        The sum of the weights on the simplex, the largest norm in the ball.
    norm : {"simplex", "l2"}, default="simplex"
        The set of weights: the simplex, which makes them sparse, or the non-negative part of the
        ℓ₂ ball.
    buffer_size, buffer, random_state
        As in :class:`OLP`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        The weights μ, non-negative.
    kernel_ : WeightedKernelSum
        The kernel K_μ, accepted wherever a kernel is; its widths are fixed.
    kernels_ : list of Kernel
        The kernels K_i, fitted.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    Notes
    -----
    The thesis has the sphere :math:`\|\mu\|_2 = 1`, which is not convex; steps are projected
    onto the ball. On the simplex the stream starts at equal weights, in the ball at 0.

    With a radius of 1 and kernels of values in [-1, 1], no pair has a margin above 1, and the
    hinge is linear. The best point of the simplex is then the one kernel with the largest mean
    :math:`y y' K_i(x, x')`. With a larger radius mixtures are best.

    Up to rounding, the result does not depend on how the stream is divided into calls if no
    kernel depends on data or the first call is the same.

    Gradients are as large as the values of the kernels. With large values and an `eta` that is not
    small, each step ends in a corner of the simplex, and the average counts how often in which.
    From one class the kernels of largest values are preferred; `fit` refuses data of one class,
    `partial_fit` does not.

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
    eta: float = 1.0
    radius: float = 1.0
    norm: str = "simplex"

    _parameter_constraints = {
        **OnlinePairLearner._parameter_constraints,
        "kernels": [list, tuple],
        "radius": [validation.POSITIVE],
        "norm": [validation.StrOptions({"l2", "simplex"})],
    }

    def _start(self, X: Floats, y: NDArray[Any]) -> Floats:
        if not self.kernels:
            raise ValueError("'kernels' must contain at least one kernel, got none")
        self.kernels_ = [as_kernel(spec, "kernels").fitted_to(X, y) for spec in self.kernels]
        return np.zeros(len(self.kernels_))

    def _project(self, w: Floats) -> Floats:
        if self.norm == "simplex":
            return project_simplex(w, self.radius)
        # the ball is centred at the apex of the cone: first the cone, then the ball
        return into_ball(np.maximum(w, 0), self.radius)

    def _block(self, points: Floats, n_old: int) -> tuple[Floats, int]:
        """Return kernel values, (n_kernels, n_new, n_points), and the first new position."""
        values = np.empty((len(self.kernels_), len(points) - n_old, len(points)))
        for i, kernel in enumerate(self.kernels_):
            values[i] = compared(kernel, points[n_old:], points)
        return values, n_old

    def _gradient(self, block: Any, i: int, others: NDArray[Any], signs: Floats) -> Floats | None:
        values, n_old = block
        features = values[:, i - n_old, others]
        slopes = signs * _slopes(signs * (self._w @ features)) / len(others)
        return features @ slopes if slopes.any() else None

    def _publish(self, w: Floats) -> None:
        self.weights_ = w
        self.kernel_ = WeightedKernelSum(self.kernels_, self.weights_)


# -- projections ----------------------------------------------------------------------------------


def into_ball(w: Floats, radius: float) -> Floats:
    """Scale down to a 2-norm of at most the radius, without overflow."""
    largest = np.abs(w).max(initial=0.0)
    if largest == 0:
        return w
    unit = w / largest
    norm = np.sqrt(np.vdot(unit, unit))
    return w if largest <= radius / norm else unit * (radius / norm)


def project_simplex(w: Floats, radius: float) -> Floats:
    """Project onto the non-negative vectors with the radius as sum (Duchi et al. 2008)."""
    # relative to the largest entry: with a large common part, sums would lose a small radius
    below = w - w.max()
    descending = np.sort(below)[::-1]
    thresholds = (np.cumsum(descending) - radius) / np.arange(1, len(w) + 1)
    last = np.flatnonzero(descending > thresholds)[-1]
    return np.maximum(below - thresholds[last], 0)


def project_psd(w: Floats, radius: float | None) -> Floats:
    """Project onto the positive semi-definite matrices in a ball of the Frobenius norm.

    A matrix and its symmetric part have the same projection. None is no bound.
    """
    values, vectors = eigh((w + w.T) / 2, driver="evd", check_finite=False)
    values = np.maximum(values, 0)
    if radius is not None:
        values = into_ball(values, radius)
    positive = values > 0
    factor = vectors[:, positive] * np.sqrt(values[positive])
    return np.asarray(factor @ factor.T)


# -- classifiers on what was learned --------------------------------------------------------------


@dataclass(eq=False, repr=False)
class TwoStageClassifier(validation.TakesSparse, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers: a learner from pairs, then a classifier on what it learned."""

    _parameter_constraints: ClassVar = validation.PARAMETERS

    _: KW_ONLY
    eta: float = 0.1
    radius: float | None = None
    buffer_size: int = 50
    random_state: Any = None

    #: The learner of the first stage, which takes the parameters that both have.
    _learner: ClassVar[type[OnlinePairLearner]]

    @abstractmethod
    def _classifier(self) -> Any:
        """Return the classifier of the second stage, on what `learner_` has learned."""

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from the points as a stream, then fit the classifier on all of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points, in the order of the stream; it should be random.
        y : array-like of shape (n_samples,)
            Their labels, of two classes or more.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter is not valid, or there is only one class.
        """
        # copied: the classifier keeps it
        X, y = validation.validate_data(self, X, y, **_ROWS, copy=True)
        params = self.get_params(deep=False)
        shared = params.keys() & self._learner._get_param_names()
        self.learner_: Any = self._learner(**{name: params[name] for name in shared}).fit(X, y)
        self.classifier_ = self._classifier().fit(self._mapped(X), y)
        self.classes_ = self.classifier_.classes_
        return self

    @property
    def n_support_(self) -> int:
        """Number of support vectors, if the second stage has them."""
        return int(self.classifier_.n_support_.sum())

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        points = self._points(X)  # refused before `fit`
        return self.classifier_.predict(points)

    def _points(self, X: Any) -> Any:
        """Return validated points as the classifier takes them."""
        check_is_fitted(self)
        X = validation.validate_data(self, X, **_ROWS, reset=False)
        return self._mapped(X)

    def _mapped(self, X: Any) -> Any:
        return X


@dataclass(eq=False, repr=False)
class MetricKNNClassifier(TwoStageClassifier):
    """Nearest neighbours by a metric that is learned online.

    When to use it: nearest neighbours where many features say nothing.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours; all training points if there are fewer.
    eta, radius, buffer_size, random_state
        As for :class:`OnlineMetricLearner`.

    Attributes
    ----------
    learner_ : OnlineMetricLearner
        The first stage.
    classifier_ : KNeighborsClassifier
        The second stage, on the points that the first maps.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Kar (2013), section 6.6.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from kernlearn.pairwise import MetricKNNClassifier
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(-1, 1, size=(400, 10))
    >>> y = X[:, 0] > 0
    >>> model = MetricKNNClassifier(random_state=0).fit(X[:300], y[:300])
    >>> plain = KNeighborsClassifier().fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > plain.score(X[300:], y[300:])
    True
    """

    n_neighbors: int = 5

    _parameter_constraints = {**validation.PARAMETERS, "n_neighbors": [validation.COUNT]}

    _learner = OnlineMetricLearner

    def _classifier(self) -> KNeighborsClassifier:
        return KNeighborsClassifier(min(self.n_neighbors, self.learner_.n_samples_seen_))

    def _mapped(self, X: Any) -> NDArray[Any]:
        return self.learner_.transform(X)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the share of the neighbours of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        points = self._points(X)  # refused before `fit`
        return self.classifier_.predict_proba(points)


@dataclass(eq=False, repr=False)
class SimilaritySVM(TwoStageClassifier):
    """Support vector machine with a bilinear kernel that is learned online.

    When to use it: an SVM where the inner product should be learned from the classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the training errors against the norm of the weights.
    objective : {"alignment", "goodness"}, default="alignment"
        The loss of the first stage.
    eta, radius, buffer_size, random_state
        As for :class:`OnlineSimilarityLearner`, whose matrix is kept positive semi-definite.

    Attributes
    ----------
    learner_ : OnlineSimilarityLearner
        The first stage.
    classifier_ : SVC
        The second stage.
    classes_ : ndarray of shape (n_classes,)
    n_support_ : int
        Number of support vectors.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Kar (2013), section 6.6.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.pairwise import SimilaritySVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SimilaritySVM(eta=0.01, random_state=0).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    """

    C: float = 1.0
    _: KW_ONLY
    objective: str = "alignment"

    _parameter_constraints = OnlineSimilarityLearner._parameter_constraints

    _learner = OnlineSimilarityLearner

    def _classifier(self) -> SVC:
        return SVC(C=self.C, kernel=self.learner_.similarity_, max_iter=_MAX_ITER)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the decision values of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Those of ``SVC``: positive for ``classes_[1]``, if there are two classes.
        """
        points = self._points(X)  # refused before `fit`
        return self.classifier_.decision_function(points)


@dataclass(eq=False, repr=False)
class MultipleKernelSVM(TwoStageClassifier):
    """Support vector machine with a sum of kernels whose weights are learned online.

    When to use it: an SVM where it is open which kernel suits.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, \
            default=("linear", "cosine", "gaussian", "laplacian")
        The kernels, as for :class:`OnlineMKL`.
    C : float, default=1.0
        Weight of the training errors against the norm of the weights.
    eta, radius, buffer_size, random_state
        As for :class:`OnlineMKL`.

    Attributes
    ----------
    learner_ : OnlineMKL
        The first stage.
    classifier_ : SVC
        The second stage.
    classes_ : ndarray of shape (n_classes,)
    n_support_ : int
        Number of support vectors.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Kar (2013), section 6.6.4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.pairwise import MultipleKernelSVM
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> model = MultipleKernelSVM(["linear", "gaussian"], C=100, random_state=0)
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    kernels: Sequence[Any] = ("linear", "cosine", "gaussian", "laplacian")
    _: KW_ONLY
    C: float = 1.0
    eta: float = 1.0
    radius: float = 1.0

    _parameter_constraints = OnlineMKL._parameter_constraints

    _learner = OnlineMKL

    def _classifier(self) -> SVC:
        return SVC(C=self.C, kernel=self.learner_.kernel_, max_iter=_MAX_ITER)

    decision_function = SimilaritySVM.decision_function
