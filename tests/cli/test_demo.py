"""``make demo``: a table, a chart and a page per chapter, without downloads."""

import re
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.datasets import find_card
from kernlearn.datasets.resources import shipped

ROOT = Path(__file__).parents[2]
DEMO = sorted(path.stem for path in shipped("configs").glob("demo_*.yaml"))
#: Values that make the largest one smaller.
SMALLER = [
    "datasets.two_moons.n_samples=80",
    "datasets.rings.n_samples=80",
    "datasets.two_moons.noise=[0.1]",
    "datasets.rings.noise=[0.1]",
    "methods.VKRc.lam.select=[0.01,0.001]",
    "methods.VKRc.beta.select=[0.01]",
]


def test_make_runs_every_shipped_demo():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^DEMO := (.+)$", makefile, re.M)
    assert sorted(listed.split()) == DEMO


@pytest.mark.parametrize("name", DEMO)
def test_a_demo_is_small_and_downloads_nothing(name):
    config = load_config(name).config
    assert {find_card(card).source.publisher for card in config.published.values()} <= {
        "scikit-learn"
    }
    assert not any(entry.file for entry in config.datasets.values())
    assert config.table is not None
    assert len(config.figures) == 1
    assert 1 <= len(config.claims) <= 3


@pytest.mark.parametrize(
    ("names", "smaller"),
    [
        (["demo_regression", "demo_voted"], {"demo_voted": SMALLER}),
        pytest.param(DEMO, {}, marks=pytest.mark.exhaustive),
    ],
    ids=["two", "all"],
)
def test_the_demo_ends_in_a_site(kernlearn, tmp_path, names, smaller):
    store = "results/runs/demo.sqlite"
    said = ""
    for name in names:
        options = [word for value in smaller.get(name, []) for word in ("-o", value)]
        quick = ["--profile", "quick", "--splits", "1", *options]
        out = kernlearn("run", name, *quick, "--store", store)
        assert out.returncode == 0, out.stderr
        said += out.stdout + out.stderr
    # of a grid that is chosen from at the end nothing else is known at once
    assert re.search(r" VKRc · .*split 1: \d+ settings measured[;,]", said)
    for name in names:
        folder = tmp_path / "results/runs" / f"{name}-quick"
        assert (folder / "table.csv").is_file()
        assert (folder / "figure.svg").is_file()

    out = kernlearn("report", store, "--output", "results/site")
    assert out.returncode == 0, out.stderr
    shown = re.findall(
        r"^(\w+): profile quick, (?:\S+=\S+, )*splits=1, (\d+) of (\d+) trials$", out.stdout, re.M
    )
    assert sorted(name for name, *_ in shown) == names
    assert all(done == trials for _, done, trials in shown)
    assert out.stdout.endswith("Site: results/site/index.html\n")

    overview = (tmp_path / "results/site/index.html").read_text(encoding="utf-8")
    for name in names:
        assert f'href="{name}.html"' in overview
        page = (tmp_path / f"results/site/{name}.html").read_text(encoding="utf-8")
        assert "<h2>Figures" in page
        assert "<h2>Tables" in page
        assert "<h2>Claims" in page
        assert "datasets fetch" not in page
