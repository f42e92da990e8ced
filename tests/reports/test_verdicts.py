"""The rule by which a measured number is the reported one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kernlearn.config import load_config
from kernlearn.config.model import Derived, Fork, Tolerance
from kernlearn.config.plan import CHOSEN
from kernlearn.reports.statistics import Mean, welch
from kernlearn.reports.verdicts import compare_branches, count_verdicts, direction, verdict


@pytest.mark.parametrize(
    ("measured", "reported", "tolerance", "better", "expected"),
    [
        (0.895, 0.91, {"absolute": 0.015}, 1, "match"),
        (0.89, 0.91, {"absolute": 0.015}, 1, "worse"),
        (0.93, 0.91, {"absolute": 0.015}, 1, "better"),
        (1.1, 1.0, {"relative": 0.1}, -1, "match"),
        (1.2, 1.0, {"relative": 0.1}, -1, "worse"),
        (0.5, 1.0, {"relative": 0.1}, -1, "better"),
        (699.0, 699.0, {"absolute": 0}, 0, "match"),
        (698.0, 699.0, {"absolute": 0}, 0, "worse"),
        (np.nan, 1.0, {"relative": 0.1}, 1, "not run"),
        (1.0, np.nan, {"relative": 0.1}, 1, ""),
    ],
)
def test_the_tolerance_alone(measured, reported, tolerance, better, expected):
    assert verdict(Mean(measured), Mean(reported), Tolerance(**tolerance), better) == expected


def test_a_ratio_of_scores_is_better_where_it_is_less(config):
    gain = {"gain": Derived(ratio="accuracy", baseline="K")}
    assert direction("gain", config.model_copy(update={"derived": gain})) == -1


means = st.builds(Mean, st.floats(0.1, 1.0), st.floats(0.001, 0.3), st.integers(2, 30))


@given(means, means, st.floats(0, 0.3), st.floats(0.001, 0.5), st.sampled_from([1, -1, 0]))
def test_against_welchs_test(ours, theirs, absolute, level, better):
    tolerance = Tolerance(absolute=absolute, level=level, reported_splits=int(theirs.n_splits))
    difference = ours.value - theirs.value
    sides = [n for side in (ours, theirs) for n in (side.value, side.std, side.n_splits)]
    p = stats.ttest_ind_from_stats(*sides, equal_var=False).pvalue
    assert welch(ours, theirs).p_value() == pytest.approx(p, rel=1e-6)
    if min(abs(abs(difference) - absolute), abs(p - level)) < 1e-6:
        return  # on an edge rounding decides
    if abs(difference) < absolute:
        expected = "match"
    elif p > level:
        expected = "undecided"
    else:
        expected = "better" if better and (difference > 0) == (better > 0) else "worse"
    assert verdict(ours, theirs, tolerance, better) == expected


def test_verdicts_are_counted_by_kind(report):
    config = report.experiment.config
    counts = count_verdicts(report.cells, config)
    reported = report.cells[report.cells["reported_mean"].notna()]
    scores = reported[reported["metric"] == "accuracy"]
    assert counts.loc["scores", "reported"] == len(scores)
    assert counts.loc["scores", "match"] == (scores["verdict"] == "match").sum() > 0
    assert counts.loc["scores", "not run"] == scores["mean"].isna().sum() > 0
    assert counts.loc["times", "without verdict"] > 0
    assert (counts.drop(columns="reported").sum(axis=1) == counts["reported"]).all()


def test_branches_of_a_choice_are_compared_where_all_have_numbers():
    config = load_config("table5_1a").config
    time = ["abalone", "fit_seconds", 1.0, ""]  # which is no score
    chosen = [["abalone", "mse", 1.0, "match"], ["bodyfat", "mse", 2.0, "worse"], time]
    other = [["abalone", "mse", 4.0, "worse"], ["bodyfat", "mse", 1.15, "match"], time]
    chosen.append(["cpu_small", "mse", 2.0, "worse"])
    other.append(["cpu_small", "mse", np.nan, "not run"])
    shared = {"kernel": "sigmoid", "method": "KR", "params": "{}", "reported_mean": 1.0}
    names = ["dataset", "metric", "mean", "verdict"]
    cells = [pd.DataFrame(rows, columns=names).assign(**shared) for rows in (chosen, other)]
    fork = Fork(choice="c", reason="r", alternatives={"other": ["protocol.seed=1"]})
    branches = dict(zip([CHOSEN, *fork.alternatives], cells, strict=True))
    table = compare_branches("t", fork, config, branches)
    assert table["branch"].tolist() == [CHOSEN, "other"]
    assert table[["numbers", "match", "worse"]].to_numpy().tolist() == [[2, 1, 1], [2, 1, 1]]
    # the tolerance is 15 per cent
    expected = [(0 + 1 / 0.15) / 2, (3 / 0.15 + 1) / 2]
    assert table["deviation"].tolist() == pytest.approx(expected)
