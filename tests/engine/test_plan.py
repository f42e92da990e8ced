import numpy as np
import pytest
from pydantic import TypeAdapter

from kernlearn.config import load_config
from kernlearn.config.names import BUILT_IN
from kernlearn.config.plan import planned_labels
from kernlearn.config.trial import TrialSpec, trial_keys
from kernlearn.config.values import canonical
from kernlearn.datasets import add, load
from kernlearn.engine import make_plan
from kernlearn.engine.build import load_data
from kernlearn.exceptions import ConfigError, DataError
from tests.engine.conftest import SMALL


def test_a_plan_is_the_product_in_the_order_of_the_table(planned):
    plan = planned(SMALL)
    cells = [
        (t.labels["dataset"], t.labels["method"], t.labels.get("n_components"), t.split)
        for t in plan.trials
    ]
    methods = [("K", None), ("RF", 10), ("RF", 40)]
    of_data = {"waveform": [*methods, ("H0/1", 20)], "moons": [*methods, ("H0/1", 10)]}
    assert cells == [(d, m, n, s) for d, ms in of_data.items() for m, n in ms for s in (0, 1)]
    assert [*plan.experiment.config.axes] == ["n_components"]
    assert len({t.key for t in plan.trials}) == len(plan.trials)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("title: A small experiment", "title: Another", True),
        ("select: [0.1, 10]", "select: [0.1, 10.0]", True),
        ("metrics: [accuracy, fit_seconds,", "metrics: [accuracy,", True),
        ("seed: 1", "seed: 2", False),
        ("scale: [zscore, max_norm]", "scale: [zscore]", False),
    ],
)
def test_only_what_matters_changes_a_key(planned, old, new, same):
    before, after = ({t.key for t in planned(SMALL, *one).trials} for one in ([], [(old, new)]))
    assert before == after if same else before.isdisjoint(after)


def test_keys_are_those_of_cells(planned):
    def keys(*change):
        return {t.key for t in planned(SMALL, change).trials}

    before, select = keys("seed: 1", "seed: 1"), "select: [0.1, 10]"
    assert keys(select, "select: [0.1]") != before < keys("splits: 2", "splits: 3")
    # all features or one, no matter in which list
    assert keys(select, "select: [0.1, 1]") != keys(select, "select: [0.1, 1.0]")
    twice = ("  RF:", "  L: {estimator: KernelSVM, C: {select: [0.1, 10]}}\n  RF:")
    with pytest.raises(ConfigError, match=r"K · split 1 and .* L · split 1"):
        planned(SMALL, twice)


def test_labels_are_what_varies(planned):
    trials = planned(SMALL, ("[10, 40]", "10, class_weight: [null, balanced]")).trials
    labels = [trial.labels.get("class_weight") for trial in trials]
    assert labels[1:6:2] == [None, "null", "balanced"]  # None: it does not apply
    plan = planned(SMALL, ("n_samples: 300", "n_samples: [200, 300]"))
    assert [*plan.experiment.config.axes] == ["n_samples", "n_components"]
    assert {t.labels.get("n_samples") for t in plan.trials} == {200, 300, None}
    # parameters of a kernel are in its label: on their own they would be empty columns
    plan = planned(SMALL, ("degree: 3", "degree: [2, 3]"))
    assert [*plan.experiment.config.axes] == ["n_components"]
    kernels = {trial.labels["kernel"] for trial in plan.trials}
    assert kernels - {None} == {"polynomial (degree=2)", "polynomial (degree=3)"}


def test_every_missing_data_set_is_named_at_once(tmp_path, monkeypatch):
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    experiment = load_config("table3_1")
    with pytest.raises(DataError) as caught:
        make_plan(experiment)
    for name in experiment.config.datasets:
        assert name in str(caught.value)
    plan = make_plan(experiment, available=True)
    assert plan.trials == []
    assert plan.left_out == list(experiment.config.datasets)


MATRICES = """\
title: t
datasets:
  matrix: {generator: indefinite_similarity, n_samples: 90, noise: 0.1, sample: 60}
  moons: {generator: two_moons, n_samples: 90}
kernels: {gaussian: {kernel: gaussian}, sigmoid: {kernel: sigmoid}}
methods: {BBS: {estimator: BBSClassifier, n_landmarks: [5, 10]}}
metrics: [accuracy]
protocol: {splits: 1, train: 0.5, holdout: 0.2}
"""


