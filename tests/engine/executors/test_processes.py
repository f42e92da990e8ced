"""Worker processes: the same numbers, and trouble that stays with the trial that makes it."""

import os
import platform
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from kernlearn.config import load_config
from kernlearn.engine import Limits, Processes, make_executor, make_plan, run_plan
from kernlearn.engine.local import crowding
from kernlearn.engine.runner import Listener, check_cores
from kernlearn.exceptions import ExecutorError
from kernlearn.store import Store
from tests.engine.executors.conftest import write_trouble
from tests.engine.numbers import numbers


def run(config, path, jobs=1, **limits):
    """Carry out a config's trials in processes; return them with their results."""
    plan = make_plan(load_config(config))
    executor = Processes(jobs, limits=Limits(**limits))
    try:
        with Store(path) as store:
            run_plan(plan, store, executor=executor)
            results = store.get(t.key for t in plan.trials)
    finally:
        executor.close()
    return [(t.labels["method"], results[t.key]) for t in plan.trials]


def children():
    return {p.pid for p in psutil.Process().children(recursive=True)}


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_numbers_are_those_of_this_process_to_the_last_bit(jobs, small, tmp_path):
    plan = make_plan(load_config(small))
    with Store(tmp_path / "here") as store:
        run_plan(plan, store)
        expected = numbers(plan, store)
    assert len(expected) == 16
    executor = Processes(jobs)
    with Store(tmp_path / "there") as store:
        # the last half first, then what is left of the whole: as after an interruption
        half = make_plan(load_config(small))
        del half.trials[:8]
        half.trials.reverse()
        run_plan(half, store, executor=executor)
        run_plan(plan, store, executor=executor)
        assert numbers(plan, store) == expected
    executor.close()


@pytest.fixture(scope="module")
def unlimited(tmp_path_factory):
    """Trials that take memory, in a process without limits: results and diaries."""
    folder = tmp_path_factory.mktemp("unlimited")
    config = write_trouble(
        folder,
        f"freed: {{estimator: Freer, diary: {folder / 'freer'}, mebibytes: 400}}",
        f"after: {{estimator: Freer, diary: {folder / 'freer'}, mebibytes: 1}}",
        f"large: {{estimator: Keeper, diary: {folder / 'keeper'}, mebibytes: 400}}",
        f"last: {{estimator: Keeper, diary: {folder / 'keeper'}}}",
    )
    return dict(run(config, folder / "s")), folder


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """Trials of which some exceed their limits or end their process, and what they write."""
    folder = tmp_path_factory.mktemp("limited")
    config = write_trouble(
        folder,
        f"freed: {{estimator: Freer, diary: {folder / 'freer'}, mebibytes: 400}}",
        f"after: {{estimator: Freer, diary: {folder / 'freer'}, mebibytes: 1}}",
        "long: {estimator: Sleeper, seconds: 60}",
        "big: {estimator: Eater, mebibytes: 3000}",
        f"mortal: {{estimator: Mortal, diary: {folder / 'mortal'}, lives: 1}}",
        "short: {estimator: Sleeper, seconds: 0.1}",
    )
    return dict(run(config, folder / "s", jobs=2, timeout=4, memory=1000 * 2**20)), folder


def test_a_process_stays_after_a_trial_that_leaves_it_larger(unlimited):
    found, folder = unlimited
    assert all(result.done for result in found.values())
    pids = (folder / "keeper").read_text().split()
    # a fit to warm up and one that counts, each
    assert len(pids) == 4
    assert len(set(pids)) == 1


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize("kept", ["unlimited", "limited"])
def test_a_process_keeps_the_memory_that_trials_free_unless_it_is_limited(kept, request):
    found, folder = request.getfixturevalue(kept)
    assert found["freed"].done
    assert found["after"].done
    before, *_, after = map(int, (folder / "freer").read_text().split())
    assert (after > before + 350) == (kept == "unlimited")


def test_a_trial_that_takes_too_long_is_ended_and_the_rest_goes_on(limited):
    found, _ = limited
    assert found["short"].done
    assert found["long"].status == "failed"
    assert found["long"].error == "Timeout: not finished after 4 s, the limit (--timeout)"
    assert 4 <= found["long"].seconds < 30


