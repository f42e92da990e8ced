"""How a data set of a config is read: the arguments of `load`, and the card made for a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn import datasets
from kernlearn.config.registry import Scope

if TYPE_CHECKING:
    from kernlearn.config.entries import DatasetEntry


def nominal_of(entry: "DatasetEntry", scope: Scope) -> str:
    """Return how nominal columns are encoded: those of a user's data one-hot by default.

    Published results have the codes of the catalogue's data sets.
    """
    if entry.nominal is not None:
        return entry.nominal
    of_user = entry.file is not None or (
        entry.name is not None
        and entry.name not in scope.datasets
        and not datasets.is_shipped(entry.name)
    )
    return "onehot" if of_user else "ordinal"


def arguments_of(entry: "DatasetEntry", task: str, folder: Path, scope: Scope) -> dict[str, Any]:
    """Return the arguments of :func:`kernlearn.datasets.load` for an entry."""
    given: dict[str, Any] = {
        "missing": entry.missing,
        "dense": entry.dense,
        "drop": tuple(entry.drop) or None,
    }
    arguments: dict[str, Any] = {"name": entry.name, "nominal": nominal_of(entry, scope)}
    if entry.file is not None:
        arguments["name"] = (folder / entry.file).resolve()
        if not entry.file.endswith((".yaml", ".yml")):
            given |= {"sheet": entry.sheet, "matrix": entry.matrix, "points": entry.points}
            tasks = {"bipartite_ranking": "classification", "ordinal": "ordinal"}
            tasks |= {name: name for name in ("classification", "regression")}
            given["task"] = tasks.get(task) if entry.bins is None else "regression"
            given["task"] = "similarity" if entry.matrix is not None else given["task"]
            given["grades"] = tuple(entry.grades) if entry.grades else None
        given["target"] = entry.target
    return arguments | {key: value for key, value in given.items() if value is not None}


def card_of_file(entry: "DatasetEntry", task: str, folder: Path, scope: Scope) -> datasets.Card:
    """Return the card that is made for a file, which is looked at once.

    A DataError says why it cannot be read as a data set of the task.
    """
    from kernlearn.datasets.finding import find_as

    return find_as(arguments_of(entry, task, folder, scope)).card
