"""Names that packages import lazily, and the extras that install what they need."""

import re
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from kernlearn.lazy import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = sorted(
    path
    for path in (ROOT / "kernlearn").rglob("__init__.py")
    if "attach(" in path.read_text(encoding="utf-8")
)


def dotted(path: Path) -> str:
    return ".".join(path.parent.relative_to(ROOT).parts)


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_public_names_are_there(path):
    package = import_module(dotted(path))
    assert sorted(package.__all__) == sorted(set(package.__all__))
    assert set(package.__all__) <= set(dir(package)) | {"__version__"}
    for name in package.__all__:
        assert getattr(package, name) is not None


def projects(requirements):
    """The projects that requirements name, normalised."""
    names = (re.split(r"[^\w.-]", requirement)[0] for requirement in requirements)
    return {name.lower().replace("_", "-") for name in names}


def test_extras_install_the_modules_that_they_are_said_to():
    installed = packages_distributions()
    extras = {name: projects(asked) for name, asked in PROJECT["optional-dependencies"].items()}
    of_modules = {name: projects(installed[name]) for name in EXTRAS if name in installed}
    unknown = [name for name, found in of_modules.items() if not found & extras[EXTRAS[name]]]
    assert set(unknown) <= {"dask"}  # distributed brings it
    assert extras["run"] <= set().union(*of_modules.values())  # and what `run` installs is known
