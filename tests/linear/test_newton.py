"""Newton's method beside bounds on the minimum, and its parts beside their definitions."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, check_grad, lsq_linear
from sklearn.exceptions import ConvergenceWarning

from kernlearn.linear import newton
from kernlearn.linear.losses import EpsilonInsensitive, Logistic, SmoothedHinge, SquaredHinge
from kernlearn.linear.newton import PrimalNewton, WeightedGram

CS = (0.01, 1.0, 100.0)
RNG = np.random.default_rng(0)
WEIGHTS = RNG.uniform(0.2, 3.0, 200)

#: The losses of an excess or an error, as they are written.
DEFINITIONS = {
    "squared_hinge": lambda t: np.maximum(0, t) ** 2,
    "logistic": lambda t: np.logaddexp(0, t),
    "hinge": lambda t: np.maximum(0, t),
    "squared_epsilon_insensitive": lambda t: np.maximum(0, np.abs(t) - 0.3) ** 2,
    "epsilon_insensitive": lambda t: np.maximum(0, np.abs(t) - 0.3),
}
SMOOTH = ("squared_hinge", "logistic")


def loss_of(name, weights=1.0, width=1.0):
    """The same losses, those that are not smooth with a parabola of some width."""
    return {
        "squared_hinge": lambda: SquaredHinge(weights),
        "logistic": lambda: Logistic(weights),
        "hinge": lambda: SmoothedHinge(width, weights),
        "squared_epsilon_insensitive": lambda: EpsilonInsensitive(0.3, SquaredHinge(weights)),
        "epsilon_insensitive": lambda: EpsilonInsensitive(0.3, SmoothedHinge(width, weights)),
    }[name]()


def problem(n_samples, n_features, seed=0, n_positive=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    score = X @ rng.standard_normal(n_features) + 2 * rng.standard_normal(n_samples)
    n_positive = n_samples // 2 if n_positive is None else n_positive
    y = np.full(n_samples, -1.0)
    y[np.argsort(-score)[:n_positive]] = 1
    return X, y


def signs_and_offsets(name, y):
    return (1.0, y) if "insensitive" in name else (-y, 0.0 if name == "logistic" else -1.0)


def arguments(name, X, y, w):
    signs, offsets = signs_and_offsets(name, y)
    return signs * (X @ w) - offsets


def solve(X, y, Cs, name, tol=1e-10, max_iter=200, weights=1.0):
    signs, offsets = signs_and_offsets(name, y)
    solver = PrimalNewton(X, tol=tol, max_iter=max_iter)
    return solver.path(loss_of(name, weights), signs, Cs, offsets)


def objective(w, X, y, C, name, weights=1.0):
    losses = weights * DEFINITIONS[name](arguments(name, X, y, w))
    return 0.5 * w @ w + C * losses.sum()


def gradient(w, X, y, C, name, weights=1.0):
    signs, _ = signs_and_offsets(name, y)
    slopes = loss_of(name, weights).slope(arguments(name, X, y, w))
    return w + C * X.T @ (signs * slopes)


def bound_on_minimum(w, X, y, C, name, weights=1.0):
    """A lower bound on the objective: by strong convexity, or the dual one of a plain loss."""
    value = objective(w, X, y, C, name, weights)
    if name not in ("hinge", "epsilon_insensitive"):
        slope = gradient(w, X, y, C, name, weights)
        return value - 0.5 * slope @ slope
    t, most = arguments(name, X, y, w), C * np.broadcast_to(weights, y.shape)
    # The dual variables b of a row are those at w, free at a kink, such that w = rowsᵀb: any of
    # them give a bound.
    if name == "hinge":
        rows, excess, linear, epsilon = y[:, None] * X, t, np.ones(len(y)), 0.0
    else:
        rows = -np.sign(t)[:, None] * X
        excess, linear, epsilon = np.abs(t) - 0.3, -np.sign(t) * y, 0.3
    near = 1e-4 * max(1.0, np.abs(excess).max())
    low = np.where(excess > near, most * (1 - 1e-9), 0.0)
    high = np.where(excess < -near, 1e-9 * most, most)
    b = lsq_linear(rows.T, w, (low, high), tol=1e-14).x
    inside = rows.T @ b
    return linear @ b - epsilon * b.sum() - 0.5 * inside @ inside


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("weights", [1.0, np.array([2.5])])
def test_losses_are_their_definitions_and_derivatives(name, weights):
    plain = name in ("hinge", "epsilon_insensitive")
    one = loss_of(name, weights, width=1e-9)
    smooth = loss_of(name, weights, width=0.5) if plain else one
    for t in np.r_[np.linspace(-3.013, 3, 40), 1e-3, -30.0, 30.0]:
        there = np.array([t])
        expected = float((weights * DEFINITIONS[name](there)).sum())
        assert one.value(there) == pytest.approx(expected, rel=1e-8, abs=1e-8)
        assert check_grad(smooth.value, smooth.slope, there) < 1e-5
        slope = approx_fprime(there, lambda at: smooth.slope(at)[0], 1e-7)
        np.testing.assert_allclose(smooth.curvature(there), slope, atol=1e-4)
        assert smooth.curvature(there) <= smooth.steepest
        most = 0.25 * np.max(weights) if plain else 0.0  # half the width
        assert -1e-9 <= expected - smooth.value(there) <= most + 1e-9


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("shape", [(200, 8), (60, 60), (20, 50), (200, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_paths_are_of_minima(name, shape, weighted):
    X, y = problem(*shape)
    weights = WEIGHTS[: len(y)] if weighted else 1.0
    path = solve(X, y, CS, name, tol=1e-8, weights=weights)
    for C, w in zip(CS, path, strict=True):
        value = objective(w, X, y, C, name, weights)
        assert value - bound_on_minimum(w, X, y, C, name, weights) <= 1e-5 * value


@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_plain_losses_converge_on_features_of_any_scale(name, scale):
    X, y = problem(150, 5)
    X[:, 0] *= scale
    for C, w in zip(CS, solve(X, y, CS, name, tol=1e-7), strict=True):
        finer = solve(X, y, [C], name, tol=1e-10)[0]
        ours, best = (objective(at, X, y, C, name) for at in (w, finer))
        assert ours == pytest.approx(best, rel=1e-6)


@st.composite
def problems(draw):
    """Small problems with duplicate rows, constant features and rows of zeros."""
    n_samples = draw(st.integers(2, 40))
    n_features = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n_samples, n_features))
    if draw(st.booleans()):
        X = X.round()
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, -5.0]))
    if draw(st.booleans()):
        X[rng.integers(n_samples, size=n_samples // 2)] = X[0]
    if draw(st.booleans()):
        X[rng.integers(n_samples, size=n_samples // 3)] = 0
    y = np.full(n_samples, -1.0)
    y[: draw(st.integers(1, n_samples - 1))] = 1
    return X * draw(st.sampled_from([0.01, 1.0, 100.0])), y


def within_rounding(X, C):
    """Whether float64 can certify 1e-9: rounding w moves the gradient by up to C‖X‖²‖w‖ eps."""
    return C * np.linalg.norm(X, 2) ** 2 <= 1e10


@settings(deadline=None, max_examples=60)
@given(problems(), st.lists(st.floats(-4, 6), min_size=1, max_size=4), st.sampled_from(SMOOTH))
def test_every_solution_of_a_path_is_certified(data, exponents, name):
    X, y = data
    Cs = 10.0 ** np.sort(exponents)
    assume(within_rounding(X, Cs[-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        path = solve(X, y, Cs, name, tol=1e-9)
    for C, w in zip(Cs, path, strict=True):
        # Strong convexity bounds the excess over the minimum. The reduced problem for wide
        # features is another floating-point problem.
        slope = gradient(w, X, y, C, name)
        assert 0.5 * slope @ slope <= 1.1e-9 * objective(w, X, y, C, name)


@settings(deadline=None, max_examples=30)
@given(problems(), st.lists(st.floats(-4, 4), min_size=1, max_size=3))
def test_every_hinge_of_a_path_is_the_minimum(data, exponents):
    X, y = data
    Cs = 10.0 ** np.sort(exponents)
    assume(within_rounding(X, Cs[-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        path = solve(X, y, Cs, "hinge", tol=1e-6)
    for C, w in zip(Cs, path, strict=True):
        alone = solve(X, y, [C], "hinge", tol=1e-8)[0]
        value, other = (objective(at, X, y, C, "hinge") for at in (w, alone))
        assert value <= other * (1 + 3e-6)


def test_the_squared_hinge_ends_at_the_solution_itself():
    X, y = problem(300, 20, seed=2)
    for C, w in zip(CS, solve(X, y, CS, "squared_hinge", tol=1e-20), strict=True):
        active = y * (X @ w) < 1
        normal = np.eye(20) + 2 * C * X[active].T @ X[active]
        exact = np.linalg.solve(normal, 2 * C * X[active].T @ y[active])
        np.testing.assert_allclose(w, exact, rtol=1e-9, atol=1e-12)


def test_a_gradient_that_rounding_keeps_up_is_no_failure():
    X = np.array([[204.0, -255, 41, -56], [-45, -21, -201, -23]])
    y = np.array([1.0, -1.0])
    assert not within_rounding(X, 1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        w = solve(X, y, [1e6], "squared_hinge", tol=1e-20)[0]
    # Both rows stay below the margin: w = Xᵀv with (XXᵀ + I / 2C) v = y.
    exact = X.T @ np.linalg.solve(X @ X.T + np.eye(2) / 2e6, y)
    np.testing.assert_allclose(w, exact, rtol=1e-11)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_features_of_zeros_give_zero_weights(name):
    path = solve(np.zeros((5, 3)), np.array([1.0, 1, -1, -1, -1]), CS, name)
    np.testing.assert_array_equal(path, np.zeros((3, 3)))


@pytest.mark.parametrize("slack", [0.0, 0.1, 0.5])
def test_the_gram_follows_its_weights(slack, monkeypatch):
    monkeypatch.setattr(newton, "_BLOCK_ROWS", 7)
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 6))
    weights = np.full(50, 2.0)
    gram = WeightedGram(X, X.T @ X, 2.0, slack)
    for n_changed in (3, 0, 20, 50, 1, 40):
        rows = rng.choice(50, n_changed, replace=False)
        weights[rows] = rng.choice([0.0, 1.0, 2.0, 2.2], n_changed)
        gram.follow(weights)
        held = gram._weights
        expected = (X.T * held) @ X
        np.testing.assert_allclose(np.tril(gram.lower), np.tril(expected), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(gram.times(X[1]), expected @ X[1], rtol=1e-12, atol=1e-12)
        assert np.all(np.abs(held - weights) <= slack * weights)
        hessian = np.eye(6) + 3.0 * expected
        np.testing.assert_allclose(hessian @ gram.newton_step(X[0], 3.0), -X[0], atol=1e-12)


def test_a_gram_spoilt_by_rounding_is_made_anew():
    X = np.random.default_rng(7).standard_normal((30, 4))
    gram = WeightedGram(X, X.T @ X, 2.0, 0.0)
    gram.lower -= 1e3 * np.eye(4)
    step = gram.newton_step(X[0], 1.0)
    np.testing.assert_allclose((np.eye(4) + 2 * X.T @ X) @ step, -X[0], atol=1e-12)


def test_a_hessian_singular_in_float64_still_gives_a_descent_step():
    X = np.ones((3, 2))
    slope = np.array([1.0, 2.0])
    step = WeightedGram(X, X.T @ X, 2.0, 0.0).newton_step(slope, 1e25)
    assert np.all(np.isfinite(step))
    assert slope @ step < 0


@settings(deadline=None, max_examples=50)
@given(problems(), st.floats(-4, 6), st.sampled_from(SMOOTH), st.integers(0, 1000))
def test_the_line_search_finds_the_minimum_of_a_convex_function(data, exponent, name, seed):
    X, y = data
    C = 10.0**exponent
    w = np.random.default_rng(seed).standard_normal(X.shape[1])
    step = -gradient(w, X, y, C, name)
    t, moves = arguments(name, X, y, w), -y * (X @ step)
    length = newton.exact_step(loss_of(name), C, t, moves, w @ step, step @ step)
    end = w + length * step
    assert objective(end, X, y, C, name) < objective(w, X, y, C, name)
    slopes = [abs(gradient(at, X, y, C, name) @ step) for at in (w, end)]
    assert slopes[1] <= 1.01e-3 * slopes[0]
