import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernlearn.pairwise import as_buffer
from kernlearn.pairwise.metric import OnlineMetricLearner
from kernlearn.pairwise.projections import project_psd, project_trace_norm
from tests.checks import parametrize_with_checks
from tests.pairwise import plain

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 4)) * [1.0, 0.5, 2.0, 1.0] * 0.7
Y = np.array(["a", "b", "c"])[
    (X[:, 0] + 0.3 * RNG.normal(size=90) > 0).astype(int) + (X[:, 1] > 0.2)
]

NORMS = {
    ("l2", None): project_psd,
    ("l2", 0.4): lambda M: project_psd(M, 0.4),
    ("trace_norm", 0.5): lambda M: project_trace_norm(M, 0.5, positive_semidefinite=True),
}


def slow(X, y, policy, seed, project, loss="hinge", eta=0.1, regularization=0.0):
    """Return M_1, ..., M_n, pair by pair."""
    (rng,) = plain.generators(seed, 1)
    M, kept, iterates = np.zeros((X.shape[1], X.shape[1])), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        gradient = regularization * M
        for other, other_label in kept:
            sign = 1 if label == other_label else -1
            outer = np.outer(x - other, x - other)
            margin = sign * (1 - (M * outer).sum())
            gradient = gradient - plain.LOSSES[loss](margin) * sign * outer / len(kept)
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        M = project(M - rate * gradient)
        iterates.append(M)
        kept = plain.move(kept, (x, label), *policy.update(t, len(kept), rng))
    return np.array(iterates)


