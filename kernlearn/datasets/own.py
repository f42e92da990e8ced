"""Files of users: how they read, what their columns are, and a card that says so."""

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import readers
from kernlearn.datasets.card import (
    Arff,
    Card,
    Column,
    Delimited,
    Excel,
    Form,
    Labelled,
    Parquet,
    make_card,
)
from kernlearn.datasets.files import (
    PACKED,
    Found,
    container,
    is_archive,
    members,
    naming_damage,
    opened,
)
from kernlearn.datasets.readers import ROW_NAMES
from kernlearn.datasets.tables import (
    are_numbers,
    canonical_label,
    canonical_labels,
    column_position,
    compares_rows,
    default_names,
    default_order,
    is_number_column,
)
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns that are taken to be the target.
TARGETS = {"target", "class", "label", "y", "outcome"}
_TASKS = ("classification", "regression", "ordinal", "ranking", "similarity")
_FEW = 20  # up to this many distinct whole numbers are taken for classes
_MANY = 200  # with more distinct values, text is no nominal column and numbers are no classes
_SHOWN = 5
_HEAD = 200_000  # characters from which the separator is guessed
_LINES = 100
_SEPARATORS = ("\t", ";", ",", "|", None)
_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_JSON = (".jsonl", ".ndjson")
_READ_AS = (
    *("delimiter", "header", "decimal", "thousands", "comment", "quote", "skip", "encoding"),
    *("missing", "text"),
)
_MATRICES = ("X", "A", "data", "features", "fea", "S", "K", "D")
_LABELS = ("y", "Y", "C", "label", "labels", "target", "class", "classes", "gnd")
_SEPARATOR_LINE = re.compile(r"""\s*"?sep=(.)"?\s*""", re.IGNORECASE)  # as Excel writes and reads
_PAIRS = re.compile(r"\s*[+-]?[\d.,eE+-]+(\s+qid:\d+)?(\s+\d+:[+-]?[\d.eE+-]+)*\s*(#.*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?|[+-]?\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' ])\d{3}(\1\d{3})*((?!\1)[.,]\d+)?")
_TIME = r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d\d:?\d\d)?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)|"
    r"\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{4}-\d\d"
)
_DATE = re.compile(rf"({_DAY})([ T]{_TIME})?|{_TIME}")


# The cards that were made in this process.
_cards: dict[Any, Card] = {}


class FileOptions(NamedTuple):
    """How a file without a card is to be read; see :func:`~kernlearn.datasets.load`."""

    target: Column | None = None
    task: str | None = None
    grades: Sequence[str] | None = None
    drop: Sequence[Column] = ()
    sheet: int | str | None = None
    matrix: str | None = None
    points: Column | None = None
    read_as: Mapping[str, Any] = {}


# Numbers that are not whole are no classes if there are more of them.
_MANY_CLASSES = 20


@dataclass
class _Guess:
    """How a file reads: the format as on a card, and counts of the target's values if few."""

    format: dict[str, Any]
    n_features: int
    labels: dict[str, int] | None
    numeric: bool  # whether the target is a number
    remarks: list[str]
    ordered: bool = False  # whether the file gives the order of the labels
    task: str | None = None  # that the file says


def card_of_file(path: Path, options: FileOptions) -> Found:
    """Make a card for a data file, or take the one made before for the file as it is."""
    path = data_file(path)
    with naming_damage(path):
        state = container(path).stat()
    key = (path.resolve(), state.st_size, state.st_mtime_ns, repr(options))
    if key not in _cards:
        content, _ = card_content(path, _name_of(path), options)
        _cards[key] = make_card(content, f"{path}: no card can be made")
    return Found(_cards[key].forms[0], (path,), _cards[key])


def _name_of(path: Path) -> str:
    """Derive the name of a data set from that of its file."""
    words = re.findall(r"[a-z0-9]+", container(path).name.split(".")[0].lower())
    return "_".join(["own", *words]) if not words or words[0][0].isdigit() else "_".join(words)


