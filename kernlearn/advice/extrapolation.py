"""Scores and seconds at full size, with intervals, from measurements on smaller samples."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

Floats = np.ndarray

#: Normal quantile of a two-sided interval of 95 %.
QUANTILE = 1.96
# Each time the rows are multiplied by the same factor, the gain of the score is so many times the
# last one.
_DECAY = 0.5
# The error falls no faster than these powers of the rows: in the expected score, and in the end of
# its interval. A method that needs a number of rows to learn at all gains much at once, but once.
_FASTEST, _FASTEST_OF_ALL = 0.5, 1.0
# The last sizes that tell how seconds grow: at smaller ones costs that do not grow count most.
_SIZES_OF_SECONDS = 3
# Exponents of seconds that are believed, and those between which a single size leaves it.
_STEEPEST = 3.0
_UNKNOWN_EXPONENT = (1.0, 0.5, 2.0)
# The least relative error of a measured time.
_TIMER_ERROR = 0.05


class Estimate(NamedTuple):
    """A number, and an interval that holds it with probability 0.95 if the assumptions hold."""

    value: float
    low: float
    high: float


class Mean(NamedTuple):
    """A mean over test rows and splits with its standard error."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of a 95 % interval."""
        return self.value - QUANTILE * self.error, self.value + QUANTILE * self.error


def mean_over_splits(values: Sequence[Floats], n_rows: int) -> Mean:
    """Return the mean of one value per test row and split, with its standard error.

    The error has a part for the choice of test rows, which the splits share in part, and one for
    what differs between splits, such as the training rows.

    Parameters
    ----------
    values : sequence of ndarray of shape (n_test,)
        The values of each split.
    n_rows : int
        The number of rows that all test parts are drawn from.

    Returns
    -------
    Mean

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.advice.extrapolation import mean_over_splits
    >>> rng = np.random.default_rng(0)
    >>> mean = mean_over_splits([rng.normal(size=100) for _ in range(3)], n_rows=1000)
    >>> abs(mean.value) < 2 * mean.error < 0.3
    True
    """
    means = np.array([split.mean() for split in values], dtype=np.float64)
    together = np.concatenate(values).astype(np.float64)
    n_splits, n_test = len(means), len(values[0])
    distinct = n_rows * (1 - (1 - min(n_test / n_rows, 1)) ** n_splits)
    of_rows = together.var() / distinct
    of_splits = means.var(ddof=1) / n_splits if n_splits > 1 else 0.0
    return Mean(float(means.mean()), float(np.sqrt(of_rows + of_splits)))


def score_at(
    score: Mean, gain: float | None, rows: int, full: int, factor: float, best: float = 1.0
) -> Estimate:
    """Return the score that is expected when more rows are trained on.

    Parameters
    ----------
    score : Mean
        At the largest size that was measured.
    gain : float or None
        What the last multiplication of the rows by `factor` has gained; None if only one size was
        measured.
    rows, full : int
        That size, and the one to extrapolate to.
    factor : float
    best : float, default=1.0
        The largest score there is.

    Returns
    -------
    Estimate
        Each further multiplication is expected to gain half as much as the one before, and the
        error to fall no faster than the root of the rows grows. The interval is that of the score,
        and reaches up to the score with gains that stay the same, or an error that falls as the
        rows grow; after one size only it reaches up to `best`.
    """
    low, high = score.interval
    steps = max(np.log(full / rows) / np.log(factor), 0.0)
    if gain is None:
        return Estimate(score.value, low, high if steps == 0 else best)
    gain, error = max(gain, 0.0), best - score.value
    likely = min(gain * (1 - _DECAY**steps), error * (1 - min(rows / full, 1) ** _FASTEST))
    largest = min(gain * steps, error * (1 - min(rows / full, 1) ** _FASTEST_OF_ALL))
    value = min(score.value + likely, best)
    return Estimate(value, min(low, best), min(high + largest, best))


def seconds_at(seconds: Mapping[int, Sequence[float]], full: int) -> Estimate:
    """Return the seconds that are expected when more rows are trained on.

    Parameters
    ----------
    seconds : mapping of int to sequence of float
        The seconds of every run by the number of rows.
    full : int
        The number of rows to extrapolate to.

    Returns
    -------
    Estimate
        A power of the rows, by least squares in logarithms over the last three sizes, with the
        interval of a prediction by Student's t. If the exponent between the last two sizes is
        greater the interval reaches up to what that gives.

    Examples
    --------
    >>> from kernlearn.advice.extrapolation import seconds_at
    >>> seconds_at({100: [0.1, 0.11], 300: [0.31, 0.29], 900: [0.9, 0.93]}, 2700).value
    2.6...
    """
    from scipy.stats import t as student

    tiny = 1e-9
    sizes = sorted(seconds)[-_SIZES_OF_SECONDS:]
    typical = {size: max(float(np.median(seconds[size])), tiny) for size in sizes}
    last, ratio = sizes[-1], full / sizes[-1]
    if len(sizes) == 1:
        value, low, high = (typical[last] * ratio**p for p in _UNKNOWN_EXPONENT)
        return Estimate(value, min(low, high), max(low, high))
    x = np.concatenate([np.full(len(seconds[size]), np.log(size)) for size in sizes])
    y = np.log(np.maximum(np.concatenate([np.asarray(seconds[size]) for size in sizes]), tiny))
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    slope = min(max(slope, 0.0), _STEEPEST)
    residuals = y - y.mean() - slope * (x - x.mean())
    freedom = max(len(x) - 2, 1)
    deviation = max(float(np.sqrt((residuals**2).sum() / freedom)), _TIMER_ERROR)
    at = np.log(full)
    away = deviation * np.sqrt(1 + 1 / len(x) + (at - x.mean()) ** 2 / spread)
    middle = float(y.mean() + slope * (at - x.mean()))
    half = float(student.ppf(0.975, freedom) * away)
    before = sizes[-2]
    local = np.log(typical[last] / typical[before]) / np.log(last / before)
    steep = typical[last] * ratio ** min(float(local), _STEEPEST) if ratio > 1 else 0.0
    high = max(float(np.exp(middle + half)), steep)
    return Estimate(float(np.exp(middle)), float(np.exp(middle - half)), high)
