"""Places of a page and its filters have addresses; charts take the width of the page."""

import pytest

from tests.reports.browsing import DRAWN, table_of

CELL = "spambase.polynomial.h0-1.n-components-50.accuracy"
ROW = "row.spambase.h0-1.50"


def test_filters_are_part_of_the_address(site, reader):
    page = reader.open(site.page("held"))
    controls = page.locator(".controls[data-for=table-1]")
    everything = table_of(page)
    controls.get_by_label("Filter rows").fill("rna H0/1")
    controls.get_by_label("Verdict").select_option("worse")
    assert page.url.endswith("held.html?table-1=rna+H0%2F1&table-1.kind=worse")
    shown = table_of(page)
    assert 0 < len(shown) < len(everything)
    page.reload()
    assert table_of(page) == shown
    assert controls.get_by_label("Filter rows").input_value() == "rna H0/1"
    controls.get_by_label("Filter rows").fill("")
    controls.get_by_label("Verdict").select_option("all")
    assert page.url.endswith("held.html")
    # a verdict that the table no longer has filters nothing
    page.goto(f"{site.page('held').as_uri()}?table-1.kind=gone")
    assert table_of(page) == everything
    page.wait_for_function(DRAWN)


def test_a_cell_shows_its_address_to_mouse_and_keyboard(site, reader):
    page = reader.open(site.page("held"))
    cell = page.locator(f"[id='{CELL}']")
    opacity = "link => getComputedStyle(link, '::before').opacity"
    row_link = page.locator(f"[id='{ROW}'] th .anchor")
    assert row_link.evaluate(opacity) == "0"
    cell.hover()
    assert cell.locator(".anchor").evaluate(opacity) == "1"
    cell.locator(".anchor").click()
    assert page.url.endswith(f"#{CELL}")
    assert page.locator(":target").get_attribute("data-value") == cell.get_attribute("data-value")
    row_link.focus()
    assert row_link.evaluate(opacity) == "1"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('href')") == f"#{CELL}"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.getAttribute('href')") == f"#{ROW}"
    page.keyboard.press("Enter")
    assert page.url.endswith(f"#{ROW}")


def test_what_is_folded_or_filtered_is_shown_when_it_is_led_to(site, reader):
    page = reader.open(site.index)
    claim = page.locator("#claims-table th").first
    assert claim.is_hidden()
    page.locator(".toc a", has_text="Claims").click()
    claim.wait_for()  # the browser tells the page of the new place after the click
    page.goto(f"{site.page('held').as_uri()}?table-1=cod_rna#{ROW}")
    page.locator(f"[id='{ROW}']").wait_for()
    assert page.url.endswith(f"held.html#{ROW}")
    page.wait_for_function(DRAWN)


@pytest.mark.parametrize("width", [900, 1440])
def test_charts_take_the_width_of_the_page(site, browser, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(site.page("held").as_uri())
    page.wait_for_function(DRAWN)
    for chart in page.locator(".chart[data-kind=figure]").all():
        room, drawn = chart.bounding_box()["width"], chart.locator("svg").bounding_box()["width"]
        assert 0.9 * room <= drawn <= room
    context.close()


FORMS = ["stacked", "tight", "as-cards"]
# the width that a table needs in its first forms
NEEDED = """forms => {
    const table = document.querySelector('#table-1'), frame = table.parentElement;
    frame.style.width = '10px';
    const widths = [frame.scrollWidth];
    for (const form of forms) {
        table.classList.add(form);
        widths.push(frame.scrollWidth);
    }
    table.classList.remove(...forms);
    frame.style.width = '';
    return widths;
}"""


def test_a_table_takes_the_first_form_that_fits(site, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(site.page("held").as_uri())
    table = page.locator("#table-1")
    frame = table.locator("xpath=..")
    needed = page.evaluate(NEEDED, FORMS[:2])
    assert needed == sorted(needed, reverse=True)
    assert len({*needed}) == 3
    for i, width in enumerate([*(w + 2 for w in needed), needed[-1] - 20]):
        frame.evaluate("(e, width) => { e.style.width = `${width}px`; }", width)
        page.wait_for_function(
            "([forms, n]) => forms.filter(form => "
            "document.querySelector('#table-1').classList.contains(form)).length === n",
            arg=[FORMS, i],
        )
        assert frame.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        classes = table.get_attribute("class").split()
        assert [form for form in FORMS if form in classes] == FORMS[:i]
    frame.evaluate("e => { e.style.width = ''; }")
    page.wait_for_function("!document.querySelector('#table-1').classList.contains('stacked')")
    context.close()
