"""Checking a store for damage, and removing what no config needs."""

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernlearn.experiments.engine.plan import Plan, make_plan
from kernlearn.experiments.engine.spec import trial_key
from kernlearn.experiments.store.database import explain
from kernlearn.experiments.store.results import Store

_JSON = ("labels", "spec", "metrics", "info")


def examine(store: Store) -> list[str]:
    """List what is wrong with a store.

    Parameters
    ----------
    store : Store

    Returns
    -------
    list of str
        One line each for damaged pages, trials of missing runs, columns that are not JSON, keys
        that are not the hash of their specification, and metrics that are missing or not finite.
        Empty if the store is sound.
    """
    connection = store.database.connection
    # in a damaged file the rows may be anything
    return _faults(_file(connection)) or [
        *_faults(_runs(connection)),
        *_faults(_trials(connection, "trial")),
        *_faults(_trials(connection, "superseded")),
    ]


def _faults(check: Iterator[str]) -> list[str]:
    """Collect the faults that a check finds, its own failure included."""
    faults: list[str] = []
    try:
        faults.extend(check)
    except sqlite3.DatabaseError as error:
        faults.append(f"the file cannot be read on: {explain(error)}")
    return faults


def _file(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"the file is damaged: {line}"


def _runs(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT id, environment, settings FROM run ORDER BY id")
    for number, environment, settings in rows:
        if fault := _json_fault(environment):
            yield f"run {number}: environment {fault}"
        if fault := _json_fault(settings, list):
            yield f"run {number}: settings {fault}"


def _trials(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    runs = {run for (run,) in connection.execute("SELECT id FROM run")}
    rows = connection.execute(
        f"SELECT key, run, status, error, {', '.join(_JSON)} FROM {table} ORDER BY key, run"
    )
    name = "trial" if table == "trial" else "superseded trial"
    for key, run, status, error, *texts in rows:
        for fault in _trial_faults(key, status, error, dict(zip(_JSON, texts, strict=True))):
            yield f"{name} {key}: {fault}"
        if run not in runs:
            yield f"{name} {key}: of run {run}, which is not there"


def _trial_faults(key: str, status: str, error: str, texts: dict[str, str]) -> Iterator[str]:
    broken = [f"{c} {fault}" for c, text in texts.items() if (fault := _json_fault(text))]
    if broken:
        yield from broken
        return
    spec, metrics = json.loads(texts["spec"]), json.loads(texts["metrics"])
    if key != trial_key(spec):
        yield f"its key is not that of its specification, {trial_key(spec)}"
    if "split" not in spec:
        yield "its specification names no split"
    if status != "done":
        if not error:
            yield "failed without an error"
        return
    # where one setting is chosen for all splits, the numbers of each are in info
    if not metrics and "grid" not in json.loads(texts["info"]):
        yield "done, but without metrics"
    for metric, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{metric} is {value!r}, not a number"
        elif not math.isfinite(value):
            yield f"{metric} is {value}"


def _json_fault(text: Any, kind: type = dict) -> str | None:
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
    needed = _needed_by(list(plans))
    connection = store.database.connection
    with store.database.errors("read"):
        trials = connection.execute("SELECT key, run, experiment, labels FROM trial").fetchall()
        superseded = connection.execute(
            "SELECT key, run, experiment, labels, status FROM superseded"
        ).fetchall()
        runs = {run for (run,) in connection.execute("SELECT id FROM run")}
    gone = [(key, run, e) for key, run, e, labels in trials if not needed(key, e, labels)]
    gone_superseded = [
        (key, run)
        for key, run, experiment, labels, status in superseded
        if status == "failed" or not needed(key, experiment, labels)
    ]
    rows = Counter(run for _, run, *_ in (*trials, *superseded))
    removed = Counter(run for _, run, *_ in (*gone, *gone_superseded))
    empty_runs = sorted(run for run in runs if rows[run] == removed[run])
    garbage = Garbage(
        dict(sorted(Counter(experiment for _, _, experiment in gone).items())),
        len(gone_superseded),
        len(empty_runs),
        rows.total() - removed.total(),
    )
    if remove and garbage:
        with store.database.transaction() as connection:
            connection.executemany("DELETE FROM trial WHERE key = ?", [row[:1] for row in gone])
            connection.executemany(
                "DELETE FROM superseded WHERE key = ? AND run = ?", gone_superseded
            )
            connection.executemany("DELETE FROM run WHERE id = ?", [(run,) for run in empty_runs])
        with store.database.errors("shrunk"):
            connection.execute("VACUUM")
    return garbage


def _needed_by(plans: list[Plan]) -> Callable[[str, str, str], bool]:
    """Return the rule by which a row, by its key, experiment and labels, is needed."""
    keys = {trial.key for plan in plans for trial in plan.trials}
    unplanned: dict[str, tuple[set[str], set[str]]] = {}
    for plan in plans:
        datasets, methods = unplanned.setdefault(plan.experiment.name, (set(), set()))
        datasets.update(plan.left_out)
        methods.update(plan.not_installed)

    def needed(key: str, experiment: str, labels: str) -> bool:
        datasets, methods = unplanned.get(experiment, (set(), set()))
        if key in keys or not (datasets or methods):
            return key in keys
        parsed: dict[str, Any] = json.loads(labels)
        return parsed.get("dataset") in datasets or parsed.get("method") in methods

    return needed
