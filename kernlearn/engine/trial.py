"""A trial: from a specification to a row, by fitting, choosing parameters and measuring."""

import json
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from kernlearn import validation
from kernlearn.config.names import BUILT_IN, SHARED, TASKS, Scope, load_plugins
from kernlearn.config.spec import GOODNESS, canonical
from kernlearn.config.trial import Trial
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.engine import build, losses, machine
from kernlearn.engine.build import Parts
from kernlearn.engine.search import chosen_inside, fit_given, measure_grid, select, steps
from kernlearn.engine.tasks import Predictions, Task
from kernlearn.kernels import Kernel
from kernlearn.kernels.registry import kernel_of_name
from kernlearn.machine import usable_cores
from kernlearn.store import Row

# Enough rows to load every lazy import and library once before anything is timed; first as few of
# objects, or of points that a function compares, as will do.
_WARM_UP_ROWS, _FEW_ROWS = 64, 10
# Test rows that LIBSVM's own prediction is timed on, row by row: enough for a steady rate.
_NATIVE_ROWS = 2000
# Training rows that are compared with each other to measure goodness.
_GOODNESS_ROWS = 500

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


def execute(trials: Sequence[Trial], *, concurrent: bool = False) -> list[Row]:
    """Run trials that share their training, mostly one, in this process.

    Whatever a method does makes a row for each, a failed one at worst. ``concurrent`` says whether
    other trials run at the same time, which is noted in the rows.
    """
    starts = machine.starts(trials)
    try:
        with validation.recorded_warnings() as caught:
            outcomes = run_trials(trials, alone=not concurrent)
    except BaseException as error:  # a method may do anything, such as sys.exit
        if isinstance(error, KeyboardInterrupt) and machine.Interrupts.have_come():
            raise
        text, trace = machine.error_text(error), traceback.format_exc()
        return [start.failed(text, trace) for start in starts]
    messages = dict(Counter(f"{w.category.__name__}: {w.message}" for w in caught))
    rows = []
    for start, outcome in zip(starts, outcomes, strict=True):
        contended = bool(outcome.info.pop("disturbed", False)) or concurrent
        info = {**outcome.info, "contended": contended, "warnings": messages}
        # what an estimator has chosen may be of any type
        info = json.loads(json.dumps(info, default=_as_json))
        rows.append(start.row(metrics=outcome.metrics, info=info))
    return rows


def _as_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def run_trial(trial: Trial) -> build.Outcome:
    """Carry out one trial."""
    return run_trials([trial])[0]


def run_trials(trials: Sequence[Trial], *, alone: bool = False) -> list[build.Outcome]:
    """Carry out trials that share their training, mostly one.

    They differ in parameters of the method that act in its choice alone
    (:data:`kernlearn.config.names.SHARED`). If no other trials run, they may choose on all cores.
    """
    trial, spec = trials[0], trials[0].spec
    scope = load_plugins(trial.source.plugins) if spec.plugins else BUILT_IN
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    for _, component in build.method_parts(scope, spec.method):
        component.load()
    with threadpool_limits(spec.protocol.threads):
        task = TASKS[spec.task].load()
        if isinstance(task, Task):
            own = scope.own_metrics(metric.name for metric in spec.metrics)
            task = replace(task, own=own, score_by=spec.protocol.select_by or task.score_by)
            outcomes = _supervise(task, trials, scope, alone=alone)
        else:
            outcomes = [task(trial, scope)]
    if spec.plugins:
        for outcome in outcomes:
            outcome.info["plugins"] = {name: scope.state(name) for name in sorted(spec.plugins)}
    return outcomes


