"""Support vector machines on the similarities to all training points."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.base import SimilarityClassifier, Training, decide
from kernlearn.landmarks.similarity import Floats
from kernlearn.linear import LinearSVM
from kernlearn.svm import KernelSVM
from kernlearn.validation import CLASS_WEIGHT, FRACTION, POSITIVE, StrOptions, candidate_values


class AllPointsSVM(SimilarityClassifier):
    """Base of the SVMs that compare points with all training points.

    C may have several values, to choose from on validation points.
    """

    _parameter_constraints = {
        **SimilarityClassifier._parameter_constraints,
        "C": [POSITIVE, "array-like"],
        "class_weight": CLASS_WEIGHT,
        "validation_fraction": [FRACTION],
    }

    C: Any

    @abstractmethod
    def _train(self, data: Training, choices: list[Any]) -> list[Any]:
        """Return a model for each choice."""

    @abstractmethod
    def _decide(self, model: Any, similarities: Floats) -> Floats:
        """Return scores, as `decide` takes them."""

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two; else positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        blocks = self._landmarks.blocks(self._check_points(X))
        return np.concatenate([self._decide(self._model, values) for _, values in blocks])

    def _grid(self) -> dict[str, Any]:
        return {"C": candidate_values(self.C, "C").tolist()}

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        self._set_landmarks(data.candidates)
        models = self._train(data, grid["C"])
        best, self.validation_scores_ = 0, None
        if data.codes_val is not None:
            codes = [
                [decide(self._decide(model, values)) for model in models]
                for _, values in self._landmarks.blocks(data.X_val)
            ]
            right = np.concatenate(codes, axis=1) == data.codes_val
            self.validation_scores_ = np.average(right, axis=1, weights=data.weights_val)
            best = int(self.validation_scores_.argmax())
        self._model, self.C_ = models[best], grid["C"][best]
        self.best_params_ = {"C": self.C_}


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
    validation_fraction : float, default=0.2
        Share of the training points held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.
    class_weight
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
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

    def _train(self, data: Training, choices: list[float]) -> list[LinearSVM]:
        features = data.candidates.compare(data.X, places=data.candidates.indices)
        return [LinearSVM(C=C).fit(features, data.codes, data.weights) for C in choices]

    def _decide(self, model: LinearSVM, similarities: Floats) -> Floats:
        return model.decision_function(similarities)


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

    Shift suits distances only as max(D) - D: the least eigenvalue of -D is minus the greatest of
    D, whose eigenvector is almost constant and tells no classes apart, and a diagonal raised by so
    much outweighs all similarities. The constant max(D) removes it and changes nothing else, as
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
    validation_fraction : float, default=0.2
        Share of the training points held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points.
    class_weight
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
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

    _parameter_constraints = {
        **AllPointsSVM._parameter_constraints,
        "spectrum": [StrOptions({"clip", "flip", "shift"})],
        "distances": [StrOptions({"complement", "negate"})],
    }

    def _train(self, data: Training, choices: list[float]) -> list[KernelSVM]:
        similarities = data.candidates.compare(data.X, places=data.candidates.indices)
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
        part = similarities @ self._negative @ self._negative.T
        return similarities - (part if self.spectrum == "clip" else 2 * part)
