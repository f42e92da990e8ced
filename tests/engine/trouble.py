"""Methods that take their time, take memory, end their process or predict nonsense."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier

from kernlearn.plugins import register_estimator


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


PREDICTED = {"nan": np.nan, "infinite": np.inf, "unknown": 7}
RAISED = {
    "raise": ValueError("no such thing\n  in two lines"),
    "exit": SystemExit("enough"),
    "interrupt": KeyboardInterrupt(),
    "unprintable": Unprintable(),
}


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
        elif self.what in RAISED:
            raise RAISED[self.what]
        elif self.what == "os_exit":
            os._exit(3)
        elif self.what == "die" and len(Path(self.diary).read_text().split()) <= self.amount:
            os.kill(os.getpid(), signal.SIGKILL)
        self.best_params_ = {"strategy": np.array(["most", "frequent"]), "n": np.int64(3)}
        return super().fit(X, y)

    def predict(self, X):
        predicted = super().predict(X).astype(float)
        if self.what in PREDICTED:
            predicted[::3] = PREDICTED[self.what]
        if self.what == "words":
            return np.where(predicted == 0, "no", "yes")
        return predicted[:-1] if self.what == "short" else predicted
