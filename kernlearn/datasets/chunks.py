"""Reading a file a part at a time, so that it may be larger than memory."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO, TextIOWrapper
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.packed import OPENERS, _damage_told, container, is_archive
from kernlearn.datasets.readers import _COMMENT, _UNUSUAL, Expected, _check_lines
from kernlearn.datasets.streams import count
from kernlearn.datasets.text import fault, number
from kernlearn.exceptions import DataError

Chunk = tuple[Any, NDArray[Any]]

FORMATS = ("libsvm", "parquet")
_PARQUET = b"PAR1"
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # a byte that is no UTF-8 is read as a surrogate


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
    r"""Read a LIBSVM or Parquet file in parts, in memory that does not grow with the file.

    For ``partial_fit``: nothing is scaled or encoded, labels are as the file has them.

    Parameters
    ----------
    path : path-like
        The file. LIBSVM text may be compressed (``.gz``, ``.bz2``, ``.xz``).
    n_rows : int, default=10000
        Rows in a part, of which the last may have fewer.
    format : {"libsvm", "parquet"}, default=None
        The format; None looks at the first bytes.
    n_features : int, default=None
        The number of features. A LIBSVM file needs it, as no part knows what the others hold;
        of a Parquet file it is checked if given.
    zero_based : bool, default=False
        Whether the indices of a LIBSVM file begin at 0.
    target : str, default=None
        The target's column in a Parquet file, which needs it.
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
        If the file is damaged; the message names the line, or the row and the column. Rows
        before the part with the fault have been handed on by then.

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
    if format not in (None, *FORMATS):
        raise ValueError(f"format must be None, 'libsvm' or 'parquet', got {format!r}")
    if isinstance(drop, str):
        raise ValueError(f"drop must be a sequence of column names, got {drop!r}")
    if is_archive(container(file)):
        raise DataError(f"{file}: an archive is not read in parts; unpack it")
    if file.suffix == ".Z":
        raise DataError(f"{file}: packed by compress; unpack it with 'gzip -d' first")
    kind = format or _guess(file)
    if kind == "libsvm":
        if width is None:
            raise ValueError("n_features must be given for a LIBSVM file")
        if target is not None or drop or missing:
            raise ValueError("target, drop and missing are for Parquet files; this one is LIBSVM")
        return _libsvm_chunks(file, size, Expected(width, None), 0 if zero_based else 1)
    if target is None:
        raise ValueError("target must name the target's column of a Parquet file")
    return _parquet_chunks(file, size, target, tuple(drop), width, missing)


def _guess(path: Path) -> str:
    with _damage_told(path), path.open("rb") as raw:
        return "parquet" if raw.read(len(_PARQUET)) == _PARQUET else "libsvm"


