"""Formulas of the site as MathML; what has no form there is an error, not a gap."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml")
pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def written():
    path = Path(__file__).parents[1] / "docs" / "mathml.py"
    spec = importlib.util.spec_from_file_location("mathml", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.mathml


def test_a_formula_is_within_its_text_or_on_its_own(written):
    assert 'display="inline"' in written("a_n \\ge 0", "inline")
    assert 'display="block"' in written("a_n \\ge 0", "block")


def test_a_name_is_apart_from_what_it_is_applied_to(written):
    assert "<mi>log</mi><mspace" in written("\\log p", "inline")
    assert "mspace" not in written("\\log(p)", "inline")
    assert "<msub><mi>log</mi><mn>2</mn></msub>" in written("\\log_2 p", "inline")


def test_lines_are_a_table(written):
    assert "<mtable" in written("a &= b \\\\ c &= d", "block")


@pytest.mark.parametrize("latex", [r"\Big\lceil x", r"\nothing x"])
def test_what_has_no_form_is_an_error(written, latex):
    with pytest.raises(ValueError, match="has no form in MathML"):
        written(latex, "inline")
