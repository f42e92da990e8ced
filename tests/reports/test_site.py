"""A site as files: what lies there, what leads where, and whose numbers they are."""

import json
import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.config.model import FigureSpec
from kernlearn.engine import make_plan
from kernlearn.exceptions import ReportError
from kernlearn.reports import assemble, write_report, write_site
from kernlearn.reports.addresses import joined, slug
from kernlearn.reports.charts import departures, figure, figures, x_axis
from kernlearn.reports.significance import OUTCOMES
from kernlearn.reports.site.departing import deviations
from kernlearn.reports.site.files import address
from kernlearn.reports.site.formats import in_full, spread_text
from kernlearn.reports.summary import COLUMNS, TIMES
from kernlearn.reports.tables import Cell, Table, build_tables
from kernlearn.reports.verdicts import VERDICTS, rule_text
from kernlearn.store import Store
from tests.reports.sites import HEADS, LONG, numbers, plant


class Page(HTMLParser):
    """A page's texts, elements, and rows of tables."""

    def __init__(self, path: Path):
        super().__init__()
        self.elements, self.texts, self.tables = [], [], {}
        self._open, self._row = [], None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs))
        if tag not in ("meta", "link", "img", "br", "input"):
            self._open.append(tag)
        if tag == "table":
            self._table = self.tables.setdefault(attrs.get("id"), [])
        elif tag == "tr":
            self._row = []
            self._table.append(self._row)
        elif tag in ("td", "th"):
            self._row.append((attrs, []))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self._open and self._open[-1] not in ("script", "style"):
            self.texts.append(data)
            if {"td", "th"} & set(self._open) and self._row:
                self._row[-1][1].append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def rows(self, table):
        """The rows of a table's body: labels, then the attributes of each number's cell."""
        found = []
        for row in self.tables[table]:
            texts = [" ".join("".join(text).split()).rstrip("*") for _, text in row]
            found.append((texts, [attrs for attrs, _ in row]))
        return found


def test_what_lies_there(site):
    folder = site.index.parent
    assert {p.name for p in folder.iterdir()} == {
        "index.html",
        "held.html",
        "long.html",
        "assets",
        "files",
    }
    assert {p.name for p in (folder / "assets").iterdir()} == {"site.css", "site.js", "vega.js"}
    assert {p.name for p in (folder / "files/held").iterdir()} == {
        "held.csv",
        "held.json",
        "splits.csv",
        "table.csv",
        "table.md",
        "table.tex",
        "figure1.svg",
        "figure1.pdf",
        "figure2.svg",
        "figure2.pdf",
        "deviations_accuracy.svg",
        "deviations_accuracy.pdf",
    }
    assert (folder / "files/held/figure1.svg").read_text().startswith("<svg")
    assert (folder / "files/held/figure1.pdf").read_bytes().startswith(b"%PDF")


def test_all_that_pages_lead_to_is_there_and_nothing_is_elsewhere(site):
    ids = {path: {a["id"] for _, a in Page(path).elements if "id" in a} for path in site.pages}
    seen = set()
    for path in site.pages:
        for _, attrs in Page(path).elements:
            for link in (attrs.get("href"), attrs.get("src")):
                if link is None or link == "data:,":
                    continue
                assert "//" not in link
                file, _, part = link.partition("#")
                # what a filter is set to
                file = file.partition("?")[0]
                target = (path.parent / unquote(file)).resolve() if file else path
                assert target.is_file(), f"{path.name} leads to {link}"
                assert not part or part in ids[target], f"{path.name} leads to {link}"
                seen.add(target.name)
    assert {"index.html", "held.html", "long.html", "splits.csv", "vega.js"} <= seen


def test_the_splits_are_all_there(site):
    frame = pd.read_csv(site.index.parent / "files/held/splits.csv")
    cells = frame.groupby(["dataset", "method", "n_components", "metric"], dropna=False)["value"]
    expected = numbers(site.store, "held")
    assert len(cells) >= 40
    for (dataset, method, size, metric), values in cells:
        key = (dataset, method, None if math.isnan(size) else int(size), metric)
        assert np.isclose(values.mean(), expected[key][0], rtol=1e-12)
        assert len(values) == expected[key][2]


