"""Newton's method for the squared ε-insensitive loss, against LIBLINEAR and a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers import LinearSVMRegressor
from kernlearn.solvers.linear_path import regression_path

CS = (100.0, 0.01, 1.0)


def objective(w, X, y, C, epsilon):
    """The objective as it is written, and its gradient."""
    error = X @ w - y
    excess = np.maximum(0, np.abs(error) - epsilon)
    value = 0.5 * w @ w + C * np.sum(excess**2)
    return value, w + 2 * C * X.T @ (excess * np.sign(error))


def problem(n_samples=80, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    return X, X @ rng.standard_normal(n_features) + rng.standard_normal(n_samples) + 2


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("shape", [(80, 5), (6, 20)])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_minimum_of_the_objective(epsilon, shape, fit_intercept):
    X, y = problem(*shape)
    coef, intercept = regression_path(X, y, CS, epsilon=epsilon, fit_intercept=fit_intercept)
    rows = np.column_stack((X, np.ones(len(X)))) if fit_intercept else X
    for C, w, b in zip(CS, coef, intercept, strict=True):
        start = np.zeros(rows.shape[1])
        found = minimize(
            objective, start, (rows, y, C, epsilon), jac=True, method="L-BFGS-B",
            options={"ftol": 0, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 50_000},
        )  # fmt: skip
        weights = np.append(w, b) if fit_intercept else w
        assert objective(weights, rows, y, C, epsilon)[0] <= found.fun * (1 + 1e-8)
        np.testing.assert_allclose(weights, found.x, atol=1e-4)
    if not fit_intercept:
        np.testing.assert_array_equal(intercept, 0)


@given(
    seed=st.integers(0, 10_000), n_samples=st.integers(1, 30), n_features=st.integers(1, 12),
    epsilon=st.sampled_from([0.0, 1e-3, 0.3]), C=st.sampled_from([1e-3, 1.0, 1e4]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_gradient_vanishes(seed, n_samples, n_features, epsilon, C):
    X, y = problem(n_samples, n_features, seed)
    ((w,), _) = regression_path(X, y, [C], epsilon=epsilon)
    value, gradient = objective(w, X, y, C, epsilon)
    # strong convexity bounds the excess over the minimum
    assert 0.5 * gradient @ gradient <= 1e-8 * max(value, 1e-12)


def test_liblinear_at_a_small_tolerance():
    X, y = problem()
    model = LinearSVMRegressor(10, epsilon=0.2, tol=1e-8).fit(X, y)
    ((w,), (b,)) = regression_path(X, y, [10], epsilon=0.2, fit_intercept=True)
    np.testing.assert_allclose(w, model.coef_, rtol=1e-4)
    assert b == pytest.approx(model.intercept_, rel=1e-4)


def test_values_of_c_keep_their_order_and_float32_stays():
    X, y = problem()
    coef, intercept = regression_path(X.astype(np.float32), y, CS)
    assert (coef.dtype, intercept.dtype) == (np.float32, np.float32)
    for C, w in zip(CS, coef, strict=True):
        np.testing.assert_allclose(w, regression_path(X, y, [C])[0][0], rtol=1e-4)


def test_targets_within_epsilon_need_no_weights():
    X, y = problem()
    assert not regression_path(X, y, [1.0], epsilon=np.abs(y).max())[0].any()


def test_newton_stopped_short_warns(monkeypatch):
    monkeypatch.setattr("kernlearn.solvers.linear_path.MAX_STEPS", 1)
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps"):
        regression_path(X, y, [100.0], epsilon=0.5)


@pytest.mark.parametrize("Cs", [[], [0.0], [-1], [np.inf], [[1.0]]])
def test_c_must_be_positive(Cs):
    X, y = problem()
    with pytest.raises(ValueError, match="Cs must hold"):
        regression_path(X, y, Cs)


def test_targets_must_match():
    X, y = problem()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        regression_path(X, y[:-1], [1.0])
