"""What is wrong with a built site is named: links that lead nowhere, and what needs a network."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "docs" / "check_built.py"


@pytest.fixture
def faults(tmp_path):
    spec = importlib.util.spec_from_file_location("check_built", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def of_page(body):
        (tmp_path / "inner").mkdir(exist_ok=True)
        (tmp_path / "inner" / "index.html").write_text('<p id="here"></p>')
        (tmp_path / "a b.txt").write_text("text")
        (tmp_path / "page.html").write_text(f'<h1 id="top"></h1>{body}')
        return module.faults(tmp_path)

    return of_page


@pytest.mark.parametrize(
    "body",
    [
        '<a href="inner/index.html#here">there</a><a href="inner/">there</a>',
        '<a href="#top">up</a><a href="a%20b.txt">a file</a>',
        '<a href="https://example.org/gone">outside</a>',
        '<img src="data:image/png;base64,AAAA">',
    ],
)
def test_links_that_lead_somewhere_are_no_fault(faults, body):
    assert faults(body) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<img src="gone.png">', "gone.png leads nowhere"),
        ('<a href="#gone">x</a>', "#gone leads to no place of the page"),
        ('<a href="inner/#gone">x</a>', "inner/#gone leads to no place of the page"),
        (
            '<script src="https://example.org/a.js"></script>',
            "loads https://example.org/a.js, which needs a network",
        ),
        ('<link href="//example.org/a.css">', "loads //example.org/a.css, which needs a network"),
    ],
)
def test_each_fault_is_named_with_its_page(faults, body, said):
    assert faults(body) == [f"page.html: {said}"]
