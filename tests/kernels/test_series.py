import numpy as np
import pytest

from kernlearn.kernels import DotProductKernel, ExponentialKernel, VovkKernel


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
def test_bad_parameters(bad):
    kernel = DotProductKernel(**{"series": [1.0], **bad})
    with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter"):
        kernel.function(0.5)


def test_no_positive_coefficient_is_the_zero_kernel():
    kernel = DotProductKernel([0.0, 0.0])
    assert kernel.degree_max == 0
    assert kernel.function(3.0) == 0
    assert DotProductKernel(lambda n: 0.0).function(0.3) == 0
