"""Plug-in files: whose names a config sees, what makes a trial's key, and runs in any process."""

import importlib
import pickle
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from pydantic import TypeAdapter
from sklearn.metrics import balanced_accuracy_score

from kernlearn.config import load_config
from kernlearn.config.loading import load_scope
from kernlearn.config.plugin_files import load_file, load_plugins
from kernlearn.config.spec import (
    KernelSpec,
    MetricSpec,
    TrialSpec,
    canonical,
    trial_key,
)
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.trial import execute, run_trial
from kernlearn.exceptions import ConfigError, DataError, PluginError
from kernlearn.reports import assemble
from kernlearn.store import Store

METHODS = '''\
"""What the tests' configs name."""
import pathlib

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import RidgeClassifier

from kernlearn.kernels import Kernel
from kernlearn.plugins import *

with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
    print("run", file=log)


@register_estimator(version=2)
class Majority(ClassifierMixin, BaseEstimator):
    """The class that most neighbours have."""

    def __init__(self, similarity=None, n=3, random_state=None):
        self.similarity, self.n, self.random_state = similarity, n, random_state

    def fit(self, X, y):
        self.similarity_ = clone(self.similarity).fit(X, y)
        self.X_, self.y_ = X, y
        return self

    def predict(self, X):
        near = np.argsort(-self.similarity_(X, self.X_), axis=1)[:, : self.n]
        return np.array([np.bincount(row).argmax() for row in self.y_[near]])


@register_kernel()
def near(X, Y, width=1.0):
    return -np.linalg.norm(X[:, None] - Y[None], axis=2) / width


@register_kernel()
class Scaled(Kernel):
    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        if self.factor <= 0:
            raise ArithmeticError("no factor")
        return self

    def __call__(self, X, Y=None):
        return self.factor * (X @ (X if Y is None else Y).T)


@register_dataset()
def stripes(n_samples=60, n_stripes=3, random_state=None):
    """Stripes."""
    X = np.random.RandomState(random_state).uniform(size=(n_samples, 2))
    return X, np.where((X[:, 0] * n_stripes).astype(int) % 2, "odd", "even")


@register_dataset()
def grid(side=8, slope=1.0):
    """A grid of points."""
    X = np.array([[i, j] for i in range(side) for j in range(side)], dtype=float)
    return X, (slope * X[:, 0] > X[:, 1]).astype(int)


@register_metric(task=("classification", "ordinal"), better="higher", label="balanced")
def balanced(y_true, y_pred):
    return np.mean([(y_pred[y_true == c] == c).mean() for c in np.unique(y_true)])
'''

CONFIG = """\
title: t
plugins: [mine.py]
datasets:
  stripes: {generator: stripes, n_samples: 80}
  grid: {side: 9}
  moons: {generator: two_moons, n_samples: 80}
kernels:
  near: {kernel: near, width: 2.0}
  gaussian: {kernel: gaussian}
methods:
  mine: {estimator: Majority, n: {select: [1, 3]}}
  nested: {estimator: Majority, similarity: {kernel: Scaled, factor: 2.0}}
  K: {estimator: DummyClassifier}
protocol: {splits: 2, seed: 5}
metrics: [accuracy, balanced]
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(METHODS)
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    return path


def trials(path, **options):
    return {str(t): t for t in make_plan(load_config(path, **options)).trials}


def keys(path):
    return {name: trial.key for name, trial in trials(path).items()}


def changed(path, *replacements):
    text = path.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


#: Keys as they were before there were plug-ins.
BUILT_IN_CONFIG = """\
title: Of kernlearn's own alone
datasets:
  moons: {generator: two_moons, n_samples: 60, noise: 0.2}
  iris: {binarize: random, sample: 90}
  matrix: {generator: indefinite_similarity, n_samples: 40}
kernels:
  polynomial: {kernel: polynomial, degree: [2, 3]}
methods:
  K: {estimator: KernelSVM, C: {select: [0.1, 10]}}
  own: {estimator: BBSClassifier, n_landmarks: 5, similarity: {kernel: gaussian, sigma: 1}}
