"""Arrays of numbers: NumPy's NPZ, Parquet, MATLAB files, and scikit-learn's bundled data sets."""

import struct
import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import formats
from kernlearn.datasets.files import LIMIT, naming_damage, read_bytes, too_large
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.text import canonical_labels, coder, number
from kernlearn.exceptions import DataError

Part = tuple[Path, Any, Any, Any]

NO_PARQUET = "damaged, or no Parquet file"


def read_npz(paths: Sequence[Path], options: formats.Npz, expected: Expected) -> Table:
    """Read a matrix and its labels from NPZ files."""
    parts: list[Part] = []
    for path in paths:
        names = (options.matrix, options.target, options.query)
        arrays = load_npz(path, names)
        if missing := [name for name in names if name is not None and name not in arrays]:
            raise DataError(f"{path}: has no array called {missing[0]}")
        matrix, y, query = (arrays.get(name or "") for name in names)
        parts.append((path, matrix, y, query))
    return _as_table(parts, expected)


def load_npz(path: Path, names: Sequence[str | None] | None = None) -> dict[str, Any]:
    """Return the arrays of an NPZ file, all or those named; pickled objects are not loaded."""
    content = read_bytes(path)
    with naming_damage(path, "damaged, or no NPZ file of plain arrays"):
        with zipfile.ZipFile(BytesIO(content)) as packed:
            if sum(info.file_size for info in packed.infolist()) > LIMIT:
                raise too_large(path, LIMIT)
        with np.load(BytesIO(content), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files if not names or name in names}


def read_parquet(paths: Sequence[Path], options: formats.Parquet, expected: Expected) -> Table:
    """Read Parquet files and concatenate their rows."""
    parts: list[Part] = []
    first: list[str] = []
    for path in paths:
        table = load_parquet(path)
        names = list(table.column_names)
        special = [options.target, *options.drop, *([options.query] if options.query else [])]
        check_columns(path, names, [*special, *options.nominal])
        features = [name for name in names if name not in special]
        first = first or features
        if features != first:
            raise DataError(f"{path}: other columns than {paths[0]}, or in another order")
        X = np.empty((table.num_rows, len(features)))
        for i, name in enumerate(features):
            X[:, i] = _column(path, table.column(name), name, options.nominal.get(name))
        y = column_labels(path, table.column(options.target), options.target)
        query = None if options.query is None else table.column(options.query).to_numpy()
        parts.append((path, X, y, query))
    result = _as_table(parts, expected, missing=True)
    return result._replace(feature_names=tuple(first), nominal=dict(options.nominal))


def load_parquet(path: Path) -> Any:
    """Return the table of a Parquet file, with all its pages checked."""
    from pyarrow import BufferReader, parquet

    content = read_bytes(path)
    with naming_damage(path, NO_PARQUET):
        file = parquet.ParquetFile(BufferReader(content), page_checksum_verification=True)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        if sum(sizes) > LIMIT:
            raise too_large(path, LIMIT)
        table = file.read()
        table.validate(full=True)
        list(table.column_names)  # raises for names that are not text
    return table


def category_order(column: Any) -> tuple[str, ...] | None:
    """Return the values of an ordered categorical column of Arrow in their order, else None."""
    from pyarrow import types

    if not (types.is_dictionary(column.type) and column.type.ordered):
        return None
    return tuple(map(str, column.unify_dictionaries().chunk(0).dictionary.to_pylist()))


