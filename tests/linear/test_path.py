"""Paths of C, to the minimum and to where LIBLINEAR stops."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR

from kernlearn.linear import LinearSVM, models, truncated_newton
from kernlearn.linear.models import linear_paths, regression_paths
from kernlearn.linear.truncated_newton import TruncatedNewton

CS = [0.01, 1.0, 10.0, 1000.0]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 6))
Y = np.where(X @ RNG.standard_normal((6, 3)) + RNG.standard_normal((150, 3)) > 0.8, 1, -1).T
TARGETS = X @ np.arange(6.0) + RNG.standard_normal(150)
TRAINERS = [
    ("squared_hinge", "newton"),
    ("logistic", "newton"),
    ("hinge", "newton"),
    ("squared_hinge", "truncated_newton"),
]


def weak_problem(n=200, d=20, share=0.3, seed=0):
    """Features without strong correlation, so that conjugate gradients do not amplify rounding."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.3 * y[:, None] * (rng.random(d) < 0.5), y


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
def test_newton_is_what_scikit_learn_converges_to(loss, fit_intercept):
    weights = RNG.uniform(0.5, 2.0, 150)
    for given in (None, weights):
        told = {"loss": loss, "fit_intercept": fit_intercept, "weights": given, "tol": 1e-9}
        (coef,), (intercept,) = linear_paths(X, Y[:1], CS[:2], **told)
        for C, w, b in zip(CS, coef, intercept, strict=False):
            options = {"C": C, "tol": 1e-9, "fit_intercept": fit_intercept, "max_iter": 100_000}
            if loss == "logistic":
                peer = LogisticRegression(solver="liblinear", **options)
            else:
                peer = LinearSVC(loss=loss, dual=loss == "hinge", random_state=0, **options)
            peer.fit(X, Y[0], sample_weight=given)
            np.testing.assert_allclose(w, peer.coef_[0], atol=2e-4)
            assert b == pytest.approx(np.ravel(peer.intercept_)[0], abs=2e-4)


@pytest.mark.parametrize("loss", ["squared_epsilon_insensitive", "epsilon_insensitive"])
def test_regressors_are_what_scikit_learn_converges_to(loss):
    weights = RNG.uniform(0.5, 2.0, 150)
    for given in (None, weights):
        told = {"loss": loss, "fit_intercept": True, "weights": given}
        centre = np.average(TARGETS, weights=given)
        [(coef, intercept, _)] = regression_paths(X, TARGETS, CS[:2], [0.2], tol=1e-9, **told)
        for C, w, b in zip(CS, coef, intercept, strict=False):
            peer = LinearSVR(
                C=C, loss=loss, epsilon=0.2, tol=1e-9, max_iter=100_000, random_state=0
            )
            peer.fit(X, TARGETS - centre, sample_weight=given)
            np.testing.assert_allclose(w, peer.coef_, atol=2e-4)
            assert b == pytest.approx(peer.intercept_[0] + centre, abs=2e-4)


@pytest.mark.parametrize("tol", [0.5, 0.01, 1e-4])
@pytest.mark.parametrize("shape", [(200, 20), (15, 40), (15, 80)])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("weighted", "rtol"), [(False, 1e-7), (True, 1e-6)])
def test_truncated_newton_stops_where_liblinear_stops(shape, tol, fit_intercept, weighted, rtol):
    features, y = weak_problem(*shape)
    counts = np.arange(len(y)) % 3 + 1 if weighted else np.ones(len(y), dtype=int)
    (coef,), (intercept,) = linear_paths(
        features,
        [y],
        CS[:3],
        solver="truncated_newton",
        tol=tol,
        fit_intercept=fit_intercept,
        weights=counts if weighted else None,
    )
    rows = np.repeat(np.arange(len(y)), counts)
    for C, w, b in zip(CS[:3], coef, intercept, strict=True):
        official = LinearSVM(C, tol=tol, fit_intercept=fit_intercept).fit(features[rows], y[rows])
        np.testing.assert_allclose(w, official.coef_[0], rtol=rtol, atol=1e-10)
        assert b == pytest.approx(official.intercept_[0], rel=rtol, abs=1e-10)


def test_truncated_newton_stops_early_and_goes_on_with_a_smaller_tolerance():
    features, y = weak_problem(500, 60)

    def objective(w):
        return 0.5 * w @ w + 100 * (np.maximum(0, 1 - y * (features @ w)) ** 2).sum()

    def excess(tol):
        found, _ = linear_paths(features, [y], [100.0], solver="truncated_newton", tol=tol)
        return objective(found[0, 0]) / objective(exact[0, 0]) - 1

    exact, _ = linear_paths(features, [y], [100.0])
    assert excess(None) > 1e-6
    assert excess(1e-10) < 1e-12


def test_truncated_newton_trains_each_c_anew():
    features, y = weak_problem()
    together = TruncatedNewton(features, tol=0.01).path(y, CS)
    for C, w in zip(CS, together, strict=True):
        # four models at a time are multiplied by a row, which rounds otherwise
        alone = TruncatedNewton(features, tol=0.01).path(y, [C])[0]
        np.testing.assert_allclose(alone, w, rtol=1e-9)


def test_a_step_that_is_too_long_is_cut(monkeypatch):
    # conjugate gradients that overshoot: the direction is right, the length is not
    right = truncated_newton._Model.direction
    monkeypatch.setattr(truncated_newton._Model, "direction", lambda model: 3 * right(model))
    features, y = weak_problem()
    exact, _ = linear_paths(features, [y], [1.0])
    found = TruncatedNewton(features, tol=1e-6).path(y, [1.0])
    np.testing.assert_allclose(found, exact[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("loss", "solver"), TRAINERS)
def test_problems_alone_and_other_types_of_numbers(loss, solver):
    told = {"loss": loss, "solver": solver, "fit_intercept": True}
    coef, intercept = linear_paths(X, Y, CS, **told)
    assert (coef.shape, intercept.shape) == ((3, 4, 6), (3, 4))
    for y, w, b in zip(Y, coef, intercept, strict=True):
        alone, at = linear_paths(X, [y], CS, **told)
        np.testing.assert_array_equal(w, alone[0])
        np.testing.assert_array_equal(b, at[0])
    for given, dtype in ((X.astype(np.float32), np.float32), (X.round().astype(int), float)):
        found, expected = (
            linear_paths(each, Y, CS, **told) for each in (given, given.astype(float))
        )
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == dtype
            np.testing.assert_array_equal(one, other.astype(dtype))


def test_targets_within_epsilon_need_no_weights():
    [(coef, _, _)] = regression_paths(X, TARGETS, [1.0], [np.abs(TARGETS).max()])
    assert not coef.any()


def test_solvers_stopped_short_warn(monkeypatch):
    monkeypatch.setattr(models, "_MAX_STEPS", 1)
    monkeypatch.setattr(truncated_newton, "_MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="1 steps"):
        regression_paths(X, TARGETS, [100.0], [0.5])
    with pytest.warns(ConvergenceWarning, match="after 2 steps at C=100"):
        linear_paths(X, Y[:1], [100.0], solver="truncated_newton", tol=1e-12)
    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning, match="lower C"):
        linear_paths(1e100 * X, Y[:1], [1e200], loss="hinge")  # the Hessian overflows


def test_truncated_newton_is_for_the_squared_hinge():
    with pytest.raises(ValueError, match="loss='squared_hinge'"):
        linear_paths(X, Y, [1.0], solver="truncated_newton", loss="hinge")
