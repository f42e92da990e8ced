"""Guessing how a user's data file reads: format, target, nominal columns, missing entries."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernlearn.datasets import arrays, text
from kernlearn.datasets.formats import Arff, Expected
from kernlearn.exceptions import DataError

VERSION = 1  # to be raised when other guesses are made: cards made before are then made again
_TASKS = ("classification", "regression", "ordinal")
_FEW = 20  # up to this many distinct whole numbers are taken for classes
_MANY = 200  # with more distinct values, text is no nominal column and numbers are no classes
_SEPARATORS = ("\t", ";", ",", "|", None)
_TARGETS = {"target", "class", "label", "y", "outcome"}
_LIBSVM = re.compile(r"\s*[+-]?[\d.eE+-]+(\s+\d+:[^\s:]+)*\s*(#.*)?")
_MISSING = {"?", "", "NA", "N/A", "na", "NaN", "nan", "null", "NULL"}
_SURELY_MISSING = {"?", ""}  # in a column of text NA may be a value

Column = int | str


class Wishes(NamedTuple):
    """What a user says about a file; see :func:`~kernlearn.datasets.add`."""

    target: Column | None = None
    delimiter: str | None = None
    header: bool | None = None
    drop: Sequence[Column] = ()


class Guess(NamedTuple):
    """How a file reads: the format as in a card, and counts of the target's values if few."""

    format: dict[str, Any]
    n_features: int
    labels: dict[str, int] | None
    numeric: bool  # whether the target is a number
    remarks: list[str]  # the guesses in words, for users


class Entries:
    """The entries of a column: their counts, which are missing, whether the others are numbers."""

    def __init__(self, name: str, entries: Iterable[str]) -> None:
        self.name, self.counts = name, Counter(entries)
        texts = {entry for entry in self.counts if not _is_number(entry)}
        self.numeric = texts <= _MISSING and len(texts) < len(self.counts)
        self.missing = texts & (_MISSING if self.numeric else _SURELY_MISSING)

    def labels(self) -> dict[str, int] | None:
        """Return the values in order with their counts; None if there are too many."""
        if len(self.counts) > _MANY:
            return None
        labels: Counter[str] = Counter()
        for entry, count in self.counts.items():
            if entry not in self.missing:
                labels[text.canonical_label(entry)] += count
        return dict(sorted(labels.items(), key=lambda x: float(x[0]) if self.numeric else x[0]))


def card_content(
    path: Path, name: str, task: str | None, wishes: Wishes
) -> tuple[dict[str, Any], Guess]:
    """Guess how a file reads; return the content of a card for it, and the guess."""
    if task is not None and task not in _TASKS:
        raise DataError(f"task {task!r}: expected one of {', '.join(_TASKS)}")
    guess = _guess(path, wishes)
    task = task or _task(guess)
    form: dict[str, Any] = {"files": [re.sub(r"[:\\/]", "_", path.name.strip()) or "data"]}
    form["format"] = guess.format
    if task == "regression" and not guess.numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        if guess.labels is None:
            raise DataError(f"{path}: the target has too many values for {task}; name its column")
        if len(guess.labels) < 2:
            raise DataError(f"{path}: the target has only one value: {', '.join(guess.labels)}")
        form |= {"rows": sum(guess.labels.values()), "classes": guess.labels}
    content = {"name": name, "title": name, "task": task, "n_features": guess.n_features}
    content |= {"source": {"publisher": "the user"}, "forms": [form]}
    content |= {"licence": "not stated", "citation": "not stated"}
    return content, guess


def file_name(path: Path) -> str:
    """Derive the name of a data set from that of its file."""
    words = re.findall(r"[a-z0-9]+", path.name.split(".")[0].lower())
    return "_".join(["own", *words]) if not words or words[0][0].isdigit() else "_".join(words)


def _task(guess: Guess) -> str:
    labels = guess.labels or {}
    whole = bool(labels) and all(label.lstrip("-").isdecimal() for label in labels)
    few = whole and len(labels) <= _FEW
    return "classification" if few or not guess.numeric else "regression"


def _guess(path: Path, wishes: Wishes) -> Guess:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with path.open("rb") as opened:
        magic = opened.read(8)
    if magic.startswith(b"PK\x03\x04"):
        return _guess_npz(path, wishes.target)
    if magic.startswith(b"PAR1"):
        return _guess_parquet(path, wishes)
    if magic.startswith((b"\x89HDF", b"MATLAB")):
        raise DataError(f"{path}: for this format write a card by hand, see CONTRIBUTING.md")
    lines = text.read_lines(path)
    head = [line for line in lines if line.strip() and not line.lstrip().startswith("%")][:100]
    if head and head[0].lstrip().lower().startswith(("@relation", "@attribute")):
        return _guess_arff(path, lines, wishes)
    rows = [line for line in head if not line.lstrip().startswith("#")]
    if any(":" in row for row in rows) and all(_LIBSVM.fullmatch(row) for row in rows):
        return _guess_libsvm(lines)
    return _guess_delimited(path, lines, wishes)


