import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import OrthogonalMatchingPursuit

from kernlearn.landmarks.sparse import forward_greedy, fully_corrective_path, insensitive_loss
from kernlearn.solvers import greedy

RULES = pytest.mark.parametrize("rule", ["gradient", "correlation", "decrease"])


def slow_path(F, y, n_columns, rule="gradient", ridge=0.0):
    """Solve each least squares problem anew, and try each column for "decrease"."""
    m = F.shape[1]
    F, y = np.vstack([F, np.sqrt(ridge) * np.eye(m)]), np.append(y, np.zeros(m))

    def solve(columns):
        w = np.linalg.lstsq(F[:, columns], y, rcond=None)[0]
        return w, y - F[:, columns] @ w

    columns, weights, losses = [], [], []
    residual = y
    for _ in range(n_columns):
        scores = np.full(m, -1.0)
        for j in set(range(m)) - set(columns):
            if rule == "decrease":
                after = solve([*columns, j])[1]
                scores[j] = residual @ residual - after @ after
            else:
                scores[j] = abs(F[:, j] @ residual)
                if rule == "correlation":
                    scores[j] /= np.sqrt(F[:, j] @ F[:, j] - ridge)
        columns.append(int(scores.argmax()))
        w, residual = solve(columns)
        weights.append(w)
        losses.append(residual @ residual)
    return columns, weights, losses


def assert_same(path, slow, rtol=1e-9):
    columns, weights, losses = slow
    assert path.columns.tolist() == columns
    assert path.coef.shape == (len(columns), len(columns))
    for k, w in enumerate(weights, start=1):
        np.testing.assert_allclose(path.coef[k - 1, :k], w, rtol=rtol, atol=rtol)
        assert not path.coef[k - 1, k:].any()
    np.testing.assert_allclose(path.losses, losses, rtol=rtol, atol=1e-12)


@RULES
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("accurate", [greedy._ACCURATE, 1.0], ids=["gram", "qr"])
def test_is_the_slow_version(rule, ridge, seed, accurate, monkeypatch):
    monkeypatch.setattr(greedy, "_ACCURATE", accurate)
    rng = np.random.RandomState(seed)
    F = rng.standard_normal((40, 25)) * rng.uniform(0.1, 3, 25) + rng.uniform(0, 2)
    y = rng.standard_normal(40) + 1
    path = fully_corrective_path(F, y, 20, rule=rule, ridge=ridge)
    assert_same(path, slow_path(F, y, 20, rule, ridge))
    assert path.n_iter == 20


def test_a_block_of_rows_and_a_column_at_a_time_change_nothing(monkeypatch):
    rng = np.random.RandomState(0)
    F, y = rng.standard_normal((50, 30)).astype(np.float32) + 1, rng.standard_normal(50)
    slow = slow_path(F.astype(float), y, 12)
    monkeypatch.setattr(greedy, "_BLOCK_ROWS", 7)
    for columns_per_pass in (100, 1):
        monkeypatch.setattr(greedy, "_COLUMNS_PER_PASS", columns_per_pass)
        assert_same(fully_corrective_path(F, y, 12), slow)
        assert_same(fully_corrective_path(F.astype(float), y, 12), slow)


