import math
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.base import LandmarkedModel
from kernlearn.landmarks.selection import BY_SIMILARITY

X = np.random.RandomState(0).normal(size=(40, 3))
Y = X[:, 0] - X[:, 1] ** 2
NEW = np.random.RandomState(1).normal(size=(25, 3))


class Embedded(LandmarkedModel):
    """The least model there is: it learns nothing, and keeps what it would learn from."""

    def __init__(
        self,
        n_landmarks=5,
        *,
        similarity="gaussian",
        kind="similarity",
        selection="random",
        double_dipping=True,
        random_state=0,
    ):
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.selection = selection
        self.double_dipping = double_dipping
        self.random_state = random_state

    def fit(self, X, y, landmarks=None):
        X, y = self._check_training(X, y)
        self.features_, self.rows_ = self._embed_training(
            X,
            y,
            np.arange(X.shape[0]),
            landmarks,
            np.random.RandomState(self.random_state),
            self.n_landmarks,
        )
        self.targets_ = y[self.rows_]
        return self


def skewed(A, B):
    """A similarity that is not symmetric, not positive and beyond 1."""
    return A @ B.T + 2 * A[:, :1]


@pytest.mark.parametrize("double_dipping", [True, False])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("selection", ["random", *BY_SIMILARITY])
def test_the_embedding_by_its_definition(selection, kind, double_dipping):
    model = Embedded(
        similarity=skewed, kind=kind, selection=selection, double_dipping=double_dipping
    ).fit(X, Y)
    landmarks, sign = X[model.landmark_indices_], -1 if kind == "distance" else 1

    def slow(points):
        return [
            [sign * skewed(x[None], z[None])[0, 0] / math.sqrt(5) for z in landmarks]
            for x in points
        ]

    left_out = set() if double_dipping else set(model.landmark_indices_.tolist())
    rows = [i for i in range(40) if i not in left_out]
    assert len(set(model.landmark_indices_.tolist())) == 5
    assert model.rows_.tolist() == rows
    assert model.scale_ == math.sqrt(5)
    np.testing.assert_array_equal(model.targets_, Y[rows])
    np.testing.assert_allclose(model.features_, slow(X[rows]), rtol=1e-12)
    np.testing.assert_allclose(model._embed(NEW), slow(NEW), rtol=1e-12)


@pytest.mark.parametrize("double_dipping", [True, False])
@pytest.mark.parametrize("selection", ["random", *BY_SIMILARITY])
def test_a_matrix_gives_what_its_similarity_gives(selection, double_dipping):
    how = {"selection": selection, "double_dipping": double_dipping}
    direct = Embedded(similarity=skewed, **how).fit(X, Y)
    given = Embedded(similarity="precomputed", **how).fit(skewed(X, X), Y)
    np.testing.assert_array_equal(given.landmark_indices_, direct.landmark_indices_)
    np.testing.assert_allclose(given.features_, direct.features_, rtol=1e-12)
    np.testing.assert_allclose(given._embed(skewed(NEW, X)), direct._embed(NEW), rtol=1e-12)


def test_diverse_landmarks_are_the_least_similar_to_those_before():
    model = Embedded(4, similarity="manhattan", selection="dselect").fit(X, Y)
    first, *others = model.landmark_indices_.tolist()
    chosen = [first]
    for found in others:
        rest = [i for i in range(40) if i not in chosen]
        assert found == max(rest, key=lambda i: sum(abs(X[i] - X[j]).sum() for j in chosen))
        chosen.append(found)


@pytest.mark.parametrize("similarity", ["gaussian", "precomputed"])
@pytest.mark.parametrize("selection", ["random", *BY_SIMILARITY])
def test_landmarks_from_some_of_the_points(selection, similarity):
    pool = np.arange(3, 40, 2)
    given = X @ X.T if similarity == "precomputed" else X
    there = given[np.ix_(pool, pool)] if similarity == "precomputed" else X[pool]
    alone = Embedded(similarity=similarity, selection=selection).fit(there, Y[pool])
    model = Embedded(similarity=similarity, selection=selection).fit(given, Y)
    features, rows = model._embed_training(given, Y, pool, None, np.random.RandomState(0), 5)
    np.testing.assert_array_equal(rows, pool)
    np.testing.assert_array_equal(model.landmark_indices_, pool[alone.landmark_indices_])
    np.testing.assert_allclose(features, alone.features_, rtol=1e-12)
    np.testing.assert_allclose(model._features(given[pool]), alone.features_, rtol=1e-12)


def test_landmarks_that_are_given_are_taken_as_they_are_and_all_points_are_trained_on():
    unlabelled = np.random.RandomState(2).normal(size=(7, 3))
    model = Embedded(similarity=skewed, double_dipping=False).fit(X, Y, unlabelled)
    assert model.landmark_indices_ is None
    np.testing.assert_array_equal(model.rows_, np.arange(40))
    np.testing.assert_allclose(model.features_, skewed(X, unlabelled) / math.sqrt(7), rtol=1e-12)
    np.testing.assert_allclose(model._embed(NEW), skewed(NEW, unlabelled) / math.sqrt(7))


