"""Classifiers on what is learned online from pairs: a metric, a similarity or a sum of kernels."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.constraints import CLASS_WEIGHT, COUNT, POSITIVE, fit_context
from kernlearn.pairwise.learned_kernels import OnlineMKL, OnlineSimilarityLearner
from kernlearn.pairwise.metric import OnlineMetricLearner

_STREAM = ("buffer_size", "buffer", "eta", "radius", "norm", "n_passes", "random_state")


class TwoStageClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers: a learner from pairs, then a classifier on what it learned."""

    _learner_parameters: tuple[str, ...] = _STREAM

    @abstractmethod
    def _learner(self) -> Any:
        """Return the learner of the first stage."""

    @abstractmethod
    def _classifier(self, n_samples: int) -> Any:
        """Return the classifier of the second stage, when the first is fitted."""

    def _points(self, X: Any) -> Any:
        """Return points as the classifier takes them."""
        return X

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._learner_parameters}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: np.typing.ArrayLike) -> Self:
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
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.learner_ = self._learner().fit(X, y)
        self.classifier_ = self._classifier(X.shape[0]).fit(self._points(X), y)
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        points = self._checked(X)
        return self.classifier_.predict(points)

    def _checked(self, X: Any) -> Any:
        """Validate points, and return them as the classifier takes them."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._points(X)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SecondStageSVM(TwoStageClassifier):
    """Base of the classifiers whose second stage is a support vector machine."""

    C: float
    class_weight: Any

    @property
    def n_support_(self) -> int:
        """Number of support vectors."""
        return int(self.classifier_.n_support_.sum())

    @abstractmethod
    def _kernel(self) -> Any:
        """Return the kernel that the first stage learned."""

    def _classifier(self, n_samples: int) -> SVC:
        return SVC(C=self.C, kernel=self._kernel(), class_weight=self.class_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Those of ``SVC``: positive for ``classes_[1]``, if there are two classes.
        """
        points = self._checked(X)
        return self.classifier_.decision_function(points)


@dataclass(eq=False, repr=False)
class MetricKNNClassifier(TwoStageClassifier):
    """Nearest neighbours by a metric that is learned online.

    When to use it: nearest neighbours where many features say nothing.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours; all training points if there are fewer.
    eta, radius, norm, buffer_size, buffer, n_passes, random_state
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
    _: KW_ONLY
    eta: float = 0.1
    radius: float | None = None
    norm: str = "l2"
    buffer_size: int = 50
    buffer: Any = "rsx2"
    n_passes: int = 1
    random_state: Any = None

    _parameter_constraints = {
        **{name: OnlineMetricLearner._parameter_constraints[name] for name in _STREAM},
        "n_neighbors": [COUNT],
    }

    def _learner(self) -> OnlineMetricLearner:
        return OnlineMetricLearner(**self._given())

    def _classifier(self, n_samples: int) -> KNeighborsClassifier:
        return KNeighborsClassifier(min(self.n_neighbors, n_samples))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the neighbours of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        points = self._checked(X)
        return self.classifier_.predict_proba(points)

    def _points(self, X: Any) -> np.ndarray:
        return self.learner_.transform(X)


@dataclass(eq=False, repr=False)
class SimilaritySVM(SecondStageSVM):
    """Support vector machine with a bilinear kernel that is learned online.

    When to use it: an SVM where the inner product should be learned from the classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses relative to the norm.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class.
    objective : {"alignment", "goodness"}, default="alignment"
        The loss of the first stage.
    eta, radius, norm, buffer_size, buffer, n_passes, random_state
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
    eta: float = 0.1
    radius: float | None = None
    norm: str = "l2"
    buffer_size: int = 50
    buffer: Any = "rsx2"
    n_passes: int = 1
    random_state: Any = None
    class_weight: Any = None

    _learner_parameters = ("objective", *_STREAM)
    _parameter_constraints = {
        **{
            name: OnlineSimilarityLearner._parameter_constraints[name]
            for name in ("objective", *_STREAM)
        },
        "C": [POSITIVE],
        "class_weight": CLASS_WEIGHT,
    }

    def _learner(self) -> OnlineSimilarityLearner:
        return OnlineSimilarityLearner(**self._given())

    def _kernel(self) -> Any:
        return self.learner_.similarity_


@dataclass(eq=False, repr=False)
class MultipleKernelSVM(SecondStageSVM):
    """Support vector machine with a sum of kernels whose weights are learned online.

    When to use it: an SVM where it is open which kernel suits.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, \
            default=("linear", "cosine", "gaussian", "laplacian")
        The kernels, as for :class:`OnlineMKL`.
    C : float, default=1.0
        Weight of the losses relative to the norm.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class.
    normalize, eta, radius, norm, buffer_size, buffer, n_passes, random_state
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
    normalize: bool = False
    eta: float = 1.0
    radius: float = 1.0
    norm: str = "simplex"
    buffer_size: int = 50
    buffer: Any = "rsx2"
    n_passes: int = 1
    random_state: Any = None
    class_weight: Any = None

    _learner_parameters = ("kernels", "normalize", *_STREAM)
    _parameter_constraints = {
        **{
            name: OnlineMKL._parameter_constraints[name]
            for name in ("kernels", "normalize", *_STREAM)
        },
        "C": [POSITIVE],
        "class_weight": CLASS_WEIGHT,
    }

    def _learner(self) -> OnlineMKL:
        return OnlineMKL(**self._given())

    def _kernel(self) -> Any:
        return self.learner_.kernel_
