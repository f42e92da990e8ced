import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.config import load_config
from kernlearn.engine import make_plan, run_plan, runner
from kernlearn.engine.ahead import OneByOne, selects
from kernlearn.engine.local import InProcess
from kernlearn.engine.runner import make_executor
from kernlearn.store import Store

CONFIG = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 80, noise: 0.3}}
methods:
  K: {estimator: KernelSVM, kernel: rbf, C: {select: [0.1, 1, 10]}}
  SVM: {estimator: SVC, max_iter: 12, kernel: rbf, gamma: {select: [0.01, 1]}, C: {select: [1, 9]}}
  k-NN: {estimator: sklearn.neighbors.KNeighborsClassifier, n_neighbors: {select: [1, 500]}}
  first: {estimator: DummyClassifier}
protocol: {splits: 3, seed: 1}
metrics: [accuracy, fit_seconds]
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    return make_plan(load_config(path))


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    _two_cores(monkeypatch)


def _two_cores(monkeypatch):
    monkeypatch.setattr("kernlearn.engine.ahead.usable_cores", lambda: 2)
    monkeypatch.setattr("kernlearn.engine.environment.usable_cores", lambda: 2)
    monkeypatch.setattr("kernlearn.engine.ahead._LONG", -1.0)


class Watched(OneByOne):
    """Notes the number of trials of each choice, and the choices open at each measurement."""

    asked: list[int]
    open: list[int]
    at_measurements: list[int]

    def __init__(self, data_dir=None):
        super().__init__(data_dir)
        choosing = self._choosing.run

        def watched(trials):
            Watched.asked.append(len(trials))
            Watched.open.append(len(trials))
            yield from choosing(trials)
            Watched.open.pop()

        self._choosing.run = watched

    def _measure(self, batch, choices, on_start):
        for found in super()._measure(batch, choices, on_start):
            Watched.at_measurements.append(len(Watched.open))
            yield found


@pytest.fixture(scope="module")
def chosen_ahead(tmp_path_factory):
    """The plan and the results of a run of the command that chooses in two processes."""
    folder = tmp_path_factory.mktemp("ahead")
    path, place = folder / "c.yaml", folder / "s.sqlite"
    path.write_text(CONFIG)
    Watched.asked, Watched.open, Watched.at_measurements = [], [], []
    with pytest.MonkeyPatch.context() as monkeypatch:
        _two_cores(monkeypatch)
        monkeypatch.setattr(runner, "OneByOne", Watched)
        arguments = ["run", str(path), "--store", str(place), "--no-report"]
        assert CliRunner().invoke(app, arguments).exit_code == 1  # some choices fail
    plan = make_plan(load_config(path))
    with Store(place) as store:
        found = store.get(trial.key for trial in plan.trials)
        return plan, found, store.runs()[-1].environment


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_choices_ahead_are_those_of_trials_by_themselves(chosen_ahead, tmp_path):
    plan, found, _ = chosen_ahead
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store, executor=InProcess())
        wanted = store.get(trial.key for trial in plan.trials)
    assert found.keys() == wanted.keys()
    for trial in plan.trials:
        one, other = found[trial.key], wanted[trial.key]
        assert one.done == other.done == (trial.labels["method"] != "k-NN")
        if not one.done:
            continue
        assert one.info.get("selected") == other.info.get("selected")
        assert bool(one.info.get("selected")) == selects(trial)
        assert one.metrics["accuracy"] == other.metrics["accuracy"]
        assert one.info["warnings"] == other.info["warnings"]
        assert (one.metrics["select_seconds"] > 0) or not selects(trial)
    assert any(result.info.get("warnings") for result in found.values())


def test_nothing_runs_beside_a_measurement(chosen_ahead):
    plan, found, _ = chosen_ahead
    assert found.keys() == {trial.key for trial in plan.trials}
    assert Watched.at_measurements == [0] * len(plan.trials)


def test_a_choice_that_fails_is_the_result_of_its_trial(chosen_ahead):
    plan, found, _ = chosen_ahead
    failed = [t for t in plan.trials if not found[t.key].done]
    assert {t.labels["method"] for t in failed} == {"k-NN"}
    assert len(failed) == 3
    assert all("n_neighbors" in found[t.key].error for t in failed)


def test_an_executor_by_name_needs_no_processes():
    assert isinstance(make_executor(), OneByOne)
    assert isinstance(make_executor("in-process"), InProcess)


def test_the_command_chooses_ahead(chosen_ahead):
    plan, _, environment = chosen_ahead
    assert environment["processes_that_select"] == 2
    # all that select but the first, which told how long it takes; eight trials at a time
    assert sum(Watched.asked) == sum(map(selects, plan.trials)) - 1 == 8
    assert max(Watched.asked) > 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_short_choices_need_no_processes(plan, monkeypatch):
    monkeypatch.setattr("kernlearn.engine.ahead._LONG", 1e9)
    executor = OneByOne()
    monkeypatch.setattr(executor._choosing, "run", lambda trials: pytest.fail("asked"))
    try:
        found = [trial.key for trial, _ in executor.run(plan.trials)]
    finally:
        executor.close()
    assert found == [trial.key for trial in plan.trials]
