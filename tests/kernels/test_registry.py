import numpy as np
import pytest

from kernlearn.kernels import (
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
    as_kernel,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("polynomial", PolynomialKernel),
        ("homogeneous_polynomial", HomogeneousPolynomialKernel),
        ("exponential", ExponentialKernel),
        ("vovk", VovkKernel),
    ],
)
def test_names(name, expected):
    assert type(as_kernel(name)) is expected


def test_kernels_are_handed_back():
    kernel = PolynomialKernel(7)
    assert as_kernel(kernel) is kernel


def test_callables_are_wrapped():
    X = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(as_kernel(lambda A, B: A @ B.T)(X), X @ X.T)


@pytest.mark.parametrize("spec", ["gauss", 3, None])
def test_everything_else_is_refused_with_the_names(spec):
    with pytest.raises(ValueError, match="'exponential', 'homogeneous_polynomial', 'polynomial'"):
        as_kernel(spec)
