"""The ``kernlearn goodness`` command: how well a similarity suits a task."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn import datasets
from kernlearn.cli import analysis
from kernlearn.cli.options import DataDir
from kernlearn.cli.terminal import make_console, make_table
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from rich.table import Table

    from kernlearn.theory.goodness import Goodness, SimilarityAssessment


def show_goodness(
    data: analysis.Data,
    similarity: Annotated[
        str | None,
        typer.Option(help="Name of a kernel, or 'precomputed'.", show_default="gaussian"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="similarity or distance.", show_default="as the data's card says"),
    ] = None,
    target: analysis.Target = None,
    transfer: Annotated[
        list[str],
        typer.Option(
            help="Transfer function: slope of a ramp, identity, sign or sigmoid. Can be repeated."
        ),
    ] = ["1", "5", "10", "50", "100", "1000"],
    epsilon: Annotated[
        float,
        typer.Option(help="Share of points that may miss the margin γ; error that landmarks add."),
    ] = 0.1,
    delta: Annotated[
        float, typer.Option(help="Probability that a random choice of landmarks fails.")
    ] = 0.05,
    scale: analysis.Scale = True,
    max_points: Annotated[int, typer.Option(min=4, help=analysis.MAX_POINTS)] = 2000,
    seed: analysis.Seed = 0,
    plot: analysis.Plot = None,
    data_dir: DataDir = None,
) -> None:
    """Assess how well a similarity suits a task.

    The margins of points are shown, and how many landmarks they need. A point's margin is how much
    more similar it is to its class than to the others, by the criteria of Balcan & Blum, of Wang
    et al. and of a family of transfer functions, all with equal weights. With several classes,
    each is compared with the rest.
    """
    from kernlearn.theory.goodness import assess_similarity

    analysis.check_share("--epsilon", epsilon)
    analysis.check_share("--delta", delta)
    analysis.check_picture(plot)
    criteria = {"Balcan & Blum": None, "Wang et al.": "sign", **dict(map(_criterion, transfer))}
    try:
        X, y, name, kind, n_total = _read(
            data, target, data_dir, similarity, kind, scale, max_points, seed
        )
        assessment = assess_similarity(
            X, y, criteria, similarity=name, kind=kind, random_state=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    points = analysis.part_of(len(y), n_total)
    typer.echo(
        f"{data}: {points} points in {len(set(y))} classes; {name} {kind}, divided by "
        f"{assessment.scale:.4g}, the greatest"
    )
    make_console().print(_table(assessment, epsilon, delta))
    typer.echo(
        f"Landmark pairs: enough for an error of {2 * epsilon:g} with probability {1 - delta:g} "
        "(theorem 4.2), where γ is above 0."
    )
    typer.echo(_verdict(assessment))
    if plot is not None:
        chart = _chart(assessment.criteria, epsilon, f"{data}: points below a margin")
        analysis.save_picture(chart, plot)


def _criterion(spec: str) -> tuple[str, Any]:
    """Return the name of a transfer function, and the function."""
    from kernlearn.landmarks.transfer import Ramp, as_transfer

    try:
        try:
            transfer = as_transfer(float(spec))
        except ValueError:
            transfer = as_transfer(spec)
    except ValueError:
        raise DataError(
            f"--transfer {spec}: expected a slope above 0, identity, sign, ramp or sigmoid"
        ) from None
    name = f"ramp {transfer.slope:g}" if isinstance(transfer, Ramp) else transfer.name
    return name, transfer


def _read(
    data: str,
    target: str | None,
    data_dir: Path | None,
    similarity: str | None,
    kind: str | None,
    scale: bool,
    max_points: int,
    seed: int,
) -> tuple[Any, Any, str, str, int]:
    """Return a sample of points or a matrix, its classes, the similarity, and the total number."""
    import numpy as np

    from kernlearn.kernels import as_kernel
    from kernlearn.theory.comparisons import stratified_sample

    bunch = datasets.load(data, target=target, data_dir=data_dir)
    if not len(bunch.target_names):
        raise DataError(f"{data}: its target is a number; goodness is about classes")
    X, codes = bunch.data, bunch.target
    if "similarity" in bunch and similarity not in (None, "precomputed"):
        raise DataError(f"{data} is a matrix of similarities: leave out --similarity")
    kind = kind or bunch.get("similarity", "similarity")
    if kind not in ("similarity", "distance"):
        raise DataError(f"--kind {kind}: expected similarity or distance")
    name = "precomputed" if "similarity" in bunch else similarity or "gaussian"
    rows = stratified_sample(codes, max_points, np.random.RandomState(seed))
    if name == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise DataError(f"{data}: 'precomputed' needs a square matrix, this is {X.shape}")
        return X[rows][:, rows], codes[rows], name, kind, len(codes)
    try:
        as_kernel(name, "similarity")
    except ValueError as error:
        raise DataError(f"--similarity {name}: {error}") from None
    return analysis.select(X, rows, scale), codes[rows], name, kind, len(codes)


def _table(assessment: "SimilarityAssessment", epsilon: float, delta: float) -> "Table":
    rows = assessment.table(epsilon, delta)
    several = _several_classes(assessment)
    heads = [f"γ at ε = {epsilon:g}", "wrong side", "mean margin", "landmark pairs"]
    table = make_table("criterion", *heads, *(["wrong class"] if several else []))
    for row in rows.itertuples():
        cells = [f"{row.gamma:.4f}", _percent(row.misplaced), f"{row.mean_margin:.4f}"]
        pairs = "-" if row.landmark_pairs is None else str(row.landmark_pairs)
        error = [_percent(row.error)] if several else []
        table.add_row(str(row.Index), *cells, pairs, *error)
    return table


def _verdict(assessment: "SimilarityAssessment") -> str:
    best = assessment.best
    error = assessment.criteria[best].error
    place = "in the wrong class" if _several_classes(assessment) else "on the wrong side"
    return (
        f"{'Suits' if assessment.suits else 'Not shown to suit'} the task: with {best} and equal "
        f"weights {_percent(error)} of the points are {place}, {_percent(assessment.baseline)} "
        "with the largest class for all; a similarity suits if it is better by two standard "
        "errors."
    )


def _several_classes(assessment: "SimilarityAssessment") -> bool:
    return len(assessment.criteria[assessment.best].margins) > 1


def _percent(share: Any) -> str:
    return f"{100 * share:.1f} %"


def _chart(criteria: "dict[str, Goodness]", epsilon: float, title: str) -> Any:
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
