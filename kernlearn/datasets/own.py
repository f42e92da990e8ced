"""Files without a card: their format, and the roles of their columns."""

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import readers
from kernlearn.datasets.card import (
    Arrays,
    Columns,
    Delimited,
    Excel,
    FileOptions,
    Libsvm,
    TableOptions,
)
from kernlearn.datasets.readers import STANDARD_MISSING
from kernlearn.datasets.tables import (
    ROW_NAMES,
    canonical_label,
    canonical_labels,
    column_position,
    compares_rows,
    default_names,
    default_order,
    is_number_column,
    number_pattern,
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
_HEAD = 200_000  # characters from which the separator is guessed
_LINES = 100
# Decimal points and separators of thousands.
_LOCALES = ((",", None), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"))
_ANY_NUMBER = re.compile("|".join(number_pattern(*marks) for marks in _LOCALES), re.ASCII)
_SEPARATORS = ("\t", ";", "|", ",", None)
_READ_AS = (
    *("delimiter", "header", "decimal", "thousands", "comment", "quote", "skip", "encoding"),
    *("missing", "text"),
)
_MATRICES = ("X", "A", "data", "features", "fea", "S", "K", "D")
_LABELS = ("y", "Y", "C", "label", "labels", "target", "class", "classes", "gnd")
_SEPARATOR_LINE = re.compile(r"""\s*"?sep=(.)"?\s*""", re.IGNORECASE)  # as Excel writes and reads
_PAIRS = re.compile(r"\s*[+-]?[\d.,eE+-]+(\s+qid:\d+)?(\s+\d+:[+-]?[\d.eE+-]+)*\s*(#.*)?")
_TIME = r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d\d:?\d\d)?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)|"
    r"\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{4}-\d\d"
)
_DATE = re.compile(rf"({_DAY})([ T]{_TIME})?|{_TIME}")
# Formats by their first bytes; what is not read, with what to do instead.
_MAGIC: dict[bytes, Any] = {
    b"PAR1": Columns(kind="parquet"),
    b"ARROW1": Columns(kind="feather"),
    b"FEA1": Columns(kind="feather"),
    b"<stata_dta>": Columns(kind="stata"),
    b"$FL2": Columns(kind="spss"),
    b"$FL3": Columns(kind="spss"),
    b"\x89HDF": Arrays(kind="matlab"),
    b"MATLAB": Arrays(kind="matlab"),
    b"\xd0\xcf\x11\xe0": Excel(),
    b"\x93NUMPY": "an NPY file holds one array and no labels: write both to an NPZ file, by "
    "numpy.savez(file, X=X, y=y)",
    b"\x80": "a pickle could run code and is not read: write the data to CSV or Parquet",
    b"\x1f\x8b": "the file is packed by gzip: let its name end with .gz (of R's .rds and .RData, "
    "write.csv makes a table)",
    b"BZh": "the file is packed by bzip2: let its name end with .bz2",
    b"\xfd7zXZ": "the file is packed by xz: let its name end with .xz",
    b"%PDF": "a PDF holds no data: save the table as CSV",
    b"SQLite": "a database is not read: save the table as CSV",
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
        if not counts or len(counts) - len(other) > FEW or (other and 10 * n_other > n):
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
    format, head = _format(path, content, asked.read_as.get("encoding"))
    of_columns = isinstance(format, TableOptions)
    known = [key for key in _READ_AS if of_columns and key in type(format).model_fields]
    if unknown := [key for key in asked.read_as if key not in known]:
        expected = f"expected one of {', '.join(known)}" if known else "it is for text in columns"
        raise DataError(f"{path}: read_as: no {unknown[0]!r} here; {expected}")
    if asked.points is not None and not of_columns:
        raise DataError(f"{path}: points: is for columns of tables, JSON and series")
    if asked.sheet is not None and not isinstance(format, Excel):
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    if isinstance(format, Arrays):
        return _arrays(path, format, asked)
    if isinstance(format, Libsvm):
        guess = _pairs(path, content, asked)
        return guess if len(paths) == 1 else guess._replace(contents=())
    if len(paths) > 1:
        raise DataError(f"{path.parent}: a folder; name a file in it")
    how: dict[str, Any] = dict(asked.read_as)
    notes: list[str] = []
    if isinstance(format, Excel):
        how["sheet"], notes = _sheet(path, asked)
    elif isinstance(format, Delimited):
        how, notes = dialect(path, content, head, format.encoding, asked)
    if isinstance(asked.points, str):
        how.setdefault("points", asked.points)
    try:
        format = type(format).model_validate({"kind": format.kind, **how})
    except ValueError as error:
        text = " ".join(str(error).split("For further")[0].split())
        raise DataError(f"{path}: read_as: {text}") from None
    try:
        return frame_roles(path, readers.content_of(path, format), format, asked, notes)
    except DataError as error:
        if not (isinstance(format, Excel) and notes):
            raise
        raise DataError(f"{error}; {notes[0]}") from None  # it may be the wrong sheet


def _pairs(path: Path, content: bytes, asked: FileOptions) -> Guess:
    """Take LIBSVM's pairs, with queries for ranking."""
    matrix = readers.load_pairs(path, content)
    zero_based = bool(matrix.X.nnz) and int(matrix.X.indices.min()) == 0
    if asked.task == "ranking" and matrix.query is None:
        raise DataError(f"{path}: ranking needs a query in each row, qid:number")
    if not zero_based or matrix.query is not None:
        matrix = matrix._replace(X=matrix.X[:, 1:])
    format: dict[str, Any] = {"kind": "libsvm", "zero_based": zero_based}
    if matrix.query is not None:
        format = {"kind": "letor"}
    task = None if matrix.query is None else "ranking"
    labels = counted_labels(matrix.labels)
    return Guess(format, (matrix,), matrix.X.shape[1], labels, True, [], task=task)


def _arrays(path: Path, format: Arrays, asked: FileOptions) -> Guess:
    """Choose the matrix and the labels among the arrays of a file."""
    arrays = readers.load_arrays(path)
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
    last = {name: name.rpartition(".")[2] for name in arrays}
    matrices = [
        name
        for name, array in arrays.items()
        if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "fiub"
    ]
    preferred = [name for known in _MATRICES for name in matrices if last[name] == known]
    if not preferred and len(matrices) != 1:
        raise DataError(
            f"{path}: which array is the matrix is unclear; call it X. It holds {held}"
        )
    matrix = (preferred or matrices)[0]
    n, n_features = arrays[matrix].shape
    vectors = [k for k, a in arrays.items() if k != matrix and readers.is_vector(a.shape, n)]
    preferred = [name for known in _LABELS for name in vectors if last[name] == known]
    target = next(iter(preferred), vectors[0] if len(vectors) == 1 else None)
    target = target if asked.target is None else str(asked.target)
    if target not in vectors:
        turned = [k for k, a in arrays.items() if readers.is_vector(a.shape, n_features)]
        hint = f"; {matrix} has one column for each of {turned[0]}: transpose it" if turned else ""
        raise DataError(
            f"{path}: no array {'' if target is None else f'{target} '}holds one label per row of "
            f"{matrix}{hint}. It holds {held}"
        )
    format = format.model_copy(update={"matrix": matrix, "target": target})
    content = readers.chosen_arrays(path, arrays, format)
    notes = [f"the features are {matrix}, the target is {target}"] if asked.target is None else []
    labels, is_numeric = counted_labels(content.labels), content.labels.dtype.kind in "fiub"
    return Guess(format.model_dump(), (content,), n_features, labels, is_numeric, notes)


# Formats


_SERIES = re.compile(r"@(problemname|timestamps|univariate|missing|classlabel|equallength|data)")


def _format(path: Path, content: bytes, encoding: Any) -> tuple[Any, str]:
    """Tell the format by the content, not by the name; return it with the head of a text."""
    if not content or content.isspace():
        raise DataError(f"{path}: the file is empty")
    known = next((form for magic, form in _MAGIC.items() if content.startswith(magic)), None)
    if isinstance(known, str):
        raise DataError(f"{path}: {known}")
    suffixes = path.name.lower().split(".")[1:]
    if known is None and content.startswith(b"PK"):
        known = _zipped(path, content)
    elif known is None and {"dta", "mat"} & {*suffixes}:  # of old versions
        known = Columns(kind="stata") if "dta" in suffixes else Arrays(kind="matlab")
    if known is not None:
        return known, ""
    text, encoding = _decoded(path, content, encoding)
    bare = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "%#"]
    first = bare[0].strip().lower() if bare else ""
    if first.startswith(("@relation", "@attribute")):
        return Columns(kind="arff"), text
    if first.startswith("@") and ("ts" in suffixes or _SERIES.match(first)):
        return Columns(kind="ts"), text
    if re.match(r"<(!doctype|html|head|body|table|\?xml|\w+ xmlns)", first):
        raise DataError(f"{path}: a page of HTML or XML, no table of text: save the table as CSV")
    if first.startswith("{") and _is_object(bare[0]):
        return Columns(kind="jsonl"), text
    if first.startswith(("{", "[")) and content.rstrip().endswith((b"}", b"]")):
        raise DataError(f"{path}: JSON in one piece is not read: write a line for each object")
    bare = bare[:_LINES]
    if any(re.search(r"\s\d+:", row) for row in bare) and all(map(_PAIRS.fullmatch, bare)):
        if several := next((row for row in bare if "," in row.split()[0]), None):
            raise DataError(
                f"{path}: several labels in a row ({several.split()[0][:40]}) are not supported: "
                "write a file for each label"
            )
        return Libsvm(), text
    return Delimited(encoding=encoding), text


