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

from kernlearn.exceptions import ExecutorError
from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.experiments.config.model import Execution
from kernlearn.experiments.engine.runner import Listener, check_cores
from kernlearn.experiments.executors import Limits, Processes, make_executor
from kernlearn.experiments.executors.local import crowding
from tests.experiments.numbers import numbers


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


def test_numbers_are_those_of_this_process_to_the_last_bit(small, tmp_path):
    plan = make_plan(load_config(small))
    with Store(tmp_path / "here") as store:
        run_plan(plan, store)
        expected = numbers(plan, store)
    assert len(expected) == 16
    for jobs in (1, 2):
        executor = Processes(jobs)
        with Store(tmp_path / f"{jobs}") as store:
            # the last half first, then what is left of the whole: as after an interruption
            half = make_plan(load_config(small))
            del half.trials[:8]
            half.trials.reverse()
            run_plan(half, store, executor=executor)
            run_plan(plan, store, executor=executor)
            assert numbers(plan, store) == expected
        executor.close()


def test_a_process_stays_after_a_trial_that_leaves_it_larger(trouble, tmp_path):
    diary = tmp_path / "diary"
    methods = [
        f"{name}: {{estimator: Keeper, diary: {diary}, mebibytes: {size}}}"
        for name, size in (("first", 0), ("large", 400), ("last", 1))
    ]
    found = run(trouble(*methods), tmp_path / "s")
    assert all(result.done for _, result in found)
    assert len(set(diary.read_text().split())) == 1


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize("memory", [None, 4 * 2**30])
def test_a_process_keeps_the_memory_that_trials_free_unless_it_is_limited(
    memory, trouble, tmp_path
):
    diary = tmp_path / "diary"
    methods = [
        f"{name}: {{estimator: Freer, diary: {diary}, mebibytes: {size}}}"
        for name, size in (("large", 600), ("last", 1))
    ]
    found = run(trouble(*methods), tmp_path / "s", memory=memory)
    assert all(result.done for _, result in found)
    before, *_, after = map(int, diary.read_text().split())
    assert (after > before + 500) == (memory is None)


def test_a_trial_that_takes_too_long_is_ended_and_the_rest_goes_on(trouble, tmp_path):
    config = trouble("long: {estimator: Sleeper, seconds: 60}", "short: {estimator: Sleeper}")
    found = dict(run(config, tmp_path / "s", timeout=6))
    assert found["short"].done
    assert found["long"].status == "failed"
    assert found["long"].error == "Timeout: not finished after 6 s, the limit (--timeout)"
    assert 6 <= found["long"].seconds < 30


def test_a_trial_that_takes_too_much_memory_is_ended(trouble, tmp_path):
    config = trouble("big: {estimator: Eater, mebibytes: 3000}", "small: {estimator: Eater}")
    found = dict(run(config, tmp_path / "s", memory=1000 * 2**20))
    assert found["small"].done
    assert found["big"].status == "failed"
    assert found["big"].error.startswith("MemoryLimit: ")
    assert "the limit is 1000 MiB (--memory)" in found["big"].error


def test_a_process_that_dies_takes_only_its_trial_which_is_tried_again(trouble, tmp_path):
    diary = tmp_path / "diary"
    config = trouble(
        f"mortal: {{estimator: Mortal, diary: {diary}, lives: 2}}",
        "other: {estimator: Sleeper, seconds: 0.1}",
    )
    found = dict(run(config, tmp_path / "s", jobs=2))
    assert found["mortal"].done
    assert found["mortal"].info["attempts"] == 3
    # two deaths, then the fit to warm up and the one that counts
    assert len(diary.read_text().splitlines()) == 4
    assert found["other"].done
    assert "attempts" not in found["other"].info


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
    command = [sys.executable, "-m", "kernlearn", "run", str(config), "--jobs", "2", "--store",
               str(tmp_path / "s"), "--output", str(tmp_path / "out")]  # fmt: skip
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
        ({"executor": "in-process", "jobs": 2}, "cannot have 2 jobs: take 'processes'"),
        ({"executor": "in-process", "timeout": 1}, "cannot have a timeout or memory limit"),
        ({"executor": "processes", "scheduler": "tcp://x:1"}, "goes with the executor 'dask'"),
    ],
)
def test_what_an_executor_cannot_do_is_told(asked, words):
    with pytest.raises(ExecutorError, match=words):
        make_executor(Execution(**asked))


def test_the_simplest_executor_that_will_do():
    names = [
        make_executor(Execution(**asked)).describe()["executor"]
        for asked in ({}, {"jobs": 2}, {"timeout": 1}, {"memory": "1GB"})
    ]
    assert names == ["in-process", "processes", "processes", "processes"]
