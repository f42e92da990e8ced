"""Lines of text entries to rows of numbers; :func:`numpy.loadtxt` does the parsing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets._labels import coder
from kernlearn.datasets._text import fault, number
from kernlearn.exceptions import DataError

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
