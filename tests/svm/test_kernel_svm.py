import pickle
import subprocess
import sys
import textwrap
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from sklearn.utils.extmath import row_norms

from kernlearn import memory
from kernlearn.kernels import ExponentialKernel, HomogeneousPolynomialKernel, PolynomialKernel
from kernlearn.svm import KernelSVM, kernel_svm, solvers

X2, Y2 = make_classification(240, 8, n_informative=4, flip_y=0.1, random_state=0)
X4, Y4 = make_classification(240, 8, n_informative=5, n_classes=4, flip_y=0.1, random_state=1)


class Gaussian:
    """A user's callable; its name, unlike a function's, is the same in every process."""

    def __call__(self, X, Y=None):
        return rbf_kernel(X, Y)

    def __repr__(self):
        return "Gaussian()"


DATA = pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X4, Y4)], ids=["two", "four"])
BUILT_IN = ["linear", "poly", "rbf"]


def assert_agrees(model, peer, X):
    """Same model, and the same two predictions, as another estimator fitted on the same rows."""
    np.testing.assert_array_equal(model.support_, peer.support_)
    np.testing.assert_array_equal(model.n_support_, peer.n_support_)
    scale = np.abs(peer.dual_coef_).max()
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-5, atol=1e-6)
    values = peer.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    if hasattr(model, "predict_native"):
        np.testing.assert_array_equal(model.predict_native(X), peer.predict(X))


@DATA
@pytest.mark.parametrize("kernel", BUILT_IN)
@pytest.mark.parametrize("gamma", ["scale", 0.05])
def test_kernels_of_libsvm_are_scikit_learns(X, y, kernel, gamma):
    own = {"coef0": 0.5, "degree": 2, "gamma": gamma}
    own = {name: value for name, value in own.items() if name in kernel_svm.TAKEN[kernel]}
    told = {"kernel": kernel, "C": 2.0, "tol": 1e-6, **own}
    balanced = {**told, "class_weight": "balanced"}
    assert_agrees(KernelSVM(**balanced).fit(X, y), SVC(**balanced).fit(X, y), X)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    assert_agrees(KernelSVM(**told).fit(X, y, weights), SVC(**told).fit(X, y, weights), X)


