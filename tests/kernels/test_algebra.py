import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    PolynomialKernel,
    VovkKernel,
)

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
