import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.svm import SVC

from kernlearn.svm import KernelSVM, solvers
from kernlearn.svm.solvers import DualSolution, solve_by_working_sets, solve_dual

X2, Y2 = make_classification(150, 6, n_informative=4, flip_y=0.15, random_state=0)


@pytest.fixture
def without_smo(monkeypatch):
    monkeypatch.setattr(solvers, "_SMO_ITERATIONS", 1)


def make_problem(seed, n=24, C=10.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return polynomial_kernel(X, degree=2), y, C * rng.uniform(0.5, 2, size=n)


def slow_maximum(gram, y, C):
    """The dual problem by a general-purpose solver."""
    Q = gram * np.outer(y, y)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        0.1 * np.minimum(C, 1),
        jac=lambda a: Q @ a - 1,
        method="SLSQP",
        bounds=[(0, c) for c in C],
        options={"maxiter": 2000, "ftol": 1e-13},
        constraints={"type": "eq", "fun": lambda a: y @ a, "jac": lambda _: y},
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_solves_the_dual_problem(seed, C):
    gram, y, C = make_problem(seed, C=C)
    found = solve_dual(gram, y, C)
    assert found.alpha.min() >= 0
    assert np.all(found.alpha <= C)
    assert y @ found.alpha == pytest.approx(0, abs=1e-6 * found.alpha.sum())
    margins = y * (gram @ (y * found.alpha) + found.intercept)
    dual = found.alpha.sum() - 0.5 * found.alpha @ (margins - y * found.intercept)
    assert dual == pytest.approx(slow_maximum(gram, y, C), rel=1e-5)
    primal = 0.5 * found.alpha @ (margins - y * found.intercept)
    primal += C @ np.maximum(0, 1 - margins)
    assert primal == pytest.approx(dual, rel=1e-6)
    # optimality conditions, as LIBSVM tests them
    assert np.all(margins[found.alpha < 1e-6 * C] > 1 - 1e-3)
    assert np.all(margins[found.alpha > (1 - 1e-6) * C] < 1 + 1e-3)


@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("C", [10.0, 1e4])
@pytest.mark.parametrize("from_two_rows", [False, True])
def test_working_sets_end_at_the_solution_for_all_rows(monkeypatch, degree, C, from_two_rows):
    gram, y = polynomial_kernel(X2, degree=degree, gamma=1 / 6), np.where(Y2 == 1, 1.0, -1.0)
    C = np.full(len(y), C)
    if from_two_rows:
        guess = DualSolution(np.zeros(len(y)), 0.0, 0.0)
        guess.alpha[[y.argmax(), y.argmin()]] = 1.0
    else:
        guess = solve_dual(gram, y, C / 10)
    sizes = []
    monkeypatch.setattr(
        solvers, "solve_dual", lambda *data: sizes.append(len(data[1])) or solve_dual(*data)
    )
    found, whole = solve_by_working_sets(gram, y, C, guess), solve_dual(gram, y, C)
    assert sizes[0] < len(y)
    assert np.all(found.alpha <= C)
    margins = [y * (gram @ (y * one.alpha) + one.intercept) for one in (found, whole)]
    np.testing.assert_allclose(*margins, atol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "precomputed"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_gives_libsvms_model(without_smo, kernel, class_weight):
    X, y = X2, Y2
    if kernel == "precomputed":
        X = polynomial_kernel(X, degree=2)
    parameters = {"kernel": kernel, "C": 2.0, "class_weight": class_weight}
    parameters |= {"coef0": 1.0} if kernel == "poly" else {}
    expected = KernelSVM(tol=1e-6, **parameters).fit(X, y)
    found = KernelSVM(solver="interior_point", **parameters).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), atol=2e-3
    )
    np.testing.assert_allclose(found.n_support_, expected.n_support_, atol=3)


def test_easy_problems_are_solved_by_smo(monkeypatch):
    X, y = X2, Y2
    expected = KernelSVM().fit(X, y)
    monkeypatch.delattr(solvers, "solve_dual")
    found = KernelSVM(solver="interior_point").fit(X, y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, atol=0.02)


def primal(model, gram, y, C):
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    losses = np.maximum(0, 1 - y * (gram @ alpha + model.intercept_[0]))
    return 0.5 * alpha @ gram @ alpha + C * losses.sum()


@pytest.mark.parametrize("C", [1e4, 1e7])
def test_converges_where_smo_takes_millions_of_iterations(C):
    gram = polynomial_kernel(X2, degree=3, gamma=1, coef0=1)
    y = np.where(Y2 == 1, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = KernelSVM("precomputed", C=C, solver="interior_point").fit(gram, y)
    with pytest.warns(ConvergenceWarning):
        stopped = SVC(kernel="precomputed", C=C, max_iter=200_000).fit(gram, y)
    assert solve_dual(gram, y, np.full(len(y), C)).gap < 1e-4
    assert primal(found, gram, y, C) < 0.99 * primal(stopped, gram, y, C)
    assert len(found.support_) < len(y)


def test_says_when_it_does_not_converge(without_smo):
    rng = np.random.default_rng(0)
    gram = rng.normal(size=(40, 40))
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        KernelSVM("precomputed", C=1e3, solver="interior_point").fit(
            gram + gram.T, rng.integers(0, 2, 40)
        )


@pytest.mark.parametrize("most", [1, 50_000])
def test_values_beyond_single_precision(most, monkeypatch):
    monkeypatch.setattr(solvers, "_SMO_ITERATIONS", most)
    gram, y, _ = make_problem(0, n=60)
    model, size = KernelSVM("precomputed", C=1.0, solver="interior_point", tol=1e-6), 1e45
    expected = model.fit(gram, y).decision_function(gram)
    large = clone(model).set_params(C=1 / size).fit(size * gram, y).decision_function(size * gram)
    np.testing.assert_allclose(large, expected, atol=1e-3)
