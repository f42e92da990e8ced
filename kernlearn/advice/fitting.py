"""What a process does: the settings of a candidate, fitted to a training part and evaluated."""

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.samples import Problem, kept_parts
from kernlearn.experiments.compose import made_values, make_method
from kernlearn.experiments.config.methods import components
from kernlearn.experiments.engine import environment, protocol
from kernlearn.experiments.registry import BUILT_IN

# Rows that a method is fitted to once, so that no import or first call is timed.
_WARM_UP_ROWS = 64


@dataclass(frozen=True, eq=False)
class Job:
    """Settings of a candidate to be measured on a split, with so many rows to train on.

    `limit` are seconds after which no further setting is begun.
    """

    candidate: Candidate
    settings: tuple[int, ...]
    size: int
    split: int
    limit: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """One setting, fitted and evaluated.

    Attributes
    ----------
    setting : int
        Its position in the grid.
    score : float
        On the validation part.
    losses : ndarray of shape (n_test,)
        Of each test row: whether its class is wrong, or the squared error.
    fit_seconds : float
        CPU seconds on one thread.
    predict_seconds : float
        CPU seconds for each test row.
    seconds : float
        Wall seconds of everything.
    converged : bool
    """

    setting: int
    score: float
    losses: np.ndarray
    fit_seconds: float
    predict_seconds: float
    seconds: float
    converged: bool = True


@dataclass(frozen=True)
class Done:
    """What became of a job: measured settings, and errors of those that could not be fitted."""

    fitted: tuple[Fitted, ...] = ()
    errors: tuple[str, ...] = ()
    seconds: float = 0.0


def make_estimator(candidate: Candidate, setting: int, seed: int) -> Any:
    """Make the estimator of a candidate with a setting, seeded as those of a config are.

    Parameters
    ----------
    candidate : Candidate
    setting : int
        Position in its grid.
    seed : int

    Returns
    -------
    estimator object
    """
    method = candidate.method
    parts = components(method, BUILT_IN)
    made = make_method(BUILT_IN, parts, candidate.fixed, candidate.grid)
    seeds = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
    values = made_values(BUILT_IN, candidate.settings[setting])
    return made.set_params(**dict.fromkeys(seeds, seed), **values)


class Fitter:
    """Carries out jobs on a problem, one after the other, on one thread."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._warm: set[str] = set()

    def run(self, job: Job) -> Done:
        """Measure the settings of a job until its time is up; the warm-up does not count."""
        candidate, problem = job.candidate, self.problem
        parts = kept_parts(problem, job.size, job.split)
        if candidate.method.dense:
            parts = parts.dense()
        seed = protocol.random_state(problem.seed, "estimator", job.split)
        fitted: list[Fitted] = []
        errors: list[str] = []
        with environment.thread_limit(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if candidate.name not in self._warm:
                self._warm.add(candidate.name)
                self._warm_up(make_estimator(candidate, job.settings[0], seed), parts)
            start = time.perf_counter()
            for setting in job.settings:
                if time.perf_counter() - start > job.limit:
                    break
                try:
                    model = make_estimator(candidate, setting, seed)
                    fitted.append(self._measure(model, setting, parts))
                except Exception as error:  # of any library; a setting that fails is no choice
                    errors.append(f"{type(error).__name__}: {error}".partition("\n")[0])
            seconds = time.perf_counter() - start
        return Done(tuple(fitted), tuple(errors), seconds)

    def _measure(self, model: Any, setting: int, parts: protocol.Parts) -> Fitted:
        info: dict[str, Any] = {}
        clock = time.perf_counter()
        with environment.noting_convergence(info), environment.Stopwatch() as fitting:
            model.fit(parts.X_train, parts.y_train)
        with environment.Stopwatch() as predicting:
            predicted = model.predict(parts.X_test)
        score = 1 - float(self._losses(parts.y_val, model.predict(parts.X_val)).mean())
        return Fitted(
            setting,
            score,
            self._losses(parts.y_test, predicted),
            fitting.cpu,
            predicting.cpu / len(parts.y_test),
            time.perf_counter() - clock,
            info.get("converged", True),
        )

    def _losses(self, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        if self.problem.classification:
            return (true != predicted).astype(np.float32)
        return ((true - predicted) ** 2).astype(np.float32)

    def _warm_up(self, model: Any, parts: protocol.Parts) -> None:
        """Fit and predict once on a few rows; an error will be one of the measurement too."""
        rows = slice(_WARM_UP_ROWS)
        few = replace(parts, X_train=parts.X_train[rows], y_train=parts.y_train[rows])
        with suppress(Exception):
            clone(model).fit(few.X_train, few.y_train).predict(few.X_train)
