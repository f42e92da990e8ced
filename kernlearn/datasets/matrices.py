"""Matrices of pairs: the names and labels of their points, pairs that they lack, odd values."""

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.checks import listed
from kernlearn.datasets import readers
from kernlearn.datasets.card import Delimited, Reading
from kernlearn.datasets.files import file_bytes
from kernlearn.datasets.formats import TableFile, is_like_number, read_frame
from kernlearn.datasets.groups import named_groups
from kernlearn.datasets.tables import (
    ROW_NAMES,
    Table,
    canonical_labels,
    column_position,
    plain_numbers,
)
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Names of the target, the first that there is; y may be a coordinate.
TARGETS = ("target", "class", "label", "outcome", "y")
#: Settings that say what a matrix has.
AS_MATRIX = [("matrix", "distance"), ("matrix", "similarity")]
_MOST_WAYS = 3  # columns that a message proposes


def row_names(frame: "pd.DataFrame") -> str | None:
    """Return the column that names the rows of a matrix, most of them as its columns."""
    columns = {*canonical_labels(frame.columns.astype(str))}
    for name in frame.columns[~plain_numbers(frame) | (frame.columns == ROW_NAMES)]:
        if 2 * len(columns.intersection(canonical_labels(frame[name].astype(str)))) > len(frame):
            return str(name)
    return None


def order_of_columns(path: Path, frame: "pd.DataFrame", by: str) -> list[int]:
    """Return the rows of a matrix in the order of its columns; refuse one with other names."""
    rows = canonical_labels(frame[by].astype(str)).tolist()
    names = canonical_labels(frame.columns.astype(str)).tolist()
    place = {name: i for i, name in enumerate(rows)}
    if lack := place.keys() - names:
        numbers = canonical_labels(frame.columns[plain_numbers(frame)].astype(str)).tolist()
        text = f"rows without a column: {listed(sorted(lack))}"
        if rest := [name for name in numbers if name not in place]:
            text += f"; columns without a row: {listed(rest)}"
        raise DataError(f"{path}: {text}: give both the same names (column {by})")
    if len(place) < len(rows):
        again = next(name for i, name in enumerate(rows) if place[name] != i)
        raise DataError(f"{path}: two rows are called {again} in column {by}: rename one")
    return [place[name] for name in names if name in place]


def labels_of(
    names: Any, n: int, asked: Reading
) -> tuple[dict[str, Any], list[str], dict[str, int]]:
    """Return the column of labels that another file has for `n` points, groups and times.

    They are found by the names of the points; without names they are in the same order. Beside
    them come notes, and the columns whose values points seem to share.
    """
    import pandas as pd

    path = Path(str(asked.labels))
    table = _labels_table(path, n)
    table, columns = table.set_axis([*map(str, table)], axis=1), [*map(str, table)]
    wanted = [] if names is None else canonical_labels(pd.Series(names).astype(str)).tolist()
    texts = {name: pd.Index(canonical_labels(table[name].map(str))) for name in columns}
    known = {name: int(texts[name].unique().isin(wanted).sum()) for name in columns}
    by = max(columns, key=lambda name: known[name])
    for name in columns:
        if 2 * known[name] > n and not texts[name].equals(texts[by]):
            raise DataError(f"{path}: columns {by} and {name} both name points: leave one out")
    in_order = 2 * known[by] <= n and wanted in ([], [*map(str, range(n))])
    if in_order and len(table) != n:
        raise DataError(f"{path}: {len(table)} rows, but {n} points, which have no names")
    rest = [name for name in columns if in_order or name != by]
    if in_order and len(table) > 1:  # names of points are no labels
        rest = [name for name in rest if not texts[name].is_unique] or rest
    usual = [name for one in TARGETS for name in rest if name.lower() == one]
    if asked.target is None and not usual and len(rest) > 1:
        ways = [("target", name) for name in rest[:_MOST_WAYS]]
        raise DataError(f"{path}: {listed(rest)} could be the labels: name one", ways)
    stated = [*usual, *rest, -1][0] if asked.target is None else asked.target
    target = columns[column_position(path, stated, columns)]
    own = f"{target} of {path.name}"  # a point may be called as the column
    marks = [str(k) for k in (asked.groups, asked.time) if str(k) in columns]
    shared = {} if marks else named_groups(table[[k for k in rest if k != target]])
    notes = [f"the points have no names: column {own} is taken in its order"]
    if not in_order:
        notes = [f"the labels are column {own}, by the names in column {by}"]
        table = table.set_axis(texts[by])
        if lack := [name for name in wanted if name not in table.index]:
            text = f"{len(lack)} of {n} points are not in column {by}, such as {listed(lack[:3])}"
            has = f"it has {listed(table.index[:3])}: use the same names"
            raise DataError(f"{path}: {text}; {has}, or add rows without a label")
        every = Counter(wanted) | Counter(table.index)
        if again := [name for name, m in every.items() if m > 1]:
            raise DataError(f"{path}: several points or rows are called {listed(again)}: keep one")
        if more := len(table) - n:
            notes.append(f"{more} of {len(table)} rows of {path.name} name no point of the matrix")
        table = table.loc[wanted]
    return {own: table[target].array, **{k: table[k].array for k in marks}}, notes, shared


