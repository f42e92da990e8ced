"""Rows in chunks from where data are: arrays, files, iterables, Dask collections."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from kernlearn import checks
from kernlearn.datasets.files import container, opened
from kernlearn.datasets.readers import frames_of, load_pairs
from kernlearn.datasets.tables import ROW_NAMES, column_position, feature_matrix
from kernlearn.exceptions import DataError
from kernlearn.validation import warn

#: Rows X, and their targets y or None.
RowChunk = tuple[Any, Any]
Value = TypeVar("Value")

_MERGED_TOGETHER = 8  # values that one task of Dask merges
_HEAD = 2**22  # bytes from which the format is recognised
_REMEDIES = (
    "`nominal` names the values of such a column, `drop` leaves it out, or `read_as` reads it"
)


@dataclass(frozen=True)
class RowSource:
    """Rows in chunks, to be read several times. Made by :func:`row_source`.

    Iterating over it yields its chunks, tuples (X, y), which are computed in this process.

    Parameters
    ----------
    chunks : callable
        Returns an iterator of chunks.
    partitions : tuple of Dask delayed objects, default=()
        The same chunks, if Dask computes them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import RowSource
    >>> chunk = np.zeros((3, 2)), np.arange(3)
    >>> source = RowSource(lambda: iter([chunk, chunk]))
    >>> sum(len(y) for X, y in source), sum(len(y) for X, y in source)
    (6, 6)
    """

    chunks: Callable[[], Iterable[RowChunk]]
    partitions: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[RowChunk]:
        return _checked(self.chunks())

    def reduce(
        self,
        gather: Callable[[Iterable[RowChunk]], Value],
        merge: Callable[[Sequence[Value]], Value],
    ) -> Value:
        """Return what is gathered of all chunks.

        Dask gathers of each of its partitions where the partition is, and merges eight values each
        in a tree that does not depend on the workers. Of other data all is gathered at once.

        Parameters
        ----------
        gather : callable
            Returns the value of an iterable of chunks.
        merge : callable
            Returns the value of several. Both functions must be such that can be pickled, and
            leave their arguments as they are, as a task may run again.

        Returns
        -------
        object

        Raises
        ------
        ValueError
            What `gather` raises, with the number of the partition.
        """
        if not self.partitions:
            return gather(self)
        from dask import delayed

        task, shared = delayed(_gathered), delayed(gather)  # which is sent once
        values = [task(shared, i, chunk) for i, chunk in enumerate(self.partitions)]
        while len(values) > 1:
            starts = range(0, len(values), _MERGED_TOGETHER)
            values = [delayed(merge)(values[i : i + _MERGED_TOGETHER]) for i in starts]
        value: Value = values[0].compute()
        return value


def _gathered(gather: Callable[[Iterable[RowChunk]], Value], number: int, chunk: Any) -> Value:
    """Return what is gathered of a partition, whose number its errors name."""
    try:
        return gather(_checked([chunk]))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


def _checked(chunks: Iterable[Any]) -> Iterator[RowChunk]:
    """Yield the chunks that have rows; refuse what is none."""
    for place, chunk in enumerate(chunks):
        if not (isinstance(chunk, tuple) and len(chunk) == 2):
            kind = type(chunk).__name__
            raise ValueError(f"chunk {place} must be a pair (X, y), got a {kind}")
        if np.shape(chunk[0])[0]:
            yield chunk


def row_source(
    data: Any,
    y: Any = None,
    *,
    n_rows: int = 65_536,
    target: str | None = None,
    drop: Sequence[str] = (),
    nominal: Mapping[str, Sequence[Any]] = {},
    missing: Literal["error", "drop"] = "error",
    read_as: Mapping[str, Any] = {},
    n_features: int | None = None,
    zero_based: bool = False,
) -> RowSource:
    r"""Return a source of rows in chunks, from arrays, files, iterators or Dask.

    Parameters
    ----------
    data : array-like, path, sequence of paths, Dask collection, iterable or callable
        - An array, a memory map, a sparse matrix or a data frame, with `y`.
        - A Parquet, CSV or LIBSVM file, or several, read in constant memory. LIBSVM and CSV may be
          packed (``.gz``, ``.bz2``, ``.xz``). Formats, separators and quotes are recognised as by
          :func:`load`. Columns of several files are matched by name, and chunks of tables are data
          frames. Nothing is scaled; labels are those of the file.
        - A Dask array or data frame with `y` of the same kind, or a Dask data frame with `target`,
          or a list of delayed tuples (X, y). Each partition is a chunk.
        - An iterable of tuples (X, y) that can be read again, or a function without arguments that
          returns an iterator of such.
    y : array-like of shape (n_samples,), default=None
        Targets of an array or a data frame.
    n_rows : int, default=65536
        Rows per chunk of arrays and files; the last may have fewer.
    target : str, default=None
        The target's column in a Parquet or CSV file or a data frame.
    drop : sequence of str, default=()
        Columns of a Parquet or CSV file that are no features.
    nominal : dict of str to sequence, default={}
        The values of columns of a Parquet or CSV file that are no amounts: each becomes one 0/1
        column per value.
    missing : {"error", "drop"}, default="error"
        Whether a missing entry of a Parquet or CSV file is an error, or its row is left out; a
        warning says how many are. ``NA``, ``null`` and other texts are missing as in :func:`load`.
    read_as : mapping, default={}
        How a CSV file reads where that is not plain, as for :func:`load`.
    n_features : int, default=None
        Of a LIBSVM file, where it is required, as no chunk has all features.
    zero_based : bool, default=False
        Whether the indices of a LIBSVM file begin at 0.

    Returns
    -------
    RowSource

    Raises
    ------
    ValueError
        If the arguments do not suit the kind of data.
    DataError
        If a file is of no kind that is read in chunks, or has no such option. On reading, if it is
        damaged or has a missing or infinite entry; the message names the row and the column. The
        chunks before it have been yielded by then.

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
    several = isinstance(data, (list, tuple)) and len(data) > 0
    items = data if several else [data]
    if all(isinstance(item, (str, Path)) for item in items):
        _refuse(y is not None, "y is for arrays; name the column of a file by 'target'")
        _refuse(missing not in ("error", "drop"), f"missing: error or drop, got {missing!r}")
        stated = {"target": target, "drop": _texts(drop), "zero_based": zero_based}
        stated["nominal"] = {column: _texts(values) for column, values in nominal.items()}
        stated = {key: value for key, value in stated.items() if value}
        files = [_recognised(path, read_as, stated) for path in map(Path, items)]
        kinds = {"pairs" if options.kind == "libsvm" else "tables" for _, options, _ in files}
        _refuse(len(kinds) > 1, "LIBSVM files and tables: pass files of one kind")
        if kinds == {"tables"}:
            _refuse(target is None, "target must name the target's column of a file")
            return RowSource(partial(_tables, files, n_rows, missing))
        if n_features is None:
            raise ValueError("n_features must be passed for a LIBSVM file")
        checks.check_count(n_features=n_features)
        return RowSource(partial(_pairs, files, n_rows, n_features))
    of_files = drop or nominal or read_as or missing != "error" or n_features is not None
    text = "drop, nominal, missing, read_as, n_features and zero_based are for files"
    _refuse(bool(of_files or zero_based), text)
    if all(type(item).__module__.split(".")[0] in ("dask", "dask_expr") for item in items):
        _refuse(several and y is not None, "y is for arrays; delayed chunks have their own")
        partitions = tuple(items) if several else _of_dask(data, y, target)
        return RowSource(lambda: (part.compute() for part in partitions), partitions)
    if y is None and target is None and not hasattr(data, "shape"):
        _refuse(hasattr(data, "__next__"), "an iterator is read once: pass what makes it")
        return RowSource(data if callable(data) else lambda: data)
    if target is not None:
        _refuse(not hasattr(data, "columns"), "target is for files and data frames")
        data, y = _without(data, target)
    _refuse(callable(data) or hasattr(data, "__next__"), "y is for arrays; chunks have their own")
    data = data if hasattr(data, "shape") else np.asarray(data)
    n = data.shape[0]
    _refuse(y is not None and len(y) != n, f"X has {n} rows, y has {0 if y is None else len(y)}")
    return RowSource(lambda: _of_array(data, y, n_rows))


