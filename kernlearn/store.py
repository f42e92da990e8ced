"""The store: an SQLite file with one row per finished trial."""

import base64
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import quote

from kernlearn.exceptions import StoreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MergeSummary", "Row", "State", "Store", "chosen_by_mean", "utc_now"]

#: Version of the table, kept in the file's ``user_version``.
VERSION = 4

_CREATE = f"""BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS trial (
    key TEXT PRIMARY KEY,
    experiment TEXT NOT NULL,
    profile TEXT NOT NULL,
    settings TEXT NOT NULL,
    done INTEGER NOT NULL,
    spec TEXT NOT NULL,
    row TEXT NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
PRAGMA user_version={VERSION};
COMMIT;"""
_COLUMNS = "key, experiment, profile, settings, done, spec, row, digest"
_INSERT = f"INSERT OR IGNORE INTO trial ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM trial WHERE key = ? AND done <= ?"
# Seconds to wait for another process that writes.
_BUSY = 30.0
# Relative difference below which numbers are the same: another BLAS adds in another order.
_SAME = 1e-9


def utc_now() -> str:
    """Return the present time (UTC), as rows of a store have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Row:
    """A finished trial.

    Attributes
    ----------
    key : str
        Hash of ``spec``.
    experiment : str
    labels : dict
        The trial's labels in tables: ``dataset``, ``kernel``, ``method`` and varied parameters.
    spec : dict
        All that determines the numbers.
    started : str
        UTC, ISO 8601.
    seconds : float
        Wall time of the whole trial, loading and selection included.
    metrics : dict of str to float
    info : dict
        Chosen parameters, sizes, warnings and the like.
    error, traceback : str or None
        Of a failed trial.
    machine : dict
        Packages and processor that the numbers come from.
    profile : str
    settings : tuple of str
        Profile of the run, and settings of its command line as ``key=value``.
    """

    key: str
    experiment: str = ""
    labels: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    started: str = ""
    seconds: float = 0.0
    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    traceback: str | None = None
    machine: dict[str, Any] = field(default_factory=dict)
    profile: str = "full"
    settings: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether the trial succeeded."""
        return self.error is None


@dataclass
class MergeSummary:
    """Numbers of rows of a merged store.

    Attributes
    ----------
    added : int
        Rows that were new, or done where the destination's had failed.
    same : int
        Rows that both stores have.
    conflicts : list of Row
        The source's rows whose numbers are not those of the destination, which stay.
    """

    added: int = 0
    same: int = 0
    conflicts: list[Row] = field(default_factory=list)


class State(NamedTuple):
    """What a plan says of a trial that a store has: how it went."""

    done: bool
    seconds: float
    error: str | None


