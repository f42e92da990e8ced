import pytest

from kernlearn.experiments import load_config, make_plan
from kernlearn.experiments.engine.selection import Estimates, rows_first
from tests.experiments.stores import begun, done, trial


def cell(method="m", dataset="d", split=0, **axes):
    made = trial(method, split, **axes)
    made.labels["dataset"] = dataset
    return made


def test_the_closest_that_is_known_counts():
    estimates = Estimates()
    assert estimates.seconds(cell()) is None
    for labels, seconds in (
        ({"dataset": "d", "kernel": None, "method": "m", "n": 10}, 1.0),
        ({"dataset": "d", "kernel": None, "method": "m", "n": 10}, 3.0),
        ({"dataset": "d", "kernel": None, "method": "m", "n": 20}, 5.0),
        ({"dataset": "e", "kernel": None, "method": "m", "n": 20}, 11.0),
        ({"dataset": "e", "kernel": None, "method": "other"}, 30.0),
    ):
        estimates.add(labels, seconds)
    assert estimates.seconds(cell(n=10)) == 2.0  # the same cell
    assert estimates.seconds(cell(n=30)) == 3.0  # the same data set and method
    assert estimates.seconds(cell(dataset="f", n=10)) == 5.0  # the same method
    assert estimates.seconds(cell("new")) == 10.0  # all


def test_a_total_shares_out_but_is_no_shorter_than_the_longest():
    estimates = Estimates([({"dataset": "d", "kernel": None, "method": "m"}, 4.0)])
    trials = [cell(split=i) for i in range(5)]
    assert estimates.total(trials) == 20.0
    assert estimates.total(trials, slots=2) == 10.0
    assert estimates.total(trials, slots=100) == 4.0
    assert estimates.total([]) == 0.0
    assert Estimates().total(trials) is None


def test_they_come_from_the_finished_rows_of_the_same_profile(small, tmp_path):
    plan = make_plan(load_config(small))
    with begun(tmp_path / "s", "small") as (store, put):
        first = plan.trials[0]
        put(first, done(first))
        estimates = Estimates.of(plan, store)
        assert estimates.seconds(first) == 1.5
        assert Estimates.of(plan, None).seconds(first) is None
        quick = make_plan(load_config(small, profile="quick"))
        assert Estimates.of(quick, store).seconds(first) is None


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


def test_what_is_half_done_is_finished_before_the_rest(small):
    plan = make_plan(load_config(small))
    estimates = Estimates((t.labels, 1.0) for t in plan.trials)
    todo = [t for t in plan.trials if not (t.labels["method"] == "H0/1" and t.split == 0)]
    assert rows_first(todo, plan, estimates)[0].labels["method"] == "H0/1"
