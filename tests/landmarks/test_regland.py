import math
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVR, LinearSVR
from sklearn.utils import get_tags

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.regressors import RegLand as RegLandClass
from tests.checks import parametrize_with_checks
from tests.pinned import as_in_configs

RegLand = as_in_configs(RegLandClass)


RNG = np.random.RandomState(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] - X[:, 1] ** 2 + 0.3 * RNG.normal(size=80)
NEW = np.random.RandomState(1).normal(size=(25, 3))
NEW_Y = NEW[:, 0] - NEW[:, 1] ** 2

PRECISE = {"tol": 1e-6, "random_state": 0}
LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive"]


def laplacian(A, B):
    return np.array([[math.exp(-abs(a - b).sum()) for b in B] for a in A])


def embedding(points, landmarks):
    return laplacian(points, landmarks) / math.sqrt(len(landmarks))


def objective(w, features, y, C, epsilon, loss):
    excess = np.maximum(abs(y - features @ w) - epsilon, 0)
    return w @ w / 2 + C * (excess if loss == "epsilon_insensitive" else excess**2).sum()


@parametrize_with_checks(
    [
        RegLand(),
        RegLand(5, similarity="manhattan", selection="dselect", fit_intercept=True),
        RegLand(2, double_dipping=False),
        RegLand(5, C=[1, 10], epsilon=[0.01, 0.1], loss="squared_epsilon_insensitive"),
        RegLand(5, similarity="precomputed", kind="distance", selection="dselect"),
    ]
)
@pytest.mark.filterwarnings("ignore:n_landmarks=:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("double_dipping", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_minimises_over_the_embedding(selection, loss, double_dipping):
    model = RegLand(
        12,
        similarity=laplacian,
        selection=selection,
        double_dipping=double_dipping,
        loss=loss,
        C=2.0,
        epsilon=0.2,
        **PRECISE,
    ).fit(X, Y)
    chosen = model.landmark_indices_
    rows = np.arange(80) if double_dipping else np.setdiff1d(np.arange(80), chosen)
    problem = embedding(X[rows], X[chosen]), Y[rows], 2.0, 0.2, loss
    found = objective(model.coef_, *problem)
    peer = LinearSVR(C=2.0, epsilon=0.2, loss=loss, fit_intercept=False, tol=1e-8, max_iter=10**5)
    assert found == pytest.approx(objective(peer.fit(*problem[:2]).coef_, *problem), rel=1e-5)
    for other in np.random.RandomState(2).normal(scale=0.05, size=(50, 12)):
        assert found < objective(model.coef_ + other, *problem)
    slow = [model.coef_ @ embedding(x[None], X[chosen])[0] for x in NEW]
    np.testing.assert_allclose(model.predict(NEW), slow, rtol=1e-12)
    assert model.intercept_ == 0
    assert model.validation_scores_ is None
    assert (model.C_, model.epsilon_) == (2.0, 0.2)


def test_is_the_support_vector_machine_of_the_kernel_that_landmarks_make():
    model = RegLand(12, similarity=laplacian, C=2.0, epsilon=0.2, fit_intercept=False, **PRECISE)
    landmarks = X[model.fit(X, Y).landmark_indices_]
    features = embedding(X, landmarks)
    # SVR has a free intercept: each point with its mirror image forces it to 0.
    mirrored, targets = np.r_[features, -features], np.r_[Y, -Y]
    peer = SVR(kernel="linear", C=1.0, epsilon=0.2, tol=1e-6).fit(mirrored, targets)
    expected = peer.predict(embedding(NEW, landmarks))
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-3)


def test_a_weight_of_losses_stands_for_a_bound_on_the_norm():
    model = RegLand(8, similarity=laplacian, C=0.5, epsilon=0.1, loss=LOSSES[1], **PRECISE)
    model.fit(X, Y)
    features = embedding(X, X[model.landmark_indices_])
    bound = np.linalg.norm(model.coef_)

    def loss(w):
        return (np.maximum(abs(Y - features @ w) - 0.1, 0) ** 2).sum()

    inside = {"type": "ineq", "fun": lambda w: bound**2 - w @ w}
    best = minimize(loss, np.zeros(8), constraints=[inside], method="SLSQP", tol=1e-12)
    assert loss(model.coef_) == pytest.approx(best.fun, rel=1e-4)
    np.testing.assert_allclose(model.coef_, best.x, atol=0.02 * bound)