def _labels_table(path: Path, n: int) -> "pd.DataFrame":
    """Read an array, a column that may have a name, or a table of `n` labels."""
    import pandas as pd

    content = file_bytes(path)
    if content.startswith(readers.NPY):
        return pd.DataFrame({"y": readers.load_arrays(path)["X"].ravel()})
    if re.search(rb"[\t;,|]", content):
        return read_frame(path)
    codec = readers.encoding_of(path, content)
    first, *rest = content.decode(codec).strip().split("\n")
    named = len(rest) == n and first not in rest and not is_like_number(first)
    if len(rest) == n - 1 and first not in rest and min(Counter(rest).values()) > 1:
        raise DataError(f"{path}: {first}, in line 1 alone, may be a name: write one above it")
    how: dict[str, Any] = {"delimiter": "\t", "standard_missing": True, "encoding": codec}
    return readers.content_of(path, Delimited(header=named, **how))


def check_matrix(
    file: TableFile, matrix: str | None, target: int, features: list[int], left_out: dict[int, str]
) -> None:
    """Refuse a matrix that nobody asked for, or without labels.

    A column that names its rows shows that a table is one.
    """
    path, names = file.path, file.names
    columns, plain = [names[i] for i in features], plain_numbers(file.frame)
    one_less = matrix is not None and len(columns) + 1 == len(file.frame)
    if one_less and plain[target]:
        problem = f"{path}: the matrix has no labels, column {names[target]} is one of its points"
        raise DataError(f"{problem}: add a column of labels", [("labels", "FILE")])
    is_text = ~plain & file.frame.notna().any().to_numpy()
    for name in [names[i] for i in features if matrix is not None and is_text[i]]:
        problem = f"{path}: column {name} holds text, and the target is column {names[target]}"
        raise DataError(problem, [("target", name), ("drop", [name])])
    for i in [i for i, reason in left_out.items() if reason]:
        rows, name = [*map(str, file.frame.iloc[:, i])], names[i]
        if matrix is None and len(columns) > 1 and {*columns} <= {*rows}:
            problem = f"{path}: rows and columns have the same names (column {name})"
            raise DataError(f"{problem}: say what the matrix has", AS_MATRIX)
    if matrix is None:
        refuse_symmetric(path, file.frame.iloc[:, features])


def refuse_symmetric(path: Path, X: Any) -> None:
    """Refuse features that are a symmetric matrix, before all their pairs are compared."""
    if X.shape[0] == X.shape[1] > 2:
        X = np.asarray(X)
        if X.dtype.kind in "fiu" and (X[0] == X[:, 0]).all() and (X == X.T).all():
            raise DataError(f"{path}: a symmetric matrix: say what it has", AS_MATRIX)


# Pairs


