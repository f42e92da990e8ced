"""Configs are found, changed by profiles and settings, and refused with file, line and advice."""

import json
import re

import pytest
import yaml

from kernlearn.config import find_config, load_config
from kernlearn.config.model import Entry
from kernlearn.config.read import check_variants, shipped_configs, shipped_name
from kernlearn.config.values import Section
from kernlearn.datasets.files import shipped
from kernlearn.engine import make_plan
from kernlearn.exceptions import ConfigError
from kernlearn.lazy import is_installed
from tests.config.conftest import SMALL

#: The packages that a config needs beside those that are always there.
NEEDED = {"series": ["aeon"], "objects": ["aeon", "grakel"]}
NAMES = [*shipped_configs(), *shipped_configs("examples")]


@pytest.mark.parametrize("name", NAMES)
def test_shipped_configs_are_valid_in_every_profile_and_fit_the_schema(name):
    if not all(map(is_installed, NEEDED.get(name, ()))):
        pytest.skip("needs a library that is not installed")
    path = find_config(name)
    check_variants(load_config(path))
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((shipped("configs") / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), schema)


def test_a_config_is_found_by_path_or_by_name(small, tmp_path, monkeypatch):
    assert find_config(small) == small
    table = find_config("table3_1")
    assert table == find_config("configs/table3_1.yaml").resolve() == find_config("table3_1.yaml")
    template = find_config("examples/template")
    assert (shipped_name(table), shipped_name(template)) == ("table3_1", "examples/template")
    assert shipped_name(small) is None
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"'table3_1'"):
        find_config("table31")
    for name in ("a\0b", "x" * 5000, tmp_path):
        with pytest.raises(ConfigError):
            find_config(name)


