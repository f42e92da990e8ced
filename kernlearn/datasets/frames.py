"""Tables that are no text: Excel's sheets and Stata's files."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import text
from kernlearn.datasets.arrow_columns import check_columns
from kernlearn.datasets.formats import Excel, Expected, Stata, Table, default_names
from kernlearn.datasets.objects import as_objects
from kernlearn.datasets.unpacking import naming_damage, read_bytes
from kernlearn.exceptions import DataError
from kernlearn.lazy import missing_text

#: The first bytes of .xls; .xlsx and .ods are archives.
OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Frame(NamedTuple):
    """A table as text: its columns' names if any, their entries, and values that have an order."""

    names: tuple[str, ...] | None
    columns: list[list[str]]
    orders: dict[str, tuple[str, ...]]
    sheets: tuple[str, ...] = ()  # the names of all, of a spreadsheet


def load_sheet(path: Path, sheet: int | str | None, header: bool | None = None) -> Frame:
    """Return a sheet of an Excel or OpenDocument file, by position or name.

    Whether the first row has names is guessed if `header` is None.
    """
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        needed = missing_text(f"{path}: a spreadsheet", "python_calamine")
        raise DataError(f"{needed}, or save it as CSV") from None
    with naming_damage(path, "damaged, or no Excel file"):
        book = CalamineWorkbook.from_object(BytesIO(read_bytes(path)))
        names = book.sheet_names
        position = 0 if sheet is None else sheet
        if position not in names and (number := whole_number(position)) is not None:
            position = number
        known = position in names if isinstance(position, str) else -1 < position < len(names)
        if not known:
            raise DataError(f"{path}: no sheet {sheet!r}; its sheets: {', '.join(names)}")
        chosen = position if isinstance(position, str) else names[position]
        cells = book.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    rows = [[_as_text(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(row)]
    if not rows:
        raise DataError(f"{path}: the sheet {chosen} is empty; its sheets: {', '.join(names)}")
    if header is None:
        header = all(rows[0]) and not any(map(_is_number, rows[0])) and len(rows) > 1
    heads = tuple(name.strip() for name in rows.pop(0)) if header else None
    return Frame(heads, [list(column) for column in zip(*rows, strict=True)], {}, tuple(names))


def load_stata(path: Path) -> Frame:
    """Return the columns of a Stata file; labelled values are ordered categories."""
    import pandas as pd

    with naming_damage(path, "damaged, or no Stata file"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of sizes that overflow, before an error
        frame = pd.read_stata(BytesIO(read_bytes(path)))
    if not frame.size:
        raise DataError(f"{path}: the file has no {'rows' if len(frame.columns) else 'columns'}")
    names = tuple(map(str, frame.columns))
    orders = {
        name: tuple(map(_as_text, column.cat.categories))
        for name, (_, column) in zip(names, frame.items(), strict=True)
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered
    }
    columns = [
        ["" if missing else _as_text(value) for value, missing in zip(c, c.isna(), strict=True)]
        for _, c in frame.items()
    ]
    return Frame(names, columns, orders)


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    return str(cell).strip()


def _is_number(entry: str) -> bool:
    try:
        return bool(np.isfinite(text.number(entry)))
    except ValueError:
        return False


def read_sheets(paths: Sequence[Path], options: Excel, expected: Expected) -> Table:
    """Read sheets of Excel files and concatenate their rows."""
    frames = [load_sheet(path, options.sheet, options.header) for path in paths]
    return _as_table(paths, frames, options, expected, 1 + options.header)


def read_stata(paths: Sequence[Path], options: Stata, expected: Expected) -> Table:
    """Read Stata files and concatenate their rows."""
    return _as_table(paths, [load_stata(path) for path in paths], options, expected, 1)


def _as_table(
    paths: Sequence[Path], frames: list[Frame], options: Any, expected: Expected, first: int
) -> Table:
    """Convert the entries; the first row has the number `first` in messages."""
    parts: list[np.ndarray] = []
    points: list[str | None] = []
    layout, as_points = None, getattr(options, "points", None) is not None
    for path, frame in zip(paths, frames, strict=True):
        made = _layout(path, frame, options, expected)
        layout = layout or made
        if made.names != layout.names:
            raise DataError(f"{path}: other columns than {paths[0]}, or in another order")
        values = np.empty((len(frame.columns[0]), len(made.names)))
        if as_points:
            points += [entry.strip() or None for entry in frame.columns[made.features[0]]]
        for i, column in enumerate(frame.columns):
            if as_points and i == made.features[0]:
                continue
            for row, entry in enumerate(column):
                values[row, i] = made.value(path, first + row, i, entry)
        parts.append(values)
    assert layout is not None
    values = np.concatenate(parts)
    names = tuple(layout.names[i] for i in layout.features)
    X = as_objects(points) if as_points else values[:, layout.features]
    return Table(X, values[:, layout.targets[0]], names, layout.nominal)


def _layout(path: Path, frame: Frame, options: Any, expected: Expected) -> text.Layout:
    names, width = frame.names or getattr(options, "columns", None), len(frame.columns)
    if names is not None and len(names) == width:
        check_columns(path, names, [])
    if names is not None and (len(names) != width or len(set(names)) != width):
        raise DataError(f"{path}: found {len(set(names))} distinct names for {width} columns")
    target = text.column_position(path, options.target, names, width)
    dropped = {text.column_position(path, column, names, width) for column in options.drop}
    found = width - 1 - len(dropped)
    if found != expected.n_features:
        raise DataError(f"{path}: found {found} features, expected {expected.n_features}")
    label = text.number if expected.classes is None else text.coder(expected.classes)
    names = tuple(names or default_names(width))
    missing = {"", options.missing or ""}
    return text.make_layout(names, [target], dropped, options.nominal, label, missing)
