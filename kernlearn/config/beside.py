"""What a config may name that lies beside it: cards of data sets, and a paper's numbers."""

import csv
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from kernlearn.config.checks import Names, unknown
from kernlearn.datasets.resources import shipped

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


def reported_files(folder: Path | None) -> dict[str, Path]:
    """Return the files of reported numbers by name.

    Those in the config's folder come after those that come with kernlearn.
    """
    folders = [shipped("reported"), *([] if folder is None else [folder])]
    return {path.name: path for place in folders[::-1] for path in sorted(place.glob("*.csv"))}


def reported_fault(name: str, names: Names) -> str | None:
    """Say what is wrong with the name of a file of reported numbers, or with the file."""
    found = reported_files(names.folder)
    fault = unknown("reported numbers", name, list(found))
    return fault or _table_fault(found[name], names.all_labels) or None


def variant_fault(name: str, names: Names) -> str | None:
    """Say what is wrong with the name of another config."""
    folders = (names.folder, shipped("configs"))
    return unknown("config", name, {p.stem for f in folders for p in f.glob("*.yaml")})


def _table_fault(path: Path, labels: Collection[str]) -> str:
    """Say what is wrong with a file of reported numbers; its columns may be labels of results."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            heads = next(reader, [])
            strange = [head for head in heads if head not in (*labels, "metric", "mean", "std")]
            if not {"dataset", "method", "metric", "mean"} <= {*heads}:
                return f"{path.name}:1: expected the columns dataset, method, metric, mean"
            if strange or len({*heads}) < len(heads):
                wrong = f"the column {strange[0]!r}" if strange else "a column twice"
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
