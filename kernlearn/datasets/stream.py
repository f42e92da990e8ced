"""Rows in chunks from where data are: arrays, files, iterators, Dask collections, generators."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from kernlearn import checks
from kernlearn.datasets.files import container, is_archive, opened
from kernlearn.exceptions import DataError
from kernlearn.lazy import needed_by

#: Rows X, and their targets y or None.
RowChunk = tuple[Any, Any]
Chunk = tuple[Any, np.ndarray]
Seed = int | np.random.RandomState | None
Value = TypeVar("Value")

_MERGED_TOGETHER = 8  # values that one task merges
_BLOCK = 1024  # rows are drawn in blocks, so that the size of chunks does not change them
_PART_BYTES = 2**26  # of a Parquet file, that one partition reads
# Arguments that a stream has from what reads it.
_OF_READER = ("n_samples", "batch_size", "random_state", "numbers")


# Partitions and sources


@dataclass(frozen=True)
class Partition:
    """A part of the rows of a source.

    Iterating over it yields its chunks, which are computed in this process.

    Attributes
    ----------
    name : str
        What errors call it; empty where there is but one.
    read : callable
        Returns the chunks; a function of a module, so that it can be sent to where the data are.
    arguments : tuple
        Its arguments, after the values of `lazy`.
    lazy : tuple of Dask objects
        What has to be computed for it.
    """

    name: str
    read: Callable[..., Iterable[RowChunk]]
    arguments: tuple[Any, ...] = ()
    lazy: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[RowChunk]:
        values: Sequence[Any] = ()
        if self.lazy:
            import dask

            values = dask.compute(*self.lazy)
        return _checked(self.read(*values, *self.arguments))

    def computed(self, values: Sequence[Any]) -> "Partition":
        """Return the partition with the values of its lazy arguments."""
        return Partition(self.name, self.read, (*values, *self.arguments))

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Say in errors that they are of this partition."""
        try:
            yield
        except Exception as error:
            if not self.name:
                raise
            if type(error) is ValueError:
                raise ValueError(f"{self.name}: {error}") from error
            error.add_note(f"in {self.name}")
            raise


def gathered(gather: Callable[[Partition], Any], part: Partition, *values: Any) -> Any:
    """Return what is gathered of a partition with the values of its lazy arguments."""
    with part.naming_errors():
        return gather(part.computed(values) if values else part)


def _checked(chunks: Iterable[RowChunk]) -> Iterator[RowChunk]:
    """Yield chunks; refuse what is none."""
    for place, chunk in enumerate(chunks):
        if not (isinstance(chunk, tuple) and len(chunk) == 2):
            kind = type(chunk).__name__
            raise ValueError(f"chunk {place} must be a pair (X, y), got a {kind}")
        yield chunk


