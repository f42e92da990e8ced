"""Data layout of the C libraries LIBLINEAR and LIBSVM."""

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from kernlearn.memory import row_blocks

#: ``struct feature_node`` of LIBLINEAR, which is ``struct svm_node`` of LIBSVM.
NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
#: A dense array with a smaller share of nonzeros than this is copied without its zeros.
DENSE_FROM = 0.6

_END = -1  # index of the node that ends a row


@dataclass(frozen=True)
class NodeRows:
    """Rows of nodes in one buffer, each ended by a node with index -1.

    `addresses`, of dtype uintp, are where each row starts. They are valid as long as this object,
    or one taken from it, lives.
    """

    nodes: np.ndarray
    addresses: np.ndarray

    @classmethod
    def starting_at(cls, nodes: np.ndarray, starts: np.ndarray) -> Self:
        """Return rows that start at positions in a buffer."""
        return cls(nodes, (nodes.ctypes.data + starts * NODE.itemsize).astype(np.uintp))

    def __len__(self) -> int:
        return len(self.addresses)

    def take(self, rows: np.ndarray) -> Self:
        """Select rows, without a copy of their nodes."""
        return type(self)(self.nodes, self.addresses[rows])

    def matrix(self, n_columns: int | None = None) -> sp.csr_array | np.ndarray:
        """Return the rows as a matrix again, node j in column j - 1, without serial numbers.

        It is dense if rows have serial numbers, and has as many columns as the largest index says
        if `n_columns` is None.
        """
        nodes = self.nodes.ravel()
        starts = (self.addresses.astype(np.intp) - self.nodes.ctypes.data) // NODE.itemsize
        ends = np.flatnonzero(nodes["index"] == _END)
        counts = ends[np.searchsorted(ends, starts)] - starts
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
        columns = nodes["index"][places]
        width = columns.max(initial=0) if n_columns is None else n_columns
        whole = sp.csr_array(
            (nodes["value"][places], columns, indptr), shape=(len(self), width + 1)
        )
        features = whole[:, 1:]
        if np.any(columns == 0):
            return features.toarray()
        if features.nnz < np.iinfo(np.int32).max:  # scikit-learn's solvers take no others
            features.indices = features.indices.astype(np.int32)
            features.indptr = features.indptr.astype(np.int32)
        return features

    def pointer(self, node_type: type[ctypes.Structure]) -> Any:
        """Return the addresses as a C ``node **``."""
        kind = ctypes.POINTER(ctypes.POINTER(node_type))
        return ctypes.cast(self.addresses.ctypes.data, kind)


def feature_rows(X: Any, bias: float | None = None) -> NodeRows:
    """Convert the rows of a matrix to nodes, feature j with index j + 1.

    The constructors of the official bindings loop over values in Python. Zeros of a dense array
    are dropped where less than 60 % of its values are nonzero; `bias` is the value of an
    additional constant feature, with index n_features + 1.
    """
    n_rows, n_features = X.shape
    n_extra = 1 if bias is None else 2
    if sp.issparse(X) or np.count_nonzero(X) < DENSE_FROM * X.size:
        csr = sp.csr_array(X, copy=True)
        csr.sum_duplicates()  # LIBSVM needs ascending, unique indices
        counts = np.diff(csr.indptr)
        ends = np.cumsum(counts.astype(np.intp) + n_extra)
        nodes = np.empty(csr.nnz + n_extra * n_rows, NODE)
        places = np.arange(csr.nnz) + np.repeat(np.arange(n_rows) * n_extra, counts)
        nodes["index"][places] = csr.indices + 1
        nodes["value"][places] = csr.data
        nodes["index"][ends - 1] = _END
        if bias is not None:
            nodes["index"][ends - 2] = n_features + 1
            nodes["value"][ends - 2] = bias
        return NodeRows.starting_at(nodes, ends - counts - n_extra)
    width = n_features + n_extra
    nodes = np.empty((n_rows, width), NODE)
    index = np.arange(1, width + 1)
    index[-1] = _END
    for batch in row_blocks(n_rows, width, itemsize=NODE.itemsize):
        nodes["index"][batch] = index
        nodes["value"][batch, :n_features] = X[batch]
    if bias is not None:
        nodes["value"][:, n_features] = bias
    return NodeRows.starting_at(nodes, np.arange(n_rows) * width)


def precomputed_rows(
    n_rows: int, n_columns: int, blocks: Iterable[tuple[slice, np.ndarray]]
) -> NodeRows:
    """Convert kernel values with the training rows, given in blocks of rows, to nodes.

    Node 0 of a row holds its serial number, counted from 1, and node j the kernel value with
    training row j.
    """
    nodes = np.empty((n_rows, n_columns + 2), NODE)
    nodes["value"][:, 0] = np.arange(1, n_rows + 1)
    for batch, gram in blocks:
        nodes["index"][batch] = np.arange(n_columns + 2)
        nodes["value"][batch, 1:-1] = gram
    nodes["index"][:, -1] = _END
    return NodeRows.starting_at(nodes, np.arange(n_rows) * (n_columns + 2))