protocol: {splits: 1, seed: 7}
metrics: [accuracy]
"""


def test_a_plugin_that_is_only_there_changes_no_key(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(BUILT_IN_CONFIG)
    before = keys(path)
    (tmp_path / "mine.py").write_text(METHODS)
    path.write_text(f"{BUILT_IN_CONFIG}plugins: [mine.py]\n")
    assert keys(path) == before
    assert all(not trial.source.plugins for trial in trials(path).values())


def test_a_specification_says_what_is_from_where(mine):
    found = trials(mine)
    spec = found["stripes · near · mine · split 1"].spec
    identity = {"plugin": "mine", "version": 1}
    assert {k: getattr(spec.dataset, k) for k in identity} == identity
    assert spec.kernel == KernelSpec("near", **identity, parameters={"width": 2.0})
    assert spec.method.plugin == "mine"
    assert spec.method.version == 2
    assert spec.metrics == (MetricSpec("balanced", **identity),)
    assert spec.plugins == {"mine"}
    nested = found["moons · nested · split 1"].spec
    assert nested.method.kernels == {"Scaled": identity}
    assert nested.dataset.plugin is None
    grid = found["grid · near · mine · split 1"]
    assert {k: getattr(grid.spec.dataset, k) for k in identity} == identity
    assert len(grid.spec.dataset.fingerprint) == 64
    for trial in found.values():
        read_back = TypeAdapter(TrialSpec).validate_json(canonical(trial.spec))
        assert trial.key == trial_key(trial.spec) == trial_key(read_back)


def test_only_what_matters_changes_a_key(mine):
    file = mine.with_name("mine.py")
    before = keys(mine)
    changed(file, ("What the tests' configs name.", "What the configs of the tests name."))
    assert keys(mine) == before
    changed(file, ("version=2", "version=3"))
    after = keys(mine)
    assert {name for name in before if before[name] == after[name]} == {
        name for name in before if "· K ·" in name
    }
    changed(file, ("slope=1.0", "slope=2.0"))
    assert {n.split()[0] for n in after if keys(mine)[n] != after[n]} == {"grid"}
    # another user's plug-in of another name
    changed(mine, ("mine.py", "theirs.py"))
    file.rename(mine.with_name("theirs.py"))
    assert set(keys(mine).values()).isdisjoint(after.values())


def test_a_metric_is_part_of_a_key_where_it_is_named(mine):
    measured = keys(mine)
    changed(mine, ("[accuracy, balanced]", "[accuracy]"))
    plain = keys(mine)
    assert set(plain.values()).isdisjoint(measured.values())
    for section in (
        "best: {metrics: [balanced]}",
        "verdict: {balanced: {absolute: 0.1}}",
        "table: {metrics: [accuracy, balanced]}",
        "figures: [{x: dataset, metrics: [balanced]}]",
        "derived: {ratio: {ratio: balanced, baseline: K}}",
        "claims: [{says: s, check: {metric: balanced, better: [mine], than: [K]}}]",
    ):
        text = mine.read_text()
        mine.write_text(f"{text}{section}\n")
        assert keys(mine) == measured, section
        mine.write_text(text)


def test_a_file_is_run_once_and_again_when_it_has_changed(mine):
    log = mine.with_name("mine.log")
    for _ in range(3):
        load_config(mine)
    assert log.read_text().count("run") == 1
    scope = load_config(mine).config.scope
    assert load_file(mine.with_name("mine.py")) is scope.files[0]
    changed(mine.with_name("mine.py"), ("n=3", "n=5"))
    again = load_config(mine).config.scope
    assert log.read_text().count("run") == 2
    assert scope.estimators["Majority"].load()().n == 3
    assert again.estimators["Majority"].load()().n == 5


def test_the_same_file_twice_is_one_plug_in(mine, tmp_path):
    (tmp_path / "link.py").symlink_to(tmp_path / "mine.py")
    changed(mine, ("[mine.py]", "[mine.py, ./mine.py, link.py]"))
    assert load_config(mine).plugins == (tmp_path / "mine.py",)


def test_every_config_sees_its_own_plug_ins_only(mine, tmp_path):
    first = load_config(mine)
    other = tmp_path / "other.yaml"
    other.write_text(CONFIG.replace("plugins: [mine.py]\n", ""))
    with pytest.raises(ConfigError) as caught:
        load_config(other)
    lines = str(caught.value).splitlines()
    for name in ("generator 'stripes'", "kernel 'near'", "estimator 'Majority'", "'balanced'"):
        assert sum(name in line for line in lines) >= 1
    # another file has the same names, for another config
    (tmp_path / "b.py").write_text(METHODS.replace("n=3", "n=7"))
    other.write_text(CONFIG.replace("mine.py", "b.py"))
    second = load_config(other)
    defaults = [e.config.scope.estimators["Majority"].load()().n for e in (first, second)]
    assert defaults == [3, 7]
    assert second.plugins == (tmp_path / "b.py",)


BROKEN = {
    "import nothing_of_that_name": "mine.py:1: ModuleNotFoundError: No module named 'nothing",
    "import other": "mine.py:1: ModuleNotFoundError: No module named 'other'; a plug-in cannot",
    "x = 1\n\nx = = 2": "mine.py:3: SyntaxError: invalid syntax",
    "def f():\n    return 1 / 0\n\n\nf()": "mine.py:2: ZeroDivisionError: division by zero",
    "if 1:\nx = 2": "mine.py:2: IndentationError: expected an indented block",
    "x = '\0'": "mine.py: .*null bytes",
    "x = 1": "mine.py: registers nothing; `kernlearn.plugins` says how",
    "raise SystemExit(3)": "mine.py:1: SystemExit: 3",
    "raise NotImplementedError": "mine.py:1: NotImplementedError$",
    "from kernlearn.plugins import *\nregister_estimator(version=0)": (
        "mine.py:2: ValueError: version must be an integer of at least 1, not 0"
    ),
    "from kernlearn.plugins import *\n@register_estimator\nclass A: pass": (
        "mine.py:2: TypeError: write the decorator with brackets, as @register_estimator()"
    ),
    "from kernlearn.plugins import *\n@register_estimator()\nclass A: pass": (
        "mine.py:2: TypeError: A has no fit, get_params, set_params: derive it from sklearn.base"
    ),
    "from kernlearn.plugins import *\n\n@register_kernel()\ndef linear(X, Y): pass": (
        "mine.py:3: the name 'linear' is taken: kernlearn has a kernel of that name"
    ),
    "from kernlearn.plugins import *\nfrom sklearn.linear_model import Ridge\n"
    "register_estimator()(Ridge)": (
        "mine.py:3: the name 'Ridge' is taken: kernlearn has an estimator of that name"
    ),
    "from kernlearn.plugins import *\n\n@register_dataset()\ndef spambase(): pass": (
        "mine.py:3: the name 'spambase' is taken: kernlearn has a data set of that name"
    ),
    "from kernlearn.plugins import *\n\n@register_dataset()\ndef waveform(): pass": (
        "mine.py:3: the name 'waveform' is taken"
    ),
    "from kernlearn.plugins import *\n\n@register_metric(task='regression', better='lower')\n"
    "def mse(a, b): pass": "mine.py:3: the name 'mse' is taken: kernlearn has a metric of that",
    "from kernlearn.plugins import *\n\n@register_dataset()\ndef d(sample=1, scale=2): pass": (
        "mine.py:3: the data set 'd' has a parameter sample, scale, which is a config's own key"
    ),
    "from kernlearn.plugins import *\n\n@register_metric(task='clustering', better='lower')\n"
    "def m(a, b): pass": "mine.py:3: the metric 'm' is for the task 'clustering'; there are class",
    "from kernlearn.plugins import *\nfor _ in range(2):\n"
    "    register_kernel('k')(lambda X, Y: X)": (
        "mine.py:3: the kernel 'k' was registered on line 3 already"
    ),
}


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_is_said_of_broken_files(mine, number):
    text, message = list(BROKEN.items())[number]
    mine.with_name("mine.py").write_text(text)
    mine.with_name("other.py").write_text("x = 1")
    changed(mine, ("title: t\n", "title: t\nprofiles: {quick: {splits: 1}}\n"))
    before = set(sys.modules)
    with pytest.raises(ConfigError) as caught:
        load_config(mine)
    (line,) = str(caught.value).splitlines()
    pattern = re.escape(f"{mine}:3: plugins.0: {mine.parent}/") + message
    assert re.match(pattern.replace("()", r"\(\)"), line), line
    assert isinstance(caught.value.__cause__, PluginError)
    left = [name for name in set(sys.modules) - before if name.startswith("kernlearn_plugin_")]
    assert bool(left) == ("is taken" in line)


def test_what_is_said_of_files_that_are_none(mine, tmp_path):
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "mine.txt").write_text("x")
    names = "[gone.py, mine.txt, folder.py, c.yaml, '', 3]"
    changed(mine, ("[mine.py]", names))
    with pytest.raises(ConfigError) as caught:
        load_config(mine)
    lines = [line.removeprefix(f"{mine}:2: ") for line in str(caught.value).splitlines()]
    assert lines == [
        f"plugins.0: {tmp_path}/gone.py: cannot be read: No such file or directory",
        f"plugins.1: {tmp_path}/mine.txt: a plug-in is a Python file, .py",
        f"plugins.2: {tmp_path}/folder.py: cannot be read: Is a directory",
        f"plugins.3: {tmp_path}/c.yaml: a plug-in is a Python file, .py",
        f"plugins.4: {tmp_path}: a plug-in is a Python file, .py",
        "plugins.5: must be text, not 3",
    ]
    for value in ("mine.py", "{a: mine.py}", "null", "3", "[[mine.py]]"):
        mine.write_text(CONFIG.replace("[mine.py]", value))
        with pytest.raises(ConfigError, match=r":2: plugins(\.0)?: must be"):
            load_config(mine)


def test_two_files_of_one_config_share_no_name(mine, tmp_path):
    (tmp_path / "more.py").write_text(METHODS)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text(METHODS)
    changed(mine, ("[mine.py]", "[mine.py, more.py, sub/mine.py]"))
    with pytest.raises(ConfigError) as caught:
        load_config(mine)
    taken, called = str(caught.value).splitlines()
    line = METHODS.splitlines().index("@register_estimator(version=2)") + 1
    assert taken.endswith(
        f"more.py:{line}: the name 'Majority' is taken: mine has an estimator of that name"
    )
    assert called.endswith("sub/mine.py: another plug-in is called mine too; rename one")


def test_a_file_that_fails_once_can_be_loaded_later(mine, tmp_path):
    text = METHODS + "\nopen(pathlib.Path(__file__).parent / 'flag').close()\n"
    (tmp_path / "mine.py").write_text(text)
    for _ in range(2):
        with pytest.raises(ConfigError, match="FileNotFoundError"):
            load_config(mine)
    (tmp_path / "flag").touch()
    assert load_config(mine).plugins == (tmp_path / "mine.py",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n: {select", "m: {select", ":11: methods.mine.m: Majority has no such parameter"),
        ("width: 2.0", "widht: 2.0", ":8: kernels.near.widht: near has no such parameter; did"),
        ("width: 2.0", "width: wide", ":8: kernels.near.width: The 'width' parameter of near"),
        ("factor: 2.0", "factr: 2.0", ":12: methods.nested.similarity.factr: Scaled has no"),
        ("n_samples: 80}\n  grid", "n_sampels: 80}\n  grid", ":4: datasets.stripes.n_sampels"),
        ("side: 9", "side: nine", ":5: datasets.grid.side: must be a whole number, not 'nine'"),
        ("side: 9", "sides: 9", ":5: datasets.grid.sides: unknown key; did you mean 'side'?"),
        ("{side: 9}", "{name: gird}", ":5: datasets.grid: no data set 'gird' in the catalogue"),
        ("{side: 9}", "{generator: grid}", "no generator 'grid'; it is a data set: give `name"),
        ("{generator: stripes,", "{name: stripes,", ":4: datasets.stripes: no data set 'stripes'"),
        ("balanced]", "balancd]", ":15: metrics: no metric 'balancd' of classification; did you"),
        ("title: t", "title: t\ntask: regression", "no metric 'balanced' of regression"),
    ],
)
def test_names_and_parameters_are_checked_as_for_kernlearns_own(mine, old, new, message):
    changed(mine, (old, new))
    with pytest.raises(ConfigError) as caught:
        load_config(mine)
    assert message in str(caught.value)
    assert all(line.startswith(f"{mine}:") for line in str(caught.value).splitlines())


def test_whatever_a_plug_in_raises_over_a_value_is_a_fault(mine):
    init = "def __init__(self, factor=1.0):\n        self.factor = factor\n\n    def fit"
    raising = init.replace("self.factor", "10 / factor; self.factor", 1)
    changed(mine.with_name("mine.py"), (init, raising))
    changed(mine, ("factor: 2.0", "factor: 0"))
    with pytest.raises(ConfigError, match=r"nested\.similarity\.factor: division by zero"):
        load_config(mine)


def results(plan, path):
    with Store(path) as store:
        run_plan(plan, store)
        return store.get(t.key for t in plan.trials)


def test_all_kinds_run_together_and_stand_in_the_report(mine, tmp_path):
    plan = make_plan(load_config(mine))
    found = results(plan, tmp_path / "s")
    assert [r.error for r in found.values() if not r.done] == []
    for trial in plan.trials:
        metrics = found[trial.key].metrics
        assert 0 <= metrics["balanced"] <= 1
        if trial.labels["method"] == "K":
            assert metrics["balanced"] == 0.5
    with Store(tmp_path / "s") as store:
        report = assemble(plan, store)
    (table,) = report.tables
    assert any("balanced" in head for head in table.heads)
    assert not any("has changed" in remark for remark in report.remarks)
    rows = report.summary[report.summary["metric"] == "balanced"]
    assert len(rows) == len(plan.trials) / 2


def test_a_metric_is_what_a_reader_would_measure(mine, tmp_path):
    changed(
        mine.with_name("mine.py"),
        (
            "def balanced(y_true, y_pred):\n",
            "def balanced(y_true, y_pred):\n    np.save(__file__ + '.npy', [y_true, y_pred])\n",
        ),
    )
    trial = trials(mine)["grid · near · mine · split 1"]
    measured = run_trial(trial).metrics
    true, predicted = np.load(tmp_path / "mine.py.npy")
    assert measured["accuracy"] == np.mean(true == predicted)
    np.testing.assert_allclose(measured["balanced"], balanced_accuracy_score(true, predicted))


QUERIES = """\
import numpy as np
from kernlearn.plugins import *

