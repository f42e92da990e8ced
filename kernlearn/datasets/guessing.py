"""Files without a card: their format, and the roles of their columns."""

import csv
import json
import re
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from pydantic import ValidationError

from kernlearn.checks import counted, listed
from kernlearn.datasets import readers
from kernlearn.datasets.card import (
    Arrays,
    Columns,
    Delimited,
    Pairs,
    Reading,
    Task,
    faults,
    make_card,
)
from kernlearn.datasets.files import (
    PACKED,
    Found,
    container,
    file_bytes,
    is_archive,
    members,
    opened,
)
from kernlearn.datasets.tables import (
    GROUP_NAME,
    ID_NAME,
    ROW_NAMES,
    are_numbers,
    canonical_labels,
    column_position,
    default_names,
    default_order,
    plain_numbers,
)
from kernlearn.exceptions import DataError
from kernlearn.yaml import shortened

if TYPE_CHECKING:
    import pandas as pd

#: Note on a matrix whose rows are in another order in the file.
REORDERED = "the rows are taken in the order of the columns, by their names"
#: Names of the target, the first that there is; y may be a coordinate.
TARGETS = ("target", "class", "label", "outcome", "y")
_MANY = 200  # with more distinct values, text is no nominal column and numbers are no classes
_FEW = 20  # up to this many distinct whole numbers are taken for classes
_HEAD = 200_000  # bytes from which the format is recognised
_TOTALS = {"total", "totals", "sum", "sums", "summe", "gesamt", "insgesamt", "somme", "totale"}
_EMPTY = "it has no entries"
UNCLEAR = " of no clear format"
_ABOVE = 20  # lines above a table that may be a text
_MATRICES = [("matrix", "distance"), ("matrix", "similarity")]
_MOST_WAYS = 3  # columns that a message proposes
_ROWS = 100  # rows from which the separator and the header are guessed
_SEPARATORS = ("\t", ";", "|", ",", None)
_SIGNS = {*"$€£¥%−"}  # beside numbers
# Numbers, also with decimal commas, separators of thousands and signs.
_LIKE_NUMBER = re.compile(
    r"[+-]?([$€£¥−] ?)?[+-]?"
    r"((\d+|\d{1,3}([., '\u00a0\u202f]\d{3})+)([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?"
    r"([ \u00a0\u202f]?[$€£¥%])?",
    re.ASCII,
)
_LIMIT = re.compile(r"[<>≤≥]=?\s*([+-]?\d+([.,]\d+)?)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
    rf"(?:\d{{4}}([-/.])\d\d?\1\d\d?|\d\d?([./-])\d\d?\2\d{{4}}|\d\d?[ -]{_MONTH}[ -]\d{{4}}|"
    rf"{_MONTH} \d\d?,? \d{{4}})([ T].*)?|\d{{4}}-\d\d",
    re.IGNORECASE,
)
_PAIRS = re.compile(r"\s*[+-]?[\d.,eE+-]+(\s+qid:\d+)?(\s+\d+:[+-]?[\d.eE+infaINFA-]+)*\s*(#.*)?")
_TWO_COLUMNS = "write CSV with columns for the sequence and the class"
_SERIES = re.compile(r"\s*\[?\s*[-+.\deE]+([\s,;|:]+[-+.\deE]+){2,}\s*\]?\s*")
# Formats by their first bytes.
_MAGIC: dict[bytes, Any] = {
    b"PAR1": Columns(kind="parquet"),
    **dict.fromkeys((b"ARROW1", b"FEA1"), Columns(kind="feather")),
    **dict.fromkeys((b"<stata_dta>", b"q\x02", b"r\x02", b"s\x02"), Columns(kind="stata")),
    **dict.fromkeys((b"$FL2", b"$FL3"), Columns(kind="spss")),
    **dict.fromkeys((b"MATLAB", b"\x89HDF"), Arrays(kind="matlab")),
    b"\xd0\xcf\x11\xe0": Columns(kind="excel"),
    readers.NPY: Arrays(kind="npz"),
}


class Guess(NamedTuple):
    """How a file without a card reads, and what is in it.

    `format` is that of a card; `contents` what :func:`~kernlearn.datasets.readers.content_of`
    returns; `labels` count the values of the target, if these are few, in their order: that of the
    file, if it lists them; `task` is one that the file names.
    """

    format: dict[str, Any]
    contents: Sequence[Any]
    n_features: int
    labels: dict[str, int] | None
    is_numeric: bool  # whether the target is a number
    notes: list[str]
    left_out: Mapping[str, str] = {}
    task: str | None = None
    shared: Mapping[str, int] = {}

    def task_of(self, path: Any) -> str:
        """Return the task: numbers are for regression, unless they are a few whole ones."""
        if self.task is not None:
            return self.task
        if not self.is_numeric:
            return "classification"
        counts = self.labels or {}
        other = {label: n for label, n in counts.items() if not label.lstrip("-").isdecimal()}
        n, n_whole = sum(counts.values()), sum(counts.values()) - sum(other.values())
        if not 0 < len(counts) - len(other) <= _FEW or 10 * n_whole < 9 * n:
            return "regression"
        if not other:
            return "classification"
        raise DataError(
            f"{path}: {n_whole} of {n} entries of the target are few different whole numbers, and "
            f"{next(iter(other))} is none: correct it",
            [("task", "classification"), ("task", "regression")],
        )


def card_of_file(path: Path, asked: Reading, stated: str | None, name: str = "data") -> Found:
    """Read a data file and make a card for it, or for a folder of LETOR."""
    paths = _data_files(path)
    guess = _inspect(paths, asked)
    task = stated or ("similarity" if asked.matrix else guess.task_of(path))
    if task not in get_args(Task):
        raise DataError(f"task {task!r}: expected one of {', '.join(get_args(Task))}")
    notes = list(guess.notes)
    if (archive := container(paths[0])) != paths[0]:
        member = paths[0].relative_to(archive).as_posix()
        notes.append(f"the data is {member} in the archive {archive.name}")
    names = [file.stem if file.suffix.lower() in PACKED else file.name for file in paths]
    files = [re.sub(r"[^\w.-]|^\.", "_", name) for name in names]
    form: dict[str, Any] = {"files": files, "format": guess.format, "left_out": guess.left_out}
    if len(paths) > 1:
        form |= {"files": [file.relative_to(path).as_posix() for file in paths], "folds": "files"}
    if (labels := guess.labels) is not None and len(labels) < 2:
        raise DataError(f"{path}: all targets are {''.join(labels)}, or missing (as NA and None)")
    if task == "regression" and not guess.is_numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        form |= _classes(path, guess, asked, task)
    n_classes, certain = len(guess.labels or ()), _FEW if stated else 2
    if task == "classification" and guess.is_numeric and n_classes > certain:
        notes.append(
            f"the {n_classes} different numbers of the target are taken as classes; the task "
            "ordinal takes them as grades, the task regression as amounts"
        )
    single = [label for label, n in (guess.labels or {}).items() if n == 1]
    if single and task != "regression":
        notes.append(f"{len(single)} of {n_classes} classes with a single row, as {single[0]!r}")
    if (task == "similarity") != (asked.matrix is not None):
        problem = f"{path}: the task similarity and `matrix` go together: take another task"
        raise DataError(problem, _MATRICES)
    content = {
        "name": name,
        "title": name,
        "task": task,
        "n_features": guess.n_features,
        "similarity": asked.matrix,
        "source": {"publisher": "the user"},
        "forms": [form],
        "licence": "not stated",
        "citation": "not stated",
    }
    card = make_card(content, f"{path}: no card can be made")
    besides = () if asked.labels is None else (Path(asked.labels),)
    of_files = guess.contents, tuple(notes), guess.shared, besides
    return Found(card.forms[0], tuple(paths), card, *of_files)