def test_every_number_of_a_table_is_the_stores(site):
    heads, *rows = Page(site.page("held")).rows("table-1")
    assert heads[0] == ["dataset", "method", "D", *HEADS.values()]
    metrics = list(HEADS)
    expected = numbers(site.store, "held")
    reported = pd.read_csv("results/reported/table3_1.csv")
    found = set()
    for (dataset, method, size, *_), (_, _, _, *cells) in rows:
        for metric, cell in zip(metrics, cells, strict=True):
            plain = method.removesuffix(" (baseline)")
            key = (dataset, plain, int(size) if size else None, metric)
            mean, std, _ = expected.get(key, (np.nan, np.nan, 0))
            assert np.isclose(
                float(cell.get("data-value", "nan")), mean, rtol=1e-12, equal_nan=True
            )
            assert np.isclose(float(cell.get("data-std", "nan")), std, rtol=1e-9, equal_nan=True)
            of = reported[
                (reported["dataset"] == dataset)
                & (reported["kernel"] == "polynomial")
                & (reported["method"] == plain)
                & (reported["metric"] == metric)
                & (reported["n_components"].fillna(0) == int(size or 0))
            ]["mean"]
            paper = of.iloc[0] if len(of) else np.nan
            assert np.isclose(float(cell.get("data-reported", "nan")), paper, equal_nan=True)
            found.add(key)
    measured = {k for k in expected if k[-1] in metrics}
    assert measured <= found
    assert len(measured) == 32


def test_the_numbers_of_a_figure_that_no_table_has(site):
    page = Page(site.page("held"))
    rows = page.rows("figure2-numbers-1")
    expected = numbers(site.store, "held")
    assert rows[1][0][:2] == ["dataset", "D"]
    shown = {
        float(cell["data-value"])
        for _, (_, _, *cells) in rows[2:]
        for cell in cells
        if "data-value" in cell
    }
    metrics = ("fit_seconds", "predict_seconds")
    measured = {mean for (*_, metric), (mean, _, _) in expected.items() if metric in metrics}
    assert sorted(shown) == pytest.approx(sorted(measured), rel=1e-12)
    assert "figure1-numbers-1" not in page.tables


def test_the_overview_counts_what_the_pages_show(site):
    index = Page(site.index)
    rows = {row[0][0]: row for row in index.rows("experiments-table")[2:]}
    assert list(rows) == ["held", "long"]
    held = Page(site.page("held"))
    kinds = [
        row[1][3]["class"].split()[0] for row in held.rows("table-1")[1:] if row[1][3]["class"]
    ]
    texts, cells = rows["held"]
    assert texts[2:4] == ["full", "24"]
    assert float(cells[3]["data-value"]) == 24
    n = len(VERDICTS)
    scores = [int(cell["data-value"]) for cell in cells[5 : 5 + n]]
    assert scores == [kinds.count(slug(verdict)) for verdict in VERDICTS]
    assert sum(scores) == 6
    claims = [c.outcome for c in site.reports["held"].claims]
    assert [int(cell["data-value"]) for cell in cells[5 + n :]] == [
        claims.count(outcome) for outcome in OUTCOMES
    ]
    assert sum(map(claims.count, OUTCOMES)) == len(claims)
    assert rows["long"][0][2:4] == ["full", "400"]
    totals = index.rows(None)[1:]
    assert {texts[0]: int(texts[1]) for texts, _ in totals} == {"scores": 6, "times": 20}
    assert "gone" in index.text
    assert "no config <of> that name" in index.text


def test_pages_say_what_decides_and_what_explains(site):
    page = Page(site.page("held"))
    config = site.reports["held"].plan.experiment.config
    assert rule_text(config.verdict["accuracy"], "accuracy") in page.text
    assert "not the thesis' data <script>alert(1)</script>" in page.text
    assert 'Held against "table 3.1" & <b>others</b>' in page.text
    assert "K is no <i>worse</i>" in page.text
    assert "kernlearn run held.yaml --profile full" in page.text
    assert "reported: table3_1.csv" in page.text
    scripts = [attrs for tag, attrs in page.elements if tag == "script"]
    assert all(attrs.get("src") or attrs.get("type") == "application/json" for attrs in scripts)
    # every number that departs from the paper is listed, with the notes on its labels
    listed = page.rows("deviations-table")[1:]
    summary = site.reports["held"].summary
    assert len(listed) == summary["verdict"].isin(["better", "worse"]).sum()
    on_spambase = [texts for texts, _ in listed if texts[0].startswith("spambase")]
    assert on_spambase
    assert all("spambase" in texts[-1] for texts in on_spambase)


