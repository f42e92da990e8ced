"""Export of a store: a table as CSV, JSON or Parquet, or an open record of an experiment."""

import json
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.spec import LABELS, canonical
from kernlearn.datasets.escaping import csv_text
from kernlearn.engine.plan import chosen_by_mean
from kernlearn.exceptions import ReportError, StoreError
from kernlearn.lazy import needed_by
from kernlearn.reports.report import Report, write_summary
from kernlearn.reports.summary import parameters_of
from kernlearn.store import Store

#: Columns of an export: those of a summary, with split and value for its means.
COLUMNS = ["experiment", *LABELS, "params", "metric", "split", "value", "key"]
FORMATS = ("csv", "json", "parquet")


def stored_splits(store: Store, experiments: Sequence[str] = ()) -> pd.DataFrame:
    """Return every number of a store, a row per finished trial and metric.

    A trial that measured a grid of settings has the numbers of the one that is chosen over all
    splits, as in reports.

    Parameters
    ----------
    store : Store
    experiments : sequence of str
        Names of experiments; empty for all.

    Returns
    -------
    pandas.DataFrame
        With the columns :data:`COLUMNS`, and ``settings`` and ``points``, which are equal for
        trials with the same settings, and on the same points.

    Raises
    ------
    StoreError
        If the store has no trials of a named experiment.
    """
    rows, stored = [], chosen_by_mean({row.key: row for row in store.rows()})
    there = {row.experiment for row in stored.values()}
    for row in stored.values():
        if not row.done or (experiments and row.experiment not in experiments):
            continue
        labels = [row.experiment, *map(row.labels.get, LABELS), parameters_of(row.labels)]
        marks = [
            _digest({**row.spec, "split": 0}),
            _digest([row.spec[part] for part in ("task", "dataset", "protocol")]),
        ]
        for metric, value in row.metrics.items():
            rows.append([*labels, metric, row.split, value, row.key, *marks])
    if unknown := [name for name in experiments if name not in there]:
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: "
            f"{', '.join(sorted(there)) or 'none'}"
        )
    return pd.DataFrame(rows, columns=[*COLUMNS, "settings", "points"])


def _digest(value: Any) -> str:
    return sha256(canonical(value).encode()).hexdigest()


def export_text(splits: pd.DataFrame, form: str) -> str:
    """Return numbers as CSV or JSON, with all digits.

    JSON has null in place of NaN and infinities; in CSV a text that a spreadsheet would compute,
    such as ``=1+1``, has an apostrophe before it.
    """
    splits = splits[COLUMNS]
    if form == "csv":
        return csv_text(splits)
    finite = splits.astype(object).where(splits.notna(), None).replace([np.inf, -np.inf], None)
    rows = (json.dumps(row, ensure_ascii=False) for row in finite.to_dict("records"))
    return "[\n" + ",\n".join(rows) + "\n]\n"


def export_file(splits: pd.DataFrame, path: Path, form: str) -> int:
    """Write numbers to a file, whose folder is created; return how many there are.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if form == "parquet":
            splits[COLUMNS].to_parquet(path, index=False)
        else:
            path.write_text(export_text(splits, form), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from None
    return len(splits)


def write_crate(report: Report, output: Path, license: str = "", author: str = "") -> int:
    """Write an experiment as an open record, an RO-Crate; return its number of files.

    Parameters
    ----------
    report : Report
    output : Path
        A folder, which must be new or empty, or a file that ends in ``.zip``.
    license, author : str
        Address or name of the licence, and name of who ran the experiment; empty if not known.

    Raises
    ------
    ReportError
        If it cannot be written.
    MissingExtraError
        If rocrate is not installed.
    """
    with needed_by("an RO-Crate"):
        from rocrate.model import Person, SoftwareApplication
        from rocrate.rocrate import ROCrate
    is_zip, experiment = output.suffix.lower() == ".zip", report.experiment
    if not is_zip and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ReportError(f"{output}: name a new folder, or a file that ends in .zip")
    crate = ROCrate()
    crate.name, crate.description = experiment.name, experiment.config.title
    crate.license = license or "No licence is stated."
    if report.details["measured"]:
        crate.root_dataset["datePublished"] = report.details["measured"][1]
    if author:
        crate.creator = crate.add(Person(crate, f"#{author}", properties={"name": author}))
    try:
        with TemporaryDirectory() as folder:
            files = [write_summary(report, Path(folder))]
            files.append(files[0].with_suffix(".json"))
            if not report.splits.empty:
                files.append(Path(folder) / "splits.csv")
                files[-1].write_text(csv_text(report.splits), encoding="utf-8")
            results = [crate.add_file(path, path.name) for path in files]
            config = crate.add_file(experiment.path, "config.yaml")
            used = [config]
            if experiment.config.reported_path is not None:
                used.append(crate.add_file(experiment.config.reported_path, "reported.csv"))
            tool = SoftwareApplication(crate, "#kernlearn", properties={"name": "kernlearn"})
            tool["softwareRequirements"] = canonical(report.details["written_by"])
            crate.add_action(
                crate.add(tool),
                identifier="#run",
                object=used,
                result=results,
                properties={"name": f"kernlearn run {experiment.name}, profile {report.run_as}"},
            )
            if is_zip:
                output.parent.mkdir(parents=True, exist_ok=True)
                crate.write_zip(output)
            else:
                crate.write(output)
    except (OSError, zipfile.BadZipFile) as error:
        raise ReportError(f"{output}: cannot be written: {error}") from None
    return len(results) + len(used)
