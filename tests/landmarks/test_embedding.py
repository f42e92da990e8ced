import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from kernlearn.landmarks.embeddings import LandmarkEmbedding, PairEmbedding
from kernlearn.landmarks.selection import BY_SIMILARITY, SELECTIONS
from kernlearn.landmarks.transfer import Ramp, as_transfer
from tests.checks import parametrize_with_checks
from tests.landmarks.conftest import N_ROWS

X = np.random.RandomState(0).normal(size=(60, 3))
CLASSES = np.array(["ape", "bee", "cat"])[np.arange(60) % 3]
NEW = np.random.RandomState(1).normal(size=(25, 3))

BOTH = pytest.mark.parametrize("embedding", [LandmarkEmbedding, PairEmbedding])


def skewed(A, B):
    """A similarity that is not symmetric, not positive and beyond 1."""
    return A @ B.T + 2 * A[:, :1]


@parametrize_with_checks(
    [
        LandmarkEmbedding(),
        LandmarkEmbedding(3, selection="stratified"),
        LandmarkEmbedding(5, selection="leverage"),
        LandmarkEmbedding(5, similarity="precomputed", selection="rpcholesky"),
        LandmarkEmbedding(5, similarity="precomputed", kind="distance", selection="dselect"),
        PairEmbedding(),
        PairEmbedding(4, similarity="precomputed", kind="distance", selection="dselect"),
        PairEmbedding(4, selection="stratified", transfer=5.0, normalize=False),
    ]
)
@pytest.mark.filterwarnings("ignore:n_landmarks=:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_landmark_embedding_by_its_definition(selection, kind, normalize):
    fitted = LandmarkEmbedding(
        7, similarity=skewed, kind=kind, selection=selection, normalize=normalize, random_state=0
    ).fit(X, CLASSES)
    landmarks = X[fitted.landmark_indices_]
    scale = abs(skewed(X, landmarks)).max() if normalize else 1.0
    sign = -1 if kind == "distance" else 1
    assert fitted.scale_ == pytest.approx(scale)
    expected = [[sign * skewed(x[None], z[None])[0, 0] / scale for z in landmarks] for x in NEW]
    np.testing.assert_allclose(fitted.transform(NEW), expected, rtol=1e-12)
    if normalize:
        assert abs(fitted.transform(X)).max() == pytest.approx(1)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("transfer", ["identity", "sign", 3.0, Ramp(10), np.tanh])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pair_embedding_by_its_definition(n_classes, transfer, kind, normalize):
    known = np.isin(CLASSES, ["ape", "bee", "cat"][:n_classes])
    points, y = X[known], CLASSES[known]
    fitted = PairEmbedding(
        5, similarity=skewed, kind=kind, transfer=transfer, normalize=normalize, random_state=0
    ).fit(points, y)
    pairs = fitted.landmark_pairs_
    assert pairs.shape == (1 if n_classes == 2 else 3, 5, 2)
    used = points[pairs.ravel()]
    scale = abs(skewed(points, used)).max() if normalize else 1.0
    sign = -1 if kind == "distance" else 1
    f = as_transfer(transfer)

    def similarity(x, i):
        return sign * skewed(x[None], points[i][None])[0, 0] / scale

    expected = [
        [float(f(similarity(x, up) - similarity(x, down))) for up, down in pairs.reshape(-1, 2)]
        for x in NEW
    ]
    assert fitted.scale_ == pytest.approx(scale)
    np.testing.assert_allclose(fitted.transform(NEW), expected, rtol=1e-9, atol=1e-13)
    for c, problem in zip(["bee"] if n_classes == 2 else fitted.classes_, pairs, strict=True):
        assert (y[problem[:, 0]] == c).all()
        assert (y[problem[:, 1]] != c).all()


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
def test_all_at_once_is_fit_and_then_transform(embedding, dtype, as_matrix):
    points = as_matrix(X.astype(dtype))
    at_once = embedding(9, random_state=0).fit_transform(points, CLASSES)
    after = embedding(9, random_state=0).fit(points, CLASSES).transform(points)
    assert at_once.dtype == after.dtype == dtype
    np.testing.assert_array_equal(at_once, after)
    dense = embedding(9, random_state=0).fit_transform(X, CLASSES)
    np.testing.assert_allclose(after, dense, atol=1e-12 if dtype == np.float64 else 1e-5)


@BOTH
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("selection", BY_SIMILARITY)
def test_a_matrix_of_similarities_gives_the_same(embedding, kind, selection):
    parameters = {"kind": kind, "selection": selection, "random_state": 3}
    by_function = embedding(6, similarity=skewed, **parameters).fit(X, CLASSES)
    by_matrix = embedding(6, similarity="precomputed", **parameters).fit(skewed(X, X), CLASSES)
    np.testing.assert_array_equal(by_matrix.landmark_indices_, by_function.landmark_indices_)
    np.testing.assert_allclose(
        by_matrix.transform(skewed(NEW, X)), by_function.transform(NEW), rtol=1e-12
    )


@BOTH
def test_works_in_blocks_of_rows(embedding, small_blocks):
    heights = []

    def recorded(A, B):
        heights.append(len(A))
        return skewed(A, B)

    whole = embedding(10, similarity=recorded, random_state=0).fit(X, CLASSES)
    expected = whole.transform(NEW)
    small_blocks()
    heights.clear()
    fitted = clone(whole).fit(X, CLASSES)
    assert max(heights) == N_ROWS
    np.testing.assert_allclose(fitted.transform(NEW), expected, rtol=1e-12)


@BOTH
def test_the_choice_rests_on_the_seed_alone(embedding):
    first, again, other = (
        embedding(9, random_state=s).fit(X, CLASSES).landmark_indices_ for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert first.tolist() != other.tolist()


@BOTH
def test_a_similarity_that_is_0_everywhere_is_not_scaled(embedding):
    fitted = embedding(4, similarity="precomputed").fit(np.zeros((60, 60)), CLASSES)
    assert fitted.scale_ == 1
    assert not fitted.transform(np.zeros((2, 60))).any()


@BOTH
def test_strings_with_a_function_of_the_users_own(embedding):
    words = ["tea", "tee", "eat", "sun", "son", "nun"]
    fitted = embedding(
        3,
        similarity=lambda A, B: np.array([[len(set(a) & set(b)) for b in B] for a in A]),
        random_state=0,
    )
    features = fitted.fit_transform(words, [0, 0, 0, 1, 1, 1])
    assert features.shape == (6, 3)
    assert features.dtype == np.float64
    np.testing.assert_array_equal(fitted.transform(["sun", "tea"]), features[[3, 0]])


def test_names_of_single_landmarks_are_their_rows():
    fitted = LandmarkEmbedding(2, selection="dselect", random_state=0).fit(X)
    expected = [f"landmark_{i}" for i in fitted.landmark_indices_]
    assert fitted.get_feature_names_out().tolist() == expected
    frame = fitted.set_output(transform="pandas").transform(NEW)
    assert list(frame.columns) == expected


def test_names_of_pairs_say_the_class():
    fitted = PairEmbedding(2, random_state=0).fit(X, CLASSES)
    expected = [f"pair_{c}_{j}" for c in ("ape", "bee", "cat") for j in (0, 1)]
    frame = fitted.set_output(transform="pandas").fit_transform(X, CLASSES)
    assert list(frame.columns) == expected
    two = PairEmbedding(3).fit(X, CLASSES == "bee")
    assert two.get_feature_names_out().tolist() == ["pair_0", "pair_1", "pair_2"]


@BOTH
def test_names_only_after_fit(embedding):
    with pytest.raises(NotFittedError):
        embedding().get_feature_names_out()


def test_tags():
    assert get_tags(PairEmbedding()).target_tags.required
    assert not get_tags(LandmarkEmbedding()).target_tags.required
    assert get_tags(LandmarkEmbedding(selection="stratified")).target_tags.required
    assert get_tags(PairEmbedding(similarity="precomputed")).input_tags.pairwise


def test_single_landmarks_do_without_classes():
    for selection in ("random", *BY_SIMILARITY):
        embedding = LandmarkEmbedding(5, selection=selection, random_state=0)
        assert len(set(embedding.fit(X).landmark_indices_)) == 5
    # neither does "random" look at them
    random = LandmarkEmbedding(5, random_state=0)
    chosen = random.fit(X).landmark_indices_.tolist()
    assert random.fit(X, np.linspace(0, 1, 60)).landmark_indices_.tolist() == chosen


def test_dselect_covers_each_of_the_classes_given():
    found = LandmarkEmbedding(6, selection="dselect").fit(X, CLASSES).landmark_indices_
    assert sorted(CLASSES[found]) == ["ape", "ape", "bee", "bee", "cat", "cat"]


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (LandmarkEmbedding(selection="stratified"), None, "requires y to be passed"),
        (PairEmbedding(), None, "requires y to be passed"),
        (PairEmbedding(), np.zeros(60), "y holds one class"),
        (PairEmbedding(), np.linspace(0, 1, 60), "Unknown label type: continuous"),
        (LandmarkEmbedding(selection="dselect"), np.linspace(0, 1, 60), "Unknown label type"),
        (LandmarkEmbedding(0), CLASSES, "'n_landmarks' parameter"),
        (LandmarkEmbedding(selection="best"), CLASSES, "'selection' parameter"),
        (LandmarkEmbedding(similarity="none"), CLASSES, "'none'"),
        (PairEmbedding(transfer="step"), CLASSES, "'transfer' must be one of"),
        (PairEmbedding(transfer=-1.0), CLASSES, "'transfer' parameter"),
        (PairEmbedding(transfer=np.cos), CLASSES, "'cos' is not antisymmetric"),
        (PairEmbedding(kind="metric"), CLASSES, "'kind' parameter"),
    ],
)
def test_bad_arguments(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


@BOTH
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((60, 50)), r"square matrix .* got shape \(60, 50\)"),
        (np.full((60, 60), np.nan), "is NaN"),
        (np.ones((50, 50)), "inconsistent numbers of samples"),
    ],
    ids=["not square", "NaN", "mismatched"],
)
def test_bad_matrices(embedding, matrix, message):
    with pytest.raises(ValueError, match=message):
        embedding(similarity="precomputed").fit(matrix, CLASSES)


@BOTH
def test_a_matrix_of_other_training_points(embedding):
    fitted = embedding(5, similarity="precomputed").fit(skewed(X, X), CLASSES)
    with pytest.raises(ValueError, match=r"X has 59 features, but .* is expecting 60"):
        fitted.transform(skewed(NEW, X[1:]))


def test_fewer_points_than_landmarks():
    with pytest.warns(UserWarning, match="n_landmarks=100 is more than the 60 training points"):
        fitted = LandmarkEmbedding().fit(X)
    assert fitted.transform(NEW).shape == (25, 60)
    assert PairEmbedding(100).fit_transform(X, CLASSES).shape == (60, 300)


def test_a_linear_classifier_separates_what_is_not_linear():
    circles, y = make_circles(400, noise=0.05, factor=0.4, random_state=0)
    assert cross_val_score(LinearSVC(), circles, y).mean() < 0.7
    for embedding in (LandmarkEmbedding, PairEmbedding):
        model = make_pipeline(embedding(30, random_state=0), LinearSVC())
        assert cross_val_score(model, circles, y).mean() > 0.98
