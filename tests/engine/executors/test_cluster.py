"""Dask: a scheduler and workers as processes of their own."""

import json
import signal
import time
from contextlib import suppress

import pytest

pytest.importorskip("distributed", reason="needs the extra 'cluster'")

from kernlearn.config import load_config
from kernlearn.engine import DaskExecutor, Limits, make_plan, run_plan
from kernlearn.engine.runner import Listener
from kernlearn.exceptions import ExecutorError
from kernlearn.store import Store
from tests.dask_processes import end, start
from tests.engine.numbers import numbers


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler for all tests: the file that names it, and its address."""
    folder = tmp_path_factory.mktemp("scheduler")
    file, address = folder / "scheduler.json", None
    process = start(
        folder, "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
    )
    deadline = time.monotonic() + 60
    while address is None and time.monotonic() < deadline:
        time.sleep(0.1)
        # the file may be there before its content is
        with suppress(FileNotFoundError, json.JSONDecodeError):
            address = json.loads(file.read_text())["address"]
    assert address is not None
    yield file, address
    end(process)


@pytest.fixture
def cluster(scheduler, tmp_path):
    """The scheduler's address, and a function that starts workers until the test ends."""
    from distributed import Client

    file, address = scheduler
    processes = []

    def worker(*arguments, **variables):
        threads = [] if "--nthreads" in arguments else ["--nthreads", "1"]
        named = ["--scheduler-file", str(file), "--host", "127.0.0.1"]
        processes.append(start(tmp_path, "worker", *named, *threads, *arguments, **variables))
        return processes[-1]

    yield address, worker
    for process in processes:
        end(process)
    # the next test must not meet them
    with Client(address, set_as_default=False) as client:
        deadline = time.monotonic() + 30
        while client.scheduler_info()["workers"] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not client.scheduler_info()["workers"]


def wait_for(executor, count):
    deadline = time.monotonic() + 60
    while executor.slots < count and time.monotonic() < deadline:
        time.sleep(0.1)
    assert executor.slots == count


def test_numbers_are_those_of_this_process_though_a_worker_is_killed(small, cluster, tmp_path):
    plan = make_plan(load_config(small))
    with Store(tmp_path / "here") as store:
        run_plan(plan, store)
        expected = numbers(plan, store)
    assert len(expected) == 16

    address, worker = cluster
    workers = [worker("--no-nanny"), worker("--no-nanny")]
    executor = DaskExecutor(address)
    wait_for(executor, 2)

    class Killer(Listener):
        done = 0

        def trial_done(self, trial, result):
            self.done += 1
            if self.done == 4:
                workers[0].send_signal(signal.SIGKILL)

    killer = Killer()
    with Store(tmp_path / "there") as store:
        outcome = run_plan(plan, store, executor=executor, listener=killer, allow_contention=True)
        assert (outcome.done, outcome.failed, killer.done) == (16, 0, 16)
        assert numbers(plan, store) == expected
        assert store.runs()[-1].environment["executor"] == "dask"
    assert workers[0].wait(10) == -signal.SIGKILL
    assert executor.slots == 1
    executor.close()


@pytest.mark.exhaustive
def test_a_killed_workers_trial_is_done_by_another(trouble, cluster, tmp_path):
    plan = make_plan(load_config(trouble("slow: {estimator: Sleeper, seconds: 1}", splits=4)))
    address, worker = cluster
    workers = [worker("--no-nanny"), worker("--no-nanny")]
    executor = DaskExecutor(address)
    wait_for(executor, 2)
    started = []

    class Killer(Listener):
        def trial_started(self, trial):
            started.append(trial.key)
            if len(started) == 2:
                time.sleep(0.5)  # both are at their trials
                workers[1].kill()

    with Store(tmp_path / "s") as store:
        outcome = run_plan(plan, store, executor=executor, listener=Killer())
    assert (outcome.done, outcome.failed) == (4, 0)
    assert sorted(started) == sorted(t.key for t in plan.trials)
    executor.close()


@pytest.mark.exhaustive
def test_limits_hold_on_a_cluster(trouble, cluster, tmp_path):
    config = trouble(
        "long: {estimator: Sleeper, seconds: 60}",
        "big: {estimator: Eater, mebibytes: 3000}",
        "short: {estimator: Sleeper}",
    )
    plan = make_plan(load_config(config))
    address, worker = cluster
    worker()
    executor = DaskExecutor(address, limits=Limits(timeout=8, memory=500 * 2**20))
    with Store(tmp_path / "s") as store:
        outcome = run_plan(plan, store, executor=executor)
        results = store.get(t.key for t in plan.trials)
    executor.close()
    assert (outcome.done, outcome.failed) == (1, 2)
    errors = {t.labels["method"]: results[t.key].error for t in plan.trials}
    assert errors["long"].startswith("Timeout: ")
    assert errors["big"].startswith("MemoryLimit: ")
    assert errors["short"] is None


def test_a_trial_that_kills_every_worker_is_a_failed_row(trouble, tmp_path):
    config = trouble(
        f"mortal: {{estimator: Mortal, diary: {tmp_path / 'diary'}, lives: 99}}",
        "other: {estimator: Sleeper}",
    )
    plan = make_plan(load_config(config))
    executor = DaskExecutor(None, jobs=2, limits=Limits(retries=1))
    with Store(tmp_path / "s") as store:
        outcome = run_plan(plan, store, executor=executor)
        results = store.get(t.key for t in plan.trials)
    executor.close()
    assert (outcome.done, outcome.failed) == (1, 1)
    (error,) = (r.error for r in results.values() if not r.done)
    assert error.startswith("WorkerDied: ")


def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr("kernlearn.engine.cluster._CONNECT", 1.0)
    with pytest.raises(ExecutorError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        DaskExecutor("tcp://127.0.0.1:9")
    with pytest.raises(ExecutorError, match="no Dask scheduler at nonsense"):
        DaskExecutor("nonsense://x")


def test_workers_that_will_not_do_are_told(cluster, monkeypatch):
    address, worker = cluster
    monkeypatch.setattr("kernlearn.engine.cluster._PATIENCE", 1.0)
    with pytest.raises(ExecutorError, match="has had no workers for 1 s; start some"):
        DaskExecutor(address)
    monkeypatch.undo()
    crowded = worker("--nthreads", "2")
    with pytest.raises(ExecutorError, match=r"more than one thread.* --nthreads 1"):
        DaskExecutor(address)
    crowded.terminate()
    crowded.wait(20)
    worker(DASK_DISTRIBUTED__WORKER__DAEMON="True")
    DaskExecutor(address).close()
    with pytest.raises(ExecutorError, match="DASK_DISTRIBUTED__WORKER__DAEMON=False"):
        DaskExecutor(address, limits=Limits(timeout=5))
