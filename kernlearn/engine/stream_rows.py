"""The rows of a stream that a trial trains on, and those that it holds out to test on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernlearn.config.spec import ProtocolSpec, Trial
from kernlearn.datasets.partitions import Partition
from kernlearn.datasets.sources import RowSource
from kernlearn.engine.protocol import SCALERS, random_state
from kernlearn.engine.stream_reading import training_source, whole_source
from kernlearn.exceptions import DataError
from kernlearn.onepass.moments import fold_of, row_hashes

Rows = tuple[Any, np.ndarray]

# Rows are held out in whole numbers of so many parts.
_PARTS = 2**20
#: Rows on which methods are tried before anything is timed, and of which kernels learn.
FIRST_ROWS = 64


NO_ROWS = "the stream has no rows to train on"


@dataclass(frozen=True)
class Division:
    """Which rows are held out, and what all rows become.

    Attributes
    ----------
    share : float
        Share of the rows that is held out. Which ones is told by a hash of their entries: it does
        not depend on the order or the chunks, and equal rows are on the same side.
    seed : int
        Seed of the hash.
    positive : tuple of str or None
        The classes that are positive.
    numbers : bool
        Whether targets are numbers.
    dense : bool
        Whether sparse rows are made dense.
    scalers : tuple
        What scales the rows, one after the other.
    """

    share: float
    seed: int
    positive: tuple[str, ...] | None = None
    numbers: bool = False
    dense: bool = False
    scalers: tuple[Any, ...] = ()

    def part(self, chunk: tuple[Any, Any], held: bool) -> Rows:
        """Return the rows of a chunk that are held out, or the others."""
        X, y = chunk
        out = fold_of(row_hashes(X, self.seed), _PARTS) < round(self.share * _PARTS)
        kept = np.flatnonzero(out if held else ~out)
        X, y = X[kept], self._targets(np.asarray(y)[kept])
        if self.dense and sparse.issparse(X):
            X = X.toarray()
        for scaler in self.scalers if len(kept) else ():
            X = scaler.transform(X)
        return X, y

    def _targets(self, y: np.ndarray) -> np.ndarray:
        if self.numbers:
            if y.dtype.kind not in "fiu":
                raise DataError(f"the target is text, such as {y[0]!r}, and numbers are needed")
            return y.astype(np.float64)
        if self.positive is None:
            return y
        names = np.array([label_name(value) for value in y.tolist()], dtype=object)
        return np.isin(names, self.positive).astype(np.int64)


def label_name(value: Any) -> str:
    """Return the name of a label as configs have it: ``1`` for 1.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@dataclass
class Count:
    """Rows of the last pass: all that were read, and those of them to train on."""

    read: int = 0
    trained: int = 0


