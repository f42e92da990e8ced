"""Speed of voted kernel regularization, beside HiGHS with the whole linear program."""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.datasets import catalogue, load, locate
from kernlearn.voted import VotedKernelClassifier

_GRID = 10.0 ** -np.arange(7)
#: λ and β where the solution is sparse, and where it takes longest.
_SETTINGS = ((1e-1, 1e-2), (1e-3, 1e-4))


def run() -> list[Row]:
    """Measure on one thread."""
    if locate(catalogue()["ocr49"]) is None:
        print("voted: ocr49 left out, not found (set KERNLEARN_DATA)")
        return []
    with threadpool_limits(1):
        return _beside_the_program() + _grid()


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
        ours = VotedKernelClassifier(lam=lam, beta=beta)
        fit = least_seconds(partial(ours.fit, X[train], y[train]), repeats=3)
        whole = VotedKernelClassifier(lam=lam, beta=beta, solver="lp")
        peer = once(partial(whole.fit, X[train], y[train]))
        what = f"ocr49, {len(train)} points, 10 degrees, λ = {lam:g}, β = {beta:g}"
        off = abs(ours.objective_[0] / whole.objective_[0] - 1)
        rows.append(Row(f"HiGHS / column generation, {what}", fit, peer / fit, at_least=10))
        rows.append(Row(f"relative difference of objectives, {what}", fit, off, at_most=1e-5))
    return rows


def _grid() -> list[Row]:
    X, y, folds = _folds()
    start = perf_counter()
    n_open = 0
    for i in range(5):
        train = np.concatenate([folds[j] for j in range(5) if j not in (i, (i + 1) % 5)])
        path = VotedKernelClassifier(lam=_GRID, beta=_GRID).path(X[train], y[train])
        path.errors(X[folds[i]], y[folds[i]])
        n_open += sum(not s.converged for found in path.solutions for s in found)
    seconds = perf_counter() - start
    return [
        Row("ocr49, 49 settings on 5 folds, seconds", seconds, seconds, at_most=600),
        Row("problems of these with an open gap", seconds, n_open, at_most=0),
    ]