def _zipped(path: Path, content: bytes) -> Any:
    """Tell which format a zip archive is."""
    with readers.library_errors(path, "damaged"), zipfile.ZipFile(BytesIO(content)) as packed:
        names = packed.namelist()
    if any(name.startswith("xl/") or name == "content.xml" for name in names):
        return Excel()
    if names and all(name.endswith(".npy") for name in names):
        return Arrays(kind="npz")
    raise DataError(
        f"{path}: an archive of {', '.join(names[:4])}: let its name end with .zip, or unpack it"
    )


def _decoded(path: Path, content: bytes, encoding: Any) -> tuple[str, Any]:
    """Return the head of a text, and how it is encoded: Excel does not write UTF-8 by default."""
    if encoding is None and content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    if b"\0" in content and encoding != "utf-16":
        raise DataError(f"{path}: neither text nor a format that is known")
    for name in [encoding] if encoding else ["utf-8", "cp1252"]:
        with suppress(UnicodeDecodeError):
            text = content.decode("utf-8-sig" if name == "utf-8" else name)
            whole = len(text) <= _HEAD
            return text if whole else text[: text.rfind("\n", 0, _HEAD) + 1 or _HEAD], name
    raise DataError(f"{path}: cannot be read as {encoding or 'text'}; `encoding` names another")


