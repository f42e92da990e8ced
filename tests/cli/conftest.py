from pathlib import Path

import numpy as np
import pytest

from tests.command import kernlearn, kernlearn_process

__all__ = ["kernlearn", "kernlearn_process"]

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
metrics: [accuracy, fit_seconds]
table: {rows: [dataset, method, n_components]}
profiles:
  quick: {splits: 1, methods.RF.n_components: 10}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A config with 16 trials that run in about a second."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def write_table(path: Path, columns: dict) -> None:
    """Write columns with a header as CSV."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")


@pytest.fixture
def flowers(tmp_path: Path) -> str:
    """A file of a user: row numbers, two measurements, a word to predict."""
    length, width = np.random.default_rng(0).normal(size=(2, 60)).round(3)
    colour = np.where(length + width > 0, "red", "blue")
    columns = {"id": range(60), "length": length, "width": width, "colour": colour}
    write_table(tmp_path / "my flowers.csv", columns)
    return "my flowers.csv"
