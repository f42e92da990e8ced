"""Embeddings of points by their similarities to landmarks, or to pairs of landmarks."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state

from kernlearn.constraints import COUNT, POSITIVE, fit_context
from kernlearn.kernels import Kernel
from kernlearn.landmarks import base
from kernlearn.landmarks.selection import select_landmarks, select_pairs
from kernlearn.landmarks.similarity import Compared, Floats, KeptSimilarities
from kernlearn.landmarks.transfer import Transfer, TransferLike, as_transfer
from kernlearn.memory import row_blocks

Blocks: TypeAlias = Iterable[tuple[slice, Floats]]

SimilarityLike: TypeAlias = str | Kernel | Callable[[Any, Any], ArrayLike]


class BaseEmbedding(TransformerMixin, base.SimilarityEstimator):
    """Base of the embeddings, which differ in how features are made of similarities."""

    _parameter_constraints = {
        **base.SimilarityEstimator._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [base.SELECTION],
        "normalize": ["boolean"],
        "random_state": ["random_state"],
    }

    selection: str
    normalize: bool
    _needs_classes = False

    @abstractmethod
    def _select(self, y: Any, n_samples: int, similarities: Compared) -> np.ndarray:
        """Choose the landmarks, set ``_n_features_out`` and return their indices."""

    @abstractmethod
    def _write(self, similarities: Floats, out: Floats) -> None:
        """Write the features of similarities, before they are scaled."""

    @abstractmethod
    def _finish(self, features: Floats) -> None:
        """Scale features in place, and apply what comes after."""

    @abstractmethod
    def _feature_names(self) -> list[str]:
        """Return the names of the features."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; of shape (n_samples, n_samples) if `similarity` is "precomputed";
            with a user-defined function, a sequence of whatever it compares.
        y : array-like of shape (n_samples,), default=None
            Classes.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not valid, classes are required but missing, or similarities are
            not finite or not a square matrix.
        """
        _, blocks = self._fit(X, y)
        if self.normalize:
            self.scale_ = max(float(np.abs(block).max()) for _, block in blocks) or 1.0
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Floats:
        """Choose the landmarks and embed the training points, computing similarities once.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        features, largest = self._features(*self._fit(X, y))
        if self.normalize:
            self.scale_ = largest or 1.0
        self._finish(features)
        return features

    def transform(self, X: Any) -> Floats:
        """Embed points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or similarities of shape (n_samples, n_training_points) if `similarity` is
            "precomputed".

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if X is, else float64.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        features, _ = self._features(X, self._landmarks.blocks(X, self._n_features_out))
        self._finish(features)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self)
        return np.array(self._feature_names(), dtype=object)

    def _fit(self, X: Any, y: Any) -> tuple[Any, Blocks]:
        """Return the validated points, and blocks of their similarities to the landmarks."""
        X, y = self._check_training(X, y)
        points = self._all_points(X, y)
        similarities = KeptSimilarities(points, X)
        chosen = self._select(y, X.shape[0], similarities)
        self._landmarks = points.take(chosen)
        self.scale_ = 1.0
        return X, similarities.blocks(chosen, self._n_features_out)

    def _features(self, X: Any, blocks: Blocks) -> tuple[Floats, float]:
        """Return unscaled features and the largest absolute similarity."""
        features = np.empty((X.shape[0], self._n_features_out), dtype=base.float_type(X))
        largest = 0.0
        for rows, similarities in blocks:
            largest = max(largest, float(np.abs(similarities).max()))
            self._write(similarities, features[rows])
        return features, largest

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._needs_classes or self.selection == "stratified"
        return tags


@dataclass(eq=False, repr=False)
class LandmarkEmbedding(BaseEmbedding):
    r"""Embedding by similarities to landmarks, :math:`\Psi(x) = (K(x, l_1), \dots, K(x, l_d))`.

    When to use it: any estimator on similarities to some points.

    The embedding of [1]_; a linear classifier on it is called BBS in [2]_.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of landmarks; all training points, with a warning, if there are fewer.
    similarity : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed". It need
        not be symmetric nor positive: it is used as K(point, landmark).
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d. All named ones are similarities.
    selection : {"random", "stratified", "dselect", "kmeans++", "kmedoids", "leverage", \
            "rpcholesky"}, default="random"
        "random" ignores classes. "stratified" takes landmarks from each class in proportion to
        its size. "dselect" (algorithm 3 of [2]_) takes points unlike each other: from all points
        with two classes or none, else within each class. So do the others, by
        D² sampling, by k-medoids of a sample, by approximate ridge leverage scores, and by
        randomly pivoted Cholesky.
    normalize : bool, default=True
        Whether similarities are divided by the largest absolute one between training points and
        landmarks; section 4.2 of [2]_ takes them to be at most 1.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_landmarks_out,)
        Rows of the landmarks in the training data.
    scale_ : float
        The divisor of similarities; 1 if they are all 0 or not normalised.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, if all are strings.

    See Also
    --------
    PairEmbedding : Differences of similarities to pairs of landmarks.

    References
    ----------
    .. [1] Balcan & Blum (2006), On a theory of learning with similarity functions.
    .. [2] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import LandmarkEmbedding
    >>> X = [[0.0], [1.0], [5.0]]
    >>> embedding = LandmarkEmbedding(2, similarity="manhattan", selection="dselect",
    ...                               random_state=0).fit(X)
    >>> embedding.transform([[0.0], [2.0]])
    array([[-0. , -1. ],
           [-0.4, -0.6]])
    >>> embedding.get_feature_names_out()
    array(['landmark_0', 'landmark_2'], dtype=object)
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: SimilarityLike = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    normalize: bool = True
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: Any = False

    def _select(self, y: Any, n_samples: int, similarities: Compared) -> np.ndarray:
        rng = check_random_state(self.random_state)
        uses_classes = self.selection != "random" and y is not None
        codes = _encode(y)[1] if uses_classes else np.zeros(n_samples, dtype=np.intp)
        self.landmark_indices_ = select_landmarks(
            self.n_landmarks, codes, self.selection, rng, similarities
        )
        self._n_features_out = len(self.landmark_indices_)
        return self.landmark_indices_

    def _write(self, similarities: Floats, out: Floats) -> None:
        out[...] = similarities

    def _finish(self, features: Floats) -> None:
        features /= self.scale_

    def _feature_names(self) -> list[str]:
        return [f"landmark_{i}" for i in self.landmark_indices_]


