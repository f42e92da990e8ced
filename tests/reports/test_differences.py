"""Differences between methods that a table shows, and what exchanged methods would score."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.model import ExperimentConfig
from kernlearn.reports.differences import beats_chance, compare_with_paper
from kernlearn.reports.verdicts import (
    BASELINE_BETTER,
    BETTER,
    MATCH,
    NOT_COMPARABLE,
    verdicts_of,
)

LEVELS = {"A": 0.80, "B": 0.82, "C": 0.84}
N_SPLITS = 5


def config(**keys):
    content = {
        "title": "t",
        "datasets": {f"d{i}": {"name": "iris"} for i in range(8)},
        "methods": {name: {"estimator": "LogisticRegression"} for name in LEVELS},
        "metrics": ["accuracy"],
        "verdict": {"accuracy": {"absolute": 0.05, "level": 0.05, "reported_splits": N_SPLITS}},
        **keys,
    }
    return ExperimentConfig.model_validate(content)


def table(reported, *, measured=LEVELS, noise=0.004, reported_std=0.004, seed=0):
    """Runs and summary of eight data sets; ``reported`` are the levels that the paper prints."""
    rng = np.random.default_rng(seed)
    runs, cells = [], []
    for i in range(8):
        base = rng.normal(0, 0.05)
        for method, level in measured.items():
            labels = {"dataset": f"d{i}", "kernel": None, "method": method, "metric": "accuracy"}
            values = base + level + rng.normal(0, noise, N_SPLITS)
            runs += [labels | {"split": s, "value": v} for s, v in enumerate(values, 1)]
            numbers = {"mean": values.mean(), "std": values.std(ddof=1), "n_splits": N_SPLITS}
            theirs = {"reported_mean": base + reported[method], "reported_std": reported_std}
            cells.append(labels | numbers | theirs)
    return pd.DataFrame(runs), pd.DataFrame(cells)


def judge(*arguments):
    """Return differences and chances as rows."""
    differences, chances = compare_with_paper(*arguments)
    chances = chances.assign(beaten=beats_chance(chances)).rename(columns={"count": "what"})
    return [list(frame.itertuples()) for frame in (differences, chances)]


def outcomes(differences):
    return [c.outcome for c in differences]


def test_differences_that_come_back_are_shown():
    differences, chances = judge(*table(LEVELS), config())
    assert len(differences) == 8 * 3
    assert outcomes(differences) == ["shown"] * 24
    assert {(c.ahead, c.behind) for c in differences} == {("B", "A"), ("C", "A"), ("C", "B")}
    match, shown = chances
    assert (match.what, match.found, match.of) == ("match", 24, 24)
    # all levels are within the tolerance, whichever method they belong to
    assert match.mean == 24
    assert not match.beaten
    assert (shown.what, shown.found, shown.of) == ("shown", 24, 24)
    assert shown.beaten


def test_a_table_with_exchanged_methods_has_its_differences_reversed_though_its_levels_match():
    exchanged = {"A": LEVELS["C"], "B": LEVELS["B"], "C": LEVELS["A"]}
    runs, summary = table(exchanged)
    assert verdicts_of(summary, config()) == [MATCH] * 24
    differences, chances = judge(runs, summary, config())
    assert outcomes(differences) == ["reversed"] * 24
    assert [(c.what, c.found) for c in chances] == [("match", 24), ("shown", 0)]


def test_the_measured_deviation_takes_the_place_of_one_that_is_not_reported():
    runs, summary = table(LEVELS, reported_std=np.nan)
    assert len(judge(runs, summary, config())[0]) == 24
    runs, summary = table(LEVELS, reported_std=np.nan, noise=0.2)
    assert len(judge(runs, summary, config())[0]) < 5


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ({"A": 0.80, "B": 0.8115, "C": 0.84}, "shown"),  # more than half
        ({"A": 0.80, "B": 0.808, "C": 0.84}, "not shown"),  # less than half
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
    differences, (match, shown) = judge(runs, summary, config())
    found = outcomes(differences)
    assert (found.count("shown"), found.count("not measured")) == (8, 16)
    assert (match.of, shown.of) == (16, 8)


def test_exchanges_are_all_permutations_of_the_methods_of_each_row():
    """Against a count by loops, where all permutations of two rows are few."""
    runs, summary = (frame[frame["dataset"].isin(["d0", "d1"])] for frame in table(LEVELS))
    narrow = config(verdict={"accuracy": {"absolute": 0.01}})
    match = judge(runs, summary, narrow)[1][0]
    rows = [group for _, group in summary.groupby("dataset")]
    counts = []
    for orders in product(*(permutations(range(3)) for _ in rows)):
        counts.append(0)
        for row, order in zip(rows, orders, strict=True):
            measured, reported = row["mean"].to_numpy(), row["reported_mean"].to_numpy()
            counts[-1] += int(sum(abs(measured[list(order)] - reported) <= 0.01))
    assert match.n_exchanges == len(counts) == 36
    assert match.mean == pytest.approx(np.mean(counts))
    assert match.found == counts[0]
    assert match.p_value == pytest.approx(np.mean(np.array(counts) >= counts[0]))


def test_lower_is_better_for_errors():
    errors = {name: 100 * (1 - level) for name, level in LEVELS.items()}
    runs, summary = table(errors, measured=errors, noise=0.4, reported_std=0.4)
    runs["metric"] = summary["metric"] = "error_percent"
    rule = {"error_percent": {"absolute": 5, "level": 0.05, "reported_splits": N_SPLITS}}
    asked = config(metrics=["error_percent"], verdict=rule)
    differences = judge(runs, summary, asked)[0]
    assert {(c.ahead, c.behind) for c in differences} == {("B", "A"), ("C", "A"), ("C", "B")}
    assert all(c.reported > 0 for c in differences)


def test_a_better_baseline_and_other_data_are_verdicts_of_their_own():
    better = {name: level + 0.1 for name, level in LEVELS.items()}
    _, summary = table(LEVELS, measured=better)
    rules = {"proposed": ["C"], "not_comparable": {"d7": "a sample"}}
    verdicts = dict(
        zip(
            zip(summary["dataset"], summary["method"], strict=True),
            verdicts_of(summary, config(**rules)),
            strict=True,
        )
    )
    assert verdicts["d0", "C"] == BETTER
    assert verdicts["d0", "A"] == verdicts["d0", "B"] == BASELINE_BETTER
    assert {verdicts["d7", m] for m in LEVELS} == {NOT_COMPARABLE}


def test_other_data_than_the_papers_give_no_differences():
    runs, summary = table(LEVELS)
    all_of_them, _ = judge(runs, summary, config())
    found, chances = judge(runs, summary, config(not_comparable={"d7": "a sample"}))
    assert {c.cell for c in all_of_them} - {c.cell for c in found} == {"d7"}
    assert [chance.of for chance in chances if chance.what == "match"] == [21]
