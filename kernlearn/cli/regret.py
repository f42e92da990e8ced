"""The ``kernlearn regret`` command: the regret of OLP as a stream grows, with several buffers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn.cli import analysis
from kernlearn.cli.options import DataDir
from kernlearn.cli.terminal import make_console, make_table
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table


def show_regret(
    data: analysis.Data,
    target: analysis.Target = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Class to compare with all others.", show_default="the second of two classes"
        ),
    ] = None,
    buffer_size: Annotated[
        list[int], typer.Option(min=1, help="Number of points in the buffer. Can be repeated.")
    ] = [2, 10, 50, 200],
    buffer: Annotated[str, typer.Option(help="fifo, rs, rsx or rsx2.")] = "rsx2",
    radius: Annotated[float, typer.Option(help="Radius of the ball of weights.")] = 5.0,
    eta: Annotated[float, typer.Option(help="Scale of the steps η/√t.")] = 5.0,
    delta: Annotated[float, typer.Option(help="Probability that the bound fails.")] = 0.05,
    max_points: Annotated[int, typer.Option(min=20, help=analysis.MAX_POINTS)] = 1000,
    seed: analysis.Seed = 0,
    plot: analysis.Plot = None,
    data_dir: DataDir = None,
) -> None:
    """Run OLP on a stream of pairs, and compare it with the best fixed weights.

    The regret per round is measured on all pairs with earlier points and on those with the
    buffer, and compared with the bound of theorem 6.13 (Kar 2013). Features are scaled to mean 0
    and standard deviation 1 and all divided by the largest norm of a point; the points come in a
    random order.
    """
    from kernlearn.pairwise.regret import regret_curves

    analysis.check_picture(plot)
    analysis.check_share("--delta", delta)
    try:
        X, y, summary = _read(data, target, positive, data_dir, max_points, seed)
        frame = regret_curves(
            X, y, buffer_size, buffer=buffer, radius=radius, eta=eta, delta=delta, seed=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(summary)
    make_console().print(_table(frame))
    typer.echo(
        "Regret per round over the whole stream; the bound, theorem 6.13, holds with probability "
        f"{1 - delta:g} for RS-x and RS-x²."
    )
    if plot is not None:
        analysis.save_picture(_chart(frame, f"{data}: regret of OLP per round"), plot)


def _read(
    data: str,
    target: str | None,
    positive: str | None,
    data_dir: Path | None,
    max_points: int,
    seed: int,
) -> tuple[Any, Any, str]:
    """Return a stream of points of norm at most 1 and their classes, and a summary."""
    import numpy as np

    bunch = analysis.load_points(data, target, data_dir)
    names = [str(name) for name in bunch.target_names]
    if not names:
        raise ValueError("its target is a number; this is about classes")
    if positive is None and len(names) != 2:
        raise ValueError(f"has {len(names)} classes: say --positive, one of {', '.join(names)}")
    if positive is not None and positive not in names:
        raise ValueError(f"no class {positive!r} for --positive; there are {', '.join(names)}")
    code = 1 if positive is None else names.index(positive)
    n_total = bunch.data.shape[0]
    order = np.random.RandomState(seed).permutation(n_total)[:max_points]
    X = bunch.data[order]
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    X = analysis.select(X, slice(None), scale=True)
    X /= np.linalg.norm(X, axis=1).max() or 1.0
    points = analysis.part_of(len(order), n_total)
    summary = f"{data}: a stream of {points} points, {names[code]} against the rest"
    return X, np.asarray(bunch.target)[order] == code, summary


def _table(frame: "pd.DataFrame") -> "Table":
    table = make_table("buffer size", "all pairs", "buffer", "bound", left=0)
    whole = frame[frame["length"] == frame["length"].max()]
    for size, rows in whole.groupby("buffer_size", sort=False):
        regrets = rows.set_index("pairs")["regret"]
        all_pairs, buffer = regrets["all pairs"], regrets["buffer"]
        table.add_row(
            f"{size}", f"{all_pairs:.4f}", f"{buffer:.4f}", f"{rows['bound'].iloc[0]:.3g}"
        )
    return table


def _chart(frame: "pd.DataFrame", title: str) -> Any:
    """Draw the regret per round against the length of the stream, one panel per kind of pairs."""
    import altair as alt

    panels = [
        alt.Chart(frame[frame["pairs"] == kind])
        .mark_line(point=True)
        .encode(
            x=alt.X("length:Q", title="points of the stream", scale=alt.Scale(type="log")),
            y=alt.Y("regret:Q", title="regret per round"),
            color=alt.Color(
                "buffer_size:O", title="buffer size s", scale=alt.Scale(scheme="viridis")
            ),
        )
        .properties(width=300, height=220, title=f"by {name}")
        for kind, name in (("all pairs", "all pairs (6.1)"), ("buffer", "the buffer (6.3)"))
    ]
    return alt.hconcat(*panels).resolve_scale(y="shared").properties(title=title)
