"""Seconds and memory of one pass against the number of rows and of Dask's workers.

``python -m benchmarks.scale_out 10000 1000000`` prints the rows of docs/one_pass.md for so many
drawn rows of 54 columns, then those of the most rows on one and two workers. Each fit has a
process of its own and one thread. Its seconds contain the drawing of the rows; a million of them
take some three minutes and 6 GB.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any

import dask
import numpy as np
from distributed import Client
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks._measure import PeakMemory
from kernlearn.datasets import RowSource, row_source
from kernlearn.engine.machine import Stopwatch
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.landmarks import NystroemEmbedding
from kernlearn.onepass import OnePassRidgeClassifier

CHUNK, COLUMNS, COMPONENTS, KERNEL = 32_768, 54, 200, PolynomialKernel(10, coef0=1)


def draw(n_rows: int, seed: Any) -> tuple[Any, Any]:
    """Draw rows in the unit ball, whose class is that of a product and a linear part."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n_rows, COLUMNS)).clip(-2, 2)
    targets = z[:, 0] * z[:, 1] + z[:, 2] + rng.standard_normal(n_rows)
    return z / (2 * np.sqrt(COLUMNS)), (targets > 0).astype(int)


def rows_of(n_rows: int, seed: int, workers: int = 0) -> RowSource:
    """Return drawn rows in chunks, which Dask's workers draw if there are some."""
    sizes = [min(CHUNK, n_rows - start) for start in range(0, n_rows, CHUNK)]
    if workers:
        return row_source([dask.delayed(draw)(n, [seed, i]) for i, n in enumerate(sizes)])
    return row_source(lambda: (draw(n, [seed, i]) for i, n in enumerate(sizes)))


H01 = RandomMaclaurin(KERNEL, COMPONENTS, h01=True, random_state=0)
NYSTROEM = NystroemEmbedding(KERNEL, COMPONENTS, random_state=0)


def _sgd(rows: RowSource) -> Any:
    feature_map, last = clone(H01), SGDClassifier(random_state=0)
    for i, (X, y) in enumerate(rows):
        Z = feature_map.transform(X) if i else feature_map.fit_transform(X)
        last.partial_fit(Z, y, classes=[0, 1])
    return make_pipeline(feature_map, last)


def _in_memory(rows: RowSource) -> Any:
    X, y = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    kernel = {"kernel": "poly", "degree": 10, "gamma": 1, "coef0": 1}
    return make_pipeline(Nystroem(n_components=COMPONENTS, **kernel), RidgeClassifier()).fit(X, y)


METHODS = {
    "H0/1, one pass": OnePassRidgeClassifier(H01).fit,
    "Nyström, one pass": OnePassRidgeClassifier(NYSTROEM).fit,
    "SGD on H0/1": _sgd,
    "Nyström, in memory": _in_memory,
}


def measure(method: str, n_rows: int, workers: int = 0) -> tuple[float, float, float]:
    """Return the seconds and the memory (MB) of a fit, and the accuracy on 10 000 other rows."""
    fit = METHODS[method]
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        if workers:
            # by default Dask lets them give freed memory back at once, and each thread has its own
            name = "distributed.nanny.pre-spawn-environ"
            keeping = {"MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_MMAP_MAX_": "0"}
            dask.config.set({name: {**dask.config.get(name), **keeping, "MALLOC_ARENA_MAX": "1"}})
            how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None}
            client = stack.enter_context(Client(n_workers=workers, **how))
            client.wait_for_workers(workers)
            client.run(fit, rows_of(CHUNK, 0))
        fit(rows_of(3 * CHUNK, 1))  # imports, first calls
        with PeakMemory() as memory, Stopwatch() as watch:
            model = fit(rows_of(n_rows, 2013, workers))
        X, y = draw(10_000, 2)
        return watch.wall, memory.grown, float(np.mean(model.predict(X) == y))


if __name__ == "__main__":
    counts = [int(float(text)) for text in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    cases = [(name, n, 0) for n in counts for name in METHODS]
    cases += [(name, max(counts), n) for n in (1, 2) for name in [*METHODS][:2]]
    print("| | rows | workers | s | MB | accuracy |")
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as process:
        for name, n, workers in cases:
            seconds, grown, accuracy = process.submit(measure, name, n, workers).result()
            print(f"| {name} | {n} | {workers} | {seconds:.2f} | {grown:.0f} | {accuracy:.3f} |")
