"""MATLAB files: versions 4 and 5, and 7.3, which is HDF5."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernlearn.datasets import arrays, formats
from kernlearn.datasets.apart import Answer
from kernlearn.datasets.arrays import Head
from kernlearn.datasets.content import read_apart
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.unpacking import read_head
from kernlearn.exceptions import DataError

_HDF5 = b"\x89HDF\r\n\x1a\n"
_USER_BLOCK = 512  # where the HDF5 part of a version 7.3 file begins


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
    answer = _apart("load", path, list(names))
    return dict(zip(answer.value, answer.arrays, strict=True))


def matlab_heads(path: Path) -> dict[str, Head]:
    """Return the shapes and kinds of the arrays of a MATLAB file, without reading them."""
    found = _apart("heads", path).value
    return {name: Head(tuple(shape), kind) for name, shape, kind in found}


def _apart(function: str, path: Path, *arguments: Any) -> Answer:
    head = read_head(path, _USER_BLOCK + len(_HDF5))
    hdf5 = _HDF5 in (head[: len(_HDF5)], head[_USER_BLOCK:])
    module, kind = ("hdf5_content", "HDF5") if hdf5 else ("matlab_content", "MATLAB")
    return read_apart(f"{module}:{function}", path, kind, *arguments)
