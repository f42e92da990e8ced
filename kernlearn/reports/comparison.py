"""Cell-by-cell comparison of two runs or stores, with tests of the differences."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.exceptions import StoreError
from kernlearn.experiments.engine.spec import LABELS, canonical
from kernlearn.experiments.registry import METRICS
from kernlearn.experiments.store.export import parameters_of
from kernlearn.experiments.store.results import Run, Store, StoredTrial
from kernlearn.reports.significance import paired_interval
from kernlearn.reports.summary import KEY

#: Columns of a comparison.
COLUMNS = [
    *KEY, "mean_a", "mean_b", "difference", "low", "high", "n_a", "n_b", "paired",
    "same_settings", "outcome",
]  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One of two sides: its name as given, finished trials, and the runs that measured them."""

    name: str
    trials: list[StoredTrial]
    runs: list[Run]


def read_side(name: str, store: Path) -> Side:
    """Read a whole store, or the results of one of its runs.

    The name is the number of a run of ``store``, the path of a store, or ``path#number``.

    Raises
    ------
    StoreError
        If there is no such store, or no such run in it; the message lists the runs.
    """
    path, mark, number = name.rpartition("#")
    if name.isdecimal():
        place, run = store, int(name)
    elif mark and number.isdecimal() and not Path(name).exists():
        place, run = Path(path), int(number)
    else:
        place, run = Path(name), None
    with Store.existing(place) as opened:
        runs = opened.runs()
        if run is not None and run not in {r.number for r in runs}:
            lines = [
                f"\n  {r.number}: {r.started} {r.experiment}, profile {r.profile}" for r in runs
            ]
            there = f"there are:{''.join(lines)}" if runs else "there are none"
            raise StoreError(f"{place}: no run {run}; {there}")
        trials = [t for t in opened.trials(run) if t.result.done]
    used = {t.result.run for t in trials}
    return Side(name, trials, [r for r in runs if r.number in used])


