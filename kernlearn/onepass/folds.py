"""Folds and samples that depend on what rows hold, not on where they stand."""

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Hashes = NDArray[np.uint64]

_BLOCK = 4096  # rows: what is computed of them stays in cache


def row_hashes(X: Any, seed: int = 0) -> Hashes:
    r"""Return a hash of each row, from the bits of its entries as float64.

    The high bits of :math:`\sum_j c_j x_j \bmod 2^{64}`, over the 32-bit halves x of the entries
    with random c, are strongly universal; they are mixed afterwards. A row has the same hash as
    an array or sparse, as float32 or float64.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    seed : int, default=0

    Returns
    -------
    ndarray of shape (n_samples,), uint64

    References
    ----------
    D. Lemire, O. Kaser. Strongly universal string hashing is fast. The Computer Journal 57
    (2014), section 3.
    """
    seeds = np.random.SeedSequence(seed)
    factors = seeds.generate_state(2 * X.shape[1] + 1, np.uint64).astype(np.uint64)
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):
        hashes[:] = _sparse_sums(X.tocsr(), factors)
    else:
        for start in range(0, X.shape[0], _BLOCK):
            rows = slice(start, start + _BLOCK)
            halves = _halves(X[rows])
            hashes[rows] = halves.reshape(halves.shape[0], -1) @ factors[1:]
    hashes += factors[0]
    return mixed(hashes >> np.uint64(32) | hashes << np.uint64(32))


def _halves(values: Any) -> NDArray[np.uint64]:
    # adding 0 makes one zero of -0.0 and 0.0
    whole = np.ascontiguousarray(values, dtype="<f8") + 0.0
    return whole.view("<u4").astype(np.uint64)


def _sparse_sums(X: Any, factors: Hashes) -> Hashes:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    halves = _halves(X.data).reshape(-1, 2)
    low, high = factors[1::2], factors[2::2]
    terms = halves[:, 0] * low[X.indices] + halves[:, 1] * high[X.indices]
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return ends[X.indptr[1:]] - ends[X.indptr[:-1]]


def label_hashes(labels: Any) -> Hashes:
    """Return a hash of each label or number; equal ones of one kind have the same."""
    values = np.asarray(labels)
    if values.ndim > 1:
        return row_hashes(values.astype(np.float64))
    bits: Any
    if values.dtype.kind in "biu":
        bits = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64)
    elif values.dtype.kind == "f":
        bits = values.astype(np.float64) + 0.0
    elif values.dtype.kind in "mM":
        bits = values
    else:
        bits = _object_hashes(values.tolist())
    return mixed(_finalised(bits.view(np.uint64)))


def _object_hashes(labels: list[Any]) -> Hashes:
    # one digest per distinct label
    known = {key: _digest(*key) for key in {(type(label), label) for label in labels}}
    return np.array([known[type(label), label] for label in labels], dtype=np.uint64)


def _digest(kind: type, label: Any) -> int:
    # a number is the same whatever its type
    shown = float(label) if isinstance(label, (bool, int, float, np.number)) else label
    content = f"{'' if isinstance(label, str) else '#'}{shown}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def mixed(values: Hashes, salt: int = 0) -> Hashes:
    """Mix the bits of 64-bit numbers, as SplitMix64 does."""
    with np.errstate(over="ignore"):
        return _finalised(values + np.uint64(0x9E3779B97F4A7C15) * np.uint64(salt + 1))


def _finalised(z: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return z ^ z >> np.uint64(31)


def fold_of(hashes: Hashes, n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each row, from 0 to `n_folds` - 1."""
    return ((hashes >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


class HashSample:
    """A uniform sample of the distinct rows of a stream that does not depend on their order.

    It consists of the rows with the smallest hashes, in the order of these.

    Parameters
    ----------
    n_rows : int
        Number of rows; all of a stream with fewer.
    seed : int, default=0
        Seed of the hash.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows,)
        The number of each row of the sample among those offered.
    """

    def __init__(self, n_rows: int, seed: int = 0) -> None:
        self.n_rows, self.seed = n_rows, seed
        self.numbers = np.empty(0, dtype=np.intp)  # set with the rows
        self._parts: list[tuple[Any, Any, Hashes, NDArray[np.intp]]] = []
        self._n_seen = 0
        self._n_kept = 0
        self._limit = np.uint64(2**64 - 1)

    def add(self, X: Any, y: Any = None, numbers: NDArray[np.intp] | None = None) -> None:
        """Offer rows and their targets; without `numbers` these count the rows offered."""
        if numbers is None:
            numbers = np.arange(self._n_seen, self._n_seen + X.shape[0])
        self._n_seen += X.shape[0]
        keys = row_hashes(X, self.seed)
        if y is not None:
            keys = keys + label_hashes(y)
        keys = mixed(keys, salt=1)  # the folds are taken from the hashes themselves
        rows = np.flatnonzero(keys <= self._limit)
        if not len(rows):
            return
        if len(rows) > self.n_rows:
            rows = rows[np.sort(np.argsort(keys[rows], kind="stable")[: self.n_rows])]
        targets = None if y is None else y[rows]
        self._parts.append((X[rows], targets, keys[rows], numbers[rows]))
        self._n_kept += len(rows)
        if self._n_kept > 2 * self.n_rows:
            self.rows()

    def merge(self, other: "HashSample") -> None:
        """Offer the sample of other rows, which stays as it is; their numbers come after these."""
        self._parts += [(*part[:3], part[3] + self._n_seen) for part in other._parts]
        self._n_seen += other._n_seen
        self._n_kept += other._n_kept
        if self._n_kept > self.n_rows:
            self.rows()

    def rows(self) -> tuple[Any, Any]:
        """Return the sample and its targets, None without any, and set its `numbers`."""
        if not self._parts:
            raise ValueError("the data have no rows")
        keys = np.concatenate([part[2] for part in self._parts])
        order = np.argsort(keys, kind="stable")[: self.n_rows]
        X = _stacked([part[0] for part in self._parts])[order]
        targets = [part[1] for part in self._parts]
        y = None if targets[0] is None else np.concatenate(targets)[order]
        self.numbers = np.concatenate([part[3] for part in self._parts])[order]
        self._parts, self._n_kept = [(X, y, keys[order], self.numbers)], len(order)
        if len(order) == self.n_rows:
            self._limit = keys[order[-1]]
        return X, y


def _stacked(parts: list[Any]) -> Any:
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
