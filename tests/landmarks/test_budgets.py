"""Numbers of landmarks within a budget: DBOOST, RegLand-Sp and RankLand; refined neighbours."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import manhattan_distances

from kernlearn.kernels import ManhattanSimilarity
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    LandmarkKNNRegressor,
    NystroemEmbedding,
    RankLand,
    SparseRegLand,
)
from kernlearn.landmarks.growth import paired_gain
from kernlearn.metrics import thesis_ndcg
from kernlearn.model_selection import hold_out_at_random

RNG = np.random.RandomState(0)
X = RNG.normal(size=(300, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=300)
NEW, Y_NEW = X[200:], Y[200:]
X, Y = X[:200], Y[:200]
GRADES = np.digitize(Y, [0.5, 1.5])
QUERIES = np.arange(200) // 8


class Counted:
    """A similarity of vectors that counts its values."""

    def __init__(self):
        self.n = 0

    def __call__(self, A, B):
        self.n += len(A) * len(B)
        return -manhattan_distances(A, B)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("selection", ["random", "stratified", "dselect", "kmedoids"])
def test_dboost(multi_class, selection):
    similarity = Counted()
    model = DBoostClassifier(
        "auto",
        max_comparisons=30,
        similarity=similarity,
        multi_class=multi_class,
        selection=selection,
        random_state=0,
    )
    grades_new = np.digitize(Y_NEW, [0.5, 1.5])
    model.fit(X, GRADES, NEW, grades_new)
    assert model.n_fit_comparisons_ == similarity.n
    if selection == "random":
        # the pool alone is compared, with all points once
        assert similarity.n == 300 * model.growth_[-1].n_landmarks
    kept = [tried for tried in model.growth_ if tried.kept][-1]
    assert model.n_comparisons_ <= kept.n_landmarks <= 30
    assert [tried.n_landmarks for tried in model.growth_][:3] == [5, 10, 20]
    similarity.n = 0
    assert model.score(NEW, grades_new) == kept.score == model.validation_scores_[0]
    assert similarity.n == 100 * model.n_comparisons_
    assert {int(c) for pairs in model.landmark_pairs_ for c in pairs.ravel()} == {
        *model.compared_indices_.tolist()
    }
    for (positive, negative), pairs in zip(model.problems_, model.landmark_pairs_, strict=True):
        assert (GRADES[pairs[:, 0]] == positive).all()
        if negative is None:
            assert (GRADES[pairs[:, 1]] != positive).all()
        else:
            assert (GRADES[pairs[:, 1]] == negative).all()


def test_dboost_needs_a_point_of_each_class():
    with pytest.raises(ValueError, match="at least the number of classes, 3"):
        DBoostClassifier("auto", max_comparisons=2).fit(X, GRADES)


def test_a_number_of_rounds_needs_no_validation_points():
    given = DBoostClassifier(10, random_state=0).fit(X, GRADES)
    with_some = DBoostClassifier(10, random_state=0).fit(X, GRADES, NEW, np.zeros(100, int))
    np.testing.assert_array_equal(given.decision_function(NEW), with_some.decision_function(NEW))
    assert given.validation_scores_ is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_probabilities_of_dboost_are_about_the_shares(n_classes, calibration):
    points, y = make_classification(
        2000, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    model = DBoostClassifier(20, calibration=calibration, random_state=0)
    found = model.fit(points[:1000], y[:1000]).predict_proba(points[1000:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for code in range(n_classes):
        sure = found[:, code] > np.quantile(found[:, code], 0.7)
        share = (y[1000:][sure] == code).mean()
        assert share == pytest.approx(found[sure, code].mean(), abs=0.12)


@pytest.mark.parametrize("algorithm", ["fully_corrective", "forward_greedy"])
def test_sparse_regression_takes_the_first_landmarks_that_pay(algorithm):
    options = {"similarity": Counted(), "algorithm": algorithm, "tol": 0.5, "random_state": 0}
    model = SparseRegLand("auto", 50, max_comparisons=35, **options)
    model.fit(X, Y, X_val=NEW, y_val=Y_NEW)
    assert model.n_fit_comparisons_ == options["similarity"].n
    before = None
    for tried in model.growth_:
        single = SparseRegLand(tried.n_landmarks, 50, **options).fit(X, Y)
        losses = (single.predict(NEW) - Y_NEW) ** 2
        assert tried.score == pytest.approx(-losses.mean())
        if before is not None:
            gain = paired_gain(before, losses, None)
            assert (tried.gain, tried.standard_error) == pytest.approx(gain)
            assert tried.kept == (gain[0] > gain[1])
        assert tried.n_comparisons == 200 * 50 + 100 * tried.n_landmarks
        if tried.kept:
            kept, before = single, losses
    np.testing.assert_allclose(model.coef_, kept.coef_)
    np.testing.assert_array_equal(model.landmark_indices_, kept.landmark_indices_)
    np.testing.assert_allclose(model.predict(NEW), kept.predict(NEW))
    assert len(model.coef_path_) == len(model.loss_path_) == len(model.coef_)


def test_sparse_regression_of_several_targets_within_the_budget():
    model = SparseRegLand("auto", 60, max_comparisons=21, random_state=0)
    model.fit(X, np.column_stack([Y, -(Y**2), X[:, 3]]))
    assert model.n_comparisons_ <= 21
    assert model.predict(NEW).shape == (100, 3)
    with pytest.raises(ValueError, match="at least the 3 targets"):
        model.set_params(max_comparisons=2).fit(X, np.column_stack([Y, Y, Y]))


@pytest.mark.parametrize("double_dipping", [True, False])
def test_ranking_keeps_what_held_out_queries_gain_by(double_dipping):
    similarity = Counted()
    model = RankLand(
        "auto",
        max_comparisons=40,
        similarity=similarity,
        C=(1.0, 100.0),
        double_dipping=double_dipping,
        random_state=0,
    ).fit(X, GRADES, QUERIES)
    assert model.n_comparisons_ <= 40
    # every document once with each landmark
    assert model.n_fit_comparisons_ == similarity.n == 200 * model.growth_[-1].n_landmarks
    chosen = model.landmark_indices_
    relevant = np.array([GRADES[q == QUERIES].max() > 0 for q in range(25)])
    rng = np.random.RandomState(0)
    _, places = hold_out_at_random(relevant.sum(), 0.2, rng)
    held = np.isin(QUERIES, np.flatnonzero(relevant)[places])
    rows = np.flatnonzero(~held)
    rows = rows if double_dipping else np.setdiff1d(rows, chosen)
    scores = []
    for C in (1.0, 100.0):
        single = RankLand(similarity=Counted(), C=C).fit(
            X[rows], GRADES[rows], QUERIES[rows], landmarks=X[chosen]
        )
        scores.append(thesis_ndcg(GRADES[held], single.predict(X[held]), qid=QUERIES[held]))
    if double_dipping:  # else a query without its landmarks has another η
        np.testing.assert_allclose(model.validation_scores_, scores)
        again = RankLand(similarity=Counted(), C=model.C_)
        again.fit(X, GRADES, QUERIES, landmarks=X[chosen])
        np.testing.assert_allclose(model.coef_, again.coef_)
    kept = [tried for tried in model.growth_ if tried.kept][-1]
    assert kept.n_landmarks == len(chosen)
    assert kept.score == model.validation_scores_.max()


def test_ranking_of_one_query_has_nothing_to_gain_by():
    with pytest.raises(ValueError, match="two queries at least with a relevant document, got 1"):
        RankLand("auto").fit(X, GRADES)


@pytest.mark.parametrize("make", [DBoostClassifier, SparseRegLand, RankLand])
def test_a_limit_is_for_auto(make):
    with pytest.raises(ValueError, match="'max_comparisons' is for n_landmarks='auto'"):
        make(10, max_comparisons=20).fit(X, GRADES)


@pytest.mark.parametrize("form", ["points", "matrix", "auto"])
def test_numbers_by_the_nearest_that_are_compared(form):
    options = {"n_neighbors": 3, "n_refined": 12, "random_state": 0}
    similarity = Counted() if form != "matrix" else "precomputed"
    model = LandmarkKNNRegressor("auto" if form == "auto" else 5, similarity=similarity, **options)
    train, new = X, NEW
    if form == "matrix":
        train, new = -manhattan_distances(X, X), -manhattan_distances(NEW, X)
    extra = {"X_val": new, "y_val": Y_NEW} if form == "auto" else {}
    model.fit(train, Y, **extra)
    if form != "matrix":
        assert model.n_fit_comparisons_ == similarity.n
    distances = manhattan_distances(NEW, X)
    chosen = model.landmark_indices_
    embedded = manhattan_distances(X, X)[:, chosen]
    expected = []
    for of_point in distances:
        apart = ((embedded - of_point[chosen]) ** 2).sum(axis=1)
        nearest = np.argsort(apart, kind="stable")[:12]
        best = nearest[np.argsort(of_point[nearest], kind="stable")[:3]]
        expected.append(Y[best].mean())
    np.testing.assert_allclose(model.predict(new), expected)
    assert model.n_comparisons_ == len(chosen) + 12
    if form != "matrix":
        similarity.n = 0
        model.predict(new)
        assert similarity.n == 100 * model.n_comparisons_


def test_several_numbers_of_refined_neighbours_are_compared_once():
    similarity = Counted()
    model = LandmarkKNNRegressor(5, n_refined=12, similarity=similarity, random_state=0)
    model.fit(X, Y)
    assert similarity.n == 160 * 5 + 40 * (5 + 12)


@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_columns_of_the_landmarks_alone(kind):
    square, wide = manhattan_distances(X, X), manhattan_distances(NEW, X)
    if kind == "similarity":
        square, wide = -square, -wide
    model = BBSClassifier(20, similarity="precomputed", kind=kind, C=10, random_state=0)
    model.fit(square, GRADES)
    alone = wide[:, model.compared_indices_]
    np.testing.assert_array_equal(model.decision_function(alone), model.decision_function(wide))
    # in another fit a matrix for validation is not taken for one of landmarks
    with pytest.raises(ValueError, match="features"):
        model.fit(square, GRADES, alone, GRADES[:100])
    given = NystroemEmbedding("precomputed", 20, random_state=0).fit(np.exp(-np.abs(square)))
    values = np.exp(-np.abs(wide))
    np.testing.assert_array_equal(
        given.transform(values[:, given.compared_indices_]), given.transform(values)
    )


def test_refined_neighbours_need_all_columns():
    square = -manhattan_distances(X, X)
    model = LandmarkKNNRegressor(5, n_refined=12, similarity="precomputed", random_state=0)
    model.fit(square, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(square[:, model.compared_indices_])


def test_a_matrix_of_all_points_that_are_landmarks_is_one_of_all_points():
    square, wide = -manhattan_distances(X, X), -manhattan_distances(NEW, X)
    by_points = BBSClassifier(200, similarity=ManhattanSimilarity(), C=10, random_state=0)
    model = BBSClassifier(200, similarity="precomputed", C=10, random_state=0)
    expected = by_points.fit(X, GRADES).decision_function(NEW)
    found = model.fit(square, GRADES).decision_function(wide)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_predictions_are_computed_in_blocks(small_blocks):
    small_blocks()
    shapes = []

    def watched(A, B):
        shapes.append(len(A))
        return -manhattan_distances(A, B)

    for model in (
        SparseRegLand(8, 40, similarity=watched, random_state=0).fit(X, Y),
        RankLand(8, similarity=watched, random_state=0).fit(X, GRADES, QUERIES),
        LandmarkKNNRegressor(8, similarity=watched, random_state=0).fit(X, Y),
    ):
        whole = np.concatenate([model.predict(NEW[i : i + 1]) for i in range(100)])
        shapes.clear()
        np.testing.assert_allclose(model.predict(NEW), whole)
        assert max(shapes) < 50
