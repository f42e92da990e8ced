"""Checks that the target of a data set fits the task, before data is read."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kernlearn.config.checks import Fault, Names
from kernlearn.config.reading import card_of_file
from kernlearn.config.scorers import needs_two_classes
from kernlearn.datasets.grades import are_numbers
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from kernlearn.config.entries import DatasetEntry
    from kernlearn.datasets import Card

#: The tasks of cards whose targets suit a task.
SUITABLE = {
    "classification": ("classification", "ordinal", "similarity"),
    "bipartite_ranking": ("classification", "ordinal", "similarity"),
    "regret": ("classification", "ordinal", "similarity"),
    "regression": ("regression",),
    "ordinal": ("ordinal", "classification"),
    "ranking": ("ranking",),
}
_FEW = 20  # more different numbers with fractions are no classes
# What a target holds, by the task of its card.
_HOLDS = {
    "classification": "classes",
    "ordinal": "grades",
    "similarity": "classes",
    "regression": "numbers",
    "ranking": "relevances of queries' documents",
}


def target_faults(entry: "DatasetEntry", names: Names) -> Iterator[Fault]:
    """Yield what is wrong with the target of a data set, as far as its card tells."""
    if entry.generator is not None:
        made = names.scope.generators[entry.generator]
        if names.task in ("regression", "ranking") and not getattr(made, "plugin", ""):
            kind = "numbers" if names.task == "regression" else _HOLDS["ranking"]
            yield (), f"{entry.generator} draws classes, and `task: {names.task}` needs {kind}"
        return
    if entry.file is not None:
        path = names.folder / entry.file
        if not os.path.isfile(path):  # noqa: PTH113  (raises for no name)
            return  # a fault that is reported elsewhere
        if path.suffix not in (".yaml", ".yml"):
            yield from _file_faults(entry, path, names)
            return
    elif entry.name in names.scope.datasets:
        return
    try:
        card = named_card(entry, names)
    except DataError as error:
        yield (), str(error)
        return
    if card is not None:  # else the fault is reported elsewhere
        yield from (((), text) for text in card_faults(entry, card, names))


def named_card(entry: "DatasetEntry", names: Names) -> "Card | None":
    """Return the card of a data set by its file or its name; None if there is no such name."""
    from kernlearn.datasets import find_card, read_card

    if entry.file is not None:
        return read_card(names.folder / entry.file)
    if entry.name is not None and names.is_card(entry.name):
        return find_card(entry.name, names.data_dir)
    return None


def _file_faults(entry: "DatasetEntry", path: Path, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with the target of a file, which is read as the task needs it."""
    try:
        card = card_of_file(entry, names.task, names.folder, names.scope)
    except DataError as error:
        yield ("file",), str(error)
        return
    yield from ((("file",), text) for text in card_faults(entry, card, names))
    labels = card.classes or ()
    fractions = [label for label in labels if not label.lstrip("-").isdecimal()]
    many = names.task == "classification" and len(labels) > _FEW
    if many and fractions and are_numbers(labels):
        yield (
            ("file",),
            f"{path.name} has numbers to predict, {len(labels)} different ones such as "
            f"{fractions[0]}, and `task: classification` needs classes; it suits "
            "`task: regression`",
        )


def card_faults(entry: "DatasetEntry", card: "Card", names: Names) -> Iterator[str]:
    """Yield what is wrong with the target of a card."""
    holds = _HOLDS[card.task]
    if entry.bins is not None and card.task != "regression":
        yield f"bins cut numbers into grades, and {card.name} has {holds}"
    elif names.task == "ordinal" and card.task == "regression":
        if entry.bins is None:
            yield f"{card.name} has numbers to predict: `bins` cuts them into grades"
    elif card.task not in SUITABLE.get(names.task, (card.task,)):
        needed = " or ".join(dict.fromkeys(_HOLDS[kind] for kind in SUITABLE[names.task][:1]))
        hint = f"; it suits `task: {_task_of(card)}`"
        yield f"{card.name} has {holds} to predict, and `task: {names.task}` needs {needed}{hint}"
    if card.task == "similarity" and (names.scale if entry.scale is None else entry.scale):
        yield f"{card.name} is a matrix of similarities, without features to scale: `scale: []`"
    yield from _class_faults(entry, card, names)


def _task_of(card: "Card") -> str:
    return "classification" if card.task == "similarity" else card.task


def _class_faults(entry: "DatasetEntry", card: "Card", names: Names) -> Iterator[str]:
    """Yield metrics that are defined for two classes, where there are more."""
    classes = entry.classes or card.classes or ()
    if names.task not in ("classification", "ordinal") or entry.binarize is not None:
        return
    for name in names.metrics if len(classes) > 2 else ():
        metric = names.scope.metrics.get(name)
        if metric is not None and needs_two_classes(metric):
            instead = {"roc_auc": "roc_auc_ovr", "average_precision": "roc_auc_ovr"}
            other = instead.get(metric.scorer, f"{metric.scorer}_macro")
            other = f"take {other}, or " if other in names.scope.metrics else ""
            yield (
                f"the metric {name} is for two classes, and {card.name} has {len(classes)}: "
                f"{other}give the data set `binarize`"
            )
