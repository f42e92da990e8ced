"""Rows in chunks from where data are: arrays, files, iterators, Dask collections."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kernlearn import checks
from kernlearn.datasets import partitions
from kernlearn.datasets.partitions import Partition, RowChunk

Value = TypeVar("Value")
_MERGED_TOGETHER = 8  # values that one task merges


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
                value = partitions.gathered(gather, part)
                result = value if result is None else merge([result, value])
            return result  # type: ignore[return-value]
        from dask import delayed

        task, shared = delayed(partitions.gathered), delayed(gather)  # which is sent once
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
        return partitions.checked_chunks(self._chunks())


def row_source(
    data: Any,
    y: Any = None,
    *,
    n_rows: int = 65_536,
    target: str | None = None,
    **options: Any,
) -> RowSource:
    """Return data as rows in chunks, whatever holds them.

    Parameters
    ----------
    data : array-like, path, sequence of paths, Dask collection, iterator or callable
        - An array, a memory map, a sparse matrix or a data frame, with `y`.
        - A Parquet, CSV or LIBSVM file, or several, which are read by :func:`iter_chunks`.
        - A Dask array or data frame with `y` of the same kind, or a Dask data frame with `target`,
          or a list of delayed tuples (X, y). Each partition is a chunk.
        - An iterator of tuples (X, y), which is read once, or a function without arguments that
          returns one, or a list of such tuples.
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
        return RowSource.of_partitions(lambda: partitions.of_files(paths, n_rows, target, options))
    _refuse(bool(options), f"{next(iter(options), '')!r} is for files")
    if partitions.are_delayed(data):
        _refuse(y is not None, "y is for arrays; delayed chunks have their own")
        return RowSource.of_partitions(lambda: partitions.of_delayed(data))
    if partitions.is_dask(data):
        return RowSource.of_partitions(_of_dask(data, y, target))
    if callable(data):
        _refuse(y is not None, "y is for arrays; chunks of a function have their own")
        return RowSource(data)
    if hasattr(data, "__next__"):
        _refuse(y is not None, "y is for arrays; chunks of an iterator have their own")
        return RowSource(lambda: data, repeatable=False)
    if y is None and isinstance(data, list) and data and _is_chunk(data[0]):
        return RowSource(lambda: data)
    if target is not None:
        _refuse(not hasattr(data, "columns"), "target is for files and data frames")
        _refuse(target not in data.columns, f"the data frame has no column called {target!r}")
        frame = data
        data, y = frame.drop(columns=[target]), frame[target]
    if not hasattr(data, "shape"):
        data = np.asarray(data)
    if y is not None and len(y) != data.shape[0]:
        raise ValueError(f"X has {data.shape[0]} rows, y has {len(y)}")
    return RowSource(lambda: _of_array(data, y, n_rows))


def _has_client() -> bool:
    """Tell whether a client of Dask is active in this process."""
    distributed = sys.modules.get("distributed")  # not imported: there is none
    try:
        return distributed is not None and bool(distributed.default_client())
    except ValueError:
        return False


def _are_paths(data: Any) -> bool:
    if isinstance(data, (str, Path)):
        return True
    several = isinstance(data, Sequence) and len(data) > 0
    return several and all(isinstance(item, (str, Path)) for item in data)


def _is_chunk(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and hasattr(item[0], "shape")


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


def _of_dask(data: Any, y: Any, target: str | None) -> Callable[[], list[Partition]]:
    """Return the function that returns the partitions of a Dask array or data frame."""
    _refuse(y is not None and not partitions.is_dask(y), "y must be of Dask, as X is")
    if hasattr(data, "columns"):
        if y is not None:
            _refuse(target is not None, "pass either y or target")
            _refuse(y.npartitions != data.npartitions, "X and y must have the same partitions")
            return lambda: partitions.of_arrays(data, y)
        if target is None:
            raise ValueError("target must name the target's column of a Dask data frame")
        _refuse(target not in data.columns, f"the data frame has no column called {target!r}")
        return lambda: partitions.of_frame(data, target)
    _refuse(target is not None, "target is for data frames; pass y with a Dask array")
    _refuse(data.ndim != 2, f"a Dask array must have 2 dimensions, got {data.ndim}")
    X = data.rechunk({1: -1})
    if y is not None:
        known = not any(np.isnan(size) for size in (*X.chunks[0], *y.chunks[0]))
        _refuse(known and X.shape[0] != y.shape[0], f"X has {X.shape[0]} rows, y {y.shape[0]}")
        if known:
            y = y.rechunk({0: X.chunks[0]})
        if y.ndim == 2:
            y = y.rechunk({1: -1})
        _refuse(y.numblocks[0] != X.numblocks[0], "X and y must have the same partitions")
    return lambda: partitions.of_arrays(X, y)
