import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.stats import kstest
from sklearn.base import clone

from kernlearn.features import PositiveFeatures
from kernlearn.features.positive import best_damping
from kernlearn.kernels import ExponentialKernel, PolynomialKernel
from tests.checks import parametrize_with_checks

UNIT = ExponentialKernel(1.0)


@parametrize_with_checks(
    [
        PositiveFeatures(),
        PositiveFeatures(n_components=7, damping="dense", block_rows=3),
        PositiveFeatures(damping="none", directions="independent", antithetic=True),
    ]
)
def test_conformance(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(40, 5)) * [2.0, 1.0, 0.5, 0.5, 0.1]
    X[np.abs(X) < 0.2] = 0
    return X / 2


def recovered_directions(model, sigma):
    """The directions ω of a fitted model, from what points are multiplied by."""
    W = model.random_weights_ * sigma
    if model.damping == "dense":
        W = model.axes_.T @ W
    return W / np.sqrt(1 - 4 * model.damping_[:, None])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("damping", ["none", "scalar", "dense"])
def test_against_the_slow_version(damping, convert, dtype, X):
    """Feature by feature, by the formula: a Gaussian density over another, in each axis."""
    X, sigma = X.astype(dtype), 1.3
    kernel = ExponentialKernel(sigma)
    model = PositiveFeatures(kernel, 12, damping=damping, block_rows=7, random_state=0)
    Z = model.fit(convert(X)).transform(convert(X))
    assert Z.dtype == dtype
    omega = recovered_directions(model, sigma)
    A = np.broadcast_to(model.damping_, 5)
    axes = model.axes_ if damping == "dense" else np.eye(5)
    expected = np.empty((40, 12))
    for i, j in np.ndindex(expected.shape):
        x = axes.T @ (X[i].astype(float) / sigma)
        value = np.exp(-x @ x / 2) / np.sqrt(12)
        for axis in range(5):
            value *= (1 - 4 * A[axis]) ** 0.25 * np.exp(
                A[axis] * omega[axis, j] ** 2 + np.sqrt(1 - 4 * A[axis]) * omega[axis, j] * x[axis]
            )
        expected[i, j] = value
    np.testing.assert_allclose(Z, expected, rtol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("directions", ["orthogonal", "independent"])
@pytest.mark.parametrize("damping", ["none", "scalar", "dense"])
def test_unbiased(damping, directions, antithetic, X):
    points = X[:4]
    model = PositiveFeatures(
        UNIT, 24, damping=damping, directions=directions, antithetic=antithetic
    )
    found = []
    for seed in range(150):
        fitted = model.set_params(random_state=seed).fit(X)
        Z = fitted.transform(points)
        found.append(Z @ Z.T)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(150)
    exact = UNIT(points)
    assert (error < 0.2 * exact).all()
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * error).all()


def log_second_moment(A, psi, d):
    """Of one estimate for points with ‖x + y‖² = psi, but for the norms of x and y."""
    shrunk, spread = 1 - 4 * A, 1 - 8 * A
    return d * np.log(shrunk) - d / 2 * np.log(spread) + 2 * shrunk / spread * psi


