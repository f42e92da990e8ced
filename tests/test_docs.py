"""What ``docs/reproduction.md`` says is so: commands parse, links lead somewhere, numbers are the
measured ones.

``python -m tests.test_docs`` writes the numbers anew.
"""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.datasets import catalogue
from kernlearn.experiments import find_config
from tests.marked_numbers import MARKED, rewritten, wrong_numbers

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
COMMANDS += re.findall(r"`(kernlearn [^`\n]+)`", TEXT)
ON_CONFIGS = ("run", "plan", "report")
ON_DATA = ("goodness", "rademacher", "regret", "datasets verify", "datasets info")


def arguments(command: str) -> tuple[str, list[str], list[str]]:
    """The command's name, its arguments before the first option, and the rest."""
    _, *words = shlex.split(command)
    name = " ".join(words[: 2 if words[0] == "datasets" else 1])
    rest = words[len(name.split()) :]
    first = next((i for i, word in enumerate(rest) if word.startswith("-")), len(rest))
    return name, rest[:first], rest[first:]


def test_the_page_has_commands_and_numbers():
    assert len(COMMANDS) > 20
    assert len(MARKED.findall(TEXT)) == TEXT.count("<!--") > 50


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one(command):
    """It has such options, and what it names comes with kernlearn."""
    name, given, _ = arguments(command)
    result = CliRunner().invoke(app, [*shlex.split(command)[1:], "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output
    for argument in given:
        if name in ON_CONFIGS:
            assert find_config(argument).is_file()
        elif name in ON_DATA and not argument.endswith(".csv"):
            assert argument in catalogue()


@pytest.mark.data
@pytest.mark.parametrize("command", [c for c in COMMANDS if arguments(c)[0] == "run"])
def test_a_run_has_trials(command, tmp_path):
    """Its settings are valid, and every choice that it makes has trials."""
    _, configs, options = arguments(command)
    at = [i for i, option in enumerate(options) if option == "--only"]
    choices = [options[i : i + 2] for i in at] or [[]]
    rest = [word for i, word in enumerate(options) if i not in at and i - 1 not in at]
    rest += ["--available", "--store", str(tmp_path / "store.sqlite")]
    for only in choices:
        result = CliRunner().invoke(app, ["plan", *configs, *rest, *only])
        assert result.exit_code == 0, result.output


def test_numbers_are_the_measured_ones():
    assert wrong_numbers(TEXT) == []


def test_the_examples_run():
    failures, count = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert count > 3
    assert failures == 0


def test_every_link_leads_somewhere():
    links = [t for t in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in t]
    assert links
    heads = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    for target in links:
        path, _, anchor = target.partition("#")
        assert not path or (PAGE.parent / path).exists(), target
        assert not anchor or anchor in anchors, target


if __name__ == "__main__":
    PAGE.write_text(rewritten(TEXT), encoding="utf-8")
