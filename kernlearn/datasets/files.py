"""The cards that there are, and where the files of data sets lie, plain or in archives."""

# ruff: noqa: PTH111, PTH112, PTH113 - pathlib raises where there is no access or no such user

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache, partial
from hashlib import file_digest, sha256
from importlib.metadata import version
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from kernlearn.checks import listed, suggestion
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from kernlearn.datasets.card import Card, Form

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_CHECKOUT = {"configs": "configs", "datasets": "datasets", "reported": "results/reported"}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# A packed file of kilobytes may stand for any number of bytes: so many are read, or so many times
# those that it has.
_MOST_UNPACKED, _MOST_TIMES = 2**30, 250
_PART = 2**20  # bytes that are unpacked at a time
# How the stand-ins for files in a repository begin, and what fetches the files.
_POINTERS = {b"version https://git-lfs": "git lfs pull", b"/annex/objects/": "git annex get"}
_DAMAGE = (EOFError, OSError, zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError)


@cache
def shipped(kind: Literal["configs", "datasets", "reported"]) -> Path:
    """Return the folder of the shipped files of one kind.

    In a checkout they stand beside the package, in a wheel inside it.

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
    raise FileNotFoundError(f"kernlearn lacks its {kind}: neither {inside} nor {beside}")


@cache
def catalogue() -> "Mapping[str, Card]":
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
    return MappingProxyType({name: _shipped_card(name) for name in names})


@cache
def _shipped_card(name: str) -> "Card":
    """Read one shipped card, so that loading one data set does not read all cards."""
    from kernlearn.datasets.card import read_card

    return read_card(shipped("datasets") / f"{name}.yaml")


def is_shipped(name: str) -> bool:
    """Tell whether a name is that of a shipped card, without reading it.

    Examples
    --------
    >>> from kernlearn.datasets import is_shipped
    >>> is_shipped("abalone"), is_shipped("mine")
    (True, False)
    """
    return name.isidentifier() and (shipped("datasets") / f"{name}.yaml").is_file()


def find_card(name: str, data_dir: str | os.PathLike[str] | None = None) -> "Card":
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
    from kernlearn.datasets.card import read_card

    if is_shipped(name):
        return _shipped_card(name)
    own = own_cards(data_dir)
    if name in own:
        return read_card(own[name])
    is_path = bool(Path(name).suffix)
    hint = f"; is it a `file: {name}`?" if is_path else suggestion(name, [*catalogue(), *own])
    raise DataError(f"no data set is called {name!r}{hint}")


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
            if not is_shipped(path.stem):
                paths.setdefault(path.stem, path)
    return paths


def cache_folder() -> Path:
    """Return the folder for what is fetched; it need not exist.

    This is the environment variable ``KERNLEARN_CACHE`` if set, else the operating system's place
    for caches.
    """
    if named := os.environ.get("KERNLEARN_CACHE"):
        return Path(os.path.expanduser(named))
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
    folders = [Path(os.path.expanduser(part)) for part in named]
    folders += [Path("datasets"), cache_folder() / "datasets"]
    return list(dict.fromkeys(folders))


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
    contents : sequence of object, default=()
        What was read of the files, if they were.
    notes : tuple of str, default=()
        What was assumed about files without a card.
    shared : dict of str to int, default={}
        Columns that were left out and seem to group rows, with their numbers of values.
    marks : dict of str to ndarray, default={}
        The groups and times of points to compare, NaN where one is missing.
    besides : tuple of pathlib.Path, default=()
        Further files of which the contents have a part, as labels.

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
    contents: Sequence[Any] = ()
    notes: tuple[str, ...] = ()
    shared: Mapping[str, int] = {}
    besides: tuple[Path, ...] = ()
    marks: Mapping[str, Any] = {}

    @property
    def place(self) -> str:
        """The files, for messages."""
        return ", ".join(map(str, self.paths)) or "scikit-learn"

    @property
    def identity(self) -> str:
        """A hash of the bytes of the files and of how the card reads them."""
        read_by = {"format", "rows", "classes", "labels", "folds"}
        # what a card leaves out is not hashed: keys outlive new options of cards
        how = self.form.model_dump_json(include=read_by, exclude_defaults=True)
        how += f"{self.form.format.kind} {self.card.n_features}{self.card.missing}"
        if not self.paths:
            how += version("scikit-learn")
        digest = sha256(how.encode())
        for path in (*self.paths, *self.besides):
            archive = container(path)
            with naming_damage(archive):
                state = archive.stat()
                digest.update(_hash(archive, state.st_size, state.st_mtime_ns))
            # the members of the catalogue's archives are those of its cards
            if path != archive and not is_shipped(self.card.name):
                digest.update(path.relative_to(archive).as_posix().encode())
        return digest.hexdigest()


@lru_cache(maxsize=256)
def _hash(path: Path, size: int, modified: int) -> bytes:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").digest()


def locate(card: "Card", data_dir: str | os.PathLike[str] | None = None) -> Found | None:
    """Find the files of a data set.

    If `data_dir` has the files of any form, these are taken. Otherwise a preferred form in the
    card is taken wherever its files are, and of one form the first folder of
    :func:`search_path` that has all files: as ``<folder>/<name>/<file>`` or
    ``<folder>/<file>``, unpacked, compressed, or in an archive (any archive in
    ``<folder>/<name>``; in ``<folder>`` one named like the data set or the published archive).

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

    Raises
    ------
    DataError
        If an archive is damaged.

    Examples
    --------
    >>> from kernlearn.datasets import find_card, locate
    >>> locate(find_card("iris")).paths
    ()
    """
    folders = search_path(data_dir)
    searches = [(form, folder) for form in card.forms for folder in folders]
    if data_dir is not None:
        searches = [(form, folders[0]) for form in card.forms if form.files] + searches
    for form, folder in searches:
        paths = [path for file in form.files if (path := _path_of(file, card, form, folder))]
        if len(paths) == len(form.files):
            return Found(form, tuple(paths), card)
    return None


def _path_of(file: str, card: "Card", form: "Form", folder: Path) -> Path | None:
    """Return the path of a file in a folder of data: plain, packed or in an archive."""
    own = [folder / name for name in (card.name, form.folder) if name is not None]
    places = own if form.own_folder else [*own, folder]
    plain = (place / f"{file}{suffix}" for place in places for suffix in ("", *PACKED))
    published = PurePosixPath(card.source.downloads.get(file, "")).name
    archives = [path for place in own if os.path.isdir(place) for path in sorted(place.iterdir())]
    archives += [folder / n for n in (published, *(card.name + suffix for suffix in ARCHIVES))]
    packed = (_member(path, file) for path in filter(os.path.isfile, archives) if is_archive(path))
    return next(chain(filter(os.path.isfile, plain), filter(None, packed)), None)


def missing_message(
    cards: "Iterable[Card]", data_dir: str | os.PathLike[str] | None = None
) -> str:
    """Return a message on which data sets are missing, and how to get them.

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


