"""Pictures that commands write."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn.exceptions import DataError

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
    options: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"ppi": 150}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        chart.save(path, **options.get(path.suffix.lower(), {}))
    except OSError as error:
        raise DataError(f"--plot {path}: {error.strerror}") from None
    typer.echo(f"Picture: {path}")
