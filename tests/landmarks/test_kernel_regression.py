import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from kernlearn import memory
from kernlearn.landmarks.regressors import KernelRegressor as KernelRegressorClass
from tests.checks import parametrize_with_checks
from tests.pinned import as_in_configs

KernelRegressor = as_in_configs(KernelRegressorClass)


X = np.random.RandomState(0).normal(size=(40, 3))
Y = X[:, 0] - X[:, 1] ** 2
NEW = np.random.RandomState(1).normal(size=(25, 3))


def manhattan(A, B):
    return np.array([[abs(a - b).sum() for b in B] for a in A])


def slow_average(weights, y):
    """The formula of section 5.4, by loops."""
    return [
        sum(w * target for w, target in zip(row, y, strict=True)) / sum(row)
        for row in np.asarray(weights).tolist()
    ]


@parametrize_with_checks(
    [
        KernelRegressor(),
        KernelRegressor("manhattan"),
        KernelRegressor("manhattan", weights="exponential", bandwidth="mean"),
        KernelRegressor("precomputed", kind="distance", weights="exponential"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_is_the_slow_version_where_all_weights_are_negative():
    regressor = KernelRegressor("manhattan").fit(X, Y)
    np.testing.assert_allclose(regressor.predict(NEW), slow_average(-manhattan(NEW, X), Y))
    a_point_far_away_counts_most = KernelRegressor("manhattan").fit([[0.0], [9.0]], [0.0, 1.0])
    np.testing.assert_allclose(a_point_far_away_counts_most.predict([[1.0]]), [8 / 9])


def test_is_the_slow_version_with_the_sigmoid():
    weights = [[math.tanh(x @ z / 3 - 1) for z in X] for x in NEW]
    np.testing.assert_allclose(
        KernelRegressor("sigmoid").fit(X, Y).predict(NEW), slow_average(weights, Y)
    )


@pytest.mark.parametrize("bandwidth", [0.3, 5, "mean"])
def test_exponential_weights(bandwidth):
    distances = manhattan(X, X)
    mean = np.mean([distances[i, j] for i in range(40) for j in range(i)])
    width = mean if bandwidth == "mean" else bandwidth
    to_new = manhattan(NEW, X)
    expected = slow_average(np.exp(-to_new / width), Y)
    how = {"weights": "exponential", "bandwidth": bandwidth}
    for regressor, points in [
        (KernelRegressor("manhattan", **how).fit(X, Y), NEW),
        (KernelRegressor(manhattan, kind="distance", **how).fit(X, Y), NEW),
        (KernelRegressor("precomputed", kind="distance", **how).fit(distances, Y), to_new),
    ]:
        assert regressor.bandwidth_ == pytest.approx(width)
        np.testing.assert_allclose(regressor.predict(points), expected, rtol=1e-10)


def test_a_mean_width_is_over_pairs_of_points():
    regressor = KernelRegressor("precomputed", weights="exponential", bandwidth="mean")
    assert regressor.fit([[9, 1, -2], [3, 9, 4], [5, -6, 9]], [1, 2, 3]).bandwidth_ == 21 / 6


def test_a_mean_width_of_0_is_1():
    regressor = KernelRegressor("manhattan", weights="exponential", bandwidth="mean")
    assert regressor.fit(np.ones((3, 2)), [1, 2, 6]).bandwidth_ == 1
    assert regressor.predict([[5.0, 5.0]]) == pytest.approx(3)
    assert regressor.fit(np.ones((1, 2)), [4]).bandwidth_ == 1


def test_exponential_weights_are_never_all_0():
    regressor = KernelRegressor(
        "manhattan", weights="exponential", bandwidth=1e-3, zero_weights="raise"
    ).fit([[0.0], [1.0], [1.0]], [1.0, 2.0, 4.0])
    np.testing.assert_allclose(regressor.predict([[1e6], [-1e6]]), [3.0, 1.0])


@pytest.mark.parametrize(
    ("regressor", "X_train", "point"),
    [
        # vanish
        (KernelRegressor("gaussian"), X, np.full((1, 3), 1e5)),
        # cancel, exactly and up to rounding
        (KernelRegressor(lambda A, B: A[:, :1] * np.sign(B[:, 0])), np.r_[X, -X], X[:1]),
        (KernelRegressor("linear"), X - X.mean(axis=0), 3 * NEW[:1]),
    ],
)
def test_weights_that_sum_to_0(regressor, X_train, point):
    y = np.random.RandomState(3).normal(loc=5, size=len(X_train))
    regressor = clone(regressor).fit(X_train, y)
    assert regressor.target_mean_ == y.mean()
    assert regressor.predict(point).tolist() == [y.mean()]
    assert np.isnan(regressor.set_params(zero_weights="nan").predict(point)).all()
    with pytest.raises(ValueError, match=r"X holds 1 point.s. whose similarities .* sum to 0"):
        regressor.set_params(zero_weights="raise").predict(point)


def test_weights_that_are_small_but_not_0():
    regressor = KernelRegressor("precomputed", zero_weights="raise")
    regressor.fit(np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(regressor.predict([[1e-200, 0, 1e-200]]), [2.0])
    np.testing.assert_allclose(regressor.predict([[1.0, -0.999999, 0]]), [-999998], rtol=1e-8)
    with pytest.raises(ValueError, match="sum to 0"):  # of so little, no digit is left
        regressor.predict([[1e-320, 0, 1e-320]])


def test_only_points_without_weight_get_the_stated_answer():
    points = np.r_[NEW[:2], [[1e5] * 3], NEW[2:4]]
    predicted = KernelRegressor(zero_weights="nan").fit(X, Y).predict(points)
    assert np.isnan(predicted).tolist() == [False, False, True, False, False]
    expected = KernelRegressor().fit(X, Y).predict(NEW[:4])
    np.testing.assert_allclose(predicted[[0, 1, 3, 4]], expected, rtol=1e-12)


@pytest.mark.parametrize("similarity", ["gaussian", "manhattan", "sigmoid", "linear"])
def test_a_constant_target_is_predicted_exactly(similarity):
    regressor = KernelRegressor(similarity).fit(X, np.full(40, 0.1))
    assert set(regressor.predict(NEW).tolist()) == {regressor.target_mean_}
    assert regressor.target_mean_ == pytest.approx(0.1, rel=1e-15)


def test_a_point_twice_counts_twice():
    twice = KernelRegressor("sigmoid").fit(np.r_[X, X[:10]], np.r_[Y, Y[:10]]).predict(NEW)
    weights = np.tanh(NEW @ X.T / 3 - 1) * np.r_[np.full(10, 2), np.ones(30)]
    np.testing.assert_allclose(twice, slow_average(weights, Y))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.1, 100), st.floats(-100, 100))
def test_positive_weights_stay_within_the_targets_and_follow_their_unit(seed, scale, shift):
    rng = np.random.RandomState(seed)
    points, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    predicted = KernelRegressor().fit(points, y).predict(points)
    assert (y.min() <= predicted).all()
    assert (predicted <= y.max()).all()
    moved = KernelRegressor().fit(points, scale * y + shift).predict(points)
    np.testing.assert_allclose(moved, scale * predicted + shift, atol=1e-10 * (scale + 100))


@pytest.mark.parametrize("how", [{}, {"weights": "exponential", "bandwidth": "mean"}])
def test_blocks_change_nothing(how, small_blocks):
    whole = KernelRegressor("manhattan", **how).fit(X, Y).predict(NEW)
    small_blocks()
    pieces = KernelRegressor("manhattan", **how).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


def test_no_block_is_larger_than_stated():
    shapes = []

    def spy(A, B):
        shapes.append((len(A), len(B)))
        return A @ B.T

    points = np.random.RandomState(0).uniform(size=(20_000, 1))
    KernelRegressor(spy).fit(points, points[:, 0]).predict(points[:1000])
    assert sum(n for n, _ in shapes) == 1000
    assert max(n for n, _ in shapes) == memory.FEWEST_ROWS


def test_sparse_single_precision_and_a_matrix():
    expected = KernelRegressor("sigmoid").fit(X, Y).predict(NEW)
    scattered = KernelRegressor("sigmoid").fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(scattered.predict(sparse.csr_array(NEW)), expected)
    single = KernelRegressor("sigmoid").fit(X.astype(np.float32), Y)
    assert single.predict(NEW.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict(NEW.astype(np.float32)), expected, atol=1e-5)
    gram = KernelRegressor("precomputed").fit(np.tanh(X @ X.T / 3 - 1), Y)
    np.testing.assert_allclose(gram.predict(np.tanh(NEW @ X.T / 3 - 1)), expected)
    assert get_tags(gram).input_tags.pairwise


def test_words():
    def same_length(A, B):
        return np.array([[float(len(a) == len(b)) for b in B] for a in A])

    regressor = KernelRegressor(same_length).fit(["a", "b", "cc"], [1.0, 2.0, 6.0])
    np.testing.assert_allclose(regressor.predict(["q", "qq", "qqq"]), [1.5, 6.0, 3.0])


def test_what_is_refused():
    with pytest.raises(NotFittedError):
        KernelRegressor().predict(X)
    with pytest.raises(ValueError, match="y must hold numbers"):
        KernelRegressor().fit(X, np.full(40, "high"))
    with pytest.raises(ValueError, match="'bandwidth' parameter of KernelRegressor must be"):
        KernelRegressor(bandwidth=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="needs a square matrix"):
        KernelRegressor("precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="must be a finite number"):
        KernelRegressor(lambda A, B: A @ B.T * np.nan).fit(X, Y).predict(X)
