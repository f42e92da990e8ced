"""LIBSVM's and LETOR's sparse text: ``label [qid:number] index:value …``, whole or in chunks."""

import re
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.files import one_line
from kernlearn.datasets.formats import Expected, Letor, Libsvm, Table, default_names
from kernlearn.datasets.text import canonical_labels, coder, fault, number, read_lines
from kernlearn.exceptions import DataError

_DENSE_FROM = 0.2
_COMMENT = re.compile(r"#[^\n]*")
_UNUSUAL = re.compile(r"[^0-9eE+\-.: \t\n]")
_INDEX = re.compile(r"\+?\d{1,18}", re.ASCII)  # more digits would overflow
_ROW = re.compile(r"^[ \t]*\S", re.MULTILINE)
_QUERY = re.compile(r"^([ \t]*\S+)[ \t]+qid:\d{1,18}(?=\s|$)", re.ASCII | re.MULTILINE)


def read_libsvm(paths: Sequence[Path], options: Libsvm, expected: Expected) -> Table:
    """Read LIBSVM files; X is sparse if less than a fifth of its entries is not zero."""
    return _read(paths, expected, 0 if options.zero_based else 1, queries=False)


def read_letor(paths: Sequence[Path], options: Letor, expected: Expected) -> Table:
    """Read LETOR files, with their query ids."""
    return _read(paths, expected, 1, queries=True)


def _read(paths: Sequence[Path], expected: Expected, lowest: int, queries: bool) -> Table:
    from scipy import sparse

    parts = [_read_file(path, expected, lowest, queries) for path in paths]
    X = sparse.csr_matrix(sparse.vstack([X for X, _, _ in parts], format="csr"))
    y = np.concatenate([y for _, y, _ in parts])
    query = np.concatenate([query for _, _, query in parts]) if queries else None
    return Table(dense_or_sparse(X), y, default_names(expected.n_features), query=query)


def dense_or_sparse(X: Any) -> Any:
    """Make a CSR matrix dense if a fifth of its entries or more is not zero."""
    X.eliminate_zeros()
    return X.toarray() if X.nnz >= _DENSE_FROM * X.shape[0] * X.shape[1] else X


def _read_file(
    path: Path, expected: Expected, lowest: int, queries: bool
) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
    lines = read_lines(path)
    code = number if expected.classes is None else coder(expected.classes)
    try:
        X, targets, query = _parse("\n".join(lines), expected.n_features, lowest, queries)
        distinct, positions = np.unique(targets, return_inverse=True)
        y = np.array([code(label) for label in canonical_labels(distinct)])[positions]
    except (ValueError, IndexError, OverflowError) as error:
        _check_lines(path, enumerate(lines, start=1), code, expected, lowest, queries)
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    if len(y) == 0:
        raise DataError(f"{path}: the file has no rows")
    return X, y, query.astype(np.int64)


def _parse(text: str, n_features: int, lowest: int, queries: bool) -> tuple[Any, Any, Any]:
    """Parse text with scikit-learn, which passes over some faults that are raised here."""
    from sklearn.datasets import load_svmlight_file

    text = _COMMENT.sub("", text)
    plain, n_queries = _QUERY.subn(r"\1 ", text) if queries else (text, 0)
    if _UNUSUAL.search(plain) or (queries and n_queries != len(_ROW.findall(text))):
        raise ValueError("an entry is no number, or a query id is missing")
    X, y, query = load_svmlight_file(
        BytesIO(text.encode()), n_features=n_features, zero_based=lowest == 0, query_id=True
    )
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise ValueError("a value is not finite")
    return X, y, query


def parse_chunk(
    path: Path, lines: list[tuple[int, str]], n_features: int, lowest: int
) -> tuple[Any, NDArray[np.float64]]:
    """Parse some numbered lines of a LIBSVM file; labels are numbers."""
    try:
        X, y, _ = _parse("\n".join(line for _, line in lines), n_features, lowest, queries=False)
    except (ValueError, IndexError, OverflowError) as error:
        _check_lines(path, lines, number, Expected(n_features, None), lowest, queries=False)
        place = f"{path}, lines {lines[0][0]} to {lines[-1][0]}"
        raise DataError(f"{place}: cannot be read: {one_line(error)}") from None
    X.eliminate_zeros()
    return X, y


def _check_lines(
    path: Path,
    lines: Iterable[tuple[int, str]],
    code: Callable[[str], float],
    expected: Expected,
    lowest: int,
    queries: bool,
) -> None:
    """Raise for the first faulty entry; slow, therefore only called if there is a fault."""
    highest = lowest + expected.n_features - 1
    for line_number, line in lines:
        if not (words := line.split("#", 1)[0].split()):
            continue
        label, *entries = words
        try:
            code(str(number(label)))
        except ValueError as error:
            raise fault(path, line_number, label, str(error), "1 (label)") from None
        if queries:
            query, entries = "".join(entries[:1]), entries[1:]
            if not re.fullmatch(r"qid:\d{1,18}", query, re.ASCII):
                raise fault(path, line_number, query, "a query id, as qid:number", "2")
        before = lowest - 1
        for position, entry in enumerate(entries, start=3 if queries else 2):
            index, _, value = entry.partition(":")
            if not (_INDEX.fullmatch(index) and before < int(index) <= highest):
                wanted = f"an index from {before + 1} to {highest} and its value, as index:value"
                raise fault(path, line_number, entry, wanted, str(position))
            before = int(index)
            try:
                number(value)
            except ValueError as error:
                wanted = f"index:value with {error}"
                raise fault(path, line_number, entry, wanted, str(position)) from None
