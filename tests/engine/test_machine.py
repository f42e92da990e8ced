"""The metric `fit_memory`: what a fit needs beyond what was there, in a process of its own."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_executor, make_plan, run_plan
from kernlearn.engine.machine import PeakMemory
from kernlearn.store import Store

CONFIG = """\
title: t
plugins: [hungry.py]
datasets: {moons: {generator: two_moons, n_samples: 200}}
methods: {hungry: {estimator: Hungry, mb: 150}, small: {estimator: DummyClassifier}}
metrics: [METRICS]
protocol: {splits: 1}
"""
HUNGRY = """\
import os

import numpy as np
from sklearn.dummy import DummyClassifier

from kernlearn import plugins


@plugins.register_estimator("Hungry")
class Hungry(DummyClassifier):
    def __init__(self, mb=1):
        super().__init__()
        self.mb = mb

    def fit(self, X, y):
        if len(y) > 100:  # not where it is warmed up
            np.ones(self.mb * 125_000)
            self.mb_ = os.getpid()
        return super().fit(X, y)
"""


@pytest.fixture
def hungry(tmp_path):
    (tmp_path / "hungry.py").write_text(HUNGRY)

    def planned(metrics):
        path = tmp_path / "c.yaml"
        path.write_text(CONFIG.replace("METRICS", metrics))
        return make_plan(load_config(path))

    return planned


def touched(n_bytes):
    """Pages of their own, which freed memory that the process has kept cannot serve."""
    pages = mmap.mmap(-1, n_bytes)
    np.frombuffer(pages, np.uint8)[:: mmap.PAGESIZE] = 1
    return pages


def grown_by(n_bytes):
    touched(8_000_000).close()  # freed before the block, and no part of it
    with PeakMemory() as memory:
        touched(n_bytes).close()
        touched(n_bytes // 2).close()
    return memory.grown


@pytest.mark.parametrize("mb", [160, 40])
def test_what_a_block_needs_at_most(mb):
    # alone, as trials are: what other tests have left in this process is freed at times
    script = f"from {__name__} import grown_by; print(grown_by({mb}_000_000))"
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert float(made.stdout) == pytest.approx(mb, abs=10)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_memory_is_measured_where_it_is_named(hungry, tmp_path, jobs):
    plain, plan = hungry("accuracy"), hungry("accuracy, fit_memory")
    assert not any(trial.spec.runs_alone for trial in plain.trials)
    assert all(trial.spec.runs_alone for trial in plan.trials)
    assert not {t.key for t in plain.trials} & {t.key for t in plan.trials}
    with Store(tmp_path / "s") as store:
        executor = make_executor(jobs=jobs) if jobs > 1 else None
        assert run_plan(plan, store, executor=executor).failed == 0
        results = store.get(trial.key for trial in plan.trials)
        if executor:
            executor.close()
    for trial in plan.trials:
        used = results[trial.key].metrics["fit_memory"]
        wanted = 150 if trial.labels["method"] == "hungry" else 0
        assert wanted * 0.9 <= used <= wanted * 1.1 + 8
