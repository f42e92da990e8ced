"""What has been measured of a candidate: by rows trained on, setting and split."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.extrapolation import (
    Estimate,
    Mean,
    mean_over_splits,
    score_at,
    seconds_at,
)
from kernlearn.advice.fitting import Done, Fitted
from kernlearn.advice.samples import FACTOR, Problem

# Exponents of cost in rows: of a candidate measured at one size, and those that are believed.
_USUAL_GROWTH = 0.8
_LEAST_GROWTH, _MOST_GROWTH = 0.7, 2.5


@dataclass(eq=False)
class Record:
    """The measurements of a candidate.

    Attributes
    ----------
    candidate : Candidate
    problem : Problem
    dropped : str
        Why it was not measured on more rows; empty if it was measured on all.
    errors : Counter of str
        Errors of settings that could not be fitted, with their numbers.
    shift : float
        What is added to the score at the largest size, see :func:`align`.
    """

    candidate: Candidate
    problem: Problem
    dropped: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    shift: float = 0.0
    _fitted: dict[tuple[int, int, int], Fitted] = field(default_factory=dict)

    def add(self, size: int, split: int, done: Done) -> None:
        """Add the results of a job."""
        for one in done.fitted:
            self._fitted[size, one.setting, split] = one
        self.errors.update(done.errors)

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows that it was trained on, ascending."""
        return sorted({size for size, _, _ in self._fitted})

    @property
    def last(self) -> int:
        """The largest of them."""
        return self.sizes[-1]

    @property
    def not_converged(self) -> int:
        """The number of fits whose solver said that it did not converge."""
        return sum(not one.converged for one in self._fitted.values())

    @property
    def n_fits(self) -> int:
        """The number of fits."""
        return len(self._fitted)

    def ranked(self, size: int) -> list[int]:
        """Return the settings measured at a size on the most splits, the best one first.

        By the mean score on the validation parts; the first of the grid among equals.
        """
        scores: dict[int, list[float]] = {}
        for (rows, setting, _), one in self._fitted.items():
            if rows == size:
                scores.setdefault(setting, []).append(one.score)
        most = max(map(len, scores.values()), default=0)
        full = {setting: s for setting, s in scores.items() if len(s) == most}
        means = {setting: round(float(np.mean(values)), 12) for setting, values in full.items()}
        return sorted(means, key=lambda setting: (-means[setting], setting))

    def losses(self, size: int) -> dict[int, np.ndarray]:
        """Return the losses of the best setting at a size on the test rows, by split."""
        best = self.ranked(size)[0]
        return {
            split: one.losses
            for (rows, setting, split), one in self._fitted.items()
            if rows == size and setting == best
        }

    def score(self, size: int) -> Mean:
        """Return the mean score on the test parts at a size."""
        losses = mean_over_splits(list(self.losses(size).values()), len(self.problem.y))
        shift = self.shift if size == self.last else 0.0
        return Mean(1 - losses.value + shift, losses.error)

    @property
    def full(self) -> Estimate:
        """The score that is expected at full size."""
        sizes, gain = self.sizes, None
        if len(sizes) > 1:
            before, after = self.losses(sizes[-2]), self.losses(sizes[-1])
            common = before.keys() & after.keys()
            if common:
                gain = float(np.mean([before[s].mean() - after[s].mean() for s in common]))
        score = self.score(self.last)
        return score_at(score, gain, self.last, self.problem.n_full, FACTOR)

    @property
    def fit_seconds(self) -> Estimate:
        """The CPU seconds of a fit that are expected at full size, with the best setting."""
        best = self.ranked(self.last)[0]
        seconds: dict[int, list[float]] = {}
        for (rows, setting, _), one in self._fitted.items():
            if setting == best:
                seconds.setdefault(rows, []).append(one.fit_seconds)
        return seconds_at(seconds, self.problem.n_full)

    @property
    def predict_seconds(self) -> float:
        """The CPU seconds of the prediction of a row, after training on the most rows."""
        size, best = self.last, self.ranked(self.last)[0]
        found = [
            one.predict_seconds
            for (rows, setting, _), one in self._fitted.items()
            if rows == size and setting == best
        ]
        return float(np.median(found))

    def cost(self, size: int) -> float:
        """Return the seconds that one setting on one split is expected to take at a size."""
        by_size: dict[int, list[float]] = {}
        for (rows, _, _), one in self._fitted.items():
            by_size.setdefault(rows, []).append(one.seconds)
        sizes = sorted(by_size)
        last = sizes[-1]
        growth = _USUAL_GROWTH
        if len(sizes) > 1:
            ratio = np.mean(by_size[last]) / np.mean(by_size[sizes[-2]])
            growth = float(np.log(ratio) / np.log(last / sizes[-2]))
            growth = min(max(growth, _LEAST_GROWTH), _MOST_GROWTH)
        return float(np.mean(by_size[last]) * (size / last) ** growth)


def align(records: Iterable[Record]) -> None:
    """Make scores at a size comparable that are means over different numbers of splits.

    Some splits are easier than others. The score of a candidate becomes that of the one with the
    most splits at the same size, plus their mean difference on the splits that both have.
    """
    first: dict[int, Record] = {}
    measured = [record for record in records if record.sizes]
    for record in sorted(measured, key=lambda r: -len(r.losses(r.last))):
        size = record.last
        most = first.setdefault(size, record)
        record.shift = 0.0
        mine, theirs = record.losses(size), most.losses(size)
        if common := mine.keys() & theirs.keys():
            on_all = np.mean([losses.mean() for losses in theirs.values()])
            on_own = np.mean([losses.mean() for losses in mine.values()])
            behind = np.mean([mine[split].mean() - theirs[split].mean() for split in common])
            record.shift = float(on_own - on_all - behind)


def difference(one: Record, other: Record) -> tuple[Mean, int] | None:
    """Return how much better one candidate scores than another, and the rows trained on.

    On the same test rows, at the largest size that both were measured at; None if there is none.
    """
    for size in sorted({*one.sizes} & {*other.sizes}, reverse=True):
        first, second = one.losses(size), other.losses(size)
        common = sorted(first.keys() & second.keys())
        if common:
            paired = [second[split] - first[split] for split in common]
            return mean_over_splits(paired, len(one.problem.y)), size
    return None
