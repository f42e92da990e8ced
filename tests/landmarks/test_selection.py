from collections import Counter
from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    LandmarkEmbedding,
    ORLand,
    RegLand,
    SparseRegLand,
)
from kernlearn.landmarks.selection import (
    BY_SIMILARITY,
    SELECTIONS,
    dselect,
    select_landmarks,
    select_pairs,
)
from kernlearn.solvers.linear_path import linear_paths
from tests.landmarks.matrices import Matrix

SEEDS = st.integers(0, 2**32 - 1)


def generator(seed=0):
    return np.random.RandomState(seed)


@st.composite
def labelled(draw, most_classes=5, most_points=30):
    """Class codes, every class with a point."""
    n_classes = draw(st.integers(1, most_classes))
    more = draw(st.lists(st.integers(0, n_classes - 1), max_size=most_points - n_classes))
    return np.array(draw(st.permutations([*range(n_classes), *more])))


def similarities(n, seed):
    """A matrix that is neither symmetric nor positive, with ties."""
    return generator(seed).randint(-3, 4, size=(n, n)).astype(float)


def dselect_slowly(K, candidates, n_landmarks, first):
    chosen, left = [first], [i for i in candidates if i != first]
    while left and len(chosen) < n_landmarks:
        averages = [np.mean([K[x, other] for other in chosen]) for x in left]
        z = left[min(range(len(left)), key=lambda j: averages[j])]
        chosen.append(z)
        left.remove(z)
    return chosen


@given(n=st.integers(1, 25), n_landmarks=st.integers(1, 30), seed=SEEDS, data=st.data())
def test_dselect_is_the_algorithm_as_printed(n, n_landmarks, seed, data):
    K = similarities(n, seed)
    candidates = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    found = dselect(lambda i: K[:, i], candidates, n_landmarks, generator(seed))
    assert found.tolist() == dselect_slowly(K, candidates, n_landmarks, found[0])


def test_dselect_goes_on_from_points_given():
    K = similarities(20, 3)
    whole = dselect(lambda i: K[:, i], np.arange(20), 9, generator(1))
    others = np.setdiff1d(np.arange(20), whole[:4])
    rest = dselect(lambda i: K[:, i], others, 5, generator(2), given=whole[:4])
    np.testing.assert_array_equal(rest, whole[4:])


def test_dselect_begins_anywhere():
    K = similarities(4, 0)
    firsts = {dselect(lambda i: K[:, i], range(4), 2, generator(s))[0] for s in range(50)}
    assert firsts == {0, 1, 2, 3}


@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_dselect_asks_for_one_column_a_landmark(n_classes):
    K, codes = Matrix(similarities(300, 0)), np.arange(300) % n_classes
    found = select_landmarks(40, codes, "dselect", generator(), K)
    assert len(K.columns) == len(set(K.columns)) == 40 - n_classes + (n_classes == 2)
    assert set(K.columns) <= set(found)
    assert not K.parts
    assert not K.n_diagonals


def test_dselect_of_distances_takes_what_is_far():
    x = np.array([0.0, 1.0, 2.0, 50.0, 100.0])
    found = dselect(lambda i: -abs(x - x[i]), range(5), 3, generator(0))
    assert {0, 4} <= set(found.tolist())


