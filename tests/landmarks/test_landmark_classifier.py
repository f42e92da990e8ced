import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.model_selection import cross_val_score

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.classifiers import BBSClassifier, FTuneClassifier
from kernlearn.landmarks.selection import SELECTIONS
from kernlearn.model_selection import hold_out
from tests.checks import parametrize_with_checks

BOTH = pytest.mark.parametrize("make", [BBSClassifier, FTuneClassifier])
SIGMA = 2.0


@parametrize_with_checks(
    [
        BBSClassifier(),
        BBSClassifier(n_landmarks=10, selection="dselect", C=1.0, fit_intercept=True),
        BBSClassifier(similarity="precomputed", loss="logistic"),
        FTuneClassifier(),
        FTuneClassifier(n_landmarks=10, per_class=True, selection="stratified", transfers="sign"),
        FTuneClassifier(similarity="precomputed", kind="distance", transfers=(1, 10), C=(1, 10)),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def similarity(X, Y):
    return GaussianKernel(SIGMA)(X, Y)


def distance(X, Y):
    return -similarity(X, Y)


def lopsided(X, Y):
    """Neither symmetric nor positive semi-definite."""
    return np.tanh(X @ Y[:, ::-1].T - 0.1 * Y[:, 0])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    return (X[order] - X.mean(axis=0)) / X.std(axis=0), y[order]


def assert_same(one, other, rtol=1e-6):
    np.testing.assert_array_equal(one.landmark_indices_, other.landmark_indices_)
    np.testing.assert_allclose(one.validation_scores_, other.validation_scores_)
    np.testing.assert_allclose(one.C_, other.C_)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol)


@BOTH
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("given", [similarity, lopsided])
def test_a_matrix_says_what_the_function_says(iris, make, selection, given):
    X, y = iris
    train, test = slice(100), slice(100, None)
    options = {"n_landmarks": 8, "selection": selection, "random_state": 3}
    function = make(similarity=given, **options).fit(X[train], y[train])
    matrix = make(similarity="precomputed", **options)
    matrix.fit(given(X[train], X[train]), y[train])
    assert_same(function, matrix)
    np.testing.assert_allclose(
        matrix.decision_function(given(X[test], X[train])),
        function.decision_function(X[test]),
        rtol=1e-6,
        atol=1e-6,
    )
    # and with validation points of one's own
    function.fit(X[train], y[train], X[test], y[test])
    matrix.fit(given(X[train], X[train]), y[train], given(X[test], X[train]), y[test])
    assert_same(function, matrix)


@BOTH
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_a_distance_is_a_similarity_of_the_other_sign(iris, make, selection):
    X, y = iris
    options = {"n_landmarks": 8, "selection": selection, "random_state": 1}
    one = make(similarity=similarity, **options).fit(X, y)
    other = make(similarity=distance, kind="distance", **options).fit(X, y)
    assert_same(one, other)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X))


@BOTH
def test_named_similarity_takes_its_width_from_the_points_trained_on(iris, make):
    X, y = iris
    model = make(n_landmarks=8, random_state=0).fit(X[:80], y[:80], 100 * X[80:], y[80:])
    kernel = GaussianKernel().fit(X[:80])
    same = make(n_landmarks=8, similarity=kernel.__call__, random_state=0)
    same.fit(X[:80], y[:80], 100 * X[80:], y[80:])
    assert_same(model, same)


@BOTH
def test_sparse_points_are_points(iris, make):
    X, y = iris
    X = np.where(np.abs(X) < 0.7, 0, X)
    dense = make(n_landmarks=8, random_state=0).fit(X, y)
    thin = make(n_landmarks=8, random_state=0).fit(sparse.csr_matrix(X), y)
    assert_same(dense, thin, rtol=1e-5)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)),
        dense.decision_function(X),
        rtol=1e-5,
        atol=1e-5,
    )


@BOTH
def test_float32_stays(iris, make):
    X, y = iris
    wide = make(n_landmarks=8, random_state=0, C=1).fit(X, y)
    narrow = make(n_landmarks=8, random_state=0, C=1).fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert wide.decision_function(X).dtype == np.float64
    assert np.mean(narrow.predict(X.astype(np.float32)) == wide.predict(X)) > 0.97


