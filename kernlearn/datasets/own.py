"""Files without a card: their format, and the roles of their columns."""

import csv
import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import readers
from kernlearn.datasets.card import Arrays, Columns, Delimited, FileOptions, Pairs, TableOptions
from kernlearn.datasets.tables import (
    ROW_NAMES,
    are_numbers,
    canonical_labels,
    column_position,
    default_names,
    default_order,
    is_number_column,
    is_symmetric,
    unique_names,
)
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns that are taken to be the target.
TARGETS = {"target", "class", "label", "y", "outcome"}
_MANY = 200  # with more distinct values, text is no nominal column and numbers are no classes
FEW = 20  # up to this many distinct whole numbers are taken for classes
_EXACT = 2**53  # up to which float64 has all whole numbers
_HEAD = 200_000  # bytes from which the format is recognised
_ROWS = 100  # rows from which the separator and the header are guessed
_SEPARATORS = ("\t", ";", "|", ",", None)
_READ_AS = (
    *("delimiter", "header", "decimal", "thousands", "comment", "quote", "skip", "encoding"),
    *("missing", "text"),
)
# Numbers, also with decimal commas and separators of thousands.
_LIKE_NUMBER = re.compile(
    r"[+-]?((\d+|\d{1,3}([., '\u00a0\u202f]\d{3})+)([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII
)
_DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([./-])\d\d?\3\d{4})([ T].*)?|\d{4}-\d\d")
_PAIRS = re.compile(r"\s*[+-]?[\d.,eE+-]+(\s+qid:\d+)?(\s+\d+:[+-]?[\d.eE+-]+)*\s*(#.*)?")
# Formats by their first bytes.
_MAGIC: dict[bytes, Any] = {
    b"PAR1": Columns(kind="parquet"),
    b"ARROW1": Columns(kind="feather"),
    b"FEA1": Columns(kind="feather"),
    b"<stata_dta>": Columns(kind="stata"),
    b"$FL2": Columns(kind="spss"),
    b"$FL3": Columns(kind="spss"),
    b"\x89HDF": Arrays(kind="matlab"),
    b"MATLAB": Arrays(kind="matlab"),
    b"\xd0\xcf\x11\xe0": Columns(kind="excel"),
}


class Guess(NamedTuple):
    """How a file without a card reads, and what is in it.

    `format` is that of a card; `contents` what :func:`~kernlearn.datasets.readers.content_of`
    returns; `labels` count the values of the target, if these are few, in their order, which is
    that of the file if it `has_order`; `task` is one that the file names.
    """

    format: dict[str, Any]
    contents: Sequence[Any]
    n_features: int
    labels: dict[str, int] | None
    is_numeric: bool  # whether the target is a number
    notes: list[str]
    left_out: Mapping[str, str] = MappingProxyType({})
    has_order: bool = False
    task: str | None = None

    def task_of(self, path: Any) -> str:
        """Return the task: numbers are for regression, unless they are a few whole ones."""
        if self.task is not None:
            return self.task
        if not self.is_numeric:
            return "classification"
        counts = self.labels or {}
        other = [label for label in counts if not label.lstrip("-").isdecimal()]
        n, n_other = sum(counts.values()), sum(counts[label] for label in other)
        if not counts or len(counts) - len(other) > FEW or 10 * n_other > n:
            return "regression"
        if other:
            raise DataError(
                f"{path}: {n - n_other} of {n} entries of the target are whole numbers, "
                f"{len(counts) - len(other)} different ones, and {other[0]} is not: correct it, "
                "or say `task: classification` or `task: regression`"
            )
        return "classification"


