"""`docs/objects.md` shows the committed numbers. ``python -m benchmarks.objects`` writes it."""

import re
from pathlib import Path

import pytest

from benchmarks.objects import EXPERIMENTS, PAGE, numbers, sentences, table, with_tables
from kernlearn.datasets import generators


def test_the_tables_are_those_of_the_committed_numbers():
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text


def test_pictures_and_examples_exist():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#]+)\)", text)
    assert all((PAGE.parent / path).is_file() for path in named)
    assert {Path(path).stem for path in named} >= {f"compared_{name}" for name in EXPERIMENTS}


def test_all_generators_of_objects_are_listed():
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (\w+)", text, re.MULTILINE)
    made = {(name, one.points) for name, one in generators().items() if one.points != "vectors"}
    assert set(listed) == made


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_method_has_every_data_set(name):
    found = numbers(name)
    counts = found.groupby(["method", "n_landmarks"], dropna=False)["accuracy"].count()
    assert set(counts) == {found["dataset"].nunique()}
    assert len(table(name).splitlines()) == 2 + len(counts)
    assert (found.loc[found["method"].isin(EXPERIMENTS[name]), "comparisons"] == 0).all()
    assert sentences(name).count("the best is") == found["dataset"].nunique()
