"""Checks that the target of a data set fits the task, before data is read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernlearn.exceptions import DataError
from kernlearn.experiments.config.checks import Fault, Names
from kernlearn.experiments.config.reading import file_fault
from kernlearn.experiments.scorers import needs_two_classes

if TYPE_CHECKING:
    from kernlearn.datasets import Card
    from kernlearn.experiments.config.entries import DatasetEntry

#: The tasks of cards whose targets suit a task.
SUITABLE = {
    "classification": ("classification", "ordinal", "similarity"),
    "bipartite_ranking": ("classification", "ordinal", "similarity"),
    "regret": ("classification", "ordinal", "similarity"),
    "regression": ("regression",),
    "ordinal": ("ordinal", "classification"),
    "ranking": ("ranking",),
}
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
    from kernlearn.datasets import find_card, read_card

    try:
        if entry.file is not None:
            path = names.folder / entry.file
            if not path.is_file():
                return  # told elsewhere
            if path.suffix not in (".yaml", ".yml"):
                # without a card it is read as the task needs it
                fault = file_fault(entry, names.task, names.folder, names.scope)
                yield from ((("file",), text) for text in [fault] if text)
                return
            card = read_card(path)
        elif entry.name is None or entry.name in names.scope.datasets:
            return
        elif names.is_card(entry.name):
            card = find_card(entry.name, names.data_dir)
        else:
            return  # told elsewhere
    except DataError as error:
        yield (), str(error)
        return
    yield from (((), text) for text in card_faults(entry, card, names))


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
