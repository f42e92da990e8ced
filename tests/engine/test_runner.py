import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from kernlearn.config import load_config
from kernlearn.engine import InProcess, Processes, make_plan, run_plan
from kernlearn.engine.interrupts import SIGNALS, Interrupts
from kernlearn.engine.runner import Listener
from kernlearn.engine.selection import Choice, chosen, trial_states
from kernlearn.store import Store
from tests.engine.numbers import numbers


@pytest.fixture
def plan(small):
    return make_plan(load_config(small))


class Seen(Listener):
    """Keeps what a run tells."""

    def __init__(self):
        self.started, self.done, self.ended = [], [], 0

    def trial_started(self, trial):
        self.started.append(trial.key)

    def trial_done(self, trial, result):
        self.done.append(trial.key)

    def run_ended(self):
        self.ended += 1


def test_a_second_run_does_only_what_is_missing(plan, small, tmp_path):
    seen = Seen()
    with Store(tmp_path / "s") as store:
        first = run_plan(plan, store, listener=seen)
        assert (first.total, first.cached, first.done, first.failed) == (16, 0, 16, 0)
        assert seen.started == seen.done == [t.key for t in plan.trials]
        assert seen.ended == 1
        again = run_plan(plan, store)
        assert (again.cached, again.done) == (16, 0)
        more = make_plan(load_config(small, settings=["splits=3"]))
        assert run_plan(more, store).done == 8
        forced = run_plan(plan, store, choice=Choice(force=("all",)))
        assert (forced.cached, forced.done) == (0, 16)


@pytest.mark.exhaustive  # halves of a plan in two processes: executors/test_processes.py
def test_numbers_do_not_depend_on_order_or_jobs(plan, tmp_path):
    with Store(tmp_path / "one") as store:
        run_plan(plan, store)
        expected = numbers(plan, store)
    plan.trials.reverse()
    with Store(tmp_path / "two") as store:
        run_plan(plan, store, executor=Processes(2), allow_contention=True)
        assert numbers(plan, store) == expected
        found = store.get(t.key for t in plan.trials)
        assert all(r.info["contended"] for r in found.values())


def test_metrics_are_what_a_reader_would_measure(plan, tmp_path):
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        results = store.get(t.key for t in plan.trials)
    by_method = {}
    for trial in plan.trials:
        metrics, info = results[trial.key].metrics, results[trial.key].info
        assert 0.5 < metrics["accuracy"] <= 1
        assert metrics["fit_seconds"] > 0
        assert metrics["predict_seconds"] > 0
        assert info["n_train"] + info["n_test"] in (300, 200)
        by_method.setdefault(trial.labels["method"], []).append((metrics, info))
    assert all("native_predict_seconds" in m for m, _ in by_method["K"])
    assert all(i["selected"]["C"] in (0.1, 10) for _, i in by_method["K"])
    assert not any("native_predict_seconds" in m for m, _ in by_method["RF"])


def test_a_failing_trial_is_a_row_and_the_rest_goes_on(small, tmp_path):
    # the degree-2 Vovk series diverges on points of norm above 1
    text = small.read_text().replace("polynomial, degree: 3", "vovk")
    small.write_text(text.replace("scale: [zscore, max_norm]", "scale: [zscore]"))
    plan = make_plan(load_config(small))
    with Store(tmp_path / "s") as store:
        outcome = run_plan(plan, store)
        assert outcome.failed == 16
        results = store.get(t.key for t in plan.trials)
        assert all("radius" in r.error or "converge" in r.error for r in results.values())
        assert all("Traceback" in r.traceback for r in results.values())
        assert set(trial_states(plan, store).values()) == {"failed"}
        again = run_plan(plan, store)
        assert (again.failed, again.failed_before) == (0, 16)
        assert run_plan(plan, store, choice=Choice(retry_failed=True)).failed == 16


