"""Plug-ins: what the decorators take, whose names a config sees, and what makes a trial's key."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Lasso
from sklearn.metrics import f1_score

from kernlearn.config import load_config
from kernlearn.config.names import kernel_class, load_plugins
from kernlearn.config.read import load_scope
from kernlearn.config.trial import ComponentSpec
from kernlearn.engine import make_plan
from kernlearn.engine.trial import run_trial
from kernlearn.exceptions import ConfigError, PluginError
from kernlearn.kernels import Kernel
from kernlearn.kernels.known_pairs import knowing_pairs
from kernlearn.plugins import (
    _registered,
    load_file,
    register_dataset,
    register_estimator,
    register_kernel,
    register_metric,
)
from kernlearn.svm import KernelSVM


def test_what_is_registered_is_returned_and_recorded_with_its_place():
    @register_estimator("Mine", version=3)
    class Model(BaseEstimator):
        """A model.

        Of no use.
        """

        def __init__(self, alpha=1.0):
            self.alpha = alpha

        def fit(self, X, y):
            return self

    one = _registered[-1]
    assert (one.kind, one.name, one.target) == ("estimator", "Mine", Model)
    assert (one.version, one.title, one.file) == (3, "A model.", __file__)
    here = test_what_is_registered_is_returned_and_recorded_with_its_place.__code__
    assert one.line == here.co_firstlineno + 1
    assert register_estimator("L1", summary="lasso")(Lasso) is Lasso
    assert register_metric(task=["classification"], better="higher")(f1_score) is f1_score
    metric = _registered[-1]
    assert (metric.name, metric.tasks, metric.better) == ("f1_score", ("classification",), 1)


class NoFit:
    def get_params(self):
        return {}

    def set_params(self):
        return self


class Needy(BaseEstimator):
    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        return self


def two(y_true, y_pred):
    return 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: register_estimator()(two), "two has no fit, .*derive a class from sklearn"),
        (lambda: register_estimator()(NoFit), "NoFit has no fit: derive a class"),
        (lambda: register_estimator()(Needy), "Needy: missing a required argument: 'alpha'"),
        (lambda: register_kernel("k")(lambda X: X), "too many positional arguments; it is called"),
        (lambda: register_kernel("k")(lambda X, Y, w: X), "'w'"),
        (lambda: register_estimator(NoFit), r"with brackets, as @register_estimator\(\)"),
        (lambda: register_kernel("a b")(two), "letters, digits and underscores, not 'a b'"),
        (lambda: register_dataset(version=0), "version"),
        (lambda: register_metric(task="regression", better="more"), "better must be"),
    ],
)
def test_what_cannot_be_registered_is_refused(call, message):
    before = [*_registered]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
    assert _registered == before


X = np.random.default_rng(0).normal(size=(30, 2))
SIZES = []


def bell(X, Y, width=1.0, power=2, unit=None):
    """How near."""
    SIZES.append((len(X), len(Y)))
    distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
    return np.exp(-((distances / width) ** power))


def test_a_function_with_parameters_is_a_kernel_as_any_other():
    Bell = kernel_class(bell, "Bell")
    kernel = Bell(width=0.5)
    assert isinstance(kernel, Kernel)
    assert (repr(kernel), Bell.__doc__) == ("Bell(width=0.5)", "How near.")
    assert kernel.get_params().items() >= {"width": 0.5, "power": 2, "kind": "similarity"}.items()
    np.testing.assert_array_equal(kernel(X, X[:3]), bell(X, X[:3], width=0.5))
    SIZES.clear()
    assert [kernel(X).shape for _ in range(4)] == SIZES  # what it takes is not tried again
    changed = clone(kernel).set_params(power=1, kind="distance", turn="exponential").fit(X)
    np.testing.assert_allclose(changed(X), np.exp(-bell(X, X, 0.5, 1) / changed.sigma_))
    with pytest.raises(TypeError, match="widht"):
        Bell(widht=1.0)
    y = (np.linalg.norm(X, axis=1) > 1).astype(int)
    model = KernelSVM(kernel=Bell(), C=10).set_params(kernel__width=0.7)
    assert model.fit(X, y).score(X, y) > 0.9


def test_pairs_are_compared_once_while_parameters_are_chosen():
    calls, points = [], np.array(["12", "12.0", "a"], dtype=object)

    def gap(x, y, width=1.0):
        calls.append((x, y))
        return float(x != y) / width

    Gap = kernel_class(gap, "Gap")
    with knowing_pairs():
        values = [Gap(width=width, takes="points")(points) for width in (1.0, 1.0, 2.0)]
    np.testing.assert_array_equal(values, np.array([1, 1, 0.5])[:, None, None] * (1 - np.eye(3)))
    assert len(calls) == 2 * 9


METHODS = '''\
"""What the tests' configs name."""
import pathlib

