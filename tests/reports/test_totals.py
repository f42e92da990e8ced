"""How many reported numbers come back, counted by hand and over the committed summaries."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.config.model import Tolerance
from kernlearn.engine import make_plan, run_plan
from kernlearn.reports import assemble, write_summary
from kernlearn.reports.check import read_details, read_summary
from kernlearn.reports.claims import Decision
from kernlearn.reports.totals import Measured, total
from kernlearn.store import Store
from tests.shipped import can_be_read

RESULTS = Path(__file__).parents[2] / "results"
COUNTS = [
    "match",
    "match within spread",
    "better",
    "baseline better",
    "worse",
    "not comparable",
    "not run",
    "not judged",
]


def frame(*rows):
    names = ["metric", "mean", "std", "n_splits", "reported_mean", "reported_std"]
    return pd.DataFrame(rows, columns=names).assign(dataset="moons", method="K")


@pytest.fixture
def experiment(plan):
    rules = {"accuracy": Tolerance(absolute=0.01, level=0.05, reported_splits=20)}
    loaded = plan.experiment
    return loaded.model_copy(
        update={"config": loaded.config.model_copy(update={"verdict": rules})}
    )


def variant(experiment, name):
    config = experiment.config.model_copy(update={"variant_of": experiment.name})
    return experiment.model_copy(update={"name": name, "config": config})


SUMMARY = frame(
    ("accuracy", 0.90, 0.05, 5, 0.905, 0.01),
    ("accuracy", 0.92, 0.05, 5, 0.905, 0.01),
    ("accuracy", 0.80, 0.01, 5, 0.905, 0.01),
    ("accuracy", np.nan, np.nan, np.nan, 0.905, 0.01),
    ("accuracy", 0.70, 0.01, 5, np.nan, np.nan),  # reported nowhere
    ("n_support", 10.0, 1.0, 5, 11.0, 1.0),  # under no rule
    ("fit_seconds", 1.0, 0.1, 5, 18.6, np.nan),
    ("fit_seconds", np.nan, np.nan, np.nan, 18.6, np.nan),
    ("speedup", 5.0, np.nan, 5, 9.0, np.nan),
)


def test_verdicts_are_counted_by_kind(experiment):
    numbers = total([Measured(experiment, SUMMARY)]).numbers.set_index("kind")
    assert list(numbers.index) == ["scores", "times"]
    assert dict(numbers.loc["scores", ["reported", *COUNTS]]) == dict(
        zip(["reported", *COUNTS], [5, 1, 1, 0, 0, 1, 0, 1, 1], strict=True)
    )
    assert list(numbers.loc["times", ["reported", *COUNTS]]) == [3, 0, 0, 0, 0, 0, 0, 1, 2]


def test_a_variant_is_shown_and_not_counted_twice(experiment):
    decisions = [
        Decision("one", "", "holds", ""),
        Decision("two", "", "fails", ""),
        Decision("three", "", "not refuted", ""),
    ]
    once = total([Measured(experiment, SUMMARY, decisions)])
    other = Measured(variant(experiment, "other"), SUMMARY, decisions[:1])
    both = total([Measured(experiment, SUMMARY, decisions), other])
    assert set(both.numbers["experiment"]) == {"small", "other"}
    assert list(both.claims["variant_of"]) == ["", "small"]
    pd.testing.assert_frame_equal(both.overall(), once.overall())
    assert (
        both.overall_claims()
        == once.overall_claims()
        == {
            "holds": 1,
            "not refuted": 1,
            "leans for": 0,
            "leans against": 0,
            "fails": 1,
            "not measured": 0,
        }
    )
    assert both.in_words() == [
        "Of 5 reported scores 4 were measured: 1 match, 1 match within spread, 1 worse, "
        "1 not judged.",
        "Outcomes of 3 claims: holds 1, not refuted 1, fails 1.",
    ]


def test_of_nothing_there_is_nothing(experiment):
    empty = total([Measured(experiment, SUMMARY.iloc[4:5])])
    assert empty.numbers.empty
    assert empty.in_words() == []
    assert empty.overall().empty
    assert set(empty.overall_claims().values()) == {0}


def test_a_sentence_that_two_experiments_test_counts_once(experiment):
    sentences = [
        ("one", "fails", "holds"),
        ("two", "holds", "leans for"),
        ("three", "holds", "holds"),
    ]
    here, there = (
        [Decision(says, "5.5", outcome, "") for says, *both in sentences for outcome in [both[i]]]
        for i in (0, 1)
    )
    other = experiment.model_copy(update={"name": "other"})
    both = total([Measured(experiment, SUMMARY, here), Measured(other, SUMMARY, there)])
    counts = {name: n for name, n in both.overall_claims().items() if n}
    assert counts == {"fails": 1, "leans for": 1, "holds": 1}


def reported_numbers(name):
    with (RESULTS / "reported" / f"{name}.csv").open() as file:
        return [row["metric"] for row in csv.DictReader(file) if row["mean"]]


def test_the_papers_316_numbers_are_all_accounted_for():
    """Those of tables 3.1, 4.1, 4.2, 5.1 and voted-kernel table 1; its table 2 and times apart."""
    names = sorted(p.stem for p in (RESULTS / "measured").glob("*.json"))
    experiments = [load_config(name) for name in names if can_be_read(name)]
    found = total(Measured(e, read_summary(e.name, RESULTS / "measured")) for e in experiments)
    overall = found.overall().set_index("kind")
    assert dict(overall["reported"]) == {"scores": 316, "times": 119, "sizes": 22}
    assert (overall[COUNTS].sum(axis="columns") == overall["reported"]).all()
    assert overall.loc["scores", "not judged"] == 0
    by_table = found.numbers[found.numbers["variant_of"] == ""].groupby("experiment")["reported"]
    for name, count in by_table.sum().items():
        assert count == len(reported_numbers(name)), name
    accuracies = [m for m in reported_numbers("table3_1") if m == "accuracy"]
    others = ("table4_1", "table4_2", "table5_1a", "table5_1b", "vkr_table1")
    assert len(accuracies) + sum(len(reported_numbers(n)) for n in others) == 316


CLAIM = """\
verdict: {accuracy: {absolute: 0.01}}
claims:
  - {says: the exact kernel is the best, check: {metric: accuracy, better: [K], than: [RF]}}
"""


@pytest.fixture
def committed(small, tmp_path):
    small.write_text(small.read_text() + CLAIM)
    experiment = load_config(small, profile="quick")
    plan = make_plan(experiment)
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        report = assemble(plan, store)
    write_summary(report, tmp_path / "measured")
    return experiment, report, tmp_path / "measured"


def test_committed_and_fresh_give_the_same(committed):
    experiment, report, folder = committed
    details = read_details("small", folder)
    decisions = [Decision(**claim) for claim in details["claims"]]
    kept = total([Measured(experiment, read_summary("small", folder), decisions)])
    fresh = total([Measured(experiment, report.summary, report.claims)])
    pd.testing.assert_frame_equal(kept.claims, fresh.claims)
    pd.testing.assert_frame_equal(kept.numbers, fresh.numbers)
    assert kept.claims["claims"].sum() == 1
    (rule,) = details["rules"]
    assert rule.startswith("accuracy: match if the two means differ by at most 0.01")
