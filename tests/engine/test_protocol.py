import numpy as np
import pytest
import scipy.sparse as sp

from kernlearn.config.model import Protocol
from kernlearn.datasets.data import Data
from kernlearn.engine.build import positive_classes
from kernlearn.engine.preparation import MaxNormScaler, prepare
from kernlearn.engine.splits import Units, fold_indices, split_indices


@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
def test_max_norm_divides_by_the_longest_training_vector(as_matrix):
    X = as_matrix(np.array([[3.0, 4.0], [0.0, 1.0]]))
    scaler = MaxNormScaler().fit(X)
    assert scaler.scale_ == 5
    scaled = scaler.transform(as_matrix(np.array([[6.0, 8.0]])))
    np.testing.assert_allclose(scaled.toarray() if sp.issparse(scaled) else scaled, [[1.2, 1.6]])
    assert MaxNormScaler().fit(as_matrix(np.zeros((2, 2)))).scale_ == 1


@pytest.mark.parametrize(("max_train", "max_test"), [(None, None), (20, None), (20, 15)])
def test_a_split_is_two_disjoint_parts_of_the_right_size(max_train, max_test):
    protocol = Protocol(max_train=max_train, max_test=max_test, seed=3)
    train, _, test = split_indices(101, protocol, 1)
    assert len(train) == (max_train or 61)
    assert len(test) == (max_test or 101 - len(train))
    assert not set(train) & set(test)
    again, _, _ = split_indices(101, protocol.model_copy(update={"max_test": None}), 1)
    np.testing.assert_array_equal(train, again)
    other, _, _ = split_indices(101, protocol, 2)
    assert not np.array_equal(train, other)


def test_the_scale_is_learnt_on_the_training_part_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (200, 4))
    parts = prepare(Data(X), np.zeros(200), Protocol(scale=["zscore", "max_norm"]), 0)
    np.testing.assert_allclose(parts.train.X.mean(axis=0), 0, atol=1e-12)
    assert np.linalg.norm(parts.train.X, axis=1).max() == pytest.approx(1)
    assert not np.allclose(parts.test.X.mean(axis=0), 0, atol=1e-3)


def test_similarities_are_cut_to_the_training_points():
    K = np.arange(100.0).reshape(10, 10)
    parts = prepare(Data(K, similarity="similarity"), np.arange(10), Protocol(), 0)
    assert parts.train.X.shape == (6, 6)
    assert parts.test.X.shape == (4, 6)
    np.testing.assert_array_equal(parts.train.X, 10 * parts.train.y[:, None] + parts.train.y)
    np.testing.assert_array_equal(parts.test.X, 10 * parts.test.y[:, None] + parts.train.y)
    rows, known = np.array([1, 3]), np.array([0, 2, 4])
    np.testing.assert_array_equal(parts.training(rows, known).X, parts.train.X[rows][:, known])


def test_random_binarisation_is_half_the_classes_and_fixed():
    names = list("abcde")
    chosen = positive_classes(names, "random", 1, "nursery")
    assert len(chosen) == 2
    assert chosen == positive_classes(names, "random", 1, "nursery")
    assert len({tuple(positive_classes(names, "random", s, "nursery")) for s in range(20)}) > 3
    assert positive_classes(["a", "b"], "random", 1, "x") is None
    assert positive_classes(names, None, 1, "x") is None
    with pytest.raises(ValueError, match="some, not all"):
        positive_classes(names, ["f"], 1, "x")


@pytest.mark.parametrize("pairwise", [False, True])
def test_held_out_rows_are_prepared_by_what_training_rows_teach(pairwise):
    scale = [] if pairwise else ["zscore"]
    protocol = Protocol(train=0.5, holdout=0.2, scale=scale)
    rng = np.random.default_rng(0)
    X = rng.random((20, 20)) if pairwise else rng.random((20, 3))
    parts = prepare(
        Data(X, similarity="similarity" if pairwise else None), np.arange(20), protocol, 0
    )
    train, val, test = parts.train.y, parts.val.y, parts.test.y
    if pairwise:
        np.testing.assert_array_equal(parts.val.X, X[np.ix_(val, train)])
        np.testing.assert_array_equal(parts.test.X, X[np.ix_(test, train)])
    else:
        scale = X[train].std(axis=0)
        np.testing.assert_allclose(parts.val.X, (X[val] - X[train].mean(axis=0)) / scale)


