import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kernlearn.kernels import (
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)


@pytest.mark.parametrize("degree", [1, 2, 10, 57])
@pytest.mark.parametrize("coef0", [0.0, 0.3, 1.0, 4.0])
def test_polynomial_coefficients_are_binomial(degree, coef0):
    binomial = [math.comb(degree, n) * coef0 ** (degree - n) for n in range(degree + 1)]
    expected = [*binomial, 0.0, 0.0]
    actual = PolynomialKernel(degree, coef0=coef0).coefficients(degree + 2)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_fewer_coefficients_than_the_degree():
    np.testing.assert_allclose(PolynomialKernel(3).coefficients(1), [1, 3])


def test_exponential_coefficients():
    expected = [0.5 ** (-2 * n) / math.factorial(n) for n in range(30)]
    np.testing.assert_allclose(ExponentialKernel(0.5).coefficients(29), expected, rtol=1e-12)


def test_exponential_width_is_the_mean_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    kernel = ExponentialKernel()
    assert kernel.data_dependent
    assert kernel.fit(X).sigma_ == pytest.approx(2.0)
    assert kernel.function(4.0) == pytest.approx(math.e)
    assert kernel.sigma == "mean_distance"
    assert ExponentialKernel(3.0).fit(X).sigma_ == 3.0


def test_exponential_must_be_fitted_where_the_width_depends_on_data():
    with pytest.raises(NotFittedError):
        ExponentialKernel()([[1.0]])


def test_exponential_width_of_equal_points():
    with pytest.raises(ValueError, match="points that differ"):
        ExponentialKernel().fit(np.ones((3, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree", [1, 2, 7, 40])
def test_vovk_near_one_has_all_its_digits(degree, dtype):
    distances = dtype([0, 2**-20, 2**-10, 0.3, 0.6, 1.0, 1.5, 1.99])
    t = dtype(1) - distances
    exact = [sum(float(value) ** n for n in range(degree)) for value in t]
    eps = np.finfo(dtype).eps
    actual = VovkKernel(degree).function(t)
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, exact, rtol=8 * degree * eps, atol=8 * degree * eps)


def test_named_kernels_outside_the_unit_interval():
    t = np.array([-3.0, 2.5])
    np.testing.assert_allclose(VovkKernel(4).function(t), 1 + t + t**2 + t**3)
    np.testing.assert_allclose(HomogeneousPolynomialKernel(13).function(t), t**13)
    np.testing.assert_allclose(PolynomialKernel(10, 2.0).function(t), (t + 2) ** 10)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (HomogeneousPolynomialKernel(2.5), "degree"),
        (HomogeneousPolynomialKernel(0), "degree"),
        (PolynomialKernel(2.0), "degree"),
        (PolynomialKernel(2, coef0=-1.0), "coef0"),
        (VovkKernel(0), "degree"),
        (VovkKernel(1.5), "degree"),
        (ExponentialKernel(0.0), "sigma"),
        (ExponentialKernel("median"), "sigma"),
    ],
)
def test_bad_parameters_are_named_wherever_they_are_used(kernel, name):
    for use in (kernel.fit, kernel, kernel.function):
        with pytest.raises(ValueError, match=f"'{name}' parameter of {type(kernel).__name__}"):
            use([[0.5]])
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        kernel.coefficients(3)
