"""One trial, from data to metrics."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernlearn.experiments.plan import Trial
from kernlearn.experiments.protocol import Parts, binarized, positive_classes, prepare
from kernlearn.experiments.registry import ESTIMATORS, KERNELS
from kernlearn.experiments.seeds import generator, random_state
from kernlearn.experiments.sources import load_source
from kernlearn.experiments.timing import Stopwatch, thread_limit

# Enough rows to load every lazy import and library once before anything is timed.
_WARM_UP_ROWS = 64


@dataclass
class Outcome:
    """What a trial gave.

    Attributes
    ----------
    metrics : dict of str to float
    info : dict
        What else a reader may ask: parameters chosen, classes binarised, sizes.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def _build(spec: dict[str, Any], trial: Trial, kernel: Any) -> Any:
    cls = ESTIMATORS[spec["name"]].load()
    estimator = cls(**spec["parameters"])
    seed = trial.spec["protocol"]["seed"]
    parameters = estimator.get_params(deep=False)
    extra: dict[str, Any] = {}
    if "random_state" in parameters:
        extra["random_state"] = random_state(seed, "estimator", trial.split)
    if kernel is not None and "kernel" in parameters and "kernel" not in spec["parameters"]:
        extra["kernel"] = kernel
    return estimator.set_params(**extra)


def _kernel(spec: dict[str, Any] | None, X: Any) -> Any:
    """Build a kernel, its bandwidth learnt: a parameter chosen before the clock runs."""
    if spec is None:
        return None
    kernel = KERNELS[spec["name"]].load()(**spec["parameters"])
    fitted = clone(kernel).fit(X)
    learnt = {
        name: getattr(fitted, f"{name}_", value) for name, value in spec["parameters"].items()
    }
    return kernel.set_params(**learnt)


def run_trial(trial: Trial, data_dir: Path | None = None) -> Outcome:
    """Carry out one trial.

    Parameters
    ----------
    trial : Trial
    data_dir : Path, optional
        Where data is looked for first.

    Returns
    -------
    Outcome
    """
    spec = trial.spec
    # a limit holds only for libraries that are loaded: LIBSVM comes with OpenMP threads of its own
    ESTIMATORS[spec["method"]["name"]].load()
    with thread_limit(spec["protocol"]["threads"]):
        return _TASKS[spec["task"]](trial, data_dir)


def _classify(trial: Trial, data_dir: Path | None) -> Outcome:
    spec, protocol = trial.spec, trial.spec["protocol"]
    data = load_source(trial.source, data_dir, seed=protocol["seed"], split=trial.split)
    positive = positive_classes(
        [str(n) for n in data.target_names],
        spec["dataset"]["binarize"],
        protocol["seed"],
        spec["dataset"].get("name") or spec["dataset"]["generator"],
    )
    y = binarized(data, positive)
    parts = prepare(data.data, y, protocol, trial.split, pairwise="similarity" in data)
    outcome = Outcome(info={"n_train": parts.X_train.shape[0], "n_test": parts.X_test.shape[0]})
    if positive is not None:
        outcome.info["positive"] = positive
    if data.get("sample"):
        outcome.info["sample"] = data.note

    with Stopwatch() as selecting:
        kernel = _kernel(spec["kernel"], parts.X_train)
        estimator = _build(spec["method"], trial, kernel)
        chosen = _select(estimator, spec["method"]["select"], parts, trial)
    estimator.set_params(**chosen)
    if chosen:
        outcome.info["selected"] = chosen
    outcome.metrics["select_seconds"] = selecting.wall
    _warm_up(estimator, parts)
    _time_classifier(estimator, parts, outcome)
    return outcome


def _time_classifier(estimator: Any, parts: Parts, outcome: Outcome) -> None:
    with Stopwatch() as fitting:
        estimator.fit(parts.X_train, parts.y_train)
    with Stopwatch() as predicting:
        predicted = estimator.predict(parts.X_test)
    watches = [fitting, predicting]
    metrics = outcome.metrics
    if hasattr(estimator, "predict_native"):
        with Stopwatch() as native:
            estimator.predict_native(parts.X_test)
        metrics["native_predict_seconds"] = native.wall
        watches.append(native)
    metrics["accuracy"] = float(np.mean(predicted == parts.y_test))
    metrics["fit_seconds"], metrics["fit_cpu_seconds"] = fitting.wall, fitting.cpu
    metrics["predict_seconds"], metrics["predict_cpu_seconds"] = predicting.wall, predicting.cpu
    if hasattr(estimator, "n_support_"):
        metrics["n_support"] = float(np.sum(estimator.n_support_))
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


def _select(
    estimator: Any, grid: dict[str, list[Any]], parts: Parts, trial: Trial
) -> dict[str, Any]:
    """Choose parameters by accuracy on a part of the training set; the first of equals wins."""
    if not grid:
        return {}
    protocol = trial.spec["protocol"]
    n = parts.X_train.shape[0]
    order = generator(protocol["seed"], "validation", trial.split).permutation(n)
    n_held_out = max(1, round(protocol["validation"] * n))
    held_out, kept = order[:n_held_out], order[n_held_out:]
    X, y = parts.training(kept, kept), parts.y_train[kept]
    X_val, y_val = parts.training(held_out, kept), parts.y_train[held_out]
    best: tuple[float, dict[str, Any]] | None = None
    for parameters in ParameterGrid(grid):
        fitted = clone(estimator).set_params(**parameters).fit(X, y)
        score = float(np.mean(fitted.predict(X_val) == y_val))
        if best is None or score > best[0]:
            best = (score, parameters)
    assert best is not None
    return best[1]


def _warm_up(estimator: Any, parts: Parts) -> None:
    """Fit and predict once on a few rows, so that no import or first call is in the times."""
    _, first = np.unique(parts.y_train, return_index=True)
    rows = np.union1d(first, np.arange(min(_WARM_UP_ROWS, len(parts.y_train))))
    X, y = parts.training(rows, rows), parts.y_train[rows]
    warm = clone(estimator).fit(X, y)
    warm.predict(X)
    if hasattr(warm, "predict_native"):
        warm.predict_native(X)


def _approximate(trial: Trial, data_dir: Path | None) -> Outcome:
    """Compare the Gram matrix of a feature map with the kernel's (Kar 2013, section 3.6.2)."""
    spec, protocol = trial.spec, trial.spec["protocol"]
    X = load_source(trial.source, data_dir, seed=protocol["seed"], split=trial.split).data
    kernel = _kernel(spec["kernel"], X)
    estimator = _build(spec["method"], trial, kernel)
    with Stopwatch() as fitting:
        estimator.fit(X)
    with Stopwatch() as transforming:
        Z = estimator.transform(X)
    error = np.abs(kernel(X) - Z @ Z.T)
    return Outcome(
        metrics={
            "gram_error": float(error.mean()),
            "fit_seconds": fitting.wall,
            "transform_seconds": transforming.wall,
        },
        info={"n_samples": X.shape[0], "n_outputs": Z.shape[1]},
    )


_TASKS = {"classification": _classify, "kernel_approximation": _approximate}
