"""Cells in which a claim is decided: one number per split, computed from all runs."""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import Check, LabelValue
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.experiments.engine.spec import LABELS
from kernlearn.reports.significance import Cell
from kernlearn.reports.summary import derived_rows

_NUMBER = ("metric", "split", "value")


def metric_rows(runs: pd.DataFrame, metric: str, config: ExperimentConfig) -> pd.DataFrame:
    """Return the rows of a metric; a derived one is computed on each split."""
    if metric in config.derived:
        rule = config.derived[metric]
        return derived_rows(runs, metric, rule, value="value", within=["split"])
    return runs[runs["metric"] == metric]


def compared_cells(
    rows: pd.DataFrame, check: Check, one: LabelValue, other: LabelValue, better: int
) -> list[Cell]:
    """Return how far one is ahead of the other in each cell, on the splits that both have.

    ``one`` and ``other`` are values of the label that is compared. Values above 0 favour ``one``.
    With ``times`` they are the distance from the multiple that is allowed or required, and the
    effect is the factor by which ``one`` is ahead.
    """
    sides, labels = [], []
    for value in (one, other):
        side = rows[rows[check.compare] == value]
        labels.append([c for c in _labels(side, check.compare) if side[c].notna().any()])
        sides.append(_side(side, check, labels[-1]))
    left, right = sides
    if (
        left.empty
        or right.empty
        or not set(check.where) <= {check.compare, *labels[0], *labels[1]}
    ):
        return []
    shared = [c for c in left.columns if c in right.columns and c != "value"]
    # the greater value is the one that is ahead
    ahead, behind = ("ahead", "behind") if better > 0 else ("behind", "ahead")
    left, right = left.rename(columns={"value": ahead}), right.rename(columns={"value": behind})
    pairs = left.merge(right, on=shared)
    own = [c for c in _labels(rows) if c in pairs.columns]
    means = _means(pairs, own, check.mean_over, ["ahead", "behind"])
    return [_compared(name, mean["ahead"], mean["behind"], check) for name, mean in means]


def _compared(name: str, ahead: Any, behind: Any, check: Check) -> Cell:
    times = check.times or 1.0
    values = ahead - times * behind if check.question == "better" else times * ahead - behind
    ahead, behind = float(ahead.mean()), float(behind.mean())
    if check.times is None:
        return Cell(name, values, ahead - behind)
    return Cell(name, values, ahead / behind if behind else np.inf)


def asked_cells(rows: pd.DataFrame, check: Check, name: LabelValue | None = None) -> list[Cell]:
    """Return a metric, or its slope, in each cell; by default of all methods.

    With ``times`` the values are slopes of logarithms to base 2, and the effect is a factor.
    """
    rows = rows if name is None else rows[rows[check.compare] == name]
    labels = _labels(rows)
    means = _means(_side(rows, check, labels), labels, [*check.mean_over, check.along], ["value"])
    effect = float if check.times is None else np.exp2
    return [Cell(cell, mean["value"], float(effect(mean["value"].mean()))) for cell, mean in means]


def whole_cells(rows: pd.DataFrame, check: Check) -> Iterator[pd.DataFrame]:
    """Yield the rows of each combination of labels other than the compared one."""
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


def _side(rows: pd.DataFrame, check: Check, labels: list[str]) -> pd.DataFrame:
    """Return the values, or slopes, of one side of a comparison by its labels and split."""
    rows = rows[_chosen(rows, {k: v for k, v in check.where.items() if k in labels})]
    if check.along is not None:
        rows = _slopes(rows, check.along, labels, logarithms=check.times is not None)
    keys = [c for c in labels if c not in (*check.across, check.along)]
    return rows.groupby([*keys, "split"], dropna=False, sort=False)["value"].mean().reset_index()


def _slopes(
    rows: pd.DataFrame, along: str, labels: Sequence[str], *, logarithms: bool
) -> pd.DataFrame:
    """Return the slopes of least-squares lines over the logarithm to base 2 of a label.

    Splits that lack a value of the label do not count: their lines would not be comparable.
    """
    keys = [c for c in labels if c != along]
    rows = rows[rows[along].notna()]
    slopes = []
    for values, cell in rows.groupby(keys, dropna=False, sort=False):
        if logarithms:
            cell = cell.assign(value=np.log2(cell["value"].where(cell["value"] > 0)))
        curves = cell.pivot(index="split", columns=along, values="value").dropna()
        if curves.shape[1] < 2 or curves.empty:
            continue
        x = np.log2(curves.columns.to_numpy(dtype=float))
        fitted = np.polyfit(x, curves.to_numpy().T, 1)[0]
        slopes += [[*values, *point] for point in zip(curves.index, fitted, strict=True)]
    return pd.DataFrame(slopes, columns=[*keys, "split", "value"])


def _means(
    rows: pd.DataFrame, labels: Sequence[str], without: Sequence[str | None], columns: list[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each cell's name and its values by split, averaged over some of the labels."""
    keys = [c for c in labels if c not in without]
    # labels that all cells share are not part of a name
    naming = [c for c in keys if c == "dataset" or rows[c].nunique() > 1]
    numbers = np.zeros(len(rows), dtype=int)
    if keys:
        numbers = rows.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    # one grouping of all cells, sorted by cell and split, is faster than one per cell
    by_split = rows.groupby([numbers, "split"])
    means, parts = by_split[columns].mean(), by_split.size().to_numpy()
    starts = np.unique(means.index.get_level_values(0), return_index=True)[1].tolist()
    means.index = means.index.get_level_values(1)
    firsts = rows.iloc[np.unique(numbers, return_index=True)[1]]
    named = firsts[naming].itertuples(index=False, name=None)
    for values, start, end in zip(named, starts, [*starts[1:], len(means)], strict=False):
        # means over fewer values than those of other splits are not comparable
        whole = parts[start:end] == parts[start:end].max()
        yield _name(naming, values), means[start:end][whole]


def _name(labels: Sequence[str], values: Sequence[Any]) -> str:
    """Join labels to a name such as ``adult polynomial n_components=50``."""
    return " ".join(
        str(v) if k in LABELS else f"{k}={v:g}" if isinstance(v, Real) else f"{k}={v}"
        for k, v in zip(labels, values, strict=True)
        if not pd.isna(v)
    )