@pytest.mark.parametrize("folds", [5, "published"])
def test_each_fold_is_tested_on_once_and_held_out_once(folds):
    own = np.repeat(np.arange(5), [3, 4, 5, 4, 4])
    tested, held = [], []
    for split in range(5):
        parts = fold_indices(20, Protocol(folds=folds), split, Units(folds=own))
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(20))
        held.append(tuple(parts[1]))
        tested.append(tuple(parts[2]))
    assert len(set(tested)) == 5
    # the fold before the tested one
    assert held[1:] == tested[:-1]
    if folds == "published":
        np.testing.assert_array_equal(own[list(tested[0])], 4)
        np.testing.assert_array_equal(own[list(held[0])], 3)


def test_folds_are_drawn_anew_in_each_round():
    protocol = Protocol(folds=5)
    rounds = [[fold_indices(20, protocol, 5 * r + s)[2] for s in range(5)] for r in range(3)]
    for tested in rounds:
        np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(20))
    assert len({tuple(part) for tested in rounds for part in tested}) == 15


def test_splits_and_folds_that_cannot_be_made():
    with pytest.raises(ValueError, match="leave no test part"):
        split_indices(2, Protocol(train=0.9), 0)
    with pytest.raises(ValueError, match="no published folds"):
        fold_indices(20, Protocol(folds="published"), 0)
    with pytest.raises(ValueError, match="5 folds of 4 rows"):
        fold_indices(4, Protocol(folds=5), 0)


@pytest.mark.parametrize("how", [{"folds": 4}, {"train": 0.5, "holdout": 0.2}])
def test_the_documents_of_a_query_stay_together(how):
    query = np.random.default_rng(0).integers(0, 20, size=200)
    parts = prepare(Data(np.ones((200, 1)), query=query), np.arange(200), Protocol(**how), 0)
    train, held_out, test = (set(part.query) for part in (parts.train, parts.val, parts.test))
    assert not train & held_out
    assert not train & test
    assert not held_out & test
    assert train | held_out | test == set(query)
    np.testing.assert_array_equal(query[parts.val.y], parts.val.query)


@pytest.mark.parametrize("how", ["max_abs", "zscore"])
def test_targets_are_scaled_by_those_of_the_training_part(how):
    y = np.r_[np.arange(-8.0, 2), -100 * np.ones(10)]
    protocol = Protocol(train=0.5)
    plain = prepare(Data(np.ones((20, 1))), y, protocol, 0)
    scaled = prepare(Data(np.ones((20, 1))), y, Protocol(train=0.5, scale_target=how), 0)
    known = plain.train.y
    shift, scale = (0, np.abs(known).max()) if how == "max_abs" else (known.mean(), known.std())
    np.testing.assert_allclose(scaled.train.y, (known - shift) / scale)
    np.testing.assert_allclose(scaled.test.y, (plain.test.y - shift) / scale)


def test_sparse_points_become_dense_where_they_fit_in_memory(monkeypatch):
    X = sp.lil_matrix((3000, 1000))
    X[0, 1] = 2.0
    parts = prepare(Data(X.tocsr()), np.arange(3000) % 2, Protocol(train=0.9), 0)
    needed = 8 * 2700 * 1000  # of the training part; the test part is not asked about
    monkeypatch.setattr("kernlearn.memory.allowed_memory", lambda: needed)
    dense = parts.dense()
    np.testing.assert_array_equal(dense.train.X, parts.train.X.toarray())
    np.testing.assert_array_equal(dense.test.X, parts.test.X.toarray())
    monkeypatch.setattr("kernlearn.memory.allowed_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=r"`dense: true`"):
        parts.dense()


@pytest.mark.parametrize("division", [{"train": 0.7}, {"folds": 5}])
def test_parts_that_are_cut_keep_the_shares_of_classes(division):
    y = np.repeat([0, 1, 2], [1300, 100, 40])
    protocol = Protocol(**division, splits=2, stratify=True, max_train=300, max_test=200)
    for split in range(2):
        train, _, test = split_indices(len(y), protocol, split, units=Units(classes=y))
        for rows, n in ((train, 300), (test, 200)):
            np.testing.assert_allclose(
                np.bincount(y[rows]), n * np.array([130, 10, 4]) / 144, atol=1
            )


def test_a_column_without_entries_in_the_training_part_says_nothing():
    X = np.arange(200.0).reshape(100, 2)
    X[:60, 1] = np.nan
    data = Data(X, time=np.arange(100))
    with pytest.warns(UserWarning, match="1 of 2 columns have no entries in a training part"):
        parts = prepare(data, np.arange(100), Protocol(splits=4, scale=["zscore"]), 0)
    assert np.unique(parts.test.X[:, 1]).tolist() == [0]
    assert len(np.unique(parts.test.X[:, 0])) > 1
