"""Neighbours by the similarities to landmarks, against scikit-learn's and one point at a time."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification, make_moons
from sklearn.metrics.pairwise import laplacian_kernel, manhattan_distances
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from kernlearn.landmarks import LandmarkKNNClassifier, LandmarkKNNRegressor
from kernlearn.landmarks.baselines import inverse_distances
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        # few neighbours cannot all be of a class that has hardly a weight
        LandmarkKNNClassifier(10, n_neighbors=(1, 20)),
        LandmarkKNNClassifier(n_neighbors=(1, 20), weights="distance", metric="manhattan"),
        LandmarkKNNClassifier("auto", n_neighbors=(1, 20), max_comparisons=10),
        LandmarkKNNClassifier(5, n_neighbors=(5, 20), similarity="precomputed"),
        LandmarkKNNClassifier(5, n_neighbors=(5, 20), n_refined=20),
        LandmarkKNNRegressor(),
        LandmarkKNNRegressor(5, n_neighbors=1, similarity="precomputed", kind="distance"),
        LandmarkKNNRegressor("auto", n_neighbors=2, weights="distance", max_comparisons=10),
        LandmarkKNNRegressor(5, n_neighbors=2, n_refined=10),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


X, CODES = make_classification(
    200, 6, n_informative=4, n_classes=3, flip_y=0.2, class_sep=0.7, random_state=0
)
Y = np.array(["a", "b", "c"])[CODES]
NUMBERS = X[:, 0] * X[:, 1]
NEW = np.random.RandomState(1).normal(size=(50, 6))


def embedded(model, points):
    return -manhattan_distances(points, X[model.landmark_indices_])


def squared(distances):
    return 1 / (1 + distances**2)


@pytest.mark.parametrize("weights", ["uniform", "distance", squared])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("k", [1, 4, 200])
def test_scikit_learn_on_the_embedding(k, metric, weights):
    options = {"weights": weights, "metric": metric}
    model = LandmarkKNNClassifier(
        20, n_neighbors=k, similarity="manhattan", random_state=0, **options
    )
    model.fit(X, Y)
    # of classes that are texts scikit-learn 1.7 makes numbers for some metrics
    codes = np.searchsorted(model.classes_, Y)
    expected = KNeighborsClassifier(k, algorithm="brute", **options)
    expected.fit(embedded(model, X), codes)
    features = embedded(model, NEW)
    np.testing.assert_allclose(
        model.predict_proba(NEW), expected.predict_proba(features), rtol=1e-6
    )
    found = model.predict(NEW)
    np.testing.assert_array_equal(found, model.classes_[expected.predict(features)])
    numbers = LandmarkKNNRegressor(
        20, n_neighbors=k, similarity="manhattan", random_state=0, **options
    )
    numbers.fit(X, NUMBERS)
    expected = KNeighborsRegressor(k, algorithm="brute", **options)
    expected.fit(embedded(numbers, X), NUMBERS)
    np.testing.assert_allclose(
        numbers.predict(NEW), expected.predict(embedded(numbers, NEW)), rtol=1e-6
    )


def test_slow_version():
    """All distances of one point at a time, sorted."""
    model = LandmarkKNNClassifier(
        8, n_neighbors=7, similarity="manhattan", metric="manhattan", random_state=0
    ).fit(X, Y)
    for point, label in zip(NEW, model.predict(NEW), strict=True):
        here, there = embedded(model, point[None])[0], embedded(model, X)
        order = sorted(range(200), key=lambda i: abs(there[i] - here).sum())
        votes = Counter(Y[i] for i in order[:7])
        assert label == min(votes, key=lambda one: (-votes[one], one))


def test_the_number_is_chosen_on_validation_points():
    Ks = (1, 5, 25)
    model = LandmarkKNNClassifier(20, n_neighbors=Ks, random_state=0, similarity="manhattan")
    model.fit(X[:120], Y[:120], X[120:], Y[120:])
    single = [
        clone(model).set_params(n_neighbors=k).fit(X[:120], Y[:120]).score(X[120:], Y[120:])
        for k in Ks[::-1]
    ]
    np.testing.assert_allclose(model.validation_scores_, single)
    assert model.n_neighbors_ == Ks[::-1][int(np.argmax(single))]
    numbers = LandmarkKNNRegressor(20, n_neighbors=Ks, random_state=0, similarity="manhattan")
    numbers.fit(X[:120], NUMBERS[:120], X[120:], NUMBERS[120:])
    fitted = [
        clone(numbers).set_params(n_neighbors=k).fit(X[:120], NUMBERS[:120]) for k in Ks[::-1]
    ]
    errors = [np.mean((one.predict(X[120:]) - NUMBERS[120:]) ** 2) for one in fitted]
    np.testing.assert_allclose(-numbers.validation_scores_, errors)
    assert numbers.n_neighbors_ == Ks[::-1][int(np.argmin(errors))]


@pytest.mark.parametrize("form", ["points", "sparse", "matrix", "distance"])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_the_nearest_in_the_embedding_are_compared(k, form):
    """One point at a time: the embedding's 12 nearest, of these the most similar k."""
    distances = manhattan_distances(np.vstack([X, NEW]), X)
    model = LandmarkKNNClassifier(6, n_neighbors=k, n_refined=12, random_state=0)
    train, new = {
        "points": (X, NEW),
        "sparse": (sparse.csr_array(X), sparse.csr_array(NEW)),
        "matrix": (-distances[:200], -distances[200:]),
        "distance": (distances[:200], distances[200:]),
    }[form]
    model.set_params(similarity="manhattan" if form in ("points", "sparse") else "precomputed")
    model.set_params(kind="distance" if form == "distance" else "similarity").fit(train, Y)
    assert model.n_similarities_ == 18
    landmarks = model.landmark_indices_
    shares = model.predict_proba(new)
    for row, found in zip(distances[200:], shares, strict=True):
        far = ((distances[:200, landmarks] - row[landmarks]) ** 2).sum(axis=1)
        candidates = np.argsort(far)[:12]
        nearest = sorted(candidates, key=lambda i: row[i])[:k]
        expected = np.bincount(CODES[nearest], minlength=3) / k
        np.testing.assert_allclose(found, expected)