class RowSource:
    """Rows in chunks, to be read once or several times. Made by :func:`row_source`.

    Parameters
    ----------
    chunks : callable
        Returns an iterator of chunks, tuples (X, y).
    repeatable : bool, default=True
        Whether it can be called again.
    partitions : callable, default=None
        Returns a list of partitions, which hold the same rows and can be read by themselves.
        None: there is but one, which is read in this process.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import RowSource
    >>> chunk = np.zeros((3, 2)), np.arange(3)
    >>> source = RowSource(lambda: iter([chunk, chunk]))
    >>> sum(len(y) for X, y in source), sum(len(y) for X, y in source)
    (6, 6)
    >>> source.is_divided, source.repeatable
    (False, True)
    """

    def __init__(
        self,
        chunks: Callable[[], Iterable[RowChunk]],
        repeatable: bool = True,
        partitions: Callable[[], list[Partition]] | None = None,
    ) -> None:
        self._chunks, self.repeatable, self._begun = chunks, repeatable, False
        self._partitions = partitions

    @classmethod
    def of_partitions(cls, make: Callable[[], list[Partition]]) -> "RowSource":
        """Return the rows of partitions, one after the other."""
        return cls(lambda: (chunk for part in make() for chunk in part), partitions=make)

    @property
    def is_divided(self) -> bool:
        """Whether there are partitions that can be read by themselves."""
        return self._partitions is not None

    @property
    def partitions(self) -> list[Partition]:
        """The partitions; a source that is not divided is one as a whole."""
        if self._partitions is not None:
            return self._partitions()
        return [Partition("", self.__iter__)]

    def reduce(
        self, gather: Callable[[Partition], Value], merge: Callable[[Sequence[Value]], Value]
    ) -> Value:
        """Return the merged values of the partitions.

        If a `distributed.Client` is active, each partition of a divided source is a task that
        runs where its data are, and so are merges of eight values each, in a tree that does not
        depend on the workers. Otherwise partitions are read one after the other.

        Parameters
        ----------
        gather : callable
            Returns the value of a partition, over whose chunks it iterates.
        merge : callable
            Returns the value of several. Both functions must be such that can be pickled, and
            leave their arguments as they are, as a task may run again.

        Returns
        -------
        object

        Raises
        ------
        ValueError
            What `gather` raises, with the name of the partition.
        """
        parts = self.partitions
        if not (self.is_divided and parts and _has_client()):
            result = None
            for part in parts:
                value = gathered(gather, part)
                result = value if result is None else merge([result, value])
            return result  # type: ignore[return-value]
        from dask import delayed

        task, shared = delayed(gathered), delayed(gather)  # which is sent once
        values = [task(shared, part.computed(()), *part.lazy) for part in parts]
        while len(values) > 1:
            starts = range(0, len(values), _MERGED_TOGETHER)
            values = [delayed(merge)(values[i : i + _MERGED_TOGETHER]) for i in starts]
        return values[0].compute()

    def __iter__(self) -> Iterator[RowChunk]:
        if self._begun and not self.repeatable:
            raise ValueError(
                "the chunks of an iterator have been read and come only once: pass a function "
                "that returns a new iterator"
            )
        self._begun = True
        return _checked(self._chunks())


def _has_client() -> bool:
    """Tell whether a client of Dask is active in this process."""
    distributed = sys.modules.get("distributed")  # not imported: there is none
    try:
        return distributed is not None and bool(distributed.default_client())
    except ValueError:
        return False


def row_source(
    data: Any, y: Any = None, *, n_rows: int = 65_536, target: str | None = None, **options: Any
) -> RowSource:
    """Return data as rows in chunks, whatever holds them.

    Parameters
    ----------
    data : array-like, path, sequence of paths, Dask collection, iterator, iterable or callable
        - An array, a memory map, a sparse matrix or a data frame, with `y`.
        - A Parquet, CSV or LIBSVM file, or several, which are read by :func:`iter_chunks`.
        - A Dask array or data frame with `y` of the same kind, or a Dask data frame with `target`,
          or a list of delayed tuples (X, y). Each partition is a chunk.
        - An iterator of tuples (X, y), which is read once; another iterable of them or a function
          without arguments that returns one, which are read again in each pass.
    y : array-like of shape (n_samples,), default=None
        Targets of an array.
    n_rows : int, default=65536
        Rows per chunk of arrays and files.
    target : str, default=None
        The target's column in a Parquet or CSV file or a data frame.
    **options
        For files, as for :func:`iter_chunks`.

    Returns
    -------
    RowSource

    Raises
    ------
    ValueError
        If the arguments do not suit the kind of data.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import row_source
    >>> source = row_source(np.zeros((5, 2)), np.arange(5), n_rows=2)
    >>> [len(y) for X, y in source]
    [2, 2, 1]
    """
    checks.check_count(n_rows=n_rows)
    if isinstance(data, RowSource):
        return data
    if _are_paths(data):
        paths = [data] if isinstance(data, (str, Path)) else list(data)
        _refuse(y is not None, "y is for arrays; name the column of a file by 'target'")
        return RowSource.of_partitions(lambda: _of_files(paths, n_rows, target, options))
    _refuse(bool(options), f"{next(iter(options), '')!r} is for files")
    if isinstance(data, (list, tuple)) and data and all(map(_is_dask, data)):
        _refuse(y is not None, "y is for arrays; delayed chunks have their own")
        parts = [Partition(f"partition {i}", _alone, lazy=(c,)) for i, c in enumerate(data)]
        return RowSource.of_partitions(lambda: parts)
    if _is_dask(data):
        return RowSource.of_partitions(_of_dask(data, y, target))
    frame_or_array = hasattr(data, "shape") or hasattr(data, "columns")
    if callable(data) or (y is None and not frame_or_array and _yields_chunks(data)):
        _refuse(y is not None, "y is for arrays; chunks of a function have their own")
        repeatable = not hasattr(data, "__next__")
        return RowSource(data if callable(data) else lambda: iter(data), repeatable)
    if target is not None:
        _refuse(not hasattr(data, "columns"), "target is for files and data frames")
        _refuse(target not in data.columns, f"the data frame has no column called {target!r}")
        data, y = data.drop(columns=[target]), data[target]
    if not hasattr(data, "shape"):
        _refuse(hasattr(data, "__next__"), "y is for arrays; chunks of an iterator have their own")
        data = np.asarray(data)
    if y is not None and len(y) != data.shape[0]:
        raise ValueError(f"X has {data.shape[0]} rows, y has {len(y)}")
    return RowSource(lambda: _of_array(data, y, n_rows))


