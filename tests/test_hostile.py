"""docs/hostile_input.md is current. ``python -m tests.test_hostile`` writes it anew."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import with_tables
from tests.conformance import estimators
from tests.hostile import TABLES, cell, table

FEW = ["features.MaclaurinSVM", "landmarks.RegLand", "onepass.OnePassRidge", "pairwise.OLP"]
PAGE = Path(__file__).parents[1] / "docs" / "hostile_input.md"


def listed(name: str) -> list[str]:
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1].splitlines()


@pytest.mark.parametrize("name", TABLES)
def test_all_estimators_are_listed(name):
    assert [line.split("|")[1].strip() for line in listed(name)[2:]] == [
        n for n, _ in estimators()
    ]


@pytest.mark.parametrize("title", FEW)
def test_some_outcomes(title):
    kind = dict(estimators())[title]
    for name, checks in TABLES.items():
        (line,) = [line for line in listed(name) if line.startswith(f"| {title} |")]
        cells = [text.strip() for text in line.split("|")[2:-1]]
        assert cells == [cell(kind, check) for check in checks.values()]


@pytest.mark.exhaustive
@pytest.mark.parametrize("title", [title for title, _ in estimators() if title not in FEW])
def test_other_outcomes(title):
    test_some_outcomes(title)


if __name__ == "__main__":
    written = {name: "\n".join([*table(name, list(estimators())), ""]) for name in TABLES}
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), written), "utf-8")
