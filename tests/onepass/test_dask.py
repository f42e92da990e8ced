"""The estimators on Dask: the same bits for any partitions and workers, though some are killed."""

import copy
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="needs the extra 'cluster'")

import dask
from dask import array, dataframe, delayed
from distributed import Client, KilledWorker, LocalCluster, default_client
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from kernlearn.datasets import RowSource, row_source
from kernlearn.features import RandomMaclaurin
from kernlearn.landmarks import NystroemEmbedding
from kernlearn.onepass import OnePassRankRLS, OnePassRidge, OnePassRidgeClassifier
from kernlearn.onepass.partitions import active_client, reduce_partitions
from tests.dask_processes import end, start
from tests.onepass.dask_tasks import N, X, chunk, counted, joined, readings, threads_of, y
from tests.onepass.test_one_pass import assert_same

ORDERS = (np.arange(N), np.random.default_rng(1).permutation(N))
KINDS = (OnePassRidge, OnePassRidgeClassifier, OnePassRankRLS)


def new(kind=OnePassRidgeClassifier):
    return kind(RandomMaclaurin(n_components=40, h01=True, random_state=0), sample_rows=300)


def divided(n_parts, order=ORDERS[0], labels=y):
    """The rows as Dask arrays with partitions of different sizes."""
    cuts = np.sort(np.random.default_rng(n_parts).choice(np.arange(1, N), n_parts - 1, False))
    sizes = tuple(np.diff([0, *cuts, N]).tolist())
    rows = array.from_array(X[order], chunks=(sizes, 4))
    return rows, array.from_array(labels[order], chunks=(sizes, *labels.shape[1:]))


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


@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_partitions_order_and_workers(kind, client):
    whole = new(kind).fit(X, y)
    started = new(kind).fit_map(X[:200], y[:200])
    gathered = copy.deepcopy(started).partial_fit(X, y)
    for n_parts, order in ((1, ORDERS[1]), (2, ORDERS[0]), (7, ORDERS[1])):
        with dask.config.set(scheduler="synchronous"):
            assert active_client() is None
            assert_same(new(kind).fit(*divided(n_parts, order)), whole)
        assert active_client() is client
        assert_same(new(kind).fit(*divided(n_parts, order)), whole)
        more = copy.deepcopy(started).partial_fit(*divided(n_parts, order))
        assert_same(more, gathered)
        assert more.n_samples_seen_ == N


@pytest.mark.exhaustive
def test_many_partitions_in_a_deep_tree(client):
    assert_same(new().fit(*divided(150)), new().fit(X, y))


def test_partial_fit_adds_to_what_is_there(client):
    rows, labels = divided(7)
    model = new().partial_fit(rows, labels, classes=[0, 1])
    assert model.n_samples_seen_ == N
    first = rows.chunks[0][0]
    here = (
        new().partial_fit(X[:first], y[:first], classes=[0, 1]).partial_fit(X[first:], y[first:])
    )
    assert_same(model, here)
    model.partial_fit(*divided(2)).partial_fit(X[:10], y[:10])
    assert_same(model, here.partial_fit(X, y).partial_fit(X[:10], y[:10]))


def test_numeric_and_several_targets(client):
    targets = np.column_stack([X @ np.arange(6), X[:, 0] * X[:, 1]])
    rows, labels = divided(7, ORDERS[1], targets)
    assert_same(new(OnePassRidge).fit(rows, labels), new(OnePassRidge).fit(X, targets))


