"""Moments against sums in long double, and hashes against whole numbers of Python."""

import copy

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from kernlearn.onepass import Moments, fold_of, merged, row_hashes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4)) @ RNG.normal(size=(4, 4)) * [1e6, 1, 1, 1e-5]
WEIGHTS = RNG.integers(0, 4, size=900).astype(float)


def slow(X, weights=None):
    """The sum of weights, the mean, and the centred products, in long double."""
    X = X.astype(np.longdouble)
    w = np.ones(len(X), np.longdouble) if weights is None else weights.astype(np.longdouble)
    mean = w @ X / w.sum()
    return w.sum(), mean, (X - mean).T @ ((X - mean) * w[:, np.newaxis])


def assert_close(moments, X, weights=None, rtol=1e-13):
    weight, mean, scatter = slow(X, weights)
    deviations = np.sqrt(np.diag(scatter))
    assert moments.weight == weight
    assert (np.abs(moments.mean - mean) <= 1e-13 * (np.abs(mean) + deviations)).all()
    error = np.abs(moments.scatter - scatter) / (np.outer(deviations, deviations) + 1e-300)
    assert error.max() < rtol


def divided(X, n_parts, weights=None):
    parts = []
    for rows in np.array_split(np.arange(len(X)), n_parts):
        part = Moments(X.shape[1])
        parts.append(part.update(X[rows], None if weights is None else weights[rows]))
    return parts


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_any_cut_and_order(shift, weights):
    rows = X + shift * X.std(axis=0)
    for order in (np.arange(900), np.argsort(rows[:, 0]), RNG.permutation(900)):
        w = None if weights is None else weights[order]
        for n_parts in (1, 2, 7, 900):
            assert_close(merged(divided(rows[order], n_parts, w)), rows[order], w)


def test_constant_columns_are_exact():
    rows = np.column_stack([np.full(900, 0.1), *X.T, *np.full((20, 900), 1 / 3)])
    whole = merged(divided(rows, 7))
    assert not whole.scatter[0].any()
    assert not whole.scatter[5:].any()
    assert whole.mean[0] == 0.1
    assert_close(whole, rows)


def test_merging_leaves_the_other_and_equal_parts_have_equal_bits():
    one, two = divided(X, 2)
    before = copy.deepcopy(two)
    whole = Moments(4).merge(one).merge(two)
    assert np.array_equal(two.scatter, before.scatter)
    again = merged(divided(X, 2))
    assert np.array_equal(whole.scatter, again.scatter)
    assert np.array_equal(whole.mean, again.mean)
    assert Moments(4).merge(Moments(4)).weight == 0
    far = Moments(1).update(np.array([[1e15]])), Moments(1).update(np.array([[1e15 + 0.125]]))
    assert far[1].mean_from(far[0]) == 0.125


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite(value):
    moments = Moments(4).update(X)
    broken = X.copy()
    broken[3, 2] = value
    for one in (moments, Moments(4)):
        with pytest.raises(ValueError, match="column 2 is not finite"):
            one.update(broken)
    assert_close(moments, X)


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
    rows = RNG.normal(size=(5000, 3))
    np.testing.assert_array_equal(row_hashes(rows, seed), slow_hashes(rows, seed))


def test_hashes_do_not_depend_on_storage():
    rows = np.where(RNG.uniform(size=(400, 9)) < 0.7, 0, RNG.normal(size=(400, 9)))
    rows = rows.astype(np.float32)
    rows[3] = 0
    expected = row_hashes(rows.astype(np.float64))
    for stored in (rows, np.asfortranarray(rows), sparse.csr_matrix(rows), sparse.csr_array(rows)):
        np.testing.assert_array_equal(row_hashes(stored), expected)
    np.testing.assert_array_equal(row_hashes(rows[::-1])[::-1], expected)
    np.testing.assert_array_equal(row_hashes(np.where(rows == 0, -0.0, rows)), expected)
    halves = sparse.csr_matrix(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2)
    )
    np.testing.assert_array_equal(row_hashes(halves), row_hashes(np.array([[5.0, 3.0]])))
    assert halves.nnz == 3


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
