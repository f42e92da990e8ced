"""Rivals of the models on landmarks: nearest neighbours, and SVMs on all training points."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.neighbors import NearestNeighbors

from kernlearn import validation
from kernlearn.kernels.base import is_symmetric
from kernlearn.landmarks.base import SimilarityClassifier
from kernlearn.landmarks.contributions import Contributions
from kernlearn.landmarks.embeddings import LandmarkEmbedding
from kernlearn.landmarks.similarities import Landmarks, Reals, concatenated
from kernlearn.landmarks.training import Grid, Training
from kernlearn.linear import LinearSVM
from kernlearn.memory import eigh
from kernlearn.svm import KernelSVM
from kernlearn.validation import Indices

# Similarities to all training points at a time: kernels prepare these anew for each block.
_BLOCK_BYTES = 2**24
# Groups of columns for each neighbour, whose maxima leave few candidates.
_GROUPS_PER_NEIGHBOUR = 8


class NeighboursClassifier(SimilarityClassifier):
    """Base of the classifiers by votes of the k nearest training points."""

    _parameter_constraints = {
        **SimilarityClassifier._parameter_constraints,
        "n_neighbors": [validation.COUNT, "array-like"],
    }
    _scored_by = "predict_proba"

    n_neighbors: Any
    _trained: Landmarks

    @abstractmethod
    def _nearest(self, X: Any, k: int) -> Iterator[Indices]:
        """Yield the k nearest training points of blocks of points, the nearest first."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._shares(self._check_points(X), [self.n_neighbors_])[0]

    def contributions(self, X: Any) -> Contributions:
        """Return the votes of the nearest training points, and the similarities to them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`, but a matrix of similarities has all columns.

        Returns
        -------
        Contributions
            The neighbours take the place of landmarks; the sums are what `predict_proba` returns.
        """
        X, k = self._check_all(X), self.n_neighbors_
        nearest = np.concatenate([near[:, :k] for near in self._nearest(X, k)])
        votes = self._votes[nearest]
        weights = votes.sum(axis=2)
        totals = weights.sum(axis=1)[:, np.newaxis, np.newaxis]
        similarities = self._similarities(X, nearest)
        landmarks, shares = self._trained.indices[nearest], votes.transpose(0, 2, 1) / totals
        return Contributions(landmarks, similarities, weights, shares, classes=self.classes_)

    def _similarities(self, X: Any, which: Indices, start: int = 0) -> Reals:
        """Return the similarities of each point, from row `start` on, to some of its own."""
        rows = enumerate(which, start)
        return np.array([self._trained.take(r).compare(X, np.array([i]))[0] for i, r in rows])

    def _grid(self) -> Grid:
        # of equally good numbers of neighbours the greatest is the best
        values = validation.candidate_values(self.n_neighbors, "n_neighbors", integer=True)
        return {"n_neighbors": values[::-1].tolist()}

    def _set_voters(self, data: Training) -> None:
        """Set the points that vote."""
        self._trained = data.kept()
        self._votes = np.eye(len(self.classes_))[data.codes]
        if data.weights is not None:
            self._votes *= data.weights[:, np.newaxis]

    def _choose_number(self, data: Training, most: int) -> None:
        """Choose the number of neighbours, at most `most`."""
        ks = [min(k, most) for k in self.grid_["n_neighbors"]]
        values = [] if data.X_val is None else self._shares(data.X_val, ks)
        self.n_neighbors_ = ks[self._choose(data, values)]
        self.best_params_ = {"n_neighbors": self.n_neighbors_}

    def _shares(self, X: Any, ks: list[int]) -> list[Reals]:
        """Return the shares of the votes of each point's k nearest, for each k."""
        totals = concatenated(
            [self._votes[nearest[:, :k]].sum(axis=1) for k in ks]
            for nearest in self._nearest(X, max(ks))
        )
        return [total / total.sum(axis=1, keepdims=True) for total in totals]


