"""Options, data and pictures of the commands that analyse one data set."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kernlearn import datasets
from kernlearn.exceptions import DataError

Data = Annotated[
    str, typer.Argument(help="A name in the catalogue, a data file, or a card file (YAML).")
]
Target = Annotated[
    str | None, typer.Option(help="For a data file: name or number of the target's column.")
]
Scale = Annotated[
    bool,
    typer.Option("--scale/--no-scale", help="Scale features to mean 0 and standard deviation 1."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Plot = Annotated[Path | None, typer.Option(help="Picture to write: .html, .svg or .png.")]

#: Help of ``--max-points``.
MAX_POINTS = "Subsample to at most this many points."

_SUFFIXES = (".html", ".svg", ".png")


def check_share(option: str, share: float) -> None:
    """Refuse a value of an option that is not between 0 and 1."""
    if not 0 < share < 1:
        raise DataError(f"{option} {share:g}: expected a number between 0 and 1")


def load_points(data: str, target: str | None, data_dir: Path | None) -> Any:
    """Load a data set of points, as a Bunch; refuse a matrix of similarities."""
    bunch = datasets.load(data, target=target, data_dir=data_dir)
    if "similarity" in bunch:
        raise DataError(f"{data} is a matrix of similarities; this is about points")
    return bunch


def select(X: Any, rows: Any, scale: bool) -> Any:
    """Return some rows; scaled means mean 0 (of dense data) and standard deviation 1."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    X = X[rows]
    if scale:
        X = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit_transform(X)
    return X


def part_of(n_points: int, n_total: int) -> str:
    """Return "60 of 178", or "178" for all of them."""
    return f"{n_points} of {n_total}" if n_points < n_total else f"{n_points}"


def check_picture(path: Path | None) -> None:
    """Refuse a file name without the suffix of a picture format."""
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