@BOTH
def test_points_kept_apart_are_those_of_hold_out(iris, make):
    X, y = iris
    whole = make(n_landmarks=8, similarity=similarity, validation_fraction=0.3, random_state=5)
    whole.fit(X, y)
    rng = np.random.RandomState(5)
    kept, apart = hold_out(y, 0.3, rng)
    assert len(apart) == 45
    parts = clone(whole).set_params(random_state=rng)
    parts.fit(X[kept], y[kept], X[apart], y[apart])
    parts.landmark_indices_ = kept[parts.landmark_indices_]
    assert_same(whole, parts)


@BOTH
def test_with_one_choice_all_points_are_trained_on(iris, make):
    X, y = iris
    only = {"transfers": 5} if make is FTuneClassifier else {}
    model = make(n_landmarks=200, C=10, random_state=0, similarity=similarity, **only)
    if make is BBSClassifier:
        with pytest.warns(UserWarning, match="150 training points"):
            model.fit(X, y)
        assert len(model.landmark_indices_) == 150
    else:
        model.fit(X, y)
        assert model.landmark_indices_.shape == (3, 200, 2)
    assert model.validation_scores_ is None
    assert model.C_ == 10
    assert model.score(X, y) > 0.95


@BOTH
@pytest.mark.parametrize("kept", [0, 2**40])
def test_memory_does_not_change_the_result(iris, make, kept, monkeypatch, small_blocks):
    X, y = iris
    expected = make(n_landmarks=8, random_state=0).fit(X, y)
    monkeypatch.setattr("kernlearn.landmarks.similarity.KEPT_ELEMENTS", kept)
    found = make(n_landmarks=8, random_state=0).fit(X, y)
    assert_same(found, expected)
    decision = expected.decision_function(X)
    small_blocks()
    np.testing.assert_allclose(found.decision_function(X), decision, rtol=1e-6, atol=1e-9)


@BOTH
def test_only_landmarks_with_a_weight_are_compared(make):
    X, y = make_blobs(60, centers=[[4, 0], [0, 4], [4, 4]], random_state=0)
    X[::2] = 0.0  # similar to nothing, so that it is of no use as a landmark
    compared_with = []

    def product(X, Y):
        compared_with.append(len(Y))
        return X @ Y.T

    model = make(n_landmarks=12, similarity=product, C=1, random_state=0).fit(X, y, X, y)
    weighted = model.coef_.any(axis=0) if make is BBSClassifier else model.coef_ != 0
    of_use = np.unique(model.landmark_indices_[weighted])
    distinct = len(np.unique(model.landmark_indices_))
    compared_with.clear()
    model.decision_function(X)
    assert compared_with == [len(of_use)]
    assert len(of_use) < distinct


@BOTH
def test_normalization_takes_the_scale_of_the_similarity_away(iris, make):
    X, y = iris
    one = make(n_landmarks=8, similarity=similarity, random_state=0).fit(X, y)
    seven = make(n_landmarks=8, similarity=lambda X, Y: 7 * similarity(X, Y), random_state=0)
    seven.fit(X, y)
    assert_same(one, seven)
    assert seven.scale_ == pytest.approx(7 * one.scale_)
    np.testing.assert_allclose(one.decision_function(X), seven.decision_function(X), atol=1e-6)
    plain = clone(seven).set_params(normalize=False).fit(X, y)
    assert plain.scale_ == 1
    assert not np.allclose(plain.coef_, one.coef_)


@BOTH
def test_strings_and_a_function_of_them(make):
    rng = np.random.RandomState(0)
    words = ["".join(rng.choice(list("ab" if i % 2 else "bc"), 6)) for i in range(80)]
    labels = np.array(["cab", "bad"])[np.arange(80) % 2]

    def shared(X, Y):
        return np.array([[sum(a == b for a, b in zip(x, y, strict=True)) for y in Y] for x in X])

    model = make(n_landmarks=10, similarity=shared, random_state=0).fit(words, labels)
    assert model.score(words, labels) > 0.9
    assert set(model.predict(words)) == {"cab", "bad"}


