"""Tests of two components, against variances worked out one by one from predictions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.config import load_config
from kernlearn.config.claims import Check
from kernlearn.engine import make_plan, run_plan
from kernlearn.exceptions import ReportError
from kernlearn.reports import assemble, report_rows, write_summary
from kernlearn.reports.claims import asked_cells, average, compared_cells
from kernlearn.reports.covariances import Losses, as_splits, covariances_of_losses
from kernlearn.reports.labels import label_rows, values_of
from kernlearn.reports.ranks import compare_methods, method_values
from kernlearn.reports.report import read_report
from kernlearn.reports.statistics import resampled
from kernlearn.store import Store, values_from_text

CONFIG = """\
title: Two data sets
datasets: [iris, wine]
methods:
  tree: {estimator: sklearn.tree.DecisionTreeClassifier, max_depth: [1, 3]}
  guess: {estimator: DummyClassifier, strategy: stratified}
  knn: {estimator: sklearn.neighbors.KNeighborsClassifier}
protocol: {splits: 4, train: 0.5}
metrics: [accuracy]
best: {metrics: [accuracy], within: [dataset]}
claims:
  - says: trees guess better
    check: {metric: accuracy, better: [tree], than: [guess], over: all, across: [max_depth]}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The plan, its rows, and its report."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "two.yaml").write_text(CONFIG)
    plan = make_plan(load_config(folder / "two.yaml"))
    with Store(folder / "s.sqlite") as store:
        run_plan(plan, store)
        rows = store.get(trial.key for trial in plan.trials)
        return plan, rows, assemble(plan, store)


def right(plan, rows, dataset, **labels):
    """What each test row adds to the accuracy, by split."""
    asked = {"dataset": dataset, **labels}
    trials = [t for t in plan.trials if all(t.labels.get(k) == v for k, v in asked.items())]
    return np.array([values_from_text(rows[t.key].info["losses"]["accuracy"]) for t in trials])


def accuracies_of(report):
    """Splits and roots of covariances."""
    roots = as_splits(report.covariances, report.experiment.config, "two")
    frame = pd.concat([report.splits, roots], ignore_index=True)
    return values_of(frame[frame["metric"] == "accuracy"])


def check(**asked):
    return Check.model_validate({"metric": "accuracy", **asked})


def by_hand(differences, n):
    """Mean, standard error and degrees of freedom of differences, of shape (splits, rows)."""
    means = differences.mean(axis=1)
    of_splits = means.var(ddof=1) / len(means)
    of_rows = differences.var(axis=1, ddof=1).mean() / n
    total = of_splits + of_rows
    return means.mean(), total**0.5, (len(means) - 1) * (total / of_splits) ** 2


@pytest.mark.parametrize(("dataset", "n"), [("iris", 150), ("wine", 178)])
def test_a_difference_varies_with_rows_and_splits(measured, dataset, n):
    plan, rows, report = measured
    asked = check(better=["knn"], than=["guess"])
    cells = compared_cells(accuracies_of(report), asked, "knn", "guess", 1)
    (cell,) = [cell for cell in cells if cell.name == dataset]
    differences = right(plan, rows, dataset, method="knn") - right(
        plan, rows, dataset, method="guess"
    )
    mean, error, degrees = by_hand(differences, n)
    assert cell.estimate[:3] == pytest.approx((mean, error, degrees), rel=1e-4)
    half = stats.t.ppf(0.975, degrees) * error
    assert cell.estimate.interval(0.05) == pytest.approx((mean - half, mean + half), rel=1e-4)
    assert cell.n_splits == 4
    assert cell.effect == pytest.approx(mean)


