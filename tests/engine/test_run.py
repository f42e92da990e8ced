"""Runs and executors: the same numbers from all, and trouble that stays with its trial."""

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from kernlearn.config import load_config
from kernlearn.engine import Choice, Listener, make_executor, make_plan, parse_only, run_plan
from kernlearn.engine.executors import InProcess
from kernlearn.engine.run import check_cores
from kernlearn.exceptions import ExecutorError, SelectionError, StoreError
from kernlearn.landmarks import FTuneClassifier
from kernlearn.store import Store
from tests.engine.conftest import SMALL

EXECUTORS = {"in-process": InProcess, "processes": make_executor}
posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


@pytest.fixture
def plan(planned):
    return planned(SMALL)


@pytest.fixture
def trouble(planned, tmp_path):
    """Run a config of methods that make trouble; return their rows by name."""

    def run(executor=None, listener=None, **methods):
        lines = [f"{k}: {{estimator: Trouble, what: {k}, {more}}}" for k, more in methods.items()]
        plan = planned(
            f"title: t\nplugins: [{Path(__file__).with_name('trouble.py')}]\n"
            "datasets: {moons: {generator: two_moons, n_samples: 40}}\n"
            f"methods: {{{', '.join(lines)}}}\nprotocol: {{splits: 1}}\nmetrics: [accuracy]\n"
        )
        with Store(tmp_path / "t") as store:
            run_plan(plan, store, executor=executor, listener=listener)
            return {row.labels["method"]: row for row in store.rows()}

    return run


# The same numbers


def numbers(plan, store):
    """Every metric but the times, by trial; floats as they are, to the last bit."""
    found = store.get(t.key for t in plan.trials)
    return {
        key: {k: v for k, v in r.metrics.items() if "seconds" not in k}
        for key, r in found.items()
        if r.done
    }


@pytest.mark.parametrize("how", [{"jobs": 2}, {"scheduler": "local", "jobs": 2}])
def test_numbers_depend_neither_on_order_nor_on_the_executor(how, plan, tmp_path):
    with Store(tmp_path / "here") as store:
        run_plan(plan, store)
        expected = numbers(plan, store)
    assert len(expected) == 16
    if "scheduler" in how:
        pytest.importorskip("distributed")
    half = replace(plan, trials=plan.trials[:7:-1])
    with Store(tmp_path / "there") as store, closing(make_executor(**how)) as executor:
        # the last half first, then what is left of the whole: as after an interruption
        run_plan(half, store, executor=executor, allow_contention=True)
        assert run_plan(plan, store, executor=executor, allow_contention=True).done == 8
        assert numbers(plan, store) == expected
        rows = store.get(trial.key for trial in plan.trials).values()
    assert all(row.info["contended"] for row in rows)
    assert {row.machine["executor"] for row in rows} == {
        "dask" if "scheduler" in how else "processes"
    }
    assert all(row.machine["packages"]["numpy"] for row in rows)


def test_a_second_run_does_only_what_is_missing(plan, planned, tmp_path):
    class Seen(Listener):
        done = []

        def trial_done(self, trial, row):
            self.done.append(trial.key)

    with Store(tmp_path / "s") as store:
        first = run_plan(plan, store, listener=Seen())
        assert (first.total, first.cached, first.done, first.failed) == (16, 0, 16, 0)
        assert Seen.done == [trial.key for trial in plan.trials]
        assert run_plan(plan, store).cached == 16
        more = planned(SMALL, settings=["splits=3"])
        assert run_plan(more, store).done == 8
        assert run_plan(plan, store, choice=Choice(force=True)).done == 16
        experiments = store.experiments()
    ways = {("full", ()): {None: 16}, ("full", ("splits=3",)): {None: 8}}
    assert experiments == {"c": ways}


