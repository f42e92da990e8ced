"""Where data is looked for, what was found, and what to tell the user if it was not."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from kernlearn.datasets.cache import cache_folder
from kernlearn.datasets.card import Card, Form, read_card
from kernlearn.datasets.packed import ARCHIVES, PACKED, find_member, is_archive
from kernlearn.exceptions import DataError
from kernlearn.resources import shipped


class Found(NamedTuple):
    """The files of a data set on this machine.

    Attributes
    ----------
    form : Form
        The form in which the data set was found.
    paths : tuple of pathlib.Path
        Its files, in the form's order; empty if it needs none. A file that lies in an
        archive has the path ``archive.zip/file``.
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
    ``<folder>/<file>``, unpacked, compressed, or in an archive: any in ``<folder>/<name>``,
    and in ``<folder>`` one with the data set's name or that of its published archive.
    An archive that cannot be read counts as found if nothing else is, so that reading it
    says what is wrong with it.

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
    unreadable: Found | None = None
    for form in card.forms:
        if not form.files:
            return Found(form, ())
        for folder, plain, archives in _candidates(card, form, folders):
            paths = []
            for file in form.files:
                path = _existing(folder / file) if plain else None
                for archive in () if path else archives:
                    packed = archive / form.members.get(file, file)
                    try:
                        held = find_member(archive, form.members.get(file, file)) is not None
                    except (DataError, OSError):
                        unreadable = unreadable or Found(form, (packed,) * len(form.files))
                        continue
                    if held:
                        path = packed
                        break
                if path is not None:
                    paths.append(path)
            if len(paths) == len(form.files):
                return Found(form, tuple(paths))
    return unreadable


def _candidates(
    card: Card, form: Form, folders: list[Path]
) -> Iterator[tuple[Path, bool, list[Path]]]:
    """List folders, whether plain files in them count, and the archives in them that do."""
    addresses = [
        card.source.downloads[file] for file in form.files if file in card.source.downloads
    ]
    published = [address.rstrip("/").rpartition("/")[2] for address in addresses]
    names = [name for name in published if is_archive(name)]
    names += [card.name + suffix for suffix in ARCHIVES]
    for folder in folders:
        for name in (card.name, form.folder):
            if name is not None:
                yield folder / name, True, _archives_in(folder / name)
        listed = (folder / name for name in dict.fromkeys(names))
        yield folder, not form.own_folder, [path for path in listed if _is(path.is_file)]


def _archives_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if is_archive(path.name))
    except OSError:
        return []


def _existing(path: Path) -> Path | None:
    alternatives = (path, *(path.with_name(path.name + suffix) for suffix in PACKED))
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
        lines.append(f"    published by {card.source.told}")
        lines += [f"    {file}: {url}" for file, url in card.source.downloads.items()]
    lines.append("Put the files into FOLDER/<data set>/ or FOLDER/, where FOLDER is one of")
    lines += [
        f"  {folder.absolute()}{'' if _is(folder.is_dir) else ' (does not exist)'}"
        for folder in search_path(data_dir)
    ]
    lines.append("or name another folder by --data-dir or the variable KERNLEARN_DATA.")
    return "\n".join(lines)


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