def _supervise(
    task: Task, trials: Sequence[Trial], scope: Scope, *, alone: bool
) -> list[build.Outcome]:
    """Fit on the training part, evaluate the predictions on the test part."""
    trial, spec, outcome = trials[0], trials[0].spec, build.Outcome()
    data, parts = build.load_parts(trial, scope, task.target, outcome.info)
    # no classes for a target that is a number
    labels = [0, 1] if spec.dataset.entry.binarize is not None else data.target_names
    scope = replace(scope, classes={str(label): code for code, label in enumerate(labels)})
    if spec.method.dense:
        parts = parts.dense()
    outcome.info |= {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    if spec.dataset.entry.generator is None:  # which draws new rows for each split
        units = data.groups if data.query is None else data.query
        outcome.info["n_units"] = len(data.target) if units is None else len(np.unique(units))
    if parts.queries[2] is None and parts.units.codes is not None:
        codes: Any = parts.units.codes, parts.test_units.codes
        train, test = (len(np.unique(of_part)) for of_part in codes)
        outcome.info["ratio"] = test / train
    if trial.source.prepared:
        outcome.info["prepared"] = list(trial.source.prepared)
    with _advising(parts.X_train):
        with machine.Stopwatch() as selecting:
            coded = data.coded
            kernel = build.build_kernel(trial, scope, parts.X_train, parts.y_train, coded)
            estimator = build.build_estimator(trial, scope, kernel, data.similarity, coded)
            if spec.protocol.select_by_mean and spec.method.select:
                points, threads = list(ParameterGrid(spec.method.select)), spec.protocol.threads
                seed, is_drawn = spec.protocol.seed, spec.dataset.entry.generator is not None
                sample = None if is_drawn else (seed, trial.split)
                how: Any = {"sample": sample, "threads": threads}
                outcome.info["grid"] = measure_grid(estimator, points, parts, task, scope, **how)
                return [outcome]
            n_jobs = usable_cores() if alone and not spec.plugins else 1
            selection = select(estimator, parts, trial, task, scope, n_jobs)
        estimator.set_params(**scope.made_values(selection.parameters))
        if selection.parameters:
            outcome.info["selected"] = selection.parameters
        if selection.open_ends:
            outcome.info["open_ends"] = selection.open_ends
        outcome.metrics["select_seconds"] = selecting.wall
        if selection.score is not None:
            outcome.metrics["selection_score"] = selection.score
        method = canonical([spec.method, spec.kernel])
        if method not in _warm:
            _warm.add(method)
            _warm_up(estimator, parts, task)
        converging = validation.noting_convergence(outcome.info, "converged")
        with converging, machine.Stopwatch() as fitting:
            models = _trained(estimator, parts, trials)
        return [_measured(model, fitting, parts, task, trial, outcome) for model in models]


def _trained(estimator: Any, parts: Parts, trials: Sequence[Trial]) -> list[Any]:
    """Return the fitted model of each trial."""
    rows = parts.X_train, parts.y_train, parts.X_val, parts.y_val
    if len(trials) == 1:
        return [fit_given(estimator, *rows, parts.queries[0])]
    defaults = type(estimator)().get_params(deep=False)
    names = SHARED[trials[0].spec.method.name]
    points = [
        {name: trial.spec.method.parameters.get(name, defaults[name]) for name in names}
        for trial in trials
    ]
    grid = {name: list(dict.fromkeys(point[name] for point in points)) for name in points[0]}
    X, y, *held_out = rows
    (fits,) = estimator.path(X, y, grid, *held_out)
    return [fits.models[fits.params.index(point)] for point in points]


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    values = estimator.get_params().values()
    few = are_objects(parts.X_train) or any(getattr(v, "compares", "") == "any" for v in values)
    for n_rows in (_FEW_ROWS, _WARM_UP_ROWS) if few else (_WARM_UP_ROWS,):
        with suppress(Exception):  # such as more neighbours than rows
            _warm_up_on(n_rows, estimator, parts, task)
            break


def _warm_up_on(n_rows: int, estimator: Any, parts: Parts, task: Task) -> None:
    rows = np.arange(min(n_rows, len(parts.y_train)))
    _, first = np.unique(parts.y_train, return_index=True)
    if len(first) <= _WARM_UP_ROWS:
        # a row of every class
        rows = np.union1d(first, rows)
    X, y, query = parts.training(rows, rows), parts.y_train[rows], parts.queries[0]
    query = None if query is None else query[rows]
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        warm = fit_given(clone(estimator), X, y, X, y, query)
        getattr(warm, task.output)(X)
        if hasattr(warm, "predict_native"):
            warm.predict_native(X)


def _measured(
    estimator: Any,
    fitting: machine.Stopwatch,
    parts: Parts,
    task: Task,
    trial: Trial,
    before: build.Outcome,
) -> build.Outcome:
    """Return what is measured of a fitted model, and what was measured before."""
    outcome = build.Outcome(dict(before.metrics), dict(before.info))
    metrics, n_rows = outcome.metrics, len(parts.y_test)
    with machine.Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.X_test)
    watches = [fitting, predicting]
    if hasattr(estimator, "predict_native"):
        timed = min(n_rows, _NATIVE_ROWS)
        with machine.Stopwatch() as native:
            estimator.predict_native(parts.X_test[:timed])
        metrics["native_predict_seconds"] = native.wall * n_rows / timed
        watches.append(native)
    labels = task.label(predicted, n_rows, parts.y_train)
    metrics |= _sizes(estimator)
    own, problems = (estimator, parts.X_test, parts.y_train), dict[str, str]()
    predictions = Predictions(parts.y_test, labels, parts.queries[2], *own)
    metrics |= task.measure(predictions, problems)
    if problems:
        outcome.info["not_measured"] = problems
    if "n_units" in outcome.info:
        of_rows = parts.y_test, labels, parts.queries[2]
        where = trial.spec.protocol.seed, trial.split
        groups = parts.test_units.codes if parts.queries[2] is None else None
        outcome.info["losses"] = losses.kept(metrics, *of_rows, *where, groups)
    if any(metric.name in GOODNESS for metric in task.own):
        metrics |= _goodness(estimator, parts)
    metrics |= {
        "fit_seconds": fitting.wall,
        "fit_cpu_seconds": fitting.cpu,
        "predict_seconds": predicting.wall,
        "predict_cpu_seconds": predicting.cpu,
    }
    for name, values in chosen_inside(steps(estimator)[-1]).items():
        if values:
            outcome.info[name] = {**outcome.info.get(name, {}), **values}
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)
    return outcome


