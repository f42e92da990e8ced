"""Probabilities of classes from decision values of held-out points."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import StrOptions
from kernlearn.sample_weights import places

#: Constraint of the parameter ``calibration``.
CALIBRATION = [StrOptions({"sigmoid", "isotonic"}), None]

_WEAK = 100.0  # the C of a penalty that only keeps separable points from infinite slopes

Floats = NDArray[np.float64]


def _calibrates(model: Any) -> bool:
    if model.calibration is None:
        raise AttributeError("predict_proba needs calibration='sigmoid' or 'isotonic'")
    return True


class CalibratedMixin:
    """Probabilities of a classifier that holds points out, by a parameter ``calibration``."""

    calibration: str | None
    classes_: NDArray[Any]

    def _calibration_scores(self, X: Any) -> Floats:
        return np.asarray(self.decision_function(X), dtype=np.float64)  # type: ignore[attr-defined]

    def _calibrate(self, X: Any, y: Any, weights: Floats | None) -> None:
        """Fit the map from decision values to probabilities on validation points."""
        self.__dict__.pop("calibrator_", None)
        if self.calibration is None:
            return
        known = np.isin(y, self.classes_)
        missing = np.setdiff1d(self.classes_, y)
        if len(missing):
            raise ValueError(
                f"calibration={self.calibration!r} needs validation points of every class, and "
                f"there are none of {missing[0].item()!r}: give X_val and y_val, or a greater "
                "validation_fraction"
            )
        scores = self._calibration_scores(X)[known]
        self.calibrator_ = self._calibrator().fit(
            scores, y[known], None if weights is None else weights[known]
        )

    def _calibrator(self) -> Any:
        return Calibrator(self.classes_, self.calibration)

    @available_if(_calibrates)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes, calibrated on validation points.

        Available with ``calibration``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1. The greatest need not be that of the predicted class.
        """
        check_is_fitted(self)
        return self.calibrator_.predict_proba(self._calibration_scores(X))

    @available_if(_calibrates)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose points are their decision values."""

    def __init__(self, classes: Any) -> None:
        self.classes = classes
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> "GivenScores":
        """Do nothing."""
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return X, one-dimensional for two classes."""
        return X[:, 0] if len(self.classes_) == 2 else X

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the greatest value."""
        codes = (X[:, 0] > 0).astype(int) if len(self.classes_) == 2 else X.argmax(axis=1)
        return self.classes_[codes]


class Calibrator:
    """Platt's sigmoid or isotonic regression for each class against the rest."""

    def __init__(self, classes: NDArray[Any], method: str | None) -> None:
        self.classes = classes
        self.method = method

    def fit(self, scores: Floats, y: NDArray[Any], weights: Floats | None) -> "Calibrator":
        """Fit the maps of all classes."""
        everything = np.arange(len(y))
        self.model_ = CalibratedClassifierCV(
            FrozenEstimator(GivenScores(self.classes)),
            method=self.method,
            cv=[(everything, everything)],
            ensemble=False,
        )
        with warnings.catch_warnings():
            # the weights are meant for the calibration alone: the scores are there
            warnings.filterwarnings("ignore", "Since FrozenEstimator does not", UserWarning)
            self.model_.fit(scores.reshape(len(y), -1), y, sample_weight=weights)
        return self

    def predict_proba(self, scores: Floats) -> Floats:
        """Return the probabilities of all classes."""
        return self.model_.predict_proba(scores.reshape(len(scores), -1))


class OrdinalCalibrator:
    r"""Probabilities of grades from real values: those of greater grades rise with the value.

    "sigmoid" is the proportional odds model, :math:`P(y > k) = σ(b f - a_k)` with one slope
    :math:`b \ge 0`, "isotonic" an isotonic regression for each k. Both give probabilities of
    y > k that fall with k, as the number of points above k does.
    """

    def __init__(self, classes: NDArray[Any], method: str | None) -> None:
        self.classes = classes
        self.method = method

    def fit(self, values: Floats, y: NDArray[Any], weights: Floats | None) -> "OrdinalCalibrator":
        """Fit the probabilities of exceeding each grade but the last."""
        steps = np.arange(len(self.classes) - 1)
        above = places(self.classes, y)[:, np.newaxis] > steps
        if self.method == "isotonic":
            self.models_ = [
                IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
                    values, column.astype(float), sample_weight=weights
                )
                for column in above.T
            ]
            return self
        self.scale_ = float(values.std()) or 1.0
        counts = None if weights is None else np.repeat(weights, len(steps))
        model = LogisticRegression(C=_WEAK, fit_intercept=False, max_iter=1000)
        model.fit(self._rows(values, len(steps)), above.ravel(), sample_weight=counts)
        self.slope_, self.offsets_ = model.coef_[0, 0], model.coef_[0, 1:]
        if self.slope_ < 0:  # the values say nothing: the shares of the grades are left
            self.slope_ = 0.0
            self.offsets_ = model.fit(
                self._rows(0 * values, len(steps)), above.ravel(), sample_weight=counts
            ).coef_[0, 1:]
        return self

    def _rows(self, values: Floats, n_steps: int) -> Floats:
        slopes = np.repeat(values / self.scale_, n_steps)
        return np.column_stack([slopes, np.tile(np.eye(n_steps), (len(values), 1))])

    def predict_proba(self, values: Floats) -> Floats:
        """Return the probabilities of all grades."""
        if self.method == "isotonic":
            above = np.column_stack([model.predict(values) for model in self.models_])
        else:
            above = 1 / (
                1 + np.exp(-(values[:, None] / self.scale_ * self.slope_ + self.offsets_))
            )
        edges = np.pad(above, ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
        return np.maximum(edges[:, :-1] - edges[:, 1:], 0.0)