def test_a_trial_that_takes_too_much_memory_is_ended(limited):
    found, _ = limited
    assert found["short"].done
    assert found["big"].status == "failed"
    assert found["big"].error.startswith("MemoryLimit: ")
    assert "the limit is 1000 MiB (--memory)" in found["big"].error


def test_a_process_that_dies_takes_only_its_trial_which_is_tried_again(limited):
    found, folder = limited
    assert found["mortal"].done
    assert found["mortal"].info["attempts"] == 2
    # a death, then the fit to warm up and the one that counts
    assert len((folder / "mortal").read_text().splitlines()) == 3
    assert found["short"].done
    assert "attempts" not in found["short"].info


@pytest.mark.exhaustive
def test_a_process_that_dies_again_and_again_is_a_failed_row(trouble, tmp_path):
    config = trouble(
        f"mortal: {{estimator: Mortal, diary: {tmp_path / 'diary'}, lives: 99}}",
        "other: {estimator: Sleeper}",
    )
    found = dict(run(config, tmp_path / "s", retries=1))
    assert found["other"].done
    assert found["mortal"].status == "failed"
    assert found["mortal"].error.startswith("WorkerDied: its process died 2 times")
    assert len((tmp_path / "diary").read_text().splitlines()) == 2


def test_an_interruption_leaves_no_process_behind(trouble, tmp_path):
    config = trouble("long: {estimator: Sleeper, seconds: 60}", splits=4)
    plan = make_plan(load_config(config))
    before = children()

    class Impatient(Listener):
        def trial_started(self, trial):
            threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()

    started = time.monotonic()
    with Store(tmp_path / "s") as store, pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, executor=Processes(1), listener=Impatient())
    assert time.monotonic() - started < 30
    deadline = time.monotonic() + 10
    while children() - before and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [psutil.Process(pid).cmdline() for pid in children() - before]
    # loky's own tracker of resources goes when this process does
    assert not [line for line in left if "resource_tracker" not in " ".join(line)]


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_workers_go_when_the_coordinator_is_killed(trouble, tmp_path):
    config = trouble("some: {estimator: Sleeper, seconds: 1}", splits=20)
    command = [
        sys.executable,
        "-m",
        "kernlearn",
        "run",
        str(config),
        "--jobs",
        "2",
        "--store",
        str(tmp_path / "s"),
        "--output",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("[1/"):
            break
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) >= 2
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_threads_are_shared_out():
    cores = Processes(1).threads
    assert Processes(10 * cores).threads == 1
    assert Processes(cores).threads == 1


@pytest.mark.parametrize(
    ("slots", "threads", "cores", "crowded"),
    [(1, 1, 1, False), (1, 8, 2, False), (2, 1, 2, False), (2, 2, 2, True), (3, 1, 2, True)],
)
def test_cores_are_counted(slots, threads, cores, crowded):
    assert bool(crowding(slots, threads, cores)) == crowded


def test_times_are_not_measured_on_shared_cores(small):
    config = load_config(small).config
    executor = Processes(1000)
    with pytest.raises(ExecutorError, match=r"1000 trials at a time .* --allow-contention"):
        check_cores(config, executor)
    untimed = small.read_text().replace(
        "[accuracy, fit_seconds, predict_seconds, speedup]", "[accuracy]"
    )
    small.write_text(untimed)
    check_cores(load_config(small).config, executor)
    check_cores(config, Processes(1))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "in-process", "jobs": 2}, "cannot have 2 jobs: take 'processes'"),
        ({"name": "in-process", "timeout": 1}, "cannot have a timeout or memory limit"),
        ({"name": "processes", "scheduler": "tcp://x:1"}, "goes with the executor 'dask'"),
    ],
)
def test_what_an_executor_cannot_do_is_told(asked, words):
    with pytest.raises(ExecutorError, match=words):
        make_executor(**asked)


def test_the_simplest_executor_that_will_do():
    names = [
        make_executor(**asked).describe()["executor"]
        for asked in ({}, {"jobs": 2}, {"timeout": 1}, {"memory": 10**9})
    ]
    assert names == ["in-process", "processes", "processes", "processes"]
