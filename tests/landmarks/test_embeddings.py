"""Embeddings by landmarks, by pairs of them, and by Nyström's method, against definitions."""

import math
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from kernlearn.kernels import CallableKernel, GaussianKernel
from kernlearn.landmarks import (
    Identity,
    LandmarkEmbedding,
    NystroemEmbedding,
    PairEmbedding,
    Ramp,
    Sign,
    Transfer,
    as_transfer,
)
from kernlearn.landmarks.selection import SELECTIONS

X = np.random.RandomState(0).normal(size=(60, 3))
CLASSES = np.array(["ape", "bee", "cat"])[np.arange(60) % 3]
NEW = np.random.RandomState(1).normal(size=(25, 3))
KERNEL = GaussianKernel(sigma=2.0)

EACH_SELECTION = pytest.mark.parametrize("selection", SELECTIONS)


def skewed(A, B):
    """A similarity that is not symmetric, not positive and beyond 1."""
    return A @ B.T + 2 * A[:, :1]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_embeddings_by_their_definitions(kind, normalize):
    options = {"similarity": skewed, "kind": kind, "normalize": normalize, "random_state": 0}
    sign = -1 if kind == "distance" else 1
    for selection in SELECTIONS:
        single = LandmarkEmbedding(7, selection=selection, **options).fit(X, CLASSES)
        landmarks = X[single.landmark_indices_]
        scale = abs(skewed(X, landmarks)).max() if normalize else 1.0
        assert single.scale_ == pytest.approx(scale)
        slow = [[sign * skewed(x[None], z[None])[0, 0] / scale for z in landmarks] for x in NEW]
        np.testing.assert_allclose(single.transform(NEW), slow, rtol=1e-12)
        root = clone(single).set_params(normalize="root").fit(X, CLASSES)
        expected = single.transform(NEW) * scale / np.sqrt(7)
        np.testing.assert_allclose(root.transform(NEW), expected, rtol=1e-12)
    for n_classes, transfer in product([2, 3], ["identity", "sign", 3.0, Ramp(10), "ramp"]):
        known = np.isin(CLASSES, ["ape", "bee", "cat"][:n_classes])
        points, y, f = X[known], CLASSES[known], as_transfer(transfer)
        fitted = PairEmbedding(5, transfer=transfer, **options).fit(points, y)
        pairs = fitted.landmark_pairs_
        assert pairs.shape == (1 if n_classes == 2 else 3, 5, 2)
        K = sign * skewed(NEW, points)
        if normalize:
            K /= abs(skewed(points, points[pairs.ravel()])).max()
        slow = [[float(f(k[up] - k[down])) for up, down in pairs.reshape(-1, 2)] for k in K]
        np.testing.assert_allclose(fitted.transform(NEW), slow, rtol=1e-9, atol=1e-13)
        for c, problem in zip(["bee"] if n_classes == 2 else fitted.classes_, pairs, strict=True):
            assert (y[problem[:, 0]] == c).all()
            assert (y[problem[:, 1]] != c).all()
    nothing = PairEmbedding(4, **options | {"similarity": lambda A, B: np.zeros((len(A), len(B)))})
    warned = pytest.warns(UserWarning, match="says nothing") if normalize else nullcontext()
    with warned:
        assert not nothing.fit(X, CLASSES).transform(NEW).any()


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-4), (np.float64, 1e-10)])
@EACH_SELECTION
def test_all_at_once_is_fit_and_then_transform(selection, dtype, atol):
    options = {"selection": selection, "random_state": 0}
    for made in (
        LandmarkEmbedding(9, **options),
        PairEmbedding(9, **options),
        NystroemEmbedding("gaussian", 9, **options),
        NystroemEmbedding("laplacian", 9, **options),
    ):
        for points in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
            at_once = clone(made).fit_transform(points, CLASSES)
            after = clone(made).fit(points, CLASSES).transform(points)
            assert at_once.dtype == after.dtype == dtype
            np.testing.assert_allclose(at_once, after, atol=atol)


