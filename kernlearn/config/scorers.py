"""Scikit-learn's scorers as metrics, by their names.

Errors have scikit-learn's names for them, ``neg_mean_absolute_error``, of which more is better,
and the same without ``neg_``, of which less is.
"""

import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from kernlearn.plugins import RegisteredMetric

# Averages over classes; without one the last of two classes is the positive one.
_AVERAGED = ("f1", "jaccard", "precision", "recall")
_LABELS = (
    "balanced_accuracy",
    "matthews_corrcoef",
    *(f"{name}_{by}" for name in _AVERAGED for by in ("macro", "micro", "weighted")),
)
_OF_TWO = (*_AVERAGED, "positive_likelihood_ratio", "neg_negative_likelihood_ratio")
_RANKS = ("roc_auc", "average_precision")
#: Scorers that are newer than the oldest scikit-learn which is supported.
SINCE_1_8 = ("d2_log_loss_score", "d2_brier_score")
_PROBABILITIES = (
    "neg_log_loss",
    "neg_brier_score",
    *SINCE_1_8,
    *(f"roc_auc_{by}" for by in ("ovo", "ovo_weighted", "ovr", "ovr_weighted")),
)
_NUMBERS = (
    "r2",
    "explained_variance",
    "d2_absolute_error_score",
    *(
        f"neg_{name}"
        for name in (
            "mean_absolute_error",
            "mean_squared_error",
            "root_mean_squared_error",
            "median_absolute_error",
            "max_error",
            "mean_absolute_percentage_error",
            "mean_squared_log_error",
            "root_mean_squared_log_error",
            "mean_poisson_deviance",
            "mean_gamma_deviance",
        )
    ),
)
_ANY = ("decision_function", "predict_proba")


def _registered(tasks: tuple[str, ...], names: Sequence[str]) -> dict[str, RegisteredMetric]:
    made = {name: (name, 1) for name in names}
    made |= {n.removeprefix("neg_"): (n, -1) for n in names if n.startswith("neg_")}
    return {
        name: RegisteredMetric(name, scorer=scorer, better=better, tasks=tasks)
        for name, (scorer, better) in made.items()
    }


#: The metrics that are scikit-learn's scorers, by name.
SCORERS: dict[str, RegisteredMetric] = {
    **_registered(("classification", "ordinal"), (*_OF_TWO, *_LABELS)),
    **_registered(("classification", "bipartite_ranking"), _RANKS),
    **_registered(("classification",), (*_PROBABILITIES, "top_k_accuracy")),
    **_registered(("regression",), _NUMBERS),
}


def needs_two_classes(metric: RegisteredMetric) -> bool:
    """Whether a metric is defined for two classes only."""
    return metric.scorer in (*_OF_TWO, *_RANKS)


def method_fault(metric: RegisteredMetric, estimator: Any, name: str) -> str | None:
    """Say what an estimator of a name, or scikit-learn, lacks for a metric, or return None."""
    if metric.scorer in SINCE_1_8 and not has_1_8():
        return f"the metric {metric.name} needs scikit-learn 1.8 or newer"
    needed: Sequence[str] = ()
    if metric.scorer in (*_RANKS, "top_k_accuracy"):
        needed = _ANY
    elif metric.scorer in _PROBABILITIES:
        needed = ("predict_proba",)
    if not needed or any(hasattr(estimator, method) for method in needed):
        return None
    return f"the metric {metric.name} needs {' or '.join(needed)}, which {name} does not have"


def has_1_8() -> bool:
    """Whether scikit-learn has what :data:`SINCE_1_8` lists."""
    major, minor, *_ = version("scikit-learn").split(".")
    return (int(major), int(minor)) >= (1, 8)


def measure(
    metrics: Sequence[RegisteredMetric],
    estimator: Any,
    X: Any,
    y: np.ndarray,
    judged: Callable[[np.ndarray], np.ndarray] | None = None,
) -> dict[str, float]:
    """Return the values of metrics by name; predictions are shared by scorers.

    Parameters
    ----------
    metrics : sequence of RegisteredMetric
    estimator : estimator object
        Fitted.
    X, y : array-like
        Test points and their targets.
    judged : callable, optional
        Turns what the estimator predicts into the labels that are evaluated.

    Raises
    ------
    ValueError
        If a scorer cannot be computed, or gives no finite number.
    """
    from sklearn.metrics import check_scoring

    if not metrics:
        return {}
    scored = estimator if judged is None else _labelling(estimator, judged, y)
    scorer = check_scoring(scored, scoring=sorted({metric.scorer for metric in metrics}))
    found = scorer(scored, X, y)
    values = {m.name: float(found[m.scorer]) * (1 if m.better > 0 else -1) for m in metrics}
    for name, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"the metric {name} is {value} here: it is not defined for such data")
    return values


def _labelling(estimator: Any, judged: Callable[[np.ndarray], np.ndarray], y: np.ndarray) -> Any:
    """Return a classifier that predicts what is evaluated of an estimator's predictions."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Labelling(ClassifierMixin, BaseEstimator):
        classes_ = np.unique(y)

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict(self, X: Any) -> np.ndarray:
            return judged(estimator.predict(X))

    return Labelling()
