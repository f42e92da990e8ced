"""The commands ``run`` and ``plan``."""

from collections import Counter
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from kernlearn import engine, reports
from kernlearn import store as stores
from kernlearn.cli import options
from kernlearn.cli.report import write_reports
from kernlearn.datasets.room import parse_size
from kernlearn.memory import keep_freed_memory

RetryFailed = Annotated[bool, Option(help="Also run the trials that failed before.")]
Force = Annotated[
    list[str],
    Option(
        metavar="NAME",
        help="Run again what the store has of a data set, kernel, method or experiment, or of "
        "'all'. Can be repeated.",
    ),
]
Only = Annotated[
    list[str],
    Option(
        metavar="LABEL=VALUE,...",
        help="Take matching trials alone, such as dataset=letter,dataset=adult,method=K: those of "
        "both data sets with that method. Can be repeated.",
    ),
]


Jobs = Annotated[int, Option("--jobs", "-j", min=1, help="Trials to run in parallel.")]


def run(
    configs: options.Configs,
    profile: options.Profile = "full",
    splits: options.Splits = None,
    option: options.Settings = [],
    jobs: Jobs = 1,
    executor: Annotated[
        str | None, Option(help="'in-process', 'processes' (on this machine) or 'dask'.")
    ] = None,
    scheduler: Annotated[
        str | None, Option(metavar="tcp://HOST:PORT", help="Address of a running Dask scheduler.")
    ] = None,
    timeout: Annotated[
        float | None, Option(metavar="SECONDS", help="Time limit of a trial.")
    ] = None,
    memory: Annotated[
        str | None, Option(metavar="SIZE", help="Memory limit of a trial, such as 4GB.")
    ] = None,
    allow_contention: Annotated[
        bool, Option(help="Measure times even if trials have to share cores.")
    ] = False,
    only: Only = [],
    retry_failed: RetryFailed = False,
    force: Force = [],
    data_dir: options.DataDir = None,
    max_memory: options.MaxMemory = None,
    store: options.StorePath = options.STORE,
    output: options.Output = options.OUTPUT,
    summary: options.Summary = None,
    available: options.Available = False,
    report: Annotated[
        bool, Option(help="Write and print the tables, figures and page of each experiment.")
    ] = True,
    log_json: Annotated[
        bool, Option(help="Print each event as a line of JSON, instead of tables.")
    ] = False,
) -> None:
    """Run the trials that the store lacks and report the results.

    \b
    Examples:
      kernlearn run quickstart
      kernlearn run table3_1 --profile quick --available
      kernlearn run mine.yaml --jobs 4 --only dataset=letter,method=K
    """  # noqa: D301
    from kernlearn.cli.progress import make_progress

    if summary is not None and not report:
        raise typer.BadParameter("a summary is part of the report", param_hint="--no-report")
    options.check_choice("executor", executor, ("in-process", "processes", "dask"))
    if timeout is not None and not 0 < timeout < float("inf"):
        raise typer.BadParameter("expected a number above 0", param_hint="--timeout")
    most = None if memory is None else parse_size(memory, "--memory")
    choice = _choice(only, retry_failed, force)
    loaded = options.load_experiments(configs, profile, splits, option, data_dir)
    plans = options.make_plans(loaded, data_dir, available, choice=choice)
    options.show_prepared(plans, err=log_json)
    progress = make_progress(log_json)
    # trials of one job are measured in this process
    keep_freed_memory()
    failed = 0
    with stores.Store(store) as opened:
        for plan in plans:
            choice.of(plan)
        try:
            ready = engine.make_executor(
                executor,
                jobs=jobs,
                scheduler=scheduler,
                timeout=timeout,
                memory=most,
                data_dir=data_dir,
            )
            with closing(ready):
                for plan in plans:
                    outcome = engine.run_plan(
                        plan,
                        opened,
                        executor=ready,
                        choice=choice,
                        allow_contention=allow_contention,
                        listener=progress,
                    )
                    failed += outcome.failed + outcome.failed_before
                    if report:
                        whole = _whole(plan, choice, data_dir, opened)
                        written, page = write_reports(whole, opened, output, summary)
                        progress.report_written(_chosen(written, plan, choice, opened), page)
        except KeyboardInterrupt:
            states = [engine.trial_states(plan, opened) for plan in plans]
            done = [state == "cached" for of_plan in states for state in of_plan.values()]
            typer.echo(
                f"Stopped. {sum(done)} of {len(done)} trials are done and kept in "
                f"{opened.path}: run the same command again to continue.",
                err=True,
            )
            raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


