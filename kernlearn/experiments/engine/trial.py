"""One trial, from data to metrics."""

import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from kernlearn.exceptions import PluginError
from kernlearn.experiments.engine.build import Outcome, build_estimator, build_kernel, load_data
from kernlearn.experiments.engine.environment import Stopwatch, thread_limit
from kernlearn.experiments.engine.protocol import prepare, random_state
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.supervised import supervise
from kernlearn.experiments.engine.tasks import TASKS
from kernlearn.experiments.plugins import load_plugins
from kernlearn.experiments.registry import kernel_parameter
from kernlearn.experiments.scope import BUILT_IN, Scope
from kernlearn.experiments.store.results import Result, utc_now

# Draws of pairs and signs that an estimate of a complexity is the mean of, in each split.
_COMPLEXITY_TRIALS = 100


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
    own = spec.plugins
    scope = load_plugins(trial.source["plugins"]) if own else BUILT_IN
    states = {name: scope.state(name) for name in sorted(own)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError("; ".join([f"no plug-in {missing} is installed here", *scope.broken]))
    # a limit holds only for libraries that are loaded: LIBSVM comes with OpenMP threads of its own
    scope.estimators[spec.method.name].load()
    with thread_limit(spec.protocol.threads):
        outcome = _RUN[spec.task](trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def _approximate(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
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


def _complexity(trial: Trial, scope: Scope, data_dir: Path | None) -> Outcome:
    """Set a bound of a class's Rademacher complexity beside an estimate (Kar 2013, section 6.6).

    Points and pairs are as many as there are in the training part, from which they are drawn.
    """
    from kernlearn.theory.rademacher import rademacher_complexity

    spec, protocol = trial.spec, trial.spec.protocol
    data = load_data(trial, scope, data_dir)
    parts = prepare(data.data, np.asarray(data.target), protocol, trial.split)
    component = scope.estimators[spec.method.name]
    given = {k: scope.built(k, v) for k, v in spec.method.parameters.items()}
    if spec.kernel is not None and kernel_parameter(component) is not None:
        given["kernel"] = build_kernel(trial, scope, parts.X_train, parts.y_train)
    hypotheses = component.load()(**given)
    n = len(parts.y_train)
    with Stopwatch() as estimating:
        found = rademacher_complexity(
            hypotheses, parts.X_train, parts.y_train, n=n, n_trials=_COMPLEXITY_TRIALS,
            random_state=random_state(protocol.seed, "complexity", trial.split),
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
    data = load_data(trial, scope, data_dir)
    n_samples, n_features = data.data.shape
    info = {"sample": data.note} if data.get("sample") else {}
    metrics = {"n_samples": float(n_samples), "n_features": float(n_features)}
    return Outcome(metrics=metrics, info=info)


_RUN = {
    **dict.fromkeys(TASKS, supervise),
    "kernel_approximation": _approximate,
    "rademacher_complexity": _complexity,
    "dataset_statistics": _statistics,
}


def execute(trial: Trial, data_dir: Path | None, *, beside: bool = False) -> Result:
    """Run one trial; an exception becomes a failed result.

    Parameters
    ----------
    trial : Trial
    data_dir : Path or None
        Where data is looked for first.
    beside : bool, default=False
        Whether other trials run at the same time: noted with the times.

    Returns
    -------
    Result
    """
    # a coordinator that only hands trials on has no need of scikit-learn

    started, clock = utc_now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run_trial(trial, data_dir)
    except Exception as error:  # whatever a method raises is a row, and the run goes on
        return failure(
            trial, f"{type(error).__name__}: {error}", started, time.perf_counter() - clock,
            traceback.format_exc(),
        )  # fmt: skip
    said = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or beside
    return Result(
        trial.key,
        "done",
        started,
        time.perf_counter() - clock,
        metrics=outcome.metrics,
        info={**outcome.info, "contended": contended, "warnings": dict(said)},
    )


def failure(
    trial: Trial, error: str, started: str, seconds: float, trace: str | None = None
) -> Result:
    """Return the result of a trial that gave no numbers.

    Parameters
    ----------
    trial : Trial
    error : str
        What went wrong, in one line.
    started : str
        UTC, ISO 8601.
    seconds : float
        Wall time until it went wrong.
    trace : str, optional
        The traceback, where there is one.

    Returns
    -------
    Result
    """
    return Result(trial.key, "failed", started, seconds, error=error, traceback=trace)
