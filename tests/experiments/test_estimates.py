import json
from dataclasses import replace
from itertools import product
from math import exp

import numpy as np
import pytest

from kernlearn.datasets.resources import shipped
from kernlearn.experiments import load_config, make_plan
from kernlearn.experiments.engine import committed
from kernlearn.experiments.engine.estimates import Estimates, Work, sample_first, speed, works
from kernlearn.experiments.engine.selection import (
    in_order,
    longest_first,
    rows_first,
    seconds_in_order,
)
from kernlearn.experiments.engine.spec import cell_key
from tests.experiments.stores import begun, done, trial


def cell(method="m", dataset="d", split=0, **axes):
    made = trial(method, split, **axes)
    made.labels["dataset"] = dataset
    return replace(made, key=f"{made.key} {dataset}")


def labels(method="m", dataset="d", **axes):
    return {"dataset": dataset, "kernel": None, "method": method, **axes}


def test_the_closest_that_is_known_counts():
    estimates = Estimates()
    assert estimates.seconds(cell()) is None
    for method, dataset, axes, seconds in (
        ("m", "d", {"n": 10}, 1.0),
        ("m", "d", {"n": 10}, 3.0),
        ("m", "d", {"n": 20}, 5.0),
        ("m", "e", {"n": 20}, 11.0),
        ("other", "e", {}, 300.0),
    ):
        estimates.add(labels(method, dataset, **axes), seconds)
    assert estimates.seconds(cell(n=10)) == pytest.approx(2.0, rel=0.2)  # the same cell
    # the same data set and method, along the parameter
    assert 3 < estimates.seconds(cell(n=20)) < estimates.seconds(cell(n=40)) < 30
    # the same method on another data set, then another method
    assert 1 < estimates.seconds(cell(dataset="f", n=10)) < 20
    assert estimates.seconds(cell("new", dataset="f")) > 5


def test_slow_methods_on_large_data_are_told_from_the_others():
    """Each effect is seen alone; cells where several come together are estimated from them."""
    rng = np.random.default_rng(0)
    slow, large = {"a": 1.0, "b": 30.0, "c": 0.1}, {"d": 1.0, "e": 8.0, "f": 0.2, "g": 2.0}
    true = {
        (m, d, n): slow[m] * large[d] * n / 10 * exp(rng.normal(0, 0.1))
        for m, d, n in product(slow, large, (10, 30, 100))
    }
    trials = [cell(m, d, n=n, split=i) for m, d, n in true for i in range(5)]
    estimates = Estimates()
    todo = sample_first(trials, estimates)
    assert sorted(map(str, todo)) == sorted(map(str, trials))
    tenth = len(todo) // 10
    assert len({(t.labels["method"], t.labels["dataset"]) for t in todo[:tenth]}) == 12
    seconds = [true[t.labels["method"], t.labels["dataset"], t.labels["n"]] for t in todo]
    for t, s in zip(todo[:tenth], seconds[:tenth], strict=True):
        estimates.add(t.labels, s)
    for start in range(tenth, len(todo) - tenth, tenth):
        ratio = estimates.total(todo[start:]) / sum(seconds[start:])
        assert 0.5 < ratio < 2, start
        for t, s in zip(todo[start : start + tenth], seconds[start:], strict=False):
            estimates.add(t.labels, s)


def test_the_work_of_a_selection_and_the_number_of_rows_count():
    keys = {name: cell_key(labels(name)) for name in ("few", "many", "wide")}
    work = {keys["few"]: Work(2), keys["many"]: Work(40), keys["wide"]: Work(2, rows=100_000)}
    estimates = Estimates([(labels("few"), 1.0)], work)
    assert estimates.seconds(cell("many")) > 5 * estimates.seconds(cell("few"))
    assert estimates.seconds(cell("wide")) > 5 * estimates.seconds(cell("few"))


def test_works_of_a_plan(small):
    plan = make_plan(load_config(small))
    found = {(k["dataset"], k["method"]): w for key, w in works(plan).items() if (k := dict(key))}
    assert found["waveform", "K"] == Work(fits=3, rows=180)
    assert found["moons", "RF"] == Work(fits=1, rows=120)


def test_a_total_shares_out_but_is_no_shorter_than_the_longest():
    estimates = Estimates([(labels(), 4.0)] * 50)
    trials = [cell(split=i) for i in range(5)]
    assert estimates.total(trials) == pytest.approx(20.0, rel=0.02)
    assert estimates.total(trials, slots=2) == pytest.approx(10.0, rel=0.02)
    assert estimates.total(trials, slots=100) == pytest.approx(4.0, rel=0.02)
    assert estimates.total([]) == 0.0
    assert Estimates().total(trials) is None


