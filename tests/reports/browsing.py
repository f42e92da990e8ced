"""A browser for the tests of pages, and a reader who takes note of what pages do."""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DRAWN = "[...document.querySelectorAll('.chart')].every(chart => chart.dataset.drawn)"


@pytest.fixture(scope="package")
def browser():
    """Headless Chromium; without it tests are skipped, unless it is required.

    Its event loop must not outlive the tests of this package.
    """
    reason = "a browser is needed: Chromium, and the package playwright"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unless_required(reason)
    if CHROMIUM is None:
        _unless_required(reason)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield launched
        launched.close()


def _unless_required(reason):
    if os.environ.get("KERNLEARN_REQUIRE_BROWSER"):
        pytest.fail(f"KERNLEARN_REQUIRE_BROWSER is set; {reason}")
    pytest.skip(reason)


class Reader:
    """Opens pages; takes note of what they ask for and complain about."""

    def __init__(self, context):
        self.context, self.requests, self.complaints = context, [], []
        self.opened = {}

    def open(self, path: Path):
        page = self.context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda request: self.complaints.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function(DRAWN)
        return page

    def look_at(self, path: Path):
        """Open a page once for all tests that only read it."""
        if path not in self.opened:
            self.opened[path] = self.open(path)
        return self.opened[path]


def _at_a_desk(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    reader = Reader(context)
    yield reader
    context.close()
    assert reader.complaints == []


@pytest.fixture
def reader(browser):
    """A reader at a desk, whose pages must not complain."""
    yield from _at_a_desk(browser)


@pytest.fixture(scope="package")
def shared_reader(browser):
    """One such reader for all tests that change nothing on a page."""
    yield from _at_a_desk(browser)


@pytest.fixture
def phone(browser):
    """A reader with a small screen."""
    context = browser.new_context(viewport={"width": 375, "height": 700}, has_touch=True)
    yield Reader(context)
    context.close()


def table_of(page, selector="#table-1"):
    """The rows that are shown of a table: texts of labels, then the data of each number."""
    return page.eval_on_selector(
        selector,
        """table => {
            const all = (row, tag, read) => [...row.querySelectorAll(tag)].map(read);
            const label = th => (th.firstChild?.textContent ?? "").trim();
            return [...table.tBodies[0].rows].filter(row => row.offsetParent).map(row => ({
                labels: all(row, "th, td.blank", label),
                cells: all(row, "td:not(.blank)", td => ({...td.dataset, text: td.innerText})),
            }));
        }""",
    )


def accuracies(page):
    """The accuracies shown of the first table, NaN where one was not run."""
    return [float(row["cells"][0].get("value", "nan")) for row in table_of(page)]
