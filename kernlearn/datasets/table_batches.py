"""Batches of rows of Parquet and CSV files, as matrices and labels."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrow_columns, parquet, unpacking
from kernlearn.exceptions import DataError

Batch = tuple[np.ndarray, np.ndarray]

# Of a Parquet file; a row group may be larger.
_MAPPED_BYTES = 2**24
_PART_BYTES = 2**26


def parquet_batches(
    path: Path,
    size: int,
    target: str,
    drop: Sequence[str],
    width: int | None,
    missing: bool,
    row_groups: range | None = None,
) -> Iterator[Batch]:
    """Yield batches of at most `size` rows; one may end early, at the end of a row group."""
    metadata = _metadata(path)
    features = _features(path, metadata.schema.to_arrow_schema(), target, drop, width)
    if not metadata.num_rows:
        raise DataError(f"{path}: the file has no rows")
    chosen = range(metadata.num_row_groups) if row_groups is None else row_groups
    before = sum(metadata.row_group(place).num_rows for place in range(chosen.start))

    def batches() -> Iterator[Any]:
        # what has been read counts as memory until its mapping is closed
        for groups in _together(metadata, chosen, _MAPPED_BYTES):
            with _opened(path, metadata) as file:
                yield from file.iter_batches(size, row_groups=groups, columns=[*features, target])

    damage = parquet.DAMAGED
    yield from _converted(path, batches(), features, target, missing, damage, before + 1)


def parquet_parts(path: Path, row_groups: range | None = None) -> list[range]:
    """Return row groups of a Parquet file, by default all, in parts to be read by themselves."""
    metadata = _metadata(path)
    chosen = range(metadata.num_row_groups) if row_groups is None else row_groups
    parts = _together(metadata, chosen, _PART_BYTES)
    return [range(part[0], part[-1] + 1) for part in parts]


def _opened(path: Path, metadata: Any = None) -> Any:
    from pyarrow.parquet import ParquetFile

    # with other options Arrow keeps a whole row group, or all of it that was read
    return ParquetFile(
        path,
        metadata=metadata,
        page_checksum_verification=True,
        memory_map=True,
        pre_buffer=False,
    )


def _metadata(path: Path) -> Any:
    parquet.check_parts(path)
    with unpacking.naming_damage(path, parquet.DAMAGED), _opened(path) as file:
        return file.metadata


def _together(metadata: Any, row_groups: range, size: int) -> Iterator[list[int]]:
    """Yield consecutive row groups, each time as few as have `size` bytes."""
    together, n_bytes = [], 0
    for place in row_groups:
        together.append(place)
        n_bytes += metadata.row_group(place).total_byte_size
        if n_bytes >= size:
            yield together
            together, n_bytes = [], 0
    if together:
        yield together


def csv_batches(
    path: Path, size: int, target: str, drop: Sequence[str], width: int | None, missing: bool
) -> Iterator[Batch]:
    """Yield batches of rows of about a megabyte of text."""
    from pyarrow import csv, float64, string, types

    damage = "damaged, or no CSV file"
    with unpacking.naming_damage(path, damage), csv.open_csv(path) as opened:
        schema = opened.schema
        list(schema.names)  # raises for names that are not text
    features = _features(path, schema, target, drop, width)
    kind = schema.field(target).type
    texts = not (arrow_columns.is_number(kind) or types.is_null(kind))
    # the first block alone would decide whether numbers are whole
    kinds = dict.fromkeys(features, float64())
    options = csv.ConvertOptions(
        column_types={**kinds, target: string() if texts else float64()},
        include_columns=[*features, target],
        strings_can_be_null=True,
    )
    with unpacking.naming_damage(path, damage):
        reader = csv.open_csv(path, convert_options=options)
    with reader:
        empty = True
        for chunk in _converted(path, reader, features, target, missing, damage):
            empty = False
            yield chunk
        if empty:
            raise DataError(f"{path}: the file has no rows")


def _features(
    path: Path, schema: Any, target: str, drop: Sequence[str], width: int | None
) -> list[str]:
    """Return the columns of numbers that are neither the target nor left out."""
    from pyarrow import types

    names = list(schema.names)
    arrow_columns.check_columns(path, names, [target, *drop])
    features = [name for name in names if name != target and name not in drop]
    if width is not None and len(features) != width:
        raise DataError(f"{path}: found {len(features)} feature columns, expected {width}")
    for name in features:
        kind = schema.field(name).type
        if not (arrow_columns.is_number(kind) or types.is_null(kind)):
            raise DataError(f"{path}, column {name}: found {kind}, expected numbers; or drop it")
    return features


def _converted(
    path: Path,
    batches: Iterator[Any],
    features: list[str],
    target: str,
    missing: bool,
    damage: str,
    first: int = 1,
) -> Iterator[Batch]:
    """Convert batches of Arrow to matrices and labels; `first` is the number of the first row."""
    while True:
        with unpacking.naming_damage(path, damage):
            batch = next(batches, None)
        if batch is None:
            return
        if batch.num_rows:
            X = np.empty((batch.num_rows, len(features)))
            for i, name in enumerate(features):
                column = batch.column(name)
                X[:, i] = arrow_columns.column_numbers(
                    path, column, name, first=first, missing=missing
                )
            yield X, arrow_columns.column_labels(path, batch.column(target), target, first=first)
        first += batch.num_rows
