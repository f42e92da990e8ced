"""The examples of docs/gallery run, are short up to the prediction, and predict well."""

import ast
import json
import re
import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))
METHODS = sorted(GALLERY.glob("methods/plot_*.py"))
# of each the accuracy that is reached, about, and the comparisons
EXPECTED = {
    "function": (0.8, 20),
    "matrix": (0.85, 30),
    "records": (0.75, 20),
    "sets": (0.75, 29),
    "series": (0.8, 20),
    "vectors": (0.85, 15),
}


def kind(path):
    return path.stem.removeprefix("plot_")


def test_every_kind_has_an_example():
    assert [kind(path) for path in EXAMPLES] == sorted(EXPECTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=kind)
def test_example(path, capsys):
    runpy.run_path(str(path))
    first = capsys.readouterr().out
    found = re.search(r"^accuracy (\d\.\d{3}), (\d+) comparisons$", first, re.MULTILINE)
    assert found is not None, first
    accuracy, comparisons = EXPECTED[kind(path)]
    assert float(found[1]) >= accuracy
    assert int(found[2]) == comparisons


@pytest.mark.parametrize("path", EXAMPLES, ids=kind)
def test_form(path):
    """A title in the docstring, as sphinx-gallery takes it, and few lines to the prediction."""
    text = path.read_text(encoding="utf-8")
    title, line, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert set(line) == {"="}
    assert len(line) >= len(title)
    first = ast.parse(text.partition("# %%")[0]).body[1:]
    steps = [one for one in first if not isinstance(one, (ast.Import, ast.ImportFrom))]
    assert len(steps) <= 10


@pytest.mark.parametrize("path", METHODS, ids=kind)
def test_a_picture_of_a_method(path):
    """Its last value is a chart of numbers, as the site shows it."""
    code = ast.parse(path.read_text(encoding="utf-8"))
    last = code.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict = {"__name__": path.stem}
    exec(compile(code, str(path), "exec"), names)
    chart = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
    drawn = json.loads(chart.to_json())
    assert all(len(rows) >= 5 for rows in drawn["datasets"].values())
    assert all(None not in row.values() for rows in drawn["datasets"].values() for row in rows)
