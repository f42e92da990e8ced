"""The LIBSVM bridge; the estimator is tested in test_kernel_svm."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from kernlearn.kernels import PolynomialKernel
from kernlearn.kernels.base import compared
from kernlearn.svm import solvers
from kernlearn.svm.solvers import SVMKernel, reached_limit, resolve_kernel, train

X, CODES = make_classification(150, 6, n_informative=4, n_classes=3, random_state=0)
KERNEL = SVMKernel("rbf", gamma=0.2)


def fit(X, codes, kernel=KERNEL, C=1.0):
    return train(X, codes, kernel, np.ones(3), C=C, tol=1e-3, cache_size=10)


def test_the_limit_of_iterations_is_read_from_the_output():
    said = "..*\noptimization finished, #iter = {}\nnu = 0.5\n"
    few, many = np.array([50, 50]), np.array([50, 50, 200_000])
    assert not reached_limit(said.format(9_999_999), few)
    assert reached_limit(said.format(10_000_000), few)
    # of the first pair, whose limit is that of its own rows
    assert reached_limit(said.format(10_000_000) + 2 * said.format(5), many)
    assert not reached_limit(said.format(5) + 2 * said.format(10_000_000), many)


def test_a_problem_stopped_at_the_limit_warns(monkeypatch):
    monkeypatch.setattr(solvers, "reached_limit", lambda output, n: "#iter = " in output)
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        fit(X, CODES)


X70 = np.random.default_rng(0).standard_normal((70, 3))


def product(A, B):
    return A @ B.T


def test_what_a_kernel_returns_is_checked():
    np.testing.assert_allclose(
        compared(product, sp.csr_array(X70), sp.csr_array(X70)), X70 @ X70.T
    )
    with pytest.raises(ValueError, match=r"shape \(70,\)"):
        compared(lambda A, B: A.sum(axis=1), X70, X70[:5])
    with pytest.raises(ValueError, match="is NaN"):
        compared(lambda A, B: np.full((len(A), len(B)), np.nan), X70, X70)


rng = np.random.default_rng(0)
A, B = rng.standard_normal((6, 4)), rng.standard_normal((3, 4))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 7, 10])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_values_are_scikit_learns(name, degree, as_sparse):
    wanted = {"poly": ("gamma", "coef0", "degree"), "sigmoid": ("gamma", "coef0")}
    names = wanted.get(name, ("gamma",) if name == "rbf" else ())
    parameters = {"gamma": 0.3, "coef0": 0.7, "degree": degree}
    expected = pairwise_kernels(A, B, metric=name, **{k: parameters[k] for k in names})
    left, right = (sp.csr_array(A), sp.csr_array(B)) if as_sparse else (A, B)
    np.testing.assert_allclose(SVMKernel(name, **parameters)(left, right), expected, rtol=1e-9)


def test_a_subclass_of_a_polynomial_may_be_something_else():
    class Other(PolynomialKernel):
        pass

    assert resolve_kernel(Other(), 3, 1.0, 0.0, A, None)[0] is None
