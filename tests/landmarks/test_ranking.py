import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.datasets import load
from kernlearn.landmarks import RankLand
from kernlearn.metrics import letor_ndcg

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 4))
QUERY = RNG.permutation(np.repeat(["a", "bb", "c", "d", "e", "f"], [20, 10, 25, 15, 1, 19]))
Y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 1.5])
Y[QUERY == "f"] = 0
Y[QUERY == "e"] = 2


def slow_fit(K, y, query, C):
    """K holds the similarities of all points to the landmarks."""
    rows, eta = [], []
    for q in sorted(set(query)):
        own = [i for i in range(len(y)) if query[i] == q]
        gains = [2.0 ** y[i] - 1 for i in own]
        norm = sum(g / np.log(2 + i) for i, g in enumerate(sorted(gains, reverse=True)))
        if norm:
            rows += own
            eta += [g / norm for g in gains]
    Psi = K[rows] / np.sqrt(K.shape[1])
    # least squares with rows for the regularizer
    A = np.vstack([Psi, np.eye(K.shape[1]) / np.sqrt(2 * C)])
    return np.linalg.lstsq(A, np.append(eta, np.zeros(K.shape[1])), rcond=None)[0]


@pytest.mark.parametrize("C", [0.1, 1, 100])
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_is_the_slow_version(C, selection):
    model = RankLand(8, similarity="manhattan", selection=selection, C=C, random_state=3)
    model.fit(X, Y, QUERY)
    K = -np.abs(X[:, None] - X[model.landmark_indices_]).sum(axis=2)
    w = slow_fit(K, Y, QUERY, C)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), K @ w / np.sqrt(8), rtol=1e-8)
    given = clone(model).fit(X, Y, QUERY, landmarks=X[model.landmark_indices_])
    assert given.landmark_indices_ is None
    np.testing.assert_allclose(given.coef_, w, rtol=1e-8)


def test_queries():
    def coef(points, y, qid):
        return RankLand(similarity="linear", C=1).fit(points, y, qid, landmarks=X[:5]).coef_

    # without relevant documents they are not trained on
    kept = QUERY != "f"
    np.testing.assert_allclose(coef(X, Y, QUERY), coef(X[kept], Y[kept], QUERY[kept]), rtol=1e-12)
    # no ids are one query, whose order and name do not matter
    order = np.random.RandomState(4).permutation(len(Y))
    np.testing.assert_allclose(coef(X, Y, None), coef(X, Y, np.full(len(Y), 7)))
    renamed = -np.unique(QUERY, return_inverse=True)[1][order]
    np.testing.assert_allclose(coef(X, Y, QUERY), coef(X[order], Y[order], renamed), rtol=1e-10)
    one = RankLand(similarity="linear", C=1e9).fit([[2.0]], [1], landmarks=[[1.0]])
    np.testing.assert_allclose(one.predict([[2.0]]), [np.log(2)], rtol=1e-6)


def test_c_is_chosen_on_held_out_queries():
    Cs = [100, 0.01, 1]
    model = RankLand(10, C=Cs, validation_fraction=0.4, random_state=0).fit(X, Y, QUERY)
    best = int(np.argmax(model.validation_scores_))
    assert sorted(Cs)[best] == model.C_
    again = clone(model).set_params(C=model.C_).fit(X, Y, QUERY)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-10)
    assert again.validation_scores_ is None
    # ties go to the smaller: one relevant document that any weights put first
    model = RankLand(similarity="linear", C=(10, 1, 100), random_state=0)
    points, y = [[1.0], [0.0]] * 5, [1, 0] * 5
    model.fit(points, y, np.repeat(np.arange(5), 2), landmarks=[[1.0]])
    np.testing.assert_array_equal(model.validation_scores_, [1, 1, 1])
    assert model.C_ == 1


def test_learns_a_ranking():
    kept = QUERY != "f"
    model = RankLand(40, C=100, random_state=0).fit(X, Y, QUERY)
    assert model.score(X[kept], Y[kept], QUERY[kept]) > 0.95
    for y, qid, C, message in (
        (-Y, QUERY, 1, "relevances"),
        (0 * Y, QUERY, 1, "relevance"),
        (Y, QUERY[:-1], 1, "inconsistent"),
    ):
        with pytest.raises(ValueError, match=message):
            RankLand(5, C=C).fit(X, y, qid)


def test_of_a_single_query_documents_are_held_out():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(150, 2))
    grades = np.digitize(np.sin(2 * points[:, 0]) + points[:, 1] ** 2, [1, 2])
    model = RankLand(50, random_state=0).fit(points[:100], grades[:100])
    assert model.C_ > 1  # at 1 the scores are nearly those of a constant
    fixed = RankLand(50, C=model.C_, random_state=0).fit(points[:100], grades[:100])
    np.testing.assert_array_equal(model.predict(points), fixed.predict(points))
    least = RankLand(50, C=1, random_state=0).fit(points[:100], grades[:100])
    others = points[100:], grades[100:]
    assert model.score(*others) > least.score(*others) + 0.1


@pytest.mark.data
def test_beats_a_random_order_on_real_queries(data_dir):
    data = load("mq2008", data_dir=data_dir)
    own = np.unique(data.query)
    train, both = (np.isin(data.query, own[::step]) for step in (12, 6))
    test = both & ~train
    model = RankLand(C=10, random_state=0)
    model.fit(data.data[train], data.target[train], data.query[train])
    scores = model.predict(data.data[test])
    chance = np.random.RandomState(0).uniform(size=len(scores))
    found, random = (
        letor_ndcg(data.target[test], s, qid=data.query[test], k=5) for s in (scores, chance)
    )
    assert found > random + 0.1
