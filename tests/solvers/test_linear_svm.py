import pickle
import resource
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR

from kernlearn.solvers import LinearSVM, LinearSVMRegressor
from tests.checks import parametrize_with_checks

X2, Y2 = make_classification(300, 10, n_redundant=0, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(
    300, 10, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearSVM(),
        LinearSVM(loss="hinge"),
        LinearSVM(solver="dual"),
        LinearSVM(presolve=0.5),
        LinearSVMRegressor(),
        LinearSVMRegressor(loss="epsilon_insensitive"),
        LinearSVMRegressor(solver="dual"),
        LinearSVMRegressor(presolve=0.5),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def objective(model, X, y, C=1.0, loss="squared_hinge", penalize=True, scaling=1.0):
    margins = np.maximum(
        0, 1 - np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    )
    b = model.intercept_[0] / scaling
    regulariser = 0.5 * (np.sum(model.coef_**2) + (b**2 if penalize else 0))
    return regulariser + C * np.sum(margins**2 if loss == "squared_hinge" else margins)


@pytest.mark.parametrize("data", [(X2, Y2), (X3, Y3)])
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_hinge_is_scikit_learns(data, C, fit_intercept):
    model = LinearSVM(C=C, tol=1e-7, fit_intercept=fit_intercept).fit(*data)
    peer = LinearSVC(C=C, tol=1e-9, dual=False, fit_intercept=fit_intercept).fit(*data)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(model.predict(data[0]), peer.predict(data[0]))


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_dual_solvers_are_scikit_learns(loss):
    C = 0.01
    model = LinearSVM(C, loss=loss, solver="dual", tol=1e-5, random_state=0).fit(X2, Y2)
    peer = LinearSVC(C=C, loss=loss, tol=1e-8, max_iter=100_000, random_state=0).fit(X2, Y2)
    expected = objective(peer, X2, Y2, C, loss)
    assert objective(model, X2, Y2, C, loss) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(
    ("penalize", "scaling", "weight"), [(True, 1.0, 1.0), (True, 5.0, 3.0), (False, 1.0, 1.0)]
)
def test_the_primal_objective_is_at_its_optimum(penalize, scaling, weight):
    y, C = 2 * Y2 - 1, 0.5
    costs = C * np.where(y > 0, weight, 1.0)

    def value(w):
        slack = np.maximum(0, 1 - y * (X2 @ w[:-1] + w[-1] * scaling))
        kept = w if penalize else w[:-1]
        gradient = -2 * (costs * y * slack) @ np.column_stack([X2, np.full(len(y), scaling)])
        gradient[: len(kept)] += kept
        return 0.5 * kept @ kept + costs @ slack**2, gradient

    best = minimize(value, np.zeros(11), jac=True, method="L-BFGS-B", options={"ftol": 1e-15})
    model = LinearSVM(
        C,
        tol=1e-7,
        penalize_intercept=penalize,
        intercept_scaling=scaling,
        class_weight={1: weight},
    ).fit(X2, Y2)
    found = np.append(model.coef_, model.intercept_ / scaling)
    assert value(found)[0] == pytest.approx(best.fun, rel=1e-7)


def gradient_ratio(model, X, y):
    """What LIBLINEAR's stopping rule compares with tol (loss squared, C = 1)."""
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))])

    def gradient(w):
        return w - 2 * Z.T @ (signs * np.maximum(0, 1 - signs * (Z @ w)))

    w = np.append(model.coef_, model.intercept_)
    share = min(np.mean(signs > 0), np.mean(signs < 0))
    return np.linalg.norm(gradient(w)) / np.linalg.norm(gradient(0 * w)) / share


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
@pytest.mark.parametrize("presolve", [None, 0.1, 0.5])
def test_presolve_ends_at_the_same_tolerance(tol, presolve):
    X, y = make_classification(3000, 30, n_informative=10, flip_y=0.05, random_state=2)
    model = LinearSVM(tol=tol, presolve=presolve).fit(X, y)
    assert gradient_ratio(model, X, y) <= tol * (1 + 1e-6)


