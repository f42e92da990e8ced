"""What a config may name that lies beside it: cards of data sets, and a paper's numbers."""

import csv
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from kernlearn.resources import shipped

_FORMS = re.compile(r"^forms:", re.MULTILINE)


def with_cards(datasets: Any, folder: Path) -> Any:
    """Return the section of data sets with names of cards in a folder as files.

    Parameters
    ----------
    datasets : object
        The section, a mapping of labels to entries; anything else is returned as it is.
    folder : Path
        Folder of the config.

    Returns
    -------
    object
    """
    if not isinstance(datasets, dict):
        return datasets
    return {label: _as_file(label, entry, folder) for label, entry in datasets.items()}


def _as_file(label: str, entry: Any, folder: Path) -> Any:
    if not isinstance(entry, dict) or {"file", "generator"} & entry.keys():
        return entry
    name = entry.get("name", label)
    if not (isinstance(name, str) and name.isidentifier() and _is_card(folder / f"{name}.yaml")):
        return entry
    if (shipped("datasets") / f"{name}.yaml").is_file():
        return entry  # the catalogue's comes first, as everywhere
    return {key: value for key, value in entry.items() if key != "name"} | {"file": f"{name}.yaml"}


def _is_card(path: Path) -> bool:
    try:
        return bool(_FORMS.search(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return False


def reported_path(name: str, folder: Path | None) -> Path:
    """Return the file of reported numbers that a config names.

    Those that come with kernlearn go before those in the config's folder.
    """
    path = shipped("reported") / name
    return path if folder is None or path.is_file() else folder / name


def reported_fault(path: Path, labels: Collection[str]) -> str:
    """Say what is wrong with a file of reported numbers; empty if nothing is.

    Parameters
    ----------
    path : Path
    labels : collection of str
        The labels of the results, which may be columns.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            heads = next(reader, [])
            unknown = [head for head in heads if head not in (*labels, "metric", "mean", "std")]
            if not {"dataset", "method", "metric", "mean"} <= {*heads}:
                return f"{path.name}:1: expected the columns dataset, method, metric, mean"
            if unknown or len({*heads}) < len(heads):
                wrong = f"the column {unknown[0]!r}" if unknown else "a column twice"
                return (
                    f"{path.name}:1: has {wrong}; besides metric, mean and std there may be "
                    f"{', '.join(labels)}"
                )
            for row in reader:
                if len(row) != len(heads):
                    return f"{path.name}:{reader.line_num}: {len(row)} fields under {len(heads)}"
                values = dict(zip(heads, row, strict=True))
                for head in ("mean", "std"):
                    if (head == "mean" or values.get(head)) and not _is_number(values[head]):
                        return f"{path.name}:{reader.line_num}: {head} is not a number"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"{path.name}: cannot be read: {getattr(error, 'strerror', None) or error}"
    return ""


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
