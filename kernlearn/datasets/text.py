"""Text files: lines, numbers, labels, and tables in columns separated by a delimiter."""

import csv
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kernlearn.datasets.formats import Delimited, Expected, Table, default_names
from kernlearn.datasets.objects import as_objects
from kernlearn.datasets.room import require_room
from kernlearn.datasets.unpacking import read_bytes
from kernlearn.exceptions import DataError

# without backtracking, which takes hours for a million digits
_NUMBER = re.compile(r"[+-]?(\d++\.?+\d*+|\.\d++)([eE][+-]?\d++)?+", re.ASCII)
_WIDE = re.compile(rb"[\xf0-\xf4]")
_OF_LINE = 80  # bytes of a line's text beside its letters, and of its place in a list
_OF_NUMBER = 28  # an array that grows, the features, and these in order

Convert = Callable[[str], float]
Split = Callable[[str], list[str]]
Record = tuple[int, list[str]]


def read_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return all lines of a text file, also blank ones, so that line i is at position i - 1."""
    content = read_bytes(path)
    _require_lines(path, content, encoding)
    try:
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wanted = f"{encoding.upper()} text"
        raise fault(path, line, content[error.start : error.start + 1], wanted) from None
    if not text or text.isspace():
        raise DataError(f"{path}: the file is empty")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise fault(path, text.count("\n", 0, text.index("\0")) + 1, "\0", "text")
    return text.split("\n")


def _require_lines(path: Path, content: bytes, encoding: str) -> None:
    """Refuse a file of which the text and its lines take too much memory."""
    width = 1
    if encoding != "utf-8":
        width = 2
    elif not content.isascii():  # a letter outside the Basic Multilingual Plane widens all others
        width = 4 if _WIDE.search(content) else 2
    n_returns = content.count(b"\r")
    n_lines = content.count(b"\n") + n_returns + 1
    copies = 3 if n_returns else 2
    needed = len(content) * (1 + width * copies) + _OF_LINE * n_lines
    require_room(path, needed, f"its {n_lines} lines", held=len(content))


def fault(path: Path, line: int, found: object, expected: str, column: str = "") -> DataError:
    """Make the error for one fault in a file: one line with place, value and expectation."""
    place = f"{path}, line {line}" + (f", column {column}" if column else "")
    text = repr(found)
    text = text[:57] + "..." if len(text) > 60 else text
    return DataError(f"{place}: found {text}, expected {expected}")


def number(text: str) -> float:
    """Read a finite decimal number; anything else, such as NaN, raises a ValueError."""
    value = float(text) if _NUMBER.fullmatch(text.strip()) else float("nan")
    if not abs(value) < float("inf"):
        raise ValueError("a finite number")
    return value


def canonical_label(label: Any) -> str:
    """Spell a label so that ``+1``, ``1``, ``1.0`` and the number 1 are the same text."""
    text = str(label).strip()
    try:
        value = float(text)
        return str(int(value)) if value == int(value) else repr(value)
    except (ValueError, OverflowError):  # no number, NaN or infinite
        return text


def canonical_labels(y: np.typing.ArrayLike) -> np.ndarray:
    """Spell every label of an array, text or numbers, as :func:`canonical_label` does."""
    labels = np.asarray(y)
    if labels.dtype.kind == "b":
        labels = labels.astype(int)
    elif labels.dtype.kind == "f":
        labels = labels.astype(np.float64)  # the shortest form of a float32 is another number
    distinct, positions = np.unique(labels, return_inverse=True)
    spellings = np.array([canonical_label(label) for label in distinct], dtype=np.str_)
    return spellings[positions.reshape(-1)]


def coder(values: Sequence[str], renamed: Mapping[str, str] = MappingProxyType({})) -> Convert:
    """Return a function from a text, possibly `renamed`, to its position in `values`.

    It raises a ValueError for any other text.
    """
    codes = {canonical_label(value): float(code) for code, value in enumerate(values)}
    for text, label in renamed.items():
        if label in values:
            codes[canonical_label(text)] = codes[canonical_label(label)]
    listed = ", ".join(values)
    expected = f"one of {listed[:200]}{'…' if len(listed) > 200 else ''}"

    @lru_cache(maxsize=1024)
    def code(text: str) -> float:
        try:
            return codes[canonical_label(text)]
        except KeyError:
            raise ValueError(expected) from None

    return code


class Layout(NamedTuple):
    """The columns of a file in order: how their entries read, and their roles by position.

    There are several targets if they are one-hot, or none. `nominal` are the values of features.
    """

    names: tuple[str, ...]
    convert: tuple[Convert, ...]
    features: list[int]
    targets: list[int]
    nominal: Mapping[str, tuple[str, ...]]

    def value(self, path: Path, line: int, i: int, entry: str) -> float:
        """Convert the entry of column `i` in a line of a file."""
        try:
            return self.convert[i](entry)
        except ValueError as error:
            column = f"{i + 1} ({self.names[i]})"
            raise fault(path, line, entry.strip(), str(error), column) from None


def make_layout(
    names: tuple[str, ...],
    targets: list[int],
    dropped: set[int],
    nominal: Mapping[str, tuple[str, ...]],
    label: Convert,
    missing: str | Collection[str] | None,
    read_number: Convert = number,
) -> Layout:
    """Lay out columns; `label` converts the target, `missing` is a feature's missing entry."""
    missing = {missing} if isinstance(missing, str) else missing
    features = [i for i in range(len(names)) if i not in targets and i not in dropped]
    used = {names[i]: nominal[names[i]] for i in features if names[i] in nominal}
    convert: list[Convert] = [_ignore] * len(names)
    for i in targets:
        convert[i] = label
    for i in features:
        convert[i] = coder(used[names[i]]) if names[i] in used else read_number
        if missing is not None:
            convert[i] = partial(_or_missing, convert[i], missing)
    return Layout(names, tuple(convert), features, targets, used)


