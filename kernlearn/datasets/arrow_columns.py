"""Columns of Arrow tables as numbers, labels and codes of their different values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets.room import require_room
from kernlearn.datasets.text import Convert
from kernlearn.exceptions import DataError


def check_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise if columns share a name, there are none, or a wanted one does not exist."""
    if not names:
        raise DataError(f"{path}: has no columns")
    if len(set(names)) != len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise DataError(f"{path}: two columns are called {twice!r:.60}; rename one")
    if unknown := [name for name in wanted if name not in names]:
        raise DataError(f"{path}: has no column called {unknown[0]:.60}")


def is_number(kind: Any) -> bool:
    """Tell whether a type of Arrow is one of numbers."""
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def is_text(kind: Any) -> bool:
    """Tell whether a type of Arrow is one of texts."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def category_order(column: Any) -> tuple[str, ...] | None:
    """Return the values of an ordered categorical column in their order, else None."""
    from pyarrow import types

    if not (types.is_dictionary(column.type) and column.type.ordered):
        return None
    return tuple(map(str, different_values(column)[1]))


def column_numbers(
    path: Path, column: Any, name: str, *, first: int = 1, missing: bool = False
) -> np.ndarray:
    """Return a column of numbers; `missing` allows null, as NaN. Its first row is `first`."""
    null = column.is_null().to_numpy(zero_copy_only=False)
    values = plain_numbers(column, null)
    if (wrong := ~np.isfinite(values) & ~(null & missing)).any():
        row = int(wrong.argmax())
        found = "nothing" if null[row] else repr(float(values[row]))
        wanted = "a finite number" + (", or null" if missing else "")
        raise _entry_fault(path, first + row, name, found, wanted)
    return values


def plain_numbers(column: Any, null: np.ndarray) -> np.ndarray:
    """Return a column of numbers as float64, NaN where it is null."""
    values = column.to_numpy(zero_copy_only=False)
    if null.any():  # of integers they are objects if a column has null
        values = np.where(null, np.nan, values)
    return np.asarray(values, dtype=np.float64)


def column_labels(path: Path, column: Any, name: str, *, first: int = 1) -> np.ndarray:
    """Return a column of numbers or texts, without null. Its first row is `first`."""
    if is_number(column.type):
        return column_numbers(path, column, name, first=first)
    codes, values = column_codes(path, column, name, first=first)
    longest = max(map(len, values), default=0)
    require_room(path, 4 * longest * len(codes), f"the texts of column {name:.60}")
    return np.array(values, dtype=np.str_)[codes]


def column_codes(
    path: Path, column: Any, name: str, *, first: int = 1
) -> tuple[np.ndarray, list[str]]:
    """Return a column of texts, without null, as positions among its different texts."""
    from pyarrow import types

    if types.is_nested(column.type):
        raise DataError(f"{path}, column {name}: found {column.type}, expected numbers or texts")
    codes, values = different_values(column)
    if (codes < 0).any():
        row = first + int((codes < 0).argmax())
        raise _entry_fault(path, row, name, "nothing", "a number or a text")
    if values and not isinstance(values[0], str):
        raise DataError(f"{path}, column {name}: found {column.type}, expected numbers or texts")
    return codes, values


def different_values(column: Any) -> tuple[np.ndarray, list[Any]]:
    """Return the different values of a column, and for each row the position of its own, or -1."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), -1), []
    whole = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    chunks = whole.unify_dictionaries().chunks
    if not chunks:
        return np.empty(0, dtype=np.int64), []
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    values = chunks[0].dictionary.to_pylist()
    if None in values:  # null as a value
        absent = values.index(None)
        codes = [np.where(code == absent, -1, code) for code in codes]
    return np.concatenate(codes).astype(np.int64, copy=False), values


def converted(path: Path, column: Any, name: str, convert: Convert) -> np.ndarray:
    """Convert the texts of a column's entries to numbers; null is NaN."""
    codes, values = different_values(column)
    numbers = np.full(len(values) + 1, np.nan)  # the last for -1
    for place in np.unique(codes[codes >= 0]).tolist():
        try:
            numbers[place] = convert(str(values[place]))
        except ValueError as error:
            row = int((codes == place).argmax()) + 1
            found = f"{values[place]!r:.60}"
            raise _entry_fault(path, row, name, found, str(error)) from None
    return numbers[codes]


def _entry_fault(path: Path, row: int, name: str, found: str, expected: str) -> DataError:
    """Make the error for one entry of a table."""
    return DataError(f"{path}, row {row}, column {name}: found {found}, expected {expected}")
