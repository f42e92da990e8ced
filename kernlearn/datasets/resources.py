"""Where the files that are not code lie: configs, cards and reported numbers.

In a checkout they stand beside the package, in a wheel inside it.
"""

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_CHECKOUT = {
    "configs": "configs",
    "datasets": "datasets",
    "reported": "results/reported",
}


def shipped(kind: Literal["configs", "datasets", "reported"]) -> Path:
    """Return the folder of the shipped files of one kind.

    Parameters
    ----------
    kind : {"configs", "datasets", "reported"}
        Experiment configurations, data set cards, or the papers' numbers.

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
