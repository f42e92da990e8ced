"""Candidates of known quality and cost, and workers that do not fit."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.fitting import Done, Fitted
from kernlearn.advice.samples import make_problem


def candidate(name, **more):
    return Candidate(name, {"estimator": "LinearSVM", "C": {"select": [1, 2, 3]}}, "C", **more)


@dataclass
class Made:
    """Workers that make results: by name a function of the rows, and the seconds of a fit."""

    problem: object
    scores: dict
    seconds: dict = field(default_factory=dict)
    size: int = 1
    jobs: list = field(default_factory=list)

    def run(self, jobs):
        for job in jobs:
            self.jobs.append(job)
            name = job.candidate.name
            score = self.scores[name](job.size)
            if score is None:
                yield job, None
                continue
            seconds = self.seconds.get(name, 1e-4) * job.size
            n = self.problem.n_held_out
            fitted = tuple(
                # the second setting is the best
                self._fitted(setting, score - 0.05 * (setting != 1), seconds, job.split, n)
                for setting in job.settings
            )
            yield job, Done(fitted, (), seconds)

    def _fitted(self, setting, score, seconds, split, n):
        # the same rows are hard for all
        hard = np.random.default_rng(split).permutation(n)
        losses = (hard >= score * n).astype(np.float32)
        return Fitted(setting, score, losses, seconds, seconds / n, seconds)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    return make_problem(X, (X[:, 0] > 0).astype(int), classification=True, seed=0)
