"""Choosing among classifiers by their scores on points kept apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.similarity import Landmarks, SimilarityEstimator
from kernlearn.solvers.labels import encode_labels


def _hinge(margins: NDArray[Any]) -> NDArray[Any]:
    return np.maximum(0, 1 - margins)


def _squared_hinge(margins: NDArray[Any]) -> NDArray[Any]:
    return _hinge(margins) ** 2


def _logistic(margins: NDArray[Any]) -> NDArray[Any]:
    return np.logaddexp(0, -margins)


LOSSES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "squared_hinge": _squared_hinge,
    "hinge": _hinge,
    "logistic": _logistic,
}


def hold_out(
    codes: NDArray[np.intp], fraction: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Keep a stratified share of the points apart; at least one of each class is not.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each point, 0 to n_classes - 1.
    fraction : float
        Share to keep apart.
    rng : RandomState

    Returns
    -------
    kept, apart : ndarray of shape (n_kept,), (n_apart,)
        Places of the points, ascending.

    Raises
    ------
    ValueError
        If no class has two points.
    """
    # A point's place within its class, from 0 to 1: the first ones are a share of each class.
    place = np.empty(len(codes))
    for code in range(codes.max() + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        place[members] = (np.arange(len(members)) + rng.uniform()) / len(members)
        place[members[-1]] = np.inf
    n_apart = min(max(round(fraction * len(codes)), 1), np.count_nonzero(place < np.inf))
    if n_apart == 0:
        raise ValueError(
            "y has no class with two points, so that none can be kept apart to choose "
            "parameters on: give X_val and y_val, or a single choice"
        )
    apart = np.sort(np.argsort(place, kind="stable")[:n_apart])
    return np.setdiff1d(np.arange(len(codes)), apart), apart


class Scoreboard:
    """How well each choice of a grid does on the validation points.

    Scores are added one problem and one row of the grid at a time and are not kept.

    Parameters
    ----------
    codes : ndarray of shape (n_val,)
        Class of each point; -1 for a class that training knows nothing of. Such a point
        counts as an error of every choice, and is not looked at otherwise.
    n_problems : int
        1 for two classes (class 1 against class 0), else the number of classes.
    shape : tuple of int
        Rows and columns of the grid.
    loss : {"squared_hinge", "hinge", "logistic"}
        What breaks ties.
    """

    def __init__(
        self, codes: NDArray[np.intp], n_problems: int, shape: tuple[int, int], loss: str
    ) -> None:
        self.codes = codes
        self._loss = LOSSES[loss]
        self._known = codes >= 0
        self._correct = np.zeros((n_problems, *shape), dtype=np.intp)
        self._losses = np.zeros((n_problems, *shape))
        # The class with the greatest score so far, and that score.
        self._winner = np.zeros((*shape, len(codes)), dtype=np.int32)
        self._greatest = np.full((*shape, len(codes)), 0.0 if n_problems == 1 else -np.inf)

    def add(self, problem: int, row: int, scores: NDArray[np.floating]) -> None:
        """Take in the scores of one problem for a row of the grid.

        Parameters
        ----------
        problem, row : int
        scores : ndarray of shape (n_val, n_columns)
        """
        code = 1 if len(self._correct) == 1 else problem
        positive = self.codes == code
        known = scores[self._known].T
        target = np.where(positive[self._known], 1, -1)
        self._correct[problem, row] = ((known > 0) == (target > 0)).sum(axis=1)
        if known.size:
            self._losses[problem, row] = self._loss(target * known).mean(axis=1)
        better = self._greatest[row] < scores.T
        self._winner[row][better] = code
        self._greatest[row][better] = scores.T[better]

    def accuracies(self, *, each: bool) -> NDArray[np.float64]:
        """Return the accuracy of every choice.

        Parameters
        ----------
        each : bool
            Whether of each problem on its own, in place of that of the classifier of all.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or (n_problems, n_rows, n_columns)
        """
        return self._counts(each) / len(self.codes)

    def best(self, *, each: bool) -> list[tuple[int, int]]:
        """Choose by accuracy, then by the smaller mean loss, then by the order of the grid.

        Parameters
        ----------
        each : bool
            Whether for each problem on its own.

        Returns
        -------
        list of (row, column)
            One for each problem; the same for all unless `each`.
        """
        if each:
            return [
                _first_best(correct, loss)
                for correct, loss in zip(self._correct, self._losses, strict=True)
            ]
        return [_first_best(self._counts(False), self._losses.mean(axis=0))] * len(self._correct)

    def _counts(self, each: bool) -> NDArray[np.intp]:
        if each:
            return self._correct
        return (self._winner == self.codes).sum(axis=-1)


def _first_best(correct: NDArray[np.intp], loss: NDArray[np.float64]) -> tuple[int, int]:
    """Return the place of the greatest count, of those the least loss, of those the first."""
    order = np.lexsort((loss.ravel(), -correct.ravel()))
    row, column = np.unravel_index(order[0], correct.shape)
    return int(row), int(column)


@dataclass(frozen=True)
class Training:
    """Points that a classifier is trained on, and those that its parameters are chosen on.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_samples, ...)
    codes : ndarray of shape (n_samples,)
        Class of each point.
    candidates : Landmarks
        Every point of X; their indices are rows of the data as passed to `fit`.
    X_val : ndarray or sparse matrix of shape (n_val, ...)
        Nothing (no rows) where there is nothing to choose on.
    codes_val : ndarray of shape (n_val,)
        -1 for a class without a point in X.
    """

    X: Any
    codes: NDArray[np.intp]
    candidates: Landmarks
    X_val: Any
    codes_val: NDArray[np.intp]

    def column(self, i: int) -> NDArray[np.floating]:
        """Return the similarity of all points of X to the i-th."""
        return self.candidates.compare_one(self.X, i)

    @property
    def targets(self) -> NDArray[np.float64]:
        """One row a one-vs-all problem, 1 for its class and -1 for the rest."""
        n_classes = self.codes.max() + 1
        positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return np.where(self.codes == positives[:, None], 1.0, -1.0)


class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of classifiers that choose parameters on validation points.

    A subclass gives `_n_choices`, `_learn` and `decision_function`.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    validation_fraction: float
    random_state: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, X_val: Any = None, y_val: ArrayLike | None = None) -> Self:
        """Train on labelled points, once for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a function of your own, a
            sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Labels of any kind, two classes at least.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on; nothing is trained on them. With
            ``similarity="precomputed"`` of shape (n_val, n_samples), their similarities to
            the training points. If None and there is more than one choice, a share
            ``validation_fraction`` of X, stratified, is kept apart for choosing, and the
            classifier is the one trained on the rest; with one choice it is trained on all.
        y_val : array-like of shape (n_val,), default=None
            Their labels. One that y does not hold can be predicted by no choice and counts
            as an error.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class; if only one of X_val and y_val is given, they do not
            match, or no label of y_val is in y; if points have to be kept apart and no class
            has two; if a matrix is not square or not as wide as there are training points; if
            points, labels or similarities are not finite.
        """
        n_choices = self._n_choices()
        X, labels = self._check_training(X, y)
        self.classes_, codes, _ = encode_labels(labels, None)
        rng = check_random_state(self.random_state)
        rows, apart = np.arange(len(codes)), np.arange(0)
        given = X_val is not None or y_val is not None
        if not given and n_choices > 1:
            rows, apart = hold_out(codes, self.validation_fraction, rng)
        X_train = X[rows] if len(apart) else X
        X_val, codes_val = (
            self._check_validation(X_val, y_val) if given else (X[apart], codes[apart])
        )
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates = replace(self._all_points(X_train, labels[rows]), indices=rows)
        self._learn(Training(X_train, codes[rows], candidates, X_val, codes_val), rng)
        return self

    @abstractmethod
    def _n_choices(self) -> int:
        """Return how many settings of the parameters there are to choose from."""

    @abstractmethod
    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        """Train, choose, and set the fitted attributes."""

    def _check_validation(self, X_val: Any, y_val: Any) -> tuple[Any, NDArray[np.intp]]:
        """Validate the points to choose on, and find the codes of their classes."""
        X_val, y_val = self._check_held_out(X_val, y_val)
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([code_of.get(label, -1) for label in y_val.tolist()], dtype=np.intp)
        if (codes < 0).all():
            raise ValueError(
                f"y_val holds none of the classes of y ({_some(self.classes_)}), only "
                f"{_some(np.unique(y_val))}"
            )
        return X_val, codes