def _is_object(line: str) -> bool:
    with suppress(ValueError):
        return isinstance(json.loads(line), dict)
    return False


def _sheet(path: Path, asked: FileOptions) -> tuple[Any, list[str]]:
    """Choose the sheet of a spreadsheet."""
    names = readers.sheet_names(path)
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
    path: Path, content: bytes, head: str, encoding: Any, asked: FileOptions
) -> tuple[dict[str, Any], list[str]]:
    """Guess the separator, quotes and header of text in columns, unless the user says them."""
    how, notes = dict(asked.read_as), []
    skip = set(how.get("skip") or ())
    numbered = [(i, line) for i, line in enumerate(head.splitlines(keepends=True), 1)]
    numbered = [(i, line) for i, line in numbered if line.strip() and i not in skip]
    separators: Sequence[str | None] = _SEPARATORS
    if numbered and (mark := _SEPARATOR_LINE.fullmatch(numbered[0][1])):
        skip.add(numbered.pop(0)[0])
        separators = (mark[1],)
    if "delimiter" in how:
        separators = (None if how["delimiter"] == "blanks" else how["delimiter"],)
    quote = (how["quote"] or None) if "quote" in how else '"' if b'"' in content else None
    lines = [line for _, line in numbered]
    if comment := how.get("comment"):
        lines = [part for line in lines if (part := line.split(comment)[0]).strip()]
    for separator in separators:
        rows = _split(lines, separator, quote)
        # the names of rows have no name, or lines end with a separator
        may_lack = len(rows) > 1 and not lines[0].startswith(("#", "%"))
        more = len(rows[1]) - len(rows[0]) if may_lack else 0
        same = {len(rows[0]) + more} if rows else set()
        if rows and {len(row) for row in rows[1:]} <= same and max(same) > 1 and 0 <= more < 2:
            break
    else:
        _refuse_rows(path, [_split(lines, separator, quote) for separator in separators], lines)
    if quote == '"' and "quote" not in how:
        _refuse_lone_quotes(path, content, separator)
    missing = how.get("missing") or ()
    missing = (missing,) if isinstance(missing, str | int) else tuple(missing)
    if "header" not in how:
        how["header"] = _has_header(path, rows, {*STANDARD_MISSING, *map(str, missing)})
        if not how["header"]:
            notes.append(f"the first line is data ({advice(header=True)} takes it as names)")
    columns: tuple[str, ...] | None = None if how["header"] else default_names(len(rows[-1]))
    if twice := [n for n in rows[0] if how["header"] and n and rows[0].count(n) > 1]:
        raise DataError(f"{path}: two columns are called {twice[0]!r}; rename one")
    if how["header"] and more:
        ends = not any(row[-1] for row in rows[1:])
        columns = (*rows[0], "nothing") if ends else (ROW_NAMES, *rows[0])
        skip.add(numbered[0][0])
    space = re.escape(separator or "") + ' +"'
    names = columns or rows[0]
    if isinstance(asked.points, int):
        how["points"] = names[column_position(path, asked.points, names)]
    return how | {
        "delimiter": separator,
        "header": columns is None,
        "columns": columns,
        "quote": quote,
        "encoding": encoding,
        "skip": tuple(sorted(skip)),
        "comment": comment or "",
        "missing": missing or None,
        "skip_blanks": separator is None or bool(re.search(space, head)),
        "standard_missing": True,
    }, notes


