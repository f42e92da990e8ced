"""BBS, and the base class of linear separators in a landmarked space."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlearn.calibration import CALIBRATION
from kernlearn.constraints import CLASS_WEIGHT, COUNT, POSITIVE, StrOptions
from kernlearn.landmarks import base
from kernlearn.landmarks.growing_classifier import GrowingClassifier
from kernlearn.landmarks.growth import Candidate
from kernlearn.landmarks.similarity import Floats, Indices
from kernlearn.landmarks.similarity_classifier import SimilarityClassifier, Training
from kernlearn.model_selection import LOSSES, Scoreboard, candidate_values
from kernlearn.solvers.linear_path import linear_paths


class LandmarkClassifier(SimilarityClassifier):
    """Base of BBS and FTUNE, linear separators in a landmarked space."""

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [base.SELECTION],
        "normalize": ["boolean"],
        "C": [POSITIVE, "array-like"],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"auto", "newton", "truncated_newton", "liblinear"})],
        "tol": [POSITIVE, None],
        "fit_intercept": ["boolean"],
        "class_weight": CLASS_WEIGHT,
        "calibration": CALIBRATION,
    }

    normalize: bool
    C: Any
    loss: str

    @abstractmethod
    def _add_scores(self, X: Any, scores: np.ndarray) -> None:
        """Add Σ w f(·) of validated points to scores (n_samples, n_problems)."""

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
        self._add_scores(X, scores)
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
        return Scoreboard(codes, len(data.targets), shape, self.loss, data.weights_val)

    def _scored(
        self, data: Training, coef: Floats, intercept: Floats, held_out: Floats | None
    ) -> Scoreboard:
        """Return the scores of separators for each C, (n_problems, n_C, n_features).

        `held_out` are the validation points' features, None without any.
        """
        board = self._scoreboard(data, (1, coef.shape[1]))
        if held_out is not None:
            for problem, (weights, offsets) in enumerate(zip(coef, intercept, strict=True)):
                board.add(problem, 0, held_out @ weights.T.astype(held_out.dtype) + offsets)
        return board

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
                stacklevel=6,
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
class BBSClassifier(GrowingClassifier, LandmarkClassifier):
    r"""Linear separation in the space of similarities to landmarks (Balcan & Blum).

    When to use it: any similarity, indefinite or of objects, with few comparisons for each
    prediction; the first to try.

    A point is embedded as :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d))` for d training
    points, the landmarks, and classified by a linear separator there, one-vs-all. The
    similarity may be indefinite. With ``selection="dselect"`` this is the thesis' BBS+D.

    Parameters
    ----------
    n_landmarks : int or "auto", default=100
        Number of landmarks d, shared by all classes; all training points, with a warning, if
        there are fewer. "auto" tries 5, 10, 20, and so on (at first as many as classes, if there
        are more), each set with the landmarks of the one before, whose similarities are not
        computed again. A set is kept if the gain of the validation accuracy, over the set kept
        before, is more than its standard error, or if the accuracy is not less and the mean loss
        gains as much. The sets grow until two in succession are not kept.
    max_comparisons : int, default=None
        With ``n_landmarks="auto"`` the most landmarks that are tried, and so the most comparisons
        of a prediction; `fit` makes as many for each training and validation point at most, and
        those of the selection. None is the number of training points.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed" if the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is computed from the points trained on.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d.
    selection : {"random", "stratified", "dselect", "kmeans++", "kmedoids", "leverage", \
            "rpcholesky"}, default="random"
        How landmarks are chosen from the points trained on. "random" ignores classes,
        "stratified" takes some of each class in proportion to its size, "dselect" (algorithm 3)
        takes points unlike each other, "kmedoids" points such that each has one nearby, on a
        sample of the points. "kmeans++", "leverage" and "rpcholesky" are drawn to span the feature
        space of the similarity as a kernel, by D² sampling, by approximate ridge leverage scores,
        or by randomly pivoted Cholesky. All but the first two choose from each class evenly if
        there are more than two, and take at least one point of either of two.
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
    class_weight : dict, "balanced" or None, default=None
        Factors on the losses of the points of each class, and on the validation points in the
        choice of parameters.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        How decision values are mapped to the probabilities of `predict_proba`, which is there
        unless this is None. The map is fitted on the validation points, some of which are held
        out even if there is one C only.
    n_jobs : int, default=None
        Number of workers that compare points, in `fit` and in predictions, for a function of two
        points and for similarities that have a parameter ``n_jobs``; None is 1, or what the
        similarity says, and -1 all cores. Other similarities are matrix products, which run on
        all cores.
    verbose : bool or int, default=False
        Whether the number of comparisons that have been made is shown on the standard error, in
        `fit` and in predictions.

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
    growth_ : tuple of TriedSize
        The numbers of landmarks that were tried, the accuracy, what it gained and the
        comparisons made; only with ``n_landmarks="auto"``.
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

    n_landmarks: int | str = 100
    _: KW_ONLY
    max_comparisons: int | None = None
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
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **LandmarkClassifier._parameter_constraints,
        **GrowingClassifier._parameter_constraints,
    }

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

    def _options(self, rng: np.random.RandomState) -> dict[str, Any]:
        return self._solver_options(rng)

    def _fit_at(
        self,
        data: Training,
        grid: dict[str, Any],
        options: dict[str, Any],
        chosen: Indices,
        held_out: Floats | None,
    ) -> Candidate:
        Cs = grid["C"]
        similarities = data.similarities.columns(chosen)
        scale = self._scale([similarities])
        features = similarities / scale
        coef, intercept = linear_paths(features, data.targets, Cs, **options, weights=data.weights)
        if held_out is not None:
            held_out = held_out / scale
        board = self._scored(data, coef, intercept, held_out)
        best = board.best(each=False)[0][1]
        dtype = (features if held_out is None else held_out).dtype
        separators = coef[:, best].astype(dtype), intercept[:, best].astype(dtype)
        model = scale, float(Cs[best]), *separators
        if held_out is None:
            return Candidate(chosen, model)
        return Candidate(
            chosen,
            model,
            board.accuracies(each=False)[0],
            1.0 - board.correct(0, best),
            board.losses(0, best),
        )

    def _keep(self, data: Training, found: Candidate) -> None:
        self.scale_, self.C_, self.coef_, self.intercept_ = found.model
        self.best_params_ = {"C": self.C_}
        self._landmark_labels = self.classes_[data.codes[found.chosen]]
        used = np.flatnonzero(self.coef_.any(axis=0))
        self._landmarks = data.candidates.take(found.chosen[used])
        self._weights = self.coef_.T[used]

    def _add_scores(self, X: Any, scores: np.ndarray) -> None:
        for rows, similarities in self._landmarks.blocks(X):
            scores[rows] += (similarities / self.scale_) @ self._weights
