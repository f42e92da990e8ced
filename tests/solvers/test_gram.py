import numpy as np
import pytest
import scipy.sparse as sp

from kernlearn import memory
from kernlearn.solvers.svm_prediction import gram_rows, kernel_block

X = np.random.default_rng(0).standard_normal((70, 3))


def product(A, B):
    return A @ B.T


def test_blocks_make_up_the_whole_matrix(monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", 1)  # blocks of 32 rows
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        return product(A, B)

    rows = gram_rows(X, kernel, 100, None)
    assert calls == [32, 32, 6]
    np.testing.assert_allclose(rows.nodes["value"][:, 1:-1], product(X, X))
    np.testing.assert_array_equal(rows.nodes["value"][:, 0], np.arange(1, 71))


def test_a_given_matrix_is_taken_as_it_is():
    gram = product(X, X)
    np.testing.assert_array_equal(gram_rows(gram, None, 1, None).nodes["value"][:, 1:-1], gram)


def test_memory_is_asked_for_before_the_kernel_is():
    def never(A, B):
        pytest.fail("the kernel was called")

    needed = 16 * 70 * 72 + 4 * 70**2 + 2 * 8 * 70 * 70
    with pytest.raises(MemoryError, match=r"kernel matrix of 70 rows needs .*fewer rows"):
        gram_rows(X, never, 100, needed - 1)
    gram_rows(X, product, 100, needed)


def test_what_a_kernel_returns_is_checked():
    np.testing.assert_allclose(kernel_block(product, sp.csr_array(X), sp.csr_array(X)), X @ X.T)
    with pytest.raises(ValueError, match=r"kernel returned an array of shape \(70,\) where"):
        kernel_block(lambda A, B: A.sum(axis=1), X, X[:5])
    with pytest.raises(ValueError, match="kernel returned NaN or infinity"):
        kernel_block(lambda A, B: np.full((len(A), len(B)), np.nan), X, X)
