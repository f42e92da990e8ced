"""Files that stand for more memory than there is, of each format: refused before it is taken."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.datasets.bombs import ALLOWED, BOMBS


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """What came of each bomb, in a process that read them all and has little memory."""
    folder = tmp_path_factory.mktemp("bombs")
    finished = subprocess.run(
        [sys.executable, "-m", "tests.datasets.bombs", str(folder)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = {one["name"]: one for one in map(json.loads, finished.stdout.splitlines())}
    return found, finished.stderr[-2000:]


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(read, name):
    found, errors = read
    assert name in found, errors  # else the process ended
    one = found[name]
    assert one["kind"] == "DataError", one["message"]
    assert len(one["message"].splitlines()) == 1
    assert one["size"] < 50 << 20
    assert one["taken"] < ALLOWED