def _guess_libsvm(lines: Sequence[str]) -> Guess:
    rows = [words for line in lines if (words := line.split("#", 1)[0].split())]
    target = Entries("label", [label for label, *_ in rows])
    # a faulty index is reported when the file is loaded
    indices = {int(i) for row in rows for i in re.findall(r"(\d+):", " ".join(row[1:]))}
    zero_based = 0 in indices
    options = {"kind": "libsvm", "zero_based": zero_based}
    remarks = [f"LIBSVM format, the first feature has index {int(not zero_based)}"]
    n_features = max(indices, default=0) + zero_based
    return Guess(options, n_features, target.labels(), target.numeric, remarks)


def _guess_delimited(path: Path, lines: Sequence[str], wishes: Wishes) -> Guess:
    at = [i for i, line in enumerate(lines) if line.strip()]
    separator = wishes.delimiter or _separator(path, [lines[i] for i in at[:100]])
    separator = None if separator == "blanks" else separator
    rows = [[entry.strip() for entry in lines[i].split(separator)] for i in at]
    width = len(rows[0])
    for i, row in zip(at, rows, strict=True):
        if len(row) != width:
            raise DataError(f"{path}, line {i + 1}: found {len(row)} columns, expected {width}")
    header = _has_header(rows) if wishes.header is None else wishes.header
    if header and at[0] > 0:
        raise DataError(f"{path}: the header must be the first line; remove the blank ones before")
    names = [name.strip('"') for name in rows.pop(0)] if header else []
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise DataError(f"{path}, line 1: two columns are called {repeated[0]!r}; rename one")
    if any('"' in lines[i] for i in at[header:]):
        raise DataError(
            f"{path}: entries are in quotes, which a card cannot express; save it without quotes"
        )
    all_names = names or [str(i) for i in range(width)]
    columns = [Entries(name, [row[i] for row in rows]) for i, name in enumerate(all_names)]
    separator_name = {None: "blanks", "\t": "tabulator"}.get(separator, separator)
    remarks = [f"columns separated by {separator_name!r}"]
    remarks.append(f"the first line {'is a header' if header else 'is data'}")
    options = {"kind": "delimited", "delimiter": separator, "header": header}
    return _guess_columns(path, columns, names, wishes, options, remarks)


