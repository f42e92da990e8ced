"""Pictures that a command is asked for."""

from pathlib import Path
from typing import Any

_SUFFIXES = (".html", ".svg", ".png")


def check_picture(path: Path | None) -> None:
    """Refuse a file name that says no form of picture.

    Parameters
    ----------
    path : Path or None
        What ``--plot`` was given.

    Raises
    ------
    DataError
        If its suffix is none of those that are written.
    """
    from kernlearn.exceptions import DataError

    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise DataError(f"--plot {path}: expected a file name with {', '.join(_SUFFIXES)}")


def save_picture(chart: Any, path: Path) -> None:
    """Write a chart as its file's suffix says; HTML needs no network.

    Parameters
    ----------
    chart : altair.TopLevelMixin
    path : Path

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    from kernlearn.exceptions import DataError

    form: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"ppi": 150}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        chart.save(path, **form.get(path.suffix.lower(), {}))
    except OSError as error:
        raise DataError(f"--plot {path}: {error.strerror}") from None
