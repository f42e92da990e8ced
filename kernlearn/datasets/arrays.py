"""Arrays of numbers: NumPy's NPZ, scikit-learn's bundled data sets, and their check for all."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernlearn.datasets import formats
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.room import require_room
from kernlearn.datasets.text import canonical_label, canonical_labels, coder, joined, number
from kernlearn.datasets.unpacking import ZIP_END, check_directory, naming_damage, read_bytes
from kernlearn.exceptions import DataError

Part = tuple[Path, Any, Any, Any]

_NO_NPZ = "damaged, or no NPZ file of plain arrays"


class Head(NamedTuple):
    """The shape of an array in a file, the letter of its type, and its bytes if they are known."""

    shape: tuple[int, ...]
    kind: str
    n_bytes: int = 0

    @property
    def size(self) -> int:
        """The number of entries."""
        return prod(self.shape)


class Coded(NamedTuple):
    """Labels as positions among different values."""

    codes: np.ndarray
    values: list[str]


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
    return as_table(parts, expected)


def load_npz(path: Path, names: Sequence[str | None]) -> dict[str, Any]:
    """Return the arrays of these names; pickled objects are not loaded."""
    content = read_bytes(path)
    with naming_damage(path, _NO_NPZ), _members(path, content) as (packed, members):
        wanted = {name: members[name] for name in names if name is not None and name in members}
        heads = {name: _head(packed, file) for name, file in wanted.items()}
        needed = sum(head.n_bytes for head in heads.values())
        held = len(content)
        require_room(path, needed + held, f"the arrays {', '.join(wanted)}", held=held)
        arrays = {}
        for name, file in wanted.items():
            with packed.open(file) as member:
                arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
            if not _are_texts(arrays[name]):
                raise ValueError(f"{name}: texts with what is no character")
        return arrays


def _are_texts(array: np.ndarray) -> bool:
    """Tell whether the texts of an array, if it has any, are of characters alone."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    codes = np.ascontiguousarray(array).view(array.dtype.byteorder + "u4")
    return bool(((codes < 0xD800) | ((codes > 0xDFFF) & (codes < 0x110000))).all())


def npz_heads(path: Path) -> dict[str, Head]:
    """Return the shapes and kinds of the arrays of an NPZ file, without reading them."""
    content = read_bytes(path)
    with naming_damage(path, _NO_NPZ), _members(path, content) as (packed, members):
        return {name: _head(packed, file) for name, file in members.items()}


def member_names(path: Path) -> tuple[str, ...]:
    """Return the names of all files of an archive, of which it is not clear that it is an NPZ."""
    content = read_bytes(path)
    check_directory(path, content[-ZIP_END:], len(content))
    with naming_damage(path, _NO_NPZ), zipfile.ZipFile(BytesIO(content)) as packed:
        return tuple(info.filename for info in packed.infolist() if not info.is_dir())


@contextmanager
def _members(path: Path, content: bytes) -> Iterator[tuple[zipfile.ZipFile, dict[str, str]]]:
    """Open an NPZ file in memory; yield it, and its members by the names of the arrays."""
    check_directory(path, content[-ZIP_END:], len(content))
    with zipfile.ZipFile(BytesIO(content)) as packed:
        files = [name for name in packed.namelist() if not name.endswith("/")]
        if others := [name for name in files if not name.endswith(".npy")]:
            n = f"{len(files)} files, among them" if len(files) > 1 else "the file"
            raise DataError(
                f"{path}: an archive of {n} {others[0]!r:.60}, and no NPZ file of arrays"
            )
        if len(set(files)) < len(files):
            raise DataError(f"{path}: two arrays have the same name")
        yield packed, {name.removesuffix(".npy"): name for name in files}


def _head(packed: zipfile.ZipFile, file: str) -> Head:
    """Read the beginning of an array in NumPy's format."""
    with packed.open(file) as member:
        version = np.lib.format.read_magic(member)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"{file}: version {version} of the format is not read")
        shape, _, dtype = read(member)
    if min(shape, default=0) < 0:
        raise ValueError(f"{file}: a length below 0")
    return Head(tuple(shape), dtype.kind, prod(shape) * dtype.itemsize)


def as_table(parts: Sequence[Part], expected: Expected, *, missing: bool = False) -> Table:
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
    query = joined(queries) if queries else None
    names = formats.default_names(X[0].shape[1])
    return Table(joined(X), joined(y), names, query=query)


def _matrix(path: Path, matrix: Any, missing: bool) -> np.ndarray:
    values = np.asarray(matrix)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"{path}: found an array of shape {values.shape} and type {values.dtype}, "
            "expected a matrix of numbers"
        )
    if not values.size:
        raise DataError(f"{path}: the file has no {'columns' if len(values) else 'rows'}")
    # integers and float32 stay what they are as long as they can: float64 may be 8 times as large
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    elif values.dtype.kind == "f" and values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if not missing and values.dtype.kind == "f":
        wrong = ~np.isfinite(values).all(axis=1)
        if wrong.any():
            raise DataError(f"{path}, row {int(wrong.argmax()) + 1}: an entry is not finite")
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def is_vector(shape: tuple[int, ...], n: int) -> bool:
    """Tell whether an array has one entry per row: as a vector, a column or a row."""
    return shape in ((n,), (n, 1), (1, n))


def _codes(path: Path, labels: Any, n_rows: int, expected: Expected) -> np.ndarray:
    if isinstance(labels, Coded):
        distinct, positions = [canonical_label(value) for value in labels.values], labels.codes
    else:
        if np.ndim(labels) > 2 or (np.ndim(labels) == 2 and min(np.shape(labels)) > 1):
            raise DataError(
                f"{path}: found labels of shape {np.shape(labels)}, expected one per row; of "
                "columns of 0 and 1, give the position of the 1 in each row"
            )
        values = np.ravel(labels)
        if values.size != n_rows or values.dtype.kind not in "fiubU":
            raise DataError(
                f"{path}: found {values.size} labels of type {values.dtype}, expected {n_rows} "
                "numbers or texts"
            )
        different, positions = np.unique(values, return_inverse=True)
        distinct = canonical_labels(different).tolist()
    convert = number if expected.classes is None else coder(expected.classes)
    codes = np.zeros(len(distinct))
    for place in np.unique(positions).tolist():  # of a dictionary some may be in no row
        try:
            codes[place] = convert(distinct[place])
        except ValueError as error:
            row = int((positions == place).argmax()) + 1
            raise DataError(
                f"{path}, row {row}: found label {distinct[place]!r:.60}, expected {error}"
            ) from None
    return codes[positions]


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
