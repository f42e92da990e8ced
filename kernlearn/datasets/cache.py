"""Parsed copies of data sets, kept in the user's cache as NPZ files."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from kernlearn.datasets.packed import container

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_VERSION = 2
_SPARSE_PARTS = ("values", "indices", "indptr", "shape")


class Contents(NamedTuple):
    """What a data set holds, checked and encoded.

    Attributes
    ----------
    data : ndarray or CSR matrix of shape (n_samples, n_features)
        The features.
    target : ndarray of shape (n_samples,)
        Codes of the labels, or numbers.
    target_names : ndarray of str
        The labels; empty if the target is a number.
    feature_names : ndarray of str, shape (n_features,)
        The names of the columns.
    fingerprint : str
        The content's fingerprint.
    query : ndarray of int, shape (n_samples,), optional
        The query of each row, for ranking.
    note : str, default=""
        What was done to missing entries.
    """

    data: Any
    target: "NDArray[Any]"
    target_names: "NDArray[np.str_]"
    feature_names: "NDArray[np.str_]"
    fingerprint: str
    query: "NDArray[np.int64] | None" = None
    note: str = ""


def cache_folder() -> Path:
    """Return the folder of everything that is kept for the user between runs.

    Returns
    -------
    pathlib.Path
        The environment variable ``KERNLEARN_CACHE`` if it is set, else the place that the
        operating system provides. It need not exist.
    """
    if named := os.environ.get("KERNLEARN_CACHE"):
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("kernlearn"))


class Stamp(NamedTuple):
    """Files in one state, and how they are read: what a copy or a note is valid for.

    Attributes
    ----------
    stem : str
        The name of the copy's file, without its suffix.
    key : str
        Identifies files, variant and the files' sizes and times of modification.
    """

    stem: str
    key: str


def stamp(name: str, paths: Sequence[Path], variant: dict[str, Any]) -> Stamp:
    """Identify the present state of some files, read in one way.

    Parameters
    ----------
    name : str
        The data set's name.
    paths : sequence of pathlib.Path
        The files.
    variant : dict
        How they are read and encoded: plain values only.

    Returns
    -------
    Stamp
    """
    resolved = [str(path.resolve()) for path in paths]
    identity = sha256(json.dumps([resolved, variant]).encode()).hexdigest()
    state = [[stat.st_size, stat.st_mtime_ns] for stat in (container(p).stat() for p in paths)]
    return Stamp(f"{name}-{identity[:16]}", json.dumps([_VERSION, identity, state]))


def recall(mark: Stamp) -> Any:
    """Return the value that :func:`remember` kept for these files in this state, or None."""
    with suppress(OSError, ValueError):
        seal, _, text = _note_file(mark).read_text(encoding="utf-8").partition("\n")
        if seal == _seal(mark, text):
            return json.loads(text)
    return None


def remember(mark: Stamp, value: Any) -> None:
    """Keep a small JSON value for these files in this state, where the cache can be written."""
    text = json.dumps(value)
    with suppress(OSError):
        _write(_note_file(mark), lambda file: file.write(f"{_seal(mark, text)}\n{text}".encode()))


def _note_file(mark: Stamp) -> Path:
    return cache_folder() / "notes" / f"{mark.stem}.json"


def _seal(mark: Stamp, text: str) -> str:
    return sha256(f"{mark.key}\n{text}".encode()).hexdigest()


def cached(mark: Stamp, make: Callable[[], Contents]) -> Contents:
    """Return the parsed copy of some files, making it if there is none that is still valid.

    The copy's fingerprint is remembered, so that it is known without reading the copy.
    Where nothing can be read or written, everything works without.

    Parameters
    ----------
    mark : Stamp
        The files.
    make : callable
        Parses the files.

    Returns
    -------
    Contents
    """
    copy = cache_folder() / "parsed" / f"{mark.stem}.npz"
    contents = _read(copy, mark.key)
    if contents is None:
        contents = make()
        arrays = _arrays(mark.key, contents)
        with suppress(OSError):
            _write(copy, lambda file: _save(file, arrays))
    if recall(mark) != contents.fingerprint:
        remember(mark, contents.fingerprint)
    return contents


def _read(path: Path, key: str) -> Contents | None:
    import numpy as np
    from scipy import sparse

    # a damaged archive may raise anything at all, and is as good as none
    with suppress(Exception), np.load(path, allow_pickle=False) as stored:
        if str(stored["key"]) != key:
            return None
        parts = [stored[part] for part in _SPARSE_PARTS if part in stored]
        data = sparse.csr_matrix(tuple(parts[:3]), shape=parts[3]) if parts else stored["data"]
        target, labels, names = (stored[p] for p in ("target", "target_names", "feature_names"))
        query = stored.get("query")
        told = (str(stored[part]) for part in ("fingerprint", "note"))
        contents = Contents(data, target, labels, names, next(told), query, next(told))
        if contents.data.shape == (len(contents.target), len(contents.feature_names)):
            return contents
    return None


def _arrays(key: str, contents: Contents) -> dict[str, Any]:
    from scipy import sparse

    fields = contents._asdict().items()
    arrays = {"key": key, **{name: value for name, value in fields if value is not None}}
    if sparse.issparse(contents.data):
        X = arrays.pop("data")
        parts = (X.data, X.indices, X.indptr, X.shape)
        arrays.update(zip(_SPARSE_PARTS, parts, strict=True))
    return arrays


def _save(file: IO[bytes], arrays: dict[str, Any]) -> None:
    import numpy as np

    np.savez(file, **arrays)


def _write(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            save(file)
        Path(temporary).replace(path)  # readers see the old copy or the new one, never half
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
