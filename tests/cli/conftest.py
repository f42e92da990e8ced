import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments.conftest import small

__all__ = ["small"]


@pytest.fixture
def kernlearn(tmp_path: Path):
    """Run the command as a user does, in a folder of its own; return the finished process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KERNLEARN_")}
    environment["KERNLEARN_CACHE"] = str(tmp_path / "cache")

    def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "kernlearn", *map(str, arguments)],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return call
