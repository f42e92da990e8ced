"""DBOOST against a slow AdaBoost over all thresholds."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernlearn.datasets import load
from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import DBoostClassifier, boosting
from kernlearn.landmarks.boosting import fill_bins, quantile_cuts
from kernlearn.landmarks.selection import select_pairs

SEEDS = st.integers(0, 10**6)
OnMatrix = partial(DBoostClassifier, similarity="precomputed")


def slow_candidates(K, pairs, search):
    """Every weak learner, in order, as pair, threshold and votes on the training points."""
    for place, (near, far) in enumerate(pairs):
        differences = [K[i, near] - K[i, far] for i in range(len(K))]
        if not search:
            votes = [0.0 if abs(t) < 1e-12 else np.sign(t) for t in differences]
            yield place, 0.0, np.array(votes)
            continue
        for below, above in pairwise(sorted(differences)):
            if above - below > 1e-12:
                v = (below + above) / 2
                yield place, v, np.array([1.0 if t > v else -1.0 for t in differences])


def slow_adaboost(K, labels, pairs, n_rounds, search=True):
    """Pairs, thresholds, alphas and edges of all rounds."""
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
        if greatest > 1 - 1e-12:
            others = (other != place for other, _, _ in candidates)
            allowed = [free and other for free, other in zip(allowed, others, strict=True)]
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
    measures = model.thresholds_, model.estimator_weights_, model.edges_
    return np.column_stack([model.landmark_pairs_[problem], *(each[problem] for each in measures)])


@pytest.mark.parametrize("n_thresholds", [255, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_is_adaboost_for_each_class(n_classes, n_thresholds):
    rng = np.random.RandomState(0)
    y = np.arange(60) % n_classes
    K = rng.randn(60, 60) + (y[:, None] == y)  # indefinite and asymmetric
    model = OnMatrix(30, pool_size=25, n_thresholds=n_thresholds, random_state=5).fit(K, y)
    pools = select_pairs(25, y, "random", np.random.RandomState(5), None)
    new, scores = np.random.RandomState(1).randn(40, 60), []
    for c, pairs in enumerate(pools):
        labels = np.where(y == (c if n_classes > 2 else 1), 1, -1)
        expected = slow_adaboost(K, labels, pairs, 30, bool(n_thresholds))
        assert len(expected) >= 15
        np.testing.assert_allclose(rounds_of(model, c), expected, rtol=1e-9, atol=1e-12)
        scores.append(slow_combination(new, expected))
    found = model.decision_function(new)
    np.testing.assert_allclose(found.reshape(40, -1), np.transpose(scores), atol=1e-12)
    codes = found.argmax(axis=1) if n_classes > 2 else (found > 0).astype(int)
    np.testing.assert_array_equal(model.predict(new), codes)


@given(SEEDS, st.integers(4, 25), st.integers(2, 6), st.booleans())
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore:no pair of landmarks")
def test_ties_and_abstentions(seed, n, levels, search):
    rng = np.random.RandomState(seed)
    K = rng.randint(levels, size=(n, n)).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    model = OnMatrix(15, pool_size=8, n_thresholds=63 * search, random_state=seed).fit(K, y)
    (pairs,) = select_pairs(8, y, "random", np.random.RandomState(seed), None)
    expected = slow_adaboost(K, 2 * y - 1, pairs, 15, search)
    np.testing.assert_allclose(rounds_of(model, 0), expected, rtol=1e-9, atol=1e-12)
    scores = model.decision_function(K)
    np.testing.assert_allclose(scores, slow_combination(K, expected), atol=1e-12)
    assert np.abs(scores).max() <= 1 + 1e-12


def test_weights_of_points_are_repeated_rows():
    X, y = make_moons(80, noise=0.3, random_state=0)
    weights = np.arange(80) % 3 + 1
    model = DBoostClassifier(10, pool_size=20, n_thresholds=0, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights)
    K = np.repeat(GaussianKernel().fit(X)(X, X), weights, axis=0)
    (pairs,) = select_pairs(20, y, "random", np.random.RandomState(0), None)
    expected = slow_adaboost(K, 2 * np.repeat(y, weights) - 1, pairs, 10, search=False)
    np.testing.assert_allclose(rounds_of(weighted, 0), expected, rtol=1e-9, atol=1e-12)


def test_sums_carried_along_are_those_of_all_points(monkeypatch):
    X, y = make_moons(400, noise=0.35, random_state=0)
    X = np.r_[X, X[:40]]  # with noise in labels the weights spread over many magnitudes
    y = np.r_[y, 1 - y[:40]]
    model = DBoostClassifier(400, random_state=0)
    carried = rounds_of(model.fit(X, y), 0)
    monkeypatch.setattr(boosting, "_DRIFT", -1.0)
    np.testing.assert_allclose(carried, rounds_of(model.fit(X, y), 0), rtol=1e-9, atol=1e-13)


@given(SEEDS, st.integers(2, 300), st.integers(1, 255), st.sampled_from([2, 7, 10**6]))
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


def test_cuts_by_hand():
    sample = np.array([[3.0, 1.0, 1.0, 2.0], [5.0, 5.0, 5.0, 5.0], [0.0, 1e-15, 4.0, 4.0]])
    np.testing.assert_array_equal(
        quantile_cuts(sample, 3, tie=1e-12),
        [[1.5, 2.5, np.inf], [np.inf] * 3, [(1e-15 + 4) / 2, np.inf, np.inf]],
    )
    evenly = quantile_cuts(np.arange(1000.0)[None], 9, tie=1e-9)
    np.testing.assert_array_equal(evenly, [np.arange(99.5, 900, 100)])


@pytest.mark.parametrize("n_thresholds", [63, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_similarity_that_says_nothing(n_classes, n_thresholds):
    y = np.arange(30) % n_classes
    # the same, or where pairs may abstain the same but for rounding
    noise = 0 if n_thresholds else 1e-15
    K = 0.3 + noise * np.random.RandomState(0).randn(30, 30)
    with pytest.warns(UserWarning, match="no pair of landmarks"):
        model = OnMatrix(5, n_thresholds=n_thresholds, random_state=0).fit(K, y)
    assert not any(map(len, model.landmark_pairs_))
    assert not model.decision_function(np.ones((4, 30))).any()
    assert set(model.predict(np.ones((4, 30)))) <= set(y)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_landmarks", "reported"),
    [("segment", 30, 0.93), ("segment", 300, 0.96), ("steel_plates_faults", 30, 0.68)],
)
def test_reported_accuracies_come_back(data_dir, name, n_landmarks, reported):
    data = load(name, data_dir=data_dir)
    X, y, scores = StandardScaler().fit_transform(data.data), np.asarray(data.target), []
    for seed in range(3):
        train, test, y_train, y_test = train_test_split(X, y, train_size=0.5, random_state=seed)
        model = DBoostClassifier(n_landmarks, pool_size=None, random_state=seed)
        scores.append(model.fit(train, y_train).score(test, y_test))
    assert abs(np.mean(scores) - reported) < 0.03
