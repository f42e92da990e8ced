"""RegLand against other solvers of the same problem, kernel regression against its formula."""

import math
from itertools import product

import numpy as np
import pytest
from sklearn.svm import LinearSVR

from kernlearn.landmarks import KernelRegressor, RegLand

RNG = np.random.RandomState(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] - X[:, 1] ** 2 + 0.3 * RNG.normal(size=80)
NEW = np.random.RandomState(1).normal(size=(25, 3))
NEW_Y = NEW[:, 0] - NEW[:, 1] ** 2
LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive"]


def laplacian(A, B):
    return np.array([[math.exp(-abs(a - b).sum()) for b in B] for a in A])


def embedding(points, landmarks):
    return laplacian(points, landmarks) / math.sqrt(len(landmarks))


def manhattan(A, B):
    return abs(A[:, None] - B[None]).sum(axis=2)


def objective(w, features, y, C, epsilon, loss):
    excess = np.maximum(abs(y - features @ w) - epsilon, 0)
    return w @ w / 2 + C * (excess if loss == "epsilon_insensitive" else excess**2).sum()


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_minimises_over_the_embedding(selection, loss, drawn):
    model = RegLand(
        12,
        similarity=laplacian,
        selection=selection,
        loss=loss,
        C=2.0,
        epsilon=0.2,
        fit_intercept=False,
        random_state=0,
    ).fit(X, Y, landmarks=None if drawn else NEW[:12])
    assert (model.landmark_indices_ is None) == (not drawn)
    landmarks = X[model.landmark_indices_] if drawn else NEW[:12]
    problem = embedding(X, landmarks), Y, 2.0, 0.2, loss
    found = objective(model.coef_, *problem)
    peer = LinearSVR(C=2.0, epsilon=0.2, loss=loss, fit_intercept=False, tol=1e-8, max_iter=10**5)
    assert found == pytest.approx(objective(peer.fit(*problem[:2]).coef_, *problem), rel=1e-5)
    for other in np.random.RandomState(2).normal(scale=0.05, size=(50, 12)):
        assert found < objective(model.coef_ + other, *problem)
    slow = [model.coef_ @ embedding(x[None], landmarks)[0] for x in NEW]
    np.testing.assert_allclose(model.predict(NEW), slow, rtol=1e-12)
    assert model.intercept_ == 0
    assert model.validation_scores_ is None


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_on_validation_points(loss):
    Cs, epsilons = [10, 0.1, 1], [0.5, 0.01]
    how = {"similarity": laplacian, "loss": loss, "random_state": 0}
    model = RegLand(12, C=Cs, epsilon=epsilons, **how).fit(X, Y, X_val=NEW, y_val=NEW_Y)
    cells = product(sorted(Cs), sorted(epsilons))
    slow = {(C, e): RegLand(12, C=C, epsilon=e, **how).fit(X, Y) for C, e in cells}
    errors = [((single.predict(NEW) - NEW_Y) ** 2).mean() for single in slow.values()]
    np.testing.assert_allclose(model.validation_scores_, -np.reshape(errors, (3, 2)))
    assert (model.C_, model.epsilon_) == list(slow)[np.argmin(errors)]
    best = slow[model.C_, model.epsilon_]
    np.testing.assert_allclose(model.predict(X), best.predict(X), rtol=1e-9)
    features = embedding(NEW, X[best.landmark_indices_])
    np.testing.assert_allclose(best.predict(NEW), features @ best.coef_ + best.intercept_)
    # nothing to learn: of equally good ones the first
    model.fit(X, np.zeros(80), X_val=NEW, y_val=np.zeros(25))
    assert (model.C_, model.epsilon_) == (0.1, 0.01)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_shift_of_targets_shifts_predictions(loss):
    model = RegLand(10, loss=loss, C=(0.1, 1, 10, 100), epsilon=0.1, random_state=0)
    expected = model.fit(X, Y).predict(NEW)
    for shift in (1e3, 1e6, 1e9):
        found = model.fit(X, Y + shift).predict(NEW) - shift
        np.testing.assert_allclose(found, expected, atol=1e-4)
    with pytest.warns(UserWarning, match="epsilon=0.1 exceeds"):
        model.fit(X, 1e-6 * Y)


