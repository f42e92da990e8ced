"""The command ``forks``."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import engine
from kernlearn import store as stores
from kernlearn.cli import options
from kernlearn.cli.outputs import write_text
from kernlearn.datasets.escaping import csv_text
from kernlearn.datasets.resources import shipped


def forks(
    configs: Annotated[
        list[str] | None,
        Argument(metavar="CONFIG", help="Config files (YAML) or names; by default all shipped."),
    ] = None,
    profile: options.Profile = "full",
    splits: options.Splits = None,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, help="Trials to run in parallel.")] = 1,
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
    available: options.Available = False,
    run: Annotated[bool, Option(help="Run the trials that the store lacks.")] = True,
    summary: Annotated[
        Path | None, Option(help="Also write the table as forks.csv to this folder.")
    ] = None,
) -> None:
    """Show what the alternatives to choices that agree with the papers' numbers would give.

    A config lists such choices under `forks`. Each alternative is run, and its verdicts are
    counted over the reported numbers that all alternatives of the choice have measured. An
    alternative whose data are not found is left out.

    \b
    Examples:
      kernlearn forks table3_1 --no-run
    """  # noqa: D301
    from kernlearn.cli.progress import make_progress
    from kernlearn.reports import forks as reports

    names = configs or sorted(path.stem for path in shipped("configs").glob("*.yaml"))
    loaded = options.load_experiments(names, profile, None, [], data_dir)
    found: list[reports.Branch] = []
    with stores.Store(store) as opened:
        for name, experiment in zip(names, loaded, strict=True):
            for fork in experiment.config.forks:
                summaries = {}
                choice = engine.Choice(only=tuple(fork.only))
                not_found: set[str] = set()
                for branch, settings in reports.branches(fork).items():
                    n_splits = splits or fork.splits
                    ways = options.load_experiments([name], profile, n_splits, settings, data_dir)
                    is_chosen = branch == reports.CHOSEN
                    (plan,) = options.make_plans(
                        ways, data_dir, available or not is_chosen, choice
                    )
                    if is_chosen:
                        not_found = set(plan.left_out)
                    elif lacking := [
                        d for d in _lacking(plan, opened, choice, run) if d not in not_found
                    ]:
                        typer.echo(
                            f"{experiment.name}: {fork.choice}: the alternative {branch} is left "
                            f"out, data not found: {', '.join(lacking)}"
                        )
                        continue
                    if run:
                        choice.of(plan)
                        made = engine.make_executor(jobs=jobs, data_dir=data_dir)
                        with closing(made) as ready:
                            engine.run_plan(
                                plan,
                                opened,
                                executor=ready,
                                choice=choice,
                                listener=make_progress(False),
                            )
                    summaries[branch] = reports.summary_of(plan, opened)
                found += reports.judge_fork(experiment.name, fork, experiment.config, summaries)
    if not found:
        typer.echo("kernlearn: these configs state no forks")
        return
    _show(found)
    if summary is not None:
        text = csv_text(reports.fork_table(found), float_format="%.4g")
        write_text(summary / "forks.csv", text, f"{len(found)} branches")


def _lacking(
    plan: "engine.Plan",
    store: "stores.Store",
    choice: "engine.Choice",
    run: bool,
) -> list[str]:
    """Return the data sets that are not found and needed: to plan, or for trials to run."""
    if plan.left_out or not run:
        return plan.left_out
    todo = engine.trials_to_run(plan, engine.trial_states(plan, store), choice)
    return list(dict.fromkeys(str(t.labels["dataset"]) for t in todo if t.source is None))


def _show(found: Any) -> None:
    from kernlearn.reports.forks import MEASURED

    heads = ("experiment", "choice", "", "numbers", *MEASURED, "deviation")
    table = options.make_table(*heads, left=3)
    for branch in found:
        counts = [str(branch.verdicts[verdict] or "·") for verdict in MEASURED]
        labels = (branch.experiment, branch.choice, branch.branch)
        table.add_row(*labels, str(branch.numbers), *counts, f"{branch.deviation:.2f}")
    console = options.make_console()
    console.print(table)
    console.print("deviation: median distance from the reported numbers, in tolerances")