def _texts(values: Iterable[Any]) -> Any:
    return values if isinstance(values, str) else list(map(str, values))


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise ValueError(message)


def _without(frame: Any, target: str) -> tuple[Any, Any]:
    _refuse(target not in frame.columns, f"the data frame has no column called {target!r}")
    return frame.drop(columns=[target]), frame[target]


def _of_array(X: Any, y: Any, n_rows: int) -> Iterator[RowChunk]:
    for start in range(0, X.shape[0], n_rows):
        rows = slice(start, start + n_rows)
        part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        if isinstance(part, np.memmap):
            part = np.array(part)  # what has been read is not read again
        yield part, None if y is None else y.iloc[rows] if hasattr(y, "iloc") else y[rows]


def _of_dask(data: Any, y: Any, target: str | None) -> tuple[Any, ...]:
    """Return the partitions of a Dask array or data frame with their targets."""
    from dask import delayed

    if target is not None:
        _refuse(y is not None, "pass either y or target")
        _refuse(not hasattr(data, "columns"), "target is for data frames; pass y with an array")
        data, y = _without(data, target)
    _refuse(not hasattr(y, "to_delayed"), "y must be of Dask, as X is, or target name its column")
    if not hasattr(data, "columns"):
        _refuse(data.ndim != 2, f"a Dask array must have 2 dimensions, got {data.ndim}")
        data = data.rechunk({1: -1})
        if not any(map(np.isnan, (*data.chunks[0], *y.chunks[0]))):
            n, n_targets = data.shape[0], y.shape[0]
            _refuse(n != n_targets, f"X has {n} rows, y {n_targets}")
            y = y.rechunk({0: data.chunks[0], **({1: -1} if y.ndim == 2 else {})})
    rows, targets = (np.ravel(part.to_delayed()).tolist() for part in (data, y))
    _refuse(len(rows) != len(targets), "X and y must have the same partitions")
    return tuple(map(delayed, zip(rows, targets, strict=True)))


