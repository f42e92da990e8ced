import re

import pytest

from kernlearn.config import load_config
from kernlearn.config.layout import table_layout

GRID = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: [60, 80], noise: 0.2}}
methods:
  BBS: {estimator: BBSClassifier, similarity: gaussian, n_landmarks: [3, 30]}
  first: {estimator: DummyClassifier}
protocol: {splits: 1}
metrics: [accuracy]
"""


@pytest.fixture
def layout(tmp_path):
    def rows(text):
        path = tmp_path / "c.yaml"
        path.write_text(text)
        return table_layout(load_config(path).config).rows

    return rows


def test_every_parameter_that_varies_is_in_the_table(layout):
    assert layout(GRID) == ["dataset", "method", "n_samples", "n_landmarks"]


def test_a_label_that_the_config_leaves_out_is_added(layout):
    table = "table: {each: [n_samples], rows: [method], columns: [dataset]}\n"
    assert layout(GRID + table) == ["method", "n_landmarks"]
    table = "table: {rows: [dataset, n_samples, n_landmarks], columns: [method]}\n"
    assert layout(GRID + table) == ["dataset", "n_samples", "n_landmarks"]


def test_values_by_data_set_alone_tell_no_rows_apart(layout):
    text = GRID.replace("[3, 30]", "{by_dataset: {moons: 3}}")
    assert layout(text) == ["dataset", "method", "n_samples"]
    text = GRID.replace("[3, 30]", "{by_dataset: {default: [3, 30]}}")
    assert layout(text) == ["dataset", "method", "n_samples", "n_landmarks"]


def test_several_kernels_are_in_the_table(layout):
    text = GRID.replace("similarity: gaussian, ", "")
    one = text + "kernels: {g: {kernel: gaussian}}\n"
    assert layout(one) == ["dataset", "method", "n_samples", "n_landmarks"]
    kernels = "kernels: {g: {kernel: gaussian}, l: {kernel: linear}}\n"
    for several in (kernels, "kernels: {p: {kernel: polynomial, degree: [2, 3]}}\n"):
        expected = ["dataset", "kernel", "method", "n_samples", "n_landmarks"]
        assert layout(text + several) == expected


def test_no_number_of_a_grid_is_hidden(kernlearn, tmp_path):
    (tmp_path / "grid.yaml").write_text(GRID)
    done = kernlearn("run", "grid.yaml")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"BBS\W+(60|80)\W+(\d+)\W+0\.\d{3}\b", done.stdout)
    assert rows == [(n, m) for n in ("60", "80") for m in ("3", "30")]
