import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernlearn.datasets import gaussian_stream
from kernlearn.pairwise import AllPairsMoments
from tests.checks import parametrize_with_checks
from tests.pairwise import plain
from tests.pairwise.plain import stream


@parametrize_with_checks([AllPairsMoments(), AllPairsMoments(half_life=50.0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


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


@pytest.mark.parametrize("half_life", [None, 20.0])
def test_cuts_and_items_make_no_difference(half_life):
    X, y = stream(90, 3)
    whole = AllPairsMoments(half_life=half_life, calibration="sigmoid").fit(X + 50, y)
    cut = AllPairsMoments(half_life=half_life, calibration="sigmoid")
    items = AllPairsMoments(half_life=half_life, calibration="sigmoid").declare(classes=[-1, 1])
    for start in range(0, 90, 7):
        rows = slice(start, start + 7)
        cut.partial_fit(X[rows] + 50, y[rows], classes=[-1, 1])
    for x, label in zip((X + 50).tolist(), y.tolist(), strict=True):
        items.learn_one(dict(enumerate(x)), label)
    for other in (cut, items):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-7)
        np.testing.assert_allclose(other.predict_proba(X + 50), whole.predict_proba(X + 50))
    x = dict(enumerate((X[0] + 50).tolist()))
    assert items.score_one(x) == pytest.approx(whole.decision_function(X[:1] + 50)[0])


def test_features_may_come_later():
    X, y = stream(60, 4)
    X[:30, 2:] = 0
    items = AllPairsMoments().declare(classes=[-1, 1])
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        items.learn_one(dict(zip("abcd"[: 2 if i < 30 else 4], x, strict=False)), label)
    expected = AllPairsMoments().fit(X, y)
    np.testing.assert_allclose(items.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(items.covariances_, expected.covariances_, atol=1e-12)


def test_a_half_life_follows_a_drift():
    X, y = next(gaussian_stream(6000, 5, separation=2, jump=np.pi, period=3000, batch_size=6000))
    fresh, fresh_y = X[4500:], y[4500:]
    aucs = [
        roc_auc_score(
            fresh_y,
            AllPairsMoments(half_life=h).fit(X[:4500], y[:4500]).decision_function(fresh),
        )
        for h in (None, 300.0)
    ]
    assert aucs[0] < 0.2
    assert aucs[1] > 0.85


def test_a_class_that_stays_away_keeps_its_moments():
    X, y = stream(40, 3)
    model = AllPairsMoments(half_life=1.0).fit(X, y)
    before = model.means_[1].copy()
    for _ in range(30):
        model.partial_fit(np.zeros((100, 3)), np.full(100, -1))
    np.testing.assert_array_equal(model.means_[1], before)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("wrong", [{"regularization": -1.0}, {"half_life": 0.0}])
def test_bad_parameters(wrong):
    X, y = stream(10, 2)
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
        AllPairsMoments(**wrong).fit(X, y)
