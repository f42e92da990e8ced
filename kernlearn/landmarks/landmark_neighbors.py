"""k nearest neighbours by the similarities to landmarks, for classes and for numbers."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernlearn.calibration import CALIBRATION
from kernlearn.constraints import CLASS_WEIGHT, COUNT, WHOLE, StrOptions
from kernlearn.landmarks.grid_model import GridModel
from kernlearn.landmarks.growing_classifier import GrowingClassifier
from kernlearn.landmarks.growth import Candidate
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, Landmarks
from kernlearn.landmarks.similarity_classifier import Training
from kernlearn.landmarks.votes import (
    Neighbours,
    embedded_neighbours,
    neighbor_numbers,
    possible_numbers,
)

_PARAMETERS: dict[str, list[Any]] = {
    "n_neighbors": [COUNT, "array-like"],
    "metric": [StrOptions({"euclidean", "manhattan", "chebyshev"})],
    "weights": [StrOptions({"uniform", "distance"}), callable],
    "n_refined": [WHOLE],
}


class EmbeddedNeighbours:
    """Base of the estimators by the neighbours among embedded training points."""

    n_refined: int
    n_neighbors_: int
    _landmarks: Landmarks
    _model: Neighbours

    @property
    def n_comparisons_(self) -> int:
        """Number of training points that a prediction compares a point with."""
        check_is_fitted(self)
        return len(self._landmarks) + self._model.n_refined

    @property
    def _compares_landmarks_alone(self) -> bool:
        return not self._model.n_refined

    def _averages(self, X: Any) -> Floats:
        """Validate points, and return the mean votes of their neighbours, block by block."""
        check_is_fitted(self)
        X, ks = self._check_points(X), [self.n_neighbors_]  # type: ignore[attr-defined]
        with self._landmarks.tally.shown(total=X.shape[0] * self.n_comparisons_):
            blocks = self._landmarks.blocks(X)
            return np.concatenate([self._model.average(f, ks, X[rows])[0] for rows, f in blocks])


@dataclass(eq=False, repr=False)
class LandmarkKNNClassifier(EmbeddedNeighbours, GrowingClassifier):
    r"""k nearest neighbours among all training points, by their similarities to landmarks.

    When to use it: classes that no linear function of similarities separates, with few
    comparisons for each prediction.

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d training points,
    the landmarks, and gets the class that most of its neighbours in the embedding have. Training
    points are embedded at `fit`, so that a prediction makes d comparisons: nearest neighbours by
    the similarity itself (:class:`SimilarityKNNClassifier`) make one for each training point.
    With `n_refined` the nearest in the embedding are compared by the similarity, too.

    Parameters
    ----------
    n_landmarks : int or "auto", default=100
        Number of landmarks d; "auto" finds it on the validation points, see
        :class:`BBSClassifier`.
    max_comparisons, similarity, kind, selection
        As for :class:`BBSClassifier`.
    n_neighbors : int or sequence of int, default=(1, 3, 5, 10, 20)
        The number k; of several the best on the validation points is chosen, by accuracy, then
        the greatest. Of several, those above the number of points trained on count as this.
    metric : {"euclidean", "manhattan", "chebyshev"}, default="euclidean"
        Distance of embedded points. If the similarity is a distance that obeys the triangle
        inequality, "chebyshev" is a lower bound of it, the one that LAESA searches by [1]_.
        "manhattan" is BoostMap's, without its weights [2]_, and "euclidean" that of the
        dissimilarity space [3]_.
    n_refined : int, default=0
        Number of training points, the nearest in the embedding, with which a point is compared by
        the similarity itself: the most similar of them vote (filter and refine [2]_). A
        prediction then makes d + n_refined comparisons, of which `max_comparisons` limits d. 0
        takes the nearest in the embedding as they are; else n_neighbors is at most n_refined.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weights of the votes: equal, 1 / distance in the embedding, or what a function makes of
        the distances, shape (n_samples, n_neighbors), ascending. With `n_refined` these are the
        distances, or minus the similarities, of the points themselves.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.
    class_weight : dict, "balanced" or None, default=None
        Factors on the votes of the points of each class, and on the validation points in the
        choice of parameters. Sample weights multiply the votes too.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        How shares of votes are mapped to probabilities, on the validation points; None takes the
        shares themselves.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Rows of the landmarks in the X passed to `fit`.
    n_neighbors_ : int
        The k in use.
    best_params_ : dict
        The value chosen, by parameter name.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each k, in descending order of k; None without
        such points.
    growth_ : tuple of TriedSize
        What ``n_landmarks="auto"`` tried.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    References
    ----------
    .. [1] L. Micó, J. Oncina, E. Vidal. A new version of the nearest-neighbour approximating and
       eliminating search algorithm (AESA) with linear preprocessing time and memory requirements.
       Pattern Recognition Letters 15, 1994.
    .. [2] V. Athitsos, J. Alon, S. Sclaroff, G. Kollios. BoostMap: a method for efficient
       approximate similarity rankings. CVPR 2004.
    .. [3] E. Pękalska, R. P. W. Duin. The Dissimilarity Representation for Pattern Recognition.
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

    n_landmarks: int | str = 100
    _: KW_ONLY
    max_comparisons: int | None = None
    n_neighbors: Any = (1, 3, 5, 10, 20)
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    metric: str = "euclidean"
    n_refined: int = 0
    weights: str | Callable[[np.ndarray], Any] = "uniform"
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **GrowingClassifier._parameter_constraints,
        **_PARAMETERS,
        "class_weight": CLASS_WEIGHT,
        "calibration": CALIBRATION,
    }

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes for each class, calibrated with ``calibration``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._scores(X) if self.calibration is None else super().predict_proba(X)

    def _scores(self, X: Any) -> Floats:
        return self._averages(X)

    def _calibration_scores(self, X: Any) -> np.ndarray:
        shares = self._scores(X)
        return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares

    def _grid(self) -> dict[str, Any]:
        return {"n_neighbors": neighbor_numbers(self.n_neighbors)}

    def _options(self, rng: np.random.RandomState) -> dict[str, Any]:
        return {}

    def _fit_at(
        self,
        data: Training,
        grid: dict[str, Any],
        options: dict[str, Any],
        chosen: Indices,
        held_out: Floats | None,
    ) -> Candidate:
        features, votes = data.similarities.columns(chosen), np.eye(len(self.classes_))[data.codes]
        model = embedded_neighbours(self, features, votes, data.weights, data.candidates)
        ks = possible_numbers(grid["n_neighbors"], model.most)
        if held_out is None:
            return Candidate(chosen, (ks[0], model))
        averages = model.average(held_out, ks, data.X_val)
        right = np.array([shares.argmax(axis=1) == data.codes_val for shares in averages])
        scores = np.average(right, axis=1, weights=data.weights_val)
        best = int(scores.argmax())
        # a class without training points has no votes
        of_class = np.column_stack([averages[best], np.zeros(len(held_out))])
        wrong = 1.0 - of_class[np.arange(len(held_out)), data.codes_val]
        return Candidate(chosen, (ks[best], model), scores, 1.0 - right[best], wrong)

    def _keep(self, data: Training, found: Candidate) -> None:
        self.n_neighbors_, self._model = found.model
        self.best_params_ = {"n_neighbors": self.n_neighbors_}
        self._landmarks = data.candidates.take(found.chosen)


