"""Supervised tasks: their targets, and how predictions are evaluated."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from kernlearn.experiments.engine.protocol import binarized, positive_classes
from kernlearn.experiments.engine.spec import TrialSpec
from kernlearn.experiments.registry import METRICS
from kernlearn.registration import RegisteredMetric

Array = NDArray[Any]
Query = Array | None


def _unchanged(predicted: Array, y_train: Array) -> Array:
    return predicted


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
    as_label : callable
        Takes predicted values and the targets of the training part, returns what is evaluated.
    output : str
        The method of the estimator that gives the values.
    own : sequence of RegisteredMetric
        Metrics of plug-ins that are measured too.
    """

    name: str
    target: Callable[[Bunch, TrialSpec, dict[str, Any]], Array]
    score_by: str
    as_label: Callable[[Array, Array], Array] = _unchanged
    output: str = "predict"
    own: Sequence[RegisteredMetric] = ()

    def measure(self, true: Array, predicted: Array, query: Query = None) -> dict[str, float]:
        """Return the metrics of the task by name."""
        metrics = [m for m in METRICS.values() if self.name in m.tasks and m.target]
        return {m.name: value(m, true, predicted, query) for m in (*metrics, *self.own)}

    def score(self, true: Array, predicted: Array, query: Query = None) -> float:
        """Return a number of which more is better."""
        metric = METRICS[self.score_by]
        return metric.better * value(metric, true, predicted, query)


def value(metric: RegisteredMetric, true: Array, predicted: Array, query: Query = None) -> float:
    """Return the value of a metric.

    Raises
    ------
    ValueError
        If the metric of a plug-in gives no finite number.
    """
    given = {"query": query} if "query" in metric.parameters else {}
    result = metric.load()(true, predicted, **given)
    if not metric.plugin:
        return float(result)
    try:
        number = float(result)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"metric {metric.name!r} of {metric.plugin} must give a finite number, not {result!r}"
        )
    return number


def _classes(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> Array:
    positive = positive_classes(
        [str(n) for n in data.target_names],
        spec.dataset.binarize,
        spec.protocol.seed,
        spec.dataset.name or str(spec.dataset.generator),
    )
    if positive is not None:
        info["positive"] = positive
    return binarized(data, positive)


def accuracy(true: Array, predicted: Array) -> float:
    """Return the share of correct predictions."""
    return float(np.mean(true == predicted))


def error_percent(true: Array, predicted: Array) -> float:
    """Return the percentage of wrong predictions."""
    return 100 * (1 - accuracy(true, predicted))


CLASSIFICATION = Task("classification", _classes, "accuracy")


def _two_classes(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> Array:
    y = _classes(data, spec, info)
    if len(np.unique(y)) != 2:
        raise ValueError(
            f"task: bipartite_ranking needs two classes, not {len(np.unique(y))}: "
            "give the data set `binarize`"
        )
    return y


def auc(true: Array, scores: Array) -> float:
    """Return the area under the ROC curve."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(true, scores))


BIPARTITE_RANKING = Task("bipartite_ranking", _two_classes, "auc", output="decision_function")


def _values(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> Array:
    return np.asarray(data.target, dtype=np.float64)


def mean_squared_error(true: Array, predicted: Array) -> float:
    """Return the mean squared error."""
    return float(np.mean((true - predicted) ** 2))


def mean_absolute_error(true: Array, predicted: Array) -> float:
    """Return the mean absolute error."""
    return float(np.mean(np.abs(true - predicted)))


REGRESSION = Task("regression", _values, "mse")


def _grades(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> Array:
    n_bins = spec.dataset.bins
    if n_bins is None:
        return np.asarray(data.target)
    return equal_frequency(np.asarray(data.target, dtype=np.float64), n_bins)


def equal_frequency(values: NDArray[np.float64], n_bins: int) -> NDArray[np.intp]:
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


def _relevances(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> Array:
    if "query" not in data:
        raise ValueError("task: ranking needs data whose rows belong to queries")
    return np.asarray(data.target)


def ndcg(true: Array, predicted: Array, query: Query) -> float:
    """Return the thesis' NDCG."""
    from kernlearn.metrics import thesis_ndcg

    return float(thesis_ndcg(true, predicted, qid=query))


def ndcg_10(true: Array, predicted: Array, query: Query) -> float:
    """Return the thesis' NDCG of the first ten."""
    from kernlearn.metrics import thesis_ndcg

    return float(thesis_ndcg(true, predicted, qid=query, k=10))


def letor_ndcg_10(true: Array, predicted: Array, query: Query) -> float:
    """Return LETOR's NDCG of the first ten."""
    from kernlearn.metrics import letor_ndcg

    return float(letor_ndcg(true, predicted, qid=query, k=10))


def letor_mean(true: Array, predicted: Array, query: Query) -> float:
    """Return the mean of LETOR's NDCG over all positions."""
    from kernlearn.metrics import letor_mean_ndcg

    return float(letor_mean_ndcg(true, predicted, qid=query))


RANKING = Task("ranking", _relevances, "ndcg")
