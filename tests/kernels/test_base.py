import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, SVR

from kernlearn.kernels import (
    CallableKernel,
    CosineSimilarity,
    GaussianKernel,
    GaussianProcessKernel,
    Kernel,
    LinearKernel,
    NormalizedKernel,
    PolynomialKernel,
    WeightedKernelSum,
    as_kernel,
)
from kernlearn.landmarks import KernelRegressor, RegLand


def test_a_subclass_needs_only_a_call():
    class Manhattan(Kernel):
        def __call__(self, X, Y=None):
            Y = X if Y is None else Y
            return -np.abs(X[:, None] - Y[None]).sum(axis=2)

    kernel = clone(Manhattan())
    X = np.arange(6.0).reshape(3, 2)
    assert kernel.fit(X) is kernel
    assert not kernel.data_dependent
    np.testing.assert_array_equal(kernel(X), kernel(X, X))


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()


def test_callable_kernel_evaluates_its_function():
    X, Y = np.ones((3, 2)), np.ones((4, 2))
    kernel = CallableKernel(lambda A, B: A @ B.T)
    np.testing.assert_array_equal(kernel(X, Y), X @ Y.T)
    np.testing.assert_array_equal(kernel(X), X @ X.T)


def test_callable_kernel_checks_the_shape():
    with pytest.raises(ValueError, match=r"'function' returned .* must be \(2, 3\)"):
        CallableKernel(lambda A, B: B @ A.T)(np.ones((2, 2)), np.ones((3, 2)))


def test_callable_kernel_checks_its_function():
    with pytest.raises(ValueError, match="'function' parameter"):
        CallableKernel(3).fit([[1.0]])


RNG = np.random.RandomState(0)
A, B = RNG.normal(size=(70, 3)), RNG.normal(size=(5, 3))


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
    np.testing.assert_array_equal(kernel(B), expected)
    assert not kernel.data_dependent
    with pytest.raises(NotFittedError):
        WeightedKernelSum(["gaussian"], [1.0])(A)


def test_usable_where_a_kernel_is():
    kernel = WeightedKernelSum([GaussianKernel().fit(A), "linear"], [0.7, 0.3])
    y = A[:, 0] ** 2
    model = RegLand(20, similarity=kernel, random_state=0)
    by_hand = RegLand(20, similarity=lambda X, Y: kernel(X, Y), random_state=0)
    np.testing.assert_array_equal(model.fit(A, y).predict(B), by_hand.fit(A, y).predict(B))
    assert np.isfinite(cross_val_score(model, A, y)).all()
    SVC(kernel=kernel).fit(A, y > 1)


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
    np.testing.assert_allclose(
        NormalizedKernel("linear")(A.tolist(), B.tolist()), CosineSimilarity()(A, B), atol=1e-14
    )
    sparse_found = NormalizedKernel(LinearKernel())(sparse.csr_array(A), sparse.csr_array(B))
    np.testing.assert_allclose(sparse_found, CosineSimilarity()(A, B), atol=1e-14)


