"""Readers for arrays: NumPy's NPZ, and Parquet by way of pyarrow."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.formats import Carried, Matlab, Npz, Parquet
from kernlearn.datasets.hashing import canonical_labels, coder
from kernlearn.datasets.packed import LIMIT, read_bytes
from kernlearn.datasets.readers import Expected, Table, default_names
from kernlearn.datasets.text import number
from kernlearn.exceptions import DataError

Part = tuple[Path, Any, Any, Any]


def read_npz(paths: Sequence[Path], options: Npz, expected: Expected) -> Table:
    """Read a matrix and its labels from NPZ files.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        One file; or several, whose rows are put together.
    options : Npz
        The names of the arrays.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged, or an array is not there or of another kind.
    """
    parts: list[Part] = []
    for path in paths:
        wanted = [n for n in (options.matrix, options.target, options.query) if n is not None]
        found = _npz_arrays(path, read_bytes(path), wanted)
        query = None if options.query is None else found[options.query]
        parts.append((path, found[options.matrix], found[options.target], query))
    return as_table(parts, expected)


def _npz_arrays(path: Path, content: bytes, wanted: list[str]) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            claimed = sum(info.file_size for info in packed.infolist())
        if claimed > LIMIT:
            raise DataError(f"{path}: holds more than {LIMIT >> 20} MiB unpacked")
        with np.load(BytesIO(content), allow_pickle=False) as stored:
            if missing := [name for name in wanted if name not in stored]:
                raise DataError(f"{path}: has no array called {missing[0]}")
            return {name: stored[name] for name in wanted}
    except DataError:
        raise
    except Exception as error:  # a damaged archive may raise anything at all
        line = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no NPZ file of plain arrays: {line}") from None


def read_parquet(paths: Sequence[Path], options: Parquet, expected: Expected) -> Table:
    """Read Parquet files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Parquet
        What the columns are for.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged, or a column is not there or of another kind.
    """
    parts: list[Part] = []
    first: list[str] = []
    for path in paths:
        table = _parquet_table(path)
        names = list(table.column_names)
        special = [options.target, *options.drop, *([options.query] if options.query else [])]
        if len(set(names)) != len(names):
            raise DataError(f"{path}: two columns have one name")
        if unknown := [n for n in (*special, *options.nominal) if n not in names]:
            raise DataError(f"{path}: has no column called {unknown[0]}")
        features = [name for name in names if name not in special]
        first = first or features
        if features != first:
            raise DataError(f"{path}: other columns than {paths[0]}, or in another order")
        X = np.empty((table.num_rows, len(features)))
        for i, name in enumerate(features):
            X[:, i] = _column(path, table.column(name), name, options.nominal.get(name))
        y = _labels(path, table.column(options.target), options.target)
        query = _labels(path, table.column(options.query), "query") if options.query else None
        parts.append((path, X, y, query))
    result = as_table(parts, expected, missing=True)
    return result._replace(feature_names=tuple(first), nominal=dict(options.nominal))


def _parquet_table(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = read_bytes(path)
    try:
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        if sum(sizes) > LIMIT:
            raise DataError(f"{path}: holds more than {LIMIT >> 20} MiB unpacked")
        table = file.read()
        table.validate(full=True)
        list(table.column_names)  # text that is none raises here
    except DataError:
        raise
    except Exception as error:  # a damaged file may raise anything at all
        line = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no Parquet file: {line}") from None
    return table


def _column(
    path: Path, column: Any, name: str, nominal: tuple[str, ...] | None
) -> NDArray[np.float64]:
    convert: Callable[[str], float] = number if nominal is None else coder(nominal)
    values = column.to_pylist()
    result = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            if value is None:
                result[i] = np.nan
            elif nominal is None and isinstance(value, int | float):
                result[i] = value
                if not np.isfinite(result[i]):
                    raise ValueError("a finite number, or null")
            else:
                result[i] = convert(str(value))
        except (ValueError, OverflowError) as error:
            raise DataError(
                f"{path}, row {i + 1}, column {name}: found {value!r:.60}, expected {error}"
            ) from None
    return result


def _labels(path: Path, column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
        raise DataError(f"{path}, column {name}: {column.null_count} entries are missing")
    return np.array(column.to_pylist())


def as_table(parts: Sequence[Part], expected: Expected, *, missing: bool = False) -> Table:
    """Check arrays and put their rows together.

    Parameters
    ----------
    parts : sequence of (path, matrix, labels, queries or None)
        The arrays of each file.
    expected : Expected
        What they must hold.
    missing : bool, default=False
        Whether NaN may stand for a missing entry.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If shapes or kinds are wrong; the message names the file and the row.
    """
    X, y, queries = [], [], []
    for path, matrix, labels, query in parts:
        X.append(_matrix(path, matrix, missing))
        y.append(_targets(path, labels, len(X[-1]), expected))
        if query is not None:
            if np.size(query) != len(X[-1]) or np.asarray(query).dtype.kind not in "iu":
                raise DataError(f"{path}: the queries must be one whole number a row")
            queries.append(np.ravel(query).astype(np.int64))
    if len({part.shape[1] for part in X}) > 1:
        raise DataError(f"{parts[0][0]}: the files differ in the number of columns")
    query = np.concatenate(queries) if queries else None
    names = default_names(X[0].shape[1])
    return Table(np.concatenate(X), np.concatenate(y), names, query=query)


def _matrix(path: Path, matrix: Any, missing: bool) -> NDArray[np.float64]:
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


def _targets(path: Path, labels: Any, n_rows: int, expected: Expected) -> NDArray[np.float64]:
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


def read_matlab(paths: Sequence[Path], options: Matlab, expected: Expected) -> Table:
    """Read a matrix and its labels.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        One file; or several, whose rows are put together.
    options : Matlab
        The names of the variables.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a file is damaged, or a variable is not there or of another kind.
    """
    parts = []
    for path in paths:
        content = read_bytes(path)
        is_hdf5 = _HDF5 in (content[:8], content[_USER_BLOCK : _USER_BLOCK + 8])
        variables = (_read_hdf5 if is_hdf5 else _read_classic)(path, content, options)
        for name in (options.matrix, options.target):
            if name not in variables:
                raise DataError(f"{path}: has no full array called {name}")
        parts.append((path, variables[options.matrix], variables[options.target], None))
    return as_table(parts, expected)


def _read_classic(path: Path, content: bytes, options: Matlab) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        if content[126:128] in (b"IM", b"MI"):
            _check_elements(content)
        found = loadmat(BytesIO(content), variable_names=[options.matrix, options.target])
    except Exception as error:  # a damaged file may raise anything at all
        line = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no MATLAB file: {line}") from None
    arrays = {name: found[name] for name in (options.matrix, options.target) if name in found}
    return {name: _dense(value) for name, value in arrays.items()}


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
    """Fill a sparse matrix; take a cell array of texts or single numbers apart."""
    from scipy import sparse

    if sparse.issparse(array):
        return array.toarray()
    if array.dtype.kind != "O":
        return array
    cells = array
    return np.array([np.asarray(cell).item() if np.size(cell) == 1 else "" for cell in cells.flat])


def _read_hdf5(path: Path, content: bytes, options: Matlab) -> dict[str, Any]:
    import h5py

    variables = {}
    try:
        with h5py.File(BytesIO(content), "r") as file:
            for name in (options.matrix, options.target):
                stored = file.get(name)
                if isinstance(stored, h5py.Dataset) and stored.dtype.kind in "fiu":
                    if stored.nbytes > LIMIT:
                        raise ValueError(f"{name} holds more than {LIMIT >> 20} MiB")
                    variables[name] = np.asarray(stored).T  # MATLAB stores column by column
    except Exception as error:  # a damaged file may raise anything at all
        line = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no MATLAB file: {line}") from None
    return variables


def read_carried(paths: Sequence[Path], options: Carried, expected: Expected) -> Table:
    """Take a data set out of scikit-learn.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        Empty.
    options : Carried
        Which data set.
    expected : Expected
        What it must hold.

    Returns
    -------
    Table
    """
    from sklearn import datasets

    bunch = getattr(datasets, options.loader)()
    names = tuple(map(str, bunch.feature_names))
    if expected.classes is None:
        return Table(bunch.data, np.asarray(bunch.target, dtype=np.float64), names)
    code = coder(expected.classes)
    codes = np.array([code(label) for label in canonical_labels(bunch.target_names)])
    return Table(bunch.data, codes[bunch.target], names)
