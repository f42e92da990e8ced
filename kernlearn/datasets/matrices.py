"""A user's matrix of similarities or distances: what its entries mean, and labels apart."""

from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrays, matlab, text
from kernlearn.datasets.columns import is_number
from kernlearn.datasets.file_options import FileOptions
from kernlearn.datasets.guess_arrays import choose_matrix
from kernlearn.datasets.guess_text import decoded, split_rows
from kernlearn.datasets.room import require_room
from kernlearn.datasets.unpacking import clear_errors, read_head
from kernlearn.exceptions import DataError


def kind_of(S: np.ndarray) -> str:
    """Guess whether entries are distances: none is negative, and the diagonal is 0."""
    return "distance" if not np.diag(S).any() and (S >= 0).all() and S.any() else "similarity"


def remark(kind: str) -> str:
    """Say how entries were taken."""
    other = {"distance": "similarity", "similarity": "distance"}[kind]
    plural = {"distance": "distances", "similarity": "similarities"}[kind]
    why = "" if kind == "similarity" else ", as the diagonal is 0"
    return f"the entries are taken for {plural}{why}; `--matrix {other}` says otherwise"


def check_square(path: Path, shape: tuple[int, ...], labelled: bool) -> None:
    """Refuse a table that is no square matrix, apart from the labels."""
    n_rows, n_columns = shape
    if n_rows == n_columns:
        return
    hint = ""
    if labelled and n_columns == n_rows - 1:
        hint = "; if no column has the labels, give them in a file of their own (labels)"
    raise DataError(
        f"{path}: found {n_rows} rows and {n_columns} columns besides the labels, expected a "
        f"square matrix{hint}"
    )


@clear_errors()
def read_matrix(path: Path, given: FileOptions) -> np.ndarray:
    """Read a matrix without labels from text, NPZ or MATLAB; names of rows are skipped."""
    magic = read_head(path, 8)
    if magic.startswith((b"PK", b"MATLAB", b"\x89HDF")):
        npz = magic.startswith(b"PK")
        heads = arrays.npz_heads(path) if npz else matlab.matlab_heads(path)
        name = choose_matrix(path, heads, ("X", "A"))
        stored = (arrays.load_npz if npz else matlab.load_matlab)(path, [name])[name]
        require_room(path, 8 * stored.size, "the entries of the matrix")
        return np.asarray(stored, dtype=np.float64)
    rows = [row for _, row in split_rows(path, decoded(path)[0], given)]
    if rows and not any(map(is_number, rows[0][1:])):  # the names of columns
        rows = rows[1:]
    if rows and not any(is_number(row[0]) for row in rows):  # the names of rows
        rows = [row[1:] for row in rows]
    if len({len(row) for row in rows}) != 1:
        raise DataError(f"{path}: expected a matrix, found rows of different lengths")
    entry: Any = ""
    try:
        return np.array([[text.number(entry := value) for value in row] for row in rows])
    except ValueError:
        raise DataError(f"{path}: found {entry!r:.60} in the matrix, expected numbers") from None


def read_labels(path: Path, n_rows: int) -> np.ndarray:
    """Read one label per line."""
    labels = [line.strip().strip('"') for line in decoded(path)[0] if line.strip()]
    if len(labels) == n_rows + 1:  # with the name of the column
        labels = labels[1:]
    if len(labels) != n_rows:
        raise DataError(f"{path}: found {len(labels)} labels, expected {n_rows}, one per line")
    return np.array([text.canonical_label(label) for label in labels])
