"""Reader for text in columns; :func:`numpy.loadtxt` does the parsing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets._formats import Delimited
from kernlearn.datasets._labels import coder
from kernlearn.datasets._readers import Expected, Table, default_names
from kernlearn.datasets._text import fault, number, read_lines
from kernlearn.exceptions import DataError


class _Layout(NamedTuple):
    """The columns of a file: their names, how an entry of each is read, what each is for."""

    names: tuple[str, ...]
    convert: tuple[Callable[[str], float], ...]
    features: list[int]
    target: int


def read_delimited(paths: Sequence[Path], options: Delimited, expected: Expected) -> Table:
    """Read delimited text files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Delimited
        How they read.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged; the message names line and column.
    """
    parts = [_read_file(path, options, expected) for path in paths]
    layout = parts[0][0]
    for path, (other, _) in zip(paths, parts, strict=True):
        if other.names != layout.names:
            raise fault(path, 1, ", ".join(other.names), f"the columns of {paths[0]}, in order")
    values = np.concatenate([values for _, values in parts])
    names = tuple(layout.names[i] for i in layout.features)
    return Table(values[:, layout.features], values[:, layout.target], names)


def _read_file(
    path: Path, options: Delimited, expected: Expected
) -> tuple[_Layout, NDArray[np.float64]]:
    lines = read_lines(path)
    layout = _layout(path, lines[0] if options.header else None, options, expected)
    first = 1 if options.header else 0
    rows = [line for line in lines[first:] if line.strip()]
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    # numpy reads plain numbers itself; what else there is goes through our converters
    converters: dict[int | str, Callable[[str], float]] = {
        i: convert
        for i, convert in enumerate(layout.convert)
        if convert is not number or options.missing is not None
    }
    try:
        values: NDArray[np.float64] = np.loadtxt(
            rows, delimiter=options.delimiter, converters=converters, comments=None, ndmin=2
        )
    except ValueError as error:
        _check_lines(path, lines, first, layout, options)
        raise DataError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    if values.shape[1] != len(layout.names) or not np.isfinite(values).all():
        _check_lines(path, lines, first, layout, options)
    return layout, values


def _layout(path: Path, header: str | None, options: Delimited, expected: Expected) -> _Layout:
    width = expected.n_features + 1 + len(options.drop)
    names = options.columns
    if header is not None:
        names = tuple(name.strip().strip('"') for name in header.split(options.delimiter))
        if len(names) != width or len(set(names)) != width:
            raise fault(path, 1, len(set(names)), f"{width} distinct column names")
    target = _position(path, options.target, names, width)
    dropped = {_position(path, column, names, width) for column in options.drop}
    features = [i for i in range(width) if i != target and i not in dropped]
    if names is None:
        unnamed = dict(zip(features, default_names(len(features)), strict=True))
        names = tuple(unnamed.get(i, "target" if i == target else "dropped") for i in range(width))
    converters = []
    for i, name in enumerate(names):
        convert: Callable[[str], float] = number
        if i == target and expected.classes is not None:
            convert = coder(expected.classes)
        elif i in dropped:
            convert = _ignore
        elif name in options.nominal:
            convert = coder(options.nominal[name])
        if options.missing is not None and i != target:
            convert = _or_missing(convert, options.missing)
        converters.append(convert)
    return _Layout(names, tuple(converters), features, target)


def _position(path: Path, column: int | str, names: tuple[str, ...] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            raise fault(path, 1, ", ".join(names or ()), f"a column called {column!r}")
        return names.index(column)
    if not -width <= column < width:
        raise DataError(f"{path}: column {column} asked for, expected -{width} to {width - 1}")
    return column % width


def _ignore(text: str) -> float:
    return 0.0


def _or_missing(convert: Callable[[str], float], missing: str) -> Callable[[str], float]:
    return lambda text: float("nan") if text.strip() == missing else convert(text)


def _check_lines(
    path: Path, lines: list[str], first: int, layout: _Layout, options: Delimited
) -> None:
    """Raise for the first entry at fault; slow, since it runs when a fault is suspected."""
    width = len(layout.names)
    for number_, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        entries = line.split(options.delimiter)
        if len(entries) != width:
            raise fault(path, number_, len(entries), f"{width} columns")
        for i, (entry, convert) in enumerate(zip(entries, layout.convert, strict=True)):
            try:
                convert(entry)
            except ValueError as error:
                column = f"{i + 1} ({layout.names[i]})"
                raise fault(path, number_, entry.strip(), str(error), column) from None