def test_same_support_as_orthogonal_matching_pursuit():
    rng = np.random.RandomState(0)
    F = np.exp(-rng.uniform(0, 3, (300, 60)))
    F /= np.linalg.norm(F, axis=0)
    y = F[:, ::7].sum(axis=1) + 0.1 * rng.standard_normal(300)
    path = fully_corrective_path(F, y, 30)
    np.testing.assert_array_equal(
        path.columns, fully_corrective_path(F, y, 30, rule="correlation").columns
    )
    for k in (1, 2, 10, 30):
        pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(F, y)
        assert set(np.flatnonzero(pursuit.coef_)) == set(path.columns[:k])
        np.testing.assert_allclose(pursuit.coef_[path.columns[:k]], path.coef[k - 1, :k])


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    m=st.integers(1, 12),
    ridge=st.sampled_from([0.0, 0.1]),
)
def test_the_path_is_nested_and_the_loss_never_grows(seed, n, m, ridge):
    rng = np.random.RandomState(seed)
    F, y = rng.randint(-2, 3, (n, m)).astype(float), rng.randint(-3, 4, n)
    path = fully_corrective_path(F, y, m, ridge=ridge)
    assert len(set(path.columns.tolist())) == len(path.columns) <= m
    assert (np.diff(np.append(y @ y, path.losses)) < 1e-9).all()
    for w, loss in zip(path.coef, path.losses, strict=True):
        residual = y - F[:, path.columns] @ w
        np.testing.assert_allclose(loss, residual @ residual + ridge * w @ w, atol=1e-9)
    # nothing is left that could help
    best = np.linalg.lstsq(
        np.vstack([F, np.sqrt(ridge) * np.eye(m)]), np.append(y, np.zeros(m)), rcond=None
    )[0]
    least = ((y - F @ best) ** 2).sum() + ridge * best @ best
    last = path.losses[-1] if len(path.losses) else y @ y
    np.testing.assert_allclose(last, least, atol=1e-9)


@RULES
def test_repeated_and_dependent_columns_are_passed_over(rule):
    rng = np.random.RandomState(0)
    base, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    weights, least = np.linalg.lstsq(base, y, rcond=None)[:2]
    path = fully_corrective_path(np.hstack([base, base]), y, 8, rule=rule)
    assert sorted(path.columns) == [0, 1, 2, 3]
    np.testing.assert_allclose(path.coef[-1][path.columns.argsort()], weights)
    nearly = base + 1e-7 * rng.standard_normal(base.shape)
    F = np.column_stack([base[:, :2] @ [1, 2], base, nearly])
    path = fully_corrective_path(F, y, 9, rule=rule)
    assert len(path.columns) == 4
    np.testing.assert_allclose(path.losses[-1:], least, rtol=1e-6)


@RULES
def test_of_equal_columns_the_first(rule):
    rng = np.random.RandomState(1)
    column = rng.uniform(0, 1, 4001)
    y = column + 0.1 * rng.standard_normal(4001)
    for m in (2, 3, 17):
        F = np.repeat(column[:, None], m, axis=1)
        F[:, 0] = -0.5 * F[:, 0] if rule == "gradient" else F[:, 0]
        first = 1 if rule == "gradient" else 0
        assert fully_corrective_path(F, y, m, rule=rule).columns.tolist() == [first]


def test_stops_where_nothing_is_left():
    F = np.eye(6)[:, :4]
    y = np.array([3.0, 0, -4, 0, 0, 0])
    path = fully_corrective_path(F, y, 4)
    assert path.columns.tolist() == [2, 0]
    np.testing.assert_allclose(path.losses, [9, 0], atol=1e-12)
    # the residual is not zero, but no column is of use
    path = fully_corrective_path(F, y + 7 * np.eye(6)[5], 4)
    assert path.columns.tolist() == [2, 0]
    np.testing.assert_allclose(path.losses, [58, 49])
    for no_use in (np.zeros(6), np.array([0.0, 0, 0, 0, 1, 1])):
        assert fully_corrective_path(F, no_use, 4).coef.shape == (0, 0)
    assert len(fully_corrective_path(np.zeros((6, 2)), y, 2, rule="correlation").columns) == 0


def test_weights_are_as_accurate_as_least_squares():
    """The Gram matrix alone would lose half of the digits."""
    rng = np.random.RandomState(0)
    basis = np.linalg.qr(rng.standard_normal((200, 6)))[0]
    F = np.column_stack([basis[:, 0], *(basis[:, 0] + 1e-3 * basis[:, j] for j in range(1, 6))])
    truth = np.array([1.0, -2, 3, -1, 2, 4])
    path = fully_corrective_path(F, F @ truth, 6, rule="decrease")
    assert sorted(path.columns) == list(range(6))
    np.testing.assert_allclose(path.coef[-1], truth[path.columns], rtol=1e-11)