def card_content(path: Path, name: str, options: FileOptions) -> tuple[dict[str, Any], list[str]]:
    """Return the content of a card for a file, and what was guessed in words."""
    task, matrix = options.task, options.matrix
    if task is not None and task not in _TASKS:
        raise DataError(f"task {task!r}: expected one of {', '.join(_TASKS)}")
    guess = _look(path, options)
    task = task or ("similarity" if matrix is not None else guess.task or _task(guess))
    content: dict[str, Any] = {"name": name, "title": name, "task": task}
    form: dict[str, Any] = {"files": [re.sub(r"[:\\/]", "_", path.name.strip()) or "data"]}
    if (archive := container(path)) != path:
        member = path.relative_to(archive).as_posix()
        guess.remarks.append(f"the data is {member} in the archive {archive.name}")
        if member != form["files"][0]:
            form["members"] = {form["files"][0]: member}
    left_out = guess.format.pop("left_out", {})
    form["format"] = guess.format
    if task == "regression" and not guess.numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        labels = guess.labels
        several = labels is None or len(labels) > _MANY_CLASSES
        if task == "classification" and guess.numeric and several and not _are_whole(labels):
            raise DataError(
                f"{path}: the target holds numbers that are not whole, for `task: regression`; "
                "classification needs classes"
            )
        if labels is None:
            raise DataError(f"{path}: the target has too many values for {task}; name its column")
        if len(labels) < 2:
            raise DataError(f"{path}: the target has only one value: {', '.join(labels)}")
        if options.grades is not None:
            labels = {label: labels[label] for label in _graded(labels, options.grades, path)}
        elif not guess.ordered and not are_numbers(labels):
            form["order"] = "alphabet"
        form |= {"rows": sum(labels.values()), "classes": labels}
    if left_out:
        form["left_out"] = left_out
    content["n_features"] = guess.n_features
    if task == "similarity":
        check_square(path, (form["rows"], guess.n_features), labelled=True)
        content["similarity"] = matrix or _kind_of_matrix(path, guess, form)
    elif matrix is not None:
        raise DataError(f"{path}: matrix: is for the task similarity")
    content |= {"source": {"publisher": "the user"}, "forms": [form]}
    content |= {"licence": "not stated", "citation": "not stated"}
    return content, guess.remarks


def _are_whole(labels: dict[str, int] | None) -> bool:
    return labels is not None and all(float(label).is_integer() for label in labels)


def _task(guess: _Guess) -> str:
    labels = guess.labels or {}
    whole = bool(labels) and all(label.lstrip("-").isdecimal() for label in labels)
    few = whole and len(labels) <= _FEW
    return "classification" if few or not guess.numeric else "regression"


def _graded(labels: Mapping[str, int], grades: Sequence[str], path: Path) -> list[str]:
    """Sort labels as `grades` says, which must name all; others in it are passed over."""
    order = [str(grade) for grade in grades]
    if unknown := [label for label in labels if label not in order]:
        raise DataError(
            f"{path}: grades: {', '.join(unknown[:5])} of the target not among {', '.join(order)}"
        )
    if len(set(order)) < len(order):
        raise DataError(f"{path}: grades: {', '.join(order)}: one of them stands there twice")
    return [grade for grade in order if grade in labels]


# Formats


def data_file(path: Path) -> Path:
    """Return the path of a data file: of an archive that of its only file."""
    if container(path) != path:
        return path
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if not is_archive(path):
        return path
    names = [n for n in members(path) if not re.search(r"(^|/)(\.|__MACOSX)", n)]
    if len(names) != 1:
        listed = ", ".join(names[:_SHOWN]) or "no files"
        raise DataError(
            f"{path}: an archive of {listed}: name the file with the data, as {path.name}/FILE"
        )
    return path / names[0]


