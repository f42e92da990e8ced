"""RegLand-Sp: full correction against least squares solved anew, algorithm 6 line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import StandardScaler

from kernlearn.datasets import load
from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import SparseRegLand, sparse
from kernlearn.landmarks.sparse import forward_greedy, fully_corrective_path

RNG = np.random.RandomState(0)
X = RNG.standard_normal((90, 4))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.standard_normal(90) + 10


def slow_path(F, y, n_columns, ridge=0.0):
    """Take the largest product with the residual, and solve least squares anew."""
    m = F.shape[1]
    F, y = np.vstack([F.astype(float), np.sqrt(ridge) * np.eye(m)]), np.append(y, np.zeros(m))
    columns, weights, losses, residual = [], [], [], y
    for _ in range(n_columns):
        products = [abs(F[:, j] @ residual) if j not in columns else -1 for j in range(m)]
        columns.append(int(np.argmax(products)))
        w = np.linalg.lstsq(F[:, columns], y, rcond=None)[0]
        residual = y - F[:, columns] @ w
        weights.append(w)
        losses.append(residual @ residual)
    return columns, weights, losses


def assert_same(path, slow, rtol=1e-9):
    columns, weights, losses = slow
    assert path.columns.tolist() == columns
    for k, w in enumerate(weights, start=1):
        np.testing.assert_allclose(path.coef[k - 1, :k], w, rtol=rtol, atol=rtol)
        assert not path.coef[k - 1, k:].any()
    np.testing.assert_allclose(path.losses, losses, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("changed", [{}, {"_ACCURATE": 1.0}, {"_BLOCK_ROWS": 7}], ids=str)
def test_full_correction_is_the_slow_version(changed, dtype, monkeypatch):
    for name, value in changed.items():  # by QR, in blocks of rows, a column at a time
        monkeypatch.setattr(sparse, name, value)
    for seed in range(4):
        rng = np.random.RandomState(seed)
        F = rng.standard_normal((40, 25)) * rng.uniform(0.1, 3, 25) + rng.uniform(0, 2)
        F, y, ridge = F.astype(dtype), rng.standard_normal(40) + 1, seed % 2 / 2
        path, slow = fully_corrective_path(F, y, 20, ridge=ridge), slow_path(F, y, 20, ridge)
        assert_same(path, slow)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_the_path_is_nested_and_ends_at_the_minimum(seed, n, m, ridge):
    rng, ridge = np.random.RandomState(seed), 0.1 * ridge
    F, y = rng.randint(-2, 3, (n, m)).astype(float), rng.randint(-3, 4, n)
    path = fully_corrective_path(F, y, m, ridge=ridge)
    assert len(set(path.columns.tolist())) == len(path.columns) <= m
    assert (np.diff(np.append(y @ y, path.losses)) < 1e-9).all()
    for w, loss in zip(path.coef, path.losses, strict=True):
        residual = y - F[:, path.columns] @ w
        np.testing.assert_allclose(loss, residual @ residual + ridge * w @ w, atol=1e-9)
    rows = np.vstack([F, np.sqrt(ridge) * np.eye(m)]), np.append(y, np.zeros(m))
    best = np.linalg.lstsq(*rows, rcond=None)[0]
    least = ((y - F @ best) ** 2).sum() + ridge * best @ best
    np.testing.assert_allclose([*path.losses, y @ y][len(path.losses) - 1], least, atol=1e-9)


def test_repeated_dependent_and_useless_columns_are_passed_over():
    rng = np.random.RandomState(0)
    base, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    weights, least = np.linalg.lstsq(base, y, rcond=None)[:2]
    path = fully_corrective_path(np.hstack([base, base]), y, 8)
    assert sorted(path.columns) == [0, 1, 2, 3]
    np.testing.assert_allclose(path.coef[-1][path.columns.argsort()], weights)
    nearly = base + 1e-7 * rng.standard_normal(base.shape)
    with pytest.warns(UserWarning, match="4 of 9 landmarks"):
        path = fully_corrective_path(np.column_stack([base[:, :2] @ [1, 2], base, nearly]), y, 9)
    assert len(path.columns) == 4
    base[0] += 1e6  # a row far from all others
    assert len(fully_corrective_path(base, y, 4, ridge=0.1).columns) == 4
    base[0] -= 1e6
    np.testing.assert_allclose(path.losses[-1:], least, rtol=1e-6)
    equal = np.repeat(base[:, :1], 9, axis=1) * [-0.5, *[1] * 8]
    assert fully_corrective_path(equal, y, 9).columns.tolist() == [1]
    assert fully_corrective_path(np.eye(6)[:, :4], np.eye(6)[4], 4).coef.shape == (0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_smooth_columns(seed):
    """All but dependent, with targets that they nearly meet: the Gram matrix loses digits."""
    rng = np.random.RandomState(seed)
    x = rng.uniform(-1, 1, (200, rng.randint(1, 4)))
    F = np.exp(-((x[:, None] - x[:30]) ** 2).sum(axis=-1) / 10 ** rng.uniform(-1, 1))
    y = np.sin(3 * x[:, 0]) + 10 ** rng.uniform(-6, -1) * rng.standard_normal(200)
    path = fully_corrective_path(F, y, 20)
    for k, (weights, loss) in enumerate(zip(path.coef, path.losses, strict=True), start=1):
        chosen = F[:, path.columns[:k]]
        best = np.linalg.lstsq(chosen, y, rcond=None)[0]
        excess = chosen @ (weights[:k] - best)
        assert np.linalg.norm(excess) < 1e-9 * np.linalg.norm(y)
        assert np.linalg.norm(weights[:k] - best) < 1e-7 * np.linalg.norm(best)
        assert loss == pytest.approx(((y - chosen @ best) ** 2).sum(), rel=1e-8)


def bounded_problem(seed, n=30, m=12):
    rng = np.random.RandomState(seed)
    F = np.tanh(rng.standard_normal((n, m)))
    return F / np.abs(F).max(), F[:, 0] - 0.5 * F[:, 3] + 0.2 * rng.standard_normal(n)


def slow_loss(error, epsilon, beta):
    """The explicit form of section 5.3.2.1."""
    excess = max(abs(error) - epsilon, 0.0)
    return beta / 2 * excess**2 if excess < 1 / beta else excess - 1 / (2 * beta)


def slow_algorithm(F, y, C_W, tol, epsilon, beta, n_steps):
    """Algorithm 6 line by line; the gradient by differences of the loss."""
    n, m = F.shape
    w, order = np.zeros(m), []
    for _ in range(n_steps):
        theta = np.zeros(m)
        for x, target in zip(F, y, strict=True):
            up, down = (slow_loss(w @ x - target + h, epsilon, beta) for h in (1e-6, -1e-6))
            theta += (up - down) / 2e-6 * x / n
        r = int(np.argmax(abs(theta)))
        delta = theta @ w + C_W * abs(theta[r])
        if delta <= tol:
            break
        eta = min(1.0, delta / (4 * C_W**2 * beta))
        w = (1 - eta) * w
        w[r] += eta * C_W * (1 if -theta[r] > 0 else -1)
        if r not in order:
            order.append(r)
    return order, w


@pytest.mark.parametrize("seed", range(3))
def test_forward_greedy_is_the_slow_version(seed):
    F, y = bounded_problem(seed, n=12, m=6)
    path = forward_greedy(F, y, norm_bound=1.5, tol=0.1, epsilon=0.05, max_iter=10**6)
    order, w = slow_algorithm(F, y, 1.5, 0.1, 0.05, 10.0, 10**4)
    assert path.columns.tolist() == order
    np.testing.assert_allclose(path.coef[-1], w[order], atol=1e-4)
    assert path.n_iter <= 8 * 1.5**2 / 0.1**2
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        assert forward_greedy(F, y, norm_bound=1.5, tol=0.01, max_iter=3).n_iter == 3
    assert forward_greedy(F, y / 100, norm_bound=1.0, tol=0.1).coef.shape == (0, 0)


def least_sharp_loss(F, y, C_W, epsilon):
    """The minimum in equation 5.2 with the loss as it is, an LP in (p, q, excess)."""
    n, m = F.shape
    sides = np.hstack([np.vstack([F, -F]), -np.vstack([F, -F]), -np.vstack([np.eye(n)] * 2)])
    norm = np.append(np.ones(2 * m), np.zeros(n))
    found = linprog(
        np.append(np.zeros(2 * m), np.full(n, 1 / n)),
        A_ub=np.vstack([sides, norm]),
        b_ub=np.concatenate([y + epsilon, epsilon - y, [C_W]]),
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("C_W", [0.5, 2.0])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_is_within_the_tolerance_of_the_minimum(C_W, scale):
    """Also where entries exceed 1, for which the steps as printed are too long."""
    tol, epsilon = 0.1, 0.1
    for seed in range(3):
        F, y = bounded_problem(seed)
        F = F * scale
        options = {"norm_bound": C_W, "tol": tol, "epsilon": epsilon, "max_iter": 10**6}
        path = forward_greedy(F, y, **options)
        assert np.abs(path.coef).sum(axis=1).max() <= C_W * (1 + 1e-12)
        assert len(path.columns) <= path.n_iter <= np.ceil(8 * (C_W * scale / tol) ** 2)
        errors = F[:, path.columns] @ path.coef[-1] - y
        reached = np.mean([slow_loss(error, epsilon, 1 / tol) for error in errors])
        assert path.losses[-1] == pytest.approx(reached)
        sharp = np.maximum(np.abs(errors) - epsilon, 0).mean()
        assert sharp - least_sharp_loss(F, y, C_W, epsilon) <= 1.5 * tol
        for k in range(1, len(path.columns)):  # rows are the last weights with so many columns
            shorter = forward_greedy(F, y, max_columns=k, **options)
            np.testing.assert_array_equal(shorter.coef, path.coef[:k, :k])


def manhattan(A, B):
    return -abs(A[:, None] - B[None]).sum(axis=2)


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("pool", ["drawn", "given"])
def test_the_estimator_is_the_slow_version(pool, fit_intercept, ridge):
    points, y, given = X[:60], Y[:60], X[60:] if pool == "given" else None
    model = SparseRegLand(
        12, 30, similarity=manhattan, ridge=ridge, fit_intercept=fit_intercept, random_state=0
    ).fit(points, y, landmarks=given)
    candidates = X[60:] if pool == "given" else points[model.pool_indices_]
    assert len(candidates) == 30
    K, means = manhattan(points, candidates), np.zeros(30)
    if fit_intercept:
        means, y = K.mean(axis=0), y - y.mean()
    columns, weights, losses = slow_path(K - means, y, 12, ridge)
    assert model.support_.tolist() == columns
    if pool == "drawn":
        np.testing.assert_array_equal(model.pool_indices_[columns], model.landmark_indices_)
    np.testing.assert_allclose(model.coef_, weights[-1], rtol=1e-6)
    np.testing.assert_allclose(model.loss_path_, losses)
    intercept = Y[:60].mean() - weights[-1] @ means[columns] if fit_intercept else 0
    expected = manhattan(X, candidates[columns]) @ weights[-1] + intercept
    np.testing.assert_allclose(model.predict(X), expected)


def test_algorithm_6_of_the_estimator():
    options = {"algorithm": "forward_greedy", "norm_bound": 4.0, "tol": 0.2, "random_state": 0}
    y = Y - 10
    kernel = GaussianKernel(2.0)
    model = SparseRegLand(30, 40, similarity=kernel, epsilon=0.2, **options).fit(X, y)
    F = kernel(X, X[model.pool_indices_])
    path = forward_greedy(F, y, norm_bound=4.0, tol=0.2, epsilon=0.2, max_columns=30)
    np.testing.assert_array_equal(model.support_, path.columns)
    np.testing.assert_allclose(model.coef_, path.coef[-1])
    assert model.intercept_ == 0
    with pytest.raises(ValueError, match="intercept"):
        SparseRegLand(fit_intercept=True, **options).fit(X, y)


def test_small_pools_repeated_points_and_constants(recwarn):
    model = SparseRegLand(5, 500, ridge=0.1, random_state=0).fit(X[:20], Y[:20])
    assert sorted(model.pool_indices_) == list(range(20))
    assert not recwarn.list
    with pytest.warns(UserWarning, match="7 candidates"):
        assert len(SparseRegLand(50, 7, random_state=0).fit(X, Y).landmark_indices_) == 7
    points, y = np.vstack([X[:10]] * 3), np.concatenate([Y[:10], Y[:10] + 1, Y[:10] - 1])
    options = {"similarity": "laplacian", "ridge": 0, "fit_intercept": False}
    model = SparseRegLand(20, 30, random_state=0, **options).fit(points, y)
    assert sorted(model.landmark_indices_ % 10) == list(range(10))  # each once
    np.testing.assert_allclose(model.predict(X[:10]), Y[:10])
    model = SparseRegLand(20, 60).fit(X, np.full(90, -7.3))
    assert len(model.coef_) == 0
    np.testing.assert_array_equal(model.predict(X), -7.3)
    alike = SparseRegLand(20, 60, similarity=lambda A, B: np.full((len(A), len(B)), 0.1))
    np.testing.assert_allclose(alike.fit(X, Y).predict(X), Y.mean())


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_the_pool_is_what_makes_the_table():
    """Table 5.1a: 1.2e-3 on cpu_small with the Manhattan similarity, std 3.2e-5."""
    found = load("cpu_small")
    points, y = np.asarray(found.data, dtype=float), found.target / np.abs(found.target).max()
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
    points = StandardScaler().fit(points[train]).transform(points)
    options = {"similarity": "manhattan", "ridge": 0.0, "fit_intercept": False, "random_state": 0}
    errors = {}
    for pool_size in (50, 500):
        model = SparseRegLand(50, pool_size, **options).fit(points[train], y[train])
        errors[pool_size] = mean_squared_error(y[test], model.predict(points[test]))
    assert errors[500] < 1.3e-3
    assert errors[500] < errors[50] / 1.5
