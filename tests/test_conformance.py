"""docs/conformance.md is current. ``python -m tests.test_conformance`` writes it anew."""

from pathlib import Path

import pytest

from tests.conformance import CHECKS, FAILS, available, estimators, row, table

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
FEW = ["solvers.LinearSVM", "landmarks.KernelRegressor", "pairwise.OAM"]
INTRODUCTION = """# Conformance with scikit-learn

What works with each estimator, found by trying it with small data. All pass scikit-learn's
`check_estimator` as well, apart from its checks that weights are as good as repeated rows, for
those that draw landmarks or held-out points from the rows or stop at a tolerance: there these
are not the same rows, or not the same digits. An empty cell is for what is not meant: AdaBoost's
classifier needs sample weights, `set_output` a transformer. Transformers are followed by a
logistic regression. `make docs` writes this page.

"""


def listed() -> dict[str, dict[str, str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: dict(zip(CHECKS, rest, strict=True)) for name, *rest in cells[2:]}


def test_all_estimators_are_listed():
    assert list(listed()) == [name for name, _ in estimators()]


def test_nothing_fails():
    assert [name for name, cells in listed().items() if FAILS in cells.values()] == []


@pytest.mark.parametrize("name", FEW)
def test_some_rows(name):
    found = row(dict(estimators())[name])
    assert found == {check: listed()[name][check] for check in available()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name, _ in estimators() if name not in FEW])
def test_other_rows(name):
    test_some_rows(name)


if __name__ == "__main__":
    PAGE.write_text(INTRODUCTION + "\n".join(table()) + "\n", "utf-8")
