"""Nyström features, against scikit-learn's and against the definition."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.kernels import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
)
from kernlearn.landmarks import NystroemEmbedding
from kernlearn.landmarks.selection import SELECTIONS
from tests.checks import parametrize_with_checks
from tests.landmarks.conftest import N_ROWS

X = np.random.RandomState(0).normal(size=(60, 3))
CLASSES = np.array(["ape", "bee", "cat"])[np.arange(60) % 3]
NEW = np.random.RandomState(1).normal(size=(25, 3))
KERNEL = GaussianKernel(sigma=2.0)


@parametrize_with_checks(
    [
        NystroemEmbedding(),
        NystroemEmbedding(n_components=5, selection="stratified"),
        NystroemEmbedding("laplacian", 7, selection="rpcholesky", block_rows=3),
        NystroemEmbedding("sigmoid", 7, selection="leverage", spectrum="flip"),
        NystroemEmbedding("precomputed", 5, selection="kmeans++"),
    ]
)
@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
@pytest.mark.filterwarnings("ignore:all features are 0:UserWarning")
@pytest.mark.filterwarnings("ignore:X looks like distances:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (GaussianKernel(sigma=2.0), {"kernel": "rbf", "gamma": 1 / 8}),
        (LinearKernel(), {"kernel": "linear"}),
        (PolynomialKernel(3, coef0=1.0), {"kernel": "poly", "degree": 3, "gamma": 1, "coef0": 1}),
        (LaplacianKernel(sigma=2.0), {"kernel": "laplacian", "gamma": 0.5}),
    ],
)
def test_features_are_those_of_scikit_learn_with_the_same_landmarks(kernel, theirs, as_matrix):
    m = 3 if isinstance(kernel, LinearKernel) else 12
    found = NystroemEmbedding(kernel, m, random_state=0).fit(as_matrix(X))
    expected = Nystroem(n_components=m, random_state=0, **theirs).fit(X)
    # both take the first of the same permutation
    np.testing.assert_array_equal(found.landmark_indices_, expected.component_indices_)
    assert found.rank_ == m
    np.testing.assert_allclose(
        found.transform(as_matrix(NEW)), expected.transform(NEW), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("selection", SELECTIONS)
def test_features_by_their_definition(selection):
    fitted = NystroemEmbedding(KERNEL, 9, selection=selection, random_state=0).fit(X, CLASSES)
    landmarks = X[fitted.landmark_indices_]
    assert len(set(fitted.landmark_indices_.tolist())) == 9
    values, vectors = np.linalg.eigh(KERNEL(landmarks, landmarks))
    root = sum(np.outer(v, v) / np.sqrt(s) for s, v in zip(values, vectors.T, strict=True))
    np.testing.assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    np.testing.assert_allclose(fitted.normalization_, root, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(NEW), KERNEL(NEW, landmarks) @ root, atol=1e-9)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_features_underestimate_the_kernel(selection):
    """K - Z Zᵀ is positive semi-definite, in the mean over seeds too, and 0 at the landmarks."""
    K, mean = KERNEL(X), np.zeros((60, 60))
    for seed in range(5):
        fitted = NystroemEmbedding(KERNEL, 6, selection=selection, random_state=seed)
        Z = fitted.fit_transform(X, CLASSES)
        left = K - Z @ Z.T
        assert np.linalg.eigvalsh(left)[0] > -1e-12
        chosen = fitted.landmark_indices_
        np.testing.assert_allclose(left[chosen], 0, atol=1e-12)
        others = np.setdiff1d(np.arange(60), chosen)
        assert (left.diagonal()[others] > 1e-6).all()
        mean += left / 5
    assert mean.trace() > 0.5
    assert np.linalg.eigvalsh(mean)[0] > -1e-12


def test_the_error_shrinks_with_more_landmarks_and_ends():
    K, errors = KERNEL(X), []
    for m in (2, 15, 45, 60):
        Z = NystroemEmbedding(KERNEL, m, selection="rpcholesky", random_state=0).fit_transform(X)
        errors.append((K - Z @ Z.T).trace())
    assert errors[0] > 2 * errors[1] > 4 * errors[2] > 0
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-7)


def clusters(seed):
    """One cluster of 1500 points, and 20 of 5 points far from it and each other."""
    rng = np.random.RandomState(seed)
    small = np.c_[100.0 * np.arange(1, 21), np.zeros(20)]
    points = np.r_[np.zeros((1500, 2)), np.repeat(small, 5, axis=0)]
    return points + 0.05 * rng.normal(size=points.shape)


@pytest.mark.parametrize("selection", ["kmeans++", "leverage", "rpcholesky"])
def test_selections_approximate_unequal_clusters_far_better_than_chance(selection):
    kernel, errors = GaussianKernel(sigma=1.0), {selection: [], "random": []}
    for seed in range(5):
        points = clusters(seed)
        for name, found in errors.items():
            map_ = NystroemEmbedding(kernel, 100, selection=name, random_state=seed)
            # K(x, x) is 1, so this is the trace norm of the error
            found.append(len(points) - (map_.fit_transform(points) ** 2).sum())
    assert np.mean(errors["random"]) > 50
    assert np.mean(errors[selection]) < 0.1 * np.mean(errors["random"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_all_at_once_is_fit_and_then_transform(dtype, as_matrix, selection, kernel):
    points = as_matrix(X.astype(dtype))
    made = NystroemEmbedding(kernel, 9, selection=selection, random_state=0)
    at_once = clone(made).fit_transform(points, CLASSES)
    after = clone(made).fit(points, CLASSES).transform(points)
    assert at_once.dtype == after.dtype == dtype
    atol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(at_once, after, atol=atol)
    dense = clone(made).fit_transform(X, CLASSES)
    np.testing.assert_allclose(after, dense, atol=atol)


def test_features_come_in_blocks(small_blocks):
    heights = []

    def recorded(A, B):
        heights.append(len(A))
        return KERNEL(A, B)

    whole = NystroemEmbedding(recorded, 10, random_state=0).fit(X)
    expected = whole.transform(NEW)
    for size in (4, 25, 100):
        model = clone(whole).set_params(block_rows=size).fit(X)
        heights.clear()
        blocks = list(model.transform_blocks(NEW))
        assert max(heights) <= size
        assert [rows.start for rows, _ in blocks] == list(range(0, 25, size))
        found = np.concatenate([Z for _, Z in blocks])
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(model.transform(NEW), expected, rtol=1e-12)
    small_blocks()
    heights.clear()
    np.testing.assert_allclose(whole.transform(NEW), expected, rtol=1e-12)
    assert max(heights) == N_ROWS


def test_a_matrix_of_kernel_values():
    for selection in SELECTIONS:
        options = {"selection": selection, "random_state": 3}
        direct = NystroemEmbedding(KERNEL, 8, **options).fit(X, CLASSES)
        given = NystroemEmbedding("precomputed", 8, **options).fit(KERNEL(X), CLASSES)
        assert given.kernel_ is None
        chosen = given.landmark_indices_
        np.testing.assert_array_equal(chosen, direct.landmark_indices_)
        expected, wide = direct.transform(NEW), KERNEL(NEW, X)
        np.testing.assert_allclose(given.transform(wide), expected, atol=1e-9)
        # to the landmarks alone
        np.testing.assert_allclose(given.transform(wide[:, chosen]), expected, atol=1e-9)
        np.testing.assert_allclose(given.transform(wide[:, chosen].tolist()), expected, atol=1e-9)


def test_of_as_many_landmarks_as_points_the_columns_are_the_points():
    given = NystroemEmbedding("precomputed", 60, random_state=0).fit(KERNEL(X))
    np.testing.assert_allclose(
        given.transform(KERNEL(NEW, X)),
        NystroemEmbedding(KERNEL, 60, random_state=0).fit(X).transform(NEW),
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((60, 50)), r"square matrix .* got shape \(60, 50\)"),
        (np.full((60, 60), np.nan), "is NaN"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        NystroemEmbedding("precomputed", 5).fit(matrix)


def test_matrices_of_another_width():
    fitted = NystroemEmbedding("precomputed", 5).fit(KERNEL(X))
    with pytest.raises(ValueError, match=r"X has 59 features, but .* is expecting 60"):
        fitted.transform(KERNEL(NEW, X[1:]))
    with pytest.raises(ValueError, match=r"X\[0\] and training X\[\d+\] is NaN"):
        fitted.transform(np.full((2, 5), np.nan))


def test_a_matrix_of_distances_is_warned_of():
    distances = np.abs(X[:, :1] - X[:, 0])
    with pytest.warns(UserWarning, match="X looks like distances"):
        NystroemEmbedding("precomputed", 5).fit(distances)


def low_rank(A, B):
    return A @ B.T


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigenvalues_of_0_are_left_out(selection, dtype):
    points = np.r_[X, X[:20]].astype(dtype)
    y = np.r_[CLASSES, CLASSES[:20]]
    fitted = NystroemEmbedding(low_rank, 20, selection=selection, random_state=0)
    Z = fitted.fit_transform(points, y)
    assert fitted.rank_ == 3
    assert Z.shape == (80, 20)
    rtol = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(Z @ Z.T, points @ points.T, rtol=rtol, atol=rtol)


def test_a_tolerance_of_ones_own():
    eigenvalues = NystroemEmbedding(KERNEL, 20, random_state=0).fit(X).eigenvalues_
    for tol in (0.0, 1e-4, 0.1):
        fitted = NystroemEmbedding(KERNEL, 20, tol=tol, random_state=0).fit(X)
        assert fitted.rank_ == (eigenvalues > tol * eigenvalues[-1]).sum()
    assert 0 < fitted.rank_ < 20


def indefinite(A, B):
    return A[:, :2] @ B[:, :2].T - 2 * np.outer(A[:, 2], B[:, 2])


@pytest.mark.parametrize("selection", SELECTIONS)
def test_negative_eigenvalues_are_clipped_or_flipped(selection):
    for spectrum, change in (("clip", lambda s: np.maximum(s, 0)), ("flip", np.abs)):
        fitted = NystroemEmbedding(
            indefinite, 10, selection=selection, spectrum=spectrum, random_state=0
        ).fit(X, CLASSES)
        landmarks = X[fitted.landmark_indices_]
        values, vectors = np.linalg.eigh(indefinite(landmarks, landmarks))
        assert (values < -0.1).sum() == 1
        assert fitted.rank_ == (2 if spectrum == "clip" else 3)
        Z = fitted.transform(landmarks)
        expected = vectors * change(values) @ vectors.T
        np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-9)


@pytest.mark.parametrize("spectrum", ["clip", "flip"])
def test_a_kernel_of_0_is_warned_of(spectrum):
    with pytest.warns(UserWarning, match="all features are 0"):
        fitted = NystroemEmbedding("precomputed", 5, spectrum=spectrum).fit(np.zeros((60, 60)))
    assert fitted.rank_ == 0
    assert not fitted.transform(np.ones((2, 60))).any()


@pytest.mark.parametrize("selection", SELECTIONS)
def test_strings(selection):
    words = ["anna", "hanna", "hannah", "otto", "ottos", "lotto"]
    kernel = "levenshtein"
    fitted = NystroemEmbedding(kernel, 4, selection=selection, spectrum="flip", random_state=0)
    features = fitted.fit_transform(words, [0, 0, 0, 1, 1, 1])
    assert features.shape == (6, 4)
    np.testing.assert_allclose(fitted.transform(["otto", "anna"]), features[[3, 0]], atol=1e-9)
    blocks = list(fitted.transform_blocks(np.array(words, dtype=object)))
    np.testing.assert_allclose(blocks[0][1], features, atol=1e-9)


def test_sequences_and_functions_of_two_points():
    sequences = [np.sin(np.arange(n) / 3) for n in (5, 8, 9, 12, 7)]
    pytest.importorskip("aeon")
    fitted = NystroemEmbedding("dynamic_time_warping", 3, spectrum="flip", random_state=0)
    assert fitted.fit(sequences).transform(sequences[:2]).shape == (2, 3)
    words = ["tea", "tee", "eat", "sun"]
    common = NystroemEmbedding(lambda a, b: len(set(a) & set(b)), 2, random_state=0)
    assert common.fit_transform(words).shape == (4, 2)


def test_a_width_is_estimated_from_the_points():
    named = NystroemEmbedding("gaussian", 8, random_state=0).fit(X)
    assert named.kernel_.sigma_ == GaussianKernel().fit(X).sigma_
    mine = NystroemEmbedding(GaussianKernel().fit(X), 8, random_state=0).fit(X)
    np.testing.assert_allclose(named.transform(NEW), mine.transform(NEW))


def test_kernels_that_learn_from_labels_get_them():
    table = np.array([["red", "big"], ["red", "small"], ["blue", "big"], ["green", "big"]] * 5)
    y = np.array([1, 1, 0, 0] * 5)
    fitted = NystroemEmbedding("value_difference", 4, spectrum="flip", random_state=0)
    assert fitted.fit_transform(table, y).shape == (20, 4)
    with pytest.raises(ValueError, match="learns from labels"):
        fitted.fit(table)


def test_targets_that_are_not_needed_are_ignored():
    for selection in ("random", "kmeans++", "leverage", "rpcholesky"):
        model = NystroemEmbedding(KERNEL, 7, selection=selection, random_state=0)
        chosen = model.fit(X).landmark_indices_
        for y in (CLASSES, X[:, 0], X):
            np.testing.assert_array_equal(model.fit(X, y).landmark_indices_, chosen)


def test_classes_where_they_are_needed():
    assert get_tags(NystroemEmbedding(selection="stratified")).target_tags.required
    assert not get_tags(NystroemEmbedding(selection="dselect")).target_tags.required
    stratified = NystroemEmbedding(KERNEL, 6, selection="stratified", random_state=0)
    assert sorted(CLASSES[stratified.fit(X, CLASSES).landmark_indices_]) == [
        "ape",
        "ape",
        "bee",
        "bee",
        "cat",
        "cat",
    ]
    diverse = NystroemEmbedding(KERNEL, 6, selection="dselect", random_state=0)
    assert len(set(diverse.fit(X).landmark_indices_)) == 6
    assert sorted(CLASSES[diverse.fit(X, CLASSES).landmark_indices_]) == [
        "ape",
        "ape",
        "bee",
        "bee",
        "cat",
        "cat",
    ]


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (NystroemEmbedding(selection="stratified"), None, "requires y to be passed"),
        (NystroemEmbedding(selection="dselect"), np.linspace(0, 1, 60), "Unknown label type"),
        (NystroemEmbedding(selection="shared"), None, "'selection' parameter"),
        (NystroemEmbedding(n_components=0), None, "'n_components' parameter"),
        (NystroemEmbedding("none"), None, "'kernel' must be one of"),
        (NystroemEmbedding(spectrum="shift"), None, "'spectrum' parameter"),
        (NystroemEmbedding(tol=1.0), None, "'tol' parameter"),
        (NystroemEmbedding(block_rows=0), None, "'block_rows' parameter"),
    ],
)
def test_bad_arguments(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_fewer_points_than_components():
    with pytest.warns(UserWarning, match="n_components=100 is more than the 60 training points"):
        fitted = NystroemEmbedding(KERNEL).fit(X)
    assert fitted.transform(NEW).shape == (25, 60)


def test_names_and_frames():
    fitted = NystroemEmbedding(KERNEL, 2, random_state=0).fit(X)
    names = ["nystroemembedding0", "nystroemembedding1"]
    assert fitted.get_feature_names_out().tolist() == names
    frame = fitted.set_output(transform="pandas").transform(NEW)
    assert list(frame.columns) == names
    with pytest.raises(NotFittedError):
        NystroemEmbedding().transform(X)


class Counted:
    def __init__(self):
        self.n_values = 0

    def __call__(self, A, B):
        self.n_values += len(A) * len(B)
        return rbf_kernel(A, B, gamma=0.02)


@pytest.mark.parametrize(
    ("selection", "least", "most"),
    [
        ("random", 0, 0),
        ("dselect", 19 * 400, 19 * 400),
        ("kmeans++", 20 * 400, 20 * 400),  # with the diagonal
        ("rpcholesky", 21 * 400, 21 * 400 + 10 * 400),  # and proposals
        ("leverage", 400, 51 * 400),
    ],
)
def test_numbers_of_kernel_values(selection, least, most):
    points, kernel = np.random.RandomState(0).normal(size=(400, 50)), Counted()
    model = NystroemEmbedding(kernel, 20, selection=selection, random_state=0).fit(points)
    of_fit = kernel.n_values
    # among the landmarks, unless the selection has compared all points with these
    assert least <= of_fit <= most + 20**2
    model.transform(points[:7])
    assert kernel.n_values - of_fit == 7 * 20
    kernel.n_values = 0
    model.fit_transform(points)
    known = {"dselect": 19, "kmeans++": 19, "rpcholesky": 20}.get(selection, 0)
    assert kernel.n_values - of_fit == (20 - known) * 400


def test_in_pipelines():
    points, y = load_digits(return_X_y=True)
    map_ = NystroemEmbedding("gaussian", 150, selection="rpcholesky", random_state=0)
    model = make_pipeline(map_, LinearSVC(C=10.0))
    assert model.fit(points[:1000], y[:1000]).score(points[1000:], y[1000:]) > 0.93
    points, y = load_diabetes(return_X_y=True)
    model = make_pipeline(NystroemEmbedding(n_components=50, random_state=0), Ridge(0.1))
    assert model.fit(points, np.c_[y, -y]).score(points, np.c_[y, -y]) > 0.4


def test_a_config_names_it(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\ntask: kernel_approximation\nmetrics: [gram_error]\nprotocol: {splits: 1}\n"
        "datasets: {ball: {generator: unit_ball, n_samples: 50, n_features: 3}}\n"
        "kernels: {cube: {kernel: polynomial, degree: 3, coef0: 1}}\n"
        "methods: {map: {estimator: NystroemEmbedding, selection: rpcholesky,\n"
        "  n_components: [3, 20]}}\n"
    )
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        found = store.get(t.key for t in plan.trials)
    few, many = (found[t.key].metrics["gram_error"] for t in plan.trials)
    assert many < 1e-9 < few