SHARING = """\
title: t
datasets: {{moons: {{generator: two_moons, n_samples: 90, noise: 0.3}}}}
methods:
  BBS: {{estimator: BBSClassifier, n_landmarks: [5, 9]}}
  S: {{estimator: FTuneClassifier, n_landmarks: [5, 9]}}
  M: {{estimator: FTuneClassifier, n_landmarks: [5, 9], per_class: true}}
protocol: {{splits: 2, train: 0.5, {held_out}}}
metrics: [accuracy]
"""


@pytest.mark.parametrize("held_out", ["holdout: 0.2", "seed: 1"])
def test_methods_that_differ_in_the_choice_alone_are_trained_once(
    held_out, planned, tmp_path, monkeypatch
):
    plan, found, trained = planned(SHARING.format(held_out=held_out)), [], []
    train = FTuneClassifier._train_pairs

    def counted(*arguments):
        trained.append(1)
        return train(*arguments)

    monkeypatch.setattr(FTuneClassifier, "_train_pairs", counted)
    monkeypatch.setattr("kernlearn.engine.trial._warm_up", lambda *_: None)
    for only in (["method=S,method=BBS", "method=M"], [""]):
        with Store(tmp_path / f"{len(only)}") as store:
            for text in only:
                asked = Choice(only=(parse_only(text),) if text else ())
                run_plan(plan, store, choice=asked)
            found.append(numbers(plan, store))
    assert len(found[0]) == 12
    assert found[0] == found[1]
    assert len(trained) == 8 + 4


# Trouble


@pytest.mark.parametrize("name", ["in-process", pytest.param("processes", marks=posix)])
def test_any_end_of_a_trial_is_a_failed_row(trouble, name):
    expected = {
        "raise": "ValueError: no such thing in two lines",
        "exit": "SystemExit: enough",
        "interrupt": "KeyboardInterrupt",
        "unprintable": "Unprintable: its message cannot be shown",
        "nan": "ValueError: the method's predict gives NaN for 6 of 16 points",
        "infinite": "ValueError: the method's predict gives infinity for 6 of 16 points",
        "unknown": "ValueError: the method predicts 7.0",
        "words": "ValueError: the method predicts 'no'",
        "short": "ValueError: the method's predict must give one value for each of 16 points",
    }
    if name == "processes":  # the others go on, also those after it
        expected = {"os_exit": "WorkerDied: its process died (exit code 3)", **expected}
    with closing(EXECUTORS[name]()) as executor:
        rows = trouble(executor, **dict.fromkeys(expected, ""), fine="")
    fine = rows.pop("fine")
    assert fine.done
    assert fine.info["selected"] == {"strategy": ["most", "frequent"], "n": 3}
    assert {name: row.error.partition(", ")[0] for name, row in rows.items()} == expected
    assert "in fit" in rows["raise"].traceback


@posix
def test_limits_and_deaths_end_a_trial_and_the_others_go_on(trouble, tmp_path):
    executor = make_executor(jobs=2, timeout=8, memory=1500 * 2**20)
    with closing(executor):
        rows = trouble(
            executor,
            sleep="amount: 300",
            eat="amount: 5000",
            die=f"amount: 1, diary: {tmp_path / 'diary'}",
            fine="",
        )
    assert rows["fine"].done
    assert rows["die"].done
    assert rows["sleep"].error == "Timeout: not finished after 8 s, the limit (--timeout)"
    assert 8 <= rows["sleep"].seconds < 60
    assert rows["eat"].error.startswith("MemoryLimit: 1500 MiB are not enough (--memory)")


@posix
@pytest.mark.parametrize(("memory", "fits"), [(20, False), (400, True)])
def test_little_memory_is_enough_or_a_failed_row(trouble, memory, fits):
    """OpenBLAS tries again without end where the system gives no memory."""
    with closing(make_executor(memory=memory * 2**20)) as executor:
        rows = trouble(executor, fine="")
    limit = f"MemoryLimit: {memory} MiB are not enough (--memory)"
    assert rows["fine"].error == (None if fits else limit)


