"""Reading a LIBSVM or Parquet file in chunks, so that it may be larger than memory."""

import re
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets import arrays, files
from kernlearn.datasets.streams import count
from kernlearn.datasets.svmlight import parse_chunk
from kernlearn.datasets.text import fault
from kernlearn.exceptions import DataError

Chunk = tuple[Any, NDArray[Any]]

_PARQUET = b"PAR1"
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # a byte that is not UTF-8 is read as a surrogate


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
) -> Iterator[Chunk]:
    r"""Read a LIBSVM or Parquet file in chunks, in constant memory.

    For ``partial_fit``: nothing is scaled or encoded, labels are those of the file.

    Parameters
    ----------
    path : path-like
        The file. LIBSVM text may be compressed (``.gz``, ``.bz2``, ``.xz``).
    n_rows : int, default=10000
        Rows per chunk; the last may have fewer.
    format : {"libsvm", "parquet"}, default=None
        The format; None looks at the first bytes.
    n_features : int, default=None
        The number of features. Required for a LIBSVM file, as no chunk has all of them; for a
        Parquet file it is checked if given.
    zero_based : bool, default=False
        Whether the indices of a LIBSVM file begin at 0.
    target : str, default=None
        The target's column in a Parquet file, for which it is required.
    drop : sequence of str, default=()
        Columns of a Parquet file that are no features.
    missing : bool, default=False
        Whether null is allowed as a feature in a Parquet file; it is read as NaN.

    Yields
    ------
    X : CSR matrix or ndarray of shape (n_rows, n_features)
        Float64; CSR from LIBSVM, dense from Parquet.
    y : ndarray of shape (n_rows,)
        Numbers as float64, texts as text.

    Raises
    ------
    ValueError
        If an argument is not allowed or missing.
    DataError
        If the file is damaged; the message names the line, or the row and the column. The
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
    size = count("n_rows", n_rows)
    width = None if n_features is None else count("n_features", n_features)
    if format not in (None, "libsvm", "parquet"):
        raise ValueError(f"format must be None, 'libsvm' or 'parquet', got {format!r}")
    if isinstance(drop, str):
        raise ValueError(f"drop must be a sequence of column names, got {drop!r}")
    if files.is_archive(files.container(file)):
        raise DataError(f"{file}: an archive is not read in chunks; unpack it")
    if file.suffix == ".Z":
        raise files.packed_by_compress(file)
    if format is None:
        with files.naming_damage(file), file.open("rb") as raw:
            format = "parquet" if raw.read(len(_PARQUET)) == _PARQUET else "libsvm"
    if format == "libsvm":
        if width is None:
            raise ValueError("n_features must be given for a LIBSVM file")
        if target is not None or drop or missing:
            raise ValueError("target, drop and missing are for Parquet files; this one is LIBSVM")
        return _libsvm_chunks(file, size, width, 0 if zero_based else 1)
    if target is None:
        raise ValueError("target must name the target's column of a Parquet file")
    return _parquet_chunks(file, size, target, drop, width, missing)


def _libsvm_chunks(path: Path, size: int, n_features: int, lowest: int) -> Iterator[Chunk]:
    rows = (numbered for numbered in _lines(path) if numbered[1].split("#", 1)[0].strip())
    lines = list(islice(rows, size))
    if not lines:
        raise DataError(f"{path}: the file has no rows")
    while lines:
        yield parse_chunk(path, lines, n_features, lowest)
        lines = list(islice(rows, size))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers from 1; refuse what is not text."""
    with files.naming_damage(path):
        opener = files.OPENERS.get(path.suffix, open)
        stream = TextIOWrapper(
            opener(path, "rb"), encoding="utf-8-sig", errors="surrogateescape", newline=None
        )
    with stream:
        at = 0
        while True:
            with files.naming_damage(path):
                line = stream.readline()
            if not line:
                return
            at += 1
            if wrong := _NO_TEXT.search(line):
                byte = ord(wrong[0]) & 0xFF
                wanted = "UTF-8 text" if byte else "text"
                raise fault(path, at, bytes([byte]) if byte else "\0", wanted)
            yield at, line.rstrip("\n")


def _parquet_chunks(
    path: Path, size: int, target: str, drop: Sequence[str], width: int | None, missing: bool
) -> Iterator[Chunk]:
    import pyarrow.parquet as pq

    with files.naming_damage(path), path.open("rb"):
        pass  # the message for a file that does not exist is shorter than pyarrow's
    try:
        # with other options Arrow keeps a whole row group, or all of it that was read
        file = pq.ParquetFile(
            path, page_checksum_verification=True, memory_map=True, pre_buffer=False
        )
        schema = file.schema_arrow
        names = list(schema.names)
    except Exception as error:  # a damaged file may raise anything at all
        raise arrays.damaged(path, error, "Parquet file") from None
    with file:
        arrays.check_columns(path, names, [target, *drop])
        features = [name for name in names if name != target and name not in drop]
        if width is not None and len(features) != width:
            raise DataError(f"{path}: found {len(features)} feature columns, expected {width}")
        for name in features:
            if not arrays.is_number(kind := schema.field(name).type):
                raise DataError(
                    f"{path}, column {name}: found {kind}, expected numbers; or drop it"
                )
        if not file.metadata.num_rows:
            raise DataError(f"{path}: the file has no rows")
        yield from _full_chunks(_batches(path, file, size, features, target, missing), size)


def _batches(
    path: Path, file: Any, size: int, features: list[str], target: str, missing: bool
) -> Iterator[Chunk]:
    """Yield batches of at most `size` rows; one may end early, at the end of a row group."""
    batches = file.iter_batches(size, columns=[*features, target])
    first = 1
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:
            raise arrays.damaged(path, error, "Parquet file") from None
        if batch is None:
            return
        X = np.empty((batch.num_rows, len(features)))
        for i, name in enumerate(features):
            column = batch.column(name)
            X[:, i] = arrays.column_numbers(path, column, name, first=first, missing=missing)
        yield X, _targets(path, batch.column(target), target, first)
        first += batch.num_rows


def _full_chunks(batches: Iterator[Chunk], size: int) -> Iterator[Chunk]:
    """Concatenate batches into chunks of exactly `size` rows, and a last one."""
    kept: list[Chunk] = []
    for batch in batches:
        kept.append(batch)
        if sum(len(y) for _, y in kept) >= size:
            X, y = _concatenated(kept)
            yield X[:size], y[:size]
            kept = [(X[size:].copy(), y[size:].copy())] if len(y) > size else []
    if kept:
        yield _concatenated(kept)


def _concatenated(parts: list[Chunk]) -> Chunk:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _targets(path: Path, column: Any, name: str, first: int) -> NDArray[Any]:
    if arrays.is_number(column.type):
        return arrays.column_numbers(path, column, name, first=first)
    null = column.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        row = first + int(null.argmax())
        raise arrays.entry_fault(path, row, name, "nothing", "a number or a text")
    values = column.to_pylist()
    if not isinstance(values[0], str):
        raise DataError(f"{path}, column {name}: found {column.type}, expected numbers or texts")
    return np.array(values)
