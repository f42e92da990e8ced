"""The results store: an SQLite file with one row per finished trial."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernlearn.exceptions import StoreError
from kernlearn.experiments.engine.spec import (
    DatasetSpec,
    StoredDataset,
    Trial,
    TrialSpec,
    canonical,
)
from kernlearn.experiments.store.database import VALUES, Database

# A failure never replaces a success, and what another run measured is kept.
_KEEP = (
    "INSERT OR REPLACE INTO superseded SELECT * FROM trial "
    "WHERE key = :key AND run != :run AND status = 'done' AND :status = 'done'"
)
_PUT = (
    f"INSERT OR REPLACE INTO trial SELECT {VALUES} WHERE :status = 'done' "
    "OR NOT EXISTS (SELECT 1 FROM trial WHERE key = :key AND status = 'done')"
)
# Rows that tell what was measured: their order in exports and comparisons.
_ORDER = "ORDER BY experiment, labels, json_extract(spec, '$.split'), key"


@dataclass(frozen=True)
class Result:
    """The result of a trial.

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
        Number of the run, set by the store.
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
        """Whether the trial succeeded."""
        return self.status == "done"


@dataclass(frozen=True)
class StoredTrial:
    """A finished trial, without its source, and its result."""

    trial: Trial
    result: Result


