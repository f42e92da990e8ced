"""The documentation site: every public package has pages, every command a description."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

import kernlearn
from kernlearn.cli.app import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import check_built  # noqa: E402

PACKAGES = re.findall(r"^   kernlearn\.(\w+)$", (DOCS / "api/index.rst").read_text("utf-8"), re.M)
pytestmark = pytest.mark.docs


def test_every_public_package_has_pages():
    packages = {path.parent.name for path in (ROOT / "kernlearn").glob("*/__init__.py")}
    public = {p for p in packages if getattr(import_module(f"kernlearn.{p}"), "__all__", None)}
    assert {*public, "metrics", "plugins", *kernlearn.__all__} - {"cli", "__version__"} == {
        *PACKAGES
    }


def test_every_command_and_option_is_described():
    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="kernlearn")
    lines = re.findall(r"^\* `.*$", text, re.MULTILINE)
    assert len(lines) > 50
    assert [line for line in lines if len(line.partition("`: ")[2].split()) < 2] == []


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ('<a href="inner/#here">a</a><a href="#top">b</a><a href="https://a.org">c</a>', []),
        ('<a href="gone.html">x</a>', ["gone.html leads nowhere"]),
        ('<a href="inner/#gone">x</a>', ["inner/#gone leads to no place of the page"]),
        ('<script src="//a.org/a.js"></script>', ["loads //a.org/a.js, which needs a network"]),
    ],
)
def test_faults_of_a_built_site(body, faults, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "index.html").write_text('<p id="here"></p>')
    (tmp_path / "page.html").write_text(f'<h1 id="top"></h1>{body}')
    check_built._read.cache_clear()
    assert check_built.faults(tmp_path) == [f"page.html: {fault}" for fault in faults]