@BOTH
def test_pickles_and_is_cross_validated_on_a_matrix(iris, make):
    X, y = iris
    model = make(n_landmarks=15, similarity="precomputed", random_state=0)
    gram = similarity(X, X)
    assert cross_val_score(model, gram, y, cv=3).mean() > 0.8
    model.fit(gram, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(gram), model.decision_function(gram))


@BOTH
def test_labels_that_training_has_not_count_as_errors(iris, make):
    X, y = iris
    known = make(n_landmarks=8, random_state=0).fit(X[:100], y[:100], X[100:], y[100:])
    more = X[:50], np.full(50, 9)
    unknown = make(n_landmarks=8, random_state=0).fit(
        X[:100], y[:100], np.r_[X[100:], more[0]], np.r_[y[100:], more[1]]
    )
    np.testing.assert_allclose(unknown.validation_scores_, known.validation_scores_ / 2)
    np.testing.assert_array_equal(unknown.coef_, known.coef_)


@BOTH
def test_a_class_missing_from_training_is_never_predicted(iris, make):
    X, y = iris
    without = y[:100] != 2
    model = make(n_landmarks=8, random_state=0)
    model.fit(X[:100][without], y[:100][without], X[100:], y[100:])
    assert set(model.predict(X)) == {0, 1}
    assert model.decision_function(X).shape == (150,)
    assert model.validation_scores_.max() <= np.mean(y[100:] != 2)


@BOTH
def test_a_constant_similarity_is_told(iris, make):
    X, y = iris
    model = make(n_landmarks=5, similarity=lambda X, Y: np.ones((len(X), len(Y))), random_state=0)
    with pytest.warns(UserWarning, match="says nothing about the classes"):
        model.fit(X, y)
    assert len(set(model.predict(X))) == 1


@BOTH
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": np.zeros(100)}, "one class"),
        ({"y": np.arange(100)}, "no class with two points"),
        ({"X": np.full((100, 4), np.nan)}, "NaN"),
        ({"y_val": np.zeros(50)}, "X_val and y_val must be given together"),
        ({"X_val": np.zeros((50, 4))}, "X_val and y_val must be given together"),
        ({"X_val": np.zeros((50, 3)), "y_val": np.zeros(50)}, "X_val: X has 3 features"),
        ({"X_val": np.zeros((50, 4)), "y_val": np.zeros(49)}, "y_val must hold one value"),
        ({"X_val": np.zeros((2, 4)), "y_val": ["p", "q"]}, "y_val holds none .* 'p', 'q'"),
        ({"X_val": np.full((2, 4), np.inf), "y_val": [0, 1]}, "X_val: .* infinity"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_refuses_data(iris, make, changed, message):
    X, y = iris
    data = {"X": X[:100], "y": y[:100]} | changed
    with pytest.raises(ValueError, match=message):
        make(n_landmarks=8, random_state=0).fit(**data)


@BOTH
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "'C'"),
        ({"C": (1, -1)}, "'C' must be a finite number > 0 or a sequence"),
        ({"C": [[1, 2]]}, "'C' must be a finite number > 0 or a sequence"),
        ({"C": ()}, "'C' must be"),
        ({"C": (1, np.inf)}, "'C' must be"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"selection": "best"}, "selection"),
        ({"loss": "zero_one"}, "loss"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"similarity": "gausian"}, "gausian"),
        ({"similarity": "precomputed"}, "square matrix"),
        ({"similarity": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "finite"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_refuses_parameters(iris, make, parameters, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        make(**{"n_landmarks": 8, "random_state": 0} | parameters).fit(X, y)


@BOTH
def test_a_matrix_of_other_points_is_refused(iris, make):
    X, y = iris
    model = make(n_landmarks=8, similarity="precomputed", random_state=0)
    gram = similarity(X, X)
    with pytest.raises(ValueError, match="X_val: X has 149 features"):
        model.fit(gram, y, gram[:, :149], y)
    model.fit(gram, y)
    with pytest.raises(ValueError, match="149 features"):
        model.predict(gram[:, :149])
