"""Tasks: the targets of supervised ones and how predictions are evaluated, and other tasks."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from kernlearn.config.names import METRICS, Scope
from kernlearn.config.trial import Trial, TrialSpec
from kernlearn.config.values import ON_REQUEST
from kernlearn.datasets.data import Data
from kernlearn.engine import build, machine
from kernlearn.engine.preparation import Part, Parts
from kernlearn.engine.splits import random_state
from kernlearn.metrics import letor_ndcg, thesis_ndcg
from kernlearn.plugins import Registered

Array = np.ndarray
Query = Array | None

# Draws of pairs and signs over which an estimate of a complexity is averaged, per split.
_COMPLEXITY_TRIALS = 100
#: Scorers that are not defined for three classes.
_BINARY = {"f1", "precision", "recall", "jaccard", "roc_auc"}


@dataclass(frozen=True)
class Task:
    """A kind of supervised problem.

    Attributes
    ----------
    name : str
    target : callable
        Takes the data, a trial's specification and a dict for further information; returns the
        values to be predicted, one per row.
    score_by : str
        The metric by which parameters are chosen.
    as_label : callable, optional
        Takes predicted values and the targets of the training part, returns what is evaluated.
    output : str
        The method of the estimator that gives the values.
    has_labels : bool
        Whether all values are among those of the training part.
    own : sequence of Registered
        Metrics of plug-ins, scorers of scikit-learn and goodness, which are measured too.
    """

    name: str
    target: build.Target
    score_by: str
    as_label: Callable[[Array, Array], Array] | None = None
    output: str = "predict"
    has_labels: bool = False
    own: Sequence[Registered] = ()

    def label(self, predicted: Any, n_points: int, y_train: Array) -> Array:
        """Return what is evaluated of predicted values.

        Raises
        ------
        ValueError
            If they are not one number for each point, or one label of the training points.
        """
        values = np.asarray(predicted)
        if values.shape == (n_points, 1):  # as CatBoost gives classes
            values = values[:, 0]
        if values.ndim == 2 and self.output == "decision_function":
            refuse_many(self.name, values.shape[1])
        if values.shape != (n_points,):
            needed = f"must give one value for each of {n_points} points"
            raise ValueError(f"the method's {self.output} {needed}, not the shape {values.shape}")
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            what = "NaN" if np.isnan(values).any() else "infinity"
            of_points = f"{n_points - finite.sum()} of {n_points} points"
            raise ValueError(f"the method's {self.output} gives {what} for {of_points}")
        if self.has_labels and not (known := np.isin(values, y_train)).all():
            text = f"the method predicts {values[~known].tolist()[0]!r}"
            raise ValueError(f"{text}, which is no label of the training points")
        return values if self.as_label is None else self.as_label(values, y_train)

    def predictions(
        self, estimator: Any, output: Any, part: Part, y_train: Array
    ) -> "Predictions":
        """Return what is evaluated of an estimator's output for a part."""
        return Predictions(part, self.label(output, len(part.y), y_train), estimator, y_train)

    @property
    def metrics(self) -> list[Registered]:
        """The metrics that are measured of predictions, or of the estimator."""
        of_task = [m for m in METRICS.values() if self.name in m.tasks and m.target]
        usual = [m for m in of_task if m.name not in ON_REQUEST]
        return [*usual, *(m for m in self.own if m.target or m.scorer)]

    def measure(
        self, predictions: "Predictions", problems: dict[str, str] | None = None
    ) -> dict[str, float]:
        """Return the metrics of the task by name.

        ``problems`` takes the reason why a metric has no value; without it that is an error.
        """
        values = {}
        for metric in self.metrics:
            try:
                values[metric.name] = self._value(metric, predictions)
            except Exception as error:  # a metric of a plug-in may raise anything
                if problems is None:
                    raise
                problems[metric.name] = f"{type(error).__name__}: {error}"
        return values

    def score(self, predictions: "Predictions") -> float:
        """Return a number of which more is better, by which parameters are chosen."""
        (metric,) = [one for one in self.metrics if one.name == self.score_by][:1]
        return metric.better * self._value(metric, predictions)

    def _value(self, metric: Registered, of: "Predictions") -> float:
        true = of.part.y
        if not metric.scorer:
            return value(metric, true, of.predicted, of.part.query)
        estimator = of.estimator
        if self.as_label is not None:
            estimator = _Labelling(estimator, self.as_label, of.y_train, np.unique(true))
        if self.has_labels and (n := len(np.unique(true))) > 2 and metric.scorer in _BINARY:
            advice = "forms for more have names such as f1_macro and roc_auc_ovr"
            raise ValueError(f"{metric.scorer}: for two classes, not {n}; {advice}")
        score = get_scorer(metric.scorer)(estimator, of.part.X, true)
        return metric.better * _finite(score, metric.name)


