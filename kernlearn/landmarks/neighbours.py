"""k nearest neighbours by the similarities to landmarks."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, FRACTION, WHOLE
from kernlearn.landmarks.base import SELECTION, SimilarityClassifier, Training
from kernlearn.landmarks.selection import select_landmarks
from kernlearn.landmarks.similarity import Floats, Indices
from kernlearn.model_selection import candidate_values


@dataclass(eq=False, repr=False)
class LandmarkKNNClassifier(SimilarityClassifier):
    r"""k nearest neighbours among all training points, by their similarities to landmarks.

    When to use it: classes that no linear function of similarities separates, with few
    comparisons for each prediction.

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d training points,
    the landmarks, and gets the class that most of its neighbours in the embedding have, by the
    Euclidean distance, that of the dissimilarity space [2]_. Training
    points are embedded at `fit`, so that a prediction makes d comparisons: nearest neighbours by
    the similarity itself (:class:`SimilarityKNNClassifier`) make one for each training point.
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
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
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
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    n_refined: int = 0
    validation_fraction: float = 0.2
    random_state: Any = None

    _parameter_constraints = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [SELECTION],
        "n_neighbors": [COUNT, "array-like"],
        "n_refined": [WHOLE],
        "validation_fraction": [FRACTION],
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
        return self._scores(X)

    def _grid(self) -> dict[str, Any]:
        return {"n_neighbors": candidate_values(self.n_neighbors, "n_neighbors", integer=True)}

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        codes, similarities = data.codes, data.similarities
        chosen = select_landmarks(self.n_landmarks, codes, self.selection, rng, similarities)
        self.landmark_indices_ = data.candidates.indices[chosen]
        self._set_landmarks(data.candidates.take(chosen))
        features = similarities.columns(chosen)
        self._dtype, self._trained = features.dtype, data.candidates
        self._search = NearestNeighbors(algorithm="brute").fit(features)
        self._votes = np.eye(len(self.classes_))[codes]
        if data.weights is not None:
            self._votes *= data.weights[:, np.newaxis]
        self._n_refined = min(self.n_refined, len(codes))
        self.n_comparisons_ += self._n_refined
        # of equally good numbers of neighbours the greatest is the best
        ks = grid["n_neighbors"][::-1].tolist()
        most = self._n_refined or len(codes)
        if len(ks) == 1 and ks[0] > most:
            raise ValueError(
                "'n_neighbors' must be at most the number of points trained on, or compared with "
                f"by n_refined, {most}, got {ks[0]}"
            )
        ks = [min(k, most) for k in ks]
        best, self.validation_scores_ = 0, None
        if data.X_val is not None:
            shares = self._shares(self._landmarks.compare(data.X_val), ks, data.X_val)
            right = np.array([each.argmax(axis=1) == data.codes_val for each in shares])
            self.validation_scores_ = np.average(right, axis=1, weights=data.weights_val)
            best = int(self.validation_scores_.argmax())
        self.n_neighbors_ = ks[best]
        self.best_params_ = {"n_neighbors": ks[best]}

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X, ks = self._check_points(X), [self.n_neighbors_]
        blocks = self._landmarks.blocks(X)
        return np.concatenate([self._shares(values, ks, X[rows])[0] for rows, values in blocks])

    def _shares(self, features: Floats, ks: list[int], points: Any) -> list[Floats]:
        """Return the shares of the votes of each point's k nearest, for each k."""
        features = features.astype(self._dtype, copy=False)
        nearest = self._search.kneighbors(
            features, self._n_refined or max(ks), return_distance=False
        )
        if self._n_refined:
            nearest = self._refined(points, nearest)
        totals = [self._votes[nearest[:, :k]].sum(axis=1) for k in ks]
        return [total / total.sum(axis=1, keepdims=True) for total in totals]

    def _refined(self, points: Any, nearest: Indices) -> Indices:
        """Sort the neighbours of each point by the similarity, the most similar first."""
        values = [
            self._trained.take(which).compare(points[i : i + 1])[0]
            for i, which in enumerate(nearest)
        ]
        order = np.argsort(-np.array(values), axis=1, kind="stable")
        return np.take_along_axis(nearest, order, axis=1)
