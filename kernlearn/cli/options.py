"""Options that several commands share, and what they make of them: experiments and plans."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kernlearn.experiments.config.model import LoadedExperiment
    from kernlearn.experiments.engine.plan import Plan
    from kernlearn.experiments.store.results import Store


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

#: Where results lie unless another place is named.
STORE = Path("results/runs/store.sqlite")
OUTPUT = Path("results/runs")


def with_splits(settings: Sequence[str], splits: int | None) -> list[str]:
    """Return the settings with ``--splits`` as one of them."""
    return [*settings, *([f"splits={splits}"] if splits is not None else [])]


def load_experiments(
    configs: Sequence[str],
    profile: str,
    splits: int | None,
    settings: Sequence[str],
    data_dir: Path | None = None,
) -> "list[LoadedExperiment]":
    """Check every config before anything runs.

    Raises
    ------
    ConfigError
        With the faults of all of them.
    """
    from kernlearn.exceptions import ConfigError
    from kernlearn.experiments import load_config

    settings = with_splits(settings, splits)
    loaded, faults = [], []
    for config in configs:
        try:
            loaded.append(
                load_config(config, profile=profile, settings=settings, data_dir=data_dir)
            )
        except ConfigError as error:
            faults.append(error)
    if faults:
        raise ConfigError("\n".join(map(str, faults))) from faults[0]
    return loaded


def make_plans(
    experiments: "Sequence[LoadedExperiment]",
    data_dir: Path | None,
    available: bool,
    store: "Store | None" = None,
) -> "list[Plan]":
    """Plan every experiment; one message names all data sets missing from any of them.

    Of data that is not found, a store tells what it was when it was measured: enough to report.

    Raises
    ------
    DataError
        If data sets are missing and ``available`` does not leave them out.
    """
    from kernlearn.datasets import missing_message
    from kernlearn.exceptions import DataError
    from kernlearn.experiments import make_plan, missing_datasets

    measured = {} if store is None else store.datasets()
    if not available:
        missing = {
            card.name: card
            for e in experiments
            for card in missing_datasets(e.config, data_dir, needed=True).values()
            if card.name not in measured
        }
        if missing:
            text = missing_message(missing.values(), data_dir)
            raise DataError(
                f"{text}\n`kernlearn datasets fetch NAME` gets what its publisher serves; with "
                "--available the rest runs without them."
            )
    return [
        make_plan(e, data_dir=data_dir, available=available, stored=measured) for e in experiments
    ]
