"""Execution of a trial: fit, choose parameters, predict and measure."""

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernlearn.config.names import BUILT_IN, FIT_MEMORY, TASKS, Scope
from kernlearn.config.plugins import load_plugins
from kernlearn.config.spec import Source, Trial, TrialSpec, canonical
from kernlearn.datasets.objects import are_objects, kind_of
from kernlearn.engine import build, environment, grid
from kernlearn.engine.compared import Measured
from kernlearn.engine.joblib_workers import let_joblib_depend
from kernlearn.engine.own_process import call_alone
from kernlearn.engine.peak_memory import PeakMemory
from kernlearn.engine.protocol import Parts, prepare
from kernlearn.engine.streamed import follow
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import ExecutorError, PluginError
from kernlearn.store import Row, utc_now

# Enough rows to load every lazy import and library once before anything is timed.
_WARM_UP_ROWS = 64
# Test rows that LIBSVM's own prediction is timed on, row by row: enough for a steady rate.
_NATIVE_ROWS = 2000
# Methods, with their kernels, that this process has warmed up.
_warm: set[str] = set()
# How estimators say that they need a matrix of numbers.
_NO_MATRIX = (
    "could not convert string to float",
    "expected 2d array",
    "float() argument",
    "setting an array element with a sequence",
    "must be 2-dimensional",
    "must be real number",
)
_VECTORS_OF = {"strings": ", such as sklearn.feature_extraction.text.TfidfVectorizer"}


def execute(trial: Trial, data_dir: Path | None, *, concurrent: bool = False) -> Row:
    """Run one trial; an exception becomes a failed result.

    ``concurrent`` tells whether other trials run at the same time, which is noted in the result.
    A trial that measures memory runs in a process of its own.
    """
    if not trial.spec.runs_alone or trial.only_selects:
        return execute_here(trial, data_dir, concurrent=concurrent)
    started, clock = utc_now(), time.perf_counter()
    try:
        return call_alone(execute_here, trial, data_dir, concurrent=concurrent)
    except ExecutorError as error:
        return environment.finished(trial, started, clock, error=f"WorkerDied: {error}")


def execute_here(trial: Trial, data_dir: Path | None, *, concurrent: bool = False) -> Row:
    """Run one trial in this process."""
    started, clock = utc_now(), time.perf_counter()
    let_joblib_depend()
    try:
        with environment.recorded_warnings() as caught:
            outcome = run_trial(trial, data_dir, alone=not concurrent)
    except (Exception, SystemExit) as error:  # any end of a method becomes a row
        return environment.finished(
            trial,
            started,
            clock,
            error=f"{type(error).__name__}: {error}",
            traceback=traceback.format_exc(),
        )
    messages = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or concurrent
    info = {**outcome.info, "contended": contended, "warnings": dict(messages)}
    return environment.finished(trial, started, clock, metrics=outcome.metrics, info=info)


