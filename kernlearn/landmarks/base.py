"""Bases of the estimators on landmarks: checks of inputs, held-out points, predictions."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_is_fitted, check_random_state

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import Kernel, as_kernel
from kernlearn.kernels.base import check_points, check_training, first_wrong
from kernlearn.landmarks.selection import SELECTION, select_landmarks
from kernlearn.landmarks.similarity import (
    Comparisons,
    Floats,
    Indices,
    Landmarks,
    Similarities,
)
from kernlearn.validation import (
    COUNT,
    FRACTION,
    StrOptions,
    check_weights,
    decide,
    encode_labels,
    fit_context,
    known_codes,
    split_for_choice,
    taken,
)

#: Values to choose from, by parameter.
Grid: TypeAlias = dict[str, Any]


class SimilarityEstimator(BaseEstimator):
    """An estimator with parameters ``similarity`` and ``kind``.

    Attributes
    ----------
    n_comparisons_ : int
        Number of training points that a prediction compares a point with.
    n_fit_comparisons_ : int
        Number of similarities that `fit` has evaluated; 0 for a precomputed matrix.
    compared_indices_ : ndarray of shape (n_compared,)
        The landmarks that a prediction compares a point with, rows of the X passed to `fit` (or
        of the landmarks passed to it): the columns of a precomputed matrix that has those alone.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "similarity": [str, Kernel, callable],
        "kind": [StrOptions({"similarity", "distance"})],
    }
    _numeric_targets = False
    #: The parameter that says what compares points.
    _compared_by = "similarity"

    similarity: Any
    kind: str
    _landmarks: Landmarks

    def _kernels(self) -> list[Kernel] | None:
        """Return the kernel that compares points; None for precomputed matrices."""
        value = getattr(self, self._compared_by)
        if isinstance(value, str) and value == "precomputed":
            return None
        return [as_kernel(value, self._compared_by)]

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validate training data; y may be None for an estimator that does without."""
        kernels = self._kernels()
        self.__dict__.pop("_landmarks", None)  # of an earlier fit
        return check_training(self, X, y, kernels, numeric=self._numeric_targets)

    def _check_points(self, X: Any) -> Any:
        """Validate points, or the similarities of points to the landmarks alone."""
        check_is_fitted(self)
        kernels, landmarks = self._kernels(), getattr(self, "_landmarks", None)
        if kernels is None and landmarks is not None and self._has_landmarks_alone(X, landmarks):
            return self._check_landmark_columns(X, landmarks)
        return check_points(self, X, kernels)

    def _has_landmarks_alone(self, X: Any, landmarks: Landmarks) -> bool:
        """Whether a matrix has a column for each landmark, not for each training point."""
        if self.n_comparisons_ > len(
            landmarks.indices
        ):  # predictions compare with other points too
            return False
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        return len(shape) == 2 and shape[1] == len(landmarks.indices) != landmarks.n_columns

    def _check_landmark_columns(self, X: Any, landmarks: Landmarks) -> Floats:
        """Validate similarities to the landmarks alone; columns are matched by name."""
        names, columns = getattr(self, "feature_names_in_", None), getattr(X, "columns", None)
        if names is not None and columns is not None:
            expected = names[landmarks.indices].tolist()
            if sorted(map(str, columns)) != sorted(expected):
                raise ValueError(
                    "the columns of X must be those of all training points, or of the points "
                    f"compared with, compared_indices_: {', '.join(map(repr, expected[:3]))}, …"
                )
            X = X[expected]
        values: Floats = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
        if not np.isfinite(values).all():
            problem, left, right = first_wrong(values)
            places = left, int(landmarks.indices[right])
            raise SimilarityError(problem, *places, ("", ""), ("X", "training X"))
        return values

    def _candidates(self, X: Any, y: Any, rows: Indices | None = None) -> Landmarks:
        """Fit the similarity and return every point as a landmark; `rows` are their indices."""
        indices = np.arange(X.shape[0]) if rows is None else rows
        sign = -1 if self.kind == "distance" else 1
        kernels = self._kernels()
        if kernels is None:
            return Landmarks(indices, None, None, sign, n_columns=X.shape[1])
        if sign < 0 and isinstance(self.similarity, str):
            raise ValueError(
                "kind='distance' is for a matrix or a user-defined function: "
                f"{self.similarity!r}, like all named similarities, grows as points are more alike"
            )
        kernel = kernels[0].fitted_to(X, y, getattr(self, "feature_names_in_", None))
        comparisons = Comparisons(getattr(kernel, "n_fit_comparisons_", 0))
        return Landmarks(indices, X, kernel, sign, comparisons)

    def _set_landmarks(self, landmarks: Landmarks) -> None:
        """Set the landmarks that a prediction compares points with, and their attributes."""
        self._landmarks = landmarks
        self.n_comparisons_ = len(landmarks.indices)
        self.compared_indices_ = landmarks.indices

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags, value = super().__sklearn_tags__(), getattr(self, self._compared_by)
        tags.input_tags.pairwise = isinstance(value, str) and value == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def float_type(X: Any) -> type[np.floating]:
    """Return the type that features of points are computed in."""
    return np.float32 if X.dtype == np.float32 else np.float64


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
    similarities: Similarities
    X_val: Any
    codes_val: Any
    weights: np.ndarray | None = None
    weights_val: np.ndarray | None = None

    def targets(self) -> np.ndarray:
        """Return a row for each one-vs-all problem, 1 for its class and -1 for the rest."""
        n_classes = self.codes.max() + 1
        positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return np.where(self.codes == positives[:, None], 1.0, -1.0)


class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of the classifiers by similarity, which choose parameters on validation points."""

    _parameter_constraints = {
        **SimilarityEstimator._parameter_constraints,
        "random_state": ["random_state"],
    }

    #: The method whose scores are highest for the class that is predicted.
    _scored_by = "decision_function"

    validation_fraction: float = 0.2
    random_state: Any
    class_weight: Any = None

    @abstractmethod
    def _grid(self) -> Grid:
        """Return the values to choose from, by parameter, of equally good ones the best first."""

    @abstractmethod
    def _learn(self, data: Training, grid: Grid, rng: np.random.RandomState) -> None:
        """Train, choose, and set the fitted attributes."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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
        weights = of_rows = check_weights(sample_weight, X)
        self.classes_, codes, factors = encode_labels(labels, self.class_weight, of_rows)
        if self.class_weight is not None:
            weights = factors[codes] if of_rows is None else factors[codes] * of_rows
        rng = check_random_state(self.random_state)
        n_choices = prod(map(len, grid.values()))
        rows, X_val, y_val, choosing = split_for_choice(
            self, X, labels, X_val, y_val, codes, n_choices, rng, of_rows
        )
        codes_val = None
        if y_val is not None:
            codes_val = known_codes(self.classes_, y_val)
            if self.class_weight is not None:
                of_points = np.where(codes_val < 0, 1.0, factors[codes_val])
                choosing = of_points if choosing is None else of_points * choosing
        if len(rows) < len(codes):
            X = X[rows]
        # Rows of X as passed: with a matrix of similarities these are also its columns.
        candidates = self._candidates(X, labels[rows], rows)
        data = Training(
            X,
            codes[rows],
            candidates,
            Similarities(candidates, X, rows),
            X_val,
            codes_val,
            taken(weights, rows),
            choosing,
        )
        self._learn(data, grid, rng)
        self.n_fit_comparisons_ = candidates.comparisons.count
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = decide(getattr(self, self._scored_by)(X))
        return self.classes_[codes]


class LandmarkedModel(SimilarityEstimator):
    r"""Landmarks and the embedding of algorithm 5, for models with numeric targets.

    The embedding is :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`, without the
    divisor where `_divides` is False. The parameters have the meaning that they have for
    :class:`RegLand`.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [COUNT],
        "random_state": ["random_state"],
    }
    _numeric_targets = True
    _divides = True

    n_landmarks: int
    selection: str = "random"
    random_state: Any
    landmark_indices_: Indices | None
    coef_: Floats
    intercept_: Any

    def _embed_training(
        self, X: Any, y: np.ndarray, rows: Indices, landmarks: Any, rng: Any, n_drawn: int
    ) -> Floats:
        """Choose landmarks from some rows of validated data, and embed the points of these."""
        points = X if len(rows) == X.shape[0] else X[rows]
        candidates = self._candidates(points, y[rows], rows)
        if landmarks is not None:
            kernels = self._kernels()
            if kernels is None:
                raise ValueError(
                    "landmarks must be None with similarity='precomputed': there are no points to "
                    "compare with, only the rows and columns of X"
                )
            try:
                unlabelled = check_points(self, landmarks, kernels)
            except ValueError as error:
                raise ValueError(f"landmarks: {error}") from error
            places = np.arange(unlabelled.shape[0])
            drawn = replace(candidates, indices=places, points=unlabelled, name="landmarks")
            self.landmark_indices_ = None
            values = drawn.compare(points, places=rows)
        else:
            codes = np.zeros(len(rows), dtype=np.intp)
            similarities = Similarities(candidates, points, rows)
            chosen = select_landmarks(n_drawn, codes, self.selection, rng, similarities)
            drawn = candidates.take(chosen)
            self.landmark_indices_ = drawn.indices
            values = similarities.columns(chosen)
        self._set_landmarks(drawn)
        self.n_fit_comparisons_ = candidates.comparisons.count
        self.scale_ = float(np.sqrt(len(drawn.indices))) if self._divides else 1.0
        return np.ascontiguousarray(self._scaled(values), dtype=float_type(X))

    def predict(self, X: Any) -> Floats:
        r"""Predict the targets of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`\langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._products(X) + self.intercept_

    def _products(self, X: Any) -> Floats:
        r"""Validate points, and return the :math:`\langle w, \Psi(x) \rangle`, block by block."""
        X = self._check_points(X)
        values = np.zeros(X.shape[0], dtype=np.result_type(float_type(X), self.coef_))
        for rows, features in self._blocks(X):
            values[rows] = features @ self.coef_
        return values

    def contributions(self, X: Any) -> Floats:
        """Return what each landmark adds to the predicted values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_comparisons)
            Summed over the last axis, with ``intercept_`` added, they are what `predict` returns
            (for ORLand `real_value`). ``compared_indices_`` has the landmarks.
        """
        return self._features(self._check_points(X)) * self.coef_

    def _features(self, X: Any) -> Floats:
        """Embed validated points."""
        features = np.empty((X.shape[0], len(self._landmarks.indices)), dtype=float_type(X))
        for rows, block in self._blocks(X):
            features[rows] = block
        return features

    def _blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield rows of validated points with their embedding."""
        for rows, similarities in self._landmarks.blocks(X):
            yield rows, self._scaled(similarities).astype(float_type(X), copy=False)

    def _scaled(self, similarities: Floats) -> Floats:
        return similarities * similarities.dtype.type(1 / self.scale_)


class LandmarkChoice(LandmarkedModel):
    """Base of RegLand and ORLand, whose parameters are chosen on validation points."""

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
        "selection": [SELECTION],
        "validation_fraction": [FRACTION],
    }

    validation_fraction: float

    @abstractmethod
    def _grid(self) -> Grid:
        """Return the values to choose from, by parameter, of equally good ones the best first."""

    def _check_targets(self, X: Any, y: Any, weights: Any) -> tuple[Any, np.ndarray, Indices]:
        """Validate training data; return X, the targets, and codes to stratify by."""
        X, y = self._check_training(X, y)
        return X, y.astype(np.float64), np.zeros(len(y), dtype=np.intp)

    @abstractmethod
    def _train(self, features: Floats, targets: Any, grid: Grid, weights: Any) -> list[Any]:
        """Return a model for each choice of the grid, the last parameter changing fastest."""

    @abstractmethod
    def _losses(self, models: list[Any], features: Floats, targets: Any) -> list[np.ndarray]:
        """Return the losses of points by each model, the smaller the better."""

    @abstractmethod
    def _keep(self, model: Any, dtype: Any) -> None:
        """Set the fitted attributes; `dtype` is that of the features."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        landmarks: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose landmarks, fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function,
            a sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Targets. For ORLand grades, at least two: integers, or other labels in sorted order.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on, not trained on: by mean squared error, then the
            smaller C, then the smaller epsilon; for ORLand by average absolute error, then the
            smaller C. If None and there is more than one choice, a random share
            ``validation_fraction`` of X is held out (for ORLand stratified), and the model is
            trained on the rest.
        y_val : array-like of shape (n_val,), default=None
            Their targets. Errors of grades are differences of their places in the order that is
            given, in which they may be grades that y lacks; without one those of the grades if
            they are numbers, else of their places in `classes_`.
        landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
            Unlabelled points to take as landmarks instead of training points (step 1 of
            algorithm 5); then `n_landmarks` and `selection` are ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the losses of the training points, not negative, in training and, for
            points that are held out, in the choice of parameters. A point of weight 0 counts as
            absent. Landmarks are drawn without regard to weights.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is not valid, alone or together with another; y does not hold one finite
            number per point, or a single grade; only one of X_val and y_val is given, or they do
            not match; too few points are left to train on; landmarks are given with a matrix of
            similarities; or points or similarities are not finite.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before reaching `tol`.
        """
        grid = self._grid()
        shape = tuple(len(values) for values in grid.values())
        X, targets, codes = self._check_targets(X, y, sample_weight)
        weights = check_weights(sample_weight, X)
        rng = check_random_state(self.random_state)
        rows, X_val, y_val, weights_val = split_for_choice(
            self, X, targets, X_val, y_val, codes, prod(shape), rng, weights
        )
        features = self._embed_training(X, targets, rows, landmarks, rng, self.n_landmarks)
        models = self._train(features, targets[rows], grid, taken(weights, rows))
        best, self.validation_scores_ = 0, None
        if X_val is not None:
            losses = self._losses(models, self._features(X_val), y_val)
            scores = -np.array([np.average(each, weights=weights_val) for each in losses])
            best, self.validation_scores_ = int(scores.argmax()), scores.reshape(shape)
        for (name, values), place in zip(grid.items(), np.unravel_index(best, shape), strict=True):
            setattr(self, f"{name}_", values[place].item())
        self._keep(models[best], float_type(X))
        self.n_fit_comparisons_ = self._landmarks.comparisons.count
        return self
