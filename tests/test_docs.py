"""What ``docs/reproduction.md`` says is so: commands parse, links lead somewhere, numbers are the
measured ones.

``python -m tests.test_docs`` writes the numbers and the tables between marks anew.
"""

import doctest
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.config import find_config
from kernlearn.datasets import catalogue
from kernlearn.reports.check import read_details
from kernlearn.reports.conclusions import Chance
from tests.marked_numbers import MARKED, MEASURED, rewritten, wrong_numbers
from tests.test_readme import EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
ONE_PASS = PAGE.with_name("one_pass.md")
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


def rows(heads: list[str], lines: Iterable[list[str]], left: int) -> str:
    """A table in Markdown; all but the first columns are numbers."""
    rules = ["---"] * left + ["---:"] * (len(heads) - left)
    return "".join(f"| {' | '.join(line)} |\n" for line in [heads, rules, *lines])


def chances() -> str:
    """The counts of every table beside those after exchanges of its methods."""
    heads = [
        "table",
        "numbers",
        "match",
        "exchanged, mean",
        "95 %",
        "",
        "differences",
        "shown",
        "reversed",
        "exchanged, mean",
        "95 %",
        "",
    ]
    lines = []
    for name in EXPERIMENTS:
        details = read_details(name, MEASURED)
        by_metric: dict[str, dict[str, Any]] = {}
        for one in details.get("chances", []):
            by_metric.setdefault(one["metric"], {})[one["count"]] = Chance(**one)
        for metric, found in by_metric.items():
            outcomes = [c["outcome"] for c in details["conclusions"] if c["metric"] == metric]
            cells = [f"{name}, {metric.replace('_', ' ')}"]
            for count in ("match", "shown"):
                if (chance := found.get(count)) is None:
                    cells += [""] * (5 if count == "match" else 6)
                    continue
                cells += [str(chance.of), str(chance.found)]
                cells += [str(outcomes.count("reversed"))] if count == "shown" else []
                cells += [f"{chance.mean:.1f}", f"{chance.limit:g}"]
                cells += ["more" if chance.beaten else "not clearly more"]
            lines.append(cells)
    return rows(heads, lines, 1)


def forks() -> str:
    """Choices that agree with the reported numbers, with the counts of each alternative."""
    frame = pd.read_csv(MEASURED / "forks.csv")
    heads = ["table", "choice", "decided by", "", "numbers", *FORK_VERDICTS, "deviation"]
    lines, before = [], None
    for row in frame.to_dict("records"):
        fork = [row["experiment"], row["choice"], row["reason"]]
        counts = [str(row[name]) if row[name] else "·" for name in ("numbers", *FORK_VERDICTS)]
        shown = fork if fork != before else ["", "", ""]
        lines.append([*shown, row["branch"], *counts, f"{row['deviation']:.2f}"])
        before = fork
    return rows(heads, lines, 4)


FORK_VERDICTS = ("match", "match within spread", "better", "baseline better", "worse")
TABLES = {"chances": chances, "forks": forks}


def with_tables(text: str) -> str:
    """The text with every table between marks as the committed results have it."""
    for name, table in TABLES.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda m, t=table: m[1] + t() + m[2], text, flags=re.DOTALL)
    return text


def test_the_page_has_commands_and_numbers():
    assert len(COMMANDS) > 20
    assert len(MARKED.findall(TEXT)) == TEXT.count("<!--") - 2 * len(TABLES) > 50


def test_the_tables_are_those_of_the_committed_results():
    for name in TABLES:
        assert TEXT.count(f"<!-- {name} -->") == 1
    assert with_tables(TEXT) == TEXT


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


def test_numbers_of_one_pass_are_the_measured_ones():
    text = ONE_PASS.read_text(encoding="utf-8")
    assert len(MARKED.findall(text)) > 10
    assert wrong_numbers(text) == []


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
    PAGE.write_text(with_tables(rewritten(TEXT)), encoding="utf-8")
    ONE_PASS.write_text(rewritten(ONE_PASS.read_text(encoding="utf-8")), encoding="utf-8")