def compare(a: Side, b: Side, *, level: float = 0.05, metrics: Iterable[str] = ()) -> pd.DataFrame:
    """Compare two sides cell by cell.

    Where data and protocol are the same, and so split ``i`` has the same points on both sides,
    differences are taken split by split, over the splits that both have, with the interval of
    Student's paired t-test; elsewhere with that of Welch's test. The level is that of each
    cell by itself: of 100 cells that do not differ, about 5 will appear to at 0.05.

    Parameters
    ----------
    a, b : Side
    level : float, default=0.05
        Probability that the true difference is outside its interval.
    metrics : iterable of str
        Metrics to compare; by default all.

    Returns
    -------
    pandas.DataFrame
        One row per cell, with the columns :data:`COLUMNS`: ``difference`` is ``mean_b - mean_a``
        with its interval from ``low`` to ``high``. ``n_a`` and ``n_b`` are the numbers of splits
        of the means. ``outcome`` is ``same`` (all numbers equal), ``a better``, ``b better`` or
        ``different`` where the interval excludes 0, ``undecided`` where it does not, ``only a``
        or ``only b``. If each side has a single experiment its name does not matter, so that
        two configs can be compared.

    Raises
    ------
    ValueError
        If ``level`` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level:g}: expected a number between 0 and 1")
    wanted = frozenset(metrics)
    names = [sorted({t.trial.experiment for t in side.trials}) for side in (a, b)]
    by_name = any(len(of_side) > 1 for of_side in names)
    # where the name does not matter all rows have the one that there is
    shared = "" if by_name else " / ".join(dict.fromkeys(name for side in names for name in side))
    left, right = (_cells(side, wanted, by_name) for side in (a, b))
    rows = []
    for cell in dict.fromkeys([*left, *right]):
        labels = dict(zip(KEY, cell, strict=True))
        labels["experiment"] = labels["experiment"] or shared
        numbers = _rows(left.get(cell, {}), right.get(cell, {}), labels["metric"], level)
        rows += [{**labels, **row} for row in numbers]
    return pd.DataFrame(rows, columns=COLUMNS)


@dataclass
class _Variant:
    """The numbers of a cell under one set of settings, by split.

    Where ``split_spec`` agrees, split i has the same points on both sides.
    """

    split_spec: str
    values: dict[int, float]

    @property
    def array(self) -> NDArray[np.float64]:
        return np.array(list(self.values.values()), dtype=float)


def _cells(
    side: Side, metrics: frozenset[str], by_name: bool
) -> dict[tuple[Any, ...], dict[str, _Variant]]:
    """Group numbers by cell, then by their specification without the split."""
    cells: dict[tuple[Any, ...], dict[str, _Variant]] = {}
    for stored in side.trials:
        trial = stored.trial
        spec = trial.spec
        settings = canonical(replace(spec, split=0))
        split_spec = canonical([spec.task, spec.dataset, spec.protocol])
        name = trial.experiment if by_name else ""
        cell = (name, *map(trial.labels.get, LABELS), parameters_of(trial.labels))
        for metric, value in stored.result.metrics.items():
            if not metrics or metric in metrics:
                variants = cells.setdefault((*cell, metric), {})
                variant = variants.setdefault(settings, _Variant(split_spec, {}))
                variant.values[trial.split] = value
    return cells


def _rows(
    left: dict[str, _Variant], right: dict[str, _Variant], metric: str, level: float
) -> list[dict[str, Any]]:
    """Pair variants with the same settings; then, if one is left on each side, those."""
    rows = [
        {**_compared(left[key], right[key], metric, level), "same_settings": True}
        for key in left
        if key in right
    ]
    rest_a = [v for k, v in left.items() if k not in right]
    rest_b = [v for k, v in right.items() if k not in left]
    if len(rest_a) == len(rest_b) == 1:
        compared = _compared(rest_a[0], rest_b[0], metric, level)
        return [*rows, {**compared, "same_settings": False}]
    for name, rest in (("a", rest_a), ("b", rest_b)):
        for variant in rest:
            values = variant.array
            rows.append({f"mean_{name}": float(values.mean()), "n_a": 0, "n_b": 0,
                         f"n_{name}": len(values), "outcome": f"only {name}"})  # fmt: skip
    return rows


def _compared(a: _Variant, b: _Variant, metric: str, level: float) -> dict[str, Any]:
    shared = [split for split in a.values if split in b.values]
    paired = a.split_spec == b.split_spec and bool(shared)
    if paired:
        left, right = (np.array([v.values[s] for s in shared], dtype=float) for v in (a, b))
        low, high = paired_interval(right - left, level)
    else:
        left, right = a.array, b.array
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
    # neither is true of NaN
    if not (low > 0 or high < 0):
        return "undecided"
    if better == 0:
        return "different"
    return "b better" if (low > 0) == (better > 0) else "a better"


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
    interval = stats.ttest_ind(left, right, equal_var=False).confidence_interval(1 - level)
    return float(interval.low), float(interval.high)


def different_environments(a: Side, b: Side) -> list[str]:
    """Return the differences between the environments of two sides, one line each.

    Such as ``packages.numpy: 2.0.1 / 2.1.0``; several values of a side are joined by commas.
    """
    left, right = (_environment(side) for side in (a, b))
    return [
        f"{name}: {left.get(name, 'none')} / {right.get(name, 'none')}"
        for name in dict.fromkeys([*left, *right])
        if left.get(name) != right.get(name)
    ]


def _environment(side: Side) -> dict[str, str]:
    """Return the values of each entry, nested names joined by dots."""
    frame = pd.json_normalize([run.environment for run in side.runs]).astype(object)
    values = {str(name): {_text(v) for v in frame[name].dropna()} for name in frame}
    return {name: ", ".join(sorted(texts)) for name, texts in values.items()}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(sorted(canonical(v) for v in value))
    return value if isinstance(value, str) else canonical(value)
