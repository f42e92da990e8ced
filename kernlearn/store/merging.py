"""Merging stores."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Any

from kernlearn.config.costs import is_cost
from kernlearn.config.spec import canonical
from kernlearn.exceptions import StoreError
from kernlearn.store.database import ADD_RUN, RUN_CONTENT, VALUES
from kernlearn.store.results import Store
from kernlearn.store.rows import UnfitError, row_name, trial_of

# Relative difference below which numbers are the same: another BLAS adds in another order.
_SAME = 1e-9

_Row = dict[str, Any]


@dataclass(frozen=True)
class Conflict:
    """A trial of which two stores have different numbers.

    Attributes
    ----------
    key, experiment : str
    labels : dict
    metrics : dict of str to (float or None, float or None)
        The metrics that differ: the destination's number and the source's, None if missing.
    """

    key: str
    experiment: str
    labels: dict[str, Any]
    metrics: dict[str, tuple[float | None, float | None]]


@dataclass
class MergeSummary:
    """The numbers of rows of a source by what happened to them.

    Attributes
    ----------
    added : int
        Trials that were new to the destination.
    completed : int
        Trials that had failed in the destination.
    same : int
        Trials that both have, with the same numbers.
    failed : int
        Failed trials of the source that the destination has a row of.
    runs : int
        Runs that were added.
    left_out : dict of str to str
        Rows of the source that do not fit their model, or whose run is not there, with the
        reasons.
    conflicts : list of Conflict
    """

    added: int = 0
    completed: int = 0
    same: int = 0
    failed: int = 0
    runs: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)


def merge(source: Path, destination: Path) -> MergeSummary:
    """Merge the trials of a store into another one, completely or not at all.

    Of a trial that is done on both sides, the earlier row is used if the numbers, times apart,
    are the same; the other row is kept as superseded. Different numbers are a conflict, in which
    the destination's row is used. A failed trial never replaces one that is done.

    Parameters
    ----------
    source : Path
        Only read.
    destination : Path
        Created if it does not exist.

    Returns
    -------
    MergeSummary

    Raises
    ------
    StoreError
        If both are the same file, or one cannot be opened, read or written.
    """
    if source.exists() and destination.exists() and source.samefile(destination):
        raise StoreError(f"{source}: cannot be merged into itself")
    with Store.existing(source) as theirs, Store(destination) as ours:
        runs, rows, superseded = map(theirs.fitting, ("run", "trial", "superseded"))
        with ours.transaction() as connection:
            summary = MergeSummary(left_out=theirs.left_out)
            numbers = _add_runs(connection, runs, summary)
            for row in _numbered(rows, numbers, summary, "trial"):
                _add_trial(connection, row, summary)
            for row in _numbered(superseded, numbers, summary, "superseded"):
                _supersede(connection, row)
    return summary


def _numbered(
    rows: Iterable[_Row], numbers: dict[int, int], summary: MergeSummary, table: str
) -> Iterator[_Row]:
    """Yield the rows with the destination's numbers of their runs."""
    for row in rows:
        if row["run"] in numbers:
            yield {**row, "run": numbers[row["run"]]}
        else:
            reason = f"of run {row['run']}, which is not there or does not fit"
            summary.left_out[row_name(row, table)] = reason


def _add_runs(
    connection: Connection, runs: Iterable[_Row], summary: MergeSummary
) -> dict[int, int]:
    """Return the destination's number of each run; runs that were merged before are found."""
    existing: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    query = f"SELECT id, {RUN_CONTENT} FROM run WHERE id BETWEEN 1 AND 1 << 62 ORDER BY id"
    for number, *run in connection.execute(query):
        existing[tuple(run)].append(number)
    numbers = {}
    for row in runs:
        number, *run = row.values()
        if same := existing[tuple(run)]:
            numbers[number] = same.pop(0)
            continue
        cursor = connection.execute(ADD_RUN, run)
        assert cursor.lastrowid is not None
        numbers[number] = cursor.lastrowid
        summary.runs += 1
    return numbers


def _add_trial(connection: Connection, row: _Row, summary: MergeSummary) -> None:
    own = connection.execute("SELECT * FROM trial WHERE key = ?", (row["key"],)).fetchone()
    if own is None or not _fits(own):
        summary.added += 1
        _use(connection, row)
    elif row["status"] != "done":
        summary.failed += 1
    elif own["status"] != "done":
        summary.completed += 1
        _use(connection, row)
    elif all(own[k] == row[k] for k in ("run", "started", "seconds", "metrics")):
        summary.same += 1  # the same measurement, merged before
    else:
        different = _differences(_numbers(own), _numbers(row))
        if different:
            labels = json.loads(row["labels"])
            summary.conflicts.append(Conflict(row["key"], row["experiment"], labels, different))
        else:
            summary.same += 1
        replaces = not different and row["started"] < own["started"]
        if replaces:
            _use(connection, row)
        _supersede(connection, dict(own) if replaces else row)


def _fits(row: Row) -> bool:
    try:
        trial_of(row)
    except UnfitError:
        return False
    return True


def _numbers(row: Row | _Row) -> dict[str, float]:
    """Return the metrics of a row, with those of every setting of a grid."""
    result = trial_of(row).result
    return {**result.metrics, **_grid_metrics(result.info)}


def _differences(
    own: dict[str, float], other: dict[str, float]
) -> dict[str, tuple[float | None, float | None]]:
    """Return the metrics that differ, but for costs, which no two runs have in common."""
    names = [name for name in {**own, **other} if not is_cost(name)]
    pairs = {name: (own.get(name), other.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if not _same(*pair)}


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    both_nan = math.isnan(own) and math.isnan(other)
    return both_nan or math.isclose(own, other, rel_tol=_SAME, abs_tol=1e-15)


def _use(connection: Connection, row: _Row) -> None:
    connection.execute(f"INSERT OR REPLACE INTO trial VALUES ({VALUES})", row)
    connection.execute("DELETE FROM superseded WHERE key = :key AND run = :run", row)


def _supersede(connection: Connection, row: _Row) -> None:
    """Keep a done row as superseded, unless it is the one in use."""
    connection.execute(
        f"INSERT OR IGNORE INTO superseded SELECT {VALUES} WHERE :status = 'done' "
        "AND NOT EXISTS (SELECT 1 FROM trial WHERE key = :key AND run = :run)",
        row,
    )


def _grid_metrics(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of every setting of a grid, named ``metric at {parameters}``."""
    return {
        f"{metric} at {canonical(point['parameters'])}": value
        for point in info.get("grid", ())
        for metric, value in point["metrics"].items()
    }
