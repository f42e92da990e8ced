"""Open records: the same bytes for the same store, and read by others."""

import json
import re
import sys
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan
from kernlearn.exceptions import ReportError
from kernlearn.lazy import MissingExtraError
from kernlearn.reports import assemble
from kernlearn.reports.badge import badge, badge_words
from kernlearn.reports.crate import Attribution, config_address, write_crate
from kernlearn.reports.summarised import summarised
from kernlearn.store import Store
from kernlearn.version import __version__
from tests.reports.sites import numbers, plant

METADATA = "ro-crate-metadata.json"
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = """\
title: On a file
source: nobody (2026), table 1
datasets: {mine: {file: mine.csv, target: class}, moons: {generator: two_moons, n_samples: 60}}
methods: {L: {estimator: LinearSVM}, D: {estimator: DummyClassifier}}
protocol: {splits: 2}
metrics: [accuracy]
reported: mine_reported.csv
verdict: {accuracy: {absolute: 0.2}}
claims:
  - says: L is better
    check: {metric: accuracy, better: [L], than: [D], over: all}
"""


@pytest.fixture(scope="module")
def crate(site, tmp_path_factory):
    """The record of the site's experiment that was run, as a folder."""
    folder = tmp_path_factory.mktemp("crate") / "held"
    with Store(site.store, read_only=True) as store:
        whose = Attribution(license="CC0-1.0", author="A. Person", affiliation="A. University")
        write_crate(site.reports["held"].plan, store, folder, whose)
    return folder


def test_the_same_store_gives_the_same_bytes(site, crate, tmp_path):
    paths = [tmp_path / "a.zip", tmp_path / "b.zip"]
    with Store(site.store, read_only=True) as store:
        written = [write_crate(site.reports["held"].plan, store, path) for path in paths]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert written[0] == written[1]
    assert written[0].size == paths[0].stat().st_size
    with zipfile.ZipFile(paths[0]) as archive:
        names = archive.namelist()
    assert names == sorted(p.relative_to(crate).as_posix() for p in crate.rglob("*.*"))
    assert written[0].files == len(names)


def test_another_program_reads_numbers_verdicts_and_fingerprints(tmp_path):
    """With rocrate, json and pandas alone."""
    from rocrate.rocrate import ROCrate

    (tmp_path / "mine.csv").write_text("x,class\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
    (tmp_path / "mine_reported.csv").write_text(
        "dataset,method,metric,mean\nmine,L,accuracy,0.5\nmoons,L,accuracy,0.1\n"
    )
    (tmp_path / "own.yaml").write_text(OWN)
    with Store(tmp_path / "s.sqlite") as store:
        plan = plant(store, tmp_path / "own.yaml")
        report = assemble(plan, store)
        write_crate(
            plan, store, tmp_path / "record", Attribution(license="https://example.org/licence")
        )
    expected = {(one.labels["dataset"], one.spec.dataset.fingerprint) for one in plan.trials}

    record = ROCrate(tmp_path / "record")
    workflow = record.mainEntity
    assert workflow.id == "own.yaml"
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} == {*workflow.type}
    assert workflow.get("url") is None
    assert record.license.id == "https://example.org/licence"
    (action,) = record.get_by_type("CreateAction")
    assert action["instrument"] is workflow
    assert action["startTime"] <= action["endTime"]
    data = {one["name"]: one.get("identifier") for one in action["object"] if one.id[:1] == "#"}
    assert data == {name: None if mark is None else f"sha256:{mark}" for name, mark in expected}
    assert re.fullmatch("sha256:[0-9a-f]{64}", data["mine"])
    assert not [path for path in (tmp_path / "record").rglob("*") if path.name == "mine.csv"]
    for entity in record.data_entities:
        content = (tmp_path / "record" / entity.id).read_bytes()
        assert sha256(content).hexdigest() == entity["sha256"]
        assert len(content) == int(entity["contentSize"])

    frame = pd.read_csv(tmp_path / "record/numbers.csv")
    means = frame[frame["metric"] == "accuracy"].groupby(["dataset", "method"])["value"].mean()
    for (dataset, method, _, metric), (mean, _, n) in numbers(
        tmp_path / "s.sqlite", "own"
    ).items():
        if metric == "accuracy":
            assert means[dataset, method] == pytest.approx(mean, rel=1e-12)
            assert n == 2
    verdicts = pd.read_csv(tmp_path / "record/verdicts.csv")
    judged = report.summary[report.summary["reported_mean"].notna()]
    assert [*verdicts["verdict"]] == [*judged["verdict"]]
    assert len(verdicts) == 2
    (claim,) = json.loads((tmp_path / "record/claims.json").read_text())
    assert claim["outcome"] == report.claims[0].outcome
    (environment,) = json.loads((tmp_path / "record/environment.json").read_text())
    assert environment["environment"]["python"] == "3"


