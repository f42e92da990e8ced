"""The tables of a results store, and how a file of an older version becomes one of this."""

import sqlite3
from collections.abc import Callable

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
