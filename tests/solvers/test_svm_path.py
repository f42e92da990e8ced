import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.solvers import KernelSVM

X, Y = make_classification(120, 6, n_informative=4, flip_y=0.1, random_state=0)
GRID = {"C": [0.1, 1000.0, 1e6, 10.0], "degree": [1, 3, 6]}


def test_each_setting_is_the_one_fitted_alone():
    fixed = {"kernel": "poly", "coef0": 1.0, "gamma": 0.2, "solver": "interior_point", "tol": 1e-5}
    path = KernelSVM(**fixed, **GRID).path(X[:80], Y[:80])
    assert [setting.params for setting in path.settings] == list(ParameterGrid(GRID))
    predicted = path.predict(X[80:])
    for i, setting in enumerate(path.settings):
        alone = KernelSVM(**fixed, **setting.params).fit(X[:80], Y[:80])
        assert setting.params["C"] == path.models[i].C
        np.testing.assert_array_equal(predicted[i], alone.predict(X[80:]))
        np.testing.assert_allclose(
            path.models[i].decision_function(X[80:]), alone.decision_function(X[80:]), atol=2e-3
        )
        assert abs(path.n_support[i] - alone.n_support_.sum()) <= 1


def test_a_solution_below_the_bound_serves_greater_values_of_c(monkeypatch):
    fits = []
    fit = KernelSVM.fit
    monkeypatch.setattr(
        KernelSVM, "fit", lambda self, *data: fits.append(self.C) or fit(self, *data)
    )
    kernel = {"kernel": "rbf", "gamma": 2.0}
    KernelSVM(C=[1.0, 1e3, 1e5, 1e7], **kernel).path(X, Y)
    assert len(fits) == 2
    fits.clear()
    KernelSVM(C=[1e-4, 1e-3, 1e-2], **kernel).path(X, Y)
    assert len(fits) == 3


def test_settings_whose_solver_stopped_early(monkeypatch):
    from kernlearn.solvers import interior_point

    monkeypatch.setattr(interior_point, "_SMO_ITERATIONS", 1)
    monkeypatch.setattr(interior_point, "_MAX_ITER", 2)
    model = KernelSVM(kernel="poly", degree=6, coef0=1.0, C=[1.0, 1e6], solver="interior_point")
    with pytest.warns(ConvergenceWarning):
        path = model.path(X, Y)
    assert not path.converged.any()