def test_a_page_is_read_without_sight(site):
    for path in site.pages:
        page = Page(path)
        tags = [tag for tag, _ in page.elements]
        assert tags.count("h1") == tags.count("main") == 1
        assert tags.count("caption") == tags.count("table")
        headings = [int(tag[1]) for tag in tags if tag in ("h1", "h2", "h3")]
        assert all(b <= a + 1 for a, b in pairwise(headings))
        for tag, attrs in page.elements:
            if tag == "th":
                assert attrs["scope"] in ("row", "col", "colgroup")
            if tag == "img":
                assert "alt" in attrs
            if attrs.get("role") in ("img", "region"):
                assert attrs["aria-label"]
            if attrs.get("tabindex") == "0":
                assert attrs["role"] == "region"
            elif "tabindex" in attrs:
                # a tile, beside the counts in words
                assert (tag, path.name) == ("a", "index.html")


def test_heads_of_rows_and_columns_are_not_empty(site, tmp_path):
    cells = [Cell("1", metric="accuracy", mean=1.0)] * 2
    table = Table("t", ["method", "degree", "D"], ["", "5"], [(["RF", "", "2"], cells)], [""] * 2)
    report = replace(site.reports["long"], tables=[table])
    page = Page(write_report(report, tmp_path))
    assert page.rows("table-1")[0][0] == ["method", "degree", "D", "–", "5"]
    empty = re.findall(r"<th[^>]*></th>", (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert empty == []


def test_charts_take_their_colours_from_the_page(site):
    report = site.reports["held"]
    charts = [*figures(report), *departures(report)]
    assert [c.stem for c in charts] == ["figure1", "figure2", "deviations_accuracy"]
    for chart in charts:
        config = chart.page_spec["config"]
        colors = [
            v
            for look in config.values()
            if isinstance(look, dict)
            for k, v in look.items()
            if k.endswith("Color") or k == "stroke"
        ]
        assert colors
        assert all(c.startswith("var(--") for c in [*colors, *config["range"]["category"]])
        assert "var(" not in json.dumps(chart.spec)
    assert "4 worse" in charts[2].description
    assert "2 values of dataset" in charts[0].description
    for method in ("K", "RF", "H0/1", "guess"):
        assert method in charts[0].description


def test_deviations_worst_first_with_their_notes(site):
    report = site.reports["held"]
    summary = report.summary.copy()
    judged = summary[summary["reported_mean"].notna() & (summary["metric"] == "accuracy")]
    summary.loc[judged.index[0], ["mean", "verdict"]] = [0.99, "better"]
    found = deviations(type(report)(**{**vars(report), "summary": summary}))
    verdicts = [d.cell.verdict for d in found]
    assert verdicts == sorted(verdicts, reverse=True)
    better = found[-1]
    assert better.place == "spambase · polynomial · K"
    assert better.difference.startswith("+")
    assert better.notes == ["spambase", "K"]
    assert math.isclose(better.cell.mean - better.cell.reported_mean, 0.99 - 0.938)


def test_a_report_in_a_folder_of_its_own(site, page):
    assert page.name == "report.html"
    shown = Page(page)
    assert shown.rows("table-1") == Page(site.page("held")).rows("table-1")
    links = [
        a["href"] for tag, a in shown.elements if tag == "a" and not a["href"].startswith("#")
    ]
    assert all((page.parent / link).is_file() for link in links)


def test_a_page_without_charts_comes_without_vega(site, tmp_path):
    page = write_report(site.reports["long"], tmp_path)
    assert "vega.js" not in page.read_text()
    assert not (tmp_path / "assets/vega.js").exists()


def test_an_experiment_may_be_called_index(site, tmp_path):
    config = tmp_path / "index.yaml"
    config.write_text(LONG)
    with Store(tmp_path / "s") as store:
        report = assemble(plant(store, config), store)
        index = write_site([report, site.reports["long"]], tmp_path / "out")
    links = [a["href"] for tag, a in Page(index).elements if tag == "a"]
    assert "index_.html" in links
    assert (tmp_path / "out/index_.html").is_file()
    assert (tmp_path / "out/files/index_/index.csv").is_file()


@pytest.mark.parametrize("name", ["table2", "splits"])
def test_no_file_takes_the_place_of_the_summary(tmp_path, name):
    config = tmp_path / f"{name}.yaml"
    config.write_text(LONG.replace("table: {", "table: {each: [method], "))
    with Store(tmp_path / "s") as store:
        report = assemble(plant(store, config), store)
    assert len(report.tables) == 2
    page = write_report(report, tmp_path / "out")
    assert list(pd.read_csv(tmp_path / f"out/{name}.csv").columns) == [*COLUMNS, *TIMES]
    assert len(pd.read_csv(tmp_path / "out/table1.csv")) == 50
    links = {attrs["href"] for tag, attrs in Page(page).elements if tag == "a"}
    assert f"{name}_shown.csv" in links


def test_what_cannot_be_written_is_one_message(site, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ReportError, match=r"taken.*: cannot be written"):
        write_site([site.reports["long"]], tmp_path / "taken")
    with pytest.raises(ReportError, match=r"taken.*: cannot be written"):
        write_report(site.reports["long"], tmp_path / "taken")


@pytest.mark.parametrize(
    ("target", "page", "expected"),
    [
        ("a/b.csv", "a/x.html", "b.csv"),
        ("a/files/e x/b#1.csv", "a/x.html", "files/e%20x/b%231.csv"),
        ("assets", "a/x.html", "../assets"),
    ],
)
def test_addresses(target, page, expected):
    assert address(Path(target), Path(page)) == expected


@pytest.mark.parametrize(
    ("cell", "spread", "full"),
    [
        (
            Cell("0.9", metric="accuracy", mean=0.9, std=0.0123, n_splits=5),
            " ± 0.012",
            "measured 0.9 ± 0.0123 over 5 splits",
        ),
        (
            Cell(
                "2.00",
                "1",
                "worse",
                metric="mse",
                mean=2.0,
                std=1e-16,
                reported_mean=1.0,
                n_splits=2,
            ),
            " ± 0.00",
            "measured 2 ± 1e-16 over 2 splits; reported 1; worse",
        ),
        (Cell("7", metric="n_support", mean=7.0, n_splits=1), "", "measured 7"),
        (Cell("", "0.5", "not run", reported_mean=0.5), "", "reported 0.5; not run"),
        (
            Cell(
                "0.0395 [0.0380–0.0410]",
                metric="fit_seconds",
                mean=0.04,
                std=0.000885,
                n_splits=5,
                median=0.0395,
                low=0.038,
                high=0.041,
            ),
            " [0.0380–0.0410]",
            "median 0.0395, from 0.038 to 0.041 over 5 splits; mean 0.04 ± 0.000885",
        ),
        (
            Cell("2.00", metric="fit_seconds", mean=2.0, median=2.0, n_splits=1),
            "",
            "median 2; mean 2",
        ),
        (
            Cell("5.48e-05", metric="mse", mean=5.483e-5, std=2.27e-6, n_splits=2),
            " ± 0.23e-05",
            "measured 5.483e-05 ± 2.27e-06 over 2 splits",
        ),
    ],
)
def test_cells_in_words(cell, spread, full):
    assert spread_text(cell) == spread
    assert in_full(cell) == full


def test_every_claim_row_and_cell_has_an_address_of_its_own(site):
    for path in site.pages:
        ids = [attrs["id"] for _, attrs in Page(path).elements if "id" in attrs]
        assert len(ids) == len({*ids}), path.name
    held = Page(site.page("held"))
    ids = {attrs["id"] for _, attrs in held.elements if "id" in attrs}
    assert "spambase.polynomial.h0-1.n-components-50.accuracy" in ids
    assert "row.spambase.h0-1.50" in ids
    for _, cells in held.rows("table-1")[1:]:
        assert all("id" in cell for cell in cells[3:] if "data-value" in cell)
    claims = {attrs.get("id", "") for tag, attrs in held.elements if tag == "tr"}
    assert len([i for i in claims if i.startswith("claim.k-is-")]) == 2
    # addresses do not depend on what else is shown
    summary = site.reports["held"].summary
    half = summary[summary["dataset"] == "spambase"]
    tables = build_tables(half, site.reports["held"].plan.experiment.config)
    places = {joined(*c.place, c.metric) for _, row in tables[0].rows for c in row if c.place}
    assert places <= ids


def test_a_tile_leads_to_each_score_and_each_claim(site):
    hrefs = [attrs for tag, attrs in Page(site.index).elements if attrs.get("tabindex") == "-1"]
    assert all(attrs["title"].rpartition(": ")[2] for attrs in hrefs)
    inside = [attrs["href"] for attrs in hrefs if attrs["href"].startswith("held.html#")]
    assert "held.html#spambase.polynomial.k.accuracy" in inside
    assert sum(href.startswith("held.html#claim.") for href in inside) == 2


def test_a_profile_is_indicative_on_the_page_and_in_the_overview(site, tmp_path):
    with Store(site.store, read_only=True) as store:
        plan = make_plan(load_config(site.configs[0], profile="quick"))
        report = assemble(plan, store)
    assert report.details["done"] == 12
    page = write_report(report, tmp_path / "one")
    text = Page(page).text
    assert "Indicative. Profile quick is a smaller version of the experiment" in text
    full = Page(site.page("held")).text
    assert not {*"✓≈▲△▼≠○↗↘✗"} & {*text}
    classes = {c for _, a in Page(page).elements for c in a.get("class", "").split()}
    assert not classes & {*map(slug, (*VERDICTS, *OUTCOMES)), "best"}
    assert "▼" in full
    assert "Indicative" not in full
    index = write_site([report, site.reports["long"]], tmp_path / "site")
    shown = Page(index)
    (row,) = [row for row in shown.rows("experiments-table")[2:] if row[0][0] == "held"]
    assert row[0][2] == "quickindicative"
    assert {cell["data-value"] for cell in row[1][5:]} == {"0"}
    assert "table" not in {tag for tag, attrs in shown.elements if attrs.get("class") == "tiles"}


def test_the_title_stands_once(site):
    titles = [site.reports[name].plan.experiment.config.title for name in ("held", "long")]
    for name, title in zip(("held", "long"), titles, strict=True):
        page = site.page(name).read_text(encoding="utf-8")
        shown = re.sub(
            r"<title>.*?</title>|<caption.*?</caption>|<pre.*?</pre>", "", page, flags=re.S
        )
        texts = re.sub(r"<[^>]*>", "", shown.partition('id="downloads"')[0])
        assert unescape(texts).count(title) == 1, name


def test_nothing_is_drawn_again_that_has_not_changed(site, tmp_path, monkeypatch):
    report = site.reports["held"]
    write_report(report, tmp_path)
    before = {
        p: p.read_bytes() for p in tmp_path.rglob("*.*") if p.suffix in (".svg", ".pdf", ".js")
    }
    assert len(before) == 8
    monkeypatch.setattr("vl_convert.vegalite_to_svg", None)
    monkeypatch.setattr("vl_convert.javascript_bundle", None)
    write_report(report, tmp_path)
    assert {p: p.read_bytes() for p in before} == before
    # what was not written in full, and what has changed, is drawn
    (tmp_path / "figure1.svg").write_text("<svg")
    write_report(report, tmp_path)
    assert {p: p.read_bytes() for p in before} == before  # taken from the cache
    (tmp_path / "figure1.svg").write_text("<svg")
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "empty"))
    with pytest.raises(TypeError):
        write_report(report, tmp_path)


