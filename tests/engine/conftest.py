from collections.abc import Callable
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.config.model import LoadedExperiment
from kernlearn.engine import Plan, make_plan

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


def card(name: str, form: str) -> str:
    """The text of a card with a form."""
    about = f"name: {name}\ntitle: Mine\ntask: classification\nn_features: 1\nlicence: none\n"
    return f"{about}citation: none\nsource: {{publisher: me}}\nforms: [{form}]\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadedExperiment]:
    """A function that loads a text, with changes of it."""

    def call(text: str, *changes: tuple[str, str], **options: str) -> LoadedExperiment:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path, **options)

    return call


@pytest.fixture
def planned(load: Callable[..., LoadedExperiment]) -> Callable[..., Plan]:
    """A function that plans a text, with changes of it."""
    return lambda *arguments, **options: make_plan(load(*arguments, **options))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A config that runs in about a second."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
