from pathlib import Path

import numpy as np
import pytest

from tests.command import kernlearn, kernlearn_process
from tests.engine.conftest import small

__all__ = ["kernlearn", "kernlearn_process", "small"]


def write_table(path: Path, columns: dict) -> None:
    """Write columns with a header as CSV."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")


@pytest.fixture
def flowers(tmp_path: Path) -> str:
    """A file of a user: row numbers, two measurements, a word to predict."""
    length, width = np.random.default_rng(0).normal(size=(2, 60)).round(3)
    colour = np.where(length + width > 0, "red", "blue")
    columns = {"id": range(60), "length": length, "width": width, "colour": colour}
    write_table(tmp_path / "my flowers.csv", columns)
    return "my flowers.csv"
