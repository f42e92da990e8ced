"""The commands ``export``, ``merge``, ``gc``, ``doctor`` and ``compare`` on results stores."""

import math
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import experiments
from kernlearn.cli import crates
from kernlearn.cli.options import (
    STORE,
    DataDir,
    StorePath,
    make_console,
    make_table,
    opened_store,
    show_rows_left_out,
    written_store,
)
from kernlearn.cli.outputs import write_text
from kernlearn.cli.terminal import write_data
from kernlearn.datasets.escaping import csv_text
from kernlearn.exceptions import StoreError
from kernlearn.experiments import engine
from kernlearn.experiments import store as stores

# Conflicts of a merge that are shown.
_SHOWN = 20


def export(
    output: Annotated[
        Path | None, Option("--output", "-o", help="Output file.", show_default="standard output")
    ] = None,
    form: Annotated[
        str | None,
        Option(
            "--format",
            help="'csv', 'json', 'parquet' or 'ro-crate'.",
            show_default="the suffix of the output file, else csv",
        ),
    ] = None,
    experiment: Annotated[
        list[str], Option(metavar="NAME", help="Export only this experiment. Can be repeated.")
    ] = [],
    settings: Annotated[
        bool,
        Option(
            "--settings",
            help="Of trials that measured a grid of settings export each setting, not only the "
            "one that is chosen over all splits.",
        ),
    ] = False,
    config: Annotated[
        list[Path],
        Option(metavar="FILE", help="Of a record: config of your own. Can be repeated."),
    ] = [],
    license: Annotated[str, Option(help="Of a record: its licence, best as an address.")] = "",
    author: Annotated[str, Option(help="Of a record: name of who ran the experiment.")] = "",
    affiliation: Annotated[
        str, Option(help="Of a record: the author's organisation, which publishes it.")
    ] = "",
    store: StorePath = STORE,
) -> None:
    """Export a store as a tidy table (CSV, JSON or Parquet), or an experiment as an open record.

    A table has one row per trial and metric. The columns are experiment, dataset, kernel, method,
    params (JSON), metric, split (from 0), value, key and run.

    A record (ro-crate) is a folder, or a .zip file, in the form of a Workflow Run RO-Crate: the
    config, fingerprints of the data, environment, numbers, verdicts, claims and a badge.
    `kernlearn merge` reads it back.

    \b
    Examples:
      kernlearn export --output numbers.csv
      kernlearn export --experiment vkr_table1 --settings --format json
      kernlearn export --experiment table3_1 --format ro-crate --output table3_1.zip
    """  # noqa: D301
    if form == crates.FORM:
        with opened_store(store) as opened:
            crates.export_crate(
                opened,
                output,
                experiment,
                config,
                license=license,
                author=author,
                affiliation=affiliation,
            )
        return
    if config or license or author or affiliation:
        raise StoreError(
            "--config, --license, --author, --affiliation: belong to --format ro-crate"
        )
    if form is None:
        suffix = output.suffix[1:].lower() if output is not None else ""
        form = suffix if suffix in stores.export.FORMATS else "csv"
    if form not in stores.export.FORMATS:
        allowed = ", ".join((*stores.export.FORMATS, crates.FORM))
        raise StoreError(f"--format {form}: expected one of {allowed}")
    if output is None and form == "parquet":
        raise StoreError("--format parquet: name a file with --output")
    with opened_store(store) as opened:
        rows = stores.export.tidy_rows(opened, experiment, settings=settings)
        if output is None:
            write_data(stores.export.export_text(rows, form))
        else:
            typer.echo(f"{output}: {stores.export.export_file(rows, output, form)} rows")


