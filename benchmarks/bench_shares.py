"""Where the time of RF and H0/1 goes on the real data of table 3.1.

The three parts of a fit are the construction of the features, the filling of LIBLINEAR's
nodes, and LIBLINEAR itself; prediction is the features and one product. The solver should be
the largest part of a fit: whatever is not the solver is ours to make faster.
"""

from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from kernlearn.datasets import catalogue, load, locate
from kernlearn.experiments.protocol import prepare
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.solvers._liblinear import DEFAULT_TOL, Settings, solve
from kernlearn.solvers._nodes import feature_rows

Row = dict[str, Any]

_CASES = {
    "cod_rna": (500, 50, ["zscore", "max_norm"]),
    "adult": (500, 100, ["max_norm"]),
    "ijcnn1": (1000, 200, ["zscore", "max_norm"]),
}
_PROTOCOL = {"train": 0.6, "max_train": 20_000, "max_test": 20_000, "seed": 2013}
_REPEATS = 3


def run(console: Console) -> list[Row]:
    """Measure the shares on the data sets that are there."""
    rows: list[Row] = []
    with threadpool_limits(1):
        for name, (d_rf, d_h01, scale) in _CASES.items():
            if locate(catalogue()[name]) is None:
                console.print(f"shares: {name} left out, not found (set KERNLEARN_DATA)")
                continue
            console.print(f"measuring shares on {name}")
            data = load(name)
            y = np.asarray(data.target)
            parts = prepare(data.data, y, {**_PROTOCOL, "scale": scale}, 0)
            for method, n_components, h01 in (("RF", d_rf, False), ("H0/1", d_h01, True)):
                feature_map = RandomMaclaurin(
                    PolynomialKernel(10), n_components, h01=h01, include_bias=False, random_state=0
                )
                rows += _shares(f"{name} {method}", feature_map, parts.X_train, parts.y_train)
    return rows


def _shares(label: str, feature_map: RandomMaclaurin, X: Any, y: Any) -> list[Row]:
    settings = Settings(solver=2, C=1.0, tol=DEFAULT_TOL[2], bias=1.0, class_weight=np.ones(2))
    best = np.full(3, np.inf)
    for _ in range(_REPEATS):
        times = [perf_counter()]
        Z = feature_map.fit_transform(X)
        times.append(perf_counter())
        nodes = feature_rows(Z, 1.0)
        times.append(perf_counter())
        solve(nodes, y.astype(float), Z.shape[1] + 1, settings, presolve=0.1)
        times.append(perf_counter())
        best = np.minimum(best, np.diff(times))
    total = best.sum()
    features, filling, solver = best
    solver_is_largest = bool(solver > max(features, filling))
    return [
        _row(f"{label}: features", features, features / total),
        _row(f"{label}: solver input", filling, filling / total),
        _row(f"{label}: solver", solver, solver / total, "largest", solver_is_largest),
    ]


def _row(what: str, seconds: float, ratio: float, target: str = "", met: bool = True) -> Row:
    return {
        "benchmark": "shares",
        "what": what,
        "seconds": float(seconds),
        "ratio": float(ratio),
        "target": target,
        "met": met,
    }
