"""Conclusions of a reported table: the differences between its methods, and what chance gives.

That a measured mean is near the reported one says little about a method where all methods of a
table have similar numbers. What a table shows are *differences*. Each difference between two
methods that are reported for the same data set, kernel and shared parameters is judged here:

- It counts if the paper's own numbers show it: Welch's t-test over the reported deviations and
  numbers of splits. Where the paper gives no deviation, the measured one takes its place.
- It is *shown* if the measured difference has the same sign, is significant (paired t-test over
  the splits), and is at least half as large as the reported one.
- It is *reversed* if the measured difference has the opposite sign and is significant.
- Otherwise it is *not shown*.

The same counts are taken after the measured methods were exchanged at random within each group.
A table whose methods matter has more matches, and more shown differences, than these exchanges.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.model import ExperimentConfig, Tolerance
from kernlearn.config.spec import LABELS
from kernlearn.reports.addresses import joined
from kernlearn.reports.significance import VALUES, paired_interval
from kernlearn.reports.summary import direction, label_rows, metric_rows
from kernlearn.reports.verdicts import MATCH, WITHIN_SPREAD, Mean, half_width, verdict

SHOWN, NOT_SHOWN, REVERSED, NOT_MEASURED = "shown", "not shown", "reversed", "not measured"

#: Every outcome of a conclusion.
OUTCOMES = (SHOWN, NOT_SHOWN, REVERSED, NOT_MEASURED)

#: Level of the t-tests where the rule of a metric states none.
LEVEL = 0.05
#: A count beats chance if it exceeds this share of the exchanges, and their mean by `MARGIN`.
SHARE, MARGIN = 0.95, 0.1
_EXCHANGES = 1000
_AGREE = (MATCH, WITHIN_SPREAD)


@dataclass(frozen=True)
class Conclusion:
    """A difference between two methods that a paper reports, and the measured one.

    Attributes
    ----------
    cell : str
        Labels of the group, such as ``letter n_landmarks=30``.
    metric : str
    ahead, behind : str
        Methods; by the reported numbers the first is better.
    reported : float
        How far it is ahead, in units of the metric; above 0.
    measured, low, high : float
        The same as measured, with its confidence interval; NaN where there is none.
    outcome : str
        One of :data:`OUTCOMES`.
    """

    cell: str
    metric: str
    ahead: str
    behind: str
    reported: float
    measured: float
    low: float
    high: float
    outcome: str

    @property
    def address(self) -> str:
        """Its address on the page of its experiment."""
        return joined("difference", self.cell, self.metric, self.ahead, self.behind)


@dataclass(frozen=True)
class Chance:
    """A count over a table beside that after exchanges of its methods.

    Attributes
    ----------
    metric : str
    count : str
        What is counted: ``"match"`` (within the tolerance or the spread) or ``"shown"``.
    found, of : int
        The count, and the most that it could be.
    mean, limit : float
        Mean and 95 % quantile of the count under exchange.
    n_exchanges : int
    p_value : float
        Share of the exchanges, with the true one among them, that count as many or more.
    """

    metric: str
    count: str
    found: int
    of: int
    mean: float
    limit: float
    n_exchanges: int
    p_value: float

    @property
    def beaten(self) -> bool:
        """Whether the count is above 95 % of the exchanges, and 10 points above their mean."""
        return self.found > self.limit and self.found - self.mean >= MARGIN * self.of


@dataclass(frozen=True)
class _Group:
    """Methods that a table compares: their reported and measured numbers of a metric.

    ``differences`` are measured, of shape (3, n, n): mean, lower and upper limit of how much the
    value of method i exceeds that of method j, signed so that more is better.
    """

    cell: str
    methods: list[str]
    reported: list[Mean]
    measured: list[Mean]
    differences: NDArray[np.float64]


def judge_differences(
    runs: pd.DataFrame, summary: pd.DataFrame, config: ExperimentConfig, *, seed: int = 0
) -> tuple[list[Conclusion], list[Chance]]:
    """Judge every difference between methods that a paper's table shows.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.summary.tidy_runs`.
    summary : pandas.DataFrame
        From :func:`~kernlearn.reports.summary.summarise`.
    config : ExperimentConfig
    seed : int, default=0
        Seed of the exchanges, if there are more than 1000.

    Returns
    -------
    conclusions : list of Conclusion
    chance : list of Chance
        Two for each metric with a rule: matches, and differences that are shown.
    """
    conclusions, chances = [], []
    for metric, rule in config.verdict.items():
        better = direction(metric, config)
        groups = list(_groups(runs, summary, metric, rule, better, config)) if better else []
        judged = [list(_conclusions(group, metric, rule, better)) for group in groups]
        conclusions += [conclusion for group in judged for _, _, conclusion in group]
        chances += _chances(groups, judged, metric, rule, better, seed)
    return conclusions, chances


def _groups(
    runs: pd.DataFrame,
    summary: pd.DataFrame,
    metric: str,
    rule: Tolerance,
    better: int,
    config: ExperimentConfig,
) -> Iterator[_Group]:
    """Group the reported numbers of the paper's data by the labels that all of them have."""
    rows = summary[(summary["metric"] == metric) & summary["reported_mean"].notna()]
    rows = rows[~rows["dataset"].isin(config.not_comparable)]
    labels = [c for c in runs.columns if c not in ("method", *VALUES)]
    shared = [label for label in labels if rows[label].notna().all()]
    others = [label for label in labels if label not in shared]
    values = metric_rows(runs, metric, config)
    places = ["method", *others, *shared]
    by_place: dict[tuple[Any, ...], dict[Any, float]] = defaultdict(dict)
    columns = values["split"].tolist(), values["value"].astype(float).tolist()
    for place, split, value in zip(label_rows(values, places), *columns, strict=True):
        by_place[place][split] = better * value
    for names, group in rows.groupby(shared, sort=False):
        by_split = [
            by_place.get((*own, *names), {}) for own in label_rows(group, ["method", *others])
        ]
        n_reported = rule.reported_splits or np.nan
        numbers = group[["reported_mean", "reported_std", "mean", "std", "n_splits"]]
        cells = numbers.astype(float).itertuples(index=False, name=None)
        means = [(Mean(r, r_std, n_reported), Mean(m, std, n)) for r, r_std, m, std, n in cells]
        yield _Group(
            cell_name(shared, names),
            list(group["method"]),
            [reported for reported, _ in means],
            [measured for _, measured in means],
            _differences(by_split, rule.level or LEVEL),
        )


