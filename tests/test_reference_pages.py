"""The site's pages of commands, keys and names: each has all that there is, with a description."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.config.measured import METRICS, TASKS
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.registry import BUILT_IN
from kernlearn.datasets.card import Card

ROOT = Path(__file__).parents[1]


def reference_pages():
    path = ROOT / "docs" / "reference_pages.py"
    spec = importlib.util.spec_from_file_location("reference_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = reference_pages()
COMMANDS = {command.name: command for command in PAGES.commands()}
PAGE = PAGES.commands_page()
SECTIONS = {text.partition("\n")[0]: text for text in PAGE.split("\n## ")[1:]}
PARTS = [part for model in (ExperimentConfig, Card) for part in PAGES.parts(model)]


def keys(value, path=""):
    """The keys of a mapping from YAML, as the pages name them, without those in lists."""
    for key, inner in value.items():
        yield f"{path}{key}"
        if isinstance(inner, dict):
            yield from keys(inner, f"{path}{key}.")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_described(name):
    command = COMMANDS[name]
    assert len(command.help.split()) > 3
    assert [p.name for p in command.parameters if len((p.help or "").split()) < 2] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_that_help_shows_is_on_the_page(name):
    shown = CliRunner().invoke(app, [*name.split()[1:], "--help"], env={"COLUMNS": "200"}).output
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)) - {"--help"}
    on_page = set(re.findall(r"--[\w-]+", " ".join(re.findall(r"{option}.*", SECTIONS[name]))))
    assert options <= on_page
    for command in re.findall(r"^  ([a-z]+)  ", shown.partition("Commands:")[2], re.MULTILINE):
        assert any(known.startswith(f"{name} {command}") for known in COMMANDS), command


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_every_key_is_described(part):
    assert [key.name for key in part.keys if len(key.description) < 4] == []
    assert len(part.about.split()) > 2


def test_keys_of_the_shipped_configs_are_on_the_page():
    known = {key.name for part in PAGES.parts(ExperimentConfig) for key in part.keys}
    top = {name for name in known if "." not in name}
    plain = ("protocol", "table", "execution", "best")  # whose keys are not names of the user's
    for path in (ROOT / "configs").glob("*.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert content.keys() <= top
        assert {k for k in keys(content) if k.partition(".")[0] in plain} <= known


def test_keys_of_the_shipped_cards_are_on_the_page():
    parts = PAGES.parts(Card)
    known = {key.name for part in parts for key in part.keys}
    for path in (ROOT / "datasets").glob("*.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert content.keys() <= known
        for form in content["forms"]:
            assert {f"forms[].{key}" for key in form} <= known
            place = f"forms[].format({form['format']['kind']})"
            assert {f"{place}.{key}" for key in form["format"]} <= known


@pytest.mark.parametrize("page", ["config", "card"])
def test_each_key_is_once_on_its_page(page):
    model = {"config": ExperimentConfig, "card": Card}[page]
    written = re.findall(r"^```{confval} (.*)$", PAGES.PAGES[page](), re.MULTILINE)
    assert written == [key.name for part in PAGES.parts(model) for key in part.keys]
    assert len(written) == len({*written})


def test_every_metric_and_task_is_described():
    page = PAGES.metrics_page()
    assert [name for name, one in {**METRICS, **TASKS}.items() if len(one.summary) < 10] == []
    tasks, metrics = page.split("## Metrics")
    for part, names in ((tasks, TASKS), (metrics, BUILT_IN.metrics)):
        assert [name for name in names if part.count(f"\n| `{name}` |") != 1] == []


def test_every_name_of_configs_is_on_the_page():
    page = PAGES.names_page()
    listed = CliRunner().invoke(app, ["list"]).output
    for section in ("Generators", "Kernels", "Estimators", "Data sets", "Streams"):
        names = re.search(rf"^{section}\n((?:  .*\n)+)", listed, re.MULTILINE)[1]
        for name in re.findall(r"^  (\S+)", names, re.MULTILINE):
            assert f"\n| `{name}` |" in page, name


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("As in :class:`Delimited`.", "As in `Delimited`."),
        ("before $KERNLEARN_DATA", r"before \$KERNLEARN_DATA"),
        ("``a*b`` and c*d", r"``a*b`` and c\*d"),
        ("a <name> [x](y)", r"a \<name> \[x\](y)"),
    ],
)
def test_text_is_escaped_but_in_code(text, written):
    assert PAGES.escaped(text) == written
