"""What is wrong with a store, row by row."""

import math
from collections.abc import Iterator
from sqlite3 import Connection, DatabaseError

from kernlearn.datasets.escaping import visible
from kernlearn.experiments.engine.spec import trial_key
from kernlearn.experiments.store.database import explain
from kernlearn.experiments.store.grids import grid_metrics
from kernlearn.experiments.store.results import Store
from kernlearn.experiments.store.rows import StoredTrial, UnfitError, row_name, run_of, trial_of


def examine(store: Store) -> list[str]:
    """List what is wrong with a store; nothing if it is sound.

    There is one line each for damaged pages, values that do not fit the model of their row, which
    nothing else reads therefore, trials of missing runs, keys that are not the hash of their
    specification, and metrics that are missing or not finite.
    """
    faults: list[str] = []
    try:
        pages = store.connection.execute("PRAGMA integrity_check")
        faults.extend(f"the file is damaged: {visible(line)}" for (line,) in pages if line != "ok")
        if not faults:  # in a damaged file the rows may be anything
            faults.extend(_row_faults(store.connection))
    except DatabaseError as error:
        faults.append(f"the file cannot be read on: {explain(error)}")
    return faults


def _row_faults(connection: Connection) -> Iterator[str]:
    for row in connection.execute("SELECT * FROM run ORDER BY id"):
        try:
            run_of(row)
        except UnfitError as error:
            yield from (f"{row_name(row, 'run')}: {fault}" for fault in error.faults)
    for table in ("trial", "superseded"):
        for row in connection.execute(
            f"SELECT *, run IN (SELECT id FROM run) AS known FROM {table} ORDER BY key, run"
        ):
            name = row_name(row, table)
            try:
                stored = trial_of(row)
            except UnfitError as error:
                yield from (f"{name}: {fault}" for fault in error.faults)
                continue
            yield from (f"{name}: {fault}" for fault in _trial_faults(stored))
            if not row["known"]:
                yield f"{name}: of run {row['run']}, which is not there"


def _trial_faults(stored: StoredTrial) -> Iterator[str]:
    """Yield what is wrong with a trial that fits."""
    result, key = stored.result, trial_key(stored.trial.spec)
    if result.key != key:
        yield f"its key is not that of its specification, {key}"
    if not result.done:
        if not result.error:
            yield "failed without an error"
        return
    # where one setting is chosen for all splits, the numbers of each are in info
    numbers = {**result.metrics, **grid_metrics(result.info)}
    if not numbers:
        yield "done, but without metrics"
    for metric, value in numbers.items():
        if not math.isfinite(value):
            yield f"{visible(metric)} is {value}"
