"""The ``kernlearn`` command: each subcommand a few lines over the library."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernlearn import (
    _datasets_command,
    _goodness_command,
    _rademacher_command,
    _regret_command,
    _store_commands,
)

if TYPE_CHECKING:
    from kernlearn.experiments.config import LoadedExperiment
    from kernlearn.experiments.plan import Plan
    from kernlearn.experiments.store import Store

app = typer.Typer(
    name="kernlearn",
    help="Re-measure the published tables of resource-efficient kernel learning on real data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(_datasets_command.app, name="datasets")
app.command("goodness")(_goodness_command.show_goodness)
app.command("rademacher")(_rademacher_command.show_rademacher)
app.command("regret")(_regret_command.show_regret)
for _name, _command in _store_commands.COMMANDS.items():
    app.command(_name)(_command)

Configs = Annotated[
    list[str], typer.Argument(metavar="CONFIG...", help="YAML files, or names of shipped configs.")
]
Profile = Annotated[str, typer.Option(help="'full', or one of the config's own, such as 'quick'.")]
Splits = Annotated[int | None, typer.Option(min=1, help="Number of random splits.")]
Settings = Annotated[
    list[str], typer.Option("-o", "--option", metavar="KEY=VALUE", help="Override the config.")
]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
]
StorePath = Annotated[Path, typer.Option("--store", help="SQLite file of results.")]
Output = Annotated[Path, typer.Option(help="Folder for reports, one subfolder an experiment.")]
Summary = Annotated[Path | None, typer.Option(help="Folder for the measured summaries.")]
Available = Annotated[bool, typer.Option(help="Leave out data sets that are not found.")]

_STORE = Path("results/runs/store.sqlite")
_OUTPUT = Path("results/runs")


def _version(asked: bool) -> None:
    if asked:
        from kernlearn import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    # Both options act by themselves: --version at once, --debug in main().
    del debug, version


def _load(
    configs: Sequence[str],
    profile: str,
    splits: int | None,
    settings: Sequence[str],
    data_dir: Path | None = None,
) -> "list[LoadedExperiment]":
    """Check every config before anything runs."""
    from kernlearn.exceptions import ConfigError
    from kernlearn.experiments import load_config

    if splits is not None:
        settings = [*settings, f"splits={splits}"]
    loaded, faults = [], []
    for config in configs:
        try:
            loaded.append(
                load_config(config, profile=profile, settings=settings, data_dir=data_dir)
            )
        except ConfigError as error:
            faults.append(str(error))
    if faults:
        raise ConfigError("\n".join(faults))
    return loaded


def _plans(
    experiments: "Sequence[LoadedExperiment]", data_dir: Path | None, available: bool
) -> "list[Plan]":
    """Plan every experiment; one message names all data sets missing from any of them."""
    from kernlearn.datasets import missing_message
    from kernlearn.exceptions import DataError
    from kernlearn.experiments import make_plan, missing_datasets

    if not available:
        found = [missing_datasets(e.config, data_dir, needed=True) for e in experiments]
        missing = list({c.name: c for cards in found for c in cards.values()}.values())
        if missing:
            text = missing_message(missing, data_dir)
            raise DataError(
                f"{text}\n`kernlearn datasets fetch NAME` gets what its publisher serves; with "
                "--available the rest runs without them."
            )
    return [make_plan(e, data_dir=data_dir, available=available) for e in experiments]


def _report(plan: "Plan", store: "Store", output: Path, summary: Path | None) -> None:
    """Write an experiment's report, show its tables and name the page."""
    from kernlearn._console import console, show_tables
    from kernlearn.reports import assemble, write_report, write_summary

    report = assemble(plan, store)
    page = write_report(report, output / plan.experiment.name)
    if summary is not None:
        write_summary(report, summary)
    show_tables(report)
    console.print(f"Report: {page}", soft_wrap=True)


@app.command()
def run(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006  (typer reads the default, nothing changes it)
    jobs: Annotated[int, typer.Option(min=1, help="Trials at a time; times then suffer.")] = 1,
    data_dir: DataDir = None,
    store: StorePath = _STORE,
    output: Output = _OUTPUT,
    summary: Summary = None,
    available: Available = False,
    force: Annotated[bool, typer.Option(help="Run again what the store has.")] = False,
) -> None:
    """Run experiments: only what the store lacks; then write and show their tables."""
    from kernlearn._console import TrialReporter
    from kernlearn.experiments import Store, run_plan

    plans = _plans(_load(configs, profile, splits, option, data_dir), data_dir, available)
    failed = 0
    with Store(store) as opened:
        for plan in plans:
            with TrialReporter(plan, opened, force=force) as reporter:
                try:
                    outcome = run_plan(
                        plan, opened, data_dir=data_dir, jobs=jobs, force=force,
                        on_result=reporter.trial_done,
                    )  # fmt: skip
                except KeyboardInterrupt:
                    typer.echo("Stopped. What is finished is kept: run again to go on.", err=True)
                    raise typer.Exit(130) from None
            failed += outcome.failed
            _report(plan, opened, output, summary)
    if failed:
        raise typer.Exit(1)


@app.command()
def report(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = _STORE,
    output: Output = _OUTPUT,
    summary: Summary = None,
    available: Available = False,
) -> None:
    """Write and show tables from what the store has, running nothing."""
    from kernlearn.experiments import Store

    plans = _plans(_load(configs, profile, splits, option, data_dir), data_dir, available)
    with Store.existing(store) as opened:
        for plan in plans:
            _report(plan, opened, output, summary)


@app.command("plan")
def show_plan(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = _STORE,
    available: Available = False,
) -> None:
    """List the trials of experiments, and which of them are done, failed or new."""
    from kernlearn._console import console, show_left_out, trial_states

    for plan in _plans(_load(configs, profile, splits, option, data_dir), data_dir, available):
        show_left_out(plan)
        for trial, state in trial_states(plan, store):
            console.print(f"{state:7} {trial.key[:10]} {plan.experiment.name}: {trial}",
                          highlight=False, soft_wrap=True)  # fmt: skip


@app.command()
def status(
    configs: Configs,
    profile: Profile = "full",
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = _STORE,
    available: Available = False,
) -> None:
    """Count the trials of experiments: done, failed and new, with every error."""
    from kernlearn._console import show_status

    for plan in _plans(_load(configs, profile, splits, option, data_dir), data_dir, available):
        show_status(plan, store)


@app.command()
def schema() -> None:
    """Print the JSON schema of a config, for editors."""
    import json

    from kernlearn.experiments import ExperimentConfig

    typer.echo(json.dumps(ExperimentConfig.model_json_schema(), indent=2))


@app.command()
def validate(
    configs: Configs,
    profile: Profile = "full",
    option: Settings = [],  # noqa: B006
) -> None:
    """Check configs and say every fault at once; nothing is run."""
    for experiment in _load(configs, profile, None, option):
        typer.echo(f"{experiment.path}: valid")


@app.command("list")
def show_list() -> None:
    """List the shipped configs, and what a config can name."""
    from kernlearn._console import show_components

    show_components()


def main() -> None:
    """Run the command; an error that the user can mend is one message and exit code 2."""
    import sys

    from kernlearn.exceptions import KernlearnError

    try:
        app()
    except KernlearnError as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"kernlearn: {error}", err=True)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # the reader of our output (head, less) has gone: nothing is wrong
        sys.stderr.close()
        raise SystemExit(141) from None
