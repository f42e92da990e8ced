"""Classifiers on the similarities to all training points: neighbours and SVMs."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kernlearn.constraints import COUNT, StrOptions
from kernlearn.landmarks.all_points import AllPointsClassifier, ChoosesC
from kernlearn.landmarks.base import Floats
from kernlearn.landmarks.similarity_classifier import Training
from kernlearn.landmarks.votes import nearest_columns, vote_weights
from kernlearn.model_selection import candidate_values
from kernlearn.solvers import KernelSVM, LinearSVM


@dataclass(eq=False, repr=False)
class SimilarityKNNClassifier(AllPointsClassifier):
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
    weights : {"uniform"} or callable, default="uniform"
        Weights of the votes. A function takes the neighbours' similarities (negated
        distances), shape (n_samples, n_neighbors), in descending order, and returns their
        weights, of the same shape, finite and not negative.
    validation_fraction : float, default=0.2
        Share of the training points held out for choosing k, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_neighbors_ : int
        The k in use.
    best_params_ : dict
        The value chosen, by parameter name.
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
    similarity: Any = "gaussian"
    kind: str = "similarity"
    weights: str | Callable[[np.ndarray], Any] = "uniform"
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **AllPointsClassifier._parameter_constraints,
        "n_neighbors": [COUNT, "array-like"],
        "weights": [StrOptions({"uniform"}), callable],
    }

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
        votes = self._scores(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _grid(self) -> dict[str, Any]:
        values = candidate_values(self.n_neighbors, "n_neighbors", integer=True)
        return {"n_neighbors": values[::-1].tolist()}

    def _train(self, data: Training, choices: list[int]) -> list[int]:
        if choices[0] > len(data.codes):
            raise ValueError(
                f"'n_neighbors' must be at most the number of training points, {len(data.codes)}"
                f"{' without those held out' if data.X_val is not None else ''}, got {choices[0]}"
            )
        self._votes = np.eye(len(self.classes_))[data.codes]
        if data.weights is not None:
            self._votes *= data.weights[:, np.newaxis]
        return choices

    def _decide(self, model: int, similarities: Floats) -> np.ndarray:
        neighbors = nearest_columns(similarities, model)
        votes = self._votes[neighbors]
        if callable(self.weights):
            nearest = np.take_along_axis(similarities, neighbors, axis=1)
            weights = vote_weights(self.weights, nearest)
            votes = votes * weights[:, :, None]
        return votes.sum(axis=1)


@dataclass(eq=False, repr=False)
class SimilarityFeatureSVM(ChoosesC):
    """Linear SVM on similarities as features, (K(x, x₁), …, K(x, xₙ)).

    When to use it: an indefinite or asymmetric similarity and up to a few thousand rows.

    The features are the similarities to all training points, as they are, and the SVM is
    LIBLINEAR's, one class against the rest (:class:`~kernlearn.solvers.LinearSVM` with its
    defaults). The similarity may be asymmetric or indefinite.

    Parameters
    ----------
    C : float or sequence of float, default=(0.1, 1, 10)
        Weight of the loss; of several the best on the validation points is chosen, by
        accuracy, then the smallest.
    similarity, kind
        As for :class:`BBSClassifier`.
    validation_fraction : float, default=0.2
        Share of the training points held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.
    class_weight, calibration
        As for :class:`BBSClassifier`.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
    svm_ : LinearSVM
        The SVM on the similarities; its classes are places in `classes_`.
    best_params_ : dict
        The value chosen, by parameter name.
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
    similarity: Any = "gaussian"
    kind: str = "similarity"
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    def _train(self, data: Training, choices: list[float]) -> list[LinearSVM]:
        features = data.candidates.compare(data.X)
        return [LinearSVM(C=C).fit(features, data.codes, data.weights) for C in choices]

    def _decide(self, model: LinearSVM, similarities: Floats) -> Floats:
        return model.decision_function(similarities)


