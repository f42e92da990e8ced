from functools import partial

import pytest

#: Methods that take their time, take memory, or end their process.
TROUBLE = '''\
import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil
from sklearn.dummy import DummyClassifier

from kernlearn.plugins import register_estimator


class Constant(DummyClassifier):
    def __init__(self):
        super().__init__()


@register_estimator()
class Sleeper(Constant):
    def __init__(self, seconds=0.0):
        super().__init__()
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        return super().fit(X, y)


@register_estimator()
class Eater(Constant):
    def __init__(self, mebibytes=0):
        super().__init__()
        self.mebibytes = mebibytes

    def fit(self, X, y):
        eaten = [np.ones(2**17) for _ in range(self.mebibytes)]
        time.sleep(0.01 * self.mebibytes)
        return super().fit(X, y)


class Diarist(Constant):
    def __init__(self, diary="", mebibytes=0):
        super().__init__()
        self.diary = diary
        self.mebibytes = mebibytes


@register_estimator()
class Freer(Diarist):
    """Writes down the size of its process, then takes memory and frees it."""

    def fit(self, X, y):
        if len(X) > 20:  # the whole training part
            with Path(self.diary).open("a") as file:
                file.write(f"{psutil.Process().memory_info().rss // 2**20}\\n")
            np.ones(2**17 * self.mebibytes)
        return super().fit(X, y)


KEPT = []


@register_estimator()
class Keeper(Diarist):
    """Leaves its process larger, and writes down which one it was."""

    def fit(self, X, y):
        if len(X) > 20:  # the whole training part
            KEPT.extend(np.ones(2**17) for _ in range(self.mebibytes))
        if self.mebibytes:
            time.sleep(0.6)  # the size of a process is looked at once a second
        with Path(self.diary).open("a") as file:
            file.write(f"{os.getpid()}\\n")
        return super().fit(X, y)


@register_estimator()
class Mortal(Constant):
    """Ends its process the first times that it is fitted, by the lines of a file."""

    def __init__(self, diary="", lives=1):
        super().__init__()
        self.diary = diary
        self.lives = lives

    def fit(self, X, y):
        with Path(self.diary).open("a") as file:
            file.write(f"{os.getpid()}\\n")
        if len(Path(self.diary).read_text().splitlines()) <= self.lives:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)
'''

CONFIG = """\
title: Methods that make trouble
plugins: [trouble.py]
datasets: {{moons: {{generator: two_moons, n_samples: 40}}}}
methods:
{methods}
protocol: {{splits: {splits}}}
metrics: [accuracy]
"""


def write_trouble(folder, *methods, splits=1):
    """Write a config of such methods, each a line of YAML, into a folder."""
    (folder / "trouble.py").write_text(TROUBLE)
    path = folder / "trouble.yaml"
    lines = "\n".join(f"  {m}" for m in methods)
    path.write_text(CONFIG.format(methods=lines, splits=splits))
    return path


@pytest.fixture
def trouble(tmp_path):
    """Write a config of such methods, each a line of YAML."""
    return partial(write_trouble, tmp_path)
