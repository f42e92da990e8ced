"""Fingerprints of data sets, and the user's cache: parsed copies and small notes."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from kernlearn.datasets.files import cache_folder
from kernlearn.datasets.objects import are_objects, content, packed, unpacked
from kernlearn.datasets.text import canonical_labels
from kernlearn.datasets.unpacking import container

_CONTENT_VERSION = "kernlearn content 1"
_BLOCK_ENTRIES = 1 << 20
_ENTRY = np.dtype([("column", "<i8"), ("value", "<f8")])


def fingerprint(X: Any, y: np.typing.ArrayLike | None = None) -> str:
    """Hash the rows and labels of a data set.

    Each row is written as its label and its non-zero entries, (column, value) pairs of
    little-endian int64 and float64, and hashed by SHA-256; the sorted hashes are hashed
    together with the number of columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Dense and sparse, -0.0 and 0.0, and all NaNs are alike. Or an array of objects of
        shape (n_samples,), whose content is hashed: strings, arrays, sets, graphs and others.
    y : array-like of shape (n_samples,), optional
        Labels, text or numbers; ``"+1"``, ``1`` and ``1.0`` are alike.

    Returns
    -------
    str
        64 hexadecimal digits, the same for any order of the rows.

    Raises
    ------
    ValueError
        If X is not 2-D, or X and y differ in length.

    Examples
    --------
    >>> from kernlearn.datasets import fingerprint
    >>> fingerprint([[0, 1], [2, 3]], ["a", "b"]) == fingerprint([[2, 3], [0, 1]], ["b", "a"])
    True
    """
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    objects = X.ndim == 1 and X.dtype.kind in "OUS"
    if X.ndim != 2 and not objects:
        raise ValueError(f"X must have 2 dimensions, got {X.ndim}")
    n_samples, n_features = (len(X), 0) if objects else X.shape
    labels = np.zeros(n_samples, dtype="U1") if y is None else canonical_labels(y)
    if len(labels) != n_samples:
        raise ValueError(f"y must have one label per row of X, got {len(labels)} for {n_samples}")
    heads = [label.encode() + b"\0" for label in labels.tolist()]
    step = max(1, _BLOCK_ENTRIES // max(1, n_features))
    if objects:
        digests = sorted(
            sha256(h + content(point)).digest() for h, point in zip(heads, X, strict=True)
        )
        return sha256(f"{_CONTENT_VERSION} objects\n".encode() + b"".join(digests)).hexdigest()
    digests = []
    for start in range(0, n_samples, step):
        digests += _hash_rows(X[start : start + step], heads[start : start + step])
    digests.sort()
    return sha256(f"{_CONTENT_VERSION} {n_features}\n".encode() + b"".join(digests)).hexdigest()


def _hash_rows(X: Any, heads: list[bytes]) -> list[bytes]:
    from scipy import sparse

    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    entries = np.empty(rows.nnz, dtype=_ENTRY)
    entries["column"] = rows.indices
    entries["value"] = np.where(np.isnan(rows.data), np.nan, rows.data)  # one NaN for all
    content = entries.tobytes()
    ends = (rows.indptr * _ENTRY.itemsize).tolist()
    return [
        sha256(head + content[start:end]).digest()
        for head, start, end in zip(heads, ends, ends[1:], strict=False)
    ]


_VERSION = 4


class Contents(NamedTuple):
    """The contents of a data set, checked and encoded; see :func:`load` for the fields."""

    data: Any
    target: np.ndarray
    target_names: np.ndarray
    feature_names: np.ndarray
    fingerprint: str
    query: np.ndarray | None = None
    note: str = ""
    preparation: str = ""  # JSON

    @property
    def known(self) -> Any:
        """What is remembered of it: the fingerprint, and what was done if anything was."""
        if self.preparation in ("", "{}"):
            return self.fingerprint
        return {"fingerprint": self.fingerprint, "preparation": json.loads(self.preparation)}


class Stamp(NamedTuple):
    """Some files in one state, read in one way: what a copy or a note is valid for.

    `stem` names the copy's file; `key` identifies the files, how they are read, and their state.
    """

    stem: str
    key: str


def stamp(name: str, paths: Sequence[Path], variant: dict[str, Any]) -> Stamp:
    """Identify the present state of some files; `variant` says in plain values how they read."""
    resolved = [str(path.resolve()) for path in paths]
    # copies of another version are neither read nor overwritten
    identity = sha256(json.dumps([_VERSION, resolved, variant]).encode()).hexdigest()
    state = [[stat.st_size, stat.st_mtime_ns] for stat in (container(p).stat() for p in paths)]
    return Stamp(f"{name}-{identity[:16]}", json.dumps([identity, state]))


def recall(mark: Stamp) -> Any:
    """Return the value that :func:`remember` kept for these files in this state, or None."""
    with suppress(OSError, ValueError):
        seal, _, text = _note_file(mark).read_text(encoding="utf-8").partition("\n")
        if seal == _seal(mark, text):
            return json.loads(text)
    return None


def remember(mark: Stamp, value: Any) -> None:
    """Keep a small JSON value for these files in this state, if the cache can be written."""
    if recall(mark) != value:
        text = json.dumps(value)
        content = f"{_seal(mark, text)}\n{text}".encode()
        write_whole(_note_file(mark), lambda file: file.write(content))


def _note_file(mark: Stamp) -> Path:
    return cache_folder() / "notes" / f"{mark.stem}.json"


def _seal(mark: Stamp, text: str) -> str:
    """Hash state and text, so that a note that is outdated or damaged is not used."""
    return sha256(f"{mark.key}\n{text}".encode()).hexdigest()


def cached(mark: Stamp, make: Callable[[], Contents]) -> Contents:
    """Return the parsed copy of some files; `make` parses them if there is no valid copy.

    The fingerprint is remembered, so that it is known without reading the copy. If the cache
    cannot be read or written, everything works without.
    """
    copy = cache_folder() / "parsed" / f"{mark.stem}.npz"
    contents = _read(copy, mark.key)
    if contents is None:
        contents = make()
        arrays = {name: value for name, value in contents._asdict().items() if value is not None}
        if are_objects(X := contents.data):
            del arrays["data"]
            arrays |= packed(X)
        elif not isinstance(X, np.ndarray):
            del arrays["data"]
            arrays |= {"values": X.data, "indices": X.indices, "indptr": X.indptr}
        write_whole(copy, lambda file: np.savez(file, key=mark.key, **arrays))
    remember(mark, contents.known)
    return contents


def _read(path: Path, key: str) -> Contents | None:
    from scipy import sparse

    # a damaged archive may raise anything at all, and is ignored
    with suppress(Exception), np.load(path, allow_pickle=False) as stored:
        if str(stored["key"]) == key:
            fields = {name: stored[name] for name in stored.files if name != "key"}
            shape = len(fields["target"]), len(fields["feature_names"])
            if "values" in fields:
                parts = fields.pop("values"), fields.pop("indices"), fields.pop("indptr")
                fields["data"] = sparse.csr_matrix(parts, shape=shape)
            if (points := unpacked(fields)) is not None:
                fields = {k: v for k, v in fields.items() if k in Contents._fields}
                fields["data"] = points
            if fields["data"].shape == shape[: fields["data"].ndim]:
                texts = {
                    name: str(fields[name]) for name in ("fingerprint", "note", "preparation")
                }
                return Contents(**fields | texts)
    return None


def write_whole(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Write a file if possible; readers see the old one or the new one, never a part."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                save(file)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
