"""Text out of a data file, unpacked and decoded, and how a fault in it is told."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.hashing import canonical_label, coder
from kernlearn.datasets.packed import read_bytes
from kernlearn.exceptions import DataError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_lines(path: Path) -> list[str]:
    """Read a text file, compressed or not.

    Parameters
    ----------
    path : pathlib.Path
        A file, compressed or not, or a member of an archive; see
        :func:`~kernlearn.datasets.packed.read_bytes`.

    Returns
    -------
    list of str
        All lines, blank ones included, so that line i has position i - 1.

    Raises
    ------
    DataError
        If the file cannot be read, is empty, damaged or no UTF-8 text.
    """
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise fault(path, line, content[error.start : error.start + 1], "UTF-8 text") from None
    if not text.strip():
        raise DataError(f"{path}: the file is empty")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise fault(path, text.count("\n", 0, text.index("\0")) + 1, "\0", "text")
    return text.split("\n")


def number(text: str) -> float:
    """Read a finite decimal number, written plainly.

    Parameters
    ----------
    text : str
        One entry; blanks around it do not matter.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If it is anything else; NaN and infinities are.
    """
    value = float(text) if _NUMBER.fullmatch(text.strip()) else float("nan")
    if not abs(value) < float("inf"):
        raise ValueError("a finite number")
    return value


def fault(
    path: Path, line: int, found: object, expected: str, column: str | None = None
) -> DataError:
    """Make the error for one fault in a file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    line : int
        The line, from 1.
    found : object
        What stands there, shortened in the message.
    expected : str
        What was expected.
    column : str, optional
        The column's number and name.

    Returns
    -------
    DataError
        With a message of one line.
    """
    place = f"{path}, line {line}" + (f", column {column}" if column else "")
    text = found if isinstance(found, int) else repr(found)
    if isinstance(text, str) and len(text) > 60:
        text = text[:57] + "..."
    return DataError(f"{place}: found {text}, expected {expected}")


Convert = Callable[[str], float]
Split = Callable[[str], list[str]]


class Layout(NamedTuple):
    """The columns of a file: their names, how an entry of each is read, what each is for.

    Attributes
    ----------
    names : tuple of str
        All columns, in the file's order.
    convert : tuple of callable
        For each column, from an entry's text to a number; ValueError says what was expected.
    features : list of int
        The features' positions.
    targets : list of int
        The target's position, or those of its one-hot columns; empty if there is none.
    nominal : mapping of str to tuple of str
        The values of the nominal features.
    """

    names: tuple[str, ...]
    convert: tuple[Convert, ...]
    features: list[int]
    targets: list[int]
    nominal: Mapping[str, tuple[str, ...]]


def make_layout(
    names: tuple[str, ...],
    target: list[int],
    dropped: set[int],
    nominal: Mapping[str, tuple[str, ...]],
    label: Convert,
    missing: str | None,
) -> Layout:
    """Say how each column is read.

    Parameters
    ----------
    names : tuple of str
        All columns.
    target : list of int
        Positions of the target.
    dropped : set of int
        Positions of columns that are passed over.
    nominal : mapping of str to tuple of str
        Nominal columns and their values.
    label : callable
        Reads an entry of the target.
    missing : str or None
        What stands for a missing entry of a feature.

    Returns
    -------
    Layout
    """
    features = [i for i in range(len(names)) if i not in target and i not in dropped]
    convert: list[Convert] = [number] * len(names)
    for i in target:
        convert[i] = label
    for i in dropped:
        convert[i] = _ignore
    for i in features:
        if names[i] in nominal:
            convert[i] = coder(nominal[names[i]])
        if missing is not None:
            convert[i] = _or_missing(convert[i], missing)
    used = {names[i]: nominal[names[i]] for i in features if names[i] in nominal}
    return Layout(names, tuple(convert), features, target, used)


def _ignore(text: str) -> float:
    return 0.0


def _or_missing(convert: Convert, missing: str) -> Convert:
    return lambda text: float("nan") if text.strip() == missing else convert(text)


def parse_rows(
    path: Path,
    lines: list[str],
    first: int,
    layout: Layout,
    delimiter: str | None,
    split: Split | None = None,
) -> NDArray[np.float64]:
    """Read the rows of a file.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    lines : list of str
        All its lines; blank ones are passed over.
    first : int
        How many lines stand before the rows.
    layout : Layout
        The columns.
    delimiter : str or None
        What stands between two entries; None means blanks.
    split : callable, optional
        Cuts a line into its entries where a delimiter alone does not; ValueError says what
        was expected. Slower.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        NaN where an entry is missing.

    Raises
    ------
    DataError
        At the first fault, with line and column.
    """
    rows = [line for line in lines[first:] if line.strip()]
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    cut = split or (lambda line: line.split(delimiter))
    if split is not None:
        return np.array(_convert_lines(path, lines, first, layout, cut))
    # numpy reads plain numbers itself; what else there is goes through our converters
    converters: dict[int | str, Convert] = {
        i: convert for i, convert in enumerate(layout.convert) if convert is not number
    }
    try:
        values: NDArray[np.float64] = np.loadtxt(
            rows, delimiter=delimiter, converters=converters, comments=None, ndmin=2
        )
    except ValueError as error:
        _convert_lines(path, lines, first, layout, cut)
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    if values.shape[1] != len(layout.names) or not np.isfinite(values).all():
        _convert_lines(path, lines, first, layout, cut)
    return values


def _convert_lines(
    path: Path, lines: list[str], first: int, layout: Layout, split: Split
) -> list[list[float]]:
    """Read line by line and raise for the first entry at fault; slow."""
    width = len(layout.names)
    values = []
    for number_, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        try:
            entries = split(line)
        except ValueError as error:
            raise fault(path, number_, line.strip(), str(error)) from None
        if len(entries) != width:
            raise fault(path, number_, len(entries), f"{width} columns")
        row = []
        for i, (entry, convert) in enumerate(zip(entries, layout.convert, strict=True)):
            try:
                row.append(convert(entry))
            except ValueError as error:
                column = f"{i + 1} ({layout.names[i]})"
                raise fault(path, number_, entry.strip(), str(error), column) from None
        values.append(row)
    return values


MANY = 200  # distinct values above which text is no nominal column and numbers no classes
_MISSING = {"?", "", "NA", "N/A", "na", "NaN", "nan", "null", "NULL"}
_SURELY_MISSING = {"?", ""}  # in a column of text NA may be a value


@dataclass
class Column:
    """What the entries of a column are, gathered one by one.

    Parameters
    ----------
    name : str
        The column.
    n_numbers : int
        How many entries are numbers.
    texts : Counter
        The entries that are none, at most a few more than :data:`MANY` distinct ones.
    values : Counter or None
        All entries; None if there are too many distinct ones.
    """

    name: str
    n_numbers: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    values: Counter[str] | None = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Take in one entry.

        Parameters
        ----------
        text : str
            The entry, without blanks around it.
        """
        if self.values is not None:
            self.values[text] += 1
            if len(self.values) > MANY:
                self.values = None
        try:
            number(text)
        except ValueError:
            if len(self.texts) <= MANY or text in self.texts:
                self.texts[text] += 1
        else:
            self.n_numbers += 1

    @property
    def missing(self) -> set[str]:
        """What stands for missing entries."""
        return set(self.texts) & (_MISSING if self.numeric else _SURELY_MISSING)

    @property
    def numeric(self) -> bool:
        """Whether all entries that are there are numbers."""
        return self.n_numbers > 0 and set(self.texts) <= _MISSING

    def labels(self) -> dict[str, int] | None:
        """Return the values in order and how often each comes; None if there are too many."""
        if self.values is None:
            return None
        counts: Counter[str] = Counter()
        for text, count in self.values.items():
            if text not in self.missing:
                counts[canonical_label(text)] += count
        order = sorted(counts, key=lambda label: float(label) if self.numeric else 0.0)
        return {label: counts[label] for label in (order if self.numeric else sorted(counts))}
