"""Whether a store is sound: the file, its rows, and what the rows say of themselves."""

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernlearn.experiments.engine.plan import Plan
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
        A line each: pages that are damaged, trials of runs that are not there, columns that are
        no JSON, keys that are not the hash of their specification, metrics that are missing or
        not finite. Empty if the store is sound.
    """
    connection = store.database.connection
    # the rows of a damaged file may be anything
    return list(_guarded(_file(connection))) or [
        *_guarded(_runs(connection)),
        *_guarded(_trials(connection, "trial")),
        *_guarded(_trials(connection, "superseded")),
    ]


def _guarded(faults: Iterator[str]) -> Iterator[str]:
    """Make an error of reading a fault like others."""
    try:
        yield from faults
    except sqlite3.DatabaseError as error:
        yield f"the file cannot be read on: {explain(error)}"


def _file(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"the file is damaged: {line}"


def _runs(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT id, environment, settings FROM run ORDER BY id")
    for number, environment, settings in rows:
        if (fault := _json_fault(environment)) is not None:
            yield f"run {number}: environment {fault}"
        if (fault := _json_fault(settings, list)) is not None:
            yield f"run {number}: settings {fault}"


def _trials(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    known = {run for (run,) in connection.execute("SELECT id FROM run")}
    rows = connection.execute(
        f"SELECT key, run, status, error, {', '.join(_JSON)} FROM {table} ORDER BY key, run"
    )
    name = "trial" if table == "trial" else "superseded trial"
    for key, run, status, error, *texts in rows:
        place = f"{name} {key}"
        if run not in known:
            yield f"{place}: of run {run}, which is not there"
        faults = {c: _json_fault(text) for c, text in zip(_JSON, texts, strict=True)}
        if any(faults.values()):
            yield from (f"{place}: {c} {fault}" for c, fault in faults.items() if fault)
            continue
        _, spec, metrics, _ = (json.loads(text) for text in texts)
        if key != trial_key(spec):
            yield f"{place}: its key is not that of its specification, {trial_key(spec)}"
        if "split" not in spec:
            yield f"{place}: its specification names no split"
        if status == "done":
            yield from (f"{place}: {fault}" for fault in _metric_faults(metrics))
        elif not error:
            yield f"{place}: failed without an error"


def _json_fault(text: Any, kind: type = dict) -> str | None:
    try:
        found = json.loads(text)
    except (TypeError, ValueError) as error:
        return f"is no JSON: {error}"
    if isinstance(found, kind):
        return None
    return f"is JSON, but no {'object' if kind is dict else 'list'}"


def _metric_faults(metrics: dict[str, Any]) -> Iterator[str]:
    if not metrics:
        yield "done, but without metrics"
    for metric, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{metric} is {value!r}, no number"
        elif not math.isfinite(value):
            yield f"{metric} is {value}"


@dataclass(frozen=True)
class Unneeded:
    """What can go from a store.

    Attributes
    ----------
    trials : dict of str to int
        Rows that no plan needs, by experiment.
    superseded : int
        Rows beside those that stand: failed, or of trials that no plan needs.
    runs : int
        Runs without a row.
    kept : int
        Rows that stay.
    """

    trials: dict[str, int] = field(default_factory=dict)
    superseded: int = 0
    runs: int = 0
    kept: int = 0

    @property
    def nothing(self) -> bool:
        """Whether all of the store is needed."""
        return not (self.trials or self.superseded or self.runs)


def every_profile(config: str, data_dir: Path | None = None) -> list[Plan]:
    """Plan a config under each of its profiles, without the data sets that are not found.

    Parameters
    ----------
    config : str
        A YAML file, or the name of a shipped config.
    data_dir : Path, optional
        Where data is looked for first.

    Returns
    -------
    list of Plan
    """
    from kernlearn.experiments.config.loading import DEFAULT_PROFILE, load_config
    from kernlearn.experiments.engine.plan import make_plan

    whole = load_config(config, data_dir=data_dir)
    others = [name for name in whole.config.profiles if name != DEFAULT_PROFILE]
    loaded = [whole, *(load_config(config, profile=p, data_dir=data_dir) for p in others)]
    return [make_plan(e, data_dir=data_dir, available=True) for e in loaded]


def collect_garbage(store: Store, plans: Iterable[Plan], *, remove: bool = False) -> Unneeded:
    """Find, and if asked remove, what no plan needs.

    That is the trials in no plan; failed trials beside one that stands; runs without a trial.
    What belongs to a data set that is not found here, or to a method that is not installed,
    cannot be judged and stays.

    Parameters
    ----------
    store : Store
        To remove something, opened with ``exclusive``.
    plans : iterable of Plan
        Of all experiments whose numbers are to stay.
    remove : bool, default=False
        Remove in one transaction, then give the freed space back.

    Returns
    -------
    Unneeded

    Raises
    ------
    StoreError
        If the store cannot be read or written.
    """
    needed = _needed_by(list(plans))
    connection = store.database.connection
    with store.database.errors("read"):
        rows = connection.execute("SELECT key, experiment, labels FROM trial").fetchall()
        beside = connection.execute(
            "SELECT key, experiment, labels, run, status FROM superseded"
        ).fetchall()
        runs = {run for (run,) in connection.execute("SELECT id FROM run")}
        used_by = connection.execute("SELECT key, run FROM trial").fetchall()
    gone = [(row[0],) for row in rows if not needed(*row)]
    gone_beside = [
        (key, run)
        for key, experiment, labels, run, status in beside
        if status == "failed" or not needed(key, experiment, labels)
    ]
    counts = Counter(row[1] for row in rows if not needed(*row))
    keys, pairs = {key for (key,) in gone}, set(gone_beside)
    used = {run for key, run in used_by if key not in keys}
    used |= {run for key, _, _, run, _ in beside if (key, run) not in pairs}
    orphans = [(run,) for run in sorted(runs - used)]
    kept = len(rows) - len(gone) + len(beside) - len(gone_beside)
    found = Unneeded(dict(sorted(counts.items())), len(gone_beside), len(orphans), kept)
    if remove and not found.nothing:
        with store.database.transaction() as written:
            _delete(written, gone, gone_beside, orphans)
        with store.database.errors("made smaller"):
            connection.execute("VACUUM")
    return found


def _needed_by(plans: list[Plan]) -> Callable[[str, str, str], bool]:
    """Return the rule by which a row, of a key, an experiment and labels, is needed."""
    keys = {trial.key for plan in plans for trial in plan.trials}
    unjudged: dict[str, tuple[set[str], set[str]]] = {}
    for plan in plans:
        datasets, methods = unjudged.setdefault(plan.experiment.name, (set(), set()))
        datasets.update(plan.left_out)
        methods.update(plan.not_installed)

    def needed(key: str, experiment: str, text: str) -> bool:
        if key in keys:
            return True
        datasets, methods = unjudged.get(experiment, (set(), set()))
        if not datasets and not methods:
            return False
        labels: dict[str, Any] = json.loads(text)
        return labels.get("dataset") in datasets or labels.get("method") in methods

    return needed


def _delete(
    connection: sqlite3.Connection,
    trials: list[tuple[str]],
    beside: list[tuple[str, int]],
    runs: list[tuple[int]],
) -> None:
    connection.executemany("DELETE FROM trial WHERE key = ?", trials)
    connection.executemany("DELETE FROM superseded WHERE key = ? AND run = ?", beside)
    connection.executemany("DELETE FROM run WHERE id = ?", runs)
