"""scikit-learn's solvers in the place of LIBLINEAR and LIBSVM, beside the official ones."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from kernlearn.kernels import ExponentialKernel
from kernlearn.solvers import (
    KernelSVM,
    LinearSVM,
    LinearSVMRegressor,
    liblinear,
    libsvm,
    substitutes,
)
from kernlearn.solvers.linear_path import linear_path
from kernlearn.solvers.nodes import feature_rows, precomputed_rows

X, GRADES = load_iris(return_X_y=True)
TWO = GRADES > 1
WEIGHTS = {0: 1.0, 1: 3.0, 2: 0.5}


@pytest.fixture
def without_official(monkeypatch):
    """A function that hides the official bindings from then on."""

    def hide():
        monkeypatch.setattr(liblinear, "official", lambda: None)
        monkeypatch.setattr(libsvm, "official", lambda: None)
        substitutes.warn_once.cache_clear()

    yield hide
    substitutes.warn_once.cache_clear()


def fit_both(make, X, y, hide):
    official = make().fit(X, y)
    hide()
    with pytest.warns(RuntimeWarning, match=r"not installed, scikit-learn's edition"):
        return official, make().fit(X, y)


@pytest.mark.parametrize("y", [TWO, GRADES], ids=["two", "three"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fit_intercept": False},
        {"intercept_scaling": 10.0, "C": 0.1},
        {"loss": "hinge", "tol": 1e-6, "C": 0.001},
        {"solver": "dual", "tol": 1e-6, "C": 0.01},
        {"class_weight": WEIGHTS},
        {"presolve": 0.5},
    ],
    ids=str,
)
def test_linear_classifiers_agree(settings, y, without_official):
    if "class_weight" in settings:
        settings = {"class_weight": {label: WEIGHTS[int(label)] for label in np.unique(y)}}
    options = {"tol": 1e-8, "random_state": 0, **settings}
    official, other = fit_both(lambda: LinearSVM(**options), X, y, without_official)
    scale = np.abs(official.coef_).max()
    np.testing.assert_allclose(other.coef_, official.coef_, atol=1e-3 * scale)
    np.testing.assert_allclose(other.intercept_, official.intercept_, atol=1e-3 * scale)
    assert np.array_equal(other.predict(X), official.predict(X))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "epsilon_insensitive", "solver": "dual", "C": 0.01},
        {"solver": "dual", "C": 0.01},
    ],
    ids=str,
)
def test_linear_regressors_agree(settings, without_official):
    options = {"tol": 1e-7, "random_state": 0, **settings}
    official, other = fit_both(
        lambda: LinearSVMRegressor(**options), X[:, :3], X[:, 3], without_official
    )
    np.testing.assert_allclose(other.predict(X[:, :3]), official.predict(X[:, :3]), atol=2e-3)


def test_logistic_paths_agree(without_official):
    signs, Cs = np.where(TWO, 1.0, -1.0), [0.1, 1.0]
    options = {"loss": "logistic", "solver": "liblinear", "tol": 1e-8, "fit_intercept": True}
    official = linear_path(X, signs, Cs, **options)
    without_official()
    with pytest.warns(RuntimeWarning, match="LIBLINEAR"):
        other = linear_path(X, signs, Cs, **options)
    np.testing.assert_allclose(other[0], official[0], atol=1e-4)
    np.testing.assert_allclose(other[1], official[1], atol=1e-4)


@pytest.mark.parametrize("y", [TWO, GRADES], ids=["two", "three"])
@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        ("rbf", X),
        ("linear", X),
        ("poly", X),
        ("rbf", sparse.csr_array(X * (X > 1))),
        (ExponentialKernel(), X / 10),
        ("precomputed", X @ X.T),
    ],
    ids=["rbf", "linear", "poly", "sparse", "exponential", "precomputed"],
)
def test_kernel_classifiers_agree(kernel, points, y, without_official):
    def make():
        return KernelSVM(kernel, tol=1e-6, class_weight={label: 1.0 + label for label in set(y)})

    # the rows of a class are not beside each other
    order = np.random.default_rng(0).permutation(len(y))
    points = points[order][:, order] if kernel == "precomputed" else points[order]
    official, other = fit_both(make, points, y[order], without_official)
    values = official.decision_function(points)
    np.testing.assert_allclose(other.decision_function(points), values, atol=1e-3)
    assert np.array_equal(other.predict(points), official.predict(points))


def test_warning_comes_once_and_the_rest_is_refused(without_official):
    without_official()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        for _ in range(2):
            LinearSVM().fit(X, TWO)
            KernelSVM().fit(X, TWO)
    said = [str(one.message) for one in caught if one.category is RuntimeWarning]
    assert [text.split()[2] for text in said] == ["LIBLINEAR", "LIBSVM"]
    with pytest.raises(ImportError, match=r"predict_native needs .*: pip install libsvm-official"):
        KernelSVM().fit(X, TWO).predict_native(X)
    with pytest.raises(ImportError, match=r"penalize_intercept=False needs .*liblinear-official"):
        LinearSVM(penalize_intercept=False).fit(X, TWO)


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_nodes_are_a_matrix_again(share):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < share)
    some = np.array([4, 0, 4, 6])
    assert np.array_equal(feature_rows(dense).take(some).matrix(5).toarray(), dense[some])
    with_bias = feature_rows(sparse.csr_array(dense), 2.0).matrix().toarray()
    assert np.array_equal(with_bias, np.column_stack([dense, np.full(7, 2.0)]))
    assert np.array_equal(precomputed_rows(7, 5, [(slice(None), dense)]).matrix(), dense)
