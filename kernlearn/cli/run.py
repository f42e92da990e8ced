"""What the command prints of a plan before it is run."""

from collections import Counter
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from kernlearn.cli.options import (
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
from kernlearn.cli.terminal import console
from kernlearn.experiments.engine.environment import duration
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.selection import (
    STATES,
    Choice,
    Estimates,
    State,
    chosen,
    rows_first,
    trial_states,
)
from kernlearn.experiments.store.results import Store


def show_planned(plan: Plan, store: Store | None, choice: Choice) -> None:
    """Print every trial with its state, those that would run last and in their order.

    Parameters
    ----------
    plan : Plan
    store : Store or None
        None where there is none yet.
    choice : Choice
        What a run would be asked for.
    """
    states, estimates = trial_states(plan, store), Estimates.of(plan, store)
    todo = rows_first(chosen(plan, states, choice), plan, estimates)
    taken = {t.key for t in todo}
    lines = []
    for trial in [*(t for t in plan.trials if t.key not in taken), *todo]:
        seconds = estimates.seconds(trial) if trial.key in taken else None
        expected = "" if seconds is None else f"  ({duration(seconds)})"
        state, name = states[trial.key], plan.experiment.name
        lines.append(f"{state:7} {trial.key[:10]} {name}: {trial}{expected}")
    if lines:
        typer.echo("\n".join(lines))
    total = estimates.total(todo)
    time = "time unknown" if total is None else f"about {duration(total)} one at a time"
    to_run = f"; {len(todo)} to run, {time}" if todo else "; nothing to run"
    console.print(f"{_counts(plan, states)}{to_run}", highlight=False, soft_wrap=True)


def show_status(plan: Plan, store: Store | None) -> None:
    """Print how many trials are in which state, and each failure's error.

    Parameters
    ----------
    plan : Plan
    store : Store or None
        None where there is none yet.
    """
    states = trial_states(plan, store)
    console.print(_counts(plan, states), highlight=False)
    failed = [t for t in plan.trials if states[t.key] == "failed"]
    if failed and store is not None:
        results = store.get(t.key for t in failed)
        for trial in failed:
            typer.echo(f"  failed: {trial}: {results[trial.key].error}")


def _counts(plan: Plan, states: dict[str, State]) -> str:
    found = Counter(states.values())
    numbers = ", ".join(f"{found[state]} {state}" for state in STATES)
    return f"{plan.experiment.name}: {len(states)} trials: {numbers}"


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
    from kernlearn.cli.progress import make_progress
    from kernlearn.cli.terminal import write_reports
    from kernlearn.experiments import Store, run_plan
    from kernlearn.experiments.engine.selection import check_choice
    from kernlearn.experiments.executors import make_executor

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
    from kernlearn.cli.terminal import show_left_out

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
    from kernlearn.cli.terminal import show_left_out

    experiments = load_experiments(configs, profile, splits, option, data_dir)
    for plan in make_plans(experiments, data_dir, available):
        show_left_out(plan)
        with _existing(store) as opened:
            show_status(plan, opened)


def _choice(only: list[str], retry_failed: bool, force: list[str]) -> "Choice":
    from kernlearn.experiments.engine.selection import Choice, parse_only

    return Choice(retry_failed, tuple(force), tuple(parse_only(text) for text in only))


def _existing(store: Path) -> "AbstractContextManager[Store | None]":
    """Open a store to read it; where there is none, nothing."""
    from kernlearn.experiments import Store

    return Store.existing(store) if store.exists() else nullcontext()


def _stopped(plans: "list[Plan]", store: "Store") -> str:
    """Say what is done and how to go on."""
    from kernlearn.experiments.engine.selection import trial_states

    states = [state for plan in plans for state in trial_states(plan, store).values()]
    done = states.count("cached")
    return (
        f"Stopped. {done} of {len(states)} trials are done and kept in {store.path}: run the same "
        "command again to go on."
    )
