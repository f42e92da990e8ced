"""`class_weight` in a config names classes by their labels, or by their codes."""

import pytest

from kernlearn.config import load_config
from kernlearn.config.class_weights import weights_by_code
from kernlearn.engine import make_plan
from kernlearn.engine.trial import run_trial

CONFIG = """\
title: t
datasets: {mine: {file: f.csv}}
methods:
  labels: {estimator: LogisticRegression, class_weight: {rose: 1, tulip: 9}}
  codes: {estimator: LogisticRegression, class_weight: {0: 1, 1: 9}}
  chosen: {estimator: KernelSVM, kernel: rbf, class_weight: {select: [balanced, {tulip: 9}]}}
  step: {steps: [{estimator: LogisticRegression, name: last, class_weight: {tulip: 9, rose: 1}}]}
  plain: {estimator: LogisticRegression}
  wrong: {estimator: LogisticRegression, class_weight: {rose: 1, tulips: 9}}
protocol: {splits: 1}
metrics: [recall]
"""


def test_weights_of_classes(tmp_path):
    rows = "".join(f"{i % 7},{['rose', 'tulip'][i % 5 == 0]}\n" for i in range(80))
    (tmp_path / "f.csv").write_text("a,kind\n" + rows)
    (tmp_path / "c.yaml").write_text(CONFIG)
    trials = {t.labels["method"]: t for t in make_plan(load_config(tmp_path / "c.yaml")).trials}
    with pytest.raises(ValueError, match="no class tulips; the data has rose, tulip"):
        run_trial(trials.pop("wrong"))
    recall = {method: run_trial(t).metrics["recall"] for method, t in trials.items()}
    assert recall["labels"] == recall["codes"] == recall["step"] > 0.5 > recall["plain"]
    assert recall["chosen"] > recall["plain"]


def test_labels_come_before_codes():
    classes = {"1": 0, "2": 1}
    assert weights_by_code({1: 5, 2.0: 7}, classes) == {0: 5, 1: 7}
    assert weights_by_code({"0": 5, "1": 7}, {"a": 0, "b": 1}) == {0: 5, 1: 7}
    with pytest.raises(ValueError, match="no class 0; the data has 1, 2"):
        weights_by_code({0: 5, 1: 7}, classes)
    assert weights_by_code({"any": 1}, {}) == {"any": 1}
