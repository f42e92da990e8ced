"""The content of HDF5 files, read in a process apart (see ``matlab.py``).

The libraries that read files of arrays can crash on damaged ones. What is imported here is what a
command waits for.
"""

from collections.abc import Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from kernlearn.datasets.apart import Answer, allow_for
from kernlearn.datasets.content import reading
from kernlearn.datasets.room import require_room
from kernlearn.exceptions import DataError

_DAMAGE = "damaged, or no HDF5 file"


def heads(file: str) -> Answer:
    """Return the names, shapes and kinds of the arrays of a file, without reading them."""
    with reading(file, _DAMAGE) as (path, content), h5py.File(BytesIO(content), "r") as opened:
        stored = ((name, _stored(path, opened, name)) for name in opened)
        turned = -1 if _is_of_matlab(content) else 1
        found = [(n, s.shape[::turned], _kind(s)) for n, s in stored if s is not None]
        return Answer(found)


def load(file: str, names: Sequence[str]) -> Answer:
    """Return the names and the content of those of some arrays that are full."""
    with reading(file, _DAMAGE) as (path, content):
        found = _load(path, content, names)
        return Answer(list(found), tuple(found.values()))


def _kind(stored: Any) -> str:
    """Return the letter of NumPy for the type of the values."""
    return str(stored.dtype.kind) if h5py.check_string_dtype(stored.dtype) is None else "U"


def _values(stored: Any) -> np.ndarray:
    if _kind(stored) == "U":
        return np.asarray(stored.asstr()[()], dtype=np.str_)
    return np.asarray(stored)


def _is_of_matlab(content: bytes) -> bool:
    return content.startswith(b"MATLAB")


def _load(path: Path, content: bytes, names: Sequence[str]) -> dict[str, Any]:
    variables = {}
    with h5py.File(BytesIO(content), "r") as file:
        for name in names:
            if (stored := _stored(path, file, name)) is not None:
                # a chunk is unpacked as a whole
                needed = stored.nbytes + prod(stored.chunks or ()) * stored.dtype.itemsize
                what = f"{' x '.join(map(str, stored.shape))} entries of {name:.60}"
                require_room(path, needed + len(content), what, held=len(content))
                allow_for(needed)
                variables[name] = _values(stored)
                if _is_of_matlab(content):  # which stores column by column
                    variables[name] = variables[name].T
    return variables


def _stored(path: Path, file: Any, name: str) -> Any:
    """Return an array of numbers or texts of a file, or None; other files are not opened."""
    stored = file
    for part in name.split("/"):
        link = stored.get(part, getlink=True) if isinstance(stored, h5py.Group) else None
        if isinstance(link, h5py.ExternalLink):
            raise _elsewhere(path, name, "a link to another file")
        if not isinstance(link, h5py.HardLink):
            return None
        stored = stored.get(part)
    if not isinstance(stored, h5py.Dataset):
        return None
    if stored.is_virtual:
        raise _elsewhere(path, name, "a virtual data set, made of others")
    if stored.external:
        raise _elsewhere(path, name, "an external data set, whose values are in another file")
    known = stored.dtype.kind in "fiub" or _kind(stored) == "U"
    return stored if known and stored.shape is not None else None


def _elsewhere(path: Path, name: str, kind: str) -> DataError:
    return DataError(f"{path}: {name:.60} is {kind}; write its values into the file itself")
