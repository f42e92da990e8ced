import json
import re
import struct
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.reports import assemble, write_report, write_summary
from kernlearn.reports.summary import COLUMNS

FIGURE = """\
figures:
  - {x: n_components, metrics: [accuracy, fit_seconds], panels: [dataset], x_scale: log,
     y_scale: {fit_seconds: log}}
notes: {moons: "a note with <b>markup</b> & an ampersand"}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    from tests.experiments.conftest import SMALL

    folder = tmp_path_factory.mktemp("written")
    config = folder / "small.yaml"
    config.write_text(SMALL + FIGURE)
    plan = make_plan(load_config(config))
    with Store(folder / "s") as store:
        run_plan(plan, store)
        report = assemble(plan, store)
    page = write_report(report, folder / "out")
    return report, page


class Page(HTMLParser):
    """What a page shows, and what it would load."""

    def __init__(self):
        super().__init__()
        self.texts, self.loads, self.tags = [], [], []
        self.in_script = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.in_script = tag in ("script", "style")
        self.loads += [v for k, v in attrs if k in ("src", "href") and v]

    def handle_endtag(self, tag):
        self.in_script = False

    def handle_data(self, data):
        if not self.in_script:
            self.texts.append(data)


def test_every_file_is_there(written):
    report, page = written
    names = {p.name for p in page.parent.iterdir()}
    assert names == {
        "table.csv", "table.md", "table.tex", "figure.html", "figure.svg", "figure.png",
        "small.csv", "small.json", "report.html",
    }  # fmt: skip
    frame = pd.read_csv(page.parent / "small.csv")
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(report.summary)
    details = json.loads((page.parent / "small.json").read_text())
    assert details["done"] == details["trials"] == 16
    assert details["measured_on"][0]["packages"]["kernlearn"]
    assert {s["method"] for s in details["selected"]} == {"K"}


def test_the_page_shows_the_table_and_loads_nothing(written):
    report, path = written
    page = Page()
    page.feed(path.read_text())
    assert page.loads == []
    text = " ".join(" ".join(page.texts).split())
    for labels, cells in report.tables[0].rows:
        assert all(label in text for label in labels)
        assert all(cell.measured in text for cell in cells)
    assert "a note with <b>markup</b> & an ampersand" in text
    assert text.count("<b>markup</b>") == 2  # the remark and the configuration, both as text


def test_the_interactive_figure_needs_no_network(written):
    html = (written[1].parent / "figure.html").read_text()
    assert not re.search(r"<(script|link)[^>]+(src|href)=", html)
    assert "vegaEmbed" in html


def test_the_figure_is_a_picture_of_some_size(written):
    header = (written[1].parent / "figure.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", header[16:24])
    assert width > 800
    assert height > 600
    svg = (written[1].parent / "figure.svg").read_text()
    assert "waveform" in svg
    assert "moons" in svg


def test_a_summary_goes_wherever_it_is_wanted(written, tmp_path):
    path = write_summary(written[0], tmp_path / "measured")
    assert path.read_text() == (written[1].parent / "small.csv").read_text()
    assert path.with_suffix(".json").is_file()


def test_the_page_of_an_installed_package_names_no_commit(written, tmp_path):
    report = written[0]
    (machine,) = report.details["measured_on"]
    installed = {k: v for k, v in machine.items() if k not in ("commit", "dirty")}
    for measured_on, named in (([machine | {"commit": "c0ffee", "dirty": True}], True),
                               ([installed], False)):  # fmt: skip
        details = report.details | {"measured_on": measured_on}
        page = write_report(replace(report, details=details), tmp_path)
        assert ("; commit c0ffee, with changes" in page.read_text()) is named


def test_a_report_of_an_empty_store_has_no_figure(small, tmp_path):
    small.write_text(small.read_text() + FIGURE)
    plan = make_plan(load_config(small))
    with Store(tmp_path / "s") as store:
        page = write_report(assemble(plan, store), tmp_path / "out")
    assert not (page.parent / "figure.png").exists()
    assert "16 of 16 trials not run yet" in page.read_text()
