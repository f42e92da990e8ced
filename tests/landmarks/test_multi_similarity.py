"""Several similarities in a budget, step by step and in the whole."""

from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, manhattan_distances
from sklearn.model_selection import GridSearchCV

from kernlearn.kernels import GaussianKernel, LaplacianKernel
from kernlearn.landmarks import BBSClassifier, MultiSimilarityClassifier
from kernlearn.landmarks.group_weights import group_lasso
from kernlearn.landmarks.growth import paired_gain
from kernlearn.solvers.linear_path import linear_paths
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        MultiSimilarityClassifier(C=(1.0, 10.0), max_comparisons=20),
        MultiSimilarityClassifier(["gaussian"], C=1.0, max_comparisons=10),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


RNG = np.random.RandomState(0)
X = RNG.normal(size=(500, 6))
#: A sum of a bowl in two columns and a slope in two others; the last two say nothing.
SUM = X[:, 0] ** 2 + X[:, 1] ** 2 - 2 + 1.2 * (X[:, 2] + X[:, 3])
TWO, Y = (SUM > 0).astype(int), np.digitize(SUM, [-1.0, 1.0])
ROUND, LINE, NOISE = [0, 1], [2, 3], [4, 5]
GAUSSIAN = GaussianKernel(sigma=1.5)
THREE = [(GAUSSIAN, NOISE), (GAUSSIAN, ROUND), ("linear", LINE)]


def shares_of(model):
    return dict(zip(["noise", "round", "line"], model.similarity_weights_, strict=True))


def test_what_does_not_pay_is_dropped():
    model = MultiSimilarityClassifier(THREE, 60, random_state=0).fit(X[:400], TWO[:400])
    found = model.score(X[400:], TWO[400:])
    assert found > 0.85
    shares = shares_of(model)
    assert shares["noise"] < 0.05
    assert min(shares["round"], shares["line"]) > 0.1
    assert sum(shares.values()) == pytest.approx(1)
    alone = BBSClassifier(60, similarity=GAUSSIAN, random_state=0).fit(X[:400], TWO[:400])
    assert found > alone.score(X[400:], TWO[400:])


def test_a_prediction_is_within_the_budget():
    for budget in (1, 7, 30, 100):
        model = MultiSimilarityClassifier(THREE, budget, random_state=1).fit(X, Y)
        assert model.n_similarities_ <= budget
        sizes = [len(indices) for indices in model.landmark_indices_]
        assert sum(sizes) <= budget
        assert model.coef_.shape == (3, sum(sizes))
        for tried in model.growth_:
            assert sum(tried.n_landmarks) <= budget


def test_the_decision_is_the_sum_of_weighted_similarities():
    model = MultiSimilarityClassifier(THREE, 40, fit_intercept=True, random_state=0).fit(X, Y)
    features = []
    kernels = [GAUSSIAN, GAUSSIAN, lambda A, B: A @ B.T]
    columns = [NOISE, ROUND, LINE]
    for kernel, part, rows, scale in zip(
        kernels, columns, model.landmark_indices_, model.scales_, strict=True
    ):
        if len(rows):
            features.append(kernel(X[:, part], X[rows][:, part]) / scale)
    expected = np.hstack(features) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


class Counted:
    def __init__(self):
        self.pairs = []

    def __call__(self, A, B):
        self.pairs += [(a.tobytes(), b.tobytes()) for a in A for b in B]
        return laplacian_kernel(A, B, gamma=0.3)


@pytest.mark.parametrize("selection", ["random", "stratified", "dselect"])
def test_comparisons_are_made_once_and_counted(selection):
    counted = Counted(), Counted()
    parts = [(counted[0], ROUND), (counted[1], LINE)]
    model = MultiSimilarityClassifier(parts, 40, selection=selection, random_state=0).fit(X, Y)
    made = [len(one.pairs) for one in counted]
    assert sum(made) == model.growth_[-1].n_comparisons
    assert sum(made) <= 500 * (2 * 40 + 5 * 2)
    for one in counted:
        assert len(set(one.pairs)) == len(one.pairs)
        one.pairs.clear()
    model.predict(X[:10])
    assert sum(len(one.pairs) for one in counted) == 10 * model.n_similarities_


