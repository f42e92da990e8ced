import json
from dataclasses import replace

import pytest

from kernlearn.config import load_config
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan
from kernlearn.engine.estimates import Estimates, committed_seconds
from kernlearn.engine.selection import (
    in_order,
    longest_first,
    rows_first,
    seconds_in_order,
)
from tests.engine.stores import begun, done, trial


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
        ("m", "e", {"n": 20}, 12.0),
        ("other", "e", {}, 31.0),
    ):
        estimates.add(labels(method, dataset, **axes), seconds)
    assert estimates.seconds(cell(n=10)) == 2.0  # the same cell
    assert estimates.seconds(cell(n=20)) == 7.0  # the same method: the mean of its cells
    assert estimates.seconds(cell("new")) == 15.0  # all cells


def test_what_is_done_here_counts_before_committed_results():
    committed = Estimates([(labels("a"), 1.0)])._done
    estimates = Estimates((), dict.fromkeys(committed, 5.0))
    assert estimates.seconds(cell("a")) == 5.0
    estimates.add(labels("a"), 2.0)
    assert estimates.seconds(cell("a")) == 2.0


def test_a_total_shares_out_but_is_no_shorter_than_the_longest():
    estimates = Estimates([(labels(), 4.0)])
    trials = [cell(split=i) for i in range(5)]
    assert [estimates.total(trials, slots=n) for n in (1, 2, 100)] == [20.0, 10.0, 4.0]
    assert estimates.total([]) == 0.0
    assert Estimates().total(trials) is None


def test_they_come_from_the_finished_rows_of_the_same_profile(small, tmp_path):
    plan = make_plan(load_config(small))
    with begun(tmp_path / "s", "small") as (store, put):
        first = plan.trials[0]
        put(first, done(first))
        assert Estimates.of(plan, store).seconds(first) == 1.5
        assert Estimates.of(plan, None).seconds(first) is None
        quick = make_plan(load_config(small, profile="quick"))
        assert Estimates.of(quick, store).seconds(first) is None


@pytest.mark.parametrize("name", ["figure3_1", "table4_2"])
def test_a_fresh_clone_knows_the_committed_seconds(name):
    plan = make_plan(load_config(name), available=True)
    place = shipped("reported").parent / "measured" / f"{name}.json"
    assert committed_seconds(plan.experiment)
    total = Estimates.of(plan, None).total(plan.trials)
    if not plan.left_out:
        assert total == pytest.approx(json.loads(place.read_text())["trial_seconds"], rel=0.05)


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