def _suffix(name: str) -> str:
    """Return the ending of the name of a file, in lower case, without that of its packing."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in PACKED else path.suffix


def _look(path: Path, options: FileOptions) -> _Guess:
    """Recognise the format, and guess what the columns are."""
    with opened(path) as stream:
        magic = stream.read(8)
    suffix = _suffix(path.name)
    sheets = magic.startswith((b"\xd0\xcf\x11\xe0", b"PK\x03\x04")) and suffix in _SHEETS
    if options.sheet is not None and not sheets:
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    if sheets:
        return _look_at_sheet(path, options)
    matlab = magic.startswith((b"\x89HDF", b"MATLAB")) or suffix == ".mat"
    if options.points is not None and (matlab or magic.startswith((b"PK", b"PAR1"))):
        raise DataError(f"{path}: points: is for text in columns, sheets, JSON and series")
    if options.read_as and (matlab or magic.startswith((b"PK", b"PAR1", b"\x93NUMPY"))):
        raise DataError(f"{path}: read_as: is for text in columns")
    if suffix == ".ts":
        return _look_at_series(path, options)
    if suffix in _JSON:
        return _look_at_json(path, options)
    if magic.startswith(b"PK") or matlab:
        return _look_at_arrays(path, "matlab" if matlab else "npz", options)
    if magic.startswith(b"\x93NUMPY"):
        raise DataError(
            f"{path}: an NPY file holds one array and no labels: write both to an NPZ file, by "
            "numpy.savez(file, X=X, y=y)"
        )
    if magic.startswith(b"PAR1"):
        frame = readers.look_at(path, Parquet())
        return _roles(path, frame, Parquet(), options, ["Parquet format"])
    if suffix in (".dta", ".sav", ".zsav"):
        kind: Literal["stata", "spss"] = "stata" if suffix == ".dta" else "spss"
        format = Labelled(kind=kind)
        frame = readers.look_at(path, format)
        return _roles(path, frame, format, options, [f"{kind} format"])
    return _look_at_text(path, options)


def _look_at_sheet(path: Path, options: FileOptions) -> _Guess:
    sheet = 0 if options.sheet is None else options.sheet
    names = readers.sheet_names(path)
    if sheet not in names and (number := whole_number(sheet)) is not None:
        sheet = number
    if sheet not in names and not (isinstance(sheet, int) and 0 <= sheet < len(names)):
        raise DataError(f"{path}: no sheet {sheet!r}; its sheets: {', '.join(names)}")
    format = Excel(sheet=sheet, header=options.read_as.get("header", True))
    title = f"sheet {names[sheet] if isinstance(sheet, int) else sheet}"
    title += f" of {', '.join(names)}" if len(names) > 1 else ""
    try:
        return _roles(path, readers.look_at(path, format), format, options, [title])
    except DataError as error:
        if options.sheet is not None or len(names) < 2:
            raise
        raise DataError(
            f"{error}. This is the first of the sheets {', '.join(names)}; `sheet` names another"
        ) from None


def _look_at_text(path: Path, options: FileOptions) -> _Guess:
    with opened(path) as stream:
        content = stream.read()
    text, encoding = decoded(path, content, options.read_as.get("encoding"))
    lines = [line for line in _head_of(text).splitlines() if line.strip()]
    bare = [line for line in lines if not line.lstrip().startswith(("%", "#"))][:_LINES]
    if bare and bare[0].lstrip().lower().startswith(("@relation", "@attribute")):
        return _roles(path, readers.look_at(path, Arff()), Arff(), options, ["ARFF format"])
    if any(re.search(r"\s\d+:", row) for row in bare) and all(map(_PAIRS.fullmatch, bare)):
        return _look_at_pairs(path, content, bare, options)
    if not text.strip():
        raise DataError(f"{path}: the file is empty")
    format, remarks = dialect(path, text, encoding, options)
    frame = readers.look_at(path, format)
    return _roles(path, frame, format, options, remarks)


def _head_of(text: str) -> str:
    """Return the first lines of a text."""
    head = text[:_HEAD]
    return head if len(text) <= _HEAD else head[: head.rfind("\n") + 1] or head


def decoded(path: Path, content: bytes, encoding: str | None) -> tuple[str, str]:
    """Return a text, and how it is encoded: Excel does not write UTF-8 by default."""
    if encoding is None and content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    if b"\0" in content and encoding != "utf-16":
        raise DataError(f"{path}: neither text nor a format that is known")
    if encoding is None:
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8-sig"), "utf-8"
        encoding = "cp1252"
    try:
        return content.decode(encoding), encoding
    except (UnicodeDecodeError, LookupError) as error:
        raise DataError(f"{path}: cannot be read as {encoding}: {error}") from None


def _look_at_pairs(path: Path, content: bytes, rows: list[str], options: FileOptions) -> _Guess:
    """Take LIBSVM's pairs, with queries for ranking."""
    if options.points is not None or options.read_as:
        raise DataError(f"{path}: points and read_as: are for text in columns")
    if several := next((row for row in rows if "," in row.split()[0]), None):
        raise DataError(
            f"{path}: several labels in a row ({several.split()[0][:40]}) are not supported"
        )
    X, y, query = readers.load_pairs(path, None, True, content)
    zero_based = bool(X.nnz) and int(X.indices.min()) == 0
    if query is not None:
        remarks = ["LETOR format", f"{len(np.unique(query))} queries, for ranking"]
        format: dict[str, Any] = {"kind": "letor"}
        return _Guess(format, X.shape[1] - 1, _counted(y), True, remarks, task="ranking")
    if options.task == "ranking":
        raise DataError(f"{path}: ranking needs a query in each row, qid:number")
    remarks = [f"LIBSVM format, the first feature has index {int(not zero_based)}"]
    format = {"kind": "libsvm", "zero_based": zero_based}
    return _Guess(format, X.shape[1] - (not zero_based), _counted(y), True, remarks)


