from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from kernlearn.landmarks.baselines import SimilarityKNNClassifier, nearest_columns
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        SimilarityKNNClassifier([1, 3], similarity="manhattan", random_state=0),
        SimilarityKNNClassifier(1, similarity="precomputed"),
    ]
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        200, 6, n_informative=4, n_classes=3, flip_y=0.2, class_sep=0.7, random_state=0
    )
    return X, np.array(["a", "b", "c"])[y]


def slow_predict(similarities, y, k):
    """Sort, then count, one point at a time."""
    labels = []
    for row in similarities:
        nearest = sorted(range(len(y)), key=lambda j: (-row[j], j))[:k]
        votes = Counter(y[j] for j in nearest)
        labels.append(min(votes, key=lambda label: (-votes[label], label)))
    return labels


@given(arrays(float, (6, 9), elements=st.integers(0, 4)), st.integers(1, 9))
def test_nearest_with_ties(similarities, k):
    expected = [sorted(range(9), key=lambda j: (-row[j], j))[:k] for row in similarities]
    np.testing.assert_array_equal(nearest_columns(similarities, k), expected)


@pytest.mark.parametrize("k", [1, 2, 4, 7, 120])
def test_slow_version_with_many_ties(k, data):
    X, y = data
    matrix = np.round(X @ X.T)  # asymmetric or not, indefinite or not: no matter here
    model = SimilarityKNNClassifier(k, similarity="precomputed")
    model.fit(matrix[:120, :120], y[:120])
    new = matrix[120:, :120]
    np.testing.assert_array_equal(model.predict(new), slow_predict(new, y[:120], k))
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares * k, np.round(shares * k), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("similarity", ["gaussian", "euclidean", "laplacian"])
def test_scikit_learn_on_distances(similarity, form, data):
    X, y = data
    metric = "manhattan" if similarity == "laplacian" else "euclidean"
    expected = KNeighborsClassifier(5, metric=metric).fit(X[:150], y[:150])
    model = SimilarityKNNClassifier(5, similarity=similarity).fit(form(X[:150]), y[:150])
    np.testing.assert_array_equal(model.predict(form(X)), expected.predict(X))
    np.testing.assert_allclose(model.predict_proba(form(X)), expected.predict_proba(X))


def test_a_distance_is_a_similarity_negated(data):
    X, y = data
    distances = abs(X[:, None] - X[None]).sum(axis=2)
    by_distance = SimilarityKNNClassifier(similarity="precomputed", kind="distance")
    by_name = SimilarityKNNClassifier(similarity="manhattan").fit(X[:150], y[:150])
    by_distance.fit(distances[:150, :150], y[:150])
    np.testing.assert_array_equal(by_distance.predict(distances[:, :150]), by_name.predict(X))


def test_blocks(small_blocks, data):
    X, y = data
    model = SimilarityKNNClassifier().fit(X, y)
    expected, shares = model.predict(X), model.predict_proba(X)
    small_blocks()
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict_proba(X), shares)


def test_points_that_are_no_rows_of_numbers():
    def common(left, right):
        return np.array([[len(set(a) & set(b)) for b in right] for a in left])

    words = ["abc", "abd", "xyz", "xyw"]
    model = SimilarityKNNClassifier(2, similarity=common).fit(words, [0, 0, 1, 1])
    assert model.predict(["ab", "yx"]).tolist() == [0, 1]


@pytest.mark.parametrize("similarity", ["manhattan", "precomputed"])
def test_k_is_chosen_on_given_validation_points(similarity, data):
    X, y = data
    matrix = -abs(X[:, None] - X[None]).sum(axis=2)
    points = matrix[:, :120] if similarity == "precomputed" else X
    train, val = slice(0, 120), slice(120, 170)
    ks = [9, 1, 40]
    accuracy = [np.mean(slow_predict(matrix[val, train], y[train], k) == y[val]) for k in ks]
    model = SimilarityKNNClassifier(ks, similarity=similarity)
    model.fit(points[train], y[train], points[val], y[val])
    np.testing.assert_allclose(model.validation_scores_, [accuracy[2], accuracy[0], accuracy[1]])
    assert model.n_neighbors_ == ks[int(np.argmax(accuracy))]
    only = SimilarityKNNClassifier(model.n_neighbors_, similarity=similarity)
    only.fit(points[train], y[train])
    assert only.validation_scores_ is None
    np.testing.assert_array_equal(model.predict(points), only.predict(points))


