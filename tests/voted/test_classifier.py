from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import get_scorer

from kernlearn import voted
from kernlearn.kernels import (
    CallableKernel,
    GaussianKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)
from kernlearn.voted import local_complexity, monte_carlo_complexity, trace_complexity
from tests.voted.test_simplex import slow_minimum

# as in the configs of the paper
L1SVMClassifier = partial(voted.L1SVMClassifier, tol=1e-6)


def VotedKernelClassifier(kernels=None, **given):
    settings = {"lam": 1e-4, "beta": 1e-4, "tol": 1e-6, **given}
    return voted.VotedKernelClassifier(kernels, **settings)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(160, noise=0.2, random_state=0)
    return X[:100], np.array(["down", "up"])[y[:100]], X[100:], np.array(["down", "up"])[y[100:]]


def lopsided(X, Y):
    """Neither symmetric nor positive semi-definite."""
    return np.tanh(X @ Y.T - 1) + 0.3 * X[:, :1]


def slow_decision(kernels, model, X_train, X):
    values = np.zeros((len(X), model.coef_[0].shape[0]))
    for kernel, coef in zip(kernels, model.coef_, strict=True):
        values += kernel(X, X_train) @ coef.toarray().T
    return values


def test_minimises_the_objective_over_all_kernels(moons):
    X, y, X_test, y_test = moons
    kernels = [PolynomialKernel(3), GaussianKernel(0.5), lopsided, HomogeneousPolynomialKernel(2)]
    r = [1.0, 0.5, 0.0, 2.0]
    model = VotedKernelClassifier(kernels, lam=1e-3, beta=1e-3, complexity=r).fit(X, y)
    from kernlearn.voted.simplex import VotedProblem

    grams = np.array([kernel(X, X) for kernel in kernels])
    problem = VotedProblem(grams, np.where(y == "up", 1.0, -1.0), 1e-3 * np.array(r) + 1e-3)
    least = slow_minimum(problem)
    np.testing.assert_allclose(model.penalties_, problem.penalties)
    assert model.objective_[0] == pytest.approx(least, rel=1e-6)
    assert model.dual_bound_[0] == pytest.approx(least, rel=1e-6)
    values = slow_decision(kernels, model, X, X_test)[:, 0]
    np.testing.assert_allclose(model.decision_function(X_test), values, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X_test), np.where(values > 0, "up", "down"))
    assert model.score(X_test, y_test) > 0.9
    used = [coef.toarray()[0] != 0 for coef in model.coef_]
    np.testing.assert_array_equal(model.support_, np.flatnonzero(np.any(used, axis=0)))
    assert model.n_support_ == len(model.support_) < 40


def test_only_kernels_and_points_in_use_are_evaluated(moons):
    X, y, X_test, _ = moons
    seen = []

    def spy(A, B):
        seen.append(B.shape)
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

    def never(A, B):
        assert len(A) == len(B) == len(X), "a kernel without coefficients was evaluated"
        return np.ones((len(A), len(B)))

    kernels = [CallableKernel(function, takes="matrices") for function in (spy, never)]
    model = VotedKernelClassifier(kernels, lam=1.0, beta=1e-3, complexity=[0.0, np.inf])
    model.fit(X, y)
    seen.clear()
    model.predict(X_test)
    assert seen == [(model.n_support_, 2)]


def test_one_against_all():
    X, y = load_iris(return_X_y=True)
    model = VotedKernelClassifier(["gaussian", "linear"], lam=1e-3, beta=1e-3).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (150, 3)
    for label in range(3):
        binary = clone(model).fit(X, y == label)
        assert binary.objective_[0] == pytest.approx(model.objective_[label], rel=1e-5)
    np.testing.assert_array_equal(model.predict(X), values.argmax(axis=1))
    assert model.score(X, y) > 0.95


def test_precomputed(moons):
    X, y, X_test, y_test = moons
    kernels = [PolynomialKernel(2), GaussianKernel(0.5)]
    train, test = (np.hstack([k(A, X) for k in kernels]) for A in (X, X_test))
    grid = {"lam": [1e-2, 1e-4], "beta": [1e-2, 1e-4], "random_state": 0}
    for of_points, of_matrices in (({"X_val": X_test}, {"X_val": test}), ({}, {})):
        labels = {"y_val": y_test} if of_points else {}
        model = VotedKernelClassifier(kernels, **grid).fit(X, y, **of_points, **labels)
        given = VotedKernelClassifier("precomputed", **grid).fit(train, y, **of_matrices, **labels)
        assert given.best_params_ == model.best_params_
        np.testing.assert_array_equal(given.support_, model.support_)
        expected = model.decision_function(X_test)
        np.testing.assert_allclose(given.decision_function(test), expected, atol=1e-8)
    with pytest.raises(ValueError, match=r"square matrix.*150"):
        given.fit(train[:, :150], y)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trace", lambda K, k: trace_complexity(K)),
        ("dimension", lambda K, k: K.diagonal().max() * np.sqrt((k + 1) * (k + 2) / 2)),
        ("local", lambda K, k: local_complexity(K, 0.3)),
    ],
)
def test_complexities(moons, name, expected):
    X, y, _, _ = moons
    kernels = [PolynomialKernel(k) for k in (1, 2, 4)]
    model = VotedKernelClassifier(kernels, complexity=name, local_radius=0.3).fit(X, y)
    values = [expected((X @ X.T + 1) ** k, k) for k in (1, 2, 4)]
    np.testing.assert_allclose(model.complexities_, values, rtol=1e-6)
    np.testing.assert_allclose(model.penalties_, 1e-4 * np.array(values) + 1e-4, rtol=1e-6)


