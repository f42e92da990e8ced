import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.kernels import ExponentialKernel, PolynomialKernel
from kernlearn.solvers import KernelSVM, kernel_svm
from kernlearn.solvers.svm_training import Problem

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
    fit = KernelSVM._fit
    monkeypatch.setattr(
        KernelSVM, "_fit", lambda self, *data: fits.append(self.C) or fit(self, *data)
    )
    kernel = {"kernel": "rbf", "gamma": 2.0}
    KernelSVM(C=[1.0, 1e3, 1e5, 1e7], **kernel).path(X, Y)
    assert len(fits) == 2
    fits.clear()
    KernelSVM(C=[1e-4, 1e-3, 1e-2], **kernel).path(X, Y)
    assert len(fits) == 3


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "kernel", ["rbf", PolynomialKernel(2), ExponentialKernel(3.0), "precomputed"], ids=repr
)
def test_one_kernel_matrix_serves_all_values_of_c(kernel, classes, monkeypatch):
    X, y = make_classification(
        90, 6, n_informative=4, n_classes=classes, flip_y=0.1, random_state=0
    )
    train, test = X[:60], X[60:]
    if kernel == "precomputed":
        train, test = train @ train.T, test @ train.T
    made = []
    gram = Problem.gram
    monkeypatch.setattr(Problem, "gram", lambda self: made.append(1) or gram(self))
    Cs = [0.01, 0.1, 1.0]
    model = KernelSVM(kernel, tol=1e-9, class_weight={0: 2.0})
    path = clone(model).set_params(C=Cs).path(train, y[:60])
    assert len(made) == 1
    for C, fitted in zip(Cs, path.models, strict=True):
        alone = clone(model).set_params(C=C).fit(train, y[:60])
        # LIBSVM keeps the kernel in single precision, the path in double
        np.testing.assert_allclose(
            fitted.decision_function(test), alone.decision_function(test), rtol=1e-4, atol=1e-4
        )
        np.testing.assert_array_equal(fitted.predict_native(test), alone.predict_native(test))


def test_without_memory_for_the_matrix_each_fit_is_by_itself(monkeypatch):
    made = []
    monkeypatch.setattr(Problem, "gram", lambda self: made.append(1))
    path = KernelSVM("rbf", C=[0.1, 1.0], memory_limit=100_000).path(X, Y)
    assert not made
    for C, fitted in zip([0.1, 1.0], path.models, strict=True):
        alone = KernelSVM("rbf", C=C).fit(X, Y)
        np.testing.assert_array_equal(fitted.dual_coef_, alone.dual_coef_)


def test_settings_whose_solver_stopped_early(monkeypatch):
    from kernlearn.solvers import interior_point

    monkeypatch.setattr(interior_point, "_SMO_ITERATIONS", 1)
    monkeypatch.setattr(interior_point, "_MAX_ITER", 2)
    model = KernelSVM(kernel="poly", degree=6, coef0=1.0, C=[1.0, 1e6], solver="interior_point")
    with pytest.warns(ConvergenceWarning):
        path = model.path(X, Y)
    assert not path.converged.any()


@pytest.mark.parametrize("made", [np.asarray, csr_array])
def test_predictions_evaluate_each_kernel_once(made, monkeypatch):
    grid = {"C": [0.1, 1.0, 10.0], "degree": [1, 3]}
    path = KernelSVM("poly", coef0=1.0, **grid).path(made(X[:80]), Y[:80])
    alone = [model.predict(made(X[80:])) for model in path.models]
    evaluated = []
    compare = kernel_svm.compare
    monkeypatch.setattr(
        kernel_svm, "compare", lambda *given: evaluated.append(given[0]) or compare(*given)
    )
    np.testing.assert_array_equal(path.predict(made(X[80:])), alone)
    assert len(evaluated) == len(grid["degree"])
