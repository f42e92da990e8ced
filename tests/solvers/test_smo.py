"""Sequential minimal optimization against scikit-learn's LIBSVM and the optimality conditions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernlearn.solvers import smo


def problem(n=600, seed=0):
    rng = np.random.default_rng(seed)
    codes = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 3)) + codes[:, None]
    return X, codes


def gaussian(X):
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def objective(gram, codes, coefficients):
    labels = np.where(codes == 0, 1.0, -1.0)
    return labels @ coefficients - 0.5 * coefficients @ gram @ coefficients


def violation(gram, codes, bounds, coefficients):
    """The largest error of a row that can rise less the smallest of one that can fall."""
    labels = np.where(codes == 0, 1.0, -1.0)
    errors = labels - gram @ coefficients
    share = labels * coefficients  # the α
    assert (share >= 0).all()
    assert (share <= bounds).all()
    rises = np.where(labels > 0, share < bounds, share > 0)
    falls = np.where(labels > 0, share > 0, share < bounds)
    return errors[rises].max() - errors[falls].min()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [5, 256, 600])
def test_it_ends_where_libsvm_does(C, n):
    X, codes = problem(n)
    gram, bounds = gaussian(X), np.full(n, C)
    support, coefficients = smo.train(gram, codes, bounds, 1e-3)
    assert violation(gram, codes, bounds, coefficients) < 1e-3
    assert abs(coefficients.sum()) < 1e-9 * C * n
    model = SVC(kernel="precomputed", C=C, tol=1e-3).fit(gram, codes)
    theirs = np.zeros(n)
    theirs[model.support_] = -model.dual_coef_[0]
    np.testing.assert_allclose(
        objective(gram, codes, coefficients), objective(gram, codes, theirs), rtol=1e-5
    )
    values = gram[:, support.indices] @ support.coefficients[0] - support.rho[0]
    np.testing.assert_allclose(values, -model.decision_function(gram), atol=0.02)


def test_the_result_has_the_support_vectors_by_class():
    X, codes = problem()
    support, coefficients = smo.train(gaussian(X), codes, np.full(len(codes), 1.0), 1e-3)
    assert support.n_by_class.sum() == len(support.indices) == np.count_nonzero(coefficients)
    np.testing.assert_array_equal(codes[support.indices], np.repeat([0, 1], support.n_by_class))
    np.testing.assert_array_equal(support.coefficients[0], coefficients[support.indices])


def test_rows_have_bounds_of_their_own():
    X, codes = problem(200)
    gram, bounds = gaussian(X), np.random.default_rng(1).uniform(0.1, 3.0, 200)
    _, coefficients = smo.train(gram, codes, bounds, 1e-6)
    assert violation(gram, codes, bounds, coefficients) < 1e-6
    model = SVC(kernel="precomputed", tol=1e-6).fit(gram, codes, sample_weight=bounds)
    theirs = np.zeros(200)
    theirs[model.support_] = -model.dual_coef_[0]
    np.testing.assert_allclose(coefficients, theirs, atol=1e-4)


def test_a_start_saves_iterations_and_ends_at_the_same_minimum(monkeypatch):
    X, codes = problem()
    gram, counts = gaussian(X), []
    minimize = smo._minimize
    monkeypatch.setattr(smo, "_minimize", lambda *a: counts.append(minimize(*a)) or counts[-1])
    _, before = smo.train(gram, codes, np.full(600, 10.0), 1e-3)
    kept = before.copy()
    counts.clear()
    _, warm = smo.train(gram, codes, np.full(600, 20.0), 1e-3, before)
    n_warm = sum(counts)
    counts.clear()
    _, cold = smo.train(gram, codes, np.full(600, 20.0), 1e-3)
    np.testing.assert_array_equal(before, kept)
    assert n_warm < sum(counts)
    assert violation(gram, codes, np.full(600, 20.0), warm) < 1e-3
    values = [objective(gram, codes, c) for c in (warm, cold)]
    np.testing.assert_allclose(*values, rtol=1e-5)


@pytest.mark.parametrize("often", [1, 40, 2000])
def test_rows_that_will_not_move_are_left_out_and_looked_at_again(often, monkeypatch):
    X, codes = problem()
    gram, bounds = gaussian(X), np.full(600, 100.0)
    sizes, minimize = [], smo._minimize
    monkeypatch.setattr(smo, "_minimize", lambda *a: sizes.append(len(a[0])) or minimize(*a))
    monkeypatch.setattr(smo, "_BEFORE_SHRINKING", often)
    _, coefficients = smo.train(gram, codes, bounds, 1e-3)
    assert min(sizes) < 0.6 * 600
    assert sizes[-1] == 600  # the end is checked on all rows
    assert violation(gram, codes, bounds, coefficients) < 1e-3
    monkeypatch.setattr(smo, "_BEFORE_SHRINKING", 10**9)
    sizes.clear()
    _, whole = smo.train(gram, codes, bounds, 1e-3)
    assert sizes == [600]
    values = [objective(gram, codes, c) for c in (coefficients, whole)]
    np.testing.assert_allclose(*values, rtol=1e-5)


def test_an_indefinite_matrix_ends():
    X, codes = problem(100)
    gram = np.tanh(0.5 * X @ X.T - 1)
    assert np.linalg.eigvalsh(gram)[0] < -0.1
    _, coefficients = smo.train(gram, codes, np.full(100, 10.0), 1e-3)
    assert violation(gram, codes, np.full(100, 10.0), coefficients) < 1e-3


def test_it_says_when_it_stopped_early(monkeypatch):
    monkeypatch.setattr(smo, "most_iterations", lambda n: 5)
    X, codes = problem(100)
    with pytest.warns(ConvergenceWarning, match="stopped after 5 iterations: scale the features"):
        smo.train(gaussian(X), codes, np.full(100, 1.0), 1e-3)
