"""What the files of a release say of it is the same everywhere."""

import re
import tomllib
from pathlib import Path

import yaml

from kernlearn import __version__
from release import check

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_quick_start_is_that_of_the_readme(tmp_path):
    check.quick_start(tmp_path)
    assert (tmp_path / "mine.yaml").is_file()


def test_pythons_and_the_citation():
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    jobs = read(".github/workflows/tests.yml")["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == pythons
    citation = read("CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
