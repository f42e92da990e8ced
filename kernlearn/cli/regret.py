"""The ``kernlearn regret`` command: the regret of OLP as a stream grows, with several buffers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn.cli.pictures import check_picture, save_picture
from kernlearn.cli.terminal import make_console

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from rich.table import Table


_N_HORIZONS = 8


def show_regret(
    data: Annotated[
        str, typer.Argument(help="A name in the catalogue, a data file, or a card file (YAML).")
    ],
    target: Annotated[
        str | None, typer.Option(help="For a file: the column of classes, a name or a number.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Class against the rest.", show_default="the second of two"),
    ] = None,
    buffer_size: Annotated[
        list[int], typer.Option(min=1, help="Points kept; may be repeated.")
    ] = [2, 10, 50, 200],
    buffer: Annotated[str, typer.Option(help="fifo, rs, rsx or rsx2.")] = "rsx2",
    radius: Annotated[float, typer.Option(help="Radius of the ball of weights.")] = 5.0,
    eta: Annotated[float, typer.Option(help="Scale of the steps η/√t.")] = 5.0,
    delta: Annotated[float, typer.Option(help="Probability that the bound fails.")] = 0.05,
    max_points: Annotated[int, typer.Option(min=20, help="Of more points, a random part.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the order, the part and buffers.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Picture to write: .html, .svg or .png.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
    ] = None,
) -> None:
    """Let OLP go along a stream of pairs, and hold it against the best fixed weights.

    The regret a round is shown by all pairs with earlier points and by those with the buffer,
    beside the bound of theorem 6.13 (Kar 2013). Features are scaled to mean 0 and deviation 1 and
    all divided by the largest length; the points come in a random order.
    """
    from kernlearn.exceptions import DataError

    check_picture(plot)
    if not 0 < delta < 1:
        raise DataError(f"--delta {delta:g}: expected a number between 0 and 1")
    try:
        X, y, told = _read(data, target, positive, data_dir, max_points, seed)
        frame = _measure(X, y, buffer_size, buffer, radius, eta, delta, seed)
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    console = make_console()
    console.print(told, markup=False, highlight=False, soft_wrap=True)
    console.print(_table(frame))
    note = (
        "Regret a round over the whole stream; the bound, theorem 6.13, holds with probability "
        f"{1 - delta:g} for RS-x and RS-x²."
    )
    console.print(note, markup=False, highlight=False, soft_wrap=True)
    if plot is not None:
        save_picture(_draw(frame, f"{data}: regret of OLP a round"), plot)
        console.print(f"Picture: {plot}", markup=False, highlight=False, soft_wrap=True)


def _read(
    data: str,
    target: str | None,
    positive: str | None,
    data_dir: Path | None,
    max_points: int,
    seed: int,
) -> "tuple[NDArray[Any], NDArray[Any], str]":
    """Load a stream of points of two classes."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from kernlearn.datasets import load

    bunch = load(data, target=target, data_dir=data_dir)
    if "similarity" in bunch:
        raise ValueError("is a matrix of similarities; this is about points")
    names = [str(name) for name in bunch.target_names]
    if not names:
        raise ValueError("its target is a number; this is about classes")
    if positive is None and len(names) != 2:
        raise ValueError(f"has {len(names)} classes: say --positive, one of {', '.join(names)}")
    if positive is not None and positive not in names:
        raise ValueError(f"no class {positive!r} for --positive; there are {', '.join(names)}")
    code = 1 if positive is None else names.index(positive)
    order = np.random.RandomState(seed).permutation(bunch.data.shape[0])[:max_points]
    X, y = bunch.data[order], np.asarray(bunch.target)[order] == code
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    X = StandardScaler().fit_transform(X)
    X /= np.linalg.norm(X, axis=1).max() or 1.0
    part = f" of {bunch.data.shape[0]}" if len(order) < bunch.data.shape[0] else ""
    return X, y, f"{data}: a stream of {len(order)}{part} points, {names[code]} against the rest"


def _measure(
    X: "NDArray[Any]",
    y: "NDArray[Any]",
    sizes: list[int],
    buffer: str,
    radius: float,
    eta: float,
    delta: float,
    seed: int,
) -> "pd.DataFrame":
    """Return the regret a round, by buffer size, length of the stream and kind of pairs."""
    import numpy as np
    import pandas as pd

    from kernlearn.pairwise import OLP, follow, stream_regret
    from kernlearn.theory.pairwise_bounds import olp_regret_bound
    from kernlearn.theory.rademacher import LinearAUC

    n = len(y)
    horizons = np.unique(np.geomspace(10, n, _N_HORIZONS).astype(int))
    # all points have length 1 at most, so that their differences have length 2
    ball = LinearAUC(q=2, radius=radius).fit(X)
    rows = []
    for size in dict.fromkeys(sizes):
        model = OLP(size, buffer=buffer, eta=eta, radius=radius, random_state=seed)
        seen = follow(model, X, y)
        found = stream_regret(
            X, y, seen.hypotheses, seen.contents, radius=radius, horizons=horizons.tolist()
        )
        for kind, curve in (("all pairs", found.all_pairs), ("buffer", found.buffer)):
            assert curve is not None
            for length, regret in zip(horizons, curve.per_round, strict=True):
                bound = olp_regret_bound(
                    int(length), size, lipschitz=2.0, diameter=2 * radius, eta=eta,
                    complexity=ball.bound, loss_bound=1 + 2 * radius, delta=delta,
                )  # fmt: skip
                rows.append((size, kind, int(length), regret, bound / (length - 1)))
    return pd.DataFrame(rows, columns=["buffer_size", "pairs", "length", "regret", "bound"])


def _table(frame: "pd.DataFrame") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for head in ("buffer size", "all pairs", "buffer", "bound"):
        table.add_column(head, justify="right")
    whole = frame[frame["length"] == frame["length"].max()]
    for size, rows in whole.groupby("buffer_size", sort=False):
        regrets = rows.set_index("pairs")["regret"]
        bound = rows["bound"].iloc[0]
        table.add_row(
            f"{size}", f"{regrets['all pairs']:.4f}", f"{regrets['buffer']:.4f}", f"{bound:.3g}"
        )
    return table


def _draw(frame: "pd.DataFrame", title: str) -> Any:
    """Draw the regret a round against the length of the stream, a panel a kind of pairs."""
    import altair as alt

    panels = [
        alt.Chart(frame[frame["pairs"] == kind])
        .mark_line(point=True)
        .encode(
            x=alt.X("length:Q", title="points of the stream", scale=alt.Scale(type="log")),
            y=alt.Y("regret:Q", title="regret a round"),
            color=alt.Color(
                "buffer_size:O", title="buffer size s", scale=alt.Scale(scheme="viridis")
            ),
        )
        .properties(width=300, height=220, title=f"by {name}")
        for kind, name in (("all pairs", "all pairs (6.1)"), ("buffer", "the buffer (6.3)"))
    ]
    return alt.hconcat(*panels).resolve_scale(y="shared").properties(title=title)
