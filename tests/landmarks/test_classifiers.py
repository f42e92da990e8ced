"""BBS and FTUNE against loops over LIBLINEAR."""

import math
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import LinearSVC

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import BBSClassifier, FTuneClassifier, Identity, Ramp, Sign
from kernlearn.landmarks.base import mean_losses
from kernlearn.landmarks.selection import SELECTIONS
from kernlearn.linear.models import linear_paths

SIGMA, SLOPES, PENALTIES = 2.0, (1, 5, 10, 50, 100, 1000), (1, 10, 100, 1000)


def gaussian(X, Y):
    return np.array([[math.exp(-((x - y) ** 2).sum() / (2 * SIGMA**2)) for y in Y] for x in X])


def split(data, n_classes):
    X, y = data
    if n_classes == 2:
        X, y = X[y != "setosa"], y[y != "setosa"]
    return X[:60], y[:60], X[60:], y[60:]


def separator(features, labels, C):
    machine = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-10, max_iter=10**5)
    return machine.fit(features, labels).coef_[0]


def slow_scores(decisions, y_val, classes):
    """Return the accuracy and the mean squared hinge of decisions, one point at a time."""
    right, losses = [], []
    for decision, label in zip(decisions, y_val, strict=True):
        if len(classes) == 2:
            right.append(classes[int(decision[0] > 0)] == label)
        else:
            right.append(classes[int(np.argmax(decision))] == label)
        for score, positive in zip(decision, classes[-len(decision) :], strict=True):
            losses.append(max(0, 1 - score * (1 if label == positive else -1)) ** 2)
    return np.mean(right), np.mean(losses)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_bbs_is_the_slow_version(iris, seed, n_classes, selection):
    X, y, X_val, y_val = split(iris, n_classes)
    model = BBSClassifier(
        9, C=PENALTIES, similarity=gaussian, selection=selection, random_state=seed
    ).fit(X, y, X_val=X_val, y_val=y_val)
    landmarks = X[model.landmark_indices_]
    assert len(set(model.landmark_indices_)) == 9
    K, K_val = gaussian(X, landmarks), gaussian(X_val, landmarks)
    classes, results = sorted(set(y)), []
    for C in PENALTIES:
        weights = np.array(
            [
                separator(K / K.max(), np.where(y == positive, 1, -1), C)
                for positive in (classes if n_classes == 3 else classes[1:])
            ]
        )
        decisions = (K_val / K.max()) @ weights.T
        results.append((*slow_scores(decisions, y_val, classes), decisions, weights))
    np.testing.assert_allclose(model.validation_scores_, [result[0] for result in results])
    best = min(range(4), key=lambda i: (-results[i][0], results[i][1]))
    assert PENALTIES[best] == model.C_
    _, _, decisions, weights = results[best]
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-5, atol=1e-5)
    found = model.decision_function(X_val).reshape(decisions.shape)
    np.testing.assert_allclose(found, decisions, rtol=1e-5, atol=1e-5)
    assert model.score(X_val, y_val) == model.validation_scores_.max()


@pytest.mark.parametrize(
    ("selection", "options"),
    [
        ("random", {"loss": "hinge", "fit_intercept": True}),
        ("random", {"loss": "logistic", "fit_intercept": True}),
        ("dselect", {"solver": "truncated_newton"}),
    ],
)
def test_options_are_those_of_the_solver(iris, selection, options):
    """Columns that a selection computes alone differ in the last digit from those of the fit."""
    X, y = iris
    model = BBSClassifier(10, C=1, selection=selection, random_state=0, **options).fit(X, y)
    features = GaussianKernel().fit(X)(X, X[model.landmark_indices_]) / model.scale_
    labels = np.where(y == model.classes_[:, None], 1.0, -1.0)
    coef, intercept = linear_paths(features, labels, [1.0], **options)
    np.testing.assert_array_equal(model.coef_, coef[:, 0])
    np.testing.assert_array_equal(model.intercept_, intercept[:, 0])


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "selection"), [(2, "random"), (3, "random"), (3, "dselect"), (3, "shared")]
)
def test_ftune_is_the_slow_version(iris, per_class, n_classes, selection):
    X, y, X_val, y_val = split(iris, n_classes)
    model = FTuneClassifier(
        7,
        similarity=gaussian,
        C=PENALTIES,
        per_class=per_class,
        selection=selection,
        random_state=0,
    ).fit(X, y, X_val=X_val, y_val=y_val)
    pairs, classes = model.landmark_indices_, sorted(set(y))
    K, K_val = gaussian(X, X), gaussian(X_val, X)
    scale = K[:, np.unique(pairs)].max()
    labels, cells = classes[-len(pairs) :], list(product(range(6), range(4)))
    weights, decisions = {}, {}
    for p, label in enumerate(labels):
        for s, c in cells:
            features, features_val = (
                np.clip(SLOPES[s] * (k[:, pairs[p, :, 0]] - k[:, pairs[p, :, 1]]) / scale, -1, 1)
                for k in (K, K_val)
            )
            weights[p, s, c] = separator(features, np.where(y == label, 1, -1), PENALTIES[c])
            decisions[p, s, c] = features_val @ weights[p, s, c]
    if per_class:
        scores, chosen = np.empty((len(labels), 6, 4)), []
        for p, label in enumerate(labels):
            own = np.where(y_val == label, "yes", "no")
            each = {c: slow_scores(decisions[p, *c][:, None], own, ["no", "yes"]) for c in cells}
            scores[p] = np.reshape([each[c][0] for c in cells], (6, 4))
            chosen.append(min(cells, key=lambda c: (-each[c][0], each[c][1])))
    else:
        together = {
            c: slow_scores(
                np.transpose([decisions[p, *c] for p in range(len(labels))]), y_val, classes
            )
            for c in cells
        }
        scores = np.reshape([together[c][0] for c in cells], (6, 4))
        chosen = [min(cells, key=lambda c: (-together[c][0], together[c][1]))] * len(labels)
        assert model.transfer_.slope == SLOPES[chosen[0][0]]
    np.testing.assert_allclose(model.validation_scores_, scores)
    assert [transfer.slope for transfer in model.transfers_] == [SLOPES[s] for s, _ in chosen]
    Cs = [PENALTIES[c] for _, c in chosen]
    np.testing.assert_array_equal(model.C_, Cs if per_class else Cs[0])
    expected = np.array([weights[p, *cell] for p, cell in enumerate(chosen)])
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-4, atol=1e-5)
    expected = np.array([decisions[p, *cell] for p, cell in enumerate(chosen)]).T
    found = model.decision_function(X_val)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_losses_over_problems_and_points_of_known_classes(n_classes, weighted):
    rng = np.random.RandomState(n_classes)
    codes, problems = rng.randint(-1, n_classes, 20), [1] if n_classes == 2 else range(n_classes)
    values, weights = list(rng.standard_normal((3, 20, len(problems)))), rng.rand(20)
    for loss, of_margin in {
        "hinge": lambda m: max(0, 1 - m),
        "squared_hinge": lambda m: max(0, 1 - m) ** 2,
        "logistic": lambda m: math.log(1 + math.exp(-m)),
    }.items():
        found = mean_losses(values, codes, loss, weights if weighted else None)
        for setting, of_setting in zip(found, values, strict=True):
            total = norm = 0.0
            for i, k in product(np.flatnonzero(codes >= 0), range(len(problems))):
                sign, weight = 1 if codes[i] == problems[k] else -1, weights[i] ** weighted
                total += weight * of_margin(sign * of_setting[i, k])
                norm += weight
            assert setting == pytest.approx(total / norm)


