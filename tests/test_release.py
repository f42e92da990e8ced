"""What the files of a release say of it is the same everywhere."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from kernlearn import __version__
from release import check

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Not on conda-forge.
OFFICIAL = {"liblinear-official", "libsvm-official"}


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_quick_start_is_that_of_the_readme(tmp_path):
    check.quick_start(tmp_path)
    assert (tmp_path / "mine.yaml").is_file()


def test_the_recipe_for_conda():
    recipe = read("release/conda/recipe.yaml")
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["run"]]
    run = dict(one.split(maxsplit=1) for one in recipe["requirements"]["run"])
    assert run.pop("python") == ">=${{ python_min }}"
    expected = {one.name: str(one.specifier) for one in map(Requirement, needed)}
    assert run == {name: text for name, text in expected.items() if name not in OFFICIAL}
    assert recipe["context"]["version"] == __version__
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"


def test_pythons_and_the_citation():
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    jobs = read(".github/workflows/tests.yml")["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == pythons
    citation = read("CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
