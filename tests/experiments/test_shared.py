import pickle
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.experiments.engine.selection import groups
from kernlearn.experiments.engine.shared import Shared
from kernlearn.experiments.executors.local import Processes, Worker
from kernlearn.experiments.store.results import Result
from kernlearn.landmarks import FTuneClassifier
from kernlearn.landmarks import ftune as ftune_module

CONFIG = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 80}, rings: {generator: rings, n_samples: 80}}
kernels: {gaussian: {kernel: gaussian, sigma: 1}}
methods:
  FTUNE-S: {estimator: FTuneClassifier, n_landmarks: [5, 10]}
  BBS: {estimator: BBSClassifier, n_landmarks: 5}
  FTUNE-M: {estimator: FTuneClassifier, n_landmarks: [5, 10], per_class: true}
protocol: {splits: 2, holdout: 0.2, train: 0.5, seed: 1}
metrics: [accuracy]
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    return make_plan(load_config(path))


def of(plan, method):
    return [t for t in plan.trials if t.labels["method"] == method]


def test_results_are_remembered_within_a_group(plan):
    first, second = of(plan, "FTUNE-S")[:2]
    calls = []

    def train(x):
        calls.append(x.sum())
        warnings.warn("once", UserWarning, stacklevel=1)
        return x * 2

    shared = Shared()
    shared.enter(first)
    cached = shared.cache(train)
    for _ in range(2):
        with pytest.warns(UserWarning, match="once"):
            np.testing.assert_array_equal(cached(np.arange(3)), [0, 2, 4])
    assert (len(calls), shared.hits) == (1, 1)
    with pytest.warns(UserWarning, match="once"):
        cached(np.arange(4))
    assert len(calls) == 2
    shared.enter(second)  # another split
    with pytest.warns(UserWarning, match="once"):
        cached(np.arange(3))
    assert len(calls) == 3


def test_trials_on_the_same_data_and_split_are_a_group(plan):
    sharing = [t for t in plan.trials if t.shares]
    assert {t.labels["method"] for t in sharing} == {"FTUNE-S", "FTUNE-M"}
    found = groups(plan.trials)
    assert sorted(map(len, found)) == [1] * 4 + [4] * 4
    for group in found:
        assert len({(t.labels["dataset"], t.split) for t in group}) == 1


def test_nothing_is_shared_where_times_are_results(plan):
    config = plan.experiment.config.model_copy(update={"metrics": ["accuracy", "fit_seconds"]})
    timed = make_plan(plan.experiment.model_copy(update={"config": config}))
    assert not any(trial.shares for trial in timed.trials)
    assert [t.key for t in timed.trials] == [t.key for t in plan.trials]


def test_shared_training_changes_no_number(plan, tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        shared = store.get(t.key for t in plan.trials)
    alone = replace(plan, trials=[replace(t, shares=False) for t in plan.trials])
    with Store(tmp_path / "a.sqlite") as store:
        run_plan(alone, store)
        expected = store.get(t.key for t in plan.trials)
    for trial in plan.trials:
        found, wanted = shared[trial.key], expected[trial.key]
        assert found.metrics["accuracy"] == wanted.metrics["accuracy"]
        assert found.info.get("selected") == wanted.info.get("selected")
        assert "shared" not in wanted.info
        assert found.info.get("shared", False) == (trial.labels["method"] == "FTUNE-M")


def test_separators_are_trained_once_with_memory(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    trained = []
    path = ftune_module.linear_path

    def counted(*arguments, **options):
        trained.append(1)
        return path(*arguments, **options)

    monkeypatch.setattr(ftune_module, "linear_path", counted)
    model = FTuneClassifier(n_landmarks=6, random_state=0, transfers=[1, 10])
    expected = [model.set_params(per_class=each).fit(X, y).predict(X) for each in (False, True)]
    assert len(trained) == 2 * 3 * 2
    memory = Shared()
    model.set_params(memory=memory)
    found = [model.set_params(per_class=each).fit(X, y).predict(X) for each in (False, True)]
    assert len(trained) == 3 * 3 * 2
    np.testing.assert_array_equal(found, expected)
    model.set_params(n_landmarks=7).fit(X, y)
    assert len(trained) == 4 * 3 * 2


def test_a_group_stays_in_one_process(plan, monkeypatch):
    places = {}

    def run(self, trial):
        time.sleep(0.01)
        places[trial.key] = id(self)
        return Result(trial.key, "done", "", 0.0, {}, {})

    monkeypatch.setattr(Worker, "run", run)
    results = list(Processes(3).run(plan.trials))
    assert sorted(t.key for t, _ in results) == sorted(t.key for t in plan.trials)
    for group in groups(plan.trials):
        assert len({places[trial.key] for trial in group}) == 1
    assert len(set(places.values())) == 3


def test_clones_share_the_memory_and_do_not_copy_it():
    memory = Shared()
    assert clone(FTuneClassifier(memory=memory)).memory is memory


def test_another_process_starts_with_an_empty_memory():
    memory = Shared()
    memory.cache(sum)([1, 2])
    copy = pickle.loads(pickle.dumps(memory))
    assert copy.cache(sum)([1, 2]) == 3
    assert copy.hits == 0