class Store:
    """Finished trials, kept in an SQLite file.

    Every row is read with a digest of its content: one that was changed since it was written is
    refused. A trial is on the disk when :meth:`put` returns, whatever happens to the process.

    Parameters
    ----------
    path : Path
        Created with its folder if it does not exist.
    read_only : bool, default=False
        Write nothing; the file must exist.

    Raises
    ------
    StoreError
        If the file is no store of this version, is damaged, or cannot be opened or written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Row, Store
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     store.put(Row("k1", "demo", metrics={"accuracy": 0.9}))
    ...     store.get(["k1", "k2"])["k1"].metrics
    {'accuracy': 0.9}
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if read_only and not self.path.exists():
            raise StoreError(
                f"{path}: no such store; `kernlearn run` creates it, --store names another"
            )
        with self._explained("opened"):
            if not read_only:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch()
            place = quote(str(self.path.resolve()))
            self._connection = sqlite3.connect(
                f"file:{place}?mode=rw", uri=True, timeout=_BUSY, isolation_level=None
            )
        try:
            self._begin(read_only)
        except BaseException:
            self.close()
            raise

    def _begin(self, read_only: bool) -> None:
        # what is stored is checked as it stands, text or not
        self._connection.text_factory = bytes
        with self._explained("opened"):
            self._connection.execute("PRAGMA synchronous=NORMAL")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            empty = self._is_empty()
            if empty and not read_only:
                self._connection.executescript(_CREATE)
            elif version != VERSION and not empty:
                raise StoreError(
                    f"{self.path}: no kernlearn store of version {VERSION}; name another file "
                    "with --store"
                )
            # rows on pages that were exchanged or lost are no rows of which a digest could tell
            (state,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != b"ok":
                raise StoreError(f"{self.path}: cannot be opened{_ADVICE['SQLITE_CORR']}")
            if read_only:
                self._connection.execute("PRAGMA query_only=ON")
            last = "SELECT max(key) FROM trial"
            self._last = None if empty else self._connection.execute(last).fetchone()[0]
            status = self.path.stat()
        self._file, self._size = (status.st_dev, status.st_ino), status.st_size

    def _is_empty(self) -> bool:
        return not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeError) as error:
            advice = _ADVICE.get((getattr(error, "sqlite_errorname", "") or "")[:11], "")
            raise StoreError(f"{self.path}: cannot be {action}: {error}{advice}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of the store within a block; reading and merging stay possible.

        The system releases the lock when the process ends, however that happens.

        Raises
        ------
        StoreError
            If another run holds it.
        """
        from filelock import FileLock, Timeout

        # one lock for all links to the file
        lock = FileLock(f"{self.path.resolve()}.lock", blocking=False)
        with self._explained("locked"):
            try:
                held = lock.acquire()
            except Timeout:
                raise StoreError(
                    f"{self.path}: another run is writing to it; wait for it to end, or name "
                    "another file with --store and `kernlearn merge` the two afterwards"
                ) from None
        with held:
            yield

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of a block or nothing, to the file that was opened and has its rows."""
        with self._explained("written"), self._connection:
            self._refuse_loss()
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def _refuse_loss(self) -> None:
        try:
            status = self.path.stat()
            if (status.st_dev, status.st_ino) == self._file and status.st_size >= self._size:
                find = "SELECT 1 FROM trial WHERE key IN (?1, CAST(?1 AS TEXT))"
                if self._last is None or self._connection.execute(find, (self._last,)).fetchone():
                    self._size = status.st_size
                    return
        except (OSError, sqlite3.Error) as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_BUSY", "SQLITE_IOERR")):  # the rows may well be there
                raise
        raise StoreError(
            f"{self.path}: was deleted, truncated, overwritten or replaced while it was in use; "
            "the trials that it had are lost, and no further ones are written: restore a copy of "
            "the file, or remove it, and run the same command again"
        )

    def put(self, *rows: Row) -> None:
        """Write finished trials, all or none; a failure never replaces a success.

        Raises
        ------
        StoreError
            If the file cannot be written, or was deleted, truncated or replaced since it was
            opened.
        """
        with self._transaction() as connection:
            for row in rows:
                connection.execute(_DELETE, (row.key, row.done))
                connection.execute(_INSERT, _values(row))
                self._last = row.key.encode()
        with self._explained("read"):
            self._refuse_loss()

    def _checked(
        self, where: str = "", *parameters: Any, more: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows as the table has them, with `more`, each found to be as it was written."""
        with self._explained("read"):
            self._refuse_loss()
            if self._is_empty():
                return  # opened for reading
            query = f"SELECT {_COLUMNS}{more} FROM trial {where}"
            for values in self._connection.execute(query, parameters):
                if _digest(values[:_DIGEST]) != values[_DIGEST]:
                    key, experiment = (repr(v).strip("b'") for v in values[:2])
                    raise StoreError(
                        f"{self.path}: the row of trial {key} ({experiment}) was changed since it "
                        "was written: restore a copy of the file, or name another with --store"
                    )
                yield values

    def get(self, keys: Iterable[str]) -> dict[str, Row]:
        """Return the rows of those keys that the store has.

        Raises
        ------
        StoreError
            If a row was changed since it was written, or the file since it was opened.
        """
        rows = map(_row_of, self._checked(_OF_KEYS, json.dumps(list(keys))))
        return {row.key: row for row in rows}

    def states(self, keys: Iterable[str]) -> dict[str, State]:
        """Return the states of those keys that the store has, in a fifth of the time of `get`.

        Raises
        ------
        StoreError
            As :meth:`get`.
        """
        found = self._checked(_OF_KEYS, json.dumps(list(keys)), more=_OF_STATE)
        return {
            key.decode(): State(bool(done), *json.loads(more))
            for key, *_, done, _, _, _, more in found
        }

    def count(self, experiment: str) -> int:
        """Return the number of trials of an experiment."""
        asked = "SELECT count(*) FROM trial WHERE experiment = ?"
        with self._explained("read"):
            if self._is_empty():
                return 0
            return int(self._connection.execute(asked, [experiment]).fetchone()[0])

    def rows(self) -> list[Row]:
        """Return all rows, sorted by experiment, labels and split.

        Raises
        ------
        StoreError
            As :meth:`get`.
        """
        rows = map(_row_of, self._checked())
        return sorted(rows, key=lambda r: (r.experiment, _json(r.labels), r.spec.get("split", 0)))

    def experiments(self) -> dict[str, dict[tuple[str, tuple[str, ...]], Counter[str | None]]]:
        """Return the experiments: of each profile and settings the errors, None for success."""
        experiments: dict[str, Any] = {}
        for values in self._checked("ORDER BY experiment, profile, settings"):
            name, profile, settings = (value.decode() for value in values[1:4])
            counts = experiments.setdefault(name, {})
            of_way = counts.setdefault((profile, tuple(json.loads(settings))), Counter())
            of_way[None if values[4] else _row_of(values).error] += 1
        return experiments

    def merge(self, other: "Store") -> MergeSummary:
        """Add the rows of another store that this one lacks, completely or not at all.

        A trial that is done replaces one that failed. Of a trial that both have, this store's row
        stays; it is a conflict if the numbers, other than times, differ.

        Raises
        ------
        StoreError
            If both are the same file, or one cannot be read or written.
        """
        if other.path.samefile(self.path):
            raise StoreError(f"{other.path}: cannot be merged into itself")
        summary, rows = MergeSummary(), other.rows()
        own = self.get(row.key for row in rows)
        with self._transaction() as connection:
            for row in rows:
                known = own.get(row.key)
                if known is None or (row.done and not known.done):
                    connection.execute(_DELETE, (row.key, 0))
                    summary.added += connection.execute(_INSERT, _values(row)).rowcount
                elif row.done and _numbers_differ(known, row):
                    summary.conflicts.append(row)
                else:
                    summary.same += 1
        return summary


