"""Speed of the LIBLINEAR and LIBSVM bridges, beside the official bindings in the same run."""

from __future__ import annotations

from functools import partial

from liblinear import liblinearutil
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.linear import LinearSVM
from kernlearn.svm import KernelSVM

_OPTIONS = "-s 2 -B 1 -q"


def run() -> list[Row]:
    """Measure everything, on one thread, LIBSVM's OpenMP too."""
    with threadpool_limits(1):
        measures = (_linear_fit, _linear_presolve, _linear_predict, _matrix_fit, _kernel_predict)
        return [row for measure in measures for row in measure()]


def _linear_fit() -> list[Row]:
    X, y = make_classification(20_000, 500, n_informative=50, random_state=0)
    ours = least_seconds(lambda: LinearSVM().fit(X, y))
    theirs = once(lambda: liblinearutil.train(liblinearutil.problem(y, X), _OPTIONS))
    what = "LinearSVM.fit, 20000 x 500 / official problem and train"
    return [Row(what, ours, ours / theirs, at_most=1)]


def _linear_presolve() -> list[Row]:
    X, y = make_classification(
        50_000, 100, n_informative=40, n_redundant=0, class_sep=2.0, random_state=0
    )
    model = LinearSVM(C=10.0)
    cold = least_seconds(lambda: model.fit(X, y))
    warm = least_seconds(lambda: model.set_params(presolve=0.1).fit(X, y))
    return [Row("LinearSVM(presolve=0.1).fit, 50000 x 100 / without presolve", warm, warm / cold)]


def _linear_predict() -> list[Row]:
    X, y = make_classification(2_000, 500, n_informative=50, random_state=0)
    ours = LinearSVM().fit(X, y)
    signs = 2.0 * y - 1
    model = liblinearutil.train(signs, X, _OPTIONS)
    blas = least_seconds(lambda: ours.predict(X))
    official = once(lambda: liblinearutil.predict(signs, X, model, "-q"))
    what = "LinearSVM.predict, 2000 x 500 / official predict"
    return [Row(what, blas, blas / official, at_most=0.01)]


def _matrix_fit() -> list[Row]:
    X, y = make_classification(4_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    gram = rbf_kernel(X)
    ours = least_seconds(lambda: KernelSVM("precomputed").fit(gram, y))
    theirs = least_seconds(lambda: SVC(kernel="precomputed").fit(gram, y))
    return [Row("KernelSVM('precomputed').fit, 4000 / SVC", ours, ours / theirs, at_most=1.2)]


def _kernel_predict() -> list[Row]:
    X, y = make_classification(5_000, 50, n_informative=10, flip_y=0.2, random_state=0)
    rows = []
    for kernel, own in (("rbf", {}), ("poly", {"coef0": 1.0})):
        model = KernelSVM(kernel, **own).fit(X[:3000], y[:3000])
        blas = least_seconds(partial(model.predict, X))
        native = once(partial(model.predict_native, X))
        what = f"KernelSVM({kernel!r}).predict, 5000 x 50, {len(model.support_)} vectors"
        rows.append(Row(f"{what} / LIBSVM's own", blas, blas / native, at_most=0.5))
    return rows
