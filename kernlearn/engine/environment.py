"""Time, threads and the machine: what measured numbers depend on."""

import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kernlearn.config.spec import Trial
from kernlearn.store import Row

#: Variables from which libraries take their number of threads when they are loaded.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_PACKAGES = (
    "kernlearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "liblinear-official",
    "libsvm-official",
    "numba",
    "pandas",
    "threadpoolctl",
    "joblib",
    "loky",
    "distributed",
    "h5py",
    "pyarrow",
    "skordinal",
)

# With a smaller share of processor time in wall time, something else had the core.
_BUSY = 0.9
# Seconds below which the share says more about the clocks.
_TOO_SHORT = 0.05


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


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect all warnings of a block; none of them is shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def warn_again(caught: Iterable[warnings.WarningMessage]) -> None:
    """Issue collected warnings where they came from."""
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> Any:
    """Find the loaded libraries; that takes milliseconds, so again only after an import."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def usable_cores() -> int:
    """Return the number of cores that this process may use, which a container may limit."""
    from loky import cpu_count

    return int(cpu_count())


def finished(trial: Trial, started: str, clock: float, **fields: Any) -> Row:
    """Return the row of a trial that began when the performance counter stood at `clock`."""
    return Row(
        trial.key,
        trial.experiment,
        trial.labels,
        trial.spec.plain,
        started,
        time.perf_counter() - clock,
        machine=describe_environment(),
        **fields,
    )


@cache
def describe_environment() -> dict[str, Any]:
    """Describe packages, machine, BLAS, threads and source commit.

    Returns
    -------
    dict
        JSON-ready; without user name, host name or paths.
    """
    import psutil

    versions = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        "python": platform.python_version(),
        "packages": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "blas": _blas(),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        **_commit(),
    }


def _cpu_name() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _blas() -> list[dict[str, Any]]:
    import numpy as np  # noqa: F401  (only a loaded BLAS is found)
    from threadpoolctl import threadpool_info

    paths = ("filepath", "prefix")
    found = [{k: v for k, v in lib.items() if v and k not in paths} for lib in threadpool_info()]
    # the order of loading means nothing
    return sorted(found, key=lambda lib: sorted(map(str, lib.items())))


def _commit(root: Path = Path(__file__).parents[3]) -> dict[str, Any]:
    # an installed package may lie inside another project's repository
    if not (root / ".git").exists():
        return {}
    # results of runs are not part of the code
    arguments = ["status", "--porcelain=v2", "--branch", "--", ".", ":(exclude)results"]
    try:
        git = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    first, *lines = git.stdout.splitlines()
    return {"commit": first.split()[-1], "dirty": any(line[0] != "#" for line in lines)}


@contextmanager
def noting_convergence(info: dict[str, Any]) -> Iterator[None]:
    """Set ``converged`` to False in ``info`` if a solver says that it did not converge."""
    from sklearn.exceptions import ConvergenceWarning

    with recorded_warnings() as caught:
        yield
    if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        info["converged"] = False
    warn_again(caught)