def plan(
    configs: options.Configs,
    profile: options.Profile = "full",
    splits: options.Splits = None,
    option: options.Settings = [],
    only: Only = [],
    retry_failed: RetryFailed = False,
    force: Force = [],
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
    available: options.Available = False,
) -> None:
    """List the trials of experiments.

    A trial is new, cached (the store has its result) or failed (with its error). Trials that would
    run come last.

    \b
    Examples:
      kernlearn plan table4_2 --available
    """  # noqa: D301
    choice = _choice(only, retry_failed, force)
    loaded = options.load_experiments(configs, profile, splits, option, data_dir)
    plans = options.make_plans(loaded, data_dir, available, choice=choice)
    with _existing(store) as opened:
        for planned in plans:
            options.show_left_out(planned)
            _show_planned(planned, opened, choice)


def _show_planned(
    plan: "engine.Plan", store: "stores.Store | None", choice: "engine.Choice"
) -> None:
    """List the trials of a plan, those that would run last."""
    states = engine.trial_states(plan, store)
    todo = engine.trials_to_run(plan, states, choice)
    keys, considered = {t.key for t in todo}, choice.of(plan)
    states = {t.key: states[t.key] for t in considered}
    lines = []
    failed = [key for key, state in states.items() if state == "failed"]
    results = store.get(failed) if store is not None and failed else {}
    for trial in [*(t for t in considered if t.key not in keys), *todo]:
        more = f"  {results[trial.key].error}" if trial.key in results else ""
        lines.append(f"{states[trial.key]:7} {trial.key[:10]} {trial.experiment}: {trial}{more}\n")
    typer.echo("".join(lines), nl=False)
    to_run = f"{len(todo)} to run" if todo else "nothing to run"
    typer.echo(f"{_counts(plan, states)}; {to_run}")


def _counts(plan: "engine.Plan", states: "dict[str, engine.run.State]") -> str:
    counts = Counter(states.values())
    numbers = ", ".join(f"{counts[state]} {state}" for state in ("new", "cached", "failed"))
    return f"{plan.experiment.name}: {len(states)} trials: {numbers}"


def _choice(only: list[str], retry_failed: bool, force: list[str]) -> "engine.Choice":
    matches = tuple(map(engine.parse_only, only))
    return engine.Choice(matches, retry_failed, tuple(force))


def _whole(
    plan: "engine.Plan",
    choice: "engine.Choice",
    data_dir: Path | None,
    store: "stores.Store",
) -> "engine.Plan":
    """Return the plan with the data sets that were not chosen, of which the page tells too."""
    if not choice.only:
        return plan
    return options.make_plans([plan.experiment], data_dir, True)[0]


def _chosen(
    report: "reports.Report",
    plan: "engine.Plan",
    choice: "engine.Choice",
    store: "stores.Store",
) -> "reports.Report":
    """Return what is shown of a report: all of it, or the rows that were chosen."""
    if not choice.only:
        return report
    return reports.chosen_part(report, choice.of(plan), store)


def _existing(store: Path) -> "AbstractContextManager[stores.Store | None]":
    """Open a store for reading, if there is one."""
    return options.opened_store(store) if store.exists() else nullcontext()
