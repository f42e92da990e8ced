"""What several commands share: options, the plans that they select, console and tables."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import config as configs
from kernlearn import datasets, engine
from kernlearn import store as stores
from kernlearn.datasets import room
from kernlearn.datasets.escaping import unfiltered
from kernlearn.exceptions import ConfigError, DataError


def _allow_memory(size: str | None) -> str | None:
    """Set the variable that readers look at, in this process and those that it starts."""
    if size is not None:
        room.parse_size(size, "--max-memory")
        os.environ[room.VARIABLE] = size
    return size


Configs = Annotated[
    list[str], Argument(metavar="CONFIG", help="Config files (YAML) or names of shipped configs.")
]
Profile = Annotated[
    str, Option(help="'full', or a profile that the config defines, such as 'quick'.")
]
Splits = Annotated[int | None, Option(min=1, help="Number of random splits.")]
Settings = Annotated[
    list[str],
    Option(
        "-o",
        "--option",
        metavar="KEY=VALUE",
        help="Override a value of the config, such as protocol.seed=1. Can be repeated.",
    ),
]
DataDir = Annotated[
    Path | None, Option(help="Folder to search for data before $KERNLEARN_DATA and ./datasets.")
]
MaxMemory = Annotated[
    str | None,
    Option(
        metavar="SIZE",
        callback=_allow_memory,
        help="Most memory that a step of reading data may take, such as 4GB.",
        show_default="$KERNLEARN_MAX_MEMORY, else half of what is free",
    ),
]
StorePath = Annotated[Path, Option("--store", help="Results store, an SQLite file.")]
Output = Annotated[Path, Option(help="Folder for reports, with a subfolder per experiment.")]
Summary = Annotated[
    Path | None, Option(help="Also write summaries of the results to this folder.")
]
Available = Annotated[bool, Option(help="Leave out data sets that are not found.")]

#: Defaults of :data:`StorePath` and :data:`Output`.
STORE = Path("results/runs/store.sqlite")
OUTPUT = Path("results/runs")

#: Width of an output that is not a terminal.
UNBOUNDED = 10_000


def with_splits(settings: Sequence[str], splits: int | None) -> list[str]:
    """Add ``--splits`` to the settings."""
    return [*settings, *([f"splits={splits}"] if splits is not None else [])]


def load_experiments(
    names: Sequence[str],
    profile: str,
    splits: int | None,
    settings: Sequence[str],
    data_dir: Path | None = None,
) -> list[Any]:
    """Load all configs before anything runs; one error has those of all configs."""
    settings = with_splits(settings, splits)
    loaded, errors = [], []
    for config in names:
        try:
            experiment = configs.load_config(
                config, profile=profile, settings=settings, data_dir=data_dir
            )
            loaded.append(experiment)
        except ConfigError as error:
            errors.append(error)
    if errors:
        raise ConfigError("\n".join(map(str, errors))) from errors[0]
    return loaded


def opened_store(path: Path) -> "stores.Store":
    """Open a store for reading."""
    return stores.Store(path, read_only=True)


def make_plans(
    loaded: Sequence[Any],
    data_dir: Path | None,
    available: bool,
    choice: "engine.Choice | None" = None,
) -> "list[engine.Plan]":
    """Plan all experiments, or the data sets that are chosen; naming all that is missing."""
    from kernlearn.engine.plan import locate_datasets, missing_cards

    labels = [None if choice is None else choice.datasets(e.config) for e in loaded]
    located = [
        (e, locate_datasets(e.config, data_dir, wanted))
        for e, wanted in zip(loaded, labels, strict=True)
    ]
    missing = {
        card.name: card
        for e, places in located
        for label, card in missing_cards(places).items()
        if not e.config.datasets[label].optional
    }
    if missing and not available:
        raise DataError(
            f"{datasets.missing_message(missing.values(), data_dir)}\n`kernlearn datasets fetch "
            "NAME` downloads what its publisher serves; --available runs the rest without them."
        )
    options: dict[str, Any] = {"data_dir": data_dir, "available": available}
    return [
        engine.make_plan(e, located=places, labels=wanted, **options)
        for (e, places), wanted in zip(located, labels, strict=True)
    ]


def make_console() -> Any:
    """Return a console for tables and bars; without a terminal its lines are not broken."""
    from kernlearn.cli.console import VisibleConsole

    stream = unfiltered(sys.stdout)
    console = VisibleConsole(file=stream)
    return console if console.is_terminal else VisibleConsole(file=stream, width=UNBOUNDED)


def make_table(*columns: str, left: int = 1) -> Any:
    """Return an empty table in which all columns but the first `left` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(*columns[:left], box=SIMPLE_HEAD)
    for column in columns[left:]:
        table.add_column(column, justify="right")
    return table


def check_choice(option: str, value: str | None, allowed: Sequence[str]) -> None:
    """Refuse a value of an option that is none of those allowed."""
    if value is not None and value not in allowed:
        raise DataError(f"--{option} {value}: expected one of {', '.join(allowed)}")


def show_prepared(plans: "Sequence[engine.Plan]", *, err: bool = False) -> None:
    """Print what was dropped, coded or filled in of each data set, once."""
    done = {label: one for plan in plans for label, one in plan.preparations.items()}
    for label, preparation in done.items():
        for sentence in preparation.sentences:
            typer.echo(f"{label}: {sentence}", err=err)


def show_left_out(plan: "engine.Plan") -> None:
    """Print which data sets and methods a plan leaves out, if any."""
    name = plan.experiment.name
    if plan.left_out:
        typer.echo(f"{name}: left out, not found: {', '.join(plan.left_out)}")
    if plan.not_installed:
        typer.echo(f"{name}: left out, not installed: {', '.join(plan.not_installed)}")