def test_they_come_from_the_finished_rows_of_the_same_profile(small, tmp_path):
    plan = make_plan(load_config(small))
    with begun(tmp_path / "s", "small") as (store, put):
        first = plan.trials[0]
        put(first, done(first))
        estimates = Estimates.of(plan, store)
        assert estimates.seconds(first) == pytest.approx(1.5, rel=0.2)
        assert Estimates.of(plan, None).seconds(first) is None
        quick = make_plan(load_config(small, profile="quick"))
        assert Estimates.of(quick, store).seconds(first) is None


@pytest.mark.parametrize("name", ["demo_features", "figure3_1", "table4_2"])
def test_a_fresh_clone_knows_the_committed_seconds(name):
    """`plan` said "time unknown", though results/measured holds seconds."""
    plan = make_plan(load_config(name), available=True)
    place = shipped("reported").parent / "measured" / f"{name}.json"
    if not place.exists():
        assert committed.committed_seconds(plan.experiment, {}) == {}
        assert Estimates.of(plan, None).total(plan.trials) is None
        return
    found = works(plan)
    fits = {key: work.fits for key, work in found.items()}
    seconds = committed.committed_seconds(plan.experiment, fits)
    assert seconds.keys() >= found.keys()
    total = Estimates((), found, seconds).total(plan.trials)
    if not plan.left_out:
        assert total == pytest.approx(json.loads(place.read_text())["trial_seconds"], rel=0.05)
    # scaled to this machine
    assert 0.5 < Estimates.of(plan, None).total(plan.trials) / total / speed() < 2


@pytest.mark.parametrize("name", ["figure3_1", "figure5_2a", "figure5_3", "further_buffers"])
def test_honest_within_a_factor_of_two_after_the_first_tenth(name):
    """An experiment that no results are committed of, replayed with its measured seconds."""
    plan = make_plan(load_config(name), available=True)
    work = works(plan)
    true = committed.committed_seconds(plan.experiment, {k: w.fits for k, w in work.items()})
    if not true:
        pytest.skip("no committed results")
    estimates = Estimates((), work)
    todo = sample_first(rows_first(plan.trials, plan, estimates), estimates)
    seconds = [true[cell_key(t.labels)] for t in todo]
    tenth = len(todo) // 10
    for start in range(0, len(todo) - tenth, tenth):
        if start:
            assert 0.5 < estimates.total(todo[start:]) / sum(seconds[start:]) < 2, start
        for t, s in zip(todo[start : start + tenth], seconds[start:], strict=False):
            estimates.add(t.labels, s)


def test_seconds_elsewhere_follow_the_method_and_a_little_the_others():
    methods = ("a", "b", "c")
    elsewhere = {cell_key(labels(m, d)): 1.0 for m in methods for d in "defghi"}
    estimates = Estimates((), None, elsewhere)
    assert estimates.seconds(cell("a", "d")) == 1.0
    for dataset in "defg":
        estimates.add(labels("a", dataset), 10.0)
        estimates.add(labels("b", dataset), 2.0)
    assert 4 < estimates.seconds(cell("a", "h")) < 10
    assert 1.5 < estimates.seconds(cell("b", "h")) < 2.5
    # the median of 1 and both ratios
    assert estimates.seconds(cell("c", "h")) == pytest.approx(2.0)


def test_time_beside_fitting_is_shared_out(tmp_path):
    """Where a summary lacks the seconds of cells: half of it by the fits of a selection."""
    rows = [
        f"e,d,,{m},{{}},{metric},{mean},0,10,,,"
        for m, mean in (("slow", 2.0), ("fast", 0.5), ("fixed", 1.0))
        for metric in ("fit_seconds", "fit_cpu_seconds")
    ]
    head = "experiment,dataset,kernel,method,params,metric,mean,std,n_splits,reported_mean,x,y"
    path = tmp_path / "e.csv"
    path.write_text("\n".join([head, *rows]))
    keys = {m: cell_key(labels(m)) for m in ("slow", "fast", "fixed")}
    fits = {keys["slow"]: 5.0, keys["fast"]: 5.0}
    found = committed._from_means(path, 10 * (3.5 + 6), fits)
    assert found == {keys["slow"]: 2 + 1 + 2.4, keys["fast"]: 0.5 + 1 + 0.6, keys["fixed"]: 1 + 1}
    assert committed._from_means(path, 10 * (3.5 + 6), {})[keys["fixed"]] == 3.0


