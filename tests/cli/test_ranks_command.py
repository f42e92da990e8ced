"""``kernlearn ranks``."""

import io
import json
import re

import pandas as pd
import pytest

FOUR = """\
title: Four methods
datasets:
  moons: {generator: two_moons, n_samples: 80, noise: 0.3}
  waves: {generator: waveform, n_samples: 90, binarize: random}
  rings: {generator: rings, n_samples: 80, noise: 0.2}
kernels:
  gaussian: {kernel: gaussian, sigma: mean_distance}
  linear: {kernel: linear}
methods:
  SVM: {estimator: KernelSVM}
  BBS: {estimator: BBSClassifier, n_landmarks: [5, 10]}
  BBS again: {estimator: BBSClassifier, C: 10, n_landmarks: [5, 10]}
  guess: {estimator: DummyClassifier, baseline: true}
protocol: {splits: 2, seed: 1}
metrics: [accuracy, fit_seconds]
profiles:
  quick: {splits: 1}
"""


@pytest.fixture
def four(tmp_path, kernlearn):
    path = tmp_path / "four.yaml"
    path.write_text(FOUR)
    out = kernlearn("run", path, "--no-report")
    assert out.returncode == 0, out.stderr
    return path


def test_ranks_of_a_config_and_of_a_store(kernlearn, four, tmp_path):
    out = kernlearn("ranks", four)
    assert out.returncode == 0, out.stderr
    heads = re.findall(r"^four · accuracy · (.*): 3 methods on 3 data sets$", out.stdout, re.M)
    assert heads == [f"{k} · n_landmarks={n}" for k in ("gaussian", "linear") for n in (5, 10)]
    assert "guess" not in out.stdout
    assert "Friedman's test: χ² = " in out.stdout
    assert "Fewer than 10 data sets" in out.stdout

    # the numbers are those of the export, ranked by hand
    exported = pd.read_csv(io.StringIO(kernlearn("export").stdout))
    exported = exported[(exported["metric"] == "accuracy") & (exported["method"] != "guess")]
    form = kernlearn("ranks", four, "--format", "csv")
    frame = pd.read_csv(io.StringIO(form.stdout))
    params = exported["params"].map(json.loads)
    exported = exported[
        (exported["kernel"] == "linear") & params.map(lambda p: p.get("n_landmarks") != 5)
    ]
    means = exported.pivot_table(index="dataset", columns="method", values="value")
    expected = means.rank(axis=1, ascending=False).mean()
    found = frame[frame["labels"] == "linear · n_landmarks=10"].set_index("method")
    assert found["average_rank"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-5)

    one = kernlearn(
        "ranks",
        four,
        "--only",
        "n_landmarks=5,kernel=linear",
        "--only",
        "method=SVM,kernel=linear",
    )
    assert "four · accuracy: 3 methods on 3 data sets" in one.stdout

    whole = kernlearn(
        "ranks",
        "results/runs/store.sqlite",
        "--config",
        four,
        "--only",
        "kernel=linear",
        "--control",
        "SVM",
        "--format",
        "json",
    )
    assert whole.returncode == 0, whole.stderr
    rows = json.loads(whole.stdout)
    assert {row["method"] for row in rows} == {"SVM", "BBS", "BBS again"}
    assert {row["control"] for row in rows} == {"SVM"}


def test_the_picture_and_files(kernlearn, four, tmp_path):
    out = kernlearn("ranks", four, "--plot", "cd.svg", "--output", "ranks.md")
    assert out.returncode == 0, out.stderr
    picture = (tmp_path / "cd.svg").read_text()
    for text in ("SVM", "BBS again", "critical difference", "n_landmarks=10", "Friedman"):
        assert text in picture
    assert (tmp_path / "ranks.md").read_text().count("| method | average rank | p (Holm) |") == 4
    assert kernlearn("ranks", four, "--plot", "cd.json", "--output", "r.tex").returncode == 0
    spec = json.loads((tmp_path / "cd.json").read_text())
    assert len(spec["vconcat"]) == 4
    assert r"\begin{tabular}" in (tmp_path / "r.tex").read_text()


def test_what_is_missing_is_said(kernlearn, four, tmp_path):
    some = ("run", four, "--no-report", "--profile", "quick")
    assert (
        kernlearn(
            *some,
            "--only",
            "dataset=moons",
            "--only",
            "method=BBS",
            "--only",
            "method=BBS again",
            "--store",
            "s",
        ).returncode
        == 0
    )
    out = kernlearn("ranks", four, "--profile", "quick", "--store", "s", "--only", "kernel=linear")
    assert out.returncode == 2
    assert "1 of 3 data sets has a number of each of 3 methods" in out.stderr
    assert "SVM lacks 2 of 3" in out.stderr
    assert kernlearn(*some, "--only", "dataset=waves", "--store", "s").returncode == 0
    out = kernlearn("ranks", four, "--profile", "quick", "--store", "s", "--only", "kernel=linear")
    assert "four (quick, indicative) · accuracy · n_landmarks=5: 3 methods on 2 data" in out.stdout
    assert "1 of 3 data sets left out: rings (no number of SVM)." in out.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "acuracy"], "four: no metric 'acuracy'; did you mean 'accuracy'?"),
        (["--only", "dataset=moons"], "ranks need at least 2"),
        (
            ["--only", "method=BBS,n_landmarks=5", "--only", "method=SVM"],
            "2 methods; ranks need at least 3",
        ),
        (["--control", "svm"], "no method 'svm' to compare with; did you mean 'SVM'?"),
        (["--plot", "x.gif"], "--plot x.gif: expected a file name with .html"),
        (["--format", "xml"], "--format xml: expected one of table, csv"),
        (["--reported"], "four: no reported accuracy to rank"),
    ],
)
def test_what_cannot_be_ranked(kernlearn, tmp_path, arguments, said, ran):
    out = kernlearn("ranks", ran, "--store", ran.parent / "results/runs/store.sqlite", *arguments)
    assert (out.returncode, out.stdout) == (2, "")
    assert said in out.stderr


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A config that was run, for what changes nothing."""
    from tests.command import command

    folder = tmp_path_factory.mktemp("ran")
    path = folder / "four.yaml"
    path.write_text(FOUR)
    assert command(folder, "run", path, "--no-report").returncode == 0
    return path
