"""What all estimators have in common."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.preprocessing import StandardScaler

from kernlearn.landmarks import KernelRegressor, RegLand, SparseRegLand
from tests.conformance import estimators

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 4))
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
TARGETS = np.column_stack([X[:, 0], X[:, 1] ** 2])


@pytest.mark.parametrize(("name", "estimator"), list(estimators()))
def test_docstrings_say_when_to_use_it(name, estimator):
    assert re.search(r"^\s*When to use it: ", inspect.getdoc(estimator), re.MULTILINE)


@pytest.mark.parametrize("model", [RegLand(), SparseRegLand(), KernelRegressor()])
def test_defaults_of_regression(model):
    """R² on diabetes; -1.31, 0.27 and 0.12 with the defaults of the papers' experiments."""
    points, y = load_diabetes(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    assert cross_val_score(model, points, y, cv=3).mean() > 0.35


@pytest.mark.parametrize(
    "model",
    [
        RegLand(10, random_state=0),
        RegLand(10, loss="epsilon_insensitive", C=1.0, random_state=0),
        KernelRegressor(),
    ],
)
def test_several_targets_are_as_many_models(model):
    together = clone(model).fit(X, TARGETS)
    if isinstance(model, RegLand):  # the C is chosen for all targets
        model = clone(model).set_params(C=together.C_, epsilon=together.epsilon_)
        together = clone(model).fit(X, TARGETS)
    apart = MultiOutputRegressor(model).fit(X, TARGETS)
    np.testing.assert_allclose(together.predict(X), apart.predict(X), rtol=1e-6, atol=1e-9)
    assert together.score(X, TARGETS) == pytest.approx(apart.score(X, TARGETS))
