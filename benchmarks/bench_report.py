"""How long the site of a store with 20000 trials takes, and how large its pages are.

All trials are of one experiment, which is more than any of the shipped ones has: one page with a
table of 1000 cells a metric, a figure of 50 panels, the best of 250 groups and two claims.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks._measure import Row
from kernlearn import store as stores
from kernlearn.config import load_config
from kernlearn.engine import make_plan

_SECONDS, _MEGABYTES = 15, 5
_SIZES = list(range(10, 110, 10))
MANY = f"""\
title: Twenty thousand trials
datasets:
  waveform: {{generator: waveform, n_samples: 300, binarize: random}}
  moons 0.2: {{generator: two_moons, n_samples: 200, noise: 0.2}}
  moons 0.3: {{generator: two_moons, n_samples: 200, noise: 0.3}}
  moons 0.4: {{generator: two_moons, n_samples: 200, noise: 0.4}}
  moons 0.5: {{generator: two_moons, n_samples: 200, noise: 0.5}}
kernels:
  p2: {{kernel: polynomial, degree: 2}}
  p3: {{kernel: polynomial, degree: 3}}
  p4: {{kernel: polynomial, degree: 4}}
  p5: {{kernel: polynomial, degree: 5}}
  p6: {{kernel: polynomial, degree: 6}}
methods:
  A: {{estimator: MaclaurinSVM, n_components: {_SIZES}}}
  B: {{estimator: MaclaurinSVM, n_components: {_SIZES}, h01: true}}
  C: {{estimator: MaclaurinSVM, n_components: {_SIZES}, C: 10}}
  D: {{estimator: MaclaurinSVM, n_components: {_SIZES}, C: 10, h01: true}}
protocol: {{splits: 20, seed: 1}}
metrics: [accuracy, fit_seconds, predict_seconds]
best: {{metrics: [accuracy], within: [dataset, kernel, n_components]}}
table: {{rows: [dataset, kernel, n_components], columns: [method]}}
figures:
  - {{x: n_components, metrics: [accuracy, fit_seconds], panels: [dataset, kernel]}}
claims:
  - {{says: A is better than B, check: {{metric: accuracy, better: [A], than: [B], over: all}}}}
  - {{says: C is better than D, check: {{metric: accuracy, better: [C], than: [D]}}}}
"""


def run() -> list[Row]:
    """Plant a store, then report it as a user does, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, store = folder / "many.yaml", folder / "store.sqlite"
        config.write_text(MANY)
        count = plant(store, config)
        start = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "kernlearn", "report", config, "--store", store],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = perf_counter() - start
        largest = max(page.stat().st_size for page in folder.rglob("*.html")) / 1e6
    return [
        Row(f"kernlearn report, {count} trials: seconds", seconds, seconds, at_most=_SECONDS),
        Row("the page with its scripts: MB", seconds, largest, at_most=_MEGABYTES),
    ]


def plant(store: Path, config: Path) -> int:
    """Finish every trial that is not yet, with random numbers; return how many there are."""
    plan = make_plan(load_config(config))
    rng = np.random.default_rng(0)
    with stores.Store(store) as opened:
        finished = opened.get(trial.key for trial in plan.trials)
        for trial in plan.trials:
            if trial.key in finished:
                continue
            names = ("accuracy", "error_percent", "fit_seconds", "predict_seconds", "n_support")
            metrics = dict(zip(names, rng.random(len(names)).tolist(), strict=True))
            info = {"contended": False, "warnings": {}}
            opened.put(
                stores.Row(
                    trial.key,
                    trial.experiment,
                    trial.labels,
                    {**trial.spec.plain, "split": trial.split},
                    "2026-01-01T00:00:00+00:00",
                    1.0,
                    metrics,
                    info,
                )
            )
    return len(plan.trials)
