import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs, make_moons

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import boosting
from kernlearn.landmarks.boosting import fill_bins, quantile_cuts
from kernlearn.landmarks.dboost import DBoostClassifier
from kernlearn.landmarks.selection import select_pairs


def slow_candidates(K, pairs, search):
    """Every weak learner, in order, as pair, threshold and votes on the training points."""
    for place, (near, far) in enumerate(pairs):
        differences = [K[i, near] - K[i, far] for i in range(len(K))]
        if not search:
            yield (
                place,
                0.0,
                np.array([0.0 if abs(t) < 1e-12 else np.sign(t) for t in differences]),
            )
            continue
        values = sorted(differences)
        for below, above in pairwise(values):
            if above - below > 1e-12:
                v = (below + above) / 2
                yield place, v, np.array([1.0 if t > v else -1.0 for t in differences])


def slow_adaboost(K, labels, pairs, n_rounds, search=True, reuse=True):
    """AdaBoost as it is told: pairs, thresholds, alphas and edges of all rounds."""
    n = len(labels)
    weights = np.full(n, 1 / n)
    candidates = list(slow_candidates(K, pairs, search))
    allowed, rounds = [True] * len(candidates), []
    while len(rounds) < n_rounds:
        edges = [
            np.sum(weights * labels * votes) if free else -1
            for free, (_, _, votes) in zip(allowed, candidates, strict=True)
        ]
        greatest = max(edges, default=0)
        if greatest <= 1e-12:
            break
        c = next(c for c, edge in enumerate(edges) if edge >= greatest - 1e-12)
        place, v, votes = candidates[c]
        error = max((1 - edges[c]) / 2, 1 / (2 * n))
        alpha = math.log((1 - error) / error) / 2
        rounds.append((*pairs[place], v, alpha, edges[c]))
        weights = weights * np.exp(-alpha * labels * votes)
        weights /= weights.sum()
        if not reuse or greatest > 1 - 1e-12:
            allowed = [
                free and other != place
                for free, (other, _, _) in zip(allowed, candidates, strict=True)
            ]
    return np.array(rounds).reshape(-1, 5)


def slow_combination(K, rounds):
    """Convex combination of votes, with rounds as slow_adaboost gives them."""
    if not len(rounds):
        return np.zeros(len(K))
    sums = np.zeros(len(K))
    for near, far, v, alpha, _ in rounds:
        difference = K[:, int(near)] - K[:, int(far)] - v
        sums += alpha * np.where(np.abs(difference) < 1e-12, 0, np.sign(difference))
    return sums / rounds[:, 3].sum()


def rounds_of(model, problem):
    return np.column_stack(
        [
            model.landmark_pairs_[problem],
            model.thresholds_[problem],
            model.estimator_weights_[problem],
            model.edges_[problem],
        ]
    )


