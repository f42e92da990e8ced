"""What one store has, put into another."""

import json
import math
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.store.database import TRIAL_COLUMNS
from kernlearn.experiments.store.results import Store

_COLUMNS = ", ".join(TRIAL_COLUMNS)
_PLACES = ", ".join("?" * len(TRIAL_COLUMNS))
_RUN = "started, experiment, profile, jobs, environment, settings"

# Another BLAS adds up in another order.
_SAME = 1e-9


@dataclass(frozen=True)
class Conflict:
    """A trial that two stores have different numbers of.

    Attributes
    ----------
    key : str
    experiment : str
    labels : dict
    metrics : dict of str to (float or None, float or None)
        What differs: the destination's number and the source's, None where there is none.
    """

    key: str
    experiment: str
    labels: dict[str, Any]
    metrics: dict[str, tuple[float | None, float | None]]


@dataclass
class MergeSummary:
    """What became of the rows of a source.

    Attributes
    ----------
    added : int
        Trials that the destination did not have.
    completed : int
        Trials that had failed in the destination.
    same : int
        Trials that both have with the same numbers.
    failed : int
        Failed trials of the source that the destination has a row of.
    runs : int
        Runs that came along.
    conflicts : list of Conflict
    """

    added: int = 0
    completed: int = 0
    same: int = 0
    failed: int = 0
    runs: int = 0
    conflicts: list[Conflict] = field(default_factory=list)


def merge(source: Path, destination: Path, *, prefer: str = "destination") -> MergeSummary:
    """Put the trials of a store into another, all or, if anything goes wrong, none.

    Of a trial that both have done the earlier row stands if the numbers are the same, times
    apart; the other is kept beside, for comparison. Where they differ it is a conflict, and the
    preferred store's row stands. A failed trial never replaces one that is done.

    Parameters
    ----------
    source : Path
        Read, not changed.
    destination : Path
        Made if it is not there.
    prefer : {"destination", "source"}
        Whose numbers stand where they differ.

    Returns
    -------
    MergeSummary

    Raises
    ------
    StoreError
        If the two are the same file, or one cannot be opened, read or written.
    """
    if prefer not in ("destination", "source"):
        raise ValueError(f"prefer={prefer!r}: expected 'destination' or 'source'")
    if source.exists() and destination.exists() and source.samefile(destination):
        raise StoreError(f"{source}: cannot be merged into itself")
    with Store.existing(source) as theirs, Store(destination) as ours:
        connection = theirs.database.connection
        with theirs.database.errors("read"):
            runs = connection.execute(f"SELECT id, {_RUN} FROM run ORDER BY id").fetchall()
            rows = connection.execute(f"SELECT {_COLUMNS} FROM trial").fetchall()
            replaced = connection.execute(f"SELECT {_COLUMNS} FROM superseded").fetchall()
        with ours.database.transaction() as written:
            summary = MergeSummary()
            numbers = _bring_runs(written, runs, summary)
            try:
                for row in rows:
                    _bring_trial(written, _renumbered(row, numbers), prefer, summary)
                for row in replaced:
                    _keep(written, _renumbered(row, numbers))
            except (KeyError, ValueError) as error:
                raise StoreError(
                    f"{source}: cannot be merged: {error}; `kernlearn doctor` lists what is wrong"
                ) from None
    return summary


def _bring_runs(
    connection: sqlite3.Connection, runs: list[tuple[Any, ...]], summary: MergeSummary
) -> dict[int, int]:
    """Return the destination's number of each run; a run that came earlier is known again."""
    known: dict[tuple[Any, ...], list[int]] = {}
    for number, *run in connection.execute(f"SELECT id, {_RUN} FROM run ORDER BY id"):
        known.setdefault(tuple(run), []).append(number)
    numbers = {}
    for number, *run in runs:
        same = known.get(tuple(run))
        if same:
            numbers[number] = same.pop(0)
            continue
        cursor = connection.execute(f"INSERT INTO run ({_RUN}) VALUES (?, ?, ?, ?, ?, ?)", run)
        assert cursor.lastrowid is not None
        numbers[number] = cursor.lastrowid
        summary.runs += 1
    return numbers


def _renumbered(row: tuple[Any, ...], numbers: dict[int, int]) -> dict[str, Any]:
    named = dict(zip(TRIAL_COLUMNS, row, strict=True))
    if named["run"] not in numbers:
        raise ValueError(f"trial {named['key']} is of run {named['run']}, which is not there")
    return {**named, "run": numbers[named["run"]]}


def _bring_trial(
    connection: sqlite3.Connection, row: dict[str, Any], prefer: str, summary: MergeSummary
) -> None:
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM trial WHERE key = ?", (row["key"],)
    ).fetchone()
    if found is None:
        summary.added += 1
        _write(connection, row)
        return
    own = dict(zip(TRIAL_COLUMNS, found, strict=True))
    if row["status"] != "done":
        summary.failed += 1
    elif own["status"] != "done":
        summary.completed += 1
        _write(connection, row)
    elif _told(own) == _told(row):
        summary.same += 1
    else:
        different = _differences(json.loads(own["metrics"]), json.loads(row["metrics"]))
        if different:
            labels = json.loads(row["labels"])
            summary.conflicts.append(Conflict(row["key"], row["experiment"], labels, different))
        else:
            summary.same += 1
        replaces = prefer == "source" if different else row["started"] < own["started"]
        if replaces:
            _write(connection, row)
        _keep(connection, own if replaces else row)


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what makes two rows the same measurement, and not one made again."""
    return tuple(row[k] for k in ("run", "started", "seconds", "metrics"))


def is_time(metric: str) -> bool:
    """Whether a metric is a time, which no two runs have in common."""
    return metric.endswith("_seconds")


def _differences(
    own: dict[str, float], other: dict[str, float]
) -> dict[str, tuple[float | None, float | None]]:
    names = [name for name in {**own, **other} if not is_time(name)]
    return {
        name: (own.get(name), other.get(name))
        for name in names
        if not _same(own.get(name), other.get(name))
    }


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    if math.isnan(own) or math.isnan(other):
        return math.isnan(own) and math.isnan(other)
    return math.isclose(own, other, rel_tol=_SAME, abs_tol=1e-15)


def _write(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO trial VALUES ({_PLACES})", [row[k] for k in TRIAL_COLUMNS]
    )
    # what stands is not beside as well
    connection.execute(
        "DELETE FROM superseded WHERE key = ? AND run = ?", (row["key"], row["run"])
    )


def _keep(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    """Keep a row beside the one that stands, unless it is that."""
    stands = connection.execute(
        "SELECT 1 FROM trial WHERE key = ? AND run = ?", (row["key"], row["run"])
    ).fetchone()
    if stands is None and row["status"] == "done":
        connection.execute(
            f"INSERT OR IGNORE INTO superseded VALUES ({_PLACES})",
            [row[k] for k in TRIAL_COLUMNS],
        )
