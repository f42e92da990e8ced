"""Support vector machines on similarities against scikit-learn's; neighbours point by point."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, GaussianKernel, SigmoidKernel
from kernlearn.landmarks import (
    LandmarkKNNClassifier,
    SimilarityFeatureSVM,
    SimilarityKNNClassifier,
    SpectrumSVM,
)
from kernlearn.linear import LinearSVM

SPECTRA = ["clip", "flip", "shift"]


@pytest.fixture(scope="module")
def similarities(iris):
    """An indefinite similarity of 150 points, the greatest eigenvalues of either sign alike."""
    return -np.sqrt(abs(iris[0][:, None] - iris[0][None]).max(axis=2))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_svm_on_the_similarities(n_classes, iris):
    X, y = iris
    X, y = (each[y != "setosa"] if n_classes == 2 else each for each in (X, y))
    similarity = SigmoidKernel(a=0.1)
    model = SimilarityFeatureSVM(10.0, similarity=similarity).fit(X[:80], y[:80])
    expected = LinearSVM(C=10.0).fit(similarity(X[:80]), y[:80])
    features = similarity(X, X[:80])
    values = expected.decision_function(features)
    np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), expected.predict(features))


def slow_spectrum(matrix, spectrum):
    """The changed matrix and the map of new rows, eigenvector by eigenvector."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kernel, change = np.zeros_like(matrix), np.zeros_like(matrix)
    for value, vector in zip(values, vectors.T, strict=True):
        new = {"clip": max(value, 0), "flip": abs(value), "shift": value - values.min()}[spectrum]
        kernel += new * np.outer(vector, vector)
        change += (1 if spectrum == "shift" else new / value) * np.outer(vector, vector)
    return kernel, change


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_a_kernel_svm_on_the_changed_spectrum(spectrum, n_classes, iris, similarities):
    chosen = np.flatnonzero(iris[1] != "setosa") if n_classes == 2 else np.arange(150)
    y, matrix = iris[1][chosen], similarities[np.ix_(chosen, chosen)]
    train, test = slice(0, 70), slice(70, None)
    kernel, change = slow_spectrum(matrix[train, train], spectrum)
    expected = SVC(kernel="precomputed", C=10.0, break_ties=True).fit(kernel, y[train])
    rows = matrix[test, train] @ change
    skew = np.triu(np.random.RandomState(0).normal(size=(70, 70)), 1)  # is symmetrised
    for given in (matrix[train, train], matrix[train, train] + skew - skew.T):
        model = SpectrumSVM(spectrum, 10.0, similarity="precomputed").fit(given, y[train])
        new, values = matrix[test, train], expected.decision_function(rows)
        np.testing.assert_allclose(model.decision_function(new), values, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(model.predict(new), expected.predict(rows))
        before = np.linalg.eigvalsh(matrix[train, train])
        np.testing.assert_allclose(model.eigenvalues_, before, atol=1e-9)
    assert model.eigenvalues_[0] < -1


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_a_positive_semi_definite_matrix_is_left_alone(spectrum, iris):
    X, y = iris
    for gram in X @ X.T, GaussianKernel(1.0)(X):  # of rank 4, and of full rank
        found = SpectrumSVM(spectrum, 1.0, similarity="precomputed").fit(gram, y)
        svc = SVC(kernel="precomputed", C=1.0, break_ties=True).fit(gram, y)
        values = svc.decision_function(gram)
        np.testing.assert_allclose(found.decision_function(gram), values, rtol=1e-9)


def test_distances_are_shifted_after_the_largest_is_added(iris):
    """-D alone is shifted by the greatest eigenvalue of D: the diagonal outweighs the rest."""
    X, y = iris
    D = np.sqrt(abs(X[:, None] - X[None]).sum(axis=2))
    train, new = D[:100, :100], D[100:, :100]
    model = SpectrumSVM("shift", 1.0, similarity="precomputed", kind="distance")
    complement = clone(model).fit(train, y[:100])
    by_hand = SpectrumSVM("shift", 1.0, similarity="precomputed")
    by_hand.fit(train.max() - train, y[:100])
    expected = by_hand.decision_function(train.max() - new)
    np.testing.assert_allclose(complement.decision_function(new), expected, rtol=1e-6)
    negated = clone(model).set_params(distances="negate").fit(train, y[:100])
    assert complement.score(new, y[100:]) > negated.score(new, y[100:])
    assert negated.eigenvalues_[0] < complement.eigenvalues_[0] - 50


@pytest.mark.parametrize("make", [SimilarityFeatureSVM, SpectrumSVM])
def test_c_is_chosen_on_validation_points(make, iris, similarities):
    y, rows = iris[1], similarities[:, :80]
    Cs, options = [1e-3, 1.0, 100.0], {"similarity": "precomputed"}
    single = [make(C=C, **options).fit(rows[:80], y[:80]) for C in Cs]
    accuracy = [model.score(rows[80:], y[80:]) for model in single]
    assert len(set(accuracy)) > 1
    model = make(C=Cs[::-1], **options).fit(rows[:80], y[:80], X_val=rows[80:], y_val=y[80:])
    np.testing.assert_allclose(model.validation_scores_, accuracy)
    best = int(np.argmax(accuracy))
    assert Cs[best] == model.C_ == model.best_params_["C"]
    np.testing.assert_array_equal(model.predict(rows), single[best].predict(rows))


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