def _are_paths(data: Any) -> bool:
    if isinstance(data, (str, Path)):
        return True
    several = isinstance(data, Sequence) and len(data) > 0
    return several and all(isinstance(item, (str, Path)) for item in data)


def _yields_chunks(data: Any) -> bool:
    if isinstance(data, Sequence):
        first = data[0] if len(data) else None
        return isinstance(first, tuple) and len(first) == 2 and hasattr(first[0], "shape")
    return isinstance(data, Iterable)


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise ValueError(message)


def _of_array(X: Any, y: Any, n_rows: int) -> Iterator[RowChunk]:
    for start in range(0, X.shape[0], n_rows):
        rows = slice(start, start + n_rows)
        part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        if isinstance(part, np.memmap):
            part = np.array(part)  # what has been read is not read again
        yield part, None if y is None else y.iloc[rows] if hasattr(y, "iloc") else y[rows]


def _is_dask(data: Any) -> bool:
    """Tell whether data are a collection of Dask, without importing Dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def _of_dask(data: Any, y: Any, target: str | None) -> Callable[[], list[Partition]]:
    """Return the function that returns the partitions of a Dask array or data frame."""
    _refuse(y is not None and not _is_dask(y), "y must be of Dask, as X is")
    if hasattr(data, "columns"):
        if y is not None:
            _refuse(target is not None, "pass either y or target")
            _refuse(y.npartitions != data.npartitions, "X and y must have the same partitions")
            return lambda: _of_arrays(data, y)
        if target is None:
            raise ValueError("target must name the target's column of a Dask data frame")
        _refuse(target not in data.columns, f"the data frame has no column called {target!r}")
        return lambda: [
            Partition(f"partition {i}", _with_target, (target,), (part,))
            for i, part in enumerate(_delayed(data))
        ]
    _refuse(target is not None, "target is for data frames; pass y with a Dask array")
    _refuse(data.ndim != 2, f"a Dask array must have 2 dimensions, got {data.ndim}")
    X = data.rechunk({1: -1})
    if y is not None:
        known = not any(np.isnan(size) for size in (*X.chunks[0], *y.chunks[0]))
        _refuse(known and X.shape[0] != y.shape[0], f"X has {X.shape[0]} rows, y {y.shape[0]}")
        y = y.rechunk({0: X.chunks[0]}) if known else y
        y = y.rechunk({1: -1}) if y.ndim == 2 else y
        _refuse(y.numblocks[0] != X.numblocks[0], "X and y must have the same partitions")
    return lambda: _of_arrays(X, y)


def _of_arrays(X: Any, y: Any) -> list[Partition]:
    parts = [_delayed(X)] if y is None else [_delayed(X), _delayed(y)]
    lazy = zip(*parts, strict=True)
    return [Partition(f"partition {i}", _pair, lazy=both) for i, both in enumerate(lazy)]


def _delayed(data: Any) -> list[Any]:
    parts = data.to_delayed()
    return list(parts.ravel() if hasattr(parts, "ravel") else parts)


def _pair(X: Any, y: Any = None) -> Iterator[RowChunk]:
    if X.shape[0]:
        yield X, y


def _with_target(frame: Any, target: str) -> Iterator[RowChunk]:
    return _pair(frame.drop(columns=[target]), frame[target])


def _alone(chunk: RowChunk) -> Iterator[RowChunk]:
    yield chunk


# Files


def _of_files(
    paths: Sequence[str | Path], n_rows: int, target: str | None, options: dict[str, Any]
) -> list[Partition]:
    """Return each file as a partition, a Parquet file as several with some row groups each."""
    partitions = []
    for path in map(Path, paths):
        parts: list[range] = []
        if chunk_format(path, options.get("format")) == "parquet":
            with needed_by("a source of files"):
                metadata = _parquet_file(path).metadata
            chosen = options.get("row_groups")
            every = range(metadata.num_row_groups)
            parts = _together(metadata, every if chosen is None else chosen)
        if len(parts) < 2:
            partitions.append(Partition(str(path), _of_file, (path, n_rows, target, options)))
            continue
        for groups in parts:
            name = f"{path}, row groups {groups[0]} to {groups[-1]}"
            some = {**options, "row_groups": groups}
            partitions.append(Partition(name, _of_file, (path, n_rows, target, some)))
    return partitions


def _together(metadata: Any, row_groups: range) -> list[range]:
    """Return consecutive row groups of a Parquet file, as few as have so many bytes together."""
    parts, start, n_bytes = [], row_groups.start, 0
    for place in row_groups:
        n_bytes += metadata.row_group(place).total_byte_size
        if n_bytes >= _PART_BYTES or place == row_groups[-1]:
            parts.append(range(start, place + 1))
            start, n_bytes = place + 1, 0
    return parts


def _of_file(
    path: Path, n_rows: int, target: str | None, options: dict[str, Any]
) -> Iterator[RowChunk]:
    with needed_by("a source of files"):
        return iter_chunks(path, n_rows, target=target, **options)


def iter_chunks(
    path: Path | str,
    n_rows: int = 10_000,
    format: str | None = None,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    target: str | None = None,
    drop: Sequence[str] = (),
    missing: bool = False,
    row_groups: range | None = None,
) -> Iterator[Chunk]:
    r"""Read a LIBSVM, Parquet or CSV file in chunks, in constant memory.

    For ``partial_fit``: nothing is scaled or encoded, labels are those of the file.

    Parameters
    ----------
    path : path-like
        The file. LIBSVM text and CSV may be compressed (``.gz``, ``.bz2``, ``.xz``). CSV has
        names in its first line and commas.
    n_rows : int, default=10000
        Rows per chunk; the last may have fewer.
    format : {"libsvm", "parquet", "csv"}, default=None
        The format; None looks at the first bytes and for ``.csv`` in the name.
    n_features : int, default=None
        The number of features. Required for a LIBSVM file, as no chunk has all of them; for
        another file it is checked if given.
    zero_based : bool, default=False
        Whether the indices of a LIBSVM file begin at 0.
    target : str, default=None
        The target's column in a Parquet or CSV file, for which it is required.
    drop : sequence of str, default=()
        Columns of a Parquet or CSV file that are no features.
    missing : bool, default=False
        Whether a feature may be missing in a Parquet or CSV file; it is read as NaN.
    row_groups : range, default=None
        Consecutive row groups of a Parquet file that are read; None reads all.

    Yields
    ------
    X : CSR matrix or ndarray of shape (n_rows, n_features)
        Float64; CSR from LIBSVM, else dense.
    y : ndarray of shape (n_rows,)
        Numbers as float64, texts as text.

    Raises
    ------
    ValueError
        If an argument is not allowed or missing.
    DataError
        If the file is damaged; the message names the row and the column. The
        chunks before the one with the fault have been yielded by then.

    See Also
    --------
    load : A whole data set, by its card.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.datasets import iter_chunks
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "small.txt"
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:1\n+1 3:4\n")
    ...     [(X.shape, y.tolist()) for X, y in iter_chunks(file, 2, n_features=3)]
    [((2, 3), [1.0, -1.0]), ((1, 3), [1.0])]
    """
    file = Path(path)
    checks.check_count(n_rows=n_rows)
    if n_features is not None:
        checks.check_count(n_features=n_features)
    if format not in (None, "libsvm", "parquet", "csv"):
        raise ValueError(f"format must be None, 'libsvm', 'parquet' or 'csv', got {format!r}")
    if isinstance(drop, str):
        raise ValueError(f"drop must be a sequence of column names, got {drop!r}")
    format = chunk_format(file, format)
    if row_groups is not None and format != "parquet":
        raise ValueError("row_groups is for Parquet files")
    if format == "libsvm":
        if n_features is None:
            raise ValueError("n_features must be given for a LIBSVM file")
        if target is not None or drop or missing:
            raise ValueError(
                "target, drop and missing are for Parquet and CSV files; this one is LIBSVM"
            )
        return _libsvm_chunks(file, n_rows, n_features, zero_based)
    if target is None:
        kind = "Parquet" if format == "parquet" else "CSV"
        raise ValueError(f"target must name the target's column of a {kind} file")
    frames = _parquet_frames(file, n_rows, row_groups)
    if format == "csv":
        frames = _csv_frames(file, n_rows, target, drop)
    return _full(_converted(file, frames, target, drop, n_features, missing), n_rows)


def chunk_format(file: Path, format: str | None = None) -> str:
    """Return the format in which a file is read in chunks; None looks at its first bytes."""
    if is_archive(container(file)):
        raise DataError(f"{file}: an archive is not read in chunks; unpack it")
    with opened(file) as stream:
        magic = stream.read(4)
    if format is None:
        named_csv = ".csv" in file.suffixes[-2:]
        format = "parquet" if magic == b"PAR1" else "csv" if named_csv else "libsvm"
    return format


def _libsvm_chunks(path: Path, size: int, n_features: int, zero_based: bool) -> Iterator[Chunk]:
    from kernlearn.datasets.readers import load_pairs

    with opened(path) as stream:
        rows = (line for line in stream if line.split(b"#", 1)[0].strip())
        empty = True
        while lines := list(islice(rows, size)):
            empty = False
            X, y, _ = load_pairs(path, n_features, zero_based, b"".join(lines))
            yield X, y
    if empty:
        raise DataError(f"{path}: the file has no rows")


def _parquet_file(path: Path) -> Any:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        # with other options Arrow keeps a whole row group, or all of it that was read
        return ParquetFile(path, memory_map=True, pre_buffer=False)
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged, or no Parquet file: {error}") from None


def _parquet_frames(path: Path, size: int, row_groups: range | None) -> Iterator[Any]:
    from pyarrow import ArrowException

    groups = _parquet_file(path).metadata.num_row_groups
    try:
        for group in range(groups) if row_groups is None else row_groups:
            with _parquet_file(path) as file:  # what was read is let go of with its mapping
                for batch in file.iter_batches(size, row_groups=[group]):
                    yield batch.to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged: {error}") from None


def _csv_frames(path: Path, size: int, target: str, drop: Sequence[str]) -> Iterator[Any]:
    import pandas as pd

    try:
        with opened(path) as stream:
            yield from pd.read_csv(stream, chunksize=size, float_precision="round_trip")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {' '.join(str(error).split())}") from None


def _converted(
    path: Path,
    frames: Iterable[Any],
    target: str,
    drop: Sequence[str],
    width: int | None,
    missing: bool,
) -> Iterator[Chunk]:
    """Convert frames to matrices and labels."""
    from kernlearn.datasets.card import TableOptions
    from kernlearn.datasets.tables import feature_numbers, is_number_column

    first, kinds = 1, set()
    for frame in frames:
        if unknown := [name for name in (target, *drop) if name not in frame.columns]:
            raise DataError(f"{path}: has no column called {unknown[0]}")

        def place_of(row: int, first: int = first) -> str:
            return f"{path}, row {first + row}"

        names = [name for name in frame.columns if name not in (target, *drop)]
        if width is not None and len(names) != width:
            raise DataError(f"{path}: found {len(names)} feature columns, expected {width}")
        X = np.empty((len(frame), len(names)))
        for i, name in enumerate(names):
            X[:, i], _ = feature_numbers(frame[name], TableOptions(), place_of)
        labels = frame[target]
        for name, gaps in [*zip(names, np.isnan(X).T, strict=True), (target, labels.isna())]:
            if gaps.any() and (name == target or not missing):
                where = place_of(int(np.argmax(gaps)))
                raise DataError(f"{where}, column {name}: found nothing, expected an entry")
        kinds.add(is_number_column(labels))
        if len(kinds) > 1:
            raise DataError(
                f"{place_of(0)}, column {target}: the target is text in some chunks and numbers "
                "in others"
            )
        first += len(frame)
        if len(frame):
            texts = np.array(list(map(str, labels)))
            yield X, labels.to_numpy(np.float64) if True in kinds else texts
    if first == 1:
        raise DataError(f"{path}: the file has no rows")


def _full(batches: Iterable[Chunk], size: int) -> Iterator[Chunk]:
    """Cut batches of any sizes into chunks of exactly `size` rows, and a last one."""
    kept: list[Chunk] = []
    for batch in batches:
        kept.append(batch)
        n_rows = sum(len(y) for _, y in kept)
        if n_rows >= size:
            X, y = _concatenated(kept)
            end = n_rows - n_rows % size
            for start in range(0, end, size):
                yield X[start : start + size], y[start : start + size]
            kept = [(X[end:].copy(), y[end:].copy())] if end < n_rows else []
    if kept:
        yield _concatenated(kept)


def _concatenated(parts: list[Chunk]) -> Chunk:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


# Drawn rows


def generator_of(seed: Seed) -> np.random.RandomState:
    """Return the random generator of a seed, or the generator given instead of one."""
    from sklearn.utils import check_random_state

    return check_random_state(seed)


def gaussian_stream(
    n_samples: int | None = None,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    batch_size: int = 1000,
    random_state: Seed = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw batches of points of two normal classes, in constant memory.

    Class 1 has mean ``separation / 2`` along a unit vector, class 0 the opposite, both with
    the identity as covariance.

    Parameters
    ----------
    n_samples : int or None, default=None
        The number of points; None for an endless stream.
    n_features : int, default=20
        Their dimension, at least 2.
    positive : float, default=0.5
        The probability of class 1, in [0, 1).
    separation : float, default=2.0
        The distance of the two means.
    batch_size : int, default=1000
        Points per batch; the last may have fewer. The points do not depend on it.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Yields
    ------
    X : ndarray of shape (batch_size, n_features)
    y : ndarray of shape (batch_size,)
        0 and 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import gaussian_stream
    >>> [len(y) for X, y in gaussian_stream(2500, random_state=0)]
    [1000, 1000, 500]
    """
    checks.check_count(n_features=n_features, batch_size=batch_size)
    if n_samples is not None:
        checks.check_count(n_samples=n_samples)
    if n_features < 2:
        raise ValueError(f"'n_features' must be at least 2, got {n_features}")
    checks.check_proportion(positive=positive)
    checks.check_nonnegative(separation=separation)
    rng = generator_of(random_state)
    return _full(_gaussians(rng, n_samples, n_features, positive, separation / 2), batch_size)