@DATA
@pytest.mark.parametrize("block_bytes", [1, 1 << 21])
def test_functions_are_scikit_learns(X, y, block_bytes, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", block_bytes)
    told = {"kernel": laplacian_kernel, "tol": 1e-6}
    assert_agrees(KernelSVM(**told).fit(X, y), SVC(**told).fit(X, y), X)


@DATA
def test_precomputed_is_scikit_learns(X, y):
    gram = laplacian_kernel(X)
    model = KernelSVM("rbf", tol=1e-6).fit(X, y)  # nothing of which is left
    model.set_params(kernel="precomputed").fit(gram, y)
    assert_agrees(model, SVC(kernel="precomputed", tol=1e-6).fit(gram, y), gram)
    assert not hasattr(model, "support_vectors_")


@pytest.mark.parametrize(
    ("kernel", "same"),
    [
        (PolynomialKernel(degree=3, coef0=0.5), {"degree": 3, "coef0": 0.5}),
        (HomogeneousPolynomialKernel(degree=2), {"degree": 2, "coef0": 0.0}),
    ],
)
def test_polynomial_kernel_objects_need_no_matrix(kernel, same):
    model = KernelSVM(kernel, tol=1e-6).fit(X4, Y4)
    assert_agrees(model, SVC(kernel="poly", gamma=1.0, tol=1e-6, **same).fit(X4, Y4), X4)


@DATA
def test_a_kernel_object_is_fitted_on_the_training_rows(X, y):
    kernel = ExponentialKernel()
    model = KernelSVM(kernel, tol=1e-6).fit(X[:150], y[:150])
    fitted = clone(kernel).fit(X[:150])
    assert model.kernel_.sigma_ == fitted.sigma_
    assert not hasattr(kernel, "sigma_")
    peer = SVC(kernel=fitted, tol=1e-6).fit(X[:150], y[:150])
    assert_agrees(model, peer, X)


def test_rows_are_selected_on_both_sides_in_cross_validation():
    gram = laplacian_kernel(X2)
    given = cross_val_score(KernelSVM("precomputed"), gram, Y2)
    np.testing.assert_allclose(given, cross_val_score(KernelSVM(laplacian_kernel), X2, Y2))


@DATA
@pytest.mark.parametrize("kernel", [*BUILT_IN, "function"])
def test_sparse_rows_give_the_same_model(X, y, kernel):
    kernel = laplacian_kernel if kernel == "function" else kernel
    thin = X * (np.abs(X) > 0.7)
    model = KernelSVM(kernel, tol=1e-6).fit(sp.csr_array(thin), y)
    dense = KernelSVM(kernel, tol=1e-6).fit(thin, y)
    assert sp.issparse(model.support_vectors_)
    np.testing.assert_allclose(
        model.decision_function(sp.csr_array(thin)), dense.decision_function(thin), atol=1e-6
    )
    if kernel != laplacian_kernel:
        found = model.predict_native(sp.csr_array(thin))
        np.testing.assert_array_equal(found, dense.predict(thin))


def test_points_far_from_the_origin():
    """LIBSVM computes distances from norms, in which all digits would be those of the shift."""
    points = np.round(X2 * 1024) / 1024  # the sums are exact
    near = KernelSVM().fit(points, Y2)
    for solver, form in product(("libsvm", "interior_point"), (np.asarray, sp.csr_array)):
        shifted = form(points + 2**30)
        far = KernelSVM(solver=solver).fit(shifted, Y2)
        np.testing.assert_array_equal(far.predict(shifted), near.predict(points))
        np.testing.assert_array_equal(far.predict_native(points + 2**30), near.predict(points))


def test_float32_is_trained_in_double_precision():
    single = X2.astype(np.float32)
    found = KernelSVM().fit(single, Y2).decision_function(single)
    expected = KernelSVM().fit(single.astype(np.float64), Y2).decision_function(single)
    np.testing.assert_array_equal(found, expected)


@DATA
@pytest.mark.parametrize("kernel", ["poly", PolynomialKernel(2), ExponentialKernel()])
def test_a_pickled_model_predicts_both_ways(X, y, kernel):
    X = X / 5
    model = KernelSVM(kernel).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    del model.support_vectors_, model.dual_coef_
    expected = KernelSVM(kernel).fit(X, y).predict(X)
    np.testing.assert_array_equal(again.predict(X), expected)
    np.testing.assert_array_equal(again.predict_native(X), expected)


@pytest.mark.parametrize("told", [{"kernel": laplacian_kernel}, {"solver": "interior_point"}])
def test_a_matrix_that_does_not_fit_is_refused(told, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)
    monkeypatch.setattr(memory, "freed_memory", lambda: 0)
    monkeypatch.setattr(memory, "_UNCHECKED", 0)
    with pytest.raises(MemoryError, match=r"kernel matrix of 240 rows"):
        KernelSVM(**told).fit(X2, Y2)
    KernelSVM("rbf").fit(X2, Y2)  # makes no matrix


@pytest.mark.parametrize("in_path", [False, True])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, "'solver'"),
        ({"kernel": "cosin"}, "no similarity 'cosin'; did you mean 'cosine'"),
        ({"gamma": -1.0}, "'gamma'"),
        ({"kernel": "precomputed"}, r"square matrix .* got shape \(240, 8\)"),
        ({"kernel": lambda A, B: A}, "'function'"),
        ({"kernel": lambda A, B: A @ B.T + np.inf}, "is infinite"),
        ({"kernel": "poly", "degree": 400, "gamma": 9.0}, "overflow"),
        ({"kernel": "poly", "degree": 400, "gamma": 9.0, "solver": "interior_point"}, "overflow"),
        ({"kernel": PolynomialKernel(degree=40)}, "overflow: they reach"),
        ({"kernel": lambda A, B: 1e39 * A @ B.T}, "overflow: they reach"),
    ],
)
def test_what_is_not_allowed(parameters, message, in_path):
    model = KernelSVM(**parameters)
    with pytest.raises(ValueError, match=message):
        list(model.path(X2, Y2, {})) if in_path else model.fit(X2, Y2)