def _guess_columns(
    path: Path,
    columns: list[Entries],
    header: Sequence[str],
    wishes: Wishes,
    options: dict[str, Any],
    remarks: list[str],
) -> Guess:
    """Choose the role of each column from its entries."""
    target, remark = _choose_target(path, wishes.target, header, len(columns))
    remarks.append(remark)
    drop = {_position(path, column, header, len(columns)) for column in wishes.drop}
    chosen = columns[target]
    nominal: dict[str, list[str]] = {}
    missing: set[str] = set()
    for i, column in enumerate(columns):
        if i == target or i in drop:
            continue
        missing |= column.missing
        if column.numeric:
            continue
        values = column.labels()
        if not values or len(values) > max(20, chosen.counts.total() // 2):
            drop.add(i)
            reason = "it has no entries" if values == {} else "text with too many values"
            remarks.append(f"column {column.name} is left out: {reason}")
            continue
        nominal[column.name] = list(values)
        some = ", ".join(list(values)[:5]) + (", …" if len(values) > 5 else "")
        remarks.append(f"column {column.name} is nominal: {some}")
    if len(missing) > 1:
        raise DataError(
            f"{path}: {' and '.join(map(repr, sorted(missing)))} both stand for missing entries; "
            "use only one of them"
        )
    if absent := sum(chosen.counts[entry] for entry in chosen.missing):
        raise DataError(f"{path}: the target is missing in {absent} rows; remove them")
    if missing:
        options["missing"] = missing.pop()
        remarks.append(f"{options['missing']!r} stands for a missing entry")
    names = {column.name: column.name for column in columns}
    if not header:
        names = {name: f"x{i + 1}" for i, name in enumerate(names)} | {chosen.name: "target"}
        options["columns"] = list(names.values())
    options["target"] = names[chosen.name]
    options["drop"] = [names[columns[i].name] for i in sorted(drop)]
    options["nominal"] = {names[name]: values for name, values in nominal.items()}
    n_features = len(columns) - 1 - len(drop)
    return Guess(options, n_features, chosen.labels(), chosen.numeric, remarks)


def _separator(path: Path, lines: Sequence[str]) -> str | None:
    widths = {s: {len(line.split(s)) for line in lines} for s in _SEPARATORS}
    counts = {separator: max(n) for separator, n in widths.items() if len(n) == 1 and max(n) > 1}
    if not counts:
        raise DataError(
            f"{path}: no separator gives the same number of columns, at least 2, in all of the "
            "first lines; name it if there is one"
        )
    return max(counts, key=counts.__getitem__)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    head, body = rows[0], rows[1:1000]
    if not body or len(set(head)) < len(head):
        return False
    if any(entry in _SURELY_MISSING or _is_number(entry) for entry in head):
        return False
    # a name does not occur below itself, and text above numbers is a name
    return all(entry not in {row[i] for row in body} for i, entry in enumerate(head))


def _is_number(entry: str) -> bool:
    with suppress(ValueError):
        text.number(entry)
        return True
    return False


def _position(path: Path, column: Column, names: Sequence[str], width: int) -> int:
    """Return the position of a column; text that is no name may be a number."""
    if isinstance(column, str) and column not in names and column.removeprefix("-").isdecimal():
        column = int(column)
    return text.column_position(path, column, names, width)


def _choose_target(
    path: Path, target: Column | None, names: Sequence[str], width: int
) -> tuple[int, str]:
    """Return the position of the target, and a remark on how it was chosen."""
    if target is not None:
        chosen = _position(path, target, names, width)
        return chosen, f"the target is column {names[chosen] if names else chosen}"
    for i, name in enumerate(names):
        if name.lower() in _TARGETS:
            return i, f"the target is column {name}, by its name"
    return width - 1, f"the target is the last column{f', {names[-1]}' if names else ''}"


def _guess_arff(path: Path, lines: list[str], wishes: Wishes) -> Guess:
    from kernlearn.datasets.sparse_text import read_declarations  # loads scipy

    _, types, _ = read_declarations(path, lines)
    names, width = tuple(types), len(types)
    target = -1 if wishes.target is None else wishes.target
    chosen = names[_position(path, target, names, width)]
    kind = types[chosen]
    if kind == "text":
        raise DataError(f"{path}: the target is text; declare its values as {{a, b, …}}")
    dropped = {names[_position(path, column, names, width)] for column in wishes.drop}
    texts = [n for n, held in types.items() if held == "text" and n not in dropped]
    remarks = ["ARFF format", f"the target is the attribute {chosen}"]
    remarks += [f"attribute {name} is left out: text" for name in texts]
    drops = [name for name in names if name in dropped or name in texts]
    options: dict[str, Any] = {"kind": "arff", "target": chosen, "drop": drops}
    n_features = width - 1 - len(drops)
    declared = kind if isinstance(kind, tuple) else None
    y = Arff.model_validate(options).read([path], Expected(n_features, declared)).y
    if declared is None:
        return Guess(options, n_features, _counted(y), True, remarks)
    counts = Counter(y.astype(int).tolist())
    labels = {label: counts[code] for code, label in enumerate(declared) if code in counts}
    return Guess(options, n_features, labels, False, remarks)


def _guess_npz(path: Path, target: Column | None) -> Guess:
    stored = arrays.load_npz(path)
    held = ", ".join(f"{name} {array.shape}" for name, array in stored.items()) or "nothing"
    matrices = [name for name, array in stored.items() if array.ndim == 2 and min(array.shape) > 1]
    matrix = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None
    if matrix is None:
        raise DataError(
            f"{path}: which array is the matrix is unclear; call it X. It holds {held}"
        )
    n_samples, n_features = stored[matrix].shape
    vectors = [n for n, array in stored.items() if n != matrix and array.size == n_samples]
    wanted = str(target) if target is not None else "y" if "y" in vectors else None
    labels = wanted or (vectors[0] if len(vectors) == 1 else None)
    if labels not in vectors:
        raise DataError(f"{path}: {wanted or 'no array'} holds one label per row. It holds {held}")
    y = stored[labels].ravel()
    options = {"kind": "npz", "matrix": matrix, "target": labels}
    remarks = [f"NPZ format, features in {matrix}, the target in {labels}"]
    return Guess(options, n_features, _counted(y), y.dtype.kind in "fiub", remarks)


def _guess_parquet(path: Path, wishes: Wishes) -> Guess:
    table = arrays.load_parquet(path)
    names = list(table.column_names)
    columns = [
        Entries(name, ["" if value is None else str(value) for value in column.to_pylist()])
        for name, column in zip(names, table.columns, strict=True)
    ]
    options: dict[str, Any] = {"kind": "parquet"}
    guess = _guess_columns(path, columns, names, wishes, options, ["Parquet format"])
    options.pop("missing", None)  # a missing entry is null
    return guess


def _counted(y: Any) -> dict[str, int] | None:
    values, counts = np.unique(y, return_counts=True)
    if len(values) > _MANY:
        return None
    return dict(zip(text.canonical_labels(values).tolist(), counts.tolist(), strict=True))
