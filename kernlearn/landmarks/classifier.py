"""Base classes of the classifiers that choose parameters on validation points."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.similarity import KeptSimilarities, Landmarks, SimilarityEstimator
from kernlearn.model_selection import candidate_values, split_for_choice
from kernlearn.solvers.labels import encode_labels


@dataclass(frozen=True)
class Training:
    """Training points of a classifier, and the points that its parameters are chosen on.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_samples, ...)
    codes : ndarray of shape (n_samples,)
        Class of each point.
    candidates : Landmarks
        Every point of X; their indices are rows of the data as passed to `fit`.
    similarities : KeptSimilarities
        Of X to the candidates.
    X_val : ndarray or sparse matrix of shape (n_val, ...), or None
    codes_val : ndarray of shape (n_val,), or None
        -1 for a class without a point in X. None where there is nothing to choose on.
    """

    X: Any
    codes: NDArray[np.intp]
    candidates: Landmarks
    similarities: KeptSimilarities
    X_val: Any
    codes_val: NDArray[np.intp] | None

    @property
    def targets(self) -> NDArray[np.float64]:
        """One row per one-vs-all problem, 1 for its class and -1 for the rest."""
        n_classes = self.codes.max() + 1
        positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return np.where(self.codes == positives[:, None], 1.0, -1.0)


class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of classifiers that choose parameters on validation points.

    A subclass defines `_n_choices`, `_learn` and `decision_function`.
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
        n_choices = self._n_choices()
        X, labels = self._check_training(X, y)
        self.classes_, codes, _ = encode_labels(labels, None)
        rng = check_random_state(self.random_state)
        rows, X_val, y_val = split_for_choice(
            X, labels, X_val, y_val, codes=codes, n_choices=n_choices,
            fraction=self.validation_fraction, rng=rng, check_points=self._check_points,
        )  # fmt: skip
        codes_val = None if y_val is None else self._validation_codes(y_val)
        if len(rows) < len(codes):
            X = X[rows]
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates = replace(self._all_points(X, labels[rows]), indices=rows)
        kept = candidates.kept(X)
        self._learn(Training(X, codes[rows], candidates, kept, X_val, codes_val), rng)
        return self

    @abstractmethod
    def _n_choices(self) -> int:
        """Return the number of parameter settings to choose from."""

    @abstractmethod
    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        """Train, choose, and set the fitted attributes."""

    def _validation_codes(self, y_val: NDArray[Any]) -> NDArray[np.intp]:
        """Return the codes of labels, -1 for those that are not in `classes_`."""
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([code_of.get(label, -1) for label in y_val.tolist()], dtype=np.intp)
        if (codes < 0).all():
            raise ValueError(
                f"y_val holds none of the classes of y ({_some(self.classes_)}), only "
                f"{_some(np.unique(y_val))}"
            )
        return codes


def _some(labels: NDArray[Any], most: int = 5) -> str:
    text = ", ".join(repr(label) for label in labels[:most].tolist())
    return text if len(labels) <= most else f"{text}, …"


def decide(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the class codes of scores, one column per class, or 1-D and > 0 for class 1."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


class AllPointsClassifier(SimilarityClassifier):
    """Base of the classifiers that compare points with all training points.

    The parameter named by `_chosen` may have several values, to choose from on validation
    points. A subclass defines `_choices`, `_train` and `_decide`.
    """

    _chosen: str

    def _n_choices(self) -> int:
        return len(self._choices())

    def _learn(self, data: Training, rng: np.random.RandomState) -> None:
        choices = self._choices()
        self._landmarks = data.candidates
        models = self._train(data, choices)
        best, self.validation_scores_ = 0, None
        if data.codes_val is not None:
            right = self._codes(data.X_val, models) == data.codes_val
            self.validation_scores_ = np.array([each.mean() for each in right])
            best = int(self.validation_scores_.argmax())
        self._model = models[best]
        self.best_params_ = {self._chosen: choices[best]}
        setattr(self, f"{self._chosen}_", choices[best])

    @abstractmethod
    def _choices(self) -> list[Any]:
        """Return the values to choose from, of equally good ones the preferred one first."""

    @abstractmethod
    def _train(self, data: Training, choices: list[Any]) -> list[Any]:
        """Return a model for each choice."""

    @abstractmethod
    def _decide(self, model: Any, similarities: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scores, as `decide` takes them."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

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
        """Return the scores of points that are not yet validated."""
        check_is_fitted(self)
        blocks = self._landmarks.blocks(self._check_points(X))
        return np.concatenate([self._decide(self._model, values) for _, values in blocks])

    def _codes(self, X: Any, models: list[Any]) -> NDArray[np.intp]:
        """Return the class codes that each model predicts, one row per model."""
        codes = np.empty((len(models), X.shape[0]), dtype=np.intp)
        for rows, similarities in self._landmarks.blocks(X):
            for row, model in zip(codes, models, strict=True):
                row[rows] = decide(self._decide(model, similarities))
        return codes


class ChoosesC(AllPointsClassifier):
    """A classifier with several C to choose from; of equally good values the smallest."""

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
            One column per class if there are more than two; else positive for ``classes_[1]``.
        """
        return self._scores(X)

    def _choices(self) -> list[float]:
        return candidate_values(self.C, "C").tolist()
