"""The Newton solver against a slow general one, and its parts against their definitions."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, check_grad, minimize
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers import newton, truncated_newton, weighted_gram
from kernlearn.solvers.full_steps import full_steps
from kernlearn.solvers.linear_path import linear_path, linear_paths
from kernlearn.solvers.newton import LOSSES, PrimalNewton
from kernlearn.solvers.truncated_newton import TruncatedNewton
from kernlearn.solvers.weighted_gram import WeightedGram

CS = (0.01, 1.0, 100.0)


def objective(w, X, y, C, loss):
    """The objective as it is written, and its gradient."""
    t = y * (X @ w)
    if loss == "squared_hinge":
        values = np.maximum(0, 1 - t) ** 2
        slopes = np.where(t < 1, -2 * (1 - t), 0)
    else:
        values = np.logaddexp(0, -t)
        slopes = -np.exp(-np.logaddexp(0, t))
    return 0.5 * w @ w + C * values.sum(), w + C * X.T @ (y * slopes)


def reference(X, y, C, loss, start=None):
    """L-BFGS, started again until it cannot go on."""
    w = np.zeros(X.shape[1]) if start is None else start
    for _ in range(20):
        found = minimize(
            objective,
            w,
            (X, y, C, loss),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 0, "gtol": 1e-10, "maxcor": 50},
        )
        if np.array_equal(found.x, w):
            break
        w = found.x
    return w


def excess(w, X, y, C, loss):
    """Bound on the relative excess over the minimum, by strong convexity."""
    value, gradient = objective(w, X, y, C, loss)
    return 0.5 * gradient @ gradient / value


def solve(X, y, Cs, loss, tol=1e-10, max_iter=200):
    return PrimalNewton(X, LOSSES[loss], tol=tol, max_iter=max_iter).path(y, Cs)


def line_search(X, y, w, step, C, loss):
    margins, moves = y * (X @ w), y * (X @ step)
    return newton.exact_step(LOSSES[loss], C, margins, moves, w @ step, step @ step)


def problem(n_samples, n_features, seed=0, n_positive=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    score = X @ rng.standard_normal(n_features) + 2 * rng.standard_normal(n_samples)
    n_positive = n_samples // 2 if n_positive is None else n_positive
    y = np.full(n_samples, -1.0)
    y[np.argsort(-score)[:n_positive]] = 1
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_their_definitions_and_derivatives(loss):
    one = LOSSES[loss]
    for t in np.r_[np.linspace(-3, 3, 40), 1 + 1e-3, -30.0, 30.0]:
        there = np.array([t])
        expected, _ = objective(np.ones(1), there[:, None], np.ones(1), 1.0, loss)
        assert one.value(there) == pytest.approx(expected - 0.5, rel=1e-12, abs=1e-14)
        assert check_grad(one.value, one.slope, there) < 1e-5
        slope = approx_fprime(there, lambda at: one.slope(at)[0], 1e-7)
        np.testing.assert_allclose(one.curvature(there), slope, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(200, 8), (60, 60), (20, 50), (400, 1)])
def test_the_minimum_is_that_of_l_bfgs(shape, loss):
    X, y = problem(*shape)
    for C, w in zip(CS, solve(X, y, CS, loss), strict=True):
        slow = reference(X, y, C, loss)
        value, _ = objective(w, X, y, C, loss)
        assert value == pytest.approx(objective(slow, X, y, C, loss)[0], rel=1e-8)
        np.testing.assert_allclose(w, slow, atol=2e-4 * np.abs(slow).max())
        assert excess(w, X, y, C, loss) <= 1e-10


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


@settings(deadline=None, max_examples=150)
@given(
    problems(),
    st.lists(st.floats(-4, 6), min_size=1, max_size=4),
    st.sampled_from(sorted(LOSSES)),
)
def test_every_solution_of_a_path_is_certified(data, exponents, loss):
    X, y = data
    Cs = 10.0 ** np.sort(exponents)
    assume(within_rounding(X, Cs[-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        path = solve(X, y, Cs, loss, tol=1e-9)
    for C, w in zip(Cs, path, strict=True):
        # The reduced problem for wide features is another floating-point problem.
        assert excess(w, X, y, C, loss) <= 1.1e-9


@settings(deadline=None, max_examples=40)
@given(problems(), st.floats(-4, 6), st.sampled_from(sorted(LOSSES)))
def test_no_other_solver_finds_less(data, exponent, loss):
    X, y = data
    C = 10.0**exponent
    assume(within_rounding(X, C))
    w = solve(X, y, [C], loss)[0]
    slow = reference(X, y, C, loss)
    value, least = (objective(at, X, y, C, loss)[0] for at in (w, slow))
    assert value <= least * (1 + 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_is_the_solutions_one_by_one(loss):
    X, y = problem(300, 20, seed=1, n_positive=15)
    alone = [solve(X, y, [C], loss, tol=1e-14)[0] for C in CS]
    np.testing.assert_allclose(solve(X, y, CS, loss, tol=1e-14), alone, rtol=1e-5, atol=1e-7)


def test_the_squared_hinge_ends_at_the_solution_itself():
    X, y = problem(300, 20, seed=2)
    for C, w in zip(CS, solve(X, y, CS, "squared_hinge", tol=1e-20), strict=True):
        active = y * (X @ w) < 1
        normal = np.eye(20) + 2 * C * X[active].T @ X[active]
        exact = np.linalg.solve(normal, 2 * C * X[active].T @ y[active])
        np.testing.assert_allclose(w, exact, rtol=1e-9, atol=1e-12)


def test_one_row_a_class_has_its_closed_form():
    # w = (a, -a) with gradient a - 2 C (1 - a)
    for C, w in zip(CS, solve(np.eye(2), np.array([1.0, -1.0]), CS, "squared_hinge"), strict=True):
        np.testing.assert_allclose(w, np.array([1, -1]) * 2 * C / (1 + 2 * C), rtol=1e-12)


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


def test_a_step_never_ends_higher_than_it_started():
    # The slope changes by so much on the way that a thousandth of it is a long climb.
    X = np.array([[-1.0, 1, 0, -2, 2, 1, -2, 0, 1], [0, -1, 2, -1, -1, 1, 0, -1, -1]])
    y = np.array([1.0, -1.0])
    w = np.random.default_rng(1).standard_normal(9)
    step = -objective(w, X, y, 1e5, "squared_hinge")[1]
    length = line_search(X, y, w, step, 1e5, "squared_hinge")
    before, after = (objective(at, X, y, 1e5, "squared_hinge")[0] for at in (w, w + length * step))
    assert length > 0
    assert after < before


@pytest.mark.parametrize("loss", LOSSES)
def test_features_of_zeros_give_zero_weights(loss):
    path = solve(np.zeros((5, 3)), np.array([1.0, 1, -1, -1, -1]), CS, loss)
    np.testing.assert_array_equal(path, np.zeros((3, 3)))


def test_weights_of_wide_features_lie_in_the_span_of_the_rows():
    X, y = problem(10, 40, seed=3)
    w = solve(X, y, [10.0], "squared_hinge")[0]
    inside = np.linalg.lstsq(X.T, w, rcond=None)[0]
    np.testing.assert_allclose(X.T @ inside, w, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_layout_and_type_of_the_features_do_not_matter(order):
    X, y = problem(200, 8, seed=4)
    X = X.astype(np.float32)
    expected = solve(X.astype(np.float64), y, CS, "squared_hinge")
    np.testing.assert_array_equal(
        solve(np.asarray(X, order=order), y, CS, "squared_hinge"), expected
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_a_solver_stopped_short_says_what_to_do(loss):
    X, y = problem(200, 8, seed=5)
    with pytest.warns(ConvergenceWarning, match=r"in 1 steps at C=100: scale the features"):
        solve(X, y, [100.0], loss, max_iter=1)


@pytest.mark.parametrize("slack", [0.0, 0.1, 0.5])
def test_the_gram_follows_its_weights(slack, monkeypatch):
    monkeypatch.setattr(weighted_gram, "_BLOCK_ROWS", 7)
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
    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 4))
    gram = WeightedGram(X, X.T @ X, 2.0, 0.0)
    gram.lower -= 1e3 * np.eye(4)
    step = gram.newton_step(X[0], 1.0)
    np.testing.assert_allclose((np.eye(4) + 2 * X.T @ X) @ step, -X[0], atol=1e-12)


def test_a_hessian_singular_in_float64_still_gives_a_descent_step():
    X = np.ones((3, 2))
    gram = WeightedGram(X, X.T @ X, 2.0, 0.0)
    gradient = np.array([1.0, 2.0])
    step = gram.newton_step(gradient, 1e25)
    assert np.all(np.isfinite(step))
    assert gradient @ step < 0


@settings(deadline=None, max_examples=100)
@given(problems(), st.floats(-4, 6), st.sampled_from(sorted(LOSSES)), st.integers(0, 1000))
def test_the_line_search_finds_the_minimum_of_a_convex_function(data, exponent, loss, seed):
    X, y = data
    C = 10.0**exponent
    w = np.random.default_rng(seed).standard_normal(X.shape[1])
    step = -objective(w, X, y, C, loss)[1]
    length = line_search(X, y, w, step, C, loss)
    here = objective(w, X, y, C, loss)
    there = objective(w + length * step, X, y, C, loss)
    assert there[0] < here[0]
    assert abs(there[1] @ step) <= 1.01e-3 * abs(here[1] @ step)


def weak_problem(n=200, d=20, share=0.3, seed=0):
    """Features without strong correlation, so that conjugate gradients do not amplify rounding."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.3 * y[:, None] * (rng.random(d) < 0.5), y