@dataclass(eq=False, repr=False)
class LandmarkKNNClassifier(NeighboursClassifier):
    r"""k nearest neighbours among all training points, by their similarities to landmarks.

    When to use it: classes that no linear function of similarities separates, with few
    comparisons for each prediction.

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d training points,
    the landmarks. It gets the class of most of its neighbours by the Euclidean distance in this
    dissimilarity space [2]_. Training points are embedded at `fit`, so that a prediction makes d
    comparisons. Nearest neighbours by the similarity itself (:class:`SimilarityKNNClassifier`)
    make one for each training point.
    With `n_refined` the nearest in the embedding are compared by the similarity, too.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks d.
    similarity, kind, selection
        As for :class:`BBSClassifier`.
    n_neighbors : int or sequence of int, default=(1, 3, 5, 10, 20)
        The number k; of several the best on the validation points is chosen, by accuracy, then
        the greatest. Of several, those above the number of points trained on count as this.
    n_refined : int, default=0
        Number of training points, the nearest in the embedding, with which a point is compared by
        the similarity itself: the most similar of them vote (filter and refine [1]_). A
        prediction then makes d + n_refined comparisons. 0 takes the nearest in the embedding as
        they are; else n_neighbors is at most n_refined.
    validation_fraction, scoring
        As for :class:`BBSClassifier`.
    refit : bool, default=True
        Whether points that were held out for the choice become neighbours after it.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Rows of the landmarks in the X passed to `fit`.
    n_neighbors_ : int
        The k in use.
    best_params_ : dict
        The value chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each k, in descending order of k; None without
        such points.
    n_comparisons_, n_fit_comparisons_ : int
        As for :class:`BBSClassifier`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    References
    ----------
    .. [1] V. Athitsos, J. Alon, S. Sclaroff, G. Kollios. BoostMap: a method for efficient
       approximate similarity rankings. CVPR 2004.
    .. [2] E. Pękalska, R. P. W. Duin. The Dissimilarity Representation for Pattern Recognition.
       2005, section 4.3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.landmarks import LandmarkKNNClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = LandmarkKNNClassifier(10, similarity="manhattan", random_state=0)
    >>> model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.95
    True
    """

    n_landmarks: int = 100
    _: KW_ONLY
    n_neighbors: Any = (1, 3, 5, 10, 20)
    selection: str = "random"
    n_refined: int = 0
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None

    _parameter_constraints = {
        **NeighboursClassifier._parameter_constraints,
        "n_refined": [validation.WHOLE],
    }

    def _learn(self, data: Training) -> None:
        codes, ks = data.codes, self.grid_["n_neighbors"]
        embedding = LandmarkEmbedding(self.n_landmarks, selection=self.selection, normalize=False)
        features = embedding.learn(data)
        self._set_landmarks(embedding._landmarks)
        self.landmark_indices_ = self._landmarks.indices
        self._dtype = features.dtype
        self._set_points(data, features)
        self._n_refined = min(self.n_refined, len(codes))
        self.n_comparisons_ += self._n_refined
        most = self._n_refined or len(codes)
        if len(ks) == 1 and ks[0] > most:
            raise ValueError(
                "'n_neighbors' must be at most the number of points trained on, or compared with "
                f"by n_refined, {most}, got {ks[0]}"
            )
        self._choose_number(data, most)
        if self.refit and (whole := data.whole):
            held_out = embedding.embed(data.X_val)
            self._set_points(whole, whole.merged(features, data, held_out))

    def _set_points(self, data: Training, features: Reals) -> None:
        self._set_voters(data)
        # distances by norms lose the digits of similarities that are far from 0
        self._centre = np.median(features, axis=0)
        self._search = NearestNeighbors(algorithm="brute").fit(features - self._centre)

    def _nearest(self, X: Any, k: int) -> Iterator[Indices]:
        for rows, similarities in self._landmarks.blocks(X):
            features = similarities.astype(self._dtype, copy=False) - self._centre
            nearest = self._search.kneighbors(
                features, self._n_refined or k, return_distance=False
            )
            if self._n_refined:  # sorted by the similarity, the most similar first
                refined = self._similarities(X, nearest, rows.start)
                order = np.argsort(-refined, axis=1, kind="stable")
                nearest = np.take_along_axis(nearest, order, axis=1)
            yield nearest


