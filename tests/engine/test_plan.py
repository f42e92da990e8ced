import numpy as np
import pytest
from pydantic import TypeAdapter

from kernlearn.config import load_config
from kernlearn.config.names import BUILT_IN
from kernlearn.config.plan import planned_labels
from kernlearn.config.spec import canonical
from kernlearn.config.trial import TrialSpec, trial_keys
from kernlearn.datasets import add, load
from kernlearn.engine import make_plan
from kernlearn.engine.build import load_data
from kernlearn.exceptions import ConfigError, DataError


def plan_of(path, **options):
    return make_plan(load_config(path, **options))


def test_a_plan_is_the_product_in_the_order_of_the_table(small):
    plan = plan_of(small)
    cells = [
        (t.labels["dataset"], t.labels["method"], t.labels.get("n_components"), t.split)
        for t in plan.trials
    ]
    one = [("K", None), ("RF", 10), ("RF", 40), ("H0/1", 20)]
    other = [("K", None), ("RF", 10), ("RF", 40), ("H0/1", 10)]
    assert cells == [
        (d, m, n, s)
        for d, ms in (("waveform", one), ("moons", other))
        for m, n in ms
        for s in (0, 1)
    ]
    assert plan.axes == ["n_components"]
    assert len({t.key for t in plan.trials}) == len(plan.trials)


def test_only_what_matters_changes_a_key(small):
    before = {t.key for t in plan_of(small).trials}
    text = small.read_text()

    def keys(old, new):
        assert old in text
        small.write_text(text.replace(old, new))
        return {t.key for t in plan_of(small).trials}

    assert keys("title: A small experiment", "title: Another") == before
    assert keys("select: [0.1, 10]", "select: [0.1, 10.0]") == before
    assert keys("metrics: [accuracy, fit_seconds,", "metrics: [accuracy,") == before
    assert keys("seed: 1", "seed: 2").isdisjoint(before)
    assert keys("scale: [zscore, max_norm]", "scale: [zscore]").isdisjoint(before)
    assert keys("select: [0.1, 10]", "select: [0.1]") != before
    assert len(keys("splits: 2", "splits: 3") & before) == len(before)
    # all features or one, no matter in which list
    assert keys("select: [0.1, 10]", "select: [0.1, 1]") != keys("[0.1, 10]", "[0.1, 1.0]")
    small.write_text(text.replace("[10, 40]", "10, class_weight: [null, balanced]"))
    labels = [trial.labels.get("class_weight") for trial in plan_of(small).trials]
    assert labels[1:6:2] == [None, "null", "balanced"]  # None: it does not apply
    small.write_text(
        text.replace("  RF:", "  L: {estimator: KernelSVM, C: {select: [0.1, 10]}}\n  RF:")
    )
    with pytest.raises(ConfigError, match=r"K · split 1 and .* L · split 1"):
        plan_of(small)


def test_generator_parameters_multiply_and_label(small):
    small.write_text(small.read_text().replace("n_samples: 300", "n_samples: [200, 300]"))
    plan = plan_of(small)
    assert plan.axes == ["n_samples", "n_components"]
    assert {t.labels.get("n_samples") for t in plan.trials} == {200, 300, None}


def test_parameters_of_a_kernel_vary_in_its_label(small):
    """They are no labels of their own, which would be empty columns of results."""
    small.write_text(small.read_text().replace("degree: 3", "degree: [2, 3]"))
    plan = plan_of(small)
    assert plan.axes == ["n_components"]
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


