"""Reader for MATLAB files: a matrix and its labels; scipy and h5py do the parsing."""

import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets._arrays import as_table
from kernlearn.datasets._formats import Matlab
from kernlearn.datasets._packed import LIMIT, read_bytes
from kernlearn.datasets._readers import Expected, Table
from kernlearn.exceptions import DataError

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