@dataclass
class StreamRows:
    """The rows of a trial's stream.

    Attributes
    ----------
    training : RowSource
        All that are read to train on, with those held out among them.
    whole : RowSource
        These and what comes after.
    limit : int or None
        The number of rows that are read to train on.
    test_rows : int
        The most rows to test on.
    division : Division
    count : Count
    """

    training: RowSource
    whole: RowSource
    limit: int | None
    test_rows: int
    division: Division
    count: Count = field(default_factory=Count)

    @classmethod
    def of(cls, trial: Trial, data_dir: Path | None, numbers: bool) -> "StreamRows":
        """Open the stream of a trial, whose targets are numbers or classes, and learn scaling."""
        what, protocol = trial.spec.dataset, trial.spec.protocol
        assert what.stream is not None
        how = Division(
            what.stream["hold_out"],
            random_state(protocol.seed, "held out", trial.split),
            tuple(what.binarize) if isinstance(what.binarize, list) else None,
            numbers,
            bool(trial.spec.method.dense),
        )
        rows = cls(
            training_source(trial, data_dir, numbers),
            whole_source(trial, data_dir, numbers),
            what.stream.get("rows"),
            what.stream["test_rows"],
            how,
        )
        for name in protocol.scale:
            rows._learn_scaling(name, protocol)
        return rows

    def source(self) -> RowSource:
        """Return the rows to train on, to be read in this process; passes are counted."""
        return RowSource(self._pass)

    def divided(self) -> RowSource:
        """Return the rows to train on in partitions, for other processes."""
        parts = [
            Partition(part.name, _kept, (part, self.division)) for part in self.training.partitions
        ]
        return RowSource.of_partitions(lambda: parts)

    def held_out(self) -> Iterator[Rows]:
        """Yield the rows to test on, in chunks."""
        left = self.test_rows
        for chunk in self.whole:
            X, y = self.division.part(chunk, True)
            if len(y):
                yield X[:left], y[:left]
            left -= len(y)
            if left <= 0:
                return

    def first(self) -> Rows:
        """Return some of the first rows, among them some of each class.

        Chunks are read until there are two classes, or no more rows.
        """
        X_parts, y_parts, seen = [], [], 0
        for chunk in self.whole if self.limit is None else _first_rows(self.whole, self.limit):
            X, y = self.division.part(chunk, False)
            kept = np.arange(len(y)) < FIRST_ROWS
            for label in () if self.division.numbers else np.unique(y)[:FIRST_ROWS]:
                kept[np.flatnonzero(y == label)[: FIRST_ROWS // 2]] = True
            X_parts.append(X[kept])
            y_parts.append(y[kept])
            seen += len(y)
            if seen >= FIRST_ROWS and len(np.unique(np.concatenate(y_parts))) > 1:
                break
        if not seen:
            raise DataError(NO_ROWS)
        return stacked(X_parts), np.concatenate(y_parts)

    def classes(self) -> np.ndarray:
        """Return the classes of the rows to train on, which takes a pass."""
        found: np.ndarray | None = None
        for _, y in self._pass():
            known = () if found is None else (found,)
            found = np.unique(np.concatenate([*known, np.unique(y)]))
        assert found is not None
        return found

    def _pass(self) -> Iterator[Rows]:
        count = self.count = Count()
        chunks: Iterable[Any] = self.training
        if self.limit is not None:
            chunks = _first_rows(chunks, self.limit)
        for chunk in chunks:
            X, y = self.division.part(chunk, False)
            count.read += chunk[0].shape[0]
            count.trained += len(y)
            if len(y):
                yield X, y

    def _learn_scaling(self, name: str, protocol: ProtocolSpec) -> None:
        scaler = SCALERS[name]()
        if name != "unit_norm":  # learns nothing
            for X, _ in self._pass():
                if name == "zscore" and sparse.issparse(X):
                    raise ValueError(
                        "scale: zscore would fill a sparse matrix; use max_norm for this data"
                    )
                scaler.partial_fit(X)
        how = self.division
        self.division = Division(**{**vars(how), "scalers": (*how.scalers, scaler)})


def count_parts(how: Division, part: Partition) -> Count:
    """Count the rows of a partition."""
    found = Count()
    for chunk in part:
        found.read += chunk[0].shape[0]
        found.trained += len(how.part(chunk, False)[1])
    return found


def merged_counts(counts: Any) -> Count:
    """Return the rows of several partitions together."""
    return Count(sum(c.read for c in counts), sum(c.trained for c in counts))


def stacked(parts: list[Any]) -> Any:
    """Put rows below each other, while what has been copied is let go of."""
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    total = sum(part.shape[0] for part in parts)
    result = np.empty((total, *parts[0].shape[1:]), dtype=np.result_type(*parts))
    start = 0
    for i, part in enumerate(parts):
        result[start : start + len(part)] = part
        start += len(part)
        parts[i] = None
    return result


def _kept(part: Partition, how: Division) -> Iterator[Rows]:
    for chunk in part:
        X, y = how.part(chunk, False)
        if len(y):
            yield X, y


def _first_rows(chunks: Iterable[Any], n_rows: int) -> Iterator[Any]:
    left = n_rows
    for chunk in chunks:
        yield tuple(values[:left] for values in chunk)
        left -= chunk[0].shape[0]
        if left <= 0:
            return
