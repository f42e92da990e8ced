from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernlearn.kernels import as_kernel
from kernlearn.landmarks import BBSClassifier, RegLand
from kernlearn.pairwise import OnlineSimilarityLearner, as_buffer, kernel_target_alignment
from kernlearn.pairwise.projections import (
    project_l1,
    project_l2,
    project_psd,
    project_trace_norm,
)
from tests.checks import parametrize_with_checks
from tests.pairwise import plain

RNG = np.random.RandomState(0)
X = 0.6 * RNG.normal(size=(80, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)

SETS = {
    (True, "l2", None): project_psd,
    (True, "l2", 0.5): lambda W: project_psd(W, 0.5),
    (True, "trace_norm", 0.6): lambda W: project_trace_norm(W, 0.6, positive_semidefinite=True),
    (False, "l2", 0.5): lambda W: project_l2(W, 0.5),
    (False, "l1", 0.7): lambda W: project_l1(W, 0.7),
    (False, "trace_norm", 0.6): lambda W: project_trace_norm(W, 0.6),
    (False, "l2", None): np.copy,
}


def slow(
    X, y, policy, seed, project, objective="alignment", loss="hinge", eta=0.5, regularization=0.0
):
    """Return W_1, ..., W_n, pair by pair."""
    (rng,) = plain.generators(seed, 1)
    W, kept, iterates = np.zeros((X.shape[1], X.shape[1])), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        signs = [1 if label == other_label else -1 for _, other_label in kept]
        margins = [s * (x @ W @ other) for s, (other, _) in zip(signs, kept, strict=True)]
        if objective == "goodness" and kept:
            margins = [np.mean(margins)] * len(kept)
        gradient = regularization * W
        for sign, margin, (other, _) in zip(signs, margins, kept, strict=True):
            slope = plain.LOSSES[loss](margin)
            gradient = gradient + slope * sign * np.outer(x, other) / len(kept)
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        W = project(W - rate * gradient)
        iterates.append(W)
        kept = plain.move(kept, (x, label), *policy.update(t, len(kept), rng))
    return np.array(iterates)


@parametrize_with_checks(
    [
        OnlineSimilarityLearner(),
        OnlineSimilarityLearner("goodness", positive_semidefinite=False, norm="l1", radius=1.0),
        OnlineSimilarityLearner(norm="trace_norm", radius=1.0, regularization=0.5, buffer_size=1),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("regularization", [0.0, 0.5])
@pytest.mark.parametrize(("psd", "norm", "radius"), SETS)
@pytest.mark.parametrize("objective", ["alignment", "goodness"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_agrees_with_the_slow_loop(loss, objective, psd, norm, radius, regularization):
    how = {"objective": objective, "loss": loss, "regularization": regularization}
    expected = slow(X, Y, as_buffer("rsx2", 7), seed=3, project=SETS[psd, norm, radius], **how)
    model = OnlineSimilarityLearner(
        positive_semidefinite=psd,
        norm=norm,
        radius=radius,
        buffer_size=7,
        eta=0.5,
        random_state=3,
        **how,
    )
    assert np.abs(expected[-1]).max() > 0.01
    np.testing.assert_allclose(model.fit(X, Y).matrix_, expected.mean(axis=0), atol=1e-10)
    model.set_params(average=False).fit(X, Y)
    np.testing.assert_allclose(model.matrix_, expected[-1], atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx", "rsx2"])
def test_every_buffer_is_followed(buffer, size):
    expected = slow(X, Y, as_buffer(buffer, size), seed=1, project=np.copy).mean(axis=0)
    model = OnlineSimilarityLearner(
        positive_semidefinite=False, buffer_size=size, buffer=buffer, eta=0.5, random_state=1
    )
    np.testing.assert_allclose(model.fit(X, Y).matrix_, expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    cuts=st.sets(st.integers(1, 79), max_size=12),
    objective=st.sampled_from(["alignment", "goodness"]),
)
def test_same_however_the_stream_is_cut(cuts, objective):
    model = OnlineSimilarityLearner(objective, buffer_size=5, eta=0.5, random_state=0)
    whole = clone(model).fit(X, Y)
    edges = [0, *sorted(cuts), 80]
    for start, end in pairwise(edges):
        model.partial_fit(X[start:end], Y[start:end])
    np.testing.assert_allclose(model.matrix_, whole.matrix_, rtol=0, atol=1e-12)


def test_similarity_is_a_kernel_for_the_other_learners():
    learner = OnlineSimilarityLearner(random_state=0).fit(X, Y)
    kernel = learner.similarity_
    assert as_kernel(kernel) is kernel
    np.testing.assert_allclose(kernel(X, X[:3]), X @ learner.matrix_ @ X[:3].T, atol=1e-14)
    np.testing.assert_array_equal(clone(kernel)(X), kernel(X))
    for model, target in (
        (BBSClassifier(10, similarity=kernel), Y),
        (RegLand(10, similarity=kernel), X[:, 0]),
    ):
        found = model.set_params(random_state=0).fit(X, target).predict(X)
        by_hand = clone(model).set_params(similarity=lambda A, B: A @ learner.matrix_ @ B.T)
        np.testing.assert_allclose(found, by_hand.fit(X, target).predict(X), atol=1e-6)


@pytest.mark.parametrize("objective", ["alignment", "goodness"])
def test_alignment_grows_over_that_of_the_inner_product(objective):
    data, y = load_breast_cancer(return_X_y=True)
    data = StandardScaler().fit_transform(data)
    learner = OnlineSimilarityLearner(objective, eta=0.01, random_state=0).fit(data[:300], y[:300])
    linear = kernel_target_alignment("linear", data[300:], y[300:])
    assert learner.score(data[300:], y[300:]) > linear + 0.05


def test_positive_semidefinite_or_not():
    matrix = OnlineSimilarityLearner(random_state=0).fit(X, Y).matrix_
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-14
    # alike are the points of opposite sign
    rng = np.random.RandomState(0)
    points = rng.normal(size=(300, 2))
    labels = (points[:, 0] > 0) ^ (np.arange(300) % 2).astype(bool)
    free = OnlineSimilarityLearner(positive_semidefinite=False, random_state=0)
    assert not np.array_equal(free.fit(points, labels).matrix_, free.matrix_.T)


def test_bounds_hold():
    for norm, size in (("l2", np.linalg.norm), ("l1", lambda W: np.abs(W).sum())):
        model = OnlineSimilarityLearner(
            positive_semidefinite=False, norm=norm, radius=0.2, eta=5.0, average=False
        )
        assert size(model.fit(X, Y).matrix_) == pytest.approx(0.2)


def test_two_sets_that_cannot_be_projected_onto():
    with pytest.raises(ValueError, match="norm='l1' needs positive_semidefinite=False"):
        OnlineSimilarityLearner(norm="l1", radius=1.0).fit(X, Y)


def test_one_class():
    with pytest.raises(ValueError, match=r"there is one class: \[1\]"):
        OnlineSimilarityLearner().fit(X, np.ones(80, dtype=int))
    model = OnlineSimilarityLearner(random_state=0).partial_fit(X + 1, np.ones(80))
    assert np.median(model.similarity_(X + 1)) > 0.5
    assert model.classes_.tolist() == [1.0]


def test_identical_points_and_zero():
    labels = np.arange(20) % 2
    model = OnlineSimilarityLearner(random_state=0).fit(np.zeros((20, 2)), labels)
    np.testing.assert_array_equal(model.matrix_, np.zeros((2, 2)))
    assert model.score(np.zeros((20, 2)), labels) == 0
    same = OnlineSimilarityLearner(random_state=0).fit(np.ones((20, 2)), labels)
    assert np.isfinite(same.matrix_).all()


def test_bad_batches():
    model = OnlineSimilarityLearner(random_state=0).partial_fit(X, Y)
    before = model.matrix_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 4), np.nan), [0])
    with pytest.raises(ValueError, match="3 features, but OnlineSimilarityLearner is expecting 4"):
        model.partial_fit(X[:, :3], Y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.partial_fit(X, None)
    np.testing.assert_array_equal(model.matrix_, before)


def test_alignment_is_the_cosine_of_the_matrices():
    sign = np.where(Y[:, None] == Y, 1.0, -1.0)
    gram = X @ X.T
    expected = (gram * sign).sum() / np.linalg.norm(gram) / np.linalg.norm(sign)
    assert kernel_target_alignment("linear", X, Y) == pytest.approx(expected, rel=1e-12)
    assert kernel_target_alignment(lambda A, B: sign, X, Y) == pytest.approx(1.0)
    for scale in (1e-200, 1e200):
        scaled = kernel_target_alignment(lambda A, B, s=scale: s * A @ B.T, X, Y)
        assert scaled == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="NaN or infinite"):
        kernel_target_alignment(lambda A, B: np.full((len(A), len(B)), np.inf), X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kernel_target_alignment("linear", X, Y[:-1])