def test_all_points_refined_are_all_neighbours():
    model = LandmarkKNNClassifier(
        3, n_neighbors=5, n_refined=500, weights="distance", similarity="manhattan", random_state=0
    ).fit(X, Y)
    expected = KNeighborsClassifier(5, metric="manhattan", weights="distance").fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(NEW), expected.predict_proba(NEW))


def test_what_refining_asks_for():
    model = LandmarkKNNClassifier(5, n_neighbors=(1, 50), n_refined=10, random_state=0).fit(X, Y)
    assert model.n_neighbors_ in (1, 10)
    with pytest.raises(ValueError, match="compared with by n_refined, 10, got 20"):
        model.set_params(n_neighbors=20).fit(X, Y)
    model.set_params(n_neighbors=3, weights="distance", similarity="gaussian").fit(X, Y)
    with pytest.raises(ValueError, match="needs distances"):
        model.predict(X)


def test_more_neighbours_than_points():
    model = LandmarkKNNClassifier(5, n_neighbors=(3, 500), random_state=0).fit(X[:30], Y[:30])
    assert model.n_neighbors_ in (3, 24)
    with pytest.raises(ValueError, match="by n_refined, 30, got 31"):
        LandmarkKNNClassifier(5, n_neighbors=31).fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match="by n_refined, 30, got 31"):
        LandmarkKNNRegressor(5, n_neighbors=31).fit(X[:30], NUMBERS[:30])


def test_predictions_compare_with_landmarks_alone():
    compared = []

    def similarity(A, B):
        compared.append((len(A), len(B)))
        return np.exp(-manhattan_distances(A, B))

    model = LandmarkKNNClassifier(9, similarity=similarity, random_state=0).fit(X, Y)
    assert sum(a * b for a, b in compared) == 200 * 9
    compared.clear()
    model.predict(NEW)
    assert sum(a * b for a, b in compared) == 50 * 9 == 50 * model.n_similarities_


@pytest.mark.parametrize("make", [LandmarkKNNClassifier, LandmarkKNNRegressor])
def test_weights_are_as_good_as_repeated_rows(make):
    targets = CODES if make is LandmarkKNNClassifier else NUMBERS
    weights = np.random.RandomState(0).randint(0, 3, size=200).astype(float)
    matrix = laplacian_kernel(X, gamma=0.3)
    model = make(200, n_neighbors=1, weights=squared, similarity="precomputed", random_state=0)
    weighted = clone(model).set_params(n_landmarks=int((weights > 0).sum()), n_neighbors=40)
    weighted.fit(matrix, targets, sample_weight=weights)
    rows = np.flatnonzero(weights)
    distances = np.sqrt(
        ((matrix[:20, None, rows] - matrix[None, rows][:, :, rows]) ** 2).sum(axis=2)
    )
    for found, far in zip(weighted.predict(matrix[:20]), distances, strict=True):
        nearest = np.argsort(far, kind="stable")[:40]
        shares = squared(far[nearest]) * weights[rows][nearest]
        of_nearest = targets[rows][nearest]
        if make is LandmarkKNNRegressor:
            assert found == pytest.approx(np.average(of_nearest, weights=shares))
        else:
            assert found == np.bincount(of_nearest, shares).argmax()


