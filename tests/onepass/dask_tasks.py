"""What workers run in the tests of Dask, with few imports, which every new worker makes."""

import os
import signal
import time
from pathlib import Path

import numpy as np

N = 2100
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6))
X /= np.linalg.norm(X, axis=1).max()
y = (X[:, 0] + 0.1 * RNG.normal(size=N) > 0).astype(int)


def chunk(place, n_parts, folder, seconds=0.0):
    """Write down who reads a partition; a worker dies that finds its end ordered."""
    with (Path(folder) / f"read-{place}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    for order in Path(folder).glob(f"kill-{place}-*"):
        order.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return X[place::n_parts], y[place::n_parts]


def readings(folder):
    return sum(len(file.read_text().split()) for file in Path(folder).glob("read-*"))


def counted(scale, chunks):
    return [scale * sum(len(y) for _, y in chunks)]


def joined(values):
    return [v for value in values for v in value]
