"""Bases of the classifiers that compare points with all training points."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlearn.calibration import CALIBRATION
from kernlearn.constraints import CLASS_WEIGHT, POSITIVE
from kernlearn.landmarks.base import Floats, Indices, decide
from kernlearn.landmarks.similarity_classifier import SimilarityClassifier, Training
from kernlearn.model_selection import candidate_values


class AllPointsClassifier(SimilarityClassifier):
    """Base of the classifiers that compare points with all training points.

    One parameter may have several values, to choose from on validation points.
    """

    @abstractmethod
    def _train(self, data: Training, choices: list[Any]) -> list[Any]:
        """Return a model for each choice."""

    @abstractmethod
    def _decide(self, model: Any, similarities: Floats) -> Floats:
        """Return scores, as `decide` takes them."""

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        ((name, choices),) = grid.items()
        self._landmarks = data.candidates
        models = self._train(data, choices)
        best, self.validation_scores_ = 0, None
        if data.codes_val is not None:
            right = self._codes(data.X_val, models) == data.codes_val
            self.validation_scores_ = np.average(right, axis=1, weights=data.weights_val)
            best = int(self.validation_scores_.argmax())
        self._model = models[best]
        self.best_params_ = {name: choices[best]}
        setattr(self, f"{name}_", choices[best])

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        blocks = self._landmarks.blocks(self._check_points(X))
        return np.concatenate([self._decide(self._model, values) for _, values in blocks])

    def _codes(self, X: Any, models: list[Any]) -> Indices:
        """Return the class codes that each model predicts, one row per model."""
        blocks = self._landmarks.blocks(X)
        codes = [[decide(self._decide(model, values)) for model in models] for _, values in blocks]
        return np.concatenate(codes, axis=1)


class ChoosesC(AllPointsClassifier):
    """A classifier with several C to choose from; of equally good values the smallest."""

    _parameter_constraints = {
        **AllPointsClassifier._parameter_constraints,
        "C": [POSITIVE, "array-like"],
        "class_weight": CLASS_WEIGHT,
        "calibration": CALIBRATION,
    }

    C: Any

    @property
    def svm_(self) -> Any:
        """The SVM on the similarities, or on the changed matrix."""
        return self._model

    def decision_function(self, X: Any) -> Floats:
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

    def _grid(self) -> dict[str, Any]:
        return {"C": candidate_values(self.C, "C").tolist()}