def inspect(paths: Sequence[Path], asked: FileOptions) -> Guess:
    """Recognise the format of a file, read it, and choose the roles of its columns.

    Several files, as of LETOR, are of one format and have the same columns.
    """
    path = paths[0]
    content = b"\n".join(map(readers.file_bytes, paths))
    format = _format(path, content, asked.read_as.get("encoding"))
    of_columns = isinstance(format, TableOptions)
    known = [key for key in _READ_AS if of_columns and key in type(format).model_fields]
    if unknown := [key for key in asked.read_as if key not in known]:
        expected = f"expected one of {', '.join(known)}" if known else "it is for text in columns"
        raise DataError(f"{path}: read_as: no {unknown[0]!r} here; {expected}")
    if asked.points is not None and not of_columns:
        raise DataError(f"{path}: points: is for columns of tables, JSON and series")
    if asked.sheet is not None and format.kind != "excel":
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    if isinstance(format, Arrays):
        return _arrays(path, format.kind, asked)
    if isinstance(format, Pairs):
        guess = _pairs(path, content, asked)
        return guess if len(paths) == 1 else guess._replace(contents=())
    if len(paths) > 1:
        raise DataError(f"{path.parent}: a folder; name a file in it")
    how, notes = dict(asked.read_as), []
    if format.kind == "excel":
        how["sheet"], notes = _sheet(path, asked)
    if isinstance(asked.points, str):
        how["points"] = asked.points
    with suppress(KeyError):
        if how["delimiter"] == "blanks":
            how["delimiter"] = None
    try:
        format = type(format).model_validate(format.model_dump(exclude_unset=True) | how)
    except ValueError as error:
        text = " ".join(str(error).split("For further")[0].split())
        raise DataError(f"{path}: read_as: {text}") from None
    if isinstance(format, Delimited):
        format, notes = dialect(path, content, format, asked)
    try:
        return frame_roles(path, readers.content_of(path, format), format, asked, notes)
    except DataError as error:
        if not (format.kind == "excel" and notes):
            raise
        raise DataError(f"{error}; {notes[0]}") from None  # it may be the wrong sheet


def _pairs(path: Path, content: bytes, asked: FileOptions) -> Guess:
    """Take LIBSVM's pairs, with queries for ranking."""
    matrix = readers.load_pairs(path, content)
    of_queries = matrix.query is not None
    if asked.task == "ranking" and not of_queries:
        raise DataError(f"{path}: ranking needs a query in each row, qid:number")
    zero_based = not of_queries and bool(matrix.X.nnz) and int(matrix.X.indices.min()) == 0
    if not zero_based:
        matrix = matrix._replace(X=matrix.X[:, 1:])
    format = {"kind": "letor" if of_queries else "libsvm", "zero_based": zero_based}
    labels, task = counted_labels(matrix.labels), "ranking" if of_queries else None
    return Guess(format, (matrix,), matrix.X.shape[1], labels, True, [], task=task)


def _arrays(path: Path, kind: str, asked: FileOptions) -> Guess:
    """Choose the matrix and the labels among the arrays of a file: X and y, or the only ones."""
    arrays = readers.load_arrays(path)

    def chosen(called: Any, possible: list[str], what: str) -> str:
        named = [name for name in possible if name.rpartition(".")[2] == called]
        if len(named or possible) == 1:
            return (named or possible)[0]
        held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise DataError(
            f"{path}: which array is {what} is unclear; call it {called}. It holds {held}"
        )

    matrices = [
        name
        for name, array in arrays.items()
        if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "fiub"
    ]
    matrix = chosen("X", matrices, "the matrix of numbers")
    n, n_features = arrays[matrix].shape
    vectors = [k for k, a in arrays.items() if k != matrix and readers.is_vector(a.shape, n)]
    called = "y" if asked.target is None else str(asked.target)
    target = called if called in vectors else chosen(called, vectors, f"the {n} labels")
    content = readers.chosen_arrays(path, arrays, matrix, target)
    notes = [f"the features are {matrix}, the target is {target}"] if asked.target is None else []
    labels, is_numeric = counted_labels(content.labels), content.labels.dtype.kind in "fiub"
    format = {"kind": kind, "matrix": matrix, "target": target}
    return Guess(format, (content,), n_features, labels, is_numeric, notes)


# Formats