@pytest.mark.exhaustive  # tests/engine/test_kills.py kills a run several times
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_9_loses_only_the_trial_in_flight(small, tmp_path):
    # more than end before the kill
    small.write_text(small.read_text().replace("splits: 2", "splits: 40"))
    path = tmp_path / "killed" / "s.sqlite"
    command = [
        sys.executable,
        "-m",
        "kernlearn",
        "run",
        str(small),
        "--store",
        str(path),
        "--output",
        str(tmp_path / "out"),
    ]

    def rows():
        if not path.exists():
            return {}
        with sqlite3.connect(path, timeout=30) as connection:
            try:
                return dict(connection.execute("SELECT key, started || metrics FROM trial"))
            except sqlite3.OperationalError:  # not created yet
                return {}

    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(rows()) < 20 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    finished = rows()
    plan = make_plan(load_config(small))
    assert 20 <= len(finished) < len(plan.trials)

    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = rows()
    assert len(after) == len(plan.trials)
    assert {k: after[k] for k in finished} == finished

    with Store(tmp_path / "whole") as whole, Store(path) as killed:
        run_plan(plan, whole)
        assert numbers(plan, killed) == numbers(plan, whole)
        assert [*killed.connection.execute("PRAGMA integrity_check").fetchone()] == ["ok"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        # in every run: SIGTERM in cli/test_run_command.py, both in test_kills.py
        pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive),
        pytest.param(signal.SIGHUP, marks=pytest.mark.exhaustive),
    ],
)
def test_a_signal_stops_the_run_and_keeps_what_is_done(small, tmp_path, number):
    small.write_text(small.read_text().replace("splits: 2", "splits: 100"))
    store, output = str(tmp_path / "s"), str(tmp_path / "out")
    arguments = ["kernlearn", "run", str(small), "--store", store, "--output", output]
    # a shell's background job would hand on an ignored SIGINT
    code = (
        f"import signal, sys; signal.signal({int(number)}, signal.default_int_handler)\n"
        f"sys.argv = {arguments!r}; import kernlearn.__main__ as k; k.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if line.startswith("[3/"):
            process.send_signal(number)
    assert process.wait() == 130
    with Store(tmp_path / "s") as store:
        plan = make_plan(load_config(small))
        left = len(chosen(plan, trial_states(plan, store), Choice()))
    done = len(plan.trials) - left
    assert done >= 3
    assert process.stderr.read() == (
        f"Stopped. {done} of {len(plan.trials)} trials are done and kept in {tmp_path / 's'}: "
        "run the same command again to continue.\n"
    )


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_under_nohup_the_end_of_the_terminal_is_nothing(small, tmp_path):
    small.write_text(small.read_text().replace("splits: 2", "splits: 10"))
    command = [
        sys.executable,
        "-m",
        "kernlearn",
        "run",
        str(small),
        "--store",
        str(tmp_path / "s"),
        "--output",
        str(tmp_path / "out"),
        "--jobs",
        "2",
        "--allow-contention",
    ]
    process = subprocess.Popen(
        ["nohup", *command], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    for line in process.stdout:
        if line.startswith("[3/"):
            os.killpg(process.pid, signal.SIGHUP)
    assert process.wait() == 0
    with Store(tmp_path / "s") as store:
        states = trial_states(make_plan(load_config(small)), store)
    assert set(states.values()) == {"cached"}


class Swallowing(InProcess):
    """A trial that takes a signal for an error of its own, as some libraries do."""

    def run(self, trials, on_start=lambda trial: None):
        for n, (trial, result) in enumerate(super().run(trials, on_start)):
            if n < 2:
                yield trial, result
                continue
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            except KeyboardInterrupt:
                yield trial, replace(result, error="SystemError: no result")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_what_a_signal_ends_is_no_failure(plan, tmp_path):
    with Store(tmp_path / "s") as store:
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan, store, executor=Swallowing())
        assert sorted(trial_states(plan, store).values()) == ["cached"] * 2 + ["new"] * 14
        assert run_plan(plan, store).done == 14  # and the next run is not disturbed


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_of_several_signals_the_first_is_answered(monkeypatch):
    ended = []

    def work():
        with Interrupts.caught() as outer:
            try:
                with Interrupts.caught() as inner:
                    os.kill(os.getpid(), signal.SIGHUP)
            finally:
                assert inner is outer
                for number in SIGNALS:  # what is being ended is not disturbed
                    os.kill(os.getpid(), number)
                ended.append("all")

    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(KeyboardInterrupt):
        work()
    assert ended == ["all"]
    assert [signal.getsignal(number) for number in SIGNALS] == before
    # a program that does not end can be asked again
    monkeypatch.setattr("kernlearn.engine.interrupts._REST", 0.0)
    with Interrupts.caught():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)


def test_select_picks_the_value_that_is_better_on_held_out_points(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\ndatasets: {rings: {generator: rings, n_samples: 400}}\n"
        "methods: {K: {estimator: KernelSVM, kernel: rbf, gamma: {select: [1.0e-6, 1.0]}}}\n"
        "metrics: [accuracy]\nprotocol: {splits: 3}\n"
    )
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        results = store.get(t.key for t in plan.trials)
    assert all(r.info["selected"] == {"gamma": 1.0} for r in results.values())
    assert np.mean([r.metrics["accuracy"] for r in results.values()]) > 0.9


SIMILARITY = """\
title: t
datasets: {s: {generator: indefinite_similarity, n_samples: 120, negative: 0.05, noise: 0.2}}
methods: {K: {estimator: KernelSVM, kernel: precomputed, C: {select: [1, 1000]}}}
metrics: [accuracy]
protocol: {splits: 3}
"""


def test_a_similarity_matrix_is_split_on_both_sides(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(SIMILARITY)
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).done == 3
        results = store.get(t.key for t in plan.trials)
        assert np.mean([r.metrics["accuracy"] for r in results.values()]) > 0.8
        scaled = make_plan(load_config(path, settings=["scale=[zscore]"]))
        assert run_plan(scaled, store).failed == 3
        failed = store.get(t.key for t in scaled.trials).values()
    assert all("has no features to scale" in r.error for r in failed)


def test_kernel_approximation_measures_the_error_of_the_gram_matrix(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\ntask: kernel_approximation\n"
        "datasets: {ball: {generator: unit_ball, n_samples: 30, n_features: 5}}\n"
        "kernels: {exponential: {kernel: exponential, sigma: mean_distance}}\n"
        "methods:\n  RF: {estimator: RandomMaclaurin, n_components: [10, 10000]}\n"
        "  H0/1: {estimator: RandomMaclaurin, n_components: [10, 10000], h01: true}\n"
        "metrics: [gram_error]\n"
    )
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        found = store.get(t.key for t in plan.trials)
    errors = {}
    for trial in plan.trials:
        cell = (trial.labels["method"], trial.labels["n_components"])
        errors.setdefault(cell, []).append(found[trial.key].metrics["gram_error"])
    mean = {cell: np.mean(values) for cell, values in errors.items()}
    assert mean["RF", 10000] < mean["RF", 10] / 10
    assert mean["H0/1", 10] < mean["RF", 10]
    assert mean["H0/1", 10000] < 0.02


HELD_OUT = """\
title: t
datasets:
  matrix: {generator: indefinite_similarity, n_samples: 150, negative: 0.05, noise: 0.2}
  moons: {generator: two_moons, n_samples: 150}
kernels: {gaussian: {kernel: gaussian, sigma: mean_distance}}
methods:
  BBS: {estimator: BBSClassifier, n_landmarks: 20, C: 10}
  FTUNE: {estimator: FTuneClassifier, n_landmarks: 20}
  clip: {estimator: SpectrumSVM, spectrum: clip, baseline: true}
  SVM: {estimator: KernelSVM, C: {select: [1, 100]}}
metrics: [accuracy, fit_seconds]
protocol: {splits: 2, train: 0.6, holdout: 0.2}
"""


def test_held_out_rows_choose_and_are_not_trained_on(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(HELD_OUT)
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).done == len(plan.trials) == 16
        results = store.get(t.key for t in plan.trials)
    for trial in plan.trials:
        result = results[trial.key]
        assert (result.info["n_train"], result.info["n_test"]) == (90, 30)
        assert result.metrics["accuracy"] > 0.6, trial
        asked = {"BBS": {"C"}, "FTUNE": {"transfers", "C"}, "clip": {"C"}, "SVM": {"C"}}
        assert set(result.info["selected"]) == asked[trial.labels["method"]]
    chosen = {
        results[t.key].info["selected"]["C"] for t in plan.trials if t.labels["method"] == "BBS"
    }
    assert chosen == {10}


def test_data_that_is_not_what_was_planned_is_refused(tmp_path):
    data = tmp_path / "mine.csv"
    data.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\ndatasets: {mine: {file: mine.csv}}\n"
        "methods: {D: {estimator: DummyClassifier}}\nmetrics: [accuracy]\nprotocol: {splits: 1}\n"
    )
    plan = make_plan(load_config(path))
    data.write_text(data.read_text() + "40,0\n")
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).failed == 1
        (result,) = store.get(t.key for t in plan.trials).values()
    assert "mine: not the data that the trial was planned for" in result.error