def test_a_profile_and_settings_are_applied_in_this_order(small):
    assert load_config(small).config.protocol.splits == 2
    quick = load_config(small, profile="quick").config
    assert quick.protocol.splits == 1
    assert quick.methods["RF"].parameters["n_components"].content == 10
    small.write_text(SMALL.replace("MaclaurinSVM, h01: true", "MaclaurinSVM, C: 1"))
    settings = ["seed=1", "methods.H0/1.C=1.0"]  # of which the first changes nothing
    assert load_config(small, settings=settings).settings == ("methods.H0/1.C=1.0",)
    small.write_text(SMALL)
    settings = ["protocol={splits: 7}", "methods.K.C=1e-2", "datasets.iris="]
    both = load_config(small, profile="quick", settings=settings).config
    assert (both.protocol.splits, both.protocol.seed, "iris" in both.datasets) == (7, 1, True)
    assert both.methods["K"].parameters["C"].content == 0.01
    small.write_text(SMALL.replace("splits: 2", "train: 0.7"))  # which is of no use with folds
    assert load_config(small, settings=["folds=4"]).config.protocol.folds == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("splits: 2", "split: 2", ":11: protocol.split: unknown key; did you mean 'splits'?"),
        ("splits: 2", "splits: 0", ":11: protocol.splits"),
        ("title: A small", "titel: A", ":1: title: field required"),
        ("KernelSVM", "KernalSVM", ":8: methods.K.estimator: no estimator 'KernalSVM'"),
        ("h01: true", "H01: true", ":10: methods.H0/1.H01: MaclaurinSVM has no parameter 'H01';"),
        ("kernel: polynomial", "kernel: Pol", ":6: kernels.polynomial.kernel: no kernel 'Pol'"),
        ("degree: 3", "degree: -3", ":6: kernels.polynomial.degree: The 'degree'"),
        ("waveform, n", "wave, n", ":3: datasets.waveform.generator: no generator 'wave'; did"),
        ("noise: 0.2", "name: iris", ":4: datasets.moons"),
        ("{generator: two_moons, n_samples: 200, noise: 0.2}", "{name: spambas}", ":4: datasets."),
        ("[accuracy,", "[acuracy,", ":12: metrics.0: no metric 'acuracy'; did you mean 'acc"),
        ("[accuracy,", "[mse,", "'mse' is a metric of regression, not of classification"),
        ("[dataset, method,", "[dataset, methods,", ":15: table.rows.1"),
        ("moons: 10", "moon: 10", ":10: methods.H0/1.n_components.by_dataset.moon: no data set"),
        ("default: 20, ", "", ":10: methods.H0/1.n_components: by_dataset"),
        ("[10, 40]", "[10, 10.0]", ":9: methods.RF.n_components: 10.0"),
        ("[10, 40]", "[1, 2], shown_as: {n_components: split}", ":9: methods.RF.split"),
        ("seed: 1,", "select_by_mean: true,", ":11: protocol: select_by_mean needs rows held out"),
        ("splits: 2", "folds: 3, train: 0.5", ":11: protocol.train:"),
        ("splits: 2", "select_by: fit_seconds", ":11: protocol.select_by: fit_seconds is no"),
        ("profiles:", "reported: ../x.csv\nprofiles:", ":16: reported"),
        (
            "profiles:",
            "figures: [{metrics: [accuracy], x: seed, y_scale: {accurcy: log}}]\nprofiles:",
            ":16: figures.0.y_scale.accurcy: no metric 'accurcy'",
        ),
        ("profiles:", "only: [{dataset: moon}]\nprofiles:", ":16: only.0: no data set 'moon'"),
        ("  moons: {", "  moons: 3\n  b: {", ":4: datasets.moons:"),
        ("h01: true", "claims: []", "; the config's key claims belongs at the top level"),
        ("h01: true", "scale: 1", "; the config's key scale belongs under `datasets` or"),
        ("quick:", "full:", ":17: `full`"),
    ],
)
def test_a_fault_is_named_with_its_line_and_what_is_allowed(refused, old, new, message):
    lines = refused(SMALL, (old, new)).splitlines()
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize("form", ["{}", "{{select: {}}}"])
def test_lists_have_no_more_combinations_than_anyone_runs(planned, form):
    values = form.format([*range(1, 401)])
    with pytest.raises(ConfigError, match="160000 combinations"):
        planned(SMALL, ("[10, 40]", f"{values}, C: {values}"))
    values = form.format([*range(1, 301)])
    if form == "{}":
        with pytest.raises(ConfigError, match="1000000 trials"):
            planned(SMALL, ("[10, 40]", f"{values}, C: {values}"), ("splits: 2", "splits: 50"))


def test_all_faults_come_at_once(refused, tmp_path):
    text = SMALL.replace("splits: 2", "splits: 0").replace("K: {est", "K: {baseline: maybe, est")
    text = text.replace("h01: true", "H01: true").replace("n_components]", "n_component]")
    lines = [line.removeprefix(f"{tmp_path / 'c.yaml'}:") for line in refused(text).splitlines()]
    assert [line.split(": ")[0] for line in lines] == ["8", "10", "11", "15"]
    for shape in ("- a\n", "3\n", "", "title: x\ndatasets: 3\nmethods: [1]\nkernels: a\n"):
        assert refused(shape)


def test_faults_of_settings_name_the_setting(small):
    for setting, words in {
        "splits=none": r"-o splits=none: protocol\.splits: input should be a valid int",
        "splits": r"a setting is key=value",
        "title.x=1": r"title has no keys to set",
        "splits=[": r"-o splits=\[: .*not valid YAML",
    }.items():
        with pytest.raises(ConfigError, match=words):
            load_config(small, settings=[setting])
    with pytest.raises(ConfigError, match=r"'quik'; did you mean 'quick'"):
        load_config(small, profile="quik")
    for key, words in {"splitz": "splitz: unknown key", "title.x": "title has no keys"}.items():
        small.write_text(SMALL.replace("quick: {splits: 1", f"quick: {{{key}: 1"))
        with pytest.raises(ConfigError, match=f"yaml:17: {words}"):
            load_config(small, profile="quick")


