"""Memory that is there, allowed and given back."""

import platform
import subprocess
import sys

import numpy as np
import psutil
import pytest

from kernlearn.linear import LinearSVM
from kernlearn.memory import allowed_memory, available_memory, require_memory, row_blocks
from kernlearn.svm import KernelSVM


def test_available_memory(tmp_path):
    for name, text in {  # control groups, with a limit of the parent's
        "proc/self/cgroup": "0::/outer/inner",
        "sys/fs/cgroup/outer/memory.max": "1000000",
        "sys/fs/cgroup/outer/memory.current": "700000",
        "sys/fs/cgroup/outer/memory.stat": "anon 5\ninactive_file 50000",
        "sys/fs/cgroup/outer/inner/memory.max": "max",
        "sys/fs/cgroup/outer/inner/memory.current": "600000",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert available_memory(tmp_path) == 350_000
    assert available_memory(tmp_path / "nothing") > 0
    assert 2**20 < available_memory() < 2**50


def test_refusal_says_what_is_needed_what_there_is_and_what_to_do():
    require_memory(2**10, "it", "no")
    with pytest.raises(MemoryError, match=r"needs 1.07e.* GiB"):
        require_memory(2**60, purpose="the matrix", advice="use fewer rows")


def test_blocks_fit_the_block_size_and_cover_all_rows_in_order():
    for n_columns, options, size in [
        (1000, {}, 2**21 // 8000),
        (1000, {"itemsize": 4}, 2**21 // 4000),
        (1000, {"multiple": 50}, 250),
        (1000, {"block_bytes": 2**20}, 2**20 // 8000),
        (10**9, {}, 32),
        (10**9, {"multiple": 64}, 64),
        (0, {}, 2**18),
    ]:
        n_rows = 3 * size + 1
        blocks = list(row_blocks(n_rows, n_columns, **options))
        assert [b.stop - b.start for b in blocks] == [size, size, size, 1]
        assert [i for b in blocks for i in range(b.start, b.stop)] == list(range(n_rows))


KEEPING = """\
import numpy as np, psutil
from kernlearn import memory
from kernlearn.engine import machine
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
    script = KEEPING.format(first="machine.keep_freed_memory()" if keeps else "")
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    grown, freed = map(int, made.stdout.split())
    assert (grown > 500, freed > 500) == (keeps, keeps)
    assert allowed_memory() > 0


WIDE, LABELS = np.random.default_rng(0).standard_normal((20, 5000)), np.arange(20) % 2
X = np.random.default_rng(0).standard_normal((240, 8))
Y = np.arange(240) % 4


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
@pytest.mark.parametrize(
    ("fit", "n_fits", "most"),
    [
        # the weights of each fit, left behind, would add up to 8 MB
        (lambda: LinearSVM().fit(WIDE, LABELS), 200, 2_000_000),
        # models of C to 750 kB
        (lambda: KernelSVM("precomputed").fit(X @ X.T, Y).predict(X @ X.T), 100, 500_000),
        (lambda: KernelSVM("rbf").fit(X, Y).predict_native(X), 100, 500_000),
    ],
)
def test_memory_of_many_fits_is_given_back(fit, n_fits, most):
    for _ in range(30):
        fit()
    before = psutil.Process().memory_info().rss
    for _ in range(n_fits):
        fit()
    assert psutil.Process().memory_info().rss - before < most