@dataclass(eq=False, repr=False)
class LandmarkKNNRegressor(RegressorMixin, EmbeddedNeighbours, GridModel):
    r"""The mean target of the nearest training points, by their similarities to landmarks.

    When to use it: numbers that are no linear function of similarities, with few comparisons for
    each prediction.

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d landmarks, as by
    :class:`LandmarkKNNClassifier`, and gets the mean target of its neighbours in the embedding
    among all training points. A prediction makes d comparisons, or d + n_refined.

    Parameters
    ----------
    n_landmarks : int or "auto", default=100
        Number of landmarks d; "auto" finds it on the validation points, see
        :class:`BBSClassifier`.
    max_comparisons, similarity, kind, selection
        As for :class:`RegLand`.
    n_neighbors : int or sequence of int, default=(1, 3, 5, 10, 20)
        The number k; of several the best on the validation points is chosen, by the mean squared
        error, then the greatest. Of several, those above the number of points trained on count
        as this.
    metric, n_refined, weights
        As for :class:`LandmarkKNNClassifier`. Sample weights multiply those of neighbours.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    n_neighbors_ : int
        The k in use.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Minus the mean squared error on the validation points of each k, in descending order of
        k; None without such points.
    growth_ : tuple of TriedSize
        What ``n_landmarks="auto"`` tried.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    References
    ----------
    As for :class:`LandmarkKNNClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import LandmarkKNNRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = LandmarkKNNRegressor(5, similarity="manhattan", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    """

    n_landmarks: int | str = 100
    _: KW_ONLY
    max_comparisons: int | None = None
    n_neighbors: Any = (1, 3, 5, 10, 20)
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    metric: str = "euclidean"
    n_refined: int = 0
    weights: str | Callable[[np.ndarray], Any] = "uniform"
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {**GridModel._parameter_constraints, **_PARAMETERS}
    _divides = False
    double_dipping = True

    def predict(self, X: Any) -> Floats:
        """Predict the targets of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        predicted = self._averages(X)
        return predicted[:, 0] if self._one_target else predicted

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _grid(self) -> dict[str, np.ndarray]:
        return {"n_neighbors": np.array(neighbor_numbers(self.n_neighbors))}

    def _check_targets(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Indices]:
        X, y = self._check_training(X, y)
        return X, y.astype(np.float64), np.zeros(len(y), dtype=np.intp)

    def _train(
        self,
        features: Floats,
        targets: np.ndarray,
        grid: dict[str, np.ndarray],
        rng: Any,
        weights: np.ndarray | None,
    ) -> list[tuple[Neighbours, int]]:
        votes = targets.reshape(len(targets), -1)
        model = embedded_neighbours(self, features, votes, weights, self._candidates)
        self._one_target = targets.ndim == 1
        return [(model, k) for k in possible_numbers(grid["n_neighbors"].tolist(), model.most)]

    def _similarities(
        self, X: Any, y: np.ndarray, rows: Indices
    ) -> tuple[Landmarks, KeptSimilarities]:
        self._candidates, similarities = super()._similarities(X, y, rows)
        return self._candidates, similarities

    def _losses(
        self, models: list[tuple[Neighbours, int]], features: Floats, targets: Any, points: Any
    ) -> list[np.ndarray]:
        neighbours, ks = models[0][0], [k for _, k in models]
        true = targets.reshape(len(targets), -1)
        averages = neighbours.average(features, ks, points)
        return [((true - each) ** 2).mean(axis=1) for each in averages]

    def _keep(self, model: tuple[Neighbours, int], dtype: Any) -> None:
        self._model, self.n_neighbors_ = model
        del self._candidates