def _gaussians(rng: Any, total: int | None, d: int, positive: float, half: float) -> Any:
    plane, _ = np.linalg.qr(rng.standard_normal((d, 2)))
    for start in count(0, _BLOCK):
        if total is not None and start >= total:
            return
        y = (rng.uniform(size=_BLOCK) < positive).astype(np.int64)
        X = rng.standard_normal((_BLOCK, d)) + (2 * y - 1)[:, np.newaxis] * half * plane[:, 0]
        end = None if total is None else total - start
        yield X[:end], y[:end]


def product_rows(
    n_samples: int | None = None,
    n_features: int = 54,
    noise: float = 1.0,
    batch_size: int = 10_000,
    random_state: Seed = None,
    *,
    numbers: bool = False,
) -> RowSource:
    r"""Draw rows in the unit ball whose target is that of a product and a linear part.

    With standard normal :math:`z_j`, cut at ±2, a row is :math:`x = z / (2 \sqrt d)`, and its
    target :math:`t = z_1 z_2 + z_3 + \epsilon`, or whether t is positive. A linear function finds
    the second part alone. Blocks of 1024 rows have a seed each: the rows do not depend on the
    batch size, and each chunk can be drawn by itself, on any machine.

    Parameters
    ----------
    n_samples : int or None, default=None
        The number of rows; None for an endless stream.
    n_features : int, default=54
        The number of columns d, at least 3.
    noise : float, default=1.0
        Standard deviation of the normal noise ε.
    batch_size : int, default=10000
        Rows per chunk; the last may have fewer.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.
    numbers : bool, default=False
        Whether the target is t itself; otherwise it is the class, 0 or 1.

    Returns
    -------
    RowSource
        Divided into chunks, unless it is endless.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import product_rows
    >>> [X.shape for X, y in product_rows(2500, n_features=5, batch_size=1000, random_state=0)]
    [(1000, 5), (1000, 5), (500, 5)]
    """
    checks.check_count(n_features=n_features, batch_size=batch_size)
    if n_samples is not None:
        checks.check_count(n_samples=n_samples)
    if n_features < 3:
        raise ValueError(f"'n_features' must be at least 3, got {n_features}")
    checks.check_nonnegative(noise=noise)
    seed = random_state
    if seed is None or isinstance(seed, np.random.RandomState):
        seed = int(generator_of(seed).randint(2**31))
    drawn = seed, n_features, noise, numbers
    if n_samples is None:
        return RowSource(lambda: _endless(batch_size, drawn))
    starts = range(0, n_samples, batch_size)
    parts = [
        Partition(f"rows {a} to {(b := min(a + batch_size, n_samples)) - 1}", _rows, (a, b, drawn))
        for a in starts
    ]
    return RowSource.of_partitions(lambda: parts)


