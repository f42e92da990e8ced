"""BBS, and the base class of the linear separators in a landmarked space."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn import model_selection
from kernlearn.landmarks.classifier import SimilarityClassifier, Training, decide
from kernlearn.landmarks.selection import SELECTIONS, select_landmarks
from kernlearn.solvers.linear_path import linear_paths


class LandmarkClassifier(SimilarityClassifier):
    """Base of BBS and FTUNE, linear separators in a landmarked space.

    A subclass defines `_n_choices`, `_learn` and `_add_scores`.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions(set(SELECTIONS))],
        "normalize": ["boolean"],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "loss": [StrOptions(set(model_selection.LOSSES))],
        "solver": [StrOptions({"auto", "newton", "truncated_newton", "liblinear"})],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
    }

    n_landmarks: int
    selection: str
    normalize: bool
    C: Any
    loss: str
    solver: str
    tol: float | None
    fit_intercept: bool

    @abstractmethod
    def _add_scores(self, similarities: NDArray[Any], scores: NDArray[Any]) -> None:
        """Add Σ w f(·) to scores (n_rows, n_problems), from similarities to `_landmarks`."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the weighted sum of each point's embedding for each one-vs-all problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two; else positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        scores = np.empty((X.shape[0], len(self.coef_)), dtype=self.coef_.dtype)
        scores[:] = self.intercept_
        for rows, similarities in self._landmarks.blocks(X):
            self._add_scores(similarities, scores[rows])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = decide(self.decision_function(X))
        return self.classes_[codes]

    def _Cs(self) -> NDArray[np.float64]:
        return model_selection.candidate_values(self.C, "C")

    def _solver_options(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the keywords of `linear_path`."""
        return {
            "loss": self.loss,
            "solver": self.solver,
            "tol": self.tol,
            "fit_intercept": self.fit_intercept,
            "seed": rng.randint(np.iinfo(np.int32).max),
        }

    def _scoreboard(
        self, data: Training, shape: tuple[int, int]
    ) -> model_selection.Scoreboard | None:
        """Return a scoreboard for the validation points, None without any."""
        if data.codes_val is None:
            return None
        n_problems = len(self.classes_) if len(self.classes_) > 2 else 1
        return model_selection.Scoreboard(data.codes_val, n_problems, shape, self.loss)

    def _scale(self, blocks: Iterable[NDArray[Any]]) -> float:
        """Return the divisor of similarities, and warn if these are all the same.

        It is the greatest absolute value in the blocks of columns, the training points'
        similarities to the landmarks; 1 without ``normalize``, or if all are 0.
        """
        largest, varies = 0.0, False
        for block in blocks:
            low, high = block.min(axis=0), block.max(axis=0)
            largest = max(largest, -float(low.min()), float(high.max()))
            varies = varies or bool((low < high).any())
        if not varies:
            warnings.warn(
                "all training points have the same similarities to the landmarks: the "
                "similarity says nothing about the classes",
                UserWarning,
                stacklevel=5,
            )
        return largest if self.normalize and largest > 0 else 1.0


@dataclass(frozen=True)
class WeightedLandmark:
    """A landmark and its weights in the decision function.

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
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed" if the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is computed from the points trained on.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d.
    selection : {"random", "stratified", "dselect"}, default="random"
        How landmarks are chosen from the points trained on: "dselect" is algorithm 3.
    normalize : bool, default=True
        Whether similarities are divided by the greatest absolute one between training points
        and landmarks: the thesis takes them to be at most 1, and C depends on it.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss against the regularizer. Of several values the best on the validation
        points is chosen, by accuracy, ties by the smaller mean loss over points and problems,
        then by the smaller C.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        Loss of the linear separators.
    solver : {"auto", "newton", "truncated_newton", "liblinear"}, default="auto"
        Solver of the linear separators. "newton" converges to the minimum; "liblinear", and
        "truncated_newton" for the squared hinge in a fraction of the time, stop where LIBLINEAR
        does, which at large C is far from it. "auto" takes the first that supports the loss.
    tol : float or None, default=None
        The solver's tolerance; None is its default.
    fit_intercept : bool, default=False
        Whether separators have an intercept.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points, the landmarks, and the solver's order of points.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Rows of the landmarks in the X passed to `fit`.
    coef_ : ndarray of shape (n_problems, n_landmarks)
        Weights: one row per class, or one row, for ``classes_[1]``, if there are two.
    intercept_ : ndarray of shape (n_problems,)
        Zeros without ``fit_intercept``.
    C_ : float
        The C chosen.
    best_params_ : dict
        The values chosen, by parameter name.
    validation_scores_ : ndarray of shape (n_C,) or None
        Accuracy on the validation points with each C, ascending; None without such points.
    scale_ : float
        The divisor of similarities.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    See Also
    --------
    FTuneClassifier : Learns a transfer function of differences of similarities.

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
        return len(self._Cs())

    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        Cs = self._Cs()
        chosen = select_landmarks(
            self.n_landmarks, data.codes,
            selection=self.selection, column=data.similarities.column, rng=rng,
        )  # fmt: skip
        landmarks = data.candidates.take(chosen)
        similarities = data.similarities.columns(chosen)
        self.scale_ = self._scale([similarities])
        features = similarities / self.scale_
        coef, intercept = linear_paths(features, data.targets, Cs, **self._solver_options(rng))
        best, self.validation_scores_ = 0, None
        board = self._scoreboard(data, (1, len(Cs)))
        if board is not None:
            features = landmarks.compare(data.X_val) / self.scale_
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
