"""How much memory data may take, and who says so."""

import resource
from pathlib import Path

import numpy as np
import pytest

from kernlearn import memory
from kernlearn.datasets import load, room
from kernlearn.exceptions import DataError
from tests.command import kernlearn  # noqa: F401


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4 * 10**9), ("1 KiB", 1024), ("7", 7), ("0.5 MB", 500_000)]
)
def test_sizes(text, size):
    assert room.parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "much", "-1", "0", "0.1", "1e999GB", "nan", "9" * 5000, "GB"]
)
def test_what_is_no_size(text, monkeypatch):
    with pytest.raises(DataError, match=r"^here '.*: expected a size such as 4GB"):
        room.parse_size(text, "here")
    if text:
        monkeypatch.setenv(room.VARIABLE, text)
        with pytest.raises(DataError, match=r"^KERNLEARN_MAX_MEMORY"):
            room.allowed_room()


def test_half_of_what_is_free_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.delenv(room.VARIABLE, raising=False)
    monkeypatch.setattr(room, "allowed_memory", lambda: 1000)
    assert room.allowed_room() == 500
    assert room.allowed_room(held=200) == 600
    room.require_room("f", 500, "rows")
    with pytest.raises(
        DataError, match=r"^f: rows need about 501 bytes of memory, and 500 bytes "
    ):
        room.require_room("f", 501, "rows")
    monkeypatch.setenv(room.VARIABLE, "2kB")
    room.require_room("f", 2000, "rows")
    with pytest.raises(DataError, match=r"and 2.0 kB may be taken, the limit of KERNLEARN_MAX_M"):
        room.require_room("f", 2001, "rows", advice="drop some")


def test_a_watch_ends_what_takes_too_much(monkeypatch):
    monkeypatch.setenv(room.VARIABLE, "30MB")
    watch, kept = room.Watch("f", "points"), []
    watch.passed(1 << 30)

    def take():
        for _ in range(100):
            kept.append(np.ones(1 << 18))
            watch.passed(1 << 20)

    with pytest.raises(DataError, match=r"^f: points need more than [0-9.]+ MB of memory, and 30"):
        take()
    assert 10 < len(kept) < 100


def test_the_limits_of_the_process_count(monkeypatch):
    monkeypatch.setattr(
        resource,
        "getrlimit",
        lambda kind: (1 << 50, -1) if kind == resource.RLIMIT_AS else (-1, -1),
    )
    assert memory.available_memory() < 1 << 45
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (resource.getpagesize() * (pages + 1000), -1)
    )
    assert memory.available_memory() <= resource.getpagesize() * 1000


def test_a_file_within_the_limit_and_beyond(folder, monkeypatch):
    path = folder / "f.csv"
    path.write_text("a,b,c\n" + "1.25,2.5,x\n3.5,4.5,y\n" * 5000)
    assert load(path, cache=False).data.shape == (10_000, 2)
    monkeypatch.setenv(room.VARIABLE, "100kB")
    with pytest.raises(DataError, match=r"f\.csv: holds more than 100.0 kB unpacked"):
        load(path, cache=False)
    monkeypatch.setenv(room.VARIABLE, "300kB")
    with pytest.raises(DataError, match=r"f\.csv: .* need about .*, and 300.0 kB may be taken"):
        load(path, cache=False)


def test_the_option_of_commands(kernlearn, tmp_path):  # noqa: F811
    (tmp_path / "f.csv").write_text("a,b,c\n" + "1.25,2.5,x\n3.5,4.5,y\n" * 5000)
    refused = kernlearn("goodness", "f.csv", "--max-memory", "100kB")
    assert refused.returncode == 2
    assert refused.stderr.startswith("kernlearn: f.csv: holds more than 100.0 kB unpacked")
    assert len(refused.stderr.splitlines()) == 1
    wrong = kernlearn("goodness", "f.csv", "--max-memory", "much")
    assert (wrong.returncode, wrong.stderr.splitlines()) == (
        2,
        ["kernlearn: --max-memory 'much': expected a size such as 4GB or 512MB"],
    )
    assert kernlearn("goodness", "f.csv", "--max-memory", "1GB").returncode == 0


def test_memory_that_is_not_there_is_one_line(kernlearn, monkeypatch):  # noqa: F811
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("kernlearn.datasets.loading.find", fails)
    finished = kernlearn("goodness", "iris")
    assert finished.returncode == 2
    assert finished.stderr == (
        "kernlearn: more memory is needed than there is; fewer points need less\n"
    )
