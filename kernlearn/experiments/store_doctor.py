"""Whether a store is sound: the file, its rows, and what the rows say of themselves."""

import json
import math
import sqlite3
from collections.abc import Iterator
from typing import Any

from kernlearn.experiments._database import explain
from kernlearn.experiments.keys import trial_key
from kernlearn.experiments.store import Store

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
