"""Comparing the data that is here with what the cards say."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kernlearn.datasets.card import Card
from kernlearn.datasets.lookup import catalogue, find_card, locate
from kernlearn.exceptions import DataError

State = Literal["ok", "differs", "damaged", "missing", "unknown"]

# what load says of files that read well and hold something else
_COUNTED = re.compile(r": found \d+ (rows|features)\b.*, expected -?\d+")


@dataclass(frozen=True)
class Verified:
    """What the comparison of one data set with its card gave.

    Parameters
    ----------
    name : str
        The data set.
    state : {"ok", "differs", "damaged", "missing", "unknown"}
        The content is that of the card; it reads well, but is another; it does not read;
        it is not there; or it reads well and the card has no fingerprint.
    paths : tuple of pathlib.Path
        Its files.
    remark : str
        What differs, or is damaged and where.
    fingerprint : str
        The content's fingerprint; empty where there is none.
    """

    name: str
    state: State
    paths: tuple[Path, ...] = ()
    remark: str = ""
    fingerprint: str = ""


def verify(
    names: str | Card | Iterable[str | Card] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
) -> list[Verified]:
    """Read data sets anew and compare rows, classes and content with their cards.

    Parameters
    ----------
    names : str, Card or iterable of these, optional
        The data sets; by default all of the :func:`catalogue`.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.

    Returns
    -------
    list of Verified
        One for each name.

    Raises
    ------
    DataError
        If a name is not known.

    Examples
    --------
    >>> from kernlearn.datasets import verify
    >>> [(result.name, result.state) for result in verify(["iris", "diabetes_sklearn"])]
    [('iris', 'ok'), ('diabetes_sklearn', 'unknown')]
    """
    if names is None:
        cards = list(catalogue().values())
    else:
        wanted = [names] if isinstance(names, str | Card) else names
        cards = [find_card(name) if isinstance(name, str) else name for name in wanted]
    return [_verify_card(card, data_dir) for card in cards]


def _verify_card(card: Card, data_dir: str | os.PathLike[str] | None) -> Verified:
    from kernlearn.datasets.loading import load

    try:
        found = locate(card, data_dir)
        if found is None:
            return Verified(card.name, "missing", remark=" + ".join(card.forms[0].files))
        # a parsed copy says nothing of the files
        content: str = load(card, data_dir=data_dir, cache=False).fingerprint
    except DataError as error:
        paths = found.paths if found else ()
        state: State = "differs" if _COUNTED.search(str(error)) else "damaged"
        return Verified(card.name, state, paths, str(error))
    form = found.form
    if form.fingerprint is None:
        return Verified(card.name, "unknown", found.paths, "the card has no fingerprint", content)
    if content == form.fingerprint:
        return Verified(card.name, "ok", found.paths, form.note, content)
    remark = f"the content's fingerprint is {content[:12]}, the card's {form.fingerprint[:12]}"
    return Verified(card.name, "differs", found.paths, remark, content)
