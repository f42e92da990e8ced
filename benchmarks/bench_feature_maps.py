"""Feature maps: Maclaurin features of new kinds beside H0/1, sketches beside scikit-learn's.

Both sketches are of the same algorithm (``terms="column"``): the same number of cells, the same
distribution of errors. Seconds of transforms are taken in turns within one process, on one
thread. Errors are mean squared differences from the kernel over pairs of points and seeds.
"""

from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_in_turns, once
from kernlearn.features import (
    PositiveFeatures,
    RandomMaclaurin,
    SphericalFeatures,
    TensorSketch,
    tensor_sketch,
)
from kernlearn.kernels import ExponentialKernel, PolynomialKernel

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
_TARGET = 20.0


def run() -> list[Row]:
    """Measure everything on one thread."""
    with threadpool_limits(1):
        rows = []
        for step in (_maclaurin, _projections, _times, _ways, _errors, _other_maps):
            rows += step()
    return rows


def _maclaurin() -> list[Row]:
    """Compare transforms to 500 columns, with orders chosen for the variance, with H0/1's."""
    rows = []
    for d in (8, 54, 123):
        X = _unit_ball(20_000, d) + 0.02
        plain = RandomMaclaurin(PolynomialKernel(10), 500, h01=True, include_exact=True)
        plain.set_params(random_state=0).fit(X)
        for name, options in (
            ("variance", {"measure": "variance"}),
            ("variance, centred", {"measure": "variance", "center": True}),
            ("variance, complex", {"measure": "variance", "complex_to_real": True}),
            (
                "variance, complex, centred",
                {"measure": "variance", "complex_to_real": True, "center": True},
            ),
            (
                "exact orders, centred",
                {
                    "measure": "variance",
                    "exact_orders": "auto",
                    "complex_to_real": "auto",
                    "center": True,
                },
            ),
        ):
            model = clone(plain).set_params(**options).fit(X)
            theirs, ours = _in_turns(plain, model, X)
            rows.append(Row(f"{name} / H0/1, d={d}", ours, ours / theirs, at_most=1.2))
    return rows


def _projections() -> list[Row]:
    """Compare products of random signs with those of Hadamard signs."""
    rows = []
    for d, dtype in product((54, 512, 4096), (np.float64, np.float32)):
        X = _unit_ball(2000, d).astype(dtype)
        dense = RandomMaclaurin(PolynomialKernel(3), 1000, measure="support", random_state=0)
        model = clone(dense).set_params(projection="hadamard").fit(X)
        theirs, ours = _in_turns(dense.fit(X), model, X)
        what = f"signs / Hadamard signs, d={d} {np.dtype(dtype).name}"
        rows.append(Row(what, ours, theirs / ours, at_least=0.9))
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
    n, d, D, degree = _CASES[0]
    X = _unit_ball(n, d)
    column = _sketches(D, degree)[1].fit(X)
    nested = clone(column).set_params(terms="nested").fit(X)
    theirs, mine = _in_turns(column, nested, X)
    return [*rows, Row("nested / column", mine, mine / theirs)]


def _ways() -> list[Row]:
    """Compare transforms by FFT with those from sums, where either could be chosen."""
    rows, chosen = [], tensor_sketch.prefers_sums
    for d, D in product((10, 30, 100, 300), (96, 1000, 10_000)):
        X = _unit_ball(2_000_000 // (D + 1000), d)
        model = TensorSketch(PolynomialKernel(4), D, random_state=0).fit(X)

        def work(sums: bool, model: Any = model, X: np.ndarray = X) -> None:
            tensor_sketch.prefers_sums = lambda *_: sums
            model.transform(X)

        try:
            by_sums, by_fft = least_in_turns(lambda: work(True), lambda: work(False), repeats=3)
        finally:
            tensor_sketch.prefers_sums = chosen
        taken = "sums" if chosen(model.hashes_, D) else "FFT"
        rows.append(Row(f"FFT / sums, d={d} D={D} (taken: {taken})", by_sums, by_fft / by_sums))
    return rows


def _errors() -> list[Row]:
    kernel, X = PolynomialKernel(4), _unit_ball(40, 54)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    peer, column = _sketches(500, 4)
    nested = clone(column).set_params(terms="nested")
    theirs = _squared_error(peer, kernel, X)
    rows = []
    for name, model in (("column", column), ("nested", nested)):
        seconds = once(lambda model=model: model.fit_transform(X))
        ratio = _squared_error(model, kernel, X) / theirs
        rows.append(Row(f"squared error: TensorSketch {name} / their sketch", seconds, ratio))
    return rows


def _other_maps() -> list[Row]:
    """Seconds of the other maps over those of RandomMaclaurin, all with 1000 features."""
    X = _unit_ball(20_000, 54)
    maclaurin = RandomMaclaurin(PolynomialKernel(10), 1000, random_state=0).fit(X)
    others = {
        "SphericalFeatures": SphericalFeatures(PolynomialKernel(10), 1000, random_state=0),
        "PositiveFeatures": PositiveFeatures(ExponentialKernel(1.0), 1000, random_state=0),
    }
    rows = []
    for name, model in others.items():
        theirs, ours = _in_turns(maclaurin, model.fit(X), X)
        rows.append(Row(f"{name} / RandomMaclaurin, 20000 x 54", ours, ours / theirs))
    return rows


def _sketches(D: int, degree: int) -> tuple[Any, Any]:
    """Return scikit-learn's sketch and ours of the same kernel."""
    peer = PolynomialCountSketch(degree=degree, n_components=D, coef0=1, random_state=0)
    kernel = PolynomialKernel(degree)
    return peer, TensorSketch(kernel, D, terms="column", random_state=0)


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
