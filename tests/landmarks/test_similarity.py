"""Similarities to landmarks, computed once and in blocks."""

import numpy as np
import pytest

from kernlearn.kernels import CallableKernel, GaussianKernel
from kernlearn.landmarks.base import Similarities, SimilarityEstimator
from tests.landmarks.conftest import N_ROWS

X = np.random.RandomState(0).normal(size=(8, 3))


class Compares(SimilarityEstimator):
    def __init__(self, similarity="gaussian", kind="similarity"):
        self.similarity, self.kind = similarity, kind

    def learn(self, X, y=None):
        X, y, _ = self._check_training(X, y)
        return self._candidates(X, y)


def skewed(A, B):
    """A similarity that is not symmetric."""
    return np.asarray(A @ B.T) + np.asarray(A).sum(axis=1)[:, None]


@pytest.mark.parametrize("similarity", [skewed, "precomputed", GaussianKernel(sigma=2.0)])
@pytest.mark.parametrize("limit", [0, 30, 2**27])
def test_kept_similarities_are_those_of_a_comparison(similarity, limit, monkeypatch):
    monkeypatch.setattr("kernlearn.landmarks.base.KEPT_ELEMENTS", limit)
    data = skewed(X, X) if similarity == "precomputed" else X
    every = Compares(similarity).learn(data)
    full, rows = every.compare(data), np.array([5, 0, 6])
    if similarity is skewed:
        np.testing.assert_allclose(full, [[a @ b + a.sum() for b in X] for a in X], rtol=1e-12)
    np.testing.assert_allclose(Similarities(every, data).diagonal(), full.diagonal())
    for points, expected in [(data, full), (data[rows], full[rows])]:
        kept = Similarities(every, points)
        np.testing.assert_allclose(kept.column(4), expected[:, 4], rtol=1e-12)
        for which in map(np.array, ([2, 1, 1, 4], [7, 6], [2, 1], [4])):
            few = np.array([2, 0])
            np.testing.assert_allclose(kept.columns(which), expected[:, which], rtol=1e-12)
            np.testing.assert_allclose(kept.by_landmark(which), expected[:, which].T, rtol=1e-12)
            part = kept.part(few, which, keep=which[0] == 7)
            np.testing.assert_allclose(part, expected[few][:, which], rtol=1e-12)
            some = kept.by_landmark(which, few)
            np.testing.assert_allclose(some, expected[few][:, which].T, rtol=1e-12)


def test_each_similarity_is_computed_once():
    calls = []

    def counted(A, B):
        calls.append((len(A), len(B)))
        return skewed(A, B)

    every = Compares(CallableKernel(counted, takes="matrices")).learn(X)
    kept = Similarities(every, X)
    kept.column(3)
    kept.column(3)
    kept.keep(np.array([0, 3, 5]))
    kept.columns(np.array([5, 3, 5]))
    kept.column(0)
    assert calls == [(5, 5), (8, 1), (8, 2)]  # the first tell whether it is a distance
    assert every.comparisons.count == 49


def test_blocks_of_rows(small_blocks):
    every = Compares(skewed).learn(X)
    small_blocks()
    blocks = list(every.blocks(X))
    assert [rows for rows, _ in blocks] == [slice(0, N_ROWS), slice(N_ROWS, 8)]
    np.testing.assert_allclose(np.vstack([b for _, b in blocks]), every.compare(X), rtol=1e-12)
    assert every.take(np.array([], dtype=int)).values(X).shape == (8, 0)
