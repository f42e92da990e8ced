from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernlearn.datasets import load
from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import similarity
from kernlearn.landmarks.dboost import DBoostClassifier
from kernlearn.landmarks.selection import SELECTIONS
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        DBoostClassifier(n_landmarks=20),
        DBoostClassifier(n_landmarks=10, pool_size=None, n_thresholds=0, multi_class="ovo"),
        DBoostClassifier(n_landmarks=10, pool_size=30, selection="dselect", reuse=False),
        DBoostClassifier(n_landmarks=10, similarity="precomputed"),
        DBoostClassifier("auto", max_comparisons=20),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_each_stage_is_a_fit_with_so_many_landmarks():
    X, y = load_iris(return_X_y=True)
    model = DBoostClassifier(7, pool_size=20, random_state=0).fit(X, y)
    stages = list(zip(model.staged_decision_function(X), model.staged_predict(X), strict=True))
    assert len(stages) == 7
    for rounds, (scores, labels) in enumerate(stages, start=1):
        fewer = clone(model).set_params(n_landmarks=rounds).fit(X, y)
        np.testing.assert_allclose(scores, fewer.decision_function(X), atol=1e-12)
        np.testing.assert_array_equal(labels, fewer.predict(X))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_stages_after_a_problem_has_ended(multi_class):
    X, y = make_blobs(90, centers=[[0, 0], [1, 0], [40, 0]], random_state=0)
    model = DBoostClassifier(
        25, pool_size=20, n_thresholds=3, multi_class=multi_class, reuse=False, random_state=0
    ).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-12)
    assert max(map(len, model.edges_)) == 20


@pytest.mark.parametrize("n_thresholds", [63, 0])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_blocks_and_memory_do_not_show(monkeypatch, small_blocks, multi_class, n_thresholds):
    X, y = load_iris(return_X_y=True)
    model = DBoostClassifier(
        15, pool_size=30, n_thresholds=n_thresholds, multi_class=multi_class, random_state=0
    )
    expected = model.fit(X, y).decision_function(X)
    pairs = model.landmark_pairs_
    limit_memory = partial(monkeypatch.setattr, similarity, "KEPT_ELEMENTS", 0)
    for change in (small_blocks, limit_memory):
        change()
        found = clone(model).fit(X, y)
        for one, other in zip(pairs, found.landmark_pairs_, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-12)


def test_similarity_may_be_given_in_any_way():
    X, y = make_moons(150, noise=0.2, random_state=0)
    X_new = X[::-1] + 0.1
    kernel = GaussianKernel(0.7)
    gram, cross = kernel(X, X), kernel(X_new, X)
    model = DBoostClassifier(20, pool_size=50, random_state=0)
    expected = clone(model).set_params(similarity=kernel).fit(X, y).decision_function(X_new)
    matrix = clone(model).set_params(similarity="precomputed").fit(gram, y)
    np.testing.assert_allclose(matrix.decision_function(cross), expected, atol=1e-12)
    function = clone(model).set_params(similarity=lambda A, B: -kernel(A, B), kind="distance")
    np.testing.assert_allclose(function.fit(X, y).decision_function(X_new), expected, atol=1e-12)
    as_sparse = clone(model).set_params(similarity=kernel).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        as_sparse.decision_function(sparse.csr_matrix(X_new)), expected, atol=1e-12
    )