def test_a_width_is_that_of_the_training_points_and_not_of_landmarks():
    unlabelled = 10 * np.random.RandomState(2).normal(size=(7, 3))
    expected = GaussianKernel().fit(X)(NEW, unlabelled) / math.sqrt(7)
    np.testing.assert_allclose(Embedded().fit(X, Y, unlabelled)._embed(NEW), expected)


def test_blocks_change_nothing(small_blocks):
    whole = Embedded().fit(X, Y)
    small_blocks()
    pieces = Embedded().fit(X, Y)
    np.testing.assert_allclose(pieces.features_, whole.features_, rtol=1e-12)
    np.testing.assert_allclose(pieces._embed(NEW), whole._embed(NEW), rtol=1e-12)


@pytest.mark.parametrize("selection", ["random", *BY_SIMILARITY])
def test_a_matrix_is_not_copied(selection):
    n = 1500
    matrix = np.random.RandomState(0).uniform(size=(n, n))
    model = Embedded(similarity="precomputed", selection=selection).fit(matrix, np.arange(n))
    some_rows = np.arange(0, n, 2)
    tracemalloc.start()
    model._embed_training(matrix, np.arange(n), some_rows, None, np.random.RandomState(0), 5)
    model._features(matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < matrix.nbytes / 20


def test_sparse_and_single_precision():
    dense = Embedded(similarity="linear").fit(X, Y)
    scattered = Embedded(similarity="linear").fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(scattered.features_, dense.features_, rtol=1e-12)
    np.testing.assert_allclose(scattered._embed(sparse.csr_array(NEW)), dense._embed(NEW))
    single = Embedded(similarity="linear").fit(X.astype(np.float32), Y)
    assert single.features_.dtype == np.float32
    assert single._embed(NEW.astype(np.float32)).dtype == np.float32
    assert single._embed(NEW).dtype == np.float64
    np.testing.assert_allclose(single.features_, dense.features_, atol=1e-5)


def test_anything_can_be_compared_by_a_function_of_the_users_own():
    def common_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    words = ["abc", "bcd", "xyz", "xya", "cab"]
    model = Embedded(2, similarity=common_letters).fit(words, [1, 2, 3, 4, 5])
    chosen = [words[i] for i in model.landmark_indices_]
    np.testing.assert_allclose(model.features_, common_letters(words, chosen) / math.sqrt(2))
    given = Embedded(similarity=common_letters).fit(words, [1, 2, 3, 4, 5], ["ab", "yz", "q"])
    np.testing.assert_allclose(
        given._embed(["az"]), np.array([[1.0, 1.0, 0.0]]) / math.sqrt(3), rtol=1e-12
    )


def test_fewer_points_than_landmarks():
    with pytest.warns(UserWarning, match="n_landmarks=50 is more than the 40"):
        model = Embedded(50).fit(X, Y)
    assert sorted(model.landmark_indices_) == list(range(40))
    assert model.scale_ == math.sqrt(40)
    for n_landmarks in (40, 50):
        with pytest.raises(ValueError, match="double_dipping=False needs more training points"):
            Embedded(n_landmarks, double_dipping=False).fit(X, Y)
    assert len(Embedded(39, double_dipping=False).fit(X, Y).rows_) == 1


@pytest.mark.parametrize("dtype", [int, np.float32, bool, object])
def test_targets_are_numbers_of_any_type(dtype):
    targets = Embedded().fit(X, (Y > 0).astype(dtype)).targets_
    np.testing.assert_array_equal(targets, Y > 0)


@pytest.mark.parametrize(
    ("how", "X_given", "y", "landmarks", "message"),
    [
        ({}, X, np.full(40, "high"), None, "y must hold numbers"),
        ({}, X, np.where(Y > 1, np.nan, Y), None, "Input y contains NaN"),
        ({}, X, Y[:-1], None, "inconsistent numbers of samples"),
        ({}, X, Y, X[:2, :2], "landmarks: X has 2 features, but Embedded is expecting 3"),
        ({}, X, Y, np.full((2, 3), np.inf), "landmarks: Input X contains infinity"),
        ({}, X, Y, X[:0], "landmarks: Found array with 0 sample"),
        ({"similarity": "precomputed"}, X @ X.T, Y, X[:2], "landmarks must be None"),
        ({"similarity": "precomputed"}, X, Y, None, "needs a square matrix"),
        ({"similarity": lambda A, B: A @ B.T * np.inf}, X, Y, None, "must be a finite number"),
        (
            {"kind": "distance"},
            X,
            Y,
            None,
            "kind='distance' is for a matrix or a user-defined",
        ),
    ],
)
def test_what_is_refused(how, X_given, y, landmarks, message):
    with pytest.raises(ValueError, match=message):
        Embedded(**how).fit(X_given, y, landmarks)
