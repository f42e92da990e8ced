"""Base of the classifiers by similarity that choose parameters on validation points."""

from abc import abstractmethod
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_random_state

from kernlearn.calibration import CalibratedMixin
from kernlearn.constraints import FRACTION, fit_context
from kernlearn.landmarks import base
from kernlearn.landmarks.similarity import Indices, KeptSimilarities, Landmarks
from kernlearn.model_selection import split_for_choice
from kernlearn.sample_weights import (
    check_weights,
    combined_weights,
    taken,
    validation_weights,
    weighted_rows,
)
from kernlearn.solvers.labels import encode_labels


@dataclass(frozen=True)
class Training:
    """Training points of a classifier, and the points that its parameters are chosen on.

    `candidates` are all points of X, with their rows in the data as passed to `fit`, and
    `similarities` those of X to them. `codes` are classes; in `codes_val` -1 stands for a class
    without a point in X. `X_val` and `codes_val` are None where there is nothing to choose on,
    `weights` where all are 1.
    """

    X: Any
    codes: Indices
    candidates: Landmarks
    similarities: KeptSimilarities
    X_val: Any
    codes_val: Indices | None
    weights: np.ndarray | None = None
    weights_val: np.ndarray | None = None

    @property
    def targets(self) -> np.ndarray:
        """One row per one-vs-all problem, 1 for its class and -1 for the rest."""
        n_classes = self.codes.max() + 1
        positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return np.where(self.codes == positives[:, None], 1.0, -1.0)


class SimilarityClassifier(CalibratedMixin, base.ScoresClassifier):
    """Base of the classifiers that choose parameters on validation points."""

    _parameter_constraints = {
        **base.ScoresClassifier._parameter_constraints,
        "validation_fraction": [FRACTION],
        "random_state": ["random_state"],
    }

    validation_fraction: float
    random_state: Any
    #: Parameters of most subclasses.
    class_weight: Any = None
    calibration: str | None = None

    @abstractmethod
    def _grid(self) -> dict[str, Any]:
        """Return the values to choose from, by parameter, of equally good ones the best first."""

    @abstractmethod
    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        """Train, choose, and set the fitted attributes."""

    def _n_choices(self, grid: dict[str, Any]) -> int:
        """Return the number of choices; points are held out if there is more than one."""
        return prod(map(len, grid.values()))

    def _compared(self, X: Any, labels: Any, rows: Indices) -> tuple[Any, Any]:
        """Return all points as candidates for landmarks, and the points' similarities to them."""
        candidates = self._all_points(X, labels, rows)
        return candidates, KeptSimilarities(candidates, X, places=rows)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        X_val: Any = None,
        y_val: np.typing.ArrayLike | None = None,
        sample_weight: np.typing.ArrayLike | None = None,
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
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the losses of the training points, not negative, in training and, for
            points that are held out, in the choice of parameters. A point of weight 0 counts as
            absent. Landmarks are drawn without regard to weights.

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
        given = check_weights(sample_weight, X)
        used = weighted_rows(given, X.shape[0])
        self.classes_, _, _ = encode_labels(labels[used], None)
        codes = np.searchsorted(self.classes_, labels).astype(np.intp)
        weights = given
        if given is not None or self.class_weight is not None:
            factors = combined_weights(
                self.class_weight, self.classes_, codes[used], taken(given, used)
            )
            weights = np.zeros(X.shape[0])
            weights[used] = factors
        rng = check_random_state(self.random_state)
        n_choices = self._n_choices(grid)
        rows, X_val, y_val, weights_val = split_for_choice(
            self, X, labels, X_val, y_val, codes, n_choices, rng, given
        )
        codes_val, choosing = None, None
        if y_val is not None:
            codes_val = self._validation_codes(y_val)
            choosing = validation_weights(
                self.class_weight,
                self.classes_,
                labels[used],
                taken(given, used),
                y_val,
                weights_val,
            )
        if len(rows) < len(codes):
            X = X[rows]
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates, kept = self._compared(X, labels[rows], rows)
        data = Training(
            X, codes[rows], candidates, kept, X_val, codes_val, taken(weights, rows), choosing
        )
        self._learn(data, grid, rng)
        self._calibrate(X_val, y_val, weights_val)
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
