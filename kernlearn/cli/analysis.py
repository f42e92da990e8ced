"""The commands ``goodness``, ``rademacher`` and ``regret``, which analyse one data set."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import datasets, kernels, landmarks, theory
from kernlearn.cli.options import DataDir, make_console, make_table
from kernlearn.cli.pictures import Plot, check_picture, save_picture
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

_MAX_POINTS = "Subsample to at most this many points."


def goodness(
    data: Data,
    similarity: Annotated[
        str | None, Option(help="Name of a kernel, or 'precomputed'.", show_default="gaussian")
    ] = None,
    kind: Annotated[
        str | None, Option(help="similarity or distance.", show_default="as the data's card says")
    ] = None,
    target: Target = None,
    points: Points = None,
    transfer: Annotated[
        list[str],
        Option(
            help="Transfer function: slope of a ramp, identity, sign or sigmoid. Can be repeated."
        ),
    ] = ["1", "5", "10", "50", "100", "1000"],
    epsilon: Annotated[
        float, Option(help="Share of points that may miss the margin γ; error that landmarks add.")
    ] = 0.1,
    delta: Annotated[
        float, Option(help="Probability that a random choice of landmarks fails.")
    ] = 0.05,
    scale: Scale = True,
    max_points: Annotated[int, Option(min=4, help=_MAX_POINTS)] = 2000,
    seed: Seed = 0,
    plot: Plot = None,
    data_dir: DataDir = None,
) -> None:
    """Assess how well a similarity suits a task.

    The margins of points are shown, and how many landmarks they need. A point's margin is how much
    more similar it is to its class than to the others, by the criteria of Balcan & Blum, of Wang
    et al. and of a family of transfer functions, all with equal weights. With several classes,
    each is compared with the rest.

    \b
    Examples:
      kernlearn goodness letter --similarity gaussian
      kernlearn goodness mine.csv --target label --plot margins.html
      kernlearn goodness names.csv --points name --similarity rapidfuzz.jaro_winkler
    """  # noqa: D301
    import numpy as np

    from kernlearn.datasets.objects import are_objects
    from kernlearn.theory.criteria import stratified_sample

    _check(plot, epsilon=epsilon, delta=delta)
    criteria = {"Balcan & Blum": None, "Wang et al.": "sign", **dict(map(_criterion, transfer))}
    try:
        bunch = _load(data, target, data_dir, points)
        name, kind = _compared(data, bunch, similarity, kind)
        rows = stratified_sample(bunch.target, max_points, np.random.RandomState(seed))
        matrix = name == "precomputed"
        scale = scale and not are_objects(bunch.data)
        X = bunch.data[rows][:, rows] if matrix else _selected(bunch.data, rows, scale)
        y = bunch.target[rows]
        assessed = theory.goodness.assess_similarity(
            X, y, criteria, similarity=name, kind=kind, random_state=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(
        f"{data}: {_part(rows, bunch)} points in {len(set(y))} classes; {name} {kind}, divided by "
        f"{assessed.scale:.4g}, the greatest"
    )
    several = len(next(iter(assessed.criteria.values())).margins) > 1
    heads = [f"γ at ε = {epsilon:g}", "wrong side", "mean margin", "landmark pairs"]
    table = make_table("criterion", *heads, *(["wrong class"] if several else []))
    for row in assessed.table(epsilon, delta).itertuples():
        cells = [f"{row.gamma:.4f}", _percent(row.misplaced), f"{row.mean_margin:.4f}"]
        pairs = "-" if row.landmark_pairs is None else str(row.landmark_pairs)
        table.add_row(str(row.Index), *cells, pairs, *([_percent(row.error)] if several else []))
    make_console().print(table)
    place = "in the wrong class" if several else "on the wrong side"
    typer.echo(
        f"Landmark pairs: enough for an error of {2 * epsilon:g} with probability {1 - delta:g} "
        "(theorem 4.2), where γ is above 0.\n"
        f"{'Suits' if assessed.suits else 'Not shown to suit'} the task: with {assessed.best} "
        f"and equal weights {_percent(assessed.criteria[assessed.best].error)} of the points "
        f"are {place}, {_percent(assessed.baseline)} with the largest class for all; a "
        "similarity suits if it is better by two standard errors."
    )
    if plot is not None:
        chart = _margins(assessed.criteria, epsilon, f"{data}: points below a margin")
        save_picture(chart, plot)


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
    max_points: Annotated[int, Option(min=2, help=_MAX_POINTS)] = 2000,
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Compare the bounds of tables 6.1 to 6.3 with the complexities that they bound.

    The Rademacher complexity of a class of functions of two points measures how well it fits
    random signs. Points are drawn from the data, and each class has radius 1.

    \b
    Examples:
      kernlearn rademacher iris --pairs 50
    """  # noqa: D301
    import numpy as np

    bunch = _load_points(data, target, data_dir)
    part = np.arange(bunch.data.shape[0])
    if len(part) > max_points:
        part = np.sort(np.random.RandomState(seed).permutation(len(part))[:max_points])
    X = _selected(bunch.data, part, scale)
    try:
        rows = theory.rademacher.rademacher_table(
            X, bunch.target[part], kernel or None, n=pairs, n_trials=trials, random_state=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(
        f"{data}: {_part(part, bunch)} points with {X.shape[1]} features; {pairs} pairs, "
        f"{trials} trials"
    )
    heads = ("printed", "bound", "estimate", "standard error", "share of bound")
    table = make_table("table", "problem", "class", *heads, left=3)
    for row in rows:
        values = (row.printed, row.bound, row.estimate, row.standard_error)
        share = f"{100 * row.estimate / row.bound:.0f} %" if row.bound else "-"
        cells = [f"{value:.4g}" for value in values]
        table.add_row(row.table, row.problem, row.hypothesis_class, *cells, share)
    make_console().print(table)
    over = [f"{row.problem} {row.hypothesis_class}" for row in rows if not row.holds]
    wrong = [f"{row.problem} {row.hypothesis_class}" for row in rows if row.printed != row.bound]
    text = f"Over the bound: {', '.join(over)}." if over else "Each estimate is under its bound."
    if wrong:
        text += f" Printed bounds that do not hold here are replaced: {', '.join(wrong)}."
    typer.echo(text)


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
    max_points: Annotated[int, Option(min=20, help=_MAX_POINTS)] = 1000,
    seed: Seed = 0,
    plot: Plot = None,
    data_dir: DataDir = None,
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

    from kernlearn.pairwise.regret import regret_curves

    _check(plot, delta=delta)
    try:
        bunch = _load_points(data, target, data_dir)
        name, code = _positive_class([str(n) for n in bunch.target_names], positive)
        order = np.random.RandomState(seed).permutation(bunch.data.shape[0])[:max_points]
        X = bunch.data[order]
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
        X = _selected(X, slice(None), scale=True)
        X /= np.linalg.norm(X, axis=1).max() or 1.0
        frame = regret_curves(
            X, np.asarray(bunch.target)[order] == code, buffer_size,
            buffer=buffer, radius=radius, eta=eta, delta=delta, seed=seed,
        )  # fmt: skip
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(f"{data}: a stream of {_part(order, bunch)} points, {name} against the rest")
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


def _check(plot: Path | None, **shares: float) -> None:
    """Refuse shares that are not between 0 and 1, and a file that is no picture."""
    for name, share in shares.items():
        if not 0 < share < 1:
            raise DataError(f"--{name} {share:g}: expected a number between 0 and 1")
    check_picture(plot)


def _load(data: str, target: str | None, data_dir: Path | None, points: str | None = None) -> Any:
    """Load a data set and say what was done; nominal columns of a user's data are one-hot."""
    nominal: Any = "ordinal" if datasets.is_shipped(data) else "onehot"
    bunch = datasets.load(data, target=target, points=points, data_dir=data_dir, nominal=nominal)
    for sentence in bunch.preparation.sentences:
        typer.echo(f"{data}: {sentence}", err=True)
    return bunch


def _load_points(data: str, target: str | None, data_dir: Path | None) -> Any:
    """Load a data set of points, as a Bunch; refuse a matrix of similarities."""
    bunch = _load(data, target, data_dir)
    if "similarity" in bunch:
        raise DataError(f"{data} is a matrix of similarities; this is about points")
    return bunch


def _selected(X: Any, rows: Any, scale: bool) -> Any:
    """Return some rows; scaled means mean 0 (of dense data) and standard deviation 1."""
    from sklearn.preprocessing import StandardScaler

    X = X[rows]
    return StandardScaler(with_mean=not hasattr(X, "toarray")).fit_transform(X) if scale else X


def _part(rows: Any, bunch: Any) -> str:
    """Return "60 of 178", or "178" for all of them."""
    total = bunch.data.shape[0]
    return f"{len(rows)} of {total}" if len(rows) < total else f"{total}"


def _percent(share: Any) -> str:
    return f"{100 * share:.1f} %"


def _criterion(spec: str) -> tuple[str, Any]:
    """Return the name of a transfer function, and the function."""
    try:
        try:
            transfer = landmarks.as_transfer(float(spec))
        except ValueError:
            transfer = landmarks.as_transfer(spec)
    except ValueError:
        raise DataError(
            f"--transfer {spec}: expected a slope above 0, identity, sign, ramp or sigmoid"
        ) from None
    if isinstance(transfer, landmarks.Ramp):
        return f"ramp {transfer.slope:g}", transfer
    return transfer.name, transfer


def _compared(data: str, bunch: Any, similarity: str | None, kind: str | None) -> tuple[str, str]:
    """Return the similarity to assess, and whether it is one or a distance."""
    from kernlearn.datasets.objects import kind_of

    if not len(bunch.target_names):
        raise DataError(f"{data}: its target is a number; goodness is about classes")
    if "similarity" in bunch and similarity not in (None, "precomputed"):
        raise DataError(f"{data} is a matrix of similarities: leave out --similarity")
    kind = kind or bunch.get("similarity", "similarity")
    if kind not in ("similarity", "distance"):
        raise DataError(f"--kind {kind}: expected similarity or distance")
    name = "precomputed" if "similarity" in bunch else similarity or "gaussian"
    shape = bunch.data.shape
    if (points := kind_of(bunch.data)) != "vectors":
        known = name in kernels.registry.KERNELS or kernels.libraries.library_similarity(name)
        compared = kernels.registry.compared_points(name) if known else ""
        if name == "precomputed" or compared in ("vectors", "records"):
            raise DataError(
                f"{data}: the points are {points}: give --similarity a name of one of {points}, "
                "which `kernlearn list` has"
            )
        return name, kind
    if name == "precomputed" and shape[0] != shape[1]:
        raise DataError(f"{data}: 'precomputed' needs a square matrix, this is {shape}")
    if name != "precomputed":
        try:
            kernels.as_kernel(name, "similarity")
        except (ValueError, ImportError) as error:
            raise DataError(f"--similarity {name}: {error}") from None
    return name, kind


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


def _margins(criteria: dict[str, Any], epsilon: float, title: str) -> Any:
    """Draw the share of points below a margin against the margin, one line per criterion."""
    import altair as alt
    import numpy as np
    import pandas as pd

    shares = np.linspace(0, 1, 200, endpoint=False)
    curves = pd.concat(
        pd.DataFrame({"criterion": name, "gamma": good.gamma(shares), "epsilon": shares})
        for name, good in criteria.items()
    )
    # The older two criteria nearly coincide with ramps: thin lines over wide and pale ones, which
    # go from light to dark. All colours can be distinguished by colour-blind people.
    older = ["#D55E00", "#000000"]
    ramps = ["#b8de29", "#73d055", "#29af7f", "#287d8e", "#404788", "#481567"]
    color = alt.Scale(domain=list(criteria), range=older + ramps)
    is_older = curves["criterion"].isin(list(criteria)[:2])
    layers = [
        alt.Chart(frame)
        .mark_line(interpolate="step-before", strokeWidth=width, opacity=opacity)
        .encode(
            x=alt.X("gamma:Q", title="margin γ"),
            y=alt.Y("epsilon:Q", title="share ε of points below", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("criterion:N", title="criterion", scale=color),
        )
        for frame, width, opacity in ((curves[~is_older], 3.5, 0.6), (curves[is_older], 1.3, 1.0))
    ]
    marks = pd.DataFrame({"gamma": [0.0], "epsilon": [epsilon]})
    rule = alt.Chart(marks).mark_rule(color="#999999", strokeWidth=1)
    chart = alt.layer(rule.encode(x="gamma:Q"), rule.encode(y="epsilon:Q"), *layers)
    return chart.properties(width=420, height=280, title=title)


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
