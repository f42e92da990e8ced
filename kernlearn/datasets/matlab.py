"""MATLAB files: versions 4 and 5, and 7.3, which is HDF5."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrays, formats
from kernlearn.datasets.arrays import Head
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.room import require_room
from kernlearn.datasets.unpacking import content_limit, naming_damage, read_bytes, too_large
from kernlearn.exceptions import DataError

_HDF5 = b"\x89HDF\r\n\x1a\n"
_MATRIX, _COMPRESSED = 14, 15  # kinds of elements in a version 5 file
_USER_BLOCK = 512  # where the HDF5 part of a version 7.3 file begins
_BLOCK = 1 << 20
# Kinds of arrays, as NumPy's letters, and bytes of an entry of each. A cell is an array in itself.
_KINDS = {"double": "f", "single": "f", "logical": "b", "sparse": "f", "cell": "O", "char": "U"}
_KINDS |= {f"{sign}int{8 * size}": sign or "i" for size in (1, 2, 4, 8) for sign in ("", "u")}
_OF_ENTRY = {"f": 8, "i": 8, "u": 8, "b": 1, "O": 400, "U": 8}


def read_matlab(paths: Sequence[Path], options: formats.Matlab, expected: Expected) -> Table:
    """Read a matrix and its labels from MATLAB files."""
    parts: list[arrays.Part] = []
    names = [options.matrix, options.target]
    for path in paths:
        variables = load_matlab(path, names)
        if missing := [name for name in names if name not in variables]:
            raise DataError(f"{path}: has no full array called {missing[0]}")
        parts.append((path, variables[options.matrix], variables[options.target], None))
    return arrays.as_table(parts, expected)


def load_matlab(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return the full arrays of these names."""
    content = read_bytes(path)
    with naming_damage(path, "damaged, or no MATLAB file"):
        read = _read_hdf5 if _is_hdf5(content) else _read_version_5
        return read(path, content, names)


def matlab_heads(path: Path) -> dict[str, Head]:
    """Return the shapes and kinds of the arrays of a MATLAB file, without reading them."""
    content = read_bytes(path)
    with naming_damage(path, "damaged, or no MATLAB file"):
        if not _is_hdf5(content):
            return _heads(path, content)
        import h5py

        with h5py.File(BytesIO(content), "r") as file:
            found = ((name, _stored(path, file, name)) for name in file)
            return {n: Head(s.shape, s.dtype.kind) for n, s in found if s is not None}


def _is_hdf5(content: bytes) -> bool:
    return _HDF5 in (content[:8], content[_USER_BLOCK : _USER_BLOCK + 8])


def _heads(path: Path, content: bytes) -> dict[str, Head]:
    from scipy.io import whosmat

    if content[126:128] in (b"IM", b"MI"):
        _check_elements(path, content)
    found = whosmat(BytesIO(content))
    return {
        name: Head(tuple(map(int, shape)), _KINDS[kind])
        for name, shape, kind in found
        if kind in _KINDS
    }


def _read_version_5(path: Path, content: bytes, names: Sequence[str]) -> dict[str, Any]:
    from scipy.io import loadmat

    heads = _heads(path, content)
    wanted = [name for name in names if name in heads]
    for name in wanted:
        shape = heads[name].shape
        if min(shape, default=0) < 0:
            raise ValueError(f"{name} has a length below 0")
        needed = _OF_ENTRY[heads[name].kind] * prod(shape) + 2 * len(content)
        what = f"{' x '.join(map(str, shape))} entries of {name:.60}"
        require_room(path, needed, what, held=len(content))
    variables = loadmat(BytesIO(content), variable_names=wanted)
    return {name: _dense(variables[name]) for name in wanted if name in variables}


def _check_elements(path: Path, content: bytes) -> None:
    """Check sizes and checksums of a version 5 file, which scipy does not."""
    order = "<" if content[126:128] == b"IM" else ">"
    at, left = 128, content_limit()
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if kind not in (_MATRIX, _COMPRESSED) or at + 8 + size > len(content):
            raise ValueError(f"cut short, or no element at byte {at}")
        if kind == _COMPRESSED:
            for n_bytes in _unpacked(content[at + 8 : at + 8 + size], at):
                left -= n_bytes
                if left < 0:
                    raise too_large(path, content_limit())
        at += 8 + size


def _unpacked(element: bytes, at: int) -> Iterator[int]:
    """Unpack an element and yield the sizes of its blocks."""
    unpacker = zlib.decompressobj()
    rest = element
    while rest and not unpacker.eof:
        yield len(unpacker.decompress(rest, _BLOCK))
        rest = unpacker.unconsumed_tail
    while not unpacker.eof:
        if not (more := len(unpacker.decompress(b"", _BLOCK))):
            raise ValueError(f"the element at byte {at} is cut short")
        yield more


def _dense(array: Any) -> Any:
    """Return a sparse matrix or a cell array of texts or single numbers as a plain array."""
    if hasattr(array, "toarray"):
        return array.toarray()
    if array.dtype.kind != "O":
        return array
    return np.array([np.asarray(cell).item() if np.size(cell) == 1 else "" for cell in array.flat])


def _read_hdf5(path: Path, content: bytes, names: Sequence[str]) -> dict[str, Any]:
    import h5py

    variables = {}
    with h5py.File(BytesIO(content), "r") as file:
        for name in names:
            if (stored := _stored(path, file, name)) is not None:
                # a chunk is unpacked as a whole
                needed = stored.nbytes + prod(stored.chunks or ()) * stored.dtype.itemsize
                what = f"{' x '.join(map(str, stored.shape))} entries of {name:.60}"
                require_room(path, needed + len(content), what, held=len(content))
                variables[name] = np.asarray(stored).T  # MATLAB stores column by column
    return variables


def _stored(path: Path, file: Any, name: str) -> Any:
    """Return a full array of numbers in an HDF5 file, or None; others' files are not opened."""
    import h5py

    link = file.get(name, getlink=True)
    kind = "" if not isinstance(link, h5py.ExternalLink) else "a link to another file"
    stored = None
    if isinstance(link, h5py.HardLink):
        stored = file.get(name)
        if not isinstance(stored, h5py.Dataset):
            return None
        if stored.is_virtual:
            kind = "a virtual data set, made of others"
        elif stored.external:
            kind = "an external data set, whose values are in another file"
    if kind:
        raise DataError(f"{path}: {name:.60} is {kind}; write its values into the file itself")
    return stored if stored is not None and stored.dtype.kind in "fiu" else None
