"""Support vector machines on similarities, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from kernlearn.kernels import GaussianKernel, SigmoidKernel
from kernlearn.landmarks import SimilarityFeatureSVM, SpectrumSVM
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
