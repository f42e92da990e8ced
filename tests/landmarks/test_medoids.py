"""k-medoids against all swaps one by one, and as landmarks."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from kernlearn.landmarks import BBSClassifier, FTuneClassifier, LandmarkEmbedding
from kernlearn.landmarks.medoids import sampled_medoids
from kernlearn.landmarks.selection import select_landmarks
from kernlearn.solvers.faster_pam import k_medoids
from tests.landmarks.matrices import Matrix


def generator(seed=0):
    return np.random.RandomState(seed)


def random_costs(n_points, n_candidates, seed=0):
    return generator(seed).normal(size=(n_points, n_candidates))


def total(costs, medoids, served=None):
    """Sum over points, one by one."""
    sums = 0.0
    for i, row in enumerate(costs):
        least = min(row[m] for m in medoids)
        sums += least if served is None else min(least, served[i])
    return sums


def built_slowly(costs, k, served=None):
    """BUILD: the column that lowers the sum most, again and again."""
    chosen = []
    while len(chosen) < k:
        left = [c for c in range(costs.shape[1]) if c not in chosen]
        chosen.append(min(left, key=lambda c: (total(costs, [*chosen, c], served), c)))
    return chosen


@pytest.mark.parametrize("served", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_no_swap_is_better(k, served):
    for seed in range(10):
        costs = random_costs(25, 12, seed)
        given = generator(seed + 100).normal(size=25) if served else None
        found = k_medoids(costs, k, served=given)
        assert len(set(found.tolist())) == k
        least = total(costs, found, given)
        assert least <= total(costs, built_slowly(costs, k, given), given) + 1e-9
        for place in range(k):
            for other in set(range(12)) - set(found.tolist()):
                swapped = found.copy()
                swapped[place] = other
                assert total(costs, swapped, given) >= least - 1e-9


@pytest.mark.parametrize("served", [False, True])
def test_one_medoid_is_the_best(served):
    for seed in range(20):
        costs = random_costs(30, 30, seed)
        given = costs.mean(axis=1) if served else None
        (found,) = k_medoids(costs, 1, served=given)
        assert found == min(range(30), key=lambda c: total(costs, [c], given))


def test_swaps_find_what_greed_does_not():
    """Greed takes the middle first, and then cannot serve both ends with two."""
    points = np.array([[-10.0], [-9.0], [-0.1], [0.1], [9.0], [10.0]])
    costs = euclidean_distances(points)
    optimum = min(total(costs, two) for two in combinations(range(6), 2))
    assert total(costs, built_slowly(costs, 2)) > optimum
    assert total(costs, k_medoids(costs, 2)) == pytest.approx(optimum)


def test_the_order_is_greedy_among_the_medoids():
    costs = euclidean_distances(generator().normal(size=(80, 2)))
    found = k_medoids(costs, 10).tolist()
    assert found == [found[i] for i in built_slowly(costs[:, found], 10)]


def test_of_points_of_a_distance():
    X, groups = make_blobs(60, centers=6, cluster_std=0.05, random_state=1)
    matrix = Matrix(-euclidean_distances(X), True)
    found = sampled_medoids(matrix, np.arange(60), 6, generator())
    assert sorted(groups[found]) == list(range(6))
    assert matrix.n_values == 60 * 60
    assert not matrix.n_diagonals


def test_of_points_of_a_similarity_the_nearest_is_as_similar_as_can_be():
    X = generator().normal(size=(40, 2))
    K = rbf_kernel(X)
    found = sampled_medoids(Matrix(K), np.arange(40), 4, generator())
    by_similarity = k_medoids(-K, 4)
    assert sorted(found) == sorted(by_similarity)
    linear = X @ X.T
    found = sampled_medoids(Matrix(linear), np.arange(40), 4, generator())
    assert sorted(found) == sorted(k_medoids(euclidean_distances(X, squared=True), 4))


@pytest.mark.parametrize("is_distance", [True, False])
def test_given_medoids_stay(is_distance):
    X = generator(3).normal(size=(50, 2))
    distances = euclidean_distances(X)
    matrix = Matrix(-distances, True) if is_distance else Matrix(X @ X.T)
    candidates, given = np.arange(5, 50), np.arange(5)
    found = sampled_medoids(matrix, candidates, 1, generator(), given=given)
    costs = distances if is_distance else distances**2
    best = min(candidates, key=lambda c: total(costs[5:], [*given, c]))
    assert found.tolist() == [best]


@pytest.mark.parametrize(("n_points", "k"), [(1000, 5), (1000, 40), (100, 30), (50, 50)])
def test_the_comparisons_are_those_of_the_sample(n_points, k):
    matrix = Matrix(-euclidean_distances(generator().normal(size=(n_points, 2))), True)
    found = sampled_medoids(matrix, generator(1).permutation(n_points), k, generator())
    assert len(set(found.tolist())) == k
    sampled = min(n_points, 80 + 4 * k)
    assert matrix.n_values == (0 if k == n_points else sampled**2)


def test_evenly_from_each_class():
    codes = np.repeat([0, 1, 2], [50, 30, 20])
    matrix = Matrix(-euclidean_distances(generator().normal(size=(100, 2))), True)
    found = select_landmarks(11, codes, "kmedoids", generator(), matrix)
    assert np.bincount(codes[found]).tolist() == [4, 4, 3]


@pytest.mark.parametrize("make", [BBSClassifier, FTuneClassifier, LandmarkEmbedding])
def test_estimators_take_it(make):
    X, y = make_blobs(150, centers=3, random_state=0)
    model = make(9, similarity="laplacian", selection="kmedoids", random_state=0).fit(X, y)
    again = make(9, similarity="laplacian", selection="kmedoids", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.landmark_indices_, again.landmark_indices_)
    if make is not LandmarkEmbedding:
        assert model.score(X, y) > 0.9


def test_not_finite():
    K = np.ones((5, 5))
    K[2, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        sampled_medoids(Matrix(K), np.arange(5), 2, generator())
