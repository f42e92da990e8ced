"""Formats and dialects of files without a card, recognised by their content."""

import csv
import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kernlearn.checks import listed
from kernlearn.datasets import readers
from kernlearn.datasets.card import Arrays, Columns, Delimited, Pairs, Reading, faults
from kernlearn.datasets.files import file_bytes
from kernlearn.datasets.tables import column_position, default_names
from kernlearn.exceptions import DataError
from kernlearn.yaml import shortened

if TYPE_CHECKING:
    import pandas as pd

#: Rows from which the separator and the header are guessed.
HEAD_ROWS = 100
#: Bytes from which the format is recognised.
HEAD = 200_000
_ABOVE = 20  # lines above a table that may be a text
_SEPARATORS = ("\t", ";", "|", ",", None)
# Numbers, also with decimal commas, separators of thousands and signs.
_LIKE_NUMBER = re.compile(
    r"[+-]?([$€£¥−] ?)?[+-]?"
    r"((\d+|\d{1,3}([., '\u00a0\u202f]\d{3})+)([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?"
    r"([ \u00a0\u202f]?[$€£¥%])?",
    re.ASCII,
)
_PAIRS = re.compile(r"\s*[+-]?[\d.,eE+-]+(\s+qid:\d+)?(\s+\d+:[+-]?[\d.eE+infaINFA-]+)*\s*(#.*)?")
_TWO_COLUMNS = "write CSV with columns for the sequence and the class"
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


class TableFile(NamedTuple):
    """A file, the options by which it was read, and what is in it."""

    path: Path
    options: Any
    frame: "pd.DataFrame"

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(map(str, self.frame.columns))

    def place(self, row: int) -> str:
        """Name a row in a message."""
        return readers.row_place(self.path, self.frame, self.options, row)

    def without(self, rows: Iterable[int]) -> list[tuple[str, Any]]:
        """Return the setting that leaves out rows, where the format has one."""
        if self.options.kind not in ("delimited", "excel"):
            return []
        lines = [int(self.place(row).rpartition(" ")[2]) for row in rows]
        return [("read_as.skip", [*self.options.skip, *lines])]


def recognised(path: Path, content: bytes, asked: Reading) -> Any:
    """Return the format of a file, and how its text reads."""
    points = {} if asked.points is None else {"points": asked.points}
    format = with_options(path, _format(path, content), {**asked.read_as, **points})
    if asked.sheet is not None and format.kind != "excel":
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    with readers.library_errors(path, "damaged, or in another encoding"):
        return _dialect(path, content, format, asked) if isinstance(format, Delimited) else format


def with_options(path: Path, format: Any, options: Mapping[str, Any]) -> Any:
    """Return a format with some options, as a card states them."""
    how = {**format.model_dump(exclude_unset=True), **options}
    try:
        return type(format).model_validate(how)
    except ValidationError as error:
        wrong = "; ".join(faults(error, how))
        raise DataError(f"{path}: how it reads: {wrong} ({format.kind})") from None


def table_file(path: Path, format: Any, n_lines: int, sheet: Any = None) -> TableFile:
    """Read a file of columns that has so many lines, if it is text."""
    if format.kind == "excel":
        format = format.model_copy(update={"sheet": _sheet(path, sheet)})
        rows = readers.first_rows(path, format, HEAD_ROWS)
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
            format = format.model_copy(update={"header": _has_header(path, *rows)})
    frame = readers.content_of(path, format)
    if getattr(format, "quote", None) and n_lines > len(frame) + format.header:
        try:  # line breaks in entries may be those of a quote that does not end
            deque(readers.split_rows(file_bytes(path), format), maxlen=0)
        except csv.Error as error:
            _refuse_rows(path, [], str(error), ())
    return TableFile(path, format, frame)


def read_frame(path: Path) -> "pd.DataFrame":
    """Read a table with named columns of any format and dialect, without roles for them."""
    content = file_bytes(path)
    format = _format(path, content)
    if isinstance(format, Arrays | Pairs):
        raise DataError(f"{path}: no table with named columns, but {format.kind}")
    try:
        if isinstance(format, Delimited):
            named = format.model_copy(update={"header": True})
            format = _dialect(path, content, named, Reading(read_as={"header": True}))
        return table_file(path, format, content.count(b"\n")).frame
    except DataError as error:  # without what a config could say
        raise DataError(error.problem) from None


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
    head = content[:HEAD].decode(encoding, errors="ignore").removeprefix("\ufeff")
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
    if re.search(r"\s\d+:", head) and all(map(_PAIRS.fullmatch, lines[:HEAD_ROWS])):
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
    place = str(sheet) if str(sheet) in names else sheet or 0  # as 2024, a number in YAML
    return names[column_position(path, place, names, "sheet")]


