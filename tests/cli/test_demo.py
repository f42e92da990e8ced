"""``make demo``: a table, a chart and a page per chapter, without downloads."""

from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.datasets import find_card

ROOT = Path(__file__).parents[2]
DEMO = sorted(path.stem for path in (ROOT / "configs" / "demos").glob("demo_*.yaml"))


@pytest.mark.parametrize("name", DEMO)
def test_a_demo_downloads_nothing(name):
    config = load_config(name).config
    publishers = {find_card(card).source.publisher for card in config.published.values()}
    assert publishers <= {"scikit-learn"}
    assert not any(entry.file for entry in config.datasets.values())


@pytest.mark.parametrize(
    "names",
    [["demo_regression", "demo_ordinal"], pytest.param(DEMO, marks=pytest.mark.exhaustive)],
    ids=["two", "all"],
)
def test_the_demo_ends_in_a_site(kernlearn, tmp_path, names):
    store = ("--store", "results/runs/demo.sqlite")
    kernlearn("run", *names, "--profile", "quick", "-o", "splits=1", *store)
    kernlearn("report", *store, "--profile", "quick", "-o", "splits=1")
    for name in names:
        page = (tmp_path / f"results/site/{name}.html").read_text(encoding="utf-8")
        assert "Claims" in page
