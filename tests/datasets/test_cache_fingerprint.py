import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from kernlearn.datasets import cache as module
from kernlearn.datasets import fingerprint

matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300, np.nan]),
)


def slow_fingerprint(X, y):
    """The definition, entry by entry."""
    digests = []
    for row, label in zip(X, y, strict=True):
        content = label.encode() + b"\0"
        for column, value in enumerate(row):
            if value != 0:
                value = float("nan") if value != value else value
                content += struct.pack("<qd", column, value)
        digests.append(hashlib.sha256(content).digest())
    head = f"kernlearn content 1 {len(X[0])}\n".encode()
    return hashlib.sha256(head + b"".join(sorted(digests))).hexdigest()


@given(matrices, st.data())
def test_agrees_with_the_definition_in_any_order_and_storage(X, data):
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(X), max_size=len(X)))
    expected = slow_fingerprint(X, y)
    order = data.draw(st.permutations(range(len(X))))
    assert fingerprint(X, y) == expected
    assert fingerprint(X[order], np.array(y)[order]) == expected
    assert fingerprint(sparse.csr_matrix(X), y) == expected
    assert fingerprint(sparse.coo_array(X), y) == expected
    assert fingerprint(np.asfortranarray(X), y) == expected


@given(matrices)
def test_blocks_do_not_matter(X):
    whole = fingerprint(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_ENTRIES", 3)
        assert fingerprint(X) == whole


@given(matrices, st.data())
def test_one_changed_entry_shows(X, data):
    changed = X.copy()
    i = data.draw(st.integers(0, X.shape[0] - 1))
    j = data.draw(st.integers(0, X.shape[1] - 1))
    changed[i, j] = 7.0
    assert fingerprint(changed) != fingerprint(X)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], ["b", "a"]),  # labels swapped
        ([[2.0, 1.0], [4.0, 3.0]], ["a", "b"]),  # columns swapped
        ([[1.0, 4.0], [3.0, 2.0]], ["a", "b"]),  # a column shuffled
        ([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]], ["a", "b"]),  # an empty column more
        ([[1.0, 2.0], [3.0, 4.0], [3.0, 4.0]], ["a", "b", "b"]),  # a row twice
        ([[1.0, 2.0], [3.0, np.nextafter(4.0, 5.0)]], ["a", "b"]),  # the last bit
    ],
)
def test_different_content_differs(X, y):
    assert fingerprint(X, y) != fingerprint([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])


def test_spelling_and_type_of_labels_do_not_matter():
    X = np.eye(2)
    assert len({fingerprint(X, y) for y in ([1, -1], [1.0, -1.0], ["+1", "-1"])}) == 1


def test_stored_zeros_and_duplicates_of_a_sparse_matrix_do_not_matter():
    parts = (np.array([1.0, 2.0, 0.0]), (np.array([0, 0, 1]), np.array([1, 1, 0])))
    X = sparse.coo_array(parts, shape=(2, 2))
    assert fingerprint(X) == fingerprint([[0, 3], [0, 0]])


def test_the_data_is_left_alone():
    X = sparse.csr_matrix((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 1, 2])))
    fingerprint(X)
    assert X.nnz == 2


def test_bad_shapes():
    with pytest.raises(ValueError, match="X must have 2 dimensions, got 1"):
        fingerprint([1.0, 2.0])
    with pytest.raises(ValueError, match="y must have one label per row of X, got 3 for 2"):
        fingerprint(np.eye(2), [1, 2, 3])