@pytest.mark.parametrize("sigma", ["mean_distance", 0.5])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
@DATA
def test_native_prediction_evaluates_the_exponential_kernel_itself(
    monkeypatch, as_matrix, sigma, X, y
):
    X = as_matrix(X / np.linalg.norm(X, axis=1).max())
    model = KernelSVM(ExponentialKernel(sigma=sigma), C=10.0).fit(X, y)
    expected = model.predict(X)
    with monkeypatch.context() as patched:
        # LIBSVM has to do without values of ours
        patched.setattr(ExponentialKernel, "__call__", None)
        np.testing.assert_array_equal(model.predict_native(X), expected)
    # points beyond the range of the factors
    gaussian = model._scaled_gaussian()
    largest = gaussian.gamma * row_norms(model.support_vectors_, squared=True).max()
    monkeypatch.setattr(kernel_svm, "_LARGEST_EXPONENT", 1.01 * largest)
    far = np.abs(row_norms(2 * X, squared=True) * gaussian.gamma) > 1.01 * largest
    assert 0 < far.sum() < far.size
    np.testing.assert_array_equal(model.predict_native(2 * X), model.predict(2 * X))
    monkeypatch.setattr(kernel_svm, "_LARGEST_EXPONENT", 0.01)
    assert not hasattr(model, "predict_native")


class Other(ExponentialKernel):
    """A subclass may compute something else."""


class OtherPolynomial(PolynomialKernel):
    """So may this."""


def test_native_prediction_is_there_for_kernels_of_libsvm_alone():
    assert not hasattr(KernelSVM(), "predict_native")  # not fitted
    for kernel in (Other(1.0), OtherPolynomial(), Gaussian(), "precomputed"):
        X = laplacian_kernel(X2) if kernel == "precomputed" else X2 / 10
        assert not hasattr(KernelSVM(kernel).fit(X, Y2), "predict_native")


