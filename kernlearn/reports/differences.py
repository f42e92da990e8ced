"""Differences between methods that a paper's table shows, and what chance gives.

That a measured mean is near the reported one says little about a method where all methods of a
table have similar numbers. What a table shows are *differences*. Each difference between two
methods that are reported for the same data set, kernel and shared parameters has an outcome:

- It counts if the paper's own numbers show it: Welch's t-test over the reported deviations and
  numbers of splits. Where the paper gives no deviation, the measured one takes its place.
- It is *shown* if the measured difference has the same sign, is significant (paired t-test over
  the splits), and is at least half as large as the reported one.
- It is *reversed* if the measured difference has the opposite sign and is significant.
- Otherwise it is *not shown*.

The same counts are taken after the measured methods were exchanged at random within each group.
A table whose methods matter has more matches, and more shown differences, than these exchanges.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.model import ExperimentConfig, Tolerance
from kernlearn.config.spec import LABELS
from kernlearn.reports.summary import axes_in, label_rows, metric_rows
from kernlearn.reports.tests import paired_interval
from kernlearn.reports.verdicts import (
    MATCH,
    WITHIN_SPREAD,
    Mean,
    direction,
    half_width,
    verdict,
)

SHOWN, NOT_SHOWN, REVERSED, NOT_MEASURED = "shown", "not shown", "reversed", "not measured"
#: Every outcome of a difference.
OUTCOMES = (SHOWN, NOT_SHOWN, REVERSED, NOT_MEASURED)

#: Columns of the differences. ``reported`` says how far the method ``ahead`` is better in the
#: paper, ``measured`` the same as measured, with its confidence interval.
COLUMNS = [
    "cell",
    "metric",
    "ahead",
    "behind",
    "reported",
    "measured",
    "low",
    "high",
    "outcome",
]
#: Columns of the counts: of matches or shown differences, and the most that they could be; mean
#: and 95 % quantile under exchange; and the share of exchanges that count as many or more.
CHANCES = ["metric", "count", "found", "of", "mean", "limit", "n_exchanges", "p_value"]

# Level of the t-tests where the rule of a metric states none.
_LEVEL = 0.05
# A count beats chance if it exceeds this share of the exchanges, and their mean by the margin.
_SHARE, _MARGIN = 0.95, 0.1
_EXCHANGES = 1000


class _Group(NamedTuple):
    """Methods that a table compares: their reported and measured numbers of a metric.

    ``differences`` are measured, of shape (3, n, n): mean, lower and upper limit of how much the
    value of method i exceeds that of method j, signed so that more is better.
    """

    cell: str
    methods: list[str]
    reported: list[Mean]
    measured: list[Mean]
    differences: NDArray[np.float64]


class _Pair(NamedTuple):
    """A reported difference: the positions of the methods ahead and behind, and the difference."""

    ahead: int
    behind: int
    gap: float


def compare_with_paper(
    splits: pd.DataFrame, cells: pd.DataFrame, config: ExperimentConfig, *, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare every difference between methods that a paper's table shows with the measured one.

    Parameters
    ----------
    splits : pandas.DataFrame
        From :func:`~kernlearn.reports.summary.splits_of`.
    cells : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    config : ExperimentConfig
    seed : int, default=0
        Seed of the exchanges, if there are more than 1000.

    Returns
    -------
    differences : pandas.DataFrame
        With the columns :data:`COLUMNS`.
    chances : pandas.DataFrame
        With the columns :data:`CHANCES`: two rows for each metric with a rule.
    """
    rows: list[list[Any]] = []
    chances: list[list[Any]] = []
    for metric, rule in config.verdict.items():
        better = direction(metric, config)
        groups = list(_groups(splits, cells, metric, rule, better, config)) if better else []
        pairs = [list(_reported(group, rule, better)) for group in groups]
        for group, of_group in zip(groups, pairs, strict=True):
            for ahead, behind, gap in of_group:
                measured = group.differences[:, ahead, behind]
                names = group.cell, metric, group.methods[ahead], group.methods[behind]
                rows.append([*names, gap, *measured.tolist(), str(_outcomes(gap, measured))])
        chances += _chances(groups, pairs, metric, rule, better, seed)
    return pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(chances, columns=CHANCES)


def beats_chance(chances: pd.DataFrame) -> "pd.Series[bool]":
    """Return which counts are above 95 % of the exchanges, and 10 points above their mean."""
    beyond = chances["found"] - chances["mean"] >= _MARGIN * chances["of"]
    return beyond & (chances["found"] > chances["limit"])


def _groups(
    splits: pd.DataFrame,
    cells: pd.DataFrame,
    metric: str,
    rule: Tolerance,
    better: int,
    config: ExperimentConfig,
) -> Iterator[_Group]:
    """Group the reported numbers of the paper's data by the labels that all of them have."""
    rows = cells[(cells["metric"] == metric) & cells["reported_mean"].notna()]
    rows = rows[~rows["dataset"].isin(config.not_comparable)]
    labels = ["dataset", "kernel", *axes_in(splits)]
    shared = [label for label in labels if rows[label].notna().all()]
    places = ["method", *(label for label in labels if label not in shared), *shared]
    values = metric_rows(splits, metric, config)
    by_place: dict[tuple[Any, ...], dict[Any, float]] = {}
    numbers = zip(values["split"].tolist(), values["value"].astype(float).tolist(), strict=True)
    for place, (split, value) in zip(label_rows(values, places), numbers, strict=True):
        by_place.setdefault(place, {})[split] = better * value
    n_reported = rule.reported_splits or np.nan
    for names, group in rows.groupby(shared, sort=False):
        of_group = [by_place.get(place, {}) for place in label_rows(group, places)]
        numbers_of = group[["reported_mean", "reported_std", "mean", "std", "n_splits"]]
        means = numbers_of.to_numpy(dtype=float).tolist()
        yield _Group(
            cell_name(shared, names),
            group["method"].tolist(),
            [Mean(row[0], row[1], n_reported) for row in means],
            [Mean(row[2], row[3], row[4]) for row in means],
            _measured(of_group, rule.level or _LEVEL),
        )


