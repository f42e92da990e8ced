"""The JSON schema of configs; ``python -m tests.engine.test_schema`` writes it anew."""

import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pytest

from kernlearn.config.schema import schema_text
from kernlearn.datasets.yaml import parse_yaml, read_yaml

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "configs" / "schema.json"
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema="

CONFIG = """\
title: t
datasets:
  moons: {generator: two_moons, noise: [0.1, 0.2]}
  mine: {file: a.csv, target: y, scale: [zscore]}
  iris:
kernels: {p: {kernel: polynomial, degree: [2, 3]}}
methods:
  K: {estimator: KernelSVM, C: {select: [1, 10]}}
  H: {estimator: sklearn.ensemble.HistGradientBoostingClassifier, max_iter: 5, dense: true}
  S: {estimator: SVC, kernel: {kernel: gaussian, sigma: 1}, kernel__sigma: {select: [1, 2]}}
  P:
    steps:
      - sklearn.preprocessing.StandardScaler
      - {estimator: LinearSVM, name: svm, C: {by_dataset: {moons: [1, 2], default: 1}}}
metrics: [accuracy, f1]
"""


@cache
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    made = jsonschema.validators.validator_for(schema)
    made.check_schema(schema)
    return made(schema)


def faults(text):
    return [error.message for error in validator().iter_errors(parse_yaml(text, "c.yaml")[0])]


def test_the_schema_is_that_of_the_code():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if not schema["$comment"].endswith(f"scikit-learn {version('scikit-learn')}"):
        pytest.skip("names and parameters are those of another version of scikit-learn")
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_name_the_schema_and_fit_it(path):
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith(MODELINE)
    assert (path.parent / first.removeprefix(MODELINE)).resolve() == SCHEMA
    assert [error.message for error in validator().iter_errors(read_yaml(path)[0])] == []


def test_what_is_valid_fits():
    assert faults(CONFIG) == []
    assert faults(CONFIG.replace("datasets:", "datasets: [iris, wine]\nprofiles:")) != []
    assert (
        faults(
            "title: t\ndatasets: [iris]\nmethods: {L: {estimator: LinearSVM}}\n"
            "metrics: [accuracy]\n"
        )
        == []
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator: KernelSVM", "estimator: KernelSVN"),
        ("estimator: KernelSVM", "estimator: os.path"),
        ("estimator: KernelSVM", "baseline: true"),
        ("{select: [1, 10]}", "{select: []}"),
        ("C: {select", "CC: {select"),
        ("sklearn.ensemble.HistG", "sklearn.ensemble.HistGG"),
        ("max_iter: 5", "max_itr: 5"),
        ("dense: true", "dense: 3"),
        ("kernel: polynomial, degree", "kernel: polynomial, degre"),
        ("kernel: polynomial", "kernel: polynomiall"),
        ("{kernel: gaussian, sigma: 1}", "{kernel: gaussian, sgima: 1}"),
        ("{kernel: gaussian, sigma: 1}", "{kernel: gausian, sigma: 1}"),
        ("kernel__sigma", "kernl__sigma"),
        ("sklearn.preprocessing.StandardScaler", "sklearn.preprocessing.StandardScalr"),
        ("name: svm, C:", "name: svm, CC:"),
        ("name: svm", "baseline: true"),
        ("noise: [0.1, 0.2]", "nois: [0.1, 0.2]"),
        ("generator: two_moons", "generator: three_moons"),
        ("scale: [zscore]", "scal: [zscore]"),
        ("scale: [zscore]", "scale: [zscor]"),
        ("[accuracy, f1]", "[accuracy, f2]"),
        ("[accuracy, f1]", "[accuracy, mse]"),
        ("title: t", "title: t\ntask: regresion"),
        ("title: t", "title: t\nkernel: {}"),
    ],
)
def test_what_is_wrong_does_not_fit(old, new):
    assert old in CONFIG
    assert faults(CONFIG.replace(old, new)) != []


def test_with_plugins_and_derived_metrics_other_names_are_allowed():
    own = CONFIG.replace("title: t", "title: t\nplugins: [a.py]")
    assert faults(own.replace("KernelSVM", "Mine").replace("f1", "mine")) == []
    derived = "derived: {ratio: {ratio: fit_seconds, baseline: K}}\n"
    assert faults(CONFIG.replace("f1", "ratio") + derived) == []


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
