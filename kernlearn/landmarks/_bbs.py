"""BBS: linear separators over the similarities to landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks._landmark_classifier import LandmarkClassifier, compared
from kernlearn.landmarks._selection import select_landmarks
from kernlearn.landmarks._training import Training, penalties
from kernlearn.solvers._linear_path import linear_paths


@dataclass(frozen=True)
class WeightedLandmark:
    """A landmark and what it adds to the decision.

    Attributes
    ----------
    index : int
        Its row in the training data as passed to `fit`.
    label : object
        Its class.
    weights : ndarray of shape (n_problems,)
        Weight of the similarity to it in each one-vs-all problem.
    """

    index: int
    label: Any
    weights: NDArray[np.floating]


class BBSClassifier(LandmarkClassifier):
    r"""Linear separation in the space of similarities to landmarks (Balcan & Blum).

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d training
    points, the landmarks, and classified by a linear separator there, one-vs-all. The
    similarity may be indefinite. With ``selection="dselect"`` this is the thesis' BBS+D.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks d, shared by all classes; all training points, with a warning, if
        there are fewer.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        A kernel's name, a kernel, a function (X, Y) -> matrix, or "precomputed" where the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is worked out on the points trained on.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is compared as the similarity -d.
    selection : {"random", "stratified", "dselect"}, default="random"
        How landmarks are chosen from the points trained on: "dselect" is algorithm 3.
    normalize : bool, default=True
        Whether similarities are divided by the greatest absolute one between training points
        and landmarks: the thesis takes them to be at most 1, and C depends on it.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss against the regularizer; of several the best on the validation
        points, by accuracy, ties by the smaller mean loss over points and problems, then by
        the smaller C.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        Loss of the linear separators.
    solver : {"auto", "newton", "truncated_newton", "liblinear"}, default="auto"
        What trains them. "newton" goes to the minimum; "liblinear", and "truncated_newton" for
        the squared hinge in a fraction of the time, stop where LIBLINEAR does, which at large
        C is far from it. "auto" takes the first where it can.
    tol : float or None, default=None
        The solver's tolerance; None is its default.
    fit_intercept : bool, default=False
        Whether separators have an intercept.
    validation_fraction : float, default=0.2
        Share of the training points that is kept apart for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Draws the points kept apart, the landmarks, and the solver's order of points.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Rows of the landmarks in the X passed to `fit`.
    coef_ : ndarray of shape (n_problems, n_landmarks)
        Weights: one row a class, or one row, for ``classes_[1]``, if there are two.
    intercept_ : ndarray of shape (n_problems,)
        Zeros without ``fit_intercept``.
    C_ : float
        The C chosen.
    best_params_ : dict
        What was chosen, by the parameter's name.
    validation_scores_ : ndarray of shape (n_C,) or None
        Accuracy on the validation points with each C, ascending; None without such points.
    scale_ : float
        What similarities are divided by.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    See Also
    --------
    FTuneClassifier : Learns what is made of differences of similarities.

    References
    ----------
    Balcan & Blum (2006), *On a theory of learning with similarity functions*.
    Kar (2013), sections 4.2 and 4.3, algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.landmarks import BBSClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = BBSClassifier(n_landmarks=40, random_state=0).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.95
    True
    """

    def __init__(
        self,
        n_landmarks: int = 100,
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        selection: str = "random",
        normalize: bool = True,
        C: Any = (1, 10, 100, 1000),
        loss: str = "squared_hinge",
        solver: str = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.selection = selection
        self.normalize = normalize
        self.C = C
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def landmarks(self) -> list[WeightedLandmark]:
        """Return the landmarks with their weights.

        Returns
        -------
        list of WeightedLandmark
            In the order of ``landmark_indices_``.
        """
        check_is_fitted(self)
        return [
            WeightedLandmark(int(index), label, weights)
            for index, label, weights in zip(
                self.landmark_indices_, self._landmark_labels, self.coef_.T, strict=True
            )
        ]

    def _n_choices(self) -> int:
        return len(penalties(self.C))

    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        Cs = penalties(self.C)
        chosen = select_landmarks(
            self.n_landmarks, data.codes, selection=self.selection, column=data.column, rng=rng
        )
        landmarks = data.candidates.take(chosen)
        similarities = compared(landmarks, data.X)
        self.scale_ = self._scale(similarities, len(landmarks))
        features = similarities(slice(None)) / self.scale_
        coef, intercept = linear_paths(features, data.targets, Cs, **self._solver_options(rng))
        best, self.validation_scores_ = 0, None
        board = self._scoreboard(data, (1, len(Cs)))
        if board is not None:
            features = compared(landmarks, data.X_val)(slice(None)) / self.scale_
            for problem, (weights, offsets) in enumerate(zip(coef, intercept, strict=True)):
                board.add(problem, 0, features @ weights.T.astype(features.dtype) + offsets)
            best = board.best(each=False)[0][1]
            self.validation_scores_ = board.accuracies(each=False)[0]
        self.C_ = float(Cs[best])
        self.best_params_ = {"C": self.C_}
        self.coef_ = coef[:, best].astype(features.dtype)
        self.intercept_ = intercept[:, best].astype(features.dtype)
        self.landmark_indices_ = landmarks.indices
        self._landmark_labels = self.classes_[data.codes[chosen]]
        used = np.flatnonzero(self.coef_.any(axis=0))
        self._landmarks, self._weights = landmarks.take(used), self.coef_.T[used]

    def _add_scores(self, similarities: NDArray[Any], scores: NDArray[Any]) -> None:
        scores += (similarities / self.scale_) @ self._weights
