"""Where the time of RF and H0/1 goes on the real data of table 3.1.

The three parts of a fit are the construction of the features, the filling of LIBLINEAR's
nodes, and LIBLINEAR itself; prediction is the features and one product. The solver should be
the largest part of a fit: whatever is not the solver is ours to make faster.
"""

from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row
from kernlearn.config.model import Protocol
from kernlearn.datasets import catalogue, load, locate
from kernlearn.engine.preparation import prepare
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.linear.liblinear import Settings, feature_rows, solve

#: Numbers of features of RF and H0/1 in table 3.1, and its scaling.
CASES = {
    "cod_rna": (500, 50, ["zscore", "max_norm"]),
    "adult": (500, 100, ["max_norm"]),
    "ijcnn1": (1000, 200, ["zscore", "max_norm"]),
}
PROTOCOL = Protocol(
    train=0.6, max_train=20_000, max_test=20_000, scale=[], validation=0.2, seed=2013, threads=1
)
_REPEATS = 3


def run() -> list[Row]:
    """Measure the shares on the data sets that are there."""
    rows: list[Row] = []
    with threadpool_limits(1):
        for name, (d_rf, d_h01, scale) in CASES.items():
            if locate(catalogue()[name]) is None:
                print(f"shares: {name} left out, not found (set KERNLEARN_DATA)")
                continue
            data = load(name)
            y = np.asarray(data.target)
            parts = prepare(data, y, PROTOCOL.model_copy(update={"scale": scale}), 0)
            for method, n_components, h01 in (("RF", d_rf, False), ("H0/1", d_h01, True)):
                feature_map = RandomMaclaurin(
                    PolynomialKernel(10), n_components, h01=h01, include_bias=False, random_state=0
                )
                rows += _shares(f"{name} {method}", feature_map, parts.train.X, parts.train.y)
    return rows


def _shares(label: str, feature_map: RandomMaclaurin, X: Any, y: Any) -> list[Row]:
    settings = Settings(1.0, 0.03, np.ones(2))
    best = np.full(3, np.inf)
    for _ in range(_REPEATS):
        times = [perf_counter()]
        Z = feature_map.fit_transform(X)
        times.append(perf_counter())
        nodes = feature_rows(Z, constant=True)
        times.append(perf_counter())
        solve(nodes, y.astype(float), Z.shape[1] + 1, settings, presolve=0.1)
        times.append(perf_counter())
        best = np.minimum(best, np.diff(times))
    total = best.sum()
    features, filling, solver = best
    return [
        Row(f"{label}: features, share of the fit", features, features / total),
        Row(f"{label}: solver input, share of the fit", filling, filling / total),
        Row(
            f"{label}: solver, times the next largest part",
            solver,
            solver / max(features, filling),
            at_least=1,
        ),
    ]