@pytest.mark.parametrize("make", [BBSClassifier, FTuneClassifier])
def test_only_landmarks_with_a_weight_are_compared(make):
    X, y = make_blobs(60, centers=[[4, 0], [0, 4], [4, 4]], random_state=0)
    X[::2] = 0.0  # similar to nothing, so that it is of no use as a landmark
    model = make(n_landmarks=12, similarity="linear", C=1, random_state=0).fit(X, y)
    weighted = model.coef_.any(axis=0) if make is BBSClassifier else model.coef_ != 0
    of_use = np.unique(model.landmark_indices_[weighted])
    np.testing.assert_array_equal(np.sort(model.compared_indices_), of_use)
    assert len(of_use) < len(np.unique(model.landmark_indices_))


@pytest.mark.parametrize("make", [BBSClassifier, FTuneClassifier])
def test_the_size_of_similarities_and_the_order_of_c_do_not_matter(iris, make):
    X, y = iris
    one = make(8, similarity=gaussian, C=PENALTIES, random_state=0).fit(X, y)
    other = make(8, similarity=lambda X, Y: 7 * gaussian(X, Y), random_state=0)
    other.set_params(C=[100, 1, 1000, 10, 10]).fit(X, y)
    assert other.scale_ == pytest.approx(7 * one.scale_)
    np.testing.assert_allclose(one.validation_scores_, other.validation_scores_)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)
    constant = make(5, similarity=lambda X, Y: np.ones((len(X), len(Y))), random_state=0)
    with pytest.warns(UserWarning, match="says nothing"):
        constant.fit(X, y)
    assert len(set(constant.predict(X))) == 1


def test_families_of_transfer_functions(iris):
    X, y = iris
    mixed = ["identity", 4.0, "ramp"]
    for given, meant in (("sign", [Sign()]), (mixed, [Identity(), Ramp(4), Ramp(1)])):
        found = FTuneClassifier(9, transfers=given, random_state=0).fit(X, y)
        expected = FTuneClassifier(9, transfers=meant, random_state=0).fit(X, y)
        assert found.transfer_ == expected.transfer_
        np.testing.assert_array_equal(found.coef_, expected.coef_)
    model = FTuneClassifier(9, transfers=Ramp(2), C=10, random_state=0).fit(X, y)
    assert model.transfer_ == Ramp(2)
    again = model.set_params(per_class=True).fit(X[:20], y[:20])
    assert not hasattr(again, "transfer_")
    for bad in ([], ["steep"], "steep", [-1], 0, [np.sin]):
        with pytest.raises(ValueError, match=r"transfer|slope"):
            FTuneClassifier(9, transfers=bad).fit(X, y)


def test_the_type_of_held_out_points_does_not_matter():
    X, y = make_blobs(80, random_state=0)
    matrix = GaussianKernel(1.0)(X)
    model = BBSClassifier(8, similarity="precomputed", random_state=0)
    model.fit(matrix[:60, :60], y[:60], X_val=matrix[60:, :60].astype(np.float32), y_val=y[60:])
    assert model.coef_.dtype == model.decision_function(matrix[60:, :60]).dtype == np.float64
    with pytest.raises(ValueError, match="type of the classes"):
        model.fit(
            matrix[:60, :60],
            y[:60].astype(str).astype(object),
            X_val=matrix[60:, :60],
            y_val=y[60:],
        )
