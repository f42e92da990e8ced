"""Files of data sets: where they are looked for."""

# ruff: noqa: PTH112, PTH113, PTH207 - pathlib raises for paths that may not be accessed

import os
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from kernlearn.datasets.unpacking import ARCHIVES, PACKED, find_member, is_archive
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from kernlearn.datasets.card import Card, Form


def cache_folder() -> Path:
    """Return the folder for everything that is kept between runs; it need not exist.

    This is the environment variable ``KERNLEARN_CACHE`` if set, else the operating system's place
    for caches.
    """
    if named := os.environ.get("KERNLEARN_CACHE"):
        return expanded(named, "KERNLEARN_CACHE: ")
    import platformdirs

    return Path(platformdirs.user_cache_dir("kernlearn"))


def search_path(data_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the folders in which data is looked for, in order.

    Parameters
    ----------
    data_dir : path-like, optional
        A folder to search before all others.

    Returns
    -------
    list of pathlib.Path
        ``data_dir``; the folders in the environment variable ``KERNLEARN_DATA`` (separated as
        in ``PATH``); ``datasets`` in the current folder; the user's cache. They need not exist.

    Examples
    --------
    >>> from kernlearn.datasets import search_path
    >>> search_path("my_data")[0].name
    'my_data'
    """
    named = [] if data_dir is None else [os.fspath(data_dir)]
    named += [part for part in os.environ.get("KERNLEARN_DATA", "").split(os.pathsep) if part]
    folders = [expanded(part, "folders of data: ") for part in named]
    folders += [Path("datasets"), cache_folder() / "datasets"]
    return list(dict.fromkeys(folders))


def expanded(path: str | os.PathLike[str], where: str = "") -> Path:
    """Return a path with ``~`` replaced by the user's folder; `where` begins the error.

    Raises
    ------
    DataError
        If there is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = Path(path).parts[0]
        raise DataError(
            f"{where}{os.fspath(path)}: the home folder of {user!r} is not known; name the folder "
            "in full"
        ) from None


class Found(NamedTuple):
    """The files of a data set on this machine.

    Attributes
    ----------
    form : Form
        The form in which the data set was found.
    paths : tuple of pathlib.Path
        Its files, in the form's order; empty if it needs none. A file in an archive has the
        path ``archive.zip/file``.
    card : Card
        The data set's card.

    Examples
    --------
    >>> from kernlearn.datasets import find_card, locate
    >>> found = locate(find_card("iris"))
    >>> found.card.name, found.paths, found.form.rows
    ('iris', (), 150)
    """

    form: "Form"
    paths: tuple[Path, ...]
    card: "Card"

    @property
    def place(self) -> str:
        """The files, for messages."""
        return ", ".join(map(str, self.paths)) or "scikit-learn"


def locate(card: "Card", data_dir: str | os.PathLike[str] | None = None) -> Found | None:
    """Find the files of a data set.

    If `data_dir` has the files of any form, these are taken. Otherwise a preferred form in the
    card is taken wherever its files are, and of one form the first folder of
    :func:`search_path` that has all files: as ``<folder>/<name>/<file>`` or
    ``<folder>/<file>``, unpacked, compressed, or in an archive (any archive in
    ``<folder>/<name>``; in ``<folder>`` one named like the data set or the published archive).
    An archive that cannot be read is returned if nothing else is found, so that reading it
    reports the damage.

    Parameters
    ----------
    card : Card
        The data set's card.
    data_dir : path-like, optional
        A folder to search before all others.

    Returns
    -------
    Found or None
        None if no form has all its files.

    Examples
    --------
    >>> from kernlearn.datasets import find_card, locate
    >>> locate(find_card("iris")).paths
    ()
    """
    folders = search_path(data_dir)
    unreadable: Found | None = None
    searches = [(form, folders) for form in card.forms]
    if data_dir is not None:
        searches = [(form, folders[:1]) for form in card.forms if form.files] + searches
    for form, places in searches:
        if not form.files:
            return Found(form, (), card)
        for folder, plain, archives in _candidates(card, form, places):
            paths = []
            for file in form.files:
                member = form.members.get(file, file)
                path = existing(folder / file) if plain else None
                for archive in () if path else archives:
                    try:
                        if find_member(archive, member) is not None:
                            path = archive / member
                            break
                    except (DataError, OSError):
                        damaged = (archive / member,) * len(form.files)
                        unreadable = unreadable or Found(form, damaged, card)
                if path is not None:
                    paths.append(path)
            if len(paths) == len(form.files):
                return Found(form, tuple(paths), card)
    return unreadable


def _candidates(
    card: "Card", form: "Form", folders: list[Path]
) -> Iterator[tuple[Path, bool, list[Path]]]:
    """Yield each folder, whether its plain files count, and its archives that count."""
    downloads = card.source.downloads.items()
    published = [PurePosixPath(address).name for file, address in downloads if file in form.files]
    names = [name for name in published if is_archive(name)]
    names += [card.name + suffix for suffix in ARCHIVES]
    for folder in folders:
        for own in [folder / name for name in (card.name, form.folder) if name is not None]:
            archives = filter(is_archive, sorted(glob("*", root_dir=own)))
            yield own, True, [own / name for name in archives]
        listed = (folder / name for name in dict.fromkeys(names))
        yield folder, not form.own_folder, [path for path in listed if os.path.isfile(path)]


def existing(path: Path) -> Path | None:
    """Return the path of a file or of a packed copy of it; None if there is none."""
    alternatives = (path, *(path.with_name(path.name + suffix) for suffix in PACKED))
    return next((candidate for candidate in alternatives if os.path.isfile(candidate)), None)


def missing_message(
    cards: "Iterable[Card]", data_dir: str | os.PathLike[str] | None = None
) -> str:
    """Say in one message which data sets are missing and how to get them.

    Parameters
    ----------
    cards : iterable of Card
        The cards of the data sets wanted; those that are found are left out.
    data_dir : path-like, optional
        A folder to search before all others.

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
        lines.append(f"    published by {card.source.name_and_page}")
        lines += [f"    {file}: {url}" for file, url in card.source.downloads.items()]
    lines.append("Put the files into FOLDER/<data set>/ or FOLDER/, where FOLDER is one of")
    lines += [
        f"  {folder.absolute()}{'' if os.path.isdir(folder) else ' (does not exist)'}"
        for folder in search_path(data_dir)
    ]
    lines.append("or name another folder in the variable KERNLEARN_DATA.")
    return "\n".join(lines)