def merge(
    paths: Annotated[
        list[Path],
        Argument(metavar="SRC... DEST", help="Source stores or records, then the store."),
    ],
    prefer: Annotated[
        str, Option(help="Side to keep where numbers differ: 'destination' or 'source'.")
    ] = "destination",
) -> None:
    """Merge stores into another one.

    The destination is created if it does not exist. A source may be a record, a folder or .zip
    file of `kernlearn export --format ro-crate`. A trial with the same numbers on both sides is
    kept as measured first. Different numbers are shown as conflicts and make the exit code 1. Each
    source is merged completely or not at all.

    \b
    Examples:
      kernlearn merge laptop.sqlite server.sqlite all.sqlite
      kernlearn merge table3_1.zip all.sqlite
    """  # noqa: D301
    *sources, destination = paths
    if not sources:
        raise StoreError("merge: expected at least one source and the store to merge into")
    if prefer not in ("destination", "source"):
        raise StoreError(f"--prefer {prefer}: expected destination or source")
    conflicts = 0
    for source in sources:
        with crates.source_store(source) as (path, left_out):
            summary = stores.maintenance.merge(path, destination, prefer=prefer)
        conflicts += len(summary.conflicts)
        if path == source:
            show_rows_left_out(source, summary.left_out)
        else:
            crates.show_rows_left_out(source, left_out | summary.left_out)
        typer.echo(
            f"{source} into {destination}: {summary.added} trials added, {summary.completed} that "
            f"had failed replaced, {summary.same} the same, {summary.failed} failed ones skipped, "
            f"{len(summary.conflicts)} in conflict; {summary.runs} runs"
        )
        for one in summary.conflicts[:_SHOWN]:
            numbers = ", ".join(f"{m} {a} / {b}" for m, (a, b) in one.metrics.items())
            place = f"{one.experiment} {one.key[:10]} {engine.spec.canonical(one.labels)}"
            typer.echo(f"  conflict, kept the {prefer}'s: {place}: {numbers}")
        if len(summary.conflicts) > _SHOWN:
            typer.echo(f"  and {len(summary.conflicts) - _SHOWN} more")
    if conflicts:
        raise typer.Exit(1)


def gc(
    configs: Annotated[
        list[str], Argument(metavar="CONFIG", help="All configs whose results are to be kept.")
    ],
    yes: Annotated[
        bool, Option("--yes/--dry-run", help="Remove, or only show what would be removed.")
    ] = False,
    data_dir: DataDir = None,
    store: StorePath = STORE,
) -> None:
    """Remove the trials that no given config needs from a store.

    All profiles of the configs are taken into account. Without --yes only show what would be
    removed. Trials of data sets that are not found here are kept. No other process may have the
    store open.

    \b
    Examples:
      kernlearn gc mine.yaml table3_1 --dry-run
    """  # noqa: D301
    experiments.Store.existing(store).close()
    plans = [p for config in configs for p in stores.maintenance.every_profile(config, data_dir)]
    with written_store(store, exclusive=True, timeout=1) if yes else opened_store(store) as opened:
        garbage = stores.maintenance.collect_garbage(opened, plans, remove=yes)
    for name, count in garbage.trials.items():
        typer.echo(f"  {name}: {count} trials")
    typer.echo(
        f"{store}: {sum(garbage.trials.values())} trials, {garbage.superseded} superseded and "
        f"{garbage.runs} runs {'removed' if yes else 'would be removed'}, {garbage.kept} kept"
    )
    if garbage and not yes:
        typer.echo("Nothing has been removed; --yes removes it.")


def doctor(store: StorePath = STORE) -> None:
    """Check a store for damage.

    Both the file and the consistency of its rows are checked. The exit code is 1 if something is
    wrong.

    \b
    Examples:
      kernlearn doctor --store results/runs/store.sqlite
    """  # noqa: D301
    with experiments.Store.existing(store) as opened:
        faults = stores.doctor.examine(opened)
    for fault in faults:
        typer.echo(f"{store}: {fault}")
    if faults:
        raise typer.Exit(1)
    typer.echo(f"{store}: sound, store version {stores.database.SCHEMA_VERSION}")


