"""Similarities compared within a given time."""

import time

import numpy as np
import pytest

from kernlearn.advice import choose_similarity
from kernlearn.advice.similarities import _Samples
from kernlearn.exceptions import DataError


def moons(n, seed=0):
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.15, random_state=seed)


def test_all_points_where_time_allows():
    X, y = moons(270)
    rounds = []
    found = choose_similarity(
        X, y, ["gaussian", "linear"], seconds=60, n_landmarks=20, on_round=rounds.append
    )
    assert found.first.name == "gaussian"
    assert found.first.n_points == 270
    assert rounds[0].size == 30
    linear = found.ranked[1]
    assert linear.p_value < 0.05
    # dropped for what it is, not for noise
    assert linear.n_points == 270 or "behind" in linear.stopped


def test_a_slow_similarity_is_compared_on_fewer_points():
    X, y = moons(900)

    def slow(A, B):
        time.sleep(2e-4 * len(A) * len(B))
        return -((A[:, None] - B) ** 2).sum(axis=2)

    from kernlearn.kernels import CallableKernel

    similarities = {"quick": "gaussian", "slow": CallableKernel(slow, takes="matrices")}
    start = time.monotonic()
    found = choose_similarity(X, y, similarities, seconds=8, n_landmarks=20, n_splits=4)
    assert time.monotonic() - start < 60
    by_name = {one.name: one for one in found.ranked}
    assert by_name["slow"].n_points < 900
    assert by_name["slow"].stopped
    assert by_name["slow"].seconds_per_comparison > by_name["quick"].seconds_per_comparison


def test_results_do_not_depend_on_the_order():
    X, y = moons(90)
    names = ["gaussian", "linear", "manhattan"]
    found = choose_similarity(X, y, names, seconds=100, n_landmarks=10)
    again = choose_similarity(X, y, names[::-1], seconds=100, n_landmarks=10)
    errors = {one.name: one.landmark_error for one in found.ranked}
    assert {one.name: one.landmark_error for one in again.ranked} == errors
    assert [one.name for one in found.ranked] == [one.name for one in again.ranked]


def test_numbers():
    X, _ = moons(120)
    found = choose_similarity(
        X, X[:, 0] ** 2, ["gaussian", "linear"], classification=False, seconds=20, n_landmarks=20
    )
    assert found.first.name == "gaussian"
    assert found.first.landmark_error.value < 0.5 < found.baseline


def test_sizes():
    samples = _Samples(None, np.zeros(2000, dtype=int), True, 5000, 0, 100)
    assert samples.sizes == [222, 666, 2000]
    # errors are compared as they are, not as they may become
    assert samples.n_full == 222


def test_what_fails_is_named():
    X, y = moons(60)
    found = choose_similarity(X, y, ["gaussian", "scipy.jensenshannon"], seconds=10)
    assert set(found.failed) == {"scipy.jensenshannon"}
    with pytest.raises(DataError, match=r"no similarity could be measured in 10 s \(scipy.jens"):
        choose_similarity(X, y, ["scipy.jensenshannon"], seconds=10)
    with pytest.raises(DataError, match="there are 40 points"):
        choose_similarity(X[:40], y[:40], ["gaussian"])


def test_sparse_points():
    from scipy import sparse

    X, y = moons(120)
    dense = choose_similarity(X, y, ["gaussian", "cosine"], seconds=60, n_landmarks=10)
    found = choose_similarity(
        sparse.csr_matrix(X), y, ["gaussian", "cosine"], seconds=60, n_landmarks=10
    )
    for one, other in zip(found.ranked, dense.ranked, strict=True):
        assert one.name == other.name
        assert one.landmark_error.value == pytest.approx(other.landmark_error.value, abs=0.01)
