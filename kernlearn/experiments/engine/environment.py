"""Times as a person says them."""

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
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def duration(seconds: float) -> str:
    """Write seconds as hours, minutes and seconds.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
        Such as ``"2 h 05 min"`` or ``"40 s"``.
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


# Below this share of processor time in wall time something else had the core.
_BUSY = 0.9
# Shorter stretches are dominated by the clocks' own grain.
_TOO_SHORT = 0.05


@dataclass
class Stopwatch:
    """Wall and processor seconds of a ``with`` block.

    Attributes
    ----------
    wall, cpu : float
        Seconds, once the block has ended.
    """

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> "Stopwatch":
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu

    @property
    def disturbed(self) -> bool:
        """Whether the process waited for a core while the watch ran."""
        return self.wall > _TOO_SHORT and self.cpu < _BUSY * self.wall


@contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Hold BLAS and OpenMP to a number of threads within a block."""
    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> "ThreadpoolController":
    """Find the libraries that are loaded: milliseconds, so only where an import may have been."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_PACKAGES = (
    "kernlearn", "numpy", "scipy", "scikit-learn", "liblinear-official",
    "libsvm-official", "numba", "pandas", "threadpoolctl", "joblib", "loky", "distributed",
    "h5py", "pyarrow", "skordinal",
)  # fmt: skip

# What sets threads from outside; a config's own number holds while a trial is timed.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


def _package_versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


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
    import numpy as np  # noqa: F401  (its BLAS must be loaded to be seen)
    from threadpoolctl import threadpool_info

    keys = (
        "user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads",
    )  # fmt: skip
    found = [{k: lib[k] for k in keys if lib.get(k)} for lib in threadpool_info()]
    # they come in the order in which they were loaded, which says nothing
    return sorted(found, key=lambda lib: sorted(map(str, lib.items())))


def usable_cores() -> int:
    """Return how many processors this process may use; a container may have few of many."""
    from loky import cpu_count

    return int(cpu_count())


def _thread_settings() -> dict[str, str]:
    return {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _commit(root: Path = Path(__file__).parents[3]) -> dict[str, Any]:
    # An installed package may lie inside somebody else's repository: that commit is not ours.
    if not (root / ".git").exists():
        return {}
    commit = _git(root, "rev-parse", "HEAD")
    # what a run writes there says nothing of the code
    changes = _git(root, "status", "--porcelain", "--", ".", ":(exclude)results")
    return {} if commit is None else {"commit": commit, "dirty": bool(changes)}


@cache
def describe_environment() -> dict[str, Any]:
    """Describe packages, machine, BLAS, threads and source commit.

    Returns
    -------
    dict
        JSON-ready; no user name, host name or path.
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
        "threads": _thread_settings(),
        **_commit(),
    }
