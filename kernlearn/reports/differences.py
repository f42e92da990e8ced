"""Differences between methods that a paper's table shows, and what chance gives.

That a measured mean is near the reported one says little about a method where all methods of a
table have similar numbers. What a table shows are *differences*. Each difference between two
methods that are reported for the same data set, kernel and shared parameters has an outcome:

- It counts if the paper's own numbers show it, by Welch's t-test over the reported deviations and
  numbers of splits, and if it would be significant with the standard error of the measured one:
  papers do not report what a test over splits and rows needs. Where the paper gives no deviation,
  the measured one takes its place. One unit of the last digit that is printed does not count.
- It is *shown* if the measured difference has the same sign, is significant
  (:mod:`~kernlearn.reports.statistics`), and is at least half as large as the reported one; if it
  is less, it is *smaller*.
- It is *reversed* if the measured difference has the opposite sign and is significant.
- Otherwise it is *not shown*.

Chance gives matches and shown differences too. Both are counted again under every other order of
the methods, one order for the whole table. If method names did not matter, each order would be as
likely as the true one, and the share of orders with as many is an exact p-value. Few methods have
few orders: with fewer than 20 none can be as rare as 5 %. The same is done with the orders of the
data sets, which asks whether the numbers belong to their data. Data sets that lack a number of the
table take no part.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import factorial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.model import ExperimentConfig, Tolerance
from kernlearn.config.values import cell_name
from kernlearn.reports import verdicts
from kernlearn.reports.cells import metric_rows
from kernlearn.reports.labels import Values, data_labels, label_rows, values_of
from kernlearn.reports.statistics import LEVEL, Mean, resampled, welch

SHOWN, SMALLER, NOT_SHOWN, REVERSED = "shown", "smaller", "not shown", "reversed"
NOT_MEASURED = "not measured"
#: Every outcome of a difference.
OUTCOMES = (SHOWN, SMALLER, NOT_SHOWN, REVERSED, NOT_MEASURED, verdicts.NO_DATA)

#: Columns of the differences. ``reported`` says how far the method ``ahead`` is better in the
#: paper, ``measured`` the same as measured, with its confidence interval.
COLUMNS = ["cell", "metric", "ahead", "behind", "reported", "measured", "low", "high", "outcome"]
#: Columns of the counts: of matches or shown differences; what is exchanged, methods or data sets;
#: the count and the most that it could be; its mean over all orders, and their number; and the
#: share of orders that count as many or more.
CHANCES = ["metric", "count", "exchanged", "found", "of", "mean", "n_orders", "p_value"]

# A count beats chance if it also exceeds the mean over the orders by this share of the whole.
_MARGIN = 0.1
# Up to so many methods or data sets all orders are counted, of more so many random ones.
_MOST, _SAMPLE = 8, 10_000


class _Group(NamedTuple):
    """Methods that a table compares: their reported and measured means of a metric.

    ``place`` has the labels that the methods share besides the data set. ``differences`` are
    measured, of shape (3, n, n): mean, lower and upper limit of how much the value of method i
    exceeds that of method j, signed so that more is better. ``pairs`` are the positions of two
    methods, the one ahead in the paper first, how far it is ahead there, and whether this
    difference counts.
    """

    dataset: str
    place: tuple[Any, ...]
    cell: str
    methods: list[str]
    reported: NDArray[np.float64]
    measured: NDArray[np.float64]
    differences: NDArray[np.float64]
    pairs: list[tuple[int, int, float, bool]]


def compare_with_paper(
    splits: pd.DataFrame, cells: pd.DataFrame, config: ExperimentConfig
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare every difference between methods that a paper's table shows with the measured one.

    Parameters
    ----------
    splits : pandas.DataFrame
        From :func:`~kernlearn.reports.rows.splits_of`.
    cells : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    config : ExperimentConfig

    Returns
    -------
    differences : pandas.DataFrame
        With the columns :data:`COLUMNS`.
    chances : pandas.DataFrame
        With the columns :data:`CHANCES`: for each metric with a rule a row for each count and
        what is exchanged.
    """
    rows: list[list[Any]] = []
    chances: list[list[Any]] = []
    absent = verdicts.without_data(cells, config)
    for metric, rule in config.verdict.items():
        is_tested = verdicts.direction(metric, config) and rule.factor is None
        groups = [*_groups(splits, cells, metric, config)] if is_tested else []
        for group in groups:
            is_known = group.dataset not in absent
            for ahead, behind, gap, counts in group.pairs:
                if not counts:
                    continue
                measured = group.differences[:, ahead, behind]
                outcome = str(_outcomes(gap, measured)) if is_known else verdicts.NO_DATA
                names = group.cell, metric, group.methods[ahead], group.methods[behind]
                rows.append([*names, gap, *measured.tolist(), outcome])
        for exchanged, totals, most in _exchanges(groups, rule):
            for count, of_order, of in zip(("match", "shown"), totals.T, most, strict=True):
                if of and len(of_order) > 1:
                    found = int(of_order[0])  # the first order is the true one
                    p_value = float(np.mean(of_order >= found))
                    numbers = found, of, float(of_order.mean()), len(of_order), p_value
                    chances.append([metric, count, exchanged, *numbers])
    return pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(chances, columns=CHANCES)


