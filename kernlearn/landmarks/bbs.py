"""BBS, and the base classes of classifiers that choose parameters on validation points."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted, check_random_state

from kernlearn.constraints import COUNT, FRACTION, POSITIVE, StrOptions
from kernlearn.landmarks import base
from kernlearn.landmarks.similarity import Indices, KeptSimilarities, Landmarks, select_landmarks
from kernlearn.model_selection import LOSSES, Scoreboard, candidate_values, split_for_choice
from kernlearn.solvers.labels import encode_labels
from kernlearn.solvers.linear_path import linear_paths


@dataclass(frozen=True)
class Training:
    """Training points of a classifier, and the points that its parameters are chosen on.

    `candidates` are all points of X, with their rows in the data as passed to `fit`, and
    `similarities` those of X to them. `codes` are classes; in `codes_val` -1 stands for a class
    without a point in X. `X_val` and `codes_val` are None where there is nothing to choose on.
    """

    X: Any
    codes: Indices
    candidates: Landmarks
    similarities: KeptSimilarities
    X_val: Any
    codes_val: Indices | None

    @property
    def targets(self) -> np.ndarray:
        """One row per one-vs-all problem, 1 for its class and -1 for the rest."""
        n_classes = self.codes.max() + 1
        positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return np.where(self.codes == positives[:, None], 1.0, -1.0)


class SimilarityClassifier(base.ScoresClassifier):
    """Base of the classifiers that choose parameters on validation points."""

    _parameter_constraints = {
        **base.ScoresClassifier._parameter_constraints,
        "validation_fraction": [FRACTION],
        "random_state": ["random_state"],
    }

    validation_fraction: float
    random_state: Any

    @abstractmethod
    def _grid(self) -> dict[str, Any]:
        """Return the values to choose from, by parameter, of equally good ones the best first."""

    @abstractmethod
    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        """Train, choose, and set the fitted attributes."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        X_val: Any = None,
        y_val: np.typing.ArrayLike | None = None,
    ) -> Self:
        """Fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function, a
            sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Labels of any kind, at least two classes.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on, not trained on. With
            ``similarity="precomputed"`` of shape (n_val, n_samples), their similarities to
            the training points. If None and there is more than one choice, a stratified share
            ``validation_fraction`` of X is held out, and the classifier is trained on the
            rest; with one choice it is trained on all points.
        y_val : array-like of shape (n_val,), default=None
            Their labels. One that is not in y counts as an error of every choice.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class; if only one of X_val and y_val is given, they do not
            match, or no label of y_val is in y; if points have to be held out and no class
            has two; if a matrix is not square or not as wide as there are training points; if
            points, labels or similarities are not finite.
        """
        grid = self._grid()
        X, labels = self._check_training(X, y)
        self.classes_, codes, _ = encode_labels(labels, None)
        rng = check_random_state(self.random_state)
        n_choices = prod(map(len, grid.values()))
        rows, X_val, y_val = split_for_choice(self, X, labels, X_val, y_val, codes, n_choices, rng)
        codes_val = None if y_val is None else self._validation_codes(y_val)
        if len(rows) < len(codes):
            X = X[rows]
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates = self._all_points(X, labels[rows], rows)
        kept = KeptSimilarities(candidates, X)
        self._learn(Training(X, codes[rows], candidates, kept, X_val, codes_val), grid, rng)
        return self

    def _validation_codes(self, y_val: np.ndarray) -> Indices:
        """Return the codes of labels, -1 for those that are not in `classes_`."""
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([code_of.get(label, -1) for label in y_val.tolist()], dtype=np.intp)
        if (codes < 0).all():
            known, unknown = (
                ", ".join(map(repr, labels[:5].tolist())) + ", …" * (len(labels) > 5)
                for labels in (self.classes_, np.unique(y_val))
            )
            raise ValueError(f"y_val holds none of the classes of y ({known}), only {unknown}")
        return codes


class LandmarkClassifier(SimilarityClassifier):
    """Base of BBS and FTUNE, linear separators in a landmarked space."""

    _parameter_constraints = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [base.SELECTION],
        "normalize": ["boolean"],
        "C": [POSITIVE, "array-like"],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"auto", "newton", "truncated_newton", "liblinear"})],
        "tol": [POSITIVE, None],
        "fit_intercept": ["boolean"],
    }

    normalize: bool
    C: Any
    loss: str

    @abstractmethod
    def _add_scores(self, similarities: np.ndarray, scores: np.ndarray) -> None:
        """Add Σ w f(·) to scores (n_rows, n_problems), from similarities to `_landmarks`."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the weighted sum of each point's embedding for each one-vs-all problem.

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
        X = self._check_points(X)
        scores = np.empty((X.shape[0], len(self.coef_)), dtype=self.coef_.dtype)
        scores[:] = self.intercept_
        for rows, similarities in self._landmarks.blocks(X):
            self._add_scores(similarities, scores[rows])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _grid(self) -> dict[str, Any]:
        return {"C": candidate_values(self.C, "C")}

    def _solver_options(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the keywords of `linear_path`."""
        options = {k: getattr(self, k) for k in ("loss", "solver", "tol", "fit_intercept")}
        return {**options, "seed": rng.randint(np.iinfo(np.int32).max)}

    def _scoreboard(self, data: Training, shape: tuple[int, int]) -> Scoreboard:
        """Return a scoreboard for the validation points, by which the first wins without any."""
        codes = np.zeros(0, dtype=np.intp) if data.codes_val is None else data.codes_val
        return Scoreboard(codes, len(data.targets), shape, self.loss)

    def _scale(self, blocks: Iterable[np.ndarray]) -> float:
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
    weights: np.ndarray


@dataclass(eq=False, repr=False)
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

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    normalize: bool = True
    C: Any = (1, 10, 100, 1000)
    loss: str = "squared_hinge"
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None

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

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        Cs = grid["C"]
        column = data.similarities.column
        chosen = select_landmarks(self.n_landmarks, data.codes, self.selection, rng, column)
        landmarks = data.candidates.take(chosen)
        similarities = data.similarities.columns(chosen)
        self.scale_ = self._scale([similarities])
        features = similarities / self.scale_
        coef, intercept = linear_paths(features, data.targets, Cs, **self._solver_options(rng))
        board, self.validation_scores_ = self._scoreboard(data, (1, len(Cs))), None
        if data.X_val is not None:
            features = landmarks.compare(data.X_val) / self.scale_
            for problem, (weights, offsets) in enumerate(zip(coef, intercept, strict=True)):
                board.add(problem, 0, features @ weights.T.astype(features.dtype) + offsets)
            self.validation_scores_ = board.accuracies(each=False)[0]
        best = board.best(each=False)[0][1]
        self.C_ = float(Cs[best])
        self.best_params_ = {"C": self.C_}
        self.coef_ = coef[:, best].astype(features.dtype)
        self.intercept_ = intercept[:, best].astype(features.dtype)
        self.landmark_indices_ = landmarks.indices
        self._landmark_labels = self.classes_[data.codes[chosen]]
        used = np.flatnonzero(self.coef_.any(axis=0))
        self._landmarks, self._weights = landmarks.take(used), self.coef_.T[used]

    def _add_scores(self, similarities: np.ndarray, scores: np.ndarray) -> None:
        scores += (similarities / self.scale_) @ self._weights