def test_a_matrix_of_similarities_meets_no_kernel(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(MATRICES)
    trials = plan_of(path).trials
    assert load_data(trials[0], BUILT_IN).data.shape == (60, 60)
    found = [(t.labels["dataset"], t.labels["kernel"]) for t in trials[::2]]
    assert found == [("matrix", None), ("moons", "gaussian"), ("moons", "sigmoid")]
    (tmp_path / "d.csv").write_text("a,b,c,y\n0,1,2,u\n1,0,1,u\n2,1,0,v\n")
    add(tmp_path / "d.csv", name="own", matrix="distance", folder=tmp_path)
    path.write_text(MATRICES.replace("  moons:", "  own: {}\n  moons:"))
    plan = plan_of(path)
    assert [*planned_labels(plan.experiment.config)] == [trial.labels for trial in plan.trials]
    path.write_text(f"{MATRICES}only: [{{dataset: matrix, kernel: sigmoid}}, {{dataset: moons}}]")
    with pytest.raises(ConfigError, match="matrix sigmoid"):
        plan_of(path)


def test_an_optional_data_set_is_gone_without(tmp_path, monkeypatch):
    path = tmp_path / "c.yaml"
    text = MATRICES.replace("  moons:", "  patrol: {}\n  moons:")
    path.write_text(text)
    monkeypatch.setenv("KERNLEARN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="patrol"):
        make_plan(load_config(path))
    path.write_text(text.replace("patrol: {}", "patrol: {optional: true}"))
    plan = make_plan(load_config(path))
    assert plan.left_out == ["patrol"]
    assert {t.labels["dataset"] for t in plan.trials} == {"matrix", "moons"}


PEER = """\
from kernlearn.plugins import register_estimator
from sklearn.linear_model import Ridge

@register_estimator(library="no_such_library")
class Model(Ridge):
    pass
"""


def test_a_method_without_its_library(tmp_path):
    (tmp_path / "peer.py").write_text(PEER)
    path = tmp_path / "c.yaml"
    text = MATRICES.replace("methods: {", "methods: {peer: {estimator: Model, alpha: 1}, ")
    text += "plugins: [peer.py]\n"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"no_such_library"):
        load_config(path)
    path.write_text(text.replace("alpha: 1", "alpha: 1, optional: true"))
    plan = plan_of(path)
    assert plan.not_installed == ["peer"]
    assert plan.trials
    assert "peer" not in {t.labels["method"] for t in plan.trials}


PART = """\
title: t
datasets:
  iris: {classes: [setosa, virginica], sample: 60}
methods: {first: {estimator: DummyClassifier}}
metrics: [accuracy]
protocol: {splits: 2, seed: 3}
"""


def test_a_part_of_a_data_set(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(PART)
    trials = plan_of(path).trials
    parts = [load_data(t, BUILT_IN) for t in trials]
    for data in parts:
        assert data.data.shape == (60, 4)
        assert list(data.target_names) == ["setosa", "virginica"]
        assert set(data.target) == {0, 1}
        np.testing.assert_array_equal(data.data, parts[0].data)
    whole = load("iris")
    rows = {tuple(row): int(code) for row, code in zip(whole.data, whole.target, strict=True)}
    assert all(
        rows[tuple(row)] == 2 * code
        for row, code in zip(parts[0].data, parts[0].target, strict=True)
    )
    for part in (
        "sample: 50",
        "sample: 60, missing: mean",
        "sample: 60, drop: [petal width (cm)]",
    ):
        path.write_text(PART.replace("sample: 60", part))
        assert {t.key for t in plan_of(path).trials}.isdisjoint(t.key for t in trials)
    path.write_text(PART.replace("setosa", "rosa"))
    (trial, _) = plan_of(path).trials
    with pytest.raises(DataError, match="no class rosa"):
        load_data(trial, BUILT_IN)


@pytest.mark.parametrize("name", ["quickstart", "figure3_1"])
def test_every_key_is_the_hash_of_its_whole_specification(name):
    plan = make_plan(load_config(name))
    assert len({t.key for t in plan.trials}) == len(plan.trials) > 5
    adapter = TypeAdapter(TrialSpec)
    for trial in plan.trials:
        (key,) = trial_keys(adapter.validate_json(canonical(trial.spec)), [trial.split])
        assert trial.key == key


def test_a_file_may_be_optional(tmp_path):
    (tmp_path / "here.csv").write_text("a,kind\n" + "1,x\n2,y\n" * 10)
    config = (
        "title: t\ndatasets: {here: {file: here.csv}, gone: {file: gone.csv, optional: true}}\n"
        "methods: {k: {estimator: LogisticRegression}}\nmetrics: [accuracy]\n"
    )
    (tmp_path / "c.yaml").write_text(config)
    plan = make_plan(load_config(tmp_path / "c.yaml"))
    assert plan.left_out == ["gone"]
    assert {trial.labels["dataset"] for trial in plan.trials} == {"here"}
    (tmp_path / "c.yaml").write_text(config.replace(", optional: true", ""))
    with pytest.raises(ConfigError, match=r"no file 'gone\.csv'"):
        load_config(tmp_path / "c.yaml")