def _split(lines: list[str], separator: str | None, quote: str | None) -> list[list[str]]:
    """Split the first rows; quoted entries may have line breaks."""
    if separator is None:
        lines = [re.sub(r"[ \t]+", " ", line.strip()) + "\n" for line in lines]
    reader = csv.reader(
        lines,
        delimiter=separator or " ",
        quotechar=quote or '"',
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    rows: list[list[str]] = []
    with suppress(csv.Error):
        for row in reader:
            rows.append([entry.strip() for entry in row])
            if len(rows) > _LINES:
                break
    # the last may be cut short
    return rows[:-1] if len(rows) > 2 and reader.line_num >= len(lines) > _LINES else rows


def _refuse_rows(path: Path, splits: list[list[list[str]]], lines: list[str]) -> None:
    """Say why no separator will do."""
    rows = max(splits, key=lambda rows: len(rows[0]) if rows else 0)
    odd = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), 0)
    where = f" (row {odd + 1} has {len(rows[odd])}, row 1 {len(rows[0])})" if odd else ""
    mark = next((m for m in "#%" if any(line.startswith(m) for line in lines)), "")
    hint = f"; lines may begin with comments: {advice(comment=mark)}" if mark else ""
    raise DataError(
        f"{path}: no separator gives the same number of columns, at least 2, in all of the "
        f"first lines{where}; {advice(delimiter=';')} names one{hint}"
    )


