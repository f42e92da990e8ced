"""The task of streams: each point is scored before it is learned from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid

from kernlearn.experiments.compose import made_values
from kernlearn.experiments.engine import build, environment, protocol, tasks
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.registry import Scope

# Points that are scored together, and then learned from; windows of which the AUC is the mean.
_BLOCK = 100
_WINDOWS = 10


def prequential_auc(y: np.ndarray, scores: np.ndarray) -> tuple[float, int]:
    """Return the mean AUC of ten windows of equal length, and how many of them have one.

    Scores are only compared within a window, as their scale changes along a stream. A window of
    one class has no AUC; NaN if there is no other.
    """
    windows = [part for part in np.array_split(np.arange(len(y)), _WINDOWS) if len(part)]
    values = [roc_auc_score(y[w], scores[w]) for w in windows if len(np.unique(y[w])) == 2]
    return float(np.mean(values)) if values else float("nan"), len(values)


def stream_scores(model: Any, X: Any, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the score of each point by the model that has learned from those before its block.

    Blocks have 100 points; those of the first one have the score 0.
    """
    scores = np.zeros(len(y))
    first, *others = _blocks(len(y))
    model.partial_fit(X[first], y[first], classes=classes)
    # what has been checked once is not checked again for each block
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for rows in others:
            scores[rows] = model.decision_function(X[rows])
            model.partial_fit(X[rows], y[rows])
    return scores


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, _BLOCK):
        yield slice(start, min(start + _BLOCK, n))


def score_stream(trial: Trial, scope: Scope, data_dir: Path | None) -> build.Outcome:
    """Follow a stream, the rows in their order, and measure the prequential AUC.

    The first part of the stream, the share ``validation``, decides on all that is chosen: the
    scaling, and the parameters under `select`, by their prequential AUC on it. The metric is that
    on the rest, after the model has learned from the first part, too; `fit_seconds` are those of
    following the whole stream. ``max_train`` is the length
    of the stream; ``train`` and ``max_test`` have no meaning here. The split seeds the generator,
    if any, and the method.
    """
    spec, how = trial.spec, trial.spec.protocol
    data, outcome = build.load_data(trial, scope, data_dir), build.Outcome()
    y = tasks.two_classes(data, spec, outcome.info)[: how.max_train]
    X = data.data[: how.max_train]
    n, n_first = len(y), max(1, round(how.validation * len(y)))
    classes = np.unique(y)
    first, rest = protocol.scaled(how, X[:n_first], X[n_first:])
    stream = np.concatenate([first, rest]) if isinstance(X, np.ndarray) else _stacked(first, rest)
    estimator = build.build_estimator(trial, scope, None)
    for name in ("partial_fit", "decision_function"):
        if not hasattr(estimator, name):
            raise ValueError(f"task: prequential needs an estimator with {name}")
    best, best_auc = {}, -np.inf
    if spec.method.select:
        for point in ParameterGrid(spec.method.select):
            model = clone(estimator).set_params(**made_values(scope, point))
            auc, _ = prequential_auc(
                y[:n_first], stream_scores(model, first, y[:n_first], classes)
            )
            if auc > best_auc:
                best, best_auc = point, auc
        if not best:
            raise ValueError("task: prequential: the first part has one class, to choose by")
        outcome.info["selected"] = best
    model = clone(estimator).set_params(**made_values(scope, best))
    with environment.Stopwatch() as following:
        scores = stream_scores(model, stream, y, classes)
    auc, n_windows = prequential_auc(y[n_first:], scores[n_first:])
    outcome.metrics |= {"prequential_auc": auc, "fit_seconds": following.wall}
    outcome.info |= {"n": n, "n_first": n_first, "n_windows": n_windows}
    return outcome


def _stacked(*parts: Any) -> Any:
    from scipy import sparse

    return sparse.vstack(parts, format="csr")