def test_seconds_do_not_depend_on_the_time_of_day(trouble, monkeypatch):
    ticks = itertools.count(1e9, -86_400)
    monkeypatch.setattr("kernlearn.engine.machine.time.time", lambda: next(ticks))
    with closing(InProcess()) as executor:
        rows = trouble(executor, fine="")
    assert 0 < rows["fine"].seconds < 600


@posix
@pytest.mark.exhaustive
def test_a_stopped_process_has_all_its_time(trouble, tmp_path):
    """It is stopped for longer than its limit; so is the run, as by Ctrl-Z, in the other test."""
    diary = tmp_path / "diary"
    diary.touch()

    def stop_for_a_while():
        while not (lines := diary.read_text().split()):
            time.sleep(0.05)
        process = psutil.Process(int(lines[0]))
        process.suspend()
        time.sleep(4)
        process.resume()

    stopper = threading.Thread(target=stop_for_a_while)
    stopper.start()
    with closing(make_executor(timeout=3)) as executor:
        rows = trouble(executor, sleep=f"amount: 1, diary: {diary}", fine="")
    stopper.join()
    assert all(row.done for row in rows.values()), rows["sleep"].error
    assert rows["sleep"].seconds > 4


@posix
def test_a_process_that_dies_again_and_again_is_a_failed_row(trouble, tmp_path):
    with closing(make_executor()) as executor:
        rows = trouble(executor, die=f"amount: 99, diary: {tmp_path / 'diary'}", fine="")
    assert rows["fine"].done
    assert rows["die"].error == "WorkerDied: its process died 3 times (exit code -9)"
    assert len((tmp_path / "diary").read_text().split()) == 3


@posix
@pytest.mark.parametrize(
    "name", ["processes", pytest.param("in-process", marks=pytest.mark.exhaustive)]
)
def test_an_interruption_keeps_what_is_done_and_leaves_no_process(trouble, tmp_path, name):
    before = {p.pid for p in psutil.Process().children(recursive=True)}

    class Impatient(Listener):
        def trial_done(self, trial, row):
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()

    with closing(EXECUTORS[name]()) as executor, pytest.raises(KeyboardInterrupt):
        trouble(executor, Impatient(), fine="", sleep="amount: 300")
    with Store(tmp_path / "t") as store:
        assert [row.labels["method"] for row in store.rows()] == ["fine"]
        with store.lock():
            pass
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    _, alive = psutil.wait_procs(left, timeout=10)
    assert not [p for p in alive if "resource_tracker" not in " ".join(p.cmdline())]


@posix
def test_what_a_signal_ends_is_no_failure(plan, tmp_path):
    class Swallowing(InProcess):
        """A trial that takes a signal for an error of its own, as some libraries do."""

        def run(self, trials):
            for n, (trial, row) in enumerate(super().run(trials)):
                if n == 2:
                    try:
                        os.kill(os.getpid(), signal.SIGTERM)
                    except KeyboardInterrupt:
                        object.__setattr__(row, "error", "SystemError: no result")
                yield trial, row

    with Store(tmp_path / "s") as store:
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan, store, executor=Swallowing())
        assert [row.done for row in store.rows()] == [True, True]
        assert run_plan(plan, store).done == 14


def test_a_run_whose_store_is_lost_ends(plan, tmp_path):
    class Losing(Listener):
        def trial_done(self, trial, row):
            path.unlink()

    path = tmp_path / "s"
    with Store(path) as store, pytest.raises(StoreError, match="are lost"):
        run_plan(plan, store, listener=Losing())


@posix
def test_two_runs_through_a_link_are_one_too_many(plan, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "s")
    lost = pytest.raises(StoreError, match="another run is writing to it")
    with Store(tmp_path / "s") as store, store.lock(), Store(tmp_path / "link") as other, lost:
        run_plan(plan, other)


N_KILLS = int(os.environ.get("KERNLEARN_KILLS", "1"))