@dataclass(eq=False, repr=False)
class SimilarityKNNClassifier(NeighboursClassifier):
    """k nearest neighbours by any similarity.

    When to use it: a similarity that is good only for near points; nothing is trained.

    Ties of similarity go to the first training points, ties of votes to the first class.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=5
        The number k, at most that of training points; of several the best on the validation
        points is chosen, by accuracy, then the greatest.
    similarity, kind
        As for :class:`BBSClassifier`. Sample weights multiply the votes.
    validation_fraction, scoring
        As for :class:`BBSClassifier`.
    refit : bool, default=True
        Whether points that were held out for the choice become neighbours after it.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_neighbors_ : int
        The k in use.
    best_params_ : dict
        The value chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each k, in descending order of k; None without
        such points.
    n_features_in_ : int

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.landmarks import SimilarityKNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> knn = SimilarityKNNClassifier([1, 3, 5], similarity="manhattan", random_state=0)
    >>> knn.fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    n_neighbors: Any = 5
    _: KW_ONLY
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None

    def _learn(self, data: Training) -> None:
        ks = self.grid_["n_neighbors"]
        if ks[0] > len(data.codes):
            raise ValueError(
                f"'n_neighbors' must be at most the number of training points, {len(data.codes)}"
                f"{' without those held out' if data.X_val is not None else ''}, got {ks[0]}"
            )
        self._set_points(data)
        self._choose_number(data, ks[0])
        if self.refit and data.whole:
            self._set_points(data.whole)

    def _set_points(self, data: Training) -> None:
        self._set_landmarks(data.kept())
        self._set_voters(data)

    def _nearest(self, X: Any, k: int) -> Iterator[Indices]:
        for _, similarities in self._landmarks.blocks(X, block_bytes=_BLOCK_BYTES):
            yield nearest_columns(similarities, k)


def nearest_columns(similarities: Reals, k: int) -> Indices:
    """Return the columns of the k greatest values of each row; of equals the first columns."""
    n_rows, n_columns = similarities.shape
    # the k-th greatest of the maxima of groups of columns is no greater than that of all values
    n_groups = min(n_columns, _GROUPS_PER_NEIGHBOUR * k)
    size = n_columns // n_groups
    groups = similarities[:, : size * n_groups].reshape(n_rows, size, n_groups)
    least = np.partition(groups.max(axis=1), n_groups - k, axis=1)[:, n_groups - k, np.newaxis]
    rows, columns = np.divmod(np.flatnonzero(similarities >= least), n_columns)
    order = np.lexsort((-similarities[rows, columns], rows))
    first = np.searchsorted(rows, np.arange(n_rows))
    return columns[order][first[:, np.newaxis] + np.arange(k)]


class AllPointsSVM(SimilarityClassifier):
    """Base of the SVMs that compare points with all training points.

    C may have several values, to choose from on validation points.
    """

    C: Any

    #: Makes an SVM for a C.
    _machine: ClassVar[Callable[..., Any]]

    def _training_features(self, similarities: Reals) -> Reals:
        """Return what the SVM is trained on, of the training points' similarities."""
        return similarities

    def _features(self, similarities: Reals) -> Reals:
        """Return what the SVM decides on, of the similarities of any points."""
        return similarities

    def _scores(self, similarities: Reals, dtype: Any) -> Reals:
        return self._model.decision_function(self._features(similarities))

    def _grid(self) -> Grid:
        return {"C": validation.candidate_values(self.C, "C").tolist()}

    def _learn(self, data: Training) -> None:
        models = self._models(data, self.grid_["C"])
        values = [] if data.X_val is None else self._by_models(data.X_val, models)
        self._model = models[self._choose(data, values)]
        if self.refit and data.whole:
            (self._model,) = self._models(data.whole, [self.C_])

    def _models(self, data: Training, Cs: list[float]) -> list[Any]:
        """Train an SVM for each C."""
        self._set_landmarks(data.kept())
        similarities = data.candidates.compare(data.similarities.X, places=data.candidates.indices)
        features = self._training_features(similarities)
        return [self._machine(C=C).fit(features, data.codes, data.weights) for C in Cs]

    def _by_models(self, X: Any, models: list[Any]) -> list[Reals]:
        blocks = (self._features(values) for _, values in self._landmarks.blocks(X))
        return concatenated([one.decision_function(block) for one in models] for block in blocks)


