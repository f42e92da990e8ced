"""A trial: from a specification to a row, by fitting, choosing parameters and measuring."""

import json
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import signature
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from kernlearn import choice, validation
from kernlearn.config.names import BUILT_IN, TASKS, Scope, load_plugins
from kernlearn.config.spec import GOODNESS, Trial, canonical
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.engine import build, machine
from kernlearn.engine.build import Parts, generator, prepare
from kernlearn.engine.tasks import Task
from kernlearn.kernels import Kernel
from kernlearn.kernels.known_pairs import knowing_pairs
from kernlearn.kernels.registry import kernel_of_name
from kernlearn.store import Row

# Enough rows to load every lazy import and library once before anything is timed; first as few of
# objects, or of points that a function compares, as will do.
_WARM_UP_ROWS, _FEW_ROWS = 64, 10
# Test rows that LIBSVM's own prediction is timed on, row by row: enough for a steady rate.
_NATIVE_ROWS = 2000
# Training rows that are compared with each other to measure goodness.
_GOODNESS_ROWS = 500
# Seconds of a fit, above which it pays to fit in other processes.
_LONG_FIT = 0.5
# By how much the score must rise towards the end of a list, relative to it, to call the end open.
_RISE = 1e-6

# The values to choose from, by parameter.
Grid = Mapping[str, list[Any]]
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


def execute(trial: Trial, *, concurrent: bool = False) -> Row:
    """Run one trial in this process; whatever a method does makes a row, a failed one at worst.

    ``concurrent`` tells whether other trials run at the same time, which is noted in the row.
    """
    start = machine.Start(trial)
    try:
        with validation.recorded_warnings() as caught:
            outcome = run_trial(trial, alone=not concurrent)
    except BaseException as error:  # a method may do anything, such as sys.exit
        if isinstance(error, KeyboardInterrupt) and machine.Interrupts.have_come():
            raise
        return start.failed(machine.error_text(error), traceback.format_exc())
    messages = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or concurrent
    info = {**outcome.info, "contended": contended, "warnings": dict(messages)}
    # what an estimator has chosen may be of any type
    info = json.loads(json.dumps(info, default=_as_json))
    return start.row(metrics=outcome.metrics, info=info)


def _as_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def run_trial(trial: Trial, *, alone: bool = False) -> build.Outcome:
    """Carry out one trial; if no other runs, it may choose its parameters on all cores."""
    spec = trial.spec
    scope = load_plugins(trial.source.plugins) if spec.plugins else BUILT_IN
    # the limit applies to loaded libraries only, and LIBSVM brings its own OpenMP threads
    for _, component in build.method_parts(scope, spec.method):
        component.load()
    with threadpool_limits(spec.protocol.threads):
        task = TASKS[spec.task].load()
        if not isinstance(task, Task):
            outcome: build.Outcome = task(trial, scope)
        else:
            own = scope.own_metrics(metric.name for metric in spec.metrics)
            outcome = _supervise(replace(task, own=own), trial, scope, alone=alone)
    if spec.plugins:
        outcome.info["plugins"] = {name: scope.state(name) for name in sorted(spec.plugins)}
    return outcome


