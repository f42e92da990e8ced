"""docs/conformance.md is current. ``python -m tests.test_conformance`` writes it anew."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import with_tables
from tests.conformance import (
    CHECKS,
    FAILS,
    available,
    estimators,
    row,
    table,
    table_of_features,
)

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
FEW = ["linear.LinearSVM", "landmarks.KernelRegressor", "pairwise.OAM"]


def tables() -> dict[str, list[str]]:
    """Return the lines of the tables on the page, by the names of their marks."""
    found = re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    return {name: text.splitlines() for name, text in found}


def listed() -> dict[str, dict[str, str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables()["tools"]]
    return {name: dict(zip(CHECKS, rest, strict=True)) for name, *rest in cells[2:]}


def test_all_estimators_are_listed():
    assert list(listed()) == [name for name, _ in estimators()]


def test_nothing_fails():
    assert [name for name, cells in listed().items() if FAILS in cells.values()] == []


def test_features_are_those_of_the_classes():
    assert tables()["features"] == table_of_features(), "make pages"


@pytest.mark.parametrize("name", FEW)
def test_some_rows(name):
    found = row(dict(estimators())[name])
    assert found == {check: listed()[name][check] for check in available()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name, _ in estimators() if name not in FEW])
def test_other_rows(name):
    test_some_rows(name)


if __name__ == "__main__":
    written = {"features": table_of_features(), "tools": table()}
    written = {name: "\n".join([*lines, ""]) for name, lines in written.items()}
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), written), "utf-8")
