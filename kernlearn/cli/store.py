"""The commands ``export``, ``merge`` and ``compare`` on results stores."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import reports
from kernlearn import store as stores
from kernlearn.cli.options import (
    STORE,
    StorePath,
    make_console,
    make_table,
    opened_store,
)
from kernlearn.cli.outputs import write_text
from kernlearn.cli.terminal import write_data
from kernlearn.config.spec import canonical
from kernlearn.datasets.escaping import csv_text
from kernlearn.exceptions import ReportError, StoreError

# Conflicts of a merge that are shown.
_SHOWN = 20
# The name of the form of open records.
_CRATE = "ro-crate"


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
    params (JSON), metric, split (from 0), value and key.

    A record (ro-crate) is a folder, or a .zip file, in the form of a Workflow Run RO-Crate: the
    config, fingerprints of the data, environment, numbers, verdicts, claims and a badge.

    \b
    Examples:
      kernlearn export --output numbers.csv
      kernlearn export --experiment vkr_table1 --format json
      kernlearn export --experiment table3_1 --format ro-crate --output table3_1.zip
    """  # noqa: D301
    if form == _CRATE:
        with opened_store(store) as opened:
            _export_crate(
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
        form = suffix if suffix in reports.export.FORMATS else "csv"
    if form not in reports.export.FORMATS:
        allowed = ", ".join((*reports.export.FORMATS, _CRATE))
        raise StoreError(f"--format {form}: expected one of {allowed}")
    if output is None and form == "parquet":
        raise StoreError("--format parquet: name a file with --output")
    with opened_store(store) as opened:
        rows = reports.export.tidy_rows(opened, experiment)
        if output is None:
            write_data(reports.export.export_text(rows, form))
        else:
            typer.echo(f"{output}: {reports.export.export_file(rows, output, form)} rows")


def _export_crate(
    store: "stores.Store",
    output: Path | None,
    names: Sequence[str],
    configs: Sequence[Path],
    **attributed: str,
) -> None:
    """Write the record of the one experiment of a store that is named, and say what it has.

    `attributed` are the license, author and affiliation.
    """
    from kernlearn.reports.crate import Attribution, write_crate
    from kernlearn.reports.stored import stored_plans

    if output is None:
        raise StoreError(f"--format {_CRATE}: name a folder, or a .zip file, with --output")
    wanted = {*names, *(path.stem for path in configs)}
    plans, skipped = stored_plans(store, configs=configs)
    there = [plan.experiment.name for plan in plans]
    chosen = [plan for plan in plans if not wanted or plan.experiment.name in wanted]
    if len(chosen) != 1:
        reasons = "".join(
            f"\n  {one.name}: {one.reason}" for one in skipped if not wanted or one.name in wanted
        )
        what = "a record is of one experiment; name it with --experiment"
        raise ReportError(
            f"{store.path}: {what}; there are: {', '.join(there) or 'none'}{reasons}"
        )
    written = write_crate(chosen[0], store, output, Attribution(**attributed))
    typer.echo(
        f"{output}: {chosen[0].experiment.name}, {written.files} files, {written.entities} "
        f"entities, {written.size} bytes"
    )


def merge(
    paths: Annotated[
        list[Path],
        Argument(metavar="SRC... DEST", help="Source stores, then the store to merge into."),
    ],
) -> None:
    """Merge stores into another one.

    The destination is created if it does not exist. A trial with the same numbers on both sides is
    kept as measured first. Different numbers are shown as conflicts, in which the destination's
    are kept, and make the exit code 1. Each
    source is merged completely or not at all.

    \b
    Examples:
      kernlearn merge laptop.sqlite server.sqlite all.sqlite
    """  # noqa: D301
    *sources, destination = paths
    if not sources:
        raise StoreError("merge: expected at least one source and the store to merge into")
    conflicts = 0
    for source in sources:
        with opened_store(source) as theirs, stores.Store(destination) as ours:
            summary = ours.merge(theirs)
        conflicts += len(summary.conflicts)
        typer.echo(
            f"{source} into {destination}: {summary.added} trials added, {summary.same} the same, "
            f"{len(summary.conflicts)} in conflict"
        )
        for row in summary.conflicts[:_SHOWN]:
            place = f"{row.experiment} {row.key[:10]} {canonical(row.labels)}"
            typer.echo(f"  conflict, kept the destination's: {place}")
        if len(summary.conflicts) > _SHOWN:
            typer.echo(f"  and {len(summary.conflicts) - _SHOWN} more")
    if conflicts:
        raise typer.Exit(1)


def compare(
    run_a: Annotated[
        str,
        Argument(metavar="STORE_A", help="A store."),
    ],
    run_b: Annotated[str, Argument(metavar="STORE_B", help="The store to compare it with.")],
    metric: Annotated[
        list[str], Option(metavar="NAME", help="Compare only this metric. Can be repeated.")
    ] = [],
    changed: Annotated[bool, Option("--changed", help="Show only cells that changed.")] = False,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Also write all cells to this CSV file.")
    ] = None,
) -> None:
    """Compare two stores, cell by cell.

    The t-tests are paired where both sides have the same splits. Significant differences are
    bold and marked with *.

    \b
    Examples:
      kernlearn compare old.sqlite new.sqlite --metric accuracy
    """  # noqa: D301
    from kernlearn.reports import comparison

    sides = a, b = comparison.read_side(run_a), comparison.read_side(run_b)
    available = {name for side in sides for row in side.rows for name in row.metrics}
    unknown = [name for name in metric if name not in available]
    if unknown:
        raise StoreError(
            f"--metric {', '.join(unknown)}: neither has it; there are: "
            f"{', '.join(sorted(available)) or 'none'}"
        )
    frame = comparison.compare(a, b, metrics=metric)
    for name, side in zip("AB", sides, strict=True):
        typer.echo(f"{name}: {side.name}: {len(side.rows)} trials")
    for line in comparison.different_environments(a, b):
        typer.echo(f"  differs: {line}")
    one_sided = frame["outcome"].isin(["only a", "only b"])
    shown = frame[~frame["outcome"].isin(["same", "undecided"])] if changed else frame
    shown = shown[~one_sided[shown.index]]
    if len(shown):
        make_console().print(_table(shown))
    outcomes = frame["outcome"].value_counts().items()
    counts = ", ".join(f"{n} {_sides(str(outcome))}" for outcome, n in outcomes)
    typer.echo(f"{len(frame)} cells: {counts or 'nothing to compare'}")
    if one_sided.all() and len(frame):
        typer.echo(comparison.nothing_shared(a, b))
    elif one_sided.any():
        typer.echo("Cells of one side alone are not shown; --output writes them.")
    if output is not None:
        write_text(output, csv_text(frame), f"{len(frame)} cells")


def _table(frame: Any) -> Any:
    from rich.text import Text

    from kernlearn.reports.summary import KEY

    # labels that are the same empty value everywhere say nothing
    empty = (frame[KEY].isna() | (frame[KEY] == "{}")).all()
    labels = [c for c in KEY if not empty[c]]
    if frame["experiment"].nunique() == 1:
        labels.remove("experiment")
    heads = ["A", "B", "B − A", "95 % interval", "splits"]
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
