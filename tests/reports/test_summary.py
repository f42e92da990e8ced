import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.config.model import Tolerance
from kernlearn.config.names import METRICS
from kernlearn.engine import make_plan
from kernlearn.reports import summarise
from kernlearn.reports.report import remarks, selections
from kernlearn.reports.summary import COLUMNS, TIMES, is_cost, judged, tidy_runs
from kernlearn.store import Store
from tests.engine.stores import row_of


def invented(plan, value):
    """A result for every trial, its metrics made up by a function of the trial."""
    return {t.key: row_of(t, metrics=value(t)) for t in plan.trials}


def metrics_of(trial):
    slow = trial.labels["method"] == "K"
    return {
        "accuracy": 0.9 + 0.01 * trial.split,
        "fit_seconds": 2.0,
        "predict_seconds": 4.0 if slow else 0.5,
        **({"native_predict_seconds": 10.0} if slow else {}),
    }


def summary_of(plan, results):
    return summarise(plan, tidy_runs(plan, results))


def cell(frame, **labels):
    for label, value in labels.items():
        frame = frame[frame[label] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_mean_and_deviation_over_the_splits(plan):
    frame = summary_of(plan, invented(plan, metrics_of))
    assert list(frame.columns) == [*COLUMNS, *TIMES, "not_converged", "n_components"]
    row = cell(frame, dataset="moons", method="RF", n_components=40, metric="accuracy")
    assert row["mean"] == pytest.approx(0.905)
    assert row["std"] == pytest.approx(np.std([0.9, 0.91], ddof=1))
    assert row["n_splits"] == 2
    assert json.loads(row["params"]) == {"n_components": 40}
    assert row["verdict"] == ""


def test_a_time_has_its_median_and_an_interval(plan):
    def slower(trial):
        return {"accuracy": 0.9, "fit_seconds": 1.0 + 2.0 * trial.split}

    frame = summary_of(plan, invented(plan, slower))
    place = {"dataset": "moons", "method": "RF", "n_components": 40}
    seconds = cell(frame, **place, metric="fit_seconds")
    assert seconds[["median", "low", "high", "mean"]].tolist() == [2.0, 1.0, 3.0, 2.0]
    assert cell(frame, **place, metric="accuracy")[TIMES].isna().all()
    one = next(t for t in plan.trials if t.labels["method"] == "K")
    alone = summary_of(plan, {one.key: invented(plan, slower)[one.key]})
    row = cell(alone, metric="fit_seconds")
    assert row["median"] == 1.0
    assert row[["low", "high"]].isna().all()
    (said,) = [r for r in remarks(plan, invented(plan, slower)) if r.startswith("times are")]
    assert "medians over 2 splits" in said
    assert "probability of 50.0% in brackets" in said


def test_derived_metrics_divide_by_the_baseline_of_the_same_data(plan):
    frame = summary_of(plan, invented(plan, metrics_of))
    speedups = frame[frame["metric"] == "speedup"]
    assert set(speedups["method"]) == {"RF", "H0/1"}
    np.testing.assert_allclose(speedups["mean"], 20.0)


def test_half_a_run_is_summarised_as_far_as_it_goes(plan):
    results = invented(plan, metrics_of)
    for trial in plan.trials[3:]:
        del results[trial.key]
    frame = summary_of(plan, results)
    accuracies = frame[frame["metric"] == "accuracy"].set_index("method")["n_splits"]
    assert accuracies.to_dict() == {"K": 2, "RF": 1}
    assert summary_of(plan, {}).empty


def test_spread_and_tolerance_decide_each_by_the_rule_of_its_metric(plan):
    rules = {
        "accuracy": Tolerance(absolute=0.01, level=0.05, reported_splits=20),
        "fit_seconds": Tolerance(relative=0.1),
    }
    config = plan.experiment.config.model_copy(update={"verdict": rules})
    rows = [
        ("accuracy", 0.90, 0.05, 5, 0.905, 0.01, "match"),
        ("accuracy", 0.92, 0.05, 5, 0.905, 0.01, "match within spread"),
        ("accuracy", 0.92, 0.05, 1, 0.905, 0.01, "better"),
        ("accuracy", 0.89, 0.001, 5, 0.905, np.nan, "worse"),
        ("accuracy", np.nan, np.nan, np.nan, 0.905, 0.01, "not run"),
        ("accuracy", 0.9, 0.05, 5, np.nan, np.nan, ""),
        ("fit_seconds", 0.5, 0.5, 5, 1.0, np.nan, "better"),
        ("speedup", 5.0, np.nan, 5, 9.0, np.nan, ""),
    ]
    names = ["metric", "mean", "std", "n_splits", "reported_mean", "reported_std", "expected"]
    frame = pd.DataFrame(rows, columns=names).assign(dataset="moons", method="K")
    assert judged(frame, config) == list(frame["expected"])


def test_times_and_what_is_divided_by_them_are_times(plan):
    config = plan.experiment.config
    timed = [m for m in (*METRICS, *config.derived) if is_cost(m, config)]
    assert "speedup" in timed
    assert "fit_cpu_seconds" in timed
    assert not {"accuracy", "n_support", "gram_error"} & {*timed}


def test_reported_numbers_of_metrics_that_a_config_does_not_know_are_left_out(small):
    labels = "reported: table3_1.csv\nverdict: {accuracy: {absolute: 0.015}}\n"
    text = small.read_text().replace("waveform:", "spambase:").replace("speedup", "gain")
    small.write_text(text + labels)
    frame = summary_of(make_plan(load_config(small)), {})
    # the paper's speed-ups have other names than this config's
    assert {"accuracy", "fit_seconds"} <= set(frame["metric"])
    assert not frame["metric"].str.contains("speedup").any()
    assert set(frame["dataset"]) == {"spambase"}
    assert set(frame["verdict"]) == {"not run", ""}


@pytest.mark.data
def test_table3_1_lays_every_reported_number_beside_its_cell():
    plan = make_plan(load_config("table3_1", settings=["splits=1"]))
    frame = summary_of(plan, invented(plan, metrics_of))
    accuracies = frame[(frame["metric"] == "accuracy") & frame["reported_mean"].notna()]
    assert len(accuracies) == 36
    assert set(accuracies["method"]) == {"K", "RF", "H0/1"}
    row = cell(accuracies, dataset="ijcnn1", kernel="exponential", method="H0/1")
    assert (row["reported_mean"], row["n_components"]) == (0.922, 200)
    assert row["verdict"] == "worse"
    times = frame[(frame["metric"] == "native_predict_seconds") & frame["reported_mean"].notna()]
    assert set(times["method"]) == {"K"}


@pytest.mark.data
def test_other_parameters_than_the_papers_have_no_reported_number():
    settings = ["splits=1", "methods.RF.n_components=77", "metrics=[accuracy]"]
    plan = make_plan(load_config("table3_1", settings=settings))
    frame = summary_of(plan, invented(plan, metrics_of))
    shown = frame[(frame["metric"] == "accuracy") & (frame["method"] == "RF")]
    assert shown[shown["n_components"] == 77]["verdict"].eq("").all()
    assert shown[shown["n_components"] != 77]["verdict"].eq("not run").all()


@pytest.mark.data
def test_what_is_left_out_on_purpose_is_not_called_not_run():
    settings = ["splits=1", "only=[{dataset: nursery, kernel: polynomial}]"]
    plan = make_plan(load_config("table3_1", settings=settings))
    frame = summary_of(plan, invented(plan, metrics_of))
    assert set(frame["dataset"]) == {"nursery"}
    assert set(frame["kernel"]) == {"polynomial"}
    assert "not run" not in set(frame["verdict"])


def test_remarks_tell_what_the_numbers_do_not(plan):
    results = invented(plan, metrics_of)
    first, second, third, fourth = plan.trials[:4]
    results[first.key].info.update(positive=["2"], contended=True, selected={"C": 10})
    results[second.key].info.update(selected={"C": 0.1})
    results[third.key] = row_of(third, error="ValueError: no")
    del results[fourth.key]
    said = "\n".join(remarks(plan, results))
    assert "waveform: positive classes 2" in said
    assert f"failed: {third}: ValueError: no" in said
    assert "1 of 16 trials not run yet" in said
    assert "times of 1 of 14 trials" in said
    chosen = [s for s in selections(plan, results) if s["method"] == "K"]
    assert chosen[0]["selected"] == {'{"C":10}': 1, '{"C":0.1}': 1}
    assert pd.DataFrame(chosen)["dataset"].eq("waveform").all()


def test_a_store_of_other_trials_is_passed_over(plan, tmp_path):
    with Store(tmp_path / "s") as store:
        assert store.get(t.key for t in plan.trials) == {}


def test_reported_numbers_without_a_kernel_stand_where_the_config_has_them(
    plan, tmp_path, monkeypatch
):
    reported = tmp_path / "numbers.csv"
    reported.write_text(
        "dataset,method,metric,mean\nwaveform,K,accuracy,0.8\nmoons,K,accuracy,0.9\n"
    )
    monkeypatch.setattr("kernlearn.config.entries.shipped", lambda kind: tmp_path)
    config = plan.experiment.config.model_copy(update={"reported": "numbers.csv"})
    experiment = plan.experiment.model_copy(update={"config": config})
    moons = replace(plan, trials=[t for t in plan.trials if t.labels["dataset"] == "moons"])
    found = invented(moons, metrics_of)
    frame = summary_of(replace(plan, experiment=experiment), found)
    # waveform was not run, and comes first all the same
    assert list(dict.fromkeys(frame["dataset"])) == ["waveform", "moons"]
