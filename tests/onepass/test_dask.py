"""Partitions on Dask: the same bits for the same partitions, though workers are killed."""

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="needs the extra 'cluster'")

import dask
from dask import array, dataframe, delayed
from distributed import Client, KilledWorker, LocalCluster

from kernlearn.datasets import row_source
from kernlearn.landmarks import NystroemEmbedding
from kernlearn.onepass import OnePassRidge, OnePassRidgeClassifier
from tests.dask_processes import end, start
from tests.onepass.dask_tasks import N, X, chunk, counted, joined, readings, y


def new(kind=OnePassRidgeClassifier):
    return kind(NystroemEmbedding(n_components=20, random_state=0))


def divided(n_parts, labels=y):
    """The rows as Dask arrays with partitions of different sizes."""
    cuts = np.sort(np.random.default_rng(n_parts).choice(np.arange(1, N), n_parts - 1, False))
    sizes = tuple(np.diff([0, *cuts, N]).tolist())
    rows = array.from_array(X, chunks=(sizes, 4))
    return row_source(rows, array.from_array(labels, chunks=(sizes, *labels.shape[1:])))


def assert_same(one, two):
    for a, b in zip(one.moments_, two.moments_, strict=True):
        np.testing.assert_array_equal(a.scatter, b.scatter)
        np.testing.assert_array_equal(a.mean, b.mean)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def assert_close(one, two):
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-7)


@pytest.fixture(scope="module")
def client():
    with (
        # a local cluster looks then whether a killed worker is back, and gives it up if it is not
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.mark.parametrize("n_parts", [1, 2, 20])
def test_partitions_are_read_by_workers(client, n_parts):
    model = new().fit(divided(n_parts))
    assert_same(model, new().fit(divided(n_parts)))
    assert_close(model, new().fit(X, y))
    with dask.config.set(scheduler="synchronous"):
        assert_same(model, new().fit(divided(n_parts)))


def test_values_are_reduced_in_order(client):
    source = divided(20)
    expected = [2 * len(labels) for _, labels in source]
    assert source.reduce(partial(counted, 2), joined) == expected
    assert row_source(X, y).reduce(partial(counted, 1), joined) == [N]


def test_frames_delayed_chunks_and_files(client, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    whole = new().fit(X, y)
    frames = dataframe.from_pandas(frame, npartitions=5)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    for source in (
        row_source(frames, target="label"),
        row_source(frames.drop(columns="label"), frames["label"]),
        row_source([delayed((X[i::7], y[i::7])) for i in range(7)]),
        row_source(tmp_path / "rows.parquet", target="label"),
    ):
        model = new().fit(source)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-6)
    targets = np.column_stack([X @ np.arange(6), X[:, 0] * X[:, 1]])
    model = new(OnePassRidge).fit(divided(7, targets))
    np.testing.assert_allclose(model.predict(X), new(OnePassRidge).fit(X, targets).predict(X))
    some = dataframe.from_pandas(frame, npartitions=7)
    kept = frame[frame["a"] > 0.2]  # some partitions are empty
    model = OnePassRidgeClassifier().fit(row_source(some[some["a"] > 0.2], target="label"))
    expected = OnePassRidgeClassifier().fit(kept.drop(columns="label"), kept["label"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.feature_names_in_.tolist() == list("abcdef")


@pytest.mark.parametrize("here", [False, True])
def test_errors_name_the_partition(client, here):
    broken, narrow = X.copy(), [delayed((X[i::7], y[i::7])) for i in range(7)]
    broken[1600, 2] = np.nan
    narrow[5] = delayed((X[:9, :4], y[:9]))
    rows, labels = (array.from_array(values, chunks=500) for values in (broken, y))
    with dask.config.set(scheduler="synchronous" if here else None):
        for source, message in (
            (row_source(rows, labels), "^partition 3: Input X contains NaN"),
            (row_source(narrow), "^partition 5: X has 4 features"),
            (row_source([delayed((X, y)), delayed(X)]), "^partition 1: chunk 0 must be a pair"),
        ):
            with pytest.raises(ValueError, match=message):
                new().fit(source)
    with pytest.raises(ValueError, match="pass Dask collections as"):
        new().fit(rows, labels)


# Workers that are killed


@pytest.mark.exhaustive
def test_a_partition_that_kills_every_worker_is_an_error(tmp_path):
    (tmp_path / "kill-1-0").touch()
    parts = row_source([delayed(chunk, pure=False)(i, 3, str(tmp_path)) for i in range(3)])
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        pytest.raises(KilledWorker, match="all those workers died"),
    ):
        new().fit(parts)


class Killer(threading.Thread):
    """Kill a worker when so many partitions have been read."""

    def __init__(self, folder, after, pids):
        super().__init__()
        self.folder, self.after, self.pids = folder, after, pids
        self.killed = False

    def run(self):
        deadline = time.monotonic() + 60
        while readings(self.folder) < self.after and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(self.pids, signal.SIGKILL)
        self.killed = True


def run_with_a_kill(client, folder, seed, n_parts=24):
    """Fit while a worker is killed at a random time; return the model and one without a kill."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    pids = list(client.run(os.getpid).values())
    # both passes, and merges of two levels as n_parts are more than 8
    killer = Killer(folder, int(rng.integers(1, 2 * n_parts)), int(rng.choice(pids)))
    parts = [delayed(chunk, pure=False)(i, n_parts, str(folder), 0.02) for i in range(n_parts)]
    killer.start()
    model = new().fit(row_source(parts))
    killer.join()
    assert killer.killed
    assert readings(folder) >= 2 * n_parts
    with dask.config.set(scheduler="synchronous"):
        return model, new().fit(row_source(parts))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(5))
def test_a_worker_killed_at_any_time(seed, client, tmp_path):
    client.wait_for_workers(2)
    assert_same(*run_with_a_kill(client, tmp_path / "run", seed))


@pytest.mark.exhaustive
def test_workers_without_a_nanny_are_not_replaced(tmp_path):
    file = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(file)]
    processes = [start(tmp_path, "scheduler", "--host", "127.0.0.1", "--port", "0", *where)]
    named = [*where, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny"]
    processes += [start(tmp_path, "worker", *named) for _ in range(3)]
    try:
        with Client(scheduler_file=str(file), timeout=60) as connected:
            connected.wait_for_workers(3, timeout=60)
            models = run_with_a_kill(connected, tmp_path / "run", 0)
            assert len(connected.scheduler_info()["workers"]) == 2
    finally:
        for process in processes:
            end(process)
    assert_same(*models)
