from pathlib import Path

import pytest

SMALL = """\
title: A small experiment
datasets:
  waveform: {generator: waveform, n_samples: 300, binarize: random}
  moons: {generator: two_moons, n_samples: 200, noise: 0.2}
kernels:
  polynomial: {kernel: polynomial, degree: 3}
methods:
  K: {estimator: KernelSVM, C: {select: [0.1, 10]}}
  RF: {estimator: MaclaurinSVM, n_components: [10, 40]}
  H0/1: {estimator: MaclaurinSVM, h01: true, n_components: {by_dataset: {default: 20, moons: 10}}}
protocol: {splits: 2, seed: 1, scale: [zscore, max_norm]}
metrics: [accuracy, fit_seconds, predict_seconds, speedup]
derived:
  speedup: {ratio: predict_seconds, baseline: K, baseline_metric: native_predict_seconds}
table: {rows: [dataset, method, n_components]}
profiles:
  quick: {splits: 1, methods.RF.n_components: 10}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A config that runs in about a second."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
