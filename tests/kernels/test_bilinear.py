import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.kernels.indefinite import BilinearSimilarity


def test_bilinear_similarity():
    rng = np.random.RandomState(0)
    W, A, B = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    kernel = BilinearSimilarity(W)
    expected = [[a @ W @ b for b in B] for a in A]
    np.testing.assert_allclose(kernel(A, B), expected, atol=1e-14)
    np.testing.assert_allclose(kernel(A), kernel(A, A), atol=1e-14)
    np.testing.assert_allclose(kernel(sparse.csr_array(A), B), expected, atol=1e-14)
    np.testing.assert_allclose(
        kernel(sparse.csr_array(A), sparse.csr_array(B)), expected, atol=1e-14
    )
    assert kernel(A.astype(np.float32), B.astype(np.float32)).dtype == np.float32
    assert not kernel.data_dependent
    with pytest.raises(ValueError, match="each of the 3 features of X, got shape \\(2, 2\\)"):
        BilinearSimilarity(np.eye(2))(A)
    with pytest.raises(ValueError, match="matrix contains NaN"):
        BilinearSimilarity(W * np.nan)(A)


def test_parameters_are_those_of_scikit_learn():
    W = np.arange(4.0).reshape(2, 2)
    kernel = BilinearSimilarity(W)
    assert kernel.get_params()["matrix"] is W
    np.testing.assert_array_equal(clone(kernel)(np.eye(2)), W)
    with pytest.raises(ValueError, match="'matrix' parameter of BilinearSimilarity must be"):
        BilinearSimilarity(3.0)(np.eye(2))