def test_drawn_complexities(moons):
    X, y, _, _ = moons
    kernels = [lopsided, lopsided, "linear"]
    model = VotedKernelClassifier(kernels, complexity="monte_carlo", random_state=0).fit(X, y)
    one, same, other = model.complexities_
    assert one == same != other
    expected = monte_carlo_complexity(lopsided(X, X), n_draws=20000, random_state=1)
    assert one == pytest.approx(expected, rel=0.2)


def weighted_accuracy(model, X, y):
    return model.score(X, y, sample_weight=np.where(y == "up", 3.0, 1.0))


@pytest.mark.parametrize(
    ("how", "scorer", "n_val"),
    [
        ({}, get_scorer("accuracy"), 60),
        ({}, get_scorer("accuracy"), 6),  # with ties
        ({"scoring": "f1_macro"}, get_scorer("f1_macro"), 60),
        ({"class_weight": {"up": 3.0}}, weighted_accuracy, 60),
    ],
)
@pytest.mark.filterwarnings("error:X (has|does not have)")
def test_chooses_on_validation_points(moons, how, scorer, n_val):
    X, y, X_val, y_val = moons
    X, X_val = (pd.DataFrame(points, columns=["a", "b"]) for points in (X, X_val))
    X_val, y_val = X_val[:n_val], y_val[:n_val]
    lams, betas = [1e-2, 1e-6], [10, 1e-1, 1e-3, 1e-5]
    model = VotedKernelClassifier(lam=lams[::-1], beta=betas[::-1], **how)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    scores, supports = np.zeros((2, 2, 4))
    for (i, lam), (j, beta) in product(enumerate(lams), enumerate(betas)):
        single = clone(model).set_params(lam=lam, beta=beta).fit(X, y)
        scores[i, j], supports[i, j] = scorer(single, X_val, y_val), single.n_support_
    np.testing.assert_allclose(model.validation_scores_, scores)
    order = np.lexsort((np.arange(8), supports.ravel(), -scores.ravel().round(12)))
    i, j = np.unravel_index(order[0], (2, 4))
    assert model.best_params_ == {"lam": lams[i], "beta": betas[j]}
    assert scorer(model, X_val, y_val) == pytest.approx(scores.max())


def test_keeps_points_apart_for_choosing(moons):
    X, y, _, _ = moons
    model = VotedKernelClassifier(lam=[1e-2, 1e-4], random_state=0, refit=False).fit(X, y)
    assert model.coef_[0].shape == (1, 80)
    used = np.unique(np.concatenate([coef.indices for coef in model.coef_]))
    inner = X @ X[model.support_].T + 1  # support_ are rows of X
    values = [inner ** (k + 1) @ coef[:, used].toarray()[0] for k, coef in enumerate(model.coef_)]
    np.testing.assert_allclose(model.decision_function(X), sum(values), atol=1e-9)
    again = clone(model).set_params(refit=True).fit(X, y)
    np.testing.assert_array_equal(again.validation_scores_, model.validation_scores_)
    assert again.best_params_ == model.best_params_
    everything = clone(model).set_params(lam=model.best_params_["lam"]).fit(X, y)
    assert everything.coef_[0].shape == (1, 100)
    assert everything.validation_scores_ is None
    np.testing.assert_array_equal(again.support_, everything.support_)
    np.testing.assert_array_equal(again.decision_function(X), everything.decision_function(X))


@pytest.mark.parametrize("three_classes", [False, True])
def test_path_is_the_single_fits(moons, three_classes):
    X, y, X_test, _ = moons
    if three_classes:
        y = np.where(X[:, 0] > 1, "right", y)
    grid = {"lam": [1e-1, 1e-3], "beta": [1e-1, 1e-3, 1e-4]}
    estimator = VotedKernelClassifier(class_weight={"up": 2.0}, tol=1e-7)
    (fits,) = estimator.path(X, y, grid)
    assert all(fits.converged)
    assert fits.params == [{"lam": a, "beta": b} for a in grid["lam"] for b in grid["beta"]]
    both = [fits.outputs(method, X_test) for method in ("predict", "decision_function")]
    for params, model, predicted, values in zip(fits.params, fits.models, *both, strict=True):
        single = clone(estimator).set_params(**params).fit(X, y)
        assert model.get_params() == single.get_params()
        assert vars(model).keys() == vars(single).keys()
        np.testing.assert_allclose(model.objective_, single.objective_, rtol=2e-6)
        if not three_classes:  # of which a problem has several solutions within the tolerance
            np.testing.assert_array_equal(model.support_, single.support_)
            np.testing.assert_allclose(values, single.decision_function(X_test), atol=1e-6)
        np.testing.assert_array_equal(predicted, model.predict(X_test))
        np.testing.assert_allclose(values, model.decision_function(X_test), atol=1e-12)


