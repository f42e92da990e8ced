"""A run against its baseline: what moved, what is missing, and what is excused."""

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


def fill(store, plan, change=lambda trial, metrics: metrics):
    """Put made-up numbers of every trial into a store; None leaves a trial out."""
    for trial in plan.trials:
        metrics = change(trial, {"accuracy": 0.9 + 0.02 * trial.split, "fit_seconds": 2.0})
        if metrics is not None:
            spec = {"split": trial.split}
            date = "2026-01-01T00:00:00+00:00"
            store.put(Row(trial.key, "small", trial.labels, spec, date, metrics=metrics))


@pytest.fixture
def baseline(plan, tmp_path):
    with Store(tmp_path / "first") as store:
        fill(store, plan)
        write_summary(assemble(plan, store), tmp_path / "baseline")
    return tmp_path / "baseline"


@pytest.fixture
def checked(plan, baseline, tmp_path):
    def check(change=lambda trial, metrics: metrics):
        with Store(tmp_path / "second") as store:
            fill(store, plan, change)
            return check_plan(plan, store, baseline)

    return check


def of(method, values):
    """Change the numbers of one method on moons."""

    def change(trial, metrics):
        here = trial.labels["method"] == method and trial.labels["dataset"] == "moons"
        return values(metrics) if here else metrics

    return change


def outcomes(frame):
    """Count what did not pass."""
    return frame[frame["outcome"].isin(FAILURES)].groupby("outcome").size().to_dict()


def test_the_same_numbers_pass(checked):
    frame = checked()
    assert set(frame["outcome"]) == {"same"}
    assert len(frame) == 2 * 4  # data sets, methods with their parameters; no times


def test_a_wrong_number_is_named(checked):
    frame = checked(of("K", lambda metrics: {**metrics, "accuracy": 0.5}))
    assert outcomes(frame) == {"moved": 1}
    (row,) = frame[frame["outcome"] == "moved"].to_dict("records")
    assert (row["dataset"], row["kernel"], row["method"], row["metric"]) == (
        "moons",
        "polynomial",
        "K",
        "accuracy",
    )
    assert (row["baseline"], row["measured"]) == (0.91, 0.5)
    assert row["difference"] == pytest.approx(-0.41)
    assert row["allowed"] < 0.1


def test_times_are_not_compared(checked):
    slower = checked(of("K", lambda metrics: {**metrics, "fit_seconds": 1e6}))
    assert outcomes(slower) == {}


def test_cells_missing_on_either_side(checked, baseline):
    path = baseline / "small.csv.gz"
    table = pd.read_csv(path)
    gone = (table["dataset"] == "moons") & (table["method"] == "K")
    table[~gone].to_csv(path, index=False)
    frame = checked(of("RF", lambda metrics: None))
    # two numbers of features
    assert outcomes(frame) == {"missing": 2, "new": 1}
    assert set(frame.loc[frame["outcome"] == "missing", "method"]) == {"RF"}


def rows(*numbers, metric="accuracy"):
    """Cells with a row for each mean, deviation and number of splits."""
    labels = ["e", None, "m", '{"C":1}', metric]
    frame = pd.DataFrame(
        [["e", f"d{i}", *labels[1:], *number] for i, number in enumerate(numbers)],
        columns=[*KEY, "mean", "std", "n_splits"],
    )
    numbers = ["mean", "std", "n_splits"]
    frame[numbers] = frame[numbers].replace("", np.nan).astype(float)
    return frame.assign(drift=0.0)


def test_what_was_measured_between_processors_may_come_back(plan):
    before = rows(("0.9", "0", 2), ("0.8", "0", 2)).assign(drift=[0.001, 0.0])
    now = rows(("0.902", "0", 2), ("0.8001", "0", 2))
    frame = compare_cells(now, before, plan.experiment.config)
    assert list(frame["outcome"]) == ["within drift", "moved"]


@pytest.mark.parametrize(
    ("metric", "before", "now", "outcome"),
    [
        ("accuracy", ("0.9", "0.1", 2), ("0.9", "0.1", 2), "same"),
        ("n_samples", ("0.9", "0.1", 2), ("0.900001", "0.1", 2), "moved"),
        ("accuracy", ("0.9", "0", 2), ("0.92", "0", 2), "within drift"),
        ("accuracy", ("0.9", "0", 2), ("0.9201", "0", 2), "moved"),
        ("mse", ("-1", "0", 2), ("-1.02", "0", 2), "within drift"),
        ("neg_mean_squared_error", ("-0.01", "0", 2), ("-0.02", "0", 2), "moved"),
        ("accuracy", ("1", "0.2", 2), ("1.1", "0.2", 2), "within drift"),
        ("accuracy", ("1", "0.2", 2), ("1.11", "0.2", 2), "moved"),
        # another spread is noticed where the mean is the same, and where it drifted
        ("accuracy", ("0.9", "0.1", 2), ("0.9", "0.1009", 2), "same"),
        ("accuracy", ("0.9", "0.1", 2), ("0.9", "0.102", 2), "other spread"),
        ("accuracy", ("0.9", "0.1", 2), ("0.905", "0.2", 2), "other spread"),
        # what a run scatters does not excuse it, and one split says nothing of scatter
        ("accuracy", ("1", "0.2", 2), ("1.11", "5", 2), "moved"),
        ("accuracy", ("1", "", 1), ("1.03", "", 1), "moved"),
        ("mse", ("inf", "0", 2), ("inf", "0", 2), "same"),
        ("mse", ("1", "0", 2), ("", "", ""), "missing"),
        ("mse", ("", "", ""), ("1", "0", 2), "new"),
    ],
)
def test_how_far_a_number_may_drift(plan, metric, before, now, outcome):
    sides = (rows(now, metric=metric), rows(before, metric=metric))
    assert list(compare_cells(*sides, plan.experiment.config)["outcome"]) == [outcome]


def test_what_is_not_to_be_had_is_left_out(plan):
    before, now = rows(("0.9", "0.1", 2), ("0.9", "0.1", 2)), rows(("0.9", "0.1", 2))
    frame = compare_cells(now, before, plan.experiment.config, {"d1"})
    assert list(frame["outcome"]) == ["same", "left out"]
    # what is measured all the same is compared
    frame = compare_cells(rows(("0.1", "0.1", 2)), before, plan.experiment.config, {"d0"})
    assert list(frame["outcome"]) == ["moved", "missing"]


@pytest.mark.parametrize(
    ("metric", "before", "allowed"),
    [
        ("accuracy", "0.5", 0.02),
        ("error_percent", "50", 2.0),
        ("mse", "0.5", 0.01),
        ("r2", "0.05", 0.02),
        ("sparsity", "5", 0.1),  # not measured but derived
        ("n_samples", "500", 0.0),
    ],
)
def test_how_far_a_metric_may_drift_where_the_config_does_not_say(plan, metric, before, allowed):
    frame = rows((before, "0.001", 2), metric=metric)
    found = compare_cells(frame, frame, plan.experiment.config)
    np.testing.assert_allclose(found["allowed"], [allowed])
    wide = rows((before, "1000", 2), metric=metric)
    found = compare_cells(wide, wide, plan.experiment.config)
    np.testing.assert_allclose(found["allowed"], [500 if allowed > 0 else allowed])


def test_a_baseline_of_another_profile_is_none(plan, baseline, small, tmp_path):
    quick = make_plan(load_config(small, profile="quick"))
    with Store(tmp_path / "second") as store:
        fill(store, quick)
        with pytest.raises(SummaryError, match=r"--profile full"):
            check_plan(quick, store, baseline)