def test_an_intercept():
    shifted = Y + 20
    with_it, without = (
        RegLand(5, loss=LOSSES[1], C=100, fit_intercept=fit_intercept, random_state=0).fit(
            X, shifted
        )
        for fit_intercept in (True, False)
    )
    features = GaussianKernel().fit(X)(NEW, X[with_it.landmark_indices_]) / math.sqrt(5)
    np.testing.assert_allclose(
        with_it.predict(NEW), features @ with_it.coef_ + with_it.intercept_, rtol=1e-10
    )
    assert with_it.intercept_ != 0
    assert without.intercept_ == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_on_given_validation_points(loss):
    Cs, epsilons = [10, 0.1, 1], [0.5, 0.01]
    how = {"similarity": "laplacian", "loss": loss, "random_state": 0}
    model = RegLand(12, C=Cs, epsilon=epsilons, **how).fit(X, Y, NEW, NEW_Y)
    slow = {
        (C, epsilon): RegLand(12, C=C, epsilon=epsilon, **how).fit(X, Y)
        for C in sorted(Cs)
        for epsilon in sorted(epsilons)
    }
    errors = [((single.predict(NEW) - NEW_Y) ** 2).mean() for single in slow.values()]
    np.testing.assert_allclose(model.validation_scores_, -np.reshape(errors, (3, 2)))
    assert (model.C_, model.epsilon_) == list(slow)[np.argmin(errors)]
    best = slow[model.C_, model.epsilon_]
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.landmark_indices_, best.landmark_indices_)


@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("double_dipping", [True, False])
def test_points_kept_apart_are_neither_landmarks_nor_trained_on(precomputed, double_dipping):
    points, targets = X[:40], Y[:40]
    model = RegLand(
        10,
        similarity="precomputed" if precomputed else laplacian,
        double_dipping=double_dipping,
        C=[1, 1 + 1e-9],
        loss=LOSSES[1],
        validation_fraction=0.3,
        random_state=3,
    )

    def fitted(y):
        model.fit(laplacian(points, points) if precomputed else points, y)
        return model.coef_, model.validation_scores_

    coef, scores = fitted(targets)
    landmarks = set(model.landmark_indices_.tolist())
    trained, scored = set(), set()
    for i in range(40):
        new_coef, new_scores = fitted(targets + 5 * (np.arange(40) == i))
        if not np.allclose(coef, new_coef, atol=1e-5):
            trained.add(i)
        elif not np.allclose(scores, new_scores, atol=1e-5):
            scored.add(i)
    assert len(scored) == 12
    assert landmarks.isdisjoint(scored)
    assert trained == set(range(40)) - scored - (set() if double_dipping else landmarks)


def test_a_width_is_not_worked_out_on_points_kept_apart():
    how = {"C": [1, 1 + 1e-9], "loss": LOSSES[1], "random_state": 3}
    model = RegLand(10, **how).fit(X, Y)
    # Moving a point that is kept apart leaves the weights as they are.
    moved = []
    for i in range(80):
        points = X.copy()
        points[i] += 30
        moved.append(not np.allclose(RegLand(10, **how).fit(points, Y).coef_, model.coef_))
    assert sum(moved) == 80 - 16


def test_equally_good_ones_give_the_first():
    # Nothing to learn: all weights are 0, and all errors the same.
    model = RegLand(5, C=[10, 1], epsilon=[0.2, 0.1], random_state=0).fit(X, np.zeros(80))
    assert len(set(model.validation_scores_.ravel())) == 1
    assert (model.C_, model.epsilon_) == (1, 0.1)
    assert not model.coef_.any()


def test_a_constant_target():
    how = {"similarity": laplacian, "epsilon": 0.05, "loss": LOSSES[1], "random_state": 0}
    constant = np.full(80, 3.0)
    model = RegLand(10, fit_intercept=True, C=1e4, **how).fit(X, constant)
    assert abs(model.predict(NEW) - 3).max() < 0.06
    # Algorithm 5 has no intercept, and its best sum of similarities is not constant.
    without = RegLand(10, C=1e4, **how).fit(X, constant)
    assert abs(without.predict(NEW) - 3).max() > 0.5


def test_duplicates():
    points, targets = np.tile(X[:4], (10, 1)), np.tile(Y[:4], 10)
    how = {"similarity": laplacian, "epsilon": 0, "loss": LOSSES[1], "random_state": 0}
    model = RegLand(40, C=1e4, **how).fit(points, targets)
    np.testing.assert_allclose(model.predict(X[:4]), Y[:4], atol=1e-3)
    # All points the same: the prediction is their mean, as far as C lets it.
    alike = RegLand(10, C=1e4, **how).fit(np.ones((30, 2)), np.arange(30))
    np.testing.assert_allclose(alike.predict(np.ones((3, 2))), np.full(3, 14.5), rtol=1e-4)