def test_a_logarithmic_axis_has_its_ticks_at_the_points(site):
    chart, other, _ = [*figures(site.reports["held"]), *departures(site.reports["held"])]
    (row,) = chart.spec["vconcat"]
    values = [panel["layer"][0]["encoding"]["x"]["axis"]["values"] for panel in row["concat"]]
    assert values == [[20.0, 50.0]] * 2
    assert chart.title == "Accuracy against number of features D"
    assert other.title == "Seconds"
    legend = row["concat"][0]["layer"][0]["encoding"]["color"]["legend"]
    assert legend == {"values": ["K", "RF", "H0/1", "guess"]}
    only = FigureSpec(x="n_components", metrics=["accuracy"])
    config = site.reports["held"].plan.experiment.config
    summary = site.reports["held"].summary
    drawn = figure(summary[summary["method"] != "K"], only, config)
    legend = drawn["vconcat"][0]["layer"][0]["encoding"]["color"]["legend"]
    assert legend == {"values": ["RF", "H0/1", "guess"]}


def test_a_figure_may_draw_some_combinations_alone(site):
    config = site.reports["held"].plan.experiment.config
    summary = site.reports["held"].summary
    datasets = list(config.datasets)
    chosen = [{"dataset": datasets[0], "method": "RF"}, {"dataset": datasets[1], "method": "K"}]
    some = FigureSpec(x="n_components", metrics=["accuracy"], panels=["dataset"], only=chosen)
    (row,) = figure(summary, some, config)["vconcat"]
    rows = [value for panel in row["concat"] for value in panel["data"]["values"]]
    assert {(r["panel"], r["method"]) for r in rows} == {
        (datasets[0], "RF"),
        (datasets[1], "K"),
    }


def test_few_whole_numbers_on_an_axis_are_its_ticks():
    spec = FigureSpec(x="n", metrics=["accuracy"])
    assert x_axis(pd.Series([2.0, 1, 2, np.nan]), spec)["values"] == [1, 2]
    assert x_axis(pd.Series([1.0, 2, 3, 4]), spec) == {"tickCount": 5}
    assert x_axis(pd.Series([1.0, 2.5]), spec) == {"tickCount": 5}
