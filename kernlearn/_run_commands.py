"""The commands that plan, run and count the trials of experiments."""

from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernlearn._options import (
    OUTPUT,
    STORE,
    Available,
    Configs,
    DataDir,
    Output,
    Profile,
    Settings,
    Splits,
    StorePath,
    Summary,
    load_experiments,
    make_plans,
)

if TYPE_CHECKING:
    from kernlearn.experiments.plan import Plan
    from kernlearn.experiments.selection import Choice
    from kernlearn.experiments.store import Store

RetryFailed = Annotated[bool, typer.Option(help="Also trials that failed before.")]
Force = Annotated[
    list[str],
    typer.Option(
        metavar="NAME",
        help="Also what the store has of a data set, kernel, method or experiment, or of 'all'; "
        "may be repeated.",
    ),
]
Only = Annotated[
    list[str],
    typer.Option(
        metavar="LABEL=VALUE,...",
        help="Only such trials, as in dataset=letter,method=K; may be repeated.",
    ),
]


def run(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006  (typer reads the default, nothing changes it)
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Trials at a time.")
    ] = None,
    executor: Annotated[
        str | None, typer.Option(help="in-process, processes (of this machine) or dask.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="A running Dask scheduler.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="End a trial that takes longer.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="End a trial that takes more, as in 4GB.")
    ] = None,
    allow_contention: Annotated[
        bool, typer.Option(help="Measure times although trials share cores.")
    ] = False,
    only: Only = [],  # noqa: B006
    retry_failed: RetryFailed = False,
    force: Force = [],  # noqa: B006
    fail_fast: Annotated[bool, typer.Option(help="Stop at the first trial that fails.")] = False,
    data_dir: DataDir = None,
    store: StorePath = STORE,
    output: Output = OUTPUT,
    summary: Summary = None,
    available: Available = False,
    log_json: Annotated[
        bool, typer.Option(help="One JSON object a line for all that happens, and no tables.")
    ] = False,
) -> None:
    """Run experiments: only what the store lacks; then write and show their tables."""
    from kernlearn._console import write_reports
    from kernlearn._progress import make_progress
    from kernlearn.experiments import Store, run_plan
    from kernlearn.experiments.executors import make_executor
    from kernlearn.experiments.selection import check_choice

    given = {
        "executor": executor, "jobs": jobs, "scheduler": scheduler, "timeout": timeout,
        "memory": memory,
    }  # fmt: skip
    option = [*option, *(f"execution.{k}={v}" for k, v in given.items() if v is not None)]
    choice = _choice(only, retry_failed, force)
    experiments = load_experiments(configs, profile, splits, option, data_dir)
    plans = make_plans(experiments, data_dir, available)
    progress = make_progress(log_json)
    failed = 0
    with Store(store) as opened:
        for plan in plans:
            # what names nothing is said before anything runs
            check_choice(plan, choice)
        try:
            for plan in plans:
                execution = plan.experiment.config.execution
                with closing(make_executor(execution, data_dir)) as executing:
                    outcome = run_plan(
                        plan, opened, executor=executing, choice=choice, fail_fast=fail_fast,
                        allow_contention=allow_contention, listener=progress,
                    )  # fmt: skip
                failed += outcome.failed + outcome.failed_before
                progress.report_written(*write_reports(plan, opened, output, summary))
                if outcome.failed and fail_fast:
                    break
        except KeyboardInterrupt:
            typer.echo(_stopped(plans, opened), err=True)
            raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


def show_plan(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    only: Only = [],  # noqa: B006
    retry_failed: RetryFailed = False,
    force: Force = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = STORE,
    available: Available = False,
) -> None:
    """List the trials of experiments: new, cached, failed or stale, and how long they will take.

    A stale trial has numbers in the store that were measured under other settings.
    Those that would run come last, in the order in which they would.
    """
    from kernlearn._console import show_left_out
    from kernlearn._plans import show_planned

    choice = _choice(only, retry_failed, force)
    experiments = load_experiments(configs, profile, splits, option, data_dir)
    for plan in make_plans(experiments, data_dir, available):
        show_left_out(plan)
        with _existing(store) as opened:
            show_planned(plan, opened, choice)


def status(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = STORE,
    available: Available = False,
) -> None:
    """Count the trials of experiments: new, cached, failed and stale, with every error."""
    from kernlearn._console import show_left_out
    from kernlearn._plans import show_status

    experiments = load_experiments(configs, profile, splits, option, data_dir)
    for plan in make_plans(experiments, data_dir, available):
        show_left_out(plan)
        with _existing(store) as opened:
            show_status(plan, opened)


def _choice(only: list[str], retry_failed: bool, force: list[str]) -> "Choice":
    from kernlearn.experiments.selection import Choice, parse_only

    return Choice(retry_failed, tuple(force), tuple(parse_only(text) for text in only))


def _existing(store: Path) -> "AbstractContextManager[Store | None]":
    """Open a store to read it; where there is none, nothing."""
    from kernlearn.experiments import Store

    return Store.existing(store) if store.exists() else nullcontext()


def _stopped(plans: "list[Plan]", store: "Store") -> str:
    """Say what is done and how to go on."""
    from kernlearn.experiments.selection import trial_states

    states = [state for plan in plans for state in trial_states(plan, store).values()]
    done = states.count("cached")
    return (
        f"Stopped. {done} of {len(states)} trials are done and kept in {store.path}: run the same "
        "command again to go on."
    )
