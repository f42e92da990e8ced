"""The ``kernlearn`` command: each subcommand a few lines over the library."""

from typing import Annotated

import typer

from kernlearn.cli import datasets, goodness, rademacher, regret, report, run, store
from kernlearn.cli.options import Configs, Profile, Settings, load_experiments

app = typer.Typer(
    name="kernlearn",
    help="Re-measure the published tables of resource-efficient kernel learning on real data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(datasets.app, name="datasets")
app.command("run")(run.run)
app.command("plan")(run.show_plan)
app.command("status")(run.status)
app.command("report")(report.report)
app.command("check")(report.check)
app.command("goodness")(goodness.show_goodness)
app.command("rademacher")(rademacher.show_rademacher)
app.command("regret")(regret.show_regret)
for _name, _command in store.COMMANDS.items():
    app.command(_name)(_command)


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
    for experiment in load_experiments(configs, profile, None, option):
        typer.echo(f"{experiment.path}: valid")


@app.command("list")
def show_list(
    config: Annotated[
        str | None, typer.Argument(help="A config whose plug-ins are loaded and listed too.")
    ] = None,
) -> None:
    """List the shipped configs, and what a config can name."""
    from kernlearn.cli.terminal import show_components
    from kernlearn.experiments.config.loading import load_scope
    from kernlearn.experiments.plugins import installed_plugins

    show_components(installed_plugins() if config is None else load_scope(config))


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
