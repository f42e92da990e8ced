import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

from kernlearn.landmarks.classifiers import FTuneClassifier
from kernlearn.landmarks.selection import SELECTIONS
from kernlearn.landmarks.transfer import Identity, Ramp, Sigmoid, Sign

SIGMA, SLOPES, PENALTIES = 2.0, (1, 5, 10, 50, 100, 1000), (1, 10, 100, 1000)


def gaussian(X, Y):
    return np.array([[math.exp(-((x - y) ** 2).sum() / (2 * SIGMA**2)) for y in Y] for x in X])


def slow_ftune(X, y, X_val, y_val, pairs):
    """Return weights, validation decisions and their loss for each problem, slope and C."""
    K, K_val = gaussian(X, X), gaussian(X_val, X)
    used = sorted(set(pairs.ravel()))
    scale = max(abs(K[i, j]) for i in range(len(X)) for j in used)
    classes = sorted(set(y))
    problems = classes if len(classes) > 2 else classes[1:]
    weights, decisions, losses = {}, {}, {}
    for p, positive in enumerate(problems):
        for s, slope in enumerate(SLOPES):

            def embed(K, p=p, slope=slope):
                return np.array(
                    [
                        [min(max(slope * (row[a] - row[b]) / scale, -1), 1) for a, b in pairs[p]]
                        for row in K
                    ]
                )

            features, features_val = embed(K), embed(K_val)
            for c, C in enumerate(PENALTIES):
                machine = LinearSVC(
                    C=C, dual=False, fit_intercept=False, tol=1e-10, max_iter=10**5
                )
                machine.fit(features, np.where(y == positive, 1, -1))
                weights[p, s, c] = machine.coef_[0]
                decisions[p, s, c] = features_val @ machine.coef_[0]
                margins = decisions[p, s, c] * np.where(y_val == positive, 1, -1)
                losses[p, s, c] = np.mean(np.maximum(0, 1 - margins) ** 2)
    return weights, decisions, losses


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(1).permutation(len(X))
    X = X + np.random.RandomState(2).normal(scale=0.5, size=X.shape)
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "selection"),
    [(2, "random"), (3, "random"), (3, "dselect"), (3, "stratified")],
)
def test_is_the_slow_version(iris, per_class, n_classes, selection):
    X, y = iris
    if n_classes == 2:
        X, y = X[y != "setosa"], y[y != "setosa"]
    X, y, X_val, y_val = X[:60], y[:60], X[60:], y[60:]
    model = FTuneClassifier(
        7, similarity=gaussian, per_class=per_class, selection=selection, tol=1e-10, random_state=0
    ).fit(X, y, X_val, y_val)
    pairs, classes = model.landmark_indices_, model.classes_
    weights, decisions, losses = slow_ftune(X, y, X_val, y_val, pairs)
    cells = list(np.ndindex(6, 4))
    problems = range(len(pairs))
    labels = classes[-len(pairs) :]

    if per_class:
        scores = np.array(
            [
                [np.mean((decisions[p, s, c] > 0) == (y_val == labels[p])) for s, c in cells]
                for p in problems
            ]
        ).reshape(-1, 6, 4)
        chosen = [
            min(cells, key=lambda cell: (-scores[p][cell], losses[p, *cell])) for p in problems
        ]
    else:
        scores = np.zeros((6, 4))
        for cell in cells:
            decision = np.array([decisions[p, *cell] for p in problems]).T
            code = (decision[:, 0] > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
            scores[cell] = np.mean(classes[code] == y_val)
        loss = {cell: sum(losses[p, *cell] for p in problems) for cell in cells}
        chosen = [min(cells, key=lambda cell: (-scores[cell], loss[cell]))] * len(pairs)

    np.testing.assert_allclose(model.validation_scores_, scores)
    assert [transfer.slope for transfer in model.transfers_] == [SLOPES[s] for s, _ in chosen]
    np.testing.assert_array_equal(
        model.C_, [PENALTIES[c] for _, c in chosen] if per_class else PENALTIES[chosen[0][1]]
    )
    expected = np.array([weights[p, *chosen[p]] for p in problems])
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-4, atol=1e-5)
    expected = np.array([decisions[p, *chosen[p]] for p in problems]).T
    found = model.decision_function(X_val)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_pairs_hold_a_point_of_the_class_and_one_of_the_rest(iris, selection):
    X, y = iris
    model = FTuneClassifier(20, selection=selection, random_state=0).fit(X, y)
    assert model.landmark_indices_.shape == (3, 20, 2)
    for label, pairs in zip(model.classes_, model.landmark_indices_, strict=True):
        assert (y[pairs[:, 0]] == label).all()
        assert (y[pairs[:, 1]] != label).all()


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_landmarks_can_be_read_off(iris, per_class, n_classes):
    X, y = iris
    if n_classes == 2:
        X, y = X[y != "setosa"], y[y != "setosa"]
    model = FTuneClassifier(
        9, similarity=gaussian, transfers=("sigmoid", 5, 50), per_class=per_class, random_state=0
    ).fit(X, y)
    landmarks = model.landmarks()
    labels = model.classes_[-len(model.coef_) :]
    assert len(landmarks) == 9 * len(labels)
    for x, decision in zip(X[:5], model.decision_function(X[:5]), strict=True):
        total = dict.fromkeys(labels, 0.0)
        for pair in landmarks:
            assert y[pair.positive] == pair.label != y[pair.negative]
            near, far = (gaussian([x], [X[i]])[0, 0] for i in (pair.positive, pair.negative))
            total[pair.label] += pair.weight * float(pair.transfer((near - far) / model.scale_))
        np.testing.assert_allclose(
            [total[label] for label in labels], np.atleast_1d(decision), rtol=1e-9, atol=1e-9
        )


