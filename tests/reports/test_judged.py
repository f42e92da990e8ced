import json
from dataclasses import asdict, replace

import pytest

from kernlearn.config import load_config
from kernlearn.engine.plan import chosen_by_mean
from kernlearn.reports import judged
from kernlearn.reports.claims import decide_claims
from kernlearn.reports.conclusions import judge_differences
from kernlearn.reports.summary import reported_runs, summarise, tidy_runs
from kernlearn.store import Store


@pytest.fixture
def measured(site):
    """The plan and the numbers of an experiment with claims and reported numbers."""
    plan = site.reports["held"].plan
    with Store(site.store, read_only=True) as store:
        runs = tidy_runs(plan, chosen_by_mean(plan, store.get(t.key for t in plan.trials)))
    return plan, runs, summarise(plan, runs)


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """How often claims are decided, with a cache of its own."""
    calls = []
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path))

    def counting(*arguments):
        calls.append(1)
        return decide_claims(*arguments)

    monkeypatch.setattr(judged, "decide_claims", counting)
    return calls


def plain(found):
    """As text, in which NaN equals NaN."""
    return json.dumps([[asdict(one) for one in part] for part in found])


def test_what_is_remembered_is_what_is_judged(measured, counted):
    plan, runs, summary = measured
    config = plan.experiment.config
    claims = decide_claims(runs, config, reported_runs(summary, plan.axes))
    expected = (claims, *judge_differences(runs, summary, config))
    assert all(map(len, expected))
    for _ in range(2):
        assert plain(judged.judge(plan, runs, summary)) == plain(expected)
    assert len(counted) == 1


def test_other_numbers_configs_and_code_are_judged_anew(measured, counted, monkeypatch, tmp_path):
    plan, runs, summary = measured
    judged.judge(plan, runs, summary)
    other = runs.copy()
    other.loc[other.index[-1], "value"] += 1e-12
    judged.judge(plan, other, summary)
    assert len(counted) == 2
    other = summary.copy()
    other.loc[summary["reported_mean"].first_valid_index(), "reported_mean"] += 1
    judged.judge(plan, runs, other)
    assert len(counted) == 3
    path = tmp_path / "held.yaml"
    path.write_text(plan.experiment.path.read_text().replace("over: all", "over: some"))
    judged.judge(replace(plan, experiment=load_config(path)), runs, summary)
    assert len(counted) == 4
    judged.judge(plan, runs, summary)
    monkeypatch.setattr(judged, "code", lambda: [("a.py", 1, 1)])
    judged.judge(plan, runs, summary)
    assert len(counted) == 6


def test_a_damaged_note_is_judged_anew(measured, counted, tmp_path):
    judged.judge(*measured)
    (note,) = (tmp_path / "notes").glob("judged-*")
    seal, text = note.read_text().split("\n")
    note.write_text(f"{seal}\n{json.dumps([[], [], []])}")
    assert len(judged.judge(*measured).claims) == 2
    assert len(counted) == 2
    assert text
