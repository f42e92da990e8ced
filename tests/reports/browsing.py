"""A browser for the tests of pages."""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SWITCHES = ["--no-sandbox", "--no-first-run"]
SWITCHES += [f"--disable-{k}" for k in ("gpu", "quic", "background-networking", "sync")]
SWITCHES += ["--disable-component-update"]


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
    """Opens pages, and notes what they complain about."""

    def __init__(self, context):
        self.context, self.complaints = context, []

    def open(self, path: Path):
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path.as_uri())
        return page


@pytest.fixture
def reader(browser):
    """A reader at a desk, whose pages must not complain."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    reader = Reader(context)
    yield reader
    context.close()
    assert reader.complaints == []
