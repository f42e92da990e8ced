"""``kernlearn equivalence``."""

from functools import partial

import pandas as pd
import pytest

from tests.command import command

CONFIG = """\
title: Two methods on landmarks against neighbours
datasets:
  moons: {generator: two_moons, n_samples: 120, noise: [0.1, 0.2]}
  waves: {generator: waveform, n_samples: 120, binarize: random}
  rings: {generator: rings, n_samples: 120, noise: 0.2}
methods:
  neighbours: {estimator: SimilarityKNNClassifier, n_neighbors: {select: [1, 5]}}
  BBS: {estimator: BBSClassifier, n_landmarks: [5, 10], C: {select: [1, 100]}}
  near: {estimator: LandmarkKNNClassifier, n_landmarks: [5, 10], n_refined: {select: [0, 5]}}
  plain: {estimator: LinearSVM}
protocol: {splits: 3, holdout: 0.2, seed: 1}
metrics: [accuracy, comparisons]
"""


@pytest.fixture(scope="module")
def kernlearn(tmp_path_factory):
    """The command in a folder where the trials of mine.yaml have been carried out."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "mine.yaml").write_text(CONFIG)
    out = command(folder, "run", "mine.yaml", "--no-report")
    assert out.returncode == 0, out.stderr
    return partial(command, folder)


def test_methods_are_compared_with_a_control(kernlearn, tmp_path):
    options = ["--control", "neighbours", "--only", "n_landmarks=10"]
    out = kernlearn("equivalence", "mine.yaml", *options, "--margin", "0.9")
    assert out.returncode == 0, out.stderr
    lines = out.stdout.splitlines()
    assert lines[0] == "accuracy, against neighbours, margin 0.9, α = 0.05"
    assert sum("equivalent" in line for line in lines) == 3
    for method in ("BBS", "near", "plain"):
        assert sum(method in line for line in lines) == 1
    assert "n_landmarks=5" not in out.stdout

    chosen = kernlearn(
        "equivalence",
        "mine.yaml",
        *options,
        "--margin",
        "0.01",
        "--best-of",
        "BBS",
        "--best-of",
        "near",
        "--output",
        tmp_path / "e.csv",
    )
    assert chosen.returncode == 0, chosen.stderr
    assert "best on held-out rows against neighbours" in chosen.stdout
    assert "chosen in how many splits: " in chosen.stdout
    frame = pd.read_csv(tmp_path / "e.csv").query("method == 'best on held-out rows'")
    # a data set for each value of its generator's parameter
    assert frame["dataset"].tolist() == ["moons, noise=0.1", "moons, noise=0.2", "waves", "rings"]
    assert frame["n_splits"].tolist() == [3, 3, 3, 3]
    assert frame["control_comparisons"].tolist() == [72, 72, 72, 72]
    assert frame["comparisons"].between(10, 15).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--margin", "0"], "--margin 0: expected a number above 0"),
        (["--margin", "1", "--best-of", "BSB"], "--best-of BSB: no such method in mine"),
        (["--margin", "1", "--control", "x"], "no method 'x' to compare with"),
        (["--margin", "1", "--metric", "acuracy"], "did you mean 'accuracy'"),
    ],
)
def test_faults(kernlearn, arguments, said):
    out = kernlearn("equivalence", "mine.yaml", "--control", "neighbours", *arguments)
    assert out.returncode == 2
    assert said in out.stderr
