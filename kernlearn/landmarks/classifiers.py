"""BBS and FTUNE: linear separators of similarities to landmarks, or to pairs of landmarks."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks import base
from kernlearn.landmarks.base import SimilarityClassifier, Training
from kernlearn.landmarks.selection import select_landmarks, select_pairs
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, by_column
from kernlearn.landmarks.transfer import NAMED, Transfer, as_transfer
from kernlearn.linear.path import linear_paths
from kernlearn.validation import (
    CLASS_WEIGHT,
    COUNT,
    FRACTION,
    POSITIVE,
    StrOptions,
    candidate_values,
    first_best,
    taken,
)

#: Losses of a margin.
LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "squared_hinge": lambda margins: np.maximum(0, 1 - margins) ** 2,
    "hinge": lambda margins: np.maximum(0, 1 - margins),
    "logistic": lambda margins: np.logaddexp(0, -margins),
}


class Scoreboard:
    """Scores on the validation points of each choice of a grid, for one or more problems.

    Decision values are added for one problem and one row of the grid at a time, and not kept.

    Parameters
    ----------
    codes : ndarray of shape (n_val,)
        Class of each point; -1 for a class without training points. Such a point counts as an
        error of every choice, and is otherwise ignored.
    n_problems : int
        1 for two classes (class 1 against class 0), else the number of classes.
    shape : tuple of int
        Rows and columns of the grid.
    loss : {"squared_hinge", "hinge", "logistic"}
        The loss that breaks ties.
    weights : ndarray of shape (n_val,), default=None
        Weights of the points; None for equal ones.
    """

    def __init__(
        self,
        codes: Indices,
        n_problems: int,
        shape: tuple[int, int],
        loss: str,
        weights: np.ndarray | None = None,
    ) -> None:
        self.codes = codes
        self._weights = weights
        self._loss = LOSSES[loss]
        self._known = codes >= 0
        counts = np.intp if weights is None else np.float64
        self._correct = np.zeros((n_problems, *shape), dtype=counts)
        self._losses = np.zeros((n_problems, *shape))
        # The class with the greatest decision value so far, and that value.
        self._winner = np.zeros((*shape, len(codes)), dtype=np.int32)
        self._greatest = np.full((*shape, len(codes)), 0.0 if n_problems == 1 else -np.inf)

    def add(self, problem: int, row: int, scores: Floats) -> None:
        """Add the decision values of one problem, (n_val, n_columns), for a row of the grid."""
        code = 1 if len(self._correct) == 1 else problem
        positive = self.codes == code
        known = scores[self._known].T
        target = np.where(positive[self._known], 1, -1)
        correct = (known > 0) == (target > 0)
        weights = taken(self._weights, self._known)
        self._correct[problem, row] = correct.sum(axis=1) if weights is None else correct @ weights
        if known.size:
            losses = self._loss(target * known)
            self._losses[problem, row] = np.average(losses, axis=1, weights=weights)
        better = self._greatest[row] < scores.T
        self._winner[row][better] = code
        self._greatest[row][better] = scores.T[better]

    def accuracies(self, *, each: bool) -> Floats:
        """Return the accuracy of every choice, of all problems together or of `each`."""
        total = len(self.codes) if self._weights is None else self._weights.sum()
        return self._counts(each) / total

    def best(self, *, each: bool) -> list[tuple[int, int]]:
        """Choose by accuracy, then by the smaller mean loss, then by the order of the grid.

        Returns the row and the column for each problem, the same for all unless `each`.
        """
        shape = self._correct.shape[1:]
        if each:
            places = list(map(first_best, -self._correct, self._losses))
        else:
            best = first_best(-self._counts(False), self._losses.mean(axis=0))
            places = [best] * len(self._correct)
        cells = [np.unravel_index(place, shape) for place in places]
        return [(int(row), int(column)) for row, column in cells]

    def _counts(self, each: bool) -> np.ndarray:
        if each:
            return self._correct
        correct: np.ndarray = self._winner == self.codes
        if self._weights is None:
            return correct.sum(axis=-1)
        return correct @ self._weights


class LandmarkClassifier(SimilarityClassifier):
    """Base of BBS and FTUNE, linear separators in a landmarked space."""

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [base.SELECTION],
        "C": [POSITIVE, "array-like"],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"newton", "truncated_newton"})],
        "tol": [POSITIVE, None],
        "fit_intercept": ["boolean"],
        "validation_fraction": [FRACTION],
        "class_weight": CLASS_WEIGHT,
    }

    C: Any
    loss: str

    @abstractmethod
    def _add_scores(self, similarities: Floats, scores: Floats) -> None:
        """Add Σ w f(·) of a block of points to scores (n_points, n_problems)."""

    def decision_function(self, X: Any) -> Floats:
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

    @abstractmethod
    def _write_contributions(self, similarities: Floats, out: Floats) -> None:
        """Write w f(·) of a block of points into zeros (n_points, n_problems, n_landmarks)."""

    def contributions(self, X: Any) -> Floats:
        """Return what each landmark, or pair of landmarks, adds to the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_landmarks) or (n_samples, n_classes, n_landmarks)
            Summed over the last axis, with ``intercept_`` added, they are the decision values.
            The last axis is that of ``coef_``: ``landmark_indices_`` has the landmarks.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        found = np.zeros((X.shape[0], *self.coef_.shape), dtype=self.coef_.dtype)
        for rows, similarities in self._landmarks.blocks(X):
            self._write_contributions(similarities, found[rows])
        return found[:, 0] if len(self.classes_) == 2 else found

    def _grid(self) -> dict[str, Any]:
        return {"C": candidate_values(self.C, "C")}

    def _solver_options(self, data: Training) -> dict[str, Any]:
        """Return the keywords of `linear_paths`."""
        options = {k: getattr(self, k) for k in ("loss", "solver", "tol", "fit_intercept")}
        return {**options, "weights": data.weights}

    def _scoreboard(self, data: Training, shape: tuple[int, int]) -> Scoreboard:
        """Return an empty scoreboard; without validation data the first candidate wins."""
        codes = np.zeros(0, dtype=np.intp) if data.codes_val is None else data.codes_val
        return Scoreboard(codes, len(data.targets()), shape, self.loss, data.weights_val)

    def _scale(self, blocks: Iterable[Floats]) -> float:
        """Return the divisor of similarities, and warn if these are all the same.

        It is the greatest absolute value in the blocks of columns, the training points'
        similarities to the landmarks; 1 if all are 0.
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
        return largest or 1.0


@dataclass(eq=False, repr=False)
class BBSClassifier(LandmarkClassifier):
    r"""Linear separation in the space of similarities to landmarks (Balcan & Blum).

    When to use it: any similarity, indefinite or of objects, with few comparisons for each
    prediction; the first to try.

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
    selection : {"random", "stratified", "dselect", "kmeans++", "leverage", \
            "rpcholesky"}, default="random"
        How landmarks are chosen from the points trained on. "random" ignores classes,
        "stratified" takes some of each class in proportion to its size, "dselect" (algorithm 3)
        takes points unlike each other. "kmeans++", "leverage" and "rpcholesky" are drawn to span
        the feature space of the similarity as a kernel, by D² sampling, by approximate ridge
        leverage scores, or by randomly pivoted Cholesky. All but the first two choose from each
        class evenly if there are more than two, and take at least one point of either of two.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss against the regularizer. Of several values the best on the validation
        points is chosen, by accuracy, ties by the smaller mean loss over points and problems,
        then by the smaller C.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        Loss of the linear separators.
    solver : {"newton", "truncated_newton"}, default="newton"
        Solver of the linear separators. "newton" converges to the minimum; "truncated_newton",
        for the squared hinge, stops where LIBLINEAR does, which at large C is far from it.
    tol : float or None, default=None
        The solver's tolerance; None is its default.
    fit_intercept : bool, default=False
        Whether separators have an intercept.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.
    class_weight : dict, "balanced" or None, default=None
        Factors on the losses of the points of each class, and on the validation points in the
        choice of parameters.

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
        The divisor of similarities, the greatest absolute one between training points and
        landmarks: the thesis takes them to be at most 1, and C depends on it.
    n_comparisons_, n_fit_comparisons_ : int
        Number of landmarks that a prediction compares a point with, those with a weight, and of
        similarities that `fit` has evaluated.
    compared_indices_ : ndarray of shape (n_comparisons_,)
        Rows of these landmarks.
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
    C: Any = (1, 10, 100, 1000)
    loss: str = "squared_hinge"
    solver: str = "newton"
    tol: float | None = None
    fit_intercept: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        Cs = grid["C"]
        chosen = select_landmarks(
            self.n_landmarks, data.codes, self.selection, rng, data.similarities
        )
        options = self._solver_options(data)
        similarities = data.similarities.columns(chosen)
        self.scale_ = self._scale([similarities])
        features = similarities / self.scale_
        coef, intercept = linear_paths(features, data.targets(), Cs, **options)
        board, dtype = self._scoreboard(data, (1, len(Cs))), features.dtype
        self.validation_scores_ = None
        if data.X_val is not None:
            held_out = data.candidates.take(chosen).compare(data.X_val) / self.scale_
            dtype = held_out.dtype
            for problem, (weights, offsets) in enumerate(zip(coef, intercept, strict=True)):
                board.add(problem, 0, held_out @ weights.T.astype(dtype) + offsets)
            self.validation_scores_ = board.accuracies(each=False)[0]
        best = board.best(each=False)[0][1]
        self.C_ = float(Cs[best])
        self.best_params_ = {"C": self.C_}
        self.coef_, self.intercept_ = coef[:, best].astype(dtype), intercept[:, best].astype(dtype)
        self.landmark_indices_ = data.candidates.indices[chosen]
        used = np.flatnonzero(self.coef_.any(axis=0))
        self._set_landmarks(data.candidates.take(chosen[used]))
        self._weights = self.coef_.T[used]

    def _add_scores(self, similarities: Floats, scores: Floats) -> None:
        scores += (similarities / self.scale_) @ self._weights

    def _write_contributions(self, similarities: Floats, out: Floats) -> None:
        embedded = (similarities / self.scale_)[:, np.newaxis]
        out[:, :, self.coef_.any(axis=0)] = embedded * self._weights.T


