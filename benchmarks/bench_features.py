"""Random Maclaurin features beside a peer and beside the arithmetic that they cannot avoid.

Everything runs on one thread. "Bare product" is the least any map of this kind can do: one
matrix product of X with as many columns as there are factors, into an array that is there
already, and one write of a fresh array of the size of the result.
"""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel, mean_distance

Row = dict[str, Any]


def run(console: Console) -> list[Row]:
    """Measure everything, on one thread."""
    with threadpool_limits(1):
        rows = []
        for step in (_against_peer, _against_product, _h01, _memory, _mean_distance):
            console.print(f"measuring {step.__name__.strip('_').replace('_', ' ')}")
            rows += step()
    return rows


def _against_peer() -> list[Row]:
    X, model = _dense_case()
    peer = PolynomialCountSketch(degree=10, n_components=1000, coef0=1, random_state=0).fit(X)
    rows = []
    for dtype in (np.float64, np.float32):
        X = X.astype(dtype)
        ours = _seconds(lambda X=X: model.transform(X))
        ratio = _seconds(lambda X=X: peer.transform(X), repeats=2) / ours
        what = f"PolynomialCountSketch / transform, {np.dtype(dtype).name}"
        rows.append(_row(what, ours, ratio, ">= 50", ratio >= 50))
    return rows


def _against_product() -> list[Row]:
    X, model = _dense_case()
    rows = []
    for dtype in (np.float64, np.float32):
        X = X.astype(dtype)
        bare = _bare_product(X, model)
        name = np.dtype(dtype).name
        for what, work in (
            ("transform", lambda X=X: model.transform(X)),
            ("transform_blocks", lambda X=X: _exhaust(model, X)),
        ):
            ours = _seconds(work)
            ratio = ours / bare
            rows.append(_row(f"{what} / bare product, {name}", ours, ratio, "<= 3", ratio <= 3))
    return rows


def _h01() -> list[Row]:
    X = _unit_ball(120_000, 22)
    model = RandomMaclaurin(PolynomialKernel(10), 200, h01=True, random_state=0).fit(X)
    bare = _bare_product(X, model)
    ours = _seconds(lambda: model.transform(X))
    ratio = ours / bare
    what = "H0/1, 120000 x 22, D = 200 / bare product"
    return [_row(what, ours, ratio, "<= 3", ratio <= 3)]


def _memory() -> list[Row]:
    X, model = _dense_case()
    tracemalloc.start()
    start = time.perf_counter()
    Z = model.transform(X)
    seconds = time.perf_counter() - start
    extra = (tracemalloc.get_traced_memory()[1] - Z.nbytes) / 2**20
    tracemalloc.stop()
    return [_row("memory beside X and Z, MB", seconds, extra, "< 64", extra < 64)]


def _mean_distance() -> list[Row]:
    X = _unit_ball(20_000, 54)
    seconds = _seconds(lambda: mean_distance(X), repeats=3)
    return [_row("mean_distance, 20000 x 54, seconds", seconds, seconds, "<= 2", seconds <= 2)]


def _dense_case() -> tuple[np.ndarray, RandomMaclaurin]:
    X = _unit_ball(20_000, 54)
    return X, RandomMaclaurin(PolynomialKernel(10), 1000, random_state=0).fit(X)


def _unit_ball(n_samples: int, n_features: int) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    return X / np.linalg.norm(X, axis=1).max()


def _bare_product(X: np.ndarray, model: RandomMaclaurin) -> float:
    W = model.omega_.astype(X.dtype)
    product = np.zeros((X.shape[0], W.shape[1]), dtype=X.dtype)
    shape = (X.shape[0], model.transform(X[:1]).shape[1])

    def work() -> None:
        np.matmul(X, W, out=product)
        np.empty(shape, dtype=X.dtype).fill(1.0)

    return _seconds(work)


def _exhaust(model: RandomMaclaurin, X: np.ndarray) -> None:
    for _ in model.transform_blocks(X):
        pass


def _seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """Return the best time of some; the first run, which warms up, is not among them."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _row(what: str, seconds: float, ratio: float, target: str, met: bool) -> Row:
    return {
        "benchmark": "features",
        "what": what,
        "seconds": seconds,
        "ratio": ratio,
        "target": target,
        "met": bool(met),
    }


def main() -> None:
    """Print the measurements as a table."""
    console = Console()
    table = Table("what", "seconds", "ratio", "target", "met")
    for row in run(console):
        met = "yes" if row["met"] else "no"
        table.add_row(
            row["what"], f"{row['seconds']:.3f}", f"{row['ratio']:.2f}", row["target"], met
        )
    console.print(table)


if __name__ == "__main__":
    main()
