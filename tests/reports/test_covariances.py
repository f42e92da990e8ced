"""Tests of two components, against variances worked out one by one from predictions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.config import load_config
from kernlearn.config.claims import Check
from kernlearn.engine import make_plan, run_plan
from kernlearn.exceptions import ReportError, SummaryError
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
        return plan, store.get(trial.key for trial in plan.trials), assemble(plan, store)


@pytest.fixture(scope="module")
def right(measured):
    """Return what each test row adds to the accuracy, by split."""
    plan, rows, _ = measured

    def of(dataset, method, max_depth=None):
        asked = {"dataset": dataset, "method": method}
        asked |= {"max_depth": max_depth} if max_depth else {}
        trials = [trial for trial in plan.trials if asked.items() <= trial.labels.items()]
        losses = [rows[trial.key].info["losses"]["accuracy"] for trial in trials]
        return np.array([*map(values_from_text, losses)])

    return of


@pytest.fixture(scope="module")
def accuracies(measured):
    """Splits and roots of covariances."""
    report = measured[2]
    roots = as_splits(report.covariances, report.experiment.config, "two")
    frame = pd.concat([report.splits, roots], ignore_index=True)
    return values_of(frame[frame["metric"] == "accuracy"])


N_ROWS = {"iris": 150, "wine": 178}


def check(**asked):
    return Check.model_validate({"metric": "accuracy", **asked})


def by_hand(differences, n):
    """Mean, standard error and degrees of freedom of differences, of shape (splits, rows)."""
    means = differences.mean(axis=1)
    of_splits = means.var(ddof=1) / len(means)
    of_rows = differences.var(axis=1, ddof=1).mean() / n
    total = of_splits + of_rows
    return means.mean(), total**0.5, (len(means) - 1) * (total / of_splits) ** 2


@pytest.fixture(scope="module")
def knn_over_guess(accuracies):
    asked = check(better=["knn"], than=["guess"])
    return {cell.name: cell for cell in compared_cells(accuracies, asked, "knn", "guess", 1)}


@pytest.mark.parametrize("dataset", N_ROWS)
def test_a_difference_varies_with_rows_and_splits(knn_over_guess, right, dataset):
    cell, differences = knn_over_guess[dataset], right(dataset, "knn") - right(dataset, "guess")
    mean, error, degrees = by_hand(differences, N_ROWS[dataset])
    assert cell.estimate[:3] == pytest.approx((mean, error, degrees), rel=1e-4)
    half = stats.t.ppf(0.975, degrees) * error
    assert cell.estimate.interval(0.05) == pytest.approx((mean - half, mean + half), rel=1e-4)
    assert cell.n_splits == 4
    assert cell.effect == pytest.approx(mean)


def test_means_over_settings_and_data_sets(accuracies, right):
    asked = {"better": ["tree"], "than": ["guess"], "across": ["max_depth"]}
    errors = []
    cells = compared_cells(accuracies, check(**asked), "tree", "guess", 1)
    for cell, n in zip(cells, N_ROWS.values(), strict=True):
        trees = [right(cell.name, "tree", depth) for depth in (1, 3)]
        differences = np.mean(trees, axis=0) - right(cell.name, "guess")
        assert cell.estimate[:2] == pytest.approx(by_hand(differences, n)[:2], rel=1e-4)
        errors.append(differences.var(axis=1, ddof=1).mean() / n)
    over = check(**asked, mean_over=["dataset"])
    (same,) = compared_cells(accuracies, over, "tree", "guess", 1)
    means = np.mean([cell.values[cell.values.index >= 0] for cell in cells], axis=0)
    error = (means.var(ddof=1) / 4 + sum(errors) / 4) ** 0.5
    for one in (average(cells), same):
        assert one.estimate[:2] == pytest.approx((means.mean(), error), rel=1e-4)


def test_an_average_of_factors(accuracies, right):
    asked = check(better=["knn"], than=["guess"], times=1.2)
    for cell in compared_cells(accuracies, asked, "knn", "guess", 1):
        one, other = right(cell.name, "knn"), right(cell.name, "guess")
        # what a row adds to the logarithm of a ratio
        of_rows = (one / one.mean() - other / other.mean()) / np.log(2)
        logs = np.log2(one.mean(axis=1) / other.mean(axis=1))
        variance = of_rows.var(axis=1, ddof=1).mean() / N_ROWS[cell.name]
        error = (logs.var(ddof=1) / 4 + variance) ** 0.5
        assert cell.estimate[:2] == pytest.approx((logs.mean(), error), rel=1e-4)


def test_a_single_method_and_a_slope(accuracies, right):
    slope = check(trend="rising", along="max_depth", of=["tree"])
    for asked, name, expected in (
        (check(above=0.5, of=["knn"]), "knn", right("iris", "knn")),
        (slope, "tree", (right("iris", "tree", 3) - right("iris", "tree", 1)) / np.log2(3)),
    ):
        cell = asked_cells(accuracies, asked, name)[0]
        assert cell.estimate[:3] == pytest.approx(by_hand(expected, 150), rel=1e-4)


@pytest.mark.parametrize("dataset", N_ROWS)
def test_the_best_of_a_data_set(measured, right, dataset):
    """What is bold, by p-values worked out for all pairs."""
    places = [("tree", 1), ("tree", 3), ("guess", None), ("knn", None)]
    of, p = {place: right(dataset, *place) for place in places}, {}
    for a, b in combinations(of, 2):
        mean, error, degrees = by_hand(of[a] - of[b], N_ROWS[dataset])
        p[a, b] = 2 * stats.t.sf(abs(mean) / error, degrees)
    order = sorted(p, key=p.get)
    adjusted = np.maximum.accumulate([p[k] * (len(p) - i) for i, k in enumerate(order)])
    shown = {pair for pair, value in zip(order, adjusted, strict=True) if value < 0.05}
    first = max(of, key=lambda k: of[k].mean())
    cells = measured[2].cells.query("metric == 'accuracy' and best and dataset == @dataset")
    expected = {k for k in of if not {(k, first), (first, k)} & shown}
    assert {*label_rows(cells, ["method", "max_depth"])} == expected


def test_what_is_committed_decides_the_same(measured, tmp_path):
    _, _, report = measured
    (tmp_path / "two.yaml").write_text(CONFIG)
    write_summary(report, tmp_path)
    again = read_report(tmp_path / "two.yaml", tmp_path)
    pd.testing.assert_frame_equal(again.claims, report.claims)
    pd.testing.assert_frame_equal(again.cells.filter(["best"]), report.cells.filter(["best"]))
    pd.testing.assert_frame_equal(again.covariances, report.covariances, check_dtype=False)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: pd.concat([rows, rows[:1]]),
        lambda rows: rows.iloc[1:],
        lambda rows: rows.assign(covariances="x"),
        lambda rows: rows.assign(covariances=np.nan),
    ],
)
def test_what_is_no_matrix_of_covariances_is_refused(measured, change):
    plan, _, report = measured
    with pytest.raises(SummaryError, match=r"two\.rows.*iris"):
        as_splits(change(report.covariances), plan.experiment.config, "two")


def test_compare_takes_rows_and_splits_apart(measured, knn_over_guess):
    plan, rows, _ = measured
    values = method_values(plan, rows, "accuracy", [{"dataset": ("iris",)}])
    result = compare_methods(values, 1, control="guess")
    estimate, row = knn_over_guess["iris"].estimate, result.table.loc["knn"]
    assert row["difference"] == pytest.approx(estimate.mean)
    assert (row["low"], row["high"]) == pytest.approx(estimate.interval(0.05))
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
    labels = ["dataset", "method", "max_depth", "split"]
    values = {
        (*map({**t.labels, "split": t.split}.get, labels),): values_from_text(
            rows[t.key].info["losses"]["accuracy"]
        )
        for t in plan.trials
    }
    given["losses"] = [" ".join(map(str, values[place])) for place in label_rows(given, labels)]
    given["n_train"] = given["n_test"] = given["dataset"].map(N_ROWS) // 2
    again = report_rows(plan.experiment, given)
    pd.testing.assert_frame_equal(again.claims, report.claims)
    best = report.cells.loc[report.cells["metric"] == "accuracy", "best"]
    assert again.cells["best"].tolist() == best.tolist()
    without = report_rows(plan.experiment, given.drop(columns="losses"))
    for one, lacks in ((without, True), (again, False)):
        assert ("without a column losses" in " ".join(one.remarks)) == lacks
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
    roots = as_splits(covariances_of_losses(losses, config), config, "two")
    found = roots.pivot(index="split", columns="method", values="value")[[*scales]].to_numpy()
    expected = np.cov([one.values for one in losses]) / 150
    assert found.T @ found == pytest.approx(expected, rel=1e-4)
