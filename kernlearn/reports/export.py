"""Export of a store as a tidy table: CSV, JSON or Parquet."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kernlearn.config.spec import LABELS, canonical
from kernlearn.datasets.escaping import guarded
from kernlearn.engine.plan import chosen_by_mean
from kernlearn.exceptions import StoreError
from kernlearn.reports.replacing import replacing
from kernlearn.store import Store

#: Columns of an export: those of a measured summary, with split and value for its means.
COLUMNS = ("experiment", *LABELS, "params", "metric", "split", "value", "key")
FORMATS = ("csv", "json", "parquet")

# Rows of Parquet files that are written at a time.
_GROUP = 100_000


def parameters_of(labels: dict[str, Any]) -> str:
    """Return the varied parameters among a trial's labels as JSON with sorted keys."""
    return canonical({k: v for k, v in labels.items() if k not in LABELS and v is not None})


def tidy_rows(store: Store, experiments: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield one row per finished trial and metric.

    A trial that measured a grid of settings has the numbers of the one that is chosen over all
    splits, as in reports.

    Parameters
    ----------
    store : Store
    experiments : sequence of str
        Names of experiments; empty for all.

    Yields
    ------
    dict
        With the keys :data:`COLUMNS`. ``split`` counts from 0. Failed trials have no numbers.

    Raises
    ------
    StoreError
        If the store has no trials of a named experiment.
    """
    rows = {row.key: row for row in store.rows()}
    available = sorted({row.experiment for row in rows.values()})
    unknown = [name for name in experiments if name not in available]
    if unknown:
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: "
            f"{', '.join(available) or 'none'}"
        )
    for row in chosen_by_mean(rows).values():
        if row.done and (not experiments or row.experiment in experiments):
            labels = {name: row.labels.get(name) for name in LABELS}
            labels["params"] = parameters_of(row.labels)
            for metric, value in row.metrics.items():
                yield {
                    "experiment": row.experiment,
                    **labels,
                    "metric": metric,
                    "split": row.split,
                    "value": value,
                    "key": row.key,
                }


def export_text(rows: Iterable[dict[str, Any]], form: str) -> str:
    """Write rows as CSV or JSON, numbers with all digits.

    Parameters
    ----------
    rows : iterable of dict
        From :func:`tidy_rows`.
    form : {"csv", "json"}
        JSON has null in place of NaN and infinities; in CSV a text that a spreadsheet would
        compute, such as ``=1+1``, has an apostrophe before it.

    Returns
    -------
    str
    """
    return "".join(_texts(rows, form))


def _texts(rows: Iterable[dict[str, Any]], form: str) -> Iterator[str]:
    """Yield CSV or JSON row by row."""
    if form == "json":
        before = "[\n"
        for row in rows:
            finite = row if math.isfinite(row["value"]) else {**row, "value": None}
            yield before + json.dumps(finite, ensure_ascii=False, allow_nan=False)
            before = ",\n"
        yield "[]\n" if before == "[\n" else "\n]\n"
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(value) for name, value in row.items()})
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def export_file(rows: Iterable[dict[str, Any]], path: Path, form: str) -> int:
    """Write rows to a file, replacing an existing one when the new one is complete.

    Parameters
    ----------
    rows : iterable of dict
        From :func:`tidy_rows`.
    path : Path
        Its folder is created if it does not exist.
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
    rows, n_rows = iter(rows), 0
    first = list(islice(rows, 1))  # what cannot be read leaves no folder

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal n_rows
        for row in chain(first, rows):
            n_rows += 1
            yield row

    try:
        with replacing(path) as part:
            if form == "parquet":
                _write_parquet(counted(), part)
            else:
                with part.open("w", encoding="utf-8") as file:
                    file.writelines(_texts(counted(), form))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from None
    return n_rows


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    types = {"split": pa.int64(), "value": pa.float64()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while part := list(islice(rows, _GROUP)):
            writer.write_table(pa.Table.from_pylist(part, schema=schema))
