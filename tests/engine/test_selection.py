import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.selection import (
    Choice,
    check_choice,
    chosen,
    parse_only,
    trial_states,
)
from kernlearn.exceptions import SelectionError
from kernlearn.store import Store
from kernlearn.store.results import Result, utc_now


@pytest.fixture
def plan(small):
    return make_plan(load_config(small))


def labels(trials):
    return {(t.labels["dataset"], t.labels["method"], t.split) for t in trials}


def test_without_a_store_all_is_new(plan):
    states = trial_states(plan, None)
    assert set(states.values()) == {"new"}
    assert chosen(plan, states, Choice()) == plan.trials


def test_states_tell_numbers_failures_and_other_settings_apart(plan, small, tmp_path):
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        more = make_plan(load_config(small, settings=["splits=3"]))
        states = trial_states(more, store)
        assert [states[t.key] for t in more.trials] == [
            "new" if t.split == 2 else "cached" for t in more.trials
        ]
        other_seed = make_plan(load_config(small, settings=["seed=7", "splits=3"]))
        states = trial_states(other_seed, store)
        assert [states[t.key] for t in other_seed.trials] == [
            "new" if t.split == 2 else "stale" for t in other_seed.trials
        ]
        # what another profile measured is nothing that changed
        quick = make_plan(load_config(small, profile="quick", settings=["seed=7"]))
        assert set(trial_states(quick, store).values()) == {"new"}

        failed = other_seed.trials[0]
        run = store.begin_run("small", "full", 1, {})
        store.put(run, failed, Result(failed.key, "failed", utc_now(), 0.1, error="E: x"))
        states = trial_states(other_seed, store)
        assert states[failed.key] == "failed"
        assert failed not in chosen(other_seed, states, Choice())
        assert failed in chosen(other_seed, states, Choice(retry_failed=True))
        assert failed in chosen(other_seed, states, Choice(force=("waveform",)))


def test_force_takes_what_has_numbers_by_any_name(plan):
    states = dict.fromkeys((t.key for t in plan.trials), "cached")
    assert chosen(plan, states, Choice()) == []
    assert labels(chosen(plan, states, Choice(force=("moons",)))) == {
        k for k in labels(plan.trials) if k[0] == "moons"
    }
    assert labels(chosen(plan, states, Choice(force=("K", "H0/1")))) == {
        k for k in labels(plan.trials) if k[1] != "RF"
    }
    for everything in ("all", "small", "polynomial"):
        assert chosen(plan, states, Choice(force=(everything,))) == plan.trials


def test_only_leaves_what_matches_one_of_several(plan):
    states = trial_states(plan, None)
    only = tuple(map(parse_only, ("dataset=moons, method=K", "n_components=40,split=2")))
    found = chosen(plan, states, Choice(only=only))
    assert labels(found) == {
        ("moons", "K", 0),
        ("moons", "K", 1),
        ("moons", "RF", 1),
        ("waveform", "RF", 1),
    }


def test_a_label_that_is_given_twice_means_both_values(plan):
    only = (parse_only("dataset=moons,dataset=waveform,method=K,split=1"),)
    found = chosen(plan, trial_states(plan, None), Choice(only=only))
    assert labels(found) == {("moons", "K", 0), ("waveform", "K", 0)}
    assert parse_only("method=RF, tuned solver,dataset=a") == {
        "method": ("RF, tuned solver",),
        "dataset": ("a",),
    }


def test_the_data_sets_that_only_chooses(plan):
    config = plan.experiment.config
    both = Choice(only=(parse_only("dataset=moons"), parse_only("dataset=waveform,method=K")))
    assert both.datasets(config) == ["waveform", "moons"]
    assert Choice(only=(parse_only("dataset=moons"),)).datasets(config) == ["moons"]
    assert Choice(only=({"dataset": "moons"}, {"method": "K"})).datasets(config) == [
        "waveform",
        "moons",
    ]
    with pytest.raises(SelectionError, match=r"dataset=moon: no such value; did you mean 'moons'"):
        Choice(only=({"dataset": "moon"},)).datasets(config)
    with pytest.raises(SelectionError, match="repeat the label, as in dataset=moons,dataset="):
        Choice(only=(parse_only("dataset=moons,waveform"),)).datasets(config)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (Choice(force=("moon",)), "--force moon: nothing of that name; did you mean 'moons'?"),
        (Choice(only=({"methode": "K"},)), "no label 'methode'; did you mean 'method'?"),
        (Choice(only=({"method": "H01"},)), "--only method=H01: no such value; did you mean"),
        (Choice(only=({"method": "K", "n_components": "40"},)), "--only leaves no trial"),
    ],
)
def test_what_names_nothing_is_told(plan, choice, words):
    with pytest.raises(SelectionError, match=r".") as caught:
        chosen(plan, trial_states(plan, None), choice)
    assert words in str(caught.value)


@pytest.mark.parametrize("left", ["no trial", "others"])
@pytest.mark.parametrize(
    "choice",
    [Choice(force=("adult",)), Choice(only=({"dataset": "adult"},))],
    ids=["force", "only"],
)
def test_what_has_no_data_is_told(plan, choice, left):
    plan.left_out.append("adult")
    if left == "no trial":
        plan.trials.clear()
    with pytest.raises(SelectionError, match="small leaves out adult, not found; --data-dir or"):
        check_choice(plan, choice)


@pytest.mark.parametrize("text", ["", "method", "=K", "method=K,"])
def test_only_is_pairs(text):
    with pytest.raises(SelectionError, match="expected LABEL=VALUE"):
        parse_only(text)
