"""A method of a config fitted to all rows of a data set: what a user takes for new rows."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metaestimators import available_if
from threadpoolctl import threadpool_limits

from kernlearn.checks import listed
from kernlearn.config.names import BUILT_IN, TASKS, load_plugins
from kernlearn.config.plan import Choice, make_plan
from kernlearn.config.read import load_config
from kernlearn.config.trial import Trial
from kernlearn.datasets.data import Data
from kernlearn.datasets.tables import as_objects, default_names, kind_of
from kernlearn.engine import build
from kernlearn.engine.search import fit_given, hold_out_inside, select
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import ConfigError, DataError, SelectionError
from kernlearn.validation import label_codes


def fit_method(config: str | os.PathLike[str], method: str, **labels: Any) -> Pipeline:
    """Choose the parameters of a method of a config, and fit it to all rows of a data set.

    Parameters
    ----------
    config : str or path-like
        The path of a config, or the name of a shipped one.
    method : str
        A method of the config.
    **labels
        The `dataset`, `kernel` or varied parameters, if the config has several.

    Returns
    -------
    Pipeline
        Fitted. Of a table of a file its first step, ``columns``, takes a frame with the features,
        whatever other columns there are, and encodes them as the experiment did; then gaps are
        filled and columns scaled. Its ``read`` reads another such file. Of a matrix rows have the
        entries with all its points, or with those that the method compares with
        (``compared_indices_``), of a frame found by their names. Points are taken as they are, of
        a frame from their column. The last step, ``method``, predicts the labels of classes and
        grades, as whole numbers if all are, by its ``estimator_``.

    Raises
    ------
    SelectionError
        If labels leave no choice, or several.
    ConfigError
        If the task predicts nothing, or the target is scaled.

    Examples
    --------
    >>> from kernlearn.engine import fit_method
    >>> model = fit_method("demo_landmarks", "BBS", dataset="two_moons", n_landmarks=10)
    >>> model.predict([[0, 1], [1, -0.5]]).tolist()
    [0, 1]
    """
    experiment = load_config(os.fspath(config))
    asked = {name: (str(value),) for name, value in {"method": method, **labels}.items()}
    choice = Choice((asked,))
    plan = make_plan(experiment, labels=choice.datasets(experiment.config))
    trials = [trial for trial in choice.of(plan) if trial.split == 0]
    if len(trials) > 1:
        several = {
            name: list(dict.fromkeys(str(trial.labels[name]) for trial in trials))
            for name in trials[0].labels
        }
        name, values = next((k, v) for k, v in several.items() if len(v) > 1)
        raise SelectionError(f"{config}: {method} has {name} {listed(values)}: give one")
    return _fitted(trials[0])


def _fitted(trial: Trial) -> Pipeline:
    """Fit the method of a trial to all rows of its data."""
    # its random streams, and what is learnt on its rows, are those of no split
    trial = replace(trial, split=trial.spec.protocol.splits)
    spec = trial.spec
    scope = load_plugins(trial.source.plugins) if spec.plugins else BUILT_IN
    task = TASKS[spec.task].load()
    if not isinstance(task, Task) or spec.protocol.scale_target:
        what = "scale_target" if isinstance(task, Task) else f"task: {spec.task}"
        raise ConfigError(f"{what}: no pipeline predicts the targets of the data")
    data, parts = build.load_parts(trial, scope, task.target, {}, whole=True)
    scope = build.naming_classes(scope, trial, data)
    parts = parts.dense() if spec.method.dense else parts
    with threadpool_limits(spec.protocol.threads):
        kernel = build.build_kernel(trial, scope, parts)
        estimator = build.build_estimator(trial, scope, kernel, parts)
        chosen = select(estimator, parts, trial, task, scope).parameters
        estimator.set_params(**scope.made_values(chosen))
        hold_out_inside(estimator, parts, trial)
        fit_given(estimator, parts.train, None)
    steps: list[tuple[str, Any]] = [*parts.steps, ("method", estimator)]
    if len(data.target_names) and spec.dataset.entry.binarize is None:
        steps[-1] = ("method", Labelled.fitted(estimator, _as_given(data.target_names)))
    return Pipeline([*_input(data, estimator, raw=spec.method.columns == "raw"), *steps])


def _input(data: Data, estimator: Any, *, raw: bool) -> list[tuple[str, Any]]:
    """Return the step that takes new rows from frames by the names of their columns."""
    points = getattr(data.found and data.found.form.format, "points", None)
    if data.columns is not None:
        columns = clone(data.columns)
        return [("columns", columns.set_params(encoding="raw") if raw else columns)]
    if data.similarity:
        compared = getattr(estimator, "compared_indices_", None)
        if compared is None or getattr(estimator, "n_refined", None):  # which may be of any point
            compared = np.arange(len(data.feature_names))
        names = {"names": data.feature_names.tolist(), "compared": compared}
        return [("columns", FunctionTransformer(pairs_of, kw_args=names))]
    if isinstance(points, str) and kind_of(data.data) == "strings":
        return [("points", FunctionTransformer(points_of, kw_args={"column": points}))]
    return []


def pairs_of(X: Any, names: Sequence[str], compared: np.ndarray) -> np.ndarray:
    """Return the pairs with the training points that are compared, of a frame by their names."""
    own = [names[i] for i in compared]
    if hasattr(X, "columns") and [*names] != [*default_names(len(names))]:
        if lacking := [name for name in own if name not in X]:
            raise DataError(f"the frame has no column {listed(lacking)}")
        return X[own].to_numpy(np.float64)
    pairs = np.asarray(X, dtype=np.float64)
    n_columns = pairs.shape[1] if pairs.ndim == 2 else 0
    if n_columns not in (len(names), len(own)):
        all_or_own = f"{len(names)} points, or of the {len(own)} that are compared"
        raise DataError(f"pairs in {n_columns} columns, expected those of all {all_or_own}")
    return pairs if n_columns == len(own) else pairs[:, compared]


def points_of(X: Any, column: str) -> np.ndarray:
    """Return points, of a frame those in a column."""
    if hasattr(X, "columns"):
        if column not in X:
            raise DataError(f"the frame has no column {column}, which has the points")
        X = X[column]
    return as_objects(X)


def _has(name: str) -> Any:
    return available_if(lambda model: hasattr(model.estimator, name))


class Labelled(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Predict labels by an estimator that is fitted to their positions.

    Parameters
    ----------
    estimator : object
        A classifier, or a regressor of grades, whose predictions are rounded.
    labels : ndarray of shape (n_classes,)
        The labels in the order of their positions.

    Attributes
    ----------
    estimator_ : object
        The estimator, fitted.
    classes_ : ndarray of shape (n_classes,)
        The labels in the order of the columns of `predict_proba`.
    """

    def __init__(self, estimator: Any, labels: np.ndarray) -> None:
        self.estimator, self.labels = estimator, labels

    @classmethod
    def fitted(cls, estimator: Any, labels: np.ndarray) -> Self:
        """Return the model of an estimator that is fitted."""
        return cls(clone(estimator), labels)._keep(estimator)

    def _keep(self, estimator: Any) -> Self:
        self.estimator_ = estimator
        self.classes_ = self.labels[getattr(estimator, "classes_", np.arange(len(self.labels)))]
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator to the positions of labels."""
        codes = label_codes(self.labels, np.asarray(y))
        return self._keep(clone(self.estimator).fit(X, codes))

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels."""
        places = np.rint(np.ravel(self.estimator_.predict(X)))
        return self.labels[places.clip(0, len(self.labels) - 1).astype(np.intp)]

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of `classes_`."""
        return self.estimator_.predict_proba(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the estimator."""
        return self.estimator_.decision_function(X)


def _as_given(labels: np.ndarray) -> np.ndarray:
    """Return labels as whole numbers or truth values if all are: as pandas reads them."""
    if {*labels.tolist()} == {"False", "True"}:
        return labels == "True"
    try:
        numbers = labels.astype(np.int64)
    except (ValueError, OverflowError):
        return labels
    return numbers if (numbers.astype(str) == labels).all() else labels
