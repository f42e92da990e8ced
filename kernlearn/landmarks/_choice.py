"""What the classifiers that compare with all training points share: choosing one parameter."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks._training import SimilarityClassifier, Training, penalties

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