def test_names_of_features():
    single = LandmarkEmbedding(2, random_state=0).fit(X)
    for fitted, expected in (
        (single, [f"landmark_{i}" for i in single.landmark_indices_]),
        (PairEmbedding(1).fit(X, CLASSES), ["pair_ape_0", "pair_bee_0", "pair_cat_0"]),
        (PairEmbedding(2).fit(X, CLASSES == "bee"), ["pair_0", "pair_1"]),
        (NystroemEmbedding(KERNEL, 1).fit(X), ["nystroemembedding0"]),
    ):
        assert fitted.get_feature_names_out().tolist() == expected
        frame = fitted.set_output(transform="pandas").transform(NEW)
        assert list(frame.columns) == expected


@pytest.mark.parametrize("make", [LandmarkEmbedding, NystroemEmbedding])
def test_classes_where_they_are_needed(make):
    name = "n_components" if make is NystroemEmbedding else "n_landmarks"
    for selection in SELECTIONS:
        model = make(selection=selection, random_state=0, **{name: 6})
        assert not get_tags(model).target_tags.required
        chosen = model.fit(X).landmark_indices_
        assert len(set(chosen)) == 6
        # numbers to predict are no classes
        model.fit(X, np.linspace(0, 1, 60))
        np.testing.assert_array_equal(model.landmark_indices_, chosen)
        if selection == "dselect":
            chosen = CLASSES[model.fit(X, CLASSES).landmark_indices_]
            assert sorted(chosen) == ["ape", "ape", "bee", "bee", "cat", "cat"]
    assert get_tags(PairEmbedding()).target_tags.required


def test_bad_arguments():
    for estimator, y, message in (
        (PairEmbedding(), None, "requires y"),
        (PairEmbedding(), np.zeros(60), "one class"),
        (PairEmbedding(), np.linspace(0, 1, 60), "label type"),
        (NystroemEmbedding("value_difference"), None, "labels"),
    ):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)


def test_fewer_points_than_landmarks():
    for model in (LandmarkEmbedding(), NystroemEmbedding(KERNEL)):
        with pytest.warns(UserWarning, match="60 training points"):
            fitted = model.fit(X)
        assert fitted.transform(NEW).shape == (25, 60)
    # the columns of a matrix are then the points, in their order
    by_matrix = NystroemEmbedding("precomputed", 60, random_state=0).fit(KERNEL(X))
    expected = NystroemEmbedding(KERNEL, 60, random_state=0).fit(X).transform(NEW)
    np.testing.assert_allclose(by_matrix.transform(KERNEL(NEW, X)), expected, atol=1e-5)


@EACH_SELECTION
def test_features_by_their_definition_and_their_bias(selection):
    """K - Z Zᵀ is positive semi-definite, in the mean over seeds too, and 0 at the landmarks."""
    K, mean = KERNEL(X), np.zeros((60, 60))
    for seed in range(5):
        fitted = NystroemEmbedding(KERNEL, 6, selection=selection, random_state=seed)
        Z = fitted.fit_transform(X, CLASSES)
        chosen = fitted.landmark_indices_
        values, vectors = np.linalg.eigh(K[np.ix_(chosen, chosen)])
        root = sum(np.outer(v, v) / np.sqrt(s) for s, v in zip(values, vectors.T, strict=True))
        np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
        np.testing.assert_allclose(fitted.transform(NEW), KERNEL(NEW, X[chosen]) @ root, atol=1e-9)
        left = K - Z @ Z.T
        assert np.linalg.eigvalsh(left)[0] > -1e-12
        np.testing.assert_allclose(left[chosen], 0, atol=1e-12)
        assert (np.delete(left.diagonal(), chosen) > 1e-6).all()
        mean += left / 5
    assert mean.trace() > 0.5
    assert np.linalg.eigvalsh(mean)[0] > -1e-12


def indefinite(A, B):
    return A[:, :2] @ B[:, :2].T - 2 * np.outer(A[:, 2], B[:, 2])


