"""The examples of another paper and the template: valid, found by name, and as the guide says."""

import re
from pathlib import Path

import pandas as pd
import pytest

from kernlearn.config import find_config, load_config
from kernlearn.config.finding import shipped_configs, shipped_name
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan, run_plan
from kernlearn.reports import assemble
from kernlearn.reports.bibliography import cited
from kernlearn.reports.summary_reading import read_details, read_summary
from kernlearn.store import Store

ROOT = Path(__file__).parents[2]
FOLDER = shipped("configs") / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
GUIDE = (ROOT / "docs/encode_a_paper.md").read_text(encoding="utf-8")
MEASURED = ROOT / "results" / "examples"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("profile", ["full", "quick"])
def test_examples_are_valid_and_found_by_name(name, profile):
    loaded = load_config(f"examples/{name}", profile=profile)
    assert loaded.path == find_config(f"examples/{name}.yaml") == FOLDER / f"{name}.yaml"
    assert shipped_name(loaded.path) == f"examples/{name}"
    assert name not in shipped_configs()
    config = loaded.config
    assert config.reported_path == FOLDER / f"{name}.csv"
    reported = pd.read_csv(config.reported_path)
    # no number is there for nothing
    assert set(reported["method"]) == set(config.methods)
    assert set(reported["dataset"]) == set(config.datasets)
    assert set(reported["metric"]) == set(config.verdict)
    assert "reported numbers" in config.notes


def test_the_template_runs_and_is_judged(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        plan = make_plan(load_config("examples/template", settings=["splits=3"]))
        run_plan(plan, store)
        report = assemble(plan, store)
    assert [*report.summary["verdict"].replace("", None).dropna()]
    assert [claim.outcome for claim in report.claims] == ["holds"]


def test_the_example_cites_its_paper():
    (paper,) = cited(load_config("examples/sonar_networks").config.source)
    assert "Neural Networks 1" in paper.reference


def test_the_guide_shows_what_was_measured():
    """Each line of its table is the mean and the verdict of the committed summary."""
    rows = re.findall(r"^\| ([\w ]+) \| ([\d.]+) \| ([\d.]+) \| ([\w ]+) \|$", GUIDE, re.MULTILINE)
    summary = read_summary("sonar_networks", MEASURED)
    judged = summary[summary["reported_mean"].notna()]
    found = [
        (row["method"], f"{row['mean']:.3f}", f"{row['reported_mean']:.3f}", row["verdict"])
        for row in judged.to_dict("records")
    ]
    assert rows == found
    assert len(rows) == 7
    assert [verdict for *_, verdict in rows].count("match") == 6
    details = read_details("sonar_networks", MEASURED)
    assert details["profile"] == "full"
    for claim in details["claims"]:
        assert f"| {claim['says']} | {claim['outcome']} |" in GUIDE
    lines = len((FOLDER / "sonar_networks.yaml").read_text(encoding="utf-8").splitlines())
    assert f"{lines} lines of YAML" in GUIDE


def test_the_guide_quotes_the_example():
    text = (FOLDER / "sonar_networks.yaml").read_text(encoding="utf-8")
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL):
        for line in block.splitlines():
            assert line.split("#")[0].rstrip() in text, line