@pytest.mark.parametrize("psi", [1e-6, 0.3, 5.0, 1e3])
@pytest.mark.parametrize("d", [1, 7, 200])
def test_the_damping_is_the_best(d, psi):
    A = float(best_damping(psi, d))
    found = minimize_scalar(
        log_second_moment,
        args=(psi, d),
        bounds=(-3 - psi, 0.12),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert A <= 0
    assert log_second_moment(A, psi, d) <= found.fun * (1 + 1e-9) + 1e-9
    step = 1e-4 * (1 + abs(A))
    assert log_second_moment(A, psi, d) <= log_second_moment(A + step, psi, d)
    assert log_second_moment(A, psi, d) <= log_second_moment(A - step, psi, d)


def test_points_at_the_origin_need_no_damping():
    assert float(best_damping(0.0, 3)) == 0
    model = PositiveFeatures(UNIT, random_state=0).fit(np.zeros((2, 3)))
    np.testing.assert_allclose(model.transform(np.zeros((1, 3))), 0.1)


def test_the_second_moment(X):
    """The formula that is minimised, against the mean over directions."""
    x, y, A = X[0], X[1], -0.1
    omega = np.random.default_rng(0).normal(size=(400_000, 5))
    products = (1 - 4 * A) ** 2.5 * np.exp(
        2 * A * (omega**2).sum(axis=1) + np.sqrt(1 - 4 * A) * omega @ (x + y) - (x @ x + y @ y) / 2
    )
    psi = (x + y) @ (x + y)
    expected = np.exp(log_second_moment(A, psi, 5) - x @ x - y @ y)
    squares = products**2
    assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(len(squares))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_the_damping_is_that_of_all_pairs(convert, X):
    pairs = (X[:, None] + X[None]).reshape(-1, 5) / 1.3
    kernel = ExponentialKernel(1.3)
    scalar = PositiveFeatures(kernel, 8).fit(convert(X))
    expected = best_damping((pairs**2).sum(axis=1).mean(), 5)
    np.testing.assert_allclose(scalar.damping_, expected, rtol=1e-10)
    dense = PositiveFeatures(kernel, 8, damping="dense").fit(convert(X))
    moments = np.linalg.eigvalsh(pairs.T @ pairs / len(pairs))
    np.testing.assert_allclose(dense.damping_, best_damping(moments, 1), rtol=1e-8)


def test_the_mean_logarithms_are_in_order(X):
    """What is minimised, over all pairs: one A is better than none, one for each axis best."""
    pairs = (X[:, None] + X[None]).reshape(-1, 5)
    means = []
    for damping in ("none", "scalar", "dense"):
        model = PositiveFeatures(UNIT, 8, damping=damping).fit(X)
        axes = model.axes_ if damping == "dense" else np.eye(5)
        each = log_second_moment(model.damping_, (pairs @ axes) ** 2, 1)
        means.append(each.sum(axis=1).mean())
    assert means[0] > means[1] + 0.1
    assert means[1] > means[2] + 0.1


def test_damping_lowers_the_error(X):
    """The median over draws, as few draws with large errors dominate a mean."""
    points, exact = X[:8], UNIT(X[:8])
    errors = {}
    for damping in ("none", "scalar"):
        found = []
        for seed in range(100):
            model = PositiveFeatures(UNIT, 16, damping=damping, random_state=seed).fit(points)
            Z = model.transform(points)
            found.append((((Z @ Z.T) / exact - 1) ** 2).mean())
        errors[damping] = np.median(found)
    assert errors["scalar"] < errors["none"]


@pytest.mark.parametrize("n_components", [3, 5, 12])
def test_orthogonal_blocks(n_components, X):
    model = PositiveFeatures(UNIT, n_components, damping="none", random_state=0).fit(X)
    omega = model.random_weights_
    assert omega.shape == (5, n_components)
    for first in range(0, n_components, 5):
        products = omega[:, first : first + 5].T @ omega[:, first : first + 5]
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-10)
    many = PositiveFeatures(UNIT, 2000, damping="none", random_state=0).fit(X).random_weights_
    # Every direction is normal, though not independent of others; of each block one is taken.
    assert kstest(many[0, ::5], "norm").pvalue > 1e-3
    assert kstest(many[3, 4::5], "norm").pvalue > 1e-3


def test_opposite_directions(X):
    for n_components in (4, 5):
        W = PositiveFeatures(UNIT, n_components, antithetic=True).fit(X).random_weights_
        assert W.shape == (5, n_components)
        np.testing.assert_array_equal(W[:, 1:4:2], -W[:, 0:3:2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_of_far_points_stay_positive(dtype):
    model = PositiveFeatures(UNIT, 50, random_state=0).fit(np.zeros((2, 3)))
    Z = model.transform(np.full((1, 3), 1e4, dtype))
    assert (Z > 0).all()
    assert Z.max() <= 2 * np.finfo(dtype).tiny


def test_features_that_overflow():
    model = PositiveFeatures(UNIT, 1, damping="none", random_state=0).fit(np.zeros((2, 2000)))
    ahead = model.random_weights_.T
    for dtype in (np.float32, np.float64):
        with pytest.warns(UserWarning, match=f"more than the largest {np.dtype(dtype)}"):
            Z = model.transform(ahead.astype(dtype))
        assert np.isfinite(Z).all()
        assert Z.min() > np.finfo(dtype).max / 2


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
def test_threads_and_blocks_change_nothing(as_matrix, X):
    model = PositiveFeatures(UNIT, 300, random_state=0).fit(X)
    Z = model.transform(as_matrix(X))
    np.testing.assert_allclose(model.set_params(n_jobs=2).transform(as_matrix(X)), Z, rtol=1e-12)
    parts = model.set_params(block_rows=7).transform_blocks(as_matrix(X))
    np.testing.assert_allclose(np.vstack([block for _, block in parts]), Z, rtol=1e-12)


def test_randomness_is_the_seed_alone(X):
    model = PositiveFeatures(random_state=5)
    Z = model.fit_transform(X)
    np.testing.assert_array_equal(Z, clone(model).fit_transform(X))
    assert not np.allclose(Z, clone(model).set_params(random_state=6).fit_transform(X))


def test_the_kernel_is_cloned_and_fitted(X):
    kernel = ExponentialKernel()
    model = PositiveFeatures(kernel, 10, random_state=0).fit(X)
    assert not hasattr(kernel, "sigma_")
    assert model.kernel_.sigma_ == pytest.approx(ExponentialKernel().fit(X).sigma_)
    assert model.set_params(kernel__sigma=2.0).fit(X).kernel_.sigma_ == 2.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "polynomial"}, "'kernel' must be an ExponentialKernel"),
        ({"kernel": PolynomialKernel()}, "'kernel' must be an ExponentialKernel"),
        ({"kernel": "gauss"}, "'kernel' must be one of"),
        ({"kernel": ExponentialKernel(-1.0)}, "'sigma' parameter"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"damping": -0.1}, "'damping' parameter"),
        ({"directions": "random"}, "'directions' parameter"),
        ({"antithetic": "yes"}, "'antithetic' parameter"),
        ({"block_rows": 0}, "'block_rows' parameter"),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        PositiveFeatures(**options).fit(X)