# Text in columns


def _dialect(path: Path, content: bytes, format: Delimited, asked: Reading) -> Delimited:
    """Guess the separator, quotes and header of text in columns, unless the user states them."""
    tried, fault, header, points = [], "", format.header, format.points
    separators: Any = (format.delimiter,) if "delimiter" in asked.read_as else _SEPARATORS
    standard = format.standard_missing or "standard_missing" not in asked.read_as
    missing = format.missing if standard else ("", *format.missing)  # an empty entry always is
    format = format.model_copy(update={"standard_missing": standard, "missing": missing})
    for separator in separators:
        format = format.model_copy(update={"delimiter": separator})
        try:
            split = [*islice(readers.split_rows(content, format), HEAD_ROWS)]
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
    # by the first separator that gives columns: a comment may have blanks as entries do
    split = next((one for one in tried if one and len(one[-1][1]) > 1), rows)
    (line, above), (_, last) = split[0], split[-1]
    if above[:1] and above[0].startswith("#") and len(above) != len(last):
        problem = f"{path}: line {line} begins with # and has other columns than the rest: drop it"
        skip = sorted({*skipped, line})
        raise DataError(problem, [("read_as.comment", "#"), ("read_as.skip", skip)])
    if width < 2 and not odd:
        texts = ["".join(row) for _, row in rows]
        marks = sorted({*re.sub(r"[\w\s.+-]", "", texts[0])})
        alike = [mark for mark in marks if len({text.count(mark) for text in texts}) == 1]
        ways = [("read_as.delimiter", mark) for mark in alike]
        raise DataError(f"{path}: no separator gives several columns: {_TWO_COLUMNS}", ways)
    where, ways = "", [("read_as.delimiter", ";")] if width < 2 else []
    if odd:
        line, row = rows[odd[0]]
        where = f" (line {line} has {len(row)}, line {rows[-1][0]} {width})"
    lacks_last = (
        odd == [0] and len(rows[0][1]) == width - 1 and not any(r[-1] for _, r in rows[1:])
    )
    if lacks_last:
        where += ", which end with a separator, but the first does not"
    elif odd and width > 1 and 2 * len(odd) < len(rows):
        lines = {rows[i][0] for i in odd}
        if odd[0] == 0:  # a text above the table, up to a blank line or the last odd one
            ends = [n for (n, _), (after, _) in pairwise(rows) if after > n + 1 and n < _ABOVE]
            lines |= {*range(1, max(*ends, *lines, 0) + 1)}
        ways = [("read_as.skip", sorted({*skipped, *lines}))]
    if len({len("".join(row)) for _, row in rows}) == 1 < len(rows) and width < 2:
        where += ", but all are of one width: pandas.read_fwf reads columns of fixed widths"
    problem = f"{path}: no separator gives several columns, as many in all rows{where}: correct it"
    raise DataError(problem, ways)


def _has_header(path: Path, head: list[str], *rows: list[str]) -> bool:
    """Tell whether the first row names the columns; refuse what could be either."""
    counted = list(map(str, range(len(head))))  # what pandas writes for columns without names
    fits = []
    for i, name in enumerate(head):
        column = [row[i] for row in rows]
        is_numeric = 2 * sum(map(is_like_number, column)) > len(column)
        fits.append(is_like_number(name) if is_numeric else name in column)
    has_numbers = any(map(is_like_number, head))
    if has_numbers and all(fits) and head not in (counted, ["", *counted[:-1]]):
        return False
    if has_numbers or any(fit and name for fit, name in zip(fits, head, strict=True)):
        shown = shortened(", ".join(head))
        problem = f"{path}: whether {shown} is data or names columns is not clear: add names above"
        ways = [("read_as.header", True), ("read_as.header", False)]
        is_data = 2 * sum(bool(re.search(r"\d[.,]\d", name)) for name in head) > len(head)
        raise DataError(problem, ways[::-1] if is_data else ways)
    return True


def is_like_number(text: str) -> bool:
    """Tell whether a text looks like a number, in whatever way it is written."""
    return bool(_LIKE_NUMBER.fullmatch(text.strip()))