def test_bad_arguments():
    for model, points, y, landmarks, message in (
        (RegLand(), X[:1], Y[:1], None, "1 sample"),
        (RegLand(epsilon=[0.1, -1]), X, Y, None, "epsilon"),
        (RegLand(similarity="precomputed"), X @ X.T, Y, NEW, "landmarks"),
        (RegLand(), X, Y, NEW[:, :2], "landmarks: X has 2 features"),
        (RegLand(), X, np.full(80, "high"), None, "numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(points, y, landmarks=landmarks)


def slow_average(weights, y):
    """The formula of section 5.4, by loops."""
    return [
        sum(w * target for w, target in zip(row, y, strict=True)) / sum(row)
        for row in np.asarray(weights).tolist()
    ]


@pytest.mark.parametrize(
    ("similarity", "slow"),
    [
        ("manhattan", lambda A, B: -manhattan(A, B)),
        ("sigmoid", lambda A, B: np.tanh(A @ B.T / 3 - 1)),
        (laplacian, laplacian),
    ],
)
def test_is_the_slow_average_of_any_sign(similarity, slow):
    model = KernelRegressor(similarity, weights="similarity").fit(X, Y)
    np.testing.assert_allclose(model.predict(NEW), slow_average(slow(NEW, X), Y))
    twice = model.fit(X[np.r_[:80, :10]], Y[np.r_[:80, :10]]).predict(NEW)
    weights = slow(NEW, X) * np.r_[np.full(10, 2), np.ones(70)]
    np.testing.assert_allclose(twice, slow_average(weights, Y))


@pytest.mark.parametrize("bandwidth", [0.3, 5, "mean", "tenth"])
def test_exponential_weights(bandwidth):
    distances = manhattan(X, X)
    mean = np.mean([distances[i, j] for i in range(80) for j in range(i)])
    width = {"mean": mean, "tenth": mean / 10}.get(bandwidth, bandwidth)
    model = KernelRegressor(manhattan, kind="distance", bandwidth=bandwidth).fit(X, Y)
    assert model.bandwidth_ == pytest.approx(width)
    expected = slow_average(np.exp(-manhattan(NEW, X) / width), Y)
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-10)


def test_widths_and_weights_by_hand():
    model = KernelRegressor("precomputed", bandwidth="mean")
    assert model.fit([[9, 1, -2], [3, 9, 4], [5, -6, 9]], [1, 2, 3]).bandwidth_ == 21 / 6
    model = KernelRegressor("manhattan", bandwidth="mean")
    assert model.fit(np.ones((3, 2)), [1, 2, 6]).bandwidth_ == 1  # for 0
    model.set_params(weights="similarity").fit(np.ones((3, 2)), [1, 2, 6])
    assert not hasattr(model, "bandwidth_")
    assert model.predict([[5.0, 5.0]]) == pytest.approx(3)
    narrow = KernelRegressor("manhattan", bandwidth=1e-3)  # not all underflow
    narrow.fit([[0.0], [1.0], [1.0]], [1.0, 2.0, 4.0])
    np.testing.assert_allclose(narrow.predict([[1e6], [-1e6]]), [3.0, 1.0])
    plain = KernelRegressor().fit(X, Y)
    for dtype, weight in ((np.float32, 1e-6), (np.float64, 1e-20), (np.float64, 1 / 80)):
        model = KernelRegressor().fit(X.astype(dtype), Y, sample_weight=np.full(80, weight))
        assert model.bandwidth_ == pytest.approx(plain.bandwidth_, rel=1e-5)
        predicted = model.predict(NEW.astype(dtype))
        np.testing.assert_allclose(predicted, plain.predict(NEW), rtol=1e-3)


@pytest.mark.parametrize(
    ("similarity", "X_train", "point"),
    [
        ("gaussian", X, np.full((1, 3), 1e5)),  # vanish
        # cancel, exactly and up to rounding
        (lambda A, B: A[:, :1] * np.sign(B[:, 0]), np.r_[X, -X], X[:1]),
        ("linear", X - X.mean(axis=0), 3 * NEW[:1]),
    ],
)
def test_weights_that_sum_to_0_predict_the_mean(similarity, X_train, point):
    y = np.random.RandomState(3).normal(loc=5, size=len(X_train))
    model = KernelRegressor(similarity, weights="similarity").fit(X_train, y)
    points = np.r_[NEW[:2], point]
    assert model.predict(points)[2] == model.target_mean_ == y.mean()
    np.testing.assert_allclose(model.predict(points)[:2], model.predict(NEW[:2]))
    small = KernelRegressor("precomputed", weights="similarity").fit(np.eye(3), [1.0, 2.0, 3.0])
    found = small.predict([[1e-200, 0, 1e-200], [1.0, -0.999999, 0], [1e-320, 0, 1e-320]])
    np.testing.assert_allclose(found, [2.0, -999998, 2], rtol=1e-8)
    constant = KernelRegressor(similarity, weights="similarity").fit(X_train, np.full(len(y), 0.1))
    np.testing.assert_allclose(constant.predict(points), 0.1, rtol=1e-14)