def test_the_greatest_of_equally_good_k(data):
    X, y = data
    model = SimilarityKNNClassifier([1, 2, 3]).fit(X, y, X[:1], [y[0]])
    alike = model.validation_scores_ == model.validation_scores_.max()
    assert model.n_neighbors_ == [3, 2, 1][int(np.flatnonzero(alike)[0])]


@pytest.mark.parametrize("similarity", ["euclidean", "precomputed"])
def test_points_kept_apart_are_no_neighbors(similarity, data):
    X, y = data
    matrix = -(((X[:, None] - X[None]) ** 2).sum(axis=2))
    points = matrix if similarity == "precomputed" else X
    model = SimilarityKNNClassifier([1, 3], similarity=similarity, random_state=3)
    model.fit(points, y)
    correct = model.predict(points) == y
    # Its own nearest neighbour decides for k = 1; 160 of 200 points are kept.
    ones = SimilarityKNNClassifier([1], similarity=similarity).fit(points, y)
    assert (ones.predict(points) == y).all()
    assert model.validation_scores_.shape == (2,)
    assert not correct.all()
    repeated = SimilarityKNNClassifier([3, 1], similarity=similarity, random_state=3)
    np.testing.assert_array_equal(repeated.fit(points, y).predict(points), model.predict(points))


def test_weights(data):
    X, y = data

    def heavy_first(similarities):
        assert (np.diff(similarities, axis=1) <= 0).all()
        return np.eye(similarities.shape[1])[[0] * len(similarities)]

    weighted = SimilarityKNNClassifier(7, weights=heavy_first).fit(X[:100], y[:100])
    nearest = SimilarityKNNClassifier(1).fit(X[:100], y[:100])
    np.testing.assert_array_equal(weighted.predict(X), nearest.predict(X))
    np.testing.assert_allclose(weighted.predict_proba(X), nearest.predict_proba(X))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda s: s[:, :1], "one weight per neighbour"),
        (lambda s: -np.ones_like(s), "finite weights >= 0"),
        (np.zeros_like, "one that is not 0"),
    ],
    ids=["shape", "negative", "nothing"],
)
def test_bad_weights(weights, message, data):
    X, y = data
    with pytest.raises(ValueError, match=message):
        SimilarityKNNClassifier(weights=weights).fit(X, y).predict(X)


@pytest.mark.parametrize("k", [0, -1, [], [3, 0], [1.5], ["3"], [[1]]])
def test_bad_n_neighbors(k, data):
    with pytest.raises(ValueError, match="n_neighbors"):
        SimilarityKNNClassifier(k).fit(*data)


def test_more_neighbors_than_points(data):
    X, y = data
    with pytest.raises(ValueError, match="at most the number of training points, 200, got 201"):
        SimilarityKNNClassifier(201).fit(X, y)
    with pytest.raises(ValueError, match="160 without those held out, got 161"):
        SimilarityKNNClassifier([1, 161]).fit(X, y)


def test_bad_validation_points(data):
    X, y = data
    model = SimilarityKNNClassifier([1, 3])
    with pytest.raises(ValueError, match="given together"):
        model.fit(X, y, X)
    with pytest.raises(ValueError, match="given together"):
        model.fit(X, y, None, y)
    with pytest.raises(ValueError, match="X_val: X has 2 features"):
        model.fit(X, y, X[:, :2], y)
    with pytest.raises(ValueError, match="one value for each of the 200 points of X_val"):
        model.fit(X, y, X, y[:7])
    unknown = np.where(y == "c", "d", y)
    assert model.fit(X, y, X, unknown).validation_scores_.max() == np.mean(y != "c")


def test_bad_training_data(data):
    X, y = data
    with pytest.raises(ValueError, match="one class"):
        SimilarityKNNClassifier().fit(X, np.zeros(200))
    with pytest.raises(ValueError, match="square matrix"):
        SimilarityKNNClassifier(similarity="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        SimilarityKNNClassifier(similarity="precomputed").fit(np.full((200, 200), np.nan), y)
    with pytest.raises(ValueError, match="must be one of"):
        SimilarityKNNClassifier(similarity="gauss").fit(X, y)
