"""The commands ``rademacher`` and ``regret``, which analyse one data set."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn import theory
from kernlearn.cli.options import DataDir, MaxMemory, make_console, make_table
from kernlearn.cli.outputs import Plot, save_picture
from kernlearn.cli.samples import (
    MAX_POINTS,
    Data,
    Scale,
    Seed,
    Target,
    check_options,
    load_vectors,
    part_of,
    selected,
)
from kernlearn.exceptions import DataError


def rademacher(
    data: Data,
    target: Target = None,
    kernel: Annotated[
        list[str] | None,
        Option(
            help="A base kernel for table 6.3. Can be repeated.",
            show_default="five Gaussian kernels",
        ),
    ] = None,
    pairs: Annotated[int, Option(min=1, help="Number n of pairs.")] = 100,
    trials: Annotated[int, Option(min=2, help="Number of draws of points and signs.")] = 200,
    scale: Scale = True,
    max_points: Annotated[int, Option(min=2, help=MAX_POINTS)] = 2000,
    seed: Seed = 0,
    data_dir: DataDir = None,
    max_memory: MaxMemory = None,
) -> None:
    """Compare the bounds of tables 6.1 to 6.3 with the complexities that they bound.

    The Rademacher complexity of a class of functions of two points measures how well it fits
    random signs. Points are drawn from the data, and each class has radius 1.

    \b
    Examples:
      kernlearn rademacher iris --pairs 50
    """  # noqa: D301
    import numpy as np

    bunch = load_vectors(data, target, data_dir)
    part = np.arange(bunch.data.shape[0])
    if len(part) > max_points:
        part = np.sort(np.random.RandomState(seed).permutation(len(part))[:max_points])
    try:
        X, y = selected(bunch.data, part, scale), bunch.target[part]
        classes = _classes(kernel or None)
        estimates = [
            theory.rademacher_complexity(h, X, y, n=pairs, n_trials=trials, random_state=seed)
            for h in classes
        ]
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(
        f"{data}: {part_of(part, bunch)} points with {X.shape[1]} features; {pairs} pairs, "
        f"{trials} trials"
    )
    heads = ("printed", "bound", "estimate", "standard error", "share of bound")
    table = make_table("table", "problem", "class", *heads, left=3)
    over, wrong = [], []
    for h, estimate in zip(classes, estimates, strict=True):
        printed, bound = h.bound(pairs, as_printed=True), h.bound(pairs)
        values = (printed, bound, estimate.mean, estimate.standard_error)
        share = f"{100 * estimate.mean / bound:.0f} %" if bound else "-"
        table.add_row(h.table, h.problem, h.name, *(f"{value:.4g}" for value in values), share)
        if estimate.mean > bound:
            over.append(f"{h.problem} {h.name}")
        if printed != bound:
            wrong.append(f"{h.problem} {h.name}")
    make_console().print(table)
    text = f"Over the bound: {', '.join(over)}." if over else "Each estimate is under its bound."
    if wrong:
        text += f" Printed bounds that do not hold here are replaced: {', '.join(wrong)}."
    typer.echo(text)


def _classes(kernels: list[str] | None) -> list[Any]:
    """Return the classes of tables 6.1 to 6.3, all of radius 1."""
    norms = ("2,2", "2,1", "1,1", "S(1)")
    return [
        *(theory.LinearAUC(q) for q in (1, 4 / 3, 2)),
        theory.KernelAUC("gaussian"),
        *(theory.BilinearSimilarity(norm) for norm in norms),
        *(theory.MahalanobisMetric(norm) for norm in norms),
        *(theory.KernelCombination(kernels, constraint) for constraint in ("simplex", "sphere")),
    ]


def regret(
    data: Data,
    target: Target = None,
    positive: Annotated[
        str | None,
        Option(help="Class to compare with all others.", show_default="the second of two classes"),
    ] = None,
    buffer_size: Annotated[
        list[int], Option(min=1, help="Number of points in the buffer. Can be repeated.")
    ] = [2, 10, 50, 200],
    buffer: Annotated[str, Option(help="fifo, rs, rsx or rsx2.")] = "rsx2",
    radius: Annotated[float, Option(help="Radius of the ball of weights.")] = 5.0,
    eta: Annotated[float, Option(help="Scale of the steps η/√t.")] = 5.0,
    delta: Annotated[float, Option(help="Probability that the bound fails.")] = 0.05,
    max_points: Annotated[int, Option(min=20, help=MAX_POINTS)] = 1000,
    seed: Seed = 0,
    plot: Plot = None,
    data_dir: DataDir = None,
    max_memory: MaxMemory = None,
) -> None:
    """Run OLP on a stream of pairs, and compare it with the best fixed weights.

    The regret per round is measured on all pairs with earlier points and on those with the
    buffer, and compared with the bound of theorem 6.13 (Kar 2013). Features are scaled to mean 0
    and standard deviation 1 and all divided by the largest norm of a point; the points come in a
    random order.

    \b
    Examples:
      kernlearn regret diabetes --buffer-size 10 --buffer-size 50
    """  # noqa: D301
    import numpy as np

    from kernlearn.datasets.room import require_room

    check_options(plot, delta=delta)
    try:
        bunch = load_vectors(data, target, data_dir)
        name, code = _positive_class([str(n) for n in bunch.target_names], positive)
        order = np.random.RandomState(seed).permutation(bunch.data.shape[0])[:max_points]
        X = bunch.data[order]
        what = f"{X.shape[0]} dense points of {X.shape[1]} features"
        require_room(data, 24 * X.shape[0] * X.shape[1], what, advice="give fewer by --max-points")
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
        X = selected(X, slice(None), scale=True)
        X /= np.linalg.norm(X, axis=1).max() or 1.0
        frame = _regret_curves(
            X,
            np.asarray(bunch.target)[order] == code,
            buffer_size,
            buffer=buffer,
            radius=radius,
            eta=eta,
            delta=delta,
            seed=seed,
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(f"{data}: a stream of {part_of(order, bunch)} points, {name} against the rest")
    table = make_table("buffer size", "all pairs", "buffer", "bound", left=0)
    whole = frame[frame["length"] == frame["length"].max()]
    for size, rows in whole.groupby("buffer_size", sort=False):
        regrets = rows.set_index("pairs")["regret"]
        numbers = (f"{regrets[kind]:.4f}" for kind in ("all pairs", "buffer"))
        table.add_row(f"{size}", *numbers, f"{rows['bound'].iloc[0]:.3g}")
    make_console().print(table)
    typer.echo(
        "Regret per round over the whole stream; the bound, theorem 6.13, holds with probability "
        f"{1 - delta:g} for RS-x and RS-x²."
    )
    if plot is not None:
        save_picture(_regrets(frame, f"{data}: regret of OLP per round"), plot)


def _regret_curves(
    X: Any,
    y: Any,
    buffer_sizes: Sequence[int],
    *,
    buffer: str,
    radius: float,
    eta: float,
    delta: float,
    seed: int,
) -> Any:
    """Return the regret of OLP per round, and its bound, at eight lengths of a stream from 10 on.

    The points have norm 1 at most. The columns of the frame are `buffer_size`, `pairs`
    ("all pairs" or "buffer"), `length`, `regret` and `bound`.
    """
    import numpy as np
    import pandas as pd

    from kernlearn.pairwise import OLP, stream_regret
    from kernlearn.pairwise.regret import follow
    from kernlearn.theory import LinearAUC, olp_regret_bound

    horizons = np.unique(np.geomspace(10, len(y), 8).astype(int)).tolist()
    ball = LinearAUC(q=2, radius=radius).fit(X)
    rows = []
    for size in dict.fromkeys(buffer_sizes):
        learner = OLP(size, buffer=buffer, eta=eta, radius=radius, random_state=seed)
        trajectory = follow(learner, X, y)
        regret = stream_regret(
            X, y, trajectory.hypotheses, trajectory.contents, radius=radius, horizons=horizons
        )
        for kind, curve in (("all pairs", regret.all_pairs), ("buffer", regret.buffer)):
            assert curve is not None
            for length, per_round in zip(horizons, curve.per_round, strict=True):
                # points of norm 1 have differences of norm 2
                bound = olp_regret_bound(
                    length,
                    size,
                    lipschitz=2.0,
                    diameter=2 * radius,
                    eta=eta,
                    complexity=ball.bound,
                    loss_bound=1 + 2 * radius,
                    delta=delta,
                )
                rows.append((size, kind, length, per_round, bound / (length - 1)))
    return pd.DataFrame(rows, columns=["buffer_size", "pairs", "length", "regret", "bound"])


def _positive_class(names: list[str], positive: str | None) -> tuple[str, int]:
    """Return the name and the code of the class that is compared with the others."""
    if not names:
        raise ValueError("its target is a number; this is about classes")
    if positive is None and len(names) != 2:
        raise ValueError(f"has {len(names)} classes: say --positive, one of {', '.join(names)}")
    if positive is not None and positive not in names:
        raise ValueError(f"no class {positive!r} for --positive; there are {', '.join(names)}")
    code = 1 if positive is None else names.index(positive)
    return names[code], code


def _regrets(frame: Any, title: str) -> Any:
    """Draw the regret per round against the length of the stream, one panel per kind of pairs."""
    import altair as alt

    color = alt.Scale(scheme="viridis")
    panels = [
        alt.Chart(frame[frame["pairs"] == kind])
        .mark_line(point=True)
        .encode(
            x=alt.X("length:Q", title="points of the stream", scale=alt.Scale(type="log")),
            y=alt.Y("regret:Q", title="regret per round"),
            color=alt.Color("buffer_size:O", title="buffer size s", scale=color),
        )
        .properties(width=300, height=220, title=f"by {name}")
        for kind, name in (("all pairs", "all pairs (6.1)"), ("buffer", "the buffer (6.3)"))
    ]
    return alt.hconcat(*panels).resolve_scale(y="shared").properties(title=title)
