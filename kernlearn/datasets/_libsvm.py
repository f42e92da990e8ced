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
_UNUSUAL = re.compile(r"[^0-9eE+\-.: \t\n]")


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
    from scipy import sparse

    parts = [_read_file(path, options, expected) for path in paths]
    X = sparse.csr_matrix(sparse.vstack([X for X, _ in parts], format="csr"))
    X.eliminate_zeros()
    dense = X.nnz >= _DENSE_FROM * X.shape[0] * X.shape[1]
    y = np.concatenate([y for _, y in parts])
    return Table(X.toarray() if dense else X, y, default_names(expected.n_features))


def _read_file(path: Path, options: Libsvm, expected: Expected) -> tuple[Any, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file

    lines = read_lines(path)
    text = "\n".join(lines)
    code = number if expected.classes is None else coder(expected.classes)
    if _UNUSUAL.search(text):  # scikit-learn passes over some faults: 1_0, qid:
        _check_lines(path, lines, code, options, expected)
    try:
        X, targets = load_svmlight_file(
            BytesIO(text.encode()),
            n_features=expected.n_features,
            zero_based=options.zero_based,
        )
        if not np.isfinite(X.data).all():
            raise ValueError("a value is not finite")
        y = _encode(targets, code)
    except (ValueError, IndexError, OverflowError) as error:
        _check_lines(path, lines, code, options, expected)
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    if len(y) == 0:
        raise DataError(f"{path}: the file has no rows")
    return X, y


def _encode(targets: NDArray[np.float64], code: Callable[[str], float]) -> NDArray[np.float64]:
    distinct, positions = np.unique(targets, return_inverse=True)
    return np.array([code(label) for label in canonical_labels(distinct)])[positions]


def _check_lines(
    path: Path,
    lines: list[str],
    code: Callable[[str], float],
    options: Libsvm,
    expected: Expected,
) -> None:
    """Raise for the first entry at fault; slow, since it runs when a fault is suspected."""
    lowest = 0 if options.zero_based else 1
    highest = lowest + expected.n_features - 1
    for number_, line in enumerate(lines, start=1):
        if not (words := line.split("#")[0].split()):
            continue
        label, *entries = words
        try:
            code(str(number(label)))
        except ValueError as error:
            raise fault(path, number_, label, str(error), "1 (label)") from None
        before = lowest - 1
        for position, entry in enumerate(entries, start=2):
            index, _, value = entry.partition(":")
            if not (index.removeprefix("+").isdecimal() and before < int(index) <= highest):
                wanted = f"an index from {before + 1} to {highest} and its value, as index:value"
                raise fault(path, number_, entry, wanted, str(position))
            before = int(index)
            try:
                number(value)
            except ValueError as error:
                raise fault(
                    path, number_, entry, f"index:value with {error}", str(position)
                ) from None
