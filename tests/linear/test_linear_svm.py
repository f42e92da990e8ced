import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from kernlearn import memory
from kernlearn.linear import LinearSVM, models
from kernlearn.linear.models import fit_each

X2, Y2 = make_classification(300, 10, n_redundant=0, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(
    300, 10, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1
)


@pytest.mark.parametrize("data", [(X2, Y2), (X3, Y3)])
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}])
def test_squared_hinge_is_scikit_learns(data, C, fit_intercept, class_weight):
    told = {"C": C, "fit_intercept": fit_intercept, "class_weight": class_weight}
    model = LinearSVM(tol=1e-7, **told).fit(*data)
    peer = LinearSVC(tol=1e-9, dual=False, **told).fit(*data)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(model.predict(data[0]), peer.predict(data[0]))


@pytest.mark.parametrize("data", [(X2, Y2), (X3, Y3)])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_with_weights_it_is_scikit_learns(data, class_weight, loss):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    told = {"C": 0.01, "loss": loss, "class_weight": class_weight}
    model = LinearSVM(**told, tol=1e-9).fit(X, y, weights)
    peer = LinearSVC(**told, tol=1e-9, max_iter=100_000, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-3, atol=1e-4)


def test_hinge_on_rows_of_any_scale():
    """Large rows make the penalty negligible: the losses no longer change with the scale."""

    def losses(scale):
        values = LinearSVM(loss="hinge").fit(X2 * scale, Y2).decision_function(X2 * scale)
        return np.maximum(0, 1 - np.where(Y2 == 1, values, -values)).sum()

    np.testing.assert_allclose([losses(1e9), losses(1e12)], losses(1e4), rtol=1e-4)
    with pytest.warns(ConvergenceWarning):
        losses(1e30)


def gradient_ratio(model, X, y):
    """What LIBLINEAR's stopping rule compares with tol (loss squared, C = 1)."""
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    Z = np.column_stack([X, np.ones(len(X))])

    def gradient(w):
        return w - 2 * Z.T @ (signs * np.maximum(0, 1 - signs * (Z @ w)))

    w = np.append(model.coef_, model.intercept_)
    share = min(np.mean(signs > 0), np.mean(signs < 0))
    return np.linalg.norm(gradient(w)) / np.linalg.norm(gradient(0 * w)) / share


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
@pytest.mark.parametrize("presolve", [None, 0.1, 0.5])
def test_presolve_ends_at_the_same_tolerance(tol, presolve):
    X, y = make_classification(3000, 30, n_informative=10, flip_y=0.05, random_state=2)
    model = LinearSVM(tol=tol, presolve=presolve).fit(X, y)
    assert gradient_ratio(model, X, y) <= tol * (1 + 1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_float32_and_sparse_rows(loss):
    single = X2.astype(np.float32)
    model = LinearSVM(loss=loss, tol=1e-6).fit(single, Y2)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.decision_function(single).dtype == np.float32
    np.testing.assert_allclose(model.coef_, LinearSVM(loss=loss, tol=1e-6).fit(X2, Y2).coef_, 1e-2)
    thin = X2 * (np.abs(X2) > 1)
    dense = LinearSVM(loss=loss, tol=1e-8).fit(thin, Y2)
    for make in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        model = LinearSVM(loss=loss, tol=1e-8).fit(make(thin), Y2)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6)
        np.testing.assert_array_equal(model.predict(make(thin)), dense.predict(thin))


def test_sparse_rows_that_do_not_fit_are_refused(monkeypatch):
    thin = sp.csr_array(X2)
    monkeypatch.setattr(memory, "allowed_memory", lambda: 1000)
    monkeypatch.setattr(memory, "_UNCHECKED", 0)
    LinearSVM().fit(thin, Y2)
    for model, weights in ((LinearSVM(loss="hinge"), None), (LinearSVM(), 1.0 + Y2)):
        with pytest.raises(MemoryError, match="300 rows of 10 features"):
            model.fit(thin, Y2, weights)


def test_nothing_is_printed_or_warned_of(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVM().fit(X3, Y3).predict(X3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"presolve": 1.0}, "'presolve'"),
        ({"C": 0}, "'C'"),
        ({"tol": 0.0}, "'tol'"),
        ({"loss": "logistic"}, "'loss'"),
    ],
)
def test_parameters_that_are_not_allowed(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM(**parameters).fit(X2, Y2)


@pytest.mark.parametrize("told", [{}, {"presolve": 0.2, "tol": 1e-3}, {"presolve": 0.01}], ids=str)
def test_classifiers_for_several_c_are_those_fitted_alone(told):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, 1.0, -1.0)
    X = rng.normal(size=(200, 20)) + 0.3 * y[:, None]
    Cs = [0.01, 1.0, 10.0]
    for C, model in zip(Cs, fit_each(LinearSVM(**told), X, y, Cs)[0], strict=True):
        alone = LinearSVM(C, **told).fit(X, y)
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.intercept_, alone.intercept_, rtol=1e-6)


@pytest.mark.parametrize(
    ("told", "X", "y"),
    [
        ({}, X3, Y3),
        ({}, sp.csr_array(X2), Y2),
        ({"loss": "hinge"}, X2, Y2),
        ({"class_weight": "balanced"}, X2, Y2),
    ],
    ids=["classes", "sparse", "hinge", "balanced"],
)
def test_others_are_fitted_one_by_one(told, X, y, monkeypatch):
    monkeypatch.setattr(models, "_truncated", None)
    fitted, _ = fit_each(LinearSVM(**told), X, y, [0.1, 1.0])
    for C, model in zip([0.1, 1.0], fitted, strict=True):
        np.testing.assert_array_equal(model.coef_, LinearSVM(C=C, **told).fit(X, y).coef_)
