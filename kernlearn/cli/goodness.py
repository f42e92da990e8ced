"""The command ``goodness``: how well a similarity suits a task."""

from typing import Annotated, Any

import typer
from typer import Option

from kernlearn import landmarks, theory
from kernlearn.cli.options import DataDir, MaxMemory, make_console, make_table
from kernlearn.cli.outputs import Plot, save_picture
from kernlearn.cli.samples import (
    MAX_POINTS,
    Data,
    Points,
    Scale,
    Seed,
    Target,
    check_options,
    load_data,
    part_of,
    refuse_kind,
    selected,
)
from kernlearn.exceptions import DataError


def goodness(
    data: Data,
    similarity: Annotated[
        str | None,
        Option(help="Name of a kernel, or 'precomputed'.", show_default="gaussian"),
    ] = None,
    kind: Annotated[
        str | None, Option(help="similarity or distance.", show_default="as the data's card says")
    ] = None,
    target: Target = None,
    points: Points = None,
    transfer: Annotated[
        list[str],
        Option(help="Transfer function: slope of a ramp, identity or sign. Can be repeated."),
    ] = ["1", "5", "10", "50", "100", "1000"],
    epsilon: Annotated[
        float, Option(help="Share of points that may miss the margin γ; error that landmarks add.")
    ] = 0.1,
    delta: Annotated[
        float, Option(help="Probability that a random choice of landmarks fails.")
    ] = 0.05,
    scale: Scale = True,
    max_points: Annotated[int, Option(min=4, help=MAX_POINTS)] = 2000,
    seed: Seed = 0,
    plot: Plot = None,
    data_dir: DataDir = None,
    max_memory: MaxMemory = None,
) -> None:
    """Assess how well a similarity suits a task, by the margins of points.

    A point's margin is how much more similar it is to its class than to the others, by the
    criteria of Balcan & Blum, of Wang et al. and of a family of transfer functions, all with
    equal weights. With several classes, each is compared with the rest.

    \b
    Examples:
      kernlearn goodness letter --similarity gaussian
      kernlearn goodness mine.csv --target label --plot margins.html
      kernlearn goodness names.csv --points name --similarity rapidfuzz.jaro_winkler
    """  # noqa: D301
    import numpy as np

    from kernlearn.kernels import as_kernel

    check_options(plot, epsilon=epsilon, delta=delta)
    criteria = {"Balcan & Blum": None, "Wang et al.": "sign", **dict(map(_criterion, transfer))}
    try:
        bunch = load_data(data, target, data_dir, points)
        name, kind = _compared(data, bunch, similarity, kind)
        rows = _stratified_sample(bunch.target, max_points, np.random.RandomState(seed))
        y = bunch.target[rows]
        if name == "precomputed":
            matrix = bunch.data[np.ix_(rows, rows)] * (-1.0 if kind == "distance" else 1.0)
        else:
            X = selected(bunch.data, rows, scale)
            matrix = as_kernel(name, "similarity").fitted_to(X, y)(X, X)
        greatest = float(np.abs(matrix).max())
        if not greatest:
            raise ValueError("all similarities are 0")
        matrix = matrix / greatest
        results = {
            label: theory.classification_goodness(
                matrix, y, similarity="precomputed", transfer=function
            )
            for label, function in criteria.items()
        }
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    typer.echo(
        f"{data}: {part_of(rows, bunch)} points in {len(set(y))} classes; {name} {kind}, divided "
        f"by {greatest:.4g}, the greatest"
    )
    several = len(set(y)) > 2
    # theorem 4.2 is about |f| <= 1
    reach = max(1.0, float(np.ptp(matrix, axis=1).max()))
    heads = [f"γ at ε = {epsilon:g}", "wrong side", "mean margin", "landmark pairs"]
    table = make_table("criterion", *heads, *(["wrong class"] if several else []))
    for label, good in results.items():
        gamma, pairs = good.gamma(epsilon), "-"
        if gamma > 0:
            bounded = criteria[label] not in (None, landmarks.Identity())
            margin = gamma if bounded else gamma / reach
            pairs = str(theory.landmarks_for_margin(margin, epsilon=epsilon, delta=delta))
        cells = [f"{gamma:.4f}", _percent(good.misplaced), f"{good.margins.mean():.4f}", pairs]
        table.add_row(label, *cells, *([_percent(good.error)] if several else []))
    make_console().print(table)
    best = min(results, key=lambda label: results[label].error)
    wrong, baseline = results[best].error, 1 - np.bincount(y).max() / len(y)
    suits = wrong + 2 * (wrong * (1 - wrong) / len(y)) ** 0.5 < baseline
    place = "in the wrong class" if several else "on the wrong side"
    typer.echo(
        f"Landmark pairs: enough for an error of {2 * epsilon:g} with probability {1 - delta:g} "
        "(theorem 4.2), where γ is above 0.\n"
        f"{'Suits' if suits else 'Not shown to suit'} the task: with {best} and equal weights "
        f"{_percent(wrong)} of the points are {place}, {_percent(baseline)} with the largest "
        "class for all; a similarity suits if it is better by two standard errors."
    )
    if plot is not None:
        chart = _margins(results, epsilon, f"{data}: points below a margin")
        save_picture(chart, plot)


def _percent(share: Any) -> str:
    return f"{100 * share:.1f} %"


def _stratified_sample(codes: Any, size: int, rng: Any) -> Any:
    """Draw about `size` points, with the share of each class but at least two of each."""
    import numpy as np

    if len(codes) <= size:
        return np.arange(len(codes))
    drawn = []
    for code, count in enumerate(np.bincount(codes)):
        share = min(count, max(2, size * count // len(codes)))
        drawn.append(rng.choice(np.flatnonzero(codes == code), share, replace=False))
    return np.sort(np.concatenate(drawn))


def _criterion(spec: str) -> tuple[str, Any]:
    """Return the name of a transfer function, and the function."""
    if spec in ("identity", "sign"):
        return spec, landmarks.as_transfer(spec)
    try:
        return f"ramp {float(spec):g}", landmarks.Ramp(float(spec))
    except ValueError:
        raise DataError(f"--transfer {spec}: expected a slope above 0, identity or sign") from None


def _compared(data: str, bunch: Any, similarity: str | None, kind: str | None) -> tuple[str, str]:
    """Return the similarity to assess, and whether it is one or a distance."""
    if not len(bunch.target_names):
        raise DataError(f"{data}: its target is a number; goodness is about classes")
    if "similarity" in bunch and similarity not in (None, "precomputed"):
        raise DataError(f"{data} is a matrix of similarities: leave out --similarity")
    kind = kind or bunch.get("similarity", "similarity")
    if kind not in ("similarity", "distance"):
        raise DataError(f"--kind {kind}: expected similarity or distance")
    name = "precomputed" if "similarity" in bunch else similarity or "gaussian"
    refuse_kind(data, bunch, name)
    shape = bunch.data.shape
    if name == "precomputed" and shape[0] != shape[1]:
        raise DataError(f"{data}: 'precomputed' needs a square matrix, this is {shape}")
    if name != "precomputed":
        from kernlearn.kernels import as_kernel

        if kind == "distance":
            raise DataError(f"--kind distance is for a matrix; {name} is a similarity")
        try:
            as_kernel(name, "similarity")
        except (ValueError, ImportError) as error:
            raise DataError(f"--similarity {name}: {error}") from None
    return name, kind


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
