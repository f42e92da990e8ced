"""Pages: what stands on them, escaped; and in a browser, opened from disk."""

import re
from dataclasses import replace
from html import unescape

import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.exceptions import ReportError
from kernlearn.reports import report_rows, write_report, write_site
from kernlearn.reports.report import Skipped
from tests.reports.browsing import Reader


@pytest.fixture(scope="module")
def index(report, held, rows, tmp_path_factory):
    """A site of an experiment and of its quick profile, under another name."""
    path = tmp_path_factory.mktemp("quick") / "index.yaml"
    path.write_text(held.read_text())
    quick = report_rows(load_config(path, profile="quick"), rows)
    folder = tmp_path_factory.mktemp("site") / "a site"
    return write_site([report, quick], folder, skipped=[Skipped("gone", "no <config>")])


def text_of(page):
    html = page.read_text(encoding="utf-8")
    html = re.sub(r"<(script|style|svg).*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_a_page_has_its_table_claims_differences_and_notes(index, report):
    page = index.with_name("held.html")
    text = text_of(page)
    for labels, cells in report.tables[0].rows:
        assert all(label in text for label in labels)
        assert all(cell.mean in text for cell in cells)
    assert "not measured: nursery." in text
    for claim in report.claims.itertuples():
        assert f"{claim.says}" in text
        assert claim.numbers in text
    assert f"All {len(report.differences)} differences" in text
    assert "not the thesis' data <script>alert(1)</script>" in text
    assert "<script>alert" not in page.read_text()
    html, parts = page.read_text(), ("claims", "tables", "charts", "differences", "notes")
    order = [html.index(f'id="{part}"') for part in parts]
    assert order == sorted(order)
    assert all(f'href="#{part}"' in html for part in parts)


def test_a_page_names_what_each_method_chose(report, tmp_path):
    labels = {"dataset": "spambase", "kernel": None, "method": "K", "n_components": 50}
    chosen = {'{"C":10,"transfers":"Ramp(slope=1.0)"}': 3, '{"C":0.1,"transfers":null}': 2}
    selected = [text for text, n in chosen.items() for _ in range(n)]
    splits = report.splits.iloc[:5].assign(**labels, split=range(5), selected=selected)
    splits = pd.concat([splits, splits.assign(metric="another")])
    text = text_of(write_report(replace(report, splits=splits), tmp_path))
    assert "spambase · K · n_components=50" in text
    assert "C=10, transfers=Ramp(slope=1.0) (3); C=0.1, transfers=null (2)" in text


def test_an_overview_lists_all_and_counts_what_is_no_profile(index, report):
    text = text_of(index)
    assert "gone : no <config>" in text
    assert "indicative, profile quick" in text
    assert f"Of {report.cells['verdict'].ne('').sum()} reported scores" in text
    tiles = re.findall(r'<span class="[\w-]+" title', index.read_text())
    assert len(tiles) == sum(
        [report.cells["verdict"].ne("").sum(), len(report.differences), len(report.claims)]
    )
    quick = text_of(index.with_name("index_.html"))
    assert "no verdict is drawn" in quick
    assert "✓" not in quick


def test_a_page_lies_beside_its_files(report, tmp_path):
    page = write_report(report, tmp_path / "one")
    names = {path.name for path in page.parent.iterdir()}
    assert names == {
        *("report.html", "cells.csv", "report.json", "splits.csv", "table.csv", "table.md"),
        *("table.tex", "figure.svg", "deviations_accuracy.svg"),
    }
    html = page.read_text()
    assert all(f'href="{name}"' in html for name in names - {"report.html"})
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot be written"):
        write_report(report, tmp_path / "file" / "page")


# ---- in a browser ----


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_pages_fit_the_screen_and_ask_for_nothing(index, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    reader, requests = Reader(context), []
    context.on("request", lambda request: requests.append(request.url))
    for path in index.parent.glob("*.html"):
        page = reader.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        fill = page.evaluate(
            "[...document.querySelectorAll('figure svg text')].map(t => getComputedStyle(t).fill)"
        )
        assert fill or path == index
        heads = page.locator("#table-1 tr.group th")  # in place of the first column
        shown = [heads.nth(i).is_visible() for i in range(heads.count())]
        assert shown == [width < 640] * len(shown)
        assert shown or path == index
        assert ("rgb(230, 232, 235)" in fill) == (scheme == "dark" and bool(fill))
    context.close()
    assert reader.complaints == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
    assert all(url.endswith((".html", ",")) for url in requests)


def column(page, i):
    return page.eval_on_selector_all(
        "#table-1 tbody tr",
        f"rows => rows.filter(r => r.offsetParent).map(r => r.cells[{i}].dataset.value "
        f"?? r.cells[{i}].textContent.trim())",
    )


def test_heads_sort_and_words_filter(index, reader):
    page = reader.open(index.with_name("held.html"))
    written = column(page, 3)
    head = page.locator("#table-1 thead th", has_text="accuracy")
    for order in ("ascending", "descending"):
        head.click()
        assert head.get_attribute("aria-sort") == order
        values = [float(v) for v in column(page, 3)]
        assert values == sorted(values, reverse=order == "descending")
    head.click()
    assert column(page, 3) == written
    page.locator("label[data-for=table-1] input").fill("COD_rna h0/1")
    assert column(page, 1) == ["H0/1"]


def test_without_scripts_all_is_there(index, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(index.with_name("held.html").as_uri())
    assert page.locator("#table-1 tbody tr:not(.group)").count() == 10
    assert page.locator("label").first.is_hidden()
    assert page.locator("figure svg").count() == 2
    context.close()