@pytest.mark.parametrize("tol", [0.5, 0.01, 1e-4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", [(200, 20), (15, 40)])
def test_truncated_it_stops_where_liblinear_stops(shape, fit_intercept, tol):
    X, y = weak_problem(*shape)
    options = {"fit_intercept": fit_intercept, "tol": tol}
    coef, intercept = linear_path(X, y, CS, solver="truncated_newton", **options)
    expected, at = linear_path(X, y, CS, solver="liblinear", **options)
    np.testing.assert_allclose(coef, expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(intercept, at, rtol=1e-7, atol=1e-10)


def test_truncated_it_stops_early_at_the_default_tolerance_and_goes_on_with_a_smaller_one():
    X, y = weak_problem(500, 60)
    exact, _ = linear_path(X, y, [100.0])

    def excess(tol):
        found, _ = linear_path(X, y, [100.0], solver="truncated_newton", tol=tol)
        values = [
            0.5 * w @ w + 100 * (np.maximum(0, 1 - y * (X @ w)) ** 2).sum()
            for w in (found[0], exact[0])
        ]
        return values[0] / values[1] - 1

    assert excess(None) > 1e-6
    assert excess(1e-10) < 1e-12


def test_truncated_problems_on_the_same_features_are_those_solved_alone():
    X, y = weak_problem()
    together, _ = linear_paths(X, [y, -y], CS, solver="truncated_newton")
    for found, labels in zip(together, (y, -y), strict=True):
        np.testing.assert_allclose(
            found, linear_path(X, labels, CS, solver="truncated_newton")[0], rtol=1e-12
        )


def test_truncated_each_value_of_c_starts_anew():
    X, y = weak_problem()
    path = TruncatedNewton(X, tol=0.01).path(y, CS)
    for C, w in zip(CS, path, strict=True):
        # four models at a time are multiplied by a row, which rounds otherwise
        alone = TruncatedNewton(X, tol=0.01).path(y, [C])[0]
        np.testing.assert_allclose(alone, w, rtol=1e-9)


def test_a_gram_may_start_from_that_of_another_c():
    X, _ = weak_problem()
    whole, rng = X.T @ X, np.random.RandomState(0)
    first, second = (WeightedGram(X, whole, 2.0, 0.0) for _ in range(2))
    weights = 2.0 * (rng.uniform(size=len(X)) < 0.2)
    first.follow(weights)
    near = weights.copy()
    near[:3] = 2.0 - near[:3]
    updated = []
    second._add = lambda rows, amounts: updated.extend(rows.tolist())
    second.follow(near, [first])
    assert sorted(updated) == [0, 1, 2]
    del second._add
    second.follow(near, [])
    second.follow(weights, [first])
    expected = np.tril(2 * X.T[:, weights > 0] @ X[weights > 0])
    np.testing.assert_allclose(np.tril(second.lower), expected, rtol=1e-9)
    np.testing.assert_allclose(np.tril(first.lower), np.tril(second.lower), rtol=1e-12)


def test_truncated_features_of_zeros_leave_w_at_zero():
    y = np.array([1.0, -1.0, 1.0])
    np.testing.assert_array_equal(TruncatedNewton(np.zeros((3, 2)), tol=0.01).path(y, CS), 0)


def test_truncated_a_tolerance_out_of_reach_is_warned_of(monkeypatch):
    X, y = weak_problem()
    monkeypatch.setattr("kernlearn.solvers.truncated_newton._MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="after 2 steps at C=100"):
        TruncatedNewton(X, tol=1e-12).path(y, [100.0])


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_truncated_only_the_squared_hinge(loss):
    X, y = weak_problem()
    with pytest.raises(ValueError, match="needs loss='squared_hinge'"):
        linear_path(X, y, CS, solver="truncated_newton", loss=loss)


@pytest.mark.parametrize("n_steps", [1, 3, 4, 6])
def test_full_steps_are_products_and_sums(n_steps):
    X, y = weak_problem(50, 7)
    rng = np.random.default_rng(3)
    margins, moves = rng.normal(size=(8, 50)), np.full((8, 50), np.nan)
    steps, which = rng.normal(size=(n_steps, 7)), rng.permutation(8)[:n_steps]
    slopes = np.full((n_steps, 7), np.nan)
    full_steps(X, y, steps, margins, which, moves, slopes)
    for k, step in enumerate(steps):
        change = np.array([label * float(step @ x) for x, label in zip(X, y, strict=True)])
        after = margins[which[k]] + change
        slope = sum(-2 * y[i] * max(0.0, 1 - after[i]) * X[i] for i in range(50))
        np.testing.assert_allclose(moves[which[k]], change, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(slopes[k], slope, rtol=1e-11, atol=1e-11)
    assert np.isnan(np.delete(moves, which, axis=0)).all()


def test_truncated_a_step_that_is_too_long_is_cut(monkeypatch):
    # conjugate gradients that overshoot: the direction is right, the length is not
    right = truncated_newton._conjugate_gradients
    monkeypatch.setattr(truncated_newton, "_conjugate_gradients", lambda *a: 3 * right(*a))
    X, y = weak_problem()
    exact, _ = linear_path(X, y, [1.0])
    found = TruncatedNewton(X, tol=1e-6).path(y, [1.0])
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-4)