def test_weights_of_classes_multiply_losses(moons):
    X, y, *_ = moons
    twice = L1SVMClassifier(beta=0.02, class_weight={"down": 2.0, "up": 2.0}).fit(X, y)
    plain = L1SVMClassifier(beta=0.01).fit(X, y)
    np.testing.assert_allclose(twice.objective_, 2 * plain.objective_, rtol=1e-5)


def test_path_of_radii(moons):
    """A radius matters for local complexities alone; the paper's other parameters stay."""
    X, y, X_test, _ = moons
    grid = {"local_radius": [1.0, 0.01]}
    kernels = [PolynomialKernel(k) for k in (1, 2, 4)]
    for name in ("local", "trace"):
        estimator = VotedKernelClassifier(kernels, complexity=name, lam=0.1, random_state=0)
        (fits,) = estimator.path(X, y, grid)
        for params, model in zip(fits.params, fits.models, strict=True):
            single = clone(estimator).set_params(**params).fit(X, y)
            assert model.best_params_ == single.best_params_
            np.testing.assert_allclose(model.penalties_, single.penalties_)
            np.testing.assert_array_equal(model.predict(X_test), single.predict(X_test))
        chosen = clone(estimator).set_params(**grid).fit(X, y)  # and trained again on all points
        single = clone(estimator).set_params(**chosen.best_params_).fit(X, y)
        np.testing.assert_allclose(chosen.penalties_, single.penalties_)


def test_norm_1_svm_is_one_kernel_without_complexity(moons):
    X, y, X_test, _ = moons
    kernel = PolynomialKernel(3)
    model = L1SVMClassifier(kernel, beta=1e-2).fit(X, y)
    voted = VotedKernelClassifier([kernel], lam=0.0, beta=1e-2).fit(X, y)
    assert model.objective_ == pytest.approx(voted.objective_)
    np.testing.assert_allclose(model.decision_function(X_test), voted.decision_function(X_test))
    given = L1SVMClassifier("precomputed", beta=1e-2).fit(kernel(X), y)
    np.testing.assert_array_equal(given.support_, model.support_)
    assert given.__sklearn_tags__().input_tags.pairwise
    with pytest.raises(ValueError, match="square"):
        given.fit(np.ones((10, 20)), [0, 1] * 5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": []}, "'kernels'"),
        ({"kernels": ["nonsense"]}, "no similarity 'nonsense'"),
        ({"kernels": [lambda X, Y: np.full((len(X), len(Y)), np.nan)]}, "is NaN"),
        ({"lam": []}, "'lam'"),
        ({"beta": [1.0, -1.0]}, "'beta'"),
        ({"beta": -1.0}, "'beta' parameter"),
        ({"complexity": [1.0]}, "one number >= 0 for each of the 10 kernels"),
        ({"complexity": [np.nan] + 9 * [1]}, "one number >= 0 for each of the 10 kernels"),
        ({"complexity": "nonsense"}, "'complexity' parameter"),
        ({"complexity": "local", "local_radius": [0.0, 1.0]}, "'local_radius'"),
        ({"kernels": ["gaussian"], "complexity": "dimension"}, "kernel 0"),
        ({"kernels": ["linear", "manhattan"], "complexity": "local"}, "kernel 1"),
        ({"kernels": ["sigmoid"], "complexity": "trace"}, "kernel 0"),
    ],
)
def test_refuses(moons, parameters, message):
    X, y, _, _ = moons
    with pytest.raises(ValueError, match=message):
        VotedKernelClassifier(**parameters).fit(X, y)


@pytest.mark.data
@pytest.mark.filterwarnings("error")
def test_ionosphere():
    """Protocol of table 1 on one fold: sparse, and about as good as reported (4 %, 31 points)."""
    from kernlearn.datasets import load

    data = load("ionosphere")
    X = data.data / np.maximum(np.linalg.norm(data.data, axis=1, keepdims=True), 1e-12)
    folds = np.array_split(np.random.RandomState(0).permutation(len(X)), 5)
    train, (val, test) = np.concatenate(folds[2:]), folds[:2]
    grid = 10.0 ** -np.arange(7)
    model = VotedKernelClassifier(lam=grid, beta=grid)
    model.fit(X[train], data.target[train], X_val=X[val], y_val=data.target[val])
    assert model.score(X[test], data.target[test]) > 0.9
    assert model.n_support_ < 70
