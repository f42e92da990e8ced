"""What each kind of supervised problem predicts, and how predictions are judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from kernlearn.experiments.engine.protocol import binarized, positive_classes
from kernlearn.experiments.engine.spec import TrialSpec
from kernlearn.experiments.plugin_objects import OwnMetric

Query = NDArray[Any] | None


def _as_it_is(predicted: NDArray[Any], y_train: NDArray[Any]) -> NDArray[Any]:
    return predicted


@dataclass(frozen=True)
class Task:
    """A kind of problem.

    Attributes
    ----------
    target : callable
        Takes the data, a trial's specification and a dict for what else is to be told;
        returns what is predicted, one value a row.
    measure : callable
        Takes true and predicted values and the rows' queries, if there are any, and returns
        the metrics by name.
    score : callable
        Takes the same, returns a number of which more is better, to choose parameters by.
    as_label : callable
        Takes predicted values and those of the training part, returns what is judged.
    output : str
        The estimator's method that gives the values.
    """

    target: Callable[[Bunch, TrialSpec, dict[str, Any]], NDArray[Any]]
    measure: Callable[[NDArray[Any], NDArray[Any], Query], dict[str, float]]
    score: Callable[[NDArray[Any], NDArray[Any], Query], float]
    as_label: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] = _as_it_is
    output: str = "predict"


def _classes(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> NDArray[Any]:
    positive = positive_classes(
        [str(n) for n in data.target_names],
        spec.dataset.binarize,
        spec.protocol.seed,
        spec.dataset.name or str(spec.dataset.generator),
    )
    if positive is not None:
        info["positive"] = positive
    return binarized(data, positive)


def _accuracy(true: NDArray[Any], predicted: NDArray[Any], query: Query = None) -> float:
    return float(np.mean(true == predicted))


def _accuracies(
    true: NDArray[Any], predicted: NDArray[Any], query: Query = None
) -> dict[str, float]:
    accuracy = _accuracy(true, predicted)
    return {"accuracy": accuracy, "error_percent": 100 * (1 - accuracy)}


def _two_classes(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> NDArray[Any]:
    y = _classes(data, spec, info)
    if len(np.unique(y)) != 2:
        raise ValueError(
            f"task: bipartite_ranking needs two classes, not {len(np.unique(y))}: "
            "give the data set `binarize`"
        )
    return y


def _auc(true: NDArray[Any], scores: NDArray[Any], query: Query = None) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(true, scores))


def _values(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> NDArray[np.float64]:
    return np.asarray(data.target, dtype=np.float64)


def _errors(true: NDArray[Any], predicted: NDArray[Any], query: Query = None) -> dict[str, float]:
    return {
        "mse": float(np.mean((true - predicted) ** 2)),
        "mae": float(np.mean(np.abs(true - predicted))),
    }


def _grades(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> NDArray[np.intp]:
    n_bins = spec.dataset.bins
    if n_bins is None:
        return np.asarray(data.target)
    return equal_frequency(np.asarray(data.target, dtype=np.float64), n_bins)


def equal_frequency(values: NDArray[np.float64], n_bins: int) -> NDArray[np.intp]:
    """Cut values into grades 0, 1, ... of about as many rows each.

    Equal values get the same grade, so that there may be fewer grades than asked for.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    n_bins : int

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    edges = np.quantile(values, np.arange(1, n_bins) / n_bins)
    _, grades = np.unique(np.searchsorted(edges, values, side="right"), return_inverse=True)
    return grades


def _nearest_grade(predicted: NDArray[Any], y_train: NDArray[Any]) -> NDArray[np.intp]:
    """Round real predictions, and keep them within the grades of the training part."""
    return np.clip(np.rint(predicted), y_train.min(), y_train.max()).astype(np.intp)


def _grade_errors(
    true: NDArray[Any], predicted: NDArray[Any], query: Query = None
) -> dict[str, float]:
    from kernlearn.metrics import (
        average_absolute_error,
        macro_average_absolute_error,
        zero_one_error,
    )

    return {
        "aae": average_absolute_error(true, predicted),
        "macro_aae": macro_average_absolute_error(true, predicted),
        "zero_one": zero_one_error(true, predicted),
    }


def _relevances(data: Bunch, spec: TrialSpec, info: dict[str, Any]) -> NDArray[Any]:
    if "query" not in data:
        raise ValueError("task: ranking needs data whose rows belong to queries")
    return np.asarray(data.target)


def _gains(true: NDArray[Any], predicted: NDArray[Any], query: Query = None) -> dict[str, float]:
    from kernlearn.metrics import letor_mean_ndcg, letor_ndcg, thesis_ndcg

    return {
        "ndcg": float(thesis_ndcg(true, predicted, qid=query)),
        "ndcg_10": float(thesis_ndcg(true, predicted, qid=query, k=10)),
        "letor_ndcg_10": float(letor_ndcg(true, predicted, qid=query, k=10)),
        "letor_mean_ndcg": float(letor_mean_ndcg(true, predicted, qid=query)),
    }


#: Tasks by their names in a config.
TASKS: dict[str, Task] = {
    "classification": Task(_classes, _accuracies, _accuracy),
    "bipartite_ranking": Task(
        _two_classes, lambda *values: {"auc": _auc(*values)}, _auc, output="decision_function"
    ),
    "regression": Task(_values, _errors, lambda *values: -_errors(*values)["mse"]),
    "ordinal": Task(
        _grades, _grade_errors, lambda *values: -_grade_errors(*values)["aae"], _nearest_grade
    ),
    "ranking": Task(_relevances, _gains, lambda *values: _gains(*values)["ndcg"]),
}


def with_metrics(task: Task, own: Sequence[OwnMetric]) -> Task:
    """Return a task that measures plug-ins' metrics besides its own."""
    if not own:
        return task

    def measure(
        true: NDArray[Any], predicted: NDArray[Any], query: Query = None
    ) -> dict[str, float]:
        values = {metric.name: metric.measure(true, predicted, query) for metric in own}
        return task.measure(true, predicted, query) | values

    return replace(task, measure=measure)