def test_the_search_step_by_step():
    """Each step again: what was better, by how much, and when the search ended."""
    model = MultiSimilarityClassifier(THREE, 100, C=(1, 100), random_state=2)
    model.fit(X[:350], Y[:350], X[350:], Y[350:])
    before, failures = (0, 0, 0), 0
    for tried in model.growth_:
        assert failures < 2
        changed = [m for m in range(3) if tried.n_landmarks[m] != before[m]]
        assert changed == [tried.similarity]
        old, new = before[changed[0]], tried.n_landmarks[changed[0]]
        assert new == min(max(2 * old, 5), old + 100 - sum(before))
        finer = tried.gain >= 0 and tried.loss_gain > tried.loss_error
        gains = tried.gain > tried.standard_error or finer
        assert tried.kept == (np.isnan(tried.gain) or gains)
        failures = 0 if tried.kept else failures + 1
        before = tried.n_landmarks
    kept = [tried for tried in model.growth_ if tried.kept][-1]
    assert model.validation_scores_[0].max() == kept.score
    assert model.validation_scores_.max() == pytest.approx(model.score(X[350:], Y[350:]))
    assert failures == 2 or sum(before) == 100


def test_the_first_step_is_the_best_single_similarity():
    model = MultiSimilarityClassifier(THREE, 5, C=10.0, random_state=3)
    model.fit(X[:350], Y[:350], X[350:], Y[350:])
    scores = []
    for m in range(3):
        alone = MultiSimilarityClassifier(THREE[m : m + 1], 5, C=10.0, random_state=3)
        scores.append(alone.fit(X[:350], Y[:350], X[350:], Y[350:]).growth_[0].score)
    assert len(model.growth_) == 1
    # other landmarks are drawn for the others, but not for the first
    assert model.growth_[0].score >= scores[0]


def test_one_similarity_is_bbs():
    model = MultiSimilarityClassifier([(GAUSSIAN, ROUND)], 20, C=10.0, random_state=0).fit(X, Y)
    rows = model.landmark_indices_[0]
    assert not model.learnt_weights_
    held_out_free = MultiSimilarityClassifier([(GAUSSIAN, ROUND)], 20, C=10.0, random_state=0)
    held_out_free.fit(X[:400], Y[:400], X[400:], Y[400:])
    rows = held_out_free.landmark_indices_[0]
    features = GAUSSIAN(X[:400, :2], X[rows][:, :2])
    targets = np.where(Y[:400] == np.arange(3)[:, None], 1.0, -1.0)
    coef, _ = linear_paths(features / features.max(), targets, [10.0])
    np.testing.assert_allclose(held_out_free.coef_, coef[:, 0], rtol=1e-6, atol=1e-9)


GROUPS = [slice(0, 3), slice(3, 4), slice(4, 9), slice(9, 12)]


@pytest.mark.parametrize("C", [0.02, 0.1, 1.0])
def test_group_lasso_is_the_minimum(C):
    features = np.random.RandomState(1).normal(size=(80, 12))
    y = np.where(features[:, 0] + features[:, 5] > 0, 1.0, -1.0)

    def solve(factors):
        return linear_paths(features * factors, y[None], [C])[0][:, 0]

    def objective(w):
        sizes = sum(np.linalg.norm(w[group]) for group in GROUPS)
        return sizes**2 / 2 + C * (np.maximum(0, 1 - y * (features @ w)) ** 2).sum()

    coef, shares = group_lasso(solve, GROUPS)
    start = linear_paths(features, y[None], [C])[0][0, 0]
    best = min(
        (
            minimize(objective, begin, method="Powell", options={"maxiter": 30000, "ftol": 1e-10})
            for begin in (start, coef[0])
        ),
        key=lambda found: found.fun,
    )
    assert objective(coef[0]) <= best.fun * 1.002
    sizes = np.array([np.linalg.norm(coef[0, group]) for group in GROUPS])
    np.testing.assert_allclose(shares, sizes / sizes.sum(), atol=2e-3)
    assert shares[1] < shares.max()


def test_group_lasso_drops_groups():
    features = np.random.RandomState(1).normal(size=(200, 12))
    y = np.where(features[:, 0] > 0, 1.0, -1.0)

    def solve(factors):
        return linear_paths(features * factors, y[None], [0.01])[0][:, 0]

    coef, shares = group_lasso(solve, GROUPS)
    assert shares[0] == pytest.approx(1)
    assert not coef[0, 3:].any()