def _look_at_series(path: Path, options: FileOptions) -> _Guess:
    """Take series as points if this is asked for, else as the rows of a matrix."""
    if options.points not in (None, "series"):
        raise DataError(f"{path}: points: of this file it is `series`, got {options.points!r}")
    if options.target is not None or options.drop:
        raise DataError(f"{path}: a file of series has a class at the end of each, and no columns")
    series = readers.series_of(path)
    lengths = {values.shape[1] for _, values, _ in series}
    n_channels = len(series[0][1])
    labels = [label for _, _, label in series]
    numeric = are_numbers(labels)
    of = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else str(min(lengths))
    remarks = [f"series of {n_channels} channel{'s' * (n_channels > 1)} and {of} values"]
    if options.points is not None:
        format = {"kind": "ts", "points": True}
        return _Guess(format, 1, _counted(labels), numeric, remarks)
    if n_channels > 1 or len(lengths) > 1:
        raise DataError(
            f"{path}: {remarks[0]} make no matrix: give `points: series`, for distances of series"
        )
    return _Guess({"kind": "ts"}, lengths.pop(), _counted(labels), numeric, remarks)


def _look_at_json(path: Path, options: FileOptions) -> _Guess:
    """Choose the values that are the points and the target."""
    records = [record for _, record in readers.json_records(path)]
    names = list(dict.fromkeys(name for record in records for name in record))
    target, points = options.target, options.points
    if target is None:
        named = (name for name in names if name.lower() in TARGETS and name != points)
        target = next(named, None)
    others = [name for name in names if name not in (target, *options.drop)]
    if points is None and target is not None and len(others) == 1:
        points = others[0]
    for what, name in (("points", points), ("target", target)):
        if name not in names:
            missing = "" if name is None else f"no value is called {name!r}, "
            raise DataError(f"{path}: {what}: {missing}say which value: {', '.join(names)}")
    if points == target:
        raise DataError(f"{path}: {points} cannot be both the points and the target")
    labels = [v for record in records if (v := record.get(str(target))) is not None]
    left_out = {name: "" for name in names if name not in (points, target)}
    remarks = [f"the points are {points}, the target is {target}"]
    remarks += [f"left out: {', '.join(left_out)}"] if left_out else []
    format = {"kind": "jsonl", "points": points, "target": target, "left_out": left_out}
    numeric = are_numbers(map(str, labels))
    return _Guess(format, 1, _counted(list(map(str, labels))), numeric, remarks)


def _look_at_arrays(path: Path, kind: str, options: FileOptions) -> _Guess:
    """Choose the matrix and the labels among the arrays of a file."""
    arrays = readers.load_arrays(path)
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
    matrix = choose_matrix(path, arrays, held)
    n, n_features = arrays[matrix].shape
    others = {name: array for name, array in arrays.items() if name != matrix}
    vectors = [name for name, array in others.items() if readers.is_vector(array.shape, n)]
    last = {name: name.rpartition(".")[2] for name in others}
    preferred = [name for known in _LABELS for name in vectors if last[name] == known]
    target = next(iter(preferred), vectors[0] if len(vectors) == 1 else None)
    if options.target is not None:
        target = str(options.target)
    if target not in vectors:
        found = f"no array holds one label per row of {matrix}" if target is None else target
        found = f"no array is called {target}" if target and target not in others else found
        turned = [k for k, a in others.items() if readers.is_vector(a.shape, n_features)]
        hint = f"; {matrix} has one column for each of {turned[0]}: transpose it" if turned else ""
        raise DataError(f"{path}: {found}{hint}. It holds {held}")
    y = arrays[target].ravel()
    format = {"kind": kind, "matrix": matrix, "target": target}
    remarks = [f"{kind.upper()} format, features in {matrix}, the target in {target}"]
    return _Guess(format, n_features, _counted(y), y.dtype.kind in "fiub", remarks)


def choose_matrix(path: Path, arrays: Mapping[str, Any], held: str) -> str:
    """Return the name of the matrix among arrays: a preferred one, or the only one."""
    matrices = [
        name
        for name, array in arrays.items()
        if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "fiub"
    ]
    last = [name.rpartition(".")[2] for name in matrices]
    preferred = [matrices[last.index(known)] for known in _MATRICES if known in last]
    if not preferred and len(matrices) != 1:
        raise DataError(
            f"{path}: which array is the matrix is unclear; call it X. It holds {held}"
        )
    return (preferred or matrices)[0]


