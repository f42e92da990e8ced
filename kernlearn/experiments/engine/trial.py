"""Execution of one trial, from data to metrics."""

import time
import traceback
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from kernlearn.exceptions import PluginError
from kernlearn.experiments.engine.build import Outcome, build_estimator, build_kernel, load_data
from kernlearn.experiments.engine.environment import Stopwatch, thread_limit
from kernlearn.experiments.engine.protocol import prepare, random_state
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.supervised import supervise
from kernlearn.experiments.engine.tasks import Task
from kernlearn.experiments.plugins import load_plugins
from kernlearn.experiments.registry import BUILT_IN, TASKS, Scope
from kernlearn.experiments.store.results import Result, utc_now

# Draws of pairs and signs over which an estimate of a complexity is averaged, per split.
_COMPLEXITY_TRIALS = 100


def run_trial(trial: Trial, data_dir: Path | None = None) -> Outcome:
    """Carry out one trial; data is looked for in ``data_dir`` first."""
    spec = trial.spec
    own = spec.plugins
    scope = load_plugins(trial.source["plugins"]) if own else BUILT_IN
    states = {name: scope.state(name) for name in sorted(own)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError("; ".join([f"no plug-in {missing} is installed here", *scope.broken]))
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    scope.estimators[spec.method.name].load()
    with thread_limit(spec.protocol.threads):
        task = TASKS[spec.task].load()
        run = partial(supervise, task) if isinstance(task, Task) else task
        outcome: Outcome = run(trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def approximate_kernel(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Compare the Gram matrix of a feature map with the kernel's (Kar 2013, section 3.6.2)."""
    X = load_data(trial, scope, data_dir).data
    kernel = build_kernel(trial, scope, X)
    estimator = build_estimator(trial, scope, kernel)
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


def estimate_complexity(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Estimate a class's Rademacher complexity and compute its bound (Kar 2013, section 6.6).

    As many points and pairs as the training part has rows are drawn from it.
    """
    from kernlearn.theory.rademacher import rademacher_complexity

    spec, protocol = trial.spec, trial.spec.protocol
    data = load_data(trial, scope, data_dir)
    parts = prepare(data.data, np.asarray(data.target), protocol, trial.split)
    component = scope.estimators[spec.method.name]
    parameters = dict(spec.method.parameters)
    if spec.kernel is not None and component.takes:
        parameters["kernel"] = build_kernel(trial, scope, parts.X_train, parts.y_train)
    hypotheses = scope.make(component, parameters)
    n = len(parts.y_train)
    with Stopwatch() as estimating:
        estimate = rademacher_complexity(
            hypotheses, parts.X_train, parts.y_train, n=n, n_trials=_COMPLEXITY_TRIALS,
            random_state=random_state(protocol.seed, "complexity", trial.split),
        )  # fmt: skip
    bound = hypotheses.bound(n)
    return Outcome(
        metrics={
            "complexity": estimate.mean,
            "complexity_bound": bound,
            "printed_bound": hypotheses.bound(n, as_printed=True),
            "complexity_share": estimate.mean / bound,
            "estimate_seconds": estimating.wall,
        },
        info={"n": n, "class": hypotheses.name},
    )


def count_data(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Count the rows and columns of a data set."""
    data = load_data(trial, scope, data_dir)
    n_samples, n_features = data.data.shape
    info = {"sample": data.note} if data.get("sample") else {}
    metrics = {"n_samples": float(n_samples), "n_features": float(n_features)}
    return Outcome(metrics=metrics, info=info)


def execute(trial: Trial, data_dir: Path | None, *, concurrent: bool = False) -> Result:
    """Run one trial; an exception becomes a failed result.

    ``concurrent`` tells whether other trials run at the same time, which is noted in the result.
    """
    started, clock = utc_now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run_trial(trial, data_dir)
    except Exception as error:  # any error of a method becomes a row, and the run goes on
        return failure(
            trial, f"{type(error).__name__}: {error}", started, time.perf_counter() - clock,
            traceback.format_exc(),
        )  # fmt: skip
    messages = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or concurrent
    return Result(
        trial.key,
        "done",
        started,
        time.perf_counter() - clock,
        metrics=outcome.metrics,
        info={**outcome.info, "contended": contended, "warnings": dict(messages)},
    )


def failure(
    trial: Trial, error: str, started: str, seconds: float, trace: str | None = None
) -> Result:
    """Return the result of a failed trial.

    ``error`` is one line, ``started`` the time in UTC (ISO 8601), ``seconds`` the wall time.
    """
    return Result(trial.key, "failed", started, seconds, error=error, traceback=trace)
