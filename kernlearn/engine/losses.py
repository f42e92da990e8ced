"""What each test row, or query, adds to a metric: for tests that take rows and splits apart.

The values of a metric are such that their mean is the metric. Methods are compared by the
differences of their values on the same rows, so each trial keeps those of a sample that depends on
seed and split alone.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn import metrics
from kernlearn.engine.splits import generator
from kernlearn.engine.tasks import Predictions, letor_ndcg_10, ndcg_10
from kernlearn.store import values_as_text

Values = NDArray[Any]

#: Most rows, or queries, of which a trial keeps values.
SAMPLE = 1000


def _absolute(true: Values, predicted: Values) -> Values:
    return np.abs(true - predicted)


def _of_grades(true: Values, predicted: Values) -> Values:
    """Return absolute errors, weighted so that each grade counts the same."""
    _, codes, counts = np.unique(true, return_inverse=True, return_counts=True)
    return _absolute(true, predicted) * (len(true) / (len(counts) * counts[codes]))


def _balanced(true: Values, predicted: Values) -> Values:
    """Return the mean accuracy of the classes, plus the influence of each row on it."""
    _, codes, counts = np.unique(true, return_inverse=True, return_counts=True)
    right = (true == predicted).astype(float)
    accuracies = np.bincount(codes, right) / counts
    weights = len(true) / (len(counts) * counts[codes])
    return accuracies.mean() + (right - accuracies[codes]) * weights


def _scores(of: Predictions) -> Values:
    """Return the scores of an estimator of two classes, as scikit-learn's AUC takes them."""
    if hasattr(of.estimator, "decision_function"):
        return np.asarray(of.estimator.decision_function(of.part.X))
    return np.asarray(of.estimator.predict_proba(of.part.X)[:, 1])


def _ratio(above: Values, below: Values) -> Values:
    """Return the ratio of two sums, plus the influence of each row on it."""
    if not (total := below.sum()):
        return np.zeros(len(below))
    ratio = above.sum() / total
    return ratio + (above - ratio * below) * (len(below) / total)


def _precisions(true: Values, scores: Values) -> Values:
    """Return the average precision, plus the influence of each row on it.

    It is the mean over positive rows of the precision among the rows with their score or more.
    """
    positive, n = true == true.max(), len(true)
    order = np.argsort(-scores, kind="stable")
    ends = np.searchsorted(-scores[order], -scores, "right")  # rows with as much or more
    precision = np.cumsum(positive[order])[ends - 1] / ends
    # a row counts in the precision of each positive row with its score or less
    starts = np.searchsorted(-scores[order], -scores)
    terms = [np.where(positive, x / ends, 0)[order] for x in (1 - precision, -precision)]
    after = [np.append(np.cumsum(x[::-1])[::-1], 0)[starts] for x in terms]
    mean = precision[positive].mean()
    own = np.where(positive, precision - mean + after[0], after[1])
    return mean + own * n / positive.sum()


def _placements(true: Values, scores: Values) -> Values:
    """Return the AUC, plus the influence of each row on it (DeLong et al. 1988).

    The placement of a row is the share of the rows of the other class on the right side of it.
    """
    positive = true == true.max()
    values = np.empty(len(true))
    for rows, sign in ((positive, 1), (~positive, -1)):
        others, own = np.sort(sign * scores[~rows]), sign * scores[rows]
        below = (np.searchsorted(others, own, side) for side in ("left", "right"))
        placements = sum(below) / (2 * len(others))
        area = placements.mean()
        values[rows] = area + (placements - area) * len(true) / len(own)
    return values


def _root(true: Values, predicted: Values) -> Values:
    """Return the root mean squared error, plus the influence of each row on it."""
    squares = (true - predicted) ** 2
    root = np.sqrt(squares.mean())
    return root + (squares - root**2) / (2 * (root or 1.0))


_OF_ROWS: dict[str, Callable[[Values, Values], Values]] = {
    "accuracy": np.equal,
    "error_percent": lambda true, predicted: 100 * (true != predicted),
    "zero_one": np.not_equal,
    "mse": lambda true, predicted: (true - predicted) ** 2,
    "rmse": _root,
    "mae": _absolute,
    "aae": _absolute,
    "macro_aae": _of_grades,
    "balanced_accuracy": _balanced,
    "f1": lambda true, predicted: _ratio(2 * true * predicted, true + predicted),
    "precision": lambda true, predicted: _ratio(true * predicted, predicted),
    "recall": lambda true, predicted: _ratio(true * predicted, true),
    "auc": _placements,
}
#: Those of scores, where others are of predicted classes.
_OF_SCORES = {"roc_auc": _placements, "average_precision": _precisions}
_OF_QUERIES: dict[str, Callable[..., Values]] = {
    "ndcg": metrics.thesis_ndcg,
    "ndcg_10": ndcg_10,
    "letor_ndcg_10": letor_ndcg_10,
    "letor_mean_ndcg": metrics.letor_mean_ndcg,
}


def values_of(
    metric: str, true: Values, predicted: Values, query: Values | None = None
) -> Values | None:
    """Return the values of test rows, or of queries, for a metric; None if it has none."""
    if metric in _OF_QUERIES and query is not None:
        return _OF_QUERIES[metric](true, predicted, qid=query, per_query=True)
    of_rows = _OF_ROWS.get(metric) or _OF_SCORES.get(metric)
    return of_rows(true, predicted) if of_rows else None


def of_groups(values: Values, groups: Values) -> Values:
    """Return what each group adds to a metric: the mean over the groups is that over the rows."""
    _, codes = np.unique(groups, return_inverse=True)
    sums = np.bincount(codes, values)
    return sums * (len(sums) / len(values))


def kept(names: Iterable[str], of: Predictions, seed: int, split: int) -> dict[str, str]:
    """Return as text the values of metrics for at most :data:`SAMPLE` rows, queries or groups.

    These are the same for all methods on a split.
    """
    query, groups = of.part.query, of.part.units.codes
    texts: dict[str, str] = {}
    rows: NDArray[np.intp] | slice = slice(None)
    for name in names:
        predicted = of.predicted
        if name in _OF_SCORES:
            predicted = _scores(of)
        values = values_of(name, of.part.y, predicted, query)
        if values is None:
            continue
        if query is None and groups is not None:
            values = of_groups(values, groups)
        if not texts and len(values) > SAMPLE:  # the metrics of a task are of the same rows
            drawn = generator(seed, "losses", split).choice(len(values), SAMPLE, replace=False)
            rows = np.sort(drawn)
        texts[name] = values_as_text(values[rows])
    return texts
