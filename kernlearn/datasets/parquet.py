"""Apache Parquet: files in memory, of which the size unpacked is known before."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrays, arrow_columns, formats
from kernlearn.datasets.content import read_apart
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.text import coder, number
from kernlearn.exceptions import DataError

DAMAGED = "damaged, or no Parquet file"


def read_parquet(paths: Sequence[Path], options: formats.Parquet, expected: Expected) -> Table:
    """Read Parquet files and concatenate their rows."""
    parts: list[arrays.Part] = []
    first: list[str] = []
    for path in paths:
        special = [options.target, *([options.query] if options.query else [])]
        table = load_parquet(path, [*special, *options.nominal], options.drop)
        features = [name for name in table.column_names if name not in special]
        first = first or features
        if features != first:
            raise DataError(f"{path}: other columns than {paths[0]}, or in another order")
        X = np.empty((table.num_rows, len(features)))
        for i, name in enumerate(features):
            X[:, i] = _feature(path, table.column(name), name, options.nominal.get(name))
        y = _target(path, table.column(options.target), options.target)
        query = None if options.query is None else table.column(options.query).to_numpy()
        parts.append((path, X, y, query))
    result = arrays.as_table(parts, expected, missing=True)
    return result._replace(feature_names=tuple(first), nominal=dict(options.nominal))


def _feature(path: Path, column: Any, name: str, nominal: tuple[str, ...] | None) -> np.ndarray:
    if nominal is None and arrow_columns.is_number(column.type):
        return arrow_columns.column_numbers(path, column, name, missing=True)
    convert = number if nominal is None else coder(nominal)
    return arrow_columns.converted(path, column, name, convert)


def _target(path: Path, column: Any, name: str) -> Any:
    if arrow_columns.is_number(column.type):
        return arrow_columns.column_numbers(path, column, name)
    codes, values = arrow_columns.column_codes(path, column, name)
    return arrays.Coded(codes, values)


def column_types(path: Path) -> dict[str, str]:
    """Return the columns of a file: "" for one of single values, else its type."""
    return dict(read_apart("parquet_content:column_types", path, "Parquet").value)


def check_parts(path: Path) -> None:
    """Raise if what a file says of its parts is damaged, which would end this process."""
    state = path.stat()
    _check_parts(path.resolve(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _check_parts(path: Path, size: int, modified: int) -> None:
    read_apart("parquet_content:check", path, "Parquet")


def load_parquet(path: Path, wanted: Sequence[str] = (), drop: Sequence[str] = ()) -> Any:
    """Return the table of a Parquet file without columns to drop, with all its pages checked.

    Texts are dictionaries; columns of lists and other parts raise an error if they are kept.
    """
    from pyarrow import ipc, py_buffer

    (content,) = read_apart(
        "parquet_content:load", path, "Parquet", list(wanted), list(drop)
    ).arrays
    with ipc.open_stream(py_buffer(content)) as stream:
        return stream.read_all()
