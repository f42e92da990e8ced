"""Losses of all pairs: from moments, and by a solver."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernlearn.linear import LinearSVM
from kernlearn.pairwise import AllPairsMoments, AllPairsSVM
from kernlearn.pairwise.all_pairs import ActivePairs
from tests.pairwise import plain
from tests.pairwise.plain import stream

# -- moments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularization", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("half_life", [None, 20.0])
def test_weights_are_those_of_all_pairs(half_life, regularization):
    X, y = stream(60, 4)
    weights = np.ones(60) if half_life is None else 0.5 ** (np.arange(59, -1, -1) / half_life)
    expected = plain.best_for_all_pairs(X, y, weights, regularization)
    model = AllPairsMoments(regularization, half_life=half_life).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-8)
    means = [np.average(X[y == label], axis=0, weights=weights[y == label]) for label in (-1, 1)]
    np.testing.assert_allclose(model.means_, means)
    for i, label in enumerate((-1, 1)):
        rows = y == label
        covariance = np.cov(X[rows].T, aweights=weights[rows], ddof=0)
        np.testing.assert_allclose(model.covariances_[i], covariance, atol=1e-12)
    midway = np.mean(means, axis=0)
    np.testing.assert_allclose(model.decision_function([midway]), 0, atol=1e-12)


# with the positive class absent from the end, for hundreds of half-lives or for ever
@settings(deadline=None, max_examples=40)
@given(
    half_life=st.sampled_from([None, 20.0, 0.5]),
    absent=st.sampled_from([0, 30, 2500]),
    cuts=st.lists(st.integers(1, 2590), min_size=6, max_size=6, unique=True),
)
@example(half_life=0.5, absent=2500, cuts=[5, 80, 95, 500, 1000, 2589])
def test_the_order_of_points_decides_not_their_chunks(half_life, absent, cuts):
    X, y = stream(90, 3)
    X = np.vstack([X + 50, np.random.default_rng(1).standard_normal((absent, 3)) + 49])
    y = np.append(y, np.full(absent, -1))
    whole = AllPairsMoments(half_life=half_life).fit(X, y)
    cut = AllPairsMoments(half_life=half_life)
    for rows in np.split(np.arange(len(y)), sorted(cuts)):
        if len(rows):
            cut.partial_fit(X[rows], y[rows], classes=[-1, 1])
    np.testing.assert_allclose(cut.means_, whole.means_, rtol=1e-12)
    np.testing.assert_allclose(cut.covariances_, whole.covariances_, atol=1e-10)
    np.testing.assert_allclose(cut.coef_, whole.coef_, rtol=1e-6)
    assert cut.coef_.any()


@pytest.mark.parametrize("model", [AllPairsMoments(0.0), AllPairsMoments(1e-9), AllPairsSVM(1e-9)])
def test_columns_of_unlike_scale(model):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    X = rng.standard_normal((400, 2)) + y[:, np.newaxis]
    X = np.c_[X[:, [0, 0, 1]], np.full(400, 0.1)]  # one column twice, one is constant
    scale = np.array([1e8, 1e8, 1.0, 1.0])
    expected, found = clone(model).fit(X, y).coef_, model.fit(X * scale, y).coef_ * scale
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-9)


# -- the squared hinge ----------------------------------------------------------------------------


# few distinct values, so that there are ties and margins of exactly 1
@given(
    positive=st.lists(st.sampled_from([-1.5, -0.5, 0.0, 0.5, 1.0, 2.25]), min_size=1, max_size=8),
    negative=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1.25]), min_size=1, max_size=8),
)
def test_sums_over_pairs(positive, negative):
    scores, rng = np.array(positive + negative), np.random.default_rng(0)
    labels, weights = np.arange(len(scores)) < len(positive), rng.uniform(1, 2, len(scores))
    shares = weights / np.bincount(labels, weights)[labels.astype(int)]
    order = rng.permutation(len(scores))
    pairs = ActivePairs(scores[order], labels[order], shares[order])
    missing = np.maximum(0, 1 - np.subtract.outer(positive, negative))
    of_pairs = np.outer(shares[labels], shares[~labels])
    np.testing.assert_allclose(pairs.loss, (of_pairs * missing**2).sum(), atol=1e-12)
    slopes = 2 * of_pairs * missing
    expected = np.concatenate([-slopes.sum(axis=1), slopes.sum(axis=0)])
    np.testing.assert_allclose(pairs.slopes, expected[order], atol=1e-12)


def test_solution_is_that_of_a_linear_machine_on_all_differences():
    X, y = stream(60, 4, shift=1.5)
    positive, negative = X[y == 1], X[y == -1]
    differences = (positive[:, np.newaxis] - negative).reshape(-1, 4)
    signs = np.resize([-1, 1], len(differences))
    regularization = 0.05
    machine = LinearSVM(
        1 / (regularization * len(differences)), fit_intercept=False, tol=1e-9
    ).fit(differences * signs[:, np.newaxis], signs)
    model = AllPairsSVM(regularization, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-5)
    losses = np.maximum(0, 1 - differences @ model.coef_[0]) ** 2
    np.testing.assert_allclose(
        model.objective_, losses.mean() + regularization / 2 * np.sum(model.coef_**2)
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_path_is_fits_of_its_own(kind):
    X, y = stream(60, 4)
    X = kind(X)
    model = AllPairsSVM(tol=1e-9)
    (fits,) = model.path(X, y, {"regularization": [1e-9, 3.0, 1e-2]})
    assert [point["regularization"] for point in fits.params] == [1e-9, 1e-2, 3.0]
    assert fits.converged == [True] * 3
    for one, point, scores in zip(
        fits.models, fits.params, fits.outputs("decision_function", X), strict=True
    ):
        expected = clone(model).set_params(**point).fit(X, y)
        assert one.get_params() == expected.get_params()
        np.testing.assert_allclose(one.coef_, expected.coef_, atol=1e-6)
        np.testing.assert_allclose(scores, one.decision_function(X), atol=1e-12)


def test_rows_that_are_sparse_or_far_or_all_alike():
    X, y = stream(60, 4)
    X[np.abs(X) < 0.8] = 0
    dense = AllPairsSVM(0.1).fit(X, y)
    sparsely = AllPairsSVM(0.1).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparsely.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparsely.intercept_, dense.intercept_, atol=1e-8)
    far = AllPairsSVM(0.1).fit(X + 1e8, y)
    assert far.objective_ == pytest.approx(dense.objective_)
    np.testing.assert_allclose(far.coef_, dense.coef_, atol=1e-6)
    identical = AllPairsSVM().fit(np.ones((10, 2)), np.resize([0, 1], 10))
    assert identical.objective_ == 1
    assert not identical.coef_.any()


def test_too_few_iterations():
    X, y = stream(60, 4)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        AllPairsSVM(max_iter=1).fit(X, y)