@dataclass(frozen=True)
class Predictions:
    """What an estimator, fitted to `y_train`, predicts for a part of the data."""

    part: Part
    predicted: Array
    estimator: Any = None
    y_train: Any = None


class _Labelling(ClassifierMixin, BaseEstimator):
    """A classifier that predicts what is evaluated of an estimator's predictions."""

    def __init__(self, estimator: Any, as_label: Any, y_train: Array, classes: Array) -> None:
        self.estimator, self.as_label, self.y_train = estimator, as_label, y_train
        self.classes_ = classes

    def predict(self, X: Any) -> Array:
        labels: Array = self.as_label(self.estimator.predict(X), self.y_train)
        return labels


def value(metric: Registered, true: Array, predicted: Array, query: Query = None) -> float:
    """Return the value of a metric.

    Raises
    ------
    ValueError
        If the metric gives no finite number, as an AUC of rows of one class.
    """
    options = {name: query for name in ("query", "qid") if name in metric.parameters}
    name = f"{metric.name!r} of {metric.plugin}" if metric.plugin else metric.name
    return _finite(metric.load()(true.copy(), predicted.copy(), **options), name)


def _finite(value: Any, metric: str) -> float:
    with suppress(TypeError, ValueError):
        if math.isfinite(number := float(value)):
            return number
    problem = f"metric {metric} must give a finite number, not {value!r}"
    raise ValueError(f"{problem}; where all rows are of one class some have none")


def refuse_many(task: str, n_classes: int) -> None:
    """Refuse other numbers of classes than two."""
    if n_classes != 2:
        problem = f"task: {task} needs two classes, not {n_classes}"
        raise ValueError(f"{problem}: give the data set `binarize`")


