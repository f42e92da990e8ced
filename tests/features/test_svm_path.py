"""The path of MaclaurinSVM against models that are fitted one by one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernlearn.features import MaclaurinSVM
from kernlearn.solvers import LinearSVM
from kernlearn.solvers.linear_svm import fit_each

CS = [0.01, 1.0, 10.0]


def problem(n_classes=2, n=300, seed=0):
    """Classes in the unit ball, with features that conjugate gradients get on with."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 6)) + 0.8 * np.eye(6)[y]
    return X / np.linalg.norm(X, axis=1).max(), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    ("options", "n_classes"),
    [
        ({}, 2),
        ({"h01": True}, 2),
        ({"presolve": 0.2, "tol": 0.001}, 2),
        ({}, 3),  # not trained together, as what follows
        ({"loss": "hinge"}, 2),
        ({"class_weight": "balanced"}, 2),
        ({"intercept_scaling": 2.0}, 2),
        ({"solver": "dual"}, 2),
    ],
    ids=str,
)
def test_a_path_has_the_models_fitted_one_by_one(options, n_classes):
    X, y = problem(n_classes)
    model = MaclaurinSVM(n_components=12, random_state=0, **options)
    path = model.set_params(C=CS, p=[2.0, 3.0]).path(X[:200], y[:200])
    found = path.predict(X[200:])
    assert [setting.params for setting in path.settings] == [
        {"C": C, "p": p} for C in CS for p in (2.0, 3.0)
    ]
    rows = zip(path.settings, path.models, found, path.converged, strict=True)
    for setting, one, labels, converged in rows:
        alone = MaclaurinSVM(n_components=12, random_state=0, **options)
        with warnings.catch_warnings(record=True) as caught:
            alone.set_params(**setting.params).fit(X[:200], y[:200])
        np.testing.assert_allclose(one.svm_.coef_, alone.svm_.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.svm_.intercept_, alone.svm_.intercept_, rtol=1e-6)
        np.testing.assert_array_equal(labels, alone.predict(X[200:]))
        np.testing.assert_array_equal(one.predict(X[200:]), labels)
        assert converged == (not caught)
    assert len(path.n_support) == 6


def test_models_that_differ_in_c_alone_share_their_features():
    X, y = problem()
    path = MaclaurinSVM(n_components=12, C=CS, p=[2.0, 3.0], random_state=0).path(X, y)
    maps = [id(model.map_) for model in path.models]
    assert maps == [maps[0], maps[1]] * 3
    assert maps[0] != maps[1]


def test_a_list_of_orders_is_one_truncation():
    X, y = problem()
    model = MaclaurinSVM(n_components=12, truncation=[0, 1, 3], random_state=0)
    path = clone(model).set_params(C=CS).path(X, y)
    assert [setting.params for setting in path.settings] == [{"C": C} for C in CS]
    for C, one in zip(CS, path.models, strict=True):
        alone = clone(model).set_params(C=C).fit(X, y)
        np.testing.assert_allclose(one.svm_.coef_, alone.svm_.coef_, rtol=1e-6, atol=1e-9)


def test_names_of_features_are_kept():
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    path = MaclaurinSVM(n_components=12, C=CS, p=[2.0, 3.0], random_state=0).path(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model, labels in zip(path.models, path.predict(frame), strict=True):
            assert list(model.feature_names_in_) == list("abcdef")
            np.testing.assert_array_equal(model.predict(frame), labels)


def test_a_solver_that_stops_early_is_told_and_warned_of():
    X, y = problem()
    scaled = MaclaurinSVM(n_components=12, C=[1e9], loss="hinge", random_state=0)
    with pytest.warns(ConvergenceWarning):
        path = scaled.path(X, y)
    assert not path.converged.any()


def test_sparse_rows_are_fitted_one_by_one():
    X, y = problem()
    models = fit_each(LinearSVM(), sparse.csr_array(X), y, CS)
    for C, model in zip(CS, models, strict=True):
        np.testing.assert_array_equal(model.coef_, LinearSVM(C=C).fit(X, y).coef_)


def test_a_part_of_one_class_is_no_start():
    X, y = problem(n=200)
    rare = np.r_[np.flatnonzero(y == "a"), np.flatnonzero(y == "b")[:1]]
    models = fit_each(LinearSVM(presolve=0.01), X[rare], y[rare], CS)
    for C, model in zip(CS, models, strict=True):
        alone = LinearSVM(C=C, presolve=0.01).fit(X[rare], y[rare])
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
