"""Hostile input is tried away from the user's cache, data and current folder."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_real_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
