import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import get_tags

from kernlearn.kernels import GaussianKernel, Kernel
from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.similarity import KeptSimilarities

X = np.random.RandomState(0).normal(size=(8, 3))
Y = np.arange(8) % 2
NEW = np.random.RandomState(1).normal(size=(5, 3))


class Compares(SimilarityEstimator):
    def __init__(self, similarity="gaussian", kind="similarity"):
        self.similarity = similarity
        self.kind = kind

    def learn(self, X, y=None):
        X, y = self._check_training(X, y)
        return self._all_points(X, y)


def skewed(A, B):
    """A similarity that is not symmetric."""
    return np.asarray(A @ B.T) + np.asarray(A).sum(axis=1)[:, None]


def common_letters(words, others):
    return np.array([[len(set(a) & set(b)) for b in others] for a in words])


def test_rows_are_points_and_columns_landmarks():
    some = Compares(skewed).learn(X, Y).take(np.array([6, 1]))
    assert len(some) == 2
    np.testing.assert_array_equal(some.indices, [6, 1])
    expected = [[a @ b + a.sum() for b in X[[6, 1]]] for a in NEW]
    np.testing.assert_allclose(some.compare(NEW), expected, rtol=1e-12)


def test_a_matrix_needs_no_points():
    K = skewed(X, X)
    estimator = Compares("precomputed")
    some = estimator.learn(K, Y).take(np.array([3, 0, 5]))
    assert some.points is None
    np.testing.assert_array_equal(some.compare(K), K[:, [3, 0, 5]])
    wide = estimator._check_points(skewed(NEW, X).tolist())
    np.testing.assert_array_equal(some.compare(wide), skewed(NEW, X)[:, [3, 0, 5]])
    assert get_tags(estimator).input_tags.pairwise
    assert not get_tags(estimator).input_tags.sparse


@pytest.mark.parametrize("similarity", [skewed, "precomputed"])
@pytest.mark.parametrize("limit", [0, 30, 2**27])
def test_kept_similarities_are_those_of_a_comparison(similarity, limit, monkeypatch):
    monkeypatch.setattr("kernlearn.landmarks.similarity.KEPT_ELEMENTS", limit)
    data = skewed(X, X) if similarity == "precomputed" else X
    every = Compares(similarity, "distance").learn(data, Y)
    full, rows = every.compare(data), np.array([5, 0, 6])
    for some, expected in [(None, full), (rows, full[rows])]:
        kept = KeptSimilarities(every, data, some)
        np.testing.assert_allclose(kept.column(4), expected[:, 4], rtol=1e-12)
        np.testing.assert_allclose(kept.column(2), expected[:, 2], rtol=1e-12)
        for which in ([2, 1, 1, 4], [7, 6], [2, 1], [4]):
            which = np.array(which)
            np.testing.assert_allclose(kept.columns(which), expected[:, which], rtol=1e-12)
            part = kept.columns(which, np.array([2, 0]))
            np.testing.assert_allclose(part, expected[[2, 0]][:, which], rtol=1e-12)


def test_each_similarity_is_computed_once():
    calls = []

    def counted(A, B):
        calls.append((len(A), len(B)))
        return skewed(A, B)

    kept = KeptSimilarities(Compares(counted).learn(X, Y), X)
    kept.column(3)
    kept.column(3)
    kept.keep(np.array([0, 3, 5]))
    kept.columns(np.array([5, 3, 5]))
    kept.column(0)
    assert calls == [(8, 1), (8, 2)]


def test_blocks_of_rows(small_blocks):
    every = Compares(skewed).learn(X, Y)
    small_blocks()
    blocks = list(every.blocks(X))
    assert [rows for rows, _ in blocks] == [slice(0, 7), slice(7, 8)]
    np.testing.assert_allclose(np.vstack([b for _, b in blocks]), every.compare(X), rtol=1e-12)
    which, kept = np.array([3, 1]), KeptSimilarities(every, X)
    for _ in range(2):  # not kept, then kept
        together = np.vstack([b for _, b in kept.blocks(which, 2)])
        np.testing.assert_allclose(together, every.compare(X)[:, which], rtol=1e-12)
        kept.keep(which)
    assert not list(every.take(np.array([], dtype=int)).blocks(X))


@pytest.mark.parametrize("similarity", [skewed, "precomputed"])
def test_a_distance_changes_its_sign(similarity):
    data = skewed(X, X) if similarity == "precomputed" else X
    as_similarity = Compares(similarity).learn(data, Y)
    as_distance = Compares(similarity, "distance").learn(data, Y)
    np.testing.assert_array_equal(as_distance.compare(data), -as_similarity.compare(data))
    np.testing.assert_allclose(as_similarity.compare(data), skewed(X, X), rtol=1e-12)


