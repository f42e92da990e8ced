"""Estimates of the seconds of trials, from finished ones and from committed results.

A cell that was measured elsewhere takes its seconds there, times what its method took more or
less here so far. The logarithm of the seconds of any other cell is a sum of effects of its method,
data set and kernel and of slopes on the logarithms of its parameters, fitted by ridge regression
to the cells that are known. Time is in proportion to the number of fits, and grows with a power of
the number of rows.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, prod
from statistics import fmean, median
from typing import Any

import numpy as np

from kernlearn.exceptions import DataError
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.spec import LABELS, CellKey, Trial, cell_key
from kernlearn.experiments.store.results import Store

# Penalty of the regression, and the scale of all effects but those of methods and data sets.
_PENALTY, _MINOR = 0.3, 0.5
# Power of the number of rows with which time grows unless cells show another, and the scale of the
# difference; the number that most cells have about.
_ROWS_POWER, _ROWS_SCALE, _ROWS = 0.7, 0.3, 1000
# By how much the logarithm of a mean is above the mean of logarithms.
_SCATTER = 0.15
# How many trials an estimate counts as, beside those of the cell that are finished; how many cells
# the ratio of all methods counts as, beside those of a method.
_WEIGHT, _OTHERS = 0.5, 2.0
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
        elsewhere = committed_seconds(experiment, {key: w.fits for key, w in work.items()})
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
        here = {key: total / count for key, (total, count) in self._sums.items()}
        there = self._scaled(here)
        known = {**there, **here}
        expected = _regression(known, keys, self._work)
        for i, key in enumerate(keys):
            expected[i] = there.get(key, expected[i])
            if key in self._sums:
                total, count = self._sums[key]
                expected[i] = (total + _WEIGHT * expected[i]) / (count + _WEIGHT)
        return expected

    def _scaled(self, here: Mapping[CellKey, float]) -> dict[CellKey, float]:
        """Return the seconds elsewhere, times the ratio of those here to those there.

        The ratio is that of a method's cells, beside a few of the median method.
        """
        ratios: dict[Any, list[float]] = defaultdict(list)
        for key, seconds in here.items():
            if key in self._elsewhere:
                other = max(self._elsewhere[key], _SHORTEST)
                ratios[dict(key).get("method")].append(log(seconds / other))
        # one more that has not changed: few methods say little of the others
        overall = median([0.0, *map(fmean, ratios.values())])
        factors = {
            method: exp((sum(of_cells) + _OTHERS * overall) / (len(of_cells) + _OTHERS))
            for method, of_cells in ratios.items()
        }
        return {
            key: max(seconds, _SHORTEST) * factors.get(dict(key).get("method"), exp(overall))
            for key, seconds in self._elsewhere.items()
        }


def _regression(
    known: Mapping[CellKey, float], keys: Sequence[CellKey], work: Mapping[CellKey, Work]
) -> list[float]:
    """Return the seconds of cells as the regression on the known ones has them."""
    design, fixed = _design([*known, *keys], work)
    n = len(known)
    observed = np.log([*known.values()]) - fixed[:n]
    mean = observed.mean()
    seen = design[:n]
    penalised = seen.T @ seen + _PENALTY * np.eye(seen.shape[1])
    effects = np.linalg.solve(penalised, seen.T @ (observed - mean))
    logarithms = fixed[n:] + mean + design[n:] @ effects
    expected: list[float] = np.exp(logarithms + _SCATTER).tolist()
    return expected


def _design(
    keys: Sequence[CellKey], work: Mapping[CellKey, Work]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that effects multiply, and the part of the logarithms that is fixed."""
    labels = [dict(key) for key in keys]
    methods = _indicators([each.get("method") for each in labels])
    columns = [methods, _indicators([each.get("dataset") for each in labels])]
    columns.append(_MINOR * _indicators([each.get("kernel") for each in labels]))
    for name in sorted({name for each in labels for name in each} - {*LABELS}):
        values = [each.get(name) for each in labels]
        x = _logarithms(values)
        if x is None:
            columns.append(_MINOR * _indicators([str(value) for value in values]))
        else:
            # a slope for all methods, and what that of each differs
            columns += [_MINOR * x[:, None], _MINOR * methods * x[:, None]]
    works = [work.get(key, Work()) for key in keys]
    rows = np.log([(w.rows or _ROWS) / _ROWS for w in works])
    columns.append(_ROWS_SCALE * rows[:, None])
    return np.hstack(columns), _ROWS_POWER * rows + np.log([w.fits for w in works])


def _indicators(values: Sequence[Any]) -> np.ndarray:
    """Return a column for each value, 1 where it is."""
    places = {value: i for i, value in enumerate(dict.fromkeys(values))}
    found = np.zeros((len(values), len(places)))
    found[np.arange(len(values)), [places[value] for value in values]] = 1
    return found


def _logarithms(values: Sequence[Any]) -> np.ndarray | None:
    """Return the logarithms of a parameter's values around their mean, 0 where it does not apply.

    None if the values are not all numbers above 0.
    """
    given = [value for value in values if value is not None]
    if not all(isinstance(v, (int, float)) and v > 0 for v in given):
        return None
    mean = sum(map(log, given)) / len(given)
    return np.array([0.0 if value is None else log(value) - mean for value in values])


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
    if spec.dataset.stream is not None:
        return spec.dataset.stream.get("rows")
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
