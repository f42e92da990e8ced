"""The rows of a store as files of an RO-Crate, and their way back into a store.

A crate may come from anyone. Of it only three files are read, by their names and as lines of text;
each row is checked by the model of a store's rows, and nothing is unpacked.
"""

import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from kernlearn.datasets.escaping import visible
from kernlearn.datasets.unpacking import content_limit, list_members
from kernlearn.exceptions import StoreError
from kernlearn.experiments.store.database import VALUES
from kernlearn.experiments.store.results import Store
from kernlearn.experiments.store.rows import (
    RUN_COLUMNS,
    TRIAL_COLUMNS,
    UnfitError,
    row_name,
    run_of,
    trial_of,
)

#: The file that makes a folder or an archive an RO-Crate.
METADATA = "ro-crate-metadata.json"
#: The file of the rows of each table, as they stand in the store: an object of JSON in each line.
ROW_FILES = {
    "run": "store/runs.jsonl",
    "trial": "store/trials.jsonl",
    "superseded": "store/superseded.jsonl",
}
_COLUMNS = {"run": RUN_COLUMNS, "trial": TRIAL_COLUMNS, "superseded": TRIAL_COLUMNS}
_RUN_VALUES = ", ".join(f":{name}" for name in RUN_COLUMNS)
# Bytes: of the metadata, and of a row, of which those of a trial are thousands.
_MOST_METADATA, _LONGEST = 1 << 26, 100_000_000

_Open = Callable[[str], IO[bytes]]


def row_text(row: Mapping[str, Any]) -> str:
    """Return a row of a store as a line."""
    return json.dumps(dict(row), ensure_ascii=True) + "\n"


def is_crate(path: Path) -> bool:
    """Tell whether a path is an RO-Crate: a folder with its metadata, or an archive of one."""
    try:
        if path.is_dir():
            return (path / METADATA).is_file()
        return path.suffix.lower() == ".zip" and path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def store_of(crate: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Read the rows of a crate into a store that is there for a while.

    Parameters
    ----------
    crate : Path
        A folder, or a ZIP archive.

    Yields
    ------
    path : pathlib.Path
        The store.
    left_out : dict of str to str
        The rows that do not fit, with the reasons.

    Raises
    ------
    StoreError
        If the crate cannot be read, has no rows of a store, is too large, or a file of rows is
        not the one that it was written with.
    """
    with TemporaryDirectory() as folder, _opened(crate) as opener:
        marks = _fingerprints(crate, opener)
        left_out: dict[str, str] = {}
        path = Path(folder) / "crate.sqlite"
        with Store(path) as store, store.transaction() as connection:
            room = content_limit()
            for table, name in ROW_FILES.items():
                lines = _Lines(crate, name, opener, room)
                for number, line in enumerate(lines, 1):
                    row = _parsed(crate, name, number, line)
                    if reason := _add(connection, table, row):
                        shown = row_name(row, table) if _named(row) else f"{name}:{number}"
                        left_out[shown] = reason
                room -= lines.size
                if lines.fingerprint != marks[name]:
                    raise StoreError(
                        f"{crate}: {name} is not the file that the crate was written with: its "
                        "SHA-256 is another one"
                    )
        yield path, left_out


class _Lines:
    """The lines of a file of a crate, up to a size; its size and fingerprint when all are read."""

    def __init__(self, crate: Path, name: str, opener: _Open, room: int) -> None:
        self.crate, self.name, self._opener, self._room = crate, name, opener, room
        self.size, self._hash = 0, sha256()

    @property
    def fingerprint(self) -> str:
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        with _reading(self.crate, self.name), self._opener(self.name) as file:
            while line := file.readline(_LONGEST + 1):
                self.size += len(line)
                if len(line) > _LONGEST or self.size > self._room:
                    what = "a line of " if len(line) > _LONGEST else ""
                    most = _LONGEST if len(line) > _LONGEST else self._room
                    raise StoreError(
                        f"{self.crate}: {self.name}: {what}more than {most} bytes; --max-memory "
                        "allows more"
                    )
                self._hash.update(line)
                yield line


@contextmanager
def _opened(crate: Path) -> Iterator[_Open]:
    """Yield the function that opens a file of the crate by its name."""
    if crate.is_dir():
        yield lambda name: _within(crate, name).open("rb")
        return
    list_members(crate)  # refuses those that are unsafe
    with ExitStack() as stack:
        with _reading(crate, "the archive"):
            archive = stack.enter_context(zipfile.ZipFile(crate))
        yield archive.open


def _within(folder: Path, name: str) -> Path:
    """Return a file of a folder; links that lead out of it are not followed."""
    path, inside = folder / name, folder.resolve()
    if not path.resolve().is_relative_to(inside) or not path.is_file():
        raise FileNotFoundError(2, "no such file in its folder", name)
    return path


@contextmanager
def _reading(crate: Path, name: str) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except KeyError:
        raise StoreError(f"{crate}: no crate of kernlearn: it has no {name}") from None
    except OSError as error:
        raise StoreError(f"{crate}: {name}: cannot be read: {error.strerror or error}") from None
    # what unpackers raise for damaged archives
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise StoreError(f"{crate}: {name}: cannot be read: {visible(str(error))}") from None
    except Exception as error:  # zlib.error, lzma.LZMAError and others
        raise StoreError(f"{crate}: {name}: damaged: {visible(str(error))}") from None


def _fingerprints(crate: Path, opener: _Open) -> dict[str, str]:
    """Return the SHA-256 of each file of rows, which the metadata state."""
    with _reading(crate, METADATA), opener(METADATA) as file:
        text = file.read(_MOST_METADATA + 1)
    found: dict[str, Any] = {}
    try:
        if len(text) > _MOST_METADATA:
            raise ValueError(f"more than {_MOST_METADATA} bytes")
        for entity in json.loads(text)["@graph"]:
            found[str(entity["@id"])] = entity.get("sha256")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        said = visible(str(error))[:200]
        raise StoreError(f"{crate}: {METADATA}: no metadata of an RO-Crate: {said}") from None
    lacking = [name for name in ROW_FILES.values() if not isinstance(found.get(name), str)]
    if lacking:
        raise StoreError(
            f"{crate}: no rows of a store: its metadata state no SHA-256 of {lacking[0]}; "
            "`kernlearn export --format ro-crate` writes them"
        )
    return {name: found[name] for name in ROW_FILES.values()}


def _parsed(crate: Path, name: str, number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        said = visible(str(error))[:200]
        raise StoreError(f"{crate}: {name}:{number}: not valid JSON: {said}") from None


def _named(row: Any) -> bool:
    return isinstance(row, dict) and {"key", "id"} & row.keys() != set()


def _add(connection: sqlite3.Connection, table: str, row: Any) -> str:
    """Insert a row that fits; else return why it does not."""
    if not isinstance(row, dict) or row.keys() != {*_COLUMNS[table]}:
        return "it has not the columns of a kernlearn store"
    try:
        (run_of if table == "run" else trial_of)(row)
    except UnfitError as error:
        return str(error)
    values = _RUN_VALUES if table == "run" else VALUES
    try:
        connection.execute(f"INSERT INTO {table} VALUES ({values})", row)
    except sqlite3.IntegrityError:
        return "its run is not there, or a row before it has the same key"
    return ""
