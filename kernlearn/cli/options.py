"""Options that several commands share, and the experiments and plans that they select."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn import datasets, experiments
from kernlearn.exceptions import ConfigError, DataError

if TYPE_CHECKING:
    from kernlearn.experiments.config.model import LoadedExperiment
    from kernlearn.experiments.engine.plan import Plan
    from kernlearn.experiments.store.results import Store


Configs = Annotated[
    list[str],
    typer.Argument(metavar="CONFIG", help="Config files (YAML) or names of shipped configs."),
]
Profile = Annotated[
    str, typer.Option(help="'full', or a profile that the config defines, such as 'quick'.")
]
Splits = Annotated[int | None, typer.Option(min=1, help="Number of random splits.")]
Settings = Annotated[
    list[str],
    typer.Option(
        "-o", "--option", metavar="KEY=VALUE",
        help="Override a value of the config, such as protocol.seed=1. Can be repeated.",
    ),
]  # fmt: skip
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder to search for data before $KERNLEARN_DATA and ./datasets."),
]
StorePath = Annotated[Path, typer.Option("--store", help="Results store, an SQLite file.")]
Output = Annotated[Path, typer.Option(help="Folder for reports, with a subfolder per experiment.")]
Summary = Annotated[
    Path | None, typer.Option(help="Also write summaries of the results to this folder.")
]
Available = Annotated[bool, typer.Option(help="Leave out data sets that are not found.")]

#: Default of :data:`StorePath`.
STORE = Path("results/runs/store.sqlite")
#: Default of :data:`Output`.
OUTPUT = Path("results/runs")


def with_splits(settings: Sequence[str], splits: int | None) -> list[str]:
    """Add ``--splits`` to the settings."""
    return [*settings, *([f"splits={splits}"] if splits is not None else [])]


def load_experiments(
    configs: Sequence[str],
    profile: str,
    splits: int | None,
    settings: Sequence[str],
    data_dir: Path | None = None,
) -> "list[LoadedExperiment]":
    """Load all configs before anything runs.

    Raises
    ------
    ConfigError
        With the errors of all configs.
    """
    settings = with_splits(settings, splits)
    loaded, errors = [], []
    options: dict[str, Any] = {"profile": profile, "settings": settings, "data_dir": data_dir}
    for config in configs:
        try:
            loaded.append(experiments.load_config(config, **options))
        except ConfigError as error:
            errors.append(error)
    if errors:
        raise ConfigError("\n".join(map(str, errors))) from errors[0]
    for old, new in {k: v for e in loaded for k, v in e.renamed.items()}.items():
        typer.echo(
            f"kernlearn: the kernel {old} is now named {new}; the old name still works", err=True
        )
    return loaded


def make_plans(
    loaded: "Sequence[LoadedExperiment]",
    data_dir: Path | None,
    available: bool,
    store: "Store | None" = None,
) -> "list[Plan]":
    """Plan all experiments; one message names every missing data set.

    A data set that is not found but was measured in the store is planned as the store records
    it: enough for a report.

    Raises
    ------
    DataError
        If data sets are missing and not left out with ``available``.
    """
    from kernlearn.experiments.engine.plan import locate_datasets, missing_cards

    measured = {} if store is None else store.datasets()
    located = [locate_datasets(e.config, data_dir) for e in loaded]
    if not available:
        missing = {
            card.name: card
            for e, places in zip(loaded, located, strict=True)
            for label, card in missing_cards(places).items()
            if not e.config.datasets[label].optional and card.name not in measured
        }
        if missing:
            text = datasets.missing_message(missing.values(), data_dir)
            raise DataError(
                f"{text}\n`kernlearn datasets fetch NAME` downloads what its publisher serves; "
                "--available runs the rest without them."
            )
    options: dict[str, Any] = {"data_dir": data_dir, "available": available, "stored": measured}
    return [
        experiments.make_plan(e, located=places, **options)
        for e, places in zip(loaded, located, strict=True)
    ]
