"""Cell-by-cell comparison of two runs or stores, with tests of the differences."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.names import METRICS
from kernlearn.config.spec import LABELS, canonical
from kernlearn.datasets.escaping import visible
from kernlearn.engine.plan import chosen_by_mean
from kernlearn.reports.export import parameters_of
from kernlearn.reports.significance import paired_interval
from kernlearn.reports.summary import KEY
from kernlearn.store import Row, Store

#: Columns of a comparison.
COLUMNS = [
    *KEY,
    "mean_a",
    "mean_b",
    "difference",
    "low",
    "high",
    "n_a",
    "n_b",
    "paired",
    "same_settings",
    "outcome",
]

# A cell's labels, and the numbers under its settings and points: a value for each split. Where the
# points agree, split i has the same ones on both sides.
_Key = tuple[Any, ...]
_Variants = dict[tuple[str, str], dict[int, float]]


@dataclass(frozen=True)
class Side:
    """One of two sides: its name as given, and the rows of its trials that are done."""

    name: str
    rows: list[Row]


def read_side(name: str) -> Side:
    """Read the rows of a store."""
    with Store(Path(name), read_only=True) as opened:
        rows = chosen_by_mean({row.key: row for row in opened.rows()})
    return Side(name, [row for row in rows.values() if row.done])


def compare(
    a: Side, b: Side, *, level: float = 0.05, metrics: Collection[str] = ()
) -> pd.DataFrame:
    """Compare two sides cell by cell.

    Where data and protocol are the same, and so split ``i`` has the same points on both sides,
    differences are taken split by split, over the splits that both have, with the interval of
    Student's paired t-test; elsewhere with that of Welch's test. The level is that of each
    cell by itself: of 100 cells that do not differ, about 5 will appear to at 0.05.

    Only some metrics are compared, or all. The result has one row per cell, with the columns
    :data:`COLUMNS`: ``difference`` is ``mean_b - mean_a`` with its interval from ``low`` to
    ``high``; ``n_a`` and ``n_b`` are the numbers of splits of the means. ``outcome`` is ``same``
    (all numbers equal), ``a better``, ``b better`` or ``different`` where the interval excludes
    0, ``undecided`` where it does not, ``only a`` or ``only b``. If each side has a single
    experiment its name does not matter, so that two configs can be compared.
    """
    names = [sorted({row.experiment for row in side.rows}) for side in (a, b)]
    by_name = any(len(of_side) > 1 for of_side in names)
    # where the name does not matter all rows have the one that there is
    shared = "" if by_name else " / ".join(dict.fromkeys(name for side in names for name in side))
    left, right = (_cells(side, metrics, None if by_name else shared) for side in (a, b))
    rows = []
    for cell in dict.fromkeys([*left, *right]):
        numbers = _rows(left.get(cell, {}), right.get(cell, {}), cell[-1], level)
        rows += [{**dict(zip(KEY, cell, strict=True)), **row} for row in numbers]
    return pd.DataFrame(rows, columns=COLUMNS)


def _cells(side: Side, metrics: Collection[str], shared_name: str | None) -> dict[_Key, _Variants]:
    """Group numbers by cell, then by their settings."""
    cells: dict[_Key, _Variants] = defaultdict(lambda: defaultdict(dict))
    for row in side.rows:
        points = canonical([row.spec[part] for part in ("task", "dataset", "protocol")])
        settings = (canonical({**row.spec, "split": 0}), points)
        name = row.experiment if shared_name is None else shared_name
        cell = (name, *map(row.labels.get, LABELS), parameters_of(row.labels))
        for metric, value in row.metrics.items():
            if not metrics or metric in metrics:
                cells[*cell, metric][settings][row.split] = value
    return cells


def _rows(left: _Variants, right: _Variants, metric: str, level: float) -> list[dict[str, Any]]:
    """Pair variants with the same settings; then, if one is left on each side, those."""
    pairs = [(key, key) for key in left if key in right]
    only_a, only_b = [k for k in left if k not in right], [k for k in right if k not in left]
    if len(only_a) == len(only_b) == 1:
        pairs.append((only_a.pop(), only_b.pop()))
    rows = [
        {**_compared(left[a], right[b], a[1] == b[1], metric, level), "same_settings": a == b}
        for a, b in pairs
    ]
    for name, side, keys in (("a", left, only_a), ("b", right, only_b)):
        rows += [
            {
                f"mean_{name}": float(values.mean()),
                "n_a": 0,
                "n_b": 0,
                f"n_{name}": len(values),
                "outcome": f"only {name}",
            }
            for values in (_array(side[key]) for key in keys)
        ]
    return rows


def _compared(
    a: dict[int, float], b: dict[int, float], same_points: bool, metric: str, level: float
) -> dict[str, Any]:
    shared = [split for split in a if split in b]
    paired = same_points and bool(shared)
    if paired:
        left, right = (np.array([values[s] for s in shared], dtype=float) for values in (a, b))
        low, high = paired_interval(right - left, level)
    else:
        left, right = _array(a), _array(b)
        low, high = _welch_interval(right, left, level)
    same = paired and np.array_equal(left, right, equal_nan=True)
    better = METRICS[metric].better if metric in METRICS else 0
    return {
        "mean_a": float(left.mean()),
        "mean_b": float(right.mean()),
        "difference": float(right.mean()) - float(left.mean()),
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


def _welch_interval(left: np.ndarray, right: np.ndarray, level: float) -> tuple[float, float]:
    """Return the interval of the difference of two means, by Welch's t-test."""
    from scipy import stats

    if min(len(left), len(right)) < 2:
        return -np.inf, np.inf
    difference = float(left.mean() - right.mean())
    if left.std() == right.std() == 0:
        return difference, difference
    interval = stats.ttest_ind(left, right, equal_var=False).confidence_interval(1 - level)
    return float(interval.low), float(interval.high)


def nothing_shared(a: Side, b: Side) -> str:
    """Say what each of two sides without a cell in common has."""
    texts = []
    for name, side in zip("AB", (a, b), strict=True):
        ways = sorted({f"{row.experiment} (profile {row.profile})" for row in side.rows})
        datasets = sorted({str(row.labels.get("dataset")) for row in side.rows})
        texts.append(f"{name} has {', '.join(ways) or 'nothing'} on {', '.join(datasets) or '–'}")
    return (
        f"No cell is on both sides: {'; '.join(texts)}. A cell is a data set, kernel, method, its "
        "varied parameters and a metric; --output writes the cells."
    )


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
    values: dict[str, set[str]] = defaultdict(set)
    for row in side.rows:
        for name, text in _entries(row.machine):
            values[name].add(text)
    return {visible(name): visible(", ".join(sorted(texts))) for name, texts in values.items()}


def _entries(environment: Mapping[str, Any], around: str = "") -> Iterator[tuple[str, str]]:
    for name, value in environment.items():
        if isinstance(value, Mapping):
            yield from _entries(value, f"{around}{name}.")
        elif value is not None:
            yield f"{around}{name}", _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(sorted(canonical(v) for v in value))
    return value if isinstance(value, str) else canonical(value)


def _array(values: dict[int, float]) -> np.ndarray:
    return np.array(list(values.values()), dtype=float)
