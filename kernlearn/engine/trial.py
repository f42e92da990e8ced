"""A trial: from a specification to a row, by fitting, choosing parameters and measuring."""

import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernlearn.config.names import BUILT_IN, TASKS, Scope, load_plugins
from kernlearn.config.spec import FIT_MEMORY, Source, Trial, canonical
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.engine import build, machine, select
from kernlearn.engine.protocol import Parts, prepare
from kernlearn.engine.stream import follow
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import ExecutorError, PluginError
from kernlearn.store import Row

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


def execute(trial: Trial, data_dir: Path | None = None, *, concurrent: bool = False) -> Row:
    """Run one trial; whatever ends it early makes a failed row.

    ``concurrent`` tells whether other trials run at the same time, which is noted in the row. A
    trial that measures memory runs in a process of its own.
    """
    start = machine.Start(trial)
    if not trial.spec.runs_alone:
        return _execute(start, data_dir, concurrent)
    try:
        row: Row = machine.call_alone(_execute, start, data_dir, concurrent)
    except ExecutorError as error:
        return start.failed(f"WorkerDied: {error}")
    return row


def _execute(start: machine.Start, data_dir: Path | None, concurrent: bool) -> Row:
    try:
        with machine.recorded_warnings() as caught:
            outcome = run_trial(start.trial, data_dir, alone=not concurrent)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a method may do anything, such as sys.exit
        return start.failed(f"{type(error).__name__}: {error}", traceback.format_exc())
    messages = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or concurrent
    info = {**outcome.info, "contended": contended, "warnings": dict(messages)}
    return start.row(metrics=outcome.metrics, info=info)


def run_trial(trial: Trial, data_dir: Path | None = None, *, alone: bool = False) -> build.Outcome:
    """Carry out one trial; data is looked for in ``data_dir`` first.

    If no other trial runs, it may choose its parameters on all cores.
    """
    spec, source = trial.spec, trial.source or Source()
    scope = load_plugins(source.plugins) if spec.plugins else BUILT_IN
    states = {name: scope.state(name) for name in sorted(spec.plugins)}
    if None in states.values():
        missing = ", ".join(name for name, state in states.items() if state is None)
        raise PluginError(f"the trial comes without its plug-in {missing}")
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    for _, component in build.method_parts(scope, spec.method):
        component.load()
    with machine.thread_limit(spec.protocol.threads):
        task = TASKS[spec.task].load()
        if not isinstance(task, Task):
            outcome: build.Outcome = task(trial, scope, data_dir)
        else:
            own = scope.own_metrics(metric.name for metric in spec.metrics)
            run = follow if spec.dataset.stream is not None else partial(_supervise, alone=alone)
            outcome = run(replace(task, own=own), trial, scope, data_dir)
    if states:
        outcome.info["plugins"] = states
    return outcome


def _supervise(
    task: Task, trial: Trial, scope: Scope, data_dir: Path | None, *, alone: bool
) -> build.Outcome:
    """Fit on the training part, evaluate the predictions on the test part."""
    spec, outcome = trial.spec, build.Outcome()
    data = build.load_data(trial, scope, data_dir)
    y = task.target(data, spec, outcome.info)
    scope = replace(scope, classes=_codes(data, spec.dataset.binarize is not None))
    kind, groups = data.get("similarity"), {name: data.get(name) for name in ("fold", "query")}
    parts = prepare(data.data, y, spec.protocol, trial.split, pairwise=kind is not None, **groups)
    if spec.method.dense:
        parts = parts.dense()
    outcome.info |= {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    if data.get("sample"):
        outcome.info["sample"] = data.note
    if trial.source is not None and trial.source.prepared:
        outcome.info["prepared"] = trial.source.prepared
    with _advising(parts.X_train):
        with machine.Stopwatch() as selecting:
            coded = build.coded_columns(data)
            kernel = build.build_kernel(trial, scope, parts.X_train, parts.y_train, coded)
            estimator = build.build_estimator(trial, scope, kernel, kind, coded)
            if spec.protocol.select_by_mean and spec.method.select:
                grid = select.measure_grid(estimator, spec.method.select, parts, task, scope)
                outcome.info["grid"] = grid
                return outcome
            n_jobs = machine.usable_cores() if alone and not spec.plugins else 1
            chosen, score = select.select(estimator, parts, trial, task, scope, n_jobs)
        estimator.set_params(**scope.made_values(chosen))
        if chosen:
            outcome.info["selected"] = chosen
        outcome.metrics["select_seconds"] = selecting.wall
        if score is not None:
            outcome.metrics["selection_score"] = score
        method = canonical([spec.method, spec.kernel])
        if method not in _warm:
            _warm.add(method)
            _warm_up(estimator, parts, task)
        _measure(estimator, parts, task, outcome)
    return outcome


def _codes(data: Any, binarized: bool) -> dict[str, int]:
    """Return the codes of the labels; no classes for a target that is a number."""
    if binarized:
        return {"0": 0, "1": 1}
    return {str(label): code for code, label in enumerate(data.get("target_names", ()))}


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    rows = np.arange(min(_WARM_UP_ROWS, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y, query = parts.training(rows, rows), parts.y_train[rows], parts.queries[0]
    query = None if query is None else query[rows]
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        warm = select.fit_given(clone(estimator), X, y, X, y, query)
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


def _measure(estimator: Any, parts: Parts, task: Task, outcome: build.Outcome) -> None:
    metrics, n_rows = outcome.metrics, len(parts.y_test)
    memory = machine.PeakMemory() if FIT_MEMORY in task.named else nullcontext()
    with machine.noting_convergence(outcome.info), memory, machine.Stopwatch() as fitting:
        select.fit_given(
            estimator, parts.X_train, parts.y_train, parts.X_val, parts.y_val, parts.queries[0]
        )
    if isinstance(memory, machine.PeakMemory):
        metrics[FIT_MEMORY] = memory.grown
    with machine.Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    if hasattr(estimator, "predict_native"):
        timed = min(n_rows, _NATIVE_ROWS)
        with machine.Stopwatch() as native:
            estimator.predict_native(parts.X_test[:timed])
        metrics["native_predict_seconds"] = native.wall * n_rows / timed
        if timed < n_rows:
            outcome.info["native_rows"] = timed
        watches.append(native)
    labels = task.label(predicted, n_rows, parts.y_train)
    metrics |= _counts(estimator)
    metrics |= task.measure(parts.y_test, labels, parts.queries[2])
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
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


def _counts(estimator: Any) -> dict[str, float]:
    """Return the comparisons for the prediction of a point and those of `fit`, where counted."""
    of_pipeline = isinstance(estimator, Pipeline)
    steps = [step for _, step in estimator.steps] if of_pipeline else [estimator]
    counts = {"comparisons": "n_comparisons_", "fit_comparisons": "n_fit_comparisons_"}
    return {
        metric: float(sum(getattr(step, name, 0) for step in steps))
        for metric, name in counts.items()
        if any(hasattr(step, name) for step in steps)
    }


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
                f"the method needs vectors, and the points are {kind}: take a method or kernel "
                f"for {kind} (`kernlearn list`), or put a step before it that makes vectors of "
                f"them{_VECTORS_OF.get(kind, '')}"
            ) from error
        raise