def compare(
    run_a: Annotated[
        str,
        Argument(metavar="RUN_A", help="Number of a run in --store, or a store, or STORE#NUMBER."),
    ],
    run_b: Annotated[str, Argument(metavar="RUN_B", help="The run or store to compare it with.")],
    metric: Annotated[
        list[str], Option(metavar="NAME", help="Compare only this metric. Can be repeated.")
    ] = [],
    level: Annotated[float, Option(help="Significance level of the t-tests.")] = 0.05,
    changed: Annotated[bool, Option("--changed", help="Show only cells that changed.")] = False,
    every: Annotated[
        bool, Option("--all", help="Also show the cells that only one side has.")
    ] = False,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Also write all cells to this CSV file.")
    ] = None,
    store: StorePath = STORE,
) -> None:
    """Compare two runs, or two stores, cell by cell.

    The t-tests are paired where both sides have the same splits. Significant differences are
    bold and marked with *.

    \b
    Examples:
      kernlearn compare 1 2 --changed
      kernlearn compare old.sqlite new.sqlite --metric accuracy
    """  # noqa: D301
    from kernlearn.reports import comparison

    if not 0 < level < 1:
        raise StoreError(f"--level {level:g}: expected a number between 0 and 1")
    sides = a, b = comparison.read_side(run_a, store), comparison.read_side(run_b, store)
    available = {name for side in sides for t in side.trials for name in t.result.metrics}
    unknown = [name for name in metric if name not in available]
    if unknown:
        raise StoreError(
            f"--metric {', '.join(unknown)}: neither has it; there are: "
            f"{', '.join(sorted(available)) or 'none'}"
        )
    for path, rows in {side.store: side.left_out for side in sides}.items():
        show_rows_left_out(path, rows)
    frame = comparison.compare(a, b, level=level, metrics=metric)
    for name, side in zip("AB", sides, strict=True):
        runs = ", ".join(f"{r.number} ({r.started})" for r in side.runs) or "none"
        typer.echo(f"{name}: {side.name}: {len(side.trials)} trials of runs {runs}")
    for line in comparison.different_environments(a, b):
        typer.echo(f"  differs: {line}")
    one_sided = frame["outcome"].isin(["only a", "only b"])
    shown = frame[~frame["outcome"].isin(["same", "undecided"])] if changed else frame
    shown = shown if every else shown[~one_sided[shown.index]]
    if len(shown):
        make_console().print(_table(shown, level))
    outcomes = frame["outcome"].value_counts().items()
    counts = ", ".join(f"{n} {_sides(str(outcome))}" for outcome, n in outcomes)
    typer.echo(f"{len(frame)} cells: {counts or 'nothing to compare'}")
    if one_sided.all() and len(frame):
        typer.echo(comparison.nothing_shared(a, b))
    elif one_sided.any() and not every:
        typer.echo("Cells of one side alone are not shown; --all shows them.")
    if output is not None:
        write_text(output, csv_text(frame), f"{len(frame)} cells")


def _table(frame: Any, level: float) -> Any:
    from rich.text import Text

    from kernlearn.reports.summary import KEY

    # labels that are the same empty value everywhere say nothing
    empty = (frame[KEY].isna() | (frame[KEY] == "{}")).all()
    labels = [c for c in KEY if not empty[c]]
    if frame["experiment"].nunique() == 1:
        labels.remove("experiment")
    heads = ["A", "B", "B − A", f"{100 * (1 - level):g} % interval", "splits"]
    table = make_table(*labels, *heads, left=len(labels))
    table.add_column("outcome")
    for row in frame.to_dict("records"):
        significant = row["outcome"] in ("a better", "b better", "different")
        values = (row[name] for name in ("mean_a", "mean_b", "difference"))
        a, b, difference = ("–" if math.isnan(v) else f"{v:.4g}" for v in values)
        # from fewer than two splits the interval is infinite
        low, high = row["low"], row["high"]
        interval = f"{low:.3g} to {high:.3g}" if math.isfinite(low) else "–"
        paired = row["paired"] is True
        splits = f"{row['n_a']} paired" if paired else f"{row['n_a']} / {row['n_b']}"
        outcome = _sides(str(row["outcome"]))
        if row["same_settings"] is False:
            outcome += ", other settings"
        texts = [a, b, difference + ("*" if significant else ""), interval, splits, outcome]
        style = "bold" if significant else ""
        # a label that does not apply is None or NaN
        names = [row[name] if isinstance(row[name], str) else "" for name in labels]
        table.add_row(*names, *(Text(text, style=style) for text in texts))
    return table


def _sides(outcome: str) -> str:
    """Write the names of the sides as in the table's head."""
    return re.sub(r"\b[ab]\b", lambda side: side[0].upper(), outcome)