@dataclass(eq=False, repr=False)
class SpectrumSVM(ChoosesC):
    """Kernel SVM on similarities that are made positive semi-definite.

    When to use it: an almost positive semi-definite similarity and up to a few thousand rows.

    The matrix S of the training points' similarities is symmetrised, (S + Sᵀ)/2 = U Λ Uᵀ, and
    LIBSVM is trained on ``U g(Λ) Uᵀ`` (more than two classes one against one):

    - "clip": g(λ) = max(λ, 0);
    - "flip": g(λ) = max(λ, -λ);
    - "shift": g(λ) = λ + max(-λ_min, 0);
    - "square": g(λ) = λ².

    Clip, flip and square are a linear map P of the columns, P S; the similarities of a new point
    to the training points are mapped by the same P. Shift changes only the diagonal, so that the
    similarities of new points stay as they are. Eigenvalues that are negative by rounding count
    as 0: clip, flip and shift leave a positive semi-definite matrix unchanged.

    Shift suits distances only as max(D) - D: the least eigenvalue of -D is minus the greatest of
    D, whose eigenvector is almost constant and tells no classes apart, and a diagonal raised by so
    much outweighs all similarities. The constant max(D) removes it and changes nothing else, as
    the SVM has an intercept.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift", "square"}, default="clip"
        The change of the eigenvalues.
    C : float or sequence of float, default=(1, 10, 100)
        Weight of the loss; of several the best on the validation points is chosen, by
        accuracy, then the smallest.
    similarity, kind
        As for :class:`BBSClassifier`.
    distances : {"complement", "negate"}, default="complement"
        How shift turns a distance (``kind="distance"``) into a similarity: max(D) - D, with the
        largest distance of two training points, or -D. Otherwise it is -D.
    validation_fraction : float, default=0.2
        Share of the training points held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.
    class_weight, calibration
        As for :class:`BBSClassifier`.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
    svm_ : KernelSVM
        The SVM on the changed matrix; its classes are places in `classes_`.
    eigenvalues_ : ndarray of shape (n_training_points,)
        The spectrum before it was changed, ascending.
    best_params_ : dict
        The value chosen, by parameter name.
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
    similarity: Any = "gaussian"
    kind: str = "similarity"
    distances: str = "complement"
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **ChoosesC._parameter_constraints,
        "spectrum": [StrOptions({"clip", "flip", "shift", "square"})],
        "distances": [StrOptions({"complement", "negate"})],
    }

    def _train(self, data: Training, choices: list[float]) -> list[KernelSVM]:
        similarities = data.candidates.compare(data.X)
        self._offset = similarities.dtype.type(0)
        if (self.spectrum, self.kind, self.distances) == ("shift", "distance", "complement"):
            self._offset = -similarities.min()
            similarities = similarities + self._offset
        matrix = similarities.astype(np.float64)
        matrix = (matrix + matrix.T) / 2
        self.eigenvalues_, vectors = eigh(matrix)
        # the rounding error of an eigenvalue of 0, as in numpy.linalg.matrix_rank
        rounding = len(matrix) * np.finfo(similarities.dtype).eps * abs(self.eigenvalues_).max()
        self._negative = vectors[:, self.eigenvalues_ < -rounding]
        self._matrix = matrix if self.spectrum == "square" else None
        kernel = self._mapped(matrix)
        if self.spectrum == "shift" and self._negative.size:
            kernel = kernel - self.eigenvalues_[0] * np.eye(len(matrix))
        return [
            KernelSVM("precomputed", C=C).fit(kernel, data.codes, data.weights) for C in choices
        ]

    def _decide(self, model: KernelSVM, similarities: Floats) -> Floats:
        return model.decision_function(self._mapped(similarities + self._offset))

    def _mapped(self, similarities: Floats) -> Floats:
        """Apply P to each row: clip removes the negative eigenvectors, flip reverses them."""
        if self.spectrum == "shift":
            return similarities
        if self._matrix is not None:
            return similarities @ self._matrix
        part = similarities @ self._negative @ self._negative.T
        return similarities - (part if self.spectrum == "clip" else 2 * part)
