"""The shortlist: grids of one size, entries that a config takes, and rules."""

import numpy as np
import pytest
import scipy.sparse as sp
import yaml
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import StandardScaler

from kernlearn.advice.candidates import GRID_SIZE, Facts, shortlist
from kernlearn.advice.fitting import make_estimator
from kernlearn.experiments import load_config

FACTS = {
    "classification": Facts(True, 140, 13, False, 5.1),
    "regression": Facts(False, 350, 10, False, 4.5),
}


def cases():
    return [
        pytest.param(task, candidate, id=f"{task} {candidate.name}")
        for task, facts in FACTS.items()
        for candidate in shortlist(facts)
    ]


@pytest.mark.parametrize(("task", "candidate"), cases())
def test_grids_are_of_one_size_and_strength_is_in_them(task, candidate):
    assert len(candidate.settings) == GRID_SIZE
    values = candidate.grid[candidate.strength]
    assert len(values) > 1
    numbers = [value for value in values if not isinstance(value, str)]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("task", FACTS)
def test_a_config_takes_all_entries_with_and_without_select(task, tmp_path):
    candidates = shortlist(FACTS[task])
    entries = {}
    for c in candidates:
        entries[c.name] = c.entry
        entries[f"{c.name} 0"] = c.entry_with(c.settings[0], around=False)
        entries[f"{c.name} 5"] = c.entry_with(c.settings[-1], around=True)
    config = {
        "title": "all",
        "task": task,
        "datasets": {"wine": {}} if task == "classification" else {"diabetes_sklearn": {}},
        "methods": entries,
        "protocol": {"scale": ["zscore"]},
        "metrics": ["accuracy" if task == "classification" else "mse"],
    }
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(config))
    loaded = load_config(tmp_path / "all.yaml")
    assert len(loaded.config.methods) == 3 * len(candidates)


def test_an_entry_has_the_settings_given():
    facts = FACTS["classification"]
    by_name = {c.name: c for c in shortlist(facts)}
    nystroem = by_name["Nystroem SVM"]
    settings = {"nystroemembedding__kernel__sigma": 2.55, "linearsvm__C": 10}
    assert settings in nystroem.settings
    first, last = nystroem.entry_with(settings, around=False)["steps"]
    assert first["kernel"] == {"kernel": "gaussian", "sigma": 2.55}
    assert not any("__" in key for key in first)
    assert last == {"estimator": "LinearSVM", "C": 10}
    _, last = nystroem.entry_with(settings, around=True)["steps"]
    assert last["C"] == {"select": [1, 10, 100]}
    linear = by_name["linear SVM"]
    assert linear.entry_with({"C": 100}, around=True)["C"] == {"select": [10, 100]}
    # the candidate itself is as before
    assert linear.grid["C"] == [0.001, 0.01, 0.1, 1, 10, 100]


@pytest.mark.parametrize("task", FACTS)
def test_every_candidate_fits_small_data(task):
    load = load_wine if task == "classification" else load_diabetes
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    if task == "regression":
        y = (y - y.mean()) / y.std()
    part, rest = slice(0, None, 2), slice(1, None, 2)
    for candidate in shortlist(FACTS[task]):
        model = make_estimator(candidate, 2, 0)
        model.fit(X[part], y[part])
        score = model.score(X[rest], y[rest])
        assert score > (0.8 if task == "classification" else 0.1), candidate.name


def test_a_setting_is_that_of_its_place_in_the_grid():
    candidate = {c.name: c for c in shortlist(FACTS["classification"])}["BBS"]
    for i, settings in enumerate(candidate.settings):
        model = make_estimator(candidate, i, 3)
        assert settings == {"C": model.C, "similarity__sigma": model.similarity.sigma}
        assert model.random_state == 3


@pytest.mark.parametrize(
    ("facts", "name", "words"),
    [
        (Facts(True, 1000, 1001, False, 4.0), "Maclaurin H0/1", "1001 features"),
        (Facts(True, 200_000, 5, False, 4.0), "kernel SVM", "200000 rows"),
        (Facts(False, 200_000, 5, False, 4.0), "SVR", "200000 rows"),
        (Facts(False, 15_001, 5, False, 4.0), "kernel ridge", "15001 rows"),
        (Facts(True, 100_000, 501, True, 4.0), "gradient boosting", "50100000 cells"),
    ],
)
def test_what_does_not_apply_has_a_reason(facts, name, words):
    left_out = {c.name: c.left_out for c in shortlist(facts) if c.left_out}
    assert words in left_out[name]
    one_less = facts._replace(
        n_rows=min(facts.n_rows, 15_000), n_features=min(facts.n_features, 500)
    )
    assert {c.name: c.left_out for c in shortlist(one_less)}[name] == ""


def test_sparse_data_is_made_dense_for_boosting_alone():
    found = shortlist(FACTS["classification"]._replace(sparse=True))
    assert [c.name for c in found if c.entry.get("dense")] == ["gradient boosting"]
    X = sp.random(60, 13, density=0.3, format="csr", random_state=0)
    y = np.arange(60) % 2
    for candidate in found:
        if candidate.name != "gradient boosting":
            make_estimator(candidate, 0, 0).fit(X, y).predict(X)
