"""Data in chunks: LIBSVM, Parquet and CSV files larger than memory, a stream of two classes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn import checks
from kernlearn.datasets import unpacking
from kernlearn.datasets.formats import Expected
from kernlearn.datasets.table_batches import csv_batches, parquet_batches
from kernlearn.datasets.text import fault
from kernlearn.exceptions import DataError

Chunk = tuple[Any, np.ndarray]
Seed = int | np.random.RandomState | None

_PARQUET = b"PAR1"
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # a byte that is not UTF-8 is read as a surrogate
_BLOCK = 1024  # points are drawn in blocks, so that the batch size does not change the stream


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
        The file. LIBSVM text may be compressed (``.gz``, ``.bz2``, ``.xz``), CSV too (``.gz``,
        ``.bz2``). CSV has names in its first line and commas.
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
        Whether null, or no entry, is allowed as a feature in a Parquet or CSV file; it is read as
        NaN.
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
        return _libsvm_chunks(file, n_rows, n_features, 0 if zero_based else 1)
    if target is None:
        kind = "Parquet" if format == "parquet" else "CSV"
        raise ValueError(f"target must name the target's column of a {kind} file")
    arguments = file, n_rows, target, drop, n_features, missing
    if format == "parquet":
        return _full_chunks(parquet_batches(*arguments, row_groups), n_rows)
    return _full_chunks(csv_batches(*arguments), n_rows)


def chunk_format(file: Path, format: str | None = None) -> str:
    """Return the format in which a file is read in chunks; None looks at its first bytes."""
    if unpacking.is_archive(unpacking.container(file)):
        raise DataError(f"{file}: an archive is not read in chunks; unpack it")
    if file.suffix == ".Z":
        raise unpacking.packed_by_compress(file)
    with unpacking.naming_damage(file), file.open("rb") as raw:
        if format is None:
            named_csv = ".csv" in file.suffixes[-2:]
            format = "csv" if named_csv else "libsvm"
            format = "parquet" if raw.read(len(_PARQUET)) == _PARQUET else format
    return format


def _libsvm_chunks(path: Path, size: int, n_features: int, lowest: int) -> Iterator[Chunk]:
    from kernlearn.datasets.sparse_text import parse_pairs  # loads scipy

    rows = (numbered for numbered in _lines(path) if numbered[1].split("#", 1)[0].strip())
    empty = True
    while lines := list(islice(rows, size)):
        empty = False
        X, y, _ = parse_pairs(path, lines, Expected(n_features, None), lowest, False)
        yield X, y
    if empty:
        raise DataError(f"{path}: the file has no rows")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers from 1; refuse what is not text."""
    with unpacking.naming_damage(path):
        raw = unpacking.OPENERS.get(path.suffix, open)(path, "rb")
        with TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape") as stream:
            for at, line in enumerate(stream, start=1):
                if wrong := _NO_TEXT.search(line):
                    byte = ord(wrong[0]) & 0xFF
                    wanted = "UTF-8 text" if byte else "text"
                    raise fault(path, at, bytes([byte]) if byte else "\0", wanted)
                yield at, line.rstrip("\n")


def _full_chunks(batches: Iterable[Chunk], size: int) -> Iterator[Chunk]:
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


def gaussian_stream(
    n_samples: int | None = None,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    drift: float = 0.0,
    batch_size: int = 1000,
    random_state: Seed = None,
    *,
    jump: float = 0.0,
    period: int = 5000,
    recurring: bool = False,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw batches of points of two normal classes, in constant memory.

    Class 1 has mean ``separation / 2`` along a unit vector, class 0 the opposite, both with
    the identity as covariance. With `drift` the vector turns in a plane, little by little, and
    with `jump` at once.

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
    drift : float, default=0.0
        The angle by which the vector turns, in radians per 1000 points.
    batch_size : int, default=1000
        Points per batch; the last may have fewer. The points do not depend on it.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.
    jump : float, default=0.0
        The angle by which the vector turns after each `period`, in radians. The draws are those
        of a stream without.
    period : int, default=5000
        Points between two jumps.
    recurring : bool, default=False
        Whether every second jump goes back.

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
    checks.check_count(n_features=n_features, batch_size=batch_size, period=period)
    if n_samples is not None:
        checks.check_count(n_samples=n_samples)
    if n_features < 2:
        raise ValueError(f"'n_features' must be at least 2, a plane to turn in, got {n_features}")
    checks.check_proportion(positive=positive)
    checks.check_nonnegative(separation=separation, drift=drift, jump=jump)

    def angle(t: np.ndarray) -> np.ndarray:
        jumps = t // period
        return drift / 1000 * t + jump * (jumps % 2 if recurring else jumps)

    rng = generator_of(random_state)
    blocks = _blocks(rng, n_samples, n_features, positive, separation / 2, angle)
    return _full_chunks(blocks, batch_size)


def generator_of(seed: Seed) -> np.random.RandomState:
    """Return the random generator of a seed, or the generator given instead of one."""
    from sklearn.utils import check_random_state

    return check_random_state(seed)


def _blocks(
    rng: Any,
    total: int | None,
    d: int,
    positive: float,
    half: float,
    angle_at: Callable[[np.ndarray], np.ndarray],
) -> Iterator[Chunk]:
    plane, _ = np.linalg.qr(rng.standard_normal((d, 2)))
    for start in count(0, _BLOCK):
        if total is not None and start >= total:
            return
        y = (rng.uniform(size=_BLOCK) < positive).astype(np.int64)
        angle = angle_at(np.arange(start, start + _BLOCK))
        direction = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
        X = rng.standard_normal((_BLOCK, d)) + (2 * y - 1)[:, np.newaxis] * half * direction
        end = None if total is None else total - start
        yield X[:end], y[:end]