def _libsvm_chunks(path: Path, size: int, expected: Expected, lowest: int) -> Iterator[Chunk]:
    numbers: list[int] = []
    lines: list[str] = []
    found = False
    for at, line in _lines(path):
        if not line.split("#", 1)[0].strip():
            continue
        numbers.append(at)
        lines.append(line)
        if len(lines) == size:
            yield _parse(path, numbers, lines, expected, lowest)
            found, numbers, lines = True, [], []
    if lines:
        yield _parse(path, numbers, lines, expected, lowest)
    elif not found:
        raise DataError(f"{path}: the file has no rows")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text and their numbers from 1; refuse what is no text."""
    with _damage_told(path):
        opener = OPENERS.get(path.suffix, open)
        stream = TextIOWrapper(
            opener(path, "rb"), encoding="utf-8-sig", errors="surrogateescape", newline=None
        )
    with stream:
        at = 0
        while True:
            with _damage_told(path):
                line = stream.readline()
            if not line:
                return
            at += 1
            if wrong := _NO_TEXT.search(line):
                byte = ord(wrong[0]) & 0xFF
                raise fault(
                    path, at, bytes([byte]) if byte else "\0", "UTF-8 text" if byte else "text"
                )
            yield at, line.rstrip("\n")


def _parse(
    path: Path, numbers: list[int], lines: list[str], expected: Expected, lowest: int
) -> Chunk:
    from sklearn.datasets import load_svmlight_file

    text = _COMMENT.sub("", "\n".join(lines))
    try:
        # scikit-learn passes over some faults, such as 1_0
        if _UNUSUAL.search(text):
            raise ValueError("an entry is no number")
        X, y = load_svmlight_file(
            BytesIO(text.encode()), n_features=expected.n_features, zero_based=lowest == 0
        )
        if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
            raise ValueError("a value is not finite")
    except (ValueError, IndexError, OverflowError) as error:
        placed: Any = _placed(numbers, lines)
        _check_lines(path, placed, number, expected, lowest, queries=False)
        raise DataError(
            f"{path}, lines {numbers[0]} to {numbers[-1]}: cannot be read: "
            f"{' '.join(str(error).split())}"
        ) from None
    X.eliminate_zeros()
    return X, y


def _placed(numbers: list[int], lines: list[str]) -> Iterator[str]:
    """Yield lines so that the n-th has number n, with empty ones in between."""
    before = 0
    for at, line in zip(numbers, lines, strict=True):
        yield from repeat("", at - before - 1)
        yield line
        before = at


def _parquet_chunks(
    path: Path,
    size: int,
    target: str,
    drop: tuple[str, ...],
    n_features: int | None,
    missing: bool,
) -> Iterator[Chunk]:
    import pyarrow.parquet as pq

    with _damage_told(path), path.open("rb"):
        pass  # that a file is not there is told more shortly so
    try:
        # read any other way, Arrow keeps a whole row group, or all that it has read of it
        file = pq.ParquetFile(
            path, page_checksum_verification=True, memory_map=True, pre_buffer=False
        )
        names = list(file.schema_arrow.names)
    except Exception as error:  # a damaged file may raise anything at all
        raise _damaged(path, error) from None
    with file:
        if len(set(names)) != len(names):
            raise DataError(f"{path}: two columns have one name")
        if unknown := [name for name in (target, *drop) if name not in names]:
            raise DataError(f"{path}: has no column called {unknown[0]}")
        features = [name for name in names if name != target and name not in drop]
        if n_features is not None and len(features) != n_features:
            raise DataError(
                f"{path}: found {len(features)} feature columns, expected {n_features}"
            )
        for name in features:
            _check_numbers(path, name, file.schema_arrow.field(name).type)
        if not file.metadata.num_rows:
            raise DataError(f"{path}: the file has no rows")
        # a batch may end early, where a row group does
        yield from _recut(_batches(path, file, size, features, target, missing), size)


def _batches(
    path: Path, file: Any, size: int, features: list[str], target: str, missing: bool
) -> Iterator[Chunk]:
    batches = file.iter_batches(size, columns=[*features, target])
    first = 1
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:
            raise _damaged(path, error) from None
        if batch is None:
            return
        X = np.empty((batch.num_rows, len(features)))
        for i, name in enumerate(features):
            X[:, i] = _numbers(path, batch.column(name), name, first, missing)
        yield X, _targets(path, batch.column(target), target, first)
        first += batch.num_rows


def _recut(parts: Iterator[Chunk], size: int) -> Iterator[Chunk]:
    """Put parts of `size` rows at most together to such of exactly so many, and a rest."""
    kept: list[Chunk] = []
    n_kept = 0
    for X, y in parts:
        kept.append((X, y))
        n_kept += len(y)
        if n_kept >= size:
            X, y = _joined(kept)
            yield X[:size], y[:size]
            n_kept -= size
            kept = [(X[size:].copy(), y[size:].copy())] if n_kept else []
    if kept:
        yield _joined(kept)


def _joined(parts: list[Chunk]) -> Chunk:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _damaged(path: Path, error: Exception) -> DataError:
    line = " ".join(str(error).split())[:200]
    return DataError(f"{path}: damaged, or no Parquet file: {line}")


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _check_numbers(path: Path, name: str, kind: Any) -> None:
    if not _is_number(kind):
        raise DataError(f"{path}, column {name}: found {kind}, expected numbers; or drop it")


def _numbers(path: Path, column: Any, name: str, first: int, missing: bool) -> NDArray[Any]:
    values = column.to_numpy(zero_copy_only=False)
    null = column.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        if not missing:
            _refuse(path, first + int(null.argmax()), name, "nothing", "a finite number")
        values = np.where(null, np.nan, values)
    values = values.astype(np.float64)
    if (wrong := ~np.isfinite(values) & ~null).any():
        row = int(wrong.argmax())
        _refuse(path, first + row, name, repr(float(values[row])), "a finite number")
    return np.asarray(values)


def _targets(path: Path, column: Any, name: str, first: int) -> NDArray[Any]:
    if _is_number(column.type):
        return _numbers(path, column, name, first, missing=False)
    null = column.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        _refuse(path, first + int(null.argmax()), name, "nothing", "a number or a text")
    values = column.to_pylist()
    if not isinstance(values[0], str):
        raise DataError(f"{path}, column {name}: found {column.type}, expected numbers or texts")
    return np.array(values)


def _refuse(path: Path, row: int, name: str, found: str, expected: str) -> None:
    raise DataError(f"{path}, row {row}, column {name}: found {found}, expected {expected}")