def can_tell(chances: pd.DataFrame) -> "pd.Series[bool]":
    """Return for which counts there are orders enough for a p-value of 5 %."""
    return chances["n_orders"] * LEVEL >= 1


def beats_chance(chances: pd.DataFrame) -> "pd.Series[bool]":
    """Return which counts 5 % of the orders or fewer reach, 10 points above the mean of all."""
    beyond = chances["found"] - chances["mean"] >= _MARGIN * chances["of"]
    return beyond & (chances["p_value"] <= LEVEL)


def _groups(
    splits: pd.DataFrame, cells: pd.DataFrame, metric: str, config: ExperimentConfig
) -> Iterator[_Group]:
    """Group the reported numbers of the paper's data by the labels that all of them have."""
    rule, better = config.verdict[metric], verdicts.direction(metric, config)
    rows = cells[(cells["metric"] == metric) & cells["reported_mean"].notna()]
    rows = rows[~rows["dataset"].isin(config.not_comparable)]
    labels = ["dataset", "kernel", *config.axes]
    shared = [label for label in labels if rows[label].notna().all()]
    places = ["method", *(label for label in labels if label not in shared), *shared]
    values = values_of(metric_rows(splits, metric, config))
    rows_at = {place: row for row, place in enumerate(values.labels(places))}
    # rounding may make a unit of the last digit of none
    least, level = 1.5 * _printed_unit(rows["reported_mean"]), rule.level or LEVEL
    for names, group in rows.groupby(shared, sort=False):
        of_group = [rows_at.get(place) for place in label_rows(group, places)]
        differences = _measured(values, of_group, better, level)
        sides = [_reported_mean(cell, rule) for cell in group.to_dict("records")]
        yield _Group(
            str(names[0]),
            tuple(names[1:]),
            cell_name(shared, names),
            method_names(group, config).tolist(),
            group["reported_mean"].to_numpy(dtype=float),
            group["mean"].to_numpy(dtype=float),
            differences,
            list(_pairs(sides, differences, better, level, least)),
        )


def method_names(
    rows: pd.DataFrame, config: ExperimentConfig, separator: str = ", "
) -> "pd.Series[Any]":
    """Name the method of each row, with kernel and parameters where a data set has several."""
    keys = [k for k in ("kernel", *config.axes) if k not in data_labels(config)]
    counts = rows.groupby(["method", "dataset"])[keys].nunique(dropna=False)
    several = (counts > 1).groupby("method").any().to_dict("index")
    names = []
    for method, *values in label_rows(rows, ["method", *keys]):
        own = {k: v for k, v in zip(keys, values, strict=True) if several[method][k]}
        names.append(cell_name(["method", *own], [method, *own.values()], separator))
    return pd.Series(names, rows.index, dtype=object)


def _measured(
    values: Values, rows: Sequence[int | None], better: int, level: float
) -> NDArray[np.float64]:
    """Return mean and confidence interval of the differences between all pairs of some rows."""
    differences = np.full((3, len(rows), len(rows)), np.nan)
    for (i, one), (j, other) in combinations(enumerate(rows), 2):
        if one is not None and other is not None:
            gains = better * (values.numbers[one] - values.numbers[other])
            drift = float(values.drift[one] + values.drift[other])
            estimate = resampled(gains, float(values.ratio[one]), drift, values.splits)
            low, high = estimate.interval(level)
            differences[:, i, j] = estimate.mean, low, high
            differences[:, j, i] = -estimate.mean, -high, -low
    return differences


def _printed_unit(numbers: "pd.Series[float]") -> float:
    """Return one unit of the last digit that a paper prints."""
    decimals = (len(f"{number:.10g}".partition(".")[2]) for number in numbers.astype(float))
    return float(10.0 ** -max(decimals, default=0))


def _reported_mean(cell: Mapping[Any, Any], rule: Tolerance) -> Mean:
    """Return a reported mean, with the measured deviation where the paper gives none."""
    value = cell["reported_mean"]
    reported = Mean(value, cell["reported_std"], rule.reported_splits or np.nan)
    is_known = np.isfinite(reported.variance)
    return reported if is_known else Mean(value, cell["std"], cell["n_splits"])