def cell_name(labels: Sequence[str], values: Sequence[object]) -> str:
    """Join labels to a name such as ``letter n_landmarks=30``."""
    return " ".join(
        str(value) if label in LABELS else f"{label}={value:g}"
        for label, value in zip(labels, values, strict=True)
    )


def _differences(by_split: Sequence[Mapping[Any, float]], level: float) -> NDArray[np.float64]:
    """Return mean and confidence interval of the differences between all pairs of methods."""
    n, splits = len(by_split), sorted({split for values in by_split for split in values})
    values = np.array([[one.get(split, np.nan) for split in splits] for one in by_split])
    differences = np.full((3, n, n), np.nan)
    for i, j in product(range(n), repeat=2):
        paired = values[i] - values[j]
        paired = paired[~np.isnan(paired)]
        if len(paired):
            differences[:, i, j] = paired.mean(), *paired_interval(paired, level)
    return differences


def _conclusions(
    group: _Group, metric: str, rule: Tolerance, better: int
) -> Iterator[tuple[int, int, Conclusion]]:
    """Yield the positions of the methods ahead and behind, and how their difference is judged."""
    for i, j in combinations(range(len(group.methods)), 2):
        gap = better * (group.reported[i].value - group.reported[j].value)
        ahead, behind = (i, j) if gap > 0 else (j, i)
        if abs(gap) > _noise(group, ahead, behind, rule.level or LEVEL):
            measured = group.differences[:, ahead, behind]
            mean, low, high = measured.tolist()
            outcome = str(_outcomes(abs(gap), measured))
            names = group.cell, metric, group.methods[ahead], group.methods[behind]
            yield ahead, behind, Conclusion(*names, abs(gap), mean, low, high, outcome)


def _noise(group: _Group, i: int, j: int, level: float) -> float:
    """Return the largest difference of two reported means that chance may explain."""
    sides = []
    for reported, measured in ((group.reported[k], group.measured[k]) for k in (i, j)):
        known = np.isfinite(reported.variance)
        std, n = (reported.std, reported.n_splits) if known else (measured.std, measured.n_splits)
        sides.append(Mean(reported.value, std, n))
    # an unknown deviation of the second counts as none, of the first as no test at all
    one, other = sides if np.isfinite(sides[0].variance) else reversed(sides)
    return half_width(one, other, level)


def _outcomes(gap: float, differences: NDArray[np.float64]) -> NDArray[np.str_]:
    """Judge differences, of shape (3, …): mean and limits, by the gap that is reported."""
    mean, low, high = differences
    conditions = [np.isnan(mean), (mean >= gap / 2) & (low > 0), high < 0]
    return np.select(conditions, [NOT_MEASURED, SHOWN, REVERSED], NOT_SHOWN)


