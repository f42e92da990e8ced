"""Merging of stores."""

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.store.database import COLUMNS, TRIAL_COLUMNS, write_row
from kernlearn.experiments.store.results import Store

_RUN = "started, experiment, profile, jobs, environment, settings"
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
    conflicts : list of Conflict
    """

    added: int = 0
    completed: int = 0
    same: int = 0
    failed: int = 0
    runs: int = 0
    conflicts: list[Conflict] = field(default_factory=list)


def merge(source: Path, destination: Path, *, prefer: str = "destination") -> MergeSummary:
    """Merge the trials of a store into another one, completely or not at all.

    Of a trial that is done on both sides, the earlier row is used if the numbers, times apart,
    are the same; the other row is kept as superseded. Different numbers are a conflict, in which
    the preferred store's row is used. A failed trial never replaces one that is done.

    Parameters
    ----------
    source : Path
        Only read.
    destination : Path
        Created if it does not exist.
    prefer : {"destination", "source"}
        Whose numbers to use in a conflict.

    Returns
    -------
    MergeSummary

    Raises
    ------
    StoreError
        If both are the same file, or one cannot be opened, read or written.
    """
    if prefer not in ("destination", "source"):
        raise ValueError(f"prefer={prefer!r}: expected 'destination' or 'source'")
    if source.exists() and destination.exists() and source.samefile(destination):
        raise StoreError(f"{source}: cannot be merged into itself")
    with Store.existing(source) as theirs, Store(destination) as ours:
        reader = theirs.database.connection
        with theirs.database.errors("read"):
            runs = reader.execute(f"SELECT id, {_RUN} FROM run ORDER BY id").fetchall()
            rows = reader.execute(f"SELECT {COLUMNS} FROM trial").fetchall()
            superseded = reader.execute(f"SELECT {COLUMNS} FROM superseded").fetchall()
        with ours.database.transaction() as connection:
            summary = MergeSummary()
            numbers = _add_runs(connection, runs, summary)
            try:
                for row in rows:
                    _add_trial(connection, _renumbered(row, numbers), prefer, summary)
                for row in superseded:
                    _supersede(connection, _renumbered(row, numbers))
            except (KeyError, ValueError) as error:
                raise StoreError(
                    f"{source}: cannot be merged: {error}; `kernlearn doctor` lists what is wrong"
                ) from None
    return summary


def _add_runs(
    connection: sqlite3.Connection, runs: list[tuple[Any, ...]], summary: MergeSummary
) -> dict[int, int]:
    """Return the destination's number of each run; runs that were merged before are found."""
    existing: dict[tuple[Any, ...], list[int]] = {}
    for number, *run in connection.execute(f"SELECT id, {_RUN} FROM run ORDER BY id"):
        existing.setdefault(tuple(run), []).append(number)
    numbers = {}
    for number, *run in runs:
        if same := existing.get(tuple(run)):
            numbers[number] = same.pop(0)
            continue
        cursor = connection.execute(f"INSERT INTO run ({_RUN}) VALUES (?, ?, ?, ?, ?, ?)", run)
        assert cursor.lastrowid is not None
        numbers[number] = cursor.lastrowid
        summary.runs += 1
    return numbers


def _named(row: tuple[Any, ...]) -> _Row:
    return dict(zip(TRIAL_COLUMNS, row, strict=True))


def _renumbered(columns: tuple[Any, ...], numbers: Mapping[int, int]) -> _Row:
    row = _named(columns)
    if row["run"] not in numbers:
        raise ValueError(f"trial {row['key']} is of run {row['run']}, which is not there")
    return {**row, "run": numbers[row["run"]]}


def _add_trial(
    connection: sqlite3.Connection, row: _Row, prefer: str, summary: MergeSummary
) -> None:
    query = f"SELECT {COLUMNS} FROM trial WHERE key = ?"
    existing = connection.execute(query, (row["key"],)).fetchone()
    if existing is None:
        summary.added += 1
        _use(connection, row)
        return
    own = _named(existing)
    if row["status"] != "done":
        summary.failed += 1
    elif own["status"] != "done":
        summary.completed += 1
        _use(connection, row)
    elif all(own[k] == row[k] for k in ("run", "started", "seconds", "metrics")):
        summary.same += 1  # the same measurement, merged before
    else:
        different = _differences(json.loads(own["metrics"]), json.loads(row["metrics"]))
        if different:
            labels = json.loads(row["labels"])
            summary.conflicts.append(Conflict(row["key"], row["experiment"], labels, different))
        else:
            summary.same += 1
        replaces = prefer == "source" if different else row["started"] < own["started"]
        if replaces:
            _use(connection, row)
        _supersede(connection, own if replaces else row)


def _differences(
    own: dict[str, float], other: dict[str, float]
) -> dict[str, tuple[float | None, float | None]]:
    """Return the metrics that differ, but for times, which no two runs have in common."""
    names = [name for name in {**own, **other} if not name.endswith("_seconds")]
    pairs = {name: (own.get(name), other.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if not _same(*pair)}


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    if math.isnan(own) or math.isnan(other):
        return math.isnan(own) and math.isnan(other)
    return math.isclose(own, other, rel_tol=_SAME, abs_tol=1e-15)


def _use(connection: sqlite3.Connection, row: _Row) -> None:
    write_row(connection, "INSERT OR REPLACE INTO trial", row)
    connection.execute(
        "DELETE FROM superseded WHERE key = ? AND run = ?", (row["key"], row["run"])
    )


def _supersede(connection: sqlite3.Connection, row: _Row) -> None:
    """Keep a done row as superseded, unless it is the one in use."""
    in_use = connection.execute(
        "SELECT 1 FROM trial WHERE key = ? AND run = ?", (row["key"], row["run"])
    ).fetchone()
    if in_use is None and row["status"] == "done":
        write_row(connection, "INSERT OR IGNORE INTO superseded", row)
