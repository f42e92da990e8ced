"""The results store: one SQLite file, one row a finished trial, written as each ends."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.engine.sources import StoredDataset
from kernlearn.experiments.engine.spec import DatasetSpec, Trial, TrialSpec, canonical
from kernlearn.experiments.store.database import (
    BUSY_SECONDS,
    SCHEMA_VERSION,
    TRIAL_COLUMNS,
    Database,
)

__all__ = ["SCHEMA_VERSION", "Result", "Run", "Store", "StoredTrial", "utc_now"]

_COLUMNS = ", ".join(TRIAL_COLUMNS)
_PLACES = ", ".join("?" * len(TRIAL_COLUMNS))


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


@dataclass(frozen=True)
class StoredTrial:
    """A finished trial with what it was a trial of.

    Attributes
    ----------
    trial : Trial
        Without its source, which the store does not hold.
    result : Result
    """

    trial: Trial
    result: Result


@dataclass(frozen=True)
class Run:
    """A run as the store notes it.

    Attributes
    ----------
    number : int
    started : str
        UTC, ISO 8601.
    experiment, profile : str
    jobs : int
        Trials at a time.
    environment : dict
        What it was measured on.
    settings : tuple of str
        What was set on the command line, as ``key=value``.
    """

    number: int
    started: str
    experiment: str
    profile: str
    jobs: int
    environment: dict[str, Any]
    settings: tuple[str, ...] = ()


def utc_now() -> str:
    """Return the time as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """Finished trials, kept in one SQLite file.

    A file of an older version is brought to this one when it is opened to be written.

    Parameters
    ----------
    path : Path
        Created with its folder if it is not there.
    read_only : bool, default=False
        Nothing is written, and the file must be there.
    exclusive : bool, default=False
        Refuse a file that another process has open, and keep others out.
    timeout : float, default=30.0
        Seconds to wait for another process that writes.

    Attributes
    ----------
    path : Path
    database : Database
        The file's connection and transactions.

    Raises
    ------
    StoreError
        If the file is no store, is of a newer version, or cannot be opened or written.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        exclusive: bool = False,
        timeout: float = BUSY_SECONDS,
    ) -> None:
        if read_only and not path.is_file():
            raise StoreError(f"{path}: no such store; `kernlearn run` makes it, --store names it")
        self.path = path
        self.database = Database(path, read_only=read_only, exclusive=exclusive, timeout=timeout)
        self._connection = self.database.connection

    @classmethod
    def existing(cls, path: Path) -> "Store":
        """Open a store that must be there already, to read it."""
        return cls(path, read_only=True)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def begin_run(
        self,
        experiment: str,
        profile: str,
        jobs: int,
        environment: dict[str, Any],
        settings: Sequence[str] = (),
    ) -> int:
        """Note the start of a run and return its number."""
        texts = json.dumps(environment), json.dumps(list(settings))
        with self.database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO run (started, experiment, profile, jobs, environment, settings) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (utc_now(), experiment, profile, jobs, *texts),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put(self, run: int, trial: Trial, result: Result) -> None:
        """Write a finished trial; a failure never replaces a success.

        Numbers of an earlier run that are replaced are kept beside, for comparison.
        """
        row = (
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
        )
        with self.database.transaction(frequent=True) as connection:
            found = connection.execute(
                "SELECT status, run FROM trial WHERE key = ?", (trial.key,)
            ).fetchone()
            if found is not None and found[0] == "done":
                if not result.done:
                    return
                if found[1] != run:
                    connection.execute(
                        f"INSERT OR REPLACE INTO superseded SELECT {_COLUMNS} FROM trial "
                        "WHERE key = ?",
                        (trial.key,),
                    )
            connection.execute(f"INSERT OR REPLACE INTO trial VALUES ({_PLACES})", row)

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the finished trials among the given keys."""
        wanted = set(keys)
        with self.database.errors("read"):
            rows = self._connection.execute(f"SELECT {_COLUMNS} FROM trial")
            return {row[0]: _result(row) for row in rows if row[0] in wanted}

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return "done" or "failed" for the trials among the given keys that have a row."""
        wanted = set(keys)
        with self.database.errors("read"):
            rows = self._connection.execute("SELECT key, status FROM trial")
            return {key: status for key, status in rows if key in wanted}

    def places(self, experiment: str, profile: str) -> list[tuple[str, str, int]]:
        """Return key, labels (JSON) and split of what an experiment's runs of a profile made."""
        with self.database.errors("read"):
            return self._connection.execute(
                "SELECT key, labels, json_extract(spec, '$.split') FROM trial "
                "JOIN run ON run.id = trial.run WHERE trial.experiment = ? AND profile = ? "
                "AND status = 'done'",
                (experiment, profile),
            ).fetchall()

    def datasets(self) -> dict[str, list[StoredDataset]]:
        """Return, by name, what each data set was when it was measured, the latest first."""
        with self.database.errors("read"):
            rows = self._connection.execute(
                "SELECT json_extract(spec, '$.dataset.name') AS name, "
                "json_extract(spec, '$.dataset') AS what, json_group_array(DISTINCT experiment) "
                "FROM trial WHERE name IS NOT NULL GROUP BY what ORDER BY max(run) DESC"
            ).fetchall()
        found: dict[str, list[StoredDataset]] = {}
        for name, what, experiments in rows:
            parsed = DatasetSpec(**self._parsed(what, f"data set {name}"))
            one = StoredDataset(parsed, frozenset(json.loads(experiments)))
            found.setdefault(name, []).append(one)
        return found

    def durations(self, profile: str) -> list[tuple[dict[str, Any], float]]:
        """Return labels and seconds of all finished trials of a profile."""
        with self.database.errors("read"):
            rows = self._connection.execute(
                "SELECT labels, seconds FROM trial JOIN run ON run.id = trial.run "
                "WHERE profile = ? AND status = 'done'",
                (profile,),
            ).fetchall()
        return [(self._parsed(labels, "a trial's labels"), seconds) for labels, seconds in rows]

    def environments(self, runs: Iterable[int]) -> list[dict[str, Any]]:
        """Return what the given runs were measured on, each environment once."""
        with self.database.errors("read"):
            found = dict(self._connection.execute("SELECT id, environment FROM run"))
        return [json.loads(text) for text in dict.fromkeys(found[r] for r in sorted(set(runs)))]

    def runs(self) -> list[Run]:
        """Return all runs in their order."""
        with self.database.errors("read"):
            rows = self._connection.execute(
                "SELECT id, started, experiment, profile, jobs, environment, settings "
                "FROM run ORDER BY id"
            ).fetchall()
        return [self._run(row) for row in rows]

    def _run(self, columns: tuple[Any, ...]) -> Run:
        number, started, experiment, profile, jobs, environment, settings = columns
        where = self._parsed(environment, f"run {number}")
        given = tuple(self._parsed(settings, f"run {number}", kind=list))
        return Run(number, started, experiment, profile, jobs, where, given)

    def trials(self, run: int | None = None) -> Iterator[StoredTrial]:
        """Yield all finished trials, or those of a run, also what others have replaced.

        They come in the order of experiment, labels, split and key.
        """
        order = "ORDER BY experiment, labels, json_extract(spec, '$.split'), key"
        text = f"SELECT {_COLUMNS} FROM trial"
        given: tuple[int, ...] = ()
        if run is not None:
            text = (
                f"SELECT {_COLUMNS} FROM trial WHERE run = ? "
                f"UNION ALL SELECT {_COLUMNS} FROM superseded WHERE run = ?"
            )
            given = (run, run)
        with self.database.errors("read"):
            for row in self._connection.execute(f"SELECT * FROM ({text}) {order}", given):
                yield self._stored(row)

    def _stored(self, row: tuple[Any, ...]) -> StoredTrial:
        key, _, experiment, labels, spec = row[:5]
        place = f"trial {key}"
        try:
            result = _result(row)
        except ValueError as error:
            raise self._unreadable(place, error) from None
        written = self._parsed(spec, place)
        try:
            parsed = TrialSpec.from_json(written)
        except (TypeError, KeyError, AttributeError) as error:
            raise self._unreadable(place, ValueError(f"not a specification: {error}")) from None
        return StoredTrial(Trial(key, experiment, self._parsed(labels, place), parsed), result)

    def _parsed(self, text: str, place: str, kind: type = dict) -> Any:
        try:
            found = json.loads(text)
        except ValueError as error:
            raise self._unreadable(place, error) from None
        if not isinstance(found, kind):
            named = "object" if kind is dict else "list"
            raise self._unreadable(place, ValueError(f"{text!r} is no {named}"))
        return found

    def _unreadable(self, place: str, error: Exception) -> StoreError:
        return StoreError(f"{self.path}: {place}: {error}; `kernlearn doctor` lists what is wrong")


def _result(row: tuple[Any, ...]) -> Result:
    key, run, _, _, _, status, started, seconds, metrics, info, error, traceback = row
    return Result(
        key, status, started, seconds, json.loads(metrics), json.loads(info), error, traceback, run
    )