def test_what_nothing_takes_and_what_is_listed_twice_is_refused(refused):
    text = (
        "title: t\ndatasets: [iris]\nkernels: {g: {kernel: gaussian}}\nmetrics: [accuracy]\n"
        "methods: {K: {estimator: KernelSVM, kernel: rbf}}\n"
    )
    assert "kernels.g: is not used: no method takes a kernel of it" in refused(text)
    assert "c.yaml:2: datasets: iris" in refused(text.replace("[iris]", "[iris, iris]"))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("dataset,method,metric\n", "mine.csv:1: needs .*mean"),
        ("dataset,method,metric,mean,colour\n", "mine.csv:1: needs"),
        ("dataset,method,metric,mean\nmoons,K,accuracy,much\n", "mine.csv:2: .*much"),
        ("dataset,method,metric,mean\nmoons,K,accuracy,inf\n", "mine.csv:2: .*not finite"),
        ("dataset,method,metric,mean,std\nmoons,K,accuracy,1,-1\n", "mine.csv:2: .*below 0"),
        ("dataset,method,metric,mean\nmoons,K,accuracy,1,2\n", "mine.csv:2: not as many"),
        ("dataset,method,metric,mean\n" + 2 * "moons,K,accuracy,1\n", "mine.csv:3: .*second"),
    ],
)
def test_reported_numbers_may_lie_beside_the_config(load, refused, tmp_path, rows, words):
    path, text = tmp_path / "mine.csv", SMALL + "reported: mine.csv\n"
    path.write_text("dataset,kernel,method,metric,mean\nmoons,polynomial,K,accuracy,0.9\n")
    assert load(text).config.reported_path == path
    path.write_text(rows)
    assert re.search(words, refused(text))


GRID = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: [60, 80], noise: 0.2}}
methods:
  BBS: {estimator: BBSClassifier, n_landmarks: [3, 30]}
  first: {estimator: DummyClassifier}
protocol: {splits: 1}
metrics: [accuracy]
"""


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ([], ["dataset", "method", "n_samples", "n_landmarks"]),
        (
            [("metrics:", "table: {rows: [n_samples]}\nmetrics:")],
            ["n_samples", "method", "n_landmarks"],
        ),
        (
            [("metrics:", "table: {each: [n_samples], rows: [method]}\nmetrics:")],
            ["method", "n_landmarks"],
        ),
        (
            [("metrics:", "kernels: {g: {kernel: gaussian}, l: {kernel: linear}}\nmetrics:")],
            ["dataset", "kernel", "method", "n_samples", "n_landmarks"],
        ),
    ],
)
def test_every_parameter_that_varies_is_in_the_table(load, changes, rows):
    assert load(GRID, *changes).config.layout.rows == rows


def test_only_and_exclude_say_what_is_run(load, planned):
    only = "only: [{method: BBS}, {method: first, dataset: moons}]\n"
    only += "exclude: [{dataset: moons}]\nmetrics:"
    config = load(GRID, ("metrics:", only)).config
    assert not config.wants({"dataset": "moons", "method": "BBS"})
    assert config.wants({"dataset": "other", "method": "BBS"})
    assert not config.wants({"dataset": "other", "method": "first"})
    with pytest.raises(ConfigError, match="leave nothing to run"):
        make_plan(load(GRID, ("metrics:", only)), labels=["moons"])
    kernels = "kernels: {g: {kernel: gaussian, sigma: [1, 3]}, g (x): {kernel: linear}}\n"
    for chosen, names in {"only": ["g (sigma=1)", "g (sigma=3)"], "exclude": ["g (x)"]}.items():
        changed = f"{kernels}{chosen}: [{{kernel: g}}]\nmetrics:"
        trials = planned(GRID, ("metrics:", changed)).trials
        assert {t.labels["kernel"] for t in trials} - {None} == {*names}


def sections(base):
    for one in base.__subclasses__():
        yield from (one, *sections(one))


@pytest.mark.parametrize("model", dict.fromkeys([*sections(Section), *sections(Entry)]))
def test_every_key_is_described(model):
    assert [key for key, field in model.model_fields.items() if not field.description] == []
