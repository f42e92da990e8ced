"""Schedulers and workers of Dask as processes of their own."""

import os
import subprocess
import sys
from contextlib import suppress

import psutil


def start(folder, *arguments, **variables):
    """Start a process of Dask."""
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
        env={**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False", **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )


def end(process):
    """Kill a process with those that it has started."""
    # any of them may end by itself meanwhile
    with suppress(psutil.NoSuchProcess):
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
    process.wait()
