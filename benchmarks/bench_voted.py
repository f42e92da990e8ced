"""Speed of voted kernel regularization, beside HiGHS with the whole linear program."""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, eye_array, hstack
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds
from kernlearn.datasets import catalogue, load, locate
from kernlearn.svm import KernelSVM
from kernlearn.voted import VotedKernelClassifier

_GRID = 10.0 ** -np.arange(7)
#: Values of C and degree of the L2-SVM.
_COSTS = [10.0**k for k in range(-4, 8)]
_DEGREE = 3
#: λ and β where the solution is sparse, and where it takes longest.
_SETTINGS = ((1e-1, 1e-2), (1e-3, 1e-4))


def run() -> list[Row]:
    """Measure on one thread."""
    if locate(catalogue()["ocr49"]) is None:
        print("voted: ocr49 left out, not found (set KERNLEARN_DATA)")
        return []
    with threadpool_limits(1):
        return _beside_the_program() + _grid() + _svm_path()


def _folds() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return ocr49, every vector of unit length, and five folds."""
    data = load("ocr49")
    X = data.data / np.linalg.norm(data.data, axis=1, keepdims=True)
    return X, data.target, np.array_split(np.random.RandomState(0).permutation(len(X)), 5)


def _beside_the_program() -> list[Row]:
    X, y, folds = _folds()
    train = np.concatenate(folds[2:])
    rows = []
    for lam, beta in _SETTINGS:
        ours = VotedKernelClassifier(None, lam=lam, beta=beta, tol=1e-6)
        fit = least_seconds(partial(ours.fit, X[train], y[train]), repeats=3)
        signs = np.where(y[train] == ours.classes_[1], 1.0, -1.0)
        start = perf_counter()
        least = _by_highs(X[train], signs, ours.penalties_)
        peer = perf_counter() - start
        what = f"ocr49, {len(train)} points, 10 degrees, λ = {lam:g}, β = {beta:g}"
        off = abs(ours.objective_[0] / least - 1)
        rows.append(Row(f"HiGHS / column generation, {what}", fit, peer / fit, at_least=10))
        rows.append(Row(f"relative difference of objectives, {what}", fit, off, at_most=1e-5))
    return rows


def _by_highs(X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> float:
    """Return the minimum of objective (1) by the linear program with all its columns."""
    inner = X @ X.T + 1
    columns = np.vstack([y * (inner**k) for k in range(1, 11)])
    scales = np.abs(columns).max(axis=1)
    costs = len(y) * np.repeat(penalties, len(y)) / scales
    columns /= scales[:, np.newaxis]
    # A column that costs more than it can gain stays 0; its cost would only spoil the scaling.
    useful = costs <= np.abs(columns).sum(axis=1)
    block = csc_array(-columns[useful].T)
    result = linprog(
        np.concatenate([costs[useful], costs[useful], np.ones(len(y))]),
        A_ub=hstack([block, -block, -eye_array(len(y))], format="csc"),
        b_ub=-np.ones(len(y)),
        method="highs",
    )
    return float(result.fun) / len(y)


def _grid() -> list[Row]:
    X, y, folds = _folds()
    start = perf_counter()
    n_open = 0
    for i in range(5):
        train = np.concatenate([folds[j] for j in range(5) if j not in (i, (i + 1) % 5)])
        model = VotedKernelClassifier(None, tol=1e-6)
        for fits in model.path(X[train], y[train], {"lam": _GRID, "beta": _GRID}):
            fits.outputs("predict", X[folds[i]])
            n_open += len(fits.converged) - sum(fits.converged)
    seconds = perf_counter() - start
    start = perf_counter()
    for i in range(5):
        train = np.concatenate([folds[j] for j in range(5) if j not in (i, (i + 1) % 5)])
        _by_svc(X[train], y[train], X[folds[i]], _DEGREE)
    peer = perf_counter() - start
    return [
        Row("ocr49, 49 settings on 5 folds, seconds", seconds, seconds, at_most=600),
        Row("problems of these with an open gap", seconds, n_open, at_most=0),
        Row(
            f"these 49 settings / SVC's {len(_COSTS)} values of C at degree {_DEGREE}, 5 folds",
            seconds,
            seconds / peer,
        ),
    ]


def _svm_path() -> list[Row]:
    X, y, folds = _folds()
    train = np.concatenate(folds[2:])
    model = KernelSVM("poly", gamma=1.0, coef0=1.0, degree=_DEGREE, solver="interior_point")
    model.set_params(C=_COSTS)
    model.path(X[train[:100]], y[train[:100]])  # imports
    start = perf_counter()
    found = model.path(X[train], y[train]).predict(X[folds[0]])
    seconds = perf_counter() - start
    start = perf_counter()
    peer = _by_svc(X[train], y[train], X[folds[0]], _DEGREE)
    ratio = (perf_counter() - start) / seconds
    what = f"ocr49, degree {_DEGREE}, {len(_COSTS)} values of C"
    return [
        Row(f"SVC on a precomputed Gram / KernelSVM.path, {what}", seconds, ratio),
        Row(f"share of predictions that differ, {what}", seconds, np.mean(found != peer)),
    ]


def _by_svc(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, degree: int) -> np.ndarray:
    """Return what scikit-learn's SVC predicts for each C; the Gram is computed once."""
    gram, block = (X @ X.T + 1) ** degree, (X_test @ X.T + 1) ** degree
    fitted = (SVC(C=C, kernel="precomputed").fit(gram, y) for C in _COSTS)
    return np.array([model.predict(block) for model in fitted])