@posix
def test_kills_lose_nothing(small, tmp_path):
    """End a run at random moments, in three ways: all that was reported is there, once.

    The run is killed; or asked to end; or the process of a trial is killed before. It has one job
    and two in turns.
    """
    small.write_text(small.read_text().replace("splits: 2", "splits: 4"))
    plan = make_plan(load_config(small))
    path, moment = tmp_path / "s", random.Random(2013)
    command = [sys.executable, "-m", "kernlearn", "run", str(small), "--store", str(path)]
    with Store(tmp_path / "quiet") as store:
        run_plan(plan, store)
        undisturbed = numbers(plan, store)
    before = {}
    for n in range(N_KILLS):
        options = ["--jobs", "2", "--allow-contention"] if n % 2 else []
        process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        lines = iter(process.stdout.readline, "")
        reported = [line for line, _ in zip(lines, range(moment.randint(2, 8)), strict=False)]
        time.sleep(moment.random() * 0.05)
        family = psutil.Process(process.pid).children(recursive=True)
        way = ("killed", "ended", "killed in a trial")[n % 3]
        if way == "killed in a trial" and family:
            moment.choice(family).kill()
            time.sleep(moment.random())
            family += psutil.Process(process.pid).children(recursive=True)
        process.terminate() if way == "ended" else process.kill()
        reported += process.communicate()[0].splitlines()
        _, alive = psutil.wait_procs(family, timeout=20)
        assert not alive
        with Store(path, read_only=True) as store:
            after = {row.key: row for row in store.rows()}
        new = len(after) - len(before)
        assert all(after.get(key) == row for key, row in before.items())
        assert new >= sum(line.startswith("[") for line in reported)
        assert all(row.done for row in after.values())
        before = after
        if len(after) == len(plan.trials) or n + 1 == N_KILLS:
            with Store(path) as store:
                run_plan(plan, store)
                assert numbers(plan, store) == undisturbed
            path.unlink()
            before = {}


# Choices


@pytest.mark.parametrize(
    ("only", "n_trials"),
    [
        ([], 16),
        (["method=K"], 4),
        (["dataset=moons,method=RF,n_components=40"], 2),
        (["dataset=moons,method=K,method=RF", "split=1,method=H0/1"], 8),
    ],
)
def test_only_some_trials(plan, only, n_trials):
    assert len(Choice(tuple(map(parse_only, only))).of(plan)) == n_trials


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("method=k", "no such value; did you mean 'K'"),
        ("method=K,method=r", "method=r: no such value"),
        ("K", "expected LABEL=VALUE"),
        ("methods=K", "no label 'methods'; did you mean 'method'"),
        ("dataset=moons,n_components=20", "leaves no trial"),
    ],
)
def test_choices_that_mean_nothing(plan, choice, message):
    with pytest.raises(SelectionError, match=message):
        Choice((parse_only(choice),)).of(plan)


def test_a_value_may_have_commas():
    only = parse_only("method=RF, tuned solver,dataset=a,dataset=b")
    assert only == {"method": ("RF, tuned solver",), "dataset": ("a", "b")}


# Executors


def test_workers_of_dask_have_no_limits():
    with pytest.raises(ExecutorError, match="are those of processes"):
        make_executor(scheduler="local", timeout=1)


def test_times_are_not_measured_on_shared_cores(load):
    config, executor = load(SMALL).config, make_executor(jobs=1000)
    with pytest.raises(ExecutorError, match=r"--allow-contention"):
        check_cores(config, executor)
    plain = re.sub(r"derived:\n.*\n", "", SMALL)
    check_cores(load(plain, (", fit_seconds, predict_seconds, speedup]", "]")).config, executor)
    check_cores(config, make_executor())


def test_no_scheduler(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("kernlearn.engine.executors._CONNECT", 1.0)
    with pytest.raises(ExecutorError, match=r"tcp://127\.0\.0\.1:9"):
        make_executor(scheduler="tcp://127.0.0.1:9")
