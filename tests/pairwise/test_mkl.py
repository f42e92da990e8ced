import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC

from kernlearn.kernels import (
    GaussianKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    PolynomialKernel,
    as_kernel,
)
from kernlearn.landmarks import RegLand
from kernlearn.pairwise import OnlineMKL, as_buffer
from kernlearn.pairwise.projections import project_l2, project_simplex
from tests.checks import parametrize_with_checks
from tests.pairwise import plain

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 3))
Y = (np.linalg.norm(X[:, :2], axis=1) > 1.2).astype(int) + (X[:, 2] > 1)
KERNELS = [LinearKernel(), GaussianKernel(sigma=1.0), HomogeneousPolynomialKernel(degree=2)]

SETS = {
    ("simplex", 1.0): project_simplex,
    ("simplex", 3.0): lambda w: project_simplex(w, 3.0),
    ("l2", 0.6): lambda w: project_l2(w, 0.6, nonnegative=True),
    ("l2", 100.0): lambda w: np.maximum(w, 0),
}


def normalized(kernel):
    def value(a, b):
        return kernel(a, b) / np.sqrt(kernel(a, a) * kernel(b, b))

    return value


def slow(X, y, kernels, policy, seed, project, loss="hinge", eta=0.5, regularization=0.0):
    """Return mu_1, ..., mu_n, pair by pair; kernels are functions of two points."""
    (rng,) = plain.generators(seed, 1)
    w, kept, iterates = project(np.zeros(len(kernels))), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        gradient = regularization * w
        for other, other_label in kept:
            sign = 1 if label == other_label else -1
            z = np.array([kernel(x, other) for kernel in kernels])
            gradient = gradient + plain.LOSSES[loss](sign * (w @ z)) * sign * z / len(kept)
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        w = project(w - rate * gradient)
        iterates.append(w)
        kept = plain.move(kept, (x, label), *policy.update(t, len(kept), rng))
    return np.array(iterates)


POINTWISE = [
    lambda a, b: a @ b,
    lambda a, b: np.exp(-((a - b) ** 2).sum() / 2),
    lambda a, b: (a @ b) ** 2,
]


