"""The ``kernlearn goodness`` command: whether a similarity suits a task."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernlearn.cli.pictures import check_picture, save_picture
from kernlearn.cli.terminal import make_console

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.table import Table

    from kernlearn.theory.goodness import Goodness


class _Task(NamedTuple):
    """Points with classes, and how they are compared: a matrix within [-1, 1], as similarities."""

    matrix: "NDArray[Any]"
    codes: "NDArray[Any]"
    told: str


def show_goodness(
    data: Annotated[
        str, typer.Argument(help="A name in the catalogue, a data file, or a card file (YAML).")
    ],
    similarity: Annotated[
        str | None,
        typer.Option(help="A kernel's name, or 'precomputed'.", show_default="gaussian"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="similarity or distance.", show_default="what the data's card says"),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="For a file: the column of classes, a name or a number.")
    ] = None,
    transfer: Annotated[
        list[str],
        typer.Option(help="A slope of a ramp, or identity, sign or sigmoid; may be repeated."),
    ] = ["1", "5", "10", "50", "100", "1000"],
    epsilon: Annotated[
        float, typer.Option(help="Share of points that may miss γ; error that landmarks may add.")
    ] = 0.1,
    delta: Annotated[
        float, typer.Option(help="Probability that so many random landmarks fail.")
    ] = 0.05,
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", help="Features to mean 0 and deviation 1.")
    ] = True,
    max_points: Annotated[int, typer.Option(min=4, help="Of more points, a random part.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Draws that part.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Picture to write: .html, .svg or .png.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
    ] = None,
) -> None:
    """Say whether a similarity suits a task: margins of points, and the landmarks they need.

    A point's margin is how much more similar it is to its class than to the others, by the
    criteria of Balcan & Blum, of Wang et al. and of a family of transfer functions, all with
    equal weights. Several classes are each taken against the rest.
    """
    from kernlearn.exceptions import DataError
    from kernlearn.theory.goodness import compare_criteria

    for name, share in (("--epsilon", epsilon), ("--delta", delta)):
        if not 0 < share < 1:
            raise DataError(f"{name} {share:g}: expected a number between 0 and 1")
    check_picture(plot)
    criteria = {"Balcan & Blum": None, "Wang et al.": "sign", **dict(map(_criterion, transfer))}
    try:
        task = _read(data, target, data_dir, similarity, kind, scale, max_points, seed)
        found = compare_criteria(
            task.matrix, task.codes, criteria, similarity="precomputed", random_state=seed
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    console = make_console()
    console.print(task.told, markup=False, highlight=False, soft_wrap=True)
    console.print(_table(found, task.matrix, epsilon, delta))
    note = (
        f"Landmark pairs: enough for an error of {2 * epsilon:g} with probability {1 - delta:g} "
        "(theorem 4.2), where γ is above 0."
    )
    console.print(note, markup=False, highlight=False, soft_wrap=True)
    console.print(_verdict(found, task), markup=False, highlight=False, soft_wrap=True)
    if plot is not None:
        _draw(found, epsilon, f"{data}: points below a margin", plot)
        console.print(f"Picture: {plot}", markup=False, highlight=False, soft_wrap=True)


def _criterion(spec: str) -> tuple[str, Any]:
    """Return a transfer function and what it is called."""
    from kernlearn.exceptions import DataError
    from kernlearn.landmarks.transfer import Ramp, as_transfer

    try:
        try:
            found = as_transfer(float(spec))
        except ValueError:
            found = as_transfer(spec)
    except ValueError:
        raise DataError(
            f"--transfer {spec}: expected a slope above 0, identity, sign, ramp or sigmoid"
        ) from None
    return f"ramp {found.slope:g}" if isinstance(found, Ramp) else found.name, found


def _read(
    data: str,
    target: str | None,
    data_dir: Path | None,
    similarity: str | None,
    kind: str | None,
    scale: bool,
    max_points: int,
    seed: int,
) -> _Task:
    """Load data and compare a sample of its points."""
    import numpy as np

    from kernlearn.datasets import load
    from kernlearn.exceptions import DataError
    from kernlearn.theory.comparisons import Sample, stratified_sample

    bunch = load(data, target=target, data_dir=data_dir)
    if not len(bunch.target_names):
        raise DataError(f"{data}: its target is a number; goodness is about classes")
    X, codes = bunch.data, bunch.target
    given = "similarity" in bunch
    if given and similarity not in (None, "precomputed"):
        raise DataError(f"{data} is a matrix of similarities: leave out --similarity")
    kind = kind or bunch.get("similarity", "similarity")
    if kind not in ("similarity", "distance"):
        raise DataError(f"--kind {kind}: expected similarity or distance")
    name = "precomputed" if given else similarity or "gaussian"
    if name != "precomputed":
        _check_similarity(name)
    if name == "precomputed" and X.shape[0] != X.shape[1]:
        raise DataError(f"{data}: 'precomputed' needs a square matrix, this is {X.shape}")
    kept = stratified_sample(codes, max_points, np.random.RandomState(seed))
    X, codes = X[kept], codes[kept]
    if name == "precomputed":
        X = X[:, kept]
    elif scale:
        from sklearn.preprocessing import StandardScaler

        X = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit_transform(X)
    sample = Sample(name, kind).read(X, codes)
    matrix = sample.landmarks_.compare(sample.points_)
    largest = float(np.abs(matrix).max())
    if not largest:
        raise DataError(f"{data}: all similarities are 0")
    part = f" of {len(bunch.target)}" if len(kept) < len(bunch.target) else ""
    told = (
        f"{data}: {len(kept)}{part} points in {len(sample.classes_)} classes; {name} {kind}, "
        f"divided by {largest:.4g}, the greatest"
    )
    return _Task(matrix / largest, codes, told)


def _check_similarity(name: str) -> None:
    from kernlearn.exceptions import DataError
    from kernlearn.kernels import as_kernel

    try:
        as_kernel(name, "similarity")
    except ValueError as error:
        raise DataError(f"--similarity {name}: {error}") from None


def _table(found: "dict[str, Goodness]", matrix: "NDArray[Any]", e: float, d: float) -> "Table":
    import numpy as np
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from kernlearn.theory.goodness import landmarks_for_margin

    several = len(next(iter(found.values())).margins) > 1
    table = Table("criterion", box=SIMPLE_HEAD)
    heads = [f"γ at ε = {e:g}", "wrong side", "mean margin", "landmark pairs"]
    for head in heads + (["wrong class"] if several else []):
        table.add_column(head, justify="right")
    # theorem 4.2 is about |f| <= 1, which differences of similarities may exceed
    reach = max(1.0, float(np.ptp(matrix, axis=1).max()))
    for name, good in found.items():
        gamma = good.gamma(e)
        bounded = gamma if name not in ("Balcan & Blum", "identity") else gamma / reach
        pairs = str(landmarks_for_margin(bounded, epsilon=e, delta=d)) if gamma > 0 else "-"
        cells = [f"{gamma:.4f}", _percent(good.misplaced), f"{good.mean_margin:.4f}", pairs]
        table.add_row(name, *cells, *([_percent(good.error)] if several else []))
    return table


def _verdict(found: "dict[str, Goodness]", task: _Task) -> str:
    """Compare the best criterion's classifier with the constant one."""
    import numpy as np

    name = min(found, key=lambda criterion: found[criterion].error)
    error, n = found[name].error, len(task.codes)
    guess = 1 - float(np.bincount(task.codes).max()) / n
    suits = error + 2 * (error * (1 - error) / n) ** 0.5 < guess
    place = "in the wrong class" if len(found[name].margins) > 1 else "on the wrong side"
    return (
        f"{'Suits' if suits else 'Not shown to suit'} the task: with {name} and equal weights "
        f"{_percent(error)} of the points are {place}, {_percent(guess)} with the largest class "
        "for all; a similarity suits if it is better by two standard errors."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _draw(found: "dict[str, Goodness]", epsilon: float, title: str, path: Path) -> None:
    """Draw the share of points below a margin against the margin, a line a criterion."""
    import altair as alt
    import numpy as np
    import pandas as pd

    shares = np.linspace(0, 1, 200, endpoint=False)
    curves = pd.concat(
        pd.DataFrame({"criterion": name, "gamma": good.gamma(shares), "epsilon": shares})
        for name, good in found.items()
    )
    # The older two criteria nearly coincide with ramps: thin lines over wide and pale ones, which
    # go from light to dark. Okabe and Ito's colours are told apart with any kind of sight.
    older = ["#D55E00", "#000000"]
    ramps = ["#b8de29", "#73d055", "#29af7f", "#287d8e", "#404788", "#481567"]
    color = alt.Scale(domain=list(found), range=older + ramps)
    is_older = curves["criterion"].isin(list(found)[:2])
    layers = [
        alt.Chart(frame)
        .mark_line(interpolate="step-before", strokeWidth=width, opacity=opacity)
        .encode(
            x=alt.X("gamma:Q", title="margin γ"),
            y=alt.Y("epsilon:Q", title="share ε of points below", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("criterion:N", title="criterion", scale=color),
        )
        for frame, width, opacity in (
            (curves[~is_older], 3.5, 0.6),
            (curves[is_older], 1.3, 1.0),
        )
    ]
    marks = pd.DataFrame({"gamma": [0.0], "epsilon": [epsilon]})
    rule = alt.Chart(marks).mark_rule(color="#999999", strokeWidth=1)
    chart = alt.layer(rule.encode(x="gamma:Q"), rule.encode(y="epsilon:Q"), *layers)
    chart = chart.properties(width=420, height=280, title=title)
    save_picture(chart, path)