def test_seconds_of_cells_in_a_summary_come_first(small, tmp_path, monkeypatch):
    plan = make_plan(load_config(small))
    folder = tmp_path / "reported"
    monkeypatch.setattr(
        committed, "shipped", lambda kind: folder if kind == "reported" else tmp_path
    )
    seconds = {json.dumps(t.labels): 7.0 for t in plan.trials}
    (tmp_path / "measured").mkdir()
    file = tmp_path / "measured" / "small.json"
    file.write_text(json.dumps({"seconds": seconds, "trial_seconds": 0.0}))
    found = committed.committed_seconds(plan.experiment, {})
    assert found == {cell_key(t.labels): 7.0 for t in plan.trials}
    # seconds elsewhere follow what the first trials take here
    estimates = Estimates((), works(plan), found)
    before = estimates.total(plan.trials)
    for t in plan.trials[:4]:
        estimates.add(t.labels, 70.0)
    assert estimates.total(plan.trials[4:]) > 4 * before


@pytest.mark.parametrize("rows", ["[dataset]", "[method]", "[method, dataset]"])
def test_rows_of_the_table_are_finished_one_after_the_other(small, rows):
    text = small.read_text().replace("rows: [dataset, method, n_components]", f"rows: {rows}")
    small.write_text(text)
    plan = make_plan(load_config(small))
    names = rows.strip("[]").split(", ")

    def row(trial):
        return tuple(trial.labels[n] for n in names)

    # the table's first row takes the longest
    slow = row(plan.trials[0])
    estimates = Estimates((t.labels, 9.0 if row(t) == slow else 1.0) for t in plan.trials)
    ordered = rows_first(plan.trials, plan, estimates)
    assert sorted(t.key for t in ordered) == sorted(t.key for t in plan.trials)
    visited = list(dict.fromkeys(map(row, ordered)))
    # each row is a run of its own, and the slow one comes last
    assert [row(t) for t in ordered] == [r for r in visited for t in plan.trials if row(t) == r]
    assert visited[-1] == slow
    # where nothing is known it is the table's order
    unknown = rows_first(plan.trials, plan, Estimates())
    assert list(dict.fromkeys(map(row, unknown))) == list(dict.fromkeys(map(row, plan.trials)))


def test_the_longest_come_first_where_several_run_at_a_time(small):
    plan = make_plan(load_config(small))
    methods = list(dict.fromkeys(t.labels["method"] for t in plan.trials))
    estimates = Estimates((t.labels, 1.0 + methods.index(t.labels["method"])) for t in plan.trials)
    ordered = longest_first(plan.trials, plan, estimates)
    assert sorted(t.key for t in ordered) == sorted(t.key for t in plan.trials)
    seconds = [estimates.seconds(t) for t in ordered]
    assert seconds == sorted(seconds, reverse=True)
    assert len(set(seconds)) > 1
    # where nothing is known it is the order of the rows
    assert longest_first(plan.trials, plan, Estimates()) == rows_first(
        plan.trials, plan, Estimates()
    )


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_expected_seconds_of_several_at_a_time(small, slots):
    plan = make_plan(load_config(small))
    methods = list(dict.fromkeys(t.labels["method"] for t in plan.trials))
    estimates = Estimates((t.labels, 1.0 + methods.index(t.labels["method"])) for t in plan.trials)
    assert in_order(plan.trials, plan, estimates) == rows_first(plan.trials, plan, estimates)
    ordered = in_order(plan.trials, plan, estimates, slots)
    # the next trial goes to whoever is free first
    busy = [0.0] * slots
    for one in ordered:
        busy[busy.index(min(busy))] += estimates.seconds(one)
    assert seconds_in_order(ordered, estimates, slots) == pytest.approx(max(busy))
    assert seconds_in_order(ordered, Estimates(), slots) is None
    assert seconds_in_order([], estimates, slots) == 0.0


def test_what_is_half_done_is_finished_before_the_rest(small):
    plan = make_plan(load_config(small))
    estimates = Estimates((t.labels, 1.0) for t in plan.trials)
    todo = [t for t in plan.trials if not (t.labels["method"] == "H0/1" and t.split == 0)]
    assert rows_first(todo, plan, estimates)[0].labels["method"] == "H0/1"


def test_what_is_known_needs_no_sample(small):
    plan = make_plan(load_config(small))
    known = Estimates((t.labels, 1.0) for t in plan.trials)
    assert sample_first(plan.trials, known) == plan.trials
