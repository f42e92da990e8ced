"""What the C libraries print, caught instead of shown.

LIBLINEAR and LIBSVM report non-convergence in no other way than by printing, through one
function pointer a process.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

PRINT_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class PrintHook:
    """The print hook of one library, shared by all threads that train with it.

    Parameters
    ----------
    install : callable
        The library's function that sets the hook; a null pointer gives its own default back.
    """

    def __init__(self, install: Callable[[Any], None]) -> None:
        self._install = install
        # Kept here: the library holds the bare pointer for longer than one call.
        self._callback = PRINT_FUNCTION(self._hear)
        self._lock = threading.Lock()
        self._n_users = 0
        self._thread = threading.local()

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        """Collect what this thread makes the library print, and keep it off the terminal.

        Yields
        ------
        list of str
            Grows as the library prints.
        """
        heard: list[str] = []
        self._thread.heard = heard
        with self._lock:
            self._n_users += 1
            self._install(self._callback)
        try:
            yield heard
        finally:
            self._thread.heard = None
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._install(PRINT_FUNCTION())

    def _hear(self, text: bytes) -> None:
        heard = getattr(self._thread, "heard", None)
        if heard is not None:
            heard.append(text.decode("ascii", "replace"))


#: ``struct feature_node`` of LIBLINEAR, which is ``struct svm_node`` of LIBSVM.
NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)

#: A dense array with a smaller share of nonzeros than this is filled without its zeros.
DENSE_FROM = 0.6

_BLOCK_NODES = 1 << 15  # 512 KiB of nodes: they stay in cache while they are written twice
_END = -1


@dataclass(frozen=True)
class NodeRows:
    """Rows of nodes, and the buffer that holds them.

    The addresses are good for as long as this object, or one taken from it, lives.

    Parameters
    ----------
    nodes : ndarray of dtype NODE
        The buffer.
    addresses : ndarray of shape (n_rows,), dtype uintp
        Where each row starts.
    """

    nodes: NDArray[np.void]
    addresses: NDArray[np.uintp]

    def __len__(self) -> int:
        return len(self.addresses)

    def take(self, rows: NDArray[np.intp]) -> NodeRows:
        """Pick rows in the given order, without a copy of their nodes."""
        return NodeRows(self.nodes, self.addresses[rows])

    def pointer(self, node_type: type[ctypes.Structure]) -> Any:
        """Give the addresses as a C ``node **``."""
        kind = ctypes.POINTER(ctypes.POINTER(node_type))
        return ctypes.cast(self.addresses.ctypes.data, kind)


def feature_rows(X: Any, bias: float | None = None) -> NodeRows:
    """Turn the rows of a matrix into nodes, feature j with index j + 1.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_rows, n_features)
        Zeros of a dense array are left out where fewer than 60 % of its values are
        nonzero; a sparse one stays sparse.
    bias : float or None, default=None
        Value of one more feature, the same in all rows, with index n_features + 1.

    Returns
    -------
    NodeRows
    """
    if sp.issparse(X):
        return _from_csr(_canonical(X), bias)
    if np.count_nonzero(X) < DENSE_FROM * X.size:
        return _from_nonzeros(X, bias)
    return _from_dense(X, bias)


def empty_gram_rows(n_rows: int, n_columns: int) -> NodeRows:
    """Allocate rows for a precomputed kernel; `fill_gram_rows` gives them their values."""
    nodes = np.empty((n_rows, n_columns + 2), NODE)
    return NodeRows(nodes, _addresses(nodes, np.arange(n_rows) * (n_columns + 2)))


def fill_gram_rows(rows: NodeRows, batch: slice, gram: NDArray[np.floating]) -> None:
    """Write the part of a Gram matrix that belongs to a batch of rows.

    Node 0 of a row holds its serial number, which LIBSVM counts from 1, and node j the
    kernel value with training row j.

    Parameters
    ----------
    rows : NodeRows
        As allocated by `empty_gram_rows`.
    batch : slice
        The rows to write, with start and stop.
    gram : ndarray of shape (batch length, n_columns)
    """
    nodes = rows.nodes[batch]
    nodes["index"] = np.arange(nodes.shape[1])
    nodes["index"][:, -1] = _END
    nodes["value"][:, 0] = np.arange(batch.start + 1, batch.stop + 1)
    nodes["value"][:, 1:-1] = gram


def serial_rows(n_rows: int) -> NodeRows:
    """Rows that hold nothing but their serial number, as a trained model needs them."""
    rows = empty_gram_rows(n_rows, 0)
    fill_gram_rows(rows, slice(0, n_rows), np.empty((n_rows, 0)))
    return rows


def _from_dense(X: NDArray[np.floating], bias: float | None) -> NodeRows:
    n_rows, n_features = X.shape
    width = n_features + _n_extra(bias)
    nodes = np.empty((n_rows, width), NODE)
    index = np.arange(1, width + 1)
    index[-1] = _END
    for batch in gen_batches(n_rows, max(1, _BLOCK_NODES // width)):
        nodes["index"][batch] = index
        nodes["value"][batch, :n_features] = X[batch]
    if bias is not None:
        nodes["value"][:, n_features] = bias
    return NodeRows(nodes, _addresses(nodes, np.arange(n_rows) * width))


def _from_nonzeros(X: NDArray[np.floating], bias: float | None) -> NodeRows:
    n_rows, n_features = X.shape
    nodes, starts = _allocate(np.count_nonzero(X, axis=1), n_features, bias)
    for batch in gen_batches(n_rows, max(1, _BLOCK_NODES // max(1, n_features))):
        block = X[batch]
        rows, columns = np.nonzero(block)
        _scatter(nodes, starts[batch], rows, columns, block[rows, columns], bias)
    return NodeRows(nodes, _addresses(nodes, starts))


def _from_csr(X: sp.csr_array, bias: float | None) -> NodeRows:
    counts = np.diff(X.indptr)
    nodes, starts = _allocate(counts, X.shape[1], bias)
    per_row = max(1, X.nnz // max(1, X.shape[0]))
    for batch in gen_batches(X.shape[0], max(1, _BLOCK_NODES // per_row)):
        values = slice(X.indptr[batch.start], X.indptr[batch.stop])
        rows = np.repeat(np.arange(batch.stop - batch.start), counts[batch])
        _scatter(nodes, starts[batch], rows, X.indices[values], X.data[values], bias)
    return NodeRows(nodes, _addresses(nodes, starts))


def _canonical(X: Any) -> sp.csr_array:
    """CSR with ascending, unique indices in each row, as LIBSVM needs them; X is not changed."""
    csr = sp.csr_array(X)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _allocate(
    counts: NDArray[np.integer], n_features: int, bias: float | None
) -> tuple[NDArray[np.void], NDArray[np.intp]]:
    """Nodes for rows of the given lengths, bias and end already in place, and the row starts."""
    ends = np.cumsum(counts.astype(np.intp) + _n_extra(bias))
    nodes = np.empty(ends[-1] if len(ends) else 0, NODE)
    nodes["index"][ends - 1] = _END
    if bias is not None:
        nodes["index"][ends - 2] = n_features + 1
        nodes["value"][ends - 2] = bias
    return nodes, ends - counts - _n_extra(bias)


def _scatter(
    nodes: NDArray[np.void],
    starts: NDArray[np.intp],
    rows: NDArray[np.intp],
    columns: NDArray[np.integer],
    values: NDArray[np.floating],
    bias: float | None,
) -> None:
    """Write the nonzeros of consecutive rows; `rows` counts from the first of them."""
    first = starts[0]
    # Consecutive nonzeros are neighbours but for the nodes that end each row before theirs.
    places = np.arange(first, first + len(rows)) + rows * _n_extra(bias)
    nodes["index"][places] = columns + 1
    nodes["value"][places] = values


def _n_extra(bias: float | None) -> int:
    return 1 if bias is None else 2


def _addresses(nodes: NDArray[np.void], starts: NDArray[np.intp]) -> NDArray[np.uintp]:
    return (nodes.ctypes.data + starts * NODE.itemsize).astype(np.uintp)
