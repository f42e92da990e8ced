import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

from kernlearn.landmarks.classifiers import BBSClassifier
from kernlearn.landmarks.selection import SELECTIONS

SIGMA, PENALTIES = 2.0, (1, 10, 100, 1000)


def gaussian(X, Y):
    return np.array([[math.exp(-((x - y) ** 2).sum() / (2 * SIGMA**2)) for y in Y] for x in X])


def slow_bbs(X, y, X_val, y_val, landmarks):
    """Return (accuracy, loss, decisions, weights) for each C, all by loops and LIBLINEAR."""
    K, K_val = gaussian(X, X[landmarks]), gaussian(X_val, X[landmarks])
    scale = max(abs(k) for row in K for k in row)
    classes = sorted(set(y))
    results = []
    for C in PENALTIES:
        machines = []
        for positive in classes if len(classes) > 2 else classes[1:]:
            machine = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-10, max_iter=10**5)
            machines.append(machine.fit(K / scale, np.where(y == positive, 1, -1)).coef_[0])
        decisions = np.array([[w @ (k / scale) for w in machines] for k in K_val])
        right, loss = 0, []
        for decision, label in zip(decisions, y_val, strict=True):
            if len(classes) == 2:
                right += classes[int(decision[0] > 0)] == label
                loss.append(max(0, 1 - decision[0] * (1 if label == classes[1] else -1)) ** 2)
            else:
                right += classes[int(np.argmax(decision))] == label
                loss += [
                    max(0, 1 - score * (1 if label == positive else -1)) ** 2
                    for score, positive in zip(decision, classes, strict=True)
                ]
        results.append((right / len(y_val), np.mean(loss), decisions, np.array(machines)))
    return results


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(1).permutation(len(X))
    X = X + np.random.RandomState(2).normal(scale=0.5, size=X.shape)
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_is_the_slow_version(iris, seed, n_classes, selection):
    X, y = iris
    if n_classes == 2:
        X, y = X[y != "setosa"], y[y != "setosa"]
    X, y, X_val, y_val = X[:60], y[:60], X[60:], y[60:]
    model = BBSClassifier(
        9, similarity=gaussian, selection=selection, tol=1e-10, random_state=seed
    ).fit(X, y, X_val, y_val)
    assert len(set(model.landmark_indices_)) == 9
    slow = slow_bbs(X, y, X_val, y_val, model.landmark_indices_)
    np.testing.assert_allclose(model.validation_scores_, [result[0] for result in slow])
    best = min(range(4), key=lambda i: (-slow[i][0], slow[i][1]))
    assert PENALTIES[best] == model.C_
    np.testing.assert_allclose(model.coef_, slow[best][3], rtol=1e-5, atol=1e-5)
    decisions = slow[best][2] if n_classes == 3 else slow[best][2][:, 0]
    np.testing.assert_allclose(model.decision_function(X_val), decisions, rtol=1e-5, atol=1e-5)
    assert model.score(X_val, y_val) == model.validation_scores_.max()


@pytest.mark.parametrize(("loss", "C"), [("hinge", 0.01), ("logistic", 10)])
def test_other_losses_and_an_intercept(iris, loss, C):
    """At the optimum of the stated problem no small step makes the objective smaller."""
    X, y = iris
    model = BBSClassifier(
        9, similarity=gaussian, loss=loss, C=C, fit_intercept=True, tol=1e-8, random_state=0
    ).fit(X, y)
    features = gaussian(X, X[model.landmark_indices_]) / model.scale_
    losses = {
        "hinge": lambda m: np.maximum(0, 1 - m),
        "logistic": lambda m: np.log1p(np.exp(-m)),
    }
    rng = np.random.RandomState(0)
    for problem, label in enumerate(model.classes_):
        target = np.where(y == label, 1, -1)

        # LIBLINEAR's intercept is the weight of a constant feature, and is regularized
        def objective(w, b, target=target):
            return (w @ w + b * b) / 2 + C * losses[loss](target * (features @ w + b)).sum()

        w, b = model.coef_[problem], model.intercept_[problem]
        least = objective(w, b)
        assert b != 0
        for _ in range(200):
            step = rng.standard_normal(10) * 10.0 ** rng.uniform(-5, 0)
            assert objective(w + step[:9], b + step[9]) > least * (1 - 1e-7)


def test_landmarks_can_be_read_off(iris):
    X, y = iris
    model = BBSClassifier(9, similarity=gaussian, random_state=0).fit(X, y)
    landmarks = model.landmarks()
    assert [landmark.index for landmark in landmarks] == list(model.landmark_indices_)
    assert [landmark.label for landmark in landmarks] == list(y[model.landmark_indices_])
    for x, decision in zip(X[:5], model.decision_function(X[:5]), strict=True):
        total = np.zeros(3)
        for landmark in landmarks:
            total += landmark.weights * gaussian([x], [X[landmark.index]])[0, 0] / model.scale_
        np.testing.assert_allclose(total, decision, rtol=1e-9, atol=1e-9)


def test_C_is_given_in_any_order(iris):
    X, y = iris
    one = BBSClassifier(9, C=(1, 10, 100), random_state=0).fit(X, y)
    other = BBSClassifier(9, C=[100, 1, 10, 10], random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.validation_scores_, other.validation_scores_)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.validation_scores_.shape == (3,)


def test_a_prediction_takes_one_similarity_per_landmark():
    X, y = load_iris(return_X_y=True)
    model = BBSClassifier(12, C=1, random_state=0).fit(X, y)
    assert model.n_similarities_ == 12
