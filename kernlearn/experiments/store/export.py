"""A store's numbers as tidy rows: CSV, JSON or Parquet."""

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.engine.spec import LABELS, canonical
from kernlearn.experiments.store.results import Store, StoredTrial

#: Columns of an export: those of a measured summary, with split and value for its means.
COLUMNS = ("experiment", *LABELS, "params", "metric", "split", "value", "key", "run")

FORMATS = ("csv", "json", "parquet")


def parameters_of(labels: dict[str, Any]) -> str:
    """Return the varied parameters among a trial's labels as JSON with sorted keys."""
    given = {k: v for k, v in labels.items() if k not in LABELS and v is not None}
    return canonical(given)


def tidy_rows(store: Store, experiments: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield one row a number: of every finished trial, metric by metric.

    Parameters
    ----------
    store : Store
    experiments : sequence of str
        Names of experiments; none means all.

    Yields
    ------
    dict
        With the keys :data:`COLUMNS`. ``split`` counts from 0. Failed trials have no numbers.

    Raises
    ------
    StoreError
        If the store has nothing of an experiment that is asked for.
    """
    check_experiments(store, experiments)
    for stored in store.trials():
        if stored.result.done and (not experiments or stored.trial.experiment in experiments):
            yield from _rows(stored)


def check_experiments(store: Store, asked: Iterable[str]) -> None:
    """Refuse names of experiments that a store has nothing of."""
    with store.database.errors("read"):
        rows = store.database.connection.execute("SELECT DISTINCT experiment FROM trial")
        known = sorted(name for (name,) in rows)
    unknown = [name for name in asked if name not in known]
    if unknown:
        there = ", ".join(known) if known else "none"
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: {there}"
        )


def _rows(stored: StoredTrial) -> Iterator[dict[str, Any]]:
    trial, result = stored.trial, stored.result
    shared = {
        "experiment": trial.experiment,
        **{k: trial.labels.get(k) for k in LABELS},
        "params": parameters_of(trial.labels),
    }
    for metric, value in result.metrics.items():
        yield {
            **shared,
            "metric": metric,
            "split": trial.split,
            "value": value,
            "key": trial.key,
            "run": result.run,
        }


def export_text(rows: Iterable[dict[str, Any]], form: str) -> str:
    """Write rows as CSV or JSON; each number with all its digits, NaN in JSON as null.

    Parameters
    ----------
    rows : iterable of dict
        From :func:`tidy_rows`.
    form : {"csv", "json"}

    Returns
    -------
    str
    """
    if form == "json":
        # JSON knows neither NaN nor infinities
        lines = (json.dumps(_finite(row), ensure_ascii=False, allow_nan=False) for row in rows)
        body = ",\n".join(lines)
        return f"[\n{body}\n]\n" if body else "[]\n"
    if form != "csv":
        raise ValueError(f"form={form!r}: expected 'csv' or 'json'")
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    value = row["value"]
    return row if math.isfinite(value) else {**row, "value": None}


def export_file(rows: Iterable[dict[str, Any]], path: Path, form: str) -> int:
    """Write rows to a file; one that is there is replaced when the new one is whole.

    Parameters
    ----------
    rows : iterable of dict
        From :func:`tidy_rows`.
    path : Path
        Its folder is made if it is not there.
    form : {"csv", "json", "parquet"}

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    found = list(rows)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if form == "parquet":
                _write_parquet(found, part)
            else:
                part.write_text(export_text(found, form), encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from None
    return len(found)


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    kinds = {"split": pa.int64(), "value": pa.float64(), "run": pa.int64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