@parametrize_with_checks(
    [
        OnlineMetricLearner(),
        OnlineMetricLearner("rank", norm="trace_norm", radius=1.0, buffer_size=1),
        OnlineMetricLearner(1, loss="logistic", regularization=0.5, average=False, n_passes=2),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("regularization", [0.0, 0.5])
@pytest.mark.parametrize(("norm", "radius"), NORMS)
@pytest.mark.parametrize("loss", plain.LOSSES)
def test_agrees_with_the_slow_loop(loss, norm, radius, regularization):
    points = 0.3 * X  # so that the exponential loss stays finite without a radius
    expected = slow(
        points,
        Y,
        as_buffer("rsx2", 7),
        seed=3,
        project=NORMS[norm, radius],
        loss=loss,
        regularization=regularization,
    )
    model = OnlineMetricLearner(
        buffer_size=7,
        eta=0.1,
        radius=radius,
        loss=loss,
        norm=norm,
        regularization=regularization,
        random_state=3,
    )
    assert np.abs(expected[-1]).max() > 0.01
    np.testing.assert_allclose(model.fit(points, Y).metric_, expected.mean(axis=0), atol=1e-10)
    model.set_params(average=False).fit(points, Y)
    np.testing.assert_allclose(model.metric_, expected[-1], atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 50, 1000])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx", "rsx2"])
def test_every_buffer_is_followed(buffer, size):
    expected = slow(X, Y, as_buffer(buffer, size), seed=1, project=project_psd).mean(axis=0)
    model = OnlineMetricLearner(buffer_size=size, buffer=buffer, eta=0.1, random_state=1)
    np.testing.assert_allclose(model.fit(X, Y).metric_, expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(cuts=st.sets(st.integers(1, 89), max_size=12), regularization=st.sampled_from([0.0, 0.2]))
def test_same_however_the_stream_is_cut(cuts, regularization):
    model = OnlineMetricLearner(
        buffer_size=5, regularization=regularization, radius=0.5, random_state=0
    )
    whole = clone(model).fit(X, Y)
    edges = [0, *sorted(cuts), 90]
    for start, end in pairwise(edges):
        model.partial_fit(X[start:end], Y[start:end])
    np.testing.assert_allclose(model.metric_, whole.metric_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    assert model.n_samples_seen_ == whole.n_samples_seen_ == 90


def test_blocks_of_the_stream_are_no_boundaries():
    rng = np.random.RandomState(1)
    many, labels = rng.normal(size=(700, 3)), rng.randint(3, size=700)
    expected = slow(many, labels, as_buffer("rsx2", 6), seed=0, project=project_psd)
    model = OnlineMetricLearner(buffer_size=6, eta=0.1, average=False, random_state=0)
    np.testing.assert_allclose(model.fit(many, labels).metric_, expected[-1], atol=1e-10)


def test_passes_are_a_longer_stream():
    twice = OnlineMetricLearner(n_passes=2, random_state=0).fit(X, Y)
    longer = OnlineMetricLearner(random_state=0).fit(np.tile(X, (2, 1)), np.tile(Y, 2))
    np.testing.assert_allclose(twice.metric_, longer.metric_, atol=1e-12)
    assert twice.n_samples_seen_ == 180


def test_goes_on_after_a_pickle():
    model = OnlineMetricLearner(random_state=0).partial_fit(X[:40], Y[:40])
    loaded = pickle.loads(pickle.dumps(model)).partial_fit(X[40:], Y[40:])
    np.testing.assert_array_equal(loaded.metric_, model.partial_fit(X[40:], Y[40:]).metric_)


def test_distances_of_mapped_points_are_the_learned_ones():
    model = OnlineMetricLearner(random_state=0).fit(X, Y)
    components = model.components_
    np.testing.assert_allclose(components.T @ components, model.metric_, atol=1e-14)
    expected = cdist(X, X, "mahalanobis", VI=model.metric_)
    Z = model.transform(X)
    np.testing.assert_allclose(cdist(Z, Z), expected, atol=1e-7)
    lengths = np.linalg.norm(components, axis=1)
    assert (np.diff(lengths) <= 0).all()
    assert (components[np.arange(4), np.abs(components).argmax(axis=1)] >= 0).all()
    fewer = clone(model).set_params(n_components=2).fit(X, Y)
    np.testing.assert_array_equal(fewer.components_, components[:2])
    np.testing.assert_array_equal(
        fewer.get_feature_names_out(), ["onlinemetriclearner0", "onlinemetriclearner1"]
    )
    assert fewer.transform(X.astype(np.float32)).dtype == np.float32


def test_components_by_rank():
    line = np.outer(np.linspace(-1, 1, 60), [1.0, 2.0, -1.0])
    y = line[:, 0] > 0
    model = OnlineMetricLearner("rank", random_state=0).fit(line, y)
    assert model.components_.shape == (1, 3)
    np.testing.assert_allclose(model.components_.T @ model.components_, model.metric_, atol=1e-12)
    assert OnlineMetricLearner(random_state=0).fit(line, y).components_.shape == (3, 3)


def test_what_is_learned_stays_in_its_set():
    for norm, size in (("l2", np.linalg.norm), ("trace_norm", np.trace)):
        model = OnlineMetricLearner(eta=1.0, norm=norm, radius=0.3, average=False).fit(X, Y)
        assert np.linalg.eigvalsh(model.metric_).min() >= -1e-14
        assert size(model.metric_) == pytest.approx(0.3)


def test_the_feature_that_tells_classes_apart_is_stretched():
    rng = np.random.RandomState(0)
    points = rng.uniform(-1, 1, size=(500, 3))
    metric = OnlineMetricLearner(eta=1.0, random_state=0).fit(points, points[:, 1] > 0).metric_
    assert metric[1, 1] > 10 * max(metric[0, 0], metric[2, 2])


def test_helps_the_nearest_neighbours_where_features_are_noise():
    data, y = load_wine(return_X_y=True)
    rng = np.random.RandomState(0)
    noisy = np.hstack([StandardScaler().fit_transform(data), rng.normal(size=(len(y), 30))])
    rows = rng.permutation(len(y))
    train, test = rows[:110], rows[110:]
    neighbors = KNeighborsClassifier()
    plain_score = neighbors.fit(noisy[train], y[train]).score(noisy[test], y[test])
    learner = OnlineMetricLearner(eta=0.01, n_passes=3, random_state=0)
    model = make_pipeline(learner, neighbors).fit(noisy[train], y[train])
    assert model.score(noisy[test], y[test]) > plain_score


def test_one_class():
    with pytest.raises(ValueError, match=r"there is one class: \['a'\]"):
        OnlineMetricLearner().fit(X, np.full(90, "a"))
    model = OnlineMetricLearner(random_state=0).partial_fit(X, np.full(90, "a"))
    np.testing.assert_array_equal(model.metric_, np.zeros((4, 4)))
    np.testing.assert_array_equal(model.transform(X), np.zeros((90, 4)))
    assert OnlineMetricLearner("rank").partial_fit(X, np.ones(90)).components_.shape == (1, 4)
    # the stream goes on with another class, whose name is longer
    model.partial_fit(X[:5] + 1, np.full(5, "other"))
    assert model.classes_.tolist() == ["a", "other"]
    assert model.metric_.any()


def test_identical_points():
    same, y = np.ones((30, 3)), np.arange(30) % 2
    model = OnlineMetricLearner(random_state=0).fit(same, y)
    np.testing.assert_array_equal(model.metric_, np.zeros((3, 3)))


def test_a_bad_batch_leaves_everything_as_it_was():
    model = OnlineMetricLearner(random_state=0).partial_fit(X[:50], Y[:50])
    other = clone(model).partial_fit(X[:50], Y[:50])
    bad = X[50:].copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, Y[50:])
    with pytest.raises(ValueError, match="3 features, but OnlineMetricLearner is expecting 4"):
        model.partial_fit(X[50:, :3], Y[50:])
    with pytest.raises(ValueError, match="Unknown label type"):
        model.partial_fit(X[50:], X[50:, 0])
    with pytest.raises(ValueError, match="of the kind seen before"):
        model.partial_fit(X[50:], np.ones(40))
    after = model.partial_fit(X[50:], Y[50:]).metric_
    np.testing.assert_array_equal(after, other.partial_fit(X[50:], Y[50:]).metric_)


def test_labels_of_any_kind_make_the_same_pairs():
    expected = OnlineMetricLearner(random_state=0).fit(X, Y).metric_
    codes = np.unique(Y, return_inverse=True)[1]
    for labels in (codes, codes * 7.0 - 3.0, np.array(list("xyz"))[codes]):
        found = OnlineMetricLearner(random_state=0).fit(X, labels).metric_
        np.testing.assert_array_equal(found, expected)


def test_bad_parameters():
    with pytest.raises(ValueError, match=r"'n_components' must be at most .* 4, got 5"):
        OnlineMetricLearner(5).fit(X, Y)
    with pytest.raises(ValueError, match="'loss' must be one of"):
        OnlineMetricLearner(loss="zero_one").fit(X, Y)
    with pytest.raises(ValueError, match="'buffer' must be one of"):
        OnlineMetricLearner(buffer="all").fit(X, Y)


def test_weights_without_bounds():
    with pytest.raises(ValueError, match="grew beyond all bounds at point"):
        OnlineMetricLearner(loss="exponential", eta=100.0).fit(10 * X, Y)