def is_archive(name: str | Path) -> bool:
    """Tell whether a file is an archive, by its name."""
    return str(name).lower().endswith(ARCHIVES)


def container(path: Path) -> Path:
    """Return the archive of a path such as ``archive.zip/member``; any other path itself."""
    return next((p for p in path.parents if is_archive(p) and os.path.isfile(p)), path)


def _member(archive: Path, file: str) -> Path | None:
    """Return the path of a file in an archive, by its path there or its last part, or None.

    It may be packed.
    """
    packed = tuple(file + suffix for suffix in ("", *PACKED))
    names = [n for n in members(archive) if f"/{n}".endswith(tuple(f"/{name}" for name in packed))]
    exact = [name for name in names if name in packed]
    if len(names) > 1 and len(exact) != 1:
        raise DataError(f"{archive}: several files called {file}: {listed(names)}; unpack one")
    return archive / (exact or names)[0] if names else None


def members(archive: Path) -> tuple[str, ...]:
    """Return the names of the files in an archive."""
    state = archive.stat()
    return _members(archive, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=128)
def _members(archive: Path, size: int, modified: int) -> tuple[str, ...]:
    with _unpacked(archive) as files:
        return tuple(files)


@contextmanager
def _unpacked(archive: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    """Open an archive; of each file in it, the name and what opens it.

    Names do not lead out of the archive, and links are no files.
    """

    def inside(name: str) -> str:
        return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))

    with naming_damage(archive):
        _refuse_stand_in(archive)
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as packed:
                entries = [entry for entry in packed.infolist() if not entry.is_dir()]
                yield {inside(entry.filename): partial(packed.open, entry) for entry in entries}
        else:
            with tarfile.open(archive) as tar:
                files = [entry for entry in tar.getmembers() if entry.isfile()]
                yield {inside(entry.name): partial(tar.extractfile, entry) for entry in files}


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of data to read its bytes: packed ones are unpacked, members of archives too.

    An OSError, and what says that a packed file is damaged, becomes a DataError.
    """
    archive, unpack = container(path), PACKED.get(path.suffix.lower())
    with naming_damage(path), ExitStack() as stack:
        if archive != path:
            name = path.relative_to(archive).as_posix()
            files = stack.enter_context(_unpacked(archive))
            if name not in files:
                held = listed(files) or "none"
                raise DataError(f"{archive}: has no file {name}; it has {held}")
            stream = stack.enter_context(files[name]())
        else:
            _refuse_stand_in(path)
            stream = stack.enter_context(path.open("rb"))
        yield stream if unpack is None else unpack(stream)


def _refuse_stand_in(path: Path) -> None:
    """Refuse what stands where a file should: a folder, pipe or device, or a pointer of Git's."""
    if path.exists() and not os.path.isfile(path):
        raise DataError(f"{path}: a folder, pipe or device; name a file")
    with path.open("rb") as stream:
        start = stream.read(32)
    if command := next((what for text, what in _POINTERS.items() if start.startswith(text)), None):
        raise DataError(f"{path}: only a pointer to the data, which `{command}` fetches")


def file_bytes(path: Path) -> bytes:
    """Read a file of data, unpacked."""
    with opened(path) as stream:
        if (packed := container(path)) == path and path.suffix.lower() not in PACKED:
            content = stream.read()
        else:
            parts = BytesIO()
            while parts.write(stream.read(_PART)):
                refuse_unpacking(path, parts.tell(), packed.stat().st_size)
            content = parts.getvalue()
    if content.startswith(b"PK\3\4"):  # arrays or a spreadsheet
        with naming_damage(path), zipfile.ZipFile(BytesIO(content)) as inside:
            size = sum(entry.file_size for entry in inside.infolist())
        refuse_unpacking(path, size, len(content))
    return content


def refuse_unpacking(path: Path, size: int, packed: int) -> None:
    """Refuse a file of so many packed bytes that stands for too many."""
    if size > max(_MOST_UNPACKED, _MOST_TIMES * packed):
        raise DataError(
            f"{path}: unpacks to more than {_MOST_UNPACKED / 2**30:.3g} GiB and {_MOST_TIMES} "
            "times its size: if that is right, store it unpacked"
        )


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Turn errors of reading into DataErrors that name the file."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except _DAMAGE as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise DataError(f"{path}: damaged or cut short: {reason}") from None