def odd(t):
    return t**3


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("sign", [Sign()]),
        (3, [Ramp(3)]),
        (Sigmoid(2), [Sigmoid(2)]),
        (["identity", 4.0, "sigmoid"], [Identity(), Ramp(4), Sigmoid(1)]),
        (np.array([1, 5]), [Ramp(1), Ramp(5)]),
    ],
    ids=str,
)
def test_families_of_transfer_functions(iris, given, meant):
    X, y = iris
    found = FTuneClassifier(9, transfers=given, random_state=0).fit(X, y)
    expected = FTuneClassifier(9, transfers=meant, random_state=0).fit(X, y)
    assert found.transfer_ in meant
    assert found.validation_scores_.shape == (len(meant), 4)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_a_function_of_ones_own(iris):
    X, y = iris
    model = FTuneClassifier(9, transfers=odd, C=10, random_state=0).fit(X, y)
    assert model.transfer_(2.0) == 8
    assert model.validation_scores_ is None
    with pytest.raises(ValueError, match="antisymmetric"):
        FTuneClassifier(9, transfers=[odd, np.cos], random_state=0).fit(X, y)


@pytest.mark.parametrize("transfers", [[], (), ["steep"], "steep", [-1], 0])
def test_refuses_transfer_functions(iris, transfers):
    with pytest.raises(ValueError, match=r"transfers|'transfer' must be|slope"):
        FTuneClassifier(9, transfers=transfers).fit(*iris)


def test_the_sign_is_the_limit_of_steep_ramps(iris):
    X, y = iris
    options = {"C": 1, "random_state": 0, "normalize": False}
    sign = FTuneClassifier(9, transfers="sign", **options).fit(X, y)
    ramp = FTuneClassifier(9, transfers=1e12, **options).fit(X, y)
    np.testing.assert_allclose(sign.coef_, ramp.coef_, rtol=1e-9)


def test_one_per_class_is_one_for_all_with_two_classes(iris):
    X, y = iris
    X, y = X[y != "setosa"], y[y != "setosa"]
    one = FTuneClassifier(9, random_state=0).fit(X, y)
    each = FTuneClassifier(9, random_state=0).fit(X, y).set_params(per_class=True).fit(X, y)
    np.testing.assert_array_equal(one.coef_, each.coef_)
    np.testing.assert_array_equal(one.validation_scores_, each.validation_scores_[0])
    assert (each.transfers_, each.C_[0]) == (one.transfers_, one.C_)
    assert not hasattr(each, "transfer_")


@pytest.mark.parametrize("n_landmarks", [2, 9, 30])
def test_shared_pairs_are_of_as_many_points_as_landmarks(iris, n_landmarks):
    """All problems draw their pairs from the same points, which are spread over the classes."""
    X, y = iris
    model = FTuneClassifier(n_landmarks, selection="shared", C=1, random_state=0).fit(X, y)
    points = np.unique(model.landmark_indices_)
    assert len(points) <= max(n_landmarks, 3)
    assert model.n_similarities_ <= len(points)
    assert set(y[points]) == set(y)
    for label, pairs in zip(model.classes_, model.landmark_indices_, strict=True):
        assert set(y[pairs[:, 0]]) == {label}
        assert label not in y[pairs[:, 1]]


def test_a_prediction_takes_the_similarities_to_all_points_of_its_pairs(iris):
    X, y = iris
    model = FTuneClassifier(9, C=1, random_state=0).fit(X, y)
    compared = []

    def similarity(X, Y):
        compared.append(len(Y))
        return -np.abs(X[:, None] - Y[None]).sum(axis=2)

    own = FTuneClassifier(9, similarity=similarity, C=1, random_state=0).fit(X, y)
    compared.clear()
    own.predict(X[:5])
    assert compared == [own.n_similarities_]
    assert own.n_similarities_ == len(np.unique(own.landmark_indices_)) > 9
    assert not hasattr(FTuneClassifier(), "n_similarities_")
    assert model.n_similarities_ == own.n_similarities_