@pytest.mark.parametrize("rule", ["gradient", "decrease"])
@pytest.mark.parametrize("seed", range(20))
def test_smooth_columns(rule, seed):
    """All but dependent, with targets that they nearly meet."""
    rng = np.random.RandomState(seed)
    x = rng.uniform(-1, 1, (200, rng.randint(1, 4)))
    distances = ((x[:, None] - x[:30]) ** 2).sum(axis=-1)
    F = np.exp(-distances / 10 ** rng.uniform(-1, 1))
    y = np.sin(3 * x[:, 0]) + 10 ** rng.uniform(-6, -1) * rng.standard_normal(200)
    path = fully_corrective_path(F, y, 20, rule=rule)
    for k, (weights, loss) in enumerate(zip(path.coef, path.losses, strict=True), start=1):
        chosen = F[:, path.columns[:k]]
        best = np.linalg.lstsq(chosen, y, rcond=None)[0]
        excess = chosen @ (weights[:k] - best)
        assert np.linalg.norm(excess) < 1e-9 * np.linalg.norm(y)
        assert np.linalg.norm(weights[:k] - best) < 1e-7 * np.linalg.norm(best)
        assert loss == pytest.approx(((y - chosen @ best) ** 2).sum(), rel=1e-8)


def test_float32_is_computed_with_in_float64():
    rng = np.random.RandomState(0)
    F = rng.uniform(1, 2, (3000, 20)).astype(np.float32)
    y = rng.standard_normal(3000).astype(np.float32)
    single = fully_corrective_path(F, y, 10)
    double = fully_corrective_path(F.astype(float), y.astype(float), 10)
    np.testing.assert_array_equal(single.columns, double.columns)
    np.testing.assert_allclose(single.coef, double.coef)


def bounded_problem(seed, n=30, m=12):
    rng = np.random.RandomState(seed)
    F = np.tanh(rng.standard_normal((n, m)))
    return F / np.abs(F).max(), F[:, 0] - 0.5 * F[:, 3] + 0.2 * rng.standard_normal(n)


def slow_loss(error, epsilon, beta):
    """The explicit form of section 5.3.2.1."""
    error = abs(error)
    if error <= epsilon:
        return 0.0
    if error < epsilon + 1 / beta:
        return beta / 2 * (error - epsilon) ** 2
    return error - epsilon - 1 / (2 * beta)


def slow_algorithm(F, y, C_W, tol, epsilon, beta, n_steps):
    """Algorithm 6 line by line; the gradient by differences of the loss."""
    n, m = F.shape
    w = [0.0] * m
    order = []
    for _ in range(n_steps):
        theta = []
        for j in range(m):
            total = 0.0
            for x, target in zip(F, y, strict=True):
                error = sum(a * b for a, b in zip(w, x, strict=True)) - target
                h = 1e-6
                up, down = (slow_loss(error + s, epsilon, beta) for s in (h, -h))
                total += (up - down) / (2 * h) * x[j]
            theta.append(total / n)
        r = max(range(m), key=lambda j: abs(theta[j]))
        delta = sum(a * b for a, b in zip(theta, w, strict=True)) + C_W * abs(theta[r])
        if delta <= tol:
            break
        eta = min(1.0, delta / (4 * C_W**2 * beta))
        w = [(1 - eta) * value for value in w]
        w[r] += eta * C_W * (1 if -theta[r] > 0 else -1)
        if r not in order:
            order.append(r)
    return order, w


@pytest.mark.parametrize("seed", range(3))
def test_is_the_slow_version_within_the_norm(seed):
    F, y = bounded_problem(seed, n=12, m=6)
    path = forward_greedy(F, y, norm_bound=1.5, tol=0.1, epsilon=0.05, max_iter=10**6)
    order, w = slow_algorithm(F, y, 1.5, 0.1, 0.05, 10.0, 10**4)
    assert path.columns.tolist() == order
    np.testing.assert_allclose(path.coef[-1], np.array(w)[order], atol=1e-4)
    assert path.gap <= 0.1
    assert path.n_iter <= 8 * 1.5**2 / 0.1**2


