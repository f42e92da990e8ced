"""The cells in which a claim is decided: one number a split, taken from all that was measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import Check, LabelValue
from kernlearn.experiments.config.model import Derived, ExperimentConfig

_NUMBER = ("metric", "split", "value")
_PLAIN = ("dataset", "kernel", "method")


@dataclass(frozen=True)
class Cell:
    """What a test is made of.

    Attributes
    ----------
    name : str
        Its labels, those that are the same in all cells left out.
    values : pandas.Series
        By split: what one is ahead of the other, or a metric, or its slope.
    effect : float
        What is shown of it: the mean of the values; of a factor the ratio of the means.
    """

    name: str
    values: "pd.Series[float]"
    effect: float


def metric_rows(runs: pd.DataFrame, metric: str, config: ExperimentConfig) -> pd.DataFrame:
    """Return the rows of a metric; one that is derived is computed on each split.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.remarks.tidy_runs`.
    metric : str
    config : ExperimentConfig

    Returns
    -------
    pandas.DataFrame
        With the columns of ``runs``.
    """
    if metric in config.derived:
        return _derived(runs, metric, config.derived[metric])
    return runs[runs["metric"] == metric]


def _derived(runs: pd.DataFrame, name: str, rule: Derived) -> pd.DataFrame:
    """Divide the baseline's value by each method's, within a data set, kernel and split."""
    place = ["dataset", "kernel", "split"]
    is_baseline = runs["method"] == rule.baseline
    above = runs[is_baseline & (runs["metric"] == (rule.baseline_metric or rule.ratio))]
    below = runs[~is_baseline & (runs["metric"] == rule.ratio) & (runs["value"] > 0)]
    # of several the last, as in the table
    baseline = above.groupby(place, dropna=False, sort=False)["value"].last().rename("baseline")
    # where no method has a kernel, its column comes back as numbers
    rows = below.merge(baseline.reset_index().astype({"kernel": object}), on=place)
    return rows.assign(metric=name, value=rows["baseline"] / rows["value"])[list(runs.columns)]


def compared_cells(
    rows: pd.DataFrame, check: Check, one: LabelValue, other: LabelValue, better: int
) -> list[Cell]:
    """Return how far one is ahead of the other, cell by cell, on the splits that both have.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of one metric.
    check : Check
    one, other : str or number
        Values of the label that is compared.
    better : {1, -1}
        The good direction of the metric.

    Returns
    -------
    list of Cell
        Values greater than 0 are for ``one``. With ``times`` they are the distance from the
        allowed, or asked, multiple, and the effect is the factor by which ``one`` is ahead.
    """
    sides = [rows[rows[check.compare] == value] for value in (one, other)]
    own = [[c for c in _labels(s, check.compare) if s[c].notna().any()] for s in sides]
    left, right = (_side(s, check, labels) for s, labels in zip(sides, own, strict=True))
    if left.empty or right.empty or not set(check.where) <= {check.compare, *own[0], *own[1]}:
        return []
    shared = [c for c in left.columns if c in right.columns and c != "value"]
    pairs = left.merge(right, on=shared, suffixes=("_left", "_right"))
    # the larger of the two is to be the one that is ahead
    names = ("value_left", "value_right") if better > 0 else ("value_right", "value_left")
    pairs = pairs.rename(columns=dict(zip(names, ("ahead", "behind"), strict=True)))
    labels = [c for c in rows.columns if c in pairs.columns and c not in _NUMBER]
    return [
        Cell(name, _gain(means, check), _advantage(means, check))
        for name, means in _means(pairs, labels, check.mean_over, ["ahead", "behind"])
    ]


def _gain(means: pd.DataFrame, check: Check) -> "pd.Series[float]":
    times = check.times or 1.0
    if check.question == "better":
        return means["ahead"] - times * means["behind"]
    return times * means["ahead"] - means["behind"]


def _advantage(means: pd.DataFrame, check: Check) -> float:
    ahead, behind = float(means["ahead"].mean()), float(means["behind"].mean())
    if check.times is None:
        return ahead - behind
    return ahead / behind if behind else np.inf


def _side(side: pd.DataFrame, check: Check, labels: list[str]) -> pd.DataFrame:
    """Return the numbers of one side of a comparison by the labels that it has."""
    side = side[_chosen(side, {k: v for k, v in check.where.items() if k in labels})]
    if check.along is not None:
        side = _slopes(side, check.along, labels, logarithms=False)
        labels = [c for c in labels if c != check.along]
    own = [c for c in labels if c not in check.across]
    keys = [*own, "split"]
    return side.groupby(keys, dropna=False, sort=False)["value"].mean().reset_index()


def asked_cells(rows: pd.DataFrame, check: Check, name: LabelValue | None = None) -> list[Cell]:
    """Return a metric, or its slope, cell by cell.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of one metric.
    check : Check
    name : str or number, optional
        The value of the label that is compared; by default all.

    Returns
    -------
    list of Cell
        With ``times`` the slope of the logarithms to base 2, and the effect is the factor.
    """
    rows = rows[_chosen(rows, check.where)]
    if name is not None:
        rows = rows[rows[check.compare] == name]
    labels = _labels(rows)
    if check.along is not None:
        rows = _slopes(rows, check.along, labels, logarithms=check.times is not None)
        labels = [c for c in labels if c != check.along]
    shown: Callable[[float], float] = float if check.times is None else np.exp2
    return [
        Cell(cell, means["value"], float(shown(means["value"].mean())))
        for cell, means in _means(rows, labels, check.mean_over, ["value"])
    ]


def whole_cells(rows: pd.DataFrame, check: Check) -> Iterator[pd.DataFrame]:
    """Yield the rows of each combination of labels but the compared one."""
    rows = rows[_chosen(rows, check.where)]
    for _, cell in rows.groupby(_labels(rows, check.compare), dropna=False, sort=False):
        yield cell


def _labels(rows: pd.DataFrame, *without: str) -> list[str]:
    return [c for c in rows.columns if c not in (*_NUMBER, *without)]


def _chosen(rows: pd.DataFrame, where: dict[str, Any]) -> "pd.Series[bool]":
    chosen = pd.Series(True, index=rows.index)
    for label, values in where.items():
        chosen &= rows[label].isin(values if isinstance(values, list) else [values])
    return chosen


def _slopes(
    rows: pd.DataFrame, along: str, labels: Sequence[str], *, logarithms: bool
) -> pd.DataFrame:
    """Return the slopes of the least-squares lines over the logarithm to base 2 of a label.

    Only splits that have all values of the label count: others would be other lines.
    """
    keys = [c for c in labels if c != along]
    rows = rows[rows[along].notna()]
    found = []
    for values, cell in rows.groupby(keys, dropna=False, sort=False):
        if logarithms:
            cell = cell.assign(value=np.log2(cell["value"].where(cell["value"] > 0)))
        curves = cell.pivot(index="split", columns=along, values="value").dropna()
        if curves.shape[1] < 2 or curves.empty:
            continue
        x = np.log2(curves.columns.to_numpy(dtype=float))
        slopes = np.polyfit(x, curves.to_numpy().T, 1)[0]
        found += [[*values, s, v] for s, v in zip(curves.index, slopes, strict=True)]
    return pd.DataFrame(found, columns=[*keys, "split", "value"])


def _means(
    rows: pd.DataFrame, labels: Sequence[str], mean_over: Sequence[str], columns: list[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each cell's name and its numbers by split, means taken over some of the labels."""
    keys = [c for c in labels if c not in mean_over]
    naming = _naming(rows, keys)
    numbers = np.zeros(len(rows), dtype=int)
    if keys:
        numbers = rows.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    # one grouping for all cells: by cell and split, sorted by both
    by_split = rows.groupby([numbers, "split"])
    means, parts = by_split[columns].mean(), by_split.size().to_numpy()
    starts = np.unique(means.index.get_level_values(0), return_index=True)[1].tolist()
    means.index = means.index.get_level_values(1)
    firsts = rows.iloc[np.unique(numbers, return_index=True)[1]]
    named = firsts[keys].itertuples(index=False, name=None)
    for values, start, end in zip(named, starts, [*starts[1:], len(means)], strict=False):
        here = parts[start:end]
        # a mean over fewer parts would be another mean
        yield _name(keys, values, naming), means[start:end][here == here.max()]


def _naming(rows: pd.DataFrame, labels: Sequence[str]) -> list[str]:
    """Return the labels that tell cells apart; what is the same everywhere names nothing."""
    return [c for c in labels if c == "dataset" or rows[c].nunique() > 1]


def _name(labels: Sequence[str], values: Sequence[Any], naming: Sequence[str]) -> str:
    given = [(k, v) for k, v in zip(labels, values, strict=True) if k in naming and not pd.isna(v)]
    return " ".join(
        str(v) if k in _PLAIN else f"{k}={v:g}" if isinstance(v, Real) else f"{k}={v}"
        for k, v in given
    )