def _classes(path: Path, guess: Guess, asked: Reading, task: str) -> dict[str, Any]:
    """Return the labels of a target in their order, and how many rows have each."""
    labels = guess.labels
    if guess.is_numeric and task == "classification":
        whole = labels is not None and all(float(label).is_integer() for label in labels)
        if not whole and (labels is None or len(labels) > _FEW):
            problem = f"{path}: the target holds numbers that are not whole: make classes of them"
            raise DataError(problem, [("task", "regression")])
    if labels is None:
        kind = "classes, which a matrix takes" if asked.matrix else task
        raise DataError(f"{path}: the target has too many values for {kind}; name its column")
    known: dict[str, Any] = {"rows": sum(labels.values()), "classes": labels}
    if asked.grades is not None:
        order = asked.grades
        if other := [label for label in labels if label not in order]:
            raise DataError(f"{path}: grades: {listed(other)} is not among {listed(order)}")
        return known | {"classes": {label: labels[label] for label in order if label in labels}}
    usual = list(labels) == default_order(labels)
    if not (usual and are_numbers(labels)):
        known["order"] = "alphabet" if usual else "file"  # which may have them sorted by letters
    return known


def _data_files(path: Path) -> list[Path]:
    """Return the data file, of an archive its only one, of a folder of LETOR the parts."""
    if path.is_dir():
        parts = sorted([*path.glob("Fold[1-9]/test.txt"), *path.glob("S[1-9].txt")])
        if len(parts) < 3:
            raise DataError(f"{path}: a folder; name a file in it")
        return parts
    if not is_archive(path) or container(path) != path:
        return [path]
    names = [n for n in members(path) if not re.search(r"(^|/)(\.|__MACOSX)", n)]
    if len(names) != 1:
        held = listed(names) or "no files"
        raise DataError(f"{path}: an archive of {held}: name the file in it, as {path.name}/FILE")
    return [path / names[0]]


def _inspect(paths: Sequence[Path], asked: Reading) -> Guess:
    """Recognise the format of a file, read it, and choose the roles of its columns.

    Several files, as of LETOR, are of one format and have the same columns.
    """
    path = paths[0]
    content = b"\n".join(map(file_bytes, paths))
    format = recognised(path, content, asked)
    if asked.labels is not None and asked.matrix is None and not isinstance(format, Arrays):
        problem = f"{path}: labels: only matrices and arrays take those of another file"
        raise DataError(problem, _MATRICES)
    if isinstance(format, Pairs):
        guess = _pairs(path, content)
        return guess if len(paths) == 1 else guess._replace(contents=())
    if len(paths) > 1:
        raise DataError(f"{path.parent}: a folder; name a file in it")
    if isinstance(format, Arrays):
        return _arrays(path, format, asked)
    n_lines = content.count(b"\n")
    del content  # of a large file, before it is parsed
    frame, format = _frame(path, format, n_lines, asked.sheet)
    frame.attrs["matrix"], order = asked.matrix, [*range(len(frame))]
    notes, shared, by = list[str](), dict[str, int](), None
    if asked.matrix is not None and (by := _row_names(frame)) is not None:
        order = _order_of_columns(path, frame, by)
    elif asked.labels is not None and not format.header:  # nor are there names of columns
        texts = [str(k) for k in frame.columns[~plain_numbers(frame)] if frame[k].is_unique]
        by = texts[0] if texts else None
    if by is not None:
        asked = asked.model_copy(update={"drop": (*asked.drop, by)})
    if asked.labels is not None:
        names = frame.columns if format.header else None
        columns, notes, shared = _labels_of(names if by is None else frame[by], len(frame), asked)
        frame = frame.assign(**columns)
        asked = asked.model_copy(update={"target": next(iter(columns))})
    guess = _frame_roles(_File(path, format, frame), asked)
    guess = guess._replace(shared={**guess.shared, **shared})
    if order != sorted(order):
        notes.append(REORDERED)
        guess = guess._replace(contents=(frame.iloc[order].reset_index(drop=True),))
    return guess._replace(notes=[*notes, *guess.notes])


def recognised(path: Path, content: bytes, asked: Reading) -> Any:
    """Return the format of a file, and how its text reads."""
    points = {} if asked.points is None else {"points": asked.points}
    format = with_options(path, _format(path, content), {**asked.read_as, **points})
    if asked.sheet is not None and format.kind != "excel":
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    with readers.library_errors(path, "damaged, or in another encoding"):
        return dialect(path, content, format, asked) if isinstance(format, Delimited) else format


def with_options(path: Path, format: Any, options: Mapping[str, Any]) -> Any:
    """Return a format with some options, as a card states them."""
    how = {**format.model_dump(exclude_unset=True), **options}
    try:
        return type(format).model_validate(how)
    except ValidationError as error:
        wrong = "; ".join(faults(error, how))
        raise DataError(f"{path}: how it reads: {wrong} ({format.kind})") from None


def _frame(path: Path, format: Any, n_lines: int, sheet: Any) -> "tuple[pd.DataFrame, Any]":
    """Read columns, and return how they were read."""
    if format.kind == "excel":
        format = format.model_copy(update={"sheet": _sheet(path, sheet)})
        rows = readers.first_rows(path, format, _ROWS)
        widths = [sum(map(bool, row)) for row in rows]
        usual = max({*widths}, key=lambda width: (widths.count(width), width))
        above = next(i for i, width in enumerate(widths) if 2 * width >= usual)
        if above and format.header:
            first = listed(filter(None, chain(*rows[:above]))) or "blank"
            problem = (
                f"{path}: rows with fewer entries ({first}) stand above the names: remove them"
            )
            kept = (number for number in count(1) if number not in format.skip)
            raise DataError(problem, [("read_as.skip", [*format.skip, *islice(kept, above)])])
        if "header" not in format.model_fields_set:
            head = _has_header(path, *rows)
            format = format.model_copy(update={"header": head})
    frame = readers.content_of(path, format)
    if getattr(format, "quote", None) and n_lines > len(frame) + format.header:
        try:  # line breaks in entries may be those of a quote that does not end
            deque(readers.split_rows(file_bytes(path), format), maxlen=0)
        except csv.Error as error:
            _refuse_rows(path, [], str(error), ())
    return frame, format


