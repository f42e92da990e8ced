"""The machine that numbers come from: packages, processor, threads, commit."""

import os
import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

#: Variables from which libraries take their number of threads when they are loaded.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# Packages whose versions stand in every row.
_PACKAGES = (
    "kernlearn numpy scipy scikit-learn liblinear-official libsvm-official numba pandas joblib "
    "distributed skordinal"
)


def usable_cores() -> int:
    """Return the number of cores that this process may use, which a container may limit."""
    from joblib import cpu_count

    return int(cpu_count())


@cache
def describe_machine() -> dict[str, Any]:
    """Return packages, processor, BLAS, thread variables and commit, as every row has them.

    Without user name, host name or paths.
    """
    versions = {}
    for name in _PACKAGES.split():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        "python": platform.python_version(),
        "packages": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "usable_cores": usable_cores(),
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


def _blas() -> str:
    import numpy as np  # noqa: F401  (only a loaded BLAS is libraries)
    from threadpoolctl import threadpool_info

    found = [one for one in threadpool_info() if one["user_api"] == "blas"]
    names = {f"{b['internal_api']} {b['version']} {b.get('architecture')}" for b in found}
    return ", ".join(sorted(names))


def _commit(root: Path = Path(__file__).parents[1]) -> dict[str, Any]:
    # an installed package may lie inside another project's repository
    if not (root / ".git").exists():
        return {}
    # results of runs are not part of the code
    arguments = ["status", "--porcelain=v2", "--branch", "--", ".", ":(exclude)results"]
    with suppress(OSError, subprocess.SubprocessError):
        git = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True
        )
        first, *lines = git.stdout.splitlines()
        return {"commit": first.split()[-1], "dirty": any(line[0] != "#" for line in lines)}
    return {}
