"""The tables of a results store, and how a file of an older version becomes one of this."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from kernlearn.exceptions import StoreError

_RUN = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    experiment TEXT NOT NULL,
    profile TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    environment TEXT NOT NULL
)
"""

_TRIAL = """
CREATE TABLE trial (
    key TEXT PRIMARY KEY,
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
    traceback TEXT
) WITHOUT ROWID
"""

# What a trial gave in another run than the one whose row stands in ``trial``.
_SUPERSEDED = """
CREATE TABLE superseded (
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
    PRIMARY KEY (key, run)
) WITHOUT ROWID
"""

#: Columns of ``trial`` and of ``superseded``, in their order.
TRIAL_COLUMNS = (
    "key", "run", "experiment", "labels", "spec", "status", "started", "seconds", "metrics",
    "info", "error", "traceback",
)  # fmt: skip


def _create(connection: sqlite3.Connection) -> None:
    """Version 1: runs, and one row a trial."""
    connection.execute(_RUN)
    connection.execute(_TRIAL)


def _keep_superseded(connection: sqlite3.Connection) -> None:
    """Version 2: what a forced run replaces is kept, so that two runs can be compared."""
    connection.execute(_SUPERSEDED)


def _keep_settings(connection: sqlite3.Connection) -> None:
    """Version 3: a run knows the settings that changed its config, so that it can be shown."""
    connection.execute("ALTER TABLE run ADD COLUMN settings TEXT NOT NULL DEFAULT '[]'")


# The one at place i leads from version i to version i + 1; never change one that was released.
_MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _create, _keep_superseded, _keep_settings,
)  # fmt: skip

#: Version of the tables, kept in the file's ``user_version``.
SCHEMA_VERSION = len(_MIGRATIONS)


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version that a file is of; 0 if there is nothing in it yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether a database holds tables of something else."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = {name for (name,) in names}
    if schema_version(connection) == 0:
        return bool(tables)
    return not {"run", "trial"} <= tables


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version, one transaction a step.

    Parameters
    ----------
    connection : sqlite3.Connection
        In autocommit mode. Another process may be doing the same: the lock decides who does.
    """
    while schema_version(connection) < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = schema_version(connection)
            if version < SCHEMA_VERSION:
                _MIGRATIONS[version](connection)
                connection.execute(f"PRAGMA user_version={version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


#: Seconds to wait for another process that writes.
BUSY_SECONDS = 30.0

_PAUSE = 0.05
_SYNC_SECONDS = 1.0

# Beginnings of SQLite's names of errors, and what the user is told.
_EXPLAINED = {
    "SQLITE_FULL": "the disk is full; what was finished before is kept: free some space and run "
    "again",
    "SQLITE_READONLY": "it is read-only; change its permissions, or name another with --store",
    "SQLITE_BUSY": "another process has it locked; wait for that to end and try again",
    "SQLITE_LOCKED": "another process has it locked; wait for that to end and try again",
    "SQLITE_CANTOPEN": "no permission, or its folder cannot be written; name another file with "
    "--store",
    "SQLITE_NOTADB": "it is no kernlearn store; name another file with --store",
    "SQLITE_CORRUPT": "the file is damaged; `kernlearn doctor` says where; put a copy of before "
    "in its place, or name another file with --store",
    "SQLITE_IOERR": "the disk refused; it may be full or broken",
}


def explain(error: Exception) -> str:
    """Say what an error of SQLite means and what to do about it."""
    name = getattr(error, "sqlite_errorname", None) or ""
    for start, text in _EXPLAINED.items():
        if name.startswith(start):
            return f"{text} ({error})"
    return str(error)


class Database:
    """A results store's file with its tables brought to this version.

    Parameters
    ----------
    path : Path
    read_only : bool, default=False
        Nothing is written, so that a file without permission to write will do. One of an older
        version is brought to this one in memory, and stays as it is.
    exclusive : bool, default=False
        Refuse a file that another process has open, and keep others out.
    timeout : float, default=30.0
        Seconds to wait for another process that writes.

    Attributes
    ----------
    path : Path
    connection : sqlite3.Connection
        In autocommit mode.
    file_version : int
        Version that the file had when it was opened.

    Raises
    ------
    StoreError
        If the file is no store, is of a newer version, damaged, or cannot be opened.
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
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = self._connect(read_only)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}: cannot be opened: {explain(error)}") from None
        try:
            with self.errors("opened"):
                self._prepare(read_only, exclusive)
        except BaseException:
            self.connection.close()
            raise

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        if not read_only:
            return sqlite3.connect(self.path, timeout=self._timeout, isolation_level=None)
        # Reading a file in WAL mode writes beside it. Where that cannot be done, it is read as
        # one that nobody changes, unless something waits in the log to be part of it.
        log = self.path.with_name(f"{self.path.name}-wal")
        waiting = log.is_file() and log.stat().st_size > 0
        modes = ["mode=rw", "mode=ro"] if waiting else ["mode=rw", "mode=ro", "immutable=1"]
        for mode in modes:
            uri = f"file:{quote(str(self.path.absolute()))}?{mode}"
            connection = None
            try:
                connection = sqlite3.connect(
                    uri, uri=True, timeout=self._timeout, isolation_level=None
                )
                connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError as error:
                if connection is not None:
                    connection.close()
                name = error.sqlite_errorname
                if mode == modes[-1] or not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READON")):
                    raise
            except BaseException:
                if connection is not None:
                    connection.close()
                raise
            else:
                return connection
        raise AssertionError(modes)

    def _prepare(self, read_only: bool, exclusive: bool) -> None:
        if exclusive:
            self.connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        self.file_version = schema_version(self.connection)
        if self.file_version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: written by a newer kernlearn (store version {self.file_version}, "
                f"this one reads {SCHEMA_VERSION}); upgrade, or name another file with --store"
            )
        if self._is_foreign():
            raise StoreError(
                f"{self.path}: an SQLite file, but not a kernlearn store; "
                "name another file with --store"
            )
        if read_only:
            self._prepare_reading()
            return
        if self.file_version < SCHEMA_VERSION:
            self._write_ahead()
            migrate(self.connection)
        self.connection.execute("PRAGMA foreign_keys=ON")
        if exclusive:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("COMMIT")

    def _is_foreign(self) -> bool:
        # one transaction: another process may be between two steps of making the tables
        self.connection.execute("BEGIN")
        try:
            return is_foreign(self.connection)
        finally:
            self.connection.execute("ROLLBACK")

    def _prepare_reading(self) -> None:
        if self.file_version < SCHEMA_VERSION:
            copy = sqlite3.connect(":memory:", isolation_level=None)
            self.connection.backup(copy)
            self.connection.close()
            self.connection = copy
            migrate(copy)
        self.connection.execute("PRAGMA query_only=ON")

    def _write_ahead(self) -> None:
        """Turn WAL mode on; SQLite does not wait for others that turn it on, so we do."""
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
    def errors(self, doing: str) -> Iterator[None]:
        """Turn errors of SQLite into a message; ``doing`` is such as ``"read"``."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be {doing}: {explain(error)}") from None

    @contextmanager
    def transaction(self, *, frequent: bool = False) -> Iterator[sqlite3.Connection]:
        """Write all of a block, or nothing if it raises.

        What is written survives the end of this process, however it ends. To survive that of the
        system it must be on the disk, for which a ``frequent`` one waits once a second only.
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
                # a full disk has SQLite roll back by itself
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
