import platform
import subprocess
import sys

import pytest

from kernlearn.memory import (
    allowed_memory,
    available_memory,
    block_rows,
    require_memory,
    row_blocks,
)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 4000 kB\n")
    return tmp_path


def group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def test_what_the_kernel_calls_available(root, tmp_path):
    assert available_memory(root) == 4000 * 1024
    assert available_memory(tmp_path / "nothing") > 0
    assert 2**20 < available_memory() < 2**50


@pytest.mark.parametrize(
    ("line", "groups", "expected"),
    [
        (  # version 2, with a parent's limit
            "0::/outer/inner",
            {"outer": (10**6, 7 * 10**5, "anon 5"), "outer/inner": ("max", 6 * 10**5, "")},
            300_000,
        ),
        (  # cached pages of files count as free
            "0::/",
            {"": (10**6, 9 * 10**5, "anon 600000\ninactive_file 200000\nactive_file 100000")},
            300_000,
        ),
        ("0::/", {"": (100, 120, "")}, 0),
    ],
)
def test_control_groups(root, line, groups, expected):
    (root / "proc/self/cgroup").write_text(line + "\n")
    for name, (most, current, stat) in groups.items():
        files = {"memory__max": most, "memory__current": current, "memory__stat": stat}
        group(root / "sys/fs/cgroup" / name, **files)
    assert available_memory(root) == expected


def test_control_group_version_1(root):
    (root / "proc/self/cgroup").write_text("5:cpu,cpuacct:/a\n4:memory:/a\n")
    group(
        root / "sys/fs/cgroup/memory/a",
        memory__limit_in_bytes=500_000,
        memory__usage_in_bytes=400_000,
        memory__stat="inactive_file 7\ntotal_inactive_file 50000",
    )
    assert available_memory(root) == 150_000


def test_refusal_says_what_is_needed_what_there_is_and_what_to_do():
    require_memory(2**10, "it", "no")
    with pytest.raises(MemoryError, match=r"needs 1.07e.* GiB, but .*: use fewer rows"):
        require_memory(2**60, purpose="the matrix", advice="use fewer rows")


def test_blocks_fit_the_block_size_and_cover_all_rows_in_order():
    assert 8 * block_rows(1000) * 1000 <= 2**21 < 8 * (block_rows(1000) + 1) * 1000
    assert block_rows(1000, itemsize=4) == 2**21 // 4000
    assert block_rows(10**9) == 32
    assert block_rows(0) == block_rows(1) == 2**18
    blocks = list(row_blocks(1000, 4096))
    assert {b.stop - b.start for b in blocks[:-1]} == {block_rows(4096)}
    assert [i for b in blocks for i in range(b.start, b.stop)] == list(range(1000))


KEEPING = """\
import numpy as np, psutil
from kernlearn import memory
def size():
    return psutil.Process().memory_info().rss // 2**20
{first}
before, freed = size(), memory.freed_memory()
np.ones(2**26)
print(size() - before, (memory.freed_memory() - freed) // 2**20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize("keeps", [True, False])
def test_freed_memory_is_kept_and_counts_as_allowed(keeps):
    script = KEEPING.format(first="memory.keep_freed_memory()" if keeps else "")
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    grown, freed = map(int, made.stdout.split())
    assert (grown > 500, freed > 500) == (keeps, keeps)
    assert allowed_memory() > 0
