import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.baselines import SpectrumSVM
from tests.checks import parametrize_with_checks

SPECTRA = ["clip", "flip", "shift", "square"]


@parametrize_with_checks(
    [
        SpectrumSVM(C=(0.1, 1.0), random_state=0),
        SpectrumSVM("shift", C=1.0, similarity="precomputed"),
    ]
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    rng = np.random.RandomState(0)
    order = rng.permutation(150)
    return X[order] + rng.normal(scale=0.5, size=X.shape), np.array(["a", "b", "c"])[y[order]]


@pytest.fixture(scope="module")
def similarities(data):
    """An indefinite similarity of 150 points, the greatest eigenvalues of either sign alike."""
    return -np.sqrt(abs(data[0][:, None] - data[0][None]).max(axis=2))


def slow_spectrum(matrix, spectrum):
    """The changed matrix and the map of new rows, eigenvector by eigenvector."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kernel, change = np.zeros_like(matrix), np.zeros_like(matrix)
    for value, vector in zip(values, vectors.T, strict=True):
        new = {
            "clip": max(value, 0),
            "flip": abs(value),
            "shift": value - values.min(),
            "square": value**2,
        }[spectrum]
        kernel += new * np.outer(vector, vector)
        change += (1 if spectrum == "shift" else new / value) * np.outer(vector, vector)
    return kernel, change


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_slow_version(spectrum, n_classes, data, similarities):
    chosen = np.flatnonzero(data[1] < "abcd"[n_classes])
    y, matrix = data[1][chosen], similarities[np.ix_(chosen, chosen)]
    train, test = slice(0, 70), slice(70, None)
    kernel, change = slow_spectrum(matrix[train, train], spectrum)
    expected = SVC(kernel="precomputed", C=10.0, break_ties=True).fit(kernel, y[train])
    rows = matrix[test, train] @ change
    model = SpectrumSVM(spectrum, 10.0, similarity="precomputed")
    model.fit(matrix[train, train], y[train])
    np.testing.assert_allclose(
        model.decision_function(matrix[test, train]),
        expected.decision_function(rows),
        rtol=1e-5,
        atol=1e-5,
    )
    np.testing.assert_array_equal(model.predict(matrix[test, train]), expected.predict(rows))
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(matrix[train, train]))
    assert model.eigenvalues_[0] < -1


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_a_positive_semi_definite_matrix_is_left_alone(spectrum, data):
    X, y = data
    for gram in X @ X.T, GaussianKernel(1.0)(X):  # of rank 4, and of full rank
        model = SpectrumSVM(spectrum, 1.0, similarity="precomputed").fit(gram, y)
        expected = SVC(kernel="precomputed", C=1.0, break_ties=True).fit(gram, y)
        np.testing.assert_allclose(
            model.decision_function(gram), expected.decision_function(gram), rtol=1e-9
        )


def test_a_known_negative_part():
    """On two points of similarity 1 that have similarity 0 with themselves λ is 1 and -1."""
    S = np.array([[0.0, 1.0], [1.0, 0.0]])
    y = [0, 1]
    new = np.array([[3.0, 1.0]])
    clipped = SpectrumSVM("clip", 1.0, similarity="precomputed").fit(S, y)
    np.testing.assert_allclose(clipped.eigenvalues_, [-1, 1])
    # Clip leaves (1, 1)/2 for both points, which no function tells apart.
    np.testing.assert_allclose(clipped.decision_function(new), 0, atol=1e-9)
    # Flip gives the unit matrix, and takes (3, 1) to (1, 3): nearer the second point.
    flipped = SpectrumSVM("flip", 1.0, similarity="precomputed").fit(S, y)
    np.testing.assert_allclose(flipped.decision_function(new), 2, rtol=1e-6)
    # Shift gives ones everywhere, S + 1, and the new row stays as it is.
    shifted = SpectrumSVM("shift", 1.0, similarity="precomputed").fit(S, y)
    np.testing.assert_allclose(shifted.decision_function(new), -2, rtol=1e-6)


def test_a_shift_keeps_similarities_of_different_points(data, similarities):
    y = data[1]
    shifted = SpectrumSVM("shift", 1.0, similarity="precomputed").fit(similarities, y)
    kernel = similarities - np.linalg.eigvalsh(similarities)[0] * np.eye(150)
    assert np.linalg.eigvalsh(kernel)[0] == pytest.approx(0, abs=1e-9)
    expected = SVC(kernel="precomputed", C=1.0).fit(kernel, y)
    np.testing.assert_array_equal(shifted.svm_.support_, expected.support_)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_an_asymmetric_matrix_is_symmetrised(spectrum, data, similarities):
    y = data[1]
    skew = np.triu(np.random.RandomState(0).normal(size=(150, 150)), 1)
    model = SpectrumSVM(spectrum, 1.0, similarity="precomputed")
    symmetric = clone(model).fit(similarities, y)
    asymmetric = model.fit(similarities + skew - skew.T, y)
    np.testing.assert_allclose(
        asymmetric.decision_function(similarities),
        symmetric.decision_function(similarities),
        rtol=1e-6,
        atol=1e-6,
    )


def test_distances_and_names(data):
    X, y = data
    distances = abs(X[:, None] - X[None]).sum(axis=2)
    given = SpectrumSVM(C=1.0, similarity="precomputed", kind="distance").fit(distances, y)
    named = SpectrumSVM(C=1.0, similarity="manhattan").fit(X, y)
    np.testing.assert_allclose(
        given.decision_function(distances), named.decision_function(X), rtol=1e-6, atol=1e-6
    )


def test_distances_are_shifted_after_the_largest_is_added():
    """-D alone is shifted by the greatest eigenvalue of D: the diagonal outweighs the rest."""
    X, y = load_iris(return_X_y=True)
    D = np.sqrt(abs(X[:, None] - X[None]).sum(axis=2))
    train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
    rows = D[train][:, train], D[test][:, train]
    model = SpectrumSVM("shift", 1.0, similarity="precomputed", kind="distance")
    complement = clone(model).fit(rows[0], y[train])
    by_hand = SpectrumSVM("shift", 1.0, similarity="precomputed")
    by_hand.fit(rows[0].max() - rows[0], y[train])
    np.testing.assert_allclose(
        complement.decision_function(rows[1]),
        by_hand.decision_function(rows[0].max() - rows[1]),
        rtol=1e-6,
    )
    negated = clone(model).set_params(distances="negate").fit(rows[0], y[train])
    assert complement.score(rows[1], y[test]) > 0.9
    assert negated.svm_.support_.size == 100 > complement.svm_.support_.size
    assert negated.eigenvalues_[0] < -100
    assert complement.eigenvalues_[0] > -1e-9


@pytest.mark.filterwarnings("error")
def test_distances_passed_as_similarities_are_named():
    X, y = load_iris(return_X_y=True)
    D = abs(X[:, None] - X[None]).sum(axis=2)
    with pytest.warns(UserWarning, match=r"looks like distances.*kind='distance'"):
        SpectrumSVM(C=1.0, similarity="precomputed").fit(D, y)
    SpectrumSVM(C=1.0, similarity="precomputed", kind="distance").fit(D, y)
    SpectrumSVM(C=1.0, similarity="precomputed").fit(D.max() - D, y)
    SpectrumSVM(C=1.0, similarity="precomputed").fit(-D, y)


def test_integers_from_a_function_of_ones_own():
    def common(left, right):
        return np.array([[len(set(a) & set(b)) for b in right] for a in left])

    words = ["abc", "abd", "xyz", "xyw"]
    model = SpectrumSVM(C=10.0, similarity=common).fit(words, [0, 0, 1, 1])
    assert model.predict(["ab", "yx"]).tolist() == [0, 1]


def test_c_is_chosen_on_validation_points(data, similarities):
    y = data[1]
    train, val = slice(0, 80), slice(80, 150)
    rows = similarities[:, train]
    single = [
        SpectrumSVM(C=C, similarity="precomputed").fit(rows[train], y[train])
        for C in (1e-3, 1.0, 100.0)
    ]
    accuracy = [model.score(rows[val], y[val]) for model in single]
    model = SpectrumSVM(C=(100.0, 1e-3, 1.0), similarity="precomputed")
    model.fit(rows[train], y[train], rows[val], y[val])
    np.testing.assert_allclose(model.validation_scores_, accuracy)
    best = int(np.argmax(accuracy))
    assert [1e-3, 1.0, 100.0][best] == model.C_
    np.testing.assert_array_equal(model.predict(rows), single[best].predict(rows))


def test_constant_similarities(data):
    model = SpectrumSVM(C=1.0, similarity="precomputed").fit(np.zeros((150, 150)), data[1])
    assert len(set(model.predict(np.zeros((4, 150))))) == 1


def test_bad_input(data, similarities):
    X, y = data
    with pytest.raises(ValueError, match="'spectrum' parameter"):
        SpectrumSVM("cut").fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        SpectrumSVM(similarity="precomputed").fit(similarities[:, :149], y)
    broken = similarities.copy()
    broken[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SpectrumSVM(similarity="precomputed").fit(broken, y)
    with pytest.raises(ValueError, match="one class"):
        SpectrumSVM(similarity="precomputed").fit(similarities, np.ones(150))
    model = SpectrumSVM(C=1.0, similarity="precomputed").fit(similarities, y)
    with pytest.raises(ValueError, match="150 features"):
        model.predict(similarities[:, :10])
