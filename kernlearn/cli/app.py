"""The ``kernlearn`` command and its short subcommands."""

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer import Argument, Option

import kernlearn
from kernlearn.cli import (
    analysis,
    datasets,
    equivalence,
    forks,
    goodness,
    init,
    ranks,
    report,
    run,
    show,
    store,
    terminal,
)
from kernlearn.cli.options import Configs, Profile, Settings, load_experiments
from kernlearn.datasets.resources import shipped
from kernlearn.exceptions import KernlearnError

app = typer.Typer(
    name="kernlearn",
    help="Reproduce the published experiments on resource-efficient kernel learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for help texts takes longer than all else
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for command in (
    init.init,
    show.show,
    run.plan,
    run.run,
    report.report,
    store.compare,
    ranks.ranks,
    equivalence.equivalence,
    report.check,
    forks.forks,
    store.export,
    store.merge,
    goodness.goodness,
    analysis.rademacher,
    analysis.regret,
):
    app.command()(command)
app.add_typer(datasets.app, name="datasets")


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(kernlearn.__version__)
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    debug: Annotated[bool, Option(help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    # --version acts in its callback, --debug in main()
    del debug, version
    context.color = True  # escapes in names are written out, not taken away


@app.command()
def validate(configs: Configs, profile: Profile = "full", option: Settings = []) -> None:
    """Check config files and list all errors.

    \b
    Examples:
      kernlearn validate mine.yaml
    """  # noqa: D301
    for experiment in load_experiments(configs, profile, None, option):
        typer.echo(f"{experiment.path}: valid")


@app.command("list")
def show_list(
    config: Annotated[str | None, Argument(help="Also list the plug-ins of this config.")] = None,
) -> None:
    """List the shipped configs and the names that a config can use.

    \b
    Examples:
      kernlearn list
      kernlearn list mine.yaml
    """  # noqa: D301
    from kernlearn.config import plugins, read
    from kernlearn.config.names import TASKS
    from kernlearn.datasets.drawn_rows import STREAMS
    from kernlearn.datasets.yaml import read_yaml
    from kernlearn.kernels.registry import LIBRARIES

    def marked(text: str, component: object) -> str:
        plugin = getattr(component, "plugin", "")
        return f"{text} ({plugin})".lstrip() if plugin else text

    scope = plugins.installed_plugins() if config is None else read.load_scope(config)
    configs = sorted(shipped("configs").glob("*.yaml"))
    cards: dict[str, Any] = {**kernlearn.datasets.catalogue(), **scope.datasets}
    measured = {task: scope.task_metrics(task) for task in TASKS}
    scorers = {name for name, metric in scope.metrics.items() if metric.scorer}
    sections = {
        "Configs": {path.stem: read_yaml(path)[0]["title"] for path in configs},
        "Data sets": {n: marked(d.title, d) for n, d in sorted(cards.items())},
        "Generators": {n: marked(g.title, g) for n, g in sorted(scope.generators.items())},
        "Streams": {n: one.title for n, one in STREAMS.items()},
        "Kernels": {n: marked(c.summary, c) for n, c in scope.kernels.items()},
        "Similarities of libraries": {
            name: f"{', '.join(sorted(library.kinds))} ({library.about})"
            for name, library in sorted(LIBRARIES.items())
        },
        "Estimators": {n: marked(c.summary, c) for n, c in scope.estimators.items()},
        "Metrics": {
            task: ", ".join(marked(n, scope.metrics[n]) for n in names if n not in scorers)
            for task, names in measured.items()
        },
        "Scorers of scikit-learn": {
            task: ", ".join(found)
            for task, names in measured.items()
            if (found := [n for n in names if n in scorers])
        },
    }
    for title, entries in sections.items():
        terminal.write_heading(title)
        width = max(map(len, entries), default=0)
        for name, text in entries.items():
            typer.echo(f"  {name:{width}}  {text}")
    for fault in scope.broken:
        typer.echo(f"kernlearn: {fault}", err=True)


def main() -> None:
    """Run the command; a user's error is one message on standard error and exit code 2.

    So is what the operating system refuses: a full disk, a folder that is gone or not writable.
    """
    terminal.prepare_output()
    try:
        try:
            app()
        finally:
            terminal.flush_output()
    except KernlearnError as error:
        _fail(error, str(error))
    except MemoryError as error:
        _fail(error, str(error) or "more memory is needed than there is; fewer points need less")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        _fail(error, terminal.said(error))


def _fail(error: Exception, message: str) -> NoReturn:
    if "--debug" in sys.argv:
        raise error
    typer.echo(f"kernlearn: {message}", err=True, color=True)
    raise SystemExit(2) from None
