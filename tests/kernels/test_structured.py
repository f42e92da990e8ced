import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from kernlearn.kernels import (
    DynamicTimeWarpingSimilarity,
    JaccardSimilarity,
    Kernel,
    LevenshteinSimilarity,
    ManhattanSimilarity,
)
from kernlearn.landmarks.classifiers import BBSClassifier
from kernlearn.landmarks.embeddings import LandmarkEmbedding

RNG = np.random.RandomState(0)


def slow_edits(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(
        slow_edits(a[1:], b) + 1,
        slow_edits(a, b[1:]) + 1,
        slow_edits(a[1:], b[1:]) + (a[0] != b[0]),
    )


WORD = st.text("abü", max_size=5)


@given(a=st.lists(WORD, min_size=1, max_size=3), b=st.lists(WORD, min_size=1, max_size=3))
def test_edit_distance_is_the_slow_version(a, b):
    distances = np.array([[slow_edits(x, y) for y in b] for x in a], dtype=float)
    longer = np.array([[max(len(x), len(y), 1) for y in b] for x in a])
    np.testing.assert_array_equal(LevenshteinSimilarity(normalize=False)(a, b), -distances)
    np.testing.assert_allclose(LevenshteinSimilarity()(a, b), 1 - distances / longer, rtol=1e-15)
    assert (np.diag(LevenshteinSimilarity()(a)) == 1).all()


@given(
    a=st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=4),
    b=st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=4),
)
def test_jaccard_is_the_slow_version(a, b):
    expected = [[len(x & y) / len(x | y) if x | y else 1.0 for y in b] for x in a]
    np.testing.assert_allclose(JaccardSimilarity()(a, b), expected, rtol=1e-15)
    X, Y = (np.array([[i in s for i in range(5)] for s in sets]) for sets in (a, b))
    for make in (np.asarray, sparse.csr_matrix):
        found = JaccardSimilarity()(make(X.astype(float)), make(Y.astype(float)))
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_array_equal(JaccardSimilarity()(a), JaccardSimilarity()(a, a))


def test_sets_of_any_items():
    found = JaccardSimilarity()([["a", "a", 1], ("b", (2, 3))], [{1, "a"}, {(2, 3)}])
    np.testing.assert_array_equal(found, [[1, 0], [0, 0.5]])


def paths(n, m, reach):
    """All warping paths from (0, 0) to (n - 1, m - 1)."""

    def onward(path):
        i, j = path[-1]
        if abs(i - j) > reach or i >= n or j >= m:
            return
        if (i, j) == (n - 1, m - 1):
            yield path
        for step in ((1, 0), (0, 1), (1, 1)):
            yield from onward([*path, (i + step[0], j + step[1])])

    return onward([(0, 0)])


def slow_warping(x, y, window):
    x, y = (np.asarray(s, dtype=float).reshape(len(s), -1) for s in (x, y))
    reach = 99 if window is None else max(window, abs(len(x) - len(y)))
    return min(
        sum(np.linalg.norm(x[i] - y[j]) for i, j in path) for path in paths(len(x), len(y), reach)
    )


