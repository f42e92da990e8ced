"""Feature maps: Maclaurin features of other kinds beside H0/1, sketches beside scikit-learn's.

Seconds of transforms are taken in turns within one process, on one thread. Errors are mean squared
differences from the kernel over pairs of points and seeds.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_in_turns, once
from kernlearn.features import RandomMaclaurin, TensorSketch
from kernlearn.kernels import PolynomialKernel

#: Rows, columns, cells and degree; the first has a target.
_CASES = [
    (20_000, 54, 1000, 10),
    (2000, 54, 1000, 3),
    (2000, 54, 999, 10),
    (2000, 20, 100, 3),
    (2000, 100, 4096, 4),
    (2000, 784, 1000, 3),
    (1000, 784, 10_000, 2),
]
_TARGET = 2.5


def run() -> list[Row]:
    """Measure everything on one thread."""
    with threadpool_limits(1):
        return _maclaurin() + _times() + _errors()


def _maclaurin() -> list[Row]:
    """Compare transforms to 500 columns, with orders chosen for the variance, with H0/1's."""
    rows = []
    for d in (8, 54, 123):
        X = _unit_ball(20_000, d) + 0.02
        plain = RandomMaclaurin(PolynomialKernel(10), 500, h01=True, include_exact=True)
        plain.set_params(random_state=0).fit(X)
        for name, options in (
            ("variance", {}),
            ("variance, centred", {"center": True}),
            ("variance, complex", {"complex_to_real": True}),
            ("variance, complex, centred", {"complex_to_real": True, "center": True}),
        ):
            model = clone(plain).set_params(measure="variance", **options).fit(X)
            theirs, ours = _in_turns(plain, model, X)
            rows.append(Row(f"{name} / H0/1, d={d}", ours, ours / theirs, at_most=1.2))
    return rows


def _times() -> list[Row]:
    rows = []
    for i, (n, d, D, degree) in enumerate(_CASES):
        peer, ours = _sketches(D, degree)
        for dtype in (np.float64, np.float32):
            X = _unit_ball(n, d).astype(dtype)
            theirs, mine = _in_turns(peer.fit(X), ours.fit(X), X)
            what = f"n={n} d={d} D={D} degree={degree} {np.dtype(dtype).name}"
            target = _TARGET if i == 0 and dtype == np.float64 else None
            rows.append(Row(f"PolynomialCountSketch / {what}", mine, theirs / mine, target))
    return rows


def _errors() -> list[Row]:
    kernel, X = PolynomialKernel(4), _unit_ball(40, 54)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    peer, ours = _sketches(500, 4)
    seconds = once(lambda: ours.fit_transform(X))
    ratio = _squared_error(ours, kernel, X) / _squared_error(peer, kernel, X)
    return [Row("squared error: TensorSketch / PolynomialCountSketch", seconds, ratio, at_most=1)]


def _sketches(D: int, degree: int) -> tuple[Any, Any]:
    """Return scikit-learn's sketch and ours of the same kernel."""
    peer = PolynomialCountSketch(degree=degree, n_components=D, coef0=1, random_state=0)
    return peer, TensorSketch(PolynomialKernel(degree), D, random_state=0)


def _in_turns(first: Any, second: Any, X: np.ndarray) -> list[float]:
    return least_in_turns(lambda: first.transform(X), lambda: second.transform(X), repeats=3)


def _squared_error(model: Any, kernel: PolynomialKernel, X: np.ndarray) -> float:
    exact, found = kernel(X), []
    for seed in range(100):
        Z = clone(model).set_params(random_state=seed).fit_transform(X)
        found.append(((Z @ Z.T - exact) ** 2).mean())
    return float(np.mean(found))


def _unit_ball(n_samples: int, n_features: int) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    return X / np.linalg.norm(X, axis=1).max()
