"""Neighbours by similarities to landmarks, and by any similarity, one point at a time."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.neighbors import KNeighborsClassifier

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel
from kernlearn.landmarks import LandmarkKNNClassifier, SimilarityKNNClassifier

X, CODES = make_classification(
    200, 6, n_informative=4, n_classes=3, flip_y=0.2, class_sep=0.7, random_state=0
)
Y = np.array(["a", "b", "c"])[CODES]
NEW = np.random.RandomState(1).normal(size=(50, 6))
TRAIN, VAL = slice(120), slice(120, None)


def slow_predict(similarities, y, k):
    """Sort, then count, one point at a time."""
    labels = []
    for row in similarities:
        nearest = sorted(range(len(y)), key=lambda j: (-row[j], j))[:k]
        votes = Counter(y[j] for j in nearest)
        labels.append(min(votes, key=lambda label: (-votes[label], label)))
    return np.array(labels)


@pytest.mark.parametrize("k", [1, 2, 4, 7, 120])
def test_slow_version_with_many_ties(k):
    matrix = np.round(X @ X.T)
    train, new = matrix[TRAIN, TRAIN], matrix[VAL, TRAIN]
    model = SimilarityKNNClassifier(k, similarity="precomputed").fit(train, Y[TRAIN])
    np.testing.assert_array_equal(model.predict(new), slow_predict(new, Y[TRAIN], k))
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares * k, np.round(shares * k), atol=1e-9)
    assert not hasattr(model, "decision_function")


def test_training_points_are_prepared_for_many_rows_at_a_time():
    points, sizes = np.random.RandomState(0).normal(size=(3000, 2)), []

    def similarity(some, others):
        sizes.append(some.shape[0])
        return some @ others.T

    model = SimilarityKNNClassifier(5, similarity=CallableKernel(similarity, takes="matrices"))
    model.fit(points, points[:, 0] > 0)
    sizes.clear()
    expected = slow_predict(points[:1000] @ points.T, points[:, 0] > 0, 5)
    np.testing.assert_array_equal(model.predict(points[:1000]), expected)
    assert len(sizes) == 2


@pytest.mark.parametrize("similarity", ["gaussian", "euclidean", "laplacian"])
def test_scikit_learn_on_distances(similarity):
    metric = "manhattan" if similarity == "laplacian" else "euclidean"
    expected = KNeighborsClassifier(5, metric=metric).fit(X, Y)
    for form in (np.asarray, sparse.csr_array):
        model = SimilarityKNNClassifier(5, similarity=similarity).fit(form(X), Y)
        np.testing.assert_array_equal(model.predict(form(NEW)), expected.predict(NEW))
        np.testing.assert_allclose(model.predict_proba(form(NEW)), expected.predict_proba(NEW))


@pytest.mark.parametrize("far", [0, 1e9])  # of a landmark
@pytest.mark.parametrize("k", [1, 4, 200])
def test_scikit_learn_on_the_embedding(k, far):
    model = LandmarkKNNClassifier(20, n_neighbors=k, similarity="manhattan", random_state=0)
    points = X.copy()
    points[model.fit(X, Y).landmark_indices_[0]] += far
    landmarks = points[model.fit(points, Y).landmark_indices_]
    train, new = -manhattan_distances(points, landmarks), -manhattan_distances(NEW, landmarks)
    expected = KNeighborsClassifier(k, algorithm="ball_tree").fit(train, Y)
    shares = expected.predict_proba(new)
    np.testing.assert_allclose(model.predict_proba(NEW), shares, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(NEW), expected.predict(new))


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
    assert model.n_comparisons_ == 18
    landmarks = model.landmark_indices_
    for row, found in zip(distances[200:], model.predict_proba(new), strict=True):
        far = ((distances[:200, landmarks] - row[landmarks]) ** 2).sum(axis=1)
        candidates = np.argsort(far)[:12]
        nearest = sorted(candidates, key=lambda i: row[i])[:k]
        np.testing.assert_allclose(found, np.bincount(CODES[nearest], minlength=3) / k)


@pytest.mark.parametrize(
    "model",
    [
        SimilarityKNNClassifier((25, 1, 5), similarity="manhattan"),
        LandmarkKNNClassifier(20, n_neighbors=(25, 1, 5), similarity="manhattan", random_state=0),
        LandmarkKNNClassifier(20, n_neighbors=(25, 1, 5), n_refined=30, random_state=0),
    ],
)
def test_the_number_is_chosen_on_validation_points(model):
    scores = [
        clone(model).set_params(n_neighbors=k).fit(X[TRAIN], Y[TRAIN]).score(X[VAL], Y[VAL])
        for k in (25, 5, 1)
    ]
    model.fit(X[TRAIN], Y[TRAIN], X_val=X[VAL], y_val=Y[VAL])
    np.testing.assert_allclose(model.validation_scores_, scores)
    assert model.n_neighbors_ == (25, 5, 1)[int(np.argmax(scores))]


def test_numbers_above_that_of_points():
    model = LandmarkKNNClassifier(5, n_neighbors=(1, 50), n_refined=10, random_state=0)
    assert model.fit(X, Y).n_neighbors_ in (1, 10)
    assert model.set_params(n_refined=0).fit(X[:30], Y[:30]).n_neighbors_ in (1, 24)
    for wrong in (
        clone(model).set_params(n_neighbors=20, n_refined=10),
        clone(model).set_params(n_neighbors=201),
        SimilarityKNNClassifier([1, 161]),
    ):
        with pytest.raises(ValueError, match="n_neighbors"):
            wrong.fit(X, Y)


def test_an_error_names_the_point_that_is_refined():
    def similarity(some, others):
        values = -manhattan_distances(some, others)
        if len(others) == 10:  # those of a refinement
            values[some[:, 0] == 99] = np.nan
        return values

    model = LandmarkKNNClassifier(5, similarity=similarity, n_refined=10, random_state=0)
    new = NEW.copy()
    new[7, 0] = 99
    with pytest.raises(SimilarityError, match=r"X\[7\]"):
        model.fit(X, Y).predict(new)