def _ignore(text: str) -> float:
    return 0.0


def _or_missing(convert: Convert, missing: Collection[str], text: str) -> float:
    return float("nan") if text.strip() in missing else convert(text)


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate arrays; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def column_position(
    path: Path, column: int | str, names: Sequence[str] | None, width: int, noun: str = "column"
) -> int:
    """Return the position of a column that a card gives by name or position."""
    if isinstance(column, str):
        if names is None or column not in names:
            hint = (
                f"; its {noun}s: {', '.join(names)[:200]}" if names else " by name, only by number"
            )
            raise DataError(f"{path}: has no {noun} called {column!r:.60}{hint}")
        return list(names).index(column)
    if not -width <= column < width:
        raise DataError(f"{path}: {noun} {column} requested, expected -{width} to {width - 1}")
    return column % width


def parse_rows(
    path: Path,
    lines: list[str],
    first: int,
    layout: Layout,
    delimiter: str | None,
    split: Split | None = None,
    quote: str | None = None,
) -> np.ndarray:
    """Convert the lines from `first` on to numbers, or raise at the first fault.

    `delimiter` separates entries (None means blanks) unless `split` does, which is slower, as are
    entries in quotes.
    """
    rows = [line for line in lines[first:] if line.strip()]
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    width = len(layout.names)
    require_room(path, _OF_NUMBER * len(rows) * width, f"{len(rows)} rows of {width} columns")
    if split is None and quote is None:
        # numpy reads plain numbers itself; everything else goes through our converters
        converters: dict[int | str, Convert] = {
            i: convert for i, convert in enumerate(layout.convert) if convert is not number
        }
        with suppress(ValueError):
            values: np.ndarray = np.loadtxt(
                rows, delimiter=delimiter, converters=converters, comments=None, ndmin=2
            )
            if values.shape[1] == len(layout.names) and np.isfinite(values).all():
                return values
    numbers = array("d")
    # slow, but it names the first faulty entry
    if quote is not None:
        records = quoted_records(path, lines, first, delimiter, quote)
    else:
        records = _plain_records(lines, first, split or partial(str.split, sep=delimiter))
    for line_number, entries in records:
        if len(entries) != width:
            raise fault(path, line_number, len(entries), f"{width} columns")
        numbers.extend(layout.value(path, line_number, i, e) for i, e in enumerate(entries))
    return np.array(numbers).reshape(-1, width)


def _plain_records(lines: list[str], first: int, split: Split) -> Iterator[Record]:
    numbered = enumerate(lines[first:], start=first + 1)
    return ((number, split(line)) for number, line in numbered if line.strip())


def quoted_records(
    path: Path, lines: list[str], first: int, delimiter: str | None, quote: str
) -> Iterator[Record]:
    """Yield the last line and the entries of each record; quoted entries may have line breaks."""
    reader = csv.reader(
        (line + "\n" for line in lines[first:]),
        delimiter=delimiter or " ",
        quotechar=quote,
        skipinitialspace=True,
        strict=True,
    )
    try:
        for entries in reader:
            if any(map(str.strip, entries)):
                yield first + reader.line_num, entries
    except csv.Error as error:
        line = min(first + reader.line_num, len(lines))
        raise fault(path, line, lines[line - 1], f"entries in quotes ({error})") from None


def _decimal_comma(text: str) -> float:
    """Read a number that has a comma for a point."""
    return number(text.replace(",", "."))


