"""The readers, one a file format, by the format's name in a card."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.formats import Delimited, Letor, Libsvm
from kernlearn.datasets.hashing import canonical_labels, coder
from kernlearn.datasets.text import (
    Convert,
    Layout,
    fault,
    make_layout,
    number,
    parse_rows,
    read_lines,
)
from kernlearn.exceptions import DataError


class Expected(NamedTuple):
    """What a card promises of a file, so that a reader can name the line that breaks it.

    Attributes
    ----------
    n_features : int
        The number of feature columns.
    classes : tuple of str or None
        The labels; None where the target is a number.
    """

    n_features: int
    classes: tuple[str, ...] | None


class Table(NamedTuple):
    """What a reader returns.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Float64; a nominal column holds its values' positions in the published order.
    y : ndarray of shape (n_samples,)
        Float64; the labels' positions in ``Expected.classes``, or numbers.
    feature_names : tuple of str
        One a column; x1, x2, … where the file names none.
    nominal : mapping of str to tuple of str
        The values of each nominal column, in the published order.
    query : ndarray of int, shape (n_samples,), or None
        The query of each row, for ranking.
    """

    X: Any
    y: NDArray[np.float64]
    feature_names: tuple[str, ...]
    nominal: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    query: NDArray[np.int64] | None = None


Reader = Callable[[Sequence[Path], Any, Expected], Table]

# A new format is a model in formats, a module with its reader, and a line here.
_READERS: dict[str, str] = {
    "delimited": "readers:read_delimited",
    "libsvm": "readers:read_libsvm",
    "letor": "readers:read_letor",
    "arff": "arff:read_arff",
    "matlab": "arrays:read_matlab",
    "npz": "arrays:read_npz",
    "parquet": "arrays:read_parquet",
    "sklearn": "arrays:read_carried",
}


def reader(kind: str) -> Reader:
    """Return the reader of a format.

    Parameters
    ----------
    kind : str
        The format's name.

    Returns
    -------
    callable
        (paths, options, expected) → Table.
    """
    module, _, function = _READERS[kind].partition(":")
    found: Reader = getattr(import_module(f"kernlearn.datasets.{module}"), function)
    return found


def default_names(n_features: int) -> tuple[str, ...]:
    """Name features that have no names: x1, x2, and so on.

    Parameters
    ----------
    n_features : int
        How many.

    Returns
    -------
    tuple of str
    """
    return tuple(f"x{number}" for number in range(1, n_features + 1))


def read_delimited(paths: Sequence[Path], options: Delimited, expected: Expected) -> Table:
    """Read delimited text files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Delimited
        How they read.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged; the message names line and column.
    """
    parts = [_read_file(path, options, expected) for path in paths]
    layout = parts[0][0]
    for path, (other, _, _) in zip(paths, parts, strict=True):
        if other.names != layout.names:
            raise fault(path, 1, ", ".join(other.names), f"the columns of {paths[0]}, in order")
    X = np.concatenate([values[:, layout.features] for _, values, _ in parts])
    y = np.concatenate([y for _, _, y in parts])
    if options.blocks is not None:
        y = _block_codes(paths, len(X), options.blocks, expected)
    names = tuple(layout.names[i] for i in layout.features)
    return Table(X, y, names, layout.nominal)


def _read_file(
    path: Path, options: Delimited, expected: Expected
) -> tuple[Layout, NDArray[np.float64], NDArray[np.float64]]:
    lines = read_lines(path)
    if options.comment:
        lines = ["" if line.lstrip().startswith(options.comment) else line for line in lines]
    first = 0
    if options.header:
        first = next((i for i, line in enumerate(lines, start=1) if line.strip()), 1)
    layout = _layout(path, first, lines[first - 1] if options.header else None, options, expected)
    values = parse_rows(path, lines, first, layout, options.delimiter)
    if options.one_hot:
        y = _hot(path, lines, first, values[:, layout.targets])
    else:
        y = values[:, layout.targets].sum(axis=1)  # of one column, or of none
    return layout, values, y


def _layout(
    path: Path, line: int, header: str | None, options: Delimited, expected: Expected
) -> Layout:
    n_targets = options.n_targets(len(expected.classes or ()))
    width = expected.n_features + n_targets + len(options.drop)
    names = options.columns
    if header is not None:
        names = tuple(name.strip().strip('"') for name in header.split(options.delimiter))
        if len(names) != width or len(set(names)) != width:
            raise fault(path, line, len(set(names)), f"{width} distinct column names")
    elif names is not None and len(names) != width:
        raise DataError(f"{path}: the card names {len(names)} columns, expected {width}")
    targets = list(range(width - n_targets, width))
    if n_targets == 1 and not options.one_hot:
        targets = [_position(path, options.target, names, width)]
    dropped = {_position(path, column, names, width) for column in options.drop}
    if names is None:
        kept = [i for i in range(width) if i not in targets and i not in dropped]
        unnamed = dict(zip(kept, default_names(len(kept)), strict=True))
        names = tuple(
            unnamed.get(i, "target" if i in targets else "dropped") for i in range(width)
        )
    label: Convert = number
    if expected.classes is not None and not options.one_hot:
        label = coder(expected.classes)
        if options.target_suffix:
            label = _without(options.target_suffix, label)
    return make_layout(names, targets, dropped, options.nominal, label, options.missing)


def _without(suffix: str, convert: Convert) -> Convert:
    return lambda text: convert(text.strip().removesuffix(suffix))


def _position(path: Path, column: int | str, names: tuple[str, ...] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            raise fault(path, 1, ", ".join(names or ()), f"a column called {column!r}")
        return names.index(column)
    if not -width <= column < width:
        raise DataError(f"{path}: column {column} asked for, expected -{width} to {width - 1}")
    return column % width


def _hot(
    path: Path, lines: list[str], first: int, hot: NDArray[np.float64]
) -> NDArray[np.float64]:
    wrong = ~(((hot == 0) | (hot == 1)).all(axis=1) & (hot.sum(axis=1) == 1))
    if wrong.any():
        at = int(wrong.argmax())
        rows = [i for i, line in enumerate(lines[first:], start=first + 1) if line.strip()]
        found = " ".join(f"{value:g}" for value in hot[at])
        raise fault(path, rows[at], found, f"one 1 and else 0 in the last {hot.shape[1]} columns")
    return hot.argmax(axis=1).astype(np.float64)


def _block_codes(
    paths: Sequence[Path], n_rows: int, block: int, expected: Expected
) -> NDArray[np.float64]:
    needed = block * len(expected.classes or ())
    if n_rows != needed:
        place = ", ".join(map(str, paths))
        raise DataError(f"{place}: found {n_rows} rows, expected {needed} in blocks of {block}")
    return (np.arange(n_rows) // block).astype(np.float64)


def read_letor(paths: Sequence[Path], options: Letor, expected: Expected) -> Table:
    """Read LETOR files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Letor
        How they read.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table
        With the query ids.

    Raises
    ------
    DataError
        If a file is damaged; the message names the line.
    """
    return read_sparse(paths, expected, lowest=1, queries=True)


_DENSE_FROM = 0.2
_COMMENT = re.compile(r"#[^\n]*")
_UNUSUAL = re.compile(r"[^0-9eE+\-.: \t\n]")
_INDEX = re.compile(r"\+?\d{1,18}", re.ASCII)  # more digits would overflow
_ROW = re.compile(r"^[ \t]*\S", re.MULTILINE)
_QUERY = re.compile(r"^([ \t]*\S+)[ \t]+qid:\d{1,18}(?=\s|$)", re.ASCII | re.MULTILINE)


def read_libsvm(paths: Sequence[Path], options: Libsvm, expected: Expected) -> Table:
    """Read LIBSVM files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Libsvm
        How they read.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table
        X is a CSR matrix if fewer than a fifth of its entries are not zero.

    Raises
    ------
    DataError
        If a file is damaged; the message names the line.
    """
    return read_sparse(paths, expected, lowest=0 if options.zero_based else 1)


def read_sparse(
    paths: Sequence[Path], expected: Expected, *, lowest: int, queries: bool = False
) -> Table:
    """Read files of ``label index:value …`` lines and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    expected : Expected
        What they must hold.
    lowest : int
        The index of the first feature.
    queries : bool, default=False
        Whether ``qid:number`` stands after each label.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged; the message names the line.
    """
    from scipy import sparse

    parts = [_read_libsvm_file(path, expected, lowest, queries) for path in paths]
    X = sparse.csr_matrix(sparse.vstack([X for X, _, _ in parts], format="csr"))
    y = np.concatenate([y for _, y, _ in parts])
    query = np.concatenate([query for _, _, query in parts]) if queries else None
    names = default_names(expected.n_features)
    return Table(dense_or_sparse(X), y, names, query=query)


def dense_or_sparse(X: Any) -> Any:
    """Make a sparse matrix dense if a fifth of it or more is not zero.

    Parameters
    ----------
    X : CSR matrix
        Its stored zeros are removed.

    Returns
    -------
    ndarray or CSR matrix
    """
    X.eliminate_zeros()
    return X.toarray() if X.nnz >= _DENSE_FROM * X.shape[0] * X.shape[1] else X


def _read_libsvm_file(
    path: Path, expected: Expected, lowest: int, queries: bool
) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
    from sklearn.datasets import load_svmlight_file

    lines = read_lines(path)
    text = _COMMENT.sub("", "\n".join(lines))
    code = number if expected.classes is None else coder(expected.classes)
    # scikit-learn passes over some faults: 1_0, a query id where none is wanted or none at all
    plain, found = _QUERY.subn(r"\1 ", text) if queries else (text, 0)
    if _UNUSUAL.search(plain) or (queries and found != len(_ROW.findall(text))):
        _check_lines(path, lines, code, expected, lowest, queries)
    try:
        X, targets, query = load_svmlight_file(
            BytesIO(text.encode()),
            n_features=expected.n_features,
            zero_based=lowest == 0,
            query_id=True,
        )
        if not np.isfinite(X.data).all():
            raise ValueError("a value is not finite")
        y = _encode(targets, code)
    except (ValueError, IndexError, OverflowError) as error:
        _check_lines(path, lines, code, expected, lowest, queries)
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    if len(y) == 0:
        raise DataError(f"{path}: the file has no rows")
    return X, y, query.astype(np.int64)


def _encode(targets: NDArray[np.float64], code: Callable[[str], float]) -> NDArray[np.float64]:
    distinct, positions = np.unique(targets, return_inverse=True)
    return np.array([code(label) for label in canonical_labels(distinct)])[positions]


def _check_lines(
    path: Path,
    lines: list[str],
    code: Callable[[str], float],
    expected: Expected,
    lowest: int,
    queries: bool,
) -> None:
    """Raise for the first entry at fault; slow, since it runs when a fault is suspected."""
    highest = lowest + expected.n_features - 1
    for number_, line in enumerate(lines, start=1):
        if not (words := line.split("#")[0].split()):
            continue
        label, *entries = words
        try:
            code(str(number(label)))
        except ValueError as error:
            raise fault(path, number_, label, str(error), "1 (label)") from None
        if queries:
            query, entries = "".join(entries[:1]), entries[1:]
            if not re.fullmatch(r"qid:\d{1,18}", query, re.ASCII):
                raise fault(path, number_, query, "a query id, as qid:number", "2")
        before = lowest - 1
        for position, entry in enumerate(entries, start=3 if queries else 2):
            index, _, value = entry.partition(":")
            if not (_INDEX.fullmatch(index) and before < int(index) <= highest):
                wanted = f"an index from {before + 1} to {highest} and its value, as index:value"
                raise fault(path, number_, entry, wanted, str(position))
            before = int(index)
            try:
                number(value)
            except ValueError as error:
                raise fault(
                    path, number_, entry, f"index:value with {error}", str(position)
                ) from None
