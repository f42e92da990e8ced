"""Terms of the glossary, methods in words, and papers as pages cite them."""

import re

import pytest

from kernlearn.config import load_config
from kernlearn.reports.bibliography import PAPERS, cited
from kernlearn.reports.glossary import glossary, methods, names_in, terms


def test_the_glossary_is_read_from_the_docs():
    (verdict,) = terms(["Verdict"])
    assert verdict.names == ("verdict",)
    assert "match within spread" in verdict.meaning
    # marks of Markdown are left out
    assert not any({"*", "`"} & {*term.meaning} for term in glossary())
    assert len(glossary()) > 50
    names = [name for term in glossary() for name in term.names]
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("label", "titles"),
    [
        ("FTUNE+D-S", ["FTUNE, FTUNE-S, FTUNE-M", "DSELECT, +D"]),
        ("H0/1, tuned solver", ["H0/1"]),
        ("BBS", ["BBS"]),
        ("mine", []),
    ],
)
def test_the_parts_of_a_methods_name_are_explained(label, titles):
    assert [term.title for term in terms(names_in(label))] == titles


def test_methods_in_words():
    found = {m.name: m for m in methods(load_config("table3_1").config)}
    assert found["H0/1"].words == "RF and H0/1: Maclaurin features, LIBLINEAR"
    assert found["H0/1"].parameters == (
        "h01 True; n_components 100 (50 on spambase, 50 on cod_rna, 200 on ijcnn1); "
        "C chosen from 0.001, 0.01, 0.1, 1, 10, 100"
    )
    assert found["majority class"].baseline
    assert not found["H0/1"].baseline


def test_papers_are_found_in_the_source_of_a_config():
    for name, key in (("table3_1", "kar2013topics"), ("vkr_table1", "cortes2015voted")):
        (paper,) = cited(load_config(name).config.source)
        assert key in paper.bibtex
        # what is cited is what is referred to
        names = re.findall("[A-Z][a-z]+", paper.citation)
        assert all(name in paper.reference and name in paper.bibtex for name in names)
    assert cited("Own measurements") == []
    for paper in PAPERS:
        assert paper.bibtex.count("{") == paper.bibtex.count("}")