@dataclass(eq=False, repr=False)
class PairEmbedding(BaseEmbedding):
    r"""Embedding by pairs of landmarks, :math:`\Phi(x) = (f(K(x, x_i^+) - K(x, x_i^-)))_i`.

    When to use it: any estimator on comparisons with pairs of points.

    A pair is a point of a class and a point of the rest: with two classes, of ``classes_[1]``
    and ``classes_[0]``; with more, as many for each class against all others, in order.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of pairs of each one-vs-all problem, drawn with replacement.
    similarity, kind, normalize
        As for :class:`LandmarkEmbedding`. Similarities are normalised before f is applied.
    transfer : str, float, Transfer or callable, default="identity"
        The transfer function f, see :func:`as_transfer`: "identity", "sign", "ramp" or
        "sigmoid", a number for a ramp of that slope, or an antisymmetric callable.
    selection : {"random", "stratified", "dselect", "kmeans++", "kmedoids", "leverage", \
            "rpcholesky", "shared"}, default="random"
        "random" draws both points of a pair uniformly; "stratified" spreads the second ones
        over the other classes in proportion to their sizes; "dselect" draws both from d points
        unlike each other (algorithm 3 of [1]_), "kmeans++", "kmedoids", "leverage" and
        "rpcholesky" from d points chosen as by :class:`LandmarkEmbedding`, "shared" from d points
        drawn evenly from the classes.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    landmark_pairs_ : ndarray of shape (n_problems, n_landmarks, 2)
        Rows of training points, that of the class first. One problem for two classes.
    landmark_indices_ : ndarray of shape (n_distinct,)
        Rows of the training points in pairs, ascending.
    transfer_ : Transfer
        The transfer function.
    scale_ : float
        The divisor of similarities; 1 if they are all 0 or not normalised.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, if all are strings.

    See Also
    --------
    LandmarkEmbedding : Similarities to single landmarks.

    References
    ----------
    .. [1] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import PairEmbedding
    >>> X, y = [[0.0], [4.0]], ["low", "high"]
    >>> embedding = PairEmbedding(1, similarity="manhattan", transfer=2.0, random_state=0)
    >>> embedding = embedding.fit(X, y)
    >>> embedding.transform([[0.0], [1.75], [3.0]])
    array([[ 1.  ],
           [ 0.25],
           [-1.  ]])
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: SimilarityLike = "gaussian"
    kind: str = "similarity"
    transfer: TransferLike = "identity"
    selection: str = "random"
    normalize: bool = True
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **BaseEmbedding._parameter_constraints,
        "selection": [base.PAIR_SELECTION],
        "transfer": [str, Transfer, callable, POSITIVE],
    }
    _needs_classes = True

    def _select(self, y: Any, n_samples: int, similarities: Compared) -> np.ndarray:
        rng = check_random_state(self.random_state)
        self.transfer_ = as_transfer(self.transfer)
        self.classes_, codes = _encode(y)
        self.landmark_pairs_ = select_pairs(
            self.n_landmarks, codes, self.selection, rng, similarities
        )
        pairs = self.landmark_pairs_.reshape(-1, 2)
        self._n_features_out = len(pairs)
        self.landmark_indices_, places = np.unique(pairs, return_inverse=True)
        self._ups, self._downs = places.reshape(-1, 2).T.copy()
        return self.landmark_indices_

    def _write(self, similarities: Floats, out: Floats) -> None:
        ups, downs = (similarities.take(places, axis=1) for places in (self._ups, self._downs))
        np.subtract(ups, downs, out=out)

    def _finish(self, features: Floats) -> None:
        for rows in row_blocks(*features.shape):
            features[rows] /= self.scale_
            self.transfer_(features[rows], out=features[rows])

    def _feature_names(self) -> list[str]:
        n_problems, n_pairs, _ = self.landmark_pairs_.shape
        if n_problems == 1:
            return [f"pair_{j}" for j in range(n_pairs)]
        return [f"pair_{c}_{j}" for c in self.classes_ for j in range(n_pairs)]


def _encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the class code of each point."""
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)
