"""Methods ranked over data sets, and two stores compared cell by cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.measured import METRICS
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.suggestions import suggestion
from kernlearn.exceptions import ReportError
from kernlearn.reports.summary import KEY, label_rows
from kernlearn.reports.tests import critical_difference, friedman, holm, paired_interval
from kernlearn.reports.verdicts import direction, is_cost

_MIN_DATASETS, _MIN_METHODS = 2, 3


@dataclass(frozen=True)
class Ranks:
    """Average ranks of methods over data sets, and what tests say of them.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per method, the best first: ``rank``, the average, 1 for the best, and ``p_holm``,
        the adjusted p-value of the difference from the control.
    control : str
        The method that the others are compared with.
    p_value : float
        That of Friedman's test as by Iman & Davenport.
    critical_difference : float
        Of two average ranks, by Nemenyi's test.
    n_datasets : int
    left_out : dict of str to list of str
        Data sets that were left out, with the methods that have no number there.
    """

    table: pd.DataFrame
    control: str
    p_value: float
    critical_difference: float
    n_datasets: int
    left_out: dict[str, list[str]]


def rank_methods(
    scores: pd.DataFrame, better: int, level: float = 0.05, control: str | None = None
) -> Ranks:
    """Rank methods on each data set and test the differences of their average ranks.

    Parameters
    ----------
    scores : pandas.DataFrame of shape (n_datasets, n_methods)
        Mean scores. Data sets on which a method has none are left out.
    better : {1, -1}
        Whether more or less is better.
    level : float, default=0.05
        Significance level of the critical difference.
    control : str, optional
        Method that the others are compared with; by default the best.

    Returns
    -------
    Ranks

    Raises
    ------
    ReportError
        If there are fewer than three methods or two data sets, or no such control.
    """
    complete = scores.dropna()
    n, k = complete.shape
    if k < _MIN_METHODS or n < _MIN_DATASETS:
        raise ReportError(
            f"ranks need {_MIN_METHODS} methods with numbers of the same {_MIN_DATASETS} data "
            f"sets, and there are {k} with numbers of {n} of {len(scores)}"
        )
    if control is not None and control not in scores:
        names = [str(name) for name in scores]
        raise ReportError(f"no method {control!r} to compare with{suggestion(control, names)}")
    ranks = (-better * complete).rank(axis=1)
    average = ranks.mean().sort_values(kind="stable")
    control = control or str(average.index[0])
    table = pd.DataFrame({"rank": average, "p_holm": holm(average, n, control)})
    table = table.reindex(average.index).rename_axis("method")
    missing = scores[scores.isna().any(axis=1)]
    left_out = {str(d): [str(m) for m in scores.columns[r.isna()]] for d, r in missing.iterrows()}
    p_value = friedman(ranks.to_numpy())[2]
    return Ranks(table, control, p_value, critical_difference(k, n, level), n, left_out)


def ranking_metric(config: ExperimentConfig, name: str, metric: str | None = None) -> str:
    """Return the metric that methods are ranked by, if it is one of which more or less is better.

    By default this is the first that the config marks, judges or shows and that is no time.
    """
    if metric is None:
        best = config.best.metrics if config.best else []
        listed = [m for m in (*best, *config.verdict, *config.metrics) if direction(m, config)]
        if not listed:
            raise ReportError(f"{name}: has no metric of which more or less is better")
        return next((m for m in listed if not is_cost(m, config)), listed[0])
    known = [*config.scope.task_metrics(config.task), *config.derived]
    if metric not in known:
        raise ReportError(f"{name}: no metric {metric!r}{suggestion(metric, known)}")
    if not direction(metric, config):
        raise ReportError(f"{name}: neither more nor less of {metric} is better")
    return metric


# ---- two stores ----

#: Columns of a comparison of stores.
COLUMNS = [
    *KEY,
    "mean_a",
    "mean_b",
    "difference",
    "low",
    "high",
    "n_a",
    "n_b",
    "paired",
    "same_settings",
    "outcome",
]

# The numbers of a cell under its settings and points, by split.
_Variants = dict[tuple[str, str], "pd.Series[float]"]


def compare_stores(a: pd.DataFrame, b: pd.DataFrame, *, level: float = 0.05) -> pd.DataFrame:
    """Compare the numbers of two stores cell by cell.

    Where data and protocol are the same, and so split ``i`` has the same points on both sides,
    differences are taken split by split, with the interval of Student's paired t-test; elsewhere
    with that of Welch's test. The level is that of each cell by itself: of 100 cells that do not
    differ, about 5 will appear to at 0.05.

    Parameters
    ----------
    a, b : pandas.DataFrame
        From :func:`~kernlearn.reports.export.stored_splits`. If each has a single experiment its
        name does not matter, so that two configs can be compared.
    level : float, default=0.05

    Returns
    -------
    pandas.DataFrame
        A row per cell, with the columns :data:`COLUMNS`: ``difference`` is ``mean_b - mean_a``
        with its interval; ``outcome`` is ``same`` (all numbers equal), ``a better``, ``b better``
        or ``different`` where the interval excludes 0, ``undecided`` where it does not, ``only a``
        or ``only b``.
    """
    if max(side["experiment"].nunique() for side in (a, b)) < 2:
        name = " / ".join(dict.fromkeys([*a["experiment"], *b["experiment"]]))
        a, b = a.assign(experiment=name), b.assign(experiment=name)
    left, right = _variants(a), _variants(b)
    rows = []
    for cell in dict.fromkeys([*left, *right]):
        of_cell = _compared(left.get(cell, {}), right.get(cell, {}), str(cell[-1]), level)
        rows += [{**dict(zip(KEY, cell, strict=True)), **row} for row in of_cell]
    return pd.DataFrame(rows, columns=COLUMNS)


def _variants(side: pd.DataFrame) -> dict[tuple[Any, ...], _Variants]:
    """Group numbers by cell, then by their settings."""
    cells: dict[tuple[Any, ...], _Variants] = {}
    keys = ["settings", "points"]
    for names, group in side.groupby([*KEY, *keys], dropna=False, sort=False):
        (cell,) = label_rows(group[:1], KEY)
        values = group.set_index("split")["value"].astype(float)
        cells.setdefault(cell, {})[str(names[-2]), str(names[-1])] = values
    return cells


def _compared(
    left: _Variants, right: _Variants, metric: str, level: float
) -> list[Mapping[str, Any]]:
    """Pair variants with the same settings; then, if one is left on each side, those."""
    pairs = [(key, key) for key in left if key in right]
    only_a, only_b = [k for k in left if k not in right], [k for k in right if k not in left]
    if len(only_a) == len(only_b) == 1:
        pairs.append((only_a.pop(), only_b.pop()))
    rows: list[Mapping[str, Any]] = []
    for key_a, key_b in pairs:
        a, b = left[key_a], right[key_b]
        both = a.index.intersection(b.index)
        paired = key_a[1] == key_b[1] and len(both) > 0
        if paired:
            a, b = a[both], b[both]
            low, high = paired_interval((b - a).to_numpy(), level)
        else:
            low, high = _welch_interval(b.to_numpy(), a.to_numpy(), level)
        same = paired and np.array_equal(a, b, equal_nan=True)
        better = METRICS[metric].better if metric in METRICS else 0
        row = {"mean_a": a.mean(), "mean_b": b.mean(), "n_a": len(a), "n_b": len(b)}
        row |= {"difference": b.mean() - a.mean(), "low": low, "high": high, "paired": paired}
        outcome = "same" if same else _outcome(low, high, better)
        rows.append({**row, "same_settings": key_a == key_b, "outcome": outcome})
    for name, side, keys in (("a", left, only_a), ("b", right, only_b)):
        for values in (side[key] for key in keys):
            counts = {"n_a": 0, "n_b": 0, f"n_{name}": len(values)}
            rows.append({**counts, f"mean_{name}": values.mean(), "outcome": f"only {name}"})
    return rows


def _outcome(low: float, high: float, better: int) -> str:
    # neither is true of NaN
    if not (low > 0 or high < 0):
        return "undecided"
    if better == 0:
        return "different"
    return "b better" if (low > 0) == (better > 0) else "a better"


def _welch_interval(left: Any, right: Any, level: float) -> tuple[float, float]:
    """Return the interval of the difference of two means, by Welch's t-test."""
    from scipy import stats

    if min(len(left), len(right)) < 2:
        return -inf, inf
    if left.std() == right.std() == 0:
        difference = float(left.mean() - right.mean())
        return difference, difference
    interval = stats.ttest_ind(left, right, equal_var=False).confidence_interval(1 - level)
    return float(interval.low), float(interval.high)
