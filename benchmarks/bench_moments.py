"""One pass over rows: seconds, the share of the bare products, and memory.

The data are drawn block by block, 54 columns as of covertype, so that memory is that of the
estimator. The bare product is ZᵀZ of a block of as many columns by BLAS, in float64, which the
estimator takes, and in float32. CPU seconds, which other processes disturb less.

``KERNLEARN_BENCH_ROWS`` is the number of rows, 10^5 by default; 10^7 are those of the target.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row
from kernlearn.datasets import row_source
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRankRLS, OnePassRidge, OnePassRidgeClassifier

N_ROWS = int(float(os.environ.get("KERNLEARN_BENCH_ROWS", "1e5")))
COLUMNS = 54
CHUNK = 65_536
_PRODUCT_ROWS = 8192
#: Seconds for a million rows of D random features: a tenth of what 10^7 rows may take on 2 cores.
#: Half of the columns of RF are constant and cost no product; no column of H0/1 but one is.
CASES = (
    ("RF, D = 1000", 1000, False, 2 * 60.0),
    ("H0/1, D = 1000", 1000, True, 2 * 60.0),
    ("H0/1, D = 200", 200, True, 2 * 9.0),
)


def chunks(n_rows: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw rows in float32 within the unit ball, and a label of three of their columns."""
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, CHUNK):
        n = min(CHUNK, n_rows - start)
        X = rng.standard_normal((n, COLUMNS), dtype=np.float32) / 16
        np.clip(X, -0.125, 0.125, out=X)
        y = 256 * X[:, 0] * X[:, 1] + 16 * X[:, 2] + rng.standard_normal(n) > 0
        yield X, y.astype(np.int64)


def product_seconds(n_columns: int, dtype: type) -> float:
    """Return the seconds of ZᵀZ for a million rows."""
    Z = np.random.default_rng(0).standard_normal((_PRODUCT_ROWS, n_columns)).astype(dtype)
    times = []
    for _ in range(4):
        start = process_time()
        Z.T @ Z
        times.append(process_time() - start)
    return min(times) / _PRODUCT_ROWS * 1e6


def passes(n_components: int, h01: bool, source: object, n_rows: int) -> tuple[float, float, int]:
    """Return the seconds of a pass for a million rows, those of the path, and the columns."""
    feature_map = RandomMaclaurin(PolynomialKernel(10), n_components, h01=h01, random_state=0)
    model = OnePassRidgeClassifier(feature_map)
    model.fit_map(*next(chunks(10_000, seed=1)), classes=[0, 1])
    start = process_time()
    model.partial_fit(source)
    read = process_time()
    width = model.coef_.shape[1]
    assert model.n_samples_seen_ == n_rows
    return (read - start) / n_rows * 1e6, process_time() - read, width


def run() -> list[Row]:
    """Measure both maps, rows of arrays without a map, a Parquet file, and memory."""
    rows = []
    with threadpool_limits(1):
        model = OnePassRidge().fit_map(*next(chunks(1000)))
        model.partial_fit(*next(chunks(1000)))  # compiles
        for label, n_components, h01, most in CASES:
            seconds, path, width = passes(n_components, h01, chunks(N_ROWS), N_ROWS)
            double, single = product_seconds(width, np.float64), product_seconds(width, np.float32)
            rows += [
                Row(f"{label}: seconds for a million rows", seconds, seconds, at_most=most),
                Row(f"{label}: bare product in float64 / pass", seconds, double / seconds,
                    at_least=0.7 if n_components == 1000 else None),
                Row(f"{label}: bare product in float32 / pass", seconds, single / seconds),
                Row(f"{label}: path and 5 folds, seconds", path, path),
            ]  # fmt: skip
            rows.append(_peer(label, n_components, h01, seconds))
        rows += _without_map()
        rows.append(_parquet())
    rows.append(_memory())
    return rows


def _peer(label: str, n_components: int, h01: bool, seconds: float) -> Row:
    """Measure Nyström features and one ridge regression in memory, with 10^9 bytes of features."""
    n_rows = min(N_ROWS, 10**9 // (8 * n_components))
    X, y = (np.concatenate(part) for part in zip(*chunks(n_rows), strict=True))
    feature_map = Nystroem(
        kernel="polynomial", degree=10, gamma=1, coef0=1, n_components=n_components, random_state=0
    )
    model = make_pipeline(feature_map, RidgeClassifier(solver="cholesky"))
    start = process_time()
    model.fit(X, y)
    peer = (process_time() - start) / n_rows * 1e6
    X_test, y_test = next(chunks(50_000, seed=2))
    ours = OnePassRidgeClassifier(
        RandomMaclaurin(PolynomialKernel(10), n_components, h01=h01, random_state=0)
    ).fit(X, y)
    said = f"{ours.score(X_test, y_test):.4f} and {model.score(X_test, y_test):.4f}"
    return Row(
        f"{label}: Nyström and one ridge in memory / pass, {n_rows} rows (accuracies {said})",
        seconds, peer / seconds,
    )  # fmt: skip


def _without_map() -> list[Row]:
    X, y = next(chunks(CHUNK))
    rows = []
    for kind in (OnePassRidge, OnePassRankRLS):
        model = kind().fit_map(X[:10_000], y[:10_000])
        start = process_time()
        for _ in range(4):
            model.partial_fit(X, y)
        rate = 4 * CHUNK / (process_time() - start)
        rows.append(
            Row(f"{kind.__name__}, arrays, no map: rows a second", 1 / rate, rate, at_least=1e6)
        )
    return rows


def _parquet() -> Row:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = min(N_ROWS, 10**6)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        names = [f"x{i}" for i in range(COLUMNS)]
        writer = None
        for X, y in chunks(n_rows):
            table = pa.table([*X.T, y], names=[*names, "y"])
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        drawn, _, _ = passes(200, True, chunks(n_rows), n_rows)
        read, _, _ = passes(200, True, row_source(path, target="y"), n_rows)
    return Row("H0/1, D = 200: Parquet file / drawn rows", read, read / drawn)


def _memory() -> Row:
    """Measure the greatest memory of a process that makes the pass for D = 1000."""
    code = "from benchmarks.bench_moments import most_memory; print(most_memory())"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    gigabytes = float(found.stdout)
    return Row("RF, D = 1000: greatest memory, GB", 0.0, gigabytes, at_most=1.0)


def most_memory() -> float:
    """Return the greatest memory of this process in GB, after a pass and its path."""
    passes(1000, False, chunks(N_ROWS), N_ROWS)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
