"""The content of Parquet files, read in a process apart: Arrow ends that of some damaged ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import BufferReader, parquet, types

from kernlearn.datasets.apart import Answer, allow_for
from kernlearn.datasets.arrow_columns import check_columns, is_number, is_text
from kernlearn.datasets.content import reading
from kernlearn.datasets.room import require_room
from kernlearn.datasets.unpacking import naming_damage
from kernlearn.exceptions import DataError

_DAMAGE = "damaged, or no Parquet file"
# Bytes of an entry in Arrow and as a feature, and of one that is neither number nor text.
_OF_NUMBER, _OF_OTHER = 24, 200
_OF_SMALL = 1 << 24  # bytes of a file that one thread reads as fast as several


def column_types(file: str) -> Answer:
    """Return the names and the types of the columns, "" for one of single values."""
    with reading(file, _DAMAGE) as (path, content):
        schema = parquet.read_metadata(BufferReader(content)).schema.to_arrow_schema()
        check_columns(path, list(schema.names), [])
        kinds = (str(kind) if types.is_nested(kind) else "" for kind in schema.types)
        return Answer(list(zip(schema.names, kinds, strict=True)))


def check(file: str) -> Answer:
    """Look at what the end of a file, which is not packed, says of its parts."""
    path = Path(file)
    with naming_damage(path, _DAMAGE):
        allow_for(path.stat().st_size)
        metadata = parquet.read_metadata(path)
        list(metadata.schema.to_arrow_schema().names)
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for place in range(group.num_columns):
                group.column(place)
        return Answer(None)


def load(file: str, wanted: Sequence[str], drop: Sequence[str]) -> Answer:
    """Return the table without columns to drop, as a stream of Arrow; all pages are checked."""
    with reading(file, _DAMAGE) as (path, content):
        metadata = parquet.read_metadata(BufferReader(content))
        schema = metadata.schema.to_arrow_schema()
        names = list(schema.names)  # raises for names that are not text
        check_columns(path, names, [*wanted, *drop])
        kept = [name for name in names if name not in drop]
        for name in kept:
            kind = schema.field(name).type
            if types.is_nested(kind):
                raise DataError(
                    f"{path}, column {name}: found {kind!s:.60}, expected numbers or texts; "
                    "or drop it"
                )
        allow_for(_check_sizes(path, metadata, kept, held=len(content)))
        texts = [name for name in kept if is_text(schema.field(name).type)]
        opened = parquet.ParquetFile(
            BufferReader(content), page_checksum_verification=True, read_dictionary=texts
        )
        table = opened.read(columns=kept, use_threads=len(content) > _OF_SMALL)
        table.validate(full=True)
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        return Answer(None, (np.frombuffer(stream.getvalue(), dtype=np.uint8),))


def _check_sizes(path: Path, metadata: Any, kept: Sequence[str], held: int) -> int:
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
            if is_number(kind):
                needed += _OF_NUMBER * n_values
            else:
                needed += (_OF_NUMBER if is_text(kind) else _OF_OTHER) * n_values
                needed += 3 * chunk.total_uncompressed_size
    what = f"{n_rows} rows of {len(kept)} columns"
    require_room(path, needed, what, held=held, advice="drop columns")
    return int(needed)


def _n_leaves(kind: Any) -> int:
    """Return how many columns of the file a column of the table is."""
    if not types.is_nested(kind):
        return 1
    return sum(_n_leaves(kind.field(i).type) for i in range(kind.num_fields))
