"""Tests that a method is no worse by a margin."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.exceptions import ReportError
from kernlearn.reports.equivalence import (
    CHOSEN,
    against_control,
    corrected_error,
    one_sided_tests,
    with_chosen,
)


def test_the_corrected_error_is_that_of_nadeau_and_bengio():
    values = np.array([0.1, -0.2, 0.05, 0.3])
    squares = sum((v - values.mean()) ** 2 for v in values) / 3
    assert corrected_error(values, 0.5) == pytest.approx(np.sqrt((1 / 4 + 0.5) * squares))
    assert np.isinf(corrected_error(np.array([0.1]), 0.5))


def test_where_splits_agree_it_is_the_t_test_over_data_sets():
    means = [0.01, -0.004, 0.02, 0.003, -0.001]
    tests = one_sided_tests(means, [0.0] * 5, 0.01, 0.05)
    assert tests.difference == pytest.approx(np.mean(means))
    worse = stats.ttest_1samp(means, -0.01, alternative="greater")
    better = stats.ttest_1samp(means, 0.01, alternative="less")
    assert (tests.p_worse, tests.p_better) == pytest.approx((worse.pvalue, better.pvalue))
    ends = worse.confidence_interval(0.95).low, better.confidence_interval(0.95).high
    assert (tests.low, tests.high) == pytest.approx(ends)


def test_the_error_is_at_least_that_of_the_splits():
    tests = one_sided_tests([0.0, 0.0, 0.0], [0.03, 0.03, 0.03], 0.01, 0.05)
    assert (tests.difference, tests.error) == pytest.approx((0.0, 0.03 / np.sqrt(3)))
    assert tests.low < -0.01
    assert tests.p_worse > 0.05
    assert tests.verdict == "not shown"


def test_the_level_is_kept_at_the_margin():
    # truly worse by the margin on average over data sets, as data sets vary: shown in 5 %
    rng, n_runs, shown = np.random.default_rng(0), 4000, 0
    for _ in range(n_runs):
        effects = rng.normal(-0.01, 0.02, 12)
        means = effects + rng.normal(0, 0.005, 12)
        shown += one_sided_tests(means, [0.005] * 12, 0.01, 0.05).not_worse
    assert abs(shown / n_runs - 0.05) < 0.012


@pytest.mark.parametrize("difference", [0.0, 0.02, -0.02])
def test_differences_that_do_not_vary(difference):
    tests = one_sided_tests([difference] * 3, [0.0] * 3, 0.01, 0.05)
    assert tests.low == pytest.approx(tests.high) == pytest.approx(difference)
    expected = {0.0: "equivalent", 0.02: "not worse", -0.02: "worse"}
    assert tests.verdict == expected[difference]


def values() -> pd.DataFrame:
    """Two methods with 10 comparisons and a control with 100, on three data sets and splits."""
    rng = np.random.default_rng(1)
    rows = []
    for dataset in "abc":
        for split in range(3):
            scores = {"A": rng.random(), "B": rng.random(), "control": np.nan}
            for method, score in scores.items():
                value = 0.9 if method == "control" else 0.5 + score / 2
                comparisons = 100.0 if method == "control" else 10.0 + 40 * (dataset == "c")
                rows.append(
                    {
                        "dataset": dataset,
                        "name": method,
                        "method": method,
                        "split": split,
                        "value": value,
                        "score": score,
                        "comparisons": comparisons,
                        "n_train": 100,
                        "n_test": 50,
                    }
                )
    return pd.DataFrame(rows)


def test_the_method_chosen_is_the_best_on_held_out_rows():
    frame = values()
    chosen = with_chosen(frame, ["A", "B"])
    picked = chosen[chosen["method"] == CHOSEN]
    assert len(picked) == 9
    for row in picked.itertuples():
        here = frame[(frame["dataset"] == row.dataset) & (frame["split"] == row.split)]
        best = here.loc[here["score"].idxmax()]
        assert (row.picked, row.value) == (best["method"], best["value"])


def test_of_equal_scores_the_first_is_chosen_and_incomplete_splits_are_left_out():
    frame = values()
    frame.loc[frame["name"] != "control", "score"] = 0.5
    frame = frame.drop(frame.index[(frame["dataset"] == "b") & (frame["name"] == "B")][0])
    picked = with_chosen(frame, ["B", "A"]).query("method == @CHOSEN")
    assert set(picked["picked"]) == {"A"}
    assert len(picked) == 8


def test_methods_are_paired_with_the_control_by_split():
    frame = with_chosen(values(), ["A", "B"])
    found = {one.method: one for one in against_control(frame, "control", "m", 1, 0.01)}
    assert [*found] == ["A", "B", CHOSEN]
    own = frame[(frame["method"] == "A") & (frame["dataset"] == "a")]["value"] - 0.9
    row = found["A"].datasets.loc["a"]
    assert row["difference"] == pytest.approx(own.mean())
    assert row["error"] == pytest.approx(np.sqrt(1 / 3 + 0.5) * own.std(ddof=1))
    assert sum(found[CHOSEN].chosen.values()) == 9
    less = against_control(frame, "control", "m", -1, 0.01)
    assert less[0].difference == pytest.approx(-found["A"].difference)


def test_faults():
    with pytest.raises(ReportError, match="no method 'contrl' to compare with; did you mean"):
        against_control(values(), "contrl", "m", 1, 0.01)
    one = values().query("dataset == 'a'")
    with pytest.raises(ReportError, match="fewer than 2 data sets"):
        against_control(one, "control", "m", 1, 0.01)
