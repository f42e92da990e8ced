"""The documentation site: every page in a table of contents, a page for every public name."""

import ast
import doctest
import importlib.util
import inspect
import re
import shlex
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import kernlearn
from kernlearn.reports.summarised import summarised_reports

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages with examples; those of reproduction.md run with its numbers.
RUN = [path.stem for path in sorted(DOCS.glob("*.md")) if ">>> " in path.read_text("utf-8")]
RUN.remove("reproduction")


def stage_module():
    spec = importlib.util.spec_from_file_location("stage", DOCS / "stage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STAGE = stage_module()
NAMES = [f"{package}.{name}" for package in STAGE.PACKAGES for name in STAGE.public_names(package)]
COMMANDS = {command.name: command for command in STAGE.reference_pages.commands()}
VALUES = [n for n in NAMES if not callable(STAGE.public(*n.rsplit(".", 1)))]


def toctree(text):
    """The pages that a page in reStructuredText lists."""
    blocks = re.findall(r"^\.\. toctree::\n(?:   :.*\n)*\n((?:   \S+\n)+)", text, re.MULTILINE)
    return [name for block in blocks for name in block.split()]


def test_every_page_is_in_one_table_of_contents(tmp_path):
    sections = [path.stem for path in DOCS.glob("*.rst")]
    listed = [n for path in DOCS.glob("*.rst") for n in toctree(path.read_text(encoding="utf-8"))]
    assert sorted(listed) == sorted({*listed})
    made = {"reference/index", "auto_examples/index", "experiments"}
    assert set(listed) == {*STAGE.pages(), *made, *sections} - {"index"}
    STAGE.write_reference(tmp_path)
    listed = toctree((tmp_path / "reference" / "index.rst").read_text(encoding="utf-8"))
    assert listed == ["../api/index", *STAGE.reference_pages.PAGES]


def test_every_package_with_public_names_has_pages():
    packages = {
        path.parent.name
        for path in (ROOT / "kernlearn").glob("*/__init__.py")
        if getattr(import_module(f"kernlearn.{path.parent.name}"), "__all__", None)
    }
    assert packages - {"cli"} == set(STAGE.PACKAGES) - {"metrics", "plugins"}
    assert set(kernlearn.__all__) - {"__version__"} <= set(STAGE.PACKAGES)


def test_the_site_of_the_experiments_is_beside_the_pages(tmp_path, monkeypatch):
    known = {path.stem for path in (ROOT / "results/measured").glob("*.json")}
    few = ["table6", "vkr_table2"]
    monkeypatch.setattr(STAGE, "summarised_reports", partial(summarised_reports, names=few))
    STAGE.write_experiments(tmp_path)
    page = (tmp_path / "experiments.rst").read_text()
    links = re.findall(r"<([\w/]+\.html)>", page)
    assert links == ["experiments/index.html", *(f"experiments/{name}.html" for name in few)]
    assert all((tmp_path / "extra" / link).is_file() for link in links)
    assert "1 holds" in page or "holds 1" in page
    assert set(few) < known


def test_every_public_name_has_a_page(tmp_path):
    STAGE.write_api(tmp_path)
    written = {f"{path.parent.name}.{path.stem}" for path in tmp_path.glob("api/*/*.rst")}
    assert written == set(NAMES)
    for package in STAGE.PACKAGES:
        listed = (tmp_path / "api" / f"{package}.rst").read_text(encoding="utf-8")
        assert all(f"   {package}/{name}\n" in listed for name in STAGE.public_names(package))


def docstring(package, name):
    """What is written of a name; of a value, the text that follows its assignment."""
    module = import_module(f"kernlearn.{package}")
    value = getattr(module, name)
    if callable(value):
        return inspect.getdoc(value) or ""
    for path in (ROOT / "kernlearn" / package.partition(".")[0]).glob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for line, following in pairwise(body):
            targets = getattr(line, "targets", [getattr(line, "target", None)])
            if [t.id for t in targets if isinstance(t, ast.Name)] == [name]:
                return inspect.cleandoc(following.value.value)
    return ""


def test_every_public_name_has_an_example():
    assert [name for name in NAMES if ">>>" not in docstring(*name.rsplit(".", 1))] == []


@pytest.mark.parametrize("name", VALUES)
def test_the_example_of_a_value_runs(name):
    # pytest finds those of functions and classes
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    runner.run(parser.get_doctest(docstring(*name.rsplit(".", 1)), {}, name, None, None))
    assert runner.tries > 1
    assert runner.failures == 0


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs(page):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failures, count = doctest.testfile(
        str(DOCS / f"{page}.md"), module_relative=False, encoding="utf-8", optionflags=options
    )
    assert count > 2
    assert failures == 0


@pytest.mark.parametrize("page", sorted(STAGE.pages()), ids="{}.md".format)
def test_commands_of_a_page_exist_with_their_options(page):
    text = STAGE.pages()[page].read_text(encoding="utf-8")
    typed = re.findall(r"^\$ (kernlearn .*)$", text, re.MULTILINE)
    for line in typed:
        words = shlex.split(line, comments=True)
        known = [name for name in COMMANDS if words[: len(name.split())] == name.split()]
        command = COMMANDS[max(known, key=len)]
        options = {one for p in command.parameters for one in (*p.opts, *p.secondary_opts)}
        used = {word.partition("=")[0] for word in words if word.startswith("-")}
        assert used <= options | {"--help"}, line
        assert command.name != "kernlearn" or used, line


@pytest.mark.parametrize("page", sorted(STAGE.pages()), ids="{}.md".format)
def test_links_lead_to_pages_files_or_are_text(page, tmp_path):
    source = STAGE.pages()[page]
    text = STAGE.relinked(source.read_text(encoding="utf-8"), source, tmp_path)
    links = [match for _, _, match in STAGE.LINK.findall(text) if ":" not in match]
    for link in links:
        path = link.partition("#")[0]
        if path.endswith(".md"):
            assert path.removesuffix(".md") in STAGE.pages(), link
        elif path and not path.startswith("auto_examples"):
            assert (tmp_path / path).is_file(), link
