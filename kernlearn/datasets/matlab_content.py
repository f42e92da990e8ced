"""The content of MATLAB files of versions 4 and 5, read in a process apart (see ``matlab.py``)."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat, whosmat

from kernlearn.datasets.apart import Answer, allow_for
from kernlearn.datasets.content import reading
from kernlearn.datasets.room import require_room
from kernlearn.datasets.unpacking import content_limit, too_large

_DAMAGE = "damaged, or no MATLAB file"
_MATRIX, _COMPRESSED = 14, 15  # kinds of elements in a version 5 file
_BLOCK = 1 << 20
# Kinds of arrays, as NumPy's letters, and bytes of an entry of each. A cell is an array in itself.
_KINDS = {"double": "f", "single": "f", "logical": "b", "sparse": "f", "cell": "O", "char": "U"}
_KINDS |= {f"{sign}int{8 * size}": sign or "i" for size in (1, 2, 4, 8) for sign in ("", "u")}
_OF_ENTRY = {"f": 8, "i": 8, "u": 8, "b": 1, "O": 400, "U": 8}


def heads(file: str) -> Answer:
    """Return the names, shapes and kinds of the arrays of a file, without reading them."""
    with reading(file, _DAMAGE) as (path, content):
        return Answer([[name, *head] for name, head in _heads(path, content).items()])


def load(file: str, names: Sequence[str]) -> Answer:
    """Return the names and the content of those of some arrays that are full."""
    with reading(file, _DAMAGE) as (path, content):
        found = _load(path, content, names)
        return Answer(list(found), tuple(found.values()))


def _heads(path: Path, content: bytes) -> dict[str, tuple[tuple[int, ...], str]]:
    if content[126:128] in (b"IM", b"MI"):
        _check_elements(path, content)
    found = whosmat(BytesIO(content))
    names = [name for name, _, _ in found]
    if len(set(names)) < len(names):
        raise ValueError("two arrays have the same name")
    return {
        name: (tuple(map(int, shape)), _KINDS[kind])
        for name, shape, kind in found
        if kind in _KINDS
    }


def _load(path: Path, content: bytes, names: Sequence[str]) -> dict[str, Any]:
    heads = _heads(path, content)
    wanted = [name for name in names if name in heads]
    for name in wanted:
        shape, kind = heads[name]
        if min(shape, default=0) < 0:
            raise ValueError(f"{name} has a length below 0")
        needed = _OF_ENTRY[kind] * prod(shape) + 2 * len(content)
        what = f"{' x '.join(map(str, shape))} entries of {name:.60}"
        require_room(path, needed, what, held=len(content))
        allow_for(needed)
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
        array.check_format(full_check=True)  # other indices would be written outside of it
        return array.toarray()
    if array.dtype.kind != "O":
        return array
    return np.array([np.asarray(cell).item() if np.size(cell) == 1 else "" for cell in array.flat])