def test_presolve_of_many_classes_gives_the_same_model():
    cold = LinearSVM(tol=1e-8).fit(X3, Y3)
    warm = LinearSVM(tol=1e-8, presolve=0.3).fit(X3, Y3)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "labels", [np.array(["no", "yes"]), np.array([7, -3]), np.array([True, False])]
)
def test_any_labels_and_scikit_learns_sign(labels):
    y = labels[Y2]
    model, peer = LinearSVM(tol=1e-6).fit(X2, y), LinearSVC(dual=False).fit(X2, y)
    assert model.predict(X2).dtype == y.dtype
    np.testing.assert_array_equal(model.classes_, peer.classes_)
    assert np.corrcoef(model.coef_[0], peer.coef_[0])[0, 1] > 0.99
    positive = model.decision_function(X2) > 0
    np.testing.assert_array_equal(model.predict(X2) == model.classes_[1], positive)


@pytest.mark.parametrize("data", [(X2, Y2), (X3, Y3)])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_the_label_of_the_first_row_does_not_matter(data, solver):
    X, y = data
    order = np.argsort(-y, kind="stable")
    told = {"solver": solver, "random_state": 0, "C": 0.01}
    found = LinearSVM(**told).fit(X, y)
    again = LinearSVM(**told).fit(X[order], y[order])
    np.testing.assert_array_equal(again.coef_, found.coef_)


def test_float32_stays_float32():
    model = LinearSVM(tol=1e-6).fit(X2.astype(np.float32), Y2)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.decision_function(X2.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, LinearSVM(tol=1e-6).fit(X2, Y2).coef_, rtol=1e-3)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_rows_give_the_same_model(make):
    thin = X2 * (np.abs(X2) > 1)
    model, dense = LinearSVM(tol=1e-8).fit(make(thin), Y2), LinearSVM(tol=1e-8).fit(thin, Y2)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(make(thin)), dense.predict(thin))


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_fits_repeat_themselves(solver):
    model = LinearSVM(solver=solver, random_state=3, C=0.01)
    first, second = clone(model).fit(X2, Y2), clone(model).fit(X2, Y2)
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_the_seed_of_the_dual_solver_matters():
    first, second = (
        LinearSVM(solver="dual", random_state=seed, C=0.01).fit(X2, Y2) for seed in (0, 1)
    )
    assert not np.array_equal(first.coef_, second.coef_)


def test_nothing_is_printed(capfd):
    for solver in ("primal", "dual"):
        LinearSVM(solver=solver, random_state=0, C=0.01).fit(X3, Y3).predict(X3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("loss", "advice"), [("hinge", "squared loss"), ("squared_hinge", "choose solver='primal'")]
)
def test_non_convergence_warns(loss, advice, capfd):
    model = LinearSVM(1e4, loss=loss, solver="dual", tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match=f"300 iterations.*{advice}"):
        model.fit(100 * X2, Y2)
    assert capfd.readouterr() == ("", "")


def test_convergence_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVM().fit(X2, Y2)
        LinearSVM(solver="dual", C=0.01, random_state=0).fit(X2, Y2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge", "solver": "primal"}, "solver='primal' needs a squared loss"),
        ({"solver": "dual", "penalize_intercept": False}, "penalize_intercept=False needs the"),
        (
            {"penalize_intercept": False, "intercept_scaling": 2.0},
            r"intercept_scaling=1, but intercept_scaling=2\.0",
        ),
        ({"loss": "hinge", "presolve": 0.1}, r"presolve=0\.1 needs the primal solver"),
        ({"presolve": 1.0}, "'presolve' parameter of LinearSVM"),
        ({"C": 0}, "'C' parameter of LinearSVM"),
        ({"tol": 0.0}, "'tol' parameter of LinearSVM"),
    ],
)
def test_parameters_that_do_not_go_together(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM(**parameters).fit(X2, Y2)


def test_a_free_intercept_is_no_matter_without_intercept():
    model = LinearSVM(solver="dual", fit_intercept=False, penalize_intercept=False)
    assert model.fit(X2, Y2).intercept_ == 0


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class: 5"):
        LinearSVM().fit(X2, np.full(300, 5))


def test_a_pickled_model_predicts():
    model = LinearSVM().fit(X3, Y3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X3), model.decision_function(X3))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_memory_of_many_fits_is_given_back():
    def resident_bytes():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    wide = np.random.default_rng(0).standard_normal((20, 5000))
    model = LinearSVM()
    for _ in range(30):
        model.fit(wide, Y2[:20])
    before = resident_bytes()
    for _ in range(200):
        model.fit(wide, Y2[:20])
    # The weights of each fit, left behind, would add up to 8 MB.
    assert resident_bytes() - before < 2_000_000


