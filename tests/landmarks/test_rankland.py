import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.landmarks.ranking import RankLand, ridge_path
from tests.checks import parametrize_with_checks

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 4))
QUERY = RNG.permutation(np.repeat(["a", "bb", "c", "d", "e", "f"], [20, 10, 25, 15, 1, 19]))
Y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 1.5])
Y[QUERY == "f"] = 0
Y[QUERY == "e"] = 2


@parametrize_with_checks([RankLand(), RankLand(selection="dselect", n_landmarks=5)])
def test_is_an_estimator(estimator, check):
    check(estimator)


def slow_eta(y):
    gains = [2.0**r - 1 for r in y]
    norm = sum(g / np.log(2 + i) for i, g in enumerate(sorted(gains, reverse=True)))
    return [g / norm for g in gains]


def slow_fit(K, y, query, C):
    """K holds the similarities of all points to the landmarks."""
    rows, eta = [], []
    for q in sorted(set(query)):
        own = [i for i in range(len(y)) if query[i] == q]
        if any(y[own]):
            rows += own
            eta += slow_eta(y[own])
    Psi = K[rows] / np.sqrt(K.shape[1])
    # least squares with rows for the regularizer
    A = np.vstack([Psi, np.eye(K.shape[1]) / np.sqrt(2 * C)])
    return np.linalg.lstsq(A, np.append(eta, np.zeros(K.shape[1])), rcond=None)[0]


@pytest.mark.parametrize("C", [0.1, 1, 100])
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_is_the_slow_version(C, selection):
    model = RankLand(8, similarity="manhattan", selection=selection, C=C, random_state=3)
    model.fit(X, Y, QUERY)
    chosen = X[model.landmark_indices_]
    K = -np.abs(X[:, None] - chosen).sum(axis=2)
    w = slow_fit(K, Y, QUERY, C)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), K @ w / np.sqrt(8), rtol=1e-8)


def test_ways_to_give_the_similarity_are_the_same():
    K = X @ X.T
    models = [
        RankLand(10, similarity="linear", random_state=0).fit(X, Y, QUERY),
        RankLand(10, similarity="precomputed", random_state=0).fit(K, Y, QUERY),
        RankLand(10, similarity="linear", random_state=0).fit(sparse.csr_matrix(X), Y, QUERY),
        RankLand(10, similarity=lambda A, B: -(A @ B.T), kind="distance", random_state=0).fit(
            X, Y, QUERY
        ),
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-8)
    drawn = models[0].landmark_indices_
    given = RankLand(similarity="linear").fit(X, Y, QUERY, landmarks=X[drawn])
    assert given.landmark_indices_ is None
    np.testing.assert_allclose(given.coef_, models[0].coef_, rtol=1e-8)


def test_a_query_without_relevant_documents_is_not_trained_on():
    with_it = RankLand(similarity="linear").fit(X, Y, QUERY, landmarks=X[:5])
    kept = QUERY != "f"
    without = RankLand(similarity="linear").fit(X[kept], Y[kept], QUERY[kept], landmarks=X[:5])
    np.testing.assert_allclose(with_it.coef_, without.coef_, rtol=1e-12)
    assert (Y[~kept] == 0).all()


def test_a_query_of_one_document():
    model = RankLand(similarity="linear", C=1e6).fit([[2.0]], [1], landmarks=[[1.0]])
    np.testing.assert_allclose(model.predict([[2.0]]), [np.log(2)], rtol=1e-6)


def test_no_query_ids_are_one_query():
    assert (
        RankLand(5, random_state=0).fit(X, Y).coef_.tolist()
        == RankLand(5, random_state=0).fit(X, Y, np.full(len(Y), 7)).coef_.tolist()
    )


def test_queries_do_not_depend_on_their_order_or_names():
    order = np.random.RandomState(4).permutation(len(Y))
    renamed = np.searchsorted(["a", "bb", "c", "d", "e", "f"], QUERY)[order][::-1]
    one = RankLand(similarity="linear").fit(X, Y, QUERY, landmarks=X[:5])
    other = RankLand(similarity="linear").fit(
        X[order][::-1], Y[order][::-1], 5 - renamed, landmarks=X[:5]
    )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-10)


