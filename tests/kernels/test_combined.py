"""Weighted sums and normalized kernels, and what a subclass of Kernel needs."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from kernlearn.kernels import (
    CosineSimilarity,
    GaussianKernel,
    Kernel,
    LinearKernel,
    NormalizedKernel,
    PolynomialKernel,
    WeightedKernelSum,
)

RNG = np.random.RandomState(0)
A, B = RNG.normal(size=(70, 3)), RNG.normal(size=(5, 3))


def test_a_subclass_needs_only_a_call():
    class Manhattan(Kernel):
        def __call__(self, X, Y=None):
            Y = X if Y is None else Y
            return -np.abs(X[:, None] - Y[None]).sum(axis=2)

    kernel = clone(Manhattan())
    X = np.arange(6.0).reshape(3, 2)
    assert kernel.fit(X) is kernel
    assert not kernel.data_dependent
    np.testing.assert_array_equal(kernel.fitted_to(X)(X), kernel(X))
    np.testing.assert_array_equal(kernel(X), kernel(X, X))
    with pytest.raises(NotImplementedError, match="__call__"):
        Kernel()(X)


def test_kernels_within_scikit_learn():
    X, y = A[:40], A[:40, 0] ** 2
    assert SVC(kernel=PolynomialKernel(2)).fit(X, y > 1).score(X, y > 1) > 0.8
    search = GridSearchCV(SVR(kernel=GaussianKernel(1.0)), {"kernel__sigma": [0.01, 1, 100]}, cv=2)
    assert search.fit(X, y).best_index_ == 1
    with pytest.raises(NotFittedError, match="scikit-learn's estimators"):
        SVC(kernel=GaussianKernel()).fit(X, y > 1)


def test_sum_of_values():
    kernels = ["linear", GaussianKernel(sigma=2.0), lambda X, Y: np.ones((len(X), len(Y)))]
    kernel = WeightedKernelSum(kernels, [0.5, 2.0, 3.0])
    expected = 0.5 * A @ B.T + 2 * GaussianKernel(sigma=2.0)(A, B) + 3
    np.testing.assert_allclose(kernel(A, B), expected, atol=1e-14)
    np.testing.assert_allclose(kernel(A), kernel(A, A), atol=1e-14)
    two = WeightedKernelSum(kernels[:2], [0.5, 2.0])
    np.testing.assert_allclose(two(sparse.csr_array(A), B), expected - 3, atol=1e-14)
    assert two(A.astype(np.float32), B.astype(np.float32)).dtype == np.float32


def test_kernels_without_weight_are_not_evaluated():
    def refuses(X, Y):
        raise AssertionError

    np.testing.assert_allclose(WeightedKernelSum([refuses, "linear"], [0, 2])(A), 2 * A @ A.T)
    np.testing.assert_array_equal(
        WeightedKernelSum(["linear", refuses], [0, 0])(A, B), 0 * A @ B.T
    )


def test_widths_stay_as_fitted():
    kernel = WeightedKernelSum([GaussianKernel().fit(A)], [1.0])
    expected = kernel(B)
    other = np.random.RandomState(1).normal(size=(20, 3)) * 100
    for again in (kernel.fit(other), clone(kernel), clone(clone(kernel)).fit(other)):
        np.testing.assert_array_equal(again(B), expected)
    copied = clone(kernel).set_params(weights=[2.0])
    np.testing.assert_allclose(copied(B), 2 * expected)
    normalized = NormalizedKernel(GaussianKernel().fit(A))
    np.testing.assert_array_equal(clone(normalized)(B), normalized(B))
    words = NormalizedKernel(lambda a, b: len({*a} & {*b})).fit(["ab", "bc", "c"])
    assert words(["abc"], ["ab"])[0, 0] == pytest.approx(2 / np.sqrt(6))
    unfitted = NormalizedKernel(PolynomialKernel()), NormalizedKernel("gaussian")
    for kernel, fitted in zip(unfitted, (unfitted[0], normalized), strict=True):
        np.testing.assert_array_equal(kernel.fitted_to(A)(B), fitted(B))
    with pytest.raises(NotFittedError):
        WeightedKernelSum(["gaussian"], [1.0])(A)


@pytest.mark.parametrize(
    ("kernels", "weights", "message"),
    [
        (["linear", "cosine"], [1.0, -0.5], "must not be negative.* got -0.5"),
        (["linear"], [1.0, 0.5], "each of the 1 kernels"),
        (["linear"], [np.nan], "weights contains NaN"),
        (["linear", 3], [1.0, 1.0], "'kernels' must be one of"),
    ],
)
def test_bad_sums(kernels, weights, message):
    with pytest.raises(ValueError, match=message):
        WeightedKernelSum(kernels, weights)(A)


def test_normalized_values():
    poly = PolynomialKernel(degree=3)
    gram, diagonals = poly(A, B), [np.diag(poly(points)) for points in (A, B)]
    expected = gram / np.sqrt(np.outer(*diagonals))
    kernel = NormalizedKernel(poly)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel(A), kernel(A, A), rtol=1e-12)
    np.testing.assert_allclose(np.diag(kernel(A)), 1, rtol=1e-12)
    cosines = CosineSimilarity()(A, B)
    by_lists = NormalizedKernel("linear")(A.tolist(), B.tolist())
    np.testing.assert_allclose(by_lists, cosines, atol=1e-14)
    of_sparse = NormalizedKernel(LinearKernel())(sparse.csr_array(A), sparse.csr_array(B))
    np.testing.assert_allclose(of_sparse, cosines, atol=1e-14)
    without_length = NormalizedKernel("linear")(np.array([[0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(without_length, [[0, 0], [0, 1]], atol=1e-15)
    with pytest.raises(ValueError, match="negative"):
        NormalizedKernel(lambda X, Y: -(X @ Y.T))(A)
