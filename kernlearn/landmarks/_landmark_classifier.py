"""What the classifiers that learn a linear separator in a landmarked space have in common."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator
from kernlearn.landmarks._validation import LOSSES, Scoreboard, hold_out
from kernlearn.solvers._labels import encode_labels

# Similarities that are computed at once in prediction: 2 MB of float64.
_BLOCK_ELEMENTS = 2**18
# A kernel prepares the landmarks anew for every block.
_LEAST_BLOCK_ROWS = 128
# Similarities that are kept in training: 1 GiB of float64.
_KEPT_ELEMENTS = 2**27


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


class LandmarkClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of BBS and FTUNE.

    A subclass gives `_n_choices`, `_learn` and `_add_scores`.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "stratified", "dselect"})],
        "normalize": ["boolean"],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"auto", "newton", "truncated_newton", "liblinear"})],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    n_landmarks: int
    selection: str
    normalize: bool
    C: Any
    loss: str
    solver: str
    tol: float | None
    fit_intercept: bool
    validation_fraction: float
    random_state: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, X_val: Any = None, y_val: ArrayLike | None = None) -> Self:
        """Select landmarks, train a classifier for each choice of parameters and keep the best.

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

        Warns
        -----
        UserWarning
            If all training points have the same similarities to the landmarks.
        """
        penalties = self._penalties()
        X, labels = self._check_training(X, y)
        self.classes_, codes, _ = encode_labels(labels, None)
        rng = check_random_state(self.random_state)
        rows, apart = np.arange(len(codes)), np.arange(0)
        given = X_val is not None or y_val is not None
        if not given and self._n_choices(penalties) > 1:
            rows, apart = hold_out(codes, self.validation_fraction, rng)
        X_train = X[rows] if len(apart) else X
        X_val, codes_val = (
            self._check_validation(X_val, y_val) if given else (X[apart], codes[apart])
        )
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates = replace(self._all_points(X_train, labels[rows]), indices=rows)
        self._learn(Training(X_train, codes[rows], candidates, X_val, codes_val), penalties, rng)
        return self

    @abstractmethod
    def _n_choices(self, penalties: NDArray[np.float64]) -> int:
        """Return how many settings of the parameters there are to choose from."""

    @abstractmethod
    def _learn(
        self, data: Training, penalties: NDArray[np.float64], rng: np.random.RandomState
    ) -> None:
        """Select landmarks, train, choose, and set the fitted attributes."""

    @abstractmethod
    def _add_scores(self, similarities: NDArray[Any], scores: NDArray[Any]) -> None:
        """Add Σ w f(·) to scores (n_rows, n_problems), from similarities to `_landmarks`."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the weighted sum of each point's embedding, one a one-vs-all problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column a class if there are more than two; else positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        scores = np.empty((X.shape[0], len(self.coef_)), dtype=self.coef_.dtype)
        scores[:] = self.intercept_
        n_landmarks = len(self._landmarks)
        if n_landmarks:
            n_rows = max(_BLOCK_ELEMENTS // n_landmarks, _LEAST_BLOCK_ROWS)
            for rows in gen_batches(len(scores), n_rows):
                self._add_scores(self._landmarks.compare(X[rows]), scores[rows])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _penalties(self) -> NDArray[np.float64]:
        """Return the values of C to choose from, ascending."""
        values = np.atleast_1d(np.asarray(self.C, dtype=np.float64))
        if values.ndim != 1 or not len(values) or not ((values > 0) & (values < np.inf)).all():
            raise ValueError(
                f"'C' must be a finite number > 0 or a sequence of such, got {self.C!r}"
            )
        return np.unique(values)

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
        codes = np.array([code_of.get(label, -1) for label in y_val.tolist()], dtype=np.intp)
        if (codes < 0).all():
            raise ValueError(
                f"y_val holds none of the classes of y ({_some(self.classes_)}), only "
                f"{_some(np.unique(y_val))}"
            )
        return X_val, codes

    def _solver_options(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the keywords of `linear_path`."""
        return {
            "loss": self.loss,
            "solver": self.solver,
            "tol": self.tol,
            "fit_intercept": self.fit_intercept,
            "seed": rng.randint(np.iinfo(np.int32).max),
        }

    def _scoreboard(self, data: Training, shape: tuple[int, int]) -> Scoreboard | None:
        """Return a scoreboard for the validation points, None without any."""
        if not len(data.codes_val):
            return None
        n_classes = len(self.classes_)
        return Scoreboard(data.codes_val, n_classes if n_classes > 2 else 1, shape, self.loss)

    def _scale(self, columns: Callable[[Any], NDArray[Any]], n_columns: int) -> float:
        """Return what similarities are divided by, and warn if they tell nothing.

        Parameters
        ----------
        columns : callable
            Takes a slice of the landmarks, returns the training points' similarities to them.
        n_columns : int
            Number of landmarks.

        Returns
        -------
        float
            The greatest absolute similarity; 1 without ``normalize``, or if all are 0.
        """
        largest, varies = 0.0, False
        for some in gen_batches(n_columns, 256):
            low, high = (extreme(columns(some), axis=0) for extreme in (np.min, np.max))
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


def compared(landmarks: Landmarks, X: Any) -> Callable[[Any], NDArray[np.floating]]:
    """Return a function from some of the landmarks to the similarities of X to them.

    They are computed once and kept where they fit into 1 GiB, else at each call.
    """
    if X.shape[0] * len(landmarks) > _KEPT_ELEMENTS:
        return lambda which: landmarks.take(which).compare(X)
    kept = landmarks.compare(X)
    # Indexing by numbers would have the result column by column in memory; solvers go by rows.
    return lambda which: kept[:, which] if isinstance(which, slice) else kept.take(which, axis=1)


def _some(labels: NDArray[Any], most: int = 5) -> str:
    shown = ", ".join(repr(label) for label in labels[:most].tolist())
    return shown if len(labels) <= most else f"{shown}, …"
