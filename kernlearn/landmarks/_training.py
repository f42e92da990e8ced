"""What classifiers on similarities share: training points, and those kept apart for choosing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator
from kernlearn.landmarks._validation import hold_out
from kernlearn.solvers._labels import encode_labels


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
