"""The cards that ship with kernlearn, and those that users put beside their data."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType

from kernlearn.datasets._card import Card, read_card
from kernlearn.datasets._locate import search_path
from kernlearn.exceptions import DataError
from kernlearn.resources import shipped


@cache
def catalogue() -> Mapping[str, Card]:
    """Return the shipped cards, by name.

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
    """Read one card, so that who wants one data set need not read all cards."""
    if not name.isidentifier():
        return None
    path = shipped("datasets") / f"{name}.yaml"
    return read_card(path) if path.is_file() else None


def find_card(name: str, data_dir: str | os.PathLike[str] | None = None) -> Card:
    """Return the card of that name: a shipped one, or a user's own beside the data.

    Parameters
    ----------
    name : str
        A data set's name.
    data_dir : path-like, optional
        A folder to ask before the others of :func:`search_path`.

    Returns
    -------
    Card

    Raises
    ------
    DataError
        If there is none; the message names similar ones, or all.

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
    known = [*catalogue(), *own]
    close = get_close_matches(name, known)
    advice = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"
    raise DataError(f"no data set is called {name!r}; {advice}")


def own_cards(data_dir: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """Return the files of cards that users put into the folders with data, by name.

    Parameters
    ----------
    data_dir : path-like, optional
        A folder to ask before the others of :func:`search_path`.

    Returns
    -------
    dict of str to pathlib.Path
        Without names that a shipped card has; the first folder decides.
    """
    found: dict[str, Path] = {}
    for folder in search_path(data_dir):
        for path in sorted(folder.glob("*.yaml")):
            if _shipped_card(path.stem) is None:
                found.setdefault(path.stem, path)
    return found
