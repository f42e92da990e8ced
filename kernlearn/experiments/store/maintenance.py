"""Merging stores, checking one for damage, and removing what no config needs."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection, DatabaseError, Row
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.costs import is_cost
from kernlearn.experiments.engine.plan import Plan, make_plan
from kernlearn.experiments.engine.spec import trial_key
from kernlearn.experiments.store.database import VALUES, explain
from kernlearn.experiments.store.grids import grid_metrics
from kernlearn.experiments.store.results import Store

_RUN = "started, experiment, profile, jobs, environment, settings"
_JSON = ("labels", "spec", "metrics", "info")
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
        with theirs.errors("read"):
            runs, rows, superseded = (
                [dict(row) for row in theirs.connection.execute(f"SELECT * FROM {table}")]
                for table in ("run", "trial", "superseded")
            )
        with ours.transaction() as connection:
            summary = MergeSummary()
            numbers = _add_runs(connection, runs, summary)
            try:
                for row in [*rows, *superseded]:
                    if row["run"] not in numbers:
                        raise ValueError(
                            f"trial {row['key']} is of run {row['run']}, which is not there"
                        )
                    row["run"] = numbers[row["run"]]
                for row in rows:
                    _add_trial(connection, row, prefer, summary)
            except (KeyError, ValueError) as error:
                raise StoreError(
                    f"{source}: cannot be merged: {error}; `kernlearn doctor` lists what is wrong"
                ) from None
            for row in superseded:
                _supersede(connection, row)
    return summary


def _add_runs(connection: Connection, runs: list[_Row], summary: MergeSummary) -> dict[int, int]:
    """Return the destination's number of each run; runs that were merged before are found."""
    existing: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, *run in connection.execute(f"SELECT id, {_RUN} FROM run ORDER BY id"):
        existing[tuple(run)].append(number)
    numbers = {}
    for row in runs:
        number, *run = row.values()
        if same := existing[tuple(run)]:
            numbers[number] = same.pop(0)
            continue
        cursor = connection.execute(f"INSERT INTO run ({_RUN}) VALUES (?, ?, ?, ?, ?, ?)", run)
        assert cursor.lastrowid is not None
        numbers[number] = cursor.lastrowid
        summary.runs += 1
    return numbers


def _add_trial(connection: Connection, row: _Row, prefer: str, summary: MergeSummary) -> None:
    own = connection.execute("SELECT * FROM trial WHERE key = ?", (row["key"],)).fetchone()
    if own is None:
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
        replaces = prefer == "source" if different else row["started"] < own["started"]
        if replaces:
            _use(connection, row)
        _supersede(connection, dict(own) if replaces else row)


def _numbers(row: Row | _Row) -> dict[str, float]:
    """Return the metrics of a row, with those of every setting of a grid."""
    return {**json.loads(row["metrics"]), **grid_metrics(json.loads(row["info"]))}


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


def examine(store: Store) -> list[str]:
    """List what is wrong with a store; nothing if it is sound.

    There is one line each for damaged pages, trials of missing runs, columns that are not JSON,
    keys that are not the hash of their specification, and metrics that are missing or not finite.
    """
    faults: list[str] = []
    try:
        pages = store.connection.execute("PRAGMA integrity_check")
        faults.extend(f"the file is damaged: {line}" for (line,) in pages if line != "ok")
        if not faults:  # in a damaged file the rows may be anything
            faults.extend(_row_faults(store.connection))
    except DatabaseError as error:
        faults.append(f"the file cannot be read on: {explain(error)}")
    return faults


def _row_faults(connection: Connection) -> Iterator[str]:
    for row in connection.execute("SELECT * FROM run ORDER BY id"):
        for column, kind in (("environment", dict), ("settings", list)):
            if fault := _json_fault(row[column], kind):
                yield f"run {row['id']}: {column} {fault}"
    for table, name in (("trial", "trial"), ("superseded", "superseded trial")):
        for row in connection.execute(
            f"SELECT *, run IN (SELECT id FROM run) AS known FROM {table} ORDER BY key, run"
        ):
            for fault in _trial_faults(row):
                yield f"{name} {row['key']}: {fault}"
            if not row["known"]:
                yield f"{name} {row['key']}: of run {row['run']}, which is not there"


def _trial_faults(row: Row) -> Iterator[str]:
    broken = [f"{c} {fault}" for c in _JSON if (fault := _json_fault(row[c], dict))]
    if broken:
        yield from broken
        return
    key = trial_key(json.loads(row["spec"]))
    if row["key"] != key:
        yield f"its key is not that of its specification, {key}"
    if row["status"] != "done":
        if not row["error"]:
            yield "failed without an error"
        return
    # where one setting is chosen for all splits, the numbers of each are in info
    try:
        numbers = _numbers(row)
    except (KeyError, TypeError, AttributeError):
        yield "its grid is not a list of settings with parameters and metrics"
        return
    if not numbers:
        yield "done, but without metrics"
    for metric, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{metric} is {value!r}, not a number"
        elif not math.isfinite(value):
            yield f"{metric} is {value}"