@dataclass(eq=False, repr=False)
class SimilarityFeatureSVM(AllPointsSVM):
    """Linear SVM on similarities as features, (K(x, x₁), …, K(x, xₙ)).

    When to use it: an indefinite or asymmetric similarity and up to a few thousand rows.

    The features are the similarities to all training points, as they are, and the SVM is
    LIBLINEAR's, one class against the rest (:class:`~kernlearn.linear.LinearSVM` with its
    defaults). The similarity may be asymmetric or indefinite.

    Parameters
    ----------
    C : float or sequence of float, default=(0.1, 1, 10)
        Weight of the loss; of several the best on the validation points is chosen, by
        accuracy, then the smallest.
    similarity, kind
        As for :class:`BBSClassifier`.
    validation_fraction, scoring
        As for :class:`BBSClassifier`.
    refit : bool, default=True
        Whether the SVM is trained again on all points, with the C chosen on held-out ones.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
    best_params_ : dict
        The value chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each C, ascending; None without such points.
    n_features_in_ : int

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009: similarities as features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.landmarks import SimilarityFeatureSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> SimilarityFeatureSVM(10.0).fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    C: Any = (0.1, 1, 10)
    _: KW_ONLY
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None

    _machine = LinearSVM


# How often each row is subtracted in the directions of negative eigenvalues.
_FACTORS = {"shift": 0, "clip": 1, "flip": 2}


@dataclass(eq=False, repr=False)
class SpectrumSVM(AllPointsSVM):
    """Kernel SVM on similarities that are made positive semi-definite.

    When to use it: an almost positive semi-definite similarity and up to a few thousand rows.

    The matrix S of the training points' similarities is symmetrised, (S + Sᵀ)/2 = U Λ Uᵀ, and
    LIBSVM is trained on ``U g(Λ) Uᵀ`` (more than two classes one against one):

    - "clip": g(λ) = max(λ, 0);
    - "flip": g(λ) = max(λ, -λ);
    - "shift": g(λ) = λ + max(-λ_min, 0).

    Clip and flip are a linear map P of the columns, P S; the similarities of a new point
    to the training points are mapped by the same P. Shift changes only the diagonal, so that the
    similarities of new points stay as they are. Eigenvalues that are negative by rounding count
    as 0: all three leave a positive semi-definite matrix unchanged.

    Shift suits distances only as max(D) - D. The least eigenvalue of -D is minus the greatest of
    D, whose eigenvector is almost constant and separates no classes. A diagonal raised by so much
    outweighs all similarities. The constant max(D) removes it and changes nothing else, as
    the SVM has an intercept.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift"}, default="clip"
        The change of the eigenvalues.
    C : float or sequence of float, default=(1, 10, 100)
        Weight of the loss; of several the best on the validation points is chosen, by
        accuracy, then the smallest.
    similarity, kind
        As for :class:`BBSClassifier`.
    distances : {"complement", "negate"}, default="complement"
        How shift turns a distance (``kind="distance"``) into a similarity: max(D) - D, with the
        largest distance of two training points, or -D. Otherwise it is -D.
    validation_fraction, scoring
        As for :class:`BBSClassifier`.
    refit : bool, default=True
        Whether the SVM is trained again on all points, with the C chosen on held-out ones.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
    eigenvalues_ : ndarray of shape (n_training_points,)
        The spectrum before it was changed, ascending.
    best_params_ : dict
        The value chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each C, ascending; None without such points.
    n_features_in_ : int

    Notes
    -----
    Time is cubic and memory quadratic in the number of training points. The similarities of
    new points are not symmetrised, as only K(x, xᵢ) is known.

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009: similarities as kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import SpectrumSVM
    >>> S = np.array([[0.5, 1.0, 0.2], [1.0, 0.5, 0.1], [0.2, 0.1, 0.5]])
    >>> model = SpectrumSVM("shift", C=10.0, similarity="precomputed").fit(S, [0, 0, 1])
    >>> model.eigenvalues_.round(2)
    array([-0.51,  0.46,  1.54])
    >>> model.predict([[0.9, 0.8, 0.1]])
    array([0])
    """

    spectrum: str = "clip"
    C: Any = (1, 10, 100)
    _: KW_ONLY
    distances: str = "complement"
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None

    _parameter_constraints = {
        **AllPointsSVM._parameter_constraints,
        "spectrum": [validation.StrOptions({"clip", "flip", "shift"})],
        "distances": [validation.StrOptions({"complement", "negate"})],
    }
    _machine = staticmethod(partial(KernelSVM, "precomputed"))

    def _training_features(self, similarities: Reals) -> Reals:
        self._offset, self._factor = similarities.dtype.type(0), _FACTORS[self.spectrum]
        if (self.spectrum, self.kind, self.distances) == ("shift", "distance", "complement"):
            self._offset = -similarities.min()
            similarities = similarities + self._offset
        matrix = similarities.astype(np.float64)
        if not is_symmetric(matrix):
            validation.warn(
                "the similarities are not symmetric: of training points the mean of both "
                "directions is taken, of new points the one given"
            )
        matrix = (matrix + matrix.T) / 2
        self.eigenvalues_, vectors = eigh(matrix)
        # the rounding error of an eigenvalue of 0, as in numpy.linalg.matrix_rank
        rounding = len(matrix) * np.finfo(similarities.dtype).eps * abs(self.eigenvalues_).max()
        self._negative = vectors[:, self.eigenvalues_ < -rounding]
        kernel = self._mapped(matrix)
        if self.spectrum == "shift" and self._negative.size:
            kernel = kernel - self.eigenvalues_[0] * np.eye(len(matrix))
        return kernel

    def _features(self, similarities: Reals) -> Reals:
        return self._mapped(similarities + self._offset)

    def _mapped(self, similarities: Reals) -> Reals:
        """Apply P to each row."""
        if not self._factor:
            return similarities
        return similarities - self._factor * (similarities @ self._negative @ self._negative.T)
