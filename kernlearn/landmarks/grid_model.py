"""Base of RegLand and ORLand: landmarks, and parameters chosen on validation points."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_random_state

from kernlearn.constraints import FRACTION, POSITIVE, fit_context
from kernlearn.landmarks.base import LandmarkedModel, float_type
from kernlearn.landmarks.growth import (
    GROWTH,
    Candidate,
    TriedSize,
    check_growth,
    grow_landmarks,
    growing_sizes,
)
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities
from kernlearn.model_selection import split_for_choice
from kernlearn.sample_weights import check_weights, taken


class GridModel(LandmarkedModel):
    """Base of RegLand and ORLand, whose parameters are chosen on validation points."""

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
        **GROWTH,
        "C": [POSITIVE, "array-like"],
        "validation_fraction": [FRACTION],
    }

    n_landmarks: int | str
    max_comparisons: int | None
    validation_fraction: float
    growth_: tuple[TriedSize, ...]

    @abstractmethod
    def _grid(self) -> dict[str, np.ndarray]:
        """Return the values to choose from, by parameter, of equally good ones the best first."""

    @abstractmethod
    def _check_targets(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Indices]:
        """Validate training data; return X, the targets, and codes to stratify by."""

    @abstractmethod
    def _train(
        self,
        features: Floats,
        targets: np.ndarray,
        grid: dict[str, np.ndarray],
        rng: Any,
        weights: np.ndarray | None,
    ) -> list[Any]:
        """Return a model for each choice of the grid, the last parameter changing fastest."""

    @abstractmethod
    def _losses(
        self, models: list[Any], features: Floats, targets: Any, points: Any
    ) -> list[np.ndarray]:
        """Return the losses of points by each model, the smaller the better.

        `features` is the embedding of the `points`.
        """

    @abstractmethod
    def _keep(self, model: Any, dtype: Any) -> None:
        """Set the fitted attributes; `dtype` is that of the features."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        X_val: Any = None,
        y_val: np.typing.ArrayLike | None = None,
        landmarks: Any = None,
        sample_weight: np.typing.ArrayLike | None = None,
    ) -> Self:
        """Choose landmarks, fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function,
            a sequence of whatever it compares.
        y : array-like of shape (n_samples,) or, for RegLand, (n_samples, n_targets)
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
            algorithm 5); then `n_landmarks`, `max_comparisons`, `selection` and `double_dipping`
            are ignored.
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
        X, targets, codes = self._check_targets(X, y)
        weights = check_weights(sample_weight, X)
        codes = self._without_absent(codes, weights)
        rng = check_random_state(self.random_state)
        growing = check_growth(self.n_landmarks, self.max_comparisons) and landmarks is None
        n_choices = max(prod(shape), 2 if growing else 1)
        rows, X_val, y_val, weights_val = split_for_choice(
            self, X, targets, X_val, y_val, codes, n_choices, rng, weights
        )
        choosing = None
        if X_val is not None:
            choosing = self._choice_weights(targets, weights, y_val, weights_val)
        self.__dict__.pop("growth_", None)  # of an earlier fit

        def fit(features: Floats, rows: Indices, held_out: Floats | None) -> Candidate:
            models = self._train(features, targets[rows], grid, rng, taken(weights, rows))
            if held_out is None:
                return Candidate(np.zeros(0, np.intp), (0, models[0]))
            losses = self._losses(models, held_out, y_val, X_val)
            scores = -np.array([np.average(of_model, weights=choosing) for of_model in losses])
            best = int(scores.argmax())
            return Candidate(np.zeros(0, np.intp), (best, models[best]), scores, losses[best])

        if growing:
            found = self._grow(X, targets, rows, rng, X_val, choosing, fit)
        else:
            n_drawn = 0 if isinstance(self.n_landmarks, str) else self.n_landmarks
            features, rows = self._embed_training(X, targets, rows, landmarks, rng, n_drawn)
            found = fit(features, rows, None if X_val is None else self._features(X_val))
        scores, (best, model) = found.scores, found.model
        self.validation_scores_ = None if scores is None else scores.reshape(shape)
        for (name, values), place in zip(grid.items(), np.unravel_index(best, shape), strict=True):
            setattr(self, f"{name}_", values[place].item())
        self._keep(model, float_type(X))
        self._calibrate(X_val, y_val, weights_val)
        return self

    def _grow(
        self,
        X: Any,
        targets: np.ndarray,
        rows: Indices,
        rng: Any,
        X_val: Any,
        choosing: np.ndarray | None,
        fit: Callable[[Floats, Indices, Floats | None], Candidate],
    ) -> Candidate:
        """Choose landmarks as long as they pay, and return the model to keep.

        `fit` takes the embedding of the points trained on, their rows in X, and the embedding of
        the validation points.
        """
        candidates, similarities = self._similarities(X, targets, rows)
        codes, dtype = np.zeros(len(rows), dtype=np.intp), float_type(X)

        def fit_at(chosen: Indices, validation: KeptSimilarities) -> Candidate:
            values, trained = self._embedded(candidates, similarities, chosen, rows)
            features = np.ascontiguousarray(self._scaled(values), dtype=dtype)
            held_out = self._scaled(validation.columns(chosen)).astype(dtype, copy=False)
            return replace(fit(features, trained, held_out), chosen=chosen)

        n_points = len(rows) - (not self.double_dipping)
        sizes = growing_sizes(n_points, self.max_comparisons)
        found, self.growth_ = grow_landmarks(
            candidates, similarities, codes, X_val, choosing, sizes, self.selection, rng, fit_at
        )
        self._take(candidates, found.chosen)
        return found

    def _without_absent(self, codes: Indices, weights: np.ndarray | None) -> Indices:
        """Forget grades without a weight above 0, and return the codes of the others."""
        return codes

    def _choice_weights(self, y: Any, weights: Any, y_val: Any, weights_val: Any) -> Any:
        """Return the weights of validation points in the choice of parameters."""
        return weights_val

    def _calibrate(self, X: Any, y: Any, weights: np.ndarray | None) -> None:
        """Fit probabilities on the validation points, for a classifier."""
