"""Similarities of records, sets and rows of a matrix, point by point from their definitions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from kernlearn.datasets import load
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import (
    CallableKernel,
    ColumnSimilarity,
    GowerSimilarity,
    JaccardSimilarity,
    ValueDifferenceSimilarity,
    as_kernel,
    named,
)
from kernlearn.landmarks import BBSClassifier
from tests.kernels import objects

RNG = np.random.RandomState(0)


def records(n, n_missing=0):
    X = np.empty((n, 4), dtype=object)
    X[:, 0] = RNG.choice(["red", "blue", "white"], n)
    X[:, 1] = RNG.normal(size=n)
    X[:, 2] = RNG.randint(5, size=n)
    X[:, 3] = RNG.choice(["yes", "no"], n)
    for i, j in zip(RNG.randint(n, size=n_missing), RNG.randint(4, size=n_missing), strict=True):
        X[i, j] = np.nan if j in (1, 2) else None
    return X


def is_missing(value):
    return value is None or value != value


def slow_gower(x, y, ranges):
    alike = [
        float(a == b) if np.isnan(r) else max(0.0, 1 - abs(a - b) / r)
        for a, b, r in zip(x, y, ranges, strict=True)
        if not is_missing(a) and not is_missing(b)
    ]
    return np.mean(alike) if alike else 0.0


@pytest.mark.parametrize("n_missing", [0, 20, 60])
def test_the_mean_over_the_attributes_that_both_have(n_missing):
    X, Y = records(30, n_missing), records(10)
    Y[0, 0], Y[1, 1] = "unseen", 100.0
    kernel = GowerSimilarity().fit(X)
    assert kernel.nominal_ == [0, 3]
    for points in (X, Y):
        expected = [[slow_gower(x, y, kernel.ranges_) for y in points] for x in X]
        np.testing.assert_allclose(kernel(X, points), expected, atol=1e-12)
    assert kernel(X, Y).min() >= 0


def test_codes_are_nominal_where_they_are_named():
    X = np.array([[0, 1.0], [2, 3.0], [1, 5.0]])
    coded = GowerSimilarity(nominal=[0]).fit(X)(X)
    np.testing.assert_allclose(coded[0], [1, 0.25, 0])
    plain = GowerSimilarity().fit(X)(X)
    np.testing.assert_allclose(plain[0], [1, 0.25, 0.25])
    small = X.astype(np.uint8)  # whose differences overflow
    np.testing.assert_array_equal(GowerSimilarity().fit(small)(small), plain)
    by_sparse = GowerSimilarity().fit(sparse.csr_array(X))(sparse.csr_array(X))
    np.testing.assert_array_equal(by_sparse, plain)


def test_data_frames_in_estimators():
    n = 60
    frame = pd.DataFrame({"town": RNG.choice(["Ulm", "Bonn"], n), "age": RNG.uniform(20, 60, n)})
    frame.loc[:3, "age"] = np.nan
    y = (frame["town"] == "Ulm").astype(int)
    model = BBSClassifier(10, similarity="gower", random_state=0).fit(frame[:40], y[:40])
    assert model.score(frame[40:], y[40:]) == 1
    assert model.feature_names_in_.tolist() == ["town", "age"]
    numbers = frame[["age"]]  # with gaps, but without texts
    kernel = GowerSimilarity().fit(numbers)
    np.testing.assert_array_equal(kernel(numbers), kernel(numbers.to_numpy()))
    BBSClassifier(10, similarity="gower", random_state=0).fit(numbers, y).predict(numbers)


def test_bad_input_of_gower():
    with pytest.raises(ValueError, match="'nominal'"):
        GowerSimilarity(nominal=[4]).fit(records(10))
    with pytest.raises(ValueError, match="'attribute 3' needs columns of numbers"):
        GowerSimilarity(nominal=[0]).fit(records(10))
    kernel = GowerSimilarity().fit(records(10))
    with pytest.raises(ValueError, match="4 columns, got 3"):
        kernel(records(5)[:, :3])
    with pytest.raises(ValueError, match="'attribute 1'"):
        kernel(np.array([["red", "many", 1, "no"]], dtype=object))


def slow_distance(a, b, X, y):
    """Distance of two points, counting anew for every value."""
    total = 0.0
    for k in range(X.shape[1]):
        for label in np.unique(y):
            shares = []
            for value in a[k], b[k]:
                of_value = y[X[:, k] == value]
                shares.append(np.mean((of_value if of_value.size else y) == label))
            total += (shares[0] - shares[1]) ** 2
    return total


@pytest.fixture(scope="module")
def votes():
    rng = np.random.RandomState(0)
    y = np.array(["a", "b", "c"])[rng.randint(3, size=30)]
    X = rng.randint(4, size=(30, 4)).astype(float)
    X[y == "a", 0] = 3
    return X, y


def test_value_difference(votes):
    X, y = votes
    new = np.array([[3.0, 1, 2, 0], [9.0, 1, 7, 0]])  # 9 and 7 do not occur in training
    similarity = ValueDifferenceSimilarity().fit(X, y)
    largest = max(slow_distance(a, b, X, y) for a in X for b in X)
    assert similarity.largest_distance_ == pytest.approx(largest, rel=1e-12)
    expected = [[1 - slow_distance(a, b, X, y) / largest for b in X] for a in new]
    np.testing.assert_allclose(similarity(new, X), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(similarity(X).diagonal(), 1)


def test_codes_names_and_sparse_codes_are_alike(votes):
    X, y = votes
    expected = ValueDifferenceSimilarity().fit(X, y)(X)
    names = np.array(["n", "y", "?", "p"])[X.astype(int)]
    missing = np.where(X == 2, np.nan, X)
    for other in names, names.tolist(), missing, sparse.csr_array(X):
        actual = ValueDifferenceSimilarity().fit(other, y)(other)
        np.testing.assert_allclose(actual, expected, atol=1e-12)
    single = X.astype(np.float32)
    actual = ValueDifferenceSimilarity().fit(single, y)(single)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_a_missing_value_not_seen_in_training_is_like_any_other_such_value(votes):
    X, y = votes
    similarity = ValueDifferenceSimilarity().fit(X, y)
    new = np.full((2, 4), [[np.nan], [8.0]])
    np.testing.assert_array_equal(*similarity(new, X))
    with_missing = ValueDifferenceSimilarity().fit(np.where(X == 2, np.nan, X), y)
    assert not np.array_equal(*with_missing(new, X))


def test_bad_input_of_value_difference(votes):
    X, y = votes
    with pytest.raises(ValueError, match="'y'"):
        ValueDifferenceSimilarity().fit(X)
    with pytest.raises(ValueError, match="distance 0"):
        ValueDifferenceSimilarity().fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="4 features"):
        ValueDifferenceSimilarity().fit(X, y)(X[:, :2])
    with pytest.raises(NotFittedError):
        ValueDifferenceSimilarity()(X)


@pytest.mark.data
def test_the_published_matrix_comes_back():
    published = load("voting").data
    votes = load("house_votes_84")
    X = votes.data.copy()
    # The matrix was made of votes that differ from these in 26 cells of 5 rows; they were found
    # by solving for the rows whose similarities it holds.
    found = {
        113: "n?nyyynnnynyyyny",
        393: "????ynynnyynnyy?",
        408: "ynynyynnyynnyyny",
        409: "nnnyyynnnnyyyynn",
        433: "nnnyyy????ynnnyn",
    }
    for row, choices in found.items():
        X[row] = ["n?y".index(vote) for vote in choices]
    assert (votes.data != X).sum() == 26
    matrix = ValueDifferenceSimilarity().fit(X, votes.target)(X)
    # It is rounded to five digits.
    np.testing.assert_allclose(matrix, published, rtol=0, atol=5.01e-6)

    as_they_are = ValueDifferenceSimilarity().fit(votes.data, votes.target)(votes.data)
    same = np.setdiff1d(np.arange(435), list(found))
    assert abs(as_they_are - published)[np.ix_(same, same)].max() < 0.011


@given(
    a=st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=4),
    b=st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=4),
)
def test_jaccard_is_the_slow_version(a, b):
    expected = [[len(x & y) / len(x | y) if x | y else 1.0 for y in b] for x in a]
    np.testing.assert_allclose(JaccardSimilarity()(a, b), expected, rtol=1e-15)
    np.testing.assert_array_equal(JaccardSimilarity()(a), JaccardSimilarity()(a, a))


def test_sets_of_any_items():
    found = JaccardSimilarity()([["a", "a", 1], ("b", (2, 3))], [{1, "a"}, {(2, 3)}])
    np.testing.assert_array_equal(found, [[1, 0], [0, 0.5]])
    for points, message in (
        (["abc"], "'X' must contain sets or other collections, got 'abc'"),
        ([3], "'X' must contain sets or other collections, got 3"),
        (np.eye(3), "not vectors of numbers"),
        ([[{1}]], "'X' must contain sets of hashable items"),
    ):
        with pytest.raises(ValueError, match=message):
            JaccardSimilarity()(points)


WORDS, CLASSES = objects.strings()
SERIES, _ = objects.series()
FRAME = pd.DataFrame(
    {
        "word": WORDS,
        "series": SERIES,
        "tags": [set(word[:3]) for word in WORDS],
        "age": RNG.randint(20, 60, size=60).astype(float),
        "height": RNG.rand(60),
    }
)
PARTS = [
    ("word", named("rapidfuzz.jaro"), "word"),
    ("series", lambda x, y: -abs(len(x) - len(y)), "series"),
    ("tags", "jaccard", "tags"),
    ("body", named("scipy.cityblock", turn="exponential"), ["age", "height"]),
    ("age", lambda x, y: float(x < y), "age"),
]
WEIGHTS = {"word": 2.0, "series": 0.1}


def by_hand(parts, weights, frame, left, right):
    """The weighted mean over the parts that both have, with similarities fitted to the frame."""
    values = np.zeros((len(left), len(right)))
    for i, (_, x) in enumerate(left.iterrows()):
        for j, (_, y) in enumerate(right.iterrows()):
            total = weight = 0.0
            for name, similarity, columns in parts:
                entries = [x[columns], y[columns]]
                if any(np.any(pd.isna(entry)) for entry in entries):
                    continue
                fitted = as_kernel(similarity)
                if isinstance(columns, list):
                    entries = [entry.to_numpy(dtype=float) for entry in entries]
                    fitted = fitted.fitted_to(frame[columns].dropna().to_numpy(dtype=float))
                weight += weights.get(name, 1.0)
                total += weights.get(name, 1.0) * fitted([entries[0]], [entries[1]])[0, 0]
            values[i, j] = total / weight if weight else 0.0
    return values


def test_a_weighted_mean_of_parts():
    similarity = ColumnSimilarity(PARTS, weights=WEIGHTS).fit(FRAME)
    expected = by_hand(PARTS, WEIGHTS, FRAME, FRAME[:5], FRAME[3:12])
    np.testing.assert_allclose(similarity(FRAME[:5], FRAME[3:12]), expected)
    positions = {"word": 0, "series": 1, "tags": 2, "age": 3}
    parts = [(name, s, [3, -1] if isinstance(c, list) else positions[c]) for name, s, c in PARTS]
    table = FRAME.to_numpy(dtype=object)
    unnamed = ColumnSimilarity(parts, weights=WEIGHTS).fit(table)
    np.testing.assert_array_equal(unnamed(table[:4]), similarity(FRAME[:4]))


def test_missing_entries_leave_a_part_out():
    frame = FRAME.copy()
    frame.loc[0, "word"] = None
    frame.loc[1, "age"] = np.nan
    frame.loc[2, ["word", "age"]] = None
    similarity = ColumnSimilarity(PARTS, weights=WEIGHTS).fit(frame)
    expected = by_hand(PARTS, WEIGHTS, frame, frame[:5], frame[:5])
    np.testing.assert_allclose(similarity(frame[:5].convert_dtypes()), expected)
    alone = ColumnSimilarity(PARTS[:1]).fit(frame)
    np.testing.assert_array_equal(alone(frame[:1], frame[:4]), 0)


@pytest.mark.parametrize("frames", [True, False])
def test_in_estimators(frames):
    parts = PARTS if frames else [("word", "rapidfuzz.jaro", 0), ("body", "gaussian", [3, 4])]
    X = FRAME if frames else FRAME.to_numpy(dtype=object)
    model = BBSClassifier(15, similarity=ColumnSimilarity(parts), C=1, random_state=0)
    search = GridSearchCV(model, {"similarity__weights": [None, {"word": 5.0}]}, cv=3)
    assert search.fit(X, CLASSES).best_score_ > 0.9
    if not frames:  # whose parts are functions of a test
        search = pickle.loads(pickle.dumps(search))
    assert search.score(X, CLASSES) > 0.9


def test_errors_name_part_and_pair():
    def breaks(x, y):
        if x == WORDS[7] and y == WORDS[4]:
            return np.nan
        return 1.0

    similarity = ColumnSimilarity([PARTS[3], ("own", CallableKernel(breaks), "word")])
    frame = FRAME.copy()
    frame.loc[2, "word"] = None
    message = r"of X\[7\] .* and Y\[4\] .* in the part 'own' is NaN"
    with pytest.raises(SimilarityError, match=message):
        similarity.fit(frame)(frame[:9])
    model = BBSClassifier(60, similarity=similarity, C=1)
    with pytest.raises(SimilarityError, match=r"X\[7\] .* training X\[4\] .* part 'own'"):
        model.fit(FRAME, CLASSES)


@pytest.mark.parametrize(
    ("parts", "weights", "message"),
    [
        ([], None, "parts of different names"),
        ([PARTS[0], PARTS[0]], None, "parts of different names"),
        (PARTS, {"words": 1}, r"'weights' names \['words'\]"),
        (PARTS, [1, 2], "The 'weights' parameter"),
        (PARTS[:1], {"word": -1}, "finite numbers >= 0, one above 0"),
        ([("a", "linear", ["size"])], None, r"no column 'size'"),
        ([("a", "linear", [9])], None, "no column 9; X has 5"),
        ([("a", "lineal", "age")], None, "no similarity 'lineal'"),
        ([("a", "linear", ["word"])], None, "'a' needs columns of numbers"),
    ],
)
def test_bad_parts(parts, weights, message):
    with pytest.raises(ValueError, match=message):
        ColumnSimilarity(parts, weights=weights).fit(FRAME)
