"""Text out of a data file, unpacked and decoded, and how a fault in it is told."""

import re
from pathlib import Path

from kernlearn.datasets._packed import read_bytes
from kernlearn.exceptions import DataError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_lines(path: Path) -> list[str]:
    """Read a text file, compressed or not.

    Parameters
    ----------
    path : pathlib.Path
        A file, compressed or not, or a member of an archive; see
        :func:`~kernlearn.datasets._packed.read_bytes`.

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
