"""Exports of a store, and open records."""

import io
import json
import re
import zipfile

import pandas as pd
import pytest

from kernlearn.engine import run_plan
from kernlearn.exceptions import StoreError
from kernlearn.reports import assemble
from kernlearn.reports.page import write_crate
from kernlearn.reports.remarks import data_facts
from kernlearn.reports.rows import EXPORTED, stored_splits
from kernlearn.reports.tables import csv_text
from kernlearn.store import Store


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


def test_a_record_names_its_files(measured, tmp_path):
    pytest.importorskip("rocrate")
    _, report = measured
    n_files = write_crate(report, tmp_path / "r.zip")
    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        names = set(archive.namelist())
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    listed = {one["@id"] for one in graph if one["@type"] == "File"}
    results = {"cells.csv", "report.json", "splits.csv", "table.csv", "table.md", "table.tex"}
    assert listed == {*results, "config.yaml"}
    assert listed < names
    assert len(listed) == n_files
    (run,) = [one for one in graph if one["@type"] == "CreateAction"]
    assert {one["@id"] for one in run["result"]} == results