def asymmetric(n, seed):
    """An indefinite and asymmetric similarity that tells something about two classes."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    return rng.randn(n, n) + (y[:, None] == y), y


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("n_thresholds", [255, 0])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_is_adaboost_over_two_classes(kind, n_thresholds, reuse):
    K, y = asymmetric(60, 0)
    model = DBoostClassifier(
        30,
        similarity="precomputed",
        kind=kind,
        pool_size=25,
        n_thresholds=n_thresholds,
        reuse=reuse,
        random_state=5,
    )
    model.fit(K if kind == "similarity" else -K, y)
    (pairs,) = select_pairs(25, y, selection="random", rng=np.random.RandomState(5))
    expected = slow_adaboost(K, 2 * y - 1, pairs, 30, bool(n_thresholds), reuse)
    assert len(expected) >= 20
    np.testing.assert_allclose(rounds_of(model, 0), expected, rtol=1e-9, atol=1e-12)
    new = np.random.RandomState(1).randn(40, 60)
    found = model.decision_function(new if kind == "similarity" else -new)
    np.testing.assert_allclose(found, slow_combination(new, expected), atol=1e-12)
    np.testing.assert_array_equal(
        model.predict(new if kind == "similarity" else -new), (found > 0).astype(int)
    )


@pytest.mark.parametrize("n_thresholds", [255, 0])
def test_one_vs_rest_is_adaboost_for_each_class(n_thresholds):
    X, y = load_iris(return_X_y=True)
    K = GaussianKernel(1.5)(X, X)
    model = DBoostClassifier(
        12, similarity="precomputed", pool_size=10, n_thresholds=n_thresholds, random_state=0
    ).fit(K, y)
    pools = select_pairs(10, y, selection="random", rng=np.random.RandomState(0))
    scores = []
    for c, pairs in enumerate(pools):
        expected = slow_adaboost(K, np.where(y == c, 1, -1), pairs, 12, bool(n_thresholds))
        np.testing.assert_allclose(rounds_of(model, c), expected, rtol=1e-9, atol=1e-12)
        scores.append(slow_combination(K, expected))
    found = model.decision_function(K)
    np.testing.assert_allclose(found, np.transpose(scores), atol=1e-12)
    np.testing.assert_array_equal(model.predict(K), found.argmax(axis=1))
    assert model.problems_ == [(0, None), (1, None), (2, None)]


def test_one_vs_one_lets_problems_vote():
    X, y = make_blobs(120, centers=4, cluster_std=3.0, random_state=1)
    K = GaussianKernel(3.0)(X, X)
    model = DBoostClassifier(
        8,
        similarity="precomputed",
        pool_size=6,
        n_thresholds=255,
        multi_class="ovo",
        random_state=2,
    ).fit(K, y)
    rng = np.random.RandomState(2)
    wins, sums, drawn = np.zeros((120, 4)), np.zeros((120, 4)), []
    for a, b in combinations(range(4), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        is_a = (y[rows] == a).astype(int)
        drawn.append((a, b, rows, is_a, rows[select_pairs(6, is_a, selection="random", rng=rng)]))
    for problem, (a, b, rows, is_a, (pairs,)) in enumerate(drawn):
        expected = slow_adaboost(K[rows], 2 * is_a - 1, pairs, 8)
        np.testing.assert_allclose(rounds_of(model, problem), expected, rtol=1e-9, atol=1e-12)
        values = slow_combination(K, expected)
        wins[:, a] += values > 0
        wins[:, b] += values <= 0
        sums[:, a] += values
        sums[:, b] -= values
    found = model.decision_function(K)
    np.testing.assert_array_equal(np.round(found), wins)
    order = np.lexsort((sums, wins), axis=1)
    np.testing.assert_array_equal(model.predict(K), order[:, -1])
    assert model.problems_ == list(combinations(range(4), 2))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    levels=st.integers(2, 6),
    search=st.booleans(),
    reuse=st.booleans(),
)
@settings(max_examples=60)
def test_ties_and_abstentions_are_as_told(seed, n, levels, search, reuse):
    rng = np.random.RandomState(seed)
    K = rng.randint(levels, size=(n, n)).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    model = DBoostClassifier(
        15,
        similarity="precomputed",
        pool_size=8,
        n_thresholds=63 if search else 0,
        reuse=reuse,
        random_state=seed,
    )
    (pairs,) = select_pairs(8, y, selection="random", rng=np.random.RandomState(seed))
    expected = slow_adaboost(K, 2 * y - 1, pairs, 15, search, reuse)
    if not len(expected):
        with pytest.warns(UserWarning, match="no pair of landmarks"):
            model.fit(K, y)
    else:
        model.fit(K, y)
    np.testing.assert_allclose(rounds_of(model, 0), expected, rtol=1e-9, atol=1e-12)
    scores = model.decision_function(K)
    np.testing.assert_allclose(scores, slow_combination(K, expected), atol=1e-12)
    assert np.abs(scores).max() <= 1 + 1e-12


def test_training_error_is_below_its_bounds():
    X, y = make_moons(300, noise=0.3, random_state=0)
    model = DBoostClassifier(60, pool_size=40, random_state=0).fit(X, y)
    (errors,), (losses,), (edges,) = (
        model.training_errors_,
        model.training_losses_,
        model.edges_,
    )
    error = (1 - edges) / 2
    np.testing.assert_allclose(losses, np.cumprod(2 * np.sqrt(error * (1 - error))), rtol=1e-9)
    assert (errors <= losses).all()
    assert errors[-1] == pytest.approx(1 - model.score(X, y))
    assert errors[-1] < 0.5 * errors[0]
    margins = (2 * y - 1) * model.decision_function(X) * model.estimator_weights_[0].sum()
    assert np.exp(-margins).mean() == pytest.approx(losses[-1])


def test_abstaining_learners_keep_the_bound():
    K = np.random.RandomState(0).randint(3, size=(50, 50)).astype(float)
    y = np.arange(50) % 2
    model = DBoostClassifier(20, similarity="precomputed", n_thresholds=0, random_state=0)
    model.fit(K, y)
    (losses,), (edges,) = model.training_losses_, model.edges_
    assert (losses <= np.cumprod(np.sqrt(1 - edges**2)) * (1 + 1e-12)).all()
    assert (model.training_errors_[0] <= losses).all()


def test_sums_carried_along_are_those_of_all_points(monkeypatch):
    X, y = make_moons(400, noise=0.35, random_state=0)
    X = np.r_[X, X[:40]]  # with noise in labels the weights spread over many magnitudes
    y = np.r_[y, 1 - y[:40]]
    model = DBoostClassifier(400, random_state=0)
    carried = rounds_of(model.fit(X, y), 0)
    monkeypatch.setattr(boosting, "_DRIFT", -1.0)
    np.testing.assert_allclose(carried, rounds_of(model.fit(X, y), 0), rtol=1e-9, atol=1e-13)


def test_more_thresholds_than_values_are_all_midpoints():
    sample = np.array([[3.0, 1.0, 1.0, 2.0], [5.0, 5.0, 5.0, 5.0], [0.0, 1e-15, 4.0, 4.0]])
    np.testing.assert_array_equal(
        quantile_cuts(sample, 3, tie=1e-12),
        [[1.5, 2.5, np.inf], [np.inf] * 3, [(1e-15 + 4) / 2, np.inf, np.inf]],
    )


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 300),
    n_cuts=st.integers(1, 255),
    levels=st.sampled_from([2, 7, 10**6]),
)
@settings(max_examples=60)
def test_bins_and_cuts(seed, n, n_cuts, levels):
    rng = np.random.RandomState(seed)
    similarities = rng.randint(levels, size=(6, n)).astype(float)
    pairs = rng.randint(6, size=(5, 2))
    differences = similarities[pairs[:, 0]] - similarities[pairs[:, 1]]
    cuts = quantile_cuts(differences.copy(), n_cuts, tie=1e-9)
    bins = np.empty((5, n), dtype=np.uint8)
    fill_bins(similarities, pairs, cuts, bins)
    for p, values in enumerate(differences):
        finite = cuts[p][np.isfinite(cuts[p])]
        distinct = len(np.unique(values))
        assert (np.diff(finite) > 0).all()
        assert not np.isin(finite, values).any()
        assert len(finite) == distinct - 1 if distinct - 1 <= n_cuts else len(finite) <= n_cuts
        # every cut has points on both sides, and no two cuts the same points
        assert len(np.unique(np.searchsorted(finite, values))) == len(finite) + 1
        np.testing.assert_array_equal(bins[p], [(finite < value).sum() for value in values])


def test_cuts_are_evenly_spaced_in_rank():
    sample = np.random.RandomState(0).permutation(1000).astype(float)[None]
    np.testing.assert_array_equal(quantile_cuts(sample, 9, tie=1e-9), [np.arange(99.5, 900, 100)])
