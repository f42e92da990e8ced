import os
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.config import load_config
from kernlearn.config.model import Fork
from kernlearn.datasets.resources import shipped
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.reports.forks import CHOSEN, COLUMNS, branches, fork_table, judge_fork
from tests.shipped import can_be_read

FORK = Fork(
    choice="targets",
    reason="their errors",
    alternatives={"other": ["protocol.seed=1"]},
    only=[{"method": "KR"}],
)

CONFIG = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 60, noise: 0.3}}
methods: {SVM: {estimator: SVC, kernel: rbf, C: 1}, majority: {estimator: DummyClassifier}}
protocol: {splits: 2, seed: 1}
metrics: [accuracy]
forks:
  - choice: C is 1
    reason: the accuracies
    alternatives: {C is 100: [methods.SVM.C=100]}
    only: [{method: SVM}]
    splits: 1
"""


def summary(rows):
    columns = [
        "dataset",
        "kernel",
        "method",
        "params",
        "metric",
        "mean",
        "reported_mean",
        "verdict",
    ]
    return pd.DataFrame(rows, columns=columns)


def test_verdicts_are_counted_where_all_branches_have_numbers():
    config = load_config("table5_1a").config
    labels = ["abalone", "sigmoid", "KR", "{}"]
    chosen = [
        [*labels, "mse", 1.0, 1.0, "match"],
        [*labels, "fit_seconds", 1.0, 1.0, ""],  # a time is no score
        ["bodyfat", *labels[1:], "mse", 2.0, 1.0, "worse"],
        ["cpu_small", *labels[1:], "mse", 2.0, 1.0, "worse"],  # not measured elsewhere
        ["abalone", "sigmoid", "mean", "{}", "mse", 9.0, 1.0, "worse"],  # not compared
    ]
    other = [
        [*labels, "mse", 4.0, 1.0, "worse"],
        ["bodyfat", *labels[1:], "mse", 1.15, 1.0, "match"],
        ["cpu_small", *labels[1:], "mse", np.nan, 1.0, "not run"],
        ["abalone", "sigmoid", "mean", "{}", "mse", 9.0, 1.0, "worse"],
    ]
    first, second = judge_fork(
        "table5_1a", FORK, config, {CHOSEN: summary(chosen), "other": summary(other)}
    )
    assert (first.numbers, first.verdicts["match"], first.verdicts["worse"]) == (2, 1, 1)
    assert (second.numbers, second.verdicts["match"], second.verdicts["worse"]) == (2, 1, 1)
    # the tolerance is 15 per cent
    assert first.deviation == pytest.approx((0 + 1 / 0.15) / 2)
    assert second.deviation == pytest.approx((3 / 0.15 + 1) / 2)
    table = fork_table([first, second])
    assert list(table.columns) == COLUMNS
    assert table["branch"].tolist() == [CHOSEN, "other"]


def test_every_alternative_of_the_shipped_configs_is_valid():
    paths = sorted(shipped("configs").glob("*.yaml"))
    names = [path.stem for path in paths if can_be_read(path.stem)]
    found = {name: load_config(name).config.forks for name in names}
    assert sum(map(len, found.values())) >= 9
    for name, forks in found.items():
        for fork in forks:
            as_chosen = load_config(name).config
            for branch, settings in branches(fork).items():
                config = load_config(name, settings=settings).config
                assert (config == as_chosen) == (branch == CHOSEN)


def test_the_command_runs_all_branches_and_writes_a_table(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    options = ["--store", str(tmp_path / "s.sqlite"), "--summary", str(tmp_path)]
    result = CliRunner().invoke(app, ["forks", str(path), *options])
    assert result.exit_code == 0, result.output
    assert result.output.count("1 trials to run") == 2
    assert "C is 100" in result.output
    table = pd.read_csv(tmp_path / "forks.csv")
    assert table["branch"].tolist() == [CHOSEN, "C is 100"]
    assert table["numbers"].tolist() == [0, 0]
    again = CliRunner().invoke(app, ["forks", str(path), "--no-run", *options])
    assert "to run" not in again.output


def test_an_alternative_without_its_data_is_left_out(tmp_path):
    path = tmp_path / "c.yaml"
    other = "datasets.moons={name: letter}"
    path.write_text(CONFIG.replace("{C is 100: [", f"{{of the author: [{other!r}], C is 100: ["))
    options = ["--store", str(tmp_path / "s.sqlite"), "--summary", str(tmp_path)]
    for more in ([], ["--available"], ["--no-run"]):
        with mock.patch.dict(os.environ, {"KERNLEARN_DATA": ""}):
            result = CliRunner().invoke(app, ["forks", str(path), *options, *more])
        assert result.exit_code == 0, result.output
        said = "c: C is 1: the alternative of the author is left out, data not found: moons"
        assert said in result.output
        table = pd.read_csv(tmp_path / "forks.csv")
        assert table["branch"].tolist() == [CHOSEN, "C is 100"]


def test_data_that_the_config_itself_lacks_are_needed(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        CONFIG.replace("{generator: two_moons, n_samples: 60, noise: 0.3}", "{name: letter}")
    )
    options = ["--store", str(tmp_path / "s.sqlite")]
    with mock.patch.dict(os.environ, {"KERNLEARN_DATA": ""}):
        result = CliRunner().invoke(app, ["forks", str(path), *options])
    assert isinstance(result.exception, DataError)
    assert "letter" in str(result.exception)


def test_a_config_without_forks_says_so(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG.partition("forks:")[0])
    result = CliRunner().invoke(app, ["forks", str(path), "--store", str(tmp_path / "s.sqlite")])
    assert "state no forks" in result.output


def test_what_a_fork_compares_must_be_there(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG.replace("{method: SVM}", "{method: SVN}"))
    with pytest.raises(ConfigError, match="SVN"):
        load_config(path)