def _counted(labels: Any) -> dict[str, int] | None:
    """Count labels, spelt as on a card, in their order; None if there are too many."""
    values, counts = np.unique(canonical_labels(labels), return_counts=True)
    if len(values) > _MANY:
        return None
    times = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return {label: times[label] for label in default_order(times)}


# Text in columns


def dialect(
    path: Path, text: str, encoding: str, options: FileOptions
) -> tuple[Delimited, list[str]]:
    """Guess the separator, quotes and header of text in columns, unless the user says them."""
    head = _head_of(text)
    read_as, remarks = dict(options.read_as), []
    if unknown := [key for key in read_as if key not in _READ_AS]:
        raise DataError(f"{path}: read_as: no {unknown[0]!r}; expected {', '.join(_READ_AS)}")
    skip = set(read_as.get("skip") or ())
    numbered = list(enumerate(head.splitlines(keepends=True), 1))
    first = next((pair for pair in numbered if pair[1].strip()), (1, ""))
    separators: Sequence[str | None] = _SEPARATORS
    if mark := _SEPARATOR_LINE.fullmatch(first[1]):
        skip.add(first[0])
        separators = (mark[1],)
        remarks.append(f"line {first[0]}, {first[1].strip()}, names the separator")
    if "delimiter" in read_as:
        separators = (None if read_as["delimiter"] == "blanks" else read_as["delimiter"],)
    comment = read_as.get("comment", "")
    kept = [line for i, line in numbered if i not in skip and line.strip()]
    if comment:
        kept = [part for line in kept if (part := line.split(comment)[0]).strip()]
    quote = read_as.get("quote", '"') if '"' in text or "quote" in read_as else None
    found = _separator(kept, separators, quote)
    if quote and "quote" not in read_as and any(line.count(quote) % 2 for line in kept):
        plain = _separator(kept, separators, None)
        if plain is not None and (found is None or found[0] == plain[0]):
            found, quote = plain, None
            remarks.append('a lone " in a line is no quote: quotes are read as text')
    if found is None:
        marks = "".join(m for m in "#%" if any(line.startswith(m) for line in kept))
        hint = f"; lines may begin with comments: `read_as: {{comment: '{marks[:1]}'}}`"
        rows = max((_split(kept, s, quote) for s in separators), key=lambda rows: len(rows[0]))
        odd = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), 0)
        where = f" (row {odd + 1} has {len(rows[odd])}, row 1 {len(rows[0])})" if odd else ""
        raise DataError(
            f"{path}: no separator gives the same number of columns, at least 2, in all of the "
            f"first lines{where}; `read_as: {{delimiter: ...}}` names it{hint if marks else ''}"
        )
    separator, rows = found
    missing = read_as.get("missing") or ()
    missing = (missing,) if isinstance(missing, str) else tuple(map(str, missing))
    gaps: set[str] = {*readers.STANDARD_MISSING, *missing}
    header = read_as.get("header")
    header = _has_header(rows, gaps) if header is None else header
    if header:
        names = [name for name in rows[0] if name]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise DataError(f"{path}: two columns are called {repeated[0]!r}; rename one")
    columns = None if header else default_names(len(rows[0]))
    if columns:
        remarks.append(f"the columns have no names: x1 to {columns[-1]} for positions from 0")
    elif len(rows[-1]) > len(rows[0]):  # R's names of rows, or lines that end with a separator
        ends = not any(row[-1] for row in rows[1:])
        columns = (*rows[0], "nothing") if ends else (ROW_NAMES, *rows[0])
        skip.add(next(i for i, line in numbered if i not in skip and line.strip()))
    remarks.append(f"columns separated by {_SEPARATOR_NAMES.get(separator, separator)!r}")
    remarks.append(f"the first line {'is a header' if header else 'is data'}")
    known: dict[str, Any] = {
        key: read_as[key] for key in ("decimal", "thousands", "text") if key in read_as
    }
    format: dict[str, Any] = {
        "delimiter": separator,
        "header": columns is None,
        "columns": columns,
        "quote": quote,
        "encoding": encoding,
        "skip": tuple(sorted(skip)),
        "comment": comment,
        "missing": missing or None,
        "standard_missing": True,
        "points": options.points if isinstance(options.points, str) else None,
        **known,
    }
    try:
        return Delimited.model_validate(format), remarks
    except ValueError as error:
        text = " ".join(str(error).split("For further")[0].split())
        raise DataError(f"{path}: read_as: {text}") from None


_SEPARATOR_NAMES = {None: "blanks", "\t": "tabulator"}