XR, YR = make_regression(200, 8, noise=5.0, random_state=0)
YR = YR / 50 + 1


def regression_objective(w, b, epsilon, C, squared):
    error = np.maximum(0, np.abs(YR - XR @ w - b) - epsilon)
    return 0.5 * (w @ w + b * b) + C * np.sum(error**2 if squared else error)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_squared_loss_is_at_its_optimum_of_regression(epsilon, solver):
    model = LinearSVMRegressor(0.1, epsilon=epsilon, solver=solver, tol=1e-6, random_state=0)
    model.fit(XR, YR)
    best = minimize(lambda w: regression_objective(w[:-1], w[-1], epsilon, 0.1, True), np.zeros(9))
    found = regression_objective(model.coef_, model.intercept_, epsilon, 0.1, True)
    assert found == pytest.approx(best.fun, rel=1e-6)


def test_plain_loss_is_scikit_learns_of_regression():
    C, epsilon = 0.05, 0.1
    model = LinearSVMRegressor(
        C, loss="epsilon_insensitive", epsilon=epsilon, tol=1e-4, random_state=0
    ).fit(XR, YR)
    peer = LinearSVR(C=C, epsilon=epsilon, tol=1e-8, max_iter=100_000, random_state=0).fit(XR, YR)
    expected = regression_objective(peer.coef_, float(peer.intercept_[0]), epsilon, C, False)
    found = regression_objective(model.coef_, model.intercept_, epsilon, C, False)
    assert found == pytest.approx(expected, rel=1e-4)


def test_presolve_and_a_free_intercept_of_regression():
    told = {"C": 10.0, "tol": 1e-8, "penalize_intercept": False}
    cold = LinearSVMRegressor(**told).fit(XR, YR + 100)
    warm = LinearSVMRegressor(**told, presolve=0.2).fit(XR, YR + 100)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5)
    near = LinearSVMRegressor(C=10.0, tol=1e-8).fit(XR, YR)
    assert cold.intercept_ - 100 == pytest.approx(near.intercept_, abs=0.01)


def test_shapes_and_types_of_regression():
    model = LinearSVMRegressor().fit(XR.astype(np.float32), YR)
    assert model.coef_.shape == (8,)
    assert np.ndim(model.intercept_) == 0
    assert model.predict(XR.astype(np.float32)).dtype == np.float32
    assert model.predict(XR).shape == (200,)


def test_sparse_rows_give_the_same_model_of_regression():
    sparse = LinearSVMRegressor(tol=1e-8).fit(sp.csr_array(XR), YR)
    dense = LinearSVMRegressor(tol=1e-8).fit(XR, YR)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6)


def test_fits_repeat_themselves_in_silence_of_regression(capfd):
    first, second = (
        LinearSVMRegressor(0.01, loss="epsilon_insensitive", random_state=1).fit(XR, YR)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert capfd.readouterr() == ("", "")


def test_non_convergence_warns_of_regression():
    model = LinearSVMRegressor(1e5, loss="epsilon_insensitive", tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="300 iterations"):
        model.fit(XR, YR)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "epsilon_insensitive", "solver": "primal"}, "needs a squared loss"),
        ({"epsilon": -1.0}, "'epsilon' parameter of LinearSVMRegressor"),
    ],
)
def test_parameters_that_are_not_allowed_of_regression(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVMRegressor(**parameters).fit(XR, YR)
