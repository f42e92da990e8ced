"""Cards of data sets beside a config, by whose names it may name the data sets."""

import re
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
