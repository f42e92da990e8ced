"""One trial, from data to metrics."""

import warnings
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Bunch

from kernlearn.exceptions import DataError, PluginError
from kernlearn.experiments.components import kernel_parameter
from kernlearn.experiments.grid import measure_grid
from kernlearn.experiments.keys import canonical
from kernlearn.experiments.plan import Trial, plugins_of
from kernlearn.experiments.plugins import load_plugins
from kernlearn.experiments.protocol import Parts, prepare
from kernlearn.experiments.scope import BUILT_IN, Scope
from kernlearn.experiments.seeds import generator, random_state
from kernlearn.experiments.sources import load_source
from kernlearn.experiments.tasks import TASKS, Task, with_metrics
from kernlearn.experiments.timing import Stopwatch, thread_limit

# Enough rows to load every lazy import and library once before anything is timed.
_WARM_UP_ROWS = 64
# Draws of pairs and signs that an estimate of a complexity is the mean of, in each split.
_COMPLEXITY_TRIALS = 100
# Methods, with their kernels, that this process has warmed up.
_warm: set[str] = set()


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


def _build(trial: Trial, scope: Scope, kernel: Any, kind: str | None = None) -> Any:
    """Make an estimator; ``kind`` says what a matrix of similarities holds."""
    spec = trial.spec["method"]
    component = scope.estimators[spec["name"]]
    estimator = component.load()(**{k: scope.built(k, v) for k, v in spec["parameters"].items()})
    seed = trial.spec["protocol"]["seed"]
    parameters = estimator.get_params(deep=False)
    takes = kernel_parameter(component)
    extra: dict[str, Any] = {}
    if "random_state" in parameters:
        extra["random_state"] = random_state(seed, "estimator", trial.split)
    if takes is not None and takes not in spec["parameters"]:
        if kind is not None:
            extra[takes] = "precomputed"
        elif kernel is not None:
            extra[takes] = kernel
    if kind is not None and "kind" in parameters:
        extra["kind"] = kind
    return estimator.set_params(**extra)