# Files


def _recognised(
    path: Path, read_as: Mapping[str, Any], stated: Mapping[str, Any]
) -> tuple[Path, Any, int]:
    """Recognise the format of a file as `load` does, by its beginning; return its size, too."""
    from kernlearn.datasets import formats
    from kernlearn.datasets.card import Reading

    with opened(path) as stream:
        head = stream.read(_HEAD)
    if len(head) == _HEAD and not head.startswith(b"PAR1"):
        head = head[: head.rfind(b"\n") + 1]
    options = formats.recognised(path, head, Reading.of(read_as=read_as))
    if options.kind not in ("delimited", "parquet", "libsvm"):
        raise DataError(f"{path}: {options.kind} is not read in chunks; `load` reads it whole")
    options = formats.with_options(path, options, stated)
    return path, options, container(path).stat().st_size


def _unchanged(files: Sequence[tuple[Path, Any, int]]) -> Iterator[tuple[Path, Any]]:
    """Yield files with their options; refuse one that has another size than it had."""
    for path, options, size in files:
        if (now := container(path).stat().st_size) != size:
            raise DataError(f"{path}: has {now} bytes, and had {size} when the source was made")
        yield path, options


def _pairs(
    files: Sequence[tuple[Path, Any, int]], n_rows: int, n_features: int
) -> Iterator[RowChunk]:
    for path, options in _unchanged(files):
        with opened(path) as stream:
            rows = (line for line in stream if line.split(b"#", 1)[0].strip())
            while lines := list(islice(rows, n_rows)):
                yield load_pairs(path, b"".join(lines), n_features, options.zero_based)[:2]


def _tables(
    files: Sequence[tuple[Path, Any, int]], n_rows: int, missing: str
) -> Iterator[RowChunk]:
    """Yield features and targets; the columns of the first file are in the order of all."""
    import pandas as pd
    from pandas.api.types import infer_dtype, is_numeric_dtype

    from kernlearn.datasets.columns import ColumnEncoder

    order, kinds = list[str](), set[tuple[bool, bool]]()
    for path, options in _unchanged(files):
        classes = options.nominal
        n_read = n_left_out = 0
        for frame in frames_of(path, options, n_rows):
            names = frame.columns = list(map(str, frame.columns))
            stated = (options.target, *options.drop)
            label, *away = (names[column_position(path, c, names)] for c in stated)
            here = [name for name in names if name not in (label, *away)]
            order = order or here
            if others := {*order, *classes} ^ {*here}:
                raise DataError(f"{path}: not all files have a column {min(others)}")
            if ROW_NAMES in here:
                raise DataError(f"{path}: the first column has no name: pass drop=[{ROW_NAMES!r}]")
            if dates := [name for name in (label, *order) if frame[name].dtype.kind in "mM"]:
                raise DataError(f"{path}: dates are no numbers: pass drop={dates}")
            gaps = frame[[label, *order]].isna()
            lacks, n_before, n_read = gaps.any(axis=1).to_numpy(), n_read, n_read + len(frame)
            if missing == "error" and lacks.any():
                row, column = np.argwhere(gaps.to_numpy())[0]
                where = f"{path}, row {n_before + row + 1}, column {gaps.columns[column]}"
                raise DataError(f"{where}: a missing entry: missing='drop' leaves out its row")
            rows, n_left_out = n_before + 1 + np.flatnonzero(~lacks), n_left_out + lacks.sum()
            if not len(rows):
                continue
            frame = frame[~lacks] if lacks.any() else frame

            def place_of(row: int, path: Path = path, rows: Any = rows) -> str:
                return f"{path}, row {rows[row]}"

            try:
                X = feature_matrix(frame[order], classes, place_of)
            except DataError as error:
                raise DataError(f"{error} ({_REMEDIES})") from None
            # pandas reads TRUE as True where a chunk has no other text
            is_bool = infer_dtype(frame[label]) == "boolean"
            is_number = is_numeric_dtype(frame[label]) and not is_bool
            kinds.add((is_bool, is_number))
            if len(kinds) > 1:
                fault = "the target is text in some chunks only: name it in `text` of read_as"
                raise DataError(f"{place_of(0)}: {fault}")
            columns = ColumnEncoder(order, classes, "onehot")
            X, features = columns.encoded(X), columns.get_feature_names_out()
            y = frame[label].to_numpy(np.float64 if is_number else object)
            yield pd.DataFrame(X, columns=features), y if is_number else y.astype(np.str_)
        if n_left_out == n_read:
            raise DataError(f"{path}: the file has no rows, or none without missing entries")
        if n_left_out:
            note = f"{n_left_out} of {n_read} rows with missing entries are left out"
            warn(f"{path}: {note}")
