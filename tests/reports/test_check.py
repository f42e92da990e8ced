"""A run against its baseline: what moved, what is missing, and what is excused."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.exceptions import SummaryError
from kernlearn.reports import assemble, write_summary
from kernlearn.reports.check import FAILURES, check_plan, compare_cells
from kernlearn.reports.labels import KEY
from kernlearn.store import Row, Store


def fill(store, plan, metrics):
    """Put made-up numbers of every trial into a store."""
    date, info = "2026-01-01T00:00:00+00:00", {"n_train": 100, "n_test": 50}
    for t in plan.trials:
        about = t.key, plan.experiment.name, t.labels, {"split": t.split}, date
        store.put(Row(*about, metrics=metrics(t), info=info))


def seconds(fit):
    return lambda trial: {"accuracy": 0.9 + 0.02 * trial.split, "fit_seconds": fit}


@pytest.fixture
def baseline(plan, tmp_path):
    with Store(tmp_path / "first") as store:
        fill(store, plan, seconds(2.0))
        write_summary(assemble(plan, store), tmp_path / "baseline")
    return tmp_path / "baseline"


def test_the_same_numbers_pass(plan, baseline, tmp_path):
    with Store(tmp_path / "second") as store:
        fill(store, plan, seconds(1e6))  # times are not compared
        frame, texts = check_plan(plan, store, baseline)
    assert set(frame["outcome"]) == {"same"}
    assert len(frame) == 2 * 4  # data sets, methods with their parameters; no times
    assert texts == []


def rows(*numbers, metric="accuracy"):
    """Cells with a row for each mean, deviation and number of splits."""
    frame = pd.DataFrame(numbers, columns=["mean", "std", "n_splits"])
    frame = frame.replace("", np.nan).astype(float).assign(drift=0.0)
    labels = "e", [f"d{i}" for i in range(len(frame))], None, "m", '{"C":1}', metric
    return frame.assign(**dict(zip(KEY, labels, strict=True)))


def test_what_was_measured_between_processors_may_come_back(plan):
    before = rows(("0.9", "0", 2), ("0.8", "0", 2)).assign(drift=[0.002, 0.0])
    now = rows(("0.902", "0", 2), ("0.8001", "0", 2))
    frame = compare_cells(now, before, plan.experiment.config)
    assert list(frame["outcome"]) == ["within drift", "moved"]
    assert frame["difference"].tolist() == pytest.approx([0.002, 0.0001])
    assert frame["allowed"].tolist() == pytest.approx([0.002, 0], abs=1e-5)


@pytest.mark.parametrize(
    ("metric", "before", "now", "outcome"),
    [
        ("accuracy", ("0.9", "0.1", 2), ("0.9", "0.1", 2), "same"),
        ("accuracy", ("0.9", "0.1", 2), ("0.900001", "0.1", 2), "within drift"),  # a last digit
        ("accuracy", ("0.9", "0.1", 2), ("0.90001", "0.1", 2), "moved"),
        ("mse", ("-1", "0", 2), ("-1.00001", "0", 2), "moved"),
        ("n_samples", ("500", "0", 2), ("501", "0", 2), "moved"),
        # another spread is noticed where the mean is the same
        ("accuracy", ("0.9", "0.1", 2), ("0.9", "0.101", 2), "other spread"),
        ("mse", ("inf", "0", 2), ("inf", "0", 2), "same"),
        ("mse", ("1", "0", 2), ("", "", ""), "missing"),
        ("mse", ("", "", ""), ("1", "0", 2), "new"),
    ],
)
def test_how_far_a_number_may_drift(plan, metric, before, now, outcome):
    sides = (rows(now, metric=metric), rows(before, metric=metric))
    config = plan.experiment.config
    assert list(compare_cells(*sides, config)["outcome"]) == [outcome]
    strict = compare_cells(*sides, config, strict=True)["outcome"]
    assert list(strict) == ["moved" if outcome == "within drift" else outcome]


def test_what_is_not_to_be_had_is_left_out(plan):
    before, now = rows(("0.9", "0.1", 2), ("0.9", "0.1", 2)), rows(("0.9", "0.1", 2))
    frame = compare_cells(now, before, plan.experiment.config, {"d1"})
    assert list(frame["outcome"]) == ["same", "left out"]
    # what is measured all the same is compared
    frame = compare_cells(rows(("0.1", "0.1", 2)), before, plan.experiment.config, {"d0"})
    assert list(frame["outcome"]) == ["moved", "missing"]


def test_a_baseline_of_another_profile_is_none(plan, baseline, small, tmp_path):
    quick = make_plan(load_config(small, profile="quick"))
    with Store(tmp_path / "second") as store:
        fill(store, quick, seconds(2.0))
        with pytest.raises(SummaryError, match=r"--profile full"):
            check_plan(quick, store, baseline)


CLAIMED = """\
title: Claimed
datasets: {moons: {generator: two_moons, n_samples: 150}}
methods:
  K: {estimator: KernelSVM, kernel: rbf}
  BBS: {estimator: BBSClassifier, n_landmarks: 5}
