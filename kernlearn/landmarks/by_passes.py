"""Fitting on sources of chunks: landmarks from a sample of the rows, weights from all of them."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernlearn.landmarks.similarity import Floats, Landmarks
from kernlearn.onepass.linear import LinearFit, LinearTask, fit_linear
from kernlearn.onepass.repeated import RepeatedRows, Survey, as_source, is_streamed


def refuse_source(model: Any, X: Any) -> None:
    """Refuse a source of chunks, for an estimator that takes none."""
    if is_streamed(X):
        name = type(model).__name__
        raise ValueError(
            f"{name} takes rows in memory, and X is a source of chunks: pass an array, such as a "
            "sample of the rows, or use BBSClassifier or FTuneClassifier, which take sources"
        )


class FitsSources:
    """Base of the classifiers whose weights may come from several passes over a source.

    The classifier is fitted on a sample of the rows as on any rows in memory: that gives the
    landmarks, their number, the scale of similarities and the transfer functions. The linear
    separators are then trained on all rows.
    """

    C: Any
    loss: str
    tol: float | None
    fit_intercept: bool
    class_weight: Any
    calibration: str | None
    validation_fraction: float
    n_passes_: int
    _landmarks: Landmarks

    @abstractmethod
    def _linear_features(self) -> tuple[Callable[[Any], Floats], tuple[slice, ...] | None]:
        """Return what embeds points by the fitted landmarks, and the columns of each problem."""

    @abstractmethod
    def _take_separators(self, found: LinearFit, Cs: Floats) -> None:
        """Set the fitted attributes that depend on the separators."""

    def _fit_source(self, X: Any, y: Any, given: dict[str, Any], Cs: Floats) -> None:
        """Fit on a source of chunks; `given` must hold nothing but None."""
        name = type(self).__name__
        for argument, value in given.items():
            if value is not None:
                raise ValueError(f"{argument} is for rows in memory, and X is a source of chunks")
        if self._precomputed:  # type: ignore[attr-defined]
            raise ValueError(
                f"{name} takes a matrix of similarities in memory, and X is a source of chunks: "
                "pass the points, and their similarity by name or as a function of two matrices"
            )
        holds_out = len(Cs) > 1 or self.calibration is not None
        rows = RepeatedRows(
            as_source(X, y),
            self._check_chunk,
            held_fraction=self.validation_fraction if holds_out else 0.0,
        )
        survey = rows.survey()
        names = getattr(self, "feature_names_in_", None)
        self._fit_sample(survey)
        if names is not None:
            self.feature_names_in_ = names
        transform, columns = self._linear_features()
        task = LinearTask(
            self.loss,
            Cs.tolist(),
            self.class_weight,
            1.0 if self.fit_intercept else None,
            self.tol,
            each=getattr(self, "per_class", False),
        )
        self._take_separators(fit_linear(rows, survey, transform, task, columns), Cs)
        self.n_passes_ = rows.n_passes
        self._calibrate(survey.held_X, survey.held_y, None)  # type: ignore[attr-defined]

    def _check_chunk(self, X: Any, *, reset: bool) -> Any:
        if self._takes_objects(X):  # type: ignore[attr-defined]
            raise ValueError(
                f"{type(self).__name__} takes objects in memory; chunks must hold matrices"
            )
        options = self._matrix_options(X)  # type: ignore[attr-defined]
        return self._validated(X, reset=reset, **options)  # type: ignore[attr-defined]

    def _fit_sample(self, survey: Survey) -> None:
        """Take what a fit on the sample finds; landmarks are numbered as rows of the source."""
        missing = np.setdiff1d(survey.classes, survey.y)
        if len(missing):
            raise ValueError(
                f"the sample of {len(survey.y)} rows that landmarks are taken from has none of "
                f"class {missing[0].item()!r}: leave such classes out, or pass more of their rows"
            )
        model: Any = clone(self)
        model._tally = self._tally  # type: ignore[attr-defined]
        model.set_params(calibration=None).fit(survey.X, survey.y)
        del model._tally
        found = {key: value for key, value in vars(model).items() if key not in model.get_params()}
        vars(self).update(found)
        self.landmark_indices_ = survey.numbers[model.landmark_indices_]
        self._landmarks = replace(
            model._landmarks, indices=survey.numbers[model._landmarks.indices]
        )


def embedded(
    landmarks: Landmarks, n_columns: int, write: Callable[[Floats, Floats], None]
) -> Callable[[Any], Floats]:
    """Return what embeds points by their similarities to landmarks; `write` fills a block."""

    def transform(X: Any) -> Floats:
        features = np.zeros((X.shape[0], n_columns))
        for rows, similarities in landmarks.blocks(X, n_columns):
            write(similarities, features[rows])
        return features

    return transform
