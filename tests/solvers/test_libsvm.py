"""The bridge itself; what users see of it is tested with the estimators."""

import ctypes

import numpy as np
import pytest
from libsvm import svm as official
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers import libsvm
from kernlearn.solvers.libsvm import NativeModel, Settings, SVMKernel, reached_limit, train
from kernlearn.solvers.nodes import feature_rows
from kernlearn.solvers.svm_prediction import pair_coefficients

X, CODES = make_classification(150, 6, n_informative=4, n_classes=3, random_state=0)
KERNEL = SVMKernel("rbf", gamma=0.2)


def settings(n_classes=3, **changes):
    told = {"C": 1.0, "tol": 1e-3, "cache_size": 10.0, "shrinking": True}
    return Settings(**{**told, "class_weight": np.ones(n_classes), **changes})


def test_support_vectors_come_by_class_whatever_the_order_of_the_rows():
    rows = feature_rows(X)
    found = train(rows, CODES, KERNEL, settings())
    ends = np.cumsum(found.n_by_class)
    assert ends[-1] == len(found.indices)
    np.testing.assert_array_equal(CODES[found.indices], np.repeat([0, 1, 2], found.n_by_class))
    turned = np.argsort(-CODES, kind="stable")  # within a class the order stays
    again = train(feature_rows(X[turned]), CODES[turned], KERNEL, settings())
    np.testing.assert_array_equal(turned[again.indices], found.indices)
    np.testing.assert_array_equal(again.coefficients, found.coefficients)
    np.testing.assert_array_equal(again.rho, found.rho)


@pytest.mark.parametrize("kernel", [KERNEL, SVMKernel("poly", 3, 0.5, 1.0), SVMKernel("linear")])
def test_native_decision_values_are_those_of_blas(kernel):
    rows = feature_rows(X)
    found = train(rows, CODES, kernel, settings())
    vectors = X[found.indices]
    native = NativeModel(kernel, feature_rows(vectors), found)
    values = (ctypes.c_double * 3)()
    pointers = rows.pointer(official.svm_node)
    slow = []
    for i in range(len(X)):
        official.libsvm.svm_predict_values(native.model, pointers[i], values)
        slow.append(list(values))
    fast = kernel(X, vectors) @ pair_coefficients(found.coefficients, found.n_by_class)
    np.testing.assert_allclose(fast - found.rho, slow, rtol=0, atol=1e-9)


def test_what_libsvm_refuses_is_an_error():
    with pytest.raises(ValueError, match="LIBSVM refuses its parameters: C <= 0"):
        train(feature_rows(X), CODES, KERNEL, settings(C=-1.0))


def test_the_limit_of_iterations_is_read_from_the_output():
    said = "..*\noptimization finished, #iter = {}\nnu = 0.5\n"
    assert not reached_limit(said.format(9_999_999), 100)
    assert reached_limit(said.format(10_000_000), 100)
    assert reached_limit(said.format(5) + said.format(10_000_000), 100)
    assert not reached_limit(said.format(10_000_000), 200_000)


def test_a_problem_stopped_at_the_limit_warns(monkeypatch):
    monkeypatch.setattr(libsvm, "reached_limit", lambda output, n: "#iter = " in output)
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        train(feature_rows(X), CODES, KERNEL, settings())
