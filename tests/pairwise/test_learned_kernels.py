"""Metrics, similarities and sums of kernels against slow loops, and classifiers on them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kernlearn.kernels import (
    GaussianKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    NormalizedKernel,
    PolynomialKernel,
)
from kernlearn.pairwise import (
    MetricKNNClassifier,
    MultipleKernelSVM,
    OnlineMetricLearner,
    OnlineMKL,
    OnlineSimilarityLearner,
    SimilaritySVM,
)
from kernlearn.pairwise.learned_kernels import into_ball, project_psd, project_simplex
from kernlearn.pairwise.learners import POLICIES
from tests.pairwise import plain

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 4)) * [1.0, 0.5, 2.0, 1.0] * 0.7
Y = np.array(["a", "b", "c"])[
    (X[:, 0] + 0.3 * RNG.normal(size=90) > 0).astype(int) + (X[:, 1] > 0.2)
]
KERNELS = [LinearKernel(), GaussianKernel(sigma=1.0), HomogeneousPolynomialKernel(degree=2)]
POINTWISE = [
    lambda a, b: a @ b,
    lambda a, b: np.exp(-((a - b) ** 2).sum() / 2),
    lambda a, b: (a @ b) ** 2,
]


# -- projections, slow and obvious ----------------------------------------------------------------


def psd(radius=None):
    """The nearest positive semi-definite matrix in a ball."""

    def project(M):
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        return vectors @ np.diag(in_ball(np.maximum(values, 0), radius)) @ vectors.T

    return project


def in_ball(values, radius):
    """The nearest vector in a ball."""
    if radius is None or np.linalg.norm(values) <= radius:
        return values
    return values * radius / np.linalg.norm(values)


def on_simplex(values, radius):
    low, high = values.min() - radius, values.max()
    for _ in range(200):
        level = (low + high) / 2
        above = np.maximum(values - level, 0).sum() > radius
        low, high = (level, high) if above else (low, level)
    return np.maximum(values - level, 0)


NUMBERS = st.floats(-10, 10, allow_subnormal=False)
RADII = st.floats(1e-3, 20)


@example(w=np.array([np.finfo(float).tiny]), radius=4.0)
@given(w=st.integers(1, 8).flatmap(lambda n: arrays(float, n, elements=NUMBERS)), radius=RADII)
def test_projection_of_a_vector(w, radius):
    np.testing.assert_allclose(into_ball(w, radius), in_ball(w, radius), rtol=1e-12)
    projected = project_simplex(w, radius)
    np.testing.assert_allclose(projected, on_simplex(w, radius), atol=1e-13 * (10 + radius))
    assert projected.sum() == pytest.approx(radius)


@given(
    M=st.integers(1, 5).flatmap(lambda n: arrays(float, (n, n), elements=NUMBERS)),
    radius=st.one_of(st.none(), RADII),
)
def test_projection_of_a_matrix_is_the_nearest_point(M, radius):
    projected, rng = project_psd(M, radius), np.random.RandomState(0)
    np.testing.assert_array_equal(projected, projected.T)
    np.testing.assert_allclose(projected, psd(radius)(M), atol=1e-12 * (1 + np.abs(M).sum()))
    # <M - P, V - P> <= 0 for all points V of the set, by which a projection P is known
    draws = [A @ A.T for A in rng.normal(size=(20, len(M), len(M)))]
    draws += [np.outer(v, v) for v in rng.normal(size=(10, len(M)))]  # extreme points
    for V in draws:
        V *= rng.uniform() ** 0.5 * (radius or 10.0) / np.linalg.norm(V)
        assert np.vdot(M - projected, V - projected) <= 1e-9 * (1 + np.abs(M).sum()) ** 2


def test_projections_of_extreme_numbers():
    np.testing.assert_allclose(into_ball(np.array([3e200, 4e200]), 1.0), [0.6, 0.8], rtol=1e-15)
    np.testing.assert_allclose(into_ball(np.array([3e-200, 4e-200]), 1e-200), [6e-201, 8e-201])
    np.testing.assert_array_equal(project_simplex(np.array([1e17, 1e17 - 1e3, 0]), 1), [1, 0, 0])
    large = np.array([1e9 + 0.5, 1e9, -1e9])
    np.testing.assert_array_equal(project_simplex(large, 1.0), [0.75, 0.25, 0])


# -- the algorithm --------------------------------------------------------------------------------


def metric_pair(M, x, other, sign):
    outer = np.outer(x - other, x - other)
    return sign * (1 - (M * outer).sum()), -sign * outer


def similarity_pair(W, x, other, sign):
    return sign * (x @ W @ other), sign * np.outer(x, other)


def kernels_pair(kernels):
    def pair(w, x, other, sign):
        z = np.array([kernel(x, other) for kernel in kernels])
        return sign * (w @ z), sign * z

    return pair


def normalized(kernel):
    return lambda a, b: kernel(a, b) / np.sqrt(kernel(a, a) * kernel(b, b))


def slow(X, y, w, pair, project, policy="rsx2", size=7, seed=3, eta=0.5, goodness=False):
    """Return w_1, ..., w_n; `pair` gives the margin of a pair and its derivative by w."""
    (moves,) = plain.buffers(policy, [size], seed)
    w, kept, iterates = project(w), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        pairs = [pair(w, x, other, 1 if theirs == label else -1) for other, theirs in kept]
        margins = np.array([margin for margin, _ in pairs])
        if goodness and pairs:
            margins[:] = margins.mean()
        gradient = sum(
            (plain.LOSSES["hinge"](m) * by_w for m, (_, by_w) in zip(margins, pairs, strict=True)),
            np.zeros_like(w),
        )
        w = project(w - eta / np.sqrt(t) * gradient / max(len(kept), 1))
        iterates.append(w)
        kept = plain.move(kept, (x, label), *moves())
    return np.array(iterates)


MIXTURES = [
    (KERNELS, POINTWISE),
    ([NormalizedKernel(k) for k in KERNELS], [normalized(k) for k in POINTWISE]),
]
SQUARE = np.zeros((4, 4))
STREAM = {"eta": 0.5, "random_state": 3}


def agrees(model, attribute, expected):
    assert np.abs(expected[-1]).max() > 0.01
    np.testing.assert_allclose(getattr(model, attribute), expected.mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("radius", [None, 0.4])
def test_metrics_and_similarities_are_the_slow_loop(radius):
    how, project = {"radius": radius, "buffer_size": 7, **STREAM}, psd(radius)
    model = OnlineMetricLearner(**how).fit(X, Y)
    agrees(model, "metric_", slow(X, Y, SQUARE, metric_pair, project))
    for objective in ("alignment", "goodness"):
        goodness = objective == "goodness"
        expected = slow(X, Y, SQUARE, similarity_pair, project, goodness=goodness)
        agrees(OnlineSimilarityLearner(objective, **how).fit(X, Y), "matrix_", expected)


@pytest.mark.parametrize(
    ("norm", "radius"), [("simplex", 1.0), ("simplex", 3.0), ("l2", 0.6), ("l2", 100.0)]
)
@pytest.mark.parametrize(("kernels", "pointwise"), MIXTURES, ids=["plain", "normalized"])
def test_sums_of_kernels_are_the_slow_loop(kernels, pointwise, norm, radius):
    def project(w):
        return on_simplex(w, radius) if norm == "simplex" else in_ball(np.maximum(w, 0), radius)

    model = OnlineMKL(kernels, norm=norm, radius=radius, buffer_size=7, **STREAM).fit(X, Y)
    agrees(model, "weights_", slow(X, Y, np.zeros(3), kernels_pair(pointwise), project))
    expected = [
        [sum(w * k(a, b) for w, k in zip(model.weights_, pointwise, strict=True)) for b in X[:7]]
        for a in X
    ]
    np.testing.assert_allclose(model.kernel_(X, X[:7]), expected, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 50, 1000])
@pytest.mark.parametrize("buffer", POLICIES)
def test_every_buffer_is_followed(buffer, size):
    expected = slow(X, Y, SQUARE, metric_pair, psd(), buffer, size)
    model = OnlineMetricLearner(buffer_size=size, buffer=buffer, **STREAM)
    agrees(model.fit(X, Y), "metric_", expected)


def test_blocks_of_the_stream_are_no_boundaries():
    rng = np.random.RandomState(1)
    many, labels = rng.normal(size=(700, 4)), rng.randint(3, size=700)
    model = OnlineMetricLearner(buffer_size=7, **STREAM).fit(many, labels)
    agrees(model, "metric_", slow(many, labels, SQUARE, metric_pair, psd()))


MODELS = {
    "metric_": OnlineMetricLearner(buffer_size=5, radius=0.5, random_state=0),
    "matrix_": OnlineSimilarityLearner(buffer_size=5, random_state=0),
    "weights_": OnlineMKL(KERNELS, buffer_size=5, radius=2.0, random_state=0),
}
each_model = pytest.mark.parametrize("attribute", MODELS)


@settings(max_examples=30, deadline=None)
@given(cuts=st.sets(st.integers(1, 89), max_size=12), attribute=st.sampled_from([*MODELS]))
def test_same_however_the_stream_is_cut(cuts, attribute):
    model = clone(MODELS[attribute])
    whole = clone(model).fit(X, Y)
    for start, end in pairwise([0, *sorted(cuts), 90]):
        model.partial_fit(sparse.csr_array(X[start:end]), Y[start:end])
        model = pickle.loads(pickle.dumps(model))
    expected = getattr(whole, attribute)
    np.testing.assert_allclose(getattr(model, attribute), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    assert model.n_samples_seen_ == whole.n_samples_seen_ == 90


@each_model
def test_a_bad_batch_leaves_everything_as_it_was(attribute):
    model = clone(MODELS[attribute]).partial_fit(X[:50], Y[:50])
    other = clone(model).partial_fit(X[:50], Y[:50])
    bad = X[50:].copy()
    bad[-1, 0] = np.nan
    for wrong, labels, message in [
        (bad, Y[50:], "NaN"),
        (X[50:, :3], Y[50:], "3 features, but Online.* is expecting 4"),
        (X[50:], X[50:, 0], "Unknown label type"),
        (X[50:], np.ones(40), "of the kind seen before"),
        (X[50:], None, "requires y to be passed"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(wrong, labels)
    after = getattr(model.partial_fit(X[50:], Y[50:]), attribute)
    expected = getattr(other.partial_fit(X[50:], Y[50:]), attribute)
    np.testing.assert_array_equal(after, expected)


@each_model
def test_one_class_so_far_and_identical_points(attribute):
    model = clone(MODELS[attribute]).partial_fit(X, np.full(90, "a"))
    before = getattr(model, attribute)
    # the stream continues with another class, whose name is longer
    model.partial_fit(X[:5] + 1, np.full(5, "other"))
    assert model.classes_.tolist() == ["a", "other"]
    assert (getattr(model, attribute) != before).any()
    alike = clone(model).fit(np.ones((30, 3)), np.arange(30) % 2)
    found = getattr(alike, attribute)
    assert np.isfinite(found).all()
    assert attribute != "metric_" or not (found.any() or before.any())


def test_weights_without_bounds():
    with pytest.raises(ValueError, match="at point"):
        OnlineMetricLearner(eta=1e300).fit(1e5 * X, Y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OnlineMetricLearner(buffer="all"), "'buffer'"),
        (OnlineMKL([]), "at least one kernel"),
        (OnlineMKL(["gausian"]), "did you mean 'gaussian'"),
        (OnlineMKL([lambda A, B: np.full((len(A), len(B)), np.nan)]), "is NaN"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


# -- what each of them is for ---------------------------------------------------------------------


def test_distances_of_mapped_points_are_the_learned_ones():
    model = OnlineMetricLearner(random_state=0).fit(X, Y)
    components = model.components_
    np.testing.assert_allclose(components.T @ components, model.metric_, atol=1e-14)
    expected = cdist(X, X, "mahalanobis", VI=model.metric_)
    Z = model.transform(X)
    np.testing.assert_allclose(cdist(Z, Z), expected, atol=1e-7)
    assert (np.diff(np.linalg.norm(components, axis=1)) <= 0).all()
    assert (components[np.arange(4), np.abs(components).argmax(axis=1)] >= 0).all()
    assert model.get_feature_names_out()[0] == "onlinemetriclearner0"
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_widths_are_those_of_the_first_batch():
    model = OnlineMKL(["gaussian", "linear"], random_state=0).partial_fit(X[:30], Y[:30])
    sigma = GaussianKernel().fit(X[:30]).sigma_
    model.partial_fit(X[30:], Y[30:])
    assert model.kernels_[0].sigma_ == sigma
    fixed = OnlineMKL([GaussianKernel(sigma), "linear"], random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.weights_, fixed.weights_, rtol=0, atol=1e-12)


# -- classifiers ----------------------------------------------------------------------------------


def test_neighbours_are_those_of_the_learned_metric():
    stream = {"eta": 0.5, "radius": 4.0, "buffer_size": 7, "random_state": 3}
    model = MetricKNNClassifier(3, **stream).fit(X[:60], Y[:60])
    VI = OnlineMetricLearner(**stream).fit(X[:60], Y[:60]).metric_
    neighbors = KNeighborsClassifier(3, metric="mahalanobis", metric_params={"VI": VI})
    neighbors.set_params(algorithm="brute").fit(X[:60], Y[:60])
    np.testing.assert_array_equal(model.predict(X[60:]), neighbors.predict(X[60:]))
    np.testing.assert_allclose(model.predict_proba(X[60:]), neighbors.predict_proba(X[60:]))
    thin = clone(model).fit(sparse.csr_array(X[:60]), Y[:60])
    np.testing.assert_array_equal(model.predict(X), thin.predict(sparse.csr_array(X)))
    few = MetricKNNClassifier(50, random_state=0).fit(X[:10], Y[:10])
    assert few.classifier_.n_neighbors == 10


SUMMANDS = [PolynomialKernel(), GaussianKernel(sigma=0.7)]


@pytest.mark.parametrize(
    ("model", "learner", "kernel"),
    [
        (SimilaritySVM(2.0), OnlineSimilarityLearner(), "similarity_"),
        (SimilaritySVM(objective="goodness"), OnlineSimilarityLearner("goodness"), "similarity_"),
        (MultipleKernelSVM(SUMMANDS, C=5.0), OnlineMKL(SUMMANDS), "kernel_"),
    ],
)
def test_what_is_learned_is_the_kernel_of_an_svm(model, learner, kernel):
    stream = {"eta": 0.2, "radius": 3.0, "buffer_size": 9, "random_state": 2}
    model.set_params(**stream).fit(X[:60], Y[:60])
    learned = getattr(learner.set_params(**stream).fit(X[:60], Y[:60]), kernel)
    svm = SVC(C=model.C, kernel="precomputed").fit(learned(X[:60], X[:60]), Y[:60])
    gram = learned(X[60:], X[:60])
    np.testing.assert_array_equal(model.predict(X[60:]), svm.predict(gram))
    np.testing.assert_allclose(model.decision_function(X[60:]), svm.decision_function(gram))
    assert model.n_support_ == svm.n_support_.sum()
