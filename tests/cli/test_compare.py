"""``kernlearn compare``, and the tests behind it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.config import load_config
from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import compare_methods, ranking_metric

TWICE = """\
title: The same rows under two labels
task: regression
datasets: {raw: {name: diabetes_sklearn, scale: []}, same: {name: diabetes_sklearn}}
methods: {mean: {estimator: DummyRegressor}, linear: {estimator: Ridge}}
protocol: {splits: 1, scale: [zscore]}
metrics: [mse]
"""


def numbers(gains, n_datasets=1, n_splits=10, noise=0.01, seed=0):
    """Values of methods that differ by gains on average."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", f"d{d}", name, name, split, 0.8 + gain + noise * rng.normal())
        for d in range(n_datasets)
        for split in range(n_splits)
        for name, gain in gains.items()
    ]
    heads = ["dataset", "family", "name", "method", "split", "value"]
    return pd.DataFrame(rows, columns=heads).assign(ratio=30 / 70)


def test_the_corrected_test_on_one_data_set():
    values = numbers({"A": 0.0, "B": 0.05})
    result = compare_methods(values, 1)
    assert result.control == "B"
    row = result.table.loc["A"]
    wide = values.pivot(index="split", columns="method", values="value")
    differences = wide["A"] - wide["B"]
    error = np.sqrt((1 / 10 + 30 / 70) * differences.var(ddof=1))
    assert row["difference"] == pytest.approx(differences.mean())
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(differences.mean()) / error, 9))
    assert row["high"] - row["low"] == pytest.approx(2 * stats.t.ppf(0.975, 9) * error)
    assert row["outcome"] == "worse"
    row = compare_methods(values, 1, margin=0.01).table.loc["A"]  # of two one-sided tests
    assert row["high"] - row["low"] == pytest.approx(2 * stats.t.ppf(0.95, 9) * error)
    # less is better
    assert compare_methods(values, -1).control == "A"
    # times of splits do not overlap
    assert result.test == "corrected resampled t-test"
    assert compare_methods(values.assign(ratio=0.0), 1).test == "paired t-test"


def test_methods_that_differ_by_rounding_error_are_equal():
    values = numbers({"A": 0.0, "B": 0.0}, n_splits=4)
    # the same four numbers in two orders: their sums differ by the last digit
    values["value"] = [0.958, 1.0, 0.91, 0.91, 1.0, 0.958, 0.965, 0.965]
    table = compare_methods(values, 1).table
    assert table["rank"].tolist() == [1.5, 1.5]
    assert table["difference"].tolist()[1] == 0


def test_outcomes_do_not_depend_on_the_unit():
    values = numbers({"A": 0.0, "B": 0.0}, n_datasets=7, n_splits=1)
    values["value"] = [0.8, 0.7] * 6 + [0.8, 0.9]
    per_cent = values.assign(value=(100 * values["value"]).round(9))
    found = [compare_methods(v, 1, control="B").table.loc["A", "p"] for v in (values, per_cent)]
    assert found == [2 * 8 / 2**7] * 2  # at most one of seven equal differences is negative


def test_over_data_sets_the_tests_are_those_of_scipy():
    values = numbers({"A": 0.0, "B": 0.004, "C": 0.02}, 9)
    result = compare_methods(values, 1, control="C")
    means = values.pivot_table(index="dataset", columns="method", values="value")
    row, d = result.table.loc["B"], (means["B"] - means["C"]).to_numpy()
    p_values = {m: stats.wilcoxon(means[m] - means["C"]).pvalue for m in "AB"}
    smaller, larger = sorted(p_values.values())
    adjusted = {smaller: 2 * smaller, larger: max(2 * smaller, larger)}
    assert row["p"] == pytest.approx(adjusted[p_values["B"]])
    walsh = [(x + y) / 2 for i, x in enumerate(d) for y in d[i:]]
    assert row["difference"] == pytest.approx(np.median(walsh))
    # the interval has the differences that the test does not reject
    low, high = row["low"], row["high"]
    for shift, rejected in ((low - 1e-9, True), (low + 1e-9, False), (high + 1e-9, True)):
        assert (stats.wilcoxon(d - shift).pvalue < 0.05) == rejected
    assert result.friedman == stats.friedmanchisquare(*means.to_numpy().T).pvalue
    assert result.datasets["n_splits"].tolist() == [10] * 18


