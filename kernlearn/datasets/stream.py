"""Rows in chunks from where data are: arrays, files, iterators, Dask collections."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kernlearn import checks
from kernlearn.datasets.files import container, is_archive, opened
from kernlearn.exceptions import DataError
from kernlearn.lazy import needed_by

#: Rows X, and their targets y or None.
RowChunk = tuple[Any, Any]
Value = TypeVar("Value")

_MERGED_TOGETHER = 8  # values that one task merges
_PART_BYTES = 2**26  # of a Parquet file, that one partition reads


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
    r"""Return data as rows in chunks, whatever holds them.

    Parameters
    ----------
    data : array-like, path, sequence of paths, Dask collection, iterator, iterable or callable
        - An array, a memory map, a sparse matrix or a data frame, with `y`.
        - A Parquet, CSV (names in the first line, commas) or LIBSVM file, or several, which are
          read in constant memory; LIBSVM and CSV also packed (``.gz``, ``.bz2``, ``.xz``).
          Nothing is scaled or encoded; labels are those of the file.
        - A Dask array or data frame with `y` of the same kind, or a Dask data frame with `target`,
          or a list of delayed tuples (X, y). Each partition is a chunk.
        - An iterator of tuples (X, y), which is read once; another iterable of them or a function
          without arguments that returns one, which are read again in each pass.
    y : array-like of shape (n_samples,), default=None
        Targets of an array.
    n_rows : int, default=65536
        Rows per chunk of arrays and files; the last may have fewer.
    target : str, default=None
        The target's column in a Parquet or CSV file or a data frame.
    **options
        For files: ``n_features``, required for LIBSVM, as no chunk has all features, and checked
        for others; ``zero_based``, whether LIBSVM's indices begin at 0; ``drop``, the names of
        columns of a Parquet or CSV file that are no features; ``row_groups``, a range of
        consecutive row groups of a Parquet file to read; ``format``, "libsvm", "parquet" or
        "csv", by default told by the first bytes and ``.csv`` in the name.

    Returns
    -------
    RowSource

    Raises
    ------
    ValueError
        If the arguments do not suit the kind of data.
    DataError
        On reading, if a file is damaged or has a missing or infinite entry; the message names the
        row and the column. The chunks before it have been yielded by then.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import row_source
    >>> source = row_source(np.zeros((5, 2)), np.arange(5), n_rows=2)
    >>> [len(y) for X, y in source]
    [2, 2, 1]

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "small.txt"
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:1\n+1 3:4\n")
    ...     [(X.shape, y.tolist()) for X, y in row_source(file, n_rows=2, n_features=3)]
    [((2, 3), [1.0, -1.0]), ((1, 3), [1.0])]
    """
    checks.check_count(n_rows=n_rows)
    if isinstance(data, RowSource):
        return data
    if _are_paths(data):
        paths = [data] if isinstance(data, (str, Path)) else list(data)
        _refuse(y is not None, "y is for arrays; name the column of a file by 'target'")
        if unknown := options.keys() - _OPTIONS:
            raise ValueError(f"{min(unknown)!r} is no option of files: {', '.join(_OPTIONS)}")
        return RowSource.of_partitions(
            lambda: [
                part for path in paths for part in _of_file(Path(path), n_rows, target, **options)
            ]
        )
    _refuse(bool(options), f"{next(iter(options), '')!r} is for files")
    if isinstance(data, (list, tuple)) and data and all(map(_is_dask, data)):
        _refuse(y is not None, "y is for arrays; delayed chunks have their own")
        parts = [Partition(f"partition {i}", _alone, lazy=(c,)) for i, c in enumerate(data)]
        return RowSource.of_partitions(lambda: parts)
    if _is_dask(data):
        return RowSource.of_partitions(partial(list, _of_dask(data, y, target)))
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


def _of_dask(data: Any, y: Any, target: str | None) -> list[Partition]:
    """Return the partitions of a Dask array or data frame."""
    _refuse(y is not None and not _is_dask(y), "y must be of Dask, as X is")
    if hasattr(data, "columns"):
        _refuse(y is not None and target is not None, "pass either y or target")
        _refuse(y is None and target is None, "target must name the target's column of a frame")
        if target is not None:
            _refuse(target not in data.columns, f"the data frame has no column called {target!r}")
            parts = enumerate(_delayed(data))
            return [Partition(f"partition {i}", _with_target, (target,), (p,)) for i, p in parts]
    else:
        _refuse(target is not None, "target is for data frames; pass y with a Dask array")
        _refuse(data.ndim != 2, f"a Dask array must have 2 dimensions, got {data.ndim}")
        data = data.rechunk({1: -1})
        if y is not None and not any(map(np.isnan, (*data.chunks[0], *y.chunks[0]))):
            n, n_targets = data.shape[0], y.shape[0]
            _refuse(n != n_targets, f"X has {n} rows, y {n_targets}")
            y = y.rechunk({0: data.chunks[0]})
        y = y.rechunk({1: -1}) if y is not None and y.ndim == 2 else y
    columns = [_delayed(part) for part in (data, y) if part is not None]
    _refuse(len({*map(len, columns)}) > 1, "X and y must have the same partitions")
    lazy = enumerate(zip(*columns, strict=True))
    return [Partition(f"partition {i}", _pair, lazy=both) for i, both in lazy]


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


def _of_file(
    path: Path, n_rows: int, target: str | None, row_groups: range | None = None, **options: Any
) -> list[Partition]:
    """Return a file as a partition, a Parquet file as several with some row groups each."""
    format = options.pop("format", None) or _format(path)
    drop, n_features = options.get("drop", ()), options.get("n_features")
    _refuse(format not in ("libsvm", "parquet", "csv"), f"format {format!r} is not read in chunks")
    _refuse(isinstance(drop, str), f"drop must be a sequence of column names, got {drop!r}")
    _refuse(row_groups is not None and format != "parquet", "row_groups is for Parquet files")
    if n_features is not None:
        checks.check_count(n_features=n_features)
    if format == "libsvm":
        _refuse(n_features is None, "n_features must be passed for a LIBSVM file")
        _refuse(bool(target or drop), "target and drop are for Parquet and CSV files")
        return [
            Partition(str(path), _pairs, (path, n_rows, n_features, options.get("zero_based")))
        ]
    _refuse(target is None, f"target must name the target's column of a {format} file")
    roles = target, tuple(drop), n_features
    if format == "csv":
        return [Partition(str(path), _csv, (path, n_rows, roles))]
    groups = []
    with needed_by("a source of files"):
        metadata = _parquet_file(path).metadata
    start, n_bytes = None, 0
    for group in range(metadata.num_row_groups) if row_groups is None else row_groups:
        start = group if start is None else start
        n_bytes += metadata.row_group(group).total_byte_size
        if n_bytes >= _PART_BYTES:
            groups.append(range(start, group + 1))
            start, n_bytes = None, 0
    if start is not None:
        groups.append(range(start, group + 1))
    return [
        Partition(
            f"{path}, row groups {some[0]} to {some[-1]}", _parquet, (path, n_rows, roles, some)
        )
        for some in groups
    ]


_OPTIONS = ("n_features", "zero_based", "drop", "row_groups", "format")


def _format(path: Path) -> str:
    if is_archive(container(path)):
        raise DataError(f"{path}: an archive is not read in chunks; unpack it")
    with opened(path) as stream:
        magic = stream.read(4)
    return "parquet" if magic == b"PAR1" else "csv" if ".csv" in path.suffixes[-2:] else "libsvm"


def _pairs(
    path: Path, n_rows: int, n_features: int, zero_based: bool | None
) -> Iterator[RowChunk]:
    from kernlearn.datasets.readers import load_pairs

    empty = True
    with opened(path) as stream:
        rows = (line for line in stream if line.split(b"#", 1)[0].strip())
        while lines := list(islice(rows, n_rows)):
            empty = False
            yield load_pairs(path, b"".join(lines), n_features, bool(zero_based))[:2]
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


def _parquet(path: Path, n_rows: int, roles: Any, row_groups: range) -> Iterator[RowChunk]:
    from pyarrow import ArrowException

    try:
        with _parquet_file(path) as file:
            batches = file.iter_batches(n_rows, row_groups=list(row_groups))
            yield from _converted(path, (batch.to_pandas() for batch in batches), *roles)
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged: {error}") from None


def _csv(path: Path, n_rows: int, roles: Any) -> Iterator[RowChunk]:
    import pandas as pd

    try:
        with opened(path) as stream:
            frames = pd.read_csv(stream, chunksize=n_rows, float_precision="round_trip")
            yield from _converted(path, frames, *roles)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {' '.join(str(error).split())}") from None


def _converted(
    path: Path, frames: Iterable[Any], target: str, drop: Sequence[str], n_features: int | None
) -> Iterator[RowChunk]:
    """Convert frames to matrices of numbers, and targets."""
    from kernlearn.datasets.tables import is_number_column, values_of

    first, kinds = 1, set()
    for frame in frames:
        if unknown := [name for name in (target, *drop) if name not in frame.columns]:
            raise DataError(f"{path}: has no column called {unknown[0]}")

        def place_of(row: int, first: int = first) -> str:
            return f"{path}, row {first + row}"

        names = [name for name in frame.columns if name not in (target, *drop)]
        if n_features not in (None, len(names)):
            raise DataError(f"{path}: found {len(names)} features, expected {n_features}")
        X, labels = np.empty((len(frame), len(names))), frame[target]
        for i, name in enumerate(names):
            X[:, i] = values_of(frame[name], None, place_of, f", column {name}")
        for name, gaps in [*zip(names, np.isnan(X).T, strict=True), (target, labels.isna())]:
            if gaps.any():
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