def test_a_matrix_of_similarities_meets_no_kernel(planned, tmp_path):
    trials = planned(MATRICES).trials
    assert load_data(trials[0], BUILT_IN).data.shape == (60, 60)
    cells = [(t.labels["dataset"], t.labels["kernel"]) for t in trials[::2]]
    assert cells == [("matrix", None), ("moons", "gaussian"), ("moons", "sigmoid")]
    (tmp_path / "d.csv").write_text("a,b,c,y\n0,1,2,u\n1,0,1,u\n2,1,0,v\n")
    add(tmp_path / "d.csv", name="own", matrix="distance", folder=tmp_path)
    plan = planned(MATRICES, ("  moons:", "  own: {}\n  moons:"))
    assert [*planned_labels(plan.experiment.config)] == [trial.labels for trial in plan.trials]
    with pytest.raises(ConfigError, match="matrix sigmoid"):
        planned(f"{MATRICES}only: [{{dataset: matrix, kernel: sigmoid}}, {{dataset: moons}}]")


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [("patrol", "", "patrol"), ("gone", "file: gone.csv, ", r"no file 'gone\.csv'")],
)
def test_an_optional_data_set_is_gone_without(planned, tmp_path, monkeypatch, name, entry, words):
    monkeypatch.setenv("KERNLEARN_DATA", str(tmp_path))
    with pytest.raises((ConfigError, DataError), match=words):
        planned(MATRICES, ("  moons:", f"  {name}: {{{entry}}}\n  moons:"))
    plan = planned(MATRICES, ("  moons:", f"  {name}: {{{entry}optional: true}}\n  moons:"))
    assert plan.left_out == [name]
    assert {t.labels["dataset"] for t in plan.trials} == {"matrix", "moons"}


PEER = """\
from kernlearn.plugins import register_estimator
from sklearn.linear_model import Ridge

@register_estimator(library="no_such_library")
class Model(Ridge):
    pass
"""


def test_a_method_without_its_library(planned, tmp_path):
    (tmp_path / "peer.py").write_text(PEER)
    text = MATRICES.replace("methods: {", "methods: {peer: {estimator: Model, alpha: 1}, ")
    text += "plugins: [peer.py]\n"
    with pytest.raises(ConfigError, match=r"no_such_library"):
        planned(text)
    plan = planned(text, ("alpha: 1", "alpha: 1, optional: true"))
    assert plan.not_installed == ["peer"]
    assert {t.labels["method"] for t in plan.trials} == {"BBS"}


PART = """\
title: t
datasets:
  iris: {classes: [setosa, virginica], sample: 60}
methods: {first: {estimator: DummyClassifier}}
metrics: [accuracy]
protocol: {splits: 2, seed: 3}
"""


def test_a_part_of_a_data_set(planned):
    trials = planned(PART).trials
    parts = [load_data(t, BUILT_IN) for t in trials]
    for data in parts:
        assert data.data.shape == (60, 4)
        assert list(data.target_names) == ["setosa", "virginica"]
        np.testing.assert_array_equal(data.data, parts[0].data)
    whole = load("iris")
    rows = {tuple(row): int(code) for row, code in zip(whole.data, whole.target, strict=True)}
    assert [rows[tuple(row)] for row in data.data] == [2 * code for code in data.target]
    for part in (
        "sample: 50",
        "sample: 60, missing: mean",
        "sample: 60, drop: [petal width (cm)]",
    ):
        keys = {t.key for t in planned(PART, ("sample: 60", part)).trials}
        assert keys.isdisjoint(t.key for t in trials)
    with pytest.raises(DataError, match="no class rosa"):
        load_data(planned(PART, ("setosa", "rosa")).trials[0], BUILT_IN)


@pytest.mark.parametrize("name", ["quickstart", "figure3_1"])
def test_every_key_is_the_hash_of_its_whole_specification(name):
    plan = make_plan(load_config(name))
    assert len({t.key for t in plan.trials}) == len(plan.trials) > 5
    adapter = TypeAdapter(TrialSpec)
    for trial in plan.trials:
        (key,) = trial_keys(adapter.validate_json(canonical(trial.spec)), [trial.split])
        assert trial.key == key
