"""Several similarities compared by the command ``goodness``: what is said, and the picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from kernlearn.cli import options, samples
from kernlearn.cli.outputs import save_picture, table_text, write_text
from kernlearn.datasets.objects import kind_of
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.extras import EXTRAS, install_line

if TYPE_CHECKING:
    from kernlearn.advice.measuring import Round
    from kernlearn.theory.ranked import RankedSimilarity, SimilarityComparison

RANKED_BY = ("landmarks", "neighbors")
_SUFFIXES = (".csv", ".json")
# The kinds of points that have a shortlist, and all that the rows of a table have.
_GROUPS = ("vectors", "series", "strings", "graphs", "sets", "all")
_NO_GROUPS = ("records",)
# Height of a similarity in the picture.
_ROW = 26
# Colours that colour-blind people can distinguish.
_COLOURS = {"first": "#0072B2", "not told from it": "#56B4E9", "behind": "#999999"}


class Wanted(NamedTuple):
    """How similarities are compared: the options of the command."""

    time: float
    rank_by: str
    n_landmarks: int
    n_neighbors: int
    max_points: int
    seed: int
    scale: bool | None


def is_group(names: Sequence[str]) -> bool:
    """Whether what is named is a shortlist."""
    return any(name in _GROUPS + _NO_GROUPS for name in names)


def compare_on_data(
    data: str,
    names: Sequence[str],
    kernels: Path | None,
    wanted: Wanted,
    plot: Path | None,
    output: Path | None,
    target: str | None,
    data_dir: Path | None,
    points: str | None = None,
) -> None:
    """Compare similarities on a data set, print which suits, and write the picture and numbers."""
    import numpy as np

    from kernlearn import advice
    from kernlearn.theory.criteria import stratified_sample

    options.check_choice("rank-by", wanted.rank_by, RANKED_BY)
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise DataError(f"--output {output}: expected a file name with {', '.join(_SUFFIXES)}")
    bunch = samples.load_points(data, target, data_dir, points)
    kind = kind_of(bunch.data)
    _refuse_groups(data, names, kind)
    taken, not_installed = _taken(names, kernels, kind)
    for name in (one for one in taken.values() if isinstance(one, str)):
        samples.refuse_kind(data, bunch, name)
    classification = len(bunch.target_names) > 0
    rng = np.random.RandomState(wanted.seed)
    if classification:
        rows = stratified_sample(bunch.target, wanted.max_points, rng)
    else:
        rows = np.sort(rng.permutation(len(bunch.target))[: wanted.max_points])
    scales = not _of_series(taken) if wanted.scale is None else wanted.scale
    try:
        found = advice.choose_similarity(
            samples.selected(bunch.data, rows, scales),
            bunch.target[rows],
            taken,
            classification=classification,
            seconds=wanted.time,
            ranked_by=wanted.rank_by,
            n_landmarks=wanted.n_landmarks,
            n_neighbors=wanted.n_neighbors,
            max_points=len(rows),
            random_state=wanted.seed,
            on_round=_say_round,
        )
    except ValueError as error:
        raise DataError(f"{data}: {error}") from None
    what = f"{len(bunch.target_names)} classes" if classification else "a number to predict"
    typer.echo(
        f"{data}: {samples.part_of(rows, bunch)} points, {what}, "
        f"{_scaled(kind, scales)}; {len(found.ranked)} of "
        f"{len(taken) + len(not_installed)} similarities measured"
    )
    _show_table(found)
    for sentence in _sentences(found, not_installed):
        typer.echo(sentence)
    if plot is not None:
        save_picture(_picture(found, f"{data}: which similarity?"), plot)
    if output is not None:
        _write(found, output)


def _scaled(kind: str, scales: bool) -> str:
    if kind != "vectors":
        return kind
    return "scaled features" if scales else "features as they are"


def _refuse_groups(data: str, names: Sequence[str], kind: str) -> None:
    """Refuse a shortlist of points of another kind."""
    for name in names:
        if name in _NO_GROUPS:
            raise DataError(
                f"--similarity {name}: a data set here is a table of numbers; {name} are compared "
                "in Python, by kernlearn.advice.choose_similarity"
            )
        table = kind == "vectors" and name in ("vectors", "series", "all")
        if name in _GROUPS and not table and name not in (kind, "all"):
            hint = "; --points names the column that holds them" if kind == "vectors" else ""
            raise DataError(f"--similarity {name}: the points of {data} are {kind}{hint}")


def _taken(names: Sequence[str], file: Path | None, kind: str) -> tuple[dict[str, Any], list[str]]:
    """Return similarities by the names that they are shown with, and those not installed."""
    from kernlearn.kernels import as_kernel
    from kernlearn.similarities import shortlist

    taken: dict[str, Any] = {}
    not_installed: list[str] = []
    for name in names:
        if name == "precomputed":
            raise DataError("--similarity precomputed: a matrix is assessed on its own")
        every = ("vectors", "series") if kind == "vectors" else (kind,)
        groups = every if name == "all" else (name,) if name in _GROUPS else ()
        for group in groups:
            taken |= {one: one for one in shortlist(group, installed=True)}
            not_installed += shortlist(group, installed=False)
        if not groups:
            if name in taken:
                raise DataError(f"--similarity {name}: named twice")
            try:
                as_kernel(name, "similarity")
            except (ValueError, ImportError) as error:
                raise DataError(f"--similarity {name}: {error}") from None
            taken[name] = name
    for name, kernel in _of_file(file).items() if file is not None else ():
        if name in taken:
            raise ConfigError(f"{file}: kernels.{name}: --similarity has this name too")
        taken[name] = kernel
    if not taken:
        raise DataError(
            f"--similarity {' '.join(names)}: not installed: {', '.join(not_installed)}; "
            f"{install_line(_extra(not_installed))}"
        )
    return taken, not_installed


def _extra(not_installed: Sequence[str]) -> str:
    """Return the extras that install the libraries of some names."""
    return ",".join(dict.fromkeys(EXTRAS[name.partition(".")[0]] for name in not_installed))


def _of_file(file: Path) -> dict[str, Any]:
    """Return the kernels of a YAML file, one for each combination of values in lists."""
    from kernlearn.experiments.config.entries import unfold
    from kernlearn.similarities import named
    from kernlearn.yaml import read_yaml

    content, _ = read_yaml(file)
    entries = content.get("kernels") if isinstance(content, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(
            f"{file}: expected kernels, such as `kernels: {{twe: {{kernel: aeon.twe, nu: 0.1}}}}`"
        )
    found: dict[str, Any] = {}
    for label, entry in entries.items():
        given = {"kernel": entry} if isinstance(entry, str) else entry
        if not isinstance(given, dict) or not isinstance(given.get("kernel"), str):
            raise ConfigError(f"{file}: kernels.{label}: expected a name under 'kernel'")
        parameters = {key: value for key, value in given.items() if key != "kernel"}
        combinations = unfold(parameters)
        if combinations[0][1]:
            raise ConfigError(f"{file}: kernels.{label}: 'select' is for experiments; give a list")
        for values, _ in combinations:
            varied = [f"{k}={v}" for k, v in values.items() if isinstance(parameters[k], list)]
            name = f"{label} ({', '.join(varied)})" if varied else str(label)
            try:
                found[name] = named(given["kernel"], **values)
            except (TypeError, ValueError, ImportError) as error:
                raise ConfigError(f"{file}: kernels.{label}: {error}") from None
    return found


def _of_series(taken: dict[str, Any]) -> bool:
    """Whether all similarities are of series, whose values have one scale."""
    from kernlearn.similarities import names

    series = {one.name for one in names("series")}
    return all(
        (one if isinstance(one, str) else f"aeon.{getattr(one, 'name', '')}") in series
        for one in taken.values()
    )


def _say_round(done: "Round") -> None:
    if not done.final:
        typer.echo(
            f"compared {done.size} points: {done.n_candidates} similarities, {done.seconds:.0f} s",
            err=True,
        )


def _percent(found: "SimilarityComparison", value: float) -> str:
    text = f"{100 * value:.1f}" if found.classification else f"{value:.3f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _interval(found: "SimilarityComparison", mean: Any) -> str:
    return f"{_percent(found, mean.low)} to {_percent(found, mean.high)}"


def _with_interval(found: "SimilarityComparison", mean: Any) -> str:
    return f"{_percent(found, mean.value)} ({_interval(found, mean)})"


def _methods(found: "SimilarityComparison") -> dict[str, str]:
    by_landmarks = "BBS" if found.classification else "RegLand"
    return {"landmarks": by_landmarks, "neighbors": f"{found.n_neighbors}-NN"}


def _unit(found: "SimilarityComparison") -> str:
    return " %" if found.classification else ""


def _micro(seconds: float) -> str:
    return f"{1e6 * seconds:.2g}" if seconds < 99.5e-6 else f"{1e6 * seconds:.0f}"


def _show_table(found: "SimilarityComparison") -> None:
    """Print a row for each similarity that was measured."""
    methods, unit = _methods(found), _unit(found)
    heads = [f"{methods[by]} error{unit}" for by in RANKED_BY]
    good = "goodness: error %" if found.classification else "goodness: loss"
    table = options.make_table(
        "similarity",
        "points",
        *heads,
        "behind the first",
        "p (Holm)",
        good,
        "landmarks",
        "µs each",
    )
    table.add_column("not on more points because")
    for one in found.ranked:
        is_first = one is found.first
        at = "" if one.common_points == one.n_points else f" at {one.common_points}"
        table.add_row(
            one.name,
            str(one.n_points),
            _with_interval(found, one.landmark_error),
            _with_interval(found, one.neighbor_error),
            "" if is_first else _with_interval(found, one.behind) + at,
            "" if is_first else f"{one.p_value:.2g}",
            _percent(found, one.goodness),
            "-" if one.landmarks is None else str(one.landmarks),
            _micro(one.seconds_per_comparison),
            one.stopped,
        )
    options.make_console().print(table)


def _sentences(found: "SimilarityComparison", not_installed: Sequence[str]) -> list[str]:
    """Say which is first, which cannot be told from it, and how the numbers are meant."""
    first, open_ = found.first, found.not_told_apart
    method, unit = _methods(found)[found.ranked_by], _unit(found)
    error, trivial = found.error_of(first), "the mean"
    what = f"{method} has a mean squared error, relative to the variance, of"
    if found.classification:
        what, trivial = f"{method} errs on", "the largest class"
    said = [
        f"{first.name} is first: {what} {_percent(found, error.value)}{unit} "
        f"({_interval(found, error)}) after training on 80 % of {first.n_points} points; "
        f"{_percent(found, found.baseline)}{unit} with {trivial} for all."
    ]
    if not found.suits:
        said.append("It is not shown to be better than that.")
    if open_:
        most = [one.name for one in open_ if one.n_points == first.n_points]
        fewer = [f"{one.name} ({one.common_points})" for one in open_ if one.name not in most]
        if most:
            said.append(f"Not to be told from it: {', '.join(most)}.")
        if fewer:
            said.append(
                f"Not to be told from it on fewer points: {', '.join(fewer)}; more --time may."
            )
        fastest = min([first, *open_], key=lambda one: one.seconds_per_comparison)
        if fastest is not first:
            said.append(
                f"The fastest of them is {fastest.name}: {_micro(fastest.seconds_per_comparison)} "
                f"µs a comparison instead of {_micro(first.seconds_per_comparison)}."
            )
    elif len(found.ranked) > 1:
        said.append("All others are shown to be behind it.")
    if found.failed:
        listed = "; ".join(f"{name}: {why}" for name, why in found.failed.items())
        said.append(f"{len(found.failed)} not measured ({listed}).")
    if not_installed:
        said.append(
            f"{len(not_installed)} not installed: {', '.join(not_installed)}; "
            f"{install_line(_extra(not_installed))}."
        )
    level = f"{100 * (1 - found.level):g} %"
    said.append(
        f"Errors are means over {found.n_splits} splits with {level} intervals, of "
        f"{found.n_landmarks} landmarks (all, if fewer are trained on) and {found.n_neighbors} "
        f"neighbour{'s' if found.n_neighbors > 1 else ''}; those of different numbers of points "
        'compare by "behind the first", on the points of both. p: one-sided corrected '
        "resampled t-test. Landmarks: as many as pay, on at most 700 points."
    )
    return said


def _picture(found: "SimilarityComparison", title: str) -> Any:
    """Draw the errors with their intervals, and the time of a comparison."""
    import altair as alt
    import pandas as pd

    methods, factor = _methods(found), 100 if found.classification else 1
    labels = {one.name: f"{one.name} ({one.n_points})" for one in found.ranked}
    rows = [
        {
            "similarity": labels[one.name],
            "method": methods[by],
            "standing": _standing(found, one),
            "error": factor * mean.value,
            "low": factor * mean.low,
            "high": factor * mean.high,
            "microseconds": 1e6 * one.seconds_per_comparison,
        }
        for one in found.ranked
        for by, mean in (("landmarks", one.landmark_error), ("neighbors", one.neighbor_error))
    ]
    frame, order = pd.DataFrame(rows), list(labels.values())
    colour = alt.Color(
        "standing:N",
        title=f"by {methods[found.ranked_by]}",
        scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
    )
    y = alt.Y("similarity:N", sort=order, title="similarity (points)")
    offset = alt.YOffset("method:N", sort=list(methods.values()))
    what = "error in %, " if found.classification else "mean squared error / variance, "
    x = alt.X(
        "low:Q", title=f"{what}{100 * (1 - found.level):g} % interval", scale=alt.Scale(zero=False)
    )
    base = alt.Chart(frame)
    errors = alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", y=y, yOffset=offset, color=colour),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x=alt.X("error:Q"),
            y=y,
            yOffset=offset,
            color=colour,
            shape=alt.Shape("method:N", sort=list(methods.values()), title="method"),
        ),
    ).properties(width=380, height=_ROW * len(order))
    one_each = frame[(frame["method"] == methods["landmarks"]) & (frame["microseconds"] > 0)]
    seconds = (
        alt.Chart(one_each)
        .mark_point(filled=True, shape="diamond", size=60, opacity=1)
        .encode(
            x=alt.X(
                "microseconds:Q",
                title="µs per comparison",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(tickCount=4),
            ),
            y=alt.Y(
                "similarity:N",
                sort=order,
                title=None,
                axis=alt.Axis(labels=False),
                scale=alt.Scale(domain=order),
            ),
            color=colour,
        )
        .properties(width=140, height=_ROW * len(order))
    )
    return alt.hconcat(errors, seconds).properties(title=title)


def _standing(found: "SimilarityComparison", one: "RankedSimilarity") -> str:
    if one is found.first:
        return "first"
    return "not told from it" if one in found.not_told_apart else "behind"


def _write(found: "SimilarityComparison", output: Path) -> None:
    frame = found.table().reset_index()
    text = table_text(frame, "csv" if output.suffix.lower() == ".csv" else "json")
    write_text(output, text, f"{len(frame)} rows")