def test_frames_delayed_chunks_and_files(client, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    whole = new().fit(frame.drop(columns="label"), y)
    frames = dataframe.from_pandas(frame, npartitions=5)
    for source in (
        (row_source(frames, target="label"),),
        (frames.drop(columns="label"), frames["label"]),
    ):
        model = new().fit(*source)
        assert_same(model, whole)
        assert model.feature_names_in_.tolist() == list("abcdef")
    parts = [delayed((X[i::7], y[i::7])) for i in range(7)]
    assert_same(new().fit(parts), whole)
    grouped = [delayed((X[i::7], y[i::7], ORDERS[0][i::7] % 40)) for i in range(7)]
    assert_same(new().fit(grouped), new().fit(X, y, groups=ORDERS[0] % 40))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    twice = [tmp_path / "rows.parquet", tmp_path / "rows.csv"]
    both = new().partial_fit(row_source(twice, target="label"), classes=[0, 1])
    assert both.n_samples_seen_ == 2 * N
    here = RowSource(lambda: iter(row_source(twice, target="label")))  # not divided
    assert_same(both, new().partial_fit(here, classes=[0, 1]))


def test_empty_partitions(client):
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    frames = dataframe.from_pandas(frame, npartitions=7)
    some = frames[frames["a"] > 0.2]
    model = new().fit(row_source(some, target="label"))
    kept = frame[frame["a"] > 0.2]
    assert_same(model, new().fit(kept.drop(columns="label"), kept["label"]))
    first = frame.assign(a=np.where(np.arange(N) < 1000, 9.0, frame["a"]))
    frames = dataframe.from_pandas(first, npartitions=7)
    late = new().partial_fit(row_source(frames[frames["a"] < 9], target="label"), classes=[0, 1])
    assert late.n_samples_seen_ == N - 1000
    none = frames[frames["a"] > 99]
    for fit in (new().fit, lambda source: new().partial_fit(source, classes=[0, 1])):
        with pytest.raises(ValueError, match="the data have no rows"):
            fit(row_source(none, target="label"))


def refused(model, method, message, *data, **options):
    before = dict(vars(model))
    seen = model.n_samples_seen_
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(*data, **options)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert model.n_samples_seen_ == seen


@pytest.mark.parametrize("here", [False, True])
def test_errors_name_the_partition_and_leave_the_estimator(client, here):
    model = new().fit(X, y)
    broken, odd, narrow = X.copy(), y.copy(), [delayed((X[i::7], y[i::7])) for i in range(7)]
    broken[1600, 2] = np.nan
    odd[1600] = 5
    narrow[5] = delayed((X[:9, :4], y[:9]))
    equal = [array.from_array(rows, chunks=500) for rows in (X, y, broken, odd)]
    with dask.config.set(scheduler="synchronous" if here else None):
        refused(model, "fit", "^partition 3: Input X contains NaN", equal[2], equal[1])
        refused(model, "fit", "^partition 5 has other rows .* n_features_in_ is 4 and 6", narrow)
        if here:
            return  # chunks before the fault have been added, as of any source
        refused(model, "partial_fit", "^partition 3: Input X contains NaN", equal[2], equal[1])
        refused(model, "partial_fit", "^partition 3: y contains the label 5", equal[0], equal[3])
        refused(model, "partial_fit", "^partition 5: X has 4 features", narrow)
        refused(model, "partial_fit", "not the same as on last", *equal[:2], classes=[0, 1, 2])
        refused(model, "fit", "^partition 0: chunk 0 is a ndarray", [delayed(X)])
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            new().partial_fit(*equal[:2])


def test_missing_files_are_named(client, tmp_path):
    pd.DataFrame(X, columns=list("abcdef")).assign(label=y).to_csv(tmp_path / "rows.csv")
    lost = [tmp_path / "rows.csv", tmp_path / "lost.csv"]
    with pytest.raises(Exception, match=r"lost\.csv"):
        new().fit(row_source(lost, target="label"))


def test_predictions_are_lazy_arrays(client):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frames = dataframe.from_pandas(frame, npartitions=4)
    targets = {"one": X[:, 0], "two": X[:, :2]}
    models = [new(kind).fit(frame, y) for kind in KINDS]
    models += [new(OnePassRidge).fit(frame, t) for t in targets.values()]
    models.append(new().fit(frame, y + (X[:, 1] > 0)))
    for model in models:
        for name in ("predict", "decision_function"):
            if not hasattr(model, name):
                continue
            expected = getattr(model, name)(frame)
            found = getattr(model, name)(frames)
            assert isinstance(found, array.Array)
            np.testing.assert_allclose(found.compute(), expected, rtol=1e-9)
            plain = copy.copy(model)
            del plain.feature_names_in_
            found = getattr(plain, name)(divided(7)[0])
            assert found.chunks[0] == divided(7)[0].chunks[0]
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(found.compute(), expected, rtol=1e-9)
    with pytest.raises(NotFittedError):
        new().predict(frames)


def test_what_is_not_divided_stays_here(client):
    def forbidden(*_):
        raise AssertionError

    model = new().fit_map(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernlearn.onepass.partitions._on_cluster", forbidden)
        model.partial_fit(X, y).partial_fit(iter([(X, y)]))
        with pytest.raises(AssertionError):
            model.partial_fit(*divided(2))


def test_tasks_have_one_thread_of_blas(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as connected,
    ):
        assert connected.submit(threads_of, None, []).result() == [{2}]
        found = reduce_partitions(row_source(*divided(7)), threads_of, joined, None)
        assert found == [{1}] * 7


def test_threads_of_one_worker_give_the_same_bits():
    whole = new().fit(X, y)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        threadpool_limits(2, "blas"),
    ):
        assert_same(new().set_params(n_jobs=2).fit(*divided(20)), whole)


@pytest.mark.parametrize("here", [True, False])
def test_reduce_partitions_of_any_values(client, here):
    with dask.config.set(scheduler="synchronous" if here else None):
        found = reduce_partitions(row_source(*divided(20)), counted, joined, 2)
        expected = enumerate(divided(20)[0].chunks[0])
        assert found == [(f"partition {i}", 2 * n) for i, n in expected]
        assert reduce_partitions(row_source(X, y), counted, joined, 1) == [("", N)]


def test_an_asynchronous_client_is_refused(client):
    async def fit():
        async with Client(client.scheduler.address, asynchronous=True):
            new().fit(*divided(2))

    with pytest.raises(ValueError, match="asynchronous"):
        client.sync(fit)
    assert default_client() is client


# Workers that are killed


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_workers_killed_while_they_read(kind, client, tmp_path):
    for place in (3, 11):
        (tmp_path / f"kill-{place}-0").touch()
    parts = [delayed(chunk, pure=False)(i, 16, str(tmp_path)) for i in range(16)]
    feature_map = NystroemEmbedding(n_components=20, random_state=0)
    model = kind(feature_map, sample_rows=300).fit(parts)
    assert not list(tmp_path.glob("kill-*"))
    assert readings(tmp_path) >= 2 * 16 + 2
    assert_same(model, kind(feature_map, sample_rows=300).fit(X, y))


@pytest.mark.exhaustive
def test_a_partition_that_kills_every_worker_is_an_error(tmp_path):
    (tmp_path / "kill-1-0").touch()
    parts = [delayed(chunk, pure=False)(i, 3, str(tmp_path)) for i in range(3)]
    model = new().fit(X, y)
    before = dict(vars(model))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        pytest.raises(KilledWorker, match="all those workers died"),
    ):
        model.partial_fit(parts)
    assert vars(model) == before


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
    """Fit while a worker is killed at a random time; return the model and the readings."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    pids = list(client.run(os.getpid).values())
    # both passes, and merges of many levels as n_parts are more than 8
    killer = Killer(folder, int(rng.integers(1, 2 * n_parts)), int(rng.choice(pids)))
    parts = [delayed(chunk, pure=False)(i, n_parts, str(folder), 0.02) for i in range(n_parts)]
    killer.start()
    model = new().fit(parts)
    killer.join()
    assert killer.killed
    return model, readings(folder)


@pytest.mark.exhaustive
def test_a_worker_killed_at_any_time(client, tmp_path):
    client.wait_for_workers(2)
    model, _ = run_with_a_kill(client, tmp_path / "run", 0)
    assert_same(model, new().fit(X, y))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_twenty_runs_with_a_worker_killed(seed, client, tmp_path):
    client.wait_for_workers(2)
    model, n_read = run_with_a_kill(client, tmp_path / "run", seed)
    assert n_read >= 2 * 24
    assert_same(model, new().fit(X, y))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_workers_without_a_nanny_are_not_replaced(seed, tmp_path):
    file = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(file)]
    processes = [start(tmp_path, "scheduler", "--host", "127.0.0.1", "--port", "0", *where)]
    named = [*where, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny"]
    processes += [start(tmp_path, "worker", *named) for _ in range(3)]
    try:
        with Client(scheduler_file=str(file), timeout=60) as connected:
            connected.wait_for_workers(3, timeout=60)
            model, _ = run_with_a_kill(connected, tmp_path / "run", seed)
            assert len(connected.scheduler_info()["workers"]) == 2
    finally:
        for process in processes:
            end(process)
    assert_same(model, new().fit(X, y))