def _kernel(trial: Trial, scope: Scope, X: Any, y: Any = None) -> Any:
    """Build a kernel, its bandwidth learnt: a parameter chosen before the clock runs."""
    spec = trial.spec["kernel"]
    if spec is None:
        return None
    kernel = scope.kernels[spec["name"]].load()(**spec["parameters"])
    fitted = clone(kernel).fit(X, y)
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
    own = plugins_of(spec)
    scope = load_plugins(trial.source["plugins"]) if own else BUILT_IN
    states = {name: scope.state(name) for name in sorted(own)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError("; ".join([f"no plug-in {missing} is installed here", *scope.broken]))
    # a limit holds only for libraries that are loaded: LIBSVM comes with OpenMP threads of its own
    scope.estimators[spec["method"]["name"]].load()
    with thread_limit(spec["protocol"]["threads"]):
        outcome = _RUN[spec["task"]](trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def _data(trial: Trial, scope: Scope, data_dir: Path | None) -> Bunch:
    seed = trial.spec["protocol"]["seed"]
    data = load_source(trial.source, data_dir, seed=seed, split=trial.split, scope=scope)
    planned = trial.spec["dataset"].get("fingerprint")
    if planned is not None and data.fingerprint != planned:
        raise DataError(
            f"{trial.labels['dataset']}: not the data that the trial was planned for (fingerprint "
            f"{data.fingerprint}, planned {planned}): it was changed since, a worker reads "
            "another copy, or a plug-in draws it at random without `random_state`"
        )
    return data


def _supervise(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Fit on the training part, judge the predictions on the test part."""
    spec, protocol = trial.spec, trial.spec["protocol"]
    own = scope.own_metrics(metric["name"] for metric in spec.get("metrics", ()))
    task = with_metrics(TASKS[spec["task"]], own)
    data = _data(trial, scope, data_dir)
    outcome = Outcome()
    y = task.target(data, spec, outcome.info)
    kind = data.get("similarity")
    parts = prepare(
        data.data, y, protocol, trial.split,
        pairwise=kind is not None, fold=data.get("fold"), query=data.get("query"),
    )  # fmt: skip
    outcome.info["n_train"], outcome.info["n_test"] = len(parts.y_train), len(parts.y_test)
    if data.get("sample"):
        outcome.info["sample"] = data.note

    with Stopwatch() as selecting:
        kernel = _kernel(trial, scope, parts.X_train, parts.y_train)
        estimator = _build(trial, scope, kernel, kind)
        if protocol.get("select_by_mean") and spec["method"]["select"]:
            outcome.info["grid"] = measure_grid(estimator, spec["method"]["select"], parts, task)
            return outcome
        chosen = _select(estimator, spec["method"]["select"], parts, trial, task)
    estimator.set_params(**chosen)
    if chosen:
        outcome.info["selected"] = chosen
    outcome.metrics["select_seconds"] = selecting.wall
    _warm_up(estimator, parts, task, canonical([spec["method"], spec["kernel"]]))
    _measure(estimator, parts, task, outcome)
    return outcome


def _measure(estimator: Any, parts: Parts, task: Task, outcome: Outcome) -> None:
    with Stopwatch() as fitting:
        _fit(estimator, parts.X_train, parts.y_train, parts.X_val, parts.y_val, _queries(parts, 0))
    with Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    metrics = outcome.metrics
    if hasattr(estimator, "predict_native"):
        with Stopwatch() as native:
            estimator.predict_native(parts.X_test)
        metrics["native_predict_seconds"] = native.wall
        watches.append(native)
    judged = task.as_label(predicted, parts.y_train)
    metrics |= task.measure(parts.y_test, judged, _queries(parts, 2))
    metrics["fit_seconds"], metrics["fit_cpu_seconds"] = fitting.wall, fitting.cpu
    metrics["predict_seconds"], metrics["predict_cpu_seconds"] = predicting.wall, predicting.cpu
    if hasattr(estimator, "n_support_"):
        metrics["n_support"] = float(np.sum(estimator.n_support_))
    if hasattr(estimator, "best_params_"):
        outcome.info["selected"] = outcome.info.get("selected", {}) | estimator.best_params_
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


def _queries(parts: Parts, which: int) -> Any:
    return None if parts.queries is None else parts.queries[which]


def _fit(
    estimator: Any, X: Any, y: Any, X_val: Any = None, y_val: Any = None, query: Any = None
) -> Any:
    """Fit, and hand on held-out rows or queries to an estimator that takes such."""
    taken = signature(estimator.fit).parameters
    extra = {}
    if X_val is not None and "X_val" in taken:
        extra = {"X_val": X_val, "y_val": y_val}
    if query is not None and "qid" in taken:
        extra["qid"] = query
    return estimator.fit(X, y, **extra)


def _select(
    estimator: Any, grid: dict[str, list[Any]], parts: Parts, trial: Trial, task: Task
) -> dict[str, Any]:
    """Choose parameters by what the task scores on held-out rows; the first of equals wins.

    Where the protocol holds none out, a part of the training set is taken for it.
    """
    if not grid:
        return {}
    query, query_val = _queries(parts, 0), _queries(parts, 1)
    if parts.X_val is not None and parts.y_val is not None:
        X, y, X_val, y_val = parts.X_train, parts.y_train, parts.X_val, parts.y_val
    elif parts.queries is not None:
        raise ValueError("select needs rows held out by whole queries: give folds")
    else:
        protocol = trial.spec["protocol"]
        n = parts.X_train.shape[0]
        order = generator(protocol["seed"], "validation", trial.split).permutation(n)
        n_held_out = max(1, round(protocol["validation"] * n))
        held_out, kept = order[:n_held_out], order[n_held_out:]
        X, y = parts.training(kept, kept), parts.y_train[kept]
        X_val, y_val = parts.training(held_out, kept), parts.y_train[held_out]
    best: tuple[float, dict[str, Any]] | None = None
    for parameters in ParameterGrid(grid):
        fitted = _fit(clone(estimator).set_params(**parameters), X, y, X_val, y_val, query)
        predicted = getattr(fitted, task.output)(X_val)
        score = task.score(y_val, task.as_label(predicted, y), query_val)
        if best is None or score > best[0]:
            best = (score, parameters)
    assert best is not None
    return best[1]


def _warm_up(estimator: Any, parts: Parts, task: Task, method: str) -> None:
    """Fit and predict once on a few rows, so that no import or first call is in the times."""
    if method in _warm:
        return
    _warm.add(method)
    rows = np.arange(min(_WARM_UP_ROWS, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y = parts.training(rows, rows), parts.y_train[rows]
    with warnings.catch_warnings():
        # what is said of so few rows is of no interest
        warnings.simplefilter("ignore")
        query = None if parts.queries is None else parts.queries[0][rows]
        warm = _fit(clone(estimator), X, y, X, y, query)
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


def _approximate(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Compare the Gram matrix of a feature map with the kernel's (Kar 2013, section 3.6.2)."""
    X = _data(trial, scope, data_dir).data
    kernel = _kernel(trial, scope, X)
    estimator = _build(trial, scope, kernel)
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


def _complexity(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Set a bound of a class's Rademacher complexity beside an estimate (Kar 2013, section 6.6).

    Points and pairs are as many as there are in the training part, from which they are drawn.
    """
    from kernlearn.theory.rademacher import rademacher_complexity

    spec, protocol = trial.spec, trial.spec["protocol"]
    data = _data(trial, scope, data_dir)
    parts = prepare(data.data, np.asarray(data.target), protocol, trial.split)
    component = scope.estimators[spec["method"]["name"]]
    given = {k: scope.built(k, v) for k, v in spec["method"]["parameters"].items()}
    if spec["kernel"] is not None and kernel_parameter(component) is not None:
        given["kernel"] = _kernel(trial, scope, parts.X_train, parts.y_train)
    hypotheses = component.load()(**given)
    n = len(parts.y_train)
    with Stopwatch() as estimating:
        found = rademacher_complexity(
            hypotheses, parts.X_train, parts.y_train, n=n, n_trials=_COMPLEXITY_TRIALS,
            random_state=random_state(protocol["seed"], "complexity", trial.split),
        )  # fmt: skip
    bound = hypotheses.bound(n)
    return Outcome(
        metrics={
            "complexity": found.mean,
            "complexity_bound": bound,
            "printed_bound": hypotheses.bound(n, as_printed=True),
            "complexity_share": found.mean / bound,
            "estimate_seconds": estimating.wall,
        },
        info={"n": n, "class": hypotheses.name},
    )


def _statistics(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Count what a data set holds."""
    data = _data(trial, scope, data_dir)
    n_samples, n_features = data.data.shape
    info = {"sample": data.note} if data.get("sample") else {}
    metrics = {"n_samples": float(n_samples), "n_features": float(n_features)}
    return Outcome(metrics=metrics, info=info)


_RUN = {
    **dict.fromkeys(TASKS, _supervise),
    "kernel_approximation": _approximate,
    "rademacher_complexity": _complexity,
    "dataset_statistics": _statistics,
}
