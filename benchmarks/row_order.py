"""``python -m benchmarks.row_order``: how far the order of rows decides what LIBLINEAR returns.

Where a solver stops at LIBLINEAR's tolerance, far from the minimum, each rounding error moves the
result: sums over rows in another order, or the instructions of another processor, are enough. Two
parts: BBS on letter (table 4.2), and the choice of C for RF and H0/1 (table 3.1).
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.bench_ftune import PROTOCOL
from benchmarks.bench_shares import CASES
from benchmarks.bench_shares import PROTOCOL as OF_FEATURES
from kernlearn.config.spec import ProtocolSpec
from kernlearn.datasets import catalogue, load, locate
from kernlearn.engine.protocol import Parts, prepare
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import GaussianKernel, PolynomialKernel
from kernlearn.linear import LinearSVM
from kernlearn.linear.path import linear_paths

_ORDERS = 6
_CS = (1.0, 10.0, 100.0, 1000.0)
_CS_OF_FEATURES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)


def main() -> int:
    """Print what some orders of the same training rows give, with the same random numbers."""
    names = [name for name in ("letter", *CASES) if locate(catalogue()[name]) is not None]
    if not names:
        print("no data is found (set KERNLEARN_DATA)", file=sys.stderr)
        return 1
    for name in names:
        print(name, flush=True)
        if name == "letter":
            _landmarks(_parts(name, PROTOCOL))
        else:
            n_rf, n_h01, scale = CASES[name]
            parts = _parts(name, replace(OF_FEATURES, scale=scale))
            _features("RF", parts, RandomMaclaurin(PolynomialKernel(10), n_rf))
            _features("H0/1", parts, RandomMaclaurin(PolynomialKernel(10), n_h01, h01=True))
    return 0


def _parts(name: str, protocol: ProtocolSpec) -> Parts:
    data = load(name)
    return prepare(data.data, np.asarray(data.target), protocol, 0)


def _orders(n_rows: int) -> list[NDArray[np.intp]]:
    return [np.random.RandomState(seed).permutation(n_rows) for seed in range(_ORDERS)]


def _landmarks(parts: Parts) -> None:
    """Print test accuracies of BBS, with C chosen on the held-out points."""
    X, y = parts.X_train, parts.y_train
    kernel = GaussianKernel("mean_distance").fit(X)
    landmarks = X[np.random.RandomState(0).permutation(len(X))[:300]]
    train, held_out, test = (kernel(Z, landmarks) for Z in (X, parts.X_val, parts.X_test))
    signs = np.where(y == np.unique(y)[:, np.newaxis], 1.0, -1.0)
    for solver in ("truncated_newton", "newton"):
        accuracies = []
        for rows in _orders(len(y)):
            coef, _ = linear_paths(train[rows], signs[:, rows], _CS, solver=solver)
            labels = np.einsum("nd,kcd->cnk", held_out, coef).argmax(axis=2)
            best = int((labels == parts.y_val).mean(axis=1).argmax())
            labels = (test @ coef[:, best].T).argmax(axis=1)
            accuracies.append(100 * float((labels == parts.y_test).mean()))
        each = ", ".join(f"{value:.2f}" for value in accuracies)
        print(f"  BBS, {solver}: {each}; standard deviation {np.std(accuracies, ddof=1):.2f}")


def _features(method: str, parts: Parts, feature_map: RandomMaclaurin) -> None:
    """Print the C that LIBLINEAR itself is given by the choice on a fifth of the training rows."""
    y = parts.y_train
    fit, validation = train_test_split(
        np.arange(len(y)), test_size=OF_FEATURES.validation, stratify=y, random_state=0
    )
    feature_map.set_params(include_bias=False, random_state=0)
    Z = feature_map.fit_transform(parts.X_train)
    chosen = []
    for rows in _orders(len(fit)):
        scores = [_score(Z, y, fit[rows], validation, C) for C in _CS_OF_FEATURES]
        chosen.append(f"{_CS_OF_FEATURES[int(np.argmax(scores))]:g} ({100 * max(scores):.2f} %)")
    print(f"  {method}: C {', '.join(chosen)}", flush=True)


def _score(Z: Any, y: Any, fit: Any, validation: Any, C: float) -> float:
    return float(LinearSVM(C=C).fit(Z[fit], y[fit]).score(Z[validation], y[validation]))


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
