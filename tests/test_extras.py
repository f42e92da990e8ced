"""What works with the required dependencies alone, and what is said of the others."""

import re
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from kernlearn.lazy import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: What `pip install kernlearn` brings, by the names of modules.
LIGHT = """cloudpickle joblib kernlearn liblinear libsvm llvmlite narwhals numba numpy scipy
sklearn threadpoolctl"""
#: Hides all other modules that are installed.
HIDE = f"""
import sys

class Only:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        standard = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        known = standard or top in {set(LIGHT.split())!r}
        return self.finder.find_spec(name, path, target) if known else None

sys.meta_path[:] = [Only(finder) for finder in sys.meta_path if hasattr(finder, "find_spec")]
for name in list(sys.modules):
    if name.partition(".")[0] in {tuple(EXTRAS)!r}:
        del sys.modules[name]
"""


def in_light_install(code: str) -> subprocess.CompletedProcess[str]:
    """Run code where nothing but the required dependencies can be imported."""
    words = [sys.executable, "-W", "error::ImportWarning", "-c", HIDE + textwrap.dedent(code)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def project(requirement: str) -> str:
    """The project that a requirement names, normalised."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def test_extras_install_the_modules_that_they_are_said_to():
    extras = PROJECT["optional-dependencies"]
    installed = packages_distributions()
    unknown = [
        module
        for module, extra in EXTRAS.items()
        if module in installed
        and not {project(one) for one in installed[module]}
        & {project(one) for one in extras[extra]}
        and module != "dask"  # distributed brings it
    ]
    assert unknown == []
    # and what `run` installs is known
    modules = {project(one): name for name in EXTRAS for one in installed.get(name, ())}
    assert {project(one) for one in extras["run"]} <= modules.keys()


#: Estimators that fit with the required dependencies alone, and those that fit although nothing
#: could be compiled.
FIT = """
import numpy as np
from kernlearn.datasets import row_source
from kernlearn.features import MaclaurinSVM
from kernlearn.landmarks import FTuneClassifier
from kernlearn.linear import LinearSVM
from kernlearn.onepass import OnePassRidgeClassifier
from kernlearn.pairwise import OLP
from kernlearn.svm import KernelSVM
from kernlearn.voted import VotedKernelClassifier

X = np.random.default_rng(0).normal(size=(120, 4))
y = (X[:, 0] > 0.1).astype(int)
for model in {}:
    assert model.fit(X, y).score(X, y) > 0.8, model
OnePassRidgeClassifier().fit(row_source(lambda: [(X, y)]))
"""
ALL = (
    "MaclaurinSVM(), LinearSVM(), KernelSVM(), FTuneClassifier(10), OLP(), VotedKernelClassifier()"
)
PURE = "LinearSVM(loss='hinge'), KernelSVM(lambda A, B: A @ B.T), FTuneClassifier(10)"
HIDE_COMPILED = "sys.modules['liblinear'] = sys.modules['libsvm'] = None\n"


def test_estimators_fit_with_the_required_dependencies_alone():
    done = in_light_install(FIT.format(ALL))
    assert done.returncode == 0, done.stderr


def test_estimators_fit_where_nothing_was_compiled():
    done = in_light_install(HIDE_COMPILED + FIT.format(PURE))
    assert done.returncode == 0, done.stderr
    for name, library in ("LinearSVM", "LIBLINEAR"), ("KernelSVM", "LIBSVM"):
        done = in_light_install(HIDE_COMPILED + FIT.format(f"[{name}()]"))
        assert re.search(rf"^ImportError: {library} .*pip install", done.stderr, re.MULTILINE)


def test_public_names_are_there_or_say_what_installs_them():
    done = in_light_install(
        """
        from importlib import import_module
        import kernlearn.kernels
        from kernlearn.lazy import MissingExtraError

        numeric = "features kernels landmarks linear onepass pairwise svm"
        for package in (*numeric.split(), "theory", "voted"):
            module = import_module(f"kernlearn.{package}")
            for name in module.__all__:
                getattr(module, name)
        for package in "config datasets engine reports store".split():
            module = import_module(f"kernlearn.{package}")
            for name in module.__all__:
                try:
                    getattr(module, name)
                except MissingExtraError as error:
                    assert str(error).startswith(f"kernlearn.{package}.{name} needs "), error
                    assert str(error).endswith(": pip install 'kernlearn[run]'"), error
        for name, extra in ("levenshtein", "run"), ("aeon.twe", "series"):
            try:
                kernlearn.kernels.named(name)(["a"], ["b"])
            except MissingExtraError as error:
                assert f"pip install 'kernlearn[{extra}]'" in str(error), error
            else:
                raise AssertionError(name)
        """
    )
    assert done.returncode == 0, done.stderr


def test_command_says_what_it_needs():
    done = in_light_install("from kernlearn.__main__ import main; main()")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'kernlearn[run]'" in done.stderr