def read_frame(path: Path) -> "pd.DataFrame":
    """Read a table with named columns of any format and dialect, without roles for them."""
    content = file_bytes(path)
    format = _format(path, content)
    if isinstance(format, Arrays | Pairs):
        raise DataError(f"{path}: no table with named columns, but {format.kind}")
    try:
        if isinstance(format, Delimited):
            named = format.model_copy(update={"header": True})
            format = dialect(path, content, named, Reading(read_as={"header": True}))
        return _frame(path, format, content.count(b"\n"), None)[0]
    except DataError as error:  # without what a config could say
        raise DataError(error.problem) from None


def _pairs(path: Path, content: bytes) -> Guess:
    """Take LIBSVM's pairs, with queries for ranking."""
    table = readers.load_pairs(path, content)
    task = None if table.query is None else "ranking"
    zero_based = task is None and bool(table.X.nnz) and int(table.X.indices.min()) == 0
    if not zero_based:
        table = table._replace(X=table.X[:, 1:])
    format = {"kind": "libsvm", "zero_based": zero_based}
    labels, n_features = counted_labels(table.y), table.X.shape[1]
    return Guess(format, (table,), n_features, labels, True, [], task=task)


def _arrays(path: Path, format: Arrays, asked: Reading) -> Guess:
    """Choose the matrix and the labels among the arrays of a file: X and y, or the only ones."""
    arrays = readers.load_arrays(path)
    names = asked.read_as if asked.target is None else {**asked.read_as, "target": asked.target}

    def chosen(key: str, possible: list[str]) -> str:
        name = names.get(key, getattr(format, key))
        alike = [one for one in possible if f".{one}".endswith(f".{name}")]
        if len(alike := alike if key in names else alike or possible) == 1:
            return alike[0]
        shapes = {name: f"{name} of shape {array.shape}" for name, array in arrays.items()}
        ways = [(f"read_as.{key}", one) for one in alike]
        problem = f"{len(alike)} arrays could be the {key}: {listed(shapes[k] for k in alike)}"
        if not alike:
            ways = [("labels", "FILE")] if key == "target" else []
            problem = f"no array could be the {key}; it has {listed(shapes.values()) or 'none'}"
        raise DataError(f"{path}: {problem}: {'keep' if alike else 'write'} one", ways)

    matrices = [k for k, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiub"]
    wide = [k for k in matrices if min(arrays[k].shape) > 1]
    matrix = chosen("matrix", matrices if "matrix" in names else wide)
    n, n_features = arrays[matrix].shape
    vectors = [k for k, a in arrays.items() if k != matrix and readers.is_vector(a.shape, n)]
    notes: list[str] = []
    if asked.labels is None:
        target = chosen("target", vectors)
    else:
        texts = [arrays[k].ravel() for k in vectors if arrays[k].dtype.kind == "U"]
        rows = next((names for names in texts if len({*names}) == n), None)
        columns, notes, _ = _labels_of(rows, n, asked)
        target, values = next(iter(columns.items()))
        arrays[target] = np.asarray(values)
    content = readers.chosen_arrays(path, arrays, matrix, target)
    if asked.matrix is None:
        _refuse_symmetric(path, arrays[matrix])
    written = {"kind": format.kind, "matrix": matrix, "target": target}
    labels, is_numeric = counted_labels(content.y), content.y.dtype.kind in "fiu"
    notes.append(f"the features are {matrix}, the target is {target}")
    return Guess(written, (content,), n_features, labels, is_numeric, notes)


def _row_names(frame: "pd.DataFrame") -> str | None:
    """Return the column that names the rows of a matrix, most of them as its columns."""
    columns = {*canonical_labels(frame.columns.astype(str))}
    for name in frame.columns[~plain_numbers(frame) | (frame.columns == ROW_NAMES)]:
        if 2 * len(columns.intersection(canonical_labels(frame[name].astype(str)))) > len(frame):
            return str(name)
    return None


def _order_of_columns(path: Path, frame: "pd.DataFrame", by: str) -> list[int]:
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


def _labels_of(
    names: Any, n: int, asked: Reading
) -> tuple[dict[str, Any], list[str], dict[str, int]]:
    """Return the column of labels that another file has for `n` points, groups and times.

    They are found by the names of the points; without names they are in the same order. Beside
    them come notes, and the columns whose values points seem to share.
    """
    import pandas as pd

    path = Path(str(asked.labels))
    content = file_bytes(path)
    if content.startswith(readers.NPY):
        table = pd.DataFrame({"y": readers.load_arrays(path)["X"].ravel()})
    elif not re.search(rb"[\t;,|]", content):  # one column, perhaps with a name
        codec = readers.encoding_of(path, content)
        first, *rest = content.decode(codec).strip().split("\n")
        named = len(rest) == n and first not in rest and not _is_like_number(first)
        if len(rest) == n - 1 and first not in rest and min(Counter(rest).values()) > 1:
            raise DataError(f"{path}: {first}, in line 1 alone, may be a name: write one above it")
        how: dict[str, Any] = {"delimiter": "\t", "standard_missing": True, "encoding": codec}
        table = readers.content_of(path, Delimited(header=named, **how))
    else:
        table = read_frame(path)
    table, columns = table.set_axis([*map(str, table)], axis=1), [*map(str, table)]
    wanted = [] if names is None else canonical_labels(pd.Series(names).astype(str)).tolist()
    texts = {name: pd.Index(canonical_labels(table[name].map(str))) for name in columns}
    known = {name: int(texts[name].unique().isin(wanted).sum()) for name in columns}
    by = max(columns, key=lambda name: known[name])
    rivals = [
        name for name in columns if 2 * known[name] > n and not texts[name].equals(texts[by])
    ]
    if rivals:
        raise DataError(f"{path}: columns {by} and {rivals[0]} both name points: leave one out")
    in_order = 2 * known[by] <= n and wanted in ([], [*map(str, range(n))])
    if in_order and len(table) != n:
        raise DataError(f"{path}: {len(table)} rows, but {n} points, which have no names")
    rest = [name for name in columns if in_order or name != by]
    usual = [name for one in TARGETS for name in rest if name.lower() == one]
    if asked.target is None and not usual and len(rest) > 1:
        ways = [("target", name) for name in rest[:_MOST_WAYS]]
        raise DataError(f"{path}: {listed(rest)} could be the labels: name one", ways)
    stated = [*usual, *rest, -1][0] if asked.target is None else asked.target
    target = columns[column_position(path, stated, columns)]
    own = f"{target} of {path.name}"  # a point may be called as the column
    marks = [str(k) for k in (asked.groups, asked.time) if str(k) in columns]
    shared = {} if marks else _named_groups(table[[k for k in rest if k != target]])
    if in_order:
        notes = [f"the points have no names: column {own} is taken in its order"]
        return {own: table[target].array, **{k: table[k].array for k in marks}}, notes, shared
    table = table.set_axis(texts[by])
    if lack := [name for name in wanted if name not in table.index]:
        text = f"{len(lack)} of {n} points are not in column {by}, such as {listed(lack[:3])}"
        has = f"it has {listed(table.index[:3])}"
        raise DataError(f"{path}: {text}; {has}: use the same names, or add rows without a label")
    if again := [name for name, m in (Counter(wanted) | Counter(table.index)).items() if m > 1]:
        raise DataError(f"{path}: several points or rows are called {listed(again)}: keep one")
    notes = [f"the labels are column {own}, by the names in column {by}"]
    if more := len(table) - n:
        notes.append(f"{more} of {len(table)} rows of {path.name} name no point of the matrix")
    table = table.loc[wanted]
    return {own: table[target].array, **{k: table[k].array for k in marks}}, notes, shared


# Formats


def _format(path: Path, content: bytes) -> Any:
    """Tell the format by the content, not by the name."""
    if not content or content.isspace():
        raise DataError(f"{path}: the file is empty")
    for magic, format in _MAGIC.items():
        if content.startswith(magic):
            return format
    if content.startswith(b"PK") and b".npy" in content:
        return Arrays(kind="npz")
    if content.startswith(b"PK") and (b"xl/" in content or b"content.xml" in content):
        return Columns(kind="excel")
    encoding = readers.encoding_of(path, content)
    head = content[:_HEAD].decode(encoding, errors="ignore").removeprefix("\ufeff")
    lines = [s for s in re.split("[\r\n]+", head) if s.strip() and s.lstrip()[0] not in "%#"]
    first = lines[0].strip().lower() if lines else ""
    if first.startswith(("@relation", "@attribute")):
        return Columns(kind="arff")
    if first.startswith("@") and "@data" in map(str.lower, map(str.strip, lines)):
        return Columns(kind="ts")
    if first.startswith(("{", "[", "<")):
        with suppress(ValueError):
            is_list = re.match(r"\s*\[\s*{", head)
            if is_list or (len(lines) > 1 and isinstance(json.loads(lines[0]), dict)):
                return Columns(kind="jsonl")
        what = "HTML, XML or JSON that is no list of objects"
        raise DataError(f"{path}: {what}: save it as CSV or lines of JSON")
    if first.startswith(">") and not re.search(r"[\s,;|]", "".join(lines[1:2]).strip()):
        raise DataError(f"{path}: FASTA has no classes: {_TWO_COLUMNS}")
    if re.search(r"\s\d+:", head) and all(map(_PAIRS.fullmatch, lines[:_ROWS])):
        return Pairs()
    return Delimited(encoding=encoding)


def _sheet(path: Path, sheet: Any) -> str:
    """Return the name of the sheet of a spreadsheet; of several, one must be asked for."""
    import pandas as pd

    with readers.library_errors(path, "damaged, or no Excel file"):
        book = pd.ExcelFile(BytesIO(file_bytes(path)), engine="calamine")
    names = list(map(str, book.sheet_names))
    if sheet is None and len(names) > 1:
        raise DataError(f"{path}: several sheets: `sheet` names one of {', '.join(names)}")
    return names[column_position(path, sheet or 0, names, "sheet")]


# Text in columns


def dialect(path: Path, content: bytes, format: Delimited, asked: Reading) -> Delimited:
    """Guess the separator, quotes and header of text in columns, unless the user states them."""
    tried, fault, header, points = [], "", format.header, format.points
    separators: Any = (format.delimiter,) if "delimiter" in asked.read_as else _SEPARATORS
    standard = format.standard_missing or "standard_missing" not in asked.read_as
    missing = format.missing if standard else ("", *format.missing)  # an empty entry always is
    format = format.model_copy(update={"standard_missing": standard, "missing": missing})
    for separator in separators:
        format = format.model_copy(update={"delimiter": separator})
        try:
            split = [*islice(readers.split_rows(content, format), _ROWS)]
            rows = [[entry.strip() for entry in row] for _, row in split] or [[]]
        except csv.Error as error:
            fault = fault or str(error)
            continue
        tried.append(split)
        width, lacks = len(rows[-1]), len(rows[-1]) - len(rows[0])
        has_row_names = (
            lacks == 1 < len(rows[0])
            and any(row[-1] for row in rows[1:])
            and not rows[0][0].startswith(("#", "%"))
        )
        if width > 1 and {*map(len, rows[1:])} <= {width} and (has_row_names or not lacks):
            break
    else:
        _refuse_rows(path, tried, fault, format.skip)
    if "header" not in asked.read_as:
        header = lacks == 1 or _has_header(path, *rows)
    if isinstance(asked.points, int):
        points = column_position(path, asked.points, default_names(width))
    columns = None if header else default_names(width)
    return format.model_copy(update={"header": header, "columns": columns, "points": points})


def _refuse_rows(
    path: Path, tried: list[list[tuple[int, list[str]]]], fault: str, skipped: Sequence[int]
) -> None:
    """Say why no separator will do, and which lines to leave out if few differ from the others."""
    rows = max(tried, key=lambda rows: len(rows[-1][1]) if rows else 0, default=[]) or [(1, [])]
    width = len(rows[-1][1])
    if fault and width < 2:
        problem = f"{path}: an entry in quotes does not end with its quote ({fault}): end it"
        raise DataError(problem, [("read_as.quote", None)])
    odd = [i for i, (_, row) in enumerate(rows) if len(row) != width]
    ways: list[tuple[str, Any]]
    if width < 2 and not odd:
        texts = ["".join(row) for _, row in rows]
        marks = sorted({*re.sub(r"[\w\s.+-]", "", texts[0])})
        alike = [mark for mark in marks if len({text.count(mark) for text in texts}) == 1]
        ways = [("read_as.delimiter", mark) for mark in alike]
        raise DataError(f"{path}: no separator gives several columns: {_TWO_COLUMNS}", ways)
    where, ways = "", [("read_as.delimiter", ";")]
    if odd:
        line, row = rows[odd[0]]
        where = f" (line {line} has {len(row)}, line {rows[-1][0]} {width})"
    if odd and width > 1 and 2 * len(odd) < len(rows):
        lines = {rows[i][0] for i in odd}
        if odd[0] == 0:  # a text above the table, up to a blank line or the last odd one
            ends = [n for (n, _), (after, _) in pairwise(rows) if after > n + 1 and n < _ABOVE]
            lines |= {*range(1, max(*ends, *lines, 0) + 1)}
        ways = [("read_as.skip", sorted({*skipped, *lines}))]
        if all(rows[i][1][0].startswith("#") for i in odd) and odd[0] == 0:
            ways.insert(0, ("read_as.comment", "#"))
    problem = f"{path}: no separator gives several columns, as many in all rows{where}: correct it"
    raise DataError(problem, ways)


def _has_header(path: Path, head: list[str], *rows: list[str]) -> bool:
    """Tell whether the first row names the columns; refuse what could be either."""
    counted = list(map(str, range(len(head))))  # what pandas writes for columns without names
    fits = []
    for i, name in enumerate(head):
        column = [row[i] for row in rows]
        is_numeric = 2 * sum(map(_is_like_number, column)) > len(column)
        fits.append(_is_like_number(name) if is_numeric else name in column)
    has_numbers = any(map(_is_like_number, head))
    if has_numbers and all(fits) and head not in (counted, ["", *counted[:-1]]):
        return False
    if has_numbers or any(fit and name for fit, name in zip(fits, head, strict=True)):
        shown = shortened(", ".join(head))
        problem = f"{path}: whether {shown} is data or names columns is not clear: add names above"
        raise DataError(problem, [("read_as.header", True), ("read_as.header", False)])
    return True


def _is_like_number(text: str) -> bool:
    return bool(_LIKE_NUMBER.fullmatch(text.strip()))


# Roles of columns


def counted_labels(labels: Any) -> dict[str, int] | None:
    """Count labels, spelt as on a card, in their order; None if there are too many."""
    labels = labels[labels == labels]  # NaN is no label
    if len(np.unique(labels)) > _MANY:
        return None
    values, counts = np.unique(canonical_labels(labels), return_counts=True)
    times = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return {label: times[label] for label in default_order(times)}


class _File(NamedTuple):
    """A file, the options by which it was read, and what is in it."""

    path: Path
    options: Any
    frame: "pd.DataFrame"

    @property
    def names(self) -> list[str]:
        return list(map(str, self.frame.columns))


def _frame_roles(reading: _File, asked: Reading) -> Guess:
    """Choose the role of each column of a frame from its entries, and what the user stated."""
    path, options, frame = reading
    names, notes = reading.names, []
    distinct = set(names)
    if not getattr(options, "header", True) and "header" not in asked.read_as:
        notes.append("the first line is data; `read_as.header` takes it as names")
    if (codec := getattr(options, "encoding", "utf-8")) != "utf-8":
        notes.append(f"the text is read as {codec}, not UTF-8")
    if empty := frame.attrs.get("empty"):
        notes.append(f"{counted(empty, 'column')} without name and entries left out")
    for text, places in frame.attrs.get("replaced", {}).items():
        if not places:
            raise DataError(f"{path}: read_as.replace: no column has {text!r} and else numbers")
        notes.append(f"{text!r} is read as {options.replace[text]:g} in {listed(places)}")
    target, points, left_out = _stated_roles(reading, asked)
    if asked.target is None:
        last = "" if names[target].lower() in TARGETS else ", the last; `target` names another"
        notes.append(f"the target is column {names[target]}{last}")
    if asked.matrix is None:
        _refuse_totals(reading)
    marking = _marking(reading, asked)
    # pandas calls the second column x x.1
    kept = [name for i, name in enumerate(names) if i not in left_out]
    bases = {name: re.sub(r"\.\d+$", "", name) for name in kept}
    if again := [name for name, base in bases.items() if base != name and base in distinct]:
        notes.append(f"a second column of one name is read as {listed(again)}")
    if copy := next((name for name in again if bases[name] == names[target]), None):
        problem = f"{path}: column {copy} may be a second column {names[target]}: rename it"
        raise DataError(problem, [("drop", [copy])])
    rest = [i for i in range(len(names)) if i not in (target, *left_out)] if points is None else []
    nominal = _feature_roles(reading, [i for i in rest if i not in marking], left_out)
    labelled = frame[frame.iloc[:, target].notna()].select_dtypes(exclude="category")
    for name in labelled.columns.intersection([*nominal]) if len(labelled) < len(frame) else ():
        known = {*labelled[name].dropna().astype(str)}
        nominal[name] = [value for value in nominal[name] if value in known] or nominal[name]
    for i in marking:
        nominal |= _marks(reading, i, dated=names[i] == asked.time)
    if asked.matrix is not None:  # a point may lack all its pairs
        left_out = {i: why for i, why in left_out.items() if why != _EMPTY}
    rest = rest if asked.matrix is None else [i for i in rest if i not in marking]
    features = [i for i in rest if i not in left_out] if points is None else [points]
    shared: dict[str, int] = {}
    if points is None and asked.matrix is None and not marking:
        ids = [i for i, why in left_out.items() if why.startswith(("text", "numbers"))]
        shared = _repeated(reading, [target, *features], ids)
    if not marking:  # of features the preparation says so
        of_points = [i for i in range(len(names)) if i not in (target, points)]
        away = [i for i, reason in left_out.items() if reason]
        shared |= _named_groups(frame.iloc[:, away if points is None else of_points])
    reasons = {names[i]: reason for i, reason in left_out.items() if reason}
    if not features:
        why = "; ".join(f"{k} is left out: {v}" for k, v in reasons.items()) or "all are dropped"
        texts = [k for k, v in reasons.items() if v.startswith(("text", "value"))]
        firsts = {name: frame[name].dropna().iloc[0] for name in texts}
        texts = [k for k, v in firsts.items() if not isinstance(v, dict) or "edges" in v]
        texts.sort(key=lambda name: bool(ID_NAME.fullmatch(name)))
        ways = [("points", name) for name in texts[:1]]
        raise DataError(f"{path}: no column of numbers or classes is left ({why})", ways)
    _check_matrix(reading, asked.matrix, target, features, left_out)
    if points is not None:
        _refuse_number_texts(reading, points)
    if options.kind == "delimited" and not {"decimal", "thousands"} & asked.read_as.keys():
        # labels of another file are not in this one
        _refuse_thousands(reading, features if asked.labels else [target, *features])
    if options.kind == "delimited" and points is None:
        notes += _leading_zeros(reading, features)
    labels, is_numeric = _target_labels(reading, target)
    for name, values in {**nominal, names[target]: labels or ()}.items():
        first: dict[str, str] = {}
        alike = [(first.setdefault(v.strip().casefold(), v), v) for v in values]
        if pairs := [f"{a!r} and {b!r}" for a, b in alike if a != b]:
            notes.append(f"column {name}: only case or blanks tell {pairs[0]} from each other")
    used = {target, *features}
    content = options.model_dump(mode="json", exclude_defaults=True) | {
        "kind": options.kind,
        "target": names[target],
        "drop": [name for i, name in enumerate(names) if i not in used],
        "text": [k for k in options.text if k not in names or left_out.get(names.index(k)) != ""],
        "nominal": nominal,
        "points": None if points is None else names[points],
    }
    # ARFF, Stata and SPSS list values in their order, Parquet says which have an order
    says_order = options.kind in ("parquet", "feather")
    ordered = says_order and getattr(frame.dtypes.iloc[target], "ordered", False)
    task = "ordinal" if ordered and len(labels or ()) > 2 else None
    guessed = len(features), labels, is_numeric, notes, reasons, task, shared
    return Guess(content, (frame,), *guessed)


def _named_groups(frame: "pd.DataFrame") -> dict[str, int]:
    """Return the columns that are called as groups and have repeated values, and how many."""
    shared = {}
    for name in filter(GROUP_NAME.fullmatch, map(str.strip, map(str, frame.columns))):
        held = frame[name].dropna().astype(str)
        if 2 < held.nunique() < len(held):
            shared[name] = held.nunique()
    return shared


def _marking(reading: _File, asked: Reading) -> list[int]:
    """Return the positions of the columns of groups and of time, if they are asked for."""
    columns = [column for column in (asked.groups, asked.time) if column is not None]
    return [column_position(reading.path, column, reading.names) for column in columns]


def _stated_roles(reading: _File, asked: Reading) -> tuple[int, int | None, dict[int, str]]:
    """Return the target, the points, and why others are left out; by what is asked, and names."""
    from pandas.api.types import is_integer_dtype, is_numeric_dtype

    path, names = reading.path, reading.names
    left_out = {column_position(path, column, names): "" for column in asked.drop}
    for i in _marking(reading, asked):  # is no feature anyway
        left_out.pop(i, None)
    if ROW_NAMES in names and asked.target != ROW_NAMES:
        left_out.setdefault(names.index(ROW_NAMES), "the first column has no name")
    points = None if asked.points is None else column_position(path, asked.points, names)
    if asked.target is None:
        free = [i for i in range(len(names)) if i not in (points, *left_out)] or [-1]
        target = next((i for one in TARGETS for i in free if names[i].lower() == one), free[-1])
        values = reading.frame.iloc[:, target]
        ascends = is_integer_dtype(values) and len(values) > _FEW and values.diff().min() == 1
        if ID_NAME.fullmatch(names[target]) or (ascends and names[target].lower() not in TARGETS):
            problem = f"{path}: the last column, {names[target]}, looks like an id: remove it"
            raise DataError(problem, [("target", "NAME")])
    else:
        target = column_position(path, asked.target, names)
    rest = [i for i in range(len(names)) if i not in (target, *left_out)]
    if points is None and reading.options.kind == "jsonl" and len(rest) == 1:
        points = None if is_numeric_dtype(reading.frame.iloc[:, rest[0]]) else rest[0]
    if target in (points, *left_out) or points in left_out:
        raise DataError(f"{path}: a column is named twice: as `target`, as `points` or in `drop`")
    return target, points, left_out


def _feature_roles(
    reading: _File, rest: list[int], left_out: dict[int, str]
) -> dict[str, list[str]]:
    """Return the values of nominal columns; add those that are no features to `left_out`."""
    from pandas.api.types import is_integer_dtype

    nominal: dict[str, list[str]] = {}
    most = min(_MANY, max(_FEW, len(reading.frame) // 2))
    plain = plain_numbers(reading.frame)
    for i in (i for i in rest if not plain[i]):
        reason, counts = _look_at(reading, i)
        if counts and len(counts) > most:
            example = next(iter(counts))
            reason = reason or f"text with {len(counts)} values, such as {example!r:.40}"
        column = reading.frame.iloc[:, i]
        if is_integer_dtype(column) and not column.dropna().between(-(2**53), 2**53).all():
            reason = f"numbers of too many digits, such as {column.max()}"
        if reason:
            left_out[i] = reason
        elif counts is not None:
            nominal[reading.names[i]] = list(counts)
    return nominal


def _marks(reading: _File, i: int, *, dated: bool) -> dict[str, list[str]]:
    """Return the values of a text column of groups or times in their order; none of numbers."""
    from pandas.api.types import is_numeric_dtype

    name, column = reading.names[i], reading.frame.iloc[:, i].dropna()
    if is_numeric_dtype(column):
        return {}
    values = sorted({*column.astype(str)})
    if dated:
        if (dates := _dates(values)) is None:
            raise DataError(
                f"{reading.path}: time: column {name} has neither numbers nor dates of one format "
                f"and meaning, such as {values[0]!r}; write dates as 2023-12-31"
            )
        values = [values[place] for place in dates.argsort(kind="stable")]
    return {name: values}


def _dates(texts: Iterable[str]) -> "pd.Series[Any] | None":
    """Return texts as dates: by ISO 8601, or else in the format of the first.

    With months, with days and with years first they must be the same, if they fit every text.
    """
    import pandas as pd

    readings: list[pd.Series[Any]] = []
    read: Any = partial(pd.to_datetime, pd.Series([*texts]), utc=True)
    with warnings.catch_warnings(action="ignore"):
        with suppress(ValueError, TypeError):
            return read(format="ISO8601")
        for first in ({}, {"dayfirst": True}, {"yearfirst": True}):
            with suppress(ValueError, TypeError):
                readings.append(read(**first))
    return readings[0] if readings and all(readings[0].equals(one) for one in readings) else None


def _repeated(reading: _File, used: Sequence[int], left_out: Sequence[int]) -> dict[str, int]:
    """Return the column of whose values the rows have most else in common, and how many it has.

    Its values are whole numbers or texts, each in 2 to 50 rows on average, and the target or two
    other columns are the same in all rows of a value: none that ranges of its numbers make.
    """
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    frame, found, most = reading.frame, dict[str, int](), 1
    codes = np.empty((0, 0))
    for i in (*left_out, *used[1:]):
        column = frame.iloc[:, i].dropna()
        of_numbers, n_values = is_numeric_dtype(column), column.nunique()
        if not _FEW <= n_values <= len(column) / 2 <= 25 * n_values:
            continue
        if of_numbers and (column % 1).any():
            continue
        if not codes.size:
            columns = [pd.factorize(frame.iloc[:, j])[0] for j in used]
            codes = np.column_stack(columns).astype(np.int32)
        column = (column if of_numbers else column.astype(str)).sort_values(kind="stable")
        rows, again = column.index.to_numpy(), (column == column.shift()).to_numpy()[1:]
        first, second = rows[:-1][again], rows[1:][again]
        alike = np.flatnonzero([j != i for j in used])
        for part in (slice(_FEW), slice(None)):  # most differ in the first pairs of rows
            same = codes[np.ix_(first[part], alike)] == codes[np.ix_(second[part], alike)]
            alike = alike[same.all(axis=0)]
        n_alike = 0
        for j in alike:
            values, counts = np.unique(codes[first, j], return_counts=True)
            n_runs = 1 + np.count_nonzero(np.diff(codes[first, j]))
            if counts.max() <= 0.9 * len(first) and not (of_numbers and n_runs == len(values)):
                n_alike += 1 if j else 2
        if n_alike > most:
            found, most = {reading.names[i]: n_values}, n_alike
    return found


def _check_matrix(
    reading: _File, matrix: str | None, target: int, features: list[int], left_out: dict[int, str]
) -> None:
    """Refuse a matrix that nobody asked for, or without labels.

    A column that names its rows shows that a table is one.
    """
    path, names = reading.path, reading.names
    columns = [names[i] for i in features]
    one_less = matrix is not None and len(columns) + 1 == len(reading.frame)
    if one_less and plain_numbers(reading.frame)[target]:
        problem = f"{path}: the matrix has no labels, column {names[target]} is one of its points"
        raise DataError(f"{problem}: add a column of labels", [("labels", "FILE")])
    is_text = ~plain_numbers(reading.frame) & reading.frame.notna().any().to_numpy()
    for name in [names[i] for i in features if matrix is not None and is_text[i]]:
        problem = f"{path}: column {name} holds text, and the target is column {names[target]}"
        raise DataError(problem, [("target", name), ("drop", [name])])
    for i in [i for i, reason in left_out.items() if reason]:
        rows, name = [*map(str, reading.frame.iloc[:, i])], names[i]
        if matrix is None and len(columns) > 1 and {*columns} <= {*rows}:
            problem = f"{path}: rows and columns have the same names (column {name})"
            raise DataError(f"{problem}: say what the matrix has", _MATRICES)
    if matrix is None:
        _refuse_symmetric(path, reading.frame.iloc[:, features])


def _refuse_symmetric(path: Path, X: Any) -> None:
    """Refuse features that are a symmetric matrix, before all their pairs are compared."""
    if X.shape[0] == X.shape[1] > 2:
        X = np.asarray(X)
        if X.dtype.kind in "fiu" and (X[0] == X[:, 0]).all() and (X == X.T).all():
            raise DataError(f"{path}: a symmetric matrix: say what it has", _MATRICES)


def _target_labels(reading: _File, target: int) -> tuple[dict[str, int] | None, bool]:
    """Count the labels, or return None if they are too many; tell whether they are numbers."""
    reason, counts = _look_at(reading, target)
    if reason:
        where = f"{reading.path}: column {reading.names[target]}"
        raise DataError(f"{where} cannot be the target: {reason}; name another by `target`")
    if counts is None:
        return counted_labels(reading.frame.iloc[:, target].dropna().to_numpy()), True
    few = len(counts) <= _MANY
    return {text: n for text, n in counts.items() if n} if few else None, False


def _look_at(reading: _File, i: int) -> tuple[str, dict[str, int] | None]:
    """Return why a column is no feature, or "", and the counts of its values if not numbers."""
    from pandas.api import types

    column = reading.frame.iloc[:, i]
    if not column.count():
        return _EMPTY, None
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        return "", None
    held = column.dropna()
    kinds = set(map(type, held)) if held.dtype == object else set()
    if other := [kind for kind in kinds if not issubclass(kind, (str, int, float, np.generic))]:
        return f"values of type {other[0].__name__}", {}
    counts: dict[Any, int] = held.astype(str).value_counts(sort=False).to_dict()
    if isinstance(column.dtype, types.CategoricalDtype):
        return "", {text: counts.get(text, 0) for text in map(str, column.cat.categories)}
    if all(map(_DATE.fullmatch, counts)):
        return f"dates{UNCLEAR if _dates(counts) is None else ''}, such as {held.iloc[0]}", counts
    if column.name not in reading.options.text:
        _refuse_odd_numbers(reading, i, counts)
        if reading.options.kind in ("delimited", "jsonl") and are_numbers(counts):
            return f"numbers of too many digits, such as {max(counts, key=len)}", counts
    if len(counts) > _MANY:
        return "", counts
    return "", {text: counts[text] for text in default_order(counts)}


def _refuse_totals(reading: _File) -> None:
    """Refuse a last row that has the sums of the others, by its word or by its numbers, or a note.

    A note is the only entry of a row, below a blank row or rows that have half of their entries.
    """
    path, options, frame = reading
    if len(frame) < _ROWS / 10:
        return
    rest, last = frame.iloc[:-1], frame.iloc[-1]
    sizes = frame.notna().sum(axis=1).to_numpy()
    above = len(sizes) - int((sizes[::-1] > 1).argmax())  # the rows above such rows
    ends = 0 in sizes[above:] or (2 * sizes[:above] >= len(last)).all()
    note: Any = last.dropna().iloc[0] if sizes[-1] == 1 and len(last) > 2 and ends else None
    is_note = isinstance(note, str) and not (rest == note).any(axis=None)
    words = [i for i, v in enumerate(last) if str(v).strip(" :").casefold() in _TOTALS]
    by_word = any(not (rest.iloc[:, i] == last.iloc[i]).any() for i in words)
    by_sum = False
    if last.isna().any():
        numbers = frame.select_dtypes("number").to_numpy(float, na_value=0.0)
        with np.errstate(all="ignore"):  # of numbers that are too large for their sum
            sums, largest = numbers[:-1].sum(axis=0), np.abs(numbers[:-1]).max(axis=0)
            equal = np.abs(sums - numbers[-1]) <= 1e-6 * np.abs(sums)
        by_sum = bool((equal & (np.abs(sums) > largest)).any())
    if by_word or by_sum or is_note:
        rows = range(above if is_note else len(rest), len(frame))
        places = [readers.row_place(path, frame, options, row) for row in rows]
        lines = [int(one.rpartition(" ")[2]) for one in places]
        can_skip = options.kind in ("delimited", "excel")
        ways = [("read_as.skip", [*options.skip, *lines])] if can_skip else []
        what = f"{note[:40]!r} alone" if is_note else "totals of the others"
        raise DataError(f"{places[-1]}: the last row has {what}: remove it", ways)


def _refuse_number_texts(reading: _File, points: int) -> None:
    """Refuse points that are texts of several numbers each: series, compared as strings."""
    texts = reading.frame.iloc[:_ROWS, points].tolist()
    if all(isinstance(one, str) and _SERIES.fullmatch(one) for one in texts):
        problem = f"{reading.path}: column {reading.names[points]} has texts of numbers"
        raise DataError(f"{problem}: write series as lists in lines of JSON, or as a .ts file")


def _leading_zeros(reading: _File, columns: Sequence[int]) -> list[str]:
    """Say which whole numbers of the first rows begin with 0, as codes do."""
    path, options, frame = reading
    notes, rows = [], list[list[str]]()
    if not (whole := [i for i in columns if frame.dtypes.iloc[i].kind in "iu"]):
        return []
    with opened(path) as stream, suppress(csv.Error):  # the text may end within an entry
        for _, row in islice(readers.split_rows(stream.read(_HEAD), options), _ROWS):
            rows.append(row)
    for i in whole:
        texts = [row[i] for row in rows if i < len(row) and re.fullmatch(r"\s*0\d+\s*", row[i])]
        if texts:
            name = reading.names[i]
            keeps = f"`read_as: {{text: [{name}]}}` keeps them as values without an order"
            notes.append(f"{name} has numbers such as {texts[0].strip()}: {keeps}")
    return notes


def _refuse_thousands(reading: _File, columns: Sequence[int]) -> None:
    """Refuse points with three digits after each, beside whole numbers without one."""
    path, options, frame = reading
    asked = []
    for i in columns:
        column = frame.iloc[:, i]
        values = column.dropna().to_numpy() if column.dtype.kind == "f" else np.empty(0)
        whole, sizes = np.floor(values) == values, np.abs(values)
        few = whole.any() and not whole.all() and (sizes < 1000).all()
        if few and (sizes[~whole] >= 1).all():
            asked.append(i)
    if not asked:
        return
    rows = islice(readers.split_rows(file_bytes(path), options), options.header, None)
    texts = [[row[i].strip() for i in asked] for _, row in rows if len(row) > max(asked)]
    for i, entries in zip(asked, zip(*texts, strict=True), strict=True):
        pointed = [text for text in entries if "." in text]
        whole = [text for text in entries if re.fullmatch(r"[+-]?\d{1,3}", text)]
        grouped = [re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) for text in pointed]
        if whole and pointed and all(grouped):
            what, ways = "say what the point separates", [("read_as.decimal", ".")]
            if _has_decimals(reading):
                what = "other columns have decimal points, so leave out those of thousands"
            else:
                ways.insert(0, ("read_as.thousands", "."))
            problem = f"{path}: column {reading.names[i]}: {pointed[0]} beside {whole[0]}"
            raise DataError(f"{problem}: {what}", ways)


def _has_decimals(reading: _File) -> bool:
    """Tell whether some points in numbers have other than three digits after them."""
    places = [i for i, kind in enumerate(reading.frame.dtypes) if kind.kind == "f"]
    rows = readers.split_rows(file_bytes(reading.path), reading.options)
    texts = (row[i].strip() for _, row in rows for i in places if i < len(row))
    return any(re.fullmatch(r"[+-]?\d*\.(\d{0,2}|\d{4,})", text) for text in texts)


def _mark_of_thousands(frame: "pd.DataFrame") -> str:
    """Return the separator of thousands in numbers such as 1.234,5; "" if there are none."""
    texts = frame.select_dtypes(exclude="number").to_numpy(object)
    for text in map(str, texts.flat):
        if match := re.fullmatch(r"\D*\d{1,3}(?:([.'\s])\d{3})+,\d+\D*", text):
            return " " if match[1].isspace() else match[1]
    return ""


def _refuse_odd_numbers(reading: _File, i: int, counts: dict[str, int]) -> None:
    """Refuse a column of which most entries look like numbers, and say what to write."""
    path, options, frame = reading
    column, decimal = frame.iloc[:, i], getattr(options, "decimal", ".")
    n = sum(counts.values())
    like = {text for text in counts if _is_like_number(text)}
    # of values below a limit of detection, which may be most
    limits = {
        t: m[1] for t in counts if (m := _LIMIT.fullmatch(t.strip())) and len(like) > _FEW / 2
    }
    n_like = sum(k for text, k in counts.items() if text in like or text in limits)
    odd = {text for text in counts if 2 * n_like > n and not readers.is_number(text, options)}
    if not odd:
        return
    row = int(column.astype(str).isin(odd).to_numpy().argmax())
    first, place = str(column.iloc[row]), readers.row_place(path, frame, options, row)
    n_plain = sum(k for text, k in counts.items() if text not in odd)
    strange = sorted(odd - like)
    gaps = ("read_as.missing", [*options.missing, *strange[:_FEW]])
    ways: list[tuple[str, Any]] = [gaps] if strange else []
    if limits and odd.isdisjoint(like):
        numbers = {text: float(limits[text].replace(decimal, ".")) for text in sorted(limits)}
        advice: dict[str, Any] = {"replace": {**options.replace, **numbers}}
        if rest := [text for text in strange if text not in limits]:
            advice["missing"] = [*options.missing, *rest[:_FEW]]
        ways.insert(0, ("read_as", advice))
    if row == 0 and options.kind in ("delimited", "excel"):  # units or types under the names
        skipped = ("read_as.skip", [*options.skip, int(place.rpartition(" ")[2])])
        is_entry = counts[first] > 1 or any(_is_like_number(str(one)) for one in frame.iloc[0])
        ways.insert(is_entry, skipped)
    remedy, text = "correct it", [("read_as.text", [*options.text, column.name])]
    if (signs := _SIGNS.intersection(first)) and _is_like_number(first):
        remedy, ways = "write - for −" if "−" in signs else f"leave out {min(signs)}", []
    elif _is_like_number(first) and not hasattr(options, "decimal"):
        remedy, ways = "store it as a number", []
    elif _is_like_number(first):
        marks = re.sub(r"[^.,'\s]", "", first.strip())
        is_point = marks[-1:] == "," and "," not in (decimal, options.thousands)
        usual, ways = ways, [("read_as.decimal", ",")] if is_point else []
        point = re.escape(marks[:1])
        groups = rf"\D*[1-9]\d{{0,2}}({point}\d{{3}})+((?!{point})\D\d*)?\D*"
        if ways and (mark := _mark_of_thousands(frame)):
            ways = [("read_as", {"decimal": ",", "thousands": mark})]
        elif marks == "." != decimal and not re.fullmatch(groups, first.strip()):
            ways, text = [], []
            remedy = "write its decimal points as in the other columns"
        elif marks[:1] == "." == decimal and _has_decimals(reading):
            remedy = "other columns have decimal points, so leave out those of thousands"
        elif marks and all(re.fullmatch(groups, text.strip()) for text in odd):
            ways.insert(0, ("read_as.thousands", " " if marks[0].isspace() else marks[0]))
        elif marks.strip() and n_plain:
            ways = ways or usual
    raise DataError(
        f"{path}: column {column.name}: {n_plain} of {n} entries are numbers; the first other is "
        f"{first!r}, {place}: {remedy}",
        [*ways, *(text if frame.attrs.get("matrix") is None else ())],
    )