@EACH_SELECTION
def test_eigenvalues_of_0_or_below_are_left_out(selection):
    options = {"selection": selection, "random_state": 0}
    for dtype, rtol in ((np.float64, 1e-9), (np.float32, 1e-4)):
        points = np.r_[X, X[:20]].astype(dtype)
        fitted = NystroemEmbedding(lambda A, B: A @ B.T, 20, **options)
        Z = fitted.fit_transform(points, np.r_[CLASSES, CLASSES[:20]])
        assert fitted.rank_ == 3
        np.testing.assert_allclose(Z @ Z.T, points @ points.T, rtol=rtol, atol=rtol)
    fitted = NystroemEmbedding(indefinite, 10, **options).fit(X, CLASSES)
    landmarks = X[fitted.landmark_indices_]
    values, vectors = np.linalg.eigh(indefinite(landmarks, landmarks))
    assert fitted.rank_ == 2
    Z = fitted.transform(landmarks)
    np.testing.assert_allclose(Z @ Z.T, vectors * np.maximum(values, 0) @ vectors.T, atol=1e-9)
    with pytest.warns(UserWarning, match="all features are 0"):
        fitted = NystroemEmbedding("precomputed", 5, **options).fit(np.zeros((60, 60)), CLASSES)
    assert not fitted.transform(np.ones((2, 60))).any()


def test_numbers_of_kernel_values():
    points, sizes = np.random.RandomState(0).normal(size=(400, 50)), []

    def gaussian(A, B):
        sizes.append(len(A) * len(B))
        return rbf_kernel(A, B, gamma=0.02)

    kernel = CallableKernel(gaussian, takes="matrices")
    # of columns that the selection computes, which a transform of the same points takes
    for selection, known in (("random", 0), ("dselect", 19), ("kmeans++", 19), ("rpcholesky", 20)):
        model = NystroemEmbedding(kernel, 20, selection=selection, random_state=0).fit(points)
        of_fit = sum(sizes)
        assert 0 <= of_fit - known * 400 <= (0 if selection == "random" else 400) + 11 * 20**2
        sizes.clear()
        model.fit_transform(points)
        assert sum(sizes) - of_fit == (20 - known) * 400
        sizes.clear()


def test_on_real_data():
    points, y = load_digits(return_X_y=True)
    map_ = NystroemEmbedding("gaussian", 150, selection="rpcholesky", random_state=0)
    model = make_pipeline(map_, LinearSVC(C=10.0))
    assert model.fit(points[:1000], y[:1000]).score(points[1000:], y[1000:]) > 0.93


@dataclass(frozen=True)
class Arctan(Transfer):
    """A function of a user's own."""

    def _write(self, t, out):
        np.arctan(t, out=out)


SLOWLY = {
    Identity(): lambda t: t,
    Sign(): lambda t: (t > 0) - (t < 0),
    Ramp(): lambda t: max(-1, min(1, t)),
    Ramp(50): lambda t: max(-1, min(1, 50 * t)),
    Arctan(): math.atan,
}
EVERY = pytest.mark.parametrize("transfer", SLOWLY)


@EVERY
@given(t=st.lists(st.floats(-5, 5, width=32)))
def test_is_the_function_element_by_element(transfer, t):
    found = transfer(t)
    np.testing.assert_allclose(found, [SLOWLY[transfer](x) for x in t], rtol=1e-12, atol=1e-14)


@EVERY
def test_types_and_outputs(transfer):
    for dtype, expected in (("f4", "f4"), ("i8", "f8"), ("f8", "f8")):
        t = np.arange(-15, 15, dtype=dtype).reshape(5, 6)
        before = t.copy()
        found = transfer(t)
        assert found.dtype == expected
        np.testing.assert_array_equal(t, before)
        assert not np.shares_memory(found, t)
    out = t[:, 1:3]
    assert transfer(out, out=out) is out  # in place, of a part
    np.testing.assert_array_equal(t[:, 1:3], found[:, 1:3])
    np.testing.assert_array_equal(t[:, 3:], before[:, 3:])


def test_many_things_stand_for_a_transfer_function():
    named = {"identity": Identity(), "sign": Sign(), "ramp": Ramp(1), 100: Ramp(100)}
    for spec, expected in named.items():
        assert as_transfer(spec) == expected
    assert Ramp(np.float64(5))(np.ones(2, np.float32)).dtype == np.float32
    for spec in ("step", None, [1.0], True, Ramp, -3, np.sin):
        with pytest.raises(ValueError, match=r"transfer|slope"):
            as_transfer(spec)
    for slope in (0, -1.0, np.inf, np.nan, "5", True, None):
        with pytest.raises(ValueError, match="slope"):
            Ramp(slope)
