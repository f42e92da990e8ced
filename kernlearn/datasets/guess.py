"""Guessing how a text file reads: separator, header, what each column is."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernlearn.datasets.arff import _read_header
from kernlearn.datasets.formats import Arff
from kernlearn.datasets.hashing import canonical_labels
from kernlearn.datasets.readers import Expected, reader
from kernlearn.datasets.text import MANY, Column, number
from kernlearn.exceptions import DataError

_SEPARATORS = ("\t", ";", ",", "|", None)
_TARGETS = {"target", "class", "label", "y", "outcome"}
_LIBSVM = re.compile(r"\s*[+-]?[\d.eE+-]+(\s+\d+:[^\s:]+)*\s*(#.*)?")


class Guess(NamedTuple):
    """How a file reads.

    Attributes
    ----------
    format : dict
        The format's options, as in a card.
    n_features : int
        The number of features.
    labels : dict of str to int, or None
        The values of the target and how often each comes; None if there are too many.
    numeric : bool
        Whether the target is a number.
    remarks : list of str
        What was guessed, for people.
    """

    format: dict[str, Any]
    n_features: int
    labels: dict[str, int] | None
    numeric: bool
    remarks: list[str]


def is_libsvm(lines: Sequence[str]) -> bool:
    """Tell LIBSVM's text from columns.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file.

    Returns
    -------
    bool
    """
    rows = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return any(":" in row for row in rows) and all(_LIBSVM.fullmatch(row) for row in rows)


def guess_libsvm(path: Path, lines: Iterable[str]) -> Guess:
    """Guess how a LIBSVM file reads.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    lines : iterable of str
        Its lines.

    Returns
    -------
    Guess
    """
    target = Column("label")
    lowest, highest = 1, 0
    for line in lines:
        if not (words := line.split("#")[0].split()):
            continue
        target.add(words[0])
        for word in words[1:]:
            index = word.partition(":")[0]
            if not index.isdecimal():
                raise DataError(f"{path}: found {word!r:.60}, expected index:value")
            lowest, highest = min(lowest, int(index)), max(highest, int(index))
    zero_based = lowest == 0
    start = "0" if zero_based else "1"
    return Guess(
        {"kind": "libsvm", "zero_based": zero_based},
        highest + zero_based,
        target.labels(),
        target.numeric,
        [f"LIBSVM format, the first feature has index {start}"],
    )


def guess_delimited(
    path: Path,
    lines: Sequence[str],
    *,
    target: int | str | None,
    delimiter: str | None,
    header: bool | None,
    drop: Sequence[int | str],
) -> Guess:
    """Guess how text in columns reads.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    lines : sequence of str
        Its lines.
    target : int or str, optional
        The target's column.
    delimiter : str, optional
        What stands between two columns; ``"blanks"`` for any run of blanks.
    header : bool, optional
        Whether the first line names the columns.
    drop : sequence of int or str
        Columns that are no features.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file has no columns, or something that a card cannot express.
    """
    at = [i for i, line in enumerate(lines) if line.strip()]
    first = [lines[i] for i in at[:100]]
    separator = _separator(path, first) if delimiter is None else delimiter
    if separator == "blanks":
        separator = None
    rows = [[entry.strip() for entry in lines[i].split(separator)] for i in at]
    width = len(rows[0])
    for i, row in zip(at, rows, strict=True):
        if len(row) != width:
            raise DataError(f"{path}, line {i + 1}: found {len(row)} columns, expected {width}")
    if header is None:
        header = _has_header(rows)
    if header and at[0] > 0:
        raise DataError(f"{path}: the header must be the first line; remove the blank ones before")
    names = [name.strip('"') for name in rows[0]] if header else []
    if header and len(set(names)) != width:
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}, line 1: two columns are called {twice!r}; rename one")
    if any('"' in lines[i] for i in (at[1:] if header else at)):
        raise DataError(
            f"{path}: entries are in quotes, which a card cannot express; save it without quotes"
        )
    columns = [Column(names[i] if header else str(i)) for i in range(width)]
    for row in rows[1 if header else 0 :]:
        for column, entry in zip(columns, row, strict=True):
            column.add(entry)
    named = {None: "blanks", "\t": "tabulator"}.get(separator, separator)
    how = "is a header" if header else "is data"
    remarks = [f"columns separated by {named!r}", f"the first line {how}"]
    positions = [position(path, column, names, width) for column in drop]
    chosen, remark = choose_target(path, target, names, width)
    remarks.append(remark)
    options: dict[str, Any] = {"kind": "delimited", "delimiter": separator, "header": header}
    return columns_guess(path, columns, chosen, positions, options, remarks)


def columns_guess(
    path: Path,
    columns: list[Column],
    target: int,
    drop: list[int],
    options: dict[str, Any],
    remarks: list[str],
) -> Guess:
    """Say what each column is for, once all their entries are known.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    columns : list of Column
        All columns.
    target : int
        The target's position.
    drop : list of int
        Positions of the columns that are no features.
    options : dict
        The format's options so far.
    remarks : list of str
        What was guessed so far.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the target has missing entries, or several texts stand for missing ones.
    """
    n_rows = sum(columns[target].texts.values()) + columns[target].n_numbers
    nominal: dict[str, list[str]] = {}
    missing: set[str] = set()
    for i, column in enumerate(columns):
        if i == target or i in drop:
            continue
        missing |= column.missing
        if column.numeric:
            continue
        values = column.labels()
        if values is None or len(values) > max(20, n_rows // 2):
            drop.append(i)
            remarks.append(f"column {column.name} is left out: text with too many values")
        elif not values:
            drop.append(i)
            remarks.append(f"column {column.name} is left out: it has no entries")
        else:
            nominal[column.name] = list(values)
            shown = ", ".join(list(values)[:5]) + (", …" if len(values) > 5 else "")
            remarks.append(f"column {column.name} is nominal: {shown}")
    if len(missing) > 1:
        raise DataError(
            f"{path}: {' and '.join(map(repr, sorted(missing)))} both stand for missing entries; "
            "use only one of them"
        )
    if absent := sum(columns[target].texts[text] for text in columns[target].missing):
        raise DataError(f"{path}: the target is missing in {absent} rows; remove them")
    if missing:
        options["missing"] = missing.pop()
        remarks.append(f"{options['missing']!r} stands for a missing entry")
    drop = sorted(set(drop))
    if options["header"]:
        options |= {"target": columns[target].name, "drop": [columns[i].name for i in drop]}
        options["nominal"] = nominal
    else:
        new = {str(i): f"x{i + 1}" for i in range(len(columns))} | {str(target): "target"}
        options |= {"columns": list(new.values()), "target": "target"}
        options["drop"] = [new[str(i)] for i in drop]
        options["nominal"] = {new[name]: values for name, values in nominal.items()}
    chosen = columns[target]
    n_features = len(columns) - 1 - len(drop)
    return Guess(options, n_features, chosen.labels(), chosen.numeric, remarks)


def _separator(path: Path, lines: Sequence[str]) -> str | None:
    counts = {}
    for separator in _SEPARATORS:
        widths = {len(line.split(separator)) for line in lines}
        if len(widths) == 1 and (width := widths.pop()) > 1:
            counts[separator] = width
    if not counts:
        raise DataError(
            f"{path}: no separator gives the same number of columns, at least 2, in all of the "
            "first lines; name it if there is one"
        )
    return max(counts, key=lambda separator: counts[separator])


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    head, body = rows[0], rows[1:1000]
    if not body or len(set(head)) < len(head) or any(map(_is_number, head)):
        return False
    if any(entry == "" or entry == "?" for entry in head):
        return False
    # a name does not come again below it, and above numbers stands no text but a name
    return all(entry not in {row[i] for row in body} for i, entry in enumerate(head))


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def position(path: Path, column: int | str, names: Sequence[str], width: int) -> int:
    """Return the position of a column given by name or position.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    column : int or str
        The column; text that is no name may be a number.
    names : sequence of str
        The names, if there are any.
    width : int
        The number of columns.

    Returns
    -------
    int

    Raises
    ------
    DataError
        If there is no such column.
    """
    if isinstance(column, str) and column in names:
        return list(names).index(column)
    try:
        place = int(column)
    except ValueError:
        known = f"; its columns: {', '.join(names)[:200]}" if names else " by name, only by number"
        raise DataError(f"{path}: has no column called {column!r}{known}") from None
    if not -width <= place < width:
        raise DataError(f"{path}: column {place} asked for, expected -{width} to {width - 1}")
    return place % width


def choose_target(
    path: Path, target: int | str | None, names: Sequence[str], width: int
) -> tuple[int, str]:
    """Return the position of the target, and how it was found.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    target : int or str, optional
        The target, if it was named.
    names : sequence of str
        The columns' names, if there are any.
    width : int
        The number of columns.

    Returns
    -------
    int, str
    """
    if target is not None:
        chosen = position(path, target, names, width)
        return chosen, f"the target is column {names[chosen] if names else chosen}"
    for i, name in enumerate(names):
        if name.lower() in _TARGETS:
            return i, f"the target is column {name}, by its name"
    return width - 1, f"the target is the last column{f', {names[-1]}' if names else ''}"


def guess_arff(
    path: Path, lines: list[str], *, target: int | str | None, drop: list[int | str]
) -> Guess:
    """Guess what the attributes of an ARFF file are for.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    lines : list of str
        Its lines.
    target : int or str, optional
        The target's attribute; the last one by default.
    drop : list of int or str
        Attributes that are no features.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or has no such attribute.
    """
    header = _read_header(path, ["" if x.lstrip().startswith("%") else x for x in lines])
    width = len(header.names)
    chosen = position(path, -1 if target is None else target, header.names, width)
    dropped = {position(path, column, header.names, width) for column in drop}
    remarks = ["ARFF format", f"the target is the attribute {header.names[chosen]}"]
    for i, name in enumerate(header.names):
        if header.types[name] == "text" and i != chosen and i not in dropped:
            dropped.add(i)
            remarks.append(f"attribute {name} is left out: text")
    options = {
        "kind": "arff",
        "target": header.names[chosen],
        "drop": [header.names[i] for i in sorted(dropped)],
    }
    n_features = width - 1 - len(dropped)
    kind = header.types[header.names[chosen]]
    declared = kind if isinstance(kind, tuple) else None
    if kind == "text":
        raise DataError(f"{path}: the target is text; declare its values as {{a, b, …}}")
    y = reader("arff")([path], Arff.model_validate(options), Expected(n_features, declared)).y
    if declared is None:
        return Guess(options, n_features, _counted(y), True, remarks)
    counts = np.bincount(y.astype(np.int64), minlength=len(declared)).tolist()
    labels = {label: n for label, n in zip(declared, counts, strict=True) if n}
    return Guess(options, n_features, labels, False, remarks)


def guess_npz(path: Path, *, target: int | str | None) -> Guess:
    """Guess which arrays of an NPZ file are the matrix and the labels.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    target : int or str, optional
        The name of the labels; by default ``y``, or the only array with one entry a row.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or it cannot be told.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    except Exception as error:  # a damaged archive may raise anything at all
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no NPZ file of plain arrays: {reason}") from None
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
    matrices = [name for name, array in arrays.items() if array.ndim == 2 and min(array.shape) > 1]
    matrix = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None
    if matrix is None:
        raise DataError(f"{path}: no array is plainly the matrix; call it X. It holds {held}")
    n_samples, n_features = arrays[matrix].shape
    vectors = [n for n, array in arrays.items() if n != matrix and array.size == n_samples]
    wanted = str(target) if target is not None else "y" if "y" in vectors else None
    labels = wanted or (vectors[0] if len(vectors) == 1 else None)
    if labels not in vectors:
        raise DataError(f"{path}: {wanted or 'no array'} holds one label a row. It holds {held}")
    y = arrays[labels].ravel()
    options = {"kind": "npz", "matrix": matrix, "target": labels}
    remarks = [f"NPZ format, features in {matrix}, the target in {labels}"]
    return Guess(options, n_features, _counted(y), y.dtype.kind in "fiub", remarks)


def guess_parquet(path: Path, *, target: int | str | None, drop: list[int | str]) -> Guess:
    """Guess what the columns of a Parquet file are for.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    target : int or str, optional
        The target's column.
    drop : list of int or str
        Columns that are no features.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or has no such column.
    """
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except Exception as error:  # a damaged file may raise anything at all
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no Parquet file: {reason}") from None
    names = list(table.column_names)
    columns = [Column(name) for name in names]
    for column, values in zip(columns, table.columns, strict=True):
        for value in values.to_pylist():
            column.add("" if value is None else str(value))
    chosen, remark = choose_target(path, target, names, len(names))
    dropped = [position(path, column, names, len(names)) for column in drop]
    options = {"kind": "parquet", "header": True}
    guess = columns_guess(path, columns, chosen, dropped, options, ["Parquet format", remark])
    for key in ("header", "missing"):  # null, in Parquet
        guess.format.pop(key, None)
    return guess


def _counted(y: Any) -> dict[str, int] | None:
    values, counts = np.unique(y, return_counts=True)
    if len(values) > MANY:
        return None
    return dict(zip(canonical_labels(values).tolist(), counts.tolist(), strict=True))