def _format(path: Path, content: bytes, encoding: Any) -> Any:
    """Tell the format by the content, not by the name."""
    if not content or content.isspace():
        raise DataError(f"{path}: the file is empty")
    suffixes = path.name.lower().split(".")[1:]
    for magic, format in _MAGIC.items():
        if content.startswith(magic):
            return format
    if content.startswith(b"PK"):
        with readers.library_errors(path, "damaged"), zipfile.ZipFile(BytesIO(content)) as packed:
            names = packed.namelist()
        if any(name.startswith("xl/") or name == "content.xml" for name in names):
            return Columns(kind="excel")
        if names and all(name.endswith(".npy") for name in names):
            return Arrays(kind="npz")
    elif "dta" in suffixes:  # of old versions
        return Columns(kind="stata")
    elif "mat" in suffixes:
        return Arrays(kind="matlab")
    if encoding is None:
        encoding = _encoding(path, content)
    head = content[:_HEAD].decode(encoding, errors="ignore").removeprefix("\ufeff")
    lines = [line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in "%#"]
    first = lines[0].strip().lower() if lines else ""
    if first.startswith(("@relation", "@attribute")):
        return Columns(kind="arff")
    if first.startswith("@") and "@data" in map(str.lower, map(str.strip, lines)):
        return Columns(kind="ts")
    if re.match(r"<(!doctype|html|head|body|table|\?xml|\w+ xmlns)", first):
        raise DataError(f"{path}: a page of HTML or XML, no table of text: save the table as CSV")
    if first.startswith(("{", "[")):
        with suppress(ValueError):
            if isinstance(json.loads(lines[0]), dict):
                return Columns(kind="jsonl")
        if content.rstrip().endswith((b"}", b"]")):
            raise DataError(f"{path}: JSON in one piece: write a line for each object")
    lines = lines[:_ROWS]
    if any(re.search(r"\s\d+:", row) for row in lines) and all(map(_PAIRS.fullmatch, lines)):
        if several := next((row for row in lines if "," in row.split()[0]), None):
            raise DataError(
                f"{path}: several labels in a row ({several.split()[0][:40]}) are not supported: "
                "write a file for each label"
            )
        return Pairs(kind="libsvm")
    return Delimited(encoding=encoding)


