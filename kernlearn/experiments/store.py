"""The results store: one SQLite file, one row a finished trial, written as each ends."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.plan import Trial, canonical

#: Version of the tables below, kept in the file's ``user_version``.
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    experiment TEXT NOT NULL,
    profile TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    environment TEXT NOT NULL
);
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
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Result:
    """A finished trial.

    Attributes
    ----------
    key : str
        The trial's key.
    status : {"done", "failed"}
    started : str
        UTC, ISO 8601.
    seconds : float
        Wall time of the whole trial, loading and selection included.
    metrics : dict of str to float
    info : dict
    error, traceback : str or None
        Of a failed trial.
    run : int or None
        Number of the run that made it; given by the store.
    """

    key: str
    status: str
    started: str
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    traceback: str | None = None
    run: int | None = None

    @property
    def done(self) -> bool:
        """Whether the trial gave its numbers."""
        return self.status == "done"


def utc_now() -> str:
    """Return the time as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """Finished trials, kept in one SQLite file.

    Parameters
    ----------
    path : Path
        Created with its folder if it is not there.

    Raises
    ------
    StoreError
        If the file is no store, is of a newer version, or cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=30, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}: cannot be opened: {error}") from None
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def existing(cls, path: Path) -> "Store":
        """Open a store that must be there already."""
        if not path.is_file():
            raise StoreError(f"{path}: no such store; `kernlearn run` makes it, --store names it")
        return cls(path)

    def _prepare(self) -> None:
        with self._errors("opened"):
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path}: written by a newer kernlearn (store version {version}, this "
                    f"one reads {SCHEMA_VERSION}); upgrade, or name another file with --store"
                )
            if version == SCHEMA_VERSION:
                return
            # Another process may be creating the same store: the lock decides who does.
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("BEGIN IMMEDIATE")
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                if self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    self._connection.execute("ROLLBACK")
                    raise StoreError(
                        f"{self.path}: an SQLite file, but not a kernlearn store; "
                        "name another file with --store"
                    )
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self._connection.execute("COMMIT")

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: cannot be {doing}: {error}") from None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def begin_run(
        self, experiment: str, profile: str, jobs: int, environment: dict[str, Any]
    ) -> int:
        """Note the start of a run and return its number."""
        with self._errors("written"):
            cursor = self._connection.execute(
                "INSERT INTO run (started, experiment, profile, jobs, environment) "
                "VALUES (?, ?, ?, ?, ?)",
                (utc_now(), experiment, profile, jobs, json.dumps(environment)),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put(self, run: int, trial: Trial, result: Result) -> None:
        """Write a finished trial; a failure never replaces a success."""
        with self._errors("written"):
            self._connection.execute(
                "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET run=excluded.run, "
                "experiment=excluded.experiment, labels=excluded.labels, spec=excluded.spec, "
                "status=excluded.status, started=excluded.started, seconds=excluded.seconds, "
                "metrics=excluded.metrics, info=excluded.info, error=excluded.error, "
                "traceback=excluded.traceback "
                "WHERE excluded.status = 'done' OR trial.status = 'failed'",
                (
                    trial.key,
                    run,
                    trial.experiment,
                    canonical(trial.labels),
                    canonical(trial.spec),
                    result.status,
                    result.started,
                    result.seconds,
                    json.dumps(result.metrics),
                    json.dumps(result.info),
                    result.error,
                    result.traceback,
                ),
            )

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the finished trials among the given keys."""
        wanted = set(keys)
        with self._errors("read"):
            rows = self._connection.execute(
                "SELECT key, status, started, seconds, metrics, info, error, traceback, run "
                "FROM trial"
            )
            return {row[0]: _result(row) for row in rows if row[0] in wanted}

    def environments(self, runs: Iterable[int]) -> list[dict[str, Any]]:
        """Return what the given runs were measured on, each environment once."""
        with self._errors("read"):
            found = dict(self._connection.execute("SELECT id, environment FROM run"))
        return [json.loads(text) for text in dict.fromkeys(found[r] for r in sorted(set(runs)))]


def _result(row: tuple[Any, ...]) -> Result:
    key, status, started, seconds, metrics, info, error, traceback, run = row
    return Result(
        key, status, started, seconds, json.loads(metrics), json.loads(info), error, traceback, run
    )
