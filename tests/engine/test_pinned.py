"""Defaults in configs: those of the class, or with ``defaults: papers`` the former ones.

former_defaults.json has those that the results in results/measured were computed with.
"""

import json
from inspect import signature
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.config.methods import components
from kernlearn.config.pinned import PINNED
from kernlearn.config.registry import BUILT_IN, ESTIMATORS
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan
from kernlearn.engine.build import build_estimator
from tests.shipped import NEEDED

FORMER = json.loads(Path(__file__).with_name("former_defaults.json").read_text("utf-8"))
CONFIGS = sorted(shipped("configs").glob("*.yaml"), key=lambda path: path.name)
# What new parameters are by default, where that is none of None, False and 0.
# The share of held-out points is used only where something else asks for such points.
BEFORE = {"validation_fraction": [0.2]}
MINE = """
title: my data
task: regression
datasets: {mine: {file: mine.csv, target: y}}
methods:
  R: {estimator: RegLand}
  S: {steps: [sklearn.preprocessing.StandardScaler, {estimator: RegLand, C: 2.0}]}
  L: {estimator: LinearSVMRegressor}
metrics: [mse]
"""


@pytest.mark.parametrize("name", FORMER)
def test_pinned_defaults_are_the_former_ones(name):
    """A parameter that is new since must change nothing by default."""
    found = {k: p.default for k, p in signature(ESTIMATORS[name].load()).parameters.items()}
    changed = {k: v for k, v in PINNED.get(name, {}).items() if v != found[k]}
    assert changed == PINNED.get(name, {})
    for key, value in (found | changed).items():
        if key in FORMER[name]:
            assert FORMER[name][key] in (None, repr(value)), key
        else:
            assert key in changed or value in (None, False, 0, *BEFORE.get(key, ())), key


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_say_whose_defaults_they_take(path):
    pytest.importorskip(NEEDED.get(path.stem, "kernlearn"))
    config = load_config(path).config
    for label, entry in config.methods.items():
        for step, estimator in components(entry, config.scope):
            prefix = f"{step}__" if step else ""
            stated = {key.removeprefix(prefix) for key in entry.parameters}
            changed = set(estimator.pinned) - stated - {estimator.takes}
            assert not changed or config.defaults == "papers", (label, changed)


def trials_of(folder, text):
    lines = ["a,b,y", *(f"{i % 7 + 0.5},{i % 3},{(i % 7) * 1.5 + i % 3}" for i in range(40))]
    (folder / "mine.csv").write_text("\n".join(lines), "utf-8")
    (folder / "mine.yaml").write_text(text, "utf-8")
    trials = make_plan(load_config(folder / "mine.yaml")).trials
    return {trial.labels["method"]: trial for trial in trials if trial.split == 0}


def test_a_config_of_ones_own_has_the_defaults_of_the_classes(tmp_path):
    own = trials_of(tmp_path, MINE)
    papers = trials_of(tmp_path, MINE + "defaults: papers\n")
    found = {label: build_estimator(trial, BUILT_IN, None) for label, trial in own.items()}
    former = {label: build_estimator(trial, BUILT_IN, None) for label, trial in papers.items()}
    assert (found["R"].C, found["R"].fit_intercept) == ((0.1, 1, 10, 100), True)
    assert (former["R"].C, former["R"].fit_intercept) == (1.0, False)
    steps = found["S"]["regland"], former["S"]["regland"]
    assert [(step.C, step.fit_intercept) for step in steps] == [(2.0, True), (2.0, False)]
    # other numbers, another key; what has not changed keeps its key
    assert {label for label in own if own[label].key == papers[label].key} == {"L"}
    all_given = "RegLand, C: 1.0, fit_intercept: false, loss: epsilon_insensitive"
    stated = MINE.replace("RegLand", all_given, 1)
    assert trials_of(tmp_path, stated)["R"].key == (
        trials_of(tmp_path, stated + "defaults: papers\n")["R"].key
    )