def complete_pairs(table: Table, missing: str, place: str, kind: str) -> Table:
    """Fill pairs that a matrix lacks by their mirror images; leave out the points that lack most.

    With "impute" these are the points that lack more than half of their pairs.

    Raises
    ------
    DataError
        If more than half of the points would be left out.
    """
    from kernlearn.validation import lacking_most, with_mirror_images

    if hasattr(table.X, "tocsr") or not np.isnan(table.X).any():
        return table
    n, notes, is_own = len(table.X), [], np.eye(len(table.X), dtype=bool) & np.isnan(table.X)
    if is_own.any() and kind == "similarity":
        problem = f"{is_own.sum()} of {n} points lack the similarity with themselves: write it"
        raise DataError(f"{place}: {problem}")
    matrix, n_taken = with_mirror_images(np.where(is_own, 0.0, table.X))
    n_missing = int(np.isnan(table.X).sum())
    if is_own.any():
        notes = [f"{is_own.sum()} of {n} points lack the distance to themselves: taken as 0"]
    if n_taken:
        taken = f"{n_taken} taken from the same pair in the other order"
        notes.append(f"{n_missing} of {matrix.size} entries are missing: {taken}")
    left_out = lacking_most(matrix, 0.5 if missing == "impute" else 0)
    if 2 * len(left_out) > n:
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise DataError(
            f"{place}: the matrix lacks {np.isnan(matrix).sum()} of {matrix.size} entries, the "
            f"first in row {row + 1} and column {table.feature_names[column]}, so that "
            f"{len(left_out)} of {n} points would be left out",
            [] if missing == "impute" else [("missing", "impute")],
        )
    if left_out:
        shown = listed(table.feature_names[i] for i in sorted(left_out))
        notes.append(f"{len(left_out)} of {n} points left out, which lack pairs: {shown}")
    rest = np.setdiff1d(np.arange(n), left_out)
    table = table._replace(X=matrix).rows(rest).columns(rest)
    if lack := int(np.isnan(table.X).sum()):
        how = "by the means of training points"
        notes.append(f"{lack} of {table.X.size} entries filled in within each split, {how}")
    return table.noting(*notes, imputed=lack)


def as_matrix(table: Table, kind: str, place: str) -> Table:
    """Notice a matrix that is not symmetric, or that does not look like what it is said to be."""
    from kernlearn.validation import is_half

    X, notes = table.X, []
    if isinstance(X, np.ndarray) and is_half(X):
        problem = f"{place}: one of the two values of each pair is 0"
        raise DataError(f"{problem}: write NaN there, in text nothing, or both values")
    differences = np.abs(X - X.T)
    if isinstance(differences, np.ndarray):
        differences = np.nan_to_num(differences)  # of a pair that is missing none
        notes = _odd_values(X, kind)
    if largest := differences.max():
        text = f"the matrix is not symmetric: mirrored entries differ by up to {largest:.3g}"
        use = "rows are compared with the columns of training points, of which SpectrumSVM trains"
        notes.append(
            f"{text}; {use} on the mean of both directions: where both mean the same, write their "
            "mean in the file"
        )
    return table.noting(*notes)


def _odd_values(matrix: np.ndarray, kind: str) -> list[str]:
    """Say that distances look like similarities or the reverse, or are negative or 0."""
    from kernlearn.validation import looks_reversed

    own, low, is_distance = matrix.diagonal(), np.nanmin(matrix), kind == "distance"
    if looks_reversed(matrix, kind):
        where, other = ("greatest", "similarity") if is_distance else ("least", "distance")
        text = f"the {where} value of each row is that of the point with itself"
        return [f"{text}, as of a {other}: `matrix: {other}` takes it for one"]
    if not is_distance:
        return []
    notes, negative = [], matrix[matrix < 0]
    if n := len(negative):
        text = f"{n} of {matrix.size} distances are negative, the least {low:g}"
        gaps = f"; a gap is NaN, in a table also `read_as: {{missing: [{low:g}]}}`"
        notes.append(text + gaps * bool((negative == low).all()))
    if (own > 0).all():
        text = "no distance of a point to itself is 0, as of similarities"
        notes.append(f"{text}: `matrix: similarity` takes them for these")
    if n := int((matrix == 0).sum() - (own == 0).sum()):
        notes.append(f"{n} of {matrix.size - len(own)} distances between different points are 0")
    return notes
