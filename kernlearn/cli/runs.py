"""The command ``runs``."""

import typer

from kernlearn import engine
from kernlearn.cli import options


def runs(store: options.StorePath = options.STORE) -> None:
    """List the runs of a store, with the numbers by which `compare` knows them.

    \b
    Examples:
      kernlearn runs
      kernlearn compare 1 2
    """  # noqa: D301
    with options.opened_store(store) as opened:
        recorded = opened.runs()
        counts = opened.counts_by_run()
    if not recorded:
        typer.echo(f"{store}: no runs")
        return
    table = options.make_table("run", "started (UTC)", "experiment", "profile", left=4)
    for head in ("trials", "failed", "replaced", "time", "jobs"):
        table.add_column(head, justify="right")
    table.add_column("settings")
    for run in recorded:
        done, failed, replaced, seconds = counts.get(run.number, (0, 0, 0, 0.0))
        table.add_row(
            str(run.number),
            run.started[:16].replace("T", " "),
            run.experiment,
            run.profile,
            str(done),
            str(failed or "–"),
            str(replaced or "–"),
            engine.selection.duration(seconds),
            str(run.jobs),
            ", ".join(run.settings),
        )
    options.make_console().print(table)
    typer.echo(
        "trials: whose results the store uses or keeps; replaced: those that a later run measured "
        "again; time: of all trials, one after the other"
    )
    last: dict[str, list[int]] = {}
    for run in recorded:
        if sum(counts.get(run.number, (0,))[:1]):
            last.setdefault(run.experiment, []).append(run.number)
    pair = next((numbers[-2:] for numbers in last.values() if len(numbers) > 1), None)
    if pair:
        option = "" if store == options.STORE else f" --store {store}"
        typer.echo(f"`kernlearn compare {pair[0]} {pair[1]}{option}` compares two runs.")
