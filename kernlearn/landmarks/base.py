"""Bases of the estimators by similarity: how they validate, train, choose and predict."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from itertools import repeat
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from kernlearn import choice, validation
from kernlearn.checks import listed
from kernlearn.kernels import Kernel
from kernlearn.kernels.base import check_matrix, check_points, check_training
from kernlearn.kernels.functions import is_precomputed, kernels_of
from kernlearn.landmarks.selection import SELECTIONS
from kernlearn.landmarks.similarities import Comparisons, Landmarks, Reals, Similarities
from kernlearn.landmarks.training import Grid, Training
from kernlearn.linear.losses import LOSSES
from kernlearn.validation import Floats, Indices

_GAPS = "similarities in X are missing: taken as the means of training points"


def _filled_training(
    matrix: Reals, means: Reals, kind: str, rows: Indices
) -> tuple[Reals, Indices]:
    """Fill missing pairs of training points; return also those of `rows` that lack most."""
    if not np.isnan(matrix).any():
        return matrix, rows[:0]
    own = np.eye(len(matrix), dtype=bool)
    if kind == "distance":  # that of a point to itself is 0
        matrix = np.where(own & np.isnan(matrix), matrix.dtype.type(0), matrix)
    check_matrix(np.where(own, matrix, 0.0))
    left_out = rows[validation.lacking_most(matrix[np.ix_(rows, rows)], 0.5)]
    if len(left_out) > len(rows) / 2:
        check_matrix(matrix)
    away = f"; {len(left_out)} of {len(rows)} points, which lack more than half, are left out"
    if lack := int(np.isnan(matrix).sum()):
        validation.warn(f"{lack} of {matrix.size} {_GAPS}{away if len(left_out) else ''}")
    return validation.with_pair_means(matrix, means, of_training=True), left_out


class SimilarityEstimator(BaseEstimator):
    """An estimator with parameters ``similarity`` and ``kind``.

    Attributes
    ----------
    n_comparisons_ : int
        Number of training points that a prediction compares a point with.
    n_fit_comparisons_ : int
        Number of similarities that `fit` has asked for; 0 for a precomputed matrix.
    compared_indices_ : ndarray of shape (n_compared,)
        The landmarks that a prediction compares a point with: rows of the X, or of the landmarks,
        passed to `fit`. A precomputed matrix may have these columns alone.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **validation.PARAMETERS,
        "similarity": [str, Kernel, callable],
        "kernel": [str, Kernel, callable],
        "kind": [validation.StrOptions({"similarity", "distance"})],
        "selection": [validation.StrOptions(set(SELECTIONS))],
        "C": [validation.POSITIVE, "array-like"],
    }
    _numeric_targets = False
    #: The parameter that says what compares points.
    _compared_by = "similarity"

    similarity: Any
    kind: str
    random_state: Any = None
    validation_fraction = 0.2
    refit: bool
    scoring: Any = None
    _landmarks: Landmarks
    #: Whether the solver did, in the models of a path.
    _converged = True

    def _kernels(self) -> list[Kernel] | None:
        """Return the kernel that compares points, fitted after `fit`; None for a matrix."""
        if (landmarks := vars(self).get("_landmarks")) is not None:
            return None if landmarks.kernel is None else [landmarks.kernel]
        return kernels_of(getattr(self, self._compared_by), self._compared_by)

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Any, Any, Floats | None]:
        """Validate points, targets and weights; y may be None for an estimator without.

        An estimator that takes weights fills pairs in that a matrix lacks, and leaves out points
        that lack more than half of theirs.
        """
        self.__dict__.pop("_landmarks", None)  # of an earlier fit
        kernels, numeric = self._kernels(), self._numeric_targets
        gaps = has_fit_parameter(self, "sample_weight")
        X, y = check_training(self, X, y, kernels, numeric=numeric, gaps=gaps)
        weights = validation.check_weights(sample_weight, X)
        self._pair_means = None
        if kernels is None and gaps:
            rows = validation.weighted_rows(weights, len(X))
            self._pair_means = validation.pair_means(X, None if weights is None else rows)
            X, out = _filled_training(X, self._pair_means, self.kind, rows)
            if len(out):
                weights = np.ones(len(X)) if weights is None else weights.copy()
                weights[out] = 0.0
        return X, y.astype(np.float64) if numeric else y, weights

    def _grid(self) -> Grid:
        """Return the values to choose from, by parameter, of equally good ones the best first."""
        return {}

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Validate training data; return X, y, the codes of classes, and weights."""
        X, y, weights = self._check_training(X, y, sample_weight)
        return X, y, np.zeros(len(y), dtype=np.intp), weights

    def _training(
        self,
        X: Any,
        y: Any,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight: Any = None,
        landmarks: Any = None,
        path: Grid | None = None,
    ) -> Training:
        """Validate the data, and hold points out if there is a choice to make."""
        if grid := self._grid():
            self.grid_ = grid
        n_choices = prod(map(len, grid.values()))
        X, y, codes, weights = self._check_targets(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        rows, X_val, y_val, weights_val, held_out = choice.split_for_choice(
            self, X, y, X_val, y_val, codes, n_choices, rng, weights
        )

        def part(rows: Indices, candidates: Landmarks, *chosen_on: Any) -> Training:
            of_rows = validation.taken(y, rows), codes[rows], validation.taken(weights, rows)
            # points that are the same object are compared with themselves exactly
            points = _rows(X, rows) if candidates.points is None else candidates.points
            similarities = Similarities(candidates, points, rows)
            return Training(similarities, *of_rows, rng, given, path or {}, *chosen_on)

        # rows of X as passed: with a matrix of similarities these are also its columns
        candidates = self._candidates(_rows(X, rows), validation.taken(y, rows), rows)
        given = None if landmarks is None else self._given(landmarks, candidates)
        training = part(rows, candidates, X_val, y_val, weights_val)
        if held_out is None:
            return training
        rows = np.sort(np.concatenate([rows, held_out]))
        points = None if candidates.kernel is None else _rows(X, rows)
        every = replace(candidates, indices=rows, points=points)
        return replace(training, whole=part(rows, every))

    def _given(self, points: Any, candidates: Landmarks) -> Landmarks:
        """Return points that the user has passed as landmarks."""
        if candidates.kernel is None:
            raise ValueError(
                "landmarks must be None with similarity='precomputed': there are no points to "
                "compare with, only the rows and columns of X"
            )
        try:
            points = check_points(self, points, self._kernels())
        except ValueError as error:
            raise ValueError(f"landmarks: {error}") from error
        places = np.arange(points.shape[0])
        return replace(candidates, indices=places, points=points, name="landmarks")

    @abstractmethod
    def _learn(self, data: Training) -> Any:
        """Train the model for each choice of parameters, keep the best, and set its attributes."""

    def _fit(self, *data: Any, **more: Any) -> Self:
        """Train on data that are validated first."""
        return self._fit_on(self._training(*data, **more))

    def _fit_on(self, data: Training) -> Self:
        with data.locating():
            self._learn(data)
        self.n_fit_comparisons_ = data.candidates.comparisons.count
        return self

    @available_if(lambda self: hasattr(self, "path_parameters"))
    def path(
        self, X: Any, y: Any, grid: Grid, X_val: Any = None, y_val: Any = None
    ) -> Iterator[choice.Fits]:
        """Fit models that differ in some parameters; they share what is computed for all.

        Points are compared with landmarks, and embedded, once, and a solver follows a path of C.

        Parameters
        ----------
        X, y, X_val, y_val
            As for `fit`.
        grid : dict
            Values of some of `path_parameters`, by name.

        Yields
        ------
        Fits
            The models of all combinations, with the landmarks of those of `fit`. Weights are
            within the tolerance of solvers those of `fit`; predictions of SparseRegLand agree to
            1e-9 of the size of y.
        """
        points = choice.path_points(self, grid)
        base = clone(self).set_params(**points[0])
        data = base._training(X, y, X_val, y_val, path=grid)
        models = [copy(base).set_params(**point)._fit_on(data) for point in points]
        landmarks = models[0]._landmarks
        if any(model._landmarks is not landmarks for model in models):
            used = np.unique(np.concatenate([model._landmarks.indices for model in models]))
            landmarks = data.candidates.take(np.searchsorted(data.candidates.indices, used))

        def values(X: Any) -> list[Reals]:
            return landmarks.scores(models, models[0]._check_all(X))

        yield choice.Fits(points, models, [model._converged for model in models], values)

    def _check_points(self, X: Any) -> Any:
        """Validate points; of a matrix of similarities those that a prediction reads."""
        check_is_fitted(self)
        landmarks = getattr(self, "_landmarks", None)
        # predictions may compare with other points than landmarks
        if (
            self._kernels() is not None
            or landmarks is None
            or self.n_comparisons_ > len(landmarks.indices)
        ):
            return self._check_all(X)
        places = self.compared_indices_
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        if shape[1:] == places.shape != (landmarks.n_columns,):
            X = self._landmark_columns(X, places)
            values: Reals = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
        else:
            values = check_points(self, X, None, gaps=True)
            _refuse_unknown(values, places)
            values = values[:, places]
        return self._without_gaps(values, places)

    def _check_all(self, X: Any) -> Any:
        """Validate points; of a matrix of similarities all columns, without gaps."""
        kernels = self._kernels()
        values = check_points(self, X, kernels, gaps=True)
        if kernels is not None:
            return values
        _refuse_unknown(values)
        return self._without_gaps(values)

    def _without_gaps(self, values: Reals, places: Any = None) -> Reals:
        """Fill similarities to training points, all or some, by these points' means."""
        if (means := vars(self).get("_pair_means")) is not None and np.isnan(values).any():
            validation.warn(f"{np.isnan(values).sum()} of {values.size} {_GAPS}")
            means = means if places is None else means[places]
            values = validation.with_pair_means(values, means)
        check_matrix(values, places)
        return values

    def _landmark_columns(self, X: Any, places: Indices) -> Any:
        """Return similarities to the landmarks alone, in order: columns are matched by name."""
        names, columns = getattr(self, "feature_names_in_", None), getattr(X, "columns", None)
        if names is None or columns is None:
            return X
        expected = names[places].tolist()
        if sorted(map(str, columns)) != sorted(expected):
            raise ValueError(
                "the columns of X must be those of all training points, or of the points "
                f"compared with, compared_indices_: {listed(map(repr, expected))}"
            )
        return X[expected]

    def _candidates(self, X: Any, y: Any, indices: Indices) -> Landmarks:
        """Fit the similarity and return every point as a landmark, with its row in the data."""
        sign = -1 if self.kind == "distance" else 1
        kernels = self._kernels()
        if kernels is None:
            return Landmarks(indices, None, None, sign, n_columns=X.shape[1])
        if sign < 0 and (isinstance(self.similarity, str) or kernels[0].is_distance):
            raise ValueError(
                "kind='distance' is for a matrix or a user-defined function: the values of "
                f"{self.similarity!r} grow as points are more alike"
            )
        names, kind = getattr(self, "feature_names_in_", None), self.get_params(False).get("kind")
        kernel = kernels[0].fitted_to(X, y, names, kind)
        comparisons = Comparisons(getattr(kernel, "n_fit_comparisons_", 0))
        return Landmarks(indices, X, kernel, sign, comparisons)

    def _set_landmarks(self, landmarks: Landmarks) -> None:
        """Set the landmarks that a prediction compares points with, and their attributes."""
        self._landmarks = landmarks
        self.n_comparisons_ = len(landmarks.indices)
        # a matrix of all columns has them in the order of `fit`
        is_whole = len(landmarks.indices) == landmarks.n_columns
        self.compared_indices_ = np.sort(landmarks.indices) if is_whole else landmarks.indices

    @abstractmethod
    def _gains(self, data: Training, values: list[Reals], heads: Any) -> tuple[Any, ...]:
        """Return what held-out points gain in each cell of the grid, and what breaks ties.

        `values` are those for the points, by cell, and `heads` what made them. The gains are of
        shape (n_points, n_cells), the greater the better. If ties are broken, there is a second
        array, with a number for each cell, the less the better.
        """

    def _answering(self, heads: Any) -> Iterable[Any]:
        """Return the models that answer scorers, one with each head."""
        return repeat(self)

    def _choose(self, data: Training, values: list[Reals], heads: Any = ()) -> int:
        """Choose the cell of the grid whose values for held-out points, if any, are best.

        That has the greatest mean gain or, with `scoring`, the greatest score.
        """
        if data.X_val is None:
            return self._set_best()
        (gains, *ties), weights = self._gains(data, values, heads), data.weights_val
        if self.scoring is not None:
            of_points = data.X_val, data.y_val, weights
            gains = choice.scores(self.scoring, self._answering(heads), values, *of_points)
            weights, ties = None, []
        return self._set_best(gains, weights, *ties)

    def _set_best(self, gains: Any = None, weights: Floats | None = None, *ties: Any) -> int:
        """Set the values of the grid with the greatest mean gain, and return their place.

        Equal means go to the least of `ties`, then to the first; without gains it is the first.
        """
        shape = tuple(map(len, self.grid_.values()))
        self.validation_scores_, best = None, 0
        if gains is not None:
            means = np.average(np.reshape(gains, (-1, *shape)), axis=0, weights=weights)
            self.validation_scores_, best = means, choice.first_best(-means, *ties)
        grid = zip(self.grid_.items(), np.unravel_index(best, shape), strict=True)
        self.best_params_ = {name: np.asarray(of[place]).item() for (name, of), place in grid}
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        return best

    def _values(self, X: Any) -> Reals:
        """Return the scores of points."""
        X = self._check_points(X)  # refused before `fit`
        return self._landmarks.scores([self], X)[0]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        pairwise = is_precomputed(getattr(self, self._compared_by))
        tags.input_tags.pairwise, tags.input_tags.sparse = pairwise, not pairwise
        tags.input_tags.allow_nan = pairwise and has_fit_parameter(self, "sample_weight")
        return tags


