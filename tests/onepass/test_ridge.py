"""Ridge regression and classification from moments against scikit-learn on data in memory."""

import copy
import pickle
import tracemalloc
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kernlearn.datasets import load, row_source
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import HomogeneousPolynomialKernel, PolynomialKernel
from kernlearn.landmarks import NystroemEmbedding
from kernlearn.onepass import OnePassRidge, OnePassRidgeClassifier, fold_of, row_hashes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6)) + np.array([0, 0, 3, -100, 0.1, 0])
NUMBERS = X @ RNG.normal(size=6) + np.sin(X[:, 0]) + 7 + RNG.normal(size=600)
GRADES = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.5, 0.8]))
LABELS = np.array(["low", "middle", "high"])[GRADES]
HIGH = (GRADES > 0).astype(int)
ALPHAS = [0.0, 1e-3, 1.0, 100.0]
MAPS = {
    "none": None,
    "h01": RandomMaclaurin(n_components=40, h01=True, random_state=0),
    "nystroem": NystroemEmbedding(n_components=30, random_state=0),
}


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
    path = model.path_
    for alpha, coef, intercept in zip(ALPHAS, path.coefs, path.intercepts, strict=True):
        expected = Ridge(alpha=alpha).fit(X, targets)
        np.testing.assert_allclose(coef, np.atleast_2d(expected.coef_), rtol=1e-9)
        np.testing.assert_allclose(intercept, expected.intercept_, rtol=1e-9)
    errors = slow_errors(lambda alpha: Ridge(alpha=alpha), X, targets, ALPHAS)
    np.testing.assert_allclose(path.errors, errors, rtol=1e-9)
    assert model.alpha_ == ALPHAS[errors.argmin()]
    best = Ridge(alpha=model.alpha_).fit(X, targets)
    np.testing.assert_allclose(model.predict(X), best.predict(X))
    assert model.coef_.shape == best.coef_.shape
    assert np.shape(model.intercept_) == np.shape(best.intercept_)


