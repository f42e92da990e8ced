import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity

from kernlearn.kernels import (
    CosineSimilarity,
    EuclideanSimilarity,
    LinearKernel,
    ManhattanSimilarity,
    PolynomialKernel,
    SigmoidKernel,
)
from kernlearn.kernels.indefinite import BilinearSimilarity

DEFINITIONS = {
    "linear": (LinearKernel(), lambda x, y: x @ y),
    "cosine": (CosineSimilarity(), lambda x, y: x @ y / np.linalg.norm(x) / np.linalg.norm(y)),
    "sigmoid": (SigmoidKernel(), lambda x, y: np.tanh(x @ y / 4 - 1)),
    "sigmoid-2": (SigmoidKernel(a=-0.3, r=2), lambda x, y: np.tanh(-0.3 * (x @ y) + 2)),
    "manhattan": (ManhattanSimilarity(), lambda x, y: -abs(x - y).sum()),
    "squared": (EuclideanSimilarity(), lambda x, y: -((x - y) ** 2).sum()),
    "euclidean": (EuclideanSimilarity(squared=False), lambda x, y: -np.linalg.norm(x - y)),
}


@pytest.fixture(scope="module")
def points():
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(900, 4)), rng.normal(size=(80, 4))
    X[abs(X) < 0.5] = 0
    Y[abs(Y) < 0.5] = 0
    X[:, 0] += 0.1  # no point of norm 0
    return X, Y[abs(Y).sum(axis=1) > 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_definition(name, form, dtype, points):
    similarity, definition = DEFINITIONS[name]
    X, Y = (matrix.astype(dtype) for matrix in points)
    expected = [[definition(x, y) for y in Y.astype(float)] for x in X[::30].astype(float)]
    actual = similarity(form(X), form(Y))
    assert isinstance(actual, np.ndarray)
    assert actual.shape == (len(X), len(Y))
    assert actual.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(actual[::30], expected, rtol=20 * eps, atol=20 * eps)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_of_a_matrix_with_itself(name, points):
    X = points[0][:40]
    similarity = DEFINITIONS[name][0]
    np.testing.assert_allclose(similarity(X), similarity(X, X.copy()), atol=1e-7)
    assert not similarity.data_dependent
    assert similarity.fit(X) is similarity


@pytest.mark.parametrize("squared", [True, False])
def test_a_point_is_at_distance_zero_of_itself(squared):
    X = np.random.RandomState(0).normal(size=(200, 3)) + 1e5
    np.testing.assert_array_equal(EuclideanSimilarity(squared)(X).diagonal(), 0)
    assert (EuclideanSimilarity(squared)(X, X[:50] + 1e-9) <= 0).all()


def test_cosine_with_a_point_of_norm_zero():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(CosineSimilarity()(X), [[0, 0], [0, 1]])
    np.testing.assert_allclose(CosineSimilarity()(X), cosine_similarity(X))


def test_sigmoid_is_indefinite():
    X = np.random.RandomState(0).normal(size=(60, 3))
    assert np.linalg.eigvalsh(SigmoidKernel()(X)).min() < -1


def test_linear_is_a_dot_product_kernel():
    kernel = LinearKernel()
    np.testing.assert_array_equal(kernel.coefficients(3), [0, 1, 0, 0])
    np.testing.assert_array_equal(kernel.derivative([0.5, 2.0]), [1, 1])
    assert kernel.degree_max == 1
    X = np.random.RandomState(0).normal(size=(5, 3))
    np.testing.assert_allclose((kernel + 1.0)(X), PolynomialKernel(1)(X))


@pytest.mark.parametrize(
    ("similarity", "name"),
    [
        (SigmoidKernel(a="1/n"), "a"),
        (SigmoidKernel(a=np.inf), "a"),
        (SigmoidKernel(r=None), "r"),
        (EuclideanSimilarity(squared="yes"), "squared"),
    ],
    ids=["text", "infinite", "none", "squared"],
)
def test_bad_parameters(similarity, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        similarity([[1.0]])


@pytest.mark.parametrize("name", DEFINITIONS)
def test_bad_points(name):
    similarity = DEFINITIONS[name][0]
    with pytest.raises(ValueError, match="Incompatible dimension"):
        similarity([[1.0, 2.0]], [[1.0]])
    with pytest.raises(ValueError, match="NaN"):
        similarity([[np.nan]])


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


def test_bilinear_parameters_are_those_of_scikit_learn():
    W = np.arange(4.0).reshape(2, 2)
    kernel = BilinearSimilarity(W)
    assert kernel.get_params()["matrix"] is W
    np.testing.assert_array_equal(clone(kernel)(np.eye(2)), W)
    with pytest.raises(ValueError, match="'matrix' parameter of BilinearSimilarity must be"):
        BilinearSimilarity(3.0)(np.eye(2))
