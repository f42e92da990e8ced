import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kernlearn.datasets import load
from kernlearn.kernels import ValueDifferenceSimilarity


def slow_distance(a, b, X, y, q):
    """Distance of two points, counting anew for every value."""
    total = 0.0
    for k in range(X.shape[1]):
        for label in np.unique(y):
            shares = []
            for value in a[k], b[k]:
                of_value = y[X[:, k] == value]
                shares.append(np.mean((of_value if of_value.size else y) == label))
            total += abs(shares[0] - shares[1]) ** q
    return total


@pytest.fixture(scope="module")
def votes():
    rng = np.random.RandomState(0)
    y = np.array(["a", "b", "c"])[rng.randint(3, size=30)]
    X = rng.randint(4, size=(30, 4)).astype(float)
    X[y == "a", 0] = 3
    return X, y


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("normalize", ["observed", "possible"])
def test_definition(q, normalize, votes):
    X, y = votes
    new = np.array([[3.0, 1, 2, 0], [9.0, 1, 7, 0]])  # 9 and 7 do not occur in training
    similarity = ValueDifferenceSimilarity(q, normalize=normalize).fit(X, y)
    if normalize == "observed":
        largest = max(slow_distance(a, b, X, y, q) for a in X for b in X)
    else:
        values = np.arange(4.0)[:, None]
        largest = sum(
            max(slow_distance(a, b, X[:, [k]], y, q) for a in values for b in values)
            for k in range(4)
        )
    assert similarity.largest_distance_ == pytest.approx(largest, rel=1e-12)
    expected = [[1 - slow_distance(a, b, X, y, q) / largest for b in X] for a in new]
    np.testing.assert_allclose(similarity(new, X), expected, rtol=1e-12, atol=1e-12)


def test_fitted_attributes(votes):
    X, y = votes
    similarity = ValueDifferenceSimilarity().fit(X, y)
    assert similarity.data_dependent
    assert list(similarity.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(similarity.categories_[1], [0, 1, 2, 3])
    for table in similarity.probabilities_:
        np.testing.assert_allclose(table.sum(axis=1), 1)
        np.testing.assert_allclose(table[-1], [np.mean(y == c) for c in "abc"])


@settings(max_examples=30, deadline=None)
@given(
    arrays(float, (12, 3), elements=st.integers(0, 3)),
    arrays(float, (5, 3), elements=st.integers(0, 5)),
    arrays(int, 12, elements=st.integers(0, 2)),
    st.sampled_from([1, 2]),
)
def test_range(X, new, y, q):
    y[:2] = 0, 1
    X[:, 0] = y  # something to learn
    for normalize in "observed", "possible":
        similarity = ValueDifferenceSimilarity(q, normalize=normalize).fit(X, y)
        training = similarity(X)
        np.testing.assert_array_equal(training.diagonal(), 1)
        np.testing.assert_allclose(training, training.T, atol=1e-12)
        assert training.min() >= -1e-12
        if normalize == "observed":
            assert training.min() == pytest.approx(0, abs=1e-12)
        else:
            between = similarity(new, np.vstack([X, new]))
            assert between.min() >= -1e-12
            assert between.max() <= 1


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


def test_bad_input(votes):
    X, y = votes
    with pytest.raises(ValueError, match="'y' must hold one per row of X, got None"):
        ValueDifferenceSimilarity().fit(X)
    with pytest.raises(ValueError, match="all rows of X are at distance 0"):
        ValueDifferenceSimilarity().fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="'q' parameter"):
        ValueDifferenceSimilarity(3).fit(X, y)
    with pytest.raises(ValueError, match="'normalize' parameter"):
        ValueDifferenceSimilarity(normalize="max").fit(X, y)
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
