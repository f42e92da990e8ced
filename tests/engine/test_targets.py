"""Tasks, and targets that do not fit them, are known before data is read."""

import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.engine.trial import run_trial
from kernlearn.exceptions import ConfigError

CONFIG = """\
title: t
task: {task}
datasets: {{d: {data}}}
methods: {{m: {{estimator: {estimator}}}}}
metrics: [{metric}]
protocol: {{splits: 1}}
"""


@pytest.fixture
def load(tmp_path):
    def call(task, data, estimator="KNeighborsClassifier", metric="fit_seconds"):
        path = tmp_path / "c.yaml"
        path.write_text(CONFIG.format(task=task, data=data, estimator=estimator, metric=metric))
        return load_config(path)

    return call


@pytest.mark.parametrize(
    ("task", "data", "words"),
    [
        ("regression", "{name: iris}", "iris has classes to predict, and `task: regression`"),
        ("classification", "{name: abalone}", "abalone has numbers to predict, and `task: cl"),
        ("bipartite_ranking", "{name: abalone}", "needs classes; it suits `task: regression`"),
        ("ordinal", "{name: abalone}", "`bins` cuts them into grades"),
        ("ordinal", "{name: iris, bins: 3}", "bins cut numbers into grades, and iris has classes"),
        ("ranking", "{name: iris}", "needs relevances of queries' documents"),
        ("regression", "{generator: two_moons}", "two_moons draws classes"),
    ],
)
def test_a_target_that_does_not_fit_the_task_is_refused(load, task, data, words):
    estimator = "Ridge" if task in ("regression", "ordinal", "ranking") else "KernelSVM"
    with pytest.raises(ConfigError) as caught:
        load(task, data, estimator=f"{estimator}")
    assert words in str(caught.value)


def test_targets_that_fit(load):
    load("regression", "{name: abalone}", "Ridge")
    load("ordinal", "{name: abalone, bins: 5}", "Ridge")
    load("classification", "{name: iris}")
    load("bipartite_ranking", "{name: iris, binarize: random}", "LogisticRegression")


def test_estimators_that_do_not_fit_the_task_are_refused(load):
    for task, data, estimator, words in (
        ("classification", "{name: iris}", "Ridge", "Ridge predicts numbers"),
        ("regression", "{name: abalone}", "KNeighborsClassifier", "predicts classes"),
        ("bipartite_ranking", "{name: spambase}", "KNeighborsClassifier", "decision_function"),
    ):
        with pytest.raises(ConfigError, match=words):
            load(task, data, estimator)


def test_metrics_that_do_not_fit_classes_or_estimator_are_refused(load):
    with pytest.raises(ConfigError, match="f1 is for two classes, and iris has 3: take f1_macro"):
        load("classification", "{name: iris}", metric="f1")
    load("classification", "{name: iris, classes: [setosa, virginica]}", metric="f1")
    load("classification", "{name: iris, binarize: random}", metric="f1")
    with pytest.raises(ConfigError, match="log_loss needs predict_proba, which LinearSVC"):
        load("classification", "{name: iris}", "sklearn.svm.LinearSVC", "log_loss")


def test_files_are_held_to_the_task_as_cards_are(load, tmp_path):
    rows = "".join(f"{i % 7},{i / 3},{i % 3},{'abc'[i % 3]}\n" for i in range(60))
    (tmp_path / "f.csv").write_text("a,number,code,word\n" + rows)
    refused = {
        "{file: f.csv, target: number}": "60 different ones such as 0.333",
        "{file: f.csv, target: word, bins: 3}": "target of a regression must be numbers",
        "{file: f.csv, target: word, matrix: distance}": "expected a square matrix",
        "{name: iris, matrix: distance}": "a card names its own matrix",
        "{file: f.csv, target: word, sheet: 1}": "sheet: is for Excel",
    }
    for entry, words in refused.items():
        with pytest.raises(ConfigError) as caught:
            load("classification", entry)
        assert words in str(caught.value)
    with pytest.raises(ConfigError, match="f has numbers to predict"):
        load("ranking", "{file: f.csv, target: number}", "Ridge")
    with pytest.raises(ConfigError, match="f1 is for two classes, and f has 3: take f1_macro"):
        load("classification", "{file: f.csv, target: code}", metric="f1")
    for entry in ("{file: f.csv, target: word}", "{file: f.csv, target: a, drop: [word]}"):
        load("classification", entry)
    load("regression", "{file: f.csv, target: number, drop: [word]}", "Ridge")


CARD = """\
name: grades
title: Grades of students
task: classification
n_features: 2
source: {publisher: me}
licence: none
citation: none
forms:
  - files: [grades.csv]
    format: {kind: delimited, delimiter: ",", header: true, target: y}
    rows: 40
    classes: {"0": 20, "1": 20}
"""


def test_a_card_beside_the_config(load, tmp_path):
    rows = "".join(f"{i},{i % 3},{i % 2}\n" for i in range(40))
    (tmp_path / "grades.csv").write_text("a,b,y\n" + rows)
    (tmp_path / "grades.yaml").write_text(CARD)
    for entry in ("{name: grades}", "{file: grades.yaml}"):
        plan = make_plan(load("classification", entry, "KNeighborsClassifier", "accuracy"))
        assert run_trial(plan.trials[0]).info["n_train"] == 24
        with pytest.raises(ConfigError, match="grades has classes to predict, and `task: regr"):
            load("regression", entry, "Ridge")
    (tmp_path / "grades.yaml").write_text(CARD.replace("rows: 40", "rows: 41"))
    with pytest.raises(ConfigError, match="the counts sum to 40, rows is 41"):
        load("classification", "{name: grades}")


def test_plan_refuses_what_validate_refuses(kernlearn, tmp_path):
    text = CONFIG.format(task="regression", data="{name: iris}", estimator="Ridge", metric="mse")
    (tmp_path / "c.yaml").write_text(text)
    for command in ("validate", "plan", "run"):
        refused = kernlearn(command, "c.yaml")
        assert refused.returncode == 2
        assert "c.yaml:3: datasets.d: iris has classes to predict" in refused.stderr
