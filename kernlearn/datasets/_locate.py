"""Where data is looked for, what was found, and what to tell the user if it was not."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kernlearn.datasets._cache import cache_folder
from kernlearn.datasets._card import Card, Form
from kernlearn.datasets._text import COMPRESSED


class Found(NamedTuple):
    """The files of a data set on this machine.

    Attributes
    ----------
    form : Form
        The form in which the data set was found.
    paths : tuple of pathlib.Path
        Its files, in the form's order; empty if it needs none.
    """

    form: Form
    paths: tuple[Path, ...]


def search_path(data_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the folders in which data is looked for, the first to be asked first.

    Parameters
    ----------
    data_dir : path-like, optional
        A folder to ask before all others.

    Returns
    -------
    list of pathlib.Path
        ``data_dir``; the folders named by the environment variable ``KERNLEARN_DATA``
        (separated as in ``PATH``); ``datasets`` in the current folder; the user's cache.
        They need not exist.

    Examples
    --------
    >>> from kernlearn.datasets import search_path
    >>> search_path("my_data")[0].name
    'my_data'
    """
    named = [] if data_dir is None else [os.fspath(data_dir)]
    named += [part for part in os.environ.get("KERNLEARN_DATA", "").split(os.pathsep) if part]
    folders = [Path(part).expanduser() for part in named]
    folders += [Path("datasets"), cache_folder() / "datasets"]
    return list(dict.fromkeys(folders))


def locate(card: Card, data_dir: str | os.PathLike[str] | None = None) -> Found | None:
    """Find the files of a data set.

    A form that is preferred in the card is taken wherever it lies; of one form, the first
    folder of :func:`search_path` that holds all files, as ``<folder>/<name>/<file>`` or
    ``<folder>/<file>``, unpacked or compressed.

    Parameters
    ----------
    card : Card
        The data set's card.
    data_dir : path-like, optional
        A folder to ask before all others.

    Returns
    -------
    Found or None
        None if no form's files are all there.

    Examples
    --------
    >>> from kernlearn.datasets import find_card, locate
    >>> locate(find_card("iris")).paths
    ()
    """
    folders = search_path(data_dir)
    for form in card.forms:
        if not form.files:
            return Found(form, ())
        for folder in _candidates(card, form, folders):
            paths = tuple(path for file in form.files if (path := _existing(folder / file)))
            if len(paths) == len(form.files):
                return Found(form, paths)
    return None


def _candidates(card: Card, form: Form, folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield folder / card.name
        if not form.own_folder:
            yield folder


def _existing(path: Path) -> Path | None:
    alternatives = (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED))
    return next((candidate for candidate in alternatives if _is(candidate.is_file)), None)


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:  # a folder that may not be entered, a name too long
        return False


def missing_message(cards: Iterable[Card], data_dir: str | os.PathLike[str] | None = None) -> str:
    """Say in one message which data sets are missing and what to do about it.

    Parameters
    ----------
    cards : iterable of Card
        The cards of the data sets wanted; those that are there are left out.
    data_dir : path-like, optional
        The folder that is asked before all others.

    Returns
    -------
    str
        The data sets, their files, where these are published and where to put them; empty
        if nothing is missing.

    Examples
    --------
    >>> from kernlearn.datasets import find_card, missing_message
    >>> missing_message([find_card("iris")])
    ''
    """
    missing = [card for card in cards if locate(card, data_dir) is None]
    if not missing:
        return ""
    number = "1 data set is" if len(missing) == 1 else f"{len(missing)} data sets are"
    lines = [f"{number} missing:"]
    for card in missing:
        lines.append(f"  {card.name}: {' or '.join(' + '.join(f.files) for f in card.forms)}")
        lines.append(f"    published by {card.source.publisher}, {card.source.page}")
        lines += [f"    {file}: {url}" for file, url in card.source.downloads.items()]
    lines.append("Put the files into FOLDER/<data set>/ or FOLDER/, where FOLDER is one of")
    lines += [
        f"  {folder.absolute()}{'' if _is(folder.is_dir) else ' (does not exist)'}"
        for folder in search_path(data_dir)
    ]
    lines.append("or name another folder by --data-dir or the variable KERNLEARN_DATA.")
    return "\n".join(lines)