_ADVICE = {
    "SQLITE_FULL": "; the disk is full: free some space and run again",
    "SQLITE_READ": "; change its permissions, or name another file with --store",
    "SQLITE_CANT": "; name another file with --store",
    "SQLITE_NOTA": "; it is no kernlearn store: name another file with --store",
    "SQLITE_CORR": "; it is damaged: restore a copy, or name another file with --store",
    "SQLITE_BUSY": "; another process has it locked: wait for that to end and try again",
}
_OF_KEYS = "WHERE key IN (SELECT value FROM json_each(?))"
_OF_STATE = ", json_extract(row, '$.seconds', '$.error')"
# The place of the digest, after what it is made of.
_DIGEST = 7
_NAMES = ("labels", "started", "seconds", "metrics", "info", "error", "traceback", "machine")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _digest(values: Iterable[Any]) -> bytes:
    parts = (v if isinstance(v, bytes) else str(v).encode() for v in values)
    return sha256(b"\0".join(parts)).hexdigest().encode()


def _values(row: Row) -> tuple[Any, ...]:
    """Return a row as the table has it."""
    texts = _json(row.spec), json.dumps({name: getattr(row, name) for name in _NAMES})
    values = row.key, row.experiment, row.profile, _json(row.settings), int(row.done), *texts
    return *values, _digest(values).decode()


def _row_of(values: tuple[Any, ...]) -> Row:
    key, experiment, profile, settings, _, spec, row, _ = values
    return Row(
        key=key.decode(),
        experiment=experiment.decode(),
        profile=profile.decode(),
        settings=tuple(json.loads(settings)),
        spec=json.loads(spec),
        **json.loads(row),
    )


def _numbers(row: Row) -> dict[str, float]:
    """Return what two measurements have in common, that of each point of a grid too."""
    grids = enumerate(row.info.get("grid", ()))
    points = {f"{i} {k}": v for i, point in grids for k, v in point["metrics"].items()}
    return {k: v for k, v in {**row.metrics, **points}.items() if not k.endswith("_seconds")}


def _numbers_differ(a: Row, b: Row) -> bool:
    from numpy import allclose

    left, right = _numbers(a), _numbers(b)
    return left.keys() != right.keys() or not allclose(
        [*left.values()], [right[name] for name in left], _SAME, 1e-15, equal_nan=True
    )


def chosen_by_mean(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Give each trial that measured a grid the numbers of the best point over all its splits.

    The best point has the greatest mean score; ties are broken by the fewest support vectors on
    average, then by order. Rows without a grid stay as they are.
    """
    import numpy as np

    chosen, cells = dict(rows), defaultdict[str, list[Row]](list)
    for row in rows.values():
        if row.done and "grid" in row.info:
            cells[json.dumps({**row.spec, "split": 0}, sort_keys=True)].append(row)
    for cell in cells.values():
        grids = [row.info["grid"] for row in cell]
        scores = np.mean([[point["score"] for point in grid] for grid in grids], axis=0)
        support = [[point["metrics"].get("n_support", 0.0) for point in grid] for grid in grids]
        # rounded, so that differences by rounding error are none
        best = int(np.lexsort([np.mean(support, axis=0), -np.round(scores, 12)])[0])
        for row, grid in zip(cell, grids, strict=True):
            point = grid[best]
            selected = {"selected": point["parameters"], "converged": point.get("converged", True)}
            metrics = {**row.metrics, **point["metrics"]}
            losses = {"losses": point.get("losses", {})}
            info = {**row.info, **selected, **losses}
            chosen[row.key] = replace(row, metrics=metrics, info=info)
    return chosen


def values_as_text(values: "NDArray[Any]") -> str:
    """Return values as text: bits where they are 0 or one other number, else float32.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.store import values_as_text, values_from_text
    >>> values_from_text(values_as_text(np.array([True, False, True])))
    array([1., 0., 1.])
    """
    import numpy as np

    other = float(np.max(values, initial=0))
    if np.isin(values, (0, other)).all():
        bits = base64.b85encode(np.packbits(values != 0).tobytes()).decode()
        return f"{len(values)}*{other:g}:{bits}"
    return base64.b85encode(values.astype("<f4").tobytes()).decode()


def values_from_text(text: str) -> "NDArray[Any]":
    """Return the values that :func:`values_as_text` wrote, in float64."""
    import numpy as np

    head, separator, bits = text.partition(":")  # of which base 85 has none
    if separator:
        length, _, other = head.partition("*")
        packed = np.frombuffer(base64.b85decode(bits), dtype=np.uint8)
        return np.unpackbits(packed, count=int(length)) * float(other)
    return np.frombuffer(base64.b85decode(text), dtype="<f4").astype(np.float64)
