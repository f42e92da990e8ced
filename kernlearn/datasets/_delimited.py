"""Reader for text in columns."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets._formats import Delimited
from kernlearn.datasets._labels import coder
from kernlearn.datasets._readers import Expected, Table, default_names
from kernlearn.datasets._rows import Convert, Layout, make_layout, parse_rows
from kernlearn.datasets._text import fault, number, read_lines
from kernlearn.exceptions import DataError


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
    for path, (other, _, _) in zip(paths, parts, strict=True):
        if other.names != layout.names:
            raise fault(path, 1, ", ".join(other.names), f"the columns of {paths[0]}, in order")
    X = np.concatenate([values[:, layout.features] for _, values, _ in parts])
    y = np.concatenate([y for _, _, y in parts])
    if options.blocks is not None:
        y = _block_codes(paths, len(X), options.blocks, expected)
    names = tuple(layout.names[i] for i in layout.features)
    return Table(X, y, names, layout.nominal)


def _read_file(
    path: Path, options: Delimited, expected: Expected
) -> tuple[Layout, NDArray[np.float64], NDArray[np.float64]]:
    lines = read_lines(path)
    if options.comment:
        lines = ["" if line.lstrip().startswith(options.comment) else line for line in lines]
    first = 0
    if options.header:
        first = next((i for i, line in enumerate(lines, start=1) if line.strip()), 1)
    layout = _layout(path, first, lines[first - 1] if options.header else None, options, expected)
    values = parse_rows(path, lines, first, layout, options.delimiter)
    if options.one_hot:
        y = _hot(path, lines, first, values[:, layout.targets])
    else:
        y = values[:, layout.targets].sum(axis=1)  # of one column, or of none
    return layout, values, y


def _layout(
    path: Path, line: int, header: str | None, options: Delimited, expected: Expected
) -> Layout:
    n_targets = options.n_targets(len(expected.classes or ()))
    width = expected.n_features + n_targets + len(options.drop)
    names = options.columns
    if header is not None:
        names = tuple(name.strip().strip('"') for name in header.split(options.delimiter))
        if len(names) != width or len(set(names)) != width:
            raise fault(path, line, len(set(names)), f"{width} distinct column names")
    elif names is not None and len(names) != width:
        raise DataError(f"{path}: the card names {len(names)} columns, expected {width}")
    targets = list(range(width - n_targets, width))
    if n_targets == 1 and not options.one_hot:
        targets = [_position(path, options.target, names, width)]
    dropped = {_position(path, column, names, width) for column in options.drop}
    if names is None:
        kept = [i for i in range(width) if i not in targets and i not in dropped]
        unnamed = dict(zip(kept, default_names(len(kept)), strict=True))
        names = tuple(
            unnamed.get(i, "target" if i in targets else "dropped") for i in range(width)
        )
    label: Convert = number
    if expected.classes is not None and not options.one_hot:
        label = coder(expected.classes)
        if options.target_suffix:
            label = _without(options.target_suffix, label)
    return make_layout(names, targets, dropped, options.nominal, label, options.missing)


def _without(suffix: str, convert: Convert) -> Convert:
    return lambda text: convert(text.strip().removesuffix(suffix))


def _position(path: Path, column: int | str, names: tuple[str, ...] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            raise fault(path, 1, ", ".join(names or ()), f"a column called {column!r}")
        return names.index(column)
    if not -width <= column < width:
        raise DataError(f"{path}: column {column} asked for, expected -{width} to {width - 1}")
    return column % width


def _hot(
    path: Path, lines: list[str], first: int, hot: NDArray[np.float64]
) -> NDArray[np.float64]:
    wrong = ~(((hot == 0) | (hot == 1)).all(axis=1) & (hot.sum(axis=1) == 1))
    if wrong.any():
        at = int(wrong.argmax())
        rows = [i for i, line in enumerate(lines[first:], start=first + 1) if line.strip()]
        found = " ".join(f"{value:g}" for value in hot[at])
        raise fault(path, rows[at], found, f"one 1 and else 0 in the last {hot.shape[1]} columns")
    return hot.argmax(axis=1).astype(np.float64)


def _block_codes(
    paths: Sequence[Path], n_rows: int, block: int, expected: Expected
) -> NDArray[np.float64]:
    needed = block * len(expected.classes or ())
    if n_rows != needed:
        place = ", ".join(map(str, paths))
        raise DataError(f"{place}: found {n_rows} rows, expected {needed} in blocks of {block}")
    return (np.arange(n_rows) // block).astype(np.float64)