def _encoding(path: Path, content: bytes) -> Any:
    """Tell how a text is encoded; Excel does not write UTF-8 by default."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for encoding in () if b"\0" in content else ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    raise DataError(
        f"{path}: neither text nor a format that is read: write a table to CSV or Parquet, arrays "
        "by numpy.savez(file, X=X, y=y); let the name of a packed file end with .gz, .bz2, .xz or "
        ".zip"
    )


def _sheet(path: Path, asked: FileOptions) -> tuple[Any, list[str]]:
    """Choose the sheet of a spreadsheet."""
    import pandas as pd

    with readers.library_errors(path, "damaged, or no Excel file"):
        file = pd.ExcelFile(BytesIO(readers.file_bytes(path)), engine="calamine")
        names = list(map(str, file.sheet_names))
    sheet = 0 if asked.sheet is None else asked.sheet
    if sheet not in names:
        number = sheet if isinstance(sheet, int) else whole_number(sheet)
        if number is None or not 0 <= number < len(names):
            raise DataError(f"{path}: no sheet {sheet!r}; its sheets: {', '.join(names)}")
        sheet = names[number]
    others = ", ".join(name for name in names if name != sheet)
    notes = [f"the sheet is {sheet}; `sheet` names another: {others}"] if others else []
    return sheet, notes if asked.sheet is None else []


# Text in columns


def dialect(
    path: Path, content: bytes, format: Delimited, asked: FileOptions
) -> tuple[Delimited, list[str]]:
    """Guess the separator, quotes and header of text in columns, unless the user says them."""
    said, tried, fault = asked.read_as, [], ""
    separators: Any = (format.delimiter,) if "delimiter" in said else _SEPARATORS
    guess: dict[str, Any] = {"standard_missing": True}
    if b'"' not in content:
        guess["quote"] = None
    first = content.split(b"\n", 1)[0].decode(format.encoding, errors="ignore")
    if mark := re.fullmatch(r"""\ufeff?"?sep=(.)"?\s*""", first, re.IGNORECASE):  # Excel's
        separators, guess["skip"] = (mark[1],), (1, *format.skip)
    for separator in separators:
        format = format.model_copy(update={**guess, "delimiter": separator})
        try:
            rows = [row for _, row in islice(readers.split_rows(content, format), _ROWS)]
        except csv.Error as error:
            fault = fault or str(error)
            continue
        tried.append(rows)
        width = len(rows[-1]) if rows else 0
        lacks = width - len(rows[0]) if rows else 0
        has_row_names = (
            lacks == 1 < len(rows[0])
            and any(row[-1] for row in rows[1:])
            and not rows[0][0].startswith(("#", "%"))
        )
        if width > 1 and {*map(len, rows[1:])} <= {width} and (has_row_names or not lacks):
            break
    else:
        _refuse_rows(path, tried, fault)
    try:  # of which the rest may have a quote that does not end
        for _ in readers.split_rows(content, format) if format.quote else ():
            pass
    except csv.Error as error:
        _refuse_rows(path, [], str(error))
    notes, header = [], format.header
    if "header" not in said:
        header = _has_header(path, rows, {*readers.STANDARD_MISSING, *format.missing_texts})
        if not header:
            notes.append(f"the first line is data ({advice(header=True)} takes it as names)")
    if twice := [n for n in rows[0] if header and n and rows[0].count(n) > 1]:
        raise DataError(f"{path}: two columns are called {twice[0]!r}; rename one")
    points = format.points
    if isinstance(asked.points, int):
        names = [*[ROW_NAMES] * lacks, *rows[0]] if header else default_names(width)
        points = names[column_position(path, asked.points, names)]
    return format.model_copy(update={"header": header, "points": points}), notes


def _refuse_rows(path: Path, tried: list[list[list[str]]], fault: str) -> None:
    """Say why no separator will do."""
    rows = max(tried, key=lambda rows: len(rows[0]) if rows else 0, default=[])
    if fault and not any(len(row) > 1 for row in rows):
        raise DataError(
            f"{path}: a quote does not end with its entry ({fault}): double it within, or say "
            f"that quotes are text, {advice(quote=None)}"
        )
    odd = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), 0)
    where = f" (row {odd + 1} has {len(rows[odd])}, row 1 {len(rows[0])})" if odd else ""
    mark = next((m for row in rows for m in "#%" if row[0].startswith(m)), "")
    hint = f"; lines may begin with comments: {advice(comment=mark)}" if mark else ""
    raise DataError(
        f"{path}: no separator gives the same number of columns, at least 2, in all of the "
        f"first lines{where}; {advice(delimiter=';')} names one{hint}"
    )


def _has_header(path: Path, rows: list[list[str]], gaps: set[str]) -> bool:
    """Tell whether the first row names the columns; refuse what could be either."""
    head, body = rows[0], rows[1:]
    if not body or len(body[0]) > len(head):
        return True
    counted = list(map(str, range(len(head))))
    if len(rows) != len(head) and head in (counted, ["", *counted[:-1]]):
        return True  # what pandas writes for columns without names; no row of a square matrix
    columns = [[row[i] for row in body if row[i] not in gaps] for i in range(len(head))]
    texts = [i for i, name in enumerate(head) if name and not _LIKE_NUMBER.fullmatch(name)]
    numeric = [2 * sum(map(bool, map(_LIKE_NUMBER.fullmatch, c))) > len(c) for c in columns]
    names = any(numeric[i] and head[i] not in gaps for i in texts)
    again = not texts or any(head[i] in columns[i] for i in texts)
    if names == again and (again or len(texts) < len(list(filter(None, head)))):
        raise DataError(
            f"{path}: whether the first line, {', '.join(head)[:60]}, is data or names the "
            f"columns is not clear: say it, {advice(header=True)} or false"
        )
    return not again


# Roles of columns


def counted_labels(labels: Any) -> dict[str, int] | None:
    """Count labels, spelt as on a card, in their order; None if there are too many."""
    labels = labels[labels == labels]  # NaN is no label
    values, counts = np.unique(canonical_labels(labels), return_counts=True)
    if len(values) > _MANY:
        return None
    times = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return {label: times[label] for label in default_order(times)}


def advice(**how: Any) -> str:
    """Write what to add to `read_as`, in a config and on the command line."""
    keys = {key: json.dumps(value, ensure_ascii=False) for key, value in how.items()}
    settings = (quote(f"read_as.{key}={value.strip(chr(34))}") for key, value in keys.items())
    in_config = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return f"`read_as: {{{in_config}}}` (`{' '.join(f'-o {text}' for text in settings)}`)"


def frame_roles(
    path: Path, frame: "pd.DataFrame", options: Any, asked: FileOptions, notes: list[str]
) -> Guess:
    """Choose the role of each column of a frame from its entries.

    `options` are those by which the frame was read, `asked` what the user said.
    """
    import pandas as pd

    names = unique_names(path, frame)
    drop = {column_position(path, column, names) for column in asked.drop}
    left_out: dict[str, str] = {}
    if ROW_NAMES in names and asked.target != ROW_NAMES and names.index(ROW_NAMES) not in drop:
        drop.add(names.index(ROW_NAMES))
        left_out[ROW_NAMES] = "the first column has no name"
    points = None if asked.points is None else column_position(path, asked.points, names)
    if asked.target is not None:
        target = column_position(path, asked.target, names)
    else:
        free = [i for i in range(len(names)) if i not in drop | {points}]
        named = (i for i in free if names[i].lower() in TARGETS)
        target = next(named, free[-1] if free else -1)
        notes.append(f"the target is column {names[target]}")
        square = frame.iloc[:, free]
        if square.shape == (len(frame), len(frame)) and all(
            is_number_column(square.iloc[:, i]) for i in range(len(free))
        ):
            _refuse_matrix(path, square.to_numpy(np.float64))
    rest = [i for i in range(len(names)) if i not in drop | {target}]
    if points is None and options.kind == "jsonl" and len(rest) == 1:
        points = None if is_number_column(frame.iloc[:, rest[0]]) else rest[0]
    if target in drop | {points} or points in drop:
        twice = names[target if target in drop | {points} else points]
        raise DataError(f"{path}: column {twice} is named twice: as target, points or to drop")
    if points is not None:
        drop, rest = set(range(len(names))) - {points, target}, []
    place_of = partial(readers.row_place, path, frame, options)
    looks = {i: _look_at(path, frame.iloc[:, i], options, place_of) for i in (*rest, target)}
    nominal: dict[str, list[str]] = {}
    for i in rest:
        reason, counts = looks[i]
        if counts is not None and not reason:
            if len(counts) > min(_MANY, max(20, len(frame) // 2)):
                reason = f"text with {len(counts)} values"
            else:
                nominal[names[i]] = list(counts)
        if reason:
            drop.add(i)
            left_out[names[i]] = reason
    n_features = len(names) - 1 - len(drop)
    if n_features < 1:
        why = "; ".join(f"{name} is left out: {reason}" for name, reason in left_out.items())
        kinds = ("text", "values of type list", "values of type dict")
        texts = next((n for n, reason in left_out.items() if reason.startswith(kinds)), "")
        hint = f"; `points: {texts}` takes what it holds as points to compare" if texts else ""
        raise DataError(f"{path}: no column is left as a feature ({why}){hint}")
    column, (reason, counts) = frame.iloc[:, target], looks[target]
    if reason:
        raise DataError(
            f"{path}: column {names[target]} cannot be the target: {reason}; name another by "
            "`target`, or make numbers or classes of it"
        )
    if counts is None:
        few = column.nunique() <= _MANY
        labels = counted_labels(column.dropna().to_numpy()) if few else None
    else:
        labels = {text: n for text, n in counts.items() if n} if len(counts) <= _MANY else None
    if counts is None and column.dtype.kind == "f" and labels:
        largest = column.abs().replace(np.inf, 0).max()
        if largest >= _EXACT:
            raise DataError(
                f"{path}: column {names[target]} holds whole numbers above 2 ** 53, which are "
                f"rounded where others are missing: {advice(text=[names[target]])} takes them as "
                "labels"
            )
    content = options.model_dump(mode="json", exclude_defaults=True) | {
        "kind": options.kind,
        "target": names[target],
        "drop": [names[i] for i in sorted(drop)],
        "nominal": nominal,
    }
    if points is not None:
        content["points"] = names[points]
    # ARFF, Stata and SPSS list values in their order, Parquet says which have an order
    says_order = options.kind in ("parquet", "feather")
    has_order = isinstance(column.dtype, pd.CategoricalDtype)
    has_order = has_order and (not says_order or bool(column.cat.ordered))
    task = "ordinal" if says_order and has_order and len(labels or ()) > 2 else None
    return Guess(
        content, (frame,), n_features, labels, counts is None, notes, left_out, has_order, task
    )


def _look_at(
    path: Path, column: "pd.Series", options: Any, place_of: Callable[[int], str]
) -> tuple[str, dict[str, int] | None]:
    """Return why a column is no feature, or "", and the counts of its values if not numbers."""
    from pandas.api import types

    held = column.dropna()
    if not len(held):
        return "it has no entries", None
    if types.is_datetime64_any_dtype(column):
        return f"dates, such as {column.min()}", None
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        return "", None
    if held.dtype == object:
        plain = (str, int, float, bool, np.generic)
        if other := [type(v).__name__ for v in held if not isinstance(v, plain)]:
            return f"values of type {other[0]}", {}
    counts = held.value_counts(sort=False)
    counts = {str(value): int(n) for value, n in counts.items()}
    if isinstance(column.dtype, types.CategoricalDtype):
        return "", {str(value): counts[str(value)] for value in column.cat.categories}
    if all(_DATE.fullmatch(text) for text in counts):
        texts = held.astype(str)
        rises = len(counts) > 2 and texts.is_monotonic_increasing
        order = ", in ascending order: random splits mix past and future" if rises else ""
        return f"dates, such as {texts.iloc[0]}{order}", counts
    if column.name not in options.text:
        _refuse_odd_numbers(f"{path}: column {column.name}", column, counts, options, place_of)
    order = default_order(counts) if len(counts) <= _MANY else counts
    return "", {text: counts[text] for text in order}


def _refuse_odd_numbers(
    where: str,
    column: "pd.Series",
    counts: dict[str, int],
    options: Any,
    place_of: Callable[[int], str],
) -> None:
    """Refuse a column of which most entries look like numbers, and say what to write."""
    odd = {text: n for text, n in counts.items() if not _LIKE_NUMBER.fullmatch(text)}
    n, n_odd = sum(counts.values()), sum(odd.values())
    if 2 * n_odd >= n:
        return
    as_text = f"{advice(text=[column.name])} takes the column as text"
    if odd:
        row = int(column.astype(str).isin(odd).to_numpy().argmax())
        first = str(column.iloc[row])
        raise DataError(
            f"{where}: {n - n_odd} of {n} entries are numbers; the first other is {first!r}, "
            f"{place_of(row)}: correct it; or name what is missing, {advice(missing=[first])}; "
            f"{as_text}; or drop it"
        )
    if marked := [text for text in counts if not are_numbers([text])]:
        ways = ["correct them"]
        if hasattr(options, "decimal"):
            mark = re.sub(r"[\d+-]", "", marked[0])[0]
            ways += [advice(decimal=",")] * ("," in marked[0] and options.decimal == ".")
            ways += [advice(thousands=" " if mark.isspace() else mark)]
        raise DataError(
            f"{where}: how numbers such as {marked[0]!r} are written is not clear: "
            f"{' or '.join(ways)}; {as_text}"
        )


def _refuse_matrix(path: Path, X: np.ndarray) -> None:
    """Refuse a matrix of similarities or distances whose last column would be the target."""
    if is_symmetric(X):
        n = len(X)
        raise DataError(
            f"{path}: a {n} x {n} symmetric matrix and no column of labels: add one, or write "
            "both to an NPZ file, by numpy.savez(file, X=X, y=y); or name the target if the "
            "columns are features"
        )
