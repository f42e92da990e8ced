"""Random Maclaurin features beside a peer and beside the arithmetic that they cannot avoid.

"Bare product" is the least any map of this kind can do: one matrix product of X with as many
columns as there are factors, into an array that is there already, and one write of a fresh
array of the size of the result.
"""

import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_in_turns, least_seconds, once, seconds_in_fresh_process
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel, mean_distance

_SETUP = """
import numpy as np
from threadpoolctl import threadpool_limits
from sklearn.kernel_approximation import PolynomialCountSketch
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
threadpool_limits(1)
X = np.random.default_rng(0).normal(size=(20_000, 54))
X /= np.linalg.norm(X, axis=1).max()
model = {model}.fit(X)
model.transform(X[:100])
"""
_PEER = "PolynomialCountSketch(degree=10, n_components=1000, coef0=1, random_state=0)"
_OURS = "RandomMaclaurin(PolynomialKernel(10), 1000, random_state=0)"


def run() -> list[Row]:
    """Measure everything."""
    rows = _against_peer_once()
    with threadpool_limits(1):
        for step in (_against_peer_repeatedly, _against_product, _h01, _memory, _mean_distance):
            rows += step()
    return rows


def _against_peer_once() -> list[Row]:
    peer = seconds_in_fresh_process(_SETUP.format(model=_PEER), "model.transform(X)")
    ours = seconds_in_fresh_process(_SETUP.format(model=_OURS), "model.transform(X)")
    return [Row("PolynomialCountSketch / transform, one call", ours, peer / ours, at_least=50)]


def _against_peer_repeatedly() -> list[Row]:
    X, model = _dense_case()
    peer = PolynomialCountSketch(degree=10, n_components=1000, coef0=1, random_state=0).fit(X)
    rows = []
    for dtype in (np.float64, np.float32):
        X = X.astype(dtype)
        ours = least_seconds(lambda X=X: model.transform(X))
        theirs = least_seconds(lambda X=X: peer.transform(X), repeats=2)
        what = f"PolynomialCountSketch / transform, call after call, {np.dtype(dtype).name}"
        rows.append(Row(what, ours, theirs / ours))
    return rows


def _against_product() -> list[Row]:
    X, model = _dense_case()
    rows = []
    for dtype in (np.float64, np.float32):
        X = X.astype(dtype)
        bare, whole, blocks = least_in_turns(
            _bare_product(X, model), lambda X=X: model.transform(X), lambda X=X: _exhaust(model, X)
        )
        name = np.dtype(dtype).name
        for what, ours in (("transform", whole), ("transform_blocks", blocks)):
            rows.append(Row(f"{what} / bare product, {name}", ours, ours / bare, at_most=1.5))
    return rows


def _h01() -> list[Row]:
    X = _unit_ball(120_000, 22)
    model = RandomMaclaurin(PolynomialKernel(10), 200, h01=True, random_state=0).fit(X)
    bare, ours = least_in_turns(_bare_product(X, model), lambda: model.transform(X))
    return [Row("H0/1, 120000 x 22, D = 200 / bare product", ours, ours / bare, at_most=2)]


def _memory() -> list[Row]:
    X, model = _dense_case()
    tracemalloc.start()
    kept: list[np.ndarray] = []
    seconds = once(lambda: kept.append(model.transform(X)))
    extra = (tracemalloc.get_traced_memory()[1] - kept[0].nbytes) / 2**20
    tracemalloc.stop()
    return [Row("memory of transform beside X and Z, MB", seconds, extra, at_most=64)]


def _mean_distance() -> list[Row]:
    X = _unit_ball(20_000, 54)
    seconds = least_seconds(lambda: mean_distance(X), repeats=2)
    return [Row("mean_distance, 20000 x 54, seconds", seconds, seconds, at_most=2)]


def _dense_case() -> tuple[np.ndarray, RandomMaclaurin]:
    X = _unit_ball(20_000, 54)
    return X, RandomMaclaurin(PolynomialKernel(10), 1000, random_state=0).fit(X)


def _unit_ball(n_samples: int, n_features: int) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    return X / np.linalg.norm(X, axis=1).max()


def _bare_product(X: np.ndarray, model: RandomMaclaurin) -> Callable[[], None]:
    W = model.omega_.astype(X.dtype)
    product = np.zeros((X.shape[0], W.shape[1]), dtype=X.dtype)
    shape = (X.shape[0], model.transform(X[:1]).shape[1])

    def work() -> None:
        np.matmul(X, W, out=product)
        np.empty(shape, dtype=X.dtype).fill(1.0)

    return work


def _exhaust(model: RandomMaclaurin, X: np.ndarray) -> None:
    for _ in model.transform_blocks(X):
        pass
