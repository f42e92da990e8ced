"""``kernlearn report``, ``check``, ``export``, ``merge`` and ``forks``."""

from shutil import copy

import numpy as np
import pandas as pd
import pytest

from tests.command import command

MINE = """\
title: Mine
datasets: {moons: {generator: two_moons, n_samples: 80}, rings: {generator: rings}}
methods:
  guess: {estimator: DummyClassifier}
  k-NN: {estimator: SimilarityKNNClassifier, similarity: gaussian}
protocol: {splits: 3}
metrics: [accuracy, fit_seconds]
profiles: {quick: {splits: 2}}
"""
STORE = "results/runs/store.sqlite"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a config, a quick run of it, and its summary."""
    folder = tmp_path_factory.mktemp("session")
    (folder / "mine.yaml").write_text(MINE)
    command(folder, "run", "mine.yaml", "--profile", "quick", "--no-report")
    summary = ("--summary", "results/baseline")
    out = command(folder, "report", "mine.yaml", "--profile", "quick", *summary)
    assert "Report: results/runs/mine@quick/report.html" in out.stdout
    return folder


@pytest.fixture
def session(measured, tmp_path):
    """The same in a folder of its own."""
    for name in ("mine.yaml", STORE, "results/baseline/mine.csv.gz", "results/baseline/mine.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((measured / name).read_bytes())
    return tmp_path


def test_a_report_is_of_the_profile_that_was_run(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE.replace("{splits: 2}", "{max_train: 40}"))
    command(tmp_path, "run", "mine.yaml", "--profile", "quick", "--no-report")
    assert "mine@quick/report.html" in command(tmp_path, "report", "mine.yaml").stdout


def edit(folder, change):
    """Change the accuracies of a method on a data set in the baseline."""
    path = folder / "results/baseline/mine.csv.gz"
    table = pd.read_csv(path)
    is_cell = (table["dataset"] == "moons") & (table["method"] == "guess")
    table["accuracy"] = table["accuracy"].mask(is_cell, change)
    table.to_csv(path, index=False)


def test_a_site_of_a_store_and_of_summaries(session):
    command(session, "run", "demo_ordinal", "--profile", "quick", "-o", "splits=1")
    site = command(session, "report")
    assert site.stdout.endswith("Site: results/site/index.html\n")
    assert "demo_ordinal" in (session / "results/site/index.html").read_text()
    assert "mine: profile quick" in site.stdout
    # a summary joins those of other experiments on the map
    for end in ("csv.gz", "json"):
        copy(f"results/measured/table5_1b.{end}", session / "results/baseline")
    options = ("--profile", "quick", "-o", "splits=1", "--summary", "results/baseline")
    command(session, "report", "demo_ordinal", *options)
    assert "table5_1b" in (session / "results/baseline/map.svg").read_text()
    for name in ("table5_1b", "demo_ordinal"):
        for path in (session / "results/baseline").glob(f"{name}.*"):
            path.unlink()
    # more failures of other settings do not hide it
    wrong = [f"methods.guess.{text}" for text in ("strategy=constant", "constant=7")]
    wrong = [part for text in ("splits=9", *wrong) for part in ("-o", text)]
    command(session, "run", "mine.yaml", *wrong, "--only", "method=guess", code=1)
    again = command(session, "report").stdout
    assert "mine: profile quick, 8 of 8 trials" in again
    assert "mine, full, splits=9" in again
    assert "all 18 trials failed, such as by ValueError" in again
    (session / "mine.yaml").rename(session / "moved.yaml")
    assert "mine: not shown" in command(session, "report").stdout
    (session / "moved.yaml").rename(session / "mine.yaml")
    summaries = ("--from", "results/baseline")
    command(session, "report", "mine.yaml", *summaries, "--output", "pages")
    assert (session / "pages/mine@quick/report.html").is_file()
    command(session, "report", "mine.yaml", "./mine.yaml", "--summary", "s", code=2)
    alone = command(session, "report", *summaries, code=2)
    assert "mine" in alone.stderr


def test_rows_of_any_program(session):
    rows = [f"moons,{m},{k},accuracy,0.{k}1" for m in ("guess", "k-NN") for k in (7, 8)]
    text = "\n".join(["dataset,method,split,metric,value", *rows])
    (session / "rows.csv").write_text(text)
    out = command(session, "report", "mine.yaml", "--rows", "rows.csv", "--output", "theirs")
    assert "0.760" in out.stdout
    assert (session / "theirs/mine/report.html").is_file()
    (session / "other.csv").write_text(text.partition("\n")[0])
    empty = command(session, "report", "mine.yaml", "--rows", "other.csv", code=2)
    assert "no rows" in empty.stderr
    for separator in (";", "\t"):
        (session / "other.csv").write_text(text.replace(",", separator))
        same = command(session, "report", "mine.yaml", "--rows", "other.csv")
        assert same.stdout.partition("Report")[0] == out.stdout.partition("Report")[0]
    command(session, "report", "--rows", "rows.csv", code=2)
    (session / "rows.csv").write_text(text.replace("guess", "chance"))
    wrong = command(session, "report", "mine.yaml", "--rows", "rows.csv", code=2).stderr
    assert "chance" in wrong


def test_a_check_names_what_moved_or_is_missing(session):
    assert "moved" not in command(session, "check", "mine.yaml").stdout
    edit(session, 0.123)
    out = command(session, "check", "mine.yaml", "quickstart", code=2)
    assert "quickstart.json: no such file" in out.stderr
    assert "  moved: moons · guess · accuracy: 0.123 in the baseline, 0." in out.stdout
    command(session, "check", "mine.yaml", code=1)
    command(session, "check", "mine.yaml", "-o", "drift.accuracy=1")
    edit(session, np.nan)
    out = command(session, "check", "mine.yaml", code=1)
    assert "  new: moons · guess · accuracy" in out.stdout


def test_export_to_a_pipe_and_to_files(session):
    out = command(session, "export")
    lines = out.stdout.splitlines()
    assert lines[0].startswith("experiment,dataset,kernel,method,params,metric,split,value,n_")
    for name in ("new/rows.csv", "new/rows.parquet"):
        shown = command(session, "export", "--output", name).stdout
        assert shown == f"{name}: {len(lines) - 1} rows\n"
    assert (session / "new/rows.csv").read_text() == out.stdout
    assert len(pd.read_parquet(session / "new/rows.parquet")) == len(lines) - 1
    for name in ("rows.csv", "rows.parquet"):
        command(session, "export", "--output", f"mine.yaml/{name}", code=2)
    other = command(session, "export", "--experiment", "x", code=2)
    assert "mine" in other.stderr


def test_merge_keeps_what_is_there(session):
    assert "8 trials added" in command(session, "merge", STORE, "all.sqlite").stdout
    again = command(session, "merge", STORE, "all.sqlite").stdout
    assert "0 trials added, 8 the same, 0 in conflict" in again


def test_forks(session):
    assert "no forks" in command(session, "forks", "mine.yaml", "--no-run").stdout
    for name in ("table5_1b", "vkr_table1"):  # of the second an alternative equals another method
        out = command(session, "forks", name, "--no-run", "--available")
        assert "deviation" in out.stdout
