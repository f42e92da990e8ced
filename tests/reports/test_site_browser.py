"""The site in Chromium, opened from disk: nothing from elsewhere, charts, numbers, tables."""

import re
import shutil

import pytest

from tests.reports.browsing import accuracies, table_of
from tests.reports.sites import HEADS, numbers


def test_no_request_leaves_the_site_and_nothing_complains(site, shared_reader):
    for path in site.pages:
        shared_reader.look_at(path)
    asked = {url.rpartition("/")[2] for url in shared_reader.requests}
    assert {"index.html", "held.html", "site.css", "site.js", "vega.js"} <= asked
    folder = site.index.parent.as_uri()
    assert all(url.startswith((folder, "data:,")) for url in shared_reader.requests)


def test_every_chart_is_drawn_with_a_mark_for_every_number(site, shared_reader):
    page = shared_reader.look_at(site.page("held"))
    cells = numbers(site.store, "held")
    summary = site.reports["held"].summary
    with_x = [key for key in cells if key[2] is not None]
    both = summary["mean"].notna() & (summary["reported_mean"] > 0)
    expected = {
        "figure1": sum(key[-1] == "accuracy" for key in with_x),
        "figure2": sum(key[-1] in ("fit_seconds", "predict_seconds") for key in with_x),
        "deviations_accuracy": int((both & (summary["metric"] == "accuracy")).sum()),
    }
    assert expected == {"figure1": 8, "figure2": 16, "deviations_accuracy": 4}
    for stem, count in expected.items():
        chart = page.locator(f"[data-spec=spec-{stem}]")
        assert chart.locator("svg").count() == 1
        marks = chart.locator(".mark-symbol.role-mark path")
        assert marks.count() == count
        box = chart.locator("svg").bounding_box()
        assert box["width"] > 250
        assert box["height"] > 40
        assert not re.search(r"NaN|Infinity", chart.inner_html())


def test_pointing_at_a_mark_shows_its_number(site, reader):
    page = reader.open(site.page("held"))
    mark = page.locator("[data-spec=spec-deviations_accuracy] .mark-symbol.role-mark path").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    summary = site.reports["held"].summary
    means = summary.loc[summary["metric"] == "accuracy", "mean"].dropna()
    shown = tooltip.inner_text()
    assert any(f"{mean:.5g}" in shown for mean in means)
    assert "reported_mean" in shown


@pytest.mark.parametrize("name", ["held", "long"])
def test_every_number_shown_is_the_stores(site, shared_reader, name):
    page = shared_reader.look_at(site.page(name))
    expected = numbers(site.store, name)
    seen = set()
    for row in table_of(page):
        if name == "held":
            dataset, method, size = row["labels"]
            places = [(dataset, method.removesuffix(" (baseline)"), size, m) for m in HEADS]
        else:
            (size,) = row["labels"]
            places = [
                ("moons", method, size, metric)
                for method in ("RF", "H0/1")
                for metric in ("accuracy", "fit_seconds")
            ]
        for (dataset, method, size, metric), cell in zip(places, row["cells"], strict=True):
            key = (dataset, method, int(size) if size else None, metric)
            if key not in expected:
                assert "value" not in cell
                continue
            seen.add(key)
            # times below a second are in milliseconds, as the head says
            in_ms = name == "long" and metric == "fit_seconds"
            assert cell["head"].endswith(" ms") == in_ms
            mean, std, _ = expected[key]
            assert float(cell["value"]) == pytest.approx(mean, rel=1e-12)
            assert float(cell.get("std", "nan")) == pytest.approx(std, rel=1e-9, nan_ok=True)
            shown = re.match(r"[\d.e-]+", cell["text"])[0]
            assert float(shown) / (1000 if in_ms else 1) == pytest.approx(mean, rel=6e-3, abs=6e-4)
    assert len(seen) == {"held": 32, "long": 200}[name]


def test_a_head_sorts_the_rows(site, reader):
    page = reader.open(site.page("held"))
    written = table_of(page)
    head = page.locator("#table-1 th", has_text="accuracy")
    for order in ("ascending", "descending"):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == order
        values = [v for v in accuracies(page) if v == v]
        assert len(values) == 12
        assert values == sorted(values, reverse=order == "descending")
        # what was not run comes last
        assert [v == v for v in accuracies(page)].index(False) == 12
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    assert table_of(page) == written
    page.locator("#table-1 th", has_text="dataset").get_by_role("button").click()
    names = [row["labels"][0] for row in table_of(page)]
    assert names == sorted(names)
    assert page.locator("#table-1 [aria-sort]").count() == 1


def test_numbers_sort_as_numbers(site, reader):
    page = reader.open(site.page("long"))
    head = page.locator("#table-1 thead th").first.get_by_role("button")
    head.click()
    head.click()
    assert [int(row["labels"][0]) for row in table_of(page)] == list(range(59, 9, -1))


def test_typing_and_choosing_filters_the_rows(site, reader):
    page = reader.open(site.page("held"))
    controls = page.locator(".controls[data-for=table-1]")
    everything = table_of(page)
    controls.get_by_label("Filter rows").fill("COD_rna h0/1")
    assert [row["labels"] for row in table_of(page)] == [
        ["cod_rna", "H0/1", "20"],
        ["cod_rna", "H0/1", "50"],
    ]
    assert controls.get_by_role("status").inner_text() == f"2 of {len(everything)} rows"
    controls.get_by_label("Filter rows").fill("")
    controls.get_by_label("Verdict").select_option("not run")
    assert [row["labels"][1:] for row in table_of(page)] == [["RF", "500"]] * 2
    controls.get_by_label("Verdict").select_option("all")
    assert table_of(page) == everything
    assert controls.get_by_role("status").inner_text() == ""


def test_a_page_saved_alone_shows_its_tables(site, browser, tmp_path):
    alone = tmp_path / "held.html"
    shutil.copy(site.page("held"), alone)
    context = browser.new_context()
    page = context.new_page()
    page.goto(alone.as_uri())
    rows = table_of(page)
    assert len(rows) == 14
    assert sum("value" in cell for row in rows for cell in row["cells"]) == 32
    context.close()


def test_without_scripts_nothing_is_missing_but_what_moves(site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.page("held").as_uri())
    assert page.locator(".controls").first.is_hidden()
    assert page.locator("button.theme").is_hidden()
    assert page.locator("#table-1 tbody tr").count() == 14
    picture = page.locator(".chart img").first
    picture.scroll_into_view_if_needed()
    assert picture.bounding_box()["width"] > 300
    context.close()
