"""Partitions on Dask: one worker against two, what a partition costs, and a cluster on paper.

Rows of 54 columns are drawn by the tasks on the workers, as blocks of `bench_moments` are. Workers
are processes of this machine with one thread each, which keep the memory that they free; the
scheduler and the client are in this process. One and two workers, and few and many partitions, are
measured in turns, and the best of some runs counts. Two workers need two idle cores.

`paper_seconds` computes from the measured figures what a pass would take on a cluster.

``KERNLEARN_BENCH_ROWS`` is the number of rows, 2^19 by default.
"""

import os
import pickle
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from math import ceil, log
from typing import Any

from benchmarks._measure import Row, least_cpu_seconds, least_in_turns, once
from benchmarks.bench_moments import chunks
from kernlearn.datasets import row_source
from kernlearn.experiments.engine.streamed import workers
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRidgeClassifier
from kernlearn.onepass.moments import merged_grams
from kernlearn.onepass.partitions import MERGED_TOGETHER, reduce_partitions

N_ROWS = int(float(os.environ.get("KERNLEARN_BENCH_ROWS", 2**19)))
REPEATS = 3
#: Of the comparison of workers, and of few and many partitions.
PART_ROWS, FEW, MANY = 2**15, 4, 100
#: Rows of the latter: overhead is seen best where there is little else.
SMALL_ROWS = 2**16
EMPTY_TASKS = 1000
#: The cluster on paper: a network of 1 Gbit/s, and twice as many bytes as are sent at once.
PAPER_ROWS, PAPER_WORKERS, PAPER_PART_ROWS, BYTES_A_SECOND = 1e9, 64, 2**20, 125e6


@dataclass(frozen=True)
class Costs:
    """Measured seconds: of a row, of a partition on its worker and in the scheduler, of merges."""

    row: float
    partition: float
    scheduling: float
    merge: float
    n_bytes: int
    solve: float


def paper_seconds(costs: Costs, n_rows: float, n_workers: int, part_rows: int) -> dict[str, float]:
    """Return the seconds of each stage of a pass on a cluster, one after the other.

    Workers take equal numbers of partitions, rounded up; the scheduler handles one task at a time,
    as if nothing ran meanwhile; after the last partition its moments pass through all levels of
    the tree, each of which fetches them from other workers.
    """
    n_parts = ceil(n_rows / part_rows)
    levels = ceil(log(n_parts, MERGED_TOGETHER)) if n_parts > 1 else 0
    fetch = MERGED_TOGETHER * costs.n_bytes / BYTES_A_SECOND
    return {
        "rows": ceil(n_parts / n_workers) * part_rows * costs.row,
        "partitions": ceil(n_parts / n_workers) * costs.partition,
        "scheduler": n_parts * costs.scheduling,
        "tree": levels * (costs.merge + fetch),
        "result": costs.n_bytes / BYTES_A_SECOND + costs.solve,
    }


def drawn(seed: int, n_rows: int) -> tuple[Any, Any]:
    """Return the rows of a partition."""
    (chunk,) = chunks(n_rows, seed)
    return chunk


def partitions(n_rows: int, n_parts: int) -> list[Any]:
    from dask import delayed

    sizes = [n_rows // n_parts + (i < n_rows % n_parts) for i in range(n_parts)]
    return [delayed(drawn, pure=False)(seed, size) for seed, size in enumerate(sizes)]


def nothing(context: None, part: Any) -> int:
    return 0


def nothing_more(values: Any) -> int:
    return 0


def model_of(n_components: int) -> OnePassRidgeClassifier:
    feature_map = RandomMaclaurin(PolynomialKernel(10), n_components, h01=True, random_state=0)
    model = OnePassRidgeClassifier(feature_map)
    return model.fit_map(*next(chunks(10_000, seed=10**6)), classes=[0, 1])


def gathering(
    client: Any, base: OnePassRidgeClassifier, n_rows: int, n_parts: int
) -> Callable[[], None]:
    """Return the work of a pass over drawn rows."""

    def work() -> None:
        with client.as_current():
            model = deepcopy(base).partial_fit(partitions(n_rows, n_parts))
        assert model.n_samples_seen_ == n_rows

    return work


def run() -> list[Row]:
    """Measure both numbers of features, and compute the cluster on paper."""
    rows = []
    with workers(1) as one, workers(2) as two:
        scheduling = empty_task_seconds(two)
        rows.append(Row("a task of nothing: ms for a partition", scheduling, 1e3 * scheduling))
        for n_components in (200, 1000):
            rows += measure(
                f"H0/1, D = {n_components}", model_of(n_components), one, two, scheduling
            )
    return rows


def empty_task_seconds(client: Any) -> float:
    """Return the seconds of the client, the scheduler and the workers for a partition."""

    def work() -> None:
        with client.as_current():
            source = row_source(partitions(EMPTY_TASKS, EMPTY_TASKS))
            reduce_partitions(source, nothing, nothing_more, None)

    work()
    return min(once(work) for _ in range(REPEATS)) / EMPTY_TASKS


def measure(
    label: str, base: OnePassRidgeClassifier, one: Any, two: Any, scheduling: float
) -> list[Row]:
    """Measure one number of features."""
    n_parts = 2 * ceil(N_ROWS / PART_ROWS / 2)
    alone, both = least_in_turns(
        *(gathering(client, base, N_ROWS, n_parts) for client in (one, two)), repeats=REPEATS
    )
    few, many = least_in_turns(
        *(gathering(one, base, SMALL_ROWS, n) for n in (FEW, MANY)), repeats=REPEATS
    )
    overhead = max((many - few) / (MANY - FEW), 0.0)
    grams = base._grams_of(row_source(partitions(PART_ROWS, 1)).partitions[0])
    model = deepcopy(base)
    model.moments_.merge_grams(grams)
    costs = Costs(
        row=(alone - n_parts * overhead) / N_ROWS,
        partition=overhead,
        scheduling=scheduling,
        merge=least_cpu_seconds(lambda: merged_grams([grams] * MERGED_TOGETHER)),
        n_bytes=len(pickle.dumps(grams, protocol=5)),
        solve=once(lambda: model.coef_),
    )
    paper = paper_seconds(costs, PAPER_ROWS, PAPER_WORKERS, PAPER_PART_ROWS)
    whole = sum(paper.values())
    name = f"{label}: 10^9 rows on {PAPER_WORKERS} workers, on paper"
    return [
        Row(f"{label}: 1 worker / 2 workers", both, alone / both, at_least=1.8),
        Row(f"{label}: microseconds for a row", costs.row, 1e6 * costs.row),
        Row(f"{label}: ms for a partition", overhead, 1e3 * overhead),
        Row(f"{label}: MB of a partition's moments", 0.0, costs.n_bytes / 1e6),
        Row(f"{label}: ms for a merge of {MERGED_TOGETHER}", costs.merge, 1e3 * costs.merge),
        Row(f"{name}, minutes", whole, whole / 60),
        *(Row(f"  of this: {stage}, seconds", s, s) for stage, s in paper.items()),
    ]
