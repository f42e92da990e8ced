"""The choice of parameters on held-out rows: which values are tried, and which one is taken."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from kernlearn import validation
from kernlearn.config.names import BUILT_IN, Scope
from kernlearn.config.trial import Trial
from kernlearn.engine import losses
from kernlearn.engine.preparation import Part, Parts
from kernlearn.engine.splits import generator, held_out
from kernlearn.engine.tasks import Task
from kernlearn.kernels.known_pairs import knowing_pairs

# The values to choose from, by parameter.
Grid = Mapping[str, list[Any]]
Point = dict[str, Any]

# Rows above which scikit-learn's boosting stops early by default.
_STOPS_EARLY = 10_000
# Seconds of a fit, above which it pays to fit in other processes.
_LONG_FIT = 0.5
# Scores that differ by less, relative to them, are equal: rounding decides nothing.
_GAIN = 1e-6
# Successive halving: the share of the points that goes on, and the least rows of a round.
_FACTOR, _LEAST_ROWS = 3, 1000


def _is_better(score: Any, than: Any) -> Any:
    return score > than + _GAIN * np.abs(than)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(one, Real) and not isinstance(one, bool) for one in values)


@dataclass(frozen=True)
class Selection:
    """The parameters chosen, their score, and where their lists end while the score rises."""

    parameters: Point = field(default_factory=dict)
    score: float | None = None
    open_ends: dict[str, str] = field(default_factory=dict)


def select(
    estimator: Any, parts: Parts, trial: Trial, task: Task, scope: Scope, n_jobs: int = 1
) -> Selection:
    """Choose parameters by the task's score on held-out rows; the first of equals wins.

    If the protocol holds no rows out, they are taken from the training part. Of several parameters
    of an estimator with a path the fewest support vectors win a tie.
    """
    grid, protocol = trial.spec.method.select, trial.spec.protocol
    if not grid:
        return Selection()
    if parts.val is None:
        parts = with_validation(parts, trial)
    estimator = clone(estimator)  # whose held-out rows are those of this choice
    points, n_rows = list(ParameterGrid(grid)), len(parts.train.y)
    halves = protocol.search == "halving"
    order = generator(protocol.seed, "search", trial.split).permutation(n_rows)
    measured: list[Point] = []
    for size in round_sizes(len(points), n_rows) if halves else [n_rows]:
        if len(points) == 1 and measured:
            break
        rows = parts if size == n_rows else parts.only(enough_rows(order, size, parts.train.y))
        hold_out_inside(estimator, rows, trial)
        how: dict[str, Any] = {"threads": protocol.threads, "n_jobs": n_jobs}
        measured = measure_grid(estimator, points, rows, task, scope, tested=False, **how)
        points = best_third(measured)
    points = [one["parameters"] for one in measured]
    scores = np.array([one["score"] for one in measured], dtype=float)
    equal = np.flatnonzero(~_is_better(scores.max(), scores))
    best = int(equal[0])
    if len(grid) > 1 and hasattr(estimator, "path_parameters"):
        n_support = [measured[place]["metrics"].get("n_support", 0) for place in equal]
        best = int(equal[np.argmin(n_support)])
    ends = open_ends(grid, points, scores, best)
    return Selection(points[best], float(scores[best]), ends)


def round_sizes(n_points: int, n_rows: int) -> list[int]:
    """Return the numbers of rows that the rounds of successive halving train on.

    A third of the points goes on to three times as many rows, at last to all. Fits on a thousand
    rows are cheap: there are no smaller rounds.
    """
    n_rounds = 0
    while _FACTOR ** (n_rounds + 1) <= min(n_points, n_rows / _LEAST_ROWS):
        n_rounds += 1
    return [n_rows // _FACTOR**left for left in range(n_rounds, -1, -1)]


def enough_rows(order: np.ndarray, size: int, y: np.ndarray) -> np.ndarray:
    """Return the first rows of an order, and the first one of each class or grade."""
    distinct, first = np.unique(y[order], return_index=True)
    more: Any = first[first >= size] if len(distinct) < size else []
    return order[[*range(size), *more]]


def best_third(measured: list[Point]) -> list[Point]:
    """Return the points with the best scores, the first of equals, in the order that they had."""
    scores = np.array([one["score"] for one in measured])
    best = np.argsort(-scores, kind="stable")[: -(-len(measured) // _FACTOR)]
    return [measured[place]["parameters"] for place in sorted(best)]


def open_ends(grid: Grid, points: list[Point], scores: np.ndarray, best: int) -> dict[str, str]:
    """Return where lists of numbers end, low or high, while the score still rises."""
    ends, chosen = {}, points[best]
    for name, values in grid.items():
        ordered = sorted({*values}) if _are_numbers(values) else []
        if len(ordered) < 2 or chosen[name] not in (ordered[0], ordered[-1]):
            continue
        place = ordered.index(chosen[name])
        near = {**chosen, name: ordered[1 if place == 0 else place - 1]}
        if near in points and _is_better(scores[best], scores[points.index(near)]):
            ends[name] = "high" if place else "low"
    return ends


def chosen_inside(model: Any) -> dict[str, Point]:
    """Return the parameters that an estimator has chosen in `fit`, and their open ends.

    Where each of several problems has chosen by itself there is nothing to return but its values.
    """
    names = ("best_params_", "grid_", "validation_scores_")
    chosen, grid, scores = (getattr(model, name, None) for name in names)
    selected: Point = dict(chosen) if isinstance(chosen, Mapping) else {}
    if scores is None or not grid or np.ndim(scores) != len(grid):
        return {"selected": selected, "open_ends": {}}
    selected = {**{name: getattr(model, f"{name}_", None) for name in grid}, **selected}
    numbers = [name for name, values in grid.items() if _are_numbers([*values])]
    points = [dict(zip(grid, one, strict=True)) for one in product(*grid.values())]
    are_chosen = [all(point[name] == selected[name] for name in numbers) for point in points]
    best = int(np.where(are_chosen, np.ravel(scores), -np.inf).argmax())
    return {"selected": selected, "open_ends": open_ends(grid, points, np.ravel(scores), best)}


def hold_out_inside(estimator: Any, parts: Parts, trial: Trial) -> None:
    """Let an estimator that chooses by itself hold out other groups, or the latest rows.

    Warn of those that cannot.
    """
    protocol, units, last = trial.spec.protocol, parts.train.units, steps(estimator)[-1]
    if parts.train.query is not None or not units.are_divided():
        return
    if type(last).__name__ == "TransformedTargetRegressor":  # which passes all rows on
        last = steps(last.regressor)[-1]
    if _takes_rows(last):
        rng = generator(protocol.seed, "validation", trial.split)
        _, rows = held_out(len(parts.train.y), protocol.validation, units, rng)
        last.set_params(validation_fraction=rows)
    every = [estimator, *estimator.get_params().values()]
    others = {type(one).__name__ for one in every if one is not last and _takes_rows(one)}
    for one in every:
        known = one.get_params(deep=False) if hasattr(one, "get_params") else {}
        stops = known.get("early_stopping")
        by_default = stops == "auto" and len(parts.train.y) > _STOPS_EARLY
        if "cv" in known or stops is True or by_default:
            others.add(type(one).__name__)
    if others:
        names = ", ".join(sorted(others))
        validation.warn(f"{names} may choose on random training rows; `select: […]` does not")


def _takes_rows(estimator: Any) -> bool:
    """Tell whether an estimator takes the indices of rows that it chooses on."""
    allowed = getattr(estimator, "_parameter_constraints", {}).get("validation_fraction", ())
    # scikit-learn's estimators with such a parameter take a share alone
    return "array-like" in allowed and "validation_fraction" in estimator.get_params(deep=False)


def with_validation(parts: Parts, trial: Trial) -> Parts:
    """Hold rows of the training part out."""
    protocol = trial.spec.protocol
    if parts.train.query is not None:
        raise ValueError("select needs rows held out by whole queries: give folds")
    rng = generator(protocol.seed, "validation", trial.split)
    train, kept = held_out(len(parts.train.y), protocol.validation, parts.train.units, rng)
    return replace(parts.only(train), val=parts.training(kept, train))


def measure_grid(
    estimator: Any,
    order: Sequence[Point],
    parts: Parts,
    task: Task,
    scope: Scope = BUILT_IN,
    *,
    tested: bool = True,
    sample: tuple[int, int] | None = None,
    threads: int = 1,
    n_jobs: int = 1,
) -> list[Point]:
    """Fit for points of a grid and evaluate each on held-out, and on test rows if `tested`.

    With `sample`, seed and split, the losses of a sample of test rows are kept, too.

    Fits that take long run in `n_jobs` processes. The steps of a pipeline before the last are
    fitted once for all values of the last one's parameters. An estimator with `path_parameters`
    fits all values of these by its method ``path``, see :class:`kernlearn.choice.Fits`.

    Returns
    -------
    list of dict
        ``parameters``, the ``score`` on held-out rows, ``metrics`` on test rows, and ``converged``
        where it is False; in the order of the points, or of a path whose models count support
        points.
    """

    def measured(group: list[Point]) -> tuple[list[Point], list[Any]]:
        points = []
        with threadpool_limits(threads), validation.recorded_warnings() as caught, knowing_pairs():
            used = [part for part in (parts.val, parts.test if tested else None) if part]
            fits = _fits(estimator, group, parts, task, scope, [part.X for part in used])
            for parameters, model, converged, X, outputs in fits:
                on_val, *on_test = (
                    task.predictions(model, output, replace(part, X=rows), parts.train.y)
                    for output, part, rows in zip(outputs, used, X, strict=True)
                )
                score = task.score(on_val)
                point: Point = {"parameters": parameters, "score": score, "metrics": {}}
                for made in on_test:
                    metrics = point["metrics"] = task.measure(made, {})
                    if sample is not None:
                        point["losses"] = losses.kept(metrics, made, *sample)
                if (n_support := getattr(model, "n_support_", None)) is not None:
                    point["metrics"]["n_support"] = float(np.sum(n_support))
                points.append(point if converged else {**point, "converged": False})
        return points, caught

    together: dict[str, list[Point]] = {}
    for point in order:
        together.setdefault(repr(_shared(estimator, point)), []).append(point)
    (first, *others), clock = together.values(), time.perf_counter()
    done = [measured(first)]
    if n_jobs > 1 and others and time.perf_counter() - clock > _LONG_FIT:
        from joblib import Parallel, delayed

        # arrays are copied: joblib's files of large ones leave messages of its resource tracker
        run = Parallel(n_jobs, max_nbytes=None)
        done += run(delayed(measured)(group) for group in others)
    else:
        done += map(measured, others)
    validation.warn_again(one for _, caught in done for one in caught)
    points = [point for of_group, _ in done for point in of_group]
    if hasattr(estimator, "path_parameters") and "n_support" in points[0]["metrics"]:
        return points  # as they come: the greatest penalties are the first of equals
    return sorted(points, key=lambda one: order.index(one["parameters"]))


def _shared(estimator: Any, point: Point) -> Point:
    """Return the parameters of a point but those of a path, or of the last step of a pipeline."""
    if len(steps(estimator)) > 1:
        last = f"{estimator.steps[-1][0]}__"
        return {name: value for name, value in point.items() if not name.startswith(last)}
    of_path = getattr(estimator, "path_parameters", ())
    return {name: value for name, value in point.items() if name not in of_path}


def _fits(
    estimator: Any, group: list[Point], parts: Parts, task: Task, scope: Scope, rows: Sequence[Any]
) -> Iterator[tuple[Point, Any, bool, Sequence[Any], list[Any]]]:
    """Yield each point, its model, whether it converged, and its outputs for some rows.

    Before the outputs come the rows as the model takes them, after the steps of a pipeline.
    The points of a group share the parameters that :func:`_shared` returns.
    """
    X, y, shared = parts.train.X, parts.train.y, _shared(estimator, group[0])
    of_path = [name for name in getattr(estimator, "path_parameters", ()) if name in group[0]]
    model, is_pipeline = clone(estimator), len(steps(estimator)) > 1
    model.set_params(**scope.made_values(shared))
    if of_path:
        lists = {name: list(dict.fromkeys(point[name] for point in group)) for name in of_path}
        for fits in model.path(X, y, lists):
            outputs = [fits.outputs(task.output, part) for part in rows]
            for params, one, converged, *of_rows in zip(
                fits.params, fits.models, fits.converged, *outputs, strict=True
            ):
                if (point := {**shared, **params}) in group:
                    yield point, one, bool(converged), rows, of_rows
        return
    if is_pipeline:
        Z, rows = model[:-1].fit_transform(X, y), [model[:-1].transform(part) for part in rows]
    for point in group:
        info: Point = {}
        with validation.noting_convergence(info, "converged"):
            model = clone(estimator).set_params(**scope.made_values(point))
            if is_pipeline:
                model = model[-1].fit(Z, y)
            else:
                fit_given(model, parts.train, parts.val)
        outputs = [getattr(model, task.output)(part) for part in rows]
        yield point, model, info.get("converged", True), rows, outputs


def steps(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, or the only estimator."""
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])]


def fit_given(estimator: Any, part: Part, held_out: Part | None) -> Any:
    """Fit, and pass held-out rows or queries to an estimator that takes them.

    scikit-learn's gradient boosting gets no held-out rows: it would stop early on them.
    """
    taken = signature(estimator.fit).parameters
    options = {} if part.query is None else {"qid": part.query}
    if held_out is not None and "early_stopping" not in estimator.get_params(deep=False):
        options |= {"X_val": held_out.X, "y_val": held_out.y}
    given = {name: one for name, one in options.items() if name in taken}
    return estimator.fit(part.X, part.y, **given)
