"""Paths of kernel regressors against scikit-learn, one fit after the other."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVR

from kernlearn.solvers import kernel_ridge, regression_path, smo
from kernlearn.solvers.kernel_ridge import ridge_path
from kernlearn.solvers.pivoted_cholesky import pivoted_cholesky
from kernlearn.solvers.regression_path import follow_path, path_parameters


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def objective(gram, y, epsilon, b):
    return 0.5 * b @ gram @ b - y @ b + epsilon * np.abs(b).sum()


def violation(gram, y, C, epsilon, b):
    """How much more one row gains by rising than another loses by falling, of 2n variables."""
    assert (np.abs(b) <= C).all()
    error = y - gram @ b
    up = np.where(b < C, np.where(b < 0, error + epsilon, error - epsilon), -np.inf)
    down = np.where(b > -C, np.where(b > 0, error - epsilon, error + epsilon), np.inf)
    return up.max() - down.min()


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 10.0])
def test_support_vector_regression_ends_where_libsvm_does(C, epsilon):
    X, y = problem()
    gram = rbf_kernel(X)
    b, intercept = smo.train_regression(gram, y, C, epsilon, 1e-4)
    assert violation(gram, y, C, epsilon, b) < 1e-4
    assert abs(b.sum()) < 1e-9 * C * len(y)
    model = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-4).fit(gram, y)
    theirs = np.zeros(len(y))
    theirs[model.support_] = model.dual_coef_[0]
    ours, other = objective(gram, y, epsilon, b), objective(gram, y, epsilon, theirs)
    assert ours == pytest.approx(other, rel=1e-5, abs=1e-9)
    np.testing.assert_allclose(gram @ b + intercept, model.predict(gram), atol=2e-3)


def test_a_start_saves_iterations_and_ends_at_the_same_minimum(monkeypatch):
    X, y = problem()
    gram, counts = rbf_kernel(X), []
    minimize = smo._minimize
    monkeypatch.setattr(smo, "_minimize", lambda *a: counts.append(minimize(*a)) or counts[-1])
    before, _ = smo.train_regression(gram, y, 10.0, 0.1, 1e-4)
    kept = before.copy()
    counts.clear()
    warm, _ = smo.train_regression(gram, y, 10.0, 0.09, 1e-4, before)
    n_warm = sum(counts)
    counts.clear()
    cold, _ = smo.train_regression(gram, y, 10.0, 0.09, 1e-4)
    np.testing.assert_array_equal(before, kept)
    assert n_warm < sum(counts)
    assert violation(gram, y, 10.0, 0.09, warm) < 1e-4
    assert objective(gram, y, 0.09, warm) == pytest.approx(
        objective(gram, y, 0.09, cold), rel=1e-5
    )


@pytest.mark.parametrize("direct", [True, False])
def test_penalties_against_a_solution_of_the_equations(direct, monkeypatch):
    X, y = problem(700)
    gram, penalties = rbf_kernel(X, gamma=0.2), [1e-3, 0.1, 10.0]
    monkeypatch.setattr(kernel_ridge, "_DIRECT", 1000 if direct else 0)
    if not direct:
        monkeypatch.setattr(kernel_ridge, "cho_factor", None)  # not needed
    for penalty, found in zip(penalties, ridge_path(gram, y, penalties), strict=True):
        expected = np.linalg.solve(gram + penalty * np.eye(len(y)), y)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_penalties_without_convergence_are_solved_directly(monkeypatch):
    X, y = problem(500)
    gram, penalties = rbf_kernel(X, gamma=5.0), [1e-3, 100.0]
    monkeypatch.setattr(kernel_ridge, "_DIRECT", 0)
    monkeypatch.setattr(kernel_ridge, "_MOST_STEPS", 12)
    solved = []
    factor = kernel_ridge.cho_factor
    monkeypatch.setattr(
        kernel_ridge, "cho_factor", lambda a, **rest: solved.append(1) or factor(a, **rest)
    )
    for penalty, found in zip(penalties, ridge_path(gram, y, penalties), strict=True):
        expected = np.linalg.solve(gram + penalty * np.eye(len(y)), y)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert len(solved) == 1


def test_pivoted_cholesky_is_exact_at_the_rank_of_the_matrix():
    Z = np.random.default_rng(0).normal(size=(300, 20))
    factor = pivoted_cholesky(Z @ Z.T, 200, np.random.default_rng(1))
    assert len(factor) == 20
    np.testing.assert_allclose(factor.T @ factor, Z @ Z.T, atol=1e-9)


def drawn_one_by_one(gram, rank, rng):
    """Chen et al., algorithm 2.1."""
    left, factor = gram.diagonal().copy(), np.zeros((0, len(gram)))
    for _ in range(rank):
        pick = rng.choice(len(gram), p=left / left.sum())
        row = gram[pick] - factor[:, pick] @ factor
        factor = np.vstack([factor, row / np.sqrt(row[pick])])
        left = np.maximum(left - factor[-1] ** 2, 0.0)
    return factor


@pytest.mark.parametrize("rank", [10, 40, 160])
def test_pivots_of_a_block_are_as_good_as_those_drawn_one_by_one(rank):
    gram = rbf_kernel(problem(500)[0], gamma=0.1)
    errors = []
    for draw in pivoted_cholesky, drawn_one_by_one:
        factors = [draw(gram, rank, np.random.default_rng(seed)) for seed in range(10)]
        assert {len(factor) for factor in factors} == {rank}
        lefts = [gram - factor.T @ factor for factor in factors]
        assert min(np.linalg.eigvalsh(left)[0] for left in lefts) > -1e-9
        errors.append(np.mean([left.trace() for left in lefts]))
    assert errors[0] < 1.2 * errors[1]


RIDGE = [
    KernelRidge(kernel="rbf", gamma=0.3),
    KernelRidge(kernel="poly", degree=2, coef0=0.5),
    KernelRidge(),
]
SVRS = [
    SVR(),
    SVR(gamma="auto"),
    SVR(kernel="poly", degree=2, coef0=1.0),
    SVR(kernel=rbf_kernel),
]


@pytest.mark.parametrize("model", [*RIDGE, *SVRS])
def test_each_setting_is_the_one_fitted_alone(model):
    X, y = problem()
    model = clone(model)
    if isinstance(model, KernelRidge):
        grid = {"alpha": [10.0, 0.01, 1.0]}
    else:
        grid = {"C": [1.0, 0.1], "epsilon": [0.01, 0.3]}
        model.set_params(tol=1e-5)
    assert path_parameters(model, grid, X[:300], y[:300]) == tuple(grid)
    path = follow_path(clone(model).set_params(**grid), X[:300], y[:300])
    assert [setting.params for setting in path.settings] == list(ParameterGrid(grid))
    assert path.converged.all()
    predicted = path.predict(X[300:])
    for values, setting in zip(predicted, path.settings, strict=True):
        alone = clone(model).set_params(**setting.params).fit(X[:300], y[:300])
        np.testing.assert_allclose(values, alone.predict(X[300:]), atol=1e-3)


def test_a_matrix_of_kernel_values():
    X, y = problem()
    gram = rbf_kernel(X)
    path = follow_path(SVR(kernel="precomputed", C=[0.1, 1.0]), gram[:300, :300], y[:300])
    alone = SVR(kernel="precomputed").fit(gram[:300, :300], y[:300])
    predicted = path.predict(gram[300:, :300])[1]
    np.testing.assert_allclose(predicted, alone.predict(gram[300:, :300]), atol=5e-3)
    assert abs(path.n_support[1] - len(alone.support_)) <= 3


def test_what_has_no_path(monkeypatch):
    X, y = problem(50)
    grid = {"alpha": [0.1, 1.0], "C": [1.0, 2.0], "epsilon": [0.0, 0.1], "gamma": [1.0]}
    assert path_parameters(KernelRidge(), grid, X, y) == ("alpha",)
    assert path_parameters(SVR(), grid, X, y) == ("C", "epsilon")
    assert path_parameters(Ridge(), grid, X, y) == ()
    assert path_parameters(KernelRidge(kernel="sigmoid"), grid, X, y) == ()
    assert path_parameters(KernelRidge(kernel="poly", coef0=-1), grid, X, y) == ()
    assert path_parameters(SVR(max_iter=10), grid, X, y) == ()
    assert path_parameters(SVR(), grid, csr_array(X), y) == ()
    assert path_parameters(KernelRidge(), grid, X, np.c_[y, y]) == ()
    assert path_parameters(KernelRidge(), {"alpha": [0.0, 1.0]}, X, y) == ()
    assert path_parameters(KernelRidge(), {"alpha": [[1.0, 2.0]]}, X, y) == ()
    monkeypatch.setattr(regression_path, "allowed_memory", lambda limit: 50 * 50 * 8)
    assert path_parameters(SVR(), grid, X, y) == ()
