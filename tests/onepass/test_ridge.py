"""Ridge regression and classification from moments against scikit-learn on data in memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score

from kernlearn.features import RandomMaclaurin
from kernlearn.onepass import OnePassRidge, OnePassRidgeClassifier
from kernlearn.onepass.folds import fold_of, row_hashes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6)) + np.array([0, 0, 3, -100, 0.1, 0])
NUMBERS = X @ RNG.normal(size=6) + np.sin(X[:, 0]) + 7 + RNG.normal(size=600)
GRADES = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.5, 0.8]))
LABELS = np.array(["low", "middle", "high"])[GRADES]
ALPHAS = [0.0, 1e-3, 1.0, 100.0]


def slow_errors(make, X, y, alphas, n_folds=5):
    """The mean squared error of each penalty on the same folds, by fitting again."""
    folds = fold_of(row_hashes(X), n_folds)
    y = y.reshape(len(y), -1)
    found = []
    for alpha in alphas:
        total = 0.0
        for fold in range(n_folds):
            inside = folds == fold
            model = make(alpha).fit(X[~inside], y[~inside])
            total += ((model.predict(X[inside]).reshape(-1, y.shape[1]) - y[inside]) ** 2).sum()
        found.append(total / y.size)
    return np.array(found)


@pytest.mark.parametrize("targets", [NUMBERS, np.column_stack([NUMBERS, X[:, 0] ** 2])])
def test_path_is_that_of_ridge(targets):
    model = OnePassRidge(alphas=ALPHAS).fit(X, targets)
    for alpha, coef, intercept in zip(
        ALPHAS, model.coef_path_, model.intercept_path_, strict=True
    ):
        expected = Ridge(alpha=alpha).fit(X, targets)
        np.testing.assert_allclose(coef, np.atleast_2d(expected.coef_), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(intercept, expected.intercept_, rtol=1e-4)
    errors = slow_errors(lambda alpha: Ridge(alpha=alpha), X, targets, ALPHAS)
    np.testing.assert_allclose(model.cv_errors_, errors, rtol=1e-5)
    assert model.alpha_ == ALPHAS[errors.argmin()]
    best = Ridge(alpha=model.alpha_).fit(X, targets)
    np.testing.assert_allclose(model.predict(X), best.predict(X), atol=1e-4)


def test_classes_are_those_of_ridge_classifier():
    model = OnePassRidgeClassifier(alphas=ALPHAS).fit(X, LABELS)
    best = RidgeClassifier(alpha=model.alpha_).fit(X, LABELS)
    np.testing.assert_allclose(model.decision_function(X), best.decision_function(X), atol=1e-4)
    signs = 2.0 * (LABELS[:, np.newaxis] == model.classes_) - 1
    errors = slow_errors(lambda alpha: Ridge(alpha=alpha), X, signs, ALPHAS)
    np.testing.assert_allclose(model.cv_errors_, errors, rtol=1e-5)
    assert model.class_counts_.tolist() == [np.sum(c == LABELS) for c in model.classes_]
    means = [X[c == LABELS].mean(axis=0) for c in model.classes_]
    np.testing.assert_allclose(model.class_means_, means, atol=1e-4)


@pytest.mark.parametrize("weights", ["balanced", {"low": 3.0, "middle": 1.0, "high": 0.5}])
def test_class_weights_are_those_of_ridge_classifier(weights):
    model = OnePassRidgeClassifier(alphas=10.0, class_weight=weights).fit(X, LABELS)
    expected = RidgeClassifier(alpha=10.0, class_weight=weights).fit(X, LABELS)
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), atol=1e-4
    )
    assert np.isnan(model.cv_errors_).all()


def test_two_classes_have_one_score():
    model = OnePassRidgeClassifier(alphas=1.0).fit(X, LABELS == "low")
    expected = RidgeClassifier(alpha=1.0).fit(X, LABELS == "low")
    np.testing.assert_allclose(model.coef_[0], expected.coef_, rtol=1e-4, atol=1e-5)
    assert model.decision_function(X).shape == (600,)
    assert accuracy_score(LABELS == "low", model.predict(X)) == model.score(X, LABELS == "low")


def test_features_are_mapped():
    points = (X - X.mean(axis=0)) / 20
    feature_map = RandomMaclaurin(n_components=40, h01=True, random_state=0)
    model = OnePassRidge(feature_map, alphas=[1e-4, 1e-2]).fit(points, NUMBERS)
    Z = model.feature_map_.transform(points)
    expected = Ridge(alpha=model.alpha_).fit(Z, NUMBERS)
    np.testing.assert_allclose(model.predict(points), expected.predict(Z), atol=1e-3)
    assert not hasattr(feature_map, "n_features_in_")


def test_sparse_rows_are_as_dense_ones():
    dense = np.where(RNG.uniform(size=X.shape) < 0.6, 0, X)
    one = OnePassRidge().fit(dense, NUMBERS)
    two = OnePassRidge().fit(sparse.csr_matrix(dense), NUMBERS)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.predict(dense), two.predict(sparse.csr_matrix(dense)))


def test_groups_share_a_fold():
    groups = np.arange(600) // 40
    model = OnePassRidge(alphas=[1.0, 10.0]).fit(X, NUMBERS, groups=groups)
    rows = [model.moments_.rows_of([fold]) for fold in range(5)]
    assert sum(rows) == 600
    assert all(n % 40 == 0 for n in rows)


def test_one_fold_is_not_enough():
    same = np.repeat(X[:1], 30, axis=0)
    with pytest.raises(ValueError, match=r"all of them are in 1 .*n_samples=30"):
        OnePassRidge().fit(same, np.arange(30.0))
    assert OnePassRidge(alphas=1.0).fit(same, np.arange(30.0)).intercept_ == pytest.approx(14.5)


@pytest.mark.parametrize("alphas", [[-1.0, 1.0], [np.nan], [], [[1.0], [2.0]]])
def test_bad_penalties(alphas):
    with pytest.raises(ValueError, match="alphas must be finite numbers of 0 or more"):
        OnePassRidge(alphas=alphas).fit(X, NUMBERS)
