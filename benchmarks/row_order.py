"""``python -m benchmarks.row_order``: how far the order of rows decides BBS's accuracy on letter.

Where a solver stops at LIBLINEAR's tolerance, far from the minimum, each rounding error moves the
result: sums over rows in another order, or the instructions of another processor, are enough.
"""

import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.bench_ftune import PROTOCOL
from kernlearn.datasets import catalogue, load, locate
from kernlearn.experiments.engine.protocol import prepare
from kernlearn.kernels import GaussianKernel
from kernlearn.solvers.linear_path import linear_paths

_CS = (1.0, 10.0, 100.0, 1000.0)
_ORDERS = 6


def main() -> int:
    """Print test accuracies for some orders of the same training rows, with the same landmarks."""
    if locate(catalogue()["letter"]) is None:
        print("letter is not found (set KERNLEARN_DATA)", file=sys.stderr)
        return 1
    data = load("letter")
    parts = prepare(data.data, np.asarray(data.target), PROTOCOL, 0)
    X, y = parts.X_train, parts.y_train
    kernel = GaussianKernel("mean_distance").fit(X)
    landmarks = X[np.random.RandomState(0).permutation(len(X))[:300]]
    train, held_out, test = (kernel(Z, landmarks) for Z in (X, parts.X_val, parts.X_test))
    signs = np.where(y == np.unique(y)[:, np.newaxis], 1.0, -1.0)
    for solver in ("truncated_newton", "liblinear", "newton"):
        accuracies = []
        for seed in range(_ORDERS):
            rows = np.random.RandomState(seed).permutation(len(y))
            coef, _ = linear_paths(train[rows], signs[:, rows], _CS, solver=solver)
            # C is chosen on the held-out points, as BBS does
            labels = np.einsum("nd,kcd->cnk", held_out, coef).argmax(axis=2)
            best = int((labels == parts.y_val).mean(axis=1).argmax())
            labels = (test @ coef[:, best].T).argmax(axis=1)
            accuracies.append(100 * float((labels == parts.y_test).mean()))
        each = ", ".join(f"{value:.2f}" for value in accuracies)
        print(f"{solver}: {each}; standard deviation {np.std(accuracies, ddof=1):.2f}")
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