def test_fewer_points_than_landmarks():
    with pytest.warns(UserWarning, match="n_landmarks=50 is more than the 10 training points"):
        model = RegLand(random_state=0).fit(X[:10], Y[:10])
    assert sorted(model.landmark_indices_) == list(range(10))
    with pytest.raises(ValueError, match="double_dipping=False needs more training points"):
        RegLand(double_dipping=False).fit(X[:10], Y[:10])


def test_landmarks_that_are_given():
    model = RegLand(similarity=laplacian, double_dipping=False, **PRECISE)
    model.fit(X, Y, landmarks=NEW[:6])
    assert model.landmark_indices_ is None
    peer = LinearSVR(C=1.0, epsilon=0.1, fit_intercept=False, tol=1e-8, max_iter=10**5)
    peer.fit(embedding(X, NEW[:6]), Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-2)
    np.testing.assert_allclose(model.predict(X), embedding(X, NEW[:6]) @ model.coef_)


@pytest.mark.parametrize("C", [1.0, [1, 10]])
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_a_matrix_a_distance_and_sparse_points_give_the_same(selection, C):
    how = {"selection": selection, "C": C, "loss": LOSSES[1], "random_state": 0}
    model = RegLand(12, similarity="manhattan", **how).fit(X, Y)
    distances, new_distances = (abs(A[:, None] - X).sum(axis=2) for A in (X, NEW))
    given = RegLand(12, similarity="precomputed", kind="distance", **how).fit(distances, Y)
    scattered = RegLand(12, similarity="manhattan", **how).fit(sparse.csr_array(X), Y)
    for other, points in [(given, new_distances), (scattered, sparse.csr_array(NEW))]:
        np.testing.assert_array_equal(other.landmark_indices_, model.landmark_indices_)
        np.testing.assert_allclose(other.predict(points), model.predict(NEW), rtol=1e-6)
        assert other.C_ == model.C_
    assert get_tags(given).input_tags.pairwise


def test_single_precision():
    single = RegLand(12, random_state=0).fit(X.astype(np.float32), Y)
    predicted = single.predict(NEW.astype(np.float32))
    assert predicted.dtype == single.coef_.dtype == np.float32
    double = RegLand(12, random_state=0).fit(X, Y)
    np.testing.assert_allclose(predicted, double.predict(NEW), atol=0.01)


def test_depends_on_the_seed_alone():
    def fitted(seed):
        return RegLand(12, C=[1, 10], random_state=seed).fit(X, Y).predict(NEW)

    np.testing.assert_array_equal(fitted(0), fitted(0))
    assert not np.array_equal(fitted(0), fitted(1))


def test_a_solver_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match="300 iterations"):
        RegLand(similarity="manhattan", C=1e4, epsilon=0, tol=1e-8).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RegLand(similarity="manhattan", C=1e4, epsilon=0, loss=LOSSES[1]).fit(X, Y)


@pytest.mark.parametrize(
    ("how", "data", "message"),
    [
        ({"C": []}, (X, Y), "'C' must be a finite number > 0 or a sequence"),
        ({"C": [1, 0]}, (X, Y), "'C' must be a finite number > 0"),
        ({"epsilon": [0.1, -1]}, (X, Y), "'epsilon' must be a finite number >= 0"),
        ({"epsilon": -1}, (X, Y), "'epsilon' parameter of RegLand must be"),
        ({"selection": "stratified"}, (X, Y), "'selection' parameter of RegLand must be"),
        ({"solver": "primal"}, (X, Y), "solver='primal' needs a squared loss"),
        ({"solver": "newton"}, (X, Y), "solver='newton' needs a squared loss"),
        ({"C": [1, 2]}, (X[:1], Y[:1]), "X holds 1 sample, so that none can be kept apart"),
        ({}, (X, Y, NEW), "X_val and y_val must be given together"),
        ({}, (X, Y, None, NEW_Y), "X_val and y_val must be given together"),
        ({}, (X, Y, NEW[:, :2], NEW_Y), "X_val: X has 2 features"),
        ({}, (X, Y, NEW, NEW_Y[:-1]), "y_val must hold one value for each of the 25 points"),
        ({}, (X, Y, NEW, NEW_Y * np.nan), "y_val contains NaN"),
        ({}, (X, np.full(80, "high")), "y must hold numbers"),
        ({"similarity": "precomputed"}, (X @ X.T, Y, None, None, X), "landmarks must be None"),
    ],
)
def test_what_is_refused(how, data, message):
    with pytest.raises(ValueError, match=message):
        RegLand(5, **how).fit(*data)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        RegLand().predict(X)
