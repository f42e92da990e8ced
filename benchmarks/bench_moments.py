"""One pass over rows: seconds, the share of the bare products, the path of penalties, and memory.

Rows of 54 columns, as of covertype, are drawn chunk by chunk. The bare product is ZᵀZ of blocks of
as many columns by BLAS. All seconds are those of the processor, on one thread.
``KERNLEARN_BENCH_ROWS`` is the number of rows of the Parquet file, 10^5 by default.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, greatest_memory, least_cpu_seconds
from kernlearn.datasets import row_source
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRidge, OnePassRidgeClassifier

N_ROWS = int(float(os.environ.get("KERNLEARN_BENCH_ROWS", "1e5")))
COLUMNS = 54
CHUNK = 65_536
_PRODUCT_ROWS = 8192
#: Half of the columns of RF are constant and cost no product; no column of H0/1 but one is.
CASES = (
    ("RF, D = 1000", 1000, False),
    ("H0/1, D = 1000", 1000, True),
    ("H0/1, D = 200", 200, True),
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


def run() -> list[Row]:
    """Measure both maps, rows without a map, and memory of a fit from a Parquet file."""
    with TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "rows.parquet"
        _write(path)
        rows = [row for case in CASES for row in _case(*case)]
        rows += _without_map()
        return rows + [_memory(*case, path) for case in CASES]


def _model(n_components: int, h01: bool) -> OnePassRidgeClassifier:
    feature_map = RandomMaclaurin(PolynomialKernel(10), n_components, h01=h01, random_state=0)
    return OnePassRidgeClassifier(feature_map)


def _case(label: str, n_components: int, h01: bool) -> list[Row]:
    X, y = next(chunks(CHUNK))
    model = _model(n_components, h01).partial_fit(X, y, classes=[0, 1])
    Z = np.random.default_rng(0).standard_normal((_PRODUCT_ROWS, model.coef_.shape[1]))

    def product() -> None:
        for _ in range(CHUNK // _PRODUCT_ROWS):
            Z.T @ Z

    def solve() -> None:
        model.merge()  # forgets the solution
        assert model.coef_.shape[0] == 1

    path, bare = least_cpu_seconds(solve), least_cpu_seconds(product)
    seconds = least_cpu_seconds(lambda: model.partial_fit(X, y))
    a_million = 1e6 * seconds / CHUNK
    return [
        Row(f"{label}: seconds for a million rows", a_million, a_million),
        Row(
            f"{label}: bare product / pass",
            seconds,
            bare / seconds,
            at_least=0.6 if h01 and n_components == 1000 else None,
        ),
        Row(f"{label}: path and 5 folds, seconds", path, path),
    ]


def _without_map() -> list[Row]:
    X, _ = next(chunks(CHUNK))
    X = X.astype(np.float64)
    y = X @ np.arange(COLUMNS)
    model = OnePassRidge().partial_fit(X, y)
    seconds = least_cpu_seconds(lambda: model.partial_fit(X, y))
    fit = least_cpu_seconds(lambda: OnePassRidge(alphas=1.0).fit(X, y))
    ridge = least_cpu_seconds(lambda: Ridge(alpha=1.0).fit(X, y))
    return [
        Row("no map: rows a second", seconds, CHUNK / seconds, at_least=5e5),
        Row("no map: OnePassRidge.fit / Ridge.fit", fit, fit / ridge),
    ]


def _write(path: Path) -> None:
    """Write the rows to a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([*((f"x{i}", pa.float32()) for i in range(COLUMNS)), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for X, y in chunks(N_ROWS):
            writer.write_table(pa.table([*X.T, y], schema=schema))


def _memory(label: str, n_components: int, h01: bool, path: Path) -> Row:
    """Measure the greatest memory of a process that fits the file."""
    code = (
        "from benchmarks.bench_moments import most_memory; "
        f"print(most_memory({n_components}, {h01}, {str(path)!r}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    gigabytes = float(found.stdout)
    return Row(f"{label}: greatest memory, a Parquet file, GB", 0.0, gigabytes, at_most=1.0)


def most_memory(n_components: int, h01: bool, path: str) -> float:
    """Return the greatest memory of this process in GB, after a fit."""
    _model(n_components, h01).fit(row_source(path, target="y"))
    return greatest_memory(os.getpid()) / 1e9
