"""Two runs, or two stores, cell by cell: what differs, and whether by chance."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.exceptions import StoreError
from kernlearn.experiments.engine.spec import canonical
from kernlearn.experiments.registry import METRICS
from kernlearn.experiments.store.export import parameters_of
from kernlearn.experiments.store.results import Run, Store, StoredTrial
from kernlearn.reports.claim_tests import paired_interval

#: Columns of a comparison.
COLUMNS = [
    "experiment", "dataset", "kernel", "method", "params", "metric", "mean_a", "mean_b",
    "difference", "low", "high", "n_a", "n_b", "paired", "same_settings", "outcome",
]  # fmt: skip

_LABELS = ("dataset", "kernel", "method")

_Cell = tuple[Any, ...]
_Values = dict[int, float]


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    Attributes
    ----------
    name : str
        As the user named it.
    trials : list of StoredTrial
        Those that are done.
    runs : list of Run
        The runs that made them.
    """

    name: str
    trials: list[StoredTrial]
    runs: list[Run]


def read_side(name: str, store: Path) -> Side:
    """Read a whole store, or what one of its runs measured.

    Parameters
    ----------
    name : str
        The number of a run of ``store``; the path of a store; or ``path#number``.
    store : Path

    Returns
    -------
    Side

    Raises
    ------
    StoreError
        If there is no such store, or no such run in it; the message lists those that are.
    """
    path, run = _place(name, store)
    with Store.existing(path) as opened:
        runs = opened.runs()
        if run is not None and run not in {r.number for r in runs}:
            raise StoreError(f"{path}: no run {run}; {_told(runs)}")
        trials = [t for t in opened.trials(run) if t.result.done]
    used = {t.result.run for t in trials}
    return Side(name, trials, [r for r in runs if r.number in used])


def _place(name: str, store: Path) -> tuple[Path, int | None]:
    if name.isdecimal():
        return store, int(name)
    path, mark, number = name.rpartition("#")
    if mark and number.isdecimal() and not Path(name).exists():
        return Path(path), int(number)
    return Path(name), None


def _told(runs: list[Run]) -> str:
    if not runs:
        return "there are none"
    lines = [f"  {r.number}: {r.started} {r.experiment}, profile {r.profile}" for r in runs]
    return "there are:\n" + "\n".join(lines)


