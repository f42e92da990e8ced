"""A config with data of the user's own: nothing is dropped, coded or reordered silently."""

import pytest

from kernlearn.config import load_config
from kernlearn.datasets import add, load
from kernlearn.engine import make_plan, run_plan
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.store import Store

GRADES = ["low", "mid", "high"]
CONFIG = """\
title: Mine
task: {task}
datasets:
  mine: {{{data}}}
methods: {{D: {{estimator: {estimator}}}}}
protocol: {{splits: 1{protocol}}}
metrics: [{metric}]
"""


@pytest.fixture
def plan_of(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    monkeypatch.chdir(tmp_path)

    def make(data, task="classification", protocol="", **options):
        kinds = {"regression": ("DummyRegressor", "mse"), "ordinal": ("ORLand", "aae")}
        estimator, metric = kinds.get(task, ("DummyClassifier", "accuracy"))
        (tmp_path / "mine.yaml").write_text(
            CONFIG.format(
                data=data, task=task, protocol=protocol, estimator=estimator, metric=metric
            )
        )
        return make_plan(load_config(tmp_path / "mine.yaml"), **options)

    return make


def write(path, n=40):
    rows = [
        f"{i},{['Ulm', 'Bonn'][i % 2]},{'' if i < 5 else i % 7 / 4},{GRADES[i % 3]}"
        for i in range(n)
    ]
    path.write_text("id,city,age,label\n" + "\n".join(rows) + "\n")


def test_what_was_done_is_in_the_plan_and_in_every_trial(plan_of, tmp_path):
    write(tmp_path / "f.csv")
    for _ in range(2):  # read, then known
        plan = plan_of("file: f.csv")
        done = plan.preparations["mine"]
        assert "5 of 40 rows with missing entries were left out (age in 5)" in done
        assert "1 nominal column as one-hot: city (2 values)" in done
        assert "id (35 different whole numbers)" in done[-1]
    with Store(tmp_path / "store.sqlite") as store:
        assert run_plan(plan, store).done == 1
        (result,) = store.get([t.key for t in plan.trials]).values()
    assert result.info["prepared"] == list(done)


def test_nominal_columns_of_the_user_are_one_hot_unless_asked_otherwise(plan_of, tmp_path):
    write(tmp_path / "f.csv")
    one_hot = plan_of("file: f.csv, drop: [id]").trials[0].spec.dataset
    codes = plan_of("file: f.csv, drop: [id], nominal: ordinal").trials[0].spec.dataset
    expected = {
        how: load(tmp_path / "f.csv", nominal=how, drop=["id"]).found.identity
        for how in ("onehot", "ordinal")
    }
    assert (one_hot.entry.nominal, one_hot.fingerprint) == ("onehot", expected["onehot"])
    assert (codes.entry.nominal, codes.fingerprint) == ("ordinal", expected["ordinal"])
    add(tmp_path / "f.csv", name="my_card")
    assert plan_of("name: my_card").trials[0].spec.dataset.entry.nominal == "onehot"


def test_grades_in_words_have_the_order_given_or_it_is_said(plan_of, tmp_path):
    write(tmp_path / "f.csv")
    plan = plan_of("file: f.csv", task="ordinal")
    (said,) = [s for s in plan.preparations["mine"] if "grades" in s]
    assert "in the order high < low < mid, that of the alphabet" in said
    given = plan_of("file: f.csv, grades: [low, mid, high]", task="ordinal")
    assert not any("grades" in s for s in given.preparations["mine"])
    trial = given.trials[0]
    assert load(**trial.source.read).target_names.tolist() == ["low", "mid", "high"]
    assert trial.spec.dataset.entry.grades == ("low", "mid", "high")
    assert trial.key != plan.trials[0].key
    with pytest.raises(DataError, match="grades: high is not among low, mid"):
        plan_of("file: f.csv, grades: [low, mid]", task="ordinal")
    with pytest.raises(ConfigError, match="grades: has no effect"):
        plan_of("name: iris, grades: [low, mid]", task="ordinal")


CARD = """\
name: mine
title: Mine
task: classification
n_features: 1
source: {publisher: me}
licence: none
citation: none
forms:
- files: [f.csv]
  format: {kind: delimited, missing: ["?"]}
  rows: 12
  folds: [4, 4, 4]
  labels: [a, b]
"""


def test_published_folds_hold_for_all_rows_and_as_many_splits(plan_of, tmp_path):
    (tmp_path / "datasets").mkdir()
    rows = [f"{i},{'ab'[i % 2]}\n" for i in range(12)]
    (tmp_path / "datasets" / "f.csv").write_text("".join(rows))
    (tmp_path / "datasets" / "mine.yaml").write_text(CARD)
    assert len(plan_of("name: mine", protocol=", folds: published").trials) == 1
    with pytest.raises(DataError, match="at most 3 splits, not 4"):
        make_plan(load_config(tmp_path / "mine.yaml", settings=["splits=4"]))
