"""Differences between methods that a table shows, and what exchanged methods would score."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.model import ExperimentConfig
from kernlearn.reports.differences import CHANCES, beats_chance, can_tell, compare_with_paper
from kernlearn.reports.verdicts import BASELINE_BETTER, BETTER, MATCH, NOT_COMPARABLE, verdicts_of

LEVELS = {"A": 0.80, "B": 0.82, "C": 0.84}
DATASETS = [f"d{i}" for i in range(8)]
N_SPLITS = 5
RULE = {"absolute": 0.05, "level": 0.05, "reported_splits": N_SPLITS}


def config(methods=LEVELS, metric="accuracy", rule=RULE, **keys):
    content = {
        "title": "t",
        "datasets": {name: {"name": "iris"} for name in DATASETS},
        "methods": {name: {"estimator": "LogisticRegression"} for name in methods},
        "metrics": [metric],
        "verdict": {metric: rule},
    }
    return ExperimentConfig.model_validate({**content, **keys})


def table(reported, *, measured=LEVELS, noise=0.004, reported_std=0.004):
    """Runs and summary of eight data sets; ``reported`` are the levels that the paper prints."""
    rng, runs, cells = np.random.default_rng(0), [], []
    for dataset in DATASETS:
        base = rng.normal(0, 0.05)
        for method, level in measured.items():
            labels = {"dataset": dataset, "kernel": None, "method": method, "metric": "accuracy"}
            values = base + level + rng.normal(0, noise, N_SPLITS)
            runs += [labels | {"split": s, "value": v} for s, v in enumerate(values, 1)]
            numbers = {"mean": values.mean(), "std": values.std(ddof=1), "n_splits": N_SPLITS}
            theirs = {"reported_mean": base + reported[method], "reported_std": reported_std}
            cells.append(labels | numbers | theirs)
    return pd.DataFrame(runs).assign(ratio=0.0, drift=0.0), pd.DataFrame(cells).assign(drift=0.0)


def judge(*arguments):
    """Return differences and chances as rows."""
    differences, chances = compare_with_paper(*arguments)
    chances = chances.assign(beaten=beats_chance(chances), tells=can_tell(chances))
    chances = chances.rename(columns={"count": "what"})
    return [list(frame.itertuples()) for frame in (differences, chances)]


def of_methods(chances):
    return [chance for chance in chances if chance.exchanged == "methods"]


def outcomes(differences):
    return [c.outcome for c in differences]


def test_differences_that_come_back_are_shown():
    differences, chances = judge(*table(LEVELS), config())
    assert len(differences) == 8 * 3
    assert outcomes(differences) == ["shown"] * 24
    assert {(c.ahead, c.behind) for c in differences} == {("B", "A"), ("C", "A"), ("C", "B")}
    match, shown = of_methods(chances)
    assert (match.what, match.found, match.of) == ("match", 24, 24)
    # all levels are within the tolerance, whichever method they belong to
    assert (match.mean, match.p_value) == (24, 1)
    assert not match.beaten
    # the true order is one of six, which is no evidence
    assert (shown.what, shown.found, shown.of) == ("shown", 24, 24)
    assert (shown.n_orders, shown.p_value) == (6, 1 / 6)
    assert not shown.tells
    assert not shown.beaten


def test_a_table_with_exchanged_methods_has_its_differences_reversed_though_its_levels_match():
    exchanged = {"A": LEVELS["C"], "B": LEVELS["B"], "C": LEVELS["A"]}
    runs, summary = table(exchanged)
    assert verdicts_of(summary, config()) == [MATCH] * 24
    differences, chances = judge(runs, summary, config())
    assert outcomes(differences) == ["reversed"] * 24
    assert [(c.what, c.found) for c in of_methods(chances)] == [("match", 24), ("shown", 0)]


@pytest.mark.parametrize(
    ("ratio", "drift", "outcome"),
    [(0.0, 0.0, "shown"), (3 / 7, 0.0, "not shown"), (0.0, 0.01, "not shown")],
)
def test_overlapping_splits_and_other_processors_show_less(ratio, drift, outcome):
    runs, summary = table({"A": 0.80, "B": 0.87, "C": 0.94})
    runs["ratio"], runs["drift"] = ratio, drift
    noise = np.array([-1, 1, -1, 1, 0]) * 0.02
    # p = 0.013 for independent splits
    for method, level in (("A", 0), ("B", noise + 0.035)):
        runs.loc[(runs["method"] == method) & (runs["dataset"] == "d0"), "value"] = level
    (found,) = [c for c in judge(runs, summary, config())[0] if c.cell == "d0" and c.ahead == "B"]
    assert found.outcome == outcome


def test_the_measured_deviation_takes_the_place_of_one_that_is_not_reported():
    for noise, fewest, most in ((0.004, 24, 24), (0.2, 0, 4)):
        differences, _ = judge(*table(LEVELS, reported_std=np.nan, noise=noise), config())
        assert fewest <= len(differences) <= most


def test_what_the_measured_interval_could_not_show_does_not_count():
    assert judge(*table(LEVELS, noise=0.2), config())[0] == []


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ({"A": 0.80, "B": 0.8115, "C": 0.84}, "shown"),  # more than half
        ({"A": 0.80, "B": 0.808, "C": 0.84}, "smaller"),  # less than half
        ({"A": 0.82, "B": 0.80, "C": 0.84}, "reversed"),
        ({"A": 0.80, "B": 0.80, "C": 0.84}, "not shown"),
    ],
)
def test_sign_size_and_significance_decide(measured, outcome):
    runs, summary = table(LEVELS, measured=measured, noise=0.0004)
    pairs = [c for c in judge(runs, summary, config())[0] if c.behind == "A"]
    assert {c.outcome for c in pairs if c.ahead == "B"} == {outcome}


def test_methods_that_were_not_measured_are_counted_apart():
    runs, summary = table(LEVELS)
    runs = runs[runs["method"] != "C"]
    summary.loc[summary["method"] == "C", ["mean", "std", "n_splits"]] = np.nan
    differences, chances = judge(runs, summary, config())
    found = outcomes(differences)
    assert (found.count("shown"), found.count("not measured")) == (8, 16)
    assert chances == []
    # optional data on which nothing was measured
    entries = {name: {"name": "iris", "optional": name == "d7"} for name in DATASETS}
    gone = summary["dataset"] == "d7"
    summary.loc[gone, ["mean", "std", "n_splits"]] = np.nan
    some = config(datasets=entries)
    differences, _ = judge(runs[runs["dataset"] != "d7"], summary, some)
    assert {c.outcome for c in differences if c.cell == "d7"} == {"no data"}
    verdicts = np.array(verdicts_of(summary, some))
    assert set(verdicts[gone]) == {"no data"}
    assert set(verdicts[~gone & (summary["method"] == "C")]) == {"not run"}


@pytest.mark.parametrize("exchanged", ["methods", "data sets"])
def test_exchanges_are_all_orders_of_the_whole_table(exchanged):
    """Against reports of tables that were really exchanged, one order after the other."""
    four = {"A": 0.80, "B": 0.82, "C": 0.84, "D": 0.85}
    narrow = config(four, rule={**RULE, "absolute": 0.02})
    runs, summary = table(four, measured=four, noise=0.02)
    few = DATASETS[:4]
    runs, summary = (frame[frame["dataset"].isin(few)] for frame in (runs, summary))
    label, things = ("method", "ABCD") if exchanged == "methods" else ("dataset", few)
    counts = []
    for order in permutations(things):
        renamed = dict(zip(order, things, strict=True))
        others = runs.assign(**{label: runs[label].map(renamed)})
        means = others.groupby(["dataset", "method"])["value"].agg(["mean", "std"])
        cells = summary.drop(columns=["mean", "std"])
        cells = cells.merge(means.reset_index(), on=["dataset", "method"])
        differences, _ = judge(others, cells, narrow)
        verdicts = verdicts_of(cells, narrow)
        counts.append((verdicts.count(MATCH), outcomes(differences).count("shown")))
    of_kind = [c for c in judge(runs, summary, narrow)[1] if c.exchanged == exchanged]
    assert [c.what for c in of_kind] == ["match", "shown"]
    for chance, found in zip(of_kind, np.array(counts).T, strict=True):
        assert chance.n_orders == len(found) == 24
        assert chance.found == found[0]
        assert chance.mean == pytest.approx(found.mean())
        assert chance.p_value == pytest.approx(np.mean(found >= found[0]))
        assert chance.tells


def test_of_many_data_sets_a_sample_of_the_orders_is_taken():
    frames = [
        pd.concat([frame, frame[frame["dataset"] == "d0"].assign(dataset="d8")])
        for frame in table(LEVELS)
    ]
    many = {name: {"name": "iris"} for name in (*DATASETS, "d8")}
    chances = judge(*frames, config(datasets=many))[1]
    assert {c.n_orders for c in chances if c.exchanged == "data sets"} == {10_000}


def test_data_sets_that_lack_a_method_take_no_part_in_exchanges():
    runs, summary = table(LEVELS)
    lacks = (summary["dataset"] == "d0") & (summary["method"] == "B")
    runs = runs[(runs["dataset"] != "d0") | (runs["method"] != "B")]
    differences, chances = judge(runs, summary[~lacks], config())
    assert outcomes(differences) == ["shown"] * 22
    assert [(c.found, c.of) for c in of_methods(chances)] == [(21, 21), (21, 21)]


@pytest.mark.parametrize(
    ("found", "mean", "n_orders", "p_value", "beaten", "tells"),
    [
        (30, 20, 24, 0.05, True, True),
        (29.9, 20, 20, 0.01, False, True),
        (60, 20, 6, 0.051, False, False),
    ],
)
def test_ten_points_and_five_per_cent_beat_chance_of_twenty_orders(
    found, mean, n_orders, p_value, beaten, tells
):
    row = ["m", "shown", "methods", found, 100, mean, n_orders, p_value]
    chances = pd.DataFrame([row], columns=CHANCES)
    assert (beats_chance(chances).tolist(), can_tell(chances).tolist()) == ([beaten], [tells])


def test_lower_is_better_for_errors():
    errors = {name: 100 * (1 - level) for name, level in LEVELS.items()}
    runs, summary = table(errors, measured=errors, noise=0.4, reported_std=0.4)
    runs["metric"] = summary["metric"] = "error_percent"
    asked = config(metric="error_percent", rule={**RULE, "absolute": 5})
    differences = judge(runs, summary, asked)[0]
    assert {(c.ahead, c.behind) for c in differences} == {("B", "A"), ("C", "A"), ("C", "B")}
    assert all(c.reported > 0 for c in differences)


def test_methods_are_named_with_what_tells_them_apart():
    runs, summary = table(LEVELS)
    for frame in (runs, summary):
        frame["kernel"] = frame["method"].map({"B": "rbf", "C": "linear"})
        frame["method"] = frame["method"].replace("C", "B")
    found = {(c.ahead, c.behind) for c in judge(runs, summary, config())[0]}
    assert found == {("B, rbf", "A"), ("B, linear", "A"), ("B, linear", "B, rbf")}


def test_a_better_baseline_and_other_data_are_verdicts_of_their_own():
    better = {name: level + 0.1 for name, level in LEVELS.items()}
    _, summary = table(LEVELS, measured=better)
    rules = {"proposed": ["C"], "not_comparable": {"d7": "a sample"}}
    of_place = summary.set_index(["dataset", "method"]).index
    verdicts = dict(zip(of_place, verdicts_of(summary, config(**rules)), strict=True))
    assert verdicts["d0", "C"] == BETTER
    assert verdicts["d0", "A"] == verdicts["d0", "B"] == BASELINE_BETTER
    assert {verdicts["d7", m] for m in LEVELS} == {NOT_COMPARABLE}


def test_other_data_than_the_papers_give_no_differences():
    runs, summary = table(LEVELS)
    all_of_them, _ = judge(runs, summary, config())
    found, chances = judge(runs, summary, config(not_comparable={"d7": "a sample"}))
    assert {c.cell for c in all_of_them} - {c.cell for c in found} == {"d7"}
    assert [chance.of for chance in of_methods(chances) if chance.what == "match"] == [21]