def _classes(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    names, entry = [str(n) for n in data.target_names], spec.dataset.entry
    name = entry.name or str(entry.generator)
    positive = build.positive_classes(names, entry.binarize, spec.protocol.seed, name)
    y = np.asarray(data.target)
    if len(names) == 2 or positive is not None:
        info["positive"] = positive or names[-1:]
    if positive is None:
        return y
    codes = [code for code, name in enumerate(names) if name in positive]
    return np.isin(y, codes).astype(np.int64)


def error_percent(true: Array, predicted: Array) -> float:
    """Return the percentage of wrong predictions."""
    return 100 * (1 - float(np.mean(true == predicted)))


def auc(true: Array, scores: Array) -> float:
    """Return the share of the pairs of a positive and a negative point scored in order.

    The same as scikit-learn's ``roc_auc_score``, which takes 4 ms for any number of points: a
    choice among 63 steps and radii would wait for it longer than for the models.
    """
    from scipy.stats import rankdata

    positive = true == true.max()
    n_positive, n_negative = np.count_nonzero(positive), np.count_nonzero(~positive)
    if not n_negative:
        return math.nan
    in_order = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(in_order / (n_positive * n_negative))


CLASSIFICATION = Task("classification", _classes, "accuracy", has_labels=True)


def two_classes(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    """Return the labels of two classes, after `binarize`."""
    y = _classes(data, spec, info)
    refuse_many(spec.task, len(np.unique(y)))
    return y


BIPARTITE_RANKING = Task("bipartite_ranking", two_classes, "auc", output="decision_function")


def _values(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    return np.asarray(data.target, dtype=np.float64)


def _as_they_are(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    return np.zeros(data.data.shape[0]) if data.target is None else np.asarray(data.target)


REGRESSION = Task("regression", _values, "mse")


def _grades(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    if spec.dataset.entry.bins is None:
        return np.asarray(data.target)
    return equal_frequency(_values(data, spec, info), spec.dataset.entry.bins)


def equal_frequency(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Cut values into grades 0, 1, ... of about equal frequency.

    Equal values get the same grade, so there may be fewer grades than `n_bins`.
    """
    edges = np.quantile(values, np.arange(1, n_bins) / n_bins)
    _, grades = np.unique(np.searchsorted(edges, values, side="right"), return_inverse=True)
    return grades


def _nearest_grade(predicted: Array, y_train: Array) -> Array:
    """Round real predictions to the grades of the training part."""
    return np.clip(np.rint(predicted), y_train.min(), y_train.max()).astype(np.intp)


ORDINAL = Task("ordinal", _grades, "aae", _nearest_grade)


def _relevances(data: Data, spec: TrialSpec, info: dict[str, Any]) -> Array:
    if data.query is None:
        raise ValueError("task: ranking needs data whose rows belong to queries")
    return np.asarray(data.target)


#: The NDCG of the first ten, the thesis' and LETOR's.
ndcg_10, letor_ndcg_10 = partial(thesis_ndcg, k=10), partial(letor_ndcg, k=10)

RANKING = Task("ranking", _relevances, "ndcg")


def approximate_kernel(trial: Trial, scope: Scope) -> build.Outcome:
    """Compare the Gram matrix of a feature map with the kernel's (Kar 2013, section 3.6.2).

    The map is fitted to the training part and compared on the test part. Points that a generator
    draws for each split are both. The Gram matrix of a compositional map is compared with the
    kernel of the inner map's kernel.
    """
    info: dict[str, Any] = {}
    if trial.spec.dataset.entry.generator is None:
        _, parts = build.load_parts(trial, scope, _as_they_are, info)
        info["n_train"] = len(parts.train.y)
    else:
        data = build.load_data(trial, scope)
        parts = Parts(drawn := Part(data.data, data.target), drawn)
    X, kernel = parts.test.X, build.build_kernel(trial, scope, parts)
    estimator = build.build_estimator(trial, scope, kernel)
    with machine.Stopwatch() as fitting:
        estimator.fit(parts.train.X)
    with machine.Stopwatch() as transforming:
        Z = estimator.transform(X)
    exact = getattr(estimator, "composed_kernel", kernel)(X)
    difference = exact - Z @ Z.T
    metrics = {
        "gram_error": float(np.abs(difference).mean()),
        "relative_gram_error": float(np.linalg.norm(difference) / np.linalg.norm(exact)),
        "fit_seconds": fitting.wall,
        "transform_seconds": transforming.wall,
    }
    return build.Outcome(metrics, {"n_samples": X.shape[0], "n_outputs": Z.shape[1], **info})


def estimate_complexity(trial: Trial, scope: Scope) -> build.Outcome:
    """Estimate a class's Rademacher complexity and compute its bound (Kar 2013, section 6.6).

    As many points and pairs as the training part has rows are drawn from it.
    """
    from kernlearn.theory import rademacher_complexity

    spec, info = trial.spec, dict[str, Any]()
    _, parts = build.load_parts(trial, scope, _as_they_are, info)
    component = scope.estimator(spec.method.name)
    parameters = dict(spec.method.parameters)
    if spec.kernel is not None and component.takes:
        parameters["kernel"] = build.build_kernel(trial, scope, parts)
    hypotheses = scope.make(component, parameters)
    n = len(parts.train.y)
    with machine.Stopwatch() as estimating:
        estimate = rademacher_complexity(
            hypotheses,
            parts.train.X,
            parts.train.y,
            n=n,
            n_trials=_COMPLEXITY_TRIALS,
            random_state=random_state(spec.protocol.seed, "complexity", trial.split),
        )
    bound = hypotheses.bound(n)
    metrics = {
        "complexity": estimate.mean,
        "complexity_bound": bound,
        "printed_bound": hypotheses.bound(n, as_printed=True),
        "complexity_share": estimate.mean / bound,
        "estimate_seconds": estimating.wall,
    }
    return build.Outcome(metrics, {"n": n, "class": hypotheses.name, **info})


def measure_regret(trial: Trial, scope: Scope) -> build.Outcome:
    """Run OLP on the training part as a stream, and measure its regret (Kar 2013, section 6.4).

    The radius of the ball that contains the best fixed weights is that of the learner, as are the
    loss and the regulariser. No parameters are chosen: regret is measured on the stream itself.
    """
    from kernlearn.pairwise import OLP, stream_regret
    from kernlearn.pairwise.regret import follow

    learner = build.build_estimator(trial, scope, None)
    if not isinstance(learner, OLP) or learner.radius is None or trial.spec.method.select:
        raise ValueError("task: regret needs the estimator OLP with a radius and without select")
    info: dict[str, Any] = {}
    _, parts = build.load_parts(trial, scope, two_classes, info)
    stream = parts.train.X, parts.train.y
    followed = follow(learner, *stream)
    with machine.Stopwatch() as estimating:
        regret = stream_regret(
            *stream,
            followed.hypotheses,
            followed.contents,
            radius=learner.radius,
            loss=learner.loss,
            regularization=learner.regularization,
        )
    metrics = {
        "regret": regret.all_pairs.regret,
        "regret_per_round": regret.all_pairs.per_round,
        "buffer_regret": regret.buffer.regret,
        "estimate_seconds": estimating.wall,
    }
    return build.Outcome(metrics, {"n": len(parts.train.y), **info})


def count_data(trial: Trial, scope: Scope) -> build.Outcome:
    """Count the rows and columns of a data set."""
    data = build.load_data(trial, scope)
    # strings, graphs and other objects have no columns
    sizes = dict(zip(("n_samples", "n_features"), map(float, data.data.shape), strict=False))
    return build.Outcome(sizes)
