"""Where the files that are not code lie: configs, cards, reported numbers, the glossary.

In a checkout they stand beside the package, in a wheel inside it.
"""

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_CHECKOUT = {
    "configs": "configs",
    "datasets": "datasets",
    "reported": "results/reported",
    "glossary": "docs",
}


def shipped(kind: Literal["configs", "datasets", "reported", "glossary"]) -> Path:
    """Return the folder of the shipped files of one kind.

    Parameters
    ----------
    kind : {"configs", "datasets", "reported", "glossary"}
        Experiment configurations, data set cards, the papers' numbers, or ``glossary.md``.

    Returns
    -------
    pathlib.Path
        An existing folder.

    Raises
    ------
    FileNotFoundError
        If the installation lacks the folder.
    """
    inside = _PACKAGE / "_shipped" / kind
    beside = _PACKAGE.parent / _IN_CHECKOUT[kind]
    for folder in (inside, beside):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"kernlearn is installed without its {kind}: neither {inside} nor {beside}"
    )
