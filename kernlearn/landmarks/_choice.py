"""What the classifiers that compare with all training points share: choosing one parameter."""

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
from sklearn.utils.validation import check_array, check_is_fitted

from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator
from kernlearn.landmarks._validation import hold_out
from kernlearn.solvers._labels import encode_labels

# Similarities that are computed at once in prediction: 4 MB of float64.
_BLOCK_ELEMENTS = 2**19


@dataclass(frozen=True)
class Parts:
    """Points that a classifier is trained on, and those that its parameter is chosen on.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_samples, ...)
    codes : ndarray of shape (n_samples,)
        Class of each point.
    landmarks : Landmarks
        Every point of X.
    X_val : ndarray or sparse matrix of shape (n_val, ...)
        No rows where there is nothing to choose on.
    codes_val : ndarray of shape (n_val,)
        -1 for a class that y does not hold.
    """

    X: Any
    codes: NDArray[np.intp]
    landmarks: Landmarks
    X_val: Any
    codes_val: NDArray[np.intp]


class AllPointsClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of the classifiers that compare points with all training points.

    One parameter, `_chosen` by name, may hold several values to choose from on validation
    points. A subclass gives `_choices`, `_train` and `_decide`.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }
    _chosen: str

    validation_fraction: float
    random_state: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, X_val: Any = None, y_val: ArrayLike | None = None) -> Self:
        """Train on labelled points, once for each value to choose from, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a function of your own, a
            sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Labels of any kind, two classes at least.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points to choose on; nothing is trained on them. With ``similarity="precomputed"``
            of shape (n_val, n_samples), their similarities to the training points. If None
            and there are several values to choose from, a share ``validation_fraction`` of X,
            stratified, is kept apart for choosing, and the classifier is the one trained on
            the rest; with one value it is trained on all.
        y_val : array-like of shape (n_val,), default=None
            Their labels. One that y does not hold counts as an error.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter is not valid; if y has a single class; if only one of X_val and
            y_val is given or they do not match; if points have to be kept apart and no class
            has two; if a matrix is not square or not as wide as there are training points; if
            points or similarities are not finite.
        """
        choices = self._choices()
        X, y = self._check_training(X, y)
        self.classes_, codes, _ = encode_labels(y, None)
        parts = self._parts(X, y, codes, X_val, y_val, len(choices))
        self._landmarks = parts.landmarks
        models = self._train(parts, choices)
        best = 0
        self.validation_scores_ = None
        if len(parts.codes_val):
            self.validation_scores_ = np.array(
                [(found == parts.codes_val).mean() for found in self._codes(parts.X_val, models)]
            )
            best = int(self.validation_scores_.argmax())
        self._model = models[best]
        setattr(self, f"{self._chosen}_", choices[best])
        return self

    @abstractmethod
    def _choices(self) -> list[Any]:
        """Return the values to choose from, the one to take among equally good ones first."""

    @abstractmethod
    def _train(self, parts: Parts, choices: list[Any]) -> list[Any]:
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

    def _parts(
        self, X: Any, y: Any, codes: NDArray[np.intp], X_val: Any, y_val: Any, n_choices: int
    ) -> Parts:
        """Keep points apart for choosing, if need be."""
        rows, apart = np.arange(len(codes)), np.arange(0)
        given = X_val is not None or y_val is not None
        if given:
            X_val, codes_val = self._check_validation(X_val, y_val)
        else:
            if n_choices > 1:
                rng = check_random_state(self.random_state)
                rows, apart = hold_out(codes, self.validation_fraction, rng)
            X_val, codes_val = X[apart], codes[apart]
        X_train = X[rows] if len(apart) else X
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        landmarks = replace(self._all_points(X_train, y[rows]), indices=rows)
        return Parts(X_train, codes[rows], landmarks, X_val, codes_val)

    def _check_validation(self, X_val: Any, y_val: Any) -> tuple[Any, NDArray[np.intp]]:
        """Validate the points to choose on, and find the codes of their classes."""
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be given together, or neither")
        try:
            X_val = self._check_points(X_val)
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error
        y_val = check_array(y_val, ensure_2d=False, dtype=None, input_name="y_val")
        if y_val.shape != (X_val.shape[0],):
            raise ValueError(
                f"y_val must hold one label for each of the {X_val.shape[0]} points of X_val, "
                f"got shape {y_val.shape}"
            )
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        return X_val, np.array([code_of.get(label, -1) for label in y_val.tolist()], dtype=np.intp)


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
        return numbers(self.C, "C", "a finite number > 0", "fiu", lambda C: 0 < C < np.inf)


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