def test_normalized_points_without_length():
    found = NormalizedKernel("linear")(np.array([[0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(found, [[0, 0], [0, 1]], atol=1e-15)


def test_normalized_refuses_what_is_no_mercer_kernel():
    with pytest.raises(ValueError, match="not be negative for a point and itself"):
        NormalizedKernel(lambda X, Y: -(X @ Y.T))(A)


def test_normalized_widths_stay_as_fitted():
    kernel = NormalizedKernel(GaussianKernel().fit(A))
    np.testing.assert_array_equal(clone(kernel)(B), kernel(B))


OF_POINTS = {
    "raises for matrices": lambda x, y: float(x @ y),
    "a number for matrices": lambda x, y: -abs(x - y).max(),
    "a matrix for square Y": lambda x, y: x @ y,
}


@pytest.mark.parametrize("n", [3, 5])  # B[:3] is square
@pytest.mark.parametrize("name", OF_POINTS)
def test_a_function_of_two_points(name, n):
    function = OF_POINTS[name]
    expected = [[function(x, y) for y in B[:n]] for x in A[:4]]
    np.testing.assert_array_equal(CallableKernel(function)(A[:4], B[:n]), expected)
    np.testing.assert_array_equal(CallableKernel(function, takes="points")(A[:4], B[:n]), expected)


def test_a_function_of_two_objects():
    def shared(one, other):
        return len(set(one) & set(other))

    words = np.array(["abc", "bcd", "xy"], dtype=object)
    gram = CallableKernel(shared, takes="points")(words)
    np.testing.assert_array_equal(gram, [[3, 2, 0], [2, 3, 0], [0, 0, 2]])
    model = KernelRegressor(shared, weights="similarity").fit(["abc", "xy"], [0.0, 1.0])
    np.testing.assert_allclose(model.predict(["abx", "y"]), [1 / 3, 1])


def test_what_is_neither_a_function_of_matrices_nor_of_points():
    with pytest.raises(ValueError, match="or the function must take two points"):
        CallableKernel(lambda x, y: np.zeros(7))(A, B)
    with pytest.raises(ValueError, match="must return a number for two points"):
        CallableKernel(lambda x, y: x, takes="points")(A, B)
    with pytest.raises(ZeroDivisionError):
        CallableKernel(lambda x, y: 1 / 0)(A, B)
    with pytest.raises(ValueError, match="returned an array of shape"):
        CallableKernel(lambda x, y: -abs(x - y).max(), takes="matrices")(A[:5], B)


@pytest.mark.parametrize("kernel", [GaussianKernel(sigma=1.0), PolynomialKernel(), "linear"])
def test_kernels_within_scikit_learn(kernel):
    """Estimators that call a kernel with matrices, with two vectors, or take their own kind."""
    kernel = as_kernel(kernel)
    X, y = A[:40], A[:40, 0] ** 2
    gram, rows = kernel(X), kernel(A[40:], X)
    for make in KernelRidge, SVR:
        expected = make(kernel="precomputed").fit(gram, y).predict(rows)
        for given in kernel, GaussianProcessKernel(kernel):
            found = make(kernel=given).fit(X, y).predict(A[40:])
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    expected = SVC(kernel="precomputed").fit(gram, y > 1).decision_function(rows)
    found = SVC(kernel=kernel).fit(X, y > 1).decision_function(A[40:])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    process = GaussianProcessRegressor(GaussianProcessKernel(kernel) + WhiteKernel(0.1)).fit(X, y)
    noise = process.kernel_.k2.noise_level
    by_hand = rows @ np.linalg.solve(gram + (noise + 1e-10) * np.eye(40), y)
    np.testing.assert_allclose(process.predict(A[40:]), by_hand, rtol=1e-5, atol=1e-7)
    assert isinstance(kernel(X[0], X[1]), float)


def test_a_fitted_kernel_stays_fitted_in_a_gaussian_process():
    kernel = GaussianProcessKernel(GaussianKernel().fit(A))
    assert clone(kernel).kernel.sigma_ == kernel.kernel.sigma_
    words = GaussianProcessRegressor(GaussianProcessKernel("levenshtein"), alpha=0.1)
    assert words.fit(["anna", "otto"], [0.0, 1.0]).predict(["ott"])[0] > 0.5


def test_parameters_of_a_kernel_within_scikit_learn_are_tuned():
    X, y = A[:40], A[:40, 0] ** 2
    grid = {"kernel__sigma": [0.01, 1.0, 100.0]}
    for model in SVR(kernel=GaussianKernel(1.0)), KernelRidge(kernel=GaussianKernel(1.0)):
        assert GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y).best_index_ == 1
    search = GridSearchCV(SVC(), {"kernel": [GaussianKernel(0.001), LinearKernel(), "rbf"]}, cv=2)
    assert search.fit(X, X[:, 0] > 0).best_index_ > 0
    # a width from data is learnt before: clones of the estimator keep it
    for model in SVR, SVC, KernelRidge:
        given = model(kernel=GaussianProcessKernel(GaussianKernel().fit(X)))
        assert cross_val_score(given, X, y > 1, cv=2, error_score="raise").shape == (2,)
    with pytest.raises(NotFittedError, match=r"GaussianProcessKernel\(kernel.fit\(X\)\)"):
        SVC(kernel=GaussianKernel()).fit(X, y > 1)