def test_means_over_settings_and_data_sets(measured):
    plan, rows, report = measured
    values = accuracies_of(report)
    asked = {"better": ["tree"], "than": ["guess"], "across": ["max_depth"]}
    errors = []
    cells = compared_cells(values, check(**asked), "tree", "guess", 1)
    for cell, n in zip(cells, (150, 178), strict=True):
        trees = [right(plan, rows, cell.name, method="tree", max_depth=d) for d in (1, 3)]
        differences = np.mean(trees, axis=0) - right(plan, rows, cell.name, method="guess")
        assert cell.estimate[:2] == pytest.approx(by_hand(differences, n)[:2], rel=1e-4)
        errors.append(differences.var(axis=1, ddof=1).mean() / n)
    both = average(cells)
    over = check(**asked, mean_over=["dataset"])
    (same,) = compared_cells(values, over, "tree", "guess", 1)
    means = np.mean([cell.values[cell.values.index >= 0] for cell in cells], axis=0)
    error = (means.var(ddof=1) / 4 + sum(errors) / 4) ** 0.5
    for one in (both, same):
        assert one.estimate[:2] == pytest.approx((means.mean(), error), rel=1e-4)


def test_an_average_of_factors(measured):
    plan, rows, report = measured
    asked = check(better=["knn"], than=["guess"], times=1.2)
    cells = compared_cells(accuracies_of(report), asked, "knn", "guess", 1)
    for cell, n in zip(cells, (150, 178), strict=True):
        one, other = (right(plan, rows, cell.name, method=m) for m in ("knn", "guess"))
        # what a row adds to the logarithm of a ratio
        of_rows = (one / one.mean() - other / other.mean()) / np.log(2)
        logs = np.log2(one.mean(axis=1) / other.mean(axis=1))
        error = (logs.var(ddof=1) / 4 + of_rows.var(axis=1, ddof=1).mean() / n) ** 0.5
        assert cell.estimate[:2] == pytest.approx((logs.mean(), error), rel=1e-4)


def test_a_single_method_and_a_slope(measured):
    plan, rows, report = measured
    values = accuracies_of(report)
    cell = asked_cells(values, check(above=0.5, of=["knn"]), "knn")[0]
    expected = by_hand(right(plan, rows, "iris", method="knn"), 150)
    assert cell.estimate[:3] == pytest.approx(expected, rel=1e-4)
    asked = check(trend="rising", along="max_depth", of=["tree"])
    cell = asked_cells(values, asked, "tree")[0]
    low, high = (right(plan, rows, "iris", method="tree", max_depth=d) for d in (1, 3))
    expected = by_hand((high - low) / np.log2(3), 150)
    assert cell.estimate[:2] == pytest.approx(expected[:2], rel=1e-4)


def test_the_best_of_a_data_set(measured):
    """What is bold, by p-values worked out for all pairs."""
    plan, rows, report = measured
    cells = report.cells[(report.cells["metric"] == "accuracy")]
    for dataset, n in (("iris", 150), ("wine", 178)):
        of = {
            ("tree", 1): right(plan, rows, dataset, method="tree", max_depth=1),
            ("tree", 3): right(plan, rows, dataset, method="tree", max_depth=3),
            ("guess", None): right(plan, rows, dataset, method="guess"),
            ("knn", None): right(plan, rows, dataset, method="knn"),
        }
        p = {}
        for a, b in combinations(of, 2):
            mean, error, degrees = by_hand(of[a] - of[b], n)
            p[a, b] = 2 * stats.t.sf(abs(mean) / error, degrees)
        order = sorted(p, key=p.get)
        adjusted = np.maximum.accumulate([p[k] * (len(p) - i) for i, k in enumerate(order)])
        shown = {pair for pair, value in zip(order, adjusted, strict=True) if value < 0.05}
        first = max(of, key=lambda k: of[k].mean())
        expected = {k for k in of if not {(k, first), (first, k)} & shown}
        here = cells[(cells["dataset"] == dataset) & cells["best"]]
        assert {*label_rows(here, ["method", "max_depth"])} == expected