@pytest.mark.parametrize("window", [None, 0, 1, 2])
@pytest.mark.parametrize("shape", [(), (2,)], ids=["numbers", "vectors"])
def test_warping_goes_the_shortest_of_all_paths(window, shape):
    a = [RNG.normal(size=(n, *shape)) for n in (1, 2, 4, 5)]
    b = [RNG.normal(size=(n, *shape)) for n in (5, 3, 1)]
    expected = [[-slow_warping(x, y, window) for y in b] for x in a]
    kernel = DynamicTimeWarpingSimilarity(window)
    np.testing.assert_allclose(kernel(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(b, a), np.transpose(expected), rtol=1e-12)
    found = kernel([x.astype(np.float32) for x in a], [y.astype(np.float32) for y in b])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_without_a_window_nothing_is_warped():
    X = RNG.normal(size=(6, 9))
    found = DynamicTimeWarpingSimilarity(0)(X)
    np.testing.assert_allclose(found, ManhattanSimilarity()(X), rtol=1e-12)
    wider = [DynamicTimeWarpingSimilarity(window)(X) for window in (1, 3, None)]
    for narrow, wide in itertools.pairwise([found, *wider]):
        assert (wide >= narrow - 1e-12).all()


def test_a_change_of_speed_costs_nothing():
    x = [0, 3, 1, 7]
    assert DynamicTimeWarpingSimilarity()([x], [np.repeat(x, 3)]) == 0


class TestBadInput:
    @pytest.mark.parametrize(
        ("kernel", "points", "message"),
        [
            (LevenshteinSimilarity(), ["a", 3], "'X' must contain only strings, got 3"),
            (LevenshteinSimilarity(), "abc", "must be a sequence of strings, got the string"),
            (LevenshteinSimilarity(normalize=1.5), ["a"], "The 'normalize' parameter"),
            (
                JaccardSimilarity(),
                ["abc"],
                "'X' must contain sets or other collections, got 'abc'",
            ),
            (JaccardSimilarity(), [3], "'X' must contain sets or other collections, got 3"),
            (JaccardSimilarity(), [[{1}]], "'X' must contain sets of hashable items"),
            (JaccardSimilarity(), np.array([[0.0, 2.0]]), "'X' must contain only 0 and 1"),
            (DynamicTimeWarpingSimilarity(), [[1.0], []], "0 sample"),
            (DynamicTimeWarpingSimilarity(), [[1.0, np.nan]], "X contains NaN"),
            (DynamicTimeWarpingSimilarity(), [[1.0], [[1.0, 2.0]]], r"got \[1, 2\]"),
            (DynamicTimeWarpingSimilarity(-1), [[1.0]], "The 'window' parameter"),
        ],
        ids=[
            "number",
            "one string",
            "normalize",
            "strings",
            "numbers",
            "unhashable",
            "matrix",
            "empty",
            "NaN",
            "dimensions",
            "window",
        ],
    )
    def test_points(self, kernel, points, message):
        with pytest.raises(ValueError, match=message):
            kernel(points)

    def test_sequences_of_other_vectors(self):
        with pytest.raises(ValueError, match="'X' have 1 dimensions and those of 'Y' 2"):
            DynamicTimeWarpingSimilarity()([[1.0]], [[[1.0, 2.0]]])


WORDS = ["".join(RNG.choice(list("abc"), 8)) + "tion" * (i % 2) for i in range(60)]
SERIES = [np.sin(np.arange(n) * (0.3 + i % 2)) for i, n in enumerate(RNG.randint(10, 20, 60))]


@pytest.mark.parametrize(
    ("similarity", "points"),
    [
        ("levenshtein", WORDS),
        ("levenshtein", np.array(WORDS)),
        (LevenshteinSimilarity(normalize=False), np.array(WORDS, dtype=object)),
        ("jaccard", [{a + b for a, b in itertools.pairwise(word)} for word in WORDS]),
        ("jaccard", [[a + b for a, b in itertools.pairwise(word)] for word in WORDS]),
        ("jaccard", sparse.csr_matrix([[letter in word for letter in "oabc"] for word in WORDS])),
        ("dynamic_time_warping", SERIES),
        (DynamicTimeWarpingSimilarity(3), [np.stack([s, s], axis=1) for s in SERIES]),
        ("dynamic_time_warping", np.array([s[:10] for s in SERIES])),
    ],
    ids=["list", "strings", "objects", "sets", "lists", "rows", "series", "vectors", "matrix"],
)
def test_classifies_points_that_are_no_rows(similarity, points):
    labels = np.where(np.arange(60) % 2, "long", "short")
    model = BBSClassifier(n_landmarks=20, similarity=similarity, C=10, random_state=0)
    model.fit(points[:40], labels[:40])
    assert model.score(points[40:], labels[40:]) == 1


def test_embeds_points_that_are_no_rows():
    embedding = LandmarkEmbedding(3, similarity="levenshtein", normalize=False, random_state=0)
    features = embedding.fit_transform(WORDS)
    chosen = [WORDS[i] for i in embedding.landmark_indices_]
    expected = LevenshteinSimilarity()(WORDS, chosen)
    np.testing.assert_allclose(features, expected, rtol=1e-12)


def test_points_are_rows_for_other_kernels():
    assert not Kernel.structured
    with pytest.raises(ValueError, match=r"Expected 2D array|could not convert string"):
        BBSClassifier(similarity=ManhattanSimilarity()).fit(WORDS, np.arange(60) % 2)


@pytest.mark.parametrize(
    "kernel", [LevenshteinSimilarity(False), JaccardSimilarity(), DynamicTimeWarpingSimilarity(4)]
)
def test_parameters_are_scikit_learns(kernel):
    assert repr(clone(kernel)) == repr(kernel)