def test_class_weights_are_sample_weights():
    by_class = LandmarkKNNClassifier(
        20, n_neighbors=9, class_weight={"a": 3.0, "b": 1.0, "c": 0.5}, random_state=0
    )
    by_point = clone(by_class).set_params(class_weight=None)
    weights = np.array([3.0, 1.0, 0.5])[CODES]
    np.testing.assert_allclose(
        by_class.fit(X, Y).predict_proba(NEW),
        by_point.fit(X, Y, sample_weight=weights).predict_proba(NEW),
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(classes, calibration):
    y = np.minimum(CODES, classes - 1)
    model = LandmarkKNNClassifier(20, calibration=calibration, random_state=0).fit(X, y)
    found = model.predict_proba(NEW)
    assert found.shape == (50, classes)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    plain = clone(model).set_params(calibration=None).fit(X, y).predict_proba(NEW)
    assert abs(found - plain).max() > 0.01
    np.testing.assert_allclose(np.exp(model.predict_log_proba(NEW)), found)


def test_sparse_points_and_float32():
    model = LandmarkKNNClassifier(20, random_state=0)
    dense = clone(model).fit(X, Y).predict(NEW)
    thin = clone(model).fit(sparse.csr_array(X), Y).predict(sparse.csr_array(NEW))
    np.testing.assert_array_equal(dense, thin)
    single = clone(model).fit(X.astype(np.float32), Y).predict(NEW.astype(np.float32))
    assert np.mean(single == dense) > 0.95


@pytest.mark.parametrize("auto", [False, True])
def test_words(auto):
    words = ["anna", "hanna", "hannah", "otto", "ottos", "lotto"] * 5
    model = LandmarkKNNClassifier("auto" if auto else 4, similarity="levenshtein", random_state=0)
    model.fit(words, [w[-1] in "ah" for w in words])
    assert model.predict(["annah", "motto"]).tolist() == [True, False]
    model.set_params(n_refined=3).fit(words, [w[-1] in "ah" for w in words])
    assert model.predict(["annah", "motto"]).tolist() == [True, False]
    lengths = LandmarkKNNRegressor("auto" if auto else 4, similarity="levenshtein", n_neighbors=1)
    lengths.set_params(random_state=0).fit(words, [len(w) for w in words])
    assert lengths.predict(["hannah", "otto"]).tolist() == [6, 4]


def test_where_no_linear_function_separates_a_few_landmarks_do():
    points, y = make_moons(600, noise=0.15, random_state=0)
    model = LandmarkKNNClassifier(4, similarity="manhattan", random_state=0)
    assert model.fit(points[:400], y[:400]).score(points[400:], y[400:]) > 0.95


def test_several_targets_and_given_landmarks():
    points, y = load_diabetes(return_X_y=True)
    model = LandmarkKNNRegressor(similarity="laplacian", random_state=0)
    model.fit(points, np.column_stack([y, -y]), landmarks=points[:10])
    found = model.predict(points)
    np.testing.assert_allclose(found[:, 0], -found[:, 1])
    assert model.n_similarities_ == 10


def test_neighbours_at_distance_0_count_alone():
    weights = inverse_distances(np.array([[0.0, 0.0, 2.0], [1.0, 2.0, 4.0], [1e-320, 1.0, 2.0]]))
    np.testing.assert_array_equal(weights, [[1, 1, 0], [1, 0.5, 0.25], [1, 0, 0]])


@pytest.mark.parametrize(
    ("weigh", "message"),
    [
        (lambda d: d[:, :1], "one weight per neighbour"),
        (lambda d: -np.ones_like(d), "finite weights >= 0"),
    ],
)
def test_weights_that_are_none(weigh, message):
    with pytest.raises(ValueError, match=message):
        LandmarkKNNClassifier(5, n_neighbors=3, weights=weigh).fit(X, Y).predict(X)