def compare(a: Side, b: Side, *, level: float = 0.05, metrics: Iterable[str] = ()) -> pd.DataFrame:
    """Set two sides beside each other, cell by cell.

    Where split ``i`` has the same points on both sides, that is where data and protocol are the
    same, the differences are taken split by split, over the splits that both have, and their
    interval is that of Student's paired t-test; elsewhere it is Welch's. The level is that of
    each cell by itself: of 100 cells that do not differ, 5 will seem to at 0.05.

    Parameters
    ----------
    a, b : Side
    level : float, default=0.05
        Probability of the true difference outside its interval.
    metrics : iterable of str
        Only these; none means all.

    Returns
    -------
    pandas.DataFrame
        One row a cell, with the columns :data:`COLUMNS`: ``difference`` is ``mean_b - mean_a``
        with its interval from ``low`` to ``high``. ``n_a`` and ``n_b`` count the splits that
        the means are over. ``outcome`` is ``same`` (all numbers equal), ``a better``,
        ``b better`` or ``different`` where the interval excludes 0, ``undecided`` where it does
        not, ``only a`` or ``only b``. If each side is of one experiment its name does not
        matter, so that two configs can be compared.

    Raises
    ------
    ValueError
        If ``level`` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level:g}: expected a number between 0 and 1")
    asked = frozenset(metrics)
    names = [{t.trial.experiment for t in side.trials} for side in (a, b)]
    by_name = any(len(found) > 1 for found in names)
    left, right = (_cells(side, asked, by_name) for side in (a, b))
    rows = [
        row
        for cell in dict.fromkeys([*left, *right])
        for row in _rows(left.get(cell, {}), right.get(cell, {}), cell, level)
    ]
    # where the name does not matter the rows have the one that there is
    if not by_name:
        shown = " / ".join(dict.fromkeys(name for found in names for name in sorted(found)))
        rows = [{**row, "experiment": shown} for row in rows]
    return pd.DataFrame(rows, columns=COLUMNS)


@dataclass
class _Variant:
    """The numbers of a cell under one set of settings."""

    # where these agree, split i has the same points on both sides
    splits: str
    values: _Values


def _cells(side: Side, metrics: frozenset[str], by_name: bool) -> dict[_Cell, dict[str, _Variant]]:
    """Gather numbers by cell, then by all that the specification says but the split."""
    cells: dict[_Cell, dict[str, _Variant]] = {}
    for stored in side.trials:
        trial = stored.trial
        settings = canonical(replace(trial.spec, split=0))
        splits = canonical([trial.spec.task, trial.spec.dataset, trial.spec.protocol])
        place = (
            trial.experiment if by_name else "",
            *(trial.labels.get(k) for k in _LABELS),
            parameters_of(trial.labels),
        )
        for metric, value in stored.result.metrics.items():
            if not metrics or metric in metrics:
                variants = cells.setdefault((*place, metric), {})
                variant = variants.setdefault(settings, _Variant(splits, {}))
                variant.values[trial.split] = value
    return cells


def _rows(
    left: dict[str, _Variant], right: dict[str, _Variant], cell: _Cell, level: float
) -> list[dict[str, Any]]:
    """Pair what has the same settings; then, if one is left on each side, those."""
    place = dict(zip(("experiment", *_LABELS, "params", "metric"), cell, strict=True))
    both = [key for key in left if key in right]
    rows = [{**place, **_compared(left[k], right[k], place["metric"], level),
             "same_settings": True} for k in both]  # fmt: skip
    rest_a = [v for k, v in left.items() if k not in right]
    rest_b = [v for k, v in right.items() if k not in left]
    if len(rest_a) == len(rest_b) == 1:
        compared = _compared(rest_a[0], rest_b[0], place["metric"], level)
        return [*rows, {**place, **compared, "same_settings": False}]
    for name, rest in (("a", rest_a), ("b", rest_b)):
        for variant in rest:
            values = _array(variant.values)
            rows.append(
                {**place, f"mean_{name}": float(values.mean()), "n_a": 0, "n_b": 0,
                 f"n_{name}": len(values), "outcome": f"only {name}"}
            )  # fmt: skip
    return rows


def _compared(a: _Variant, b: _Variant, metric: str, level: float) -> dict[str, Any]:
    shared = [split for split in a.values if split in b.values]
    paired = a.splits == b.splits and bool(shared)
    if paired:
        left, right = (np.array([v.values[s] for s in shared], dtype=float) for v in (a, b))
        low, high = paired_interval(right - left, level)
    else:
        left, right = _array(a.values), _array(b.values)
        low, high = _welch_interval(right, left, level)
    mean_a, mean_b = float(left.mean()), float(right.mean())
    same = paired and np.array_equal(left, right, equal_nan=True)
    better = METRICS[metric].better if metric in METRICS else 0
    return {
        "mean_a": mean_a,
        "mean_b": mean_b,
        "difference": mean_b - mean_a,
        "low": low,
        "high": high,
        "n_a": len(left),
        "n_b": len(right),
        "paired": paired,
        "outcome": "same" if same else _outcome(low, high, better),
    }


def _outcome(low: float, high: float, better: int) -> str:
    # of NaN neither holds
    if not (low > 0 or high < 0):
        return "undecided"
    if better == 0:
        return "different"
    return "b better" if (low > 0) == (better > 0) else "a better"


def _array(values: _Values) -> NDArray[np.float64]:
    return np.array(list(values.values()), dtype=float)


def _welch_interval(
    left: NDArray[np.float64], right: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """Return the interval of the difference of two means, by Welch's t-test."""
    from scipy import stats

    if min(len(left), len(right)) < 2:
        return -np.inf, np.inf
    difference = float(left.mean() - right.mean())
    if left.std() == right.std() == 0:
        return difference, difference
    found = stats.ttest_ind(left, right, equal_var=False).confidence_interval(1 - level)
    return float(found.low), float(found.high)


def different_environments(a: Side, b: Side) -> list[str]:
    """Say in what the environments of two sides differ, a line each.

    Parameters
    ----------
    a, b : Side

    Returns
    -------
    list of str
        Such as ``packages.numpy: 2.0.1 / 2.1.0``; several values of a side with commas.
    """
    left, right = (_environment(side) for side in (a, b))
    return [
        f"{name}: {left.get(name, 'none')} / {right.get(name, 'none')}"
        for name in dict.fromkeys([*left, *right])
        if left.get(name) != right.get(name)
    ]


def _environment(side: Side) -> dict[str, str]:
    values: dict[str, dict[str, None]] = {}
    for run in side.runs:
        for name, value in _flat(run.environment):
            values.setdefault(name, {})[value] = None
    return {name: ", ".join(sorted(found)) for name, found in values.items()}


def _flat(environment: dict[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in environment.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, list):
            yield f"{above}{name}", ", ".join(sorted(canonical(v) for v in value))
        else:
            yield f"{above}{name}", value if isinstance(value, str) else canonical(value)