def _refuse_lone_quotes(path: Path, content: bytes, separator: str | None) -> None:
    """Refuse an entry that begins with a quote and ends without: it would hold further lines."""
    # counts tell that all is well in a fraction of the time
    plain = content.replace(b'""', b"")
    marks = [separator.encode()] if separator else [b" ", b"\t"]
    begins = sum(plain.count(mark + b'"') for mark in [*marks, b"\n"]) + plain.startswith(b'"')
    ends = sum(plain.count(b'"' + mark) for mark in [*marks, b"\n", b"\r"]) + plain.endswith(b'"')
    if begins == ends and begins + ends == plain.count(b'"'):
        return
    mark = re.escape(separator) if separator else r"[ \t]"
    begin = rf'(?m)(?:^|(?<={mark})) *"'
    whole = rf'{begin}[^"]*(?:""[^"]*)*"(?= *(?:{mark}|\r?$))'
    rest = re.sub(whole.encode(), b"", content)
    if lone := re.search(begin.encode() + b".*", rest):
        text = lone[0].decode(errors="replace").strip()
        raise DataError(
            f"{path}: the quote of {text!r:.40} does not end with the entry: double it within, or "
            f"say that quotes are text, {advice(quote=None)}"
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
    texts = [i for i, name in enumerate(head) if name and not _ANY_NUMBER.fullmatch(name)]
    numeric = [2 * sum(map(bool, map(_ANY_NUMBER.fullmatch, c))) > len(c) for c in columns]
    names = any(
        (numeric[i] and head[i] not in gaps) or head[i].lower() in TARGETS - {*columns[i]}
        for i in texts
    )
    again = not texts or any(head[i] in columns[i] for i in texts)
    if names == again and (again or len(texts) < len([name for name in head if name])):
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


class _Column:
    """What the entries of a column look like."""

    def __init__(self, column: "pd.Series") -> None:
        import pandas as pd

        self.column, self.name = column, str(column.name)
        self.held = column.dropna()
        self.reason = ""  # why it is no feature
        # true and false are two values, also where some are missing
        self.is_numeric = is_number_column(column) and not pd.api.types.is_bool_dtype(column)
        self.categories: tuple[str, ...] | None = None
        self.counts: dict[str, int] = {}
        if isinstance(column.dtype, pd.CategoricalDtype):
            self.categories = tuple(map(canonical_label, column.cat.categories))
        if not len(self.held):
            self.reason = "it has no entries"
        elif pd.api.types.is_datetime64_any_dtype(column):
            self.reason = f"dates, such as {column.min()}"
        elif column.dtype.kind in "iu" and np.abs(self.held.astype(float)).max() >= _EXACT:
            self.reason = "whole numbers above 2 ** 53, which floating-point numbers round"
        elif not self.is_numeric:
            self._count_texts()

    def _count_texts(self) -> None:
        plain = (str, int, float, bool, np.generic)
        kinds = {type(value) for value in self.held} if self.held.dtype == object else set()
        if other := [kind.__name__ for kind in kinds if not issubclass(kind, plain)]:
            self.reason = f"values of type {other[0]}"
            return
        counts = self.held.astype(str).value_counts(sort=False)
        self.counts = {str(text): int(n) for text, n in counts.items() if n}
        if all(_DATE.fullmatch(text.strip()) for text in self.counts):
            texts = self.held.astype(str).to_numpy()
            rises = len(self.counts) > 2 and bool((texts[:-1] <= texts[1:]).all())
            order = ", in ascending order: random splits mix past and future" if rises else ""
            self.reason = f"dates, such as {texts[0]}{order}"

    def labels(self) -> dict[str, int] | None:
        """Return the values in order with their counts; None if there are too many."""
        if self.is_numeric:
            few = self.held.nunique() <= _MANY
            return counted_labels(self.held.to_numpy()) if few else None
        if len(self.counts) > _MANY:
            return None
        counts: dict[str, int] = {}
        for text, n in self.counts.items():
            counts[canonical_label(text)] = counts.get(canonical_label(text), 0) + n
        order = self.categories if self.categories is not None else default_order(counts)
        return {value: counts[value] for value in order if value in counts}

    def refuse_odd_numbers(self, path: Any, options: Any, place_of: Callable[[int], str]) -> None:
        """Refuse a column of which most entries are numbers, and say where the first other is."""
        if not self.counts or self.reason or self.name in options.text:
            return
        if self.categories is not None:
            return
        marks = getattr(options, "decimal", "."), getattr(options, "thousands", None)
        own = re.compile(number_pattern(*marks), re.ASCII)
        odd = {text: n for text, n in self.counts.items() if not own.fullmatch(text)}
        n, n_odd = sum(self.counts.values()), sum(odd.values())
        as_text = f"{advice(text=[self.name])} takes the column as text"
        where = f"{path}: column {self.name}"
        fitting = []
        for decimal, thousands in _LOCALES:
            if marks[0] not in (".", decimal):
                continue
            other = re.compile(number_pattern(decimal, thousands), re.ASCII)
            alike = sum(k for text, k in odd.items() if other.fullmatch(text))
            whole = sum(k for text, k in self.counts.items() if other.fullmatch(text))
            if odd and 10 * alike >= 9 * n_odd and 10 * whole >= 9 * n:
                how = {"decimal": decimal} if decimal != "." else {}
                fitting.append(advice(**how, **({"thousands": thousands} if thousands else {})))
        if fitting:
            remedy = " or ".join(fitting[:2])
            if not hasattr(options, "decimal"):
                remedy = "make them numbers in the file"
            raise DataError(
                f"{where}: entries such as {next(iter(odd))!r} are numbers, but how they are "
                f"written is not clear: {remedy}; {as_text}"
            )
        # values such as 1, 2, 3, more are no numbers with a few odd entries
        different = len(self.counts) - len(odd)
        codes = 10 * n_odd > n and different <= FEW and n - n_odd >= 5 * different
        if not odd or 2 * n_odd >= n or codes:
            return
        row = int(self.column.astype(str).isin([*odd]).to_numpy().argmax())
        first = str(self.column.iloc[row])
        hint = f"correct it; or name what is missing, {advice(missing=[first])}"
        raise DataError(
            f"{where}: {n - n_odd} of {n} entries are numbers; the first other is {first!r} in "
            f"{place_of(row).removeprefix(f'{path}, ')}: {hint}; {as_text}; or drop it"
        )


def frame_roles(
    path: Path, frame: "pd.DataFrame", options: Any, asked: FileOptions, notes: list[str]
) -> Guess:
    """Choose the role of each column of a frame from its entries.

    `options` are those by which the frame was read, `asked` what the user said.
    """
    names = unique_names(path, frame)
    place_of = partial(readers.row_place, path, frame, options)
    drop = {column_position(path, column, names) for column in asked.drop}
    left_out: dict[str, str] = {}
    if ROW_NAMES in names and asked.target != ROW_NAMES and names.index(ROW_NAMES) not in drop:
        drop.add(names.index(ROW_NAMES))
        left_out[ROW_NAMES] = "the first column has no name"
    points = None if asked.points is None else column_position(path, asked.points, names)
    target = _target_position(path, asked, names, drop | {points})
    if asked.target is None:
        notes.append(f"the target is column {names[target]}")
    if points is None and options.kind == "jsonl":
        others = [i for i in range(len(names)) if i not in drop | {target}]
        if len(others) == 1 and not is_number_column(frame.iloc[:, others[0]]):
            points = others[0]
    for role, taken in (("the target", {target}), ("dropped", drop)):
        if points in taken or (role == "dropped" and target in drop):
            name = names[target if points is None else points]
            raise DataError(f"{path}: column {name} cannot be {role} as well")
    if points is not None:
        drop = set(range(len(names))) - {points, target}
    chosen = _Column(frame.iloc[:, target])
    rest = [i for i in range(len(names)) if i not in drop | {target, points}]
    columns = {i: _Column(frame.iloc[:, i]) for i in rest}
    if asked.target is None:
        _refuse_matrix(path, chosen, list(columns.values()), len(frame), asked)
    for column in (chosen, *columns.values()):
        column.refuse_odd_numbers(path, options, place_of)
    if chosen.reason and not chosen.reason.startswith("whole"):
        raise DataError(
            f"{path}: column {chosen.name} cannot be the target: {chosen.reason}; name another by "
            "`target`, or make numbers or classes of it"
        )
    nominal: dict[str, list[str]] = {}
    for i, column in columns.items():
        if not column.reason and not column.is_numeric:
            values = column.labels()
            if values is None or len(values) > max(20, len(frame) // 2):
                column.reason = f"text with {len(column.counts)} values"
            elif column.categories is not None:
                nominal[column.name] = list(map(str, column.column.cat.categories))
            else:
                nominal[column.name] = sorted({text.strip() for text in column.counts})
        if column.reason:
            drop.add(i)
            left_out[column.name] = column.reason
    n_features = len(names) - 1 - len(drop)
    if n_features < 1:
        why = "; ".join(f"{name} is left out: {reason}" for name, reason in left_out.items())
        kinds = ("text", "values of type list", "values of type dict")
        texts = next((n for n, reason in left_out.items() if reason.startswith(kinds)), "")
        hint = f"; `points: {texts}` takes what it holds as points to compare" if texts else ""
        raise DataError(f"{path}: no column is left as a feature ({why}){hint}")
    labels = chosen.labels()
    if chosen.is_numeric and chosen.column.dtype.kind == "f" and labels and _is_rounded(labels):
        raise DataError(
            f"{path}: column {chosen.name} holds whole numbers above 2 ** 53, which are rounded "
            f"where others are missing: {advice(text=[chosen.name])} takes them as labels"
        )
    spellings = {text.strip() for text in chosen.counts}
    if labels and len(spellings) > len(labels):
        alike = [text for text in sorted(spellings) if canonical_label(text) != text]
        notes.append(
            f"{len(spellings)} spellings of labels, such as {alike[0]}, became {len(labels)}"
        )
    ordered = chosen.categories is not None and bool(chosen.column.cat.ordered)
    content = options.model_dump(mode="json", exclude_defaults=True) | {
        "kind": options.kind,
        "target": names[target],
        "drop": [names[i] for i in sorted(drop)],
        "nominal": nominal,
    }
    if not getattr(options, "header", True):
        content["columns"] = names
    if points is not None:
        content["points"] = names[points]
    # ARFF, Stata and SPSS list the values of all nominal columns, Parquet says which have an order
    says_order = options.kind in ("parquet", "feather")
    return Guess(
        content,
        (frame,),
        n_features,
        labels,
        chosen.is_numeric,
        notes,
        left_out,
        ordered if says_order else chosen.categories is not None,
        "ordinal" if says_order and ordered and len(labels or ()) > 2 else None,
    )


def _is_rounded(labels: Iterable[str]) -> bool:
    return any(_EXACT <= abs(float(label)) < float("inf") for label in labels)


def _target_position(path: Any, asked: FileOptions, names: Sequence[str], taken: set[Any]) -> int:
    """Return the position of the target: as asked, by its name, or the last."""
    if asked.target is not None:
        return column_position(path, asked.target, names)
    free = [i for i in range(len(names)) if i not in taken]
    named = (i for i in free if names[i].lower() in TARGETS)
    return next(named, free[-1] if free else len(names) - 1)


def _refuse_matrix(
    path: Any, target: _Column, columns: list[_Column], n_rows: int, asked: FileOptions
) -> None:
    """Refuse a matrix of similarities or distances whose last column would be the target."""
    every = (*columns, target)
    numbers = [c for c in every if c.is_numeric and len(c.held) == n_rows]
    if not target.is_numeric or len(numbers) != n_rows:
        return
    if form := compares_rows(np.array([c.column.to_numpy(np.float64) for c in numbers]).T):
        raise DataError(
            f"{path}: a {n_rows} x {n_rows} matrix, {form}, and no column of labels: add one, or "
            "write both to an NPZ file, by numpy.savez(file, X=X, y=y); or name the target if the "
            "columns are features"
        )
