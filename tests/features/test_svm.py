import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from kernlearn.features import MaclaurinSVM, RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.linear import LinearSVM, truncated_newton


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X), y


@pytest.mark.parametrize(
    ("as_matrix", "dtype", "h01", "classes"),
    [
        (np.asarray, np.float64, False, 2),
        (np.asarray, np.float32, True, 2),
        (np.asarray, np.float64, True, 10),
        (sparse.csr_matrix, np.float32, False, 2),
        (sparse.csr_matrix, np.float64, True, 2),
    ],
)
def test_is_the_map_and_then_the_linear_svm(digits, as_matrix, dtype, h01, classes):
    X, y = digits
    X, y = as_matrix(X[y < classes].astype(dtype)), y[y < classes]
    model = MaclaurinSVM(PolynomialKernel(3), 150, h01=h01, C=10.0, random_state=3).fit(X, y)
    features = RandomMaclaurin(
        PolynomialKernel(3), 150, h01=h01, include_bias=False, random_state=3
    ).fit(X)
    linear = LinearSVM(C=10.0).fit(features.transform(X), y)
    expected = linear.decision_function(features.transform(X))
    found = model.decision_function(X)
    assert found.dtype == dtype
    tolerance = (
        {"rtol": 1e-8, "atol": 1e-8} if dtype == np.float64 else {"rtol": 1e-3, "atol": 1e-3}
    )
    np.testing.assert_allclose(found, expected, **tolerance)
    assert np.mean(model.predict(X) == linear.predict(features.transform(X))) > 0.999


# -- several values of C --------------------------------------------------------------------------

CS = [0.01, 1.0, 10.0]


def problem(n_classes=2, n=300):
    """Classes in the unit ball, with features that conjugate gradients get on with."""
    rng = np.random.default_rng(0)
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
        ({"class_weight": "balanced"}, 2),
    ],
    ids=str,
)
def test_a_path_has_the_models_fitted_one_by_one(options, n_classes):
    X, y = problem(n_classes)
    X = pd.DataFrame(X, columns=list("abcdef"))
    model = MaclaurinSVM(n_components=12, random_state=0, **options)
    (path,) = model.path(X[:200], y[:200], {"C": CS[::-1]})
    assert path.params == [{"C": C} for C in CS]
    assert len({id(one.map_) for one in path.models}) == 1
    assert all(path.converged)
    predicted = path.outputs("predict", X[200:])
    for C, one, labels in zip(CS, path.models, predicted, strict=True):
        assert one.C == C
        alone = clone(model).set_params(C=C).fit(X[:200], y[:200])
        assert list(one.feature_names_in_) == list("abcdef")
        np.testing.assert_allclose(one.svm_.coef_, alone.svm_.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.svm_.intercept_, alone.svm_.intercept_, rtol=1e-6)
        np.testing.assert_array_equal(labels, alone.predict(X[200:]))
        np.testing.assert_array_equal(one.predict(X[200:]), labels)


def test_a_path_says_which_settings_stopped_early(monkeypatch):
    data, model = problem(), MaclaurinSVM(n_components=12, random_state=0)
    assert next(model.path(*data, {})).params == [{}]
    with pytest.raises(ValueError, match="'C' parameter of MaclaurinSVM"):
        next(model.path(*data, {"C": [1.0, -1.0]}))
    with pytest.raises(ValueError, match="continuous"):
        next(model.path(data[0], np.where(data[1] == data[1][0], 0.5, 1.5), {"C": CS}))
    monkeypatch.setattr(truncated_newton, "_MOST_STEPS", 4)
    with pytest.warns(ConvergenceWarning):
        path = next(model.path(*data, {"C": CS}))
    assert path.converged == [True, False, False]
