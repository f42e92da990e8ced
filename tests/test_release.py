"""What the check of a release says of faults and failures, and what it takes of the README."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from kernlearn.version import __version__
from release import check

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Not on conda-forge.
OFFICIAL = {"liblinear-official", "libsvm-official"}

FOUND = [
    {"name": "fine", "version": "1.0", "vulns": []},
    {"name": "kernlearn", "skip_reason": "not published"},
    {
        "name": "old",
        "version": "0.1",
        "vulns": [
            {"id": "X-1", "fix_versions": ["0.2", "1.0"]},
            {"id": "X-2", "fix_versions": []},
        ],
    },
]


def answer(monkeypatch, output, errors=""):
    ended = subprocess.CompletedProcess([], 1, output, errors)
    monkeypatch.setattr(check.subprocess, "run", lambda *_, **__: ended)


def test_known_faults_are_listed(monkeypatch, tmp_path, capsys):
    answer(monkeypatch, json.dumps({"dependencies": FOUND}))
    assert not check.audit(tmp_path, tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "known faults: 1 of 2 packages that the service knows",
        "  old 0.1: X-1, mended in 0.2, 1.0",
        "  old 0.1: X-2, mended in no version",
        "  not looked up: kernlearn",
    ]
    answer(monkeypatch, json.dumps({"dependencies": FOUND[:2]}))
    assert check.audit(tmp_path, tmp_path)
    capsys.readouterr()
    answer(monkeypatch, json.dumps({"dependencies": FOUND[1:2]}))
    assert check.audit(tmp_path, tmp_path)
    said = "known faults: not looked up, the service knows none of the packages\n"
    assert capsys.readouterr().out == said


def test_a_service_that_is_not_reached_is_said(monkeypatch, tmp_path, capsys):
    answer(monkeypatch, "", "Traceback\nConnectionError: no route\n")
    assert check.audit(tmp_path, tmp_path)
    said = "known faults: not looked up, the service was not reached: ConnectionError: no route\n"
    assert capsys.readouterr().out == said


def test_sizes_count_links_as_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(3_000_000))
    (tmp_path / "again").symlink_to(tmp_path / "folder" / "file")
    assert check.megabytes(tmp_path) == pytest.approx(3.0, abs=1e-3)
    assert check.megabytes(tmp_path / "folder" / "file") == 3.0


def test_a_program_that_fails_ends_the_check(tmp_path):
    with pytest.raises(check.Failed, match=r"exit code 3\nno"):
        check.run(["sh", "-c", "echo no; exit 3"], tmp_path)
    with pytest.raises(check.Failed, match="Traceback"):
        check.run(["echo", "Traceback"], tmp_path)


def test_the_quick_start_is_that_of_the_readme(tmp_path):
    from kernlearn.config import load_config
    from kernlearn.engine import make_plan

    check.quick_start(tmp_path)
    assert len(make_plan(load_config(tmp_path / "mine.yaml")).trials) >= 3


def test_the_recipe_for_conda_says_what_the_project_says():
    recipe = yaml.safe_load((ROOT / "release/conda/recipe.yaml").read_text(encoding="utf-8"))
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["run"]]
    wanted = [Requirement(one) for one in needed]
    run = dict(one.split(maxsplit=1) for one in recipe["requirements"]["run"])
    assert run.pop("python") == ">=${{ python_min }}"
    assert run == {one.name: str(one.specifier) for one in wanted if one.name not in OFFICIAL}
    assert recipe["context"]["version"] == __version__
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    (command,) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(command)]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["homepage"] == PROJECT["urls"]["Homepage"]


def test_pythons_are_the_same_everywhere():
    classifiers = " ".join(PROJECT["classifiers"])
    pythons = re.findall(r"Python :: (3\.\d+)", classifiers)
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == pythons
    assert PROJECT["requires-python"] == f">={pythons[0]}"


def test_the_citation_is_of_this_version_and_place():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["license"] == PROJECT["license"]