def test_config_reported_numbers_and_summary_are_as_kernlearn_finds_them(site, crate):
    again = summarised(crate / "held.yaml", crate / "summary")
    assert again.claims == site.reports["held"].claims
    assert [*again.summary["verdict"]] == [*site.reports["held"].summary["verdict"]]


def test_what_a_crate_states(crate):
    graph = {one["@id"]: one for one in json.loads((crate / METADATA).read_text())["@graph"]}
    root, home = graph["./"], PROJECT["urls"]["Homepage"]
    profiles = {one["@id"] for one in root["conformsTo"]}
    assert profiles == {
        "https://w3id.org/ro/wfrun/process/0.5",
        "https://w3id.org/ro/wfrun/workflow/0.5",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    }
    assert root["license"] == "CC0-1.0"
    assert graph["#author"]["name"] == "A. Person"
    assert graph["#author"]["affiliation"] == root["publisher"] == {"@id": "#affiliation"}
    assert graph["#affiliation"]["@type"] == "Organization"
    assert graph["#affiliation"]["name"] == "A. University"
    assert graph["#run-1"]["agent"] == {"@id": "#author"}
    assert {one["@id"] for one in root["mentions"]} == {home, "#run-1"}
    assert graph[home]["@type"] == "SoftwareApplication"
    assert {one["@id"] for one in root["hasPart"]} == {
        name for name, one in graph.items() if "contentSize" in one
    }
    # whoever ran it, and where, is not in it
    text = " ".join(path.read_text() for path in crate.rglob("*.*"))
    assert str(crate.parent) not in text


@pytest.mark.parametrize("name", ["table3_1.yaml", "examples/sonar_networks.yaml"])
def test_a_config_that_comes_with_kernlearn_has_an_address(name):
    home = PROJECT["urls"]["Homepage"]
    assert (
        config_address(shipped("configs") / name) == f"{home}/blob/v{__version__}/configs/{name}"
    )


def test_the_badge_is_a_picture_with_a_title(site):
    held, long = site.reports["held"], site.reports["long"]
    outcomes = [claim.outcome for claim in held.claims]
    assert badge_words(held)[:2] == ("claims", f"{outcomes.count('holds')} of 2 hold")
    assert badge_words(long)[:2] == ("long", "measured")
    picture = ElementTree.fromstring(badge(held))
    assert picture.attrib["role"] == "img"
    (title,) = picture.findall("{*}title")
    assert title.text == ": ".join(badge_words(held)[:2])
    assert picture.attrib["aria-labelledby"] == title.attrib["id"]


def test_a_folder_with_files_is_not_written_to(site, crate, tmp_path):
    (tmp_path / "there.txt").write_text("mine")
    with Store(site.store, read_only=True) as store:
        for place in (tmp_path, tmp_path / "there.txt"):
            with pytest.raises(ReportError, match="name a new folder"):
                write_crate(site.reports["held"].plan, store, place)
    assert (tmp_path / "there.txt").read_text() == "mine"


def test_without_rocrate_the_extra_is_named(site, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "rocrate", None)
    with (
        Store(site.store, read_only=True) as store,
        pytest.raises(MissingExtraError, match=r"an RO-Crate needs rocrate.*kernlearn\[crate\]"),
    ):
        write_crate(site.reports["held"].plan, store, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_plan_without_trials_has_a_record(site, tmp_path):
    """Of a store that has none of an experiment's trials nothing is made up."""
    plan = make_plan(load_config(site.configs[1]))
    with Store(tmp_path / "empty.sqlite") as store:
        write_crate(plan, store, tmp_path / "empty")
    assert (tmp_path / "empty/numbers.csv").read_text().count("\n") == 1
    root = json.loads((tmp_path / "empty" / METADATA).read_text())["@graph"][0]
    assert root["datePublished"] == "1970-01-01T00:00:00+00:00"