def test_points_need_not_be_vectors():
    def shared(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    words = ["abba", "baab", "bab", "aba", "xyz", "zyx", "yxy", "xxyz"]
    model = DBoostClassifier(5, similarity=shared, random_state=0).fit(
        words, ["ab"] * 4 + ["xy"] * 4
    )
    assert model.predict(["bbb", "zzz"]).tolist() == ["ab", "xy"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_precision_is_kept(dtype, multi_class):
    X, y = load_iris(return_X_y=True)
    model = DBoostClassifier(30, multi_class=multi_class, random_state=0).fit(X.astype(dtype), y)
    assert model.decision_function(X.astype(dtype)).dtype == dtype
    assert next(model.staged_decision_function(X.astype(dtype))).dtype == dtype
    assert model.thresholds_[0].dtype == dtype
    assert model.score(X, y) > 0.95


def test_rounding_is_no_difference_where_it_abstains():
    # Pairs at the same distance from every point, but for the last bits.
    K = 0.3 + 1e-15 * np.random.RandomState(0).randn(20, 20)
    y = np.arange(20) % 2
    model = DBoostClassifier(5, similarity="precomputed", n_thresholds=0, random_state=0)
    with pytest.warns(UserWarning, match="no pair of landmarks"):
        model.fit(K, y)
    assert not model.decision_function(K).any()


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("n_thresholds", [63, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_constant_similarity_teaches_nothing(n_classes, n_thresholds, multi_class):
    y = np.arange(30) % n_classes
    model = DBoostClassifier(
        5, similarity="precomputed", n_thresholds=n_thresholds, multi_class=multi_class
    )
    with pytest.warns(UserWarning, match="no pair of landmarks tells classes apart"):
        model.fit(np.ones((30, 30)), y)
    assert [len(pairs) for pairs in model.landmark_pairs_] == [0] * len(model.problems_)
    assert np.isfinite(model.decision_function(np.ones((4, 30)))).all()
    assert set(model.predict(np.ones((4, 30)))) <= set(y)
    assert list(model.staged_predict(np.ones((4, 30)))) == []


def test_learners_without_error_are_taken_once_each():
    X = np.r_[np.linspace(0, 1, 20), np.linspace(9, 10, 20)][:, None]
    y = np.repeat([0, 1], 20)
    model = DBoostClassifier(10, pool_size=6, random_state=0).fit(X, y)
    assert len(model.edges_[0]) == 6
    assert len(np.unique(model.landmark_pairs_[0], axis=0)) == 6
    np.testing.assert_allclose(model.edges_[0], 1)
    np.testing.assert_allclose(model.estimator_weights_[0], np.log(2 * 40 - 1) / 2)
    assert model.training_errors_[0].max() == 0
    assert model.score(X, y) == 1


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_pairs_are_of_the_right_classes_and_from_the_pool(selection, multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DBoostClassifier(
        20, pool_size=9, selection=selection, multi_class=multi_class, random_state=0
    ).fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    for (positive, negative), pairs in zip(model.problems_, model.landmark_pairs_, strict=True):
        assert (y[pairs[:, 0]] == positive).all()
        others = y[pairs[:, 1]]
        assert (others != positive).all() if negative is None else (others == negative).all()
        assert len(np.unique(pairs, axis=0)) <= 9
    assert model.score(X, names) > 0.9


def test_landmarks_read_off_give_the_decision():
    X, y = load_iris(return_X_y=True)
    kernel = GaussianKernel(1.0)
    model = DBoostClassifier(10, similarity=kernel, pool_size=15, random_state=0).fit(X, y)
    K = kernel(X, X)
    scores, totals = np.zeros((150, 3)), np.zeros(3)
    for learner in model.landmarks():
        assert learner.against is None
        votes = np.sign(K[:, learner.positive] - K[:, learner.negative] - learner.threshold)
        scores[:, learner.label] += learner.weight * votes
        totals[learner.label] += learner.weight
    np.testing.assert_allclose(model.decision_function(X), scores / totals, atol=1e-12)
    pairwise = DBoostClassifier(3, multi_class="ovo", random_state=0).fit(X, y).landmarks()
    assert {(each.label, each.against) for each in pairwise} == {(0, 1), (0, 2), (1, 2)}


def test_few_thresholds_lose_little():
    X, y = make_moons(1500, noise=0.25, random_state=0)
    scores = [
        DBoostClassifier(50, n_thresholds=n, random_state=0)
        .fit(X[:1000], y[:1000])
        .score(X[1000:], y[1000:])
        for n in (31, 255)
    ]
    assert abs(scores[0] - scores[1]) < 0.02
    assert min(scores) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "'n_landmarks'"),
        ({"pool_size": 0}, "'pool_size'"),
        ({"n_thresholds": 256}, "'n_thresholds'"),
        ({"multi_class": "all"}, "'multi_class'"),
        ({"selection": "best"}, "'selection'"),
        ({"kind": "kernel"}, "'kind'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        DBoostClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_bad_data():
    model = DBoostClassifier(similarity="precomputed")
    with pytest.raises(ValueError, match="one class"):
        model.fit(np.eye(4), [1, 1, 1, 1])
    with pytest.raises(ValueError, match="square"):
        model.fit(np.ones((4, 3)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 4), np.nan), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="must be a finite number"):
        DBoostClassifier(similarity=lambda A, B: np.full((len(A), len(B)), np.inf)).fit(
            np.eye(4), [0, 1, 0, 1]
        )
    fitted = model.fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="features"):
        fitted.predict(np.ones((2, 3)))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_landmarks", "reported"),
    [("segment", 30, 0.93), ("segment", 300, 0.96), ("steel_plates_faults", 30, 0.68)],
)
def test_reported_accuracies_come_back(data_dir, name, n_landmarks, reported):
    data = load(name, data_dir=data_dir)
    X, y = np.asarray(data.data), np.asarray(data.target)
    scores = []
    for seed in range(3):
        X_train, X_rest, y_train, y_rest = train_test_split(
            X, y, train_size=0.5, random_state=seed
        )
        X_val, _, y_val, _ = train_test_split(X_rest, y_rest, train_size=0.4, random_state=seed)
        scaler = StandardScaler().fit(X_train)
        model = DBoostClassifier(n_landmarks, pool_size=None, random_state=seed)
        model.fit(scaler.transform(X_train), y_train)
        scores.append(model.score(scaler.transform(X_val), y_val))
    assert abs(np.mean(scores) - reported) < 0.03
