"""Estimates of the seconds of trials, from finished ones and from committed results.

The logarithm of a cell's seconds is a sum of effects: of its method, data set and kernel and of
pairs of them, of every varied parameter and the number of rows (slopes on their logarithms), and
of the number of fits. Each effect has a normal prior with the standard deviation below, so that
what is known of some cells tells about the others. Mean and variance of the sum, given what is
finished, are those of Gaussian process regression (Rasmussen & Williams 2006, Gaussian Processes
for Machine Learning, algorithm 2.1). The standard deviations were chosen on the durations of 17
experiments, each replayed with and without committed results.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np

from kernlearn.exceptions import DataError
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.spec import LABELS, CellKey, Trial, cell_key
from kernlearn.experiments.store.results import Store

# Standard deviations of effects on the logarithm, by the labels that cells have in common.
_EFFECTS: dict[tuple[str, ...], float] = {
    (): 2.0,
    ("method",): 2.0,
    ("dataset",): 1.5,
    ("kernel",): 0.7,
    ("method", "dataset"): 0.2,
    ("method", "kernel"): 0.3,
    LABELS: 0.1,
}
# Of slopes on the logarithms of parameters and of rows, for all methods and for each of them.
_SLOPE, _METHOD_SLOPE, _ROWS_SLOPE = 0.25, 0.8, 0.3
# Of a parameter whose values are no numbers, of a cell as such, and of a trial around its cell.
_VALUE, _CELL, _TRIAL = 0.5, 0.4, 0.3
# Of another machine as a whole, of a method on it, and of a cell there.
_MACHINE, _METHOD_THERE, _CELL_THERE = 1.0, 0.1, 0.6
# Mean of the slope on the logarithm of rows; the rows and seconds of a fit that it goes through.
_ROWS_MEAN, _ROWS, _TYPICAL = 0.7, 1000, 0.3
# By how much the logarithm of a mean is above the mean of logarithms: half the variance between
# trials, and half that of a cell's estimate, the latter at most so much.
_SCATTER, _MOST = 0.14, 0.09
# Observed cells that are taken into account: the time of an estimate grows with the cube.
_MAX_CELLS = 400
# How many trials the model's estimate of a cell counts as, beside those that are finished.
_WEIGHT = 0.5
_SHORTEST = 1e-4
# Processor seconds of the calibration on the machine of results/measured.
_REFERENCE = 0.0117


@dataclass(frozen=True)
class Work:
    """What a trial of a cell has to do.

    Attributes
    ----------
    fits : float
        Number of fits, with those of all settings that are chosen among.
    rows : float or None
        Number of training rows; None if it is not known.
    """

    fits: float = 1.0
    rows: float | None = None


class Estimates:
    """Estimates of the seconds of trials of one experiment.

    Parameters
    ----------
    finished : iterable of (labels, seconds)
        Trials that were carried out here.
    work : mapping of key to Work, optional
        What cells have to do, by :func:`cell_key`.
    elsewhere : mapping of key to float, optional
        Mean seconds of cells on another machine, or in another experiment.
    """

    def __init__(
        self,
        finished: Iterable[tuple[Mapping[str, Any], float]] = (),
        work: Mapping[CellKey, Work] | None = None,
        elsewhere: Mapping[CellKey, float] | None = None,
    ) -> None:
        self._work, self._elsewhere = dict(work or {}), dict(elsewhere or {})
        self._sums: dict[CellKey, tuple[float, int]] = {}
        self._known: dict[CellKey, float] = {}
        for labels, seconds in finished:
            self.add(labels, seconds)

    @classmethod
    def of(cls, plan: Plan, store: Store | None) -> "Estimates":
        """Return the estimates for a plan, from the trials of a store under its profile.

        What the store lacks is estimated from the committed results, scaled to this machine.
        """
        from kernlearn.experiments.engine.committed import committed_seconds

        experiment = plan.experiment
        work = works(plan)
        elsewhere = committed_seconds(experiment)
        if elsewhere:
            factor = speed()
            elsewhere = {key: factor * s for key, s in elsewhere.items() if key in work}
        finished = []
        if store is not None:
            finished = store.durations(experiment.profile, experiment.name)
        return cls(finished, work, elsewhere)

    def add(self, labels: Mapping[str, Any], seconds: float) -> None:
        """Count a finished trial."""
        key = cell_key(labels)
        total, count = self._sums.get(key, (0.0, 0))
        self._sums[key] = (total + max(seconds, _SHORTEST), count + 1)
        self._known.clear()

    def knows(self, key: CellKey) -> bool:
        """Whether trials of a cell have been measured, here or elsewhere."""
        return key in self._sums or key in self._elsewhere

    def seconds(self, trial: Trial) -> float | None:
        """Return the expected seconds of a trial; None if nothing is known."""
        key = cell_key(trial.labels)
        if not self._sums and not self._elsewhere:
            return None
        if key not in self._known:
            keys = list(dict.fromkeys([*self._work, *self._sums, key]))
            self._known = dict(zip(keys, self._estimate(keys), strict=True))
        return self._known[key]

    def total(self, trials: Iterable[Trial], slots: int = 1) -> float | None:
        """Return the expected seconds of trials, ``slots`` at a time; None if not known."""
        each = [self.seconds(trial) for trial in trials]
        known = [seconds for seconds in each if seconds is not None]
        if len(known) < len(each):
            return None
        return max(max(known), sum(known) / slots) if known else 0.0

    def _estimate(self, keys: list[CellKey]) -> list[float]:
        """Return the expected seconds of cells."""
        here = _thinned(list(self._sums))
        there = _thinned(list(self._elsewhere))
        observed = [*here, *there]
        means = [self._sums[key][0] / self._sums[key][1] for key in here]
        means += [max(self._elsewhere[key], _SHORTEST) for key in there]
        table = _Features([*observed, *keys], self._work)
        n = len(observed)
        seen, wanted = slice(0, n), slice(n, None)
        covariance = table.covariance(seen, seen)
        elsewhere = np.arange(n) >= len(here)
        method = table.codes("method")[seen]
        same_method = method[:, None] == method
        covariance += np.outer(elsewhere, elsewhere) * (
            _MACHINE**2 + _METHOD_THERE**2 * same_method
        )
        noise = [_TRIAL**2 / self._sums[key][1] for key in here] + [_CELL_THERE**2] * len(there)
        covariance[np.diag_indices(n)] += noise
        cross = table.covariance(seen, wanted)
        lower = np.linalg.cholesky(covariance)
        residuals = np.log(means) - table.mean[seen]
        weights = np.linalg.solve(lower.T, np.linalg.solve(lower, residuals))
        explained = np.linalg.solve(lower, cross)
        variance = table.variance[wanted] - (explained**2).sum(axis=0)
        scatter = _SCATTER + np.minimum(variance / 2, _MOST)
        expected = np.exp(table.mean[wanted] + cross.T @ weights + scatter).tolist()
        for i, key in enumerate(keys):
            if key in self._sums:
                total, count = self._sums[key]
                expected[i] = (total + _WEIGHT * expected[i]) / (count + _WEIGHT)
        return expected


class _Features:
    """What the effects on cells depend on: codes of labels, and logarithms of numbers."""

    def __init__(self, keys: Sequence[CellKey], work: Mapping[CellKey, Work]) -> None:
        self._labels = [dict(key) for key in keys]
        works = [work.get(key, Work()) for key in keys]
        names = sorted({name for labels in self._labels for name in labels} - {*LABELS})
        numbers = {name: _logarithms([each.get(name) for each in self._labels]) for name in names}
        self._slopes = [(x, _SLOPE) for x in numbers.values() if x is not None]
        self._values = [self.codes(name) for name, x in numbers.items() if x is None]
        rows = np.array([log((w.rows or _ROWS) / _ROWS) for w in works])
        if any(w.rows for w in works):
            self._slopes.append((rows - rows.mean(), _ROWS_SLOPE))
        self.mean = log(_TYPICAL) + np.log([w.fits for w in works]) + _ROWS_MEAN * rows
        self._effects = [(self.codes(*names), sd) for names, sd in _EFFECTS.items()]
        self._method, self._cell = self.codes("method"), self._codes_of(keys)
        fixed = sum(sd**2 for sd in _EFFECTS.values()) + _CELL**2 + _VALUE**2 * len(self._values)
        slopes = [x**2 * (sd**2 + _METHOD_SLOPE**2) for x, sd in self._slopes]
        self.variance = fixed + np.sum([np.zeros(len(keys)), *slopes], axis=0)

    def codes(self, *names: str) -> np.ndarray:
        """Return a number for each combination of values of some labels."""
        return self._codes_of([tuple(each.get(n) for n in names) for each in self._labels])

    @staticmethod
    def _codes_of(values: Iterable[Any]) -> np.ndarray:
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(value, len(seen)) for value in values])

    def covariance(self, left: slice, right: slice) -> np.ndarray:
        """Return the prior covariance of the logarithms of two parts of the cells."""

        def same(codes: np.ndarray) -> np.ndarray:
            return codes[left, None] == codes[None, right]

        total = _CELL**2 * same(self._cell)
        for codes, sd in self._effects:
            total = total + sd**2 * same(codes)
        for codes in self._values:
            total += _VALUE**2 * same(codes)
        by_method = _METHOD_SLOPE**2 * same(self._method)
        for x, sd in self._slopes:
            total += np.outer(x[left], x[right]) * (sd**2 + by_method)
        return total


def _logarithms(values: Sequence[Any]) -> np.ndarray | None:
    """Return the logarithms of a parameter's values around their mean, 0 where it does not apply.

    None if the values are not all numbers above 0.
    """
    given = [value for value in values if value is not None]
    if not all(isinstance(v, (int, float)) and v > 0 for v in given):
        return None
    mean = sum(map(log, given)) / len(given)
    return np.array([0.0 if value is None else log(value) - mean for value in values])


def _thinned(keys: Sequence[CellKey]) -> list[CellKey]:
    """Return at most :data:`_MAX_CELLS` cells, evenly spread."""
    step = max(1.0, len(keys) / _MAX_CELLS)
    return [keys[int(i * step)] for i in range(int(len(keys) / step))]


def works(plan: Plan) -> dict[CellKey, Work]:
    """Return what the trials of each cell of a plan have to do."""
    found: dict[CellKey, Work] = {}
    sizes: dict[str, float | None] = {}
    for trial in plan.trials:
        if trial.split == 0:
            name, grid = trial.labels["dataset"], trial.spec.method.select
            if name not in sizes or trial.spec.dataset.parameters:
                sizes[name] = _rows(trial)
            fits = 1 + (prod(map(len, grid.values())) if grid else 0)
            found[cell_key(trial.labels)] = Work(fits, sizes[name])
    return found


def _rows(trial: Trial) -> float | None:
    """Return the number of training rows, without reading data."""
    from kernlearn.datasets.finding import find_as

    spec, read = trial.spec, trial.source.read if trial.source is not None else {}
    n = (spec.dataset.parameters or {}).get("n_samples")
    if read:
        try:
            n = find_as(read).form.rows
        except DataError:  # in a folder that only the command names
            return None
    if not isinstance(n, (int, float)) or n <= 0:
        return None
    n = min(n, spec.dataset.sample or n) * spec.protocol.train
    return min(n, spec.protocol.max_train or n)


def sample_first(trials: Sequence[Trial], estimates: Estimates) -> list[Trial]:
    """Put a sample of the trials first, so that the rest can be estimated.

    The sample is a tenth of them, at most one trial of a cell; it has each method, data set,
    kernel and value of a parameter about equally often. Nothing changes where most cells are
    known from the committed results or from finished trials.
    """
    cells: dict[CellKey, Trial] = {}
    for trial in trials:
        cells.setdefault(cell_key(trial.labels), trial)
    size = min(len(trials) // 10, len(cells))
    if sum(map(estimates.knows, cells)) > len(cells) / 2:
        return list(trials)
    counts: Counter[Any] = Counter()
    chosen: dict[str, Trial] = {}
    left = dict.fromkeys(cells)
    for _ in range(size):
        key = min(left, key=lambda key: (counts[_pair(key)], sum(counts[item] for item in key)))
        del left[key]
        counts.update([_pair(key), *key])
        chosen[cells[key].key] = cells[key]
    return [*chosen.values(), *(trial for trial in trials if trial.key not in chosen)]


def _pair(key: CellKey) -> tuple[Any, Any]:
    labels = dict(key)
    return labels.get("method"), labels.get("dataset")


def speed() -> float:
    """Return the time that a calculation takes, relative to the machine of the committed results.

    It is the processor time of the fastest of three repetitions, so that other processes do not
    count.
    """
    times = []
    for _ in range(3):
        start = time.process_time()
        _calibrate()
        times.append(time.process_time() - start)
    return min(times) / _REFERENCE


def _calibrate() -> None:
    """Calculate a little of what trials do: products, elementwise functions, loops in Python."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((48, 48))
    for _ in range(150):
        x = np.tanh(x @ x.T / 48 + 0.1)
    np.sort(rng.standard_normal(150_000))
    total = 0.0
    for i in range(60_000):
        total += i % 7
