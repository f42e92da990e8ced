"""``kernlearn init``, ``show`` and ``runs``: from a file to a config, and what it means."""

import io
import sys
from unittest import mock

import numpy as np
import pytest

from tests.experiments.stores import begun, done, failed, trial


@pytest.fixture
def flowers(tmp_path):
    """A file of a user: two numbers and a word to predict."""
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{b:.3f},{'red' if a + b > 0 else 'blue'}" for a, b in rng.normal(size=(60, 2))
    ]
    path = tmp_path / "my flowers.csv"
    path.write_text("\n".join(["length,width,colour", *rows]) + "\n")
    return path


def test_a_file_becomes_a_config_that_runs(kernlearn, flowers, tmp_path):
    made = kernlearn("init", "my flowers.csv", "--splits", "1", "--config", "folder/mine.yaml")
    assert made.returncode == 0, made.stderr
    assert "folder/mine.yaml: 5 trials" in made.stdout
    config = tmp_path / "folder/mine.yaml"
    assert "{file: ../my flowers.csv}" in config.read_text()
    assert [p.name for p in config.parent.iterdir()] == ["mine.yaml"]
    ran = kernlearn("run", "folder/mine.yaml", "--no-report")
    assert ran.returncode == 0, ran.stdout
    assert "[5/5]" in ran.stdout

    again = kernlearn("init", "my flowers.csv", "--config", "folder/mine.yaml")
    assert again.returncode == 2
    assert "exists; --force replaces it" in again.stderr
    number = kernlearn(
        "init",
        "my flowers.csv",
        "-c",
        "folder/mine.yaml",
        "--force",
        "--target",
        "width",
        "--task",
        "regression",
    )
    assert number.returncode == 0, number.stderr
    assert "target: width" in config.read_text()
    assert "SparseRegLand" in config.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name a data file or data set, such as `kernlearn init mine.csv`"),
        (("none.csv",), "none.csv: no such file"),
        (("my flowers.csv", "--task", "poetry"), "--task poetry: expected one of classification"),
        (("my flowers.csv", "--target", "hue"), "hue"),
    ],
)
def test_what_cannot_be_is_one_message_and_no_file(kernlearn, flowers, tmp_path, arguments, words):
    out = kernlearn("init", *arguments)
    assert out.returncode == 2
    assert words in out.stderr
    assert "Traceback" not in out.stderr
    assert not [*tmp_path.glob("*.yaml")]


def test_on_a_terminal_it_asks(kernlearn, flowers, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    answers = Terminal("my flowers.csv\ncolour\n\n2\nasked.yaml\n")
    with (
        mock.patch.object(sys, "stdin", answers),
        mock.patch("kernlearn.cli.init.asking", return_value=True),
    ):
        out = kernlearn("init")
    assert out.returncode == 0, out.stderr
    text = (tmp_path / "asked.yaml").read_text()
    assert "splits: 2 " in text
    assert "task: classification" in text


def test_show_names_the_steps_of_a_pipeline(kernlearn):
    out = kernlearn("show", "today_landmarks")
    assert out.returncode == 0, out.stderr
    assert "NystroemEmbedding, Nyström features of any kernel → LinearSVM" in out.stdout
    assert "n_landmarks 10, 30, 100, 300, each a row of the table" in out.stdout
    assert "gradient boosting       sklearn.ensemble.HistGradient" in out.stdout
    assert "transfers [1, 10]\n" in out.stdout  # one value, which is a list


def test_show_says_what_a_config_means(kernlearn, small, flowers):
    out = kernlearn("show", small)
    assert out.returncode == 0, out.stderr
    for words in (
        "small: A small experiment",
        "waveform  made by waveform (n_samples 300); two classes: a random half",
        "K     KernelSVM, exact kernel SVM by LIBSVM",
        "C chosen among 0.1, 10 (2 values) on held-out points",
        "n_components 10, 40, each a row of the table",
        "n_components by data set: default: 20; moons: 10",
        "Splits: 2 random splits, 60 % of the rows to train; seed 1",
        "Parameters are chosen on 20 % of the training part, in each split",
        "Scaling: features to mean 0 and standard deviation 1, then all points",
        "Profiles, smaller versions: quick (splits 1, methods.RF.n_components 10)",
        "Trials: 16; time unknown until the first have run",
    ):
        assert words in out.stdout, words
    kernlearn("init", "my flowers.csv", "-c", "mine.yaml")
    assert (
        "my flowers.csv: 60 rows, 2 features, 2 classes" in kernlearn("show", "mine.yaml").stdout
    )


def test_runs_lists_what_compare_takes(kernlearn, tmp_path):
    path = tmp_path / "results/runs/store.sqlite"
    for method in ("one", "two"):
        with begun(path) as (_, put):
            for split in range(2):
                t = trial("same", split)
                put(t, done(t, accuracy=0.5))
            put(trial(method), failed(trial(method)))
    out = kernlearn("runs")
    assert out.returncode == 0, out.stderr
    rows = [line.split() for line in out.stdout.splitlines() if " e " in line]
    # number, trials, failed, replaced; the first run's results were measured again
    assert [(r[0], *r[5:8]) for r in rows] == [("1", "2", "1", "2"), ("2", "2", "1", "–")]
    assert "`kernlearn compare 1 2` compares two runs." in out.stdout
    assert kernlearn("compare", "1", "2").returncode == 0
    assert "no run of x" in kernlearn("runs", "--experiment", "x").stdout


def test_every_command_has_an_example(kernlearn):
    listed = kernlearn("--help").stdout.partition("Commands:")[2]
    names = [
        line.split()[0]
        for line in listed.splitlines()
        if line.startswith("  ") and not line.startswith("   ")
    ]
    assert {"init", "show", "runs", "run", "plan", "compare"} <= {*names}
    for name in names:
        if name != "datasets":
            assert f"\n    kernlearn {name}" in kernlearn(name, "--help").stdout, name