@dataclass(frozen=True)
class Run:
    """A run as the store records it.

    Attributes
    ----------
    number : int
    started : str
        UTC, ISO 8601.
    experiment, profile : str
    jobs : int
        Number of trials in parallel.
    environment : dict
        Machine, packages and code.
    settings : tuple of str
        Settings of the command line, as ``key=value``.
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


class Store(Database):
    """Finished trials, kept in an SQLite file.

    Parameters
    ----------
    path : Path
        Created with its folder if it does not exist.
    read_only : bool, default=False
        Write nothing, so that a file without write permission can be opened; it must exist.
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
        If the file is not a store of this version, is damaged, or cannot be opened or written.
    """

    @classmethod
    def existing(cls, path: Path) -> "Store":
        """Open a store that exists, for reading."""
        return cls(path, read_only=True)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_run(
        self,
        experiment: str,
        profile: str,
        jobs: int,
        environment: dict[str, Any],
        settings: Sequence[str] = (),
    ) -> int:
        """Record the start of a run and return its number."""
        texts = json.dumps(environment), json.dumps(list(settings))
        with self.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO run (started, experiment, profile, jobs, environment, settings) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (utc_now(), experiment, profile, jobs, *texts),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put(self, run: int, trial: Trial, result: Result) -> None:
        """Write a finished trial; a failure never replaces a success.

        Numbers of an earlier run that are replaced are kept for comparison.
        """
        row = {
            **vars(result), "run": run, "experiment": trial.experiment,
            "labels": canonical(trial.labels), "spec": canonical(trial.spec),
            "metrics": json.dumps(result.metrics), "info": json.dumps(result.info),
        }  # fmt: skip
        with self.transaction(frequent=True) as connection:
            connection.execute(_KEEP, row)
            connection.execute(_PUT, row)

    def _rows(self, query: str, *parameters: Any) -> Iterator[Any]:
        with self.errors("read"):
            yield from self.connection.execute(query, parameters)

    @contextmanager
    def _parsed(self, place: str) -> Iterator[None]:
        """Say which row holds JSON that cannot be read, or that is something else."""
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"{self.path}: {place}: {error}; `kernlearn doctor` lists what is wrong"
            ) from None

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the results of those keys that the store has."""
        return {row["key"]: _result(row) for row in self._rows_of(keys, "*")}

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return "done" or "failed" for those keys that the store has."""
        return dict(self._rows_of(keys, "key, status"))

    def states(self, keys: Iterable[str]) -> list[list[Any]]:
        """Return what tells whether the results of some keys have changed, sorted by key.

        These are the key, its status, start and seconds, and the number of its run.
        """
        return sorted(map(list, self._rows_of(keys, "key, status, started, seconds, run")))

    def _rows_of(self, keys: Iterable[str], columns: str) -> Iterator[Any]:
        query = f"SELECT {columns} FROM trial WHERE key IN (SELECT value FROM json_each(?))"
        return self._rows(query, json.dumps(list(keys)))

    def places(self, experiment: str, profile: str) -> list[tuple[str, str, int]]:
        """Return key, labels (JSON) and split of the done trials of an experiment and profile."""
        query = (
            "SELECT key, labels, json_extract(spec, '$.split') FROM trial "
            "JOIN run ON run.id = trial.run WHERE trial.experiment = ? AND profile = ? "
            "AND status = 'done'"
        )
        return list(self._rows(query, experiment, profile))

    def datasets(self) -> dict[str, list[StoredDataset]]:
        """Return the data sets that were measured, by name, the latest first."""
        rows = self._rows(
            "SELECT json_extract(spec, '$.dataset.name') AS name, "
            "json_extract(spec, '$.dataset') AS what, json_group_array(DISTINCT experiment) "
            "FROM trial WHERE name IS NOT NULL GROUP BY what ORDER BY max(run) DESC"
        )
        datasets: dict[str, list[StoredDataset]] = {}
        for name, text, experiments in rows:
            with self._parsed(f"data set {name}"):
                what = DatasetSpec(**json.loads(text))
            stored = StoredDataset(what, frozenset(json.loads(experiments)))
            datasets.setdefault(name, []).append(stored)
        return datasets

    def durations(self, profile: str, experiment: str) -> list[tuple[dict[str, Any], float]]:
        """Return labels and seconds of all done trials of an experiment's profile."""
        rows = self._rows(
            "SELECT labels, seconds FROM trial JOIN run ON run.id = trial.run "
            "WHERE profile = ? AND trial.experiment = ? AND status = 'done'",
            profile,
            experiment,
        )
        with self._parsed("a trial's labels"):
            return [(dict(json.loads(labels)), seconds) for labels, seconds in rows]

    def experiments(self) -> list[str]:
        """Return the sorted names of the experiments that have trials."""
        rows = self._rows("SELECT DISTINCT experiment FROM trial ORDER BY experiment")
        return [name for (name,) in rows]

    def environments(self, runs: Iterable[int]) -> list[dict[str, Any]]:
        """Return the distinct environments of some runs."""
        texts = dict(self._rows("SELECT id, environment FROM run"))
        return [json.loads(text) for text in dict.fromkeys(texts[r] for r in sorted(set(runs)))]

    def runs(self) -> list[Run]:
        """Return all runs in their order."""
        runs = []
        for row in self._rows("SELECT * FROM run ORDER BY id"):
            *facts, environment, settings = row
            with self._parsed(f"run {facts[0]}"):
                facts += json.loads(environment), tuple(json.loads(settings))
            runs.append(Run(*facts))
        return runs

    def counts_by_run(self) -> dict[int, tuple[int, int, int, float]]:
        """Return done, failed and superseded trials and their seconds, by number of the run."""
        rows = self._rows(
            "SELECT run, sum(status = 'done'), sum(status = 'failed'), sum(old), sum(seconds) "
            "FROM (SELECT run, status, seconds, 0 AS old FROM trial UNION ALL "
            "SELECT run, status, seconds, 1 FROM superseded) GROUP BY run"
        )
        return {run: tuple(numbers) for run, *numbers in rows}

    def trials(self, run: int | None = None) -> Iterator[StoredTrial]:
        """Yield all finished trials, or those of a run, including superseded ones.

        They are sorted by experiment, labels, split and key.
        """
        if run is None:
            rows = self._rows(f"SELECT * FROM trial {_ORDER}")
        else:
            both = "SELECT * FROM trial UNION ALL SELECT * FROM superseded"
            rows = self._rows(f"SELECT * FROM ({both}) WHERE run = ? {_ORDER}", run)
        for row in rows:
            with self._parsed(f"trial {row['key']}"):
                spec = TrialSpec.from_json(json.loads(row["spec"]))
                labels = dict(json.loads(row["labels"]))
                trial = Trial(row["key"], row["experiment"], labels, spec)
                result = _result(row)
            yield StoredTrial(trial, result)


def _result(row: Any) -> Result:
    key, run, _, _, _, status, started, seconds, metrics, info, error, traceback = row
    return Result(
        key, status, started, seconds, json.loads(metrics), json.loads(info), error, traceback, run
    )