def test_dselect_is_more_diverse_than_chance():
    X = generator(0).normal(size=(400, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)

    def average(chosen):
        block = K[np.ix_(chosen, chosen)]
        return (block.sum() - np.trace(block)) / (len(chosen) * (len(chosen) - 1))

    found = select_landmarks(30, np.zeros(400, int), "dselect", generator(), Matrix(K))
    by_chance = [
        average(select_landmarks(30, np.zeros(400, int), selection="random", rng=generator(s)))
        for s in range(50)
    ]
    assert average(found) < 0.7 * min(by_chance)


def test_dselect_refuses_what_it_cannot_do():
    K = similarities(4, 0)
    with pytest.raises(ValueError, match="'n_landmarks' must be at least 1, got 0"):
        dselect(lambda i: K[:, i], range(4), 0, generator())
    with pytest.raises(ValueError, match="'candidates' must hold at least one"):
        dselect(lambda i: K[:, i], [], 2, generator())
    K[2, :] = np.nan
    with pytest.raises(ValueError, match="'similarity' must give finite numbers"):
        dselect(lambda i: K[:, i], range(4), 2, generator())


def select(n_landmarks, codes, selection, seed=0, choose=select_landmarks):
    K = similarities(len(codes), seed)
    return choose(n_landmarks, codes, selection, generator(seed), Matrix(K))


@pytest.mark.parametrize("selection", SELECTIONS)
@given(codes=labelled(), share=st.floats(0, 1), seed=SEEDS)
def test_landmarks_are_distinct_points_as_many_as_asked(selection, codes, share, seed):
    n_landmarks = 1 + int(share * (len(codes) - 1))
    found = select(n_landmarks, codes, selection, seed)
    assert len(found) == len(set(found.tolist())) == n_landmarks
    assert set(found.tolist()) <= set(range(len(codes)))
    np.testing.assert_array_equal(found, select(n_landmarks, codes, selection, seed))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_more_landmarks_than_points_are_all_points(selection, n_classes):
    codes = np.arange(12) % n_classes
    with pytest.warns(UserWarning, match="n_landmarks=13 is more than the 12 training points"):
        found = select(13, codes, selection)
    assert sorted(found.tolist()) == list(range(12))


@given(codes=labelled(), share=st.floats(0, 1), seed=SEEDS)
def test_stratified_landmarks_are_in_proportion(codes, share, seed):
    n_landmarks = 1 + int(share * (len(codes) - 1))
    sizes = np.bincount(codes)
    found = np.bincount(
        codes[select(n_landmarks, codes, "stratified", seed)], minlength=len(sizes)
    )
    quotas = n_landmarks * sizes / len(codes)
    if n_landmarks >= len(sizes):
        assert found.min() >= 1
    if n_landmarks < len(sizes) or quotas.min() >= 1:
        assert np.abs(found - quotas).max() < 1
        # largest remainders: who is rounded up has no smaller remainder than who is rounded down
        up = found > quotas
        if up.any() and not up.all():
            assert (quotas % 1)[up].min() >= (quotas % 1)[~up].max()


@pytest.mark.parametrize(
    ("sizes", "n_landmarks", "expected"),
    [
        ((50, 30, 20), 10, (5, 3, 2)),
        ((96, 3, 1), 10, (8, 1, 1)),
        ((5, 5, 5), 2, (1, 1, 0)),
        ((7, 2, 1), 3, (1, 1, 1)),
    ],
)
def test_stratified_landmarks_by_hand(sizes, n_landmarks, expected):
    codes = np.repeat(range(len(sizes)), sizes)
    found = select(n_landmarks, codes, "stratified")
    assert tuple(np.bincount(codes[found], minlength=len(sizes))) == expected


@pytest.mark.parametrize(
    ("sizes", "n_landmarks", "expected"),
    [
        ((50, 30, 20), 9, (3, 3, 3)),
        ((20, 30, 50), 11, (3, 4, 4)),
        ((50, 2, 50), 22, (10, 2, 10)),
        ((50, 2, 49), 23, (11, 2, 10)),
        ((5, 9, 7, 8), 2, (0, 1, 0, 1)),
        ((1, 1, 1), 3, (1, 1, 1)),
    ],
)
@pytest.mark.parametrize("selection", BY_SIMILARITY)
def test_by_similarity_they_spread_over_more_than_two_classes(
    selection, sizes, n_landmarks, expected
):
    codes = np.repeat(range(len(sizes)), sizes)
    found = select(n_landmarks, codes, selection)
    assert tuple(np.bincount(codes[found], minlength=len(sizes))) == expected


def test_dselect_works_within_each_of_more_than_two_classes():
    codes = generator(1).randint(0, 4, size=60)
    K = similarities(60, 5)
    found = select_landmarks(12, codes, "dselect", generator(), Matrix(K))
    for c in range(4):
        chosen = found[codes[found] == c].tolist()
        assert chosen == dselect_slowly(K, np.flatnonzero(codes == c), 3, chosen[0])


def test_dselect_works_over_all_points_of_two_classes():
    codes = generator(1).randint(0, 2, size=60)
    K = similarities(60, 5)
    found = select_landmarks(12, codes, "dselect", generator(), Matrix(K))
    assert set(codes[found]) == {0, 1}
    assert found.tolist() == dselect_slowly(K, range(60), 12, found[0])


def test_dselect_replaces_the_last_where_a_class_is_missing():
    codes = np.array([0] * 20 + [1] * 5)
    K = similarities(25, 2)
    K[20:] = 100 + generator(3).uniform(size=(5, 25))  # class 1 is like everything
    rng = generator(0)
    found = select_landmarks(6, codes, "dselect", rng, Matrix(K))
    assert codes[found].tolist() == [0, 0, 0, 0, 0, 1]
    assert found[:5].tolist() == dselect_slowly(K, range(25), 5, found[0])
    assert found[5] == 20 + K[20:][:, found[:5]].mean(axis=1).argmin()
    alone = select_landmarks(1, codes, "dselect", generator(0), Matrix(K))
    assert len(alone) == 1


@pytest.mark.parametrize("selection", BY_SIMILARITY)
@given(codes=labelled(most_classes=2), seed=SEEDS, is_distance=st.booleans())
def test_by_similarity_they_take_both_of_two_classes(selection, codes, seed, is_distance):
    K = Matrix(similarities(len(codes), seed), is_distance)
    n_landmarks = 1 + seed % len(codes)
    found = select_landmarks(n_landmarks, codes, selection, generator(seed), K)
    assert len(set(found.tolist())) == n_landmarks
    if n_landmarks > 1:
        assert set(codes[found]) == set(codes)


def test_by_similarity_they_need_similarities():
    with pytest.raises(ValueError, match="selection='leverage' needs the similarities"):
        select_landmarks(2, np.zeros(5, int), "leverage", generator())


@pytest.mark.parametrize("selection", SELECTIONS)
@given(codes=labelled().filter(np.any), n_landmarks=st.integers(1, 50), seed=SEEDS)
def test_a_pair_is_of_the_class_and_of_the_rest(selection, codes, n_landmarks, seed):
    found = select(n_landmarks, codes, selection, seed, select_pairs)
    n_classes = codes.max() + 1
    problems = [1] if n_classes == 2 else range(n_classes)
    assert found.shape == (len(problems), n_landmarks, 2)
    for c, pairs in zip(problems, found, strict=True):
        assert (codes[pairs[:, 0]] == c).all()
        assert (codes[pairs[:, 1]] != c).all()
    again = select(n_landmarks, codes, selection, seed, select_pairs)
    np.testing.assert_array_equal(found, again)


def test_random_pairs_are_uniform():
    codes = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    pairs = select(40_000, codes, "random", choose=select_pairs)[0]
    expected = 40_000 / 15
    counts = Counter(map(tuple, pairs.tolist()))
    assert len(counts) == 15
    # six standard deviations of a binomial
    assert max(abs(n - expected) for n in counts.values()) < 6 * np.sqrt(expected)


@pytest.mark.parametrize("n_landmarks", [1, 7, 30, 100])
def test_stratified_negatives_are_spread_in_proportion(n_landmarks):
    codes = np.repeat([0, 1, 2, 3], [10, 20, 5, 3])
    for seed in range(20):
        pairs = select(n_landmarks, codes, "stratified", seed, select_pairs)
        for c, drawn in enumerate(pairs):
            rest = np.bincount(codes[codes != c], minlength=4)
            found = np.bincount(codes[drawn[:, 1]], minlength=4)
            assert np.abs(found - n_landmarks * rest / rest.sum()).max() < 1 + 1e-9


def test_stratified_negatives_are_any_of_their_class():
    codes = np.repeat([0, 1, 2], [4, 30, 6])
    drawn = [select(6, codes, "stratified", s, select_pairs)[0, :, 1].tolist() for s in range(200)]
    assert set(chain(*drawn)) == set(range(4, 40))
    assert {codes[negatives[0]] for negatives in drawn} == {1, 2}  # in no order


@pytest.mark.parametrize("selection", BY_SIMILARITY)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_pairs_by_similarity_are_drawn_from_the_singletons(n_classes, selection):
    codes = np.arange(90) % n_classes
    singletons = select(20, codes, selection, 4)
    pairs = select(20, codes, selection, 4, select_pairs)
    assert set(pairs.ravel().tolist()) <= set(singletons.tolist())
    many = select(2000, codes, "random", 4, select_pairs)
    assert len(set(many.ravel().tolist())) == 90


@pytest.mark.parametrize("selection", BY_SIMILARITY)
def test_pairs_by_similarity_fewer_than_classes(selection):
    codes = np.arange(90) % 9
    pairs = select(2, codes, selection, 4, select_pairs)
    assert pairs.shape == (9, 2, 2)
    assert len(set(pairs.ravel().tolist())) <= 9


def test_pairs_need_two_classes():
    with pytest.raises(ValueError, match="y holds one class"):
        select(3, np.zeros(5, int), "random", choose=select_pairs)


class Counted:
    """A user-defined similarity that counts its calls and the values that it computes."""

    def __init__(self):
        self.n_calls = self.n_values = 0

    def __call__(self, A, B):
        self.n_calls += 1
        self.n_values += len(A) * len(B)
        return np.exp(-abs(A[:, None] - B[None]).sum(axis=2))


SINGLE = pytest.mark.parametrize(
    ("make", "n_training"),
    [
        (partial(BBSClassifier, 20, C=1), 300),
        (partial(RegLand, 20), 300),
        (partial(RegLand, 20, C=[1, 10]), 240),
        (partial(SparseRegLand, 5, pool_size=20), 300),
        (partial(ORLand, 20, C=1), 300),
        (partial(LandmarkEmbedding, 20), 300),
    ],
    ids=["BBS", "RegLand", "held out", "SparseRegLand", "ORLand", "embedding"],
)


@SINGLE
def test_dselect_computes_each_similarity_once(make, n_training):
    X, y = make_blobs(300, centers=2, random_state=0)
    random, diverse = Counted(), Counted()
    make(similarity=random, random_state=0).fit(X, y)
    make(similarity=diverse, selection="dselect", random_state=0).fit(X, y)
    assert diverse.n_values == random.n_values
    assert diverse.n_calls == random.n_calls + 19
    assert random.n_values - n_training * 20 in (0, (300 - n_training) * 20)


@SINGLE
@pytest.mark.parametrize("selection", ["kmeans++", "leverage", "rpcholesky"])
def test_what_selections_compute_in_addition(make, n_training, selection):
    X, y = make_blobs(300, n_features=50, centers=2, random_state=0)
    random, chosen = Counted(), Counted()
    make(similarity=random, random_state=0).fit(X, y)
    make(similarity=chosen, selection=selection, random_state=0).fit(X, y)
    if make.func is RegLand:
        n_training = 240  # C is chosen on the others
    more = chosen.n_values - random.n_values - n_training  # without the diagonal
    if selection == "kmeans++":
        assert more == 0
    elif selection == "rpcholesky":  # 20 proposals a round
        assert more > 0
        assert more % 20**2 == 0
        assert more <= 10 * 20**2
    else:
        assert 0 < more < 2.5 * 20 * n_training


@pytest.mark.parametrize(
    "make", [partial(FTuneClassifier, 20, C=1, transfers=1), DBoostClassifier]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_by_dselect_compute_each_similarity_once(make, n_classes):
    X, y = make_blobs(100, centers=n_classes, random_state=0)
    similarity = Counted()
    options = {"similarity": similarity, "selection": "dselect", "random_state": 0}
    if make is DBoostClassifier:
        options |= {"n_landmarks": 5, "pool_size": 20, "multi_class": "ovo"}
    make(**options).fit(X, y)
    # the columns of all points that selection chose, each at most once
    n_problems = 3 if make is DBoostClassifier and n_classes == 3 else 1
    assert similarity.n_values <= n_problems * 20 * 100


def test_columns_by_a_matrix_product_are_computed_again_for_the_fit():
    """Computed alone they differ in the last digit, which early stopping amplifies."""
    X, y = make_blobs(100, centers=2, random_state=0)
    model = BBSClassifier(10, selection="dselect", C=1, normalize=False, random_state=0).fit(X, y)
    kernel = GaussianKernel().fit(X)
    features = kernel(X, X[model.landmark_indices_])
    (coef,), _ = linear_paths(features, np.where(y == 1, 1.0, -1.0)[None], [1.0], solver="auto")
    np.testing.assert_array_equal(model.coef_, coef)
