"""The cards that there are: those shipped, and users' own next to their data."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType

from kernlearn.datasets.card import Card, read_card
from kernlearn.datasets.files import search_path
from kernlearn.datasets.resources import shipped
from kernlearn.exceptions import DataError


@cache
def catalogue() -> Mapping[str, Card]:
    """Return the shipped cards by name.

    Returns
    -------
    mapping of str to Card
        In alphabetical order; read once.

    Raises
    ------
    DataError
        If a card is faulty.

    Examples
    --------
    >>> from kernlearn.datasets import catalogue
    >>> catalogue()["spambase"].n_features
    57
    """
    names = sorted(path.stem for path in shipped("datasets").glob("*.yaml"))
    cards = ((name, _shipped_card(name)) for name in names)
    return MappingProxyType({name: card for name, card in cards if card is not None})


@cache
def _shipped_card(name: str) -> Card | None:
    """Read one shipped card, so that loading one data set does not read all cards."""
    return read_card(shipped("datasets") / f"{name}.yaml") if is_shipped(name) else None


def is_shipped(name: str) -> bool:
    """Tell whether a name is that of a shipped card, without reading it.

    Examples
    --------
    >>> from kernlearn.datasets import is_shipped
    >>> is_shipped("abalone"), is_shipped("mine")
    (True, False)
    """
    return name.isidentifier() and (shipped("datasets") / f"{name}.yaml").is_file()


def find_card(name: str, data_dir: str | os.PathLike[str] | None = None) -> Card:
    """Return the card of a data set: a shipped one, or a user's own next to the data.

    Parameters
    ----------
    name : str
        The data set's name.
    data_dir : path-like, optional
        A folder to search before the others of :func:`search_path`.

    Returns
    -------
    Card

    Raises
    ------
    DataError
        If there is none; the message lists similar names, or all.

    Examples
    --------
    >>> from kernlearn.datasets import find_card
    >>> find_card("ijcnn1").classes
    ('-1', '1')
    """
    if (card := _shipped_card(name)) is not None:
        return card
    own = own_cards(data_dir)
    if name in own:
        return read_card(own[name])
    names = [*catalogue(), *own]
    close = get_close_matches(name, names)
    advice = f"did you mean {' or '.join(close)}?" if close else f"available: {', '.join(names)}"
    raise DataError(f"no data set is called {name!r}; {advice}")


def own_cards(data_dir: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    r"""Return the card files of users in the folders with data, by name.

    Parameters
    ----------
    data_dir : path-like, optional
        A folder to search before the others of :func:`search_path`.

    Returns
    -------
    dict of str to pathlib.Path
        Without the names of shipped cards; of two cards with one name, the first folder's.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.datasets import add, own_cards
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.csv"
    ...     _ = file.write_text("length,colour,kind\n1.5,red,a\n2,blue,b\n")
    ...     _ = add(file, name="mine", folder=folder)
    ...     own_cards(folder)["mine"].name
    'mine.yaml'
    """
    paths: dict[str, Path] = {}
    for folder in search_path(data_dir):
        for path in sorted(folder.glob("*.yaml")):
            if _shipped_card(path.stem) is None:
                paths.setdefault(path.stem, path)
    return paths
