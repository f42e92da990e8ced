import ctypes

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from liblinear.liblinear import feature_node
from libsvm.svm import svm_node

from kernlearn.solvers.nodes import NODE, feature_rows, precomputed_rows


def read(rows):
    """What C sees: from each address (index, value) up to index -1."""
    pointers = rows.pointer(svm_node)
    found = []
    for i in range(len(rows)):
        row, j = [], 0
        while pointers[i][j].index != -1:
            row.append((pointers[i][j].index, pointers[i][j].value))
            j += 1
        found.append(row)
    return found


def slow_rows(X, bias, keep_zeros):
    found = []
    for x in X:
        row = [(j + 1, float(v)) for j, v in enumerate(x) if keep_zeros or v != 0]
        found.append(row if bias is None else [*row, (len(x) + 1, bias)])
    return found


matrices = hnp.arrays(
    st.sampled_from([np.float64, np.float32]),
    st.tuples(st.integers(1, 8), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, 3.25]),
)
biases = st.sampled_from([None, 1.0, 0.5])


@given(matrices, biases)
@settings(max_examples=100, deadline=None)
def test_dense_rows_are_the_slow_ones(X, bias):
    keep_zeros = np.count_nonzero(X) >= 0.6 * X.size
    assert read(feature_rows(X, bias)) == slow_rows(X, bias, keep_zeros)


@given(matrices, biases, st.sampled_from([np.int32, np.int64]))
@settings(max_examples=100, deadline=None)
def test_sparse_rows_are_the_slow_ones(X, bias, index_type):
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(index_type), csr.indptr.astype(index_type)
    assert read(feature_rows(csr, bias)) == slow_rows(X, bias, keep_zeros=False)


@pytest.mark.parametrize("density", [0.1, 0.9])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_of_many_blocks(density, as_sparse):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 40)) * (rng.random((3000, 40)) < density)
    keep_zeros = density > 0.6 and not as_sparse
    rows = feature_rows(sp.csr_array(X) if as_sparse else X, 2.0)
    assert len(rows) == 3000
    assert rows.nodes.size == (X.size if keep_zeros else np.count_nonzero(X)) + 2 * 3000
    assert read(rows) == slow_rows(X, 2.0, keep_zeros)


def test_zeros_are_dropped_only_where_that_is_smaller():
    dense, thin = np.ones((4, 10)), np.eye(10)[:4]
    assert feature_rows(dense).nodes.size == 4 * 11
    assert feature_rows(thin).nodes.size == 4 * 2


def test_unsorted_and_repeated_indices_are_put_right_in_a_copy():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])))
    assert read(feature_rows(X)) == [[(1, 2.0), (3, 5.0)]]
    np.testing.assert_array_equal(X.indices, [2, 0, 2])


def test_fortran_order():
    X = np.asfortranarray(np.arange(1.0, 13).reshape(3, 4))
    assert read(feature_rows(X)) == slow_rows(X, None, keep_zeros=True)


def test_taken_rows_share_their_nodes():
    rows = feature_rows(np.arange(1.0, 7).reshape(3, 2))
    taken = rows.take(np.array([2, 0, 2]))
    assert taken.nodes is rows.nodes
    assert read(taken) == [read(rows)[i] for i in (2, 0, 2)]


def test_gram_rows_begin_with_their_serial_number():
    gram = np.random.default_rng(0).standard_normal((5, 3))
    rows = precomputed_rows(5, 3, ((batch, gram[batch]) for batch in (slice(0, 2), slice(2, 5))))
    expected = [[(0, i + 1), *((j + 1, v) for j, v in enumerate(gram[i]))] for i in range(5)]
    assert read(rows) == expected


def test_rows_with_only_their_serial_number():
    rows = precomputed_rows(3, 0, [(slice(None), np.empty((3, 0)))])
    assert read(rows) == [[(0, 1.0)], [(0, 2.0)], [(0, 3.0)]]


@pytest.mark.parametrize("official", [feature_node, svm_node])
def test_nodes_are_laid_out_as_in_c(official):
    assert NODE.itemsize == ctypes.sizeof(official)
    for name in ("index", "value"):
        assert NODE.fields[name][1] == getattr(official, name).offset