def penalties(C: Any) -> NDArray[np.float64]:
    """Return the values of C to choose from, ascending."""
    return np.array(
        numbers(C, "C", "a finite number > 0", "fiu", lambda value: 0 < value < np.inf)
    )


def numbers(
    given: Any, name: str, what: str, kinds: str, allowed: Callable[[Any], bool]
) -> list[Any]:
    """Return the values of a parameter that is a number or several, ascending.

    Parameters
    ----------
    given : number or array-like
        The parameter.
    name, what : str
        Its name and what a value must be, for the message.
    kinds : str
        Kinds of numpy types that are numbers here.
    allowed : callable
        Tells whether a number is a possible value.

    Returns
    -------
    list of int or float

    Raises
    ------
    ValueError
        If there is no value, or one that is not allowed.
    """
    values = np.atleast_1d(given)
    good = values.ndim == 1 and values.size and values.dtype.kind in kinds
    if not good or not all(map(allowed, values)):
        raise ValueError(f"'{name}' must be {what} or a sequence of such, got {given!r}")
    return np.unique(values).tolist()


def _some(labels: NDArray[Any], most: int = 5) -> str:
    shown = ", ".join(repr(label) for label in labels[:most].tolist())
    return shown if len(labels) <= most else f"{shown}, …"


# Similarities that are computed at once in prediction: 4 MB of float64.
_BLOCK_ELEMENTS = 2**19


