"""Measured summaries that are committed to git: written as text, and read back."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.exceptions import SummaryError
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.reports.summary import COLUMNS, KEY, summary_columns

_NUMBERS = ["mean", "std", "n_splits", "reported_mean", "reported_std"]


def summary_text(summary: pd.DataFrame, config: ExperimentConfig) -> str:
    """Return a summary as CSV, numbers with six digits."""
    return str(summary[summary_columns(config)].to_csv(index=False, float_format="%.6g"))


def parse_summary(text: str, source: str) -> pd.DataFrame:
    """Parse the CSV that :func:`summary_text` returns; ``source`` names it in messages.

    Numbers become floats, NaN where there is none; all else is text, empty where a label does not
    apply.

    Raises
    ------
    SummaryError
        If it is no such CSV, a number cannot be read, or a cell occurs twice.
    """
    frame = _table(text, source)
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise SummaryError(f"{source}: not a summary: it has no column {', '.join(missing)}")
    for name in _NUMBERS:
        numbers = pd.to_numeric(frame[name], errors="coerce").astype(float)
        wrong = numbers.isna() & (frame[name] != "")
        if wrong.any():
            value = frame.loc[wrong, name].iloc[0]
            raise SummaryError(f"{source}:{wrong.idxmax()}: {name} is not a number: {value!r}")
        frame[name] = numbers
    twice = frame.duplicated(KEY)
    if twice.any():
        raise SummaryError(f"{source}:{twice.idxmax()}: this cell occurs a second time")
    return frame[COLUMNS].reset_index(drop=True)


def _table(text: str, source: str) -> pd.DataFrame:
    """Read a CSV as text, indexed by line number; every row has to be complete."""
    reader = csv.reader(io.StringIO(text), strict=True)
    rows, lines = [], []
    try:
        heads = next(reader, [])
        for row in reader:
            if len(row) != len(heads):
                text = f"{len(row)} fields under {len(heads)} heads"
                raise SummaryError(f"{source}:{reader.line_num}: {text}")
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise SummaryError(f"{source}:{reader.line_num}: {error}") from None
    return pd.DataFrame(rows, columns=heads, index=lines, dtype=str)


def read_summary(experiment: str, folder: Path) -> pd.DataFrame:
    """Read the committed summary of an experiment from a folder such as ``results/measured``.

    Raises
    ------
    SummaryError
        If the file does not exist, cannot be read, or belongs to another experiment.
    """
    path = folder / f"{experiment}.csv"
    frame = parse_summary(_read(path), str(path))
    others = sorted(set(frame["experiment"]) - {experiment})
    if others:
        raise SummaryError(f"{path}: expected numbers of {experiment}, not of {', '.join(others)}")
    return frame


def read_details(experiment: str, folder: Path) -> dict[str, Any]:
    """Read the details of a committed summary: profile, versions, claims and so on.

    They are empty if the file does not exist; one that cannot be read raises a SummaryError.
    """
    path = folder / f"{experiment}.json"
    if not path.exists():
        return {}
    try:
        details = json.loads(_read(path))
    except ValueError as error:
        raise SummaryError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(details, dict):
        raise SummaryError(f"{path}: expected the details of a summary, a JSON object")
    return details


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if path.parent.is_dir():
            names = ", ".join(sorted(p.stem for p in path.parent.glob("*.csv"))) or "none"
            raise SummaryError(f"{path}: no such file; summaries here: {names}") from None
        raise SummaryError(f"{path.parent}: no such folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SummaryError(f"{path}: cannot be read: {reason}") from None
