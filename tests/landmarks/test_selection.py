"""The choice of landmarks, against slow versions; which similarities it asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, rbf_kernel

from kernlearn.landmarks.selection import (
    BY_SIMILARITY,
    SELECTIONS,
    FeatureSpace,
    Sample,
    draw_pivots,
    dselect,
    kmeans_plusplus,
    leverage_sampling,
    random_pivots,
    select_landmarks,
    select_pairs,
)

SEEDS = st.integers(0, 2**32 - 1)
X = np.random.RandomState(0).normal(size=(60, 2))
ALL = np.arange(60)
THREE = pytest.mark.parametrize("choose", [kmeans_plusplus, leverage_sampling, random_pivots])


class Matrix:
    """Similarities of training points to each other, which record what is asked for."""

    def __init__(self, values, is_distance=False):
        """A distance is given with the other sign, as `Similarities` does."""
        self.values, self.is_distance = np.asarray(values), is_distance
        self.columns, self.n_diagonals, self.parts = [], 0, []

    def column(self, i):
        self.columns.append(int(i))
        return self.values[:, i]

    def diagonal(self):
        self.n_diagonals += 1
        return self.values.diagonal()

    def part(self, rows, which, *, keep=False):
        self.parts.append((len(rows), len(which)))
        return self.values[np.ix_(rows, which)]


def generator(seed=0):
    return np.random.RandomState(seed)


def gaussian(points, gamma=0.5):
    return rbf_kernel(points, gamma=gamma)


def indefinite(n, seed=0):
    A = generator(seed).normal(size=(n, n))
    return A + A.T


@st.composite
def labelled(draw, most_classes=5, most_points=30):
    """Class codes, every class with a point."""
    n_classes = draw(st.integers(1, most_classes))
    more = draw(st.lists(st.integers(0, n_classes - 1), max_size=most_points - n_classes))
    return np.array(draw(st.permutations([*range(n_classes), *more])))


def similarities(n, seed):
    """A matrix that is neither symmetric nor positive, with ties."""
    return generator(seed).randint(-3, 4, size=(n, n)).astype(float)


def select(n_landmarks, codes, selection, seed=0, choose=select_landmarks):
    K = similarities(len(codes), seed)
    return choose(n_landmarks, codes, selection, generator(seed), Matrix(K))


def dselect_slowly(K, candidates, n_landmarks, first):
    chosen, left = [first], [i for i in candidates if i != first]
    while left and len(chosen) < n_landmarks:
        averages = [np.mean([K[x, other] for other in chosen]) for x in left]
        z = left[min(range(len(left)), key=lambda j: averages[j])]
        chosen.append(z)
        left.remove(z)
    return chosen


@given(n=st.integers(1, 25), n_landmarks=st.integers(1, 30), seed=SEEDS)
def test_dselect_is_the_algorithm_as_printed(n, n_landmarks, seed):
    K, rng = similarities(n, seed), generator(seed)
    candidates = rng.permutation(n)[: 1 + seed % n]
    found = dselect(lambda i: K[:, i], candidates, n_landmarks, rng)
    assert found.tolist() == dselect_slowly(K, candidates, n_landmarks, found[0])


def test_bad_arguments():
    for candidates, n, name in ((range(4), 0, "n_landmarks"), ([], 2, "candidates")):
        with pytest.raises(ValueError, match=name):
            dselect(np.ones, candidates, n, generator())
    with pytest.raises(ValueError, match="finite"):
        dselect(lambda i: np.full(60, np.nan), range(4), 2, generator())


@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_dselect_works_over_all_points_or_within_more_than_two_classes(n_classes):
    codes = generator(1).permutation(ALL % n_classes)
    K = Matrix(similarities(60, 5))
    found = select_landmarks(12, codes, "dselect", generator(), K)
    if n_classes < 3:
        assert found.tolist() == dselect_slowly(K.values, range(60), 12, found[0])
    for c in range(n_classes if n_classes > 2 else 0):
        chosen = found[codes[found] == c].tolist()
        assert chosen == dselect_slowly(K.values, np.flatnonzero(codes == c), 3, chosen[0])
    # one column a landmark, but for the last of each choice
    assert len(K.columns) == len(set(K.columns)) == 12 - (n_classes if n_classes > 2 else 1)
    assert set(K.columns) <= set(found)
    assert not K.parts
    assert not K.n_diagonals


def test_dselect_replaces_the_last_where_a_class_is_missing():
    codes = np.array([0] * 20 + [1] * 5)
    K = similarities(25, 2)
    K[20:] = 100 + generator(3).uniform(size=(5, 25))  # class 1 is like everything
    found = select_landmarks(6, codes, "dselect", generator(0), Matrix(K))
    assert found[:5].tolist() == dselect_slowly(K, range(25), 5, found[0])
    assert found[5] == 20 + K[20:][:, found[:5]].mean(axis=1).argmin()
    assert len(select_landmarks(1, codes, "dselect", generator(0), Matrix(K))) == 1


@pytest.mark.parametrize("selection", SELECTIONS)
@given(codes=labelled(), share=st.floats(0, 1), seed=SEEDS)
def test_landmarks_are_distinct_points_as_many_as_asked(selection, codes, share, seed):
    n_landmarks = 1 + int(share * (len(codes) - 1))
    found = select(n_landmarks, codes, selection, seed)
    assert len(found) == len(set(found.tolist())) == n_landmarks
    assert set(found.tolist()) <= set(range(len(codes)))
    np.testing.assert_array_equal(found, select(n_landmarks, codes, selection, seed))
    if selection in BY_SIMILARITY and 2 in (n_landmarks, codes.max() + 1) and n_landmarks > 1:
        assert len(set(codes[found])) == min(2, codes.max() + 1)
    with pytest.warns(UserWarning, match="landmarks are more"):
        found = select(len(codes) + 1, codes, selection)
    assert sorted(found.tolist()) == list(range(len(codes)))


@pytest.mark.parametrize("selection", BY_SIMILARITY)
@pytest.mark.parametrize(
    ("sizes", "n_landmarks", "expected"),
    [
        ((50, 30, 20), 9, (3, 3, 3)),
        ((50, 2, 49), 23, (11, 2, 10)),
        ((5, 9, 7, 8), 2, (0, 1, 0, 1)),
    ],
)
def test_shares_of_classes_by_hand(selection, sizes, n_landmarks, expected):
    codes = np.repeat(range(len(sizes)), sizes)
    found = select(n_landmarks, codes, selection)
    assert tuple(np.bincount(codes[found], minlength=len(sizes))) == expected


@pytest.mark.parametrize("selection", [*SELECTIONS, "shared"])
@given(codes=labelled().filter(np.any), n_landmarks=st.integers(1, 50), seed=SEEDS)
def test_a_pair_is_of_the_class_and_of_the_rest(selection, codes, n_landmarks, seed):
    found = select(n_landmarks, codes, selection, seed, select_pairs)
    n_classes = codes.max() + 1
    problems = [1] if n_classes == 2 else range(n_classes)
    assert found.shape == (len(problems), n_landmarks, 2)
    for c, pairs in zip(problems, found, strict=True):
        assert (codes[pairs[:, 0]] == c).all()
        assert (codes[pairs[:, 1]] != c).all()
    if selection in BY_SIMILARITY:  # from the singletons
        singletons = select(min(max(n_landmarks, n_classes), len(codes)), codes, selection, seed)
        assert set(found.ravel().tolist()) <= set(singletons.tolist())
    elif selection == "shared":
        assert len(np.unique(found)) <= max(n_landmarks, n_classes)
    again = select(n_landmarks, codes, selection, seed, select_pairs)
    np.testing.assert_array_equal(found, again)


def test_pairs_are_uniform():
    codes = np.repeat([0, 1, 2, 3], [10, 20, 5, 3])
    pairs = select(40_000, codes, "random", choose=select_pairs)[3]
    counts, expected = np.unique(pairs, axis=0, return_counts=True)[1], 40_000 / (3 * 35)
    assert len(counts) == 3 * 35
    assert abs(counts - expected).max() < 6 * np.sqrt(expected)  # standard deviations


def chosen_slowly(squared, candidates, n_landmarks, rng, fixed=()):
    """Steps 1a to 1c of k-means++, from all squared distances."""
    chosen = list(fixed)
    for _ in range(n_landmarks):
        left = np.array([float(x not in chosen) for x in candidates])
        nearest = [min((squared[x, z] for z in chosen), default=1.0) for x in candidates]
        weights = left * nearest if (left * nearest).any() else left
        chosen.append(candidates[rng.choice(len(candidates), p=weights / weights.sum())])
    return chosen[len(fixed) :]


@pytest.mark.parametrize("fixed", [(), (3, 50)])
@pytest.mark.parametrize(
    ("values", "is_distance"),
    [
        (X @ X.T, False),
        (gaussian(X), False),
        (-manhattan_distances(X), False),
        (indefinite(60), False),
        (-euclidean_distances(X), True),
    ],
)
def test_d2_sampling_is_the_algorithm_as_printed(values, is_distance, fixed):
    own = values.diagonal()
    squared = values**2 if is_distance else np.maximum(own[:, None] + own - 2 * values, 0)
    squared = np.where(squared < 1e-12, 0, squared)
    for seed in range(5):
        matrix = Matrix(values, is_distance)
        candidates = generator(seed).permutation(np.setdiff1d(ALL, fixed))[:40]
        found = kmeans_plusplus(matrix, candidates, 12, generator(seed), fixed=fixed)
        assert found.tolist() == chosen_slowly(squared, candidates, 12, generator(seed), fixed)
        assert matrix.columns == [*fixed, *found[:-1]]
        assert matrix.n_diagonals == (not is_distance)
        assert not matrix.parts


def sample_of(K, which, weights=None):
    space = FeatureSpace(Matrix(K), np.arange(len(K)), generator())
    return Sample(space, which, np.ones(len(which)) if weights is None else weights)


def test_leverage_of_a_matrix_of_low_rank_is_not_rounding():
    """λ is tiny: what is left of points in the span must not be divided by it."""
    sample = sample_of(X @ X.T, ALL[:20])
    ridge = sample.ridge(4)
    assert ridge < 1e-6
    expected = np.einsum("ij,jk,ik->i", X, np.linalg.inv(X[:20].T @ X[:20]), X)
    np.testing.assert_allclose(sample.leverage(ALL, ridge), np.minimum(expected, 1), rtol=1e-5)


@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_leverage_by_a_weighted_sample_is_the_formula_of_the_paper(ridge):
    K, which = gaussian(X), np.array([3, 10, 44, 17, 25])
    weights = np.array([1.0, 2.0, 1.5, 3.0, 1.0])
    S = np.zeros((60, 5))
    S[which, range(5)] = weights
    inner = np.linalg.inv(S.T @ K @ S + ridge * np.eye(5))
    expected = np.minimum((K - K @ S @ inner @ S.T @ K).diagonal() / ridge, 1)
    sample = sample_of(K, which, weights)
    np.testing.assert_allclose(sample.leverage(ALL, ridge), expected, rtol=1e-8)
    assert (expected < 1).sum() >= 10
    spectrum = np.linalg.eigvalsh(S.T @ K @ S)
    np.testing.assert_allclose(sample.ridge(2), spectrum[:3].sum() / 2, rtol=1e-8)
    C = K[:, which]  # what is left of the diagonal without a ridge
    expected = (K - C @ np.linalg.inv(K[np.ix_(which, which)]) @ C.T).diagonal()
    np.testing.assert_allclose(sample.rest(ALL), expected, atol=1e-7)


def test_recursive_scores_are_near_the_exact_ones():
    """Of the last level, in the mean over samples; the paper bounds them by a factor of 3."""
    rng = generator(2)
    points = np.r_[0.3 * rng.normal(size=(300, 2)), 6 + 4 * rng.normal(size=(60, 2))]
    K, everything = gaussian(points), np.arange(360)
    drawn = np.zeros(360)
    for seed in range(100):
        K_asked = Matrix(K)
        drawn[leverage_sampling(K_asked, everything, 30, generator(seed))] += 1
        assert sum(height * width for height, width in K_asked.parts) < 4 * 360 * 30
    # for the λ of the algorithm, with its k of 3
    spectrum = np.linalg.eigvalsh(K)[::-1]
    exact = np.linalg.solve(K + spectrum[3:].sum() / 3 * np.eye(360), K).diagonal()
    low, high = np.argsort(exact)[:120], np.argsort(exact)[-30:]
    ratio = (drawn[high].mean() / drawn[low].mean()) / (exact[high].mean() / exact[low].mean())
    assert 1 / 3 < ratio < 3
    assert drawn[high].mean() > 4 * drawn[low].mean()


def space_of(matrix):
    return FeatureSpace(matrix, np.arange(len(matrix.values)), generator())


@pytest.mark.parametrize(
    "n_proposed", [3, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 20))]
)
def test_pairs_of_pivots_have_the_probabilities_of_the_algorithm(n_proposed):
    # of unequal lengths, two almost parallel
    Z = np.array([[2.0, 0.0], [1.9, 0.2], [0.0, 1.0], [0.7, 0.7], [-0.3, 1.2]])
    K = Z @ Z.T + 0.05 * np.eye(5)
    expected = np.zeros((5, 5))
    for i in range(5):
        rest = K.diagonal() - K[:, i] ** 2 / K[i, i]
        expected[i] = K[i, i] / K.trace() * rest / rest.sum()
    np.fill_diagonal(expected, 0)
    rng, n_drawn, counts = np.random.RandomState(7), 4000, np.zeros((5, 5))
    space = space_of(Matrix(K))
    for _ in range(n_drawn):
        (i, j), _ = draw_pivots(space, 2, rng, n_proposed=n_proposed)
        counts[i, j] += 1
    error = np.sqrt(expected * (1 - expected) / n_drawn)
    assert (np.abs(counts / n_drawn - expected) <= 4 * error).all()


@pytest.mark.parametrize("n_proposed", [1, 5, 128])
def test_the_factor_is_the_nystroem_approximation_with_the_pivots(n_proposed):
    K = gaussian(generator(4).normal(size=(80, 2)))
    matrix = Matrix(K)
    pivots, factor = draw_pivots(space_of(matrix), 12, generator(), n_proposed=n_proposed)
    columns = K[:, pivots]
    expected = columns @ np.linalg.solve(K[np.ix_(pivots, pivots)], columns.T)
    np.testing.assert_allclose(factor.T @ factor, expected, atol=1e-8)
    assert len(set(pivots.tolist())) == 12
    whole = [n for rows, n in matrix.parts if rows == 80]
    assert sum(whole) == 12
    assert {shape for shape in matrix.parts if shape[0] != 80} == {(n_proposed, n_proposed)}


def test_pivots_of_a_rounded_matrix():
    """Of float32 and rank 3, whose values among proposals differ in the last digit."""
    Z = generator().normal(size=(200, 3)).astype(np.float32)
    K = Z @ Z.T
    noisy = K * (1 + 1e-7 * generator(1).normal(size=K.shape)).astype(np.float32)

    class Rounded(Matrix):
        def part(self, rows, which, *, keep=False):
            return (self.values if keep else noisy)[np.ix_(rows, which)]

    pivots, _ = draw_pivots(space_of(Rounded(K)), 50, generator(2), n_proposed=10)
    assert 3 <= len(pivots) <= 10


@pytest.mark.parametrize(
    ("matrix", "scale"),
    [
        (Matrix(-euclidean_distances(X), True), 1),
        (Matrix(-euclidean_distances(X, squared=True)), 2),
        (Matrix(-(euclidean_distances(X).astype(np.float32)), True), 1),
        (Matrix(gaussian(X)), None),
    ],
)
def test_without_lengths_a_random_point_is_the_origin(matrix, scale):
    points = np.r_[0:40:3]
    space = FeatureSpace(matrix, points, generator(5))
    if scale is None:
        expected = matrix.values[np.ix_(points, points)]
        assert not matrix.columns
    else:
        origin = points[generator(5).randint(len(points))]
        assert matrix.columns[-1] == origin
        centred = X[points] - X[origin]
        expected = scale * centred @ centred.T
    rows, which = np.array([2, 7, 1]), np.array([4, 0])
    rtol, atol = (1e-5, 1e-4) if space.rounding > 1e-10 else (1e-9, 1e-9)
    np.testing.assert_allclose(space.diagonal, expected.diagonal(), rtol, atol)
    np.testing.assert_allclose(space.part(rows, which), expected[np.ix_(rows, which)], rtol, atol)


def clusters(seed=0, n_small=20):
    """One cluster of 1500 points, and small ones of 5 points far from each other."""
    points = np.r_[np.zeros((1500, n_small)), np.repeat(20 * np.eye(n_small), 5, axis=0)]
    return points + 0.005 * generator(seed).normal(size=points.shape)


@THREE
@pytest.mark.parametrize(
    ("compare", "is_distance"),
    [(gaussian, False), (euclidean_distances, True), (manhattan_distances, False)],
)
def test_small_clusters_are_reached(choose, compare, is_distance):
    """Random landmarks miss most of them, and approximate the kernel far worse."""
    points = clusters()
    sign = 1 if compare is gaussian else -1
    for seed in range(3):
        D = Matrix(sign * compare(points), is_distance)
        found = choose(D, np.arange(len(points)), 100, generator(seed))
        assert len(set(found.tolist())) == 100
        reached = [
            len(set((chosen[chosen >= 1500] // 5).tolist()))
            for chosen in (found, generator(seed).permutation(len(points))[:100])
        ]
        assert reached[0] >= 18 > 10 > reached[1]


@THREE
@pytest.mark.parametrize("is_distance", [False, True])
def test_any_matrix_gives_distinct_points(choose, is_distance):
    for values in (
        indefinite(60),
        -np.abs(indefinite(60)),
        generator(1).normal(size=(60, 60)),
        np.zeros((60, 60)),
        -gaussian(X),
        np.tanh(X @ X.T - 1).astype(np.float32),
        np.repeat(np.repeat(gaussian(X[:6]), 10, 0), 10, 1),
    ):
        matrix = Matrix(values, is_distance)
        for n_landmarks in (1, 2, 7, 59, 60):
            candidates = generator(2).permutation(60)[: max(n_landmarks, 30)]
            for chosen in ((), np.setdiff1d(ALL, candidates)[:3]):
                found = choose(matrix, candidates, n_landmarks, generator(3), fixed=chosen)
                assert len(found) == len(set(found.tolist())) == n_landmarks
                assert set(found.tolist()) <= set(candidates.tolist())
    far = Matrix(gaussian(np.r_[0.001 * X[:20], 50 + 0.001 * X[:20], [[-90.0, 0.0]]]))
    if choose is not leverage_sampling:  # the one that is far from all fixed points
        others = np.setdiff1d(np.arange(20, 41), [25])
        assert choose(far, others, 1, generator(), fixed=[0, 25]).tolist() == [40]
    if not is_distance:  # duplicates are taken last; draws by leverage do not see each other
        kinds = set((choose(matrix, ALL, 6, generator()) // 10).tolist())
        assert len(kinds) >= (3 if choose is leverage_sampling else 6)
