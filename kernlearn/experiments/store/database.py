"""The SQLite file of a results store: its tables, transactions and error messages."""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kernlearn.exceptions import StoreError

#: Version of the tables, kept in the file's ``user_version``.
SCHEMA_VERSION = 3

#: Columns of ``trial`` and of ``superseded``, in their order.
TRIAL_COLUMNS = (
    "key", "run", "experiment", "labels", "spec", "status", "started", "seconds", "metrics",
    "info", "error", "traceback",
)  # fmt: skip
#: The same in an SQL statement.
COLUMNS = ", ".join(TRIAL_COLUMNS)

_RUN = """CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    experiment TEXT NOT NULL,
    profile TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    environment TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '[]'
)"""
_TRIALS = """CREATE TABLE {table} (
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
) WITHOUT ROWID"""
# ``superseded`` keeps what a trial gave in other runs than the one in ``trial``.
_TABLES = (
    _RUN,
    _TRIALS.format(table="trial", key="key"),
    _TRIALS.format(table="superseded", key="key, run"),
)

#: Seconds to wait for another process that writes.
BUSY_SECONDS = 30.0
# Seconds between two attempts at switching the journal's mode.
_PAUSE = 0.05
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
    "SQLITE_CORRUPT": "the file is damaged; `kernlearn doctor` says where; restore a backup, or "
    "name another file with --store",
    "SQLITE_IOERR": "the disk refused; it may be full or broken",
}


def explain(error: Exception) -> str:
    """Say what an error of SQLite means and what to do about it."""
    name = getattr(error, "sqlite_errorname", None) or ""
    for prefix, text in _EXPLAINED.items():
        if name.startswith(prefix):
            return f"{text} ({error})"
    return str(error)


class Database:
    """The file of a results store, with its tables.

    Parameters
    ----------
    path : Path
    read_only : bool, default=False
        Write nothing, so that a file without write permission can be opened.
    exclusive : bool, default=False
        Refuse a file that another process has open, and keep others out.
    timeout : float, default=30.0
        Seconds to wait for another process that writes.

    Attributes
    ----------
    path : Path
    connection : sqlite3.Connection
        In autocommit mode.

    Raises
    ------
    StoreError
        If the file is not a store of this version, is damaged, or cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        exclusive: bool = False,
        timeout: float = BUSY_SECONDS,
    ) -> None:
        self.path = path
        self._timeout = timeout
        self._synced = -_SYNC_SECONDS
        with self.errors("opened"):
            if read_only:
                self.connection = self._connect_reader()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.connection = self._connect(path)
        try:
            with self.errors("opened"):
                self._prepare(read_only, exclusive)
        except BaseException:
            self.connection.close()
            raise

    def _connect(self, database: str | Path, *, uri: bool = False) -> sqlite3.Connection:
        return sqlite3.connect(database, uri=uri, timeout=self._timeout, isolation_level=None)

    def _connect_reader(self) -> sqlite3.Connection:
        # Reading a file in WAL mode writes next to it. Where that is not possible, the file is
        # read as immutable, unless its log holds rows.
        log = self.path.with_name(f"{self.path.name}-wal")
        pending = log.is_file() and log.stat().st_size > 0
        for mode in ("mode=rw", "mode=ro", *(() if pending else ("immutable=1",))):
            uri = f"file:{quote(str(self.path.absolute()))}?{mode}"
            try:
                connection = self._connect(uri, uri=True)
                try:
                    connection.execute("SELECT count(*) FROM sqlite_master")
                except BaseException:
                    connection.close()
                    raise
            except sqlite3.OperationalError as error:
                refused = error
                if not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READON")):
                    raise
            else:
                return connection
        raise refused

    def _prepare(self, read_only: bool, exclusive: bool) -> None:
        if exclusive:
            self.connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        version = self._check()
        if read_only:
            if version == 0:  # made, but nothing written yet
                self.connection.close()
                self.connection = self._connect(":memory:")
                self._create()
            self.connection.execute("PRAGMA query_only=ON")
            return
        if version == 0:
            self._write_ahead()
            self._create()
        self.connection.execute("PRAGMA foreign_keys=ON")
        if exclusive:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("COMMIT")

    def _check(self) -> int:
        """Return the version of the file, 0 if it is empty."""
        # one transaction: another process may be creating the tables
        self.connection.execute("BEGIN")
        try:
            version = self._version()
            names = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {name for (name,) in names}
        finally:
            self.connection.execute("ROLLBACK")
        if (version or tables) and not {"run", "trial"} <= tables:
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
        return version

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    def _create(self) -> None:
        """Create the tables, unless another process was faster."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            if self._version() == 0:
                for table in _TABLES:
                    self.connection.execute(table)
                self.connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self.connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _write_ahead(self) -> None:
        """Turn WAL mode on; SQLite does not wait for others that do the same, so wait here."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE)
            else:
                return

    @contextmanager
    def errors(self, action: str) -> Iterator[None]:
        """Explain errors of SQLite and the system; ``action`` is a word such as "read"."""
        try:
            yield
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
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        # on a full disk SQLite has done so itself
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def write_row(connection: sqlite3.Connection, statement: str, row: Mapping[str, Any]) -> None:
    """Write a row; the statement is such as ``INSERT INTO trial``."""
    values = [row[name] for name in TRIAL_COLUMNS]
    connection.execute(f"{statement} VALUES ({', '.join('?' * len(values))})", values)
