"""The ``kernlearn rademacher`` command: complexities of pairwise classes on a data set."""

from typing import TYPE_CHECKING, Annotated

import typer

from kernlearn.cli import analysis
from kernlearn.cli.options import DataDir
from kernlearn.cli.terminal import make_console, make_table
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from rich.table import Table

    from kernlearn.theory.rademacher import RademacherRow


def show_rademacher(
    data: analysis.Data,
    target: analysis.Target = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            help="A base kernel for table 6.3. Can be repeated.",
            show_default="five Gaussian kernels",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Number n of pairs.")] = 100,
    trials: Annotated[int, typer.Option(min=2, help="Number of draws of points and signs.")] = 200,
    scale: analysis.Scale = True,
    max_points: Annotated[int, typer.Option(min=2, help=analysis.MAX_POINTS)] = 2000,
    seed: analysis.Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Compare the bounds of tables 6.1 to 6.3 with the complexities that they bound.

    The Rademacher complexity of a class of functions of two points measures how well it fits
    random signs. Points are drawn from the data, and each class has radius 1.
    """
    import numpy as np

    from kernlearn.theory.rademacher import rademacher_table

    bunch = analysis.load_points(data, target, data_dir)
    n_total = bunch.data.shape[0]
    part = np.arange(n_total)
    if n_total > max_points:
        part = np.sort(np.random.RandomState(seed).permutation(n_total)[:max_points])
    X = analysis.select(bunch.data, part, scale)
    try:
        rows = rademacher_table(
            X, bunch.target[part], kernel or None, n=pairs, n_trials=trials, random_state=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    points = analysis.part_of(len(part), n_total)
    typer.echo(
        f"{data}: {points} points with {X.shape[1]} features; {pairs} pairs, {trials} trials"
    )
    make_console().print(_table(rows))
    typer.echo(_verdict(rows))


def _table(rows: "list[RademacherRow]") -> "Table":
    numbers = ("printed", "bound", "estimate", "standard error", "share of bound")
    table = make_table("table", "problem", "class", *numbers, left=3)
    for row in rows:
        values = (row.printed, row.bound, row.estimate, row.standard_error)
        share = f"{100 * row.estimate / row.bound:.0f} %" if row.bound else "-"
        cells = [f"{value:.4g}" for value in values]
        table.add_row(row.table, row.problem, row.hypothesis_class, *cells, share)
    return table


def _verdict(rows: "list[RademacherRow]") -> str:
    over = [f"{row.problem} {row.hypothesis_class}" for row in rows if not row.holds]
    wrong = [f"{row.problem} {row.hypothesis_class}" for row in rows if row.printed != row.bound]
    text = f"Over the bound: {', '.join(over)}." if over else "Each estimate is under its bound."
    if wrong:
        text += f" Printed bounds that do not hold here are replaced: {', '.join(wrong)}."
    return text