PEOPLE = [
    {"name": name, "age": float(age)}
    for name in ("anna", "hanna", "otto", "lotto")
    for age in range(20, 60)
]
OLD_ANNA = [person["name"].endswith("a") and person["age"] > 40 for person in PEOPLE]


def test_records():
    parts = [
        ("levenshtein", itemgetter("name")),
        (LaplacianKernel(sigma=5.0), itemgetter("age")),
        (lambda a, b: -abs(a["age"] - b["age"]), None),
    ]
    model = MultiSimilarityClassifier(parts[:2], 30, random_state=0).fit(PEOPLE, OLD_ANNA)
    assert model.score(PEOPLE, OLD_ANNA) > 0.95
    assert model.similarity_weights_.min() > 0.1
    new = [{"name": "hannah", "age": 55.0}, {"name": "otto", "age": 55.0}]
    assert model.predict(new).tolist() == [True, False]
    whole = MultiSimilarityClassifier(parts, 30, random_state=0).fit(
        np.array(PEOPLE, dtype=object), np.array(OLD_ANNA)
    )
    assert whole.score(PEOPLE, OLD_ANNA) > 0.95


def test_a_distance_among_similarities():
    parts = [(manhattan_distances, LINE), (GAUSSIAN, ROUND)]
    model = MultiSimilarityClassifier(
        parts, 40, kind=["distance", "similarity"], random_state=0
    ).fit(X, Y)
    assert model.score(X, Y) > 0.8
    negated = [(lambda A, B: -manhattan_distances(A, B), LINE), (GAUSSIAN, ROUND)]
    again = MultiSimilarityClassifier(negated, 40, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X))


def test_columns_by_name_and_sparse_points():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = [(GAUSSIAN, ["a", "b"]), ("linear", ["c", "d"])]
    by_number = [(GAUSSIAN, [0, 1]), ("linear", slice(2, 4))]
    model = MultiSimilarityClassifier(by_name, 20, random_state=0).fit(frame, Y)
    again = MultiSimilarityClassifier(by_number, 20, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(frame), again.predict(X))
    thin = MultiSimilarityClassifier(by_number, 20, random_state=0).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)), again.decision_function(X), rtol=1e-6
    )
    with pytest.raises(ValueError, match="X has no column named 'z'"):
        MultiSimilarityClassifier([("linear", ["z"])]).fit(frame, Y)


def test_weights_of_classes_and_points():
    by_class = MultiSimilarityClassifier(
        THREE, 20, class_weight={0: 3.0, 1: 1.0, 2: 0.5}, random_state=0
    )
    by_point = clone(by_class).set_params(class_weight=None)
    weights = np.array([3.0, 1.0, 0.5])[Y]
    np.testing.assert_allclose(
        by_class.fit(X, Y).decision_function(X),
        by_point.fit(X, Y, sample_weight=weights).decision_function(X),
    )
    without = np.r_[np.ones(400), np.zeros(100)]
    by_point.fit(X, Y, sample_weight=without)
    assert max(map(max, (rows for rows in by_point.landmark_indices_ if len(rows)))) < 400


def test_calibrated_probabilities():
    model = MultiSimilarityClassifier(THREE, 20, calibration="sigmoid", random_state=0).fit(X, Y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.mean(found.argmax(axis=1) == Y) > 0.7


def test_searches_take_it():
    search = GridSearchCV(
        MultiSimilarityClassifier(THREE, random_state=0),
        {"max_comparisons": [5, 20], "similarities": [THREE, THREE[:2]]},
        cv=2,
        error_score="raise",
    )
    assert search.fit(X, Y).best_params_["similarities"] == THREE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarities": []}, "at least one similarity"),
        ({"similarities": ["gausian"]}, "'similarities' must be one of"),
        ({"similarities": ["precomputed"]}, "not 'precomputed'"),
        ({"similarities": [("linear", [9])]}, "from 0 to 5, got"),
        ({"kind": ["distance"]}, "one of these for each of the 2 similarities"),
        ({"similarities": [("gaussian", lambda x: x[: 1 + int(x[0] > 0)])]}, "vectors of one"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        MultiSimilarityClassifier(**options).fit(X, Y)


def test_the_gain_is_that_of_validation_points():
    """`TriedSize.gain` of accuracies of two sets, from their predictions."""
    before, after = np.array([1.0, 0, 0, 1]), np.array([0.0, 0, 0, 1])
    assert paired_gain(before, after, None)[0] == 0.25
