import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.linear_path import linear_path, linear_paths
from kernlearn.solvers.newton import TruncatedNewton

CS = [0.01, 1.0, 100.0]


def problem(n=200, d=20, share=0.3, seed=0):
    """Features without strong correlation, so that conjugate gradients do not amplify rounding."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.3 * y[:, None] * (rng.random(d) < 0.5), y


@pytest.mark.parametrize("tol", [0.5, 0.01, 1e-4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", [(200, 20), (15, 40)])
def test_it_stops_where_liblinear_stops(shape, fit_intercept, tol):
    X, y = problem(*shape)
    options = {"fit_intercept": fit_intercept, "tol": tol}
    coef, intercept = linear_path(X, y, CS, solver="truncated_newton", **options)
    expected, at = linear_path(X, y, CS, solver="liblinear", **options)
    np.testing.assert_allclose(coef, expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(intercept, at, rtol=1e-7, atol=1e-10)


def test_it_stops_early_at_the_default_tolerance_and_goes_on_with_a_smaller_one():
    X, y = problem(500, 60)
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


def test_problems_on_the_same_features_are_those_solved_alone():
    X, y = problem()
    together, _ = linear_paths(X, [y, -y], CS, solver="truncated_newton")
    for found, labels in zip(together, (y, -y), strict=True):
        np.testing.assert_allclose(
            found, linear_path(X, labels, CS, solver="truncated_newton")[0], rtol=1e-12
        )


def test_each_value_of_c_starts_anew():
    X, y = problem()
    path = TruncatedNewton(X, tol=0.01).path(y, CS)
    for C, w in zip(CS, path, strict=True):
        np.testing.assert_array_equal(TruncatedNewton(X, tol=0.01).path(y, [C])[0], w)


def test_features_of_zeros_leave_w_at_zero():
    y = np.array([1.0, -1.0, 1.0])
    np.testing.assert_array_equal(TruncatedNewton(np.zeros((3, 2)), tol=0.01).path(y, CS), 0)


def test_a_tolerance_out_of_reach_is_warned_of(monkeypatch):
    X, y = problem()
    monkeypatch.setattr("kernlearn.solvers.newton._MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="after 2 steps at C=100"):
        TruncatedNewton(X, tol=1e-12).path(y, [100.0])


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_only_the_squared_hinge(loss):
    X, y = problem()
    with pytest.raises(ValueError, match="needs loss='squared_hinge'"):
        linear_path(X, y, CS, solver="truncated_newton", loss=loss)