def _endless(size: int, drawn: tuple[Any, ...]) -> Iterator[RowChunk]:
    start = 0
    while True:
        yield from _rows(start, start + size, drawn)
        start += size


def _rows(start: int, end: int, drawn: tuple[Any, ...]) -> Iterator[RowChunk]:
    """Yield one chunk: the rows of some numbers."""
    _, n_features, _, numbers = drawn
    X = np.empty((end - start, n_features))
    t = np.empty(end - start)
    for block in range(start // _BLOCK, -(-end // _BLOCK)):
        first = block * _BLOCK
        a, b = max(start, first), min(end, first + _BLOCK)
        z, targets = _block(block, *drawn[:3])
        X[a - start : b - start], t[a - start : b - start] = (
            z[a - first : b - first],
            targets[a - first : b - first],
        )
    X /= 2 * np.sqrt(n_features)
    yield X, t if numbers else (t > 0).astype(np.int64)


def _block(block: int, seed: int, n_features: int, noise: float) -> RowChunk:
    rng = np.random.default_rng([seed, block])
    z = rng.standard_normal((_BLOCK, n_features))
    np.clip(z, -2, 2, out=z)
    return z, z[:, 0] * z[:, 1] + z[:, 2] + noise * rng.standard_normal(_BLOCK)


@dataclass(frozen=True)
class StreamGenerator:
    """A stream of drawn rows by name, for configs.

    Parameters
    ----------
    name : str
        The name in a configuration.
    make : callable
        The function that draws it.
    draws_numbers : bool, default=False
        Whether it can draw numbers as targets, beside classes 0 and 1.
    divided : bool, default=False
        Whether each chunk can be drawn by itself.
    """

    name: str
    make: Callable[..., Any]
    draws_numbers: bool = False
    divided: bool = False

    @property
    def title(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that a config may set, and their defaults."""
        parameters = inspect.signature(self.make).parameters.values()
        given = {p.name: p.default for p in parameters if p.name not in _OF_READER}
        return MappingProxyType(given)

    def source(
        self, n_rows: int | None, chunk_size: int, seed: int, numbers: bool, **parameters: Any
    ) -> RowSource:
        """Return the rows, the first so many or without end, with numbers or classes."""
        given = {"n_samples": n_rows, "batch_size": chunk_size, "random_state": seed}
        if self.draws_numbers:
            given["numbers"] = numbers
        first = self.make(**given, **parameters)  # also checks the parameters
        if isinstance(first, RowSource):
            return first
        return RowSource(lambda: self.make(**given, **parameters))


#: Streams of drawn rows by name.
STREAMS: Mapping[str, StreamGenerator] = MappingProxyType(
    {
        "gaussian_stream": StreamGenerator("gaussian_stream", gaussian_stream),
        "product_rows": StreamGenerator("product_rows", product_rows, True, True),
    }
)
