"""Files of data sets: where they are looked for, archives and compressed files, their bytes."""

# ruff: noqa: PTH112, PTH113, PTH207 - pathlib raises for paths that may not be accessed

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from glob import glob
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from kernlearn.datasets.card import Card, Form

#: The largest size of unpacked data, in bytes; no data set of the catalogue has a quarter of it.
LIMIT = 1 << 30
_BLOCK = 1 << 20
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PACKED = (*OPENERS, ".Z")  # files packed by compress are found, but not read
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


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


def is_archive(path: Path | str) -> bool:
    """Tell from its name whether a file is an archive, such as ``covertype.zip``."""
    return str(path).lower().endswith(ARCHIVES)


def archive_kind(path: Path) -> str:
    """Tell from the content of a file if it is a ".zip" or ".tar" archive; "" if it is none."""
    with path.open("rb") as opened:
        if opened.read(4) == b"PK\x03\x04":
            return ".zip"
    try:
        with tarfile.open(path) as archive:
            return ".tar" if archive.next() is not None else ""  # packed zeros are no archive
    except Exception:  # the unpackers raise anything from EOFError to struct.error
        return ""


def container(path: Path) -> Path:
    """Return the archive of a path such as ``archive.zip/member``; any other path itself."""
    return next((p for p in path.parents if is_archive(p.name) and p.is_file()), path)


def find_member(archive: Path, file: str, limit: int | None = None) -> str | None:
    """Return the full name of a file in an archive, or None.

    `file` is its path there, or the last component; the member may be compressed. An archive
    that is damaged or larger than `limit` (by default :data:`LIMIT`), has a member that points
    outside of it, or several files of that name raises a DataError.
    """
    names = list_members(archive, limit)
    wanted = {file, *(file + suffix for suffix in PACKED)}
    if exact := sorted(wanted.intersection(names), key=len):
        return exact[0]
    members = [name for name in names if PurePosixPath(name).name in wanted]
    if len(members) > 1:
        raise DataError(
            f"{archive}: holds several files called {file}: "
            f"{', '.join(map(repr, members[:4]))}; unpack the right one next to the archive"
        )
    return members[0] if members else None


def list_members(archive: Path, limit: int | None = None) -> tuple[str, ...]:
    """List the files in an archive, with the guards of :func:`find_member`."""
    state = archive.stat()
    return _members(archive, limit or LIMIT, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=128)
def _members(archive: Path, limit: int, size: int, modified: int) -> tuple[str, ...]:
    names, total = [], 0
    with naming_damage(archive):
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as packed:
                names = [info.filename for info in packed.infolist() if not info.is_dir()]
        else:
            with tarfile.open(archive, "r:*") as tar:
                for member in tar:
                    names.append(member.name)
                    total += member.size
                    if total > limit:  # before the next member is unpacked
                        raise too_large(archive, limit)
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
            raise DataError(
                f"{archive}: has a member {name!r:.60} that points outside of it; "
                "do not use this archive"
            )
    return tuple(names)


def read_bytes(path: Path, limit: int | None = None, *, unpack: bool = True) -> bytes:
    """Read a file, or a member of an archive as ``archive.zip/member``.

    Files that end in ``.gz``, ``.bz2`` or ``.xz`` are unpacked in memory, unless `unpack` is
    False. A file that cannot be read, is damaged or larger than `limit` (by default
    :data:`LIMIT`) raises a DataError.
    """
    archive, name = container(path), path.name
    if archive != path:
        member = find_member(archive, path.relative_to(archive).as_posix(), limit)
        if member is None:
            raise DataError(f"{archive}: has no member {path.name}")
        name = member
    suffix = PurePosixPath(name).suffix if unpack else ""
    if suffix == ".Z":
        raise packed_by_compress(path)
    content = BytesIO()
    with naming_damage(path), ExitStack() as stack:
        stream = stack.enter_context(
            path.open("rb") if archive == path else _open_member(archive, name, stack)
        )
        if suffix in OPENERS:
            stream = stack.enter_context(OPENERS[suffix](stream, "rb"))
        while block := stream.read(_BLOCK):
            content.write(block)
            if content.tell() > (limit or LIMIT):
                raise too_large(path, limit or LIMIT)
    return content.getvalue()


def _open_member(archive: Path, name: str, stack: ExitStack) -> IO[bytes]:
    """Open a member of an archive, which must be a plain file: links are not followed."""
    if archive.suffix.lower() == ".zip":
        packed = stack.enter_context(zipfile.ZipFile(archive))
        if packed.getinfo(name).external_attr >> 28 in (0, 0o10):
            return packed.open(name)
    else:
        tar = stack.enter_context(tarfile.open(archive, "r:*"))  # noqa: SIM115
        info = tar.getmember(name)
        if info.isreg() and (member := tar.extractfile(info)) is not None:
            return member
    raise DataError(f"{archive}: the member {PurePosixPath(name).name} is a link or no plain file")


def too_large(path: Path, limit: int) -> DataError:
    """Make the error for a file whose content exceeds a limit."""
    from rich.filesize import decimal

    return DataError(
        f"{path}: holds more than {decimal(limit)} unpacked, the limit; if that is right, "
        "unpack it and split it into several files"
    )


def packed_by_compress(path: Path) -> DataError:
    """Make the error for a file that Python cannot unpack."""
    return DataError(f"{path}: packed by compress; unpack it with 'gzip -d' first")


@contextmanager
def naming_damage(path: Path, damage: str = "damaged or cut short") -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one clear line."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # readers raise anything from EOFError to struct.error
        if isinstance(error, OSError) and error.errno is not None:
            reason = f"cannot be read: {error.strerror or one_line(error)}"
        else:
            reason = f"{damage}: {one_line(error)}"
        raise DataError(f"{path}: {reason}") from None


def one_line(error: Exception) -> str:
    """Return the message of an error as one short line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


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
    lines.append("or name another folder by --data-dir or the variable KERNLEARN_DATA.")
    return "\n".join(lines)
