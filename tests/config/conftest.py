from collections.abc import Callable
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.config.model import LoadedExperiment
from kernlearn.exceptions import ConfigError

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
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadedExperiment]:
    """A function that loads a text, with changes of it."""

    def call(text: str, *changes: tuple[str, str]) -> LoadedExperiment:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path)

    return call


@pytest.fixture
def refused(load: Callable[..., LoadedExperiment]) -> Callable[..., str]:
    """A function that returns what is wrong with a text, with changes of it."""

    def call(*arguments: object) -> str:
        with pytest.raises(ConfigError) as caught:
            load(*arguments)
        return str(caught.value)

    return call