def cell_name(labels: Sequence[str], values: Sequence[Any]) -> str:
    """Join labels to a name such as ``adult polynomial n_components=50``."""
    return " ".join(
        f"{value}"
        if label in LABELS
        else f"{label}={value:g}"
        if isinstance(value, (int, float))
        else f"{label}={value}"
        for label, value in zip(labels, values, strict=True)
        if value is not None
    )


def _measured(by_split: Sequence[dict[Any, float]], level: float) -> NDArray[np.float64]:
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


def _reported(group: _Group, rule: Tolerance, better: int) -> Iterator[_Pair]:
    """Yield the differences that chance does not explain in the paper's own numbers."""
    for i, j in combinations(range(len(group.methods)), 2):
        gap = better * (group.reported[i].value - group.reported[j].value)
        ahead, behind = (i, j) if gap > 0 else (j, i)
        sides = []
        for k in (ahead, behind):
            known = np.isfinite(group.reported[k].variance)
            spread = group.reported[k] if known else group.measured[k]
            sides.append(Mean(group.reported[k].value, spread.std, spread.n_splits))
        # an unknown deviation of the second counts as none, of the first as no test at all
        one, other = sides if np.isfinite(sides[0].variance) else reversed(sides)
        if abs(gap) > half_width(one, other, rule.level or _LEVEL):
            yield _Pair(ahead, behind, abs(gap))


def _outcomes(gap: float, measured: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the outcomes of differences, of shape (3, …): mean and limits, for a reported gap."""
    mean, low, high = measured
    conditions = [np.isnan(mean), (mean >= gap / 2) & (low > 0), high < 0]
    return np.select(conditions, [NOT_MEASURED, SHOWN, REVERSED], NOT_SHOWN)


def _chances(
    groups: Sequence[_Group],
    pairs: Sequence[Sequence[_Pair]],
    metric: str,
    rule: Tolerance,
    better: int,
    seed: int,
) -> Iterator[list[Any]]:
    """Count matches and shown differences, as measured and with the methods exchanged.

    An exchange permutes the measured methods of each group by itself.
    """
    there = [[k for k, m in enumerate(g.measured) if not np.isnan(m.value)] for g in groups]
    sizes = [len(positions) for positions in there]
    orders = list(_exchanges(sizes, seed))
    counts = np.zeros((2, len(orders)), dtype=int)
    n_pairs = 0
    for g, (group, known) in enumerate(zip(groups, there, strict=True)):
        exchanged = np.array([order[g] for order in orders], dtype=int).reshape(
            len(orders), len(known)
        )
        agree = [
            [
                verdict(group.measured[j], group.reported[i], rule, better)
                in (MATCH, WITHIN_SPREAD)
                for j in known
            ]
            for i in known
        ]
        table = np.array(agree, dtype=bool).reshape(len(known), len(known))
        counts[0] += table[np.arange(len(known)), exchanged].sum(axis=1)
        for ahead, behind, gap in pairs[g]:
            if ahead in known and behind in known:
                shows = (_outcomes(gap, group.differences) == SHOWN)[np.ix_(known, known)]
                i, j = known.index(ahead), known.index(behind)
                counts[1] += shows[exchanged[:, i], exchanged[:, j]]
                n_pairs += 1
    for name, totals, of in zip(("match", "shown"), counts, (sum(sizes), n_pairs), strict=True):
        if of:
            count = int(totals[0])  # the first order is the true one
            limit = float(np.quantile(totals, _SHARE))
            p_value = float(np.mean(totals >= count))
            yield [metric, name, count, of, float(totals.mean()), limit, len(totals), p_value]


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


def in_words(differences: pd.DataFrame, chances: pd.DataFrame) -> list[str]:
    """Describe the counts of a table, and those after exchanges, a sentence for each."""
    texts = []
    beaten = beats_chance(chances).tolist()
    for chance, is_more in zip(chances.to_dict("records"), beaten, strict=True):
        what = f"{chance['found']} of {chance['of']} numbers match"
        if chance["count"] == "shown":
            outcomes = differences.loc[differences["metric"] == chance["metric"], "outcome"]
            counts = outcomes.value_counts()
            listed = ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if o in counts)
            what = f"of {len(outcomes)} differences that the paper shows {listed}"
        texts.append(
            f"{chance['metric'].replace('_', ' ')}: {what}; with the methods exchanged "
            f"{chance['mean']:.3g} on average, at most {chance['limit']:g} in 95 % of "
            f"{chance['n_exchanges']} exchanges: {'more' if is_more else 'not clearly more'} "
            "than chance"
        )
    return texts
