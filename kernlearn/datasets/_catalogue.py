"""The cards that ship with kernlearn."""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from kernlearn.datasets._card import Card, read_card
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
    cards = (read_card(path) for path in sorted(shipped("datasets").glob("*.yaml")))
    return MappingProxyType({card.name: card for card in cards})


def find_card(name: str) -> Card:
    """Return the shipped card of that name.

    Parameters
    ----------
    name : str
        A data set's name.

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
    cards = catalogue()
    if name in cards:
        return cards[name]
    close = get_close_matches(name, cards)
    advice = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(cards)}"
    raise DataError(f"no data set is called {name!r}; {advice}")