@pytest.mark.parametrize("beta", [0.5, 10])
def test_the_loss_is_the_infimum_of_its_definition_within_the_norm(beta):
    v = np.linspace(-4, 4, 80001)
    errors = np.linspace(-3, 3, 61)
    found = insensitive_loss(errors, 0.3, beta)
    for error, loss in zip(errors, found, strict=True):
        insensitive = np.maximum(np.abs(error - v) - 0.3, 0)
        assert loss == pytest.approx(slow_loss(error, 0.3, beta), abs=1e-12)
        assert loss == pytest.approx((beta / 2 * v**2 + insensitive).min(), abs=1e-6)
    sharp = np.maximum(np.abs(errors) - 0.3, 0)
    assert ((sharp - found >= -1e-12) & (sharp - found <= 1 / (2 * beta) + 1e-12)).all()


def least_loss(F, y, C_W, epsilon, beta):
    """The minimum in equation 5.2, with w = p - q for p, q >= 0."""
    m = F.shape[1]

    def value(pq):
        return insensitive_loss(F @ (pq[:m] - pq[m:]) - y, epsilon, beta).mean()

    inside = {"type": "ineq", "fun": lambda pq: C_W - pq.sum()}
    found = minimize(
        value,
        np.full(2 * m, C_W / (4 * m)),
        bounds=[(0, None)] * (2 * m),
        constraints=[inside],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert found.success
    return found.fun


def least_sharp_loss(F, y, C_W, epsilon):
    """The same with the loss as it is, an LP in (p, q, excess)."""
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C_W", [0.5, 2.0])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_is_within_the_tolerance_of_the_minimum_within_the_norm(seed, C_W, scale):
    """Also where entries exceed 1, for which the steps as printed are too long."""
    F, y = bounded_problem(seed)
    F = F * scale
    tol, epsilon = 0.1, 0.1
    path = forward_greedy(F, y, norm_bound=C_W, tol=tol, epsilon=epsilon, max_iter=10**6)
    assert np.abs(path.coef).sum(axis=1).max() <= C_W * (1 + 1e-12)
    assert len(path.columns) <= path.n_iter <= np.ceil(8 * (C_W * scale / tol) ** 2)
    errors = F[:, path.columns] @ path.coef[-1] - y
    reached = np.mean([slow_loss(error, epsilon, 1 / tol) for error in errors])
    assert path.losses[-1] == pytest.approx(reached)
    assert reached - least_loss(F, y, C_W, epsilon, 1 / tol) <= tol
    sharp = np.maximum(np.abs(errors) - epsilon, 0).mean()
    assert sharp - least_sharp_loss(F, y, C_W, epsilon) <= 1.5 * tol


def test_rows_are_the_last_weights_with_so_many_columns_within_the_norm():
    F, y = bounded_problem(1)
    options = {"norm_bound": 2.0, "tol": 0.03, "max_iter": 10**6}
    path = forward_greedy(F, y, **options)
    assert len(path.columns) > 3
    for k in range(1, len(path.columns)):
        shorter = forward_greedy(F, y, max_columns=k, **options)
        np.testing.assert_array_equal(shorter.columns, path.columns[:k])
        np.testing.assert_array_equal(shorter.coef, path.coef[:k, :k])
        np.testing.assert_array_equal(shorter.losses, path.losses[:k])
        assert shorter.n_iter < path.n_iter


def test_too_few_steps_within_the_norm():
    F, y = bounded_problem(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3 steps leave a gap"):
        path = forward_greedy(F, y, norm_bound=2.0, tol=0.01, max_iter=3)
    assert path.n_iter == 3
    assert path.gap > 0.01


def test_nothing_to_do_within_the_norm():
    for F, y in [(np.zeros((4, 2)), np.ones(4)), (np.eye(4), np.full(4, 0.05))]:
        path = forward_greedy(F, y, norm_bound=1.0, tol=0.1)
        assert path.coef.shape == (0, 0)
        assert path.losses.shape == (0,)
        assert path.gap == path.n_iter == 0
