"""Paths of C, by the Newton solver and by LIBLINEAR."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from liblinear import liblinearutil
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers import LinearSVM, LinearSVMRegressor, liblinear
from kernlearn.solvers.linear_path import linear_path, linear_paths, regression_path

CS = [0.01, 1.0, 10.0, 1000.0]
rng = np.random.default_rng(0)
X = rng.standard_normal((150, 6))
Y = np.where(X @ rng.standard_normal((6, 3)) + rng.standard_normal((150, 3)) > 0.8, 1, -1).T
WIDE = rng.standard_normal((20, 60))
WIDE_Y = np.where(np.arange(20) < 4, 1, -1)
NUMBERS = {"squared_hinge": 2, "logistic": 0, "hinge": 3}
TRAINERS = [
    ("squared_hinge", "newton"),
    ("logistic", "newton"),
    ("squared_hinge", "liblinear"),
    ("logistic", "liblinear"),
    ("hinge", "liblinear"),
]
dual_stops_short = pytest.mark.filterwarnings(
    "ignore:the dual solver did not converge:sklearn.exceptions.ConvergenceWarning"
)


def official(features, y, C, loss, tol, bias=-1):
    """Weights of LIBLINEAR through its own bindings; the first row is made positive."""
    order = np.argsort(-y, kind="stable")
    told = f"-s {NUMBERS[loss]} -c {C!r} -e {tol!r} -B {bias} -q"
    model = liblinearutil.train(y[order].astype(float), features[order], told)
    weights, b = model.get_decfun()
    return np.array(weights), b


def objective(w, b, features, y, C, loss):
    margins = y * (features @ w + b)
    one = {
        "squared_hinge": lambda t: np.maximum(0, 1 - t) ** 2,
        "logistic": lambda t: np.logaddexp(0, -t),
        "hinge": lambda t: np.maximum(0, 1 - t),
    }[loss]
    return 0.5 * (w @ w + b * b) + C * one(margins).sum()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize(("features", "y"), [(X, Y[0]), (WIDE, WIDE_Y)], ids=["tall", "wide"])
def test_newton_is_what_liblinear_converges_to(features, y, loss, fit_intercept):
    coef, intercept = linear_path(features, y, CS, loss=loss, fit_intercept=fit_intercept)
    for C, w, b in zip(CS, coef, intercept, strict=True):
        # LIBLINEAR's tolerance is relative to a gradient that grows with C.
        tol = 1e-8 / max(1, C)
        exact_w, exact_b = official(features, y, C, loss, tol, 1 if fit_intercept else -1)
        value = objective(w, b, features, y, C, loss)
        assert value == pytest.approx(objective(exact_w, exact_b, features, y, C, loss), rel=1e-8)
        scale = np.abs(exact_w).max()
        np.testing.assert_allclose(w, exact_w, atol=1e-4 * scale)
        assert b == pytest.approx(exact_b, abs=1e-4 * scale)


@pytest.mark.parametrize("fit_intercept", [False, True])
@dual_stops_short
@pytest.mark.parametrize("loss", NUMBERS)
def test_liblinear_is_the_official_one(loss, fit_intercept):
    told = {"loss": loss, "solver": "liblinear", "fit_intercept": fit_intercept}
    tol = 0.1 if loss == "hinge" else 0.01
    coef, intercept = linear_path(X, Y[0], CS, **told, seed=1)  # C's rand starts as srand(1)
    for C, w, b in zip(CS, coef, intercept, strict=True):
        if loss == "hinge":
            liblinear.official().library.srand(1)
        exact_w, exact_b = official(X, Y[0], C, loss, tol, 1 if fit_intercept else -1)
        np.testing.assert_allclose(w, exact_w, rtol=1e-12, atol=1e-14)
        assert b == pytest.approx(exact_b, rel=1e-12)


@dual_stops_short
@pytest.mark.parametrize(("loss", "solver"), TRAINERS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_several_problems_are_each_of_them(loss, solver, fit_intercept):
    told = {"loss": loss, "solver": solver, "fit_intercept": fit_intercept}
    coef, intercept = linear_paths(X, Y, CS, **told)
    assert coef.shape == (3, 4, 6)
    assert intercept.shape == (3, 4)
    for y, w, b in zip(Y, coef, intercept, strict=True):
        alone_w, alone_b = linear_path(X, y, CS, **told)
        np.testing.assert_array_equal(w, alone_w)
        np.testing.assert_array_equal(b, alone_b)
    assert bool(intercept.any()) is fit_intercept


@dual_stops_short
@pytest.mark.parametrize(("loss", "solver"), TRAINERS)
def test_values_of_c_come_back_in_their_order(loss, solver):
    shuffled = [10.0, 0.01, 1000.0, 1.0, 10.0]
    coef, intercept = linear_path(X, Y[1], shuffled, loss=loss, solver=solver, fit_intercept=True)
    sorted_coef, sorted_intercept = linear_path(
        X, Y[1], sorted(shuffled), loss=loss, solver=solver, fit_intercept=True
    )
    places = [2, 0, 4, 1, 3]
    np.testing.assert_array_equal(coef, sorted_coef[places])
    np.testing.assert_array_equal(intercept, sorted_intercept[places])


@pytest.mark.parametrize(("loss", "solver"), TRAINERS)
def test_other_signs_turn_the_weights(loss, solver):
    # LIBLINEAR's dual solver goes through the rows in another order: a tight tolerance.
    tol = {"newton": 1e-14, "liblinear": 1e-6}[solver]
    told = {"loss": loss, "solver": solver, "tol": tol, "fit_intercept": True}
    coef, intercept = linear_path(X, Y[0], [0.01, 1.0], **told)
    turned, turned_intercept = linear_path(X, -Y[0], [0.01, 1.0], **told)
    np.testing.assert_allclose(turned, -coef, atol=1e-4)
    np.testing.assert_allclose(turned_intercept, -intercept, atol=1e-4)


@dual_stops_short
@pytest.mark.parametrize(("loss", "solver"), TRAINERS)
def test_float32_gives_the_same_in_float32(loss, solver):
    single = X.astype(np.float32)
    told = {"loss": loss, "solver": solver, "fit_intercept": True}
    found = linear_path(single, Y[0], CS, **told)
    exact = linear_path(single.astype(np.float64), Y[0], CS, **told)
    for one, other in zip(found, exact, strict=True):
        assert one.dtype == np.float32
        assert other.dtype == np.float64
        np.testing.assert_array_equal(one, other.astype(np.float32))


def test_the_estimator_agrees_at_every_c():
    coef, intercept = linear_path(X, Y[2], CS, fit_intercept=True)
    for C, w, b in zip(CS, coef, intercept, strict=True):
        model = LinearSVM(C=C, tol=1e-8).fit(X, Y[2])
        np.testing.assert_allclose(w, model.coef_[0], atol=1e-5)
        assert b == pytest.approx(model.intercept_[0], abs=1e-5)


@dual_stops_short
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
def test_auto_is_newton_where_it_exists(loss):
    expected = "liblinear" if loss == "hinge" else "newton"
    found = linear_path(X, Y[0], CS, loss=loss, solver="auto")
    exact = linear_path(X, Y[0], CS, loss=loss, solver=expected)
    np.testing.assert_array_equal(found[0], exact[0])


def test_the_seed_decides_the_order_of_rows():
    told = {"loss": "hinge", "solver": "liblinear"}
    one, again, other = (linear_path(X, Y[0], [1.0], **told, seed=s)[0] for s in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_loose_tolerance_stops_sooner_and_holds_its_promise():
    exact, _ = linear_path(X, Y[0], CS)
    loose, _ = linear_path(X, Y[0], CS, tol=0.1)
    assert not np.allclose(loose, exact)
    for C, w, best in zip(CS, loose, exact, strict=True):
        least = objective(best, 0, X, Y[0], C, "squared_hinge")
        assert objective(w, 0, X, Y[0], C, "squared_hinge") <= 1.1 * least


def test_newton_stopped_short_warns(monkeypatch):
    monkeypatch.setattr("kernlearn.solvers.linear_path._MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="lower C or raise tol"):
        linear_path(X, Y[0], [1000.0])


def test_liblinear_stopped_short_warns(monkeypatch):
    said = "reaching max number of iterations"
    monkeypatch.setattr(liblinear, "_train", lambda *told: (np.zeros((1, 6)), said))
    with pytest.warns(ConvergenceWarning, match="did not converge in 300 iterations"):
        linear_path(X, Y[0], [1.0], loss="hinge", solver="liblinear")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            {"loss": "huber"},
            "needs loss='squared_hinge' or 'logistic', but loss='huber'",
        ),
        (
            {"solver": "sag"},
            r"solver='sag' .* \['auto', 'liblinear', 'newton', 'truncated_newton'\]",
        ),
        ({"loss": "hinge"}, "solver='newton' needs .* use solver='liblinear'"),
        ({"tol": 0}, "tol=0 must be a positive number"),
        ({"tol": np.nan}, "tol=nan must be a positive number"),
        ({"Cs": []}, "Cs must hold one or more positive finite numbers"),
        ({"Cs": [1.0, 0.0]}, "Cs must hold"),
        ({"Cs": [np.inf]}, "Cs must hold"),
        ({"Cs": 1.0}, "Cs must hold"),
        ({"y": Y[0][:-1]}, r"inconsistent numbers of samples: \[150, 149\]"),
        ({"y": Y}, r"y should be a 1d array, got an array of shape \(3, 150\)"),
        ({"y": (Y[0] > 0).astype(int)}, r"labels must be -1 or \+1"),
        ({"y": np.ones(150)}, "both must occur"),
        ({"y": -np.ones(150)}, "both must occur"),
        ({"features": np.full((150, 6), np.nan)}, "features contains NaN"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_input_is_refused(change, match):
    told = {"features": X, "y": Y[0], "Cs": CS, **change}
    with pytest.raises(ValueError, match=match):
        linear_path(told.pop("features"), told.pop("y"), told.pop("Cs"), **told)


REG_CS = (100.0, 0.01, 1.0)


def regression_objective(w, X, y, C, epsilon):
    """The regression_objective as it is written, and its gradient."""
    error = X @ w - y
    excess = np.maximum(0, np.abs(error) - epsilon)
    value = 0.5 * w @ w + C * np.sum(excess**2)
    return value, w + 2 * C * X.T @ (excess * np.sign(error))


def regression_problem(n_samples=80, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    return X, X @ rng.standard_normal(n_features) + rng.standard_normal(n_samples) + 2


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("shape", [(80, 5), (6, 20)])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_minimum_of_the_objective_of_regression(epsilon, shape, fit_intercept):
    X, y = regression_problem(*shape)
    coef, intercept = regression_path(X, y, REG_CS, epsilon=epsilon, fit_intercept=fit_intercept)
    rows = np.column_stack((X, np.ones(len(X)))) if fit_intercept else X
    for C, w, b in zip(REG_CS, coef, intercept, strict=True):
        start = np.zeros(rows.shape[1])
        found = minimize(
            regression_objective,
            start,
            (rows, y, C, epsilon),
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 0, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 50_000},
        )
        weights = np.append(w, b) if fit_intercept else w
        assert regression_objective(weights, rows, y, C, epsilon)[0] <= found.fun * (1 + 1e-8)
        np.testing.assert_allclose(weights, found.x, atol=1e-4)
    if not fit_intercept:
        np.testing.assert_array_equal(intercept, 0)


@given(
    seed=st.integers(0, 10_000),
    n_samples=st.integers(1, 30),
    n_features=st.integers(1, 12),
    epsilon=st.sampled_from([0.0, 1e-3, 0.3]),
    C=st.sampled_from([1e-3, 1.0, 1e4]),
)
@settings(max_examples=60, deadline=None)
def test_gradient_vanishes_of_regression(seed, n_samples, n_features, epsilon, C):
    X, y = regression_problem(n_samples, n_features, seed)
    ((w,), _) = regression_path(X, y, [C], epsilon=epsilon)
    value, gradient = regression_objective(w, X, y, C, epsilon)
    # strong convexity bounds the excess over the minimum
    assert 0.5 * gradient @ gradient <= 1e-8 * max(value, 1e-12)


def test_liblinear_at_a_small_tolerance_of_regression():
    X, y = regression_problem()
    model = LinearSVMRegressor(10, epsilon=0.2, tol=1e-8).fit(X, y)
    ((w,), (b,)) = regression_path(X, y, [10], epsilon=0.2, fit_intercept=True)
    np.testing.assert_allclose(w, model.coef_, rtol=1e-4)
    assert b == pytest.approx(model.intercept_, rel=1e-4)


def test_values_of_c_keep_their_order_and_float32_stays_of_regression():
    X, y = regression_problem()
    coef, intercept = regression_path(X.astype(np.float32), y, REG_CS)
    assert (coef.dtype, intercept.dtype) == (np.float32, np.float32)
    for C, w in zip(REG_CS, coef, strict=True):
        np.testing.assert_allclose(w, regression_path(X, y, [C])[0][0], rtol=1e-4)


def test_targets_within_epsilon_need_no_weights_of_regression():
    X, y = regression_problem()
    assert not regression_path(X, y, [1.0], epsilon=np.abs(y).max())[0].any()


def test_newton_stopped_short_warns_of_regression(monkeypatch):
    monkeypatch.setattr("kernlearn.solvers.linear_path._MAX_STEPS", 1)
    X, y = regression_problem()
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps"):
        regression_path(X, y, [100.0], epsilon=0.5)


@pytest.mark.parametrize("Cs", [[], [0.0], [-1], [np.inf], [[1.0]]])
def test_c_must_be_positive_of_regression(Cs):
    X, y = regression_problem()
    with pytest.raises(ValueError, match="Cs must hold"):
        regression_path(X, y, Cs)


def test_targets_must_match_of_regression():
    X, y = regression_problem()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        regression_path(X, y[:-1], [1.0])
