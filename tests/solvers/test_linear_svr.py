import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernlearn.solvers import LinearSVMRegressor

X, y = make_regression(200, 8, noise=5.0, random_state=0)
y = y / 50 + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearSVMRegressor(),
        LinearSVMRegressor(loss="epsilon_insensitive"),
        LinearSVMRegressor(solver="dual"),
        LinearSVMRegressor(presolve=0.5),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def objective(w, b, epsilon, C, squared):
    error = np.maximum(0, np.abs(y - X @ w - b) - epsilon)
    return 0.5 * (w @ w + b * b) + C * np.sum(error**2 if squared else error)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_squared_loss_is_at_its_optimum(epsilon, solver):
    model = LinearSVMRegressor(0.1, epsilon=epsilon, solver=solver, tol=1e-6, random_state=0)
    model.fit(X, y)
    best = minimize(lambda w: objective(w[:-1], w[-1], epsilon, 0.1, True), np.zeros(9))
    found = objective(model.coef_, model.intercept_, epsilon, 0.1, True)
    assert found == pytest.approx(best.fun, rel=1e-6)


def test_plain_loss_is_scikit_learns():
    C, epsilon = 0.05, 0.1
    model = LinearSVMRegressor(
        C, loss="epsilon_insensitive", epsilon=epsilon, tol=1e-4, random_state=0
    ).fit(X, y)
    peer = LinearSVR(C=C, epsilon=epsilon, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    expected = objective(peer.coef_, float(peer.intercept_[0]), epsilon, C, False)
    found = objective(model.coef_, model.intercept_, epsilon, C, False)
    assert found == pytest.approx(expected, rel=1e-4)


def test_presolve_and_a_free_intercept():
    told = {"C": 10.0, "tol": 1e-8, "penalize_intercept": False}
    cold = LinearSVMRegressor(**told).fit(X, y + 100)
    warm = LinearSVMRegressor(**told, presolve=0.2).fit(X, y + 100)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5)
    near = LinearSVMRegressor(C=10.0, tol=1e-8).fit(X, y)
    assert cold.intercept_ - 100 == pytest.approx(near.intercept_, abs=0.01)


def test_shapes_and_types():
    model = LinearSVMRegressor().fit(X.astype(np.float32), y)
    assert model.coef_.shape == (8,)
    assert np.ndim(model.intercept_) == 0
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert model.predict(X).shape == (200,)


def test_sparse_rows_give_the_same_model():
    sparse = LinearSVMRegressor(tol=1e-8).fit(sp.csr_array(X), y)
    dense = LinearSVMRegressor(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6)


def test_fits_repeat_themselves_in_silence(capfd):
    first, second = (
        LinearSVMRegressor(0.01, loss="epsilon_insensitive", random_state=1).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert capfd.readouterr() == ("", "")


def test_non_convergence_warns():
    model = LinearSVMRegressor(1e5, loss="epsilon_insensitive", tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="300 iterations"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "epsilon_insensitive", "solver": "primal"}, "needs a squared loss"),
        ({"epsilon": -1.0}, "'epsilon' parameter of LinearSVMRegressor"),
    ],
)
def test_parameters_that_are_not_allowed(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVMRegressor(**parameters).fit(X, y)