protocol: {splits: 5}
metrics: [accuracy]
reported: claimed.csv
verdict: {accuracy: {absolute: 0.02, level: 0.05, reported_splits: 5}}
claims:
  - says: K is better
    check: {metric: accuracy, better: [K], than: [BBS], over: all}
answer:
  - says: It holds.
    rests_on: {claims: {1: holds}}
"""
REPORTED = """\
dataset,method,metric,mean,std
moons,K,accuracy,0.905,0.01
moons,BBS,accuracy,0.805,0.01
"""


@pytest.fixture
def claimed(tmp_path):
    """Return what a check of a config with a claim finds, after changes."""
    path, folder = tmp_path / "claimed.yaml", tmp_path / "committed"
    path.write_text(CLAIMED)
    (tmp_path / "claimed.csv").write_text(REPORTED)

    def accuracies(gap, shift):
        def of(trial):
            behind = (gap - 0.002 * (trial.split % 2)) * (trial.labels["method"] == "BBS")
            return {"accuracy": 0.9 - behind + shift + 0.01 * (trial.split - 2)}

        return of

    plan = make_plan(load_config(path))
    with Store(tmp_path / "first") as store:
        fill(store, plan, accuracies(0.1, 0.0))
        write_summary(assemble(plan, store), folder)

    def check(gap=0.1, shift=0.0):
        with Store(tmp_path / f"{gap} {shift}") as store:
            plan = make_plan(load_config(path))
            fill(store, plan, accuracies(gap, shift))
            frame, texts = check_plan(plan, store, folder)
            failed = frame["outcome"][frame["outcome"].isin(FAILURES)]
            return failed.value_counts().to_dict(), texts

    return check


def test_a_tenth_of_the_deviation_is_noticed(claimed):
    assert claimed() == ({}, [])
    assert claimed(shift=0.1 * 0.0158)[0] == {"moved": 2}


def test_other_outcomes_are_named(claimed):
    _, texts = claimed(gap=-0.05)
    assert "answer: 'It holds.': claim 1 fails, not holds" in texts
    assert "verdict: moons BBS accuracy: better, not match" in texts
    assert "differences: moons accuracy K BBS: reversed, not shown" in texts
    assert any(text.startswith("claims: K is better ") for text in texts)


def test_other_reported_numbers_are_named(claimed, tmp_path):
    (tmp_path / "claimed.csv").write_text(REPORTED.replace("0.805", "0.795"))
    _, texts = claimed()
    assert any("claimed.csv has other numbers than when this was written" in t for t in texts)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"estimator KernelSVM": 0}, r".*estimator KernelSVM has version.*measures it again"),
        ({"estimator RenamedSVM": 1}, r".*there is no estimator RenamedSVM"),
        (None, r"(?!.*has version).*measures it again"),
    ],
)
def test_an_estimator_of_another_version_is_named(claimed, tmp_path, changed, says):
    path = tmp_path / "committed/claimed.json"
    details = json.loads(path.read_text())
    versions = details.pop("versions")
    assert versions["estimator KernelSVM"] > 0
    path.write_text(json.dumps(details | ({"versions": versions | changed} if changed else {})))
    (text,) = claimed()[1]
    assert re.match(says, text, re.DOTALL)


def test_a_lost_file_is_named(claimed, tmp_path):
    (tmp_path / "committed/claimed.json").unlink()
    with pytest.raises(SummaryError, match=r"though claimed.csv.gz is there"):
        claimed()
