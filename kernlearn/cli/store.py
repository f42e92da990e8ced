"""The commands over a results store: export, merge, gc, doctor and compare."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn.cli.terminal import make_console, say

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from kernlearn.experiments.store.merge import MergeSummary


StorePath = Annotated[Path, typer.Option("--store", help="SQLite file of results.")]

_STORE = Path("results/runs/store.sqlite")
_SHOWN = 20
_LABELS = ["dataset", "kernel", "method", "params", "metric"]


def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write.", show_default="standard output"),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="csv, json or parquet.", show_default="by the file's name, else csv"
        ),
    ] = None,
    experiment: Annotated[
        list[str], typer.Option(metavar="NAME", help="Only this; may be repeated.")
    ] = [],  # noqa: B006  (typer reads the default, nothing changes it)
    store: StorePath = _STORE,
) -> None:
    """Write a store's numbers as tidy rows: a row a trial and metric.

    The columns are experiment, dataset, kernel, method, params (JSON), metric, split (from 0),
    value, key and run.
    """
    from kernlearn.exceptions import StoreError
    from kernlearn.experiments.store.export import FORMATS, export_file, export_text, tidy_rows
    from kernlearn.experiments.store.results import Store

    if form is None:
        ending = output.suffix[1:].lower() if output is not None else ""
        form = ending if ending in FORMATS else "csv"
    if form not in FORMATS:
        raise StoreError(f"--format {form}: expected one of {', '.join(FORMATS)}")
    if output is None and form == "parquet":
        raise StoreError("--format parquet: name a file with --output")
    with Store.existing(store) as opened:
        rows = tidy_rows(opened, experiment)
        if output is None:
            typer.echo(export_text(rows, form), nl=False)
        else:
            count = export_file(rows, output, form)
            typer.echo(f"{output}: {count} rows")


def merge_stores(
    paths: Annotated[
        list[Path], typer.Argument(metavar="SRC... DEST", help="Stores, the last to merge into.")
    ],
    prefer: Annotated[
        str, typer.Option(help="Whose numbers stand where they differ: destination or source.")
    ] = "destination",
) -> None:
    """Put the trials of stores into another, made if it is not there.

    Of trials that both have with the same numbers the earlier stands. Numbers that differ are
    told, and the exit code is then 1. Each source goes in whole, or not at all.
    """
    from kernlearn.exceptions import StoreError
    from kernlearn.experiments.store.merge import merge

    *sources, destination = paths
    if not sources:
        raise StoreError("merge: expected at least one source and the store to merge into")
    if prefer not in ("destination", "source"):
        raise StoreError(f"--prefer {prefer}: expected destination or source")
    console = make_console()
    conflicts = 0
    for source in sources:
        summary = merge(source, destination, prefer=prefer)
        _show_merge(console, source, destination, summary, prefer)
        conflicts += len(summary.conflicts)
    if conflicts:
        raise typer.Exit(1)


def _show_merge(
    console: "Console", source: Path, destination: Path, summary: "MergeSummary", prefer: str
) -> None:
    from kernlearn.experiments.engine.spec import canonical

    say(
        console,
        f"{source} into {destination}: {summary.added} trials added, {summary.completed} that "
        f"had failed, {summary.same} the same, {summary.failed} failed ones left, "
        f"{len(summary.conflicts)} in conflict; {summary.runs} runs",
    )
    for conflict in summary.conflicts[:_SHOWN]:
        numbers = ", ".join(f"{m} {a} / {b}" for m, (a, b) in conflict.metrics.items())
        place = f"{conflict.experiment} {conflict.key[:10]} {canonical(conflict.labels)}"
        say(console, f"  conflict, the {prefer}'s stands: {place}: {numbers}")
    if len(summary.conflicts) > _SHOWN:
        say(console, f"  and {len(summary.conflicts) - _SHOWN} more")


def gc(
    configs: Annotated[
        list[str],
        typer.Argument(metavar="CONFIG...", help="All whose numbers are to stay, any profile."),
    ],
    yes: Annotated[
        bool, typer.Option("--yes/--dry-run", help="Remove, or say what would be removed.")
    ] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
    ] = None,
    store: StorePath = _STORE,
) -> None:
    """Remove from a store what no given config needs, under any of its profiles.

    Without --yes it only says what that would be. What belongs to data that is not found here
    stays. The store must not be open elsewhere.
    """
    from kernlearn.experiments.store.maintenance import collect_garbage, every_profile
    from kernlearn.experiments.store.results import Store

    console = make_console()
    Store.existing(store).close()
    plans = [plan for config in configs for plan in every_profile(config, data_dir)]
    with Store(store, exclusive=True, timeout=1) if yes else Store.existing(store) as opened:
        found = collect_garbage(opened, plans, remove=yes)
    for name, count in found.trials.items():
        say(console, f"  {name}: {count} trials")
    total = sum(found.trials.values())
    doing = "removed" if yes else "would be removed"
    say(
        console,
        f"{store}: {total} trials, {found.superseded} superseded and {found.runs} runs {doing}, "
        f"{found.kept} stay",
    )
    if not yes and not found.nothing:
        say(console, "Nothing is removed yet: --yes does it.")


def doctor(store: StorePath = _STORE) -> None:
    """Check a store: the file, and whether its rows agree with themselves.

    The exit code is 1 if something is wrong.
    """
    from kernlearn.experiments.store.maintenance import examine
    from kernlearn.experiments.store.results import Store

    with Store.existing(store) as opened:
        faults = examine(opened)
        version = opened.database.file_version
    for fault in faults:
        typer.echo(f"{store}: {fault}")
    if faults:
        raise typer.Exit(1)
    typer.echo(f"{store}: sound, store version {version}")


def compare_runs(
    run_a: Annotated[
        str, typer.Argument(help="Number of a run of --store, a store, or STORE#NUMBER.")
    ],
    run_b: Annotated[str, typer.Argument(help="What to compare it with.")],
    metric: Annotated[
        list[str], typer.Option(metavar="NAME", help="Only this; may be repeated.")
    ] = [],  # noqa: B006
    level: Annotated[float, typer.Option(help="Level of each cell's t-test.")] = 0.05,
    changed: Annotated[
        bool, typer.Option("--changed", help="Leave out cells that are the same or undecided.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file to write all cells to.")
    ] = None,
    store: StorePath = _STORE,
) -> None:
    """Compare two runs, or two stores, cell by cell.

    Differences are taken split by split where both have the same splits. Significant ones are
    bold and marked with *.
    """
    from kernlearn.exceptions import StoreError
    from kernlearn.reports.comparison import compare, different_environments, read_side

    if not 0 < level < 1:
        raise StoreError(f"--level {level:g}: expected a number between 0 and 1")
    sides = a, b = read_side(run_a, store), read_side(run_b, store)
    known = {name for side in sides for t in side.trials for name in t.result.metrics}
    unknown = [name for name in metric if name not in known]
    if unknown:
        raise StoreError(
            f"--metric {', '.join(unknown)}: neither has it; there are: "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    frame = compare(a, b, level=level, metrics=metric)
    console = make_console()
    for name, side in zip("AB", sides, strict=True):
        runs = ", ".join(f"{r.number} ({r.started})" for r in side.runs) or "none"
        say(console, f"{name}: {side.name}: {len(side.trials)} trials of runs {runs}")
    for line in different_environments(a, b):
        say(console, f"  differs: {line}")
    shown = frame[~frame["outcome"].isin(["same", "undecided"])] if changed else frame
    if len(shown):
        console.print(_table(shown, level))
    counts = frame["outcome"].value_counts()
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    say(console, f"{len(frame)} cells: {told or 'nothing to compare'}")
    if output is not None:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            frame.to_csv(output, index=False)
        except OSError as error:
            raise StoreError(f"{output}: cannot be written: {error.strerror or error}") from None
        say(console, f"Cells: {output}")


def _table(frame: "pd.DataFrame", level: float) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    labels = [name for name in _LABELS if _tells(frame, name)]
    if frame["experiment"].nunique() > 1:
        labels.insert(0, "experiment")
    table = Table(box=SIMPLE_HEAD)
    for name in labels:
        table.add_column(name)
    for head in ("A", "B", "B − A", f"{100 * (1 - level):g} % interval", "splits"):
        table.add_column(head, justify="right")
    table.add_column("outcome")
    for row in frame.to_dict("records"):
        significant = row["outcome"] in ("a better", "b better", "different")
        texts = [_number(row["mean_a"]), _number(row["mean_b"])]
        texts.append(_number(row["difference"]) + ("*" if significant else ""))
        texts += [_interval(row["low"], row["high"]), _splits(row), _outcome(row)]
        style = "bold" if significant else ""
        # a label that does not apply is None, or NaN if all in the column are
        names = [Text(row[name] if isinstance(row[name], str) else "") for name in labels]
        table.add_row(*names, *(Text(text, style=style) for text in texts))
    return table


def _tells(frame: "pd.DataFrame", name: str) -> bool:
    """Whether a label says anything."""
    return not frame[name].isna().all() and not (frame[name] == "{}").all()


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4g}"


def _interval(low: float, high: float) -> str:
    # without two splits it is all numbers
    return f"{low:.3g} to {high:.3g}" if abs(low) < float("inf") and low == low else "–"


def _splits(row: dict[Any, Any]) -> str:
    if row["paired"] is True:
        return f"{row['n_a']} paired"
    return f"{row['n_a']} / {row['n_b']}"


def _outcome(row: dict[Any, Any]) -> str:
    text = str(row["outcome"])
    for name in "ab":
        text = text.replace(f"{name} better", f"{name.upper()} better")
        text = text.replace(f"only {name}", f"only {name.upper()}")
    return text if row["same_settings"] is not False else f"{text}, other settings"


#: Functions of the commands by name.
COMMANDS: dict[str, Callable[..., None]] = {
    "export": export,
    "merge": merge_stores,
    "gc": gc,
    "doctor": doctor,
    "compare": compare_runs,
}