def read_delimited(paths: Sequence[Path], options: Delimited, expected: Expected) -> Table:
    """Read delimited text files and concatenate their rows."""
    if options.skip and len(paths) > 1:
        raise DataError(f"{paths[0]}: `skip` names lines of one file, and there are {len(paths)}")
    parts = [_read_file(path, options, expected) for path in paths]
    layout = parts[0][0]
    for path, (other, _, _) in zip(paths, parts, strict=True):
        if other.names != layout.names:
            raise fault(path, 1, ", ".join(other.names), f"the columns of {paths[0]}, in order")
    X = joined([values for _, values, _ in parts])
    y = joined([y for _, _, y in parts])
    if options.blocks is not None:
        n_rows = options.blocks * len(expected.classes or ())
        if len(X) != n_rows:
            wanted = f"expected {n_rows} in blocks of {options.blocks}"
            raise DataError(f"{', '.join(map(str, paths))}: found {len(X)} rows, {wanted}")
        y = (np.arange(n_rows) // options.blocks).astype(np.float64)
    names = tuple(layout.names[i] for i in layout.features)
    return Table(X, y, names, layout.nominal)


def _read_file(
    path: Path, options: Delimited, expected: Expected
) -> tuple[Layout, np.ndarray, np.ndarray]:
    lines = read_lines(path, options.encoding)
    if options.comment:
        lines = ["" if line.lstrip().startswith(options.comment) else line for line in lines]
    if options.skip:
        if max(options.skip) > len(lines):
            raise DataError(
                f"{path}: has {len(lines)} lines, and line {max(options.skip)} is skipped"
            )
        skipped = set(options.skip)
        lines = ["" if i in skipped else line for i, line in enumerate(lines, start=1)]
    first = 0
    if options.header:
        first = next((i for i, line in enumerate(lines, start=1) if line.strip()), 1)
    header = None
    if options.header and options.quote is not None:
        first, header = next(quoted_records(path, lines, 0, options.delimiter, options.quote))
    elif options.header:
        header = lines[first - 1].split(options.delimiter)
    layout = _layout(path, first, header, options, expected)
    if options.points is not None:
        return layout, *_points_and_labels(path, lines, first, layout, options)
    values = parse_rows(path, lines, first, layout, options.delimiter, quote=options.quote)
    if options.one_hot:
        y = _one_hot_codes(path, lines, first, values[:, layout.targets])
    else:
        y = values[:, layout.targets].sum(axis=1)  # of one column, or of none
    return layout, values[:, layout.features], y


def _points_and_labels(
    path: Path, lines: list[str], first: int, layout: Layout, options: Delimited
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts of the column of points, None where there is none, and the targets."""
    if options.quote is not None:
        records = quoted_records(path, lines, first, options.delimiter, options.quote)
    else:
        records = _plain_records(lines, first, partial(str.split, sep=options.delimiter))
    place, target = layout.features[0], layout.targets[0]
    points: list[str | None] = []
    labels: list[float] = []
    for line, entries in records:
        if len(entries) != len(layout.names):
            raise fault(path, line, len(entries), f"{len(layout.names)} columns")
        points.append(entries[place].strip() or None)
        labels.append(layout.value(path, line, target, entries[target]))
    if not points:
        raise DataError(f"{path}: the file has no rows")
    return as_objects(points), np.array(labels)


def _layout(
    path: Path, line: int, header: list[str] | None, options: Delimited, expected: Expected
) -> Layout:
    n_targets = options.n_targets(len(expected.classes or ()))
    width = expected.n_features + n_targets + len(options.drop)
    names = options.columns
    if header is not None:
        names = tuple(name.strip().strip('"') for name in header)
        if len(names) != width or len(set(names)) != width:
            raise fault(path, line, len(set(names)), f"{width} distinct column names")
    elif names is not None and len(names) != width:
        raise DataError(f"{path}: the card names {len(names)} columns, expected {width}")
    targets = list(range(width - n_targets, width))
    if n_targets == 1 and not options.one_hot:
        targets = [column_position(path, options.target, names, width)]
    dropped = {column_position(path, column, names, width) for column in options.drop}
    if names is None:
        kept = [i for i in range(width) if i not in targets and i not in dropped]
        named = dict(zip(kept, default_names(len(kept)), strict=True))
        names = tuple(named.get(i, "target" if i in targets else "dropped") for i in range(width))
    read_number: Convert = number if options.decimal == "." else _decimal_comma
    label = read_number
    if expected.classes is not None and not options.one_hot:
        code, suffix = coder(expected.classes), options.target_suffix
        label = (lambda text: code(text.strip().removesuffix(suffix))) if suffix else code
    return make_layout(
        names, targets, dropped, options.nominal, label, options.missing, read_number
    )


def _one_hot_codes(path: Path, lines: list[str], first: int, hot: np.ndarray) -> np.ndarray:
    wrong = ~(((hot == 0) | (hot == 1)).all(axis=1) & (hot.sum(axis=1) == 1))
    if wrong.any():
        at = int(wrong.argmax())
        rows = [i for i, line in enumerate(lines[first:], start=first + 1) if line.strip()]
        values = " ".join(f"{value:g}" for value in hot[at])
        wanted = f"a single 1 and else 0 in the last {hot.shape[1]} columns"
        raise fault(path, rows[at], values, wanted)
    return hot.argmax(axis=1).astype(np.float64)
