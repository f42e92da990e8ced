"""Summaries that were written to files, which may come from anyone, are read back."""

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.datasets.escaping import unguarded, visible
from kernlearn.datasets.yaml import shortened
from kernlearn.exceptions import SummaryError
from kernlearn.reports.summary import COLUMNS, KEY, TIMES
from kernlearn.reports.summary_files import parse_details, parse_parameters

_COUNTS = ["n_splits", "not_converged"]
_NUMBERS = ["mean", "std", "reported_mean", "reported_std", *TIMES, *_COUNTS]
# Splits are fewer by far.
_MOST = 2**31


def parse_summary(text: str, source: str) -> pd.DataFrame:
    """Parse the CSV that ``summary_text`` returns; ``source`` names it in messages.

    Numbers become floats, NaN where there is none; all else is text, empty where a label does not
    apply.
    """
    return parse_cells(text, source)[COLUMNS]


def parse_cells(text: str, source: str) -> pd.DataFrame:
    """Parse the CSV of a summary with all of its columns.

    The columns of times are NaN where it has none; ``best``, which only some summaries have, is a
    Boolean; ``not_converged`` is 0 where nothing is said.
    """
    frame = _table(text, source)
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise SummaryError(f"{source}: not a summary: it has no column {', '.join(missing)}")
    frame = frame.assign(**{name: "" for name in [*TIMES, *_COUNTS] if name not in frame})
    for name in _NUMBERS:
        numbers = pd.to_numeric(frame[name], errors="coerce").astype(float)
        wrong = numbers.isna() & (frame[name] != "")
        kind = "a number"
        if name in _COUNTS:
            kind = "a count"
            wrong |= numbers.notna() & ~(numbers.between(0, _MOST) & (numbers % 1 == 0))
        if wrong.any():
            value = frame.loc[wrong, name].iloc[0]
            raise SummaryError(
                f"{source}:{wrong.idxmax()}: {name} is not {kind}: {shortened(value)}"
            )
        frame[name] = numbers
    for name in {*COLUMNS} - {*_NUMBERS}:
        frame[name] = [unguarded(text) for text in frame[name]]
    for line, text in frame["params"].items():
        try:
            parse_parameters(text)
        except ValueError as error:
            raise SummaryError(f"{source}:{line}: params: {visible(str(error))}") from None
    twice = frame.duplicated(KEY)
    if twice.any():
        raise SummaryError(f"{source}:{twice.idxmax()}: this cell occurs a second time")
    best = {"best": frame["best"] == "True"} if "best" in frame else {}
    frame = frame.assign(not_converged=frame["not_converged"].fillna(0).astype(int), **best)
    return frame[[*COLUMNS, *TIMES, *best, "not_converged"]].reset_index(drop=True)


def _table(text: str, source: str) -> pd.DataFrame:
    """Read a CSV as text, indexed by line number; every row has to be complete."""
    reader, rows = csv.reader(io.StringIO(text), strict=True), {}
    try:
        heads = next(reader, [])
        for row in reader:
            rows[reader.line_num] = row
            if len(row) != len(heads):
                raise csv.Error(f"{len(row)} fields under {len(heads)} heads")
    except csv.Error as error:
        raise SummaryError(f"{source}:{reader.line_num}: {error}") from None
    return pd.DataFrame([*rows.values()], [*rows], heads, dtype=object)


def read_summary(experiment: str, folder: Path) -> pd.DataFrame:
    """Read the committed summary of an experiment from a folder such as ``results/measured``."""
    return read_cells(experiment, folder)[COLUMNS]


def read_cells(experiment: str, folder: Path) -> pd.DataFrame:
    """Read a summary with all columns of :func:`parse_cells`."""
    path = folder / f"{experiment}.csv"
    frame = parse_cells(read_text(path), str(path))
    others = sorted(set(frame["experiment"]) - {experiment})
    if others:
        named = visible(", ".join(others)[:200])
        raise SummaryError(f"{path}: expected numbers of {experiment}, not of {named}")
    return frame


def read_details(experiment: str, folder: Path) -> dict[str, Any]:
    """Read the details of a committed summary: profile, versions, claims; empty without file."""
    path = folder / f"{experiment}.json"
    if not path.exists():
        return {}
    text = read_text(path)
    try:
        return parse_details(text)
    except ValueError as error:
        raise SummaryError(f"{path}: {visible(str(error))}") from None


def read_text(path: Path) -> str:
    """Read a file of a summary; a SummaryError says what is wrong with it."""
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
