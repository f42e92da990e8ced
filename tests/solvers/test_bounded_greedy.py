import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.greedy import forward_greedy, insensitive_loss


def problem(seed, n=30, m=12):
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
def test_is_the_slow_version(seed):
    F, y = problem(seed, n=12, m=6)
    path = forward_greedy(F, y, norm_bound=1.5, tol=0.1, epsilon=0.05, max_iter=10**6)
    order, w = slow_algorithm(F, y, 1.5, 0.1, 0.05, 10.0, 10**4)
    assert path.columns.tolist() == order
    np.testing.assert_allclose(path.coef[-1], np.array(w)[order], atol=1e-4)
    assert path.gap <= 0.1
    assert path.n_iter <= 8 * 1.5**2 / 0.1**2


@pytest.mark.parametrize("beta", [0.5, 10])
def test_the_loss_is_the_infimum_of_its_definition(beta):
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
def test_is_within_the_tolerance_of_the_minimum(seed, C_W, scale):
    """Also where entries exceed 1, for which the steps as printed are too long."""
    F, y = problem(seed)
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


def test_rows_are_the_last_weights_with_so_many_columns():
    F, y = problem(1)
    options = {"norm_bound": 2.0, "tol": 0.03, "max_iter": 10**6}
    path = forward_greedy(F, y, **options)
    assert len(path.columns) > 3
    for k in range(1, len(path.columns)):
        shorter = forward_greedy(F, y, max_columns=k, **options)
        np.testing.assert_array_equal(shorter.columns, path.columns[:k])
        np.testing.assert_array_equal(shorter.coef, path.coef[:k, :k])
        np.testing.assert_array_equal(shorter.losses, path.losses[:k])
        assert shorter.n_iter < path.n_iter


def test_too_few_steps():
    F, y = problem(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3 steps leave a gap"):
        path = forward_greedy(F, y, norm_bound=2.0, tol=0.01, max_iter=3)
    assert path.n_iter == 3
    assert path.gap > 0.01


def test_nothing_to_do():
    for F, y in [(np.zeros((4, 2)), np.ones(4)), (np.eye(4), np.full(4, 0.05))]:
        path = forward_greedy(F, y, norm_bound=1.0, tol=0.1)
        assert path.coef.shape == (0, 0)
        assert path.losses.shape == (0,)
        assert path.gap == path.n_iter == 0
