"""A config with data of the user's own: nothing is dropped, coded or reordered silently."""

import pytest

from kernlearn.config.names import BUILT_IN
from kernlearn.datasets import add, load
from kernlearn.engine import run_plan
from kernlearn.engine.build import load_data
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.store import Store
from tests.engine.conftest import card

GRADES = ["low", "mid", "high"]
CONFIG = """\
title: Mine
task: {task}
datasets:
  mine: {{{data}}}
methods: {{D: {{estimator: {estimator}}}}}
protocol: {{{protocol}}}
metrics: [fit_seconds]
"""


@pytest.fixture
def plan_of(planned, tmp_path, monkeypatch):
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    kinds = {"classification": "DummyClassifier", "ordinal": "ORLand"}

    def make(data, task="classification", protocol="splits: 1"):
        how = {"data": data, "task": task, "protocol": protocol, "estimator": kinds[task]}
        return planned(CONFIG.format(**how))

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
    for more, nominal in (("", "onehot"), (", nominal: ordinal", "ordinal")):
        spec = plan_of(f"file: f.csv, drop: [id]{more}").trials[0].spec.dataset
        expected = load(tmp_path / "f.csv", nominal=nominal, drop=["id"]).found.identity
        assert (spec.entry.nominal, spec.fingerprint) == (nominal, expected)
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


def test_labels_are_read_again_when_their_file_has_changed(plan_of, tmp_path):
    rows = "".join("0,1,1,1\n" for _ in range(4))
    (tmp_path / "D.csv").write_text(rows)
    for labels in ([0, 0, 1, 1], [0, 1, 0, 1, ""]):
        (tmp_path / "y.txt").write_text("\n".join(map(str, labels)))
        (trial,) = plan_of("file: D.csv, matrix: distance, labels: y.txt").trials
        assert load_data(trial, BUILT_IN).target.tolist() == labels[:4]


FORM = """\
{files: [f.csv], format: {kind: delimited, missing: ["?"]}, rows: 12, folds: [4, 4, 4],
 labels: [a, b]}
"""


def test_published_folds_hold_for_all_rows_and_as_many_splits(plan_of, tmp_path):
    (tmp_path / "datasets").mkdir()
    rows = [f"{i},{'ab'[i % 2]}\n" for i in range(12)]
    (tmp_path / "datasets" / "f.csv").write_text("".join(rows))
    (tmp_path / "datasets" / "mine.yaml").write_text(card("mine", FORM))
    assert len(plan_of("name: mine", protocol="splits: 3, folds: published").trials) == 3
    with pytest.raises(DataError, match="at most 3 splits, not 4"):
        plan_of("name: mine", protocol="splits: 4, folds: published")
