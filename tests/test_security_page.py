"""Each line of the page on what may be opened from strangers names a test, which exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
LINES = [" ".join(item.split()) for item in re.findall(r"^- (.*(?:\n  .*)*)", PAGE, re.MULTILINE)]


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_page_has_lines():
    assert len(LINES) >= 15


@pytest.mark.parametrize("line", LINES)
def test_each_line_names_a_test_that_exists(line):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", line)
    assert named
    for file, function in named:
        assert function in functions(file), f"{file} has no {function}"
