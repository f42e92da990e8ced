"""The SQLite file of a results store: its tables, transactions and error messages."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from kernlearn.datasets.escaping import visible
from kernlearn.exceptions import StoreError
from kernlearn.store.rows import RUN_COLUMNS, TRIAL_COLUMNS

#: Version of the tables, kept in the file's ``user_version``.
SCHEMA_VERSION = 3

# ``superseded`` keeps what a trial gave in other runs than the one in ``trial``.
_TRIALS = """CREATE TABLE IF NOT EXISTS {table} (
    key TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES run (id),
    experiment TEXT NOT NULL,
    labels TEXT NOT NULL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    started TEXT NOT NULL,
    seconds REAL NOT NULL,
    metrics TEXT NOT NULL,
    info TEXT NOT NULL,
    error TEXT,
    traceback TEXT,
    PRIMARY KEY ({key})
) WITHOUT ROWID;"""
_CREATE = f"""BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    experiment TEXT NOT NULL,
    profile TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    environment TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '[]'
);
{_TRIALS.format(table="trial", key="key")}
{_TRIALS.format(table="superseded", key="key, run")}
PRAGMA user_version={SCHEMA_VERSION};
COMMIT;"""
#: The values of a row of ``trial`` or ``superseded``, to be given by name.
VALUES = (
    ":key, :run, :experiment, :labels, :spec, :status, :started, :seconds, :metrics, :info, "
    ":error, :traceback"
)
#: The columns of a run besides its number, and the statement that adds one. The number is the next
#: after those that fit: SQLite itself would count on from 0 or from numbers that others gave.
RUN_CONTENT = "started, experiment, profile, jobs, environment, settings"
ADD_RUN = (
    f"INSERT INTO run (id, {RUN_CONTENT}) "
    "SELECT coalesce(max(id), 0) + 1, ?, ?, ?, ?, ?, ? FROM run WHERE id BETWEEN 1 AND 1 << 48"
)

# What stands in the file beside its tables, with its kind; SQLite's own names begin with sqlite_.
# In one statement, since another process may be making the tables.
_CONTENT = (
    "SELECT user_version, iif(type = 'table' AND rootpage = 0, 'virtual table', type), name "
    "FROM pragma_user_version LEFT JOIN sqlite_master "
    "ON substr(name, 1, 7) != 'sqlite_'"
)
# The tables, with their columns and those of the keys.
_TABLES = {
    "run": (RUN_COLUMNS, {"id"}),
    "trial": (TRIAL_COLUMNS, {"key"}),
    "superseded": (TRIAL_COLUMNS, {"key", "run"}),
}
# How the files of SQLite begin.
_MAGIC = b"SQLite format 3\0"
# Bytes of a value or row: those of a trial are thousands.
_LONGEST = 100_000_000

#: Seconds to wait for another process that writes.
_BUSY_SECONDS = 30.0
# Seconds between two waits for the disk.
_SYNC_SECONDS = 1.0

_LOCKED = "another process has it locked; wait for that to end and try again"
# Prefixes of SQLite's names of errors, with what they mean to the user.
_EXPLAINED = {
    "SQLITE_FULL": "the disk is full; what was finished before is kept: free some space and run "
    "again",
    "SQLITE_READONLY": "it is read-only; change its permissions, or name another with --store",
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_CANTOPEN": "no permission, or its folder cannot be written; name another file with "
    "--store",
    "SQLITE_NOTADB": "it is no kernlearn store; name another file with --store",
    "SQLITE_CORRUPT": "the file is damaged; restore a backup, or name another file with --store",
    "SQLITE_IOERR": "the disk refused; it may be full or broken",
}


def explain(error: Exception) -> str:
    """Say what an error of SQLite means and what to do about it."""
    name = getattr(error, "sqlite_errorname", None) or ""
    texts = (text for prefix, text in _EXPLAINED.items() if name.startswith(prefix))
    text = next(texts, "")
    return f"{text} ({error})" if text else str(error)


class Database:
    """The file of a results store: its connection, in autocommit mode, and transactions."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
    ) -> None:
        if read_only and not path.is_file():
            raise StoreError(
                f"{path}: no such store; `kernlearn run` creates it, --store names another"
            )
        self.path = path
        self._synced = -_SYNC_SECONDS
        with self.errors("opened"):
            _refuse_others(path)
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = self._connect_reader() if read_only else self._connect(path)
            try:
                self._prepare(read_only)
            except BaseException:
                self.connection.close()
                raise

    def _connect(self, place: str | Path) -> sqlite3.Connection:
        connection = sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.row_factory = sqlite3.Row
        # the file may come from anyone: its rows are looked at one by one, also where a text is
        # no UTF-8, and its own views, triggers and functions do nothing
        connection.text_factory = _decoded
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.execute("PRAGMA trusted_schema=OFF")
        return connection

    def _connect_reader(self) -> sqlite3.Connection:
        # Reading a file in WAL mode writes next to it. Where that is not possible, the file is
        # read as immutable, unless its log holds rows.
        log = self.path.with_name(f"{self.path.name}-wal")
        pending = log.is_file() and log.stat().st_size > 0
        for mode in ("mode=rw", "mode=ro", *(() if pending else ("immutable=1",))):
            try:
                connection = self._connect(f"file:{quote(str(self.path.absolute()))}?{mode}")
                try:
                    connection.execute("SELECT count(*) FROM sqlite_master")
                except BaseException:
                    connection.close()
                    raise
                return connection
            except sqlite3.OperationalError as error:
                refused = error
                if not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READON")):
                    raise
        raise refused

    def _prepare(self, read_only: bool) -> None:
        empty = self._check() == 0
        if empty and read_only:  # made, but nothing written yet
            self.connection.close()
            self.connection = self._connect(":memory:")
        if empty:  # unless another process was faster
            self.connection.executescript(_CREATE)
        if read_only:
            self.connection.execute("PRAGMA query_only=ON")
            return
        # refused while another process does the same; the next one to open the file tries again
        with suppress(sqlite3.OperationalError):
            self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA foreign_keys=ON")

    def _check(self) -> int:
        """Return the version of the file, 0 if it is empty."""
        content = self.connection.execute(_CONTENT).fetchall()
        version = content[0][0]
        found = [(kind, name) for _, kind, name in content if name is not None]
        if (version or found) and not {"run", "trial"} <= {name for _, name in found}:
            raise StoreError(
                f"{self.path}: an SQLite file, but not a kernlearn store; "
                "name another file with --store"
            )
        if version not in (0, SCHEMA_VERSION):
            newer = version > SCHEMA_VERSION
            raise StoreError(
                f"{self.path}: written by {'a newer' if newer else 'an older'} kernlearn (store "
                f"version {version}, this one reads {SCHEMA_VERSION}); "
                f"{'upgrade, or ' if newer else ''}name another file with --store"
            )
        if version:
            self._check_tables(found)
        return int(version)

    def _check_tables(self, content: list[tuple[str, str]]) -> None:
        """Refuse a file that has more, or less, than the tables of a store."""
        for kind, name in content:
            if name not in _TABLES or kind != "table":
                what = f"{kind} {visible(name)}"
                raise StoreError(f"{self.path}: has a {what}, which no kernlearn store has")
        for name, (columns, key) in _TABLES.items():
            # hidden ones are computed by the file
            query = "SELECT name, hidden, pk > 0 FROM pragma_table_xinfo(?)"
            found = [tuple(row) for row in self.connection.execute(query, (name,))]
            if found != [(column, 0, column in key) for column in columns]:
                raise StoreError(
                    f"{self.path}: its table {name} has not the columns of a kernlearn store"
                )

    @contextmanager
    def errors(self, action: str) -> Iterator[None]:
        """Explain errors of SQLite and the system; ``action`` is a word such as "read"."""
        try:
            yield
        except UnicodeDecodeError:  # SQLite's message quotes what the file has for its tables
            raise StoreError(f"{self.path}: cannot be {action}: the file is damaged") from None
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self.path}: cannot be {action}: {explain(error)}") from None

    @contextmanager
    def transaction(self, *, frequent: bool = False) -> Iterator[sqlite3.Connection]:
        """Write all of a block, or nothing if it raises.

        What is written survives the end of the process. To survive a crash of the system it must
        be on the disk; a ``frequent`` transaction waits for that once a second only.
        """
        with self.errors("written"):
            now = time.monotonic()
            relaxed = frequent and now - self._synced < _SYNC_SECONDS
            self.connection.execute(f"PRAGMA synchronous={'NORMAL' if relaxed else 'FULL'}")
            if not relaxed:
                self._synced = now
            with self.connection:  # commits, or rolls back unless SQLite has done so itself
                self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def _refuse_others(path: Path) -> None:
    """Refuse what SQLite would wait for, or take for an empty file and write over."""
    if not path.exists():
        return
    what = "is not a file"
    if path.is_file():  # a named pipe waits for its other end
        with path.open("rb") as file:
            what = (
                "is not a kernlearn store" if file.read(len(_MAGIC)) not in (b"", _MAGIC) else ""
            )
    if what:
        raise StoreError(f"{path}: cannot be opened: it {what}; name another with --store")


def _decoded(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
