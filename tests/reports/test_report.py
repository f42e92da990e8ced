import json
import re
from dataclasses import replace

import pandas as pd

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports import assemble, write_report, write_summary
from kernlearn.reports.charts import figure
from kernlearn.reports.summary import COLUMNS, TIMES
from kernlearn.store import Store
from tests.reports.sites import plant

FIGURE = """\
figures:
  - {x: n_components, metrics: [accuracy, fit_seconds], panels: [dataset], x_scale: log,
     y_scale: {fit_seconds: log}}
notes: {moons: "a note with <b>markup</b> & an ampersand"}
"""

KERNELS = """\
title: Baselines that meet no kernel
datasets: {moons: {generator: two_moons, n_samples: 60, noise: 0.2}}
kernels:
  polynomial: {kernel: polynomial, degree: 3}
  exponential: {kernel: exponential, sigma: 1.0}
methods:
  RF: {estimator: MaclaurinSVM, n_components: [5, 10]}
  guess: {estimator: DummyClassifier, baseline: true}
  stump: {estimator: DummyClassifier, strategy: stratified, baseline: true}
protocol: {splits: 2, seed: 1}
metrics: [accuracy]
table: {each: [kernel], rows: [dataset, n_components], columns: [method]}
figures:
  - {x: n_components, metrics: [accuracy], panels: [kernel]}
"""


def test_every_file_is_there(site, page):
    report, folder = site.reports["held"], page.parent
    assert {p.name for p in folder.iterdir()} == {
        "table.csv",
        "table.md",
        "table.tex",
        "figure1.svg",
        "figure1.pdf",
        "figure2.svg",
        "figure2.pdf",
        "deviations_accuracy.svg",
        "deviations_accuracy.pdf",
        "splits.csv",
        "held.csv",
        "held.json",
        "report.html",
        "assets",
    }
    frame = pd.read_csv(folder / "held.csv")
    assert list(frame.columns) == [*COLUMNS, *TIMES, "best"]
    assert len(frame) == len(report.summary)
    details = json.loads((folder / "held.json").read_text())
    assert details["done"] == details["trials"] == 24
    assert details["measured_on"][0]["packages"]["kernlearn"]
    assert {s["method"] for s in details["selected"]} == {"K"}


def test_what_meets_no_kernel_stands_in_the_panel_of_each(tmp_path):
    config = tmp_path / "kernels.yaml"
    config.write_text(KERNELS)
    with Store(tmp_path / "s") as store:
        report = assemble(plant(store, config), store)
    config = report.plan.experiment.config
    drawn = figure(report.summary, config.figures[0], config)
    panels = drawn["vconcat"][0]["concat"]
    rows = [row for panel in panels for row in panel["data"]["values"]]
    shown = [(row["panel"], row["method"]) for row in rows]
    assert sorted(set(shown)) == [
        (panel, method)
        for panel in ("exponential", "polynomial")
        for method in ("RF", "guess", "stump")
    ]
    titles = [panel["title"]["text"] for panel in panels]
    assert titles == ["polynomial", "exponential"]
    guesses = {(row["panel"], row["mean"]) for row in rows if row["method"] == "guess"}
    assert len(guesses) == 2
    assert len({mean for _, mean in guesses}) == 1
    # and its column after those of the paper
    assert [table.heads for table in report.tables] == [["RF", "guess", "stump"]] * 2


def test_the_figure_is_a_picture_of_some_size(page):
    svg = (page.parent / "figure1.svg").read_text()
    width, height = (float(v) for v in re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    assert width > 500
    assert height > 200
    assert "spambase" in svg
    assert "cod_rna" in svg
    assert (page.parent / "figure1.pdf").read_bytes().startswith(b"%PDF")


def test_when_it_was_measured(site):
    with Store(site.store, read_only=True) as store:
        started = [run.started for run in store.runs() if run.experiment == "held"]
    details = site.reports["held"].details
    first, last = details["measured"]
    assert min(started) <= first <= last <= details["written"]


def test_a_summary_goes_wherever_it_is_wanted(site, page, tmp_path):
    path = write_summary(site.reports["held"], tmp_path / "measured")
    assert path.read_text() == (page.parent / "held.csv").read_text()
    assert path.with_suffix(".json").is_file()


def test_the_page_of_an_installed_package_names_no_commit(site, tmp_path):
    report = site.reports["long"]
    (machine,) = report.details["measured_on"]
    for measured_on, named in (
        ([machine | {"commit": "c0ffee", "dirty": True}], True),
        ([machine], False),
    ):
        details = report.details | {"measured_on": measured_on}
        page = write_report(replace(report, details=details), tmp_path)
        assert ("<code>c0ffee</code>, modified" in page.read_text()) is named


def test_a_report_of_an_empty_store_has_no_figure(small, tmp_path):
    small.write_text(small.read_text() + FIGURE)
    plan = make_plan(load_config(small))
    with Store(tmp_path / "s") as store:
        page = write_report(assemble(plan, store), tmp_path / "out")
    assert not (page.parent / "figure.svg").exists()
    assert "16 of 16 trials not run yet" in page.read_text()
