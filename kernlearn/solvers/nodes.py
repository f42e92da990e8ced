"""Data layout and print hook of the C libraries LIBLINEAR and LIBSVM."""

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

#: ``struct feature_node`` of LIBLINEAR, which is ``struct svm_node`` of LIBSVM.
NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
#: A dense array with a smaller share of nonzeros than this is copied without its zeros.
DENSE_FROM = 0.6

_END = -1  # index of the node that ends a row
_BLOCK_NODES = 1 << 15  # filled at a time: 512 KiB, which stay in cache
_PRINT_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class PrintHook:
    """The print hook of one library, shared by all threads that train with it.

    The libraries report non-convergence only by printing, through one function pointer per
    process.

    Parameters
    ----------
    install : callable
        The library's function that sets the hook; a null pointer restores its default.
    """

    def __init__(self, install: Callable[[Any], None]) -> None:
        self._install = install
        # Kept here: the library keeps the bare pointer for longer than one call.
        self._callback = _PRINT_FUNCTION(self._record)
        self._lock = threading.Lock()
        self._n_users = 0
        self._thread = threading.local()

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        """Yield a list that collects what the library prints in this thread."""
        texts: list[str] = []
        self._thread.texts = texts
        with self._lock:
            self._n_users += 1
            self._install(self._callback)
        try:
            yield texts
        finally:
            self._thread.texts = None
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._install(_PRINT_FUNCTION())

    def _record(self, text: bytes) -> None:
        texts = getattr(self._thread, "texts", None)
        if texts is not None:
            texts.append(text.decode("ascii", "replace"))


@dataclass(frozen=True)
class NodeRows:
    """Rows of nodes in one buffer, each ended by a node with index -1.

    The addresses are valid as long as this object, or one taken from it, lives.

    Attributes
    ----------
    nodes : ndarray of dtype NODE
        The buffer.
    addresses : ndarray of shape (n_rows,), dtype uintp
        Where each row starts.
    """

    nodes: NDArray[np.void]
    addresses: NDArray[np.uintp]

    @classmethod
    def starting_at(cls, nodes: NDArray[np.void], starts: NDArray[np.intp]) -> NodeRows:
        """Return rows that start at positions in a buffer."""
        return cls(nodes, (nodes.ctypes.data + starts * NODE.itemsize).astype(np.uintp))

    def __len__(self) -> int:
        return len(self.addresses)

    def take(self, rows: NDArray[np.intp]) -> NodeRows:
        """Select rows, without a copy of their nodes."""
        return NodeRows(self.nodes, self.addresses[rows])

    def pointer(self, node_type: type[ctypes.Structure]) -> Any:
        """Return the addresses as a C ``node **``."""
        kind = ctypes.POINTER(ctypes.POINTER(node_type))
        return ctypes.cast(self.addresses.ctypes.data, kind)


def feature_rows(X: Any, bias: float | None = None) -> NodeRows:
    """Convert the rows of a matrix to nodes, feature j with index j + 1.

    Arrays are filled in blocks: the constructors of the official bindings loop over values in
    Python.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_rows, n_features)
        Zeros of a dense array are dropped where less than 60 % of its values are nonzero.
    bias : float or None, default=None
        Value of an additional constant feature, with index n_features + 1.

    Returns
    -------
    NodeRows
    """
    if sp.issparse(X):
        csr = sp.csr_array(X)
        if not csr.has_canonical_format:  # LIBSVM needs ascending, unique indices
            csr = csr.copy()
            csr.sum_duplicates()
        return _from_nonzeros(csr, np.diff(csr.indptr), bias)
    if np.count_nonzero(X) < DENSE_FROM * X.size:
        return _from_nonzeros(X, np.count_nonzero(X, axis=1), bias)
    return _from_dense(X, bias)


def empty_gram_rows(n_rows: int, n_columns: int) -> NodeRows:
    """Allocate rows for a precomputed kernel, to be filled by `fill_gram_rows`."""
    nodes = np.empty((n_rows, n_columns + 2), NODE)
    return NodeRows.starting_at(nodes, np.arange(n_rows) * (n_columns + 2))


def fill_gram_rows(rows: NodeRows, batch: slice, gram: NDArray[np.floating]) -> None:
    """Write the Gram matrix of a batch of rows, of shape (batch length, n_columns).

    Node 0 of a row holds its serial number, counted from 1, and node j the kernel value with
    training row j.
    """
    nodes = rows.nodes[batch]
    nodes["index"] = np.arange(nodes.shape[1])
    nodes["index"][:, -1] = _END
    nodes["value"][:, 0] = np.arange(batch.start + 1, batch.stop + 1)
    nodes["value"][:, 1:-1] = gram


def serial_rows(n_rows: int) -> NodeRows:
    """Return rows with only their serial number, as a trained precomputed model needs them."""
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
    return NodeRows.starting_at(nodes, np.arange(n_rows) * width)


def _from_nonzeros(X: Any, counts: NDArray[np.integer], bias: float | None) -> NodeRows:
    """Convert the nonzeros of an array, or the values stored in a canonical CSR array."""
    extra = _n_extra(bias)
    ends = np.cumsum(counts.astype(np.intp) + extra)
    starts = ends - counts - extra
    nodes = np.empty(ends[-1] if len(ends) else 0, NODE)
    nodes["index"][ends - 1] = _END
    if bias is not None:
        nodes["index"][ends - 2] = X.shape[1] + 1
        nodes["value"][ends - 2] = bias
    per_row = X.shape[1] if isinstance(X, np.ndarray) else X.nnz // max(1, X.shape[0])
    for batch in gen_batches(X.shape[0], max(1, _BLOCK_NODES // max(1, per_row))):
        if isinstance(X, np.ndarray):
            rows, columns = np.nonzero(X[batch])
            values = X[batch][rows, columns]
        else:
            stored = slice(X.indptr[batch.start], X.indptr[batch.stop])
            rows = np.repeat(np.arange(batch.stop - batch.start), counts[batch])
            columns, values = X.indices[stored], X.data[stored]
        # Consecutive nonzeros are neighbours except for the nodes that end each row.
        first = starts[batch.start]
        places = np.arange(first, first + len(rows)) + rows * extra
        nodes["index"][places] = columns + 1
        nodes["value"][places] = values
    return NodeRows.starting_at(nodes, starts)


def _n_extra(bias: float | None) -> int:
    return 1 if bias is None else 2
