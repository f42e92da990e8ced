"""Guessing how text reads: columns with a separator, LIBSVM's pairs, ARFF."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernlearn.datasets import text
from kernlearn.datasets.columns import (
    SURELY_MISSING,
    Entries,
    guess_columns,
    is_number,
    listed,
    position,
)
from kernlearn.datasets.file_options import FileOptions, Guess
from kernlearn.datasets.formats import Arff, Expected
from kernlearn.datasets.guess_arrays import counted
from kernlearn.datasets.room import require_room
from kernlearn.exceptions import DataError

_SEPARATORS = ("\t", ";", ",", "|", None)
_OF_ENTRY = 130  # bytes of its text, its places in lists, and its count
_MOST_COLUMNS = 2**31 - 1  # numbers of columns have 32 bits
_INDEX = re.compile(r"(?<!\S)(\d{1,18}):", re.ASCII)
_LIBSVM = re.compile(r"\s*[+-]?[\d.eE+-]+(\s+\d+:[^\s:]+)*\s*(#.*)?")
_SEPARATOR_LINE = re.compile(r"""\s*"?sep=(.)"?\s*""", re.IGNORECASE)  # as Excel writes and reads
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def guess_text(path: Path, given: FileOptions) -> Guess:
    """Tell the formats apart that are text."""
    lines, encoding = decoded(path)
    head = [line for line in lines if line.strip() and not line.lstrip().startswith("%")][:100]
    if head and head[0].lstrip().lower().startswith(("@relation", "@attribute")):
        _refuse_points(path, given)
        return guess_arff(path, lines, given)
    rows = [line for line in head if not line.lstrip().startswith("#")]
    if any(":" in row for row in rows) and all(_LIBSVM.fullmatch(row) for row in rows):
        _refuse_points(path, given)
        return guess_libsvm(path, lines)
    return _guess_delimited(path, lines, given, encoding)


def _refuse_points(path: Path, given: FileOptions) -> None:
    if given.points is not None:
        raise DataError(
            f"{path}: points: is for text in columns, sheets, lines of JSON and series"
        )


def decoded(path: Path) -> tuple[list[str], str]:
    """Return the lines of a text, and how it is encoded: Excel does not write UTF-8 by default."""
    content = text.read_bytes(path)
    if content.startswith(_UTF_16) and len(content) % 2 == 0:
        return text.read_lines(path, "utf-16"), "utf-16"
    try:
        return text.read_lines(path), "utf-8"
    except DataError as error:
        # 255, a letter in cp1252, is a sign of a file that is no text
        if "UTF-8" not in str(error) or b"\0" in content or b"\xff" in content:
            raise
        try:
            return text.read_lines(path, "cp1252"), "cp1252"
        except DataError:
            raise error from None


def guess_libsvm(path: Path, lines: Sequence[str]) -> Guess:
    """Guess the number of features and the first index of LIBSVM's text."""
    labels: list[str] = []
    lowest, highest = 1, 0
    for number, line in enumerate(lines, start=1):
        label, *rest = line.split("#", 1)[0].split(maxsplit=1) or [""]
        if label:
            labels.append(label)
        for found in _INDEX.finditer("".join(rest)):
            # a faulty index is reported when the file is loaded
            index = int(found[1])
            lowest, highest = min(lowest, index), max(highest, index)
        if highest >= _MOST_COLUMNS:
            raise text.fault(path, number, highest, f"indices below {_MOST_COLUMNS}")
    target = Entries("label", labels)
    zero_based = lowest == 0
    options = {"kind": "libsvm", "zero_based": zero_based}
    remarks = [f"LIBSVM format, the first feature has index {int(not zero_based)}"]
    n_features = highest + zero_based
    return Guess(options, n_features, target.labels(), target.numeric, remarks)


def _guess_delimited(path: Path, lines: list[str], given: FileOptions, encoding: str) -> Guess:
    """Guess the separator, whether entries are in quotes, and the roles of columns."""
    remarks: list[str] = []
    options: dict[str, Any] = {"kind": "delimited"}
    if encoding != "utf-8":
        options["encoding"] = encoding
    records = split_rows(path, lines, given, options, remarks)
    if not records:
        raise DataError(f"{path}: the file has no rows")
    separator = options["delimiter"]
    width = len(records[0][1])
    for line, row in records:
        if len(row) != width:
            hint = ""
            if line == records[1][0] and len(row) == width + 1:
                hint = "; the names of rows have no name themselves: give one in the first line"
            raise DataError(
                f"{path}, line {line}: found {len(row)} columns, expected {width}{hint}"
            )
    rows = [row for _, row in records]
    header = _has_header(rows) if given.header is None else given.header
    names = [name.strip('"') for name in rows.pop(0)] if header else []
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise DataError(f"{path}, line 1: two columns are called {repeated[0]!r}; rename one")
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    contents = [[row[i] for row in rows] for i in range(width)]
    if separator != ",":
        contents = _with_points(contents, options, remarks)
    all_names = names or [str(i) for i in range(width)]
    columns = [Entries(n, entries) for n, entries in zip(all_names, contents, strict=True)]
    separator_name = {None: "blanks", "\t": "tabulator"}.get(separator, separator)
    remarks.append(f"columns separated by {separator_name!r}")
    remarks.append(f"the first line {'is a header' if header else 'is data'}")
    if not header:
        remarks.append(
            f"the columns have no names: x1 to x{width}, for positions 0 to {width - 1}"
        )
    options["header"] = header
    return guess_columns(path, columns, names, given, options, remarks)