def _supervise(task: Task, trial: Trial, scope: Scope, *, alone: bool) -> build.Outcome:
    """Fit on the training part, evaluate the predictions on the test part."""
    spec, outcome = trial.spec, build.Outcome()
    data = build.load_data(trial, scope)
    y = task.target(data, spec, outcome.info)
    # no classes for a target that is a number
    labels = [0, 1] if spec.dataset.binarize is not None else data.get("target_names", ())
    scope = replace(scope, classes={str(label): code for code, label in enumerate(labels)})
    kind, groups = data.get("similarity"), {name: data.get(name) for name in ("fold", "query")}
    parts = prepare(data.data, y, spec.protocol, trial.split, pairwise=kind is not None, **groups)
    if spec.method.dense:
        parts = parts.dense()
    outcome.info |= {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    if data.get("sample"):
        outcome.info["sample"] = data.note
    if trial.source.prepared:
        outcome.info["prepared"] = list(trial.source.prepared)
    with _advising(parts.X_train):
        with machine.Stopwatch() as selecting:
            coded = build.coded_columns(data)
            kernel = build.build_kernel(trial, scope, parts.X_train, parts.y_train, coded)
            estimator = build.build_estimator(trial, scope, kernel, kind, coded)
            if spec.protocol.select_by_mean and spec.method.select:
                grid, threads = spec.method.select, spec.protocol.threads
                measured = measure_grid(estimator, grid, parts, task, scope, threads=threads)
                outcome.info["grid"] = measured
                return outcome
            n_jobs = machine.usable_cores() if alone and not spec.plugins else 1
            chosen, score, ends = select(estimator, parts, trial, task, scope, n_jobs)
        estimator.set_params(**scope.made_values(chosen))
        if chosen:
            outcome.info["selected"] = chosen
        if ends:
            outcome.info["open_ends"] = ends
        outcome.metrics["select_seconds"] = selecting.wall
        if score is not None:
            outcome.metrics["selection_score"] = score
        method = canonical([spec.method, spec.kernel])
        if method not in _warm:
            _warm.add(method)
            _warm_up(estimator, parts, task)
        _measure(estimator, parts, task, outcome)
    return outcome


def _warm_up(estimator: Any, parts: Parts, task: Task) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    values = estimator.get_params().values()
    few = are_objects(parts.X_train) or any(getattr(v, "any_points", False) for v in values)
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


def _measure(estimator: Any, parts: Parts, task: Task, outcome: build.Outcome) -> None:
    metrics, n_rows = outcome.metrics, len(parts.y_test)
    rows = parts.X_train, parts.y_train, parts.X_val, parts.y_val, parts.queries[0]
    converging = validation.noting_convergence(outcome.info, "converged")
    with converging, machine.Stopwatch() as fitting:
        fit_given(estimator, *rows)
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
    metrics |= task.measure(parts.y_test, labels, parts.queries[2])
    metrics |= task.measure_scorers(estimator, parts.X_test, parts.y_test, parts.y_train)
    if any(metric.name in GOODNESS for metric in task.own):
        metrics |= _goodness(estimator, parts)
    metrics |= {
        "fit_seconds": fitting.wall,
        "fit_cpu_seconds": fitting.cpu,
        "predict_seconds": predicting.wall,
        "predict_cpu_seconds": predicting.cpu,
    }
    for name, values in _chosen_inside(_steps(estimator)[-1]).items():
        if values:
            outcome.info[name] = {**outcome.info.get(name, {}), **values}
    outcome.info["disturbed"] = any(watch.disturbed for watch in watches)


def _chosen_inside(model: Any) -> dict[str, dict[str, Any]]:
    """Return the parameters that an estimator has chosen in `fit`, and their open ends.

    Where each of several problems has chosen by itself these are the ends that are open for more
    than a tenth of them.
    """
    names = ("best_params_", "grid_", "validation_scores_")
    best, grid, scores = (getattr(model, name, None) for name in names)
    selected = dict(best) if isinstance(best, Mapping) else {}
    ends, each = Counter[tuple[str, str]](), np.empty((0, 0))
    if scores is not None and grid:
        own: dict[str, Any] = {name: getattr(model, f"{name}_", None) for name in grid}
        own |= selected
        selected = own if np.ndim(scores) == len(grid) else selected
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        each = np.reshape(scores, (-1, len(points)))
        for problem, of_points in enumerate(each):
            chosen = {k: np.ravel(value)[problem] for k, value in own.items()}
            numbers = [k for k, value in chosen.items() if isinstance(value, Real)]
            are_chosen = [all(point[k] == chosen[k] for k in numbers) for point in points]
            place = int(np.where(are_chosen, of_points, -np.inf).argmax())
            ends.update(_open_ends(points, of_points, place).items())
    often = [end for end, n in reversed(ends.most_common()) if 10 * n > len(each)]
    return {"selected": selected, "open_ends": dict(often)}


def _goodness(estimator: Any, parts: Parts) -> dict[str, float]:
    """Return how good the similarity of the last step is, on at most 500 training rows."""
    from kernlearn.theory.goodness import scaled_goodness

    rows = np.arange(len(parts.y_train))[:: -(-len(parts.y_train) // _GOODNESS_ROWS)]
    *before, last = _steps(estimator)
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


def _steps(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, or the only estimator."""
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])]


def _sizes(estimator: Any) -> dict[str, float]:
    """Return comparisons, those of all steps, and support vectors of the last, where counted."""
    steps, sizes = _steps(estimator), {}
    for name, attribute, counted in (
        ("comparisons", "n_comparisons_", steps),
        ("fit_comparisons", "n_fit_comparisons_", steps),
        ("n_similarities", "n_comparisons_", steps[-1:]),
        ("n_support", "n_support_", steps[-1:]),
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


def fit_given(estimator: Any, X: Any, y: Any, X_val: Any, y_val: Any, query: Any) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them.

    scikit-learn's gradient boosting gets no held-out rows: it would stop early on them.
    """
    taken = signature(estimator.fit).parameters
    options = {"qid": query}
    if "early_stopping" not in estimator.get_params(deep=False):
        options |= {"X_val": X_val, "y_val": y_val}
    given = {name: one for name, one in options.items() if name in taken and one is not None}
    return estimator.fit(X, y, **given)


def select(
    estimator: Any, parts: Parts, trial: Trial, task: Task, scope: Scope, n_jobs: int = 1
) -> tuple[dict[str, Any], float | None, dict[str, str]]:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    Return them with their score, None if there is nothing to choose, and their open ends.

    If the protocol holds no rows out, they are taken from the training part. Of several parameters
    of an estimator with a path the fewest support vectors win a tie.
    """
    grid, threads = trial.spec.method.select, trial.spec.protocol.threads
    if not grid:
        return {}, None, {}
    if parts.X_val is None:
        parts = _with_validation(parts, trial)
    measured = measure_grid(
        estimator, grid, parts, task, scope, tested=False, threads=threads, n_jobs=n_jobs
    )
    has_path = hasattr(estimator, "path_parameters")
    if len(grid) == 1 or not has_path:
        # a path, and steps that are fitted once, may have another order than the grid
        order = list(ParameterGrid(grid))
        measured.sort(key=lambda one: order.index(one["parameters"]))
    points = [one["parameters"] for one in measured]
    scores = np.array([one["score"] for one in measured], dtype=float)
    best = int(scores.argmax())
    if has_path:
        ties = [one["metrics"]["n_support"] * (len(grid) > 1) for one in measured]
        # rounded, so that differences by rounding error are none
        best = choice.first_best(-np.round(scores, 12), np.array(ties))
    return points[best], float(scores[best]), _open_ends(points, scores, best)


def _open_ends(points: list[dict[str, Any]], scores: np.ndarray, best: int) -> dict[str, str]:
    """Return where lists of numbers end, low or high, while the score still rises."""
    ends, chosen = {}, points[best]
    for name, value in chosen.items():
        candidates = [point[name] for point in points]
        if any(isinstance(one, bool) or not isinstance(one, Real) for one in candidates):
            continue
        ordered = sorted({*candidates})
        place = ordered.index(value)
        if len(ordered) > 1 and place in (0, len(ordered) - 1):
            near = ordered[place - 1 if place else 1]
            rise = scores[best] - scores[points.index({**chosen, name: near})]
            if rise > _RISE * abs(scores[best]):
                ends[name] = "high" if place else "low"
    return ends


def _with_validation(parts: Parts, trial: Trial) -> Parts:
    """Hold rows of the training part out."""
    protocol = trial.spec.protocol
    if parts.queries[0] is not None:
        raise ValueError("select needs rows held out by whole queries: give folds")
    rng = generator(protocol.seed, "validation", trial.split)
    train, held_out = choice.hold_out_at_random(len(parts.y_train), protocol.validation, rng)
    return replace(
        parts,
        X_train=parts.training(train, train),
        y_train=parts.y_train[train],
        X_val=parts.training(held_out, train),
        y_val=parts.y_train[held_out],
    )


def measure_grid(
    estimator: Any,
    grid: Grid,
    parts: Parts,
    task: Task,
    scope: Scope = BUILT_IN,
    *,
    tested: bool = True,
    threads: int = 1,
    n_jobs: int = 1,
) -> list[dict[str, Any]]:
    """Fit for every point of a grid and evaluate each on held-out, and on test rows if `tested`.

    Fits that take long run in `n_jobs` processes. The steps of a pipeline before the last are
    fitted once for all values of the last one's parameters. An estimator with `path_parameters`
    fits for all values of these at once, by a method ``path(X, y)``: they are lists of values
    then, and it returns an object with ``params`` (a list of dicts), ``predict`` for all of them,
    ``n_support`` and ``converged``.

    Returns
    -------
    list of dict
        ``parameters``, the ``score`` on held-out rows, ``metrics`` on test rows, and ``converged``
        where it is False.
    """

    def measured(group: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
        points = []
        with threadpool_limits(threads), validation.recorded_warnings() as caught, knowing_pairs():
            rows = (parts.X_val, parts.X_test) if tested else (parts.X_val,)
            fits = _fits(estimator, group, grid, parts, task, scope, rows)
            for parameters, n_points, converged, outputs in fits:
                chosen_on = task.label(outputs[0], len(parts.y_val), parts.y_train)
                point: dict[str, Any] = {"parameters": parameters, "metrics": {}}
                point["score"] = task.score(parts.y_val, chosen_on, parts.queries[1])
                if tested:
                    on_test = task.label(outputs[1], len(parts.y_test), parts.y_train)
                    point["metrics"] = task.measure(parts.y_test, on_test, parts.queries[2])
                if n_points is not None:
                    point["metrics"]["n_support"] = float(np.sum(n_points))
                points.append(point if converged else {**point, "converged": False})
        return points, caught

    together: dict[str, list[dict[str, Any]]] = {}
    for point in ParameterGrid(grid):
        together.setdefault(repr(_shared(estimator, point)), []).append(point)
    (first, *others), clock = together.values(), time.perf_counter()
    done = [measured(first)]
    if n_jobs > 1 and time.perf_counter() - clock > _LONG_FIT:
        from joblib import Parallel, delayed

        # arrays are copied: joblib's files of large ones leave messages of its resource tracker
        run = Parallel(n_jobs, max_nbytes=None)
        done += run(delayed(measured)(group) for group in others)
    else:
        done += map(measured, others)
    validation.warn_again(one for _, caught in done for one in caught)
    return [point for points, _ in done for point in points]


def _shared(estimator: Any, point: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a point but those of a path, or of the last step of a pipeline."""
    if len(_steps(estimator)) > 1:
        last = f"{estimator.steps[-1][0]}__"
        return {name: value for name, value in point.items() if not name.startswith(last)}
    of_path = getattr(estimator, "path_parameters", ())
    return {name: value for name, value in point.items() if name not in of_path}


def _fits(
    estimator: Any,
    group: list[dict[str, Any]],
    grid: Grid,
    parts: Parts,
    task: Task,
    scope: Scope,
    rows: Sequence[Any],
) -> Iterator[tuple[dict[str, Any], Any, bool, list[Any]]]:
    """Yield each point, its support vectors, whether it converged, and its outputs for some rows.

    The points of a group share the parameters that :func:`_shared` returns.
    """
    X, y, shared = parts.X_train, parts.y_train, _shared(estimator, group[0])
    model = clone(estimator).set_params(**scope.made_values(shared))
    if hasattr(model, "path_parameters"):
        lists = {name: values for name, values in grid.items() if name not in shared}
        path = model.set_params(**lists).path(X, y)
        outputs = [getattr(path, task.output)(part) for part in rows]
        states = path.params, path.n_support.ravel(), path.converged.ravel()
        for params, n_points, converged, *of_rows in zip(*states, *outputs, strict=True):
            yield {**shared, **params}, n_points, bool(converged), of_rows
        return
    has_steps = len(_steps(model)) > 1
    if has_steps:
        Z, rows = model[:-1].fit_transform(X, y), [model[:-1].transform(part) for part in rows]
    for point in group:
        info: dict[str, Any] = {}
        with validation.noting_convergence(info, "converged"):
            if has_steps:
                own = {k.partition("__")[2]: v for k, v in point.items() if k not in shared}
                last = clone(model[-1]).set_params(**scope.made_values(own)).fit(Z, y)
            else:
                last = fit_given(model, X, y, parts.X_val, parts.y_val, parts.queries[0])
        outputs = [getattr(last, task.output)(part) for part in rows]
        yield point, getattr(last, "n_support_", None), info.get("converged", True), outputs
