"""Hashes, folds and samples that do not depend on where rows stand."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from kernlearn.onepass.folds import HashSample, fold_of, label_hashes, row_hashes

RNG = np.random.default_rng(0)


def slow_hashes(X, seed):
    """The sum in Python's whole numbers."""
    factors = np.random.SeedSequence(seed).generate_state(2 * X.shape[1] + 1, np.uint64).tolist()
    found = []
    for row in X:
        halves = (np.asarray(row, dtype="<f8") + 0.0).view("<u4").tolist()
        total = factors[0] + sum(c * x for c, x in zip(factors[1:], halves, strict=True))
        total %= 2**64
        z = (total >> 32) | (total << 32) % 2**64
        z = (z + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        found.append(z ^ z >> 31)
    return np.array(found, dtype=np.uint64)


@pytest.mark.parametrize("seed", [0, 7])
def test_hashes_are_those_of_whole_numbers(seed):
    X = RNG.normal(size=(5000, 3))
    np.testing.assert_array_equal(row_hashes(X, seed), slow_hashes(X, seed))


def test_hashes_do_not_depend_on_storage():
    X = np.where(RNG.uniform(size=(400, 9)) < 0.7, 0, RNG.normal(size=(400, 9)))
    X = X.astype(np.float32)
    X[3] = 0
    expected = row_hashes(X.astype(np.float64))
    for stored in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csr_array(X)):
        np.testing.assert_array_equal(row_hashes(stored), expected)
    np.testing.assert_array_equal(row_hashes(X[::-1])[::-1], expected)
    np.testing.assert_array_equal(row_hashes(np.where(X == 0, -0.0, X)), expected)
    halves = sparse.csr_matrix(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2)
    )
    np.testing.assert_array_equal(row_hashes(halves), row_hashes(np.array([[5.0, 3.0]])))


@pytest.mark.parametrize(
    "X",
    [
        np.arange(20_000.0)[:, np.newaxis],
        np.arange(20_000.0)[:, np.newaxis] * [1, 0, 2],
        np.unpackbits(np.arange(2**14, dtype=">u2").view(np.uint8).reshape(-1, 2), axis=1),
    ],
)
def test_folds_are_of_one_size(X):
    hashes = row_hashes(X)
    assert len(np.unique(hashes)) == len(X)
    for n_folds in (2, 5, 10):
        counts = np.bincount(fold_of(hashes, n_folds), minlength=n_folds)
        assert chisquare(counts).pvalue > 1e-4


def test_label_hashes():
    texts = np.array(["a", "b", "a"])
    assert (label_hashes(texts) == label_hashes(texts)[[2, 1, 0]]).all()
    assert len(np.unique(label_hashes(np.arange(1000)))) == 1000
    assert label_hashes(np.ones((4, 2))).shape == (4,)


def test_samples_do_not_depend_on_the_order():
    X, y = RNG.normal(size=(3000, 2)), np.arange(3000) % 7
    X[100:200] = X[:100]

    def sample(order, size):
        kept = HashSample(50)
        for start in range(0, 3000, size):
            rows = order[start : start + size]
            kept.add(X[rows], y[rows])
        return kept.rows()

    rows, labels = sample(np.arange(3000), 3000)
    assert rows.shape == (50, 2)
    for size in (1, 40, 700):
        others = sample(RNG.permutation(3000), size)
        np.testing.assert_array_equal(others[0], rows)
        np.testing.assert_array_equal(others[1], labels)
    kept = [HashSample(50) for _ in range(5)]
    for i, part in enumerate(kept):
        part.add(X[i::5], y[i::5])
    merged = HashSample(50)
    for part in reversed(kept):
        merged.merge(part)
        assert part.rows()[0].shape == (50, 2)
    np.testing.assert_array_equal(merged.rows()[0], rows)
    np.testing.assert_array_equal(merged.rows()[1], labels)
    keys = {tuple(row) for row in rows}
    places = [i for i in range(3000) if tuple(X[i]) in keys]
    assert 1000 < np.mean(places) < 2000
    assert len(np.unique(fold_of(row_hashes(rows), 5))) == 5


def test_small_and_empty_samples():
    kept = HashSample(50)
    with pytest.raises(ValueError, match="the data have no rows"):
        kept.rows()
    kept.add(sparse.eye(10, format="csr"))
    rows, labels = kept.rows()
    assert rows.shape == (10, 10)
    assert labels is None


def test_labels_of_one_kind_have_one_hash_each():
    for labels in (
        np.array([3, -1, 3, 7]),
        np.array([0.5, -0.0, 0.5, 7]),
        np.array(["b", "", "b", "ü"]),
        np.array(["b", 1, "b", None], dtype=object),
        np.array([b"x", b"y", b"x", b"z"]),
        np.array(["2001-01-01", "2001-01-02", "2001-01-01", "2001-01-04"], dtype="M8[D]"),
    ):
        hashes = label_hashes(labels)
        assert hashes[0] == hashes[2]
        assert len(set(hashes.tolist())) == 3
        assert np.array_equal(label_hashes(labels[::-1]), hashes[::-1])
        if labels.dtype.kind != "M":
            assert np.array_equal(label_hashes(labels.tolist()), hashes)
    # in whatever chunk a label is, and whatever its width
    assert label_hashes(np.array([1.0, True, 1], dtype=object)).tolist() == (
        label_hashes(np.array([1], dtype=object)).tolist() * 3
    )
    assert label_hashes(np.int8([-5])) == label_hashes(np.int64([-5]))
    assert label_hashes(np.float32([0.5])) == label_hashes(np.float64([0.5]))
    assert label_hashes(["1"]) != label_hashes(np.array([1], dtype=object))
