"""Reader for LIBSVM's sparse text; scikit-learn does the parsing."""

import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets._formats import Libsvm
from kernlearn.datasets._labels import canonical_labels, coder
from kernlearn.datasets._readers import Expected, Table, default_names
from kernlearn.datasets._text import fault, number, read_lines
from kernlearn.exceptions import DataError

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

    parts = [_read_file(path, expected, lowest, queries) for path in paths]
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


def _read_file(
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
