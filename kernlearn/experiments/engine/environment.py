"""Time, threads and the machine: what measured numbers depend on."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

#: Variables from which libraries take their number of threads when they are loaded.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
_PACKAGES = (
    "kernlearn", "numpy", "scipy", "scikit-learn", "liblinear-official",
    "libsvm-official", "numba", "pandas", "threadpoolctl", "joblib", "loky", "distributed",
    "h5py", "pyarrow", "skordinal",
)  # fmt: skip
_BLAS_KEYS = (
    "user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads",
)  # fmt: skip

# With a smaller share of processor time in wall time, something else had the core.
_BUSY = 0.9
# Seconds below which the share says more about the clocks.
_TOO_SHORT = 0.05


def duration(seconds: float) -> str:
    """Write seconds as text such as ``"2 h 05 min"`` or ``"40 s"``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@dataclass
class Stopwatch:
    """Measure the wall and processor seconds of a ``with`` block."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> "Stopwatch":
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu

    @property
    def disturbed(self) -> bool:
        """Whether the process waited for a core."""
        return self.wall > _TOO_SHORT and self.cpu < _BUSY * self.wall


@contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Limit the threads of BLAS and OpenMP within a block."""
    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> "ThreadpoolController":
    """Find the loaded libraries; that takes milliseconds, so again only after an import."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def usable_cores() -> int:
    """Return the number of cores that this process may use, which a container may limit."""
    from loky import cpu_count

    return int(cpu_count())


@cache
def describe_environment() -> dict[str, Any]:
    """Describe packages, machine, BLAS, threads and source commit.

    Returns
    -------
    dict
        JSON-ready; without user name, host name or paths.
    """
    return {
        "python": sys.version.split()[0],
        "packages": _package_versions(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": _memory_bytes(),
        "blas": _blas(),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        **_commit(),
    }


def _package_versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _blas() -> list[dict[str, Any]]:
    import numpy as np  # noqa: F401  (only a loaded BLAS is found)
    from threadpoolctl import threadpool_info

    libraries = [{k: lib[k] for k in _BLAS_KEYS if lib.get(k)} for lib in threadpool_info()]
    # the order of loading means nothing
    return sorted(libraries, key=lambda lib: sorted(map(str, lib.items())))


def _commit(root: Path = Path(__file__).parents[3]) -> dict[str, Any]:
    # an installed package may lie inside another project's repository
    if not (root / ".git").exists():
        return {}
    commit = _git(root, "rev-parse", "HEAD")
    # results of runs are not part of the code
    changes = _git(root, "status", "--porcelain", "--", ".", ":(exclude)results")
    return {} if commit is None else {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
