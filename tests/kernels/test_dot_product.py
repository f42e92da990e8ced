import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)

KERNELS = [
    HomogeneousPolynomialKernel(3),
    PolynomialKernel(4, coef0=0.5),
    PolynomialKernel(3, coef0=0.0),
    ExponentialKernel(sigma=0.8),
    VovkKernel(),
    VovkKernel(5),
    VovkKernel(1),
    DotProductKernel([0.5, 0.0, 2.0]),
    DotProductKernel(lambda n: 0.7**n, radius=1 / 0.7),
    PolynomialKernel(2) + ExponentialKernel(sigma=1.5),
    2.0 * HomogeneousPolynomialKernel(2) * VovkKernel() + 1.0,
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


def test_gram_matrix_in_blocks_is_the_one_in_one_piece():
    X = np.random.default_rng(1).normal(size=(700, 3))
    kernel = PolynomialKernel(3)
    np.testing.assert_allclose(kernel(X), (1 + X @ X.T) ** 3, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gram_matrix_is_positive_semi_definite(kernel, X):
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-8


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_cloned_with_their_parameters(kernel):
    copy = clone(kernel)
    assert copy is not kernel
    assert repr(copy.get_params(deep=False)) == repr(kernel.get_params(deep=False))
    np.testing.assert_array_equal(copy.coefficients(5), kernel.coefficients(5))


@pytest.mark.parametrize("kernel", [VovkKernel(), DotProductKernel(lambda n: 1.0, radius=1.0)])
@pytest.mark.parametrize("t", [1.0, -1.0, 3.0])
def test_points_outside_the_radius_of_convergence(kernel, t):
    with pytest.raises(ValueError, match="outside the radius of convergence"):
        kernel.function(t)
    with pytest.raises(ValueError, match="outside the radius of convergence"):
        kernel.derivative([t])
    with pytest.raises(ValueError, match="outside the radius of convergence"):
        kernel([[abs(t)]], [[np.sign(t)]])


def test_coefficients_too_large_for_a_float():
    kernel = PolynomialKernel(3000)
    with pytest.raises(ValueError, match=r"coefficient 1500 .* log_coefficients"):
        kernel.coefficients(3000)
    logs = kernel.log_coefficients(3000)
    np.testing.assert_allclose(np.logaddexp.reduce(logs), 3000 * np.log(2), rtol=1e-12)
