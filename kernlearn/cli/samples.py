"""What the commands that analyse one data set share: options, loading, drawing points."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import datasets
from kernlearn.cli.outputs import check_picture
from kernlearn.exceptions import DataError

Data = Annotated[
    str, Argument(help="A name in the catalogue, a data file, or a card file (YAML).")
]
Target = Annotated[
    str | None, Option(help="For a data file: name or number of the target's column.")
]
Points = Annotated[
    str | None,
    Option(help="For a data file: the column whose texts are the points, to compare as strings."),
]
Scale = Annotated[
    bool, Option("--scale/--no-scale", help="Scale features to mean 0 and standard deviation 1.")
]
Seed = Annotated[int, Option(min=0, help="Random seed.")]

#: Help of the option ``--max-points``.
MAX_POINTS = "Subsample to at most this many points."
# Products of such numbers, and sums of many of these, are finite.
_LARGEST = 1e140


def check_options(plot: Path | None, **shares: float) -> None:
    """Refuse shares that are not between 0 and 1, and a file that is no picture."""
    for name, share in shares.items():
        if not 0 < share < 1:
            raise DataError(f"--{name} {share:g}: expected a number between 0 and 1")
    check_picture(plot)


def load_data(
    data: str, target: str | None, data_dir: Path | None, points: str | None = None
) -> Any:
    """Load a data set and say what was done; nominal columns of a user's data are one-hot.

    Features are of the type in which they are stored, until some rows are :func:`selected`.
    """
    nominal: Any = "ordinal" if datasets.is_shipped(data) else "onehot"
    bunch = datasets.load(
        data, target=target, points=points, data_dir=data_dir, nominal=nominal, dtype=None
    )
    for sentence in bunch.preparation.sentences:
        typer.echo(f"{data}: {sentence}", err=True)
    return bunch


def load_vectors(data: str, target: str | None, data_dir: Path | None) -> Any:
    """Load a data set of vectors, as a Bunch; refuse matrices of similarities, and objects."""
    from kernlearn.datasets.objects import kind_of

    bunch = load_data(data, target, data_dir)
    if "similarity" in bunch:
        raise DataError(f"{data} is a matrix of similarities; this is about points")
    if (kind := kind_of(bunch.data)) != "vectors":
        raise DataError(f"{data}: its points are {kind}; this is about vectors")
    return bunch


def selected(X: Any, rows: Any, scale: bool) -> Any:
    """Return some rows as float64; scaled means mean 0 (of dense data) and standard deviation 1.

    Points that are no vectors are not scaled. Numbers whose squares overflow raise a ValueError.
    """
    from sklearn.preprocessing import StandardScaler

    from kernlearn.datasets.objects import kind_of

    X = X[rows]
    vectors = kind_of(X) == "vectors"
    if vectors:
        X = X.astype("float64", copy=False)
        largest = max(abs(X.max()), abs(X.min())) if X.size else 0
        if largest > _LARGEST:
            raise ValueError(f"features as large as {largest:.3g} overflow: divide them")
    scale = scale and vectors
    return StandardScaler(with_mean=not hasattr(X, "toarray")).fit_transform(X) if scale else X


def refuse_kind(data: str, bunch: Any, similarity: str) -> None:
    """Refuse a similarity of vectors where the points are strings or other objects."""
    from kernlearn.datasets.objects import kind_of
    from kernlearn.kernels.registry import kernel_of_name

    kind = kind_of(bunch.data)
    known = kernel_of_name(similarity)
    of_vectors = known is not None and known.points in ("vectors", "records")
    if kind != "vectors" and (of_vectors or similarity == "precomputed"):
        raise DataError(
            f"--similarity {similarity}: the points of {data} are {kind}: name a similarity of "
            f"{kind}, which `kernlearn list` has"
        )


def part_of(rows: Any, bunch: Any) -> str:
    """Return "60 of 178", or "178" for all of them."""
    total = bunch.data.shape[0]
    return f"{len(rows)} of {total}" if len(rows) < total else f"{total}"
