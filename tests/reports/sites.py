"""A store of two experiments for the tests of pages, and its numbers worked out anew."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev

import numpy as np

from kernlearn.config import load_config
from kernlearn.engine import Plan, make_plan, run_plan
from kernlearn.store import Store
from tests.engine.stores import row_of

#: Labels of the thesis' table on generated points, so that there are reported numbers; measured.
HELD = """\
title: Held against "table 3.1" & <b>others</b>
source: Kar (2013), table 3.1
datasets:
  spambase: {generator: waveform, n_samples: 200, binarize: random}
  cod_rna: {generator: two_moons, n_samples: 150, noise: 0.2}
kernels:
  polynomial: {kernel: polynomial, degree: 3}
methods:
  K: {estimator: KernelSVM, C: {select: [0.1, 10]}}
  RF: {estimator: MaclaurinSVM, n_components: [20, 50]}
  H0/1: {estimator: MaclaurinSVM, h01: true, n_components: [20, 50]}
  guess: {estimator: DummyClassifier, baseline: true}
protocol: {splits: 2, seed: 1, scale: [zscore, max_norm]}
metrics: [accuracy, fit_seconds, fit_speedup]
derived:
  fit_speedup: {ratio: fit_seconds, baseline: K}
  predict_speedup: {ratio: predict_seconds, baseline: K}
table: {rows: [dataset, method, n_components]}
figures:
  - {x: n_components, metrics: [accuracy], panels: [dataset], x_scale: log}
  - {title: Seconds, x: n_components, metrics: [fit_seconds, predict_seconds], panels: [dataset],
     y_scale: log}
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
  K: the exact kernel
profiles:
  quick: {splits: 1}
"""

#: Many rows, with numbers that nobody measured.
LONG = """\
title: A long table
datasets:
  moons: {generator: two_moons, n_samples: 50}
kernels:
  polynomial: {kernel: polynomial, degree: 2}
methods:
  RF: {estimator: MaclaurinSVM, n_components: [SIZES]}
  H0/1: {estimator: MaclaurinSVM, h01: true, n_components: [SIZES]}
protocol: {splits: 4}
metrics: [accuracy, fit_seconds]
table: {rows: [n_components], columns: [method]}
""".replace("SIZES", ", ".join(str(n) for n in range(10, 60)))

#: Metric to the head of its column.
HEADS = {"accuracy": "accuracy", "fit_seconds": "fit s", "fit_speedup": "fit speedup"}

Cells = dict[tuple[object, ...], tuple[float, float, int]]


def plant(store: Store, config: Path, profile: str = "full", settings: Sequence[str] = ()) -> Plan:
    """Finish an experiment's trials with random numbers; return its plan."""
    plan = make_plan(load_config(config, profile=profile, settings=settings))
    rng = np.random.default_rng(0)
    machine = {"cpu": "none", "python": "3", "system": "none", "packages": {}}
    for trial in plan.trials:
        accuracy, fit, predict = (float(v) for v in rng.random(3))
        metrics = {"accuracy": accuracy, "fit_seconds": fit, "predict_seconds": predict}
        row = row_of(trial, "2026-01-02T03:04:05+00:00", 0.5, metrics=metrics)
        store.put(replace(row, machine=machine, profile=profile, settings=tuple(settings)))
    return plan


def make_store(folder: Path) -> Path:
    """Measure ``held`` and plant ``long``; return the store."""
    path = folder / "store.sqlite"
    for name, text in (("held", HELD), ("long", LONG)):
        (folder / f"{name}.yaml").write_text(text)
    with Store(path) as store:
        run_plan(make_plan(load_config(folder / "held.yaml")), store)
        plant(store, folder / "long.yaml")
    return path


def numbers(store: Path, experiment: str) -> Cells:
    """Work out mean, deviation and number of splits of every cell, straight from the rows.

    Keys are data set, method, number of features and metric.
    """
    values: dict[tuple[object, ...], list[float]] = {}
    connection = sqlite3.connect(store)
    for labels, metrics in connection.execute(
        "SELECT labels, metrics FROM trial WHERE experiment = ?", (experiment,)
    ):
        label = json.loads(labels)
        place = (label["dataset"], label["method"], label.get("n_components"))
        for metric, value in json.loads(metrics).items():
            values.setdefault((*place, metric), []).append(value)
    connection.close()
    means = {key: fmean(v) for key, v in values.items()}
    cells: Cells = {key: (means[key], stdev(v), len(v)) for key, v in values.items()}
    for key, (_, std, n) in cells.items():
        if key[-1].endswith("_seconds"):
            cells[key] = median(values[key]), std, n
    for (dataset, method, size, metric), mean in means.items():
        # a method without the kernel has nothing to be faster than
        if metric == "fit_seconds" and method in ("RF", "H0/1") and experiment == "held":
            ratio = means[dataset, "K", None, metric] / mean
            n_splits = len(values[dataset, method, size, metric])
            cells[dataset, method, size, "fit_speedup"] = (ratio, np.nan, n_splits)
    return cells
