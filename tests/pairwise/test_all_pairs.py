import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from kernlearn.pairwise import AllPairsSVM
from kernlearn.pairwise.ranking import _mean_loss
from kernlearn.solvers import LinearSVM
from tests.checks import parametrize_with_checks
from tests.pairwise.plain import stream


@parametrize_with_checks([AllPairsSVM()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# few distinct values, so that there are ties and margins of exactly 1
@given(
    positive=st.lists(st.sampled_from([-1.5, -0.5, 0.0, 0.5, 1.0, 2.25]), min_size=1, max_size=8),
    negative=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1.25]), min_size=1, max_size=8),
)
def test_sums_over_pairs(positive, negative):
    scores = np.array(positive + negative)
    labels = np.arange(len(scores)) < len(positive)
    order = np.random.default_rng(0).permutation(len(scores))
    loss, slopes = _mean_loss(scores[order], labels[order])
    missing = np.maximum(0, 1 - np.subtract.outer(positive, negative))
    np.testing.assert_allclose(loss, np.mean(missing**2), atol=1e-12)
    expected = np.concatenate([-missing.sum(axis=1), missing.sum(axis=0)]) * 2 / missing.size
    np.testing.assert_allclose(slopes, expected[order], atol=1e-12)


def test_slopes_are_the_derivatives():
    rng = np.random.default_rng(0)
    labels = rng.random(30) < 0.4
    error = check_grad(
        lambda s: _mean_loss(s, labels)[0],
        lambda s: _mean_loss(s, labels)[1],
        rng.standard_normal(30),
    )
    assert error < 1e-6


def test_solution_is_that_of_a_linear_machine_on_all_differences():
    X, y = stream(60, 4, shift=1.5)
    positive, negative = X[y == 1], X[y == -1]
    differences = (positive[:, np.newaxis] - negative).reshape(-1, 4)
    signs = np.resize([-1, 1], len(differences))
    regularization = 0.05
    machine = LinearSVM(
        1 / (regularization * len(differences)), fit_intercept=False, solver="primal", tol=1e-9
    ).fit(differences * signs[:, np.newaxis], signs)
    model = AllPairsSVM(regularization, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-5)
    losses = np.maximum(0, 1 - differences @ model.coef_[0]) ** 2
    np.testing.assert_allclose(
        model.objective_, losses.mean() + regularization / 2 * np.sum(model.coef_**2)
    )


def test_sparse_rows_and_scores():
    X, y = stream(60, 4)
    X[np.abs(X) < 0.8] = 0
    dense = AllPairsSVM(0.1).fit(X, y)
    sparsely = AllPairsSVM(0.1).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparsely.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparsely.intercept_, dense.intercept_, atol=1e-8)


def test_identical_points():
    model = AllPairsSVM().fit(np.ones((10, 2)), np.resize([0, 1], 10))
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.objective_ == 1


def test_one_class():
    with pytest.raises(ValueError, match="there is one class"):
        AllPairsSVM().fit(np.eye(3), np.ones(3))


def test_too_few_iterations():
    X, y = stream(60, 4)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        AllPairsSVM(max_iter=1).fit(X, y)
