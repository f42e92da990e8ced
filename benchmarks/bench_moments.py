"""One pass over rows: seconds, the share of the bare products, and memory.

The data are drawn block by block, 54 columns as of covertype, so that memory is that of the
estimator. The bare product is ZᵀZ of a block of as many columns by BLAS, in float64, which the
estimator takes, and in float32; both are measured on one thread, in turns. The targets for 10^7
rows are for two threads, the path included.

``KERNLEARN_BENCH_ROWS`` is the number of rows, 10^5 by default; 10^7 are those of the target. With
fewer the seconds for 10^7 are computed from theirs.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_in_turns, least_seconds, once
from kernlearn.datasets import row_source
from kernlearn.experiments.engine.peak_memory import greatest_memory
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRankRLS, OnePassRidge, OnePassRidgeClassifier

N_ROWS = int(float(os.environ.get("KERNLEARN_BENCH_ROWS", "1e5")))
COLUMNS = 54
CHUNK = 65_536
_PRODUCT_ROWS = 8192
_TARGET_ROWS = 1e7
#: Seconds that 10^7 rows may take on two cores. Half of the columns of RF are constant and cost no
#: product; no column of H0/1 but one is.
CASES = (
    ("RF, D = 1000", 1000, False, 600.0),
    ("H0/1, D = 1000", 1000, True, 600.0),
    ("H0/1, D = 200", 200, True, 90.0),
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


def shares(model: OnePassRidgeClassifier, n_columns: int) -> tuple[float, float, float]:
    """Return the seconds of a pass and of ZᵀZ in float64 and float32, for a million rows.

    They are measured in turns, and the least counts.
    """
    X, y = next(chunks(CHUNK))
    Z = np.random.default_rng(0).standard_normal((_PRODUCT_ROWS, n_columns))
    narrow = Z.astype(np.float32)

    def product(block: np.ndarray) -> None:
        for _ in range(CHUNK // _PRODUCT_ROWS):
            block.T @ block

    found = least_in_turns(
        lambda: model.partial_fit(X, y), lambda: product(Z), lambda: product(narrow), repeats=5
    )
    one, double, single = (seconds / CHUNK * 1e6 for seconds in found)
    return one, double, single


@dataclass(frozen=True)
class Pass:
    """Seconds of a pass and of the path of penalties with its folds, and the model."""

    read: float
    path: float
    model: OnePassRidgeClassifier


def passes(n_components: int, h01: bool, source: object, n_rows: int, n_jobs: int) -> Pass:
    """Make a pass over the rows of a source, and choose the penalty."""
    feature_map = RandomMaclaurin(PolynomialKernel(10), n_components, h01=h01, random_state=0)
    model = OnePassRidgeClassifier(feature_map, n_jobs=n_jobs)
    model.fit_map(*next(chunks(10_000, seed=1)), classes=[0, 1])
    start = perf_counter()
    model.partial_fit(source)
    read = perf_counter()
    assert model.n_samples_seen_ == n_rows
    assert model.coef_.shape[0] == 1  # computes the path
    return Pass(read - start, perf_counter() - read, model)


def run() -> list[Row]:
    """Measure both maps, rows of arrays without a map, a Parquet file, and memory."""
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        _write(path)
        with threadpool_limits(1):
            model = OnePassRidge().fit_map(*next(chunks(1000)))
            model.partial_fit(*next(chunks(1000)))  # compiles
            for case in CASES:
                rows += _case(*case, path)
            rows += _without_map()
        rows += [_memory(*case[:3], path) for case in CASES]
    return rows


def _case(label: str, n_components: int, h01: bool, most: float, path: Path) -> list[Row]:
    """Measure drawn rows and the file, the bare products, and a rival."""
    small = passes(n_components, h01, chunks(CHUNK), CHUNK, 1).model
    one, double, single = shares(small, small.coef_.shape[1])
    rows = [
        Row(f"{label}: seconds for a million rows, one thread", one, one),
        Row(
            f"{label}: bare product in float64 / pass",
            one,
            double / one,
            at_least=0.7 if n_components == 1000 else None,
        ),
        Row(f"{label}: bare product in float32 / pass", one, single / one),
    ]
    for kind, source in (
        ("drawn rows", chunks(N_ROWS)),
        ("a Parquet file", row_source(path, target="y")),
    ):
        two = passes(n_components, h01, source, N_ROWS, 2)
        for_all = two.read * _TARGET_ROWS / N_ROWS + two.path
        rows.append(
            Row(
                f"{label}: seconds for 10^7 {kind} and the path, two threads",
                two.read + two.path,
                for_all,
                at_most=most,
            )
        )
    rows.append(Row(f"{label}: path and 5 folds, seconds", two.path, two.path))
    rows.append(_peer(label, n_components, h01))
    return rows


def _peer(label: str, n_components: int, h01: bool) -> Row:
    """Measure Nyström features and one ridge regression in memory, with 10^9 bytes of features."""
    n_rows = min(N_ROWS, 10**9 // (8 * n_components))
    X, y = (np.concatenate(part) for part in zip(*chunks(n_rows), strict=True))
    nystroem = Nystroem(
        kernel="polynomial", degree=10, gamma=1, coef0=1, n_components=n_components, random_state=0
    )
    peer = make_pipeline(nystroem, RidgeClassifier(solver="cholesky"))
    feature_map = RandomMaclaurin(PolynomialKernel(10), n_components, h01=h01, random_state=0)
    ours = OnePassRidgeClassifier(feature_map, n_jobs=1).fit_map(X[:10_000], y[:10_000])
    theirs = once(lambda: peer.fit(X, y))
    seconds = once(lambda: ours.partial_fit(X, y).coef_)
    X_test, y_test = next(chunks(50_000, seed=2))
    said = f"{ours.score(X_test, y_test):.4f} and {peer.score(X_test, y_test):.4f}"
    return Row(
        f"{label}: Nyström and one ridge in memory / pass, {n_rows} rows (accuracies {said})",
        seconds,
        theirs / seconds,
    )


def _without_map() -> list[Row]:
    X, y = next(chunks(CHUNK))
    rows = []
    for kind in (OnePassRidge, OnePassRankRLS):
        model = kind().fit_map(X[:10_000], y[:10_000])
        seconds = least_seconds(lambda model=model: model.partial_fit(X, y)) / CHUNK
        rows.append(
            Row(
                f"{kind.__name__}, arrays, no map: rows a second",
                seconds,
                1 / seconds,
                at_least=1e6,
            )
        )
    return rows


def _write(path: Path) -> None:
    """Write the rows to a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([*((f"x{i}", pa.float32()) for i in range(COLUMNS)), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for X, y in chunks(N_ROWS):
            writer.write_table(pa.table([*X.T, y], schema=schema))


def _memory(label: str, n_components: int, h01: bool, path: Path) -> Row:
    """Measure the greatest memory of a process that makes the pass over the file."""
    code = (
        "from benchmarks.bench_moments import most_memory; "
        f"print(most_memory({n_components}, {h01}, {str(path)!r}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    gigabytes = float(found.stdout)
    return Row(
        f"{label}: greatest memory, a Parquet file, two threads, GB", 0.0, gigabytes, at_most=1.0
    )


def most_memory(n_components: int, h01: bool, path: str) -> float:
    """Return the greatest memory of this process in GB, after a pass and its path."""
    passes(n_components, h01, row_source(path, target="y"), N_ROWS, 2)
    return greatest_memory(os.getpid()) / 1e9
