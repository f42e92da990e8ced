"""Apache Parquet: files in memory, of which the size unpacked is known before."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrays, arrow_columns, formats
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.room import require_room
from kernlearn.datasets.text import coder, number
from kernlearn.datasets.unpacking import naming_damage, read_bytes
from kernlearn.exceptions import DataError

DAMAGED = "damaged, or no Parquet file"
# Bytes of an entry in Arrow and as a feature, and of one that is neither number nor text.
_OF_NUMBER, _OF_OTHER = 24, 200


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
    from pyarrow import BufferReader, parquet, types

    content = read_bytes(path)
    with naming_damage(path, DAMAGED):
        schema = parquet.read_metadata(BufferReader(content)).schema.to_arrow_schema()
        arrow_columns.check_columns(path, list(schema.names), [])
        return {
            name: str(kind) if types.is_nested(kind) else ""
            for name, kind in zip(schema.names, schema.types, strict=True)
        }


def load_parquet(path: Path, wanted: Sequence[str] = (), drop: Sequence[str] = ()) -> Any:
    """Return the table of a Parquet file without columns to drop, with all its pages checked.

    Texts are dictionaries; columns of lists and other parts raise an error if they are kept.
    """
    from pyarrow import BufferReader, parquet, types

    content = read_bytes(path)
    with naming_damage(path, DAMAGED):
        metadata = parquet.read_metadata(BufferReader(content))
        schema = metadata.schema.to_arrow_schema()
        names = list(schema.names)  # raises for names that are not text
        arrow_columns.check_columns(path, names, [*wanted, *drop])
        kept = [name for name in names if name not in drop]
        for name in kept:
            kind = schema.field(name).type
            if types.is_nested(kind):
                raise DataError(
                    f"{path}, column {name}: found {kind!s:.60}, expected numbers or texts; "
                    "or drop it"
                )
        check_sizes(path, metadata, kept, held=len(content))
        texts = [name for name in kept if arrow_columns.is_text(schema.field(name).type)]
        file = parquet.ParquetFile(
            BufferReader(content), page_checksum_verification=True, read_dictionary=texts
        )
        table = file.read(columns=kept)
        table.validate(full=True)
    return table


def check_sizes(path: Path, metadata: Any, kept: Sequence[str], held: int = 0) -> None:
    """Refuse a file whose columns, unpacked, are too large; a few bytes may stand for millions."""
    schema = metadata.schema.to_arrow_schema()
    kinds = dict(zip(schema.names, schema.types, strict=True))
    leaves = [name for name in schema.names for _ in range(_n_leaves(kinds[name]))]
    needed, n_rows = held, 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        n_rows += group.num_rows
        for place, name in enumerate(leaves):
            if name not in kept or place >= group.num_columns:
                continue
            chunk = group.column(place)
            n_values = max(chunk.num_values, group.num_rows)
            if min(chunk.num_values, group.num_rows, chunk.total_uncompressed_size) < 0:
                raise ValueError("a size below 0")
            kind = kinds[name]
            if arrow_columns.is_number(kind):
                needed += _OF_NUMBER * n_values
            else:
                text = arrow_columns.is_text(kind)
                needed += (_OF_NUMBER if text else _OF_OTHER) * n_values
                needed += 3 * chunk.total_uncompressed_size
    what = f"{n_rows} rows of {len(kept)} columns"
    require_room(path, needed, what, held=held, advice="drop columns")


def _n_leaves(kind: Any) -> int:
    """Return how many columns of the file a column of the table is."""
    from pyarrow import types

    if not types.is_nested(kind):
        return 1
    return sum(_n_leaves(kind.field(i).type) for i in range(kind.num_fields))
