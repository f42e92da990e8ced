import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.experiments.engine.runner import make_executor
from kernlearn.experiments.executors.ahead import OneByOne, selects
from kernlearn.experiments.executors.local import InProcess

CONFIG = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 80, noise: 0.3}}
methods:
  SVM: {estimator: SVC, max_iter: 12, kernel: rbf, gamma: {select: [0.01, 1]}, C: {select: [1, 9]}}
  K: {estimator: KernelSVM, kernel: rbf, C: {select: [0.1, 1, 10]}}
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
    monkeypatch.setattr("kernlearn.experiments.executors.ahead.usable_cores", lambda: 2)
    monkeypatch.setattr("kernlearn.experiments.engine.environment.usable_cores", lambda: 2)
    monkeypatch.setattr("kernlearn.experiments.executors.ahead._LONG", -1.0)


def run(plan, place, executor=None):
    with Store(place) as store:
        run_plan(plan, store, executor=executor)
        return store.get(trial.key for trial in plan.trials)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_choices_ahead_are_those_of_trials_by_themselves(plan, tmp_path):
    executor = make_executor(plan.experiment.config.execution)
    assert isinstance(executor, OneByOne)
    found = run(plan, tmp_path / "a.sqlite")
    wanted = run(plan, tmp_path / "b.sqlite", InProcess())
    assert found.keys() == wanted.keys()
    for trial in plan.trials:
        one, other = found[trial.key], wanted[trial.key]
        assert one.info.get("selected") == other.info.get("selected")
        assert bool(one.info.get("selected")) == selects(trial)
        assert one.metrics["accuracy"] == other.metrics["accuracy"]
        assert one.info["warnings"] == other.info["warnings"]
        assert (one.metrics["select_seconds"] > 0) or not selects(trial)
    assert any(result.info["warnings"] for result in found.values())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_runs_beside_a_measurement(plan, monkeypatch):
    executor, open_choices, n_done = OneByOne(), [], 0
    choosing = executor._choosing.run

    def watched(trials):
        open_choices.append(len(trials))
        yield from choosing(trials)
        open_choices.pop()

    monkeypatch.setattr(executor._choosing, "run", watched)
    try:
        for _, result in executor.run(plan.trials):
            assert not open_choices
            n_done += result.done
        assert n_done == len(plan.trials)
    finally:
        executor.close()


def test_a_choice_that_fails_is_the_result_of_its_trial(tmp_path):
    neighbors = (
        "  SVM:\n    estimator: sklearn.neighbors.KNeighborsClassifier\n"
        "    n_neighbors: {select: [1, 500]}\n"
    )
    head, _, tail = CONFIG.partition("  SVM:")
    text = head + neighbors + tail[tail.index("  K:") :]
    path = tmp_path / "failing.yaml"
    path.write_text(text)
    plan = make_plan(load_config(path))
    found = run(plan, tmp_path / "s.sqlite")
    failed = [t for t in plan.trials if not found[t.key].done]
    assert {t.labels["method"] for t in failed} == {"SVM"}
    assert len(failed) == 3
    assert all("n_neighbors" in found[t.key].error for t in failed)


def test_an_executor_by_name_needs_no_processes(plan):
    execution = plan.experiment.config.execution
    asked = execution.model_copy(update={"executor": "in-process"})
    assert isinstance(make_executor(asked), InProcess)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_command_chooses_ahead(plan, tmp_path, monkeypatch):
    asked, choose = [], OneByOne._choose
    monkeypatch.setattr(
        OneByOne, "_choose", lambda self, batch: asked.append(len(batch)) or choose(self, batch)
    )
    config, store = str(plan.experiment.path), tmp_path / "s.sqlite"
    arguments = ["run", config, "--store", str(store), "--no-report"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert max(asked) > 1
    with Store(store) as opened:
        assert opened.runs()[-1].environment["processes_that_select"] == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("long", "n_times"), [(1e9, 0), (-1.0, 1)])
def test_short_choices_need_no_processes_and_long_ones_do(plan, monkeypatch, long, n_times):
    monkeypatch.setattr("kernlearn.experiments.executors.ahead._LONG", long)
    executor, asked = OneByOne(), []
    choosing = executor._choosing.run
    monkeypatch.setattr(
        executor._choosing, "run", lambda trials: asked.append(len(trials)) or choosing(trials)
    )
    try:
        found = [trial.key for trial, _ in executor.run(plan.trials)]
    finally:
        executor.close()
    assert found == [trial.key for trial in plan.trials]
    # all that select but the first, which told how long it takes
    assert asked == [5] * n_times
