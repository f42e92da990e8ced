"""Methods that take their time, take memory, end their process or predict nonsense."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier

from kernlearn.plugins import register_estimator


@register_estimator()
class Trouble(DummyClassifier):
    """Does `what` in `fit`."""

    def __init__(self, what="", amount=1.0, diary=""):
        super().__init__()
        self.what, self.amount, self.diary = what, amount, diary

    def fit(self, X, y):
        if self.diary:
            with Path(self.diary).open("a") as file:
                file.write(f"{os.getpid()}\n")
        if self.what == "sleep":
            time.sleep(self.amount)
        elif self.what == "eat":
            np.ones(int(self.amount) * 2**17).sum()
        elif self.what == "raise":
            raise ValueError("no such thing")
        elif self.what == "exit":
            sys.exit("enough")
        elif self.what == "die" and len(Path(self.diary).read_text().split()) <= self.amount:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)

    def predict(self, X):
        predicted = super().predict(X).astype(float)
        if self.what == "nan":
            predicted[::3] = np.nan
        return predicted[:-1] if self.what == "short" else predicted