def _json_fault(text: Any, kind: type) -> str | None:
    try:
        value = json.loads(text)
    except (TypeError, ValueError) as error:
        return f"is not JSON: {error}"
    if isinstance(value, kind):
        return None
    return f"is JSON, but not {'an object' if kind is dict else 'a list'}"


@dataclass(frozen=True)
class Garbage:
    """What a store has that no plan needs.

    Attributes
    ----------
    trials : dict of str to int
        Number of trials by experiment.
    superseded : int
        Superseded rows that failed or belong to such trials.
    runs : int
        Runs without trials.
    kept : int
        Rows that are needed.
    """

    trials: dict[str, int] = field(default_factory=dict)
    superseded: int = 0
    runs: int = 0
    kept: int = 0

    def __bool__(self) -> bool:
        return bool(self.trials or self.superseded or self.runs)


def every_profile(config: str, data_dir: Path | None = None) -> list[Plan]:
    """Plan a config under each of its profiles, without data sets that are not found.

    Parameters
    ----------
    config : str
        A YAML file, or the name of a shipped config.
    data_dir : Path, optional
        Folder to search for data first.

    Returns
    -------
    list of Plan
    """
    from kernlearn.experiments.config.loading import DEFAULT_PROFILE, load_config

    profiles = load_config(config, data_dir=data_dir).config.profiles
    loaded = [
        load_config(config, profile=profile, data_dir=data_dir)
        for profile in dict.fromkeys([DEFAULT_PROFILE, *profiles])
    ]
    return [make_plan(e, data_dir=data_dir, available=True) for e in loaded]


def collect_garbage(store: Store, plans: Iterable[Plan], *, remove: bool = False) -> Garbage:
    """Find, and optionally remove, what no plan needs.

    That is: trials in no plan, failed superseded rows, and runs without trials. Trials of a data
    set that is not found here, or of a method that is not installed, are kept.

    Parameters
    ----------
    store : Store
        Opened with ``exclusive`` to remove something.
    plans : iterable of Plan
        Of all experiments whose results are to be kept.
    remove : bool, default=False
        Remove in one transaction, then shrink the file.

    Returns
    -------
    Garbage

    Raises
    ------
    StoreError
        If the store cannot be read or written.
    """
    connection = store.connection
    connection.create_function("needed", 3, _needed_by(list(plans)))
    gone = {
        "trial": "NOT needed(key, experiment, labels)",
        "superseded": "(status = 'failed' OR NOT needed(key, experiment, labels))",
    }
    kept = " UNION ALL ".join(f"SELECT run FROM {t} WHERE NOT {rule}" for t, rule in gone.items())
    with store.errors("read"):
        trials = connection.execute(
            f"SELECT experiment, count(*) FROM trial WHERE {gone['trial']} "
            "GROUP BY experiment ORDER BY experiment"
        ).fetchall()
        counts = connection.execute(
            f"SELECT (SELECT count(*) FROM superseded WHERE {gone['superseded']}), "
            f"(SELECT count(*) FROM run WHERE id NOT IN ({kept})), (SELECT count(*) FROM ({kept}))"
        ).fetchone()
    garbage = Garbage(dict(trials), *counts)
    if remove and garbage:
        with store.transaction():
            for table, rule in gone.items():
                connection.execute(f"DELETE FROM {table} WHERE {rule}")
            connection.execute(
                "DELETE FROM run WHERE id NOT IN "
                "(SELECT run FROM trial UNION SELECT run FROM superseded)"
            )
        with store.errors("shrunk"):
            connection.execute("VACUUM")
    return garbage


def _needed_by(plans: list[Plan]) -> Callable[[str, str, str], bool]:
    """Return the rule by which a row, by its key, experiment and labels, is needed."""
    keys = {trial.key for plan in plans for trial in plan.trials}
    # labels of each experiment that the plans leave out
    unplanned: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for plan in plans:
        unplanned[plan.experiment.name] |= {("dataset", name) for name in plan.left_out}
        unplanned[plan.experiment.name] |= {("method", name) for name in plan.not_installed}

    def needed(key: str, experiment: str, labels: str) -> bool:
        if key in keys or not unplanned[experiment]:
            return key in keys
        parsed: dict[str, Any] = json.loads(labels)
        return any(parsed.get(label) == name for label, name in unplanned[experiment])

    return needed
