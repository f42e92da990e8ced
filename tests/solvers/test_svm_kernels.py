import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import pairwise_kernels

from kernlearn.kernels import (
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)
from kernlearn.solvers.libsvm import SVMKernel, resolve_gamma, resolve_kernel

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((6, 4)), rng.standard_normal((3, 4))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 7, 10])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_values_are_scikit_learns(name, degree, as_sparse):
    wanted = {"poly": ("gamma", "coef0", "degree"), "sigmoid": ("gamma", "coef0")}
    names = wanted.get(name, ("gamma",) if name == "rbf" else ())
    parameters = {"gamma": 0.3, "coef0": 0.7, "degree": degree}
    expected = pairwise_kernels(X, Y, metric=name, **{k: parameters[k] for k in names})
    left, right = (sp.csr_array(X), sp.csr_array(Y)) if as_sparse else (X, Y)
    np.testing.assert_allclose(SVMKernel(name, **parameters)(left, right), expected, rtol=1e-9)


def test_the_rows_are_left_as_they_are():
    left, right = X.copy(), Y.copy()
    SVMKernel("poly", 10, 1.0, 1.0)(left, right)
    np.testing.assert_array_equal(left, X)
    np.testing.assert_array_equal(right, Y)


def test_gamma_scale():
    assert resolve_gamma("scale", X) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma("scale", sp.csr_array(X)) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma("scale", np.ones((3, 2))) == 1.0
    assert resolve_gamma(2, X) == 2.0


def test_polynomial_kernels_become_libsvms():
    native, fitted = resolve_kernel(PolynomialKernel(degree=4, coef0=0.5), 9, 9.0, 9.0, X)
    assert native == SVMKernel("poly", 4, 1.0, 0.5)
    np.testing.assert_allclose(native(X, Y), fitted(X, Y), rtol=1e-12)
    native, fitted = resolve_kernel(HomogeneousPolynomialKernel(degree=3), 9, 9.0, 9.0, X)
    assert native == SVMKernel("poly", 3, 1.0, 0.0)
    np.testing.assert_allclose(native(X, Y), fitted(X, Y), rtol=1e-12)


def test_a_subclass_of_a_polynomial_may_be_something_else():
    class Other(PolynomialKernel):
        pass

    assert resolve_kernel(Other(), 3, 1.0, 0.0, X)[0].name == "precomputed"


def test_a_kernel_object_is_cloned_and_fitted():
    kernel = ExponentialKernel()
    native, fitted = resolve_kernel(kernel, 3, 1.0, 0.0, X)
    assert native.name == "precomputed"
    assert fitted is not kernel
    assert fitted.sigma_ > 0
    assert not hasattr(kernel, "sigma_")


def test_functions_and_objects_without_fit_stay_what_they_are():
    def function(A, B):
        return A @ B.T

    assert resolve_kernel(function, 3, 1.0, 0.0, X) == (SVMKernel("precomputed"), function)
    assert resolve_kernel(RBF(2.0), 3, 1.0, 0.0, X) == (SVMKernel("precomputed"), RBF(2.0))