def run_trial(trial: Trial, data_dir: Path | None = None, *, alone: bool = False) -> build.Outcome:
    """Carry out one trial; data is looked for in ``data_dir`` first.

    If no other trial runs, it may choose its parameters on all cores.
    """
    spec, source = trial.spec, trial.source or Source()
    scope = load_plugins(source.plugins) if spec.plugins else BUILT_IN
    states = {name: scope.state(name) for name in sorted(spec.plugins)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError("; ".join([f"no plug-in {missing} is installed here", *scope.broken]))
    if source.packages:
        scope = replace(scope, packages=source.packages)
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    for _, component in build.method_parts(scope, spec.method):
        component.load()
    with environment.thread_limit(spec.protocol.threads):
        task = TASKS[spec.task].load()
        run = partial(supervise, task, alone=alone) if isinstance(task, Task) else task
        if spec.dataset.stream is not None:
            run = partial(follow, task)
        outcome: build.Outcome = run(trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def supervise(
    task: Task, trial: Trial, scope: Scope, data_dir: Path | None, *, alone: bool = False
) -> build.Outcome:
    """Fit on the training part, evaluate the predictions on the test part."""
    spec = trial.spec
    task = replace(task, own=scope.own_metrics(metric.name for metric in spec.metrics))
    data = build.load_data(trial, scope, data_dir)
    outcome = build.Outcome()
    y = task.target(data, spec, outcome.info)
    scope = replace(scope, classes=_codes(data, spec.dataset.binarize is not None))
    kind = data.get("similarity")
    X, protocol = data.data, spec.protocol
    _refuse_kernel(spec, scope, X)
    parts = prepare(
        X,
        y,
        protocol,
        trial.split,
        pairwise=kind is not None,
        fold=data.get("fold"),
        query=data.get("query"),
    )
    if spec.method.dense:
        parts = parts.dense()
    outcome.info |= {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    if data.get("sample"):
        outcome.info["sample"] = data.note
    if trial.source is not None and trial.source.prepared:
        outcome.info["prepared"] = trial.source.prepared

    with Measured(scope.comparisons) as selecting:
        coded = build.coded_columns(data)
        kernel = build.build_kernel(trial, scope, parts.X_train, parts.y_train, coded)
        estimator = build.build_estimator(trial, scope, kernel, kind, coded)
        if spec.protocol.select_by_mean and spec.method.select:
            outcome.info["grid"] = grid.measure_grid(
                estimator, spec.method.select, parts, task, scope
            )
            return outcome
        several = alone and not spec.plugins and scope.comparisons is None
        n_jobs = environment.usable_cores() if several else 1
        if trial.chosen is None:
            with _advising(parts.X_train):
                chosen, score = grid.select(estimator, parts, trial, task, scope, n_jobs)
        else:
            chosen, score = trial.chosen.parameters, trial.chosen.score
    estimator.set_params(**scope.made_values(chosen))
    if chosen:
        outcome.info["selected"] = chosen
    selecting.add_comparisons()
    seconds = selecting.wall if trial.chosen is None else trial.chosen.seconds
    outcome.metrics["select_seconds"] = seconds
    if score is not None:
        outcome.metrics["selection_score"] = score
    if trial.only_selects:
        return outcome
    method = canonical([spec.method, spec.kernel])
    if method not in _warm:
        _warm.add(method)
        with _advising(parts.X_train):
            _warm_up(estimator, parts, task)
    with _advising(parts.X_train):
        _measure(estimator, parts, task, outcome, scope.comparisons)
    return outcome


def _codes(data: Any, binarized: bool) -> dict[str, int]:
    """Return the codes of the labels; no classes for a target that is a number."""
    if binarized:
        return {"0": 0, "1": 1}
    return {str(label): code for code, label in enumerate(data.get("target_names", ()))}


def _measure(
    estimator: Any, parts: Parts, task: Task, outcome: build.Outcome, comparisons: Any = None
) -> None:
    memory = PeakMemory() if FIT_MEMORY in task.named else nullcontext()
    with environment.noting_convergence(outcome.info), memory, Measured(comparisons) as fitting:
        grid.fit_given(
            estimator, parts.X_train, parts.y_train, parts.X_val, parts.y_val, parts.queries[0]
        )
    if isinstance(memory, PeakMemory):
        outcome.metrics[FIT_MEMORY] = memory.grown
    with Measured(comparisons) as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    metrics = outcome.metrics
    if hasattr(estimator, "predict_native"):
        n_rows = len(parts.y_test)
        timed = min(n_rows, _NATIVE_ROWS)
        with Measured(comparisons) as native:
            estimator.predict_native(parts.X_test[:timed])
        native.add_comparisons()
        metrics["native_predict_seconds"] = native.wall * n_rows / timed
        if timed < n_rows:
            outcome.info["native_rows"] = timed
        watches.append(native)
    disturbed = any(watch.disturbed for watch in watches)
    for watch in watches[:2]:
        watch.add_comparisons()
    metrics |= _compared_metrics(estimator, fitting, predicting, len(parts.y_test))
    judged = task.as_label(predicted, parts.y_train)
    metrics |= task.measure(parts.y_test, judged, parts.queries[2])
    metrics |= task.measure_scorers(estimator, parts.X_test, parts.y_test, parts.y_train)
    metrics |= {
        "fit_seconds": fitting.wall,
        "fit_cpu_seconds": fitting.cpu,
        "predict_seconds": predicting.wall,
        "predict_cpu_seconds": predicting.cpu,
    }
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    for name, attribute in (("n_support", "n_support_"), ("n_similarities", "n_comparisons_")):
        if hasattr(final, attribute):
            metrics[name] = float(np.sum(getattr(final, attribute)))
    if hasattr(final, "best_params_"):
        outcome.info["selected"] = outcome.info.get("selected", {}) | final.best_params_
    outcome.info["disturbed"] = disturbed


def _compared_metrics(
    estimator: Any, fitting: Measured, predicting: Measured, n_rows: int
) -> dict[str, float]:
    """Return the comparisons for the prediction of a point, their seconds, and those of `fit`.

    Those looked up are counted; others are what an estimator, or the steps of a pipeline, says
    that it has counted, without seconds.
    """
    if fitting.comparisons is not None:
        return {
            "comparisons": predicting.compared / n_rows,
            "fit_comparisons": float(fitting.compared),
            "comparison_seconds": predicting.compared_seconds / n_rows,
        }
    of_pipeline = isinstance(estimator, Pipeline)
    steps = [step for _, step in estimator.steps] if of_pipeline else [estimator]
    counts = {"comparisons": "n_comparisons_", "fit_comparisons": "n_fit_comparisons_"}
    return {
        metric: float(sum(getattr(step, name, 0) for step in steps))
        for metric, name in counts.items()
        if any(hasattr(step, name) for step in steps)
    }


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    rows = np.arange(min(_WARM_UP_ROWS, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y, query = parts.training(rows, rows), parts.y_train[rows], parts.queries[0]
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        warm = grid.fit_given(clone(estimator), X, y, X, y, None if query is None else query[rows])
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


def _refuse_kernel(spec: TrialSpec, scope: Scope, X: Any) -> None:
    """Refuse a kernel of vectors where the points are objects.

    Raises
    ------
    ValueError
        If the kernel of the trial, or one among the parameters of its method, compares vectors.
    """
    if not are_objects(X):
        return
    given = [spec.kernel.name] if spec.kernel is not None else []
    values = [*spec.method.parameters.values()]
    values += [value for choices in spec.method.select.values() for value in choices]
    given += [str(v["kernel"]) for v in values if isinstance(v, Mapping) and "kernel" in v]
    for name in given:
        kernel = scope.kernel(name)
        if kernel is None or kernel.plugin:
            continue
        if kernel.points in ("vectors", "records"):
            kind = kind_of(X)
            raise ValueError(
                f"the kernel {kernel.name} compares {kernel.points}, and the points are {kind}: "
                f"`kernlearn list` has similarities of {kind}"
            )


@contextmanager
def _advising(X: Any) -> Iterator[None]:
    """Add to the error of an estimator that refuses sparse data, or objects, what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if sp.issparse(X) and "sparse" in text.lower():
            first = text.partition(". ")[0].rstrip(".")
            raise ValueError(f"{first}: give the method `dense: true`") from error
        if are_objects(X) and any(part in text.lower() for part in _NO_MATRIX):
            kind = kind_of(X)
            raise ValueError(
                f"the method needs vectors, and the points are {kind}: take one with a similarity "
                f"of {kind}, or put a step before it that makes vectors of them"
                f"{_VECTORS_OF.get(kind, '')}"
            ) from error
        raise
