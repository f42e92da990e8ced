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
from kernlearn.config.trial import Trial
from kernlearn.config.values import GOODNESS, canonical
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.engine import build, losses, machine
from kernlearn.engine.preparation import Parts
from kernlearn.engine.search import (
    chosen_inside,
    fit_given,
    hold_out_inside,
    measure_grid,
    select,
    steps,
)
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import KernlearnError
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
    scope = build.naming_classes(scope, trial, data)
    if spec.method.dense:
        parts = parts.dense()
    outcome.info |= {"n_train": len(parts.train.y), "n_test": len(parts.test.y)}
    if spec.dataset.entry.generator is None:  # which draws new rows for each split
        units = data.groups if data.query is None else data.query
        outcome.info["n_units"] = len(data.target) if units is None else len(np.unique(units))
    if parts.test.query is None and parts.train.units.codes is not None:
        codes: Any = parts.train.units.codes, parts.test.units.codes
        train, test = (len(np.unique(of_part)) for of_part in codes)
        outcome.info["ratio"] = test / train
    if trial.source.prepared:
        outcome.info["prepared"] = list(trial.source.prepared)
    with _advising(parts.train.X):
        with machine.Stopwatch() as selecting:
            kernel = build.build_kernel(trial, scope, parts)
            estimator = build.build_estimator(trial, scope, kernel, parts)
            if spec.protocol.select_by_mean and spec.method.select:
                points = list(ParameterGrid(spec.method.select))
                sample = (spec.protocol.seed, trial.split) if "n_units" in outcome.info else None
                how: Any = {"sample": sample, "threads": spec.protocol.threads}
                outcome.info["grid"] = measure_grid(estimator, points, parts, task, scope, **how)
                return [outcome]
            n_jobs = usable_cores() if alone and not spec.plugins else 1
            selection = select(estimator, parts, trial, task, scope, n_jobs)
            estimator.set_params(**scope.made_values(selection.parameters))
        chosen = {"selected": selection.parameters, "open_ends": selection.open_ends}
        outcome.info |= {name: values for name, values in chosen.items() if values}
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
    hold_out_inside(estimator, parts, trials[0])
    if len(trials) == 1:
        return [fit_given(estimator, parts.train, parts.val)]
    defaults = type(estimator)().get_params(deep=False)
    names = SHARED[trials[0].spec.method.name]
    points = [
        {name: trial.spec.method.parameters.get(name, defaults[name]) for name in names}
        for trial in trials
    ]
    grid = {name: list(dict.fromkeys(point[name] for point in points)) for name in points[0]}
    held_out = [] if parts.val is None else [parts.val.X, parts.val.y]
    (fits,) = estimator.path(parts.train.X, parts.train.y, grid, *held_out)
    return [fits.models[fits.params.index(point)] for point in points]


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    values = estimator.get_params().values()
    few = are_objects(parts.train.X) or any(getattr(v, "compares", "") == "any" for v in values)
    _, first = np.unique(parts.train.y, return_index=True)
    for n_rows in (_FEW_ROWS, _WARM_UP_ROWS) if few else (_WARM_UP_ROWS,):
        rows = np.arange(min(n_rows, len(parts.train.y)))
        if len(first) <= _WARM_UP_ROWS:
            # a row of every class
            rows = np.union1d(first, rows)
        some = parts.training(rows, rows)
        # errors, such as more neighbours than rows, and warnings are of no interest
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            warm = fit_given(clone(estimator), some, some)
            getattr(warm, task.output)(some.X)
            if hasattr(warm, "predict_native"):
                warm.predict_native(some.X)
            break


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
    metrics, n_rows = outcome.metrics, len(parts.test.y)
    with machine.Stopwatch() as predicting:
        predicted = getattr(estimator, task.output)(parts.test.X)
    watches = [fitting, predicting]
    if hasattr(estimator, "predict_native"):
        timed = min(n_rows, _NATIVE_ROWS)
        with machine.Stopwatch() as native:
            estimator.predict_native(parts.test.X[:timed])
        metrics["native_predict_seconds"] = native.wall * n_rows / timed
        watches.append(native)
    predictions = task.predictions(estimator, predicted, parts.test, parts.train.y)
    problems: dict[str, str] = {}
    metrics |= _sizes(estimator) | task.measure(predictions, problems)
    if problems:
        outcome.info["not_measured"] = problems
    if "n_units" in outcome.info:
        where = trial.spec.protocol.seed, trial.split
        outcome.info["losses"] = losses.kept(metrics, predictions, *where)
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

    rows = np.arange(len(parts.train.y))[:: -(-len(parts.train.y) // _GOODNESS_ROWS)]
    *before, last = steps(estimator)
    some, parameters = parts.training(rows, rows), last.get_params(deep=False)
    X = some.X
    for step in before:
        X = step.transform(X)
    similarity = parameters.get("similarity", parameters.get("kernel"))
    known = isinstance(similarity, str) and (parts.pairwise or kernel_of_name(similarity))
    if not (known or isinstance(similarity, Kernel)):
        return {}
    kind = str(parameters.get("kind", "similarity"))
    good = scaled_goodness(X, some.y, similarity, kind)
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
        first = str(error).partition(". ")[0].rstrip(".")
        if sp.issparse(X) and "sparse" in str(error).lower():
            raise ValueError(f"{first}: give the method `dense: true`") from error
        if are_objects(X) and not isinstance(error, KernlearnError):
            ways = f"a method or kernel for {kind_of(X)} (`kernlearn list`)"
            if kind_of(X) == "strings":
                ways += ", or sklearn.feature_extraction.text.TfidfVectorizer in a step before it"
            raise ValueError(f"{first}: the points are {kind_of(X)}: take {ways}") from error
        raise