def split_rows(
    path: Path,
    lines: Sequence[str],
    given: FileOptions,
    options: dict[str, Any] | None = None,
    remarks: list[str] | None = None,
) -> list[tuple[int, list[str]]]:
    """Split all lines at a separator that is guessed, with the number of each.

    Options of the format and remarks are added to those given.
    """
    options = {} if options is None else options
    remarks = [] if remarks is None else remarks
    lines, named = list(lines), given.delimiter
    at = [i for i, line in enumerate(lines) if line.strip()]
    if at and (first := _SEPARATOR_LINE.fullmatch(lines[at[0]])):
        named = named or first[1]
        options["comment"] = lines[at[0]].strip()[:4]
        remarks.append(f"line {at[0] + 1}, {lines[at[0]].strip()}, names the separator")
        lines[at.pop(0)] = ""
    separator = named or _separator(path, [lines[i] for i in at[:100]])
    separator = None if separator == "blanks" else separator
    options["delimiter"] = separator
    return _records(path, lines, at, separator, options)


def _entries(line: str, separator: str | None) -> list[str]:
    """Split a line, with quotes if it has any."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator or " ", skipinitialspace=True), [])
    except csv.Error:  # an entry is too long; the line is named when all are read
        return line.split(separator)


def _records(
    path: Path, lines: list[str], at: list[int], separator: str | None, options: dict[str, Any]
) -> list[tuple[int, list[str]]]:
    """Split all lines, with the number of each; note in the options whether quotes are used."""
    marks = (separator,) if separator else (" ", "\t")
    n_entries = sum(lines[i].count(mark) for i in at for mark in marks) + len(at)
    require_room(path, _OF_ENTRY * n_entries, f"{n_entries} entries of {len(at)} lines")
    # names in quotes alone read without the option
    if any('"' in lines[i] for i in at[1:]):
        options["quote"] = '"'
        found = text.quoted_records(path, lines, 0, separator, '"')
        return [(line, [entry.strip() for entry in row]) for line, row in found]
    return [(i + 1, [entry.strip() for entry in lines[i].split(separator)]) for i in at]


def _with_points(
    contents: list[list[str]], options: dict[str, Any], remarks: list[str]
) -> list[list[str]]:
    """Write points for the decimal commas in columns of numbers, if the file has commas."""

    def with_commas(entries: list[str]) -> bool:
        held = [entry for entry in entries if entry not in SURELY_MISSING and not is_number(entry)]
        return bool(held) and all(_DECIMAL_COMMA.fullmatch(entry) for entry in held)

    if not any(map(with_commas, contents)):
        return contents
    options["decimal"] = ","
    remarks.append("numbers have a decimal comma")
    return [
        [entry.replace(",", ".") for entry in entries] if with_commas(entries) else entries
        for entries in contents
    ]


def _separator(path: Path, lines: Sequence[str]) -> str | None:
    def width(line: str, separator: str | None) -> int:
        return len(_entries(line, separator))

    widths = {s: {width(line, s) for line in lines} for s in _SEPARATORS}
    counts = {separator: max(n) for separator, n in widths.items() if len(n) == 1 and max(n) > 1}
    if not counts:
        raise DataError(
            f"{path}: no separator gives the same number of columns, at least 2, in all of the "
            "first lines; name it if there is one"
        )
    return max(counts, key=counts.__getitem__)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    head, body = rows[0], rows[1:1000]
    if not body:
        return False
    if any(entry in SURELY_MISSING or is_number(entry) for entry in head):
        return False
    if len(set(head)) < len(head) and not any(
        all(is_number(row[i]) for row in body) for i in range(len(head))
    ):
        return False  # values may occur twice
    # a name does not occur below itself, and text above numbers is a name
    return all(entry not in {row[i] for row in body} for i, entry in enumerate(head))


def guess_arff(path: Path, lines: list[str], given: FileOptions) -> Guess:
    """Take the declarations of an ARFF file."""
    from kernlearn.datasets.sparse_text import read_declarations  # loads scipy

    _, types, _ = read_declarations(path, lines)
    names, width = tuple(types), len(types)
    target = -1 if given.target is None else given.target
    chosen = names[position(path, target, names, width)]
    kind = types[chosen]
    if kind in ("text", "dates"):
        raise DataError(f"{path}: the target holds {kind}; declare its values as {{a, b, …}}")
    dropped = {names[position(path, column, names, width)] for column in given.drop}
    texts = {n: held for n, held in types.items() if held in ("text", "dates")}
    texts = {n: held for n, held in texts.items() if n not in dropped}
    remarks = ["ARFF format", f"the target is the attribute {chosen}"]
    remarks += [f"attribute {name} is left out: {held}" for name, held in texts.items()]
    nominal = {n: v for n, v in types.items() if isinstance(v, tuple) and n not in dropped}
    remarks += [
        f"attribute {name} is nominal: {listed(values)}"
        for name, values in nominal.items()
        if name != chosen
    ]
    drops = [name for name in names if name in dropped or name in texts]
    options: dict[str, Any] = {"kind": "arff", "target": chosen, "drop": drops}
    n_features = width - 1 - len(drops)
    declared = kind if isinstance(kind, tuple) else None
    y = Arff.model_validate(options).read([path], Expected(n_features, declared)).y
    if declared is None:
        return Guess(options, n_features, counted(y), True, remarks, left_out=texts)
    counts = Counter(y.astype(int).tolist())
    labels = {label: counts[code] for code, label in enumerate(declared) if code in counts}
    return Guess(
        options,
        n_features,
        labels,
        False,
        remarks,
        ordered=True,
        left_out=texts,
    )
