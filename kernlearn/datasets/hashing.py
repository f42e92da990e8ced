"""Class labels: one spelling for each, whatever the file format."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def canonical_label(label: Any) -> str:
    """Spell a label so that ``+1``, ``1``, ``1.0`` and the number 1 read alike.

    Parameters
    ----------
    label : str or number
        A label as found.

    Returns
    -------
    str
        A number's shortest decimal form, other text without blanks around it.
    """
    text = str(label).strip()
    try:
        value = float(text)
    except ValueError:
        return text
    if not np.isfinite(value):
        return text
    return str(int(value)) if value == int(value) else repr(value)


def canonical_labels(y: ArrayLike) -> NDArray[np.str_]:
    """Spell every label of an array as :func:`canonical_label` does.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, text or numbers.

    Returns
    -------
    ndarray of str, shape (n_samples,)
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "b":
        labels = labels.astype(int)
    elif labels.dtype.kind == "f":
        labels = labels.astype(np.float64)  # the shortest form of a float32 is another number
    distinct, positions = np.unique(labels, return_inverse=True)
    spelt = np.array([canonical_label(label) for label in distinct], dtype=np.str_)
    return spelt[positions.reshape(-1)]


def coder(values: Sequence[str]) -> Callable[[str], float]:
    """Make the function that gives a value's position among the known ones.

    Parameters
    ----------
    values : sequence of str
        The known values, in order.

    Returns
    -------
    callable
        From text to float; ValueError for a value that is not known.
    """
    codes = {canonical_label(value): float(code) for code, value in enumerate(values)}
    expected = f"one of {', '.join(values)}"

    @lru_cache(maxsize=1024)
    def code(text: str) -> float:
        try:
            return codes[canonical_label(text)]
        except KeyError:
            raise ValueError(expected) from None

    return code


_VERSION = "kernlearn content 1"
_BLOCK_ENTRIES = 1 << 20
_ENTRY = np.dtype([("column", "<i8"), ("value", "<f8")])


def fingerprint(X: Any, y: ArrayLike | None = None) -> str:
    """Hash the rows and labels of a data set.

    Each row is written as its label and its non-zero entries, (column, value) pairs of
    little-endian int64 and float64, and hashed by SHA-256; the sorted hashes are hashed
    together with the number of columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Dense and sparse, -0.0 and 0.0, and all NaNs are alike.
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
    from scipy import sparse

    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, got {X.ndim}")
    n_samples, n_features = X.shape
    labels = np.zeros(n_samples, dtype="U1") if y is None else canonical_labels(y)
    if len(labels) != n_samples:
        raise ValueError(f"y must have one label a row of X, got {len(labels)} for {n_samples}")
    heads = [label.encode() + b"\0" for label in labels.tolist()]
    step = max(1, _BLOCK_ENTRIES // max(1, n_features))
    digests: list[bytes] = []
    for start in range(0, n_samples, step):
        digests += _hash_rows(X[start : start + step], heads[start : start + step])
    digests.sort()
    return sha256(f"{_VERSION} {n_features}\n".encode() + b"".join(digests)).hexdigest()


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