@register_dataset()
def searches(n=60):
    rng = np.random.RandomState(0)
    return {"data": rng.normal(size=(n, 3)), "target": rng.randint(3, size=n) * 2,
            "query": np.arange(n) // 6}

@register_metric(task="ranking", better="higher")
def first_is_best(y_true, y_pred, query):
    return np.mean([y_true[query == q][y_pred[query == q].argmax()] == y_true[query == q].max()
                    for q in np.unique(query)])

@register_metric(task="ranking", better=None)
def most_relevant(y_true, y_pred):
    return y_true.max()
"""


def test_metrics_of_queries(tmp_path):
    (tmp_path / "q.py").write_text(QUERIES)
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\ntask: ranking\nplugins: [q.py]\ndatasets: [searches]\n"
        "methods: {mean: {estimator: DummyRegressor}}\nmetrics: [first_is_best, most_relevant]\n"
        "protocol: {splits: 1}\n"
    )
    (trial,) = trials(path).values()
    metrics = run_trial(trial).metrics
    assert 0 < metrics["first_is_best"] < 1
    # grades are what numbers stand for, in order
    assert metrics["most_relevant"] == 2


@pytest.mark.parametrize("value", ["None", "float('nan')", "'a'", "y_true"])
def test_a_metric_that_is_no_number_fails_its_trials(mine, value):
    line = next(line for line in METHODS.splitlines() if "return np.mean" in line)
    changed(mine.with_name("mine.py"), (line, f"    return {value}"))
    trial = trials(mine)["moons · near · mine · split 1"]
    with pytest.raises(ValueError, match="metric 'balanced' of mine must give a finite number"):
        run_trial(trial)


NUMBERS = """\
import numpy as np
from kernlearn.plugins import *

@register_dataset()
def prices(n=40):
    return np.arange(n)[:, None], np.arange(n) * 1000 + 7

@register_dataset()
def drawn_prices(n=40, random_state=None):
    return np.arange(n)[:, None], np.random.RandomState(random_state).randint(10**6, size=n)

@register_metric(task=["regression", "ordinal"], better=None)
def largest(y_true, y_pred):
    return y_true.max()
"""


def test_whole_numbers_are_numbers_for_regression_and_grades_else(tmp_path):
    (tmp_path / "n.py").write_text(NUMBERS)
    path = tmp_path / "c.yaml"
    text = (
        "title: t\ntask: regression\nplugins: [n.py]\n"
        "datasets: {prices: {}, drawn: {generator: drawn_prices}}\n"
        "methods: {mean: {estimator: DummyRegressor}}\nmetrics: [largest]\n"
        "protocol: {splits: 1}\n"
    )
    path.write_text(text)
    largest = [run_trial(t).metrics["largest"] for t in trials(path).values()]
    assert largest[0] % 1000 == 7
    assert largest[0] > 10_000
    assert largest[1] > 40
    path.write_text(text.replace("regression", "ordinal"))
    assert all(run_trial(t).metrics["largest"] < 40 for t in trials(path).values())
    path.write_text(text.replace("regression", "ordinal").replace("{}", "{bins: 4}"))
    assert run_trial(trials(path)["prices · mean · split 1"]).metrics["largest"] == 3


SELECT = CONFIG.replace("splits: 2,", "splits: 2, holdout: 0.2, select_by_mean: true,")


def test_metrics_are_measured_at_every_point_of_a_grid(mine, tmp_path):
    mine.write_text(SELECT)
    trial = trials(mine)["grid · near · mine · split 1"]
    points = run_trial(trial).info["grid"]
    assert [p["parameters"] for p in points] == [{"n": 1}, {"n": 3}]
    assert all("balanced" in point["metrics"] for point in points)


def test_data_that_is_other_each_time_is_refused(mine):
    old = "return X, (slope * X[:, 0] > X[:, 1]).astype(int)"
    changed(mine.with_name("mine.py"), (old, f"X += np.random.uniform(size=X.shape)\n    {old}"))
    trial = trials(mine)["grid · near · mine · split 1"]
    with pytest.raises(DataError, match="grid: not the data that the trial was planned"):
        run_trial(trial)


def test_an_error_in_a_data_set_names_the_line(mine):
    changed(mine.with_name("mine.py"), ("    X = np.array([[i", "    X = nd.array([[i"))
    line = METHODS.splitlines().index('    """A grid of points."""') + 2
    with pytest.raises(DataError, match=rf"'grid' of mine: .*mine\.py:{line}: NameError"):
        make_plan(load_config(mine))


def test_a_trial_is_all_that_another_process_needs(mine, tmp_path):
    found = trials(mine)
    names = [
        "stripes · near · mine · split 1",
        "grid · gaussian · mine · split 2",
        "moons · nested · split 1",
    ]
    (tmp_path / "trials").write_bytes(pickle.dumps([found[name] for name in names]))
    code = (
        "import pickle, sys, pathlib\n"
        "from kernlearn.engine.trial import run_trial\n"
        "for trial in pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()):\n"
        "    print(run_trial(trial).metrics['balanced'].hex())\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "trials")],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    here = [run_trial(found[name]).metrics["balanced"] for name in names]
    assert [float.fromhex(line) for line in out.stdout.split()] == here


def test_processes_of_a_pool_load_what_they_need(mine):
    from joblib import Parallel, delayed

    found = list(trials(mine).values())
    pooled = Parallel(n_jobs=2)(delayed(execute)(trial, None) for trial in found)
    for trial, result in zip(found, pooled, strict=True):
        assert result.error is None
        assert result.metrics["accuracy"] == run_trial(trial).metrics["accuracy"]


def test_a_file_that_has_changed_since_the_plan_is_not_taken(mine):
    trial = trials(mine)["moons · near · mine · split 1"]
    changed(mine.with_name("mine.py"), ("n=3", "n=4"))
    # this process has the file as it was planned
    assert run_trial(trial).metrics
    ((path, digest),) = trial.source.plugins
    with pytest.raises(PluginError, match=r"mine\.py: has changed since the trials were planned"):
        load_plugins([(path, digest[::-1])])


def test_a_package_that_is_not_where_the_trial_runs_is_named(mine):
    trial = trials(mine)["moons · near · mine · split 1"]
    elsewhere = replace(trial, source=replace(trial.source, plugins=()))
    with pytest.raises(PluginError, match="no plug-in mine is installed here"):
        run_trial(elsewhere)


def test_profiles_and_settings_may_name_plug_ins(mine, tmp_path):
    (tmp_path / "other.py").write_text(METHODS.replace("n=3", "n=9"))
    for text in ("quick: {plugins: [other.py]}", "quick: {splits: 1}"):
        mine.write_text(f"{CONFIG}profiles:\n  {text}\n")
        names = [p.name for p in load_config(mine, profile="quick").plugins]
        assert names == ["other.py" if "other" in text else "mine.py"]
    assert load_config(mine, settings=["plugins=[other.py]"]).plugins == (tmp_path / "other.py",)
    mine.write_text(f"{CONFIG}profiles:\n  quick: {{plugins: [gone.py]}}\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:17: plugins\.0: .*gone\.py: cannot be read"):
        load_config(mine)


def test_numbers_of_another_state_of_the_file_are_told(mine, tmp_path):
    results(make_plan(load_config(mine)), tmp_path / "s")
    changed(mine.with_name("mine.py"), ("n=3", "n=5"))
    with Store(tmp_path / "s") as store:
        report = assemble(make_plan(load_config(mine)), store)
    (remark,) = [r for r in report.remarks if "has changed" in r]
    n = len(make_plan(load_config(mine)).trials)
    assert remark.startswith(f"mine has changed since {n} of {n} trials were measured: ")


def test_names_of_a_config_that_is_not_finished(tmp_path):
    (tmp_path / "mine.py").write_text(METHODS)
    path = tmp_path / "c.yaml"
    path.write_text("plugins: [mine.py]\n")
    scope = load_scope(path)
    assert scope.estimators["Majority"].plugin == "mine"
    assert set(scope.own_datasets) == {"stripes", "grid"}
    assert scope.task_metrics("ordinal")[-1] == "balanced"
    path.write_text("plugins: [gone.py]\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:1: plugins\.0: .*gone\.py: cannot be read"):
        load_scope(path)


def test_a_plug_in_is_a_module_like_any_other(mine, tmp_path, monkeypatch):
    """Its classes pickle where it is loaded, and it can be imported and tested by itself."""
    scope = load_config(mine).config.scope
    model = scope.estimators["Majority"].load()(n=4)
    assert pickle.loads(pickle.dumps(model)).n == 4
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    module = importlib.import_module("mine")
    monkeypatch.delitem(sys.modules, "mine")
    assert module.near(np.zeros((2, 1)), np.ones((3, 1)), width=2.0).tolist() == [[-0.5] * 3] * 2