class AllPointsClassifier(SimilarityClassifier):
    """Base of the classifiers that compare points with all training points.

    One parameter, `_chosen` by name, may hold several values to choose from on validation
    points. A subclass gives `_choices`, `_train` and `_decide`.
    """

    _chosen: str

    def _n_choices(self) -> int:
        return len(self._choices())

    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        choices = self._choices()
        self._landmarks = data.candidates
        models = self._train(data, choices)
        best = 0
        self.validation_scores_ = None
        if len(data.codes_val):
            self.validation_scores_ = np.array(
                [(found == data.codes_val).mean() for found in self._codes(data.X_val, models)]
            )
            best = int(self.validation_scores_.argmax())
        self._model = models[best]
        self.best_params_ = {self._chosen: choices[best]}
        setattr(self, f"{self._chosen}_", choices[best])

    @abstractmethod
    def _choices(self) -> list[Any]:
        """Return the values to choose from, the one to take among equally good ones first."""

    @abstractmethod
    def _train(self, data: Training, choices: list[Any]) -> list[Any]:
        """Return a model for each choice."""

    @abstractmethod
    def _decide(self, model: Any, similarities: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scores, one column a class, or of shape (n_rows,) and > 0 for class 1."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[self._codes(self._check_points(X), [self._model])[0]]

    def _scores(self, X: Any) -> NDArray[np.floating]:
        """Return the scores of points that are yet to be validated."""
        check_is_fitted(self)
        X = self._check_points(X)
        return np.concatenate(
            [self._decide(self._model, self._landmarks.compare(X[rows])) for rows in self._rows(X)]
        )

    def _codes(self, X: Any, models: list[Any]) -> NDArray[np.intp]:
        """Return the class codes that each model gives to the points, one row a model."""
        found = np.empty((len(models), X.shape[0]), dtype=np.intp)
        for rows in self._rows(X):
            similarities = self._landmarks.compare(X[rows])
            for codes, model in zip(found, models, strict=True):
                scores = self._decide(model, similarities)
                codes[rows] = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return found

    def _rows(self, X: Any) -> Any:
        return gen_batches(X.shape[0], max(_BLOCK_ELEMENTS // len(self._landmarks), 1))


class ChoosesC(AllPointsClassifier):
    """A classifier of which C is chosen; the smallest of equally good values is taken."""

    _parameter_constraints: dict[str, list[Any]] = {
        **AllPointsClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
    }
    _chosen = "C"

    C: Any

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return the decision values of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column a class if there are more than two; else positive for ``classes_[1]``.
        """
        return self._scores(X)

    def _choices(self) -> list[float]:
        return penalties(self.C).tolist()