def _pairs(
    sides: Sequence[Mean], measured: NDArray[np.float64], better: int, level: float, least: float
) -> Iterator[tuple[int, int, float, bool]]:
    """Yield differences in the paper's numbers, and whether chance does not explain them."""
    for (i, one), (j, other) in combinations(enumerate(sides), 2):
        gap = better * (one.value - other.value)
        ahead, behind = (i, j) if gap > 0 else (j, i)
        # an unknown deviation of the second counts as none, of the first as no test at all
        first, second = sorted((one, other), key=lambda side: not np.isfinite(side.variance))
        if abs(gap) > max(welch(first, second).half_width(level), least):
            low, high = measured[1:, i, j]
            # what was not measured counts
            yield ahead, behind, abs(gap), not abs(gap) <= (high - low) / 2


def _outcomes(gap: float, measured: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the outcomes of differences, of shape (3, …), for a reported gap."""
    mean, low, high = measured
    is_ahead = (low > 0) & (2 * gap > high - low)
    conditions = [np.isnan(mean), is_ahead & (mean >= gap / 2), is_ahead, high < 0]
    return np.select(conditions, [NOT_MEASURED, SHOWN, SMALLER, REVERSED], NOT_SHOWN)


def _exchanges(
    groups: Sequence[_Group], rule: Tolerance
) -> Iterator[tuple[str, NDArray[np.int64], tuple[int, int]]]:
    """Count matches and shown differences under each order of the methods, then of the data sets.

    Data sets that lack a number take no part. Yielded are what is exchanged, the two counts of
    each order, and the most that they could be.
    """
    methods = max((group.methods for group in groups), key=len, default=[])
    places = {group.place for group in groups}
    whole = {
        (group.dataset, group.place): group
        for group in groups
        if group.methods == methods and not np.isnan(group.measured).any()
    }
    known = dict.fromkeys(dataset for dataset, _ in whole)
    datasets = [name for name in known if all((name, place) in whole for place in places)]
    whole = {place: group for place, group in whole.items() if group.dataset in datasets}
    # the pairs that splits of the true order can tell; of another order it may be others
    decidable = sum(pair[3] for group in whole.values() for pair in group.pairs)
    most = len(whole) * len(methods), decidable
    for exchanged, things in (("methods", methods), ("data sets", datasets)):
        orders = _orders(len(things))
        totals = np.zeros((len(orders), 2), dtype=int)
        for (dataset, place), group in whole.items():
            # where the measured numbers are that stand for those of this group
            row: Any = datasets.index(dataset)
            columns: Any = range(len(methods))
            if exchanged == "methods":
                columns = orders.T
            else:
                row = orders[:, row]
            others = [whole[other, place] for other in datasets]
            means = np.stack([one.measured for one in others])
            for reported, column in zip(group.reported.tolist(), columns, strict=True):
                agree = abs(means - reported) <= verdicts.tolerated(rule, reported)
                totals[:, 0] += agree[row, column]
            differences = np.stack([one.differences for one in others], axis=1)
            for ahead, behind, gap, _ in group.pairs:
                shows = _outcomes(gap, differences) == SHOWN
                totals[:, 1] += shows[row, columns[ahead], columns[behind]]
        yield exchanged, totals, most


def _orders(n: int) -> NDArray[np.int64]:
    """Return all orders of n things, the true one first; of more than eight random ones."""
    if n <= _MOST:
        return np.array(list(permutations(range(n))), dtype=int).reshape(factorial(n), n)
    drawn = np.tile(np.arange(n), (_SAMPLE, 1))
    drawn[1:] = np.random.default_rng(0).permuted(drawn[1:], axis=1)
    return drawn


def in_words(differences: pd.DataFrame, chances: pd.DataFrame) -> list[str]:
    """Describe the counts of a table, and those of other orders, a sentence for each."""
    texts = []
    tests = zip(chances.to_dict("records"), can_tell(chances), beats_chance(chances), strict=True)
    for chance, tells, beaten in tests:
        what = f"{chance['found']} of {chance['of']} numbers of complete data sets match"
        if chance["count"] == "shown":
            rows = differences[differences["metric"] == chance["metric"]]
            counts = rows["outcome"].value_counts()
            parts = [f"{counts[o]} {o}" for o in OUTCOMES if o in counts]
            what = f"of {len(rows)} differences that the paper shows {', '.join(parts)}"
        exchanged, n_orders = chance["exchanged"], chance["n_orders"]
        finding = f"{n_orders} orders of the {exchanged} are too few for a test against chance"
        if tells:
            more = "more" if beaten else "not clearly more"
            numbers = f"{chance['mean']:.3g} on average, p = {chance['p_value']:.2g}"
            finding = f"with {exchanged} swapped {numbers}: {more} than chance"
        texts.append(f"{chance['metric'].replace('_', ' ')}: {what}; {finding}")
    return texts