def _chances(
    groups: Sequence[_Group],
    judged: Sequence[Sequence[tuple[int, int, Conclusion]]],
    metric: str,
    rule: Tolerance,
    better: int,
    seed: int,
) -> list[Chance]:
    """Count matches and shown differences, as measured and with the methods exchanged.

    An exchange permutes the measured methods of each group by itself.
    """
    tables = []
    for group, conclusions in zip(groups, judged, strict=True):
        kept = [k for k, measured in enumerate(group.measured) if not np.isnan(measured.value)]
        agree = [
            [verdict(group.measured[j], group.reported[i], rule, better) in _AGREE for j in kept]
            for i in kept
        ]
        # for each reported difference, whether each pair of measured methods would show it
        shown = [
            (kept.index(i), kept.index(j), _outcomes(c.reported, group.differences) == SHOWN)
            for i, j, c in conclusions
            if i in kept and j in kept
        ]
        by_pair = [(i, j, pairs[np.ix_(kept, kept)]) for i, j, pairs in shown]
        matches = np.array(agree, dtype=bool).reshape(len(kept), len(kept))
        tables.append(_Exchanged(matches, by_pair))
    sizes = [len(table.agree) for table in tables]
    orders = list(_exchanges(sizes, seed))
    totals = np.zeros((len(orders), 2), dtype=int)
    for table, exchanged in zip(tables, zip(*orders, strict=True), strict=True):
        totals += table.counts(np.array(exchanged, dtype=int))
    of = sum(sizes), sum(len(table.shown) for table in tables)
    # the first order is the true one
    return [
        Chance(
            metric=metric,
            count=name,
            found=int(totals[0, k]),
            of=of[k],
            mean=float(totals[:, k].mean()),
            limit=float(np.quantile(totals[:, k], SHARE)),
            n_exchanges=len(totals),
            p_value=float(np.mean(totals[:, k] >= totals[0, k])),
        )
        for k, name in enumerate(("match", "shown"))
        if of[k]
    ]


class _Exchanged(NamedTuple):
    """What a group counts if its measured methods are exchanged.

    Attributes
    ----------
    agree : ndarray of shape (n, n)
        Whether measured method j matches the number that is reported of method i.
    shown : list of (i, j, ndarray of shape (n, n))
        For each difference reported of methods i and j, which measured pairs show it.
    """

    agree: NDArray[np.bool_]
    shown: list[tuple[int, int, NDArray[np.bool_]]]

    def counts(self, orders: NDArray[np.int_]) -> NDArray[np.int_]:
        """Count the matches and the shown differences in each order of the methods, a row each."""
        matches = self.agree[np.arange(orders.shape[1]), orders].sum(axis=1)
        shown = np.zeros(len(orders), dtype=int)
        for i, j, pairs in self.shown:
            shown += pairs[orders[:, i], orders[:, j]]
        return np.stack([matches, shown], axis=1)


def _exchanges(sizes: Sequence[int], seed: int) -> Iterator[Sequence[tuple[int, ...]]]:
    """Yield orders of the methods of each group: all, or the true one and 999 random ones."""
    if prod(map(factorial, sizes)) <= _EXCHANGES:
        # in lexicographic order, so that the true one is first
        yield from product(*(permutations(range(size)) for size in sizes))
        return
    rng = np.random.default_rng(seed)
    yield [tuple(range(size)) for size in sizes]
    for _ in range(_EXCHANGES - 1):
        yield [tuple(rng.permutation(size).tolist()) for size in sizes]


def in_words(conclusions: Sequence[Conclusion], chances: Sequence[Chance]) -> list[str]:
    """Describe the counts of a table, and those after exchanges, a sentence for each."""
    texts = []
    for chance in chances:
        name = chance.metric.replace("_", " ")
        what = f"{chance.found} of {chance.of} numbers match"
        if chance.count == "shown":
            outcomes = [c.outcome for c in conclusions if c.metric == chance.metric]
            counts = [f"{outcomes.count(o)} {o}" for o in OUTCOMES if o in outcomes]
            what = f"of {len(outcomes)} differences that the paper shows {', '.join(counts)}"
        texts.append(
            f"{name}: {what}; with the methods exchanged {chance.mean:.3g} on average, at most "
            f"{chance.limit:g} in 95 % of {chance.n_exchanges} exchanges: "
            f"{'more' if chance.beaten else 'not clearly more'} than chance"
        )
    return texts