import numpy as np

from kernlearn.kernels import Kernel
from kernlearn.landmarks import SimilarityKNNClassifier
from kernlearn.plugins import *

with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
    print("run", file=log)


@register_estimator(version=2)
class Majority(SimilarityKNNClassifier):
    """The class that most neighbours have."""

    def __init__(self, similarity="gaussian", n_neighbors=3):
        super().__init__(similarity=similarity, n_neighbors=n_neighbors)


@register_kernel()
def near(X, Y, width=1.0):
    return -np.linalg.norm(X[:, None] - Y[None], axis=2) / width


@register_kernel()
class Scaled(Kernel):
    def __init__(self, factor=1.0):
        self.factor = factor
        1 / factor

    def __call__(self, X, Y=None):
        return self.factor * (X @ (X if Y is None else Y).T)


@register_dataset()
def stripes(n_samples=60, n_stripes=3, random_state=None):
    """Stripes."""
    X = np.random.RandomState(random_state).uniform(size=(n_samples, 2))
    return X, np.where((X[:, 0] * n_stripes).astype(int) % 2, "odd", "even")


@register_dataset()
def grid(side=8, slope=1.0, bins=None):
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
  mine: {estimator: Majority, n_neighbors: {select: [1, 3]}}
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


def test_all_kinds_run_and_the_specification_says_what_is_from_where(mine):
    planned = trials(mine)
    spec = planned["stripes · near · mine · split 1"].spec
    identity = {"plugin": "mine", "version": 1}
    assert {k: getattr(spec.dataset, k) for k in identity} == identity
    assert spec.kernel == ComponentSpec("near", **identity, parameters={"width": 2.0})
    assert (spec.method.plugin, spec.method.version) == ("mine", 2)
    assert spec.metrics == (ComponentSpec("balanced", **identity),)
    nested = planned["moons · nested · split 1"].spec
    assert nested.method.kernels == {"Scaled": identity}
    assert nested.dataset.plugin is None
    for name in ("grid · near · mine · split 1", "moons · nested · split 1"):
        assert 0.5 < run_trial(planned[name]).metrics["balanced"] <= 1


def test_an_estimator_within_another_may_be_of_a_plug_in(mine):
    inner = "arguments: {estimator: {estimator: Majority, n_neighbors: 3}}"
    wrapped = f"K: {{estimator: sklearn.ensemble.BaggingClassifier, {inner}}}"
    changed(mine, ("K: {estimator: DummyClassifier}", wrapped))
    trial = trials(mine)["moons · K · split 1"]
    assert trial.spec.method.kernels == {"Majority": {"plugin": "mine", "version": 2}}
    assert run_trial(trial).metrics["accuracy"] > 0.5


def test_only_what_matters_changes_a_key(mine):
    file = mine.with_name("mine.py")
    before = keys(mine)
    changed(file, ("What the tests' configs name.", "What the configs of the tests name."))
    assert keys(mine) == before
    changed(file, ("version=2", "version=3"))
    after = keys(mine)
    same = {name for name in before if before[name] == after[name]}
    assert same == {name for name in before if "· K ·" in name}
    changed(file, ("slope=1.0", "slope=2.0"))
    assert {n.split()[0] for n in after if keys(mine)[n] != after[n]} == {"grid"}
    changed(mine, ("[accuracy, balanced]", "[accuracy]"))
    assert set(keys(mine).values()).isdisjoint(after.values())


def test_a_file_is_run_once_and_again_when_it_has_changed(mine):
    log = mine.with_name("mine.log")
    for _ in range(3):
        load_config(mine)
    assert log.read_text().count("run") == 1
    scope = load_config(mine).config.scope
    assert load_file(mine.with_name("mine.py")) is scope.plugins[0]
    changed(mine.with_name("mine.py"), ("n_neighbors=3", "n_neighbors=5"))
    again = load_config(mine).config.scope
    assert log.read_text().count("run") == 2
    assert [s.estimators["Majority"].load()().n_neighbors for s in (scope, again)] == [3, 5]


