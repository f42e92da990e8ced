"""Exports of a store, as a table, and as an archive that gives the same numbers elsewhere."""

import io
import re
import shlex
import shutil
import zipfile

import numpy as np
import pandas as pd
import pytest

from kernlearn.engine import run_plan
from kernlearn.exceptions import StoreError
from kernlearn.reports import assemble
from kernlearn.reports.page import data_facts
from kernlearn.reports.rows import EXPORTED, stored_splits
from kernlearn.reports.tables import csv_text
from kernlearn.store import Store
from tests.command import command


@pytest.fixture(scope="module")
def measured(plan, tmp_path_factory):
    """All numbers of a store, and the report of its experiment."""
    with Store(tmp_path_factory.mktemp("store") / "s.sqlite") as store:
        run_plan(plan, store)
        with pytest.raises(StoreError, match="other; there are: small"):
            stored_splits(store, ["other"])
        return stored_splits(store), assemble(plan, store)


def test_the_rows_of_a_store_are_those_of_its_report(measured):
    exported, report = measured
    accuracy = exported[exported["metric"] == "accuracy"]
    means = accuracy.groupby(["dataset", "method", "params"])["value"].mean()
    cells = report.cells[report.cells["metric"] == "accuracy"]
    expected = cells.set_index(["dataset", "method", "params"])["mean"]
    for facts in data_facts(report.experiment.config, report.details.data).values():
        assert re.fullmatch(r"drawn by the generator \w+(, \w+ [\w., ]+)*", facts[0])
    pd.testing.assert_series_equal(means, expected.sort_index(), check_names=False)


def test_csv_has_all_digits_and_its_texts_are_escaped(measured):
    exported, _ = measured
    again = pd.read_csv(io.StringIO(csv_text(exported)))
    assert list(again) == EXPORTED
    assert again["value"].tolist() == pytest.approx(exported["value"].tolist(), rel=1e-15)
    odd = csv_text(exported[:2].assign(method="=1+1"))
    assert pd.read_csv(io.StringIO(odd))["method"].tolist() == ["'=1+1"] * 2


OWN = """\
title: "{{A title}}"
plugins: [../shared/naive.py]
datasets: {flowers: {file: data/flowers.csv}}
methods: {own: {estimator: GaussianNB}, knn: {estimator: sklearn.neighbors.KNeighborsClassifier}}
protocol: {splits: 4}
metrics: [accuracy]
reported: paper.csv
verdict: {accuracy: {absolute: 0.1, level: 0.05}}
claims: [{says: a, check: {metric: accuracy, better: [knn], than: [own], over: all}}]
"""
NAIVE = """\
from sklearn.naive_bayes import GaussianNB

from kernlearn.plugins import register_estimator

register_estimator(version=1)(GaussianNB)
"""
PAPER = "dataset,method,metric,mean\nflowers,own,accuracy,0.5\nflowers,knn,accuracy,0.9\n"
DRIFTS = """\
profile,experiment,dataset,kernel,method,params,metric,drift
full,mine,flowers,,knn,{},accuracy,0.3
"""


@pytest.fixture
def home(tmp_path):
    """A folder with an experiment whose files are in several folders."""
    rows = ["length,kind", *(f"{i},{'ab'[i > 30]}" for i in range(60))]
    texts = {"configs/mine.yaml": OWN, "shared/naive.py": NAIVE, "configs/paper.csv": PAPER}
    texts |= {"configs/data/flowers.csv": "\n".join(rows), "configs/processors.csv": DRIFTS}
    for name, text in texts.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "home"


def files(folder):
    """What reports in a folder say, besides their pages, and when and where it was measured."""
    (page,) = folder.rglob("report.html")
    return {path.name: path.read_text() for path in page.parent.iterdir() if path != page}


@pytest.mark.parametrize(
    ("config", "options"),
    [("configs/mine.yaml", []), ("demo_ordinal", ["--profile", "quick", "-o", "protocol.seed=7"])],
)
def test_an_archive_gives_the_same_numbers_elsewhere(home, tmp_path, config, options):
    command(home, "run", config, *options)
    shown = command(home, "export", "--experiment", config, "--output", "new/all.zip").stdout
    measured, elsewhere = files(home / "results"), tmp_path / "elsewhere"
    zipfile.ZipFile(home / "new/all.zip").extractall(elsewhere)
    shutil.rmtree(home)
    lines = re.findall("    kernlearn (.*)", (elsewhere / "README.md").read_text())
    plan, _ = (command(elsewhere, *shlex.split(line)).stdout for line in lines)
    n_trials = int(re.search(r"zip: (\d+) trials", shown)[1])
    assert f"{n_trials} trials: {n_trials} in the store, 0 failed, 0 to run" in plan
    assert files(elsewhere) == measured


def test_the_labels_of_a_matrix_are_in_the_archive(tmp_path):
    np.savetxt(tmp_path / "D.csv", np.abs(np.subtract.outer(range(30), range(30))), delimiter=",")
    (tmp_path / "y.txt").write_text("a\nb\n" * 15)
    data = "{file: D.csv, matrix: distance, labels: y.txt, read_as: {header: false}}"
    methods = "{knn: {estimator: SimilarityKNNClassifier}}"
    text = f"title: t\ndatasets: {{d: {data}}}\nmethods: {methods}\nmetrics: [accuracy]\n"
    (tmp_path / "c.yaml").write_text(text)
    command(tmp_path, "run", "c.yaml", "--no-report")
    command(tmp_path, "export", "--experiment", "c.yaml", "--output", "a.zip")
    assert {"D.csv", "y.txt"} <= {*zipfile.ZipFile(tmp_path / "a.zip").namelist()}


def test_what_an_archive_needs(home):
    error = command(home, "export", "--experiment", "demo_ordinal", "--output", "a.zip", code=2)
    assert "no such store" in error.stderr
    command(home, "run", "configs/mine.yaml", "--no-report")
    error = command(home, "export", "--experiment", "demo_ordinal", "--output", "a.zip", code=2)
    assert "demo_ordinal" in error.stderr
    config = home / "configs/mine.yaml"
    config.write_text(OWN.replace("data/", f"{config.parent}/data/"))
    error = command(home, "export", "--experiment", config, "--output", "a.zip", code=2)
    assert "relative" in error.stderr