def check_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise if columns of a Parquet file share a name, or a wanted one does not exist."""
    if len(set(names)) != len(names):
        raise DataError(f"{path}: two columns have the same name")
    if unknown := [name for name in wanted if name not in names]:
        raise DataError(f"{path}: has no column called {unknown[0]}")


def is_number(kind: Any) -> bool:
    """Tell whether a type of Arrow is one of numbers."""
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def column_numbers(
    path: Path, column: Any, name: str, *, first: int = 1, missing: bool = False
) -> np.ndarray:
    """Return a column of numbers; `missing` allows null, as NaN. Its first row is `first`."""
    null = column.is_null().to_numpy(zero_copy_only=False)
    values = np.where(null, np.nan, column.to_numpy(zero_copy_only=False)).astype(np.float64)
    if (wrong := ~np.isfinite(values) & ~(null & missing)).any():
        row = int(wrong.argmax())
        found = "nothing" if null[row] else repr(float(values[row]))
        wanted = "a finite number" + (", or null" if missing else "")
        raise _entry_fault(path, first + row, name, found, wanted)
    return values


def column_labels(path: Path, column: Any, name: str, *, first: int = 1) -> np.ndarray:
    """Return a column of numbers or texts, without null. Its first row is `first`."""
    if is_number(column.type):
        return column_numbers(path, column, name, first=first)
    values = column.to_pylist()
    if None in values:
        row = first + values.index(None)
        raise _entry_fault(path, row, name, "nothing", "a number or a text")
    if values and not isinstance(values[0], str):
        raise DataError(f"{path}, column {name}: found {column.type}, expected numbers or texts")
    return np.array(values)


def _entry_fault(path: Path, row: int, name: str, found: str, expected: str) -> DataError:
    """Make the error for one entry of a table."""
    return DataError(f"{path}, row {row}, column {name}: found {found}, expected {expected}")


def _column(path: Path, column: Any, name: str, nominal: tuple[str, ...] | None) -> np.ndarray:
    if nominal is None and is_number(column.type):
        return column_numbers(path, column, name, missing=True)
    convert = number if nominal is None else coder(nominal)
    values = np.empty(len(column))
    for i, value in enumerate(column.to_pylist()):
        try:
            values[i] = np.nan if value is None else convert(str(value))
        except ValueError as error:
            raise _entry_fault(path, i + 1, name, f"{value!r:.60}", str(error)) from None
    return values


def _as_table(parts: Sequence[Part], expected: Expected, *, missing: bool = False) -> Table:
    """Check the matrix, labels and queries of each file, and concatenate their rows.

    `missing` allows NaN as a missing entry of the matrix.
    """
    X, y, queries = [], [], []
    for path, matrix, labels, query in parts:
        X.append(_matrix(path, matrix, missing))
        y.append(_codes(path, labels, len(X[-1]), expected))
        if query is not None:
            if np.size(query) != len(X[-1]) or np.asarray(query).dtype.kind not in "iu":
                raise DataError(f"{path}: the queries must be one whole number per row")
            queries.append(np.ravel(query).astype(np.int64))
    if len({part.shape[1] for part in X}) > 1:
        raise DataError(f"{parts[0][0]}: the files differ in the number of columns")
    query = np.concatenate(queries) if queries else None
    names = formats.default_names(X[0].shape[1])
    return Table(np.concatenate(X), np.concatenate(y), names, query=query)


def _matrix(path: Path, matrix: Any, missing: bool) -> np.ndarray:
    values = np.asarray(matrix)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"{path}: found an array of shape {values.shape} and type {values.dtype}, "
            "expected a matrix of numbers"
        )
    values = values.astype(np.float64)
    wrong = ~np.isfinite(values).all(axis=1)
    if not missing and wrong.any():
        raise DataError(f"{path}, row {int(wrong.argmax()) + 1}: an entry is not finite")
    if not len(values):
        raise DataError(f"{path}: the file has no rows")
    return np.ascontiguousarray(values)


def _codes(path: Path, labels: Any, n_rows: int, expected: Expected) -> np.ndarray:
    values = np.ravel(labels)
    if values.size != n_rows or values.dtype.kind not in "fiubU":
        raise DataError(
            f"{path}: found {values.size} labels of type {values.dtype}, expected {n_rows} "
            "numbers or texts"
        )
    convert = number if expected.classes is None else coder(expected.classes)
    distinct, positions = np.unique(values, return_inverse=True)
    codes = np.empty(len(distinct))
    for i, label in enumerate(canonical_labels(distinct)):
        try:
            codes[i] = convert(label)
        except ValueError as error:
            row = int((positions == i).argmax()) + 1
            raise DataError(
                f"{path}, row {row}: found label {str(label)!r:.60}, expected {error}"
            ) from None
    return codes[positions]


_HDF5 = b"\x89HDF\r\n\x1a\n"
_MATRIX, _COMPRESSED = 14, 15  # kinds of elements in a version 5 file
_USER_BLOCK = 512  # where the HDF5 part of a version 7.3 file begins


def read_matlab(paths: Sequence[Path], options: formats.Matlab, expected: Expected) -> Table:
    """Read a matrix and its labels from MATLAB files."""
    parts: list[Part] = []
    names = [options.matrix, options.target]
    for path in paths:
        variables = load_matlab(path, names)
        if missing := [name for name in names if name not in variables]:
            raise DataError(f"{path}: has no full array called {missing[0]}")
        parts.append((path, variables[options.matrix], variables[options.target], None))
    return _as_table(parts, expected)


def load_matlab(path: Path, names: list[str] | None = None) -> dict[str, Any]:
    """Return the full arrays of a MATLAB file, all or those named."""
    content = read_bytes(path)
    is_hdf5 = _HDF5 in (content[:8], content[_USER_BLOCK : _USER_BLOCK + 8])
    with naming_damage(path, "damaged, or no MATLAB file"):
        return (_read_hdf5 if is_hdf5 else _read_version_5)(content, names)


def _read_version_5(content: bytes, names: list[str] | None) -> dict[str, Any]:
    from scipy.io import loadmat

    if content[126:128] in (b"IM", b"MI"):
        _check_elements(content)
    variables = loadmat(BytesIO(content), variable_names=names)
    # without names the header and what is no array are left out
    wanted = names or [n for n, held in variables.items() if hasattr(held, "ndim")]
    return {name: _dense(variables[name]) for name in wanted if name in variables}


def _check_elements(content: bytes) -> None:
    """Check sizes and checksums of a version 5 file, which scipy does not."""
    order = "<" if content[126:128] == b"IM" else ">"
    at = 128
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        element = content[at + 8 : at + 8 + size]
        if kind not in (_MATRIX, _COMPRESSED) or len(element) < size:
            raise ValueError(f"cut short, or no element at byte {at}")
        if kind == _COMPRESSED:
            unpacker = zlib.decompressobj()
            if len(unpacker.decompress(element, LIMIT + 1)) > LIMIT:
                raise ValueError(f"holds more than {LIMIT >> 20} MiB unpacked")
            if not unpacker.eof:
                raise ValueError(f"the element at byte {at} is cut short")
        at += 8 + size


def _dense(array: Any) -> Any:
    """Return a sparse matrix or a cell array of texts or single numbers as a plain array."""
    if hasattr(array, "toarray"):
        return array.toarray()
    if array.dtype.kind != "O":
        return array
    return np.array([np.asarray(cell).item() if np.size(cell) == 1 else "" for cell in array.flat])


def _read_hdf5(content: bytes, names: list[str] | None) -> dict[str, Any]:
    import h5py

    variables = {}
    with h5py.File(BytesIO(content), "r") as file:
        for name in names or list(file):
            stored = file.get(name)
            if isinstance(stored, h5py.Dataset) and stored.dtype.kind in "fiu":
                if stored.nbytes > LIMIT:
                    raise ValueError(f"{name} holds more than {LIMIT >> 20} MiB")
                variables[name] = np.asarray(stored).T  # MATLAB stores column by column
    return variables


def read_bundled(paths: Sequence[Path], options: formats.Bundled, expected: Expected) -> Table:
    """Load a data set that is bundled with scikit-learn; there are no paths."""
    from sklearn import datasets

    bunch = getattr(datasets, options.loader)()
    names = tuple(map(str, bunch.feature_names))
    if expected.classes is None:
        return Table(bunch.data, np.asarray(bunch.target, dtype=np.float64), names)
    code = coder(expected.classes)
    codes = np.array([code(label) for label in canonical_labels(bunch.target_names)])
    return Table(bunch.data, codes[bunch.target], names)
