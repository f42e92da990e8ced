"""Tables and pictures that commands write to files."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn.datasets.escaping import csv_text
from kernlearn.exceptions import DataError, ReportError
from kernlearn.reports.replacing import refuse_pipe

_SUFFIXES = (".html", ".svg", ".png", ".json")

Plot = Annotated[
    Path | None, Option(help="Picture to write: .html, .svg, .png or .json (Vega-Lite).")
]


def check_picture(path: Path | None) -> None:
    """Refuse a file that is no picture."""
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise DataError(f"--plot {path}: expected a file name with {', '.join(_SUFFIXES)}")


def save_picture(chart: Any, path: Path) -> None:
    """Write an Altair chart in the format of the file's suffix; HTML needs no network."""
    from kernlearn.reports.xml_text import drawable

    options: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"ppi": 150}}
    try:
        refuse_pipe(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        spec = chart.to_dict()
        if (plain := drawable(spec)) != spec:  # reading it takes a second
            chart = type(chart).from_dict(plain)
        chart.save(path, **options.get(path.suffix.lower(), {}))
    except OSError as error:
        raise DataError(f"--plot {path}: {error.strerror}") from None
    typer.echo(f"Picture: {path}")


def table_text(frame: Any, form: str) -> str:
    """Return a table as CSV, or as JSON with an object for each row."""
    if form == "csv":
        return csv_text(frame, float_format="%.6g")
    return str(frame.to_json(orient="records", indent=1, force_ascii=False)) + "\n"


def write_text(path: Path, text: str, said: str) -> None:
    """Write a text file, and say on the terminal what it has.

    Raises
    ------
    ReportError
        If it cannot be written.
    """
    try:
        refuse_pipe(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{path}: cannot be written: {error.strerror or error}") from None
    typer.echo(f"{path}: {said}")
