import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


coefficients = st.lists(st.floats(0, 10), min_size=1, max_size=6)


@given(coefficients, coefficients)
def test_coefficients_of_sums_and_products(a, b):
    left, right = DotProductKernel(a), DotProductKernel(b)
    n_max = len(a) + len(b)
    total, product = (left + right).coefficients(n_max), (left * right).coefficients(n_max)
    np.testing.assert_allclose(
        total, left.coefficients(n_max) + right.coefficients(n_max), rtol=1e-12
    )
    expected = np.zeros(n_max + 1)
    expected[: len(a) + len(b) - 1] = np.convolve(a, b)
    # below the smallest normal number a float has fewer digits than that
    np.testing.assert_allclose(product, expected, rtol=1e-10, atol=np.finfo(float).tiny)


@given(coefficients, coefficients, st.floats(-2, 2))
def test_values_of_sums_and_products(a, b, t):
    left, right = DotProductKernel(a), DotProductKernel(b)
    assert (left + right).function(t) == left.function(t) + right.function(t)
    assert (left * right).function(t) == left.function(t) * right.function(t)


def test_numbers_shift_and_scale():
    kernel = 3 * PolynomialKernel(1) + 0.5
    np.testing.assert_allclose(kernel.coefficients(2), [3.5, 3.0, 0.0])
    np.testing.assert_allclose((0.5 + PolynomialKernel(1) * 3).coefficients(1), [3.5, 3.0])


@pytest.mark.parametrize("number", [-1.0, np.inf, np.nan])
def test_numbers_must_be_finite_and_not_negative(number):
    with pytest.raises(ValueError, match="finite number >= 0"):
        number * PolynomialKernel()


def test_nothing_else_is_added():
    with pytest.raises(TypeError):
        PolynomialKernel() + "1"
    with pytest.raises(TypeError):
        PolynomialKernel() * [1]


def test_fitting_fits_clones():
    exponential = ExponentialKernel()
    kernel = exponential * exponential + PolynomialKernel()
    assert kernel.data_dependent
    kernel.fit([[0.0], [2.0]])
    assert not hasattr(exponential, "sigma_")
    assert kernel.function(2.0) == pytest.approx(np.exp(1.0) + 9)


def test_parameters_of_the_parts_are_reached():
    kernel = PolynomialKernel(2) + PolynomialKernel(3)
    assert kernel.set_params(right__degree=5).degree_max == 5


def test_radius_is_the_smaller_one():
    assert (PolynomialKernel() * VovkKernel()).radius == 1
    assert (PolynomialKernel() + PolynomialKernel()).radius == np.inf


@pytest.mark.parametrize("t", [0.0, 0.5, -0.9, 0.999])
def test_a_callable_is_summed_until_it_has_converged(t):
    kernel = DotProductKernel(lambda n: 1.0, radius=1.0)
    exact = VovkKernel()
    assert kernel.function(t) == pytest.approx(exact.function(t), rel=1e-9)
    assert kernel.derivative(t) == pytest.approx(exact.derivative(t), rel=1e-9)


def test_a_callable_with_values_far_above_one():
    kernel = DotProductKernel(lambda n: np.exp(ExponentialKernel(1.0).log_coefficients(n)[-1]))
    np.testing.assert_allclose(kernel.function([-2.0, 30.0, 100.0]), np.exp([-2.0, 30, 100]))


def test_too_close_to_the_radius():
    with pytest.raises(ValueError, match="not converged after"):
        DotProductKernel(lambda n: 1.0, radius=1.0).function(1 - 1e-9)


@pytest.mark.parametrize("series", [[1.0, -0.5], lambda n: 1.0 - n, [np.nan], [1.0, np.inf]])
def test_coefficients_must_be_non_negative_and_finite(series):
    kernel = DotProductKernel(series)
    for use in (kernel.function, kernel.coefficients):
        with pytest.raises(ValueError, match=r"'series' has coefficient .* at order"):
            use(2)


@pytest.mark.parametrize("series", [[], [[1.0, 2.0]]])
def test_coefficients_must_be_one_row(series):
    with pytest.raises(ValueError, match=r"'series' must be .*\(n_terms,\)"):
        DotProductKernel(series).function(0.5)


@pytest.mark.parametrize("bad", [{"series": 3}, {"radius": 0.0}, {"tol": 0.0}, {"tol": 1}])
def test_bad_parameters_of_a_series(bad):
    kernel = DotProductKernel(**{"series": [1.0], **bad})
    with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter"):
        kernel.function(0.5)


def test_no_positive_coefficient_is_the_zero_kernel():
    kernel = DotProductKernel([0.0, 0.0])
    assert kernel.degree_max == 0
    assert kernel.function(3.0) == 0
    assert DotProductKernel(lambda n: 0.0).function(0.3) == 0
