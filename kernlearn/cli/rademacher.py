"""The ``kernlearn rademacher`` command: complexities of pairwise classes on a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn.cli.terminal import make_console

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.table import Table

    from kernlearn.theory.rademacher import RademacherRow


def show_rademacher(
    data: Annotated[
        str, typer.Argument(help="A name in the catalogue, a data file, or a card file (YAML).")
    ],
    target: Annotated[
        str | None,
        typer.Option(help="For a file: the target's column, which is left out, or its number."),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            help="A base kernel for table 6.3; may be repeated.",
            show_default="five gaussian ones",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="n, the number of pairs.")] = 100,
    trials: Annotated[int, typer.Option(min=2, help="Draws of points and signs.")] = 200,
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", help="Features to mean 0 and deviation 1.")
    ] = True,
    max_points: Annotated[int, typer.Option(min=2, help="Of more points, a random part.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the part and of the draws.")] = 0,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
    ] = None,
) -> None:
    """Put the bounds of tables 6.1 to 6.3 next to the complexities that they bound.

    The Rademacher complexity of a class of functions of two points says how well it fits random
    signs. Points are drawn from the data, and each class has radius 1.
    """
    from kernlearn.exceptions import DataError
    from kernlearn.theory.rademacher import rademacher_table

    X, y, told = _read(data, target, data_dir, scale, max_points, seed)
    try:
        rows = rademacher_table(X, y, kernel or None, n=pairs, n_trials=trials, random_state=seed)
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    console = make_console()
    line = f"{told}; {pairs} pairs, {trials} trials"
    console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(_table(rows))
    console.print(_verdict(rows), markup=False, highlight=False, soft_wrap=True)


def _read(
    data: str, target: str | None, data_dir: Path | None, scale: bool, max_points: int, seed: int
) -> "tuple[NDArray[Any], NDArray[Any], str]":
    """Load the points of a data set, or a random part of them."""
    import numpy as np

    from kernlearn.datasets import load
    from kernlearn.exceptions import DataError

    bunch = load(data, target=target, data_dir=data_dir)
    if "similarity" in bunch:
        raise DataError(f"{data} is a matrix of similarities; this is about points")
    X, y = bunch.data, bunch.target
    n = X.shape[0]
    if n > max_points:
        kept = np.sort(np.random.RandomState(seed).permutation(n)[:max_points])
        X, y = X[kept], y[kept]
    if scale:
        from sklearn.preprocessing import StandardScaler

        X = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit_transform(X)
    part = f" of {n}" if X.shape[0] < n else ""
    return X, y, f"{data}: {X.shape[0]}{part} points with {X.shape[1]} features"


def _table(rows: "list[RademacherRow]") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("table", "problem", "class", box=SIMPLE_HEAD)
    for head in ("printed", "bound", "estimate", "standard error", "share of bound"):
        table.add_column(head, justify="right")
    for row in rows:
        numbers = (row.printed, row.bound, row.estimate, row.standard_error)
        share = f"{100 * row.estimate / row.bound:.0f} %" if row.bound else "-"
        table.add_row(
            row.table, row.problem, row.hypothesis_class, *(f"{x:.4g}" for x in numbers), share
        )
    return table


def _verdict(rows: "list[RademacherRow]") -> str:
    over = [f"{row.problem} {row.hypothesis_class}" for row in rows if not row.holds]
    wrong = [f"{row.problem} {row.hypothesis_class}" for row in rows if row.printed != row.bound]
    said = f"Over the bound: {', '.join(over)}." if over else "Each estimate is under its bound."
    if wrong:
        said += f" Printed ones do not hold here, others stand beside them: {', '.join(wrong)}."
    return said