def parts_of(rows, n_parts):
    """Parts of unequal length."""
    cuts = np.sort(np.random.default_rng(n_parts).choice(np.arange(1, len(rows)), n_parts - 1))
    bounds = [0, *cuts, len(rows)]
    return [rows[a:b] for a, b in pairwise(bounds) if b > a]


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
@pytest.mark.parametrize(
    ("scale", "shift"),
    [([1e8, 1, 1], 0.0), ([1, 1, 1], 1e6), ([1, 1, 1], 1e8), ([1e8, 1, 1e-8], 1e6)],
)
def test_unlike_scales_and_far_means(alpha, scale, shift):
    """Coefficients are exact to 1e-9, in any order and cut of the rows."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2000, 3)) @ [[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
    y = Z @ [1.0, 1.0, -2.0] + 0.1 * rng.normal(size=2000)
    Z = (Z + shift) * scale
    wide = Z.astype(np.longdouble)
    centred = (wide - wide.mean(axis=0)) / scale
    matrix = centred.T @ centred + alpha * np.diag(1 / np.square(scale))
    linear = centred.T @ (y - y.mean())
    exact = np.linalg.solve(matrix.astype(float), linear.astype(float)) / scale
    for order in (np.arange(2000), np.argsort(Z[:, 0]), rng.permutation(2000)):
        for n_parts in (1, 2, 9, 60):
            parts = [
                OnePassRidge(alphas=alpha).partial_fit(Z[rows], y[rows])
                for rows in parts_of(order, n_parts)
            ]
            model = parts[0].merge(*parts[1:])
            np.testing.assert_allclose(model.coef_, exact, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:An ill-conditioned matrix")  # Ridge's
def test_the_default_path_reaches_columns_of_small_scale():
    Z = np.random.default_rng(0).normal(size=(2000, 2)) * [1e8, 1]
    y = Z[:, 0] / 1e8 + Z[:, 1]
    assert OnePassRidge().fit(Z, y).score(Z, y) >= Ridge().fit(Z, y).score(Z, y) > 0.999999


def test_dependent_columns():
    """With penalty 0 the fit is that of least squares, though the weights are not unique."""
    Z = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2], np.ones(600), 1e7 * X[:, 5]])
    model = OnePassRidge(alphas=0.0).fit(Z, NUMBERS)
    expected = Ridge(alpha=0.0).fit(X, NUMBERS)
    np.testing.assert_allclose(model.predict(Z), expected.predict(X), rtol=1e-7)
    assert np.abs(model.coef_).max() < 100
    constant = OnePassRidge().fit(np.ones((30, 2)), np.arange(30.0))
    assert constant.intercept_ == pytest.approx(14.5)
    assert not constant.coef_.any()


@pytest.mark.parametrize("feature_map", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("kind", [OnePassRidge, OnePassRidgeClassifier])
def test_cuts_orders_and_merges_change_rounding_alone(kind, feature_map):
    y = HIGH if kind is OnePassRidgeClassifier else NUMBERS
    points = (X - X.mean(axis=0)) / 20
    if feature_map is not None:
        feature_map = FrozenEstimator(feature_map.fit(points))
    given = {"classes": [0, 1]} if kind is OnePassRidgeClassifier else {}
    whole = kind(feature_map).partial_fit(points, y, **given)
    for order in (np.arange(600), np.random.default_rng(3).permutation(600)):
        for n_parts in (2, 7):
            parts = [
                pickle.loads(pickle.dumps(kind(feature_map))).partial_fit(points[r], y[r], **given)
                for r in parts_of(order, n_parts)
            ]
            one = copy.deepcopy(parts[0]).merge(*parts[1:])
            two = copy.deepcopy(parts[0])
            for part in parts[1:]:
                two.merge(part)
            assert np.array_equal(one.coef_, two.coef_)  # the same parts in the same order
            step = kind(feature_map)
            for rows in parts_of(order, n_parts):
                step.partial_fit(points[rows], y[rows], **given)
            for model in (one, step):
                assert model.alpha_ == pytest.approx(whole.alpha_)
                np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7, atol=1e-9)
                np.testing.assert_allclose(model.path_.errors, whole.path_.errors, rtol=1e-9)


@pytest.mark.parametrize("labels", [LABELS, HIGH], ids=["three", "two"])
@pytest.mark.parametrize("weights", [None, "balanced", {"low": 3.0, "middle": 1.0, "high": 0.5}])
def test_scores_are_those_of_ridge_classifier(labels, weights):
    if isinstance(weights, dict) and labels is HIGH:
        weights = {0: 3.0, 1: 0.5}
    source = row_source(X, labels, n_rows=170)
    model = OnePassRidgeClassifier(alphas=ALPHAS, class_weight=weights).fit(source)
    expected = RidgeClassifier(alpha=model.alpha_, class_weight=weights).fit(X, labels)
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.coef_.shape == np.atleast_2d(expected.coef_).shape
    if weights is None:
        signs = 2.0 * (labels[:, np.newaxis] == model.classes_) - 1
        errors = slow_errors(lambda alpha: Ridge(alpha=alpha), X, signs, ALPHAS)
        np.testing.assert_allclose(model.path_.errors, errors, rtol=1e-9)


def test_balanced_classes_give_the_squared_loss_of_all_pairs():
    labels, alpha = LABELS == "high", 30.0
    model = OnePassRidgeClassifier(alphas=alpha, class_weight="balanced").fit(X, labels)
    pairs = (X[labels][:, np.newaxis] - X[~labels]).reshape(-1, 6)
    matrix = pairs.T @ pairs / len(pairs) + 2 * alpha / 600 * np.eye(6)
    weights = np.linalg.solve(matrix, pairs.mean(axis=0))
    ratio = model.coef_[0] / weights
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert ratio[0] > 0


def test_features_are_mapped():
    points = (X - X.mean(axis=0)) / 20
    feature_map = RandomMaclaurin(n_components=40, h01=True, random_state=0)
    model = OnePassRidge(feature_map, alphas=[1e-4, 1e-2]).fit(points, NUMBERS)
    Z = model.feature_map_.transform(points)
    expected = Ridge(alpha=model.alpha_).fit(Z, NUMBERS)
    np.testing.assert_allclose(model.predict(points), expected.predict(Z), rtol=1e-7)
    assert not hasattr(feature_map, "n_features_in_")
    single = OnePassRidge(feature_map, alphas=1e-2).fit(points.astype(np.float32), NUMBERS)
    np.testing.assert_allclose(single.predict(points), expected.predict(Z), rtol=1e-3)


def test_the_map_is_fitted_on_a_sample_of_all_rows(monkeypatch):
    """The sample does not depend on the order of rows, and each distinct row counts once."""
    monkeypatch.setattr("kernlearn.onepass._SAMPLE_ROWS", 50)
    rows = np.repeat(X[:200], np.arange(200) % 3 + 1, axis=0)

    def sample_of(order, n_rows):
        mean = FunctionTransformer()
        mean.fit = lambda X, y: setattr(mean, "seen", X) or mean
        mean.__sklearn_clone__ = lambda: mean
        OnePassRidge(mean, alphas=1.0).fit(
            row_source(rows[order], np.zeros(len(rows)), n_rows=n_rows)
        )
        return mean.seen

    expected = sample_of(np.arange(len(rows)), len(rows))
    assert len(np.unique(expected, axis=0)) == 50
    for n_rows in (7, 130):
        order = np.random.default_rng(n_rows).permutation(len(rows))
        np.testing.assert_array_equal(sample_of(order, n_rows), expected)


def test_sparse_rows_are_as_dense_ones():
    dense = np.where(RNG.uniform(size=X.shape) < 0.6, 0, X)
    one = OnePassRidge().fit(dense, NUMBERS)
    two = OnePassRidge().fit(row_source(sparse.csr_matrix(dense), NUMBERS, n_rows=600))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.predict(dense), two.predict(sparse.csr_matrix(dense)))


def test_sources_give_the_same_model(tmp_path):
    """A Parquet file, a memory map, and chunks."""
    whole = OnePassRidgeClassifier(MAPS["nystroem"]).fit(X, HIGH)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=HIGH)
    frame.to_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for data in (
        (row_source(tmp_path / "rows.parquet", target="label", n_rows=130),),
        (row_source(mapped, HIGH, n_rows=99),),
        (mapped, HIGH),
        ([(X[:100], HIGH[:100]), (X[100:], HIGH[100:])],),
    ):
        model = OnePassRidgeClassifier(MAPS["nystroem"]).fit(*data)
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (OnePassRidgeClassifier(n_folds=3), "3 folds"),
        (OnePassRidgeClassifier(MAPS["h01"]), "48 features and targets"),
        (OnePassRidgeClassifier(class_weight={0: 1.0, 1: 2.0}), "classes"),
        (OnePassRidge(), "OnePassRidge, "),
    ],
)
def test_what_cannot_be_merged(other, message):
    model = OnePassRidgeClassifier().fit(X, HIGH)
    with pytest.raises(ValueError, match=f"cannot merge a model of .*{message}"):
        model.merge(other.fit(X, HIGH))
    many = np.arange(1100)
    one, two = (
        OnePassRidgeClassifier(n_folds=2).partial_fit(X, HIGH, np.delete(many, left_out))
        for left_out in (500, 501)
    )
    narrow, named = (
        OnePassRidgeClassifier().fit(*rows) for rows in ((X[:, :5], HIGH), (X, LABELS))
    )
    for ours, theirs in ((model, narrow), (model, named), (one, two)):
        with pytest.raises(ValueError, match="cannot merge"):
            ours.merge(theirs)
    with pytest.raises(NotFittedError):
        model.merge(OnePassRidgeClassifier())


def test_columns_are_matched_by_name():
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    turned, source = frame[list("cba")], row_source(frame.assign(y=NUMBERS), target="y")
    model = OnePassRidge().fit(source)
    assert model.feature_names_in_.tolist() == list("abc")
    for method in (model.predict, partial(model.partial_fit, y=NUMBERS)):
        with pytest.raises(ValueError, match="feature names should match"):
            method(turned)
    with pytest.raises(ValueError, match=r"'c', 'b', 'a'"):
        model.merge(OnePassRidge().fit(turned, NUMBERS))
    frozen = FrozenEstimator(RandomMaclaurin(n_components=9, random_state=0).fit(frame))
    with warnings.catch_warnings(action="error"):
        model = OnePassRidge(frozen).partial_fit(frame, NUMBERS).partial_fit(frame, NUMBERS)
    with pytest.raises(ValueError, match="in this order"):
        OnePassRidge(frozen).fit(turned, NUMBERS)


def test_other_maps_cannot_be_merged():
    maclaurin = RandomMaclaurin(HomogeneousPolynomialKernel(2), 20, measure="support")
    late = X * (np.arange(len(X)) > 40)[:, np.newaxis]  # rows of zeros first
    for of_rows, rows in ((MAPS["nystroem"], X), (maclaurin, 1e-5 * X), (maclaurin, late)):
        models = [OnePassRidge(of_rows).partial_fit(rows[i::2], NUMBERS[i::2]) for i in (0, 1)]
        with pytest.raises(ValueError, match="feature map"):
            models[0].merge(models[1])
    frozen = FrozenEstimator(NystroemEmbedding(n_components=30, random_state=0).fit(X))
    models = [OnePassRidge(frozen).partial_fit(X[i::2], NUMBERS[i::2]) for i in (0, 1)]
    whole = OnePassRidge(frozen).fit(X, NUMBERS)
    merged = models[0].merge(models[1])
    np.testing.assert_allclose(merged.predict(X), whole.predict(X))


def test_bad_rows_are_refused_and_not_added():
    model = OnePassRidgeClassifier().fit(X, HIGH)
    before = model.coef_.copy()
    broken = X.copy()
    broken[500, 3] = np.nan
    for rows, labels, message in (
        (X[:3], [0, 5, 5], r"the label 5, which is not one of the classes \[0, 1\]"),
        (X[:3], ["a", "b", "a"], "label"),
        (broken, HIGH, "NaN"),
        (X[:3, :5], HIGH[:3], "X has 5 features"),
        (X[:3], None, "requires y to be passed"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, None if labels is None else np.array(labels))
    with pytest.raises(ValueError, match="in the first call"):
        model.partial_fit(X[:3], HIGH[:3], classes=[0, 1, 2])
    np.testing.assert_array_equal(model.coef_, before)

    def late(rows):
        return np.where(rows == X[500], np.inf, rows)

    mapped = OnePassRidge(FunctionTransformer(late)).partial_fit(X[:100], NUMBERS[:100])
    with pytest.raises(ValueError, match="column 0 is not finite"):
        mapped.partial_fit(X, NUMBERS)
    assert sum(moments.weight for moments in mapped.moments_) == 100


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: OnePassRidgeClassifier().partial_fit(X, HIGH), "classes must be passed"),
        (lambda: OnePassRidge().partial_fit(X, NUMBERS, [0, 1]), "predicts numbers"),
        (lambda: OnePassRidge().fit(iter([(X, NUMBERS)])), "fit reads rows twice"),
        (lambda: OnePassRidge().fit([]), "fit reads rows twice"),
        (lambda: OnePassRidge().fit(X[:2], NUMBERS[:2]), "in one fold: pass a single value"),
        (lambda: OnePassRidge(n_folds=1).fit(X, NUMBERS), "in one fold: pass a single value"),
        (
            lambda: OnePassRidgeClassifier(class_weight="balanced").partial_fit(
                X, HIGH, classes=[0, 1]
            ),
            "needs 'fit', which counts all rows first",
        ),
        *(
            (lambda alphas=alphas: OnePassRidge(alphas=alphas).fit(X, NUMBERS), "alphas must be")
            for alphas in ([-1.0, 1.0], [np.nan], [])
        ),
    ],
)
def test_errors(fit, message):
    with pytest.raises(ValueError, match=message):
        fit()


def test_memory_does_not_grow_with_the_rows():
    def most(n_chunks):
        chunks = [(RNG.uniform(-0.3, 0.3, size=(1500, 6)), np.arange(1500.0))] * n_chunks
        tracemalloc.start()
        OnePassRidge(MAPS["h01"]).fit(chunks)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    most(1)
    assert most(20) < 1.1 * most(3)


@pytest.mark.data
@pytest.mark.parametrize("name", ["cod_rna", pytest.param("ijcnn1", marks=pytest.mark.exhaustive)])
def test_moments_are_as_good_as_all_rows_in_memory(name):
    data = load(name)
    rows, y = data.data, np.asarray(data.target)
    rows = StandardScaler().fit_transform(rows.toarray() if hasattr(rows, "toarray") else rows)
    rows /= np.linalg.norm(rows, axis=1).max()
    held = np.random.RandomState(0).permutation(len(y)) < 0.3 * len(y)
    feature_map = RandomMaclaurin(PolynomialKernel(10), 100, h01=True, random_state=0)
    model = OnePassRidgeClassifier(feature_map).fit(rows[~held], y[~held])
    Z = model.feature_map_.transform(rows)
    best = RidgeClassifier(alpha=model.alpha_).fit(Z[~held], y[~held])
    np.testing.assert_allclose(
        model.decision_function(rows[held]), best.decision_function(Z[held]), atol=1e-8
    )
    chosen = RidgeClassifierCV(alphas=model.path_.alphas).fit(Z[~held], y[~held])
    accuracies = model.score(rows[held], y[held]), chosen.score(Z[held], y[held])
    assert accuracies[0] == pytest.approx(accuracies[1], abs=0.001)
