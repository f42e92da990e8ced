"""An experiment on the labels of the thesis' table 3.1, so that there are reported numbers."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports import report_rows
from tests.engine.conftest import SMALL, small
from tests.reports.browsing import browser, reader

__all__ = ["browser", "reader", "small"]

HELD = """\
title: Held against "table 3.1" & <b>others</b>
source: Kar (2013), table 3.1
datasets:
  spambase: {generator: waveform, n_samples: 200, binarize: random}
  cod_rna: {generator: two_moons, n_samples: 150, noise: 0.2}
  nursery: {generator: rings}
kernels:
  polynomial: {kernel: polynomial, degree: 3}
methods:
  K: {estimator: KernelSVM, C: {select: [0.1, 10]}}
  RF: {estimator: MaclaurinSVM, n_components: [100, 500]}
  H0/1: {estimator: MaclaurinSVM, h01: true, n_components: [50, 100]}
  guess: {estimator: DummyClassifier, baseline: true}
protocol: {splits: 5, seed: 1, scale: [zscore, max_norm]}
metrics: [accuracy, fit_seconds, fit_speedup]
derived:
  fit_speedup: {ratio: fit_seconds, baseline: K}
  predict_speedup: {ratio: predict_seconds, baseline: K}
table: {rows: [dataset, method, n_components]}
figures:
  - {x: n_components, metrics: [accuracy], panels: [dataset], x_scale: log}
reported: table3_1.csv
verdict: {accuracy: {absolute: 0.015, level: 0.05}}
best: {metrics: [accuracy], within: [dataset]}
claims:
  - says: K is best
    section: "3.6"
    check: {metric: accuracy, better: [K], than: [RF], over: all}
  - says: K is no <i>worse</i>
    check: {metric: accuracy, not_worse: [K], than: [H0/1], over: all}
notes:
  spambase: "not the thesis' data <script>alert(1)</script>"
profiles:
  quick: {splits: 1}
"""


@pytest.fixture(scope="session")
def plan(tmp_path_factory):
    """The plan of a small experiment; nobody changes it."""
    path = tmp_path_factory.mktemp("plan") / "small.yaml"
    path.write_text(SMALL)
    return make_plan(load_config(path))


@pytest.fixture(scope="session")
def config(plan):
    return plan.experiment.config


@pytest.fixture(scope="session")
def held(tmp_path_factory):
    """The file of a config with reported numbers, claims, notes and a figure."""
    path = tmp_path_factory.mktemp("held") / "held.yaml"
    path.write_text(HELD)
    return path


@pytest.fixture(scope="session")
def rows():
    """Made-up numbers of all but one data set, as any program could write them."""
    rng, found = np.random.default_rng(0), []
    methods = [("K", None), ("RF", 100), ("RF", 500), ("H0/1", 50), ("guess", None)]
    levels = {"spambase": 0.91, "cod_rna": 0.94}
    for dataset, (method, size), split in product(levels, methods, range(5)):
        accuracy = levels[dataset] + 0.01 * rng.normal() - 0.4 * (method == "guess")
        kernel = None if method == "guess" else "polynomial"
        cell = dataset, kernel, method, size, split
        found.append((*cell, "accuracy", accuracy))
        found.append((*cell, "fit_seconds", rng.uniform(1, 2)))
        found.append((*cell, "predict_seconds", rng.uniform(0.1, 0.2)))
    names = ["dataset", "kernel", "method", "n_components", "split", "metric", "value"]
    return pd.DataFrame(found, columns=names)


@pytest.fixture(scope="session")
def report(held, rows):
    """The report of these numbers; nobody changes it."""
    return report_rows(load_config(held), rows)