def _separator(
    lines: list[str], separators: Sequence[str | None], quote: str | None
) -> tuple[str | None, list[list[str]]] | None:
    """Return the separator with the most columns of those that give all rows as many.

    The first row may have one column less, for which the names of rows have no name.
    """
    best = None
    for separator in separators:
        rows = _split(lines, separator, quote)
        widths = [len(row) for row in rows]
        if not widths or max(widths) < 2:
            continue
        more = 0 if len(widths) == 1 or lines[0].startswith(("#", "%")) else widths[1] - widths[0]
        same = len({*widths[1:]}) <= 1 and more in (0, 1)
        same &= len(widths) == 1 or widths[1] == widths[0] + more
        if same and (best is None or len(rows[-1]) > len(best[1][-1])):
            best = separator, rows
    return best


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


def _has_header(rows: list[list[str]], gaps: set[str]) -> bool:
    """Tell whether the first row names the columns."""
    head, body = rows[0], rows[1:]
    if not body:
        return False
    if len(body[0]) == len(head) + 1:
        return True  # R's row names have no name
    counted = list(map(str, range(len(head))))
    if len(rows) != len(head) > 1 and head in (counted, ["", *counted[:-1]]):
        return True  # what pandas writes for columns without names; no row of a square matrix
    columns = [[v for row in body if (v := row[i]) not in gaps] for i in range(len(head))]
    named = [not are_numbers([entry]) and entry not in gaps for entry in head]
    pairs = list(zip(head, columns, strict=True))
    if any(entry.lower() in TARGETS and entry not in column for entry, column in pairs):
        return True
    above = [name and bool(c) and are_numbers(c) for name, c in zip(named, columns, strict=True)]
    if any(above) and (all(named[1:]) or sum(named) > len(named) // 2):
        return True
    if not all(named):
        return False
    # a name does not occur below itself
    return all(entry not in column for entry, column in pairs)


# Roles of columns


class _Column:
    """What the entries of a column look like."""

    def __init__(self, name: str, column: "pd.Series") -> None:
        import pandas as pd

        self.name, self.column = name, column
        self.categories: tuple[str, ...] | None = None
        self.reason = ""  # why it is no feature
        # true and false are two values, also where some are missing
        self.numeric = is_number_column(column) and not pd.api.types.is_bool_dtype(column)
        self.n_missing = int(column.isna().sum())
        self.values: dict[str, int] = {}
        if pd.api.types.is_datetime64_any_dtype(column):
            self.reason = f"dates, such as {column.min()}"
            return
        if isinstance(column.dtype, pd.CategoricalDtype):
            self.categories = tuple(map(canonical_label, column.cat.categories))
        if self.n_missing == len(column):
            self.reason = "it has no entries"
            return
        if self.numeric:
            return
        try:
            counts = column.value_counts(sort=False)
        except TypeError:  # lists, mappings
            self.reason = f"values of type {type(column.dropna().iloc[0]).__name__}"
            return
        if not all(isinstance(v, str | int | float | bool | np.generic) for v in counts.index[:9]):
            self.reason = f"values of type {type(counts.index[0]).__name__}"
            return
        self.values = {str(v): int(n) for v, n in counts.items() if n}
        if all(_DATE.fullmatch(value.strip()) for value in self.values):
            held = column.dropna()
            rises = len(self.values) > 2 and _rises(held)
            order = ", in ascending order: random splits mix past and future" if rises else ""
            self.reason = f"dates, such as {held.iloc[0]}{order}"

    @property
    def n_different(self) -> int:
        """The number of different entries."""
        return len(self.values) if not self.numeric else self.column.nunique()

    def labels(self) -> dict[str, int] | None:
        """Return the values in order with their counts; None if there are too many."""
        if self.numeric:
            if self.column.nunique() > _MANY:
                return None
            return _counted(self.column.dropna().to_numpy())
        if len(self.values) > _MANY:
            return None
        counts: dict[str, int] = {}
        for value, n in self.values.items():
            counts[canonical_label(value)] = counts.get(canonical_label(value), 0) + n
        order = self.categories if self.categories is not None else sorted(counts)
        return {value: counts[value] for value in order if value in counts}

    def refuse_odd_numbers(self, path: Path, format: Any) -> None:
        """Refuse a column of which most entries are numbers, and say where the first other is."""
        if self.numeric or self.reason or self.categories is not None:
            return
        if self.name in getattr(format, "text", ()):
            return
        where = f"{path}: column {self.name}"
        commas = getattr(format, "decimal", ".") == ","
        odd = [v for v in self.values if not readers.is_number(v, commas)]
        n = sum(self.values.values())
        n_numbers = n - sum(self.values[v] for v in odd)
        stripped = [value.strip() for value in self.values]
        marked = bool(odd) and all(_THOUSANDS.fullmatch(v.strip()) for v in odd)
        if odd and not commas and all(map(_DECIMAL_COMMA.fullmatch, stripped)):
            more = ' and `thousands: "."`' if any("." in value for value in stripped) else ""
            more = ', or `{thousands: ","}`' if marked else more
            raise DataError(
                f"{where}: all {n} entries are numbers with a comma, such as {odd[0]!r}: say what "
                f'it is, `read_as: {{decimal: ","}}`{more}'
            )
        different = len(self.values) - len(odd)
        # values such as 1, 2, 3, more are no numbers with a few odd entries
        codes = 10 * (n - n_numbers) > n and different <= _FEW and n_numbers >= 5 * different
        if not odd or (not marked and (2 * n_numbers <= n or codes)):
            return
        isna = self.column.isna().to_numpy()
        texts = self.column.astype(str).isin(odd).to_numpy() & ~isna
        place = readers.row_place(path, format, int(texts.argmax()))
        first = str(self.column.iloc[int(texts.argmax())])
        advice = f"correct it; or name what is missing, `read_as: {{missing: [{first!r}]}}`"
        if mark := _THOUSANDS.fullmatch(first.strip()):
            advice = f'`read_as: {{thousands: "{mark[1]}"}}` reads thousands'
        raise DataError(
            f"{where}: {n_numbers} of {n} entries are numbers; the first other is {first!r} in "
            f"{place.removeprefix(f'{path}, ')}: {advice}; `read_as: {{text: [{self.name}]}}` "
            "takes the column as text; or drop it"
        )


def _rises(column: "pd.Series") -> bool:
    texts = column.astype(str).to_numpy()
    return bool((texts[:-1] <= texts[1:]).all())


def _roles(
    path: Path, frame: "pd.DataFrame", format: Any, options: FileOptions, remarks: list[str]
) -> _Guess:
    """Choose the role of each column from its entries."""
    names = list(map(str, frame.columns))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}; rename one")
    if not len(frame):
        raise DataError(f"{path}: the file has no rows")
    frame = frame.set_axis(names, axis=1)
    left_out: dict[str, str] = {}
    drop = {_position(path, column, names) for column in options.drop}
    if ROW_NAMES in names and options.target != ROW_NAMES and names.index(ROW_NAMES) not in drop:
        drop.add(names.index(ROW_NAMES))
        left_out[ROW_NAMES] = "the first column has no name"
        remarks.append("the first column has no name and is left out, as names of rows")
    points = None if options.points is None else _position(path, options.points, names)
    target, remark = _choose_target(path, options, names, drop | ({points} - {None}))
    remarks.append(remark)
    if target in drop:
        raise DataError(f"{path}: column {names[target]} is the target; it cannot be dropped too")
    chosen = _Column(names[target], frame.iloc[:, target])
    if points is not None:
        if points == target or points in drop:
            what = "the target" if points == target else "dropped"
            raise DataError(f"{path}: column {names[points]} holds the points; it is {what}")
        drop = set(range(len(names))) - {points, target}
        n = frame.iloc[:, points].nunique()
        remarks.append(f"the points are the {n} different texts of column {names[points]}")
    chosen.refuse_odd_numbers(path, format)
    if chosen.reason:
        raise DataError(
            f"{path}: {remark}, and cannot be: {chosen.reason}; name another by target, or make "
            "numbers or classes of it"
        )
    if chosen.n_missing:
        n = len(frame)
        remarks.append(f"{chosen.n_missing} of {n} rows have no target and are left out")
    nominal: dict[str, list[str]] = {}
    rest = [i for i in range(len(names)) if i not in (target, points) and i not in drop]
    columns = [_Column(names[i], frame.iloc[:, i]) for i in rest]
    if options.target is None:
        _refuse_matrix(path, chosen, columns, len(frame), options)
    for i, column in zip(rest, columns, strict=True):
        column.refuse_odd_numbers(path, format)
        if not column.reason and not column.numeric:
            values = column.labels()
            if values is None or len(values) > max(20, len(frame) // 2):
                column.reason = f"text with {column.n_different} values"
            else:
                nominal[column.name] = _spellings(column)
                remarks.append(f"column {column.name} is nominal: {listed(nominal[column.name])}")
        if column.reason:
            drop.add(i)
            left_out[column.name] = column.reason
            remarks.append(f"column {column.name} is left out: {column.reason}")
    n_features = len(names) - 1 - len(drop)
    if n_features < 1:
        why = "; ".join(f"{name} is left out: {reason}" for name, reason in left_out.items())
        texts = next((n for n, reason in left_out.items() if reason.startswith("text")), "")
        hint = f"; `points: {texts}` takes its texts as strings to compare" if texts else ""
        raise DataError(f"{path}: no column is left as a feature ({why}){hint}")
    ordered = chosen.categories is not None
    labels = chosen.labels()
    ranks = ordered and bool(chosen.column.cat.ordered) and len(labels or ()) > 2
    if ranks and format.kind != "parquet":
        remarks.append("the target's values have an order, which `task: ordinal` takes")
    content = format.model_dump(mode="json", exclude_defaults=True) | {
        "kind": format.kind,
        "target": names[target],
        "drop": [names[i] for i in sorted(drop)],
        "nominal": nominal,
        "left_out": left_out,
    }
    if not getattr(format, "header", True):
        content["columns"] = names
    if points is not None:
        content["points"] = names[points]
    return _Guess(
        content,
        n_features,
        labels,
        chosen.numeric,
        remarks,
        ordered and (format.kind != "parquet" or bool(chosen.column.cat.ordered)),
        "ordinal" if ranks and format.kind == "parquet" else None,
    )


def _spellings(column: _Column) -> list[str]:
    """Return the values of a nominal column as the file spells them."""
    if column.categories is not None:
        return list(map(str, column.column.cat.categories))
    return sorted({value.strip() for value in column.values})


def _position(path: Path, column: Column, names: Sequence[str]) -> int:
    """Return the position of a column; text that is no name may be a number."""
    if column not in names and (number := whole_number(column)) is not None:
        column = number
    return column_position(path, column, names)


def _choose_target(
    path: Path, options: FileOptions, names: Sequence[str], taken: set[Any]
) -> tuple[int, str]:
    """Return the position of the target, and a remark on how it was chosen."""
    if options.target is not None:
        chosen = _position(path, options.target, names)
        return chosen, f"the target is column {names[chosen]}"
    for i, name in enumerate(names):
        if name.lower() in TARGETS and i not in taken:
            return i, f"the target is column {name}, by its name"
    last = max((i for i in range(len(names)) if i not in taken), default=len(names) - 1)
    which = "the last column" if last == len(names) - 1 else "the last column that is not dropped"
    return last, f"the target is {which}, {names[last]}"


def listed(values: Sequence[str]) -> str:
    """List the first of some values, in quotes if they have commas."""
    shown = [f'"{value}"' if "," in value else value for value in list(values)[:_SHOWN]]
    return ", ".join([*shown, "…"] if len(values) > _SHOWN else shown)


# Matrices of similarities


def _refuse_matrix(
    path: Path, target: _Column, columns: list[_Column], n_rows: int, options: FileOptions
) -> None:
    """Refuse a matrix of similarities or distances whose last column would be the target."""
    numbers = [c for c in (*columns, target) if c.numeric and not c.n_missing]
    if not target.numeric or len(numbers) != n_rows:
        return
    if form := compares_rows(np.array([c.column.to_numpy(np.float64) for c in numbers]).T):
        as_matrix = "" if options.task == "similarity" or options.matrix else "--task similarity "
        raise DataError(
            f"{path}: a {n_rows} x {n_rows} matrix, {form}, and no column of labels: give them "
            f"in a file (`kernlearn datasets add {as_matrix}-o labels=FILE`); or name "
            "the target if the columns are features"
        )


def check_square(path: Path, shape: tuple[int, ...], labelled: bool) -> None:
    """Refuse a table that is no square matrix, besides the labels."""
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


def _kind_of_matrix(path: Path, guess: _Guess, form: dict[str, Any]) -> str:
    """Take a matrix for distances if none is negative and the diagonal is 0, and say so."""
    expected = readers.Expected(guess.n_features, tuple(form["classes"]))
    format = Form.model_validate({"files": form["files"], "format": guess.format}).format
    S = readers.read([path], format, expected).X
    distances = not np.diag(S).any() and (S >= 0).all() and S.any()
    kind, other = ("distance", "similarity") if distances else ("similarity", "distance")
    why = ", as the diagonal is 0" if distances else ""
    plural = "distances" if distances else "similarities"
    guess.remarks.append(
        f"the entries are taken for {plural}{why}; `matrix: {other}` says otherwise"
    )
    return kind
