"""A fixture for tests that read files, or look for them."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_real_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test out of the user's cache, data and current folder."""
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