def _rows(X: Any, rows: Indices) -> Any:
    """Return rows of X, without a copy if these are all."""
    return X if len(rows) == X.shape[0] else X[rows]


def mean_losses(values: list[Reals], codes: Indices, loss: str, weights: Floats | None) -> Floats:
    """Return the mean loss of each of several settings, over problems and points of known classes.

    `values` are of shape (n_points, n_problems); an unknown class, with code -1, is on neither
    side of any problem.
    """
    known, n_problems = codes >= 0, values[0].shape[1]
    signs = validation.one_against_all(codes[known], max(n_problems, 2)).T
    terms = [LOSSES[loss].value(signs * each[known]).mean(axis=1) for each in values]
    return np.average(terms, axis=1, weights=validation.taken(weights, known))


@dataclass(eq=False, repr=False)
class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of the classifiers by similarity, which choose parameters on validation points."""

    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    random_state: Any = None

    #: The method whose scores are highest for the class that is predicted.
    _scored_by = "decision_function"

    class_weight = None  # of those without this parameter

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        X, y, weights = self._check_training(X, y, sample_weight)
        self.classes_, codes, factors = validation.encode_labels(y, self.class_weight, weights)
        self._factors = None if self.class_weight is None else factors
        if self._factors is not None:
            weights = self._factors[codes] * (1.0 if weights is None else weights)
        return X, y, codes, weights

    def _training(self, *data: Any, **more: Any) -> Training:
        training = super()._training(*data, **more)
        if training.X_val is None:
            return training
        codes = validation.known_codes(self.classes_, training.y_val)
        weights = training.weights_val
        if weights is None and self._factors is not None:  # of points that are passed
            weights = np.where(codes < 0, 1.0, self._factors[codes])
        return replace(training, codes_val=codes, weights_val=weights)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function, a
            sequence of whatever it compares. X[i, j] is the similarity of point i to j as a
            landmark. A missing one, NaN, is X[j, i] if the matrix is symmetric else; if both are
            missing one of the points is left out. Warnings have the counts.
        y : array-like of shape (n_samples,)
            Labels of any kind, at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the losses of the training points, not negative, in training and, for
            points that are held out, in the choice of parameters. A point of weight 0 counts as
            absent. Landmarks are drawn without regard to weights.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on, not trained on. With ``similarity="precomputed"``
            of shape (n_val, n_samples), their similarities to the training points. If None and
            there is more than one choice, a stratified share ``validation_fraction`` of X is held
            out, and with `refit` the model chosen is trained again on all points.
        y_val : array-like of shape (n_val,), default=None
            Their labels. One that is not in y counts as an error of every choice.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class. If X_val and y_val do not match, or no label of y_val is in y.
            If points have to be held out and no class has two. If a matrix is not square, or not
            as wide as there are training points. If points, labels or similarities are not finite.
        """
        return self._fit(X, y, X_val, y_val, sample_weight)

    def _gains(self, data: Training, values: list[Reals], heads: Any) -> tuple[Any, ...]:
        """Return which classes are predicted; a `loss` breaks ties, by its mean over problems."""
        codes: Any = data.codes_val
        predicted = np.column_stack([validation.predicted_codes(each) for each in values])
        hits, loss = predicted == codes[:, np.newaxis], getattr(self, "loss", None)
        return (hits, mean_losses(values, codes, loss, data.weights_val)) if loss else (hits,)

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
        return self._predict(getattr(self, self._scored_by)(X))

    def _predict(self, scores: Reals) -> np.ndarray:
        return self.classes_[validation.predicted_codes(scores)]

    @available_if(lambda self: self._scored_by == "decision_function")
    def decision_function(self, X: Any) -> Reals:
        """Return the decision values of points, for each one-vs-all problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two; else positive for ``classes_[1]``.
        """
        return self._values(X)


def _refuse_unknown(X: Reals, places: Any = slice(None)) -> None:
    """Refuse points of which no similarity to a training point is known, at `places` or others."""
    rows = np.flatnonzero(np.isnan(X[:, places]).all(axis=1))  # mostly none, by few columns
    if len(rows := rows[np.isnan(X[rows]).all(axis=1)]):
        raise ValueError(
            f"row {rows[0]} of X lacks all similarities to training points: fill in mirror images "
            "before the matrix is split"
        )