def test_the_matrix_is_not_copied(monkeypatch):
    gram = laplacian_kernel(X2)
    passed = []
    fit = SVC.fit
    monkeypatch.setattr(
        SVC, "fit", lambda self, X, *a, **k: passed.append(X) or fit(self, X, *a, **k)
    )
    KernelSVM("precomputed").fit(gram, Y2)
    assert np.shares_memory(passed[0], gram)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_an_interrupt_ends_a_long_fit():
    code = """
        import os, signal, threading, time
        import numpy as np
        from sklearn.base import clone
        from kernlearn.svm import KernelSVM

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(1500, 2)), rng.integers(0, 2, 1500)
        gram = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
        for kernel, points, solver in (
            ("rbf", X, "libsvm"),
            ("precomputed", gram, "libsvm"),
            ("precomputed", gram, "interior_point"),
        ):
            model = KernelSVM(kernel, C=1e9, tol=1e-9, solver=solver)
            clone(model).fit(points[:50, :50], y[:50])
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            due = time.monotonic() + 0.5
            try:
                model.fit(points, y)
            except KeyboardInterrupt:
                print(time.monotonic() - due)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seconds = [float(line) for line in done.stdout.split()]
    assert len(seconds) == 3
    assert max(seconds) < 2  # the fit takes many minutes


@pytest.mark.parametrize("degree", [1, 3, 6])
def test_each_setting_of_a_path_is_the_one_fitted_alone(degree):
    Cs = [0.1, 1000.0, 1e6, 10.0]
    model = KernelSVM("poly", degree=degree, coef0=1.0, gamma=0.2, tol=1e-5)
    model.set_params(solver="interior_point")
    (path,) = model.path(X2[:160], Y2[:160], {"C": Cs})
    assert path.params == [{"C": C} for C in sorted(Cs)]
    outputs = [path.outputs(name, X2[160:]) for name in ("predict", "decision_function")]
    for C, fitted, predicted, decisions in zip(sorted(Cs), path.models, *outputs, strict=True):
        alone = clone(model).set_params(C=C).fit(X2[:160], Y2[:160])
        assert fitted.C == C
        np.testing.assert_array_equal(predicted, alone.predict(X2[160:]))
        for values in (decisions, fitted.decision_function(X2[160:])):
            np.testing.assert_allclose(values, alone.decision_function(X2[160:]), atol=5e-3)
        assert abs(len(fitted.support_) - len(alone.support_)) <= 2


@pytest.mark.parametrize(("Cs", "n_fits"), [([1.0, 1e3, 1e5, 1e7], 2), ([1e-4, 1e-3, 1e-2], 3)])
def test_a_solution_below_the_bound_serves_greater_values_of_c(Cs, n_fits):
    (path,) = KernelSVM(gamma=2.0).path(X2, Y2, {"C": Cs})
    assert len({id(fitted.support_) for fitted in path.models}) == n_fits


@DATA
@pytest.mark.parametrize(
    "kernel", ["rbf", PolynomialKernel(2), ExponentialKernel(3.0), "precomputed"], ids=repr
)
@pytest.mark.parametrize("has_memory", [True, False])
def test_one_kernel_matrix_serves_all_values_of_c(kernel, X, y, has_memory, monkeypatch):
    if not has_memory:  # each is then fitted by itself
        monkeypatch.setattr(kernel_svm, "allowed_memory", lambda: 0)
    points = X @ X.T if kernel == "precomputed" else X
    made, compared = [], KernelSVM._compared
    monkeypatch.setattr(
        KernelSVM, "_compared", lambda self, X: made.append(1) or compared(self, X)
    )
    factors = {label: 0.5 + 0.1 * place for place, label in enumerate(np.unique(y).tolist())}
    model = KernelSVM(kernel, tol=1e-9, class_weight=factors)
    (path,) = model.path(points, y, {"C": [0.01, 0.1, 1.0]})
    native = kernel == "rbf" or isinstance(kernel, PolynomialKernel)
    assert len(made) == (0 if kernel == "precomputed" or (native and not has_memory) else 1)
    decisions = path.outputs("decision_function", points)
    for params, fitted, values in zip(path.params, path.models, decisions, strict=True):
        alone = clone(model).set_params(**params).fit(points, y).decision_function(points)
        np.testing.assert_allclose(fitted.decision_function(points), alone, atol=1e-5)
        np.testing.assert_allclose(values, alone, atol=1e-5)


def test_the_limit_of_iterations_is_read_from_the_output(monkeypatch):
    said = "..*\noptimization finished, #iter = {}\nnu = 0.5\n"
    few, many = np.array([50, 50]), np.array([50, 50, 200_000])
    assert not solvers.reached_limit(said.format(9_999_999), few)
    assert solvers.reached_limit(said.format(10_000_000), few)
    # of the first pair, whose limit is that of its own rows
    assert solvers.reached_limit(said.format(10_000_000) + 2 * said.format(5), many)
    assert not solvers.reached_limit(said.format(5) + 2 * said.format(10_000_000), many)
    monkeypatch.setattr(solvers, "reached_limit", lambda output, n: "#iter = " in output)
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        KernelSVM().fit(X4, Y4)


def test_settings_whose_solver_stopped_early(monkeypatch):
    monkeypatch.setattr(solvers, "_SMO_ITERATIONS", 1)
    monkeypatch.setattr(solvers, "_MAX_ITER", 2)
    model = KernelSVM(kernel="poly", degree=6, coef0=1.0, solver="interior_point")
    with pytest.warns(ConvergenceWarning):
        (path,) = model.path(X2, Y2, {"C": [1.0, 1e6]})
    assert path.converged == [False, False]
