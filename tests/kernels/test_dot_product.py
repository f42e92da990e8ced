"""Kernels of the inner product, point by point and by their series."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity

from kernlearn.kernels import (
    BilinearSimilarity,
    CosineSimilarity,
    DotProductKernel,
    EuclideanSimilarity,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    ManhattanSimilarity,
    PolynomialKernel,
    SigmoidKernel,
    VovkKernel,
)

KERNELS = [
    LinearKernel(),
    HomogeneousPolynomialKernel(3),
    PolynomialKernel(4, coef0=0.5),
    PolynomialKernel(3, coef0=0.0),
    ExponentialKernel(sigma=0.8),
    VovkKernel(),
    DotProductKernel([0.5, 0.0, 2.0]),
]


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return 0.95 * X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_function_is_the_sum_of_its_series(kernel):
    t = np.linspace(-0.8, 0.8, 9)
    n = np.arange(200)
    expected = (kernel.coefficients(199) * t[:, None] ** n).sum(axis=1)
    np.testing.assert_allclose(kernel.function(t), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
def test_derivative_is_the_difference_quotient(kernel):
    t, h = np.linspace(-0.7, 0.7, 8), 1e-5
    quotient = (kernel.function(t + h) - kernel.function(t - h)) / (2 * h)
    np.testing.assert_allclose(kernel.derivative(t), quotient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_coefficients_are_zero_above_degree_max(kernel):
    coefficients = kernel.coefficients(40)
    assert (coefficients >= 0).all()
    if kernel.degree_max is None:
        assert coefficients[-1] > 0
    else:
        assert np.flatnonzero(coefficients)[-1] == kernel.degree_max


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_gram_matrix_pair_by_pair(kernel, dtype, convert, X):
    X = X.astype(dtype)
    gram = kernel(convert(X), convert(X[:7]))
    slow = [[kernel.function(float(x @ y)) for y in X[:7]] for x in X]
    assert isinstance(gram, np.ndarray)
    assert gram.dtype == dtype
    np.testing.assert_allclose(gram, slow, rtol=5e-5 if dtype == np.float32 else 1e-11, atol=1e-7)
    np.testing.assert_allclose(kernel(convert(X)), kernel(X, X), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("t", [1.0, -1.0, 3.0])
def test_points_outside_the_radius_of_convergence(t):
    kernel = VovkKernel()
    for use in (kernel.function, kernel.derivative, lambda t: kernel([[abs(t)]], [[np.sign(t)]])):
        with pytest.raises(ValueError, match="radius of convergence"):
            use(t)


def test_coefficients_too_large_for_a_float():
    kernel = PolynomialKernel(3000)
    with pytest.raises(ValueError, match=r"coefficient 1500"):
        kernel.coefficients(3000)
    logs = kernel.log_coefficients(3000)
    np.testing.assert_allclose(np.logaddexp.reduce(logs), 3000 * np.log(2), rtol=1e-12)


@pytest.mark.parametrize("series", [[1.0, -0.5], [np.nan], [1.0, np.inf]])
def test_coefficients_must_be_non_negative_and_finite(series):
    kernel = DotProductKernel(series)
    for use in (kernel.function, kernel.coefficients):
        with pytest.raises(ValueError, match=r"'series' has coefficient .* at order"):
            use(2)


@pytest.mark.parametrize("series", [[], [[1.0, 2.0]]])
def test_coefficients_must_be_one_row(series):
    with pytest.raises(ValueError, match=r"'series' must be"):
        DotProductKernel(series).function(0.5)


def test_no_positive_coefficient_is_the_zero_kernel():
    kernel = DotProductKernel([0.0, 0.0])
    assert kernel.degree_max == 0
    assert kernel.function(3.0) == 0


DEFINITIONS = {
    "linear": (LinearKernel(), lambda x, y: x @ y),
    "cosine": (CosineSimilarity(), lambda x, y: x @ y / np.linalg.norm(x) / np.linalg.norm(y)),
    "sigmoid": (SigmoidKernel(), lambda x, y: np.tanh(x @ y / 4 - 1)),
    "sigmoid-2": (SigmoidKernel(a=-0.3, r=2), lambda x, y: np.tanh(-0.3 * (x @ y) + 2)),
    "manhattan": (ManhattanSimilarity(), lambda x, y: -abs(x - y).sum()),
    "squared": (EuclideanSimilarity(), lambda x, y: -((x - y) ** 2).sum()),
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
    few = form(X[:40])
    np.testing.assert_allclose(similarity(few), similarity(few, few.copy()), atol=1e-5)
    assert similarity.fit(few) is similarity


def test_cosine_with_a_point_of_norm_zero():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(CosineSimilarity()(X), [[0, 0], [0, 1]])
    np.testing.assert_allclose(CosineSimilarity()(X), cosine_similarity(X))


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
    for right in (B, sparse.csr_array(B)):
        np.testing.assert_allclose(kernel(sparse.csr_array(A), right), expected, atol=1e-14)
    assert kernel(A.astype(np.float32), B.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(clone(kernel)(A, B), kernel(A, B))
    for wrong, message in ((np.eye(2), r"got shape \(2, 2\)"), (3.0, "'matrix' parameter")):
        with pytest.raises(ValueError, match=message):
            BilinearSimilarity(wrong)(A)
    with pytest.raises(ValueError, match="matrix contains NaN"):
        BilinearSimilarity(W * np.nan)(A)


@pytest.mark.parametrize("degree", [1, 2, 10, 57])
@pytest.mark.parametrize("coef0", [0.0, 0.3, 1.0, 4.0])
def test_polynomial_coefficients_are_binomial(degree, coef0):
    binomial = [math.comb(degree, n) * coef0 ** (degree - n) for n in range(degree + 1)]
    expected = [*binomial, 0.0, 0.0]
    actual = PolynomialKernel(degree, coef0=coef0).coefficients(degree + 2)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_named_kernels_outside_the_unit_interval():
    t = np.array([-3.0, 2.5])
    np.testing.assert_allclose(HomogeneousPolynomialKernel(13).function(t), t**13)
    np.testing.assert_allclose(PolynomialKernel(10, 2.0).function(t), (t + 2) ** 10)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (HomogeneousPolynomialKernel(2.5), "degree"),
        (PolynomialKernel(2, coef0=-1.0), "coef0"),
        (ExponentialKernel(0.0), "sigma"),
    ],
)
def test_bad_parameters_are_named_wherever_they_are_used(kernel, name):
    for use in (kernel.fit, kernel, kernel.function):
        with pytest.raises(ValueError, match=f"'{name}' parameter of {type(kernel).__name__}"):
            use([[0.5]])
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        kernel.coefficients(3)