def test_every_config_sees_its_own_plug_ins_only(mine, tmp_path, refused):
    first = load_config(mine)
    message = refused(CONFIG.replace("plugins: [mine.py]\n", "").replace(", balanced]", "]"))
    for name in ("generator 'stripes'", "kernel 'near'", "estimator 'Majority'"):
        assert name in message
    (tmp_path / "b.py").write_text(METHODS.replace("n_neighbors=3", "n_neighbors=7"))
    mine.write_text(CONFIG.replace("mine.py", "b.py, ./b.py"))
    second = load_config(mine)
    assert [
        e.config.scope.estimators["Majority"].load()().n_neighbors for e in (first, second)
    ] == [3, 7]
    assert [p.path for p in second.config.scope.plugins] == [tmp_path / "b.py"]


IMPORT = "from kernlearn.plugins import *\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name", "mine.py:1: ModuleNotFoundError: No module named"),
        ("def f():\n    return 1 / 0\n\n\nf()", "mine.py:2: ZeroDivisionError: division by zero"),
        ("x = 1", "mine.py: registers nothing; `kernlearn.plugins` says how"),
        ("raise SystemExit(3)", "mine.py:1: SystemExit: 3"),
        (f"{IMPORT}@register_estimator()\nclass A: pass", "mine.py:2: TypeError: A has no fit"),
        (f"{IMPORT}@register_kernel()\ndef linear(X, Y): pass", "mine.py:2: the kernel 'linear'"),
        (f"{IMPORT}@register_dataset()\ndef spambase(): pass", "'spambase'"),
        (
            f"{IMPORT}@register_metric(task='clustering', better='lower')\ndef m(a, b): pass",
            "the metric 'm' is for the task 'clustering'; there are class",
        ),
        (
            f"{IMPORT}for _ in range(2):\n    register_kernel('k')(lambda X, Y: X)",
            "mine.py:3: the kernel 'k'",
        ),
    ],
)
def test_a_broken_file_is_one_fault_with_its_line(mine, text, message):
    mine.with_name("mine.py").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(mine)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{mine}:2: plugins.0: {mine.parent}/")
    assert message in line
    assert isinstance(caught.value.__cause__, PluginError)


def test_files_that_cannot_be_plug_ins(refused, mine, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text(METHODS)
    lines = refused(CONFIG, ("[mine.py]", "[gone.py, mine.py, sub/mine.py]")).splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == [
        "No such file or directory",
        "another plug-in is called mine too; rename one",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n_neighbors: {sel", "m: {sel", ":11: methods.mine.m: Majority has no parameter 'm'"),
        ("side: 9", "side: 9, bins: 3", ":5: datasets.grid.bins"),
        ("width: 2.0", "wdth: 2.0", ":8: kernels.near.wdth: near has no parameter 'wdth'; did"),
        ("factor: 2.0", "factr: 2.0", ":12: methods.nested.similarity: Scaled has no parameter"),
        ("factor: 2.0", "factor: 0", ":12: methods.nested.similarity: float division by zero"),
        ("balanced]", "balancd]", ":15: metrics.1: no metric 'balancd'; did you mean 'balanced'"),
    ],
)
def test_names_and_parameters_are_checked_as_for_kernlearns_own(refused, mine, old, new, message):
    assert re.search(
        message.replace("float division", "(float )?division"), refused(CONFIG, (old, new))
    )


def test_a_trial_is_all_that_another_process_needs(mine):
    trial = trials(mine)["moons · near · mine · split 1"]
    there = pickle.loads(pickle.dumps(trial))
    assert run_trial(there).metrics["balanced"] == run_trial(trial).metrics["balanced"]
    changed(mine.with_name("mine.py"), ("n_neighbors=3", "n_neighbors=4"))
    # this process has the file as it was planned
    assert run_trial(trial).metrics
    ((path, digest),) = trial.source.plugins
    with pytest.raises(PluginError, match=r"mine\.py: has changed"):
        load_plugins([(path, digest[::-1])])


def test_profiles_and_settings_may_name_plug_ins(mine, tmp_path):
    (tmp_path / "other.py").write_text(METHODS.replace("n_neighbors=3", "n_neighbors=9"))
    mine.write_text(f"{CONFIG}profiles:\n  quick: {{plugins: [other.py]}}\n")
    for options in ({"profile": "quick"}, {"settings": ["plugins=[other.py]"]}):
        (plugin,) = load_config(mine, **options).config.scope.plugins
        assert plugin.path == tmp_path / "other.py"
    mine.write_text("plugins: [mine.py]\n")
    scope = load_scope(mine)
    assert scope.estimators["Majority"].plugin == "mine"
    assert (*scope.datasets, "stripes" in scope.generators) == ("grid", True)
    mine.write_text("plugins: [gone.py]\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:1: plugins\.0: .*gone\.py"):
        load_scope(mine)
