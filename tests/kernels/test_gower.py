"""Gower's similarity against its definition, point by point."""

import numpy as np
import pytest

from kernlearn.kernels import GowerSimilarity
from kernlearn.landmarks import BBSClassifier

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


def slow(x, y, ranges, weights):
    total = weight = 0.0
    for a, b, r, w in zip(x, y, ranges, weights, strict=True):
        if is_missing(a) or is_missing(b):
            continue
        alike = float(a == b) if np.isnan(r) else max(0.0, 1 - abs(a - b) / r)
        total, weight = total + w * alike, weight + w
    return total / weight if weight else 0.0


@pytest.mark.parametrize("n_missing", [0, 20])
@pytest.mark.parametrize("weights", [None, [1, 0.5, 2, 0]])
def test_the_mean_over_the_attributes_that_both_have(n_missing, weights):
    X, Y = records(30, n_missing), records(10)
    Y[0, 0], Y[1, 1] = "unseen", 100.0
    kernel = GowerSimilarity(weights=weights).fit(X)
    assert kernel.nominal_.tolist() == [0, 3]
    w = np.ones(4) if weights is None else weights
    for points in (X, Y):
        expected = [[slow(x, y, kernel.ranges_, w) for y in points] for x in X]
        np.testing.assert_allclose(kernel(X, points), expected, atol=1e-12)
    assert kernel(X, Y).min() >= 0


def test_codes_are_nominal_where_they_are_named():
    X = np.array([[0, 1.0], [2, 3.0], [1, 5.0]])
    named = GowerSimilarity(nominal=[0]).fit(X)(X)
    np.testing.assert_allclose(named[0], [1, 0.25, 0])
    plain = GowerSimilarity().fit(X)(X)
    np.testing.assert_allclose(plain[0], [1, 0.25, 0.25])
    assert GowerSimilarity().fit(X.astype("f4"))(X.astype("f4")).dtype == np.float32


def test_data_frames_in_estimators():
    pd = pytest.importorskip("pandas")
    n = 60
    frame = pd.DataFrame({"town": RNG.choice(["Ulm", "Bonn"], n), "age": RNG.uniform(20, 60, n)})
    frame.loc[:3, "age"] = np.nan
    y = (frame["town"] == "Ulm").astype(int)
    model = BBSClassifier(10, similarity="gower", random_state=0).fit(frame[:40], y[:40])
    assert model.score(frame[40:], y[40:]) == 1
    assert model.feature_names_in_.tolist() == ["town", "age"]
    rows = [["Ulm", 1.0], ["Bonn", 2.0]] * 10
    model = BBSClassifier(4, similarity="gower", random_state=0).fit(rows, [0, 1] * 10)
    assert model.predict([["Ulm", 1.2], ["Bonn", 1.9]]).tolist() == [0, 1]


def test_the_value_difference_of_texts_in_estimators():
    X = np.array([["red", "big"], ["red", "small"], ["blue", "big"], ["green", "big"]] * 10)
    y = np.array([1, 1, 0, 0] * 10)
    model = BBSClassifier(5, similarity="value_difference", random_state=0)
    assert model.fit(X, y).score(X, y) == 1
    assert model.fit(X.tolist(), y).predict([["green", "small"]]).tolist() == [0]
    with pytest.raises(ValueError, match="could not convert string to float"):
        BBSClassifier(5, similarity="gaussian").fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nominal": [4]}, "'nominal' must be positions from 0 to 3"),
        ({"weights": [1, 1]}, "'weights' must hold a number for each of 4"),
        ({"weights": [0, 0, 0, 0]}, "one positive"),
        ({"nominal": [0]}, "attribute 3 must hold numbers"),
        ({"nominal": "all"}, "The 'nominal' parameter"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GowerSimilarity(**options).fit(records(10))


def test_points_have_the_attributes_of_training():
    kernel = GowerSimilarity().fit(records(10))
    with pytest.raises(ValueError, match="must have 4 attributes, got 3"):
        kernel(records(5)[:, :3])
