"""D² sampling, ridge leverage scores and random pivots, against slow versions."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, rbf_kernel

from kernlearn.landmarks.selection import (
    FeatureSpace,
    Sample,
    kmeans_plusplus,
    leverage_sampling,
    random_pivots,
)
from tests.landmarks.matrices import Matrix

X = np.random.RandomState(0).normal(size=(60, 2))
ALL = np.arange(60)
THREE = pytest.mark.parametrize("choose", [kmeans_plusplus, leverage_sampling, random_pivots])


def generator(seed=0):
    return np.random.RandomState(seed)


def gaussian(points, gamma=0.5):
    return rbf_kernel(points, gamma=gamma)


def indefinite(n, seed=0):
    A = generator(seed).normal(size=(n, n))
    return A + A.T


def chosen_slowly(squared, candidates, n_landmarks, rng, given=()):
    """Steps 1a to 1c of k-means++, from all squared distances."""
    chosen, left = list(given), list(candidates)
    found = []
    while len(found) < n_landmarks:
        weights = [
            0.0 if x not in left else min((squared[x, z] for z in chosen), default=1.0)
            for x in candidates
        ]
        if sum(weights) == 0:
            weights = [float(x in left) for x in candidates]
        place = rng.choice(len(candidates), p=np.array(weights) / sum(weights))
        found.append(candidates[place])
        chosen.append(candidates[place])
        left.remove(candidates[place])
    return found


@pytest.mark.parametrize("given", [(), (3, 50)])
@pytest.mark.parametrize(
    ("matrix", "squared"),
    [
        (Matrix(X @ X.T), euclidean_distances(X, squared=True)),
        (Matrix(gaussian(X)), 2 - 2 * gaussian(X)),
        (Matrix(-manhattan_distances(X)), 2 * manhattan_distances(X)),
        (Matrix(-euclidean_distances(X), True), euclidean_distances(X, squared=True)),
    ],
    ids=["linear", "Gaussian", "negative", "distance"],
)
def test_d2_sampling_is_the_algorithm_as_printed(matrix, squared, given):
    squared = squared - np.diag(squared.diagonal())
    for seed in range(5):
        candidates = generator(seed).permutation(np.setdiff1d(ALL, given))[:40]
        found = kmeans_plusplus(matrix, candidates, 12, generator(seed), given=given)
        assert found.tolist() == chosen_slowly(squared, candidates, 12, generator(seed), given)


def test_d2_sampling_clips_the_distances_of_an_indefinite_similarity():
    K = indefinite(60)
    own = K.diagonal()
    squared = np.maximum(own[:, None] + own - 2 * K, 0)
    assert (squared == 0).sum() > 60  # beside the diagonal
    for seed in range(5):
        found = kmeans_plusplus(Matrix(K), ALL, 60, generator(seed))
        assert found.tolist() == chosen_slowly(squared, ALL, 60, generator(seed))
        assert sorted(found) == ALL.tolist()


def test_d2_sampling_asks_for_a_column_of_each_but_the_last():
    K = Matrix(gaussian(X))
    found = kmeans_plusplus(K, ALL, 10, generator())
    assert K.columns == found[:-1].tolist()
    assert K.n_diagonals == 1
    assert not K.parts
    D = Matrix(-euclidean_distances(X), True)
    kmeans_plusplus(D, ALL, 10, generator())
    assert D.n_diagonals == 0


def full_scores(K, ridge):
    """The definition: the diagonal of K (K + λ I)⁻¹."""
    return np.linalg.solve(K + ridge * np.eye(len(K)), K).diagonal()


@pytest.mark.parametrize(
    ("dtype", "ridge", "rtol"),
    [
        (np.float64, 1e-3, 1e-6),
        (np.float64, 0.1, 1e-6),
        (np.float64, 5.0, 1e-6),
        (np.float32, 0.1, 0.05),  # where a rest of 3e-4 may be rounding
        (np.float32, 5.0, 1e-3),
    ],
)
def test_leverage_by_a_sample_of_all_points_is_exact(dtype, ridge, rtol):
    K = gaussian(X).astype(dtype)
    space = FeatureSpace(Matrix(K), ALL, generator())
    found = Sample.of(space, ALL, np.ones(60)).leverage(ALL, ridge)
    expected = full_scores(K.astype(np.float64), ridge)
    np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_leverage_by_a_weighted_sample_is_the_formula_of_the_paper(ridge):
    K, which = gaussian(X), np.array([3, 10, 44, 17, 25])
    weights = np.array([1.0, 2.0, 1.5, 3.0, 1.0])
    S = np.zeros((60, 5))
    S[which, range(5)] = weights
    inner = np.linalg.inv(S.T @ K @ S + ridge * np.eye(5))
    expected = np.minimum((K - K @ S @ inner @ S.T @ K).diagonal() / ridge, 1)
    sample = Sample.of(FeatureSpace(Matrix(K), ALL, generator()), which, weights)
    np.testing.assert_allclose(sample.leverage(ALL, ridge), expected, rtol=1e-8)
    assert (expected < 1).sum() >= 10
    spectrum = np.linalg.eigvalsh(S.T @ K @ S)
    np.testing.assert_allclose(sample.ridge(2), spectrum[:3].sum() / 2, rtol=1e-8)
    # what is left of the diagonal without a ridge
    C = K[:, which]
    expected = (K - C @ np.linalg.inv(K[np.ix_(which, which)]) @ C.T).diagonal()
    np.testing.assert_allclose(sample.rest(ALL), expected, atol=1e-7)


def test_leverage_of_a_matrix_of_low_rank_is_not_rounding():
    """λ is tiny: what is left of points in the span must not be divided by it."""
    sample = Sample.of(FeatureSpace(Matrix(X @ X.T), ALL, generator()), ALL[:20], np.ones(20))
    ridge = sample.ridge(4)
    assert ridge < 1e-6
    found = sample.leverage(ALL, ridge)
    expected = np.einsum("ij,jk,ik->i", X, np.linalg.inv(X[:20].T @ X[:20]), X)
    np.testing.assert_allclose(found, np.minimum(expected, 1), rtol=1e-5)


def test_recursive_scores_draw_lonely_points():
    rng = generator(1)
    lonely = 100.0 * np.arange(1, 9)[:, None] * [1.0, 0.0]
    points = np.r_[0.02 * rng.normal(size=(800, 2)), lonely]
    K = gaussian(points)
    for seed in range(10):
        found = leverage_sampling(Matrix(K), np.arange(808), 80, generator(seed))
        assert set(range(800, 808)) <= set(found.tolist())
        assert len(set(found.tolist())) == 80


def test_recursive_scores_are_near_the_exact_ones():
    """Of the last level, in the mean over samples; the paper bounds them by a factor of 3."""
    rng = generator(2)
    points = np.r_[0.3 * rng.normal(size=(300, 2)), 6 + 4 * rng.normal(size=(60, 2))]
    K, everything = gaussian(points), np.arange(360)
    drawn, n_drawn = np.zeros(360), 100
    for seed in range(n_drawn):
        drawn[leverage_sampling(Matrix(K), everything, 30, generator(seed))] += 1
    # for the λ of the algorithm, with its k of 3
    spectrum = np.linalg.eigvalsh(K)[::-1]
    exact = full_scores(K, spectrum[3:].sum() / 3)
    low, high = np.argsort(exact)[:120], np.argsort(exact)[-30:]
    ratio = (drawn[high].mean() / drawn[low].mean()) / (exact[high].mean() / exact[low].mean())
    assert 1 / 3 < ratio < 3
    assert drawn[high].mean() > 4 * drawn[low].mean()


@pytest.mark.parametrize("n_landmarks", [20, 60])
def test_leverage_asks_for_as_much_as_two_sets_of_columns(n_landmarks):
    points = generator(3).normal(size=(2000, 3))
    for seed in range(3):
        K = Matrix(gaussian(points))
        leverage_sampling(K, np.arange(2000), n_landmarks, generator(seed))
        assert K.n_values < 2.5 * 2000 * n_landmarks
        assert max(height * width for height, width in K.parts) < 2 * 2000 * n_landmarks


def test_leverage_never_asks_for_a_whole_matrix_however_indefinite():
    K = Matrix(indefinite(600))
    leverage_sampling(K, np.arange(600), 10, generator())
    assert K.n_values < 4 * 600 * 10


def test_pivots_ask_for_a_column_each_and_their_proposals():
    points = generator(3).normal(size=(500, 3))
    K = Matrix(gaussian(points))
    found = random_pivots(K, np.arange(500), 20, generator())
    whole = [width for height, width in K.parts if height == 500]
    assert sum(whole) == len(set(found.tolist())) == 20
    assert {part for part in K.parts if part[0] != 500} == {(20, 20)}
    assert not K.columns


def test_pivots_are_those_of_the_rest_given_others():
    """With points given, the one far from all of them is drawn."""
    points = np.r_[0.001 * X[:20], 50 + 0.001 * X[:20], [[-90.0, 0.0]]]
    K = Matrix(gaussian(points))
    others = np.setdiff1d(np.arange(20, 41), [25])
    for seed in range(10):
        assert random_pivots(K, others, 1, generator(seed), given=[0, 25]).tolist() == [40]


@pytest.mark.parametrize(
    ("matrix", "scale"),
    [
        (Matrix(-euclidean_distances(X), True), 1),
        (Matrix(-euclidean_distances(X, squared=True)), 2),
        (Matrix(-(euclidean_distances(X).astype(np.float32)), True), 1),
    ],
    ids=["distance", "negative similarity", "float32"],
)
def test_without_lengths_a_random_point_is_the_origin(matrix, scale):
    points = np.r_[0:40:3]
    space = FeatureSpace(matrix, points, generator(5))
    origin = X[points[generator(5).randint(len(points))]]
    centred = X[points] - origin
    rows, which = np.array([2, 7, 1]), np.array([4, 0])
    expected = scale * centred @ centred.T
    rtol, atol = (1e-5, 1e-4) if space.rounding > 1e-10 else (1e-9, 1e-9)
    np.testing.assert_allclose(space.diagonal, expected.diagonal(), rtol, atol)
    np.testing.assert_allclose(space.part(rows, which), expected[np.ix_(rows, which)], rtol, atol)
    assert matrix.columns[-1] == points[generator(5).randint(len(points))]


def test_a_kernel_keeps_its_origin():
    K = Matrix(gaussian(X))
    space = FeatureSpace(K, ALL[10:30], generator())
    assert not K.columns
    np.testing.assert_array_equal(space.diagonal, 1)
    found = space.part(np.array([0, 3]), np.array([5]))
    np.testing.assert_array_equal(found, K.values[[10, 13]][:, [15]])


def clusters(seed=0, n_small=20):
    """One cluster of 1500 points, and small ones of 5 points far from each other."""
    points = np.r_[np.zeros((1500, n_small)), np.repeat(20 * np.eye(n_small), 5, axis=0)]
    return points + 0.005 * generator(seed).normal(size=points.shape)


def rest_of(K, chosen):
    """The trace of K less its Nyström approximation."""
    values, vectors = np.linalg.eigh(K[np.ix_(chosen, chosen)])
    kept = values > 1e-12 * values[-1]
    features = K[:, chosen] @ (vectors[:, kept] / np.sqrt(values[kept]))
    return K.trace() - (features**2).sum()


@THREE
def test_unequal_clusters_are_approximated_far_better_than_by_random_points(choose):
    errors, by_chance = [], []
    for seed in range(5):
        K = gaussian(clusters(seed))
        n = len(K)
        errors.append(rest_of(K, choose(Matrix(K), np.arange(n), 100, generator(seed))))
        by_chance.append(rest_of(K, generator(seed).permutation(n)[:100]))
    # random landmarks miss most of 20 clusters, of 5 points each
    assert np.mean(by_chance) > 50
    assert np.mean(errors) < 0.1 * np.mean(by_chance)


def reached(chosen):
    """The small clusters that some points are in."""
    return set((chosen[chosen >= 1500] // 5).tolist())


@THREE
@pytest.mark.parametrize(
    ("distances", "is_distance"),
    [(euclidean_distances, True), (manhattan_distances, False)],
)
def test_distances_reach_the_small_clusters_too(choose, distances, is_distance):
    points = clusters(n_small=10)
    for seed in range(3):
        D = Matrix(-distances(points), is_distance)
        found = choose(D, np.arange(len(points)), 60, generator(seed))
        assert len(set(found.tolist())) == 60
        by_chance = generator(seed).permutation(len(points))[:60]
        assert len(reached(found)) >= 9
        assert len(reached(by_chance)) <= 5


@THREE
@pytest.mark.parametrize("is_distance", [False, True])
@pytest.mark.parametrize(
    "matrix",
    [
        indefinite(60),
        -np.abs(indefinite(60)),
        generator(1).normal(size=(60, 60)),
        np.zeros((60, 60)),
        np.ones((60, 60)),
        -gaussian(X),
        np.tanh(X @ X.T - 1).astype(np.float32),
        np.repeat(np.repeat(gaussian(X[:6]), 10, 0), 10, 1),
    ],
    ids=["indefinite", "negative", "skewed", "0", "1", "-Gaussian", "sigmoid", "duplicates"],
)
def test_any_matrix_gives_distinct_points(choose, matrix, is_distance):
    matrix = Matrix(matrix, is_distance)
    for n_landmarks in (1, 2, 7, 59, 60):
        candidates = generator(2).permutation(60)[: max(n_landmarks, 30)]
        for given in ((), np.setdiff1d(ALL, candidates)[:3]):
            found = choose(matrix, candidates, n_landmarks, generator(3), given=given)
            assert len(found) == len(set(found.tolist())) == n_landmarks
            assert set(found.tolist()) <= set(candidates.tolist())
            again = choose(matrix, candidates, n_landmarks, generator(3), given=given)
            np.testing.assert_array_equal(found, again)


@THREE
def test_duplicates_are_taken_last(choose):
    K = Matrix(np.repeat(np.repeat(gaussian(5 * X[:6]), 10, 0), 10, 1))
    kinds = [len(set((choose(K, ALL, 6, generator(s)) // 10).tolist())) for s in range(5)]
    # draws by leverage do not see each other
    assert min(kinds) >= (3 if choose is leverage_sampling else 6)


@THREE
def test_values_that_are_not_finite_are_refused(choose):
    K = gaussian(X)
    K[:, :] = np.nan
    with pytest.raises(ValueError, match="'similarity' must give finite numbers"):
        choose(Matrix(K), ALL, 5, generator())
