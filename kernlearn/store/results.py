"""The results store: an SQLite file with one row per finished trial."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernlearn.config.spec import DatasetSpec, StoredDataset, Trial, canonical
from kernlearn.store.database import ADD_RUN, VALUES, Database
from kernlearn.store.rows import (
    TRIAL_COLUMNS,
    Result,
    Run,
    StoredTrial,
    UnfitError,
    row_name,
    run_of,
    trial_of,
)

# A failure never replaces a success, and what another run measured is kept.
_KEEP = (
    "INSERT OR REPLACE INTO superseded SELECT * FROM trial "
    "WHERE key = :key AND run != :run AND status = 'done' AND :status = 'done'"
)
_PUT = (
    f"INSERT OR REPLACE INTO trial SELECT {VALUES} WHERE :status = 'done' "
    "OR NOT EXISTS (SELECT 1 FROM trial WHERE key = :key AND status = 'done')"
)
# The row of a trial that does not fit is not kept: it has no numbers.
_REPLACE = f"INSERT OR REPLACE INTO trial SELECT {VALUES}"
_BOTH = "SELECT *, 0 AS old FROM trial UNION ALL SELECT *, 1 FROM superseded"
_DONE = (
    "SELECT trial.* FROM trial JOIN run ON run.id = trial.run "
    "WHERE trial.experiment = ? AND run.profile = ? AND trial.status = 'done'"
)


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

    Attributes
    ----------
    path : Path
    connection : sqlite3.Connection
        In autocommit mode.
    left_out : dict of str to str
        Rows that do not fit the model of their table, with the reasons: those among all rows that
        were read so far. No method returns anything of them.

    Raises
    ------
    StoreError
        If the file is not a store of this version, is damaged, or cannot be opened or written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     kept = store.get(trial.key for trial in plan.trials)
    >>> len(kept), sorted(kept) == sorted(trial.key for trial in plan.trials)
    (4, True)
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
    ) -> None:
        super().__init__(path, read_only=read_only)
        self.left_out: dict[str, str] = {}
        # what is known of rows: hashes of those that fit, keys of trials that do not
        self._fitting: set[int] = set()
        self._unfit: set[Any] = set()

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
            cursor = connection.execute(ADD_RUN, (utc_now(), experiment, profile, jobs, *texts))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put(self, run: int, trial: Trial, result: Result) -> None:
        """Write a finished trial; a failure never replaces a success.

        Numbers of an earlier run that are replaced are kept for comparison.
        """
        row = {
            **vars(result),
            "run": run,
            "experiment": trial.experiment,
            "labels": canonical(trial.labels),
            "spec": canonical(trial.spec),
            "metrics": json.dumps(result.metrics),
            "info": json.dumps(result.info),
        }
        with self.transaction(frequent=True) as connection:
            if trial.key in self._unfit:
                connection.execute(_REPLACE, row)
            else:
                connection.execute(_KEEP, row)
                connection.execute(_PUT, row)
        self._unfit.discard(trial.key)

    def _rows(self, query: str, *parameters: Any) -> Iterator[Any]:
        with self.errors("read"):
            # not `yield from`, which would close the cursor of a store that is closed already
            for row in self.connection.execute(query, parameters):  # noqa: UP028
                yield row

    def _trial_rows(
        self, query: str, *parameters: Any
    ) -> Iterator[tuple[Any, StoredTrial | None]]:
        """Yield each row that fits, with its trial unless the row was looked at before."""
        for row in self._rows(query, *parameters):
            known, stored = hash(tuple(row)), None
            if known not in self._fitting:
                stored = self._fit(row)
                if stored is None:
                    continue
                self._fitting.add(known)
            yield row, stored

    def _trials(self, query: str, *parameters: Any) -> Iterator[tuple[Any, StoredTrial]]:
        """Yield each row that fits, with its trial."""
        for row, stored in self._trial_rows(query, *parameters):
            yield row, stored or trial_of(row)

    def fitting(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table that fit, as they stand: texts of JSON are texts."""
        if table == "run":
            rows = self._rows("SELECT * FROM run ORDER BY id")
            yield from (dict(row) for row in rows if self._run(row) is not None)
            return
        old = int(table == "superseded")
        for row, _ in self._trial_rows(f"SELECT *, {old} AS old FROM {table}"):
            yield {name: row[name] for name in TRIAL_COLUMNS}

    def _fit(self, row: Any) -> StoredTrial | None:
        """Return the trial of a row, or note that the row is left out."""
        try:
            return trial_of(row)
        except UnfitError as error:
            old = "old" in row.keys() and row["old"]  # noqa: SIM118
            self.left_out[row_name(row, "superseded" if old else "trial")] = str(error)
            if not old:
                self._unfit.add(row["key"])
            return None

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the results of those keys that the store has."""
        return {row["key"]: stored.result for row, stored in self._trials(*_of_keys(keys))}

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return "done" or "failed" for those keys that the store has."""
        return {row["key"]: row["status"] for row, _ in self._trial_rows(*_of_keys(keys))}

    def states(self, keys: Iterable[str]) -> list[list[Any]]:
        """Return what tells whether the results of some keys have changed, sorted by key.

        These are the key, its status, start and seconds, and the number of its run.
        """
        names = ("key", "status", "started", "seconds", "run")
        rows = self._trial_rows(*_of_keys(keys))
        return sorted([row[name] for name in names] for row, _ in rows)

    def places(self, experiment: str, profile: str) -> list[tuple[str, str, int]]:
        """Return key, labels (JSON) and split of the done trials of an experiment and profile."""
        rows = self._trials(_DONE, experiment, profile)
        return [(row["key"], row["labels"], stored.trial.split) for row, stored in rows]

    def datasets(self) -> dict[str, list[StoredDataset]]:
        """Return the data sets that were measured, by name, the latest first."""
        found: dict[str, tuple[int, DatasetSpec, set[str]]] = {}
        for row, stored in self._trials("SELECT * FROM trial"):
            what = stored.trial.spec.dataset
            if what.name is not None:
                text = canonical(what)
                last, _, experiments = found.get(text, (0, what, set()))
                found[text] = max(last, row["run"]), what, experiments | {row["experiment"]}
        datasets: dict[str, list[StoredDataset]] = defaultdict(list)
        for _, what, experiments in sorted(found.values(), key=lambda one: one[0], reverse=True):
            datasets[str(what.name)].append(StoredDataset(what, frozenset(experiments)))
        return dict(datasets)

    def durations(self, profile: str, experiment: str) -> list[tuple[dict[str, Any], float]]:
        """Return labels and seconds of all done trials of an experiment's profile."""
        trials = self._trials(_DONE, experiment, profile)
        return [(stored.trial.labels, stored.result.seconds) for _, stored in trials]

    def experiments(self) -> list[str]:
        """Return the sorted names of the experiments that have trials."""
        rows = self._trial_rows("SELECT * FROM trial")
        return sorted({row["experiment"] for row, _ in rows})

    def environments(self, runs: Iterable[int]) -> list[dict[str, Any]]:
        """Return the distinct environments of some runs."""
        numbers = set(runs)
        found = (run.environment for run in self.runs() if run.number in numbers)
        return [*{json.dumps(one): one for one in found}.values()]

    def runs(self) -> list[Run]:
        """Return all runs in their order."""
        rows = self._rows("SELECT * FROM run ORDER BY id")
        return [run for row in rows if (run := self._run(row)) is not None]

    def _run(self, row: Any) -> Run | None:
        try:
            return run_of(row)
        except UnfitError as error:
            self.left_out[row_name(row, "run")] = str(error)
            return None

    def counts_by_run(self) -> dict[int, tuple[int, int, int, float]]:
        """Return done, failed and superseded trials and their seconds, by number of the run."""
        counts: dict[int, tuple[int, int, int, float]] = {}
        for row, _ in self._trial_rows(_BOTH):
            done, failed, old, seconds = counts.get(row["run"], (0, 0, 0, 0.0))
            is_done = row["status"] == "done"
            counts[row["run"]] = (
                done + is_done,
                failed + (not is_done),
                old + row["old"],
                seconds + row["seconds"],
            )
        return counts

    def trials(self, run: int | None = None) -> Iterator[StoredTrial]:
        """Yield all finished trials, or those of a run, including superseded ones.

        They are sorted by experiment, labels, split and key.
        """
        if run is None:
            rows = self._trials("SELECT * FROM trial")
        else:
            rows = self._trials(f"SELECT * FROM ({_BOTH}) WHERE run = ?", run)
        # not by SQLite, which stops at the first row whose specification is no JSON
        found = [
            ((row["experiment"], row["labels"], stored.trial.split, row["key"]), stored)
            for row, stored in rows
        ]
        found.sort(key=lambda one: one[0])
        yield from (stored for _, stored in found)


def _of_keys(keys: Iterable[str]) -> tuple[str, str]:
    query = "SELECT * FROM trial WHERE key IN (SELECT value FROM json_each(?))"
    return query, json.dumps(list(keys))
