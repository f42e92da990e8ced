"""The site for every reader: keyboard, screen reader, dark rooms, phones and paper."""

import re

import pytest

from tests.reports.browsing import DRAWN, accuracies


def test_the_keyboard_is_enough(site, reader):
    page = reader.open(site.page("held"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    at = "[document.activeElement.tagName, document.activeElement.innerText || '']"
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(at))
        if reached[-1] == ["BUTTON", "accuracy"]:
            break
    tags = {tag for tag, _ in reached}
    assert {"A", "BUTTON", "INPUT", "SELECT", "DIV", "SUMMARY"} <= tags
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    values = [v for v in accuracies(page) if v == v]
    assert values == sorted(values)
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.innerText") == "accuracy"
    assert page.locator("#table-1 [aria-sort=descending]").count() == 1


def test_everything_that_can_be_used_has_a_name(site, shared_reader):
    for path in site.pages:
        page = shared_reader.look_at(path)
        tree = page.locator("body").aria_snapshot()
        for role in ("link", "button", "searchbox", "combobox", "table", "img", "region"):
            nameless = re.findall(rf"^\s*- {role}:?(?: \[.*)?$", tree, re.MULTILINE)
            assert not nameless, f"{path.name}: {role}"
        assert 'table "' in tree
    tree = shared_reader.look_at(site.page("held")).locator("#figures").aria_snapshot()
    assert 'img "Line chart of accuracy' in tree


def test_a_verdict_is_said_and_signed_not_only_coloured(site, shared_reader):
    page = shared_reader.look_at(site.page("held"))
    worse = page.locator("#table-1 td.worse")
    assert worse.count() == 4
    for cell in worse.all():
        assert "▼" in cell.inner_text()
        assert "worse" in cell.text_content()
        assert "reported" in cell.get_attribute("title")
    claim = page.locator("#claims-table td.outcome")
    assert {text.strip() for text in claim.all_inner_texts()} <= {
        "✓ holds",
        "○ not refuted",
        "↗ leans for",
        "↘ leans against",
        "✗ fails",
        "– not measured",
    }
    assert page.locator("#conclusions").count() == 1


def test_dark_follows_the_system_until_the_reader_chooses(site, reader):
    page = reader.open(site.page("held"))

    def colors():
        return page.evaluate(
            """[getComputedStyle(document.body).backgroundColor,
                getComputedStyle(document.querySelector(".chart svg .mark-text text")).fill]"""
        )

    light = colors()
    page.emulate_media(color_scheme="dark")
    dark = colors()
    assert light[0] == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", dark[0]))) < 40
    assert min(map(int, re.findall(r"\d+", dark[1]))) > 200
    button = page.get_by_role("button", name="Light theme")
    button.click()
    assert colors() == light
    page.get_by_role("button", name="Dark theme").click()
    assert colors() == dark
    page.emulate_media(color_scheme="light")
    assert colors() == dark
    page.reload()
    page.wait_for_function(DRAWN)
    assert colors() == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out(site, reader, scheme):
    page = reader.open(site.page("held"))
    page.emulate_media(color_scheme=scheme)
    names = ("fg", "muted", "link", "good", "up", "down")
    found = page.evaluate(
        """names => names.concat("bg", "soft").map(name => {
            document.body.style.color = `var(--${name})`;
            return getComputedStyle(document.body).color.match(/\\d+/g).map(Number);
        })""",
        names,
    )
    *texts, bg, soft = map(_luminance, found)
    for name, text in zip(names, texts, strict=True):
        for ground in (bg, soft):
            high, low = max(text, ground), min(text, ground)
            assert (high + 0.05) / (low + 0.05) >= 4.5, name


def _luminance(rgb):
    parts = [c / 255 for c in rgb]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_on_a_phone_rows_are_cards_and_nothing_scrolls_sideways(site, phone):
    for path in site.pages:
        page = phone.open(path)
        width, height = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert width == 375, path.name
        assert height > 700
        wide = page.evaluate(
            """[...document.querySelectorAll(".scroll")]
                .filter((frame) => frame.scrollWidth > frame.clientWidth).length"""
        )
        assert wide == 0, path.name
    page = phone.open(site.page("held"))
    # reported number and verdict are in sight, with the head of their column
    for cell in page.locator("#table-1 td.worse").all():
        box, paper = cell.bounding_box(), cell.locator(".paper").bounding_box()
        assert 0 <= paper["x"] <= paper["x"] + paper["width"] <= 375
        assert box["x"] + box["width"] <= 375
        head = cell.evaluate("e => getComputedStyle(e, '::before').content")
        assert head == '"accuracy"'
    assert page.locator("#table-1 thead").is_hidden()
    for svg in page.locator(".chart svg").all():
        assert svg.bounding_box()["width"] <= 375


def test_a_table_that_is_wider_than_the_page_says_so(site, browser):
    context = browser.new_context(viewport={"width": 700, "height": 700})
    page = context.new_page()
    page.goto(site.page("held").as_uri())
    frame = page.locator("#table-1").locator("xpath=..")
    hint = frame.locator("xpath=preceding-sibling::p[1]")
    assert "scroll it sideways" in hint.text_content()
    is_wide = frame.evaluate("e => e.scrollWidth > e.clientWidth + 1")
    assert hint.is_visible() == is_wide
    page.evaluate("document.querySelector('#table-1').style.width = '2000px'")
    page.evaluate("document.querySelector('#table-1').parentElement.style.width = '600px'")
    hint.wait_for()
    context.close()


def test_heads_stay_in_sight_over_a_long_table(site, reader):
    page = reader.open(site.page("long"))
    top = page.evaluate(
        """() => {
            const frame = document.querySelector("#table-1").closest(".scroll");
            frame.scrollTop = 400;
            const head = frame.querySelector("thead").getBoundingClientRect().top;
            return [frame.scrollTop, head - frame.getBoundingClientRect().top];
        }"""
    )
    assert top[0] == 400
    assert abs(top[1]) <= 1


def test_paper_shows_all_of_the_tables_and_no_controls(site, reader):
    page = reader.open(site.page("long"))
    page.emulate_media(media="print", color_scheme="dark")
    for selector in (".controls", "button.theme", ".toc", "header nav", ".anchor"):
        assert page.locator(selector).first.is_hidden()
    frame = page.locator(".scroll.tall")
    assert frame.evaluate("e => e.scrollHeight - e.clientHeight") == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
    held = reader.open(site.page("held"))
    closed = "document.querySelectorAll('details:not([open])').length"
    assert held.evaluate(closed) == 3
    held.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert held.evaluate(closed) == 0
    held.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert held.evaluate(closed) == 3
