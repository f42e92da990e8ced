"""Slow comparisons: series under TWE beside aeon itself, and a function that sleeps.

The times of TWE are processor times of parts in turns, so that other work on the machine matters
little. The memory of 100 000 predictions does not depend on how long a comparison takes: these are
made with a window of 5 % of the length, all without need 20 minutes, `predict_many(None)`.
Everything is on one thread but for what has two workers.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from time import perf_counter, process_time, sleep

import numpy as np
import psutil
from joblib import parallel_config

from benchmarks._measure import Row, greatest_memory
from kernlearn.kernels import CallableKernel, named
from kernlearn.landmarks import BBSClassifier, FTuneClassifier

LENGTH, N_LANDMARKS = 150, 50
N_PREDICTED = 100_000
_PART, _PARTS = 200, 12  # series of a part whose time is measured
_MIB = 2**20
_PAUSE = 0.001


def run() -> list[Row]:
    """Measure series and the function that sleeps."""
    return [*_beside_aeon(), *_memory(), *_sleeping(), *_interrupted()]


def series(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return series of two kinds, in the rows of a matrix, and their classes."""
    rng = np.random.RandomState(seed)
    classes = rng.randint(2, size=n)
    frequencies = np.array([0.1, 0.13])[classes, None]
    points = np.arange(LENGTH) * frequencies
    points += rng.rand(n, 1) * 6
    np.sin(points, out=points)
    for rows in np.array_split(np.arange(n), max(n // 1000, 1)):
        points[rows] += 0.3 * rng.standard_normal((len(rows), LENGTH))
    return points, classes


def twe_model(window: float | None = None) -> BBSClassifier:
    """Return a classifier by TWE to 50 landmarks, fitted."""
    similarity = named("aeon.twe", window=window)
    model = BBSClassifier(N_LANDMARKS, similarity=similarity, C=10.0, random_state=0)
    return model.fit(*series(200))


def _beside_aeon() -> list[Row]:
    from aeon.distances import twe_pairwise_distance

    model = twe_model()
    landmarks = series(200)[0][model.compared_indices_]
    assert len(landmarks) == model.n_comparisons_
    ours, theirs = [], []
    for part in range(_PARTS + 1):
        points, _ = series(_PART, seed=1 + part)
        times = []
        for work in (model.predict, lambda X: twe_pairwise_distance(X, landmarks, n_jobs=1)):
            start = process_time()
            work(points)
            times.append(process_time() - start)
        if part:  # the first has compiled
            ours.append(times[0])
            theirs.append(times[1])
    ratio = float(np.median(np.array(ours) / theirs))
    what = f"TWE, length {LENGTH}, {len(landmarks)} landmarks, {_PART} predictions"
    return [Row(f"{what} / aeon's pairwise", min(ours), ratio, at_most=1.2)]


def _memory() -> list[Row]:
    child = subprocess.run(
        [sys.executable, "-c", "from benchmarks import bench_slow; bench_slow.predict_many()"],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, beyond, grown, n_comparisons = map(float, child.stdout.split())
    what = f"TWE, length {LENGTH}, window, {int(n_comparisons)} landmarks"
    return [
        Row(
            f"{what}, {N_PREDICTED} predictions: peak MiB beyond the data",
            seconds,
            beyond,
            at_most=500,
        ),
        Row("the same: peak MiB beyond what was there before", seconds, grown),
    ]


def predict_many(window: float | None = 0.05) -> None:
    """Print seconds, MiB beyond the data, beyond what was there, and comparisons of a point."""
    model, (points, _) = twe_model(window), series(N_PREDICTED, seed=1)
    model.predict(points[:10])
    before, start = psutil.Process().memory_info().rss, process_time()
    model.predict(points)
    seconds = process_time() - start
    peak = greatest_memory(os.getpid())
    print(seconds, (peak - points.nbytes) / _MIB, (peak - before) / _MIB, model.n_comparisons_)


class Point:
    """An object with a value, which only a function of two understands."""

    def __init__(self, value: float) -> None:
        self.value = value


def slowly(x: Point, y: Point) -> float:
    """Return the distance of two values, after a millisecond."""
    sleep(_PAUSE)
    return abs(x.value - y.value)


def objects(n: int) -> tuple[list[Point], np.ndarray]:
    """Return objects and their classes."""
    values = np.random.RandomState(0).normal(size=n)
    return [Point(value) for value in values.tolist()], (np.abs(values) > 1).astype(int)


def _sleeping() -> list[Row]:
    points, classes = objects(500)
    seconds, rows = {}, []
    for n_jobs in (1, 2):
        made: Counter[tuple[int, int]] = Counter()

        def counted(x: Point, y: Point, made: Counter = made) -> float:
            made[id(x), id(y)] += 1
            return slowly(x, y)

        similarity = CallableKernel(counted, takes="points", kind="distance", n_jobs=n_jobs)
        model = FTuneClassifier(20, similarity=similarity, random_state=0)
        start = perf_counter()
        model.fit(points, classes)
        seconds[n_jobs] = perf_counter() - start
        said, n_made = model.n_fit_comparisons_, made.total()
        what = f"FTUNE, 500 objects, {n_jobs} workers, {n_made} comparisons"
        rows += [
            Row(f"{what}: made less said", seconds[n_jobs], abs(n_made - said), at_most=0),
            Row(f"{what}: made twice", seconds[n_jobs], n_made - len(made), at_most=0),
        ]
    ratio = seconds[2] / seconds[1]
    return [
        *rows,
        Row("FTUNE, a function that sleeps, 2 workers / 1", seconds[2], ratio, at_most=0.55),
    ]


def wait_to_be_interrupted(where: str, n_jobs: int, backend: str) -> None:
    """Compare for minutes, in a fit or in a prediction; say before it and when it is left."""
    points, classes = objects(100_000)
    n_fitted = len(points) if where == "fit" else 50
    similarity = CallableKernel(slowly, takes="points", kind="distance")
    model = BBSClassifier(20, similarity=similarity, C=1.0, random_state=0)
    if where == "predict":
        model.fit(points[:n_fitted], classes[:n_fitted])
    print("begun", flush=True)
    try:
        with parallel_config(backend, n_jobs=n_jobs):
            model.fit(points[:n_fitted], classes[:n_fitted])
            model.predict(points)
    except KeyboardInterrupt:
        print(perf_counter(), flush=True)
        raise


def _interrupted() -> list[Row]:
    rows = []
    for where in ("fit", "predict"):
        for n_jobs, backend in ((1, "threading"), (2, "threading"), (2, "loky")):
            code = (
                "from benchmarks import bench_slow; "
                f"bench_slow.wait_to_be_interrupted({where!r}, {n_jobs}, {backend!r})"
            )
            with subprocess.Popen(
                [sys.executable, "-c", code],
                env=os.environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as child:
                assert child.stdout is not None
                assert child.stdout.readline() == "begun\n", child.communicate()[1]
                sleep(3)  # processes take a second to start
                start = perf_counter()  # of a clock that all processes share
                child.send_signal(signal.SIGINT)
                left, errors = child.communicate(timeout=600)
                seconds = perf_counter() - start
            assert child.returncode, "it was not interrupted"
            assert "KeyboardInterrupt" in errors, errors
            what = f"Ctrl-C in {where}, {n_jobs} {backend}: seconds until"
            rows.append(Row(f"{what} it is left", seconds, float(left) - start, at_most=1))
            rows.append(Row(f"{what} the process has ended", seconds, seconds))
    return rows
