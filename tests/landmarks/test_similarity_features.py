import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from kernlearn.kernels import GaussianKernel, SigmoidKernel
from kernlearn.landmarks.baselines import SimilarityFeatureSVM
from kernlearn.solvers import LinearSVM
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        SimilarityFeatureSVM(random_state=0),
        SimilarityFeatureSVM(1.0, similarity="precomputed"),
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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_svm_on_the_similarities(n_classes, dtype, form, data):
    X, y = data
    X = X[y < "abcd"[n_classes]].astype(dtype)
    y = y[y < "abcd"[n_classes]]
    similarity = SigmoidKernel(a=0.1)
    train = slice(0, 80)
    model = SimilarityFeatureSVM(10.0, similarity=similarity).fit(form(X[train]), y[train])
    expected = LinearSVM(C=10.0).fit(similarity(X[train]), y[train])
    features = similarity(X, X[train])
    rtol = 1e-6 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(
        model.decision_function(form(X)),
        expected.decision_function(features),
        rtol=rtol,
        atol=rtol,
    )
    np.testing.assert_array_equal(model.predict(form(X)), expected.predict(features))
    assert model.C_ == 10.0
    assert model.validation_scores_ is None


def test_precomputed_callable_and_distance_are_alike(data):
    X, y = data
    distances = abs(X[:, None] - X[None]).sum(axis=2)
    ways = [
        (SimilarityFeatureSVM(1.0, similarity="manhattan"), X),
        (SimilarityFeatureSVM(1.0, similarity=lambda A, B: -abs(A[:, None] - B).sum(axis=2)), X),
        (SimilarityFeatureSVM(1.0, similarity="precomputed", kind="distance"), distances),
        (SimilarityFeatureSVM(1.0, similarity="precomputed"), -distances),
    ]
    scores = [model.fit(points, y).decision_function(points) for model, points in ways]
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("similarity", ["gaussian", "precomputed"])
def test_c_is_chosen_on_given_validation_points(similarity, data):
    X, y = data
    train, val = slice(0, 60), slice(60, 110)
    gram = GaussianKernel().fit(X[train])(X, X[train])
    points = gram if similarity == "precomputed" else X
    Cs = [100.0, 1e-3, 1.0, 1e-3]
    accuracy = {C: LinearSVM(C).fit(gram[train], y[train]).score(gram[val], y[val]) for C in Cs}
    model = SimilarityFeatureSVM(Cs, similarity=similarity)
    model.fit(points[train], y[train], points[val], y[val])
    np.testing.assert_allclose(model.validation_scores_, [accuracy[C] for C in sorted(accuracy)])
    assert len(set(accuracy.values())) > 1
    best = max(accuracy.values())
    assert min(C for C in accuracy if accuracy[C] == best) == model.C_
    expected = LinearSVM(model.C_).fit(gram[train], y[train])
    np.testing.assert_array_equal(model.predict(points), expected.predict(gram))


def test_points_kept_apart_of_a_matrix_are_cut_from_rows_and_columns(data):
    X, y = data
    by_name = SimilarityFeatureSVM((1, 100), similarity="manhattan", random_state=5).fit(X, y)
    matrix = -abs(X[:, None] - X[None]).sum(axis=2)
    given = SimilarityFeatureSVM((1, 100), similarity="precomputed", random_state=5)
    given.fit(matrix, y)
    assert given.C_ == by_name.C_
    np.testing.assert_array_equal(given.validation_scores_, by_name.validation_scores_)
    assert given.svm_.n_features_in_ == 120
    np.testing.assert_allclose(
        given.decision_function(matrix), by_name.decision_function(X), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("C", [0, -1.0, (1, 0), [], "one", [np.nan], [[1.0, 2.0]]])
def test_bad_c(C, data):
    with pytest.raises(ValueError, match="'C'"):
        SimilarityFeatureSVM(C).fit(*data)


def test_bad_similarity(data):
    X, y = data
    with pytest.raises(ValueError, match="finite"):
        SimilarityFeatureSVM(similarity=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        SimilarityFeatureSVM(similarity="precomputed").fit(X, y)
    model = SimilarityFeatureSVM(1.0, similarity="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="150 features"):
        model.predict(X)