def _goodness(estimator: Any, parts: Parts) -> dict[str, float]:
    """Return how good the similarity of the last step is, on at most 500 training rows."""
    from kernlearn.theory.goodness import scaled_goodness

    rows = np.arange(len(parts.y_train))[:: -(-len(parts.y_train) // _GOODNESS_ROWS)]
    *before, last = steps(estimator)
    X, parameters = parts.training(rows, rows), last.get_params(deep=False)
    for step in before:
        X = step.transform(X)
    similarity = parameters.get("similarity", parameters.get("kernel"))
    known = isinstance(similarity, str) and (parts.pairwise or kernel_of_name(similarity))
    if not (known or isinstance(similarity, Kernel)):
        return {}
    kind = str(parameters.get("kind", "similarity"))
    good = scaled_goodness(X, parts.y_train[rows], similarity, kind)
    return dict(zip(GOODNESS, (good.error, good.gamma(0.1)), strict=True))


def _sizes(estimator: Any) -> dict[str, float]:
    """Return comparisons, those of all steps, and support vectors of the last, where counted."""
    every, sizes = steps(estimator), {}
    for name, attribute, counted in (
        ("comparisons", "n_comparisons_", every),
        ("fit_comparisons", "n_fit_comparisons_", every),
        ("n_similarities", "n_comparisons_", every[-1:]),
        ("n_support", "n_support_", every[-1:]),
    ):
        if values := [getattr(s, attribute) for s in counted if hasattr(s, attribute)]:
            sizes[name] = float(sum(np.sum(value) for value in values))
    return sizes


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
            kind, example = kind_of(X), "sklearn.feature_extraction.text.TfidfVectorizer"
            raise ValueError(
                f"the method needs vectors, and the points are {kind}: take a method or kernel "
                f"for {kind} (`kernlearn list`), or put a step before it that makes vectors of "
                f"them{f', such as {example}' if kind == 'strings' else ''}"
            ) from error
        raise