def test_data_sets_of_a_family_count_once():
    values = numbers({"A": 0.0, "B": 0.02}, 9)
    shown = compare_methods(values, 1)
    assert (shown.families, shown.table.loc["A", "outcome"]) == (9, "worse")
    related = values["dataset"].isin([f"d{i}" for i in range(5)])
    merged = compare_methods(values.assign(family=values["family"].mask(related, "f")), 1)
    assert merged.families == 5
    # five families cannot show anything: the least p-value is 1/16
    assert merged.table.loc["A", "p"] == pytest.approx(1 / 16)
    assert merged.table.loc["A", "outcome"] == "not shown"
    assert merged.table.loc["A", "low"] == -np.inf
    means = values.groupby(["method", "dataset"])["value"].mean().unstack(0)
    of_families = [means[:5].mean(), *(means.iloc[i] for i in range(5, 9))]
    ranks = np.mean([(-row).rank() for row in of_families], axis=0)
    assert merged.table.loc[["A", "B"], "rank"].tolist() == ranks.tolist()


def test_the_best_is_picked_from_all_pairs_a_control_is_not():
    values = numbers({"A": 0.0, "B": 0.01, "C": 0.02}, 12)
    picked = compare_methods(values, 1).table
    named = compare_methods(values, 1, control="C").table
    assert picked.index[0] == named.index[0] == "C"
    assert picked.loc["A", "p"] == pytest.approx(named.loc["A", "p"] * 3 / 2)
    # all differences have one sign
    few = compare_methods(numbers({"A": 0.0, "B": 1, "C": 2}, 6), 1)
    assert few.least_p == few.table["p"].min() == 3 / 32
    assert compare_methods(values, 1).friedman < 0.05
    with pytest.raises(ReportError, match="did you mean"):
        compare_methods(values, 1, control="c")


@pytest.mark.parametrize("better", [1, -1])
@pytest.mark.parametrize("n_datasets", [1, 7])
@pytest.mark.parametrize(
    ("gain", "outcome"),
    [(0.0, "equivalent"), (0.05, "not worse"), (-0.05, "worse"), (-0.02, "not shown")],
)
def test_a_margin_tells_equivalence(gain, outcome, n_datasets, better):
    values = numbers({"A": better * gain, "C": 0.0}, n_datasets)
    table = compare_methods(values, better, control="C", margin=0.02).table
    assert table.loc["A", "outcome"] == outcome


@pytest.mark.parametrize(("n_splits", "outcome"), [(2, "not shown"), (10, "worse")])
def test_equal_differences_of_few_splits_show_nothing(n_splits, outcome):
    values = numbers({"A": 0.0, "B": 0.05}, n_splits=n_splits, noise=0)
    assert compare_methods(values, 1).table.loc["A", "outcome"] == outcome


def test_what_not_all_methods_have_is_left_out_and_named():
    values = numbers({"A": 0.0, "B": 0.1}, 3)
    lacking = values[(values["dataset"] != "d1") | (values["method"] != "A")]
    assert compare_methods(lacking, 1).left_out == ["d1"]
    with pytest.raises(ReportError, match="fewer than two"):
        compare_methods(values[values["method"] == "A"], 1)


def test_the_command(kernlearn, small):
    kernlearn("run", small, "--no-report")
    out = kernlearn("compare", small).stdout
    assert "small: accuracy on 2 data sets" in out
    assert "Cannot say which is best: too few for a test, 2 data sets" in out
    for method in ("K", "H0/1", "RF, n_components=10", "RF, n_components=40"):
        assert f" {method} " in out
    two = kernlearn("compare", small, "K", "RF", "--only", "n_components=40").stdout
    assert ("moons" in two, "H0/1" in two) == (True, False)
    one = ("--only", "dataset=moons")
    assert "too few for a test, 2 splits\n" in kernlearn("compare", small, *one).stdout
    margin = kernlearn("compare", small, "--control", "K", "--margin", "0.5", *one)
    assert "equivalent" in margin.stdout
    # none of the other three is worse than the best
    assert "3 of 3 others" in kernlearn("compare", small, "--margin", "0.9", *one).stdout
    for words in (["Q"], ["--control", "Q"], ["--metric", "speed"], ["--only", "n_component=40"]):
        kernlearn("compare", small, *words, code=2)


def test_labels_of_the_same_data_are_a_family(kernlearn, tmp_path):
    (path := tmp_path / "twice.yaml").write_text(TWICE)
    kernlearn("run", path, "--no-report")
    assert "on 2 data sets, 1 after" in kernlearn("compare", path).stdout


def test_the_metric_that_methods_are_ranked_by():
    config = load_config("table3_1").config
    assert ranking_metric(config, "t") == "accuracy"
    assert ranking_metric(config, "t", "fit_seconds") == "fit_seconds"
    with pytest.raises(ReportError, match="no metric 'acuracy'"):
        ranking_metric(config, "t", "acuracy")
