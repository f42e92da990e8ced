"""Charts: a mark for every number, the map, and their colours."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.model import FigureSpec
from kernlearn.reports.charts import deviations, draw, figures
from kernlearn.reports.page import write_map


@pytest.fixture(scope="module")
def drawn(report):
    charts = [*figures(report), *deviations(report)]
    return dict(zip([c.stem for c in charts], draw(c.spec for c in charts), strict=True))


def marks(svg):
    groups = re.findall(r'<g class="mark-symbol role-mark[^"]*"[^>]*>(.*?)</g>', svg)
    return sum(group.count("<path") for group in groups)


def test_every_number_has_its_mark(report, drawn):
    cells = report.cells[report.cells["metric"] == "accuracy"]
    with_size = cells[cells["mean"].notna() & cells["n_components"].notna()]
    assert marks(drawn["figure"]) == len(with_size) == 6
    both = cells["mean"].notna() & cells["reported_mean"].notna()
    assert marks(drawn["deviations_accuracy"]) == both.sum() > 2
    for svg in drawn.values():
        assert not re.search("NaN|Infinity", svg)


def figure_of(report, cells, **asked):
    """Return the panels of one figure of some cells."""
    spec = FigureSpec(x="n_components", metrics=["accuracy"], **asked)
    config = report.experiment.config.model_copy(update={"figures": [spec]})
    experiment = report.experiment.model_copy(update={"config": config})
    (chart,) = figures(replace(report, experiment=experiment, cells=cells))
    return chart.spec["vconcat"][0]["concat"]


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_label_that_does_not_apply_is_in_no_title(report, missing):
    """The baseline has no kernel: it is drawn in the panel of each, and names none."""
    kernels = [missing if pd.isna(kernel) else kernel for kernel in report.cells["kernel"]]
    cells = report.cells.assign(kernel=kernels)
    panels = figure_of(report, cells, panels=["dataset", "kernel"])
    titles = [panel["title"]["text"] for panel in panels]
    assert titles == ["spambase · polynomial", "cod_rna · polynomial"]
    for panel in panels:
        methods = [value["method"] for value in panel["data"]["values"]]
        assert methods.count("guess") == 1


def test_kernels_with_varied_parameters_have_colours(report):
    """Their labels are not the names under `kernels`."""
    cells = report.cells.replace({"kernel": {"polynomial": "polynomial (degree=2)"}})
    panels = figure_of(report, cells, color="kernel")
    color = panels[0]["layer"][0]["encoding"]["color"]
    assert color["scale"]["domain"] == ["polynomial", "polynomial (degree=2)", "no kernel"]
    assert color["legend"]["values"] == color["scale"]["domain"][1:]


def test_the_map_has_a_tile_for_each_number_difference_and_claim(report, tmp_path):
    write_map([report], tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text()
    ElementTree.fromstring(text)
    scores = report.cells[(report.cells["metric"] == "accuracy") & (report.cells["verdict"] != "")]
    outcomes = [*scores["verdict"], *report.differences["outcome"], *report.claims["outcome"]]
    assert len(report.differences)
    assert sorted(re.findall("<title>.*: (.*)</title>", text)) == sorted(outcomes)
    assert "var(" not in text
    assert "#fff" in text


def test_control_characters_in_names_are_drawn_as_unknown_ones():
    (svg,) = draw([{"title": "bell\x07, \\bold, é", "data": {"values": [{}]}, "mark": "point"}])
    assert "bell�, \\bold, é" in svg


def test_a_chart_that_cannot_be_drawn_is_a_line():
    good = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
    drawn = draw([{**good, "mark": "<b>"}, good])
    assert "cannot be drawn" in drawn[0]
    assert "<b>" not in drawn[0]
    assert [drawn[1]] == draw([good])