def test_what_has_a_name_is_no_distance():
    with pytest.raises(ValueError, match="kind='distance' is for a matrix or a user-defined"):
        Compares("euclidean", "distance").learn(X, Y)


@pytest.mark.parametrize("similarity", ["gaussian", GaussianKernel(), "precomputed", skewed])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_type(similarity, dtype):
    data = (skewed(X, X) if similarity == "precomputed" else X).astype(dtype)
    every = Compares(similarity).learn(data, Y)
    assert every.compare(data).dtype == dtype


def test_the_users_kernel_is_not_fitted():
    kernel = GaussianKernel()
    found = Compares(kernel).learn(X, Y).compare(NEW)
    assert not hasattr(kernel, "sigma_")
    np.testing.assert_array_equal(found, GaussianKernel().fit(X)(NEW, X))


def test_a_kernel_may_learn_from_classes():
    class Supervised(Kernel):
        data_dependent = True

        def fit(self, X, y=None):
            self.weight_ = float(np.sum(y))
            return self

        def __call__(self, X, Y=None):
            return self.weight_ * (X @ Y.T)

    found = Compares(Supervised()).learn(X, Y).compare(NEW)
    np.testing.assert_allclose(found, 4 * (NEW @ X.T), rtol=1e-12)


def test_sparse_points():
    some = Compares("gaussian").learn(sparse.csc_matrix(X), Y).take(np.array([2, 4]))
    dense = Compares("gaussian").learn(X, Y).take(np.array([2, 4]))
    assert get_tags(Compares()).input_tags.sparse
    np.testing.assert_allclose(
        some.compare(sparse.csr_matrix(NEW)), dense.compare(NEW), rtol=1e-12
    )


def test_a_sparse_matrix_of_similarities_is_refused():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Compares("precomputed").learn(sparse.csr_matrix(np.eye(8)), Y)


WORDS = ["abc", "bcd", "xyz", "ax"]


class Node:
    """Something that numpy would take for a sequence."""

    def __init__(self, name):
        self.name = name

    def __len__(self):
        return len(self.name)

    def __getitem__(self, i):
        return self.name[i]


@pytest.mark.parametrize(
    "points",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        [set(word) for word in WORDS],
        [Node(word) for word in WORDS],
    ],
    ids=["list", "tuple", "strings", "objects", "sets", "sequences"],
)
def test_points_of_any_kind_for_a_function_that_takes_them(points):
    estimator = Compares(common_letters)
    every = estimator.learn(points, [0, 0, 1, 1])
    found = every.take(np.array([0, 3])).compare(estimator._check_points(["abx", "z"]))
    np.testing.assert_array_equal(found, [[2, 2], [0, 0]])


def test_counts_become_floats():
    every = Compares(common_letters, "distance").learn(WORDS, [0, 0, 1, 1])
    similarities = every.compare(np.array(["abc"]))
    np.testing.assert_array_equal(similarities, [[-3, -2, 0, -1]])
    assert similarities.dtype == np.float64


def test_strings_and_labels_of_unequal_number():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
        Compares(common_letters).learn(WORDS, [0, 0, 1])


def test_strings_for_a_kernel_by_name():
    with pytest.raises(ValueError, match=r"Expected 2D array|could not convert string"):
        Compares("gaussian").learn(WORDS, [0, 0, 1, 1])


def test_classes_may_be_left_out():
    every = Compares(skewed).learn(X)
    np.testing.assert_allclose(every.compare(NEW), skewed(NEW, X), rtol=1e-12)
    assert len(Compares(common_letters).learn(WORDS)) == 4


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((8, 7)), r"needs a square matrix .* got shape \(8, 7\)"),
        (np.full((8, 8), np.nan), "is NaN"),
        (np.ones((7, 7)), "inconsistent numbers of samples"),
    ],
    ids=["not square", "NaN", "mismatched"],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        Compares("precomputed").learn(matrix, Y)


def test_points_compared_with_other_training_points():
    estimator = Compares("precomputed")
    estimator.learn(np.eye(8), Y)
    with pytest.raises(ValueError, match="X has 7 features, but Compares is expecting 8"):
        estimator._check_points(np.ones((3, 7)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_function_must_give_finite_numbers(value):
    every = Compares(lambda A, B: np.full((len(A), len(B)), value)).learn(X, Y)
    with pytest.raises(ValueError, match="must be a finite number"):
        every.compare(NEW)