@dataclass(eq=False, repr=False)
class FTuneClassifier(LandmarkClassifier):
    r"""Linear separation in a landmarked space whose transfer function is learnt (FTUNE).

    When to use it: as :class:`BBSClassifier`, where comparing two similarities says more than
    their values do.

    A point is embedded as :math:`\Phi(x) = (f(K(x, x_i^+) - K(x, x_i^-)))_{i \le d}` for d
    pairs of training points of a class and of the rest, drawn for each one-vs-all problem, and
    classified by :math:`\operatorname{sgn} \sum_i w_i f(K(x, x_i^+) - K(x, x_i^-))`. The
    transfer function f is the best of a family on validation points (algorithm 4). The
    similarity may be indefinite. With ``selection="dselect"`` this is FTUNE+D, with
    ``per_class=True`` FTUNE-M, otherwise FTUNE-S.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmark pairs d of each one-vs-all problem. Points may be in several.
    similarity, kind, selection, loss, solver, tol, fit_intercept
        As for :class:`BBSClassifier`; slopes too depend on the divisor of similarities. With
        ``selection="dselect"`` pairs are drawn from d points chosen by algorithm 3, with
        "kmeans++", "leverage" and "rpcholesky" from d points chosen by these, with
        "shared" from d points drawn evenly from the classes, which all problems share: a
        prediction then takes no more similarities than with d single landmarks.
    transfers : sequence, default=(1, 5, 10, 50, 100, 1000)
        The family of transfer functions, or a single one: each a :class:`Transfer`, a name
        ("identity", "sign", "ramp", "sigmoid"), the slope of a :class:`Ramp`, or an
        antisymmetric callable. The default is that of section 4.3.
    per_class : bool, default=False
        False (FTUNE-S) chooses one transfer function and one C for all classes, by the
        multi-class accuracy on the validation points. True (FTUNE-M) chooses them for each
        one-vs-all problem, by its own accuracy. Ties go to the smaller mean loss on the
        validation points (over all problems for FTUNE-S), which algorithm 4 minimises; then to
        the first transfer function; then to the smaller C.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss against the regularizer, chosen along with the transfer function.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the pairs.
    class_weight
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    landmark_indices_ : ndarray of shape (n_problems, n_landmarks, 2)
        Rows of x⁺ and x⁻ in the X passed to `fit`; one problem per class, or one, for
        ``classes_[1]``, if there are two.
    coef_ : ndarray of shape (n_problems, n_landmarks)
        Weights of the pairs.
    intercept_ : ndarray of shape (n_problems,)
        Zeros without ``fit_intercept``.
    transfers_ : tuple of Transfer
        The transfer function of each problem; with ``per_class=False`` all are the same.
    transfer_ : Transfer
        That one; only with ``per_class=False``.
    C_ : float or ndarray of shape (n_problems,)
        The C chosen; of each problem with ``per_class=True``.
    best_params_ : dict
        The values chosen, by parameter name; only with ``per_class=False``.
    validation_scores_ : ndarray of shape (n_transfers, n_C) or (n_problems, n_transfers, n_C)
        Accuracy on the validation points of each choice, C ascending; of each problem on its
        own with ``per_class=True``. None without validation points.
    scale_ : float
        The divisor of similarities.
    n_comparisons_, n_fit_comparisons_, compared_indices_
        As for :class:`BBSClassifier`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    See Also
    --------
    BBSClassifier : Similarities to single landmarks.

    References
    ----------
    Kar (2013), sections 4.2 and 4.3, theorem 4.2, algorithms 3 and 4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.landmarks import FTuneClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = FTuneClassifier(n_landmarks=40, random_state=0).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.95
    True
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    transfers: Any = (1, 5, 10, 50, 100, 1000)
    per_class: bool = False
    selection: str = "random"
    C: Any = (1, 10, 100, 1000)
    loss: str = "squared_hinge"
    solver: str = "newton"
    tol: float | None = None
    fit_intercept: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None

    _parameter_constraints = {
        **LandmarkClassifier._parameter_constraints,
        "selection": [base.PAIR_SELECTION],
        "transfers": ["array-like", callable, Real, StrOptions(set(NAMED))],
        "per_class": ["boolean"],
    }

    def _grid(self) -> dict[str, Any]:
        family = self.transfers
        if isinstance(family, (str, Real)) or callable(family):
            family = [family]
        if not len(family):
            raise ValueError("'transfers' must hold at least one transfer function")
        return {"transfers": [as_transfer(transfer) for transfer in family], **super()._grid()}

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        family, Cs = grid.values()
        options = self._solver_options(data)
        rng.randint(np.iinfo(np.int32).max)  # drawn before the pairs of the measured tables
        pairs = select_pairs(self.n_landmarks, data.codes, self.selection, rng, data.similarities)
        distinct, places = np.unique(pairs, return_inverse=True)
        points = [data.similarities]
        if data.X_val is not None:
            points.append(KeptSimilarities(data.candidates, data.X_val))
        for similarities in points:
            similarities.keep(distinct)
        batches = gen_batches(len(distinct), 256)
        self.scale_ = self._scale(points[0].columns(distinct[batch]) for batch in batches)
        board = self._scoreboard(data, (len(family), len(Cs)))
        paths = []
        for problem, target in enumerate(data.targets()):
            embedded = self._embeddings(points[0], pairs[problem], family)
            paths.append([linear_paths(each, [target], Cs, **options) for each in embedded])
            for similarities in points[1:]:
                embedded = self._embeddings(similarities, pairs[problem], family)
                for row, (each, (coef, offset)) in enumerate(
                    zip(embedded, paths[-1], strict=True)
                ):
                    board.add(problem, row, each @ coef[0].T.astype(each.dtype) + offset[0])
        self.validation_scores_ = None
        if data.X_val is not None:
            self.validation_scores_ = board.accuracies(each=self.per_class)
        rows, columns = zip(*board.best(each=self.per_class), strict=True)
        best = [path[row] for path, row in zip(paths, rows, strict=True)]
        self.coef_ = np.array([c[0, i] for (c, _), i in zip(best, columns, strict=True)])
        self.intercept_ = np.array([b[0, i] for (_, b), i in zip(best, columns, strict=True)])
        self.transfers_ = tuple(family[row] for row in rows)
        for name in ("transfer_", "best_params_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.per_class:
            self.C_ = Cs[list(columns)]
        else:
            self.C_, self.transfer_ = float(Cs[columns[0]]), self.transfers_[0]
            self.best_params_ = {"transfers": repr(self.transfer_), "C": self.C_}
        self.landmark_indices_ = data.candidates.indices[pairs]
        # the landmarks of pairs with a weight, and where these pairs are among them
        places = places.reshape(pairs.shape)
        used = np.unique(places[self.coef_ != 0])
        self._set_landmarks(data.candidates.take(distinct[used]))
        self._pairs = [
            np.searchsorted(used, of_problem[weights != 0])
            for of_problem, weights in zip(places, self.coef_, strict=True)
        ]

    def _embeddings(
        self, points: KeptSimilarities, pairs: Indices, family: list[Transfer]
    ) -> Iterator[Floats]:
        """Yield the points' embedding with each transfer function, all in the same buffer."""
        differences = by_column(self._differences(points.by_landmark, pairs))
        embedded = np.empty_like(differences)
        for transfer in family:
            yield transfer(differences, out=embedded)

    def _differences(self, similarities: Callable[[Indices], Floats], pairs: Indices) -> Floats:
        """Return K(x, x⁺) - K(x, x⁻) from the similarities to landmarks, of either shape."""
        differences = similarities(pairs[:, 0])
        differences -= similarities(pairs[:, 1])
        differences /= self.scale_
        return differences

    def _add_scores(self, similarities: Floats, scores: Floats) -> None:
        for column, pairs, transfer, weights in zip(
            scores.T, self._pairs, self.transfers_, self.coef_, strict=True
        ):
            embedded = self._differences(lambda which: similarities[:, which], pairs)
            column += transfer(embedded, out=embedded) @ weights[weights != 0]

    def _write_contributions(self, similarities: Floats, out: Floats) -> None:
        for problem, (pairs, transfer, weights) in enumerate(
            zip(self._pairs, self.transfers_, self.coef_, strict=True)
        ):
            embedded = self._differences(lambda which: similarities[:, which], pairs)
            used = weights != 0
            out[:, problem, used] = transfer(embedded, out=embedded) * weights[used]
