"""What the check of a release says of faults and failures, and what it takes of the README."""

import json
import subprocess

import pytest

from release import check

FOUND = [
    {"name": "fine", "version": "1.0", "vulns": []},
    {"name": "kernlearn", "skip_reason": "not published"},
    {"name": "old", "version": "0.1", "vulns": [
        {"id": "X-1", "fix_versions": ["0.2", "1.0"]}, {"id": "X-2", "fix_versions": []},
    ]},
]  # fmt: skip


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
    from kernlearn.experiments import load_config, make_plan

    check.quick_start(tmp_path)
    assert len(make_plan(load_config(tmp_path / "mine.yaml")).trials) >= 3