def test_what_is_committed_decides_the_same(measured, tmp_path):
    _, _, report = measured
    (tmp_path / "two.yaml").write_text(CONFIG)
    write_summary(report, tmp_path)
    again = read_report(tmp_path / "two.yaml", tmp_path)
    pd.testing.assert_frame_equal(again.claims, report.claims)
    pd.testing.assert_frame_equal(again.cells.filter(["best"]), report.cells.filter(["best"]))
    pd.testing.assert_frame_equal(again.covariances, report.covariances, check_dtype=False)


def test_compare_takes_rows_and_splits_apart(measured):
    plan, rows, _ = measured
    values = method_values(plan, rows, "accuracy", [{"dataset": ("iris",)}])
    result = compare_methods(values, 1, control="guess")
    mean, error, degrees = by_hand(
        right(plan, rows, "iris", method="knn") - right(plan, rows, "iris", method="guess"), 150
    )
    row = result.table.loc["knn"]
    half = stats.t.ppf(0.975, degrees) * error
    assert row["difference"] == pytest.approx(mean)
    assert (row["low"], row["high"]) == pytest.approx((mean - half, mean + half), rel=1e-4)
    assert set(result.datasets["n_splits"]) == {4}


def test_without_spread_between_splits_the_rows_decide():
    values = pd.Series([0.1, 0.1, 0.1, 0.02, 0.01], index=[0, 1, 2, -1, -2])
    estimate = resampled(values, 0.5)
    assert estimate.error == pytest.approx((0.02**2 + 0.01**2) ** 0.5)
    assert estimate.interval(0.05)[0] == pytest.approx(0.1 - 1.96 * estimate.error, rel=1e-3)


def test_rows_of_any_program_may_have_losses(measured):
    """The rows of another program decide as those of a store do."""
    plan, rows, report = measured
    given = report.splits[report.splits["metric"] == "accuracy"].copy()
    losses = {
        (t.labels["dataset"], t.labels["method"], t.labels.get("max_depth"), t.split): " ".join(
            map(str, values_from_text(rows[t.key].info["losses"]["accuracy"]))
        )
        for t in plan.trials
    }
    places = [*label_rows(given, ["dataset", "method", "max_depth", "split"])]
    given["losses"] = [losses[place] for place in places]
    given["n_train"], given["n_test"] = given["dataset"].map({"iris": 75, "wine": 89}), 75
    given["n_test"] = given["n_test"].mask(given["dataset"] == "wine", 89)
    again = report_rows(plan.experiment, given)
    pd.testing.assert_frame_equal(again.claims, report.claims)
    pd.testing.assert_series_equal(
        again.cells["best"],
        report.cells.loc[report.cells["metric"] == "accuracy", "best"],
        check_index=False,
    )
    without = report_rows(plan.experiment, given.drop(columns="losses"))
    assert any("without a column losses" in remark for remark in without.remarks)
    assert not any("without a column losses" in remark for remark in again.remarks)
    with pytest.raises(ReportError, match="row 1: losses is 'none', expected finite"):
        report_rows(plan.experiment, given.assign(losses="none"))


def test_cells_of_unlike_scales_keep_their_variance(measured):
    """One method explodes; the others' variances are far below the last digits of its own."""
    config, rng = measured[0].experiment.config, np.random.default_rng(0)
    scales = {"knn": 1e-3, "guess": 2e-3, "tree": 1e5}
    losses = [
        Losses({"dataset": "iris", "method": method}, "accuracy", 0, scale * row, 150)
        for (method, scale), row in zip(scales.items(), rng.standard_normal((3, 50)), strict=True)
    ]
    covariances = covariances_of_losses(losses, config)
    roots = as_splits(covariances, config, "two").pivot(
        index="split", columns="method", values="value"
    )
    expected = np.cov([one.values for one in losses]) / 150
    found = roots[[*scales]].to_numpy()
    assert found.T @ found == pytest.approx(expected, rel=1e-4)