def test_landmarks_that_are_not_trained_on():
    model = RankLand(8, similarity="linear", double_dipping=False, random_state=1)
    model.fit(X, Y, QUERY)
    eta = np.full(len(Y), np.nan)
    for q in set(QUERY) - {"f"}:
        own = np.equal(QUERY, q)
        eta[own] = slow_eta(Y[own])  # of all documents, landmarks too
    eta[model.landmark_indices_] = np.nan
    Psi = X @ X[model.landmark_indices_].T / np.sqrt(8)
    used = ~np.isnan(eta)
    expected = ridge_path(Psi[used], eta[used], np.array([1.0]))[0]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)


def test_C_is_chosen_on_queries_kept_apart():
    Cs = [100, 0.01, 1]
    model = RankLand(10, C=Cs, validation_fraction=0.4, random_state=0).fit(X, Y, QUERY)
    assert model.validation_scores_.shape == (3,)
    best = int(np.argmax(model.validation_scores_))
    assert sorted(Cs)[best] == model.C_
    again = clone(model).set_params(C=model.C_).fit(X, Y, QUERY)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-10)
    assert again.validation_scores_ is None


def test_ties_go_to_the_smaller_C():
    # one relevant document that any weights put first
    points, y = [[1.0], [0.0]] * 5, [1, 0] * 5
    model = RankLand(similarity="linear", C=(10, 1, 100), random_state=0)
    model.fit(points, y, np.repeat(np.arange(5), 2), landmarks=[[1.0]])
    np.testing.assert_array_equal(model.validation_scores_, [1, 1, 1])
    assert model.C_ == 1


def test_learns_a_ranking():
    model = RankLand(40, C=100, random_state=0).fit(X, Y, QUERY)
    assert model.score(X, Y, QUERY) > 0.8 > model.score(X, Y, QUERY) - 0.2
    kept = QUERY != "f"
    assert model.score(X[kept], Y[kept], QUERY[kept]) > 0.95


def test_huge_relevances():
    y = np.array([2000.0, 1999.0, 0.0])
    model = RankLand(similarity="linear", C=1e9).fit(np.eye(3), y, landmarks=np.eye(3))
    norm = 1 / np.log(2) + 0.5 / np.log(3)
    np.testing.assert_allclose(model.predict(np.eye(3)), [1 / norm, 0.5 / norm, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("y", "qid", "params", "message"),
    [
        (-Y, QUERY, {}, "y must contain relevances of 0 or more, got -2"),
        (0 * Y, QUERY, {}, "y must hold a relevance above 0"),
        (Y, QUERY[:-1], {}, r"inconsistent numbers of samples: \[90, 89\]"),
        (Y, None, {"C": (1, 2)}, "C may be several numbers only if there are two queries"),
        (Y, QUERY, {"C": 0}, "The 'C' parameter"),
        (Y, QUERY, {"validation_fraction": 1.0}, "The 'validation_fraction' parameter"),
    ],
    ids=["negative", "irrelevant", "lengths", "one query", "C", "fraction"],
)
def test_bad_input(y, qid, params, message):
    with pytest.raises(ValueError, match=message):
        RankLand(5, **params).fit(X, y, qid)


def test_ranks_points_that_are_no_rows():
    words = ["".join(RNG.choice(list("abc"), 6)) for _ in range(40)]
    relevance = [word.count("a") for word in words]
    query = np.arange(40) % 4
    model = RankLand(30, similarity="levenshtein", C=100, random_state=0)
    assert model.fit(words, relevance, query).score(words, relevance, query) > 0.9


@pytest.mark.data
def test_beats_a_random_order_on_real_queries(data_dir):
    from kernlearn.datasets import load
    from kernlearn.metrics import letor_ndcg

    data = load("mq2008", data_dir=data_dir)
    own = np.unique(data.query)
    kept = np.isin(data.query, own[::6])
    train = kept & np.isin(data.query, own[::12])
    test = kept & ~train
    model = RankLand(C=10, random_state=0).fit(
        data.data[train], data.target[train], data.query[train]
    )
    scores = model.predict(data.data[test])
    chance = np.random.RandomState(0).uniform(size=len(scores))
    found, random = (
        letor_ndcg(data.target[test], s, qid=data.query[test], k=5) for s in (scores, chance)
    )
    assert found > random + 0.1