@parametrize_with_checks(
    [
        OnlineMKL(),
        OnlineMKL(["linear", "polynomial"], normalize=True, norm="l2", buffer_size=1),
        OnlineMKL(KERNELS, loss="logistic", regularization=0.5, average=False, n_passes=2),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("regularization", [0.0, 0.5])
@pytest.mark.parametrize(("norm", "radius"), SETS)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("normalize", [False, True])
def test_agrees_with_the_slow_loop(normalize, loss, norm, radius, regularization):
    pointwise = [normalized(kernel) for kernel in POINTWISE] if normalize else POINTWISE
    how = {"loss": loss, "regularization": regularization}
    points = 0.5 * X  # so that the squared loss settles with the large radius
    expected = slow(
        points, Y, pointwise, as_buffer("rsx2", 7), seed=3, project=SETS[norm, radius], **how
    )
    model = OnlineMKL(
        KERNELS,
        normalize=normalize,
        norm=norm,
        radius=radius,
        buffer_size=7,
        eta=0.5,
        random_state=3,
        **how,
    )
    assert np.abs(expected[-1]).max() > 0.01
    np.testing.assert_allclose(model.fit(points, Y).weights_, expected.mean(axis=0), atol=1e-10)
    model.set_params(average=False).fit(points, Y)
    np.testing.assert_allclose(model.weights_, expected[-1], atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx", "rsx2"])
def test_every_buffer_is_followed(buffer, size):
    expected = slow(X, Y, POINTWISE, as_buffer(buffer, size), 1, project_simplex).mean(axis=0)
    model = OnlineMKL(KERNELS, buffer_size=size, buffer=buffer, eta=0.5, random_state=1)
    np.testing.assert_allclose(model.fit(X, Y).weights_, expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(cuts=st.sets(st.integers(1, 89), max_size=12), normalize=st.booleans())
def test_same_however_the_stream_is_cut(cuts, normalize):
    model = OnlineMKL(KERNELS, normalize=normalize, buffer_size=5, radius=2.0, random_state=0)
    whole = clone(model).fit(X, Y)
    edges = [0, *sorted(cuts), 90]
    for start, end in pairwise(edges):
        model.partial_fit(X[start:end], Y[start:end])
    np.testing.assert_allclose(model.weights_, whole.weights_, rtol=0, atol=1e-12)


def test_widths_are_those_of_the_first_batch():
    model = OnlineMKL(["gaussian", "linear"], random_state=0).partial_fit(X[:30], Y[:30])
    sigma = GaussianKernel().fit(X[:30]).sigma_
    assert model.kernels_[0].sigma_ == sigma
    model.partial_fit(X[30:], Y[30:])
    assert model.kernels_[0].sigma_ == sigma
    fixed = OnlineMKL([GaussianKernel(sigma), "linear"], random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.weights_, fixed.weights_, rtol=0, atol=1e-12)
    assert OnlineMKL(["gaussian"]).fit(X, Y).kernels_[0].sigma_ == GaussianKernel().fit(X).sigma_


def test_kernels_are_taken_in_every_form_and_left_alone():
    gaussian = GaussianKernel()
    forms = ["linear", gaussian, lambda A, B: (A @ B.T) ** 2]
    found = OnlineMKL(forms, random_state=0).fit(X, Y)
    assert not hasattr(gaussian, "sigma_")
    objects = [KERNELS[0], GaussianKernel().fit(X), KERNELS[2]]
    expected = OnlineMKL(objects, random_state=0).fit(X, Y)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
def test_kernel_is_the_weighted_sum(normalize):
    model = OnlineMKL(KERNELS, normalize=normalize, radius=2.0, random_state=0).fit(X, Y)
    pointwise = [normalized(kernel) for kernel in POINTWISE] if normalize else POINTWISE
    expected = [
        [sum(w * k(a, b) for w, k in zip(model.weights_, pointwise, strict=True)) for b in X[:7]]
        for a in X
    ]
    np.testing.assert_allclose(model.kernel_(X, X[:7]), expected, atol=1e-12)
    assert as_kernel(model.kernel_) is model.kernel_


def test_kernel_is_taken_by_the_other_learners():
    kernel = OnlineMKL(random_state=0).fit(X, Y).kernel_
    gram = kernel(X)
    model = RegLand(10, similarity=kernel, random_state=0).fit(X, X[:, 0])
    by_hand = RegLand(10, similarity="precomputed", random_state=0).fit(gram, X[:, 0])
    np.testing.assert_allclose(model.predict(X), by_hand.predict(gram), atol=1e-8)
    expected = SVC(kernel="precomputed").fit(gram, Y).predict(gram)
    np.testing.assert_array_equal(SVC(kernel=clone(kernel)).fit(X, Y).predict(X), expected)


def test_weights_are_not_negative_and_in_their_set():
    opposed = [lambda A, B: -np.where(A[:, :1] * B[:, 0] > 0, 1.0, -1.0), "cosine", "linear"]
    labels = X[:, 0] > 0
    for seed in range(5):
        model = OnlineMKL(opposed, radius=2.0, eta=3.0, random_state=seed).fit(X, labels)
        assert model.weights_.min() >= 0
        assert model.weights_.sum() == pytest.approx(2.0, rel=1e-12)
        assert model.weights_[0] < 0.1
        model.set_params(norm="l2", average=False).fit(X, labels)
        assert model.weights_[0] == 0
        assert 0 < np.linalg.norm(model.weights_) <= 2 * (1 + 1e-12)


def test_the_kernel_that_knows_the_classes_is_found():
    def knows(A, B):
        return np.where((A[:, :1] > 0) == (B[:, 0] > 0), 1.0, -1.0)

    def noise(A, B):
        return np.cos(1000 * A[:, 1:2] - 1000 * B[:, 1])

    points = np.random.RandomState(0).normal(size=(500, 2))
    model = OnlineMKL([noise, knows, noise], random_state=0).fit(points, points[:, 0] > 0)
    assert model.weights_[1] > 0.9
    assert model.score(points, points[:, 0] > 0) > 0.95


def test_kernels_of_different_scale():
    def near(A, B):
        return np.exp(-3 * abs(A[:, :1] - B[:, 0]))

    def large(A, B):
        return 1e6 * near(A, B)

    labels = X[:, 0] > 0
    model = OnlineMKL(["cosine", large], eta=0.05, average=False, random_state=0)
    # steps as long as the gradient of the large kernel end in a corner
    corner = model.fit(X, labels).weights_
    assert sorted(corner) == [0.0, 1.0]
    alike = clone(model).set_params(kernels=["cosine", near]).fit(X, labels)
    assert alike.weights_.min() > 0.05
    scaled = clone(model).set_params(normalize=True).fit(X, labels)
    np.testing.assert_allclose(scaled.weights_, alike.weights_, atol=1e-9)


def test_one_class():
    with pytest.raises(ValueError, match=r"there is one class: \[0\]"):
        OnlineMKL().fit(X, np.zeros(90, dtype=int))
    model = OnlineMKL([lambda A, B: 1 + 0 * A @ B.T, "cosine"], random_state=0)
    weights = model.partial_fit(X, np.zeros(90)).weights_
    assert weights[0] > 0.9  # whose values are greatest
    assert model.partial_fit(X[:10], np.ones(10)).classes_.tolist() == [0.0, 1.0]


def test_one_point_and_identical_points():
    model = OnlineMKL(["linear", "cosine"]).partial_fit(X[:1], Y[:1])
    np.testing.assert_array_equal(model.weights_, [0.5, 0.5])
    with pytest.raises(ValueError, match="needs points that differ"):
        OnlineMKL(["gaussian"]).fit(np.ones((10, 2)), np.arange(10) % 2)
    same = OnlineMKL(["linear", "cosine"]).fit(np.ones((10, 2)), np.arange(10) % 2)
    assert np.isfinite(same.weights_).all()


def test_bad_input():
    model = OnlineMKL(KERNELS, random_state=0).partial_fit(X, Y)
    before = model.weights_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 3), np.nan), [0])
    with pytest.raises(ValueError, match="2 features, but OnlineMKL is expecting 3"):
        model.partial_fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.weights_, before)
    with pytest.raises(ValueError, match="at least one kernel"):
        OnlineMKL([]).fit(X, Y)
    with pytest.raises(ValueError, match=r"'kernels' must be one of .*got 'gausian'"):
        OnlineMKL(["gausian"]).fit(X, Y)
    with pytest.raises(ValueError, match="gave NaN or infinity"):
        OnlineMKL([lambda A, B: np.full((len(A), len(B)), np.nan)]).fit(X, Y)


def test_goes_on_after_a_pickle():
    model = OnlineMKL(["gaussian", PolynomialKernel()], random_state=0).partial_fit(X[:40], Y[:40])
    loaded = pickle.loads(pickle.dumps(model)).partial_fit(X[40:], Y[40:])
    np.testing.assert_array_equal(loaded.weights_, model.partial_fit(X[40:], Y[40:]).weights_)
